//! Ctrl-C and friends. The first asks the loop to stop; the second ends ralph at once, and the keepers then end
//! what they keep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use ralph_core::event::{Event, StopBy};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::Input;
use crate::error::{Error, Result};

/// A parent that ignores SIGCHLD hands that on, and then nobody can wait for a child. Any handler puts it right, for
/// us and, since handlers do not survive an exec, for every program we start.
pub(crate) fn heed_children() {
    // Where it cannot be registered, waiting works or fails as it would have.
    let _ = signal_hook::flag::register(SIGCHLD, Arc::new(AtomicBool::new(false)));
}

pub(super) fn listen(outbox: Sender<Input>) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| Error::new("signals cannot be listened to").because(error))?;
    thread::spawn(move || {
        let asked = AtomicBool::new(false);
        for signal in signals.forever() {
            let (by, code) = match signal {
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
