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

    #[test]
    fn a_voice_that_is_heard_is_not_silent_and_one_that_ended_is_not_told_of() {
        let (tell, told) = mpsc::channel();
        let voice = Voice::new();
        let longest = Duration::from_millis(40);
        let begun = Instant::now();
        let _watch = watch(voice.clone(), longest, move |silent| {
            tell.send((silent, Instant::now())).expect("awaited");
        });
        let mut last = begun;
        while begun.elapsed() < 3 * longest {
            last = Instant::now();
            voice.heard();
        }
        let (silent, at) = told.recv().expect("told");
        assert!(silent >= longest && at >= last + longest, "{silent:?}");

        let (tell, told) = mpsc::channel::<Duration>();
        let watch = watch(Voice::new(), Duration::from_secs(3600), move |silent| {
            tell.send(silent).expect("awaited");
        });
        drop(watch);
        assert!(told.recv().is_err(), "the watch is over, and nobody can tell any more");
    }
}
