//! What is made, held against a file in the repository. `RALPH_BLESS=1` writes the file anew, for somebody to look at the
//! difference.
#![expect(clippy::disallowed_methods, reason = "the test's own files")]

use std::fs;
use std::path::PathBuf;

/// A file of the repository.
pub(crate) fn file(name: &str) -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
    PathBuf::from(manifest).join("../..").join(name)
}

#[track_caller]
pub(crate) fn holds(name: &str, made: &str) {
    if std::env::var_os("RALPH_BLESS").is_some() {
        fs::write(file(name), made).expect("written");
    }
    let there = fs::read_to_string(file(name)).unwrap_or_default();
    let differs = there.lines().zip(made.lines()).find(|(there, made)| there != made);
    assert!(
        there == made,
        "{name} is not what the program says ({differs:?}); RALPH_BLESS=1 with this test writes it anew\n{made}"
    );
}
