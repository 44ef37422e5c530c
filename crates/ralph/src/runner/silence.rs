//! How long an agent has said nothing. Whether that is too long is core's to decide.

use std::convert::Infallible;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// When an agent was last heard, on any of its streams. It counts by a clock that stands still while the machine
/// sleeps: so does the agent.
#[derive(Debug, Clone)]
pub(super) struct Voice(Arc<Mutex<Instant>>);

impl Voice {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    pub(super) fn heard(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn silent_for(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

/// Tells once when the voice was not heard for that long. The watch ends with what is returned.
///
/// The thread sleeps until the voice could have been silent for long enough and then looks when it was heard: that is
/// one look in all this time, however much is said.
pub(super) fn watch(
    voice: Voice,
    longest: Duration,
    tell: impl FnOnce(Duration) + Send + 'static,
) -> Sender<Infallible> {
    let (over, end) = mpsc::channel();
    thread::spawn(move || {
        loop {
            let silent = voice.silent_for();
            let Some(left) = longest.checked_sub(silent).filter(|left| !left.is_zero()) else {
                return tell(silent);
            };
            if end.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    });
    over
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of this voice.
    fn told(voice: &Voice, longest: Duration) -> mpsc::Receiver<Duration> {
        let (tell, told) = mpsc::channel();
        let watch = watch(voice.clone(), longest, move |silent| tell.send(silent).expect("awaited"));
        // Kept up to its end, unless it could last for ever.
        if longest < Duration::from_secs(60) {
            std::mem::forget(watch);
        }
        told
    }

    #[test]
    fn a_silence_is_told_once_it_is_long_enough_and_counts_from_the_last_word() {
        let longest = Duration::from_millis(20);
        assert!(told(&Voice::new(), longest).recv().expect("told") >= longest);

        let second = Duration::from_secs(1);
        let voice = Voice(Arc::new(Mutex::new(Instant::now().checked_sub(second).expect("a second ago"))));
        assert!(told(&voice, second).recv().expect("told") >= second);
        voice.heard();
        assert!(voice.silent_for() < told(&voice, longest).recv().expect("told"));
    }

    #[test]
    fn a_watch_that_is_over_tells_nothing() {
        assert!(told(&Voice::new(), Duration::from_secs(3600)).recv().is_err());
    }
}
