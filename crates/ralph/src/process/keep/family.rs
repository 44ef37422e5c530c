//! The command and its descendants: reaping them and signalling them without ever hitting a stranger.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitOptions, WaitStatus, kill_process, kill_process_group, wait};

use crate::process::children::{end_unlisted, list};
use crate::process::ready::wait_unreaped;

/// The command and what became of it.
///
/// A process number can go to a stranger as soon as its process is reaped. So there is one lock: reaping happens
/// only under it, and a signal goes only to children listed under the same hold of it.
pub(super) struct Family {
    command: Pid,
    command_reaped: Mutex<bool>,
}

impl Family {
    pub(super) fn new(command: Pid) -> Family {
        Family { command, command_reaped: Mutex::new(false) }
    }

    /// Reaps children as they exit, orphans too, and tells of each. Returns when there is no child left; then
    /// there is no descendant left either, because an orphan would be a child.
    pub(super) fn reap(&self, mut tell: impl FnMut(Pid, WaitStatus)) {
        // Blocks without the lock, and takes it only when there is something to reap.
        while wait_unreaped(&WaitId::All) {
            let mut command_reaped = self.lock();
            end_unlisted(self.command);
            while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
                *command_reaped |= pid == self.command;
                tell(pid, status);
            }
        }
    }

    /// Signals the command's group and all children, those not in `told` yet. Returns the children that are
    /// alive, told before or not. Grandchildren become children when their parent dies, so repeating this after
    /// every exit reaches them all.
    pub(super) fn signal(&self, signal: Signal, told: &mut HashSet<Pid>) -> Vec<Pid> {
        let command_reaped = self.lock();
        let mut children = list();
        children.retain(|child| child.alive);
        let group_too = !*command_reaped && told.insert(self.command);
        if group_too {
            let _ = kill_process_group(self.command, signal);
        }
        for child in &children {
            // Once each: to some programs a second TERM means "at once".
            let by_group = group_too && child.group == self.command.as_raw_pid();
            if told.insert(child.pid) && !by_group {
                let _ = kill_process(child.pid, signal);
            }
        }
        children.into_iter().map(|child| child.pid).collect()
    }

    pub(super) fn alive(&self) -> Vec<Pid> {
        let _nobody_reaps = self.lock();
        list().into_iter().filter(|child| child.alive).map(|child| child.pid).collect()
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.command_reaped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
