//! What only unix systems have, as far as names and files go: everybody else takes it from here, so that another system
//! needs another one of these modules and no more. (Processes, signals and descriptors are `process/`'s; what only Linux
//! has stands beside its replacement, where it is used.)

/// Names of files are bytes, as git has them.
pub(crate) mod names {
    pub(crate) use std::os::unix::ffi::{OsStrExt, OsStringExt};
}

/// Names that lead elsewhere.
pub(crate) mod links {
    pub(crate) use std::os::unix::fs::symlink;
}

/// Who may read, write and run a file: for ralph's own, the user alone.
pub(crate) mod rights {
    pub(crate) use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
}

/// Which file a name leads to, and when it was last changed.
pub(crate) mod identity {
    pub(crate) use std::os::fd::{AsFd, OwnedFd};
    pub(crate) use std::os::unix::fs::MetadataExt;
}

/// Reading at a place, which several threads may do at once.
pub(crate) mod places {
    pub(crate) use std::os::unix::fs::FileExt;
}
