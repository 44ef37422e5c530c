//! Requests read and responses written, as far as model clients need it.

use std::io::{self, BufRead, ErrorKind, Read, Write};

/// A request with its whole body.
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    /// With the query.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    /// `None` when the client has closed the connection between two requests.
    pub(super) fn read(reader: &mut impl BufRead, mut writer: impl Write) -> io::Result<Option<Self>> {
        let Some(first) = read_line(reader)? else { return Ok(None) };
        let mut words = first.split(' ').map(str::to_owned);
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(bad("request line"));
        };
        let mut request = HttpRequest { method, target, headers: read_headers(reader)?, body: Vec::new() };
        if request.header("expect").is_some() {
            writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        request.body = request.read_body(reader)?;
        Ok(Some(request))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// The client wants the connection closed after the answer.
    pub(super) fn is_last(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }

    fn read_body(&self, reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
        if self
            .header("transfer-encoding")
            .is_some_and(|value| value.to_ascii_lowercase().contains("chunked"))
        {
            return read_chunks(reader);
        }
        let length = self.header("content-length").map_or(Ok(0), |value| value.trim().parse());
        read_exactly(reader, length.map_err(|_| bad("content-length"))?)
    }
}

pub(crate) fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn read_line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let count = reader.read_line(&mut line)?;
    Ok((count > 0).then(|| line.trim_end().to_owned()))
}

fn read_headers(reader: &mut impl BufRead) -> io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?.ok_or_else(|| bad("end of the headers"))?;
        if line.is_empty() {
            return Ok(headers);
        }
        let (name, value) = line.split_once(':').ok_or_else(|| bad("header"))?;
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(reader)?.ok_or_else(|| bad("end of the chunks"))?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| bad("chunk size"))?;
        if size == 0 {
            read_headers(reader)?;
            return Ok(body);
        }
        body.extend(read_exactly(reader, size)?);
        read_line(reader)?;
    }
}

fn read_exactly(reader: &mut impl Read, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn bad(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("bad HTTP: {what}"))
}

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
}

pub(crate) enum Body {
    /// Sent with its length.
    Whole(String),
    /// Sent in chunks.
    Stream(Vec<String>, End),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Complete,
    /// The connection closes in the middle.
    Cut,
    /// Nothing more comes until the client or the server goes away.
    Hang,
}

impl Response {
    pub(crate) fn json(status: u16, text: impl Into<String>) -> Self {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        Response { status, headers, body: Body::Whole(text.into()) }
    }

    /// A JSON body that begins and does not come to its end.
    pub(crate) fn broken_json(end: End) -> Self {
        Response { body: Body::Stream(vec!["{".to_owned()], end), ..Response::json(200, "") }
    }

    /// A stream of server-sent events.
    pub(crate) fn events(events: Vec<String>, end: End) -> Self {
        let headers = vec![("Content-Type".to_owned(), "text/event-stream".to_owned())];
        Response { status: 200, headers, body: Body::Stream(events, end) }
    }

    pub(super) fn write(&self, mut to: impl Write, head_only: bool) -> io::Result<End> {
        write!(to, "HTTP/1.1 {} {}\r\n", self.status, reason(self.status))?;
        for (name, value) in &self.headers {
            write!(to, "{name}: {value}\r\n")?;
        }
        match &self.body {
            Body::Whole(text) => {
                write!(to, "Content-Length: {}\r\n\r\n", text.len())?;
                if !head_only {
                    to.write_all(text.as_bytes())?;
                }
                Ok(End::Complete)
            }
            Body::Stream(pieces, end) => {
                write!(to, "Transfer-Encoding: chunked\r\n\r\n")?;
                for piece in pieces {
                    write!(to, "{:x}\r\n{piece}\r\n", piece.len())?;
                }
                if *end == End::Complete {
                    to.write_all(b"0\r\n\r\n")?;
                }
                Ok(*end)
            }
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        529 => "Overloaded",
        _ => "Status",
    }
}
