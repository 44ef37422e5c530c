//! A little HTTP/1.1 server for stand-ins of model services. Loopback only, a thread for each connection.
//!
//! A stand-in is a function from request to response; whether a response ends as it should, breaks off or never
//! ends is part of the value.

mod message;

pub(crate) use message::{End, HttpRequest, Response, find};

use std::io::{BufReader, Read};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

type Handler = dyn Fn(HttpRequest) -> Response + Send + Sync;

/// Stops when dropped, whatever its connections are doing.
pub(crate) struct HttpServer {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
    connections: Arc<Mutex<Vec<Connection>>>,
}

struct Connection {
    stream: TcpStream,
    thread: JoinHandle<()>,
}

impl HttpServer {
    pub(crate) fn start(handler: impl Fn(HttpRequest) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("listen on loopback");
        let address = listener.local_addr().expect("a bound address");
        let stopping = Arc::new(AtomicBool::new(false));
        let connections = Arc::new(Mutex::new(Vec::new()));
        let accepting = {
            let (stopping, connections) = (Arc::clone(&stopping), Arc::clone(&connections));
            let handler: Arc<Handler> = Arc::new(handler);
            thread::spawn(move || accept(&listener, &stopping, &connections, &handler))
        };
        HttpServer { address, stopping, accepting: Some(accepting), connections }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, which then sees that it is over.
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        let connections =
            std::mem::take(&mut *self.connections.lock().unwrap_or_else(PoisonError::into_inner));
        for connection in &connections {
            let _ = connection.stream.shutdown(Shutdown::Both);
        }
        for connection in connections {
            let _ = connection.thread.join();
        }
    }
}

fn accept(
    listener: &TcpListener,
    stopping: &AtomicBool,
    connections: &Mutex<Vec<Connection>>,
    handler: &Arc<Handler>,
) {
    for stream in listener.incoming().flatten() {
        if stopping.load(Ordering::SeqCst) {
            return;
        }
        let handler = Arc::clone(handler);
        let served = stream.try_clone().expect("another handle of a connection");
        let thread = thread::spawn(move || {
            serve(&served, &*handler);
            // The server holds a handle too: only this tells the client that it is over.
            let _ = served.shutdown(Shutdown::Both);
        });
        connections.lock().unwrap_or_else(PoisonError::into_inner).push(Connection { stream, thread });
    }
}

/// Answers requests until the client or a response ends the connection.
fn serve(stream: &TcpStream, handler: &Handler) {
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream);
    while let Ok(Some(request)) = HttpRequest::read(&mut reader, stream) {
        let (head_only, last) = (request.method == "HEAD", request.is_last());
        let response = handler(request);
        match response.write(stream, head_only) {
            Ok(End::Complete) if !last => {}
            Ok(End::Hang) => return wait_until_closed(&mut reader),
            _ => return,
        }
    }
}

fn wait_until_closed(reader: &mut impl Read) {
    let mut buffer = [0; 1024];
    while let Ok(1..) = reader.read(&mut buffer) {}
}
