//! A client for hand-made requests to the stand-in servers.

// Not every test that brings this module along calls all of it.
#![allow(dead_code)]

use ralph_testkit::ModelServer;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

pub(crate) struct Client(BufReader<TcpStream>);

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    pub(crate) complete: bool,
}

impl Client {
    pub(crate) fn connect(server: &ModelServer) -> Self {
        let address = server.url().replace("http://", "");
        Client(BufReader::new(TcpStream::connect(address).expect("connect to the server")))
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).expect("send a request");
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Answer {
        let body = body.to_string();
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: x\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        self.answer()
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("read a line");
        line
    }

    pub(crate) fn answer(&mut self) -> Answer {
        let status = self.line().split(' ').nth(1).expect("a status").parse().expect("a number");
        let mut head = String::new();
        loop {
            match self.line() {
                line if line.trim().is_empty() => break,
                line => head.push_str(&line.to_ascii_lowercase()),
            }
        }
        let mut answer = Answer { status, body: String::new(), complete: true, head };
        if answer.head.contains("transfer-encoding: chunked") {
            answer.complete = self.chunks(&mut answer.body);
        } else {
            let length = answer.head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            let mut body = vec![0; length.expect("a length").parse().expect("a number")];
            self.0.read_exact(&mut body).expect("read a body");
            answer.body = String::from_utf8(body).expect("a body in UTF-8");
        }
        answer
    }

    /// All that comes until the server closes the connection.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).expect("read to the end of the connection");
        rest
    }

    /// False when the connection ended before the last chunk.
    fn chunks(&mut self, body: &mut String) -> bool {
        loop {
            let line = self.line();
            let Ok(size) = u64::from_str_radix(line.trim(), 16) else { return false };
            (&mut self.0).take(size).read_to_string(body).expect("read a chunk");
            self.line();
            if size == 0 {
                return true;
            }
        }
    }
}

/// The events of a stream that are in JSON.
pub(crate) fn events(answer: &Answer) -> Vec<Value> {
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).expect("an event in JSON"))
        .collect()
}
