//! Ctrl-C and friends. The first asks the loop to stop; the second has everything killed and ends ralph at once; the next
//! start reads what was left. SIGHUP is a request like SIGTERM, unless whoever started ralph had it ignored, as `nohup`
//! does; it never is the second. SIGUSR1 says that another ralph left a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use ralph_core::event::{Event, StopBy};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use super::Input;
use super::effects::Jobs;
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

pub(super) fn listen(outbox: Sender<Input>, jobs: Jobs) -> Result<()> {
    let wanted = [SIGINT, SIGTERM, SIGHUP, SIGUSR1];
    let mut signals = Signals::new(wanted.iter().filter(|signal| **signal != SIGHUP || !ignores_hangup()))
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
            if again && signal == SIGHUP {
                // A window that closes tells twice, by the kernel and by its shell. Nobody is in a hurry.
                continue;
            }
            match again {
                true => jobs.end_now(),
                false => jobs.stopping(),
            }
            if again || outbox.send(Input::Event(Event::StopAsked { by })).is_err() {
                crate::ui::leave_at_once(code);
            }
        }
    });
    Ok(())
}

/// Whether SIGHUP is ignored; only Linux tells.
fn ignores_hangup() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignored(&status, SIGHUP))
}

/// `SigIgn:` is a mask of signals in hexadecimal.
fn ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_mask_of_ignored_signals_is_read() {
        let status = |mask: &str| format!("Name:\tralph\nSigBlk:\t0000000000000001\nSigIgn:\t{mask}\n");
        assert!(ignored(&status("0000000000000001"), SIGHUP));
        assert!(!ignored(&status("0000000000001000"), SIGHUP));
        assert!(ignored(&status("0000000000004000"), SIGTERM));
        assert!(!ignored("", SIGHUP));
    }
}
