//! The children of this process, as the kernel sees them. All that differs between systems is here and in
//! `ready::exit_of`.

use rustix::process::Pid;

/// One child of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Child {
    pub(super) pid: Pid,
    pub(super) group: i32,
    pub(super) session: i32,
    /// Not yet exited. What has exited stays listed until it is reaped.
    pub(super) alive: bool,
}

#[cfg(target_os = "linux")]
pub use linux::become_reaper;
#[cfg(target_os = "linux")]
pub(super) use linux::{all, end_unlisted, list, look, of, session};
#[cfg(not(target_os = "linux"))]
pub use other::become_reaper;
#[cfg(not(target_os = "linux"))]
pub(super) use other::{end_unlisted, list, session};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::io;
    use std::path::Path;

    use rustix::process::{Pid, getpid, set_child_subreaper};

    use super::Child;

    /// Makes orphaned descendants children of this process. They have to be reaped by somebody, then.
    pub fn become_reaper() -> io::Result<()> {
        Ok(set_child_subreaper(Some(getpid()))?)
    }

    /// All children, the exited but unreaped ones too. Complete as long as nobody reaps meanwhile.
    pub(in crate::process) fn list() -> Vec<Child> {
        of(getpid())
    }

    /// The same of another process.
    pub(in crate::process) fn of(parent: Pid) -> Vec<Child> {
        let pids = by_thread(parent).unwrap_or_else(all);
        let is_its = |(of, _): &(i32, Child)| *of == parent.as_raw_pid();
        pids.into_iter().filter_map(|pid| stat(pid).filter(is_its)).map(|(_, child)| child).collect()
    }

    /// Nothing to do: an orphan is our child, and listed.
    pub(in crate::process) fn end_unlisted(_group: Pid) {}

    /// The kernel lists children by thread, if it was built to do so.
    fn by_thread(parent: Pid) -> Option<Vec<Pid>> {
        let mut pids = Vec::new();
        for thread in fs::read_dir(format!("/proc/{parent}/task")).ok()?.flatten() {
            match fs::read_to_string(thread.path().join("children")) {
                Ok(list) => pids.extend(list.split_ascii_whitespace().filter_map(parse_pid)),
                // Either this thread has just ended, or there are no such files.
                Err(_) if thread.path().exists() => return None,
                Err(_) => {}
            }
        }
        Some(pids)
    }

    /// Every process there is.
    pub(in crate::process) fn all() -> Vec<Pid> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries.flatten().filter_map(|entry| parse_pid(entry.file_name().to_str()?)).collect()
    }

    /// A process, whoever's child it is.
    pub(in crate::process) fn look(pid: Pid) -> Option<Child> {
        stat(pid).map(|(_, process)| process)
    }

    /// Whose session a process is in; 0 where its leader is outside of this container, which `getsid` of rustix
    /// does not expect.
    pub(in crate::process) fn session(pid: Pid) -> Option<i32> {
        look(pid).map(|process| process.session)
    }

    fn parse_pid(text: &str) -> Option<Pid> {
        text.parse().ok().filter(|pid| *pid > 0).and_then(Pid::from_raw)
    }

    /// Parent of a process, and the rest of what we want to know.
    fn stat(pid: Pid) -> Option<(i32, Child)> {
        let text = fs::read(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
        let (alive, [parent, group, session]) = parse_stat(&text)?;
        Some((parent, Child { pid, group, session, alive }))
    }

    /// `pid (name) state parent group session …`, where the name may hold anything, parentheses and line ends too.
    fn parse_stat(text: &[u8]) -> Option<(bool, [i32; 3])> {
        let after_name = text.iter().rposition(|byte| *byte == b')')? + 1;
        let mut fields = str::from_utf8(&text[after_name..]).ok()?.split_ascii_whitespace();
        let alive = !matches!(fields.next()?, "Z" | "X" | "x");
        let mut number = || fields.next()?.parse().ok();
        Some((alive, [number()?, number()?, number()?]))
    }

    #[cfg(test)]
    mod tests {
        use std::process::Stdio;

        use super::*;
        use crate::process::Spec;

        #[test]
        fn a_stat_line_is_read_whatever_the_name() {
            assert_eq!(parse_stat(b"7 (sh) S 3 7 6 0 -1"), Some((true, [3, 7, 6])));
            assert_eq!(parse_stat(b"7 (a) Z 9 9 (\xff\n) Z 3 7 6"), Some((false, [3, 7, 6])));
            assert_eq!(parse_stat(b"7 (sh"), None);
            assert_eq!(parse_stat(b"7 (sh) S"), None);
        }

        #[test]
        fn both_ways_find_a_child_and_not_a_stranger() {
            let mut cat = Spec::new("cat", "/").command().stdin(Stdio::piped()).spawn().expect("cat");
            let pid = Pid::from_child(&cat);
            assert!(by_thread(getpid()).expect("this kernel lists children").contains(&pid));
            assert!(all().contains(&pid));
            let found = list();
            assert!(found.iter().any(|child| child.pid == pid && child.alive));
            assert!(found.iter().all(|child| child.pid != getpid()));
            drop(cat.stdin.take());
            cat.wait().expect("cat ends");
            assert!(list().iter().all(|child| child.pid != pid));
        }
    }
}

/// Systems without sub-reapers: orphans go to init, so only the process group can be found.
#[cfg(not(target_os = "linux"))]
mod other {
    use std::io;

    use rustix::process::{Pid, Signal, getsid, kill_process_group};

    use super::Child;

    /// Does nothing here.
    pub fn become_reaper() -> io::Result<()> {
        Ok(())
    }

    pub(in crate::process) fn list() -> Vec<Child> {
        Vec::new()
    }

    pub(in crate::process) fn session(pid: Pid) -> Option<i32> {
        getsid(Some(pid)).ok().map(Pid::as_raw_pid)
    }

    /// Ends the rest of a command's group. To be called while its unreaped leader still holds the number.
    pub(in crate::process) fn end_unlisted(group: Pid) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}
