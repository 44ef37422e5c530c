//! A clean checkout elsewhere: a repository of its own that borrows the objects of this one. Nothing here learns of it,
//! and it has no remote, so that nothing that runs there can push.

use std::path::Path;

use super::{Call, GitError, Repo};
use crate::store;

/// How many characters the id of an object has in a repository with SHA-256.
const LONG: usize = 64;

impl Repo {
    /// The files of `commit` in `dir`, an empty folder.
    pub fn check_out_elsewhere(&self, commit: &str, dir: &Path) -> Result<(), GitError> {
        let init = Call::new(dir, "init").measuring().args(["--quiet", "--template="]);
        let init = if commit.len() == LONG { init.arg("--object-format=sha256") } else { init };
        init.output()?;
        let lender = self.common_dir.join("objects");
        let mut line = lender.as_os_str().as_encoded_bytes().to_vec();
        line.push(b'\n');
        store::lend_objects(&dir.join(".git/objects"), &line)
            .map_err(|error| init.strange(&format!("the objects cannot be borrowed: {error}")))?;
        let checkout = Call::new(dir, "checkout").measuring();
        checkout.args(["--quiet", "--detach", commit]).output().map(drop)
    }
}
