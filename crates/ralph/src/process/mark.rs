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

    pub(super) fn to_word(self) -> String {
        self.0.to_string()
    }

    pub(super) fn from_word(word: &str) -> Option<Mark> {
        word.parse().ok().filter(|value| *value >> 48 == OURS >> 48).map(Mark)
    }
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(super) use linux::{wear, worn_by};
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub(super) use other::wear;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux {
    use std::io;

    use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};

    use super::Mark;

    /// Marks this process and all that it starts from now on.
    pub(in crate::process) fn wear(mark: Mark) -> io::Result<()> {
        let limit = Rlimit { current: Some(mark.0), maximum: getrlimit(Resource::Locks).maximum };
        Ok(setrlimit(Resource::Locks, limit)?)
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
        assert!(Mark::of(Path::new("/no/such/folder")).is_err());
    }
}
