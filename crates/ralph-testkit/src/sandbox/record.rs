//! What the runs of a sandbox recorded is decided again when the test is over, and must come out the same.

use super::Sandbox;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;

#[derive(Default)]
pub(super) struct Record(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// The binary under test.
    ralph: Option<PathBuf>,
    damaged: bool,
}

impl Record {
    pub(super) fn made_by(&self, exe: &Path) {
        if exe.file_stem().is_some_and(|name| name == "ralph") {
            self.0.lock().expect("not poisoned").ralph = Some(exe.to_path_buf());
        }
    }

    pub(super) fn is_damaged(&self) {
        self.0.lock().expect("not poisoned").damaged = true;
    }

    pub(super) fn assert_agrees(&self, sandbox: &Sandbox) {
        let kept = self.0.lock().expect("not poisoned");
        if kept.damaged {
            return;
        }
        for folder in [sandbox.project(), sandbox.root().join("tmp")].iter().flat_map(|top| folders(top)) {
            for run in runs(&folder) {
                let ralph = kept
                    .ralph
                    .as_ref()
                    .expect("runs are made by Sandbox::ralph, so that it knows the binary");
                assert_run_agrees(sandbox, ralph, &folder, run);
            }
        }
    }
}

fn assert_run_agrees(sandbox: &Sandbox, ralph: &Path, folder: &Path, run: u64) {
    let number = run.to_string();
    let mut command = sandbox.command(ralph);
    command.args(["replay", &number, "--json"]).current_dir(folder).stdin(Stdio::null());
    let output = command.output().expect("start ralph replay");
    let said = || [&output.stdout[..], &output.stderr].concat();
    assert!(
        output.status.success(),
        "`ralph replay {run}` does not agree with the record of run {run} in {}\n{}",
        folder.display(),
        String::from_utf8_lossy(&said())
    );
}

/// A folder, and what was made a project inside it: the demo's, a linked worktree.
fn folders(top: &Path) -> Vec<PathBuf> {
    let below = fs::read_dir(top).into_iter().flatten().flatten();
    let below = below.map(|entry| entry.path()).filter(|path| path.is_dir());
    [top.to_path_buf()].into_iter().chain(below).collect()
}

/// The numbers of the runs that were begun there.
fn runs(folder: &Path) -> Vec<u64> {
    let truth = truth(folder).map(|truth| truth.join("runs"));
    let entries = truth.and_then(|runs| fs::read_dir(runs).ok()).into_iter().flatten().flatten();
    let begun = |path: PathBuf| fs::metadata(path.join("journal.jsonl")).is_ok_and(|data| data.len() > 0);
    let numbers = entries.filter(|entry| begun(entry.path()));
    numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Where ralph keeps its record: without git, or where it was before there was git, in the project.
fn truth(folder: &Path) -> Option<PathBuf> {
    let own = folder.join(".ralph/.state");
    if own.is_dir() {
        return Some(own);
    }
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git.join("ralph"));
    }
    // A linked worktree: `gitdir: PATH`.
    let text = fs::read_to_string(git).ok()?;
    Some(folder.join(text.trim().strip_prefix("gitdir: ")?).join("ralph"))
}
