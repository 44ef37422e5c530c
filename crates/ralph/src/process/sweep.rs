//! Ending what was left behind when a keeper could not do it: found by its mark or by the keeper's session.

use std::time::Duration;

use rustix::process::Pid;

use super::Mark;

/// What a sweep came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many processes were told to end, and are gone.
    pub ended: usize,
    /// Those that could not be ended, for example because they run as another user.
    pub survivors: Vec<u32>,
}

/// Ends everything on this machine that has this mark: TERM, KILL after the grace period, again until none is left.
/// Whoever has the mark itself was started by what it would end, and sweeps nothing. What helpers of a ralph that is gone started
/// is among it: no other ralph may be at work.
pub fn sweep(mark: Mark, grace: Duration) -> Swept {
    sweep_all(Ours { mark: Some(mark), helpers: true, session: None }, grace)
}

/// How to tell our processes from others.
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64")),
    expect(dead_code, reason = "nothing is found there")
)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Ours {
    pub(super) mark: Option<Mark>,
    pub(super) helpers: bool,
    /// A keeper that has died and is not reaped yet, so that its number is its own.
    pub(super) session: Option<Pid>,
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(super) use linux::sweep_all;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub(super) use other::sweep_all;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux {
    use std::collections::HashSet;
    use std::os::fd::OwnedFd;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags};
    use rustix::process::{
        Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, pidfd_send_signal, waitpid,
    };

    use super::{Ours, Swept};
    use crate::process::KILL_PATIENCE;
    use crate::process::children::{Child, all, look};
    use crate::process::mark::worn_by;
    use crate::process::ready::wait_ready;

    /// So many are ended at a time: each needs a descriptor.
    const AT_ONCE: usize = 256;

    impl Ours {
        fn has(self, process: &Child) -> bool {
            let marked = self.mark.is_some_and(|mark| {
                worn_by(process.pid)
                    .is_some_and(|worn| worn == mark || self.helpers && worn == mark.of_helpers())
            });
            marked || self.session.is_some_and(|session| process.session == session.as_raw_pid())
        }

        /// All of them that live, and what was gone before it was looked at. Those that have exited and are our
        /// children are reaped on the way.
        fn find(self) -> (Vec<Pid>, HashSet<Pid>) {
            let me = getpid();
            let (mut found, mut gone) = (Vec::new(), HashSet::new());
            for pid in all().into_iter().filter(|pid| *pid != me && self.session != Some(*pid)) {
                match look(pid) {
                    None => drop(gone.insert(pid)),
                    Some(process) if !self.has(&process) => {
                        // One that went just now had no mark to be read any more.
                        gone.extend(look(pid).is_none().then_some(pid));
                    }
                    Some(process) if process.alive => found.push(pid),
                    Some(_) => {
                        gone.insert(pid);
                        // Refused if it is not our child.
                        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
                    }
                }
            }
            (found, gone)
        }

        /// A handle of the process itself. Its number alone could go to a stranger; but whoever has the number now and
        /// is ours is the one of the handle, or that one is dead and cannot be hit.
        fn pin(self, pid: Pid) -> Option<OwnedFd> {
            let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
            look(pid).filter(|now| self.has(now)).map(|_| process)
        }
    }

    pub(in crate::process) fn sweep_all(ours: Ours, grace: Duration) -> Swept {
        let mut swept = Swept::default();
        if look(getpid()).is_some_and(|me| ours.has(&me)) {
            return swept;
        }
        let (mut told, mut known) = (HashSet::new(), HashSet::new());
        let mut kill = false;
        let mut until = Instant::now() + grace;
        let mut gone_before = HashSet::new();
        loop {
            let (mut found, gone) = ours.find();
            known.extend(found.iter().copied());
            // What went while we looked may have left a child that was not on the list yet.
            let all_seen = gone.is_subset(&gone_before);
            gone_before = gone;
            if found.is_empty() && all_seen || (kill && Instant::now() >= until) {
                swept.survivors = found.iter().map(|pid| pid.as_raw_pid().unsigned_abs()).collect();
                swept.ended = known.len() - found.len();
                return swept;
            }
            if !kill && Instant::now() >= until {
                (kill, until) = (true, Instant::now() + KILL_PATIENCE);
                told.clear();
            }
            found.truncate(AT_ONCE);
            let signal = if kill { Signal::KILL } else { Signal::TERM };
            let pinned: Vec<OwnedFd> = found
                .into_iter()
                .filter_map(|pid| {
                    let process = ours.pin(pid)?;
                    if told.insert(pid) {
                        let _ = pidfd_send_signal(&process, signal);
                    }
                    Some(process)
                })
                .collect();
            let mut exits: Vec<PollFd<'_>> =
                pinned.iter().map(|process| PollFd::new(process, PollFlags::IN)).collect();
            // The first that exits is a reason to look again: its children may only now be to be found.
            if exits.is_empty() {
                continue;
            }
            let _ = wait_ready(&mut exits, Some(until));
        }
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod other {
    use std::time::Duration;

    use super::{Ours, Swept};

    pub(in crate::process) fn sweep_all(_: Ours, _: Duration) -> Swept {
        Swept::default()
    }
}
