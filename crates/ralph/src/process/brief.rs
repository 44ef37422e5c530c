//! A kept command that is run to its end, for a bounded time: what it came to, and its last words.

use std::io::Read;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{End, Ender, Output, SpawnError, Spec, start};

const KEPT: usize = 4 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// [`End::TimedOut`] if its time was up and it was ended.
    pub end: End,
    /// The end of what it printed on either stream.
    pub words: String,
    /// The same of standard output alone.
    pub stdout: String,
    /// It was ended because somebody asked for that.
    pub asked: bool,
}

/// Runs a command in custody; when the time is up, everything of it is ended.
pub fn run_for(spec: &Spec, limit: Duration) -> Result<Brief, SpawnError> {
    run_for_or_until(spec, limit, |_| {})
}

/// The same; `running` is handed what may end it before.
pub fn run_for_or_until(
    spec: &Spec,
    limit: Duration,
    running: impl FnOnce(Ender),
) -> Result<Brief, SpawnError> {
    let mut job = start(spec)?;
    let ender = job.ender();
    running(ender.clone());
    let (stdout, stderr) = job.take_output();
    let outputs = [stdout, stderr].map(|output| thread::spawn(move || last_words(output)));
    let (done, waiting) = mpsc::channel();
    thread::spawn(move || drop(done.send(job.wait())));
    let (end, asked) = match waiting.recv_timeout(limit) {
        Ok(ended) => (ended.end, ended.asked),
        Err(_) => {
            ender.end();
            let _ = waiting.recv();
            (End::TimedOut, false)
        }
    };
    let [stdout, stderr] = outputs.map(|output| output.join().unwrap_or_default());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let words = text(&[stdout.as_slice(), &stderr].concat());
    Ok(Brief { end, words, stdout: text(&stdout), asked })
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
