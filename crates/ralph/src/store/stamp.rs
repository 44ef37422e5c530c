//! Telling whether anybody touched a file, without reading it.

use std::fs::{File, Metadata};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use ralph_core::time::Time;

use crate::unix::identity::MetadataExt;

/// Which file it is, how long, and when its content and its inode last changed. The last one cannot be set by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    file: (u64, u64),
    size: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(data: &Metadata) -> Self {
        Self {
            file: (data.dev(), data.ino()),
            size: data.size(),
            written: (data.mtime(), data.mtime_nsec()),
            changed: (data.ctime(), data.ctime_nsec()),
        }
    }

    /// Leaves a time on an open file that no other write would. The system's own times are coarse: two writes within a few
    /// milliseconds look the same.
    pub(super) fn sign(file: &File) -> Option<Self> {
        let written = file.metadata().ok()?.mtime();
        let nanos = RandomState::new().build_hasher().finish() % 1_000_000_000;
        let time = UNIX_EPOCH + Duration::new(u64::try_from(written).ok()?, 0) + Duration::from_nanos(nanos);
        // Where it cannot be set, the coarse one must do.
        let _ = file.set_modified(time);
        Self::of_open(file)
    }

    pub(super) fn of_open(file: &File) -> Option<Self> {
        file.metadata().ok().as_ref().map(Self::of)
    }

    /// A link is a file of its own: what it points to is not what was left there.
    pub(super) fn at(path: &Path) -> Option<Self> {
        std::fs::symlink_metadata(path).ok().as_ref().map(Self::of)
    }

    pub(super) fn same_file(self, other: Self) -> bool {
        self.file == other.file
    }

    /// Nobody wrote to it meanwhile, as far as its times tell; names may have come and gone.
    pub(super) fn same_content(self, other: Self) -> bool {
        (self.size, self.written) == (other.size, other.written)
    }

    /// Any later write leaves another time on it: the system's own are coarse, by some milliseconds.
    pub(crate) fn is_settled(self, now: Time) -> bool {
        let (seconds, nanos) = self.changed;
        let changed = Time::from_millis(seconds.saturating_mul(1_000).saturating_add(nanos / 1_000_000));
        now.since(changed) > 100
    }

    pub(super) fn size(self) -> u64 {
        self.size
    }
}
