//! A kept command that is run to its end, for a bounded time: what it came to, and its last words.

use std::io::Read;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{End, Output, SpawnError, Spec, start};

const KEPT: usize = 4 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// [`End::TimedOut`] if its time was up and it was ended.
    pub end: End,
    /// The end of what it printed on either stream.
    pub words: String,
}

/// Runs a command in custody; when the time is up, everything of it is ended.
pub fn run_for(spec: &Spec, limit: Duration) -> Result<Brief, SpawnError> {
    let mut job = start(spec)?;
    let ender = job.ender();
    let (stdout, stderr) = job.take_output();
    let outputs = [stdout, stderr].map(|output| thread::spawn(move || last_words(output)));
    let (done, waiting) = mpsc::channel();
    thread::spawn(move || drop(done.send(job.wait())));
    let end = match waiting.recv_timeout(limit) {
        Ok(ended) => ended.end,
        Err(_) => {
            ender.end();
            let _ = waiting.recv();
            End::TimedOut
        }
    };
    let words: Vec<u8> = outputs.into_iter().flat_map(|output| output.join().unwrap_or_default()).collect();
    Ok(Brief { end, words: String::from_utf8_lossy(&words).into_owned() })
}

/// Read to its end, so that nobody hangs on a full pipe.
fn last_words(mut output: Output) -> Vec<u8> {
    let (mut kept, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = output.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..read]);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }
    kept
}
