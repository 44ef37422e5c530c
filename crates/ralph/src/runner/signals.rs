//! Ctrl-C and friends. The first asks the loop to stop; the second ends ralph at once, and the keepers then end
//! what they keep. SIGUSR1 says that another ralph left a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use ralph_core::event::{Event, StopBy};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use super::Input;
use crate::error::{Error, Result};

/// Before anything else. A parent that ignores SIGCHLD hands that on, and then nobody can wait for a child; any
/// handler puts it right, for us and, since handlers do not survive an exec, for every program we start. And SIGUSR1
/// must not end whoever holds the lock, listening or not: requests are read when the loop begins.
pub(crate) fn heed() {
    for signal in [SIGCHLD, SIGUSR1] {
        // Where it cannot be registered, all works or fails as it would have.
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

pub(super) fn listen(outbox: Sender<Input>) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGUSR1])
        .map_err(|error| Error::new("signals cannot be listened to").because(error))?;
    thread::spawn(move || {
        let asked = AtomicBool::new(false);
        for signal in signals.forever() {
            let (by, code) = match signal {
                SIGUSR1 => {
                    // A loop that is gone has no use for it.
                    let _ = outbox.send(Input::Requests);
                    continue;
                }
                SIGINT => (StopBy::Interrupt, 130),
                _ => (StopBy::Terminate, 143),
            };
            let again = asked.swap(true, Ordering::Relaxed);
            if again || outbox.send(Input::Event(Event::StopAsked { by })).is_err() {
                crate::ui::leave_at_once(code);
            }
        }
    });
    Ok(())
}
