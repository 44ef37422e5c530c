//! A mark that everything a job starts inherits, so that it can be found when nobody watches over it any more.
//!
//! When ralph and the keeper are both killed, what they kept belongs to nobody. It is found again by a resource limit:
//! the kernel hands limits on through fork, exec, `setsid` and `env -i`, and RLIMIT_LOCKS has meant nothing since Linux
//! 2.4. The keeper sets the soft one, so everything below it has it; a ralph inside of an agent sets its own instead.
//! Marks can be read by everybody, and given up by whoever wants to: this finds what was left, not what hides.
//!
//! Only on Linux with 64 bits; elsewhere nothing is marked and nothing is found.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The first 16 bits of every mark. As a number of locks it is some six quintillions, which nobody asks for.
const OURS: u64 = 0x5A1F << 48;
/// The same for what ralph's own helpers start, which no keeper keeps.
const HELPERS: u64 = 0x5A1E << 48;

/// Says for which folder a process works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(u64);

impl Mark {
    /// The same for the same folder, whatever it is called; another one for another folder.
    pub fn of(folder: &Path) -> io::Result<Mark> {
        let data = std::fs::metadata(folder)?;
        // FNV-1a: it has to scatter, not to withstand anybody.
        let bytes = [data.dev().to_le_bytes(), data.ino().to_le_bytes()].concat();
        let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Ok(Mark(OURS | ((hash ^ (hash >> 48)) & ((1 << 48) - 1))))
    }

    /// What a helper for that folder wears, and whatever it starts.
    pub(super) fn of_helpers(self) -> Mark {
        Mark(HELPERS | (self.0 & ((1 << 48) - 1)))
    }

    pub(super) fn to_word(self) -> String {
        self.0.to_string()
    }

    pub(super) fn from_word(word: &str) -> Option<Mark> {
        word.parse().ok().filter(|value| [OURS, HELPERS].contains(&(value >> 48 << 48))).map(Mark)
    }
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(super) use linux::{started_with, wear, worn_by};
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub(super) use other::{started_with, wear};

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux {
    use std::io;
    use std::sync::{Mutex, PoisonError};

    use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};

    use super::Mark;

    /// Marks this process and all that it starts from now on.
    pub(in crate::process) fn wear(mark: Mark) -> io::Result<()> {
        let limit = Rlimit { current: Some(mark.0), maximum: getrlimit(Resource::Locks).maximum };
        Ok(setrlimit(Resource::Locks, limit)?)
    }

    /// Starts something that wears this mark from its first moment on, or none: a child has the limits that this process has when
    /// it is started. So these are changed for as long as that takes, one start at a time.
    pub(in crate::process) fn started_with<T>(mark: Option<Mark>, start: impl FnOnce() -> T) -> T {
        static STARTS: Mutex<()> = Mutex::new(());
        let _alone = STARTS.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mark) = mark else { return start() };
        let before = getrlimit(Resource::Locks);
        // Where it cannot be marked, what it leaves is not found.
        let worn = wear(mark);
        let started = start();
        if worn.is_ok() {
            let _ = setrlimit(Resource::Locks, before);
        }
        started
    }

    /// The mark of a process, if it has one.
    pub(in crate::process) fn worn_by(pid: Pid) -> Option<Mark> {
        let limits = std::fs::read(format!("/proc/{pid}/limits")).ok()?;
        parse(str::from_utf8(&limits).ok()?)
    }

    fn parse(limits: &str) -> Option<Mark> {
        let locks = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
        Mark::from_word(locks.split_ascii_whitespace().next()?)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_kernel_s_table_is_read_and_ordinary_limits_are_no_marks() {
            let table = |locks: &str| {
                format!(
                    "Limit  Soft Limit  Hard Limit  Units\nMax cpu time  1  2  seconds\n\
                     Max file locks            {locks}            unlimited            locks\n"
                )
            };
            let mark = Mark(super::super::OURS | 7);
            assert_eq!(parse(&table(&mark.to_word())), Some(mark));
            for ordinary in ["unlimited", "0", "1024", "18446744073709551614"] {
                assert_eq!(parse(&table(ordinary)), None, "{ordinary}");
            }
            assert_eq!(parse("Max file locks"), None);
        }
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod other {
    use std::io;

    use super::Mark;

    pub(in crate::process) fn wear(_: Mark) -> io::Result<()> {
        Ok(())
    }

    pub(in crate::process) fn started_with<T>(_: Option<Mark>, start: impl FnOnce() -> T) -> T {
        start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_mark_and_two_folders_have_two() {
        let mark = |path: &str| Mark::of(Path::new(path)).expect("a folder");
        assert_eq!(mark("/proc/self/cwd/."), mark("."));
        assert_ne!(mark("/"), mark("/proc"));
        assert_eq!(Mark::from_word(&mark("/").to_word()), Some(mark("/")));
        let helpers = mark("/").of_helpers();
        assert_eq!(Mark::from_word(&helpers.to_word()), Some(helpers));
        assert_ne!(helpers, mark("/"));
        assert!(Mark::of(Path::new("/no/such/folder")).is_err());
    }
}
