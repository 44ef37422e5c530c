//! Snapshots of the working tree: what ralph measures instead of believing.
//!
//! A snapshot is a git tree object made through an index and an object store of ralph's own, so the user's index,
//! HEAD, branches, stash, objects and files are only read. It holds every file that is tracked, or untracked and
//! not ignored, as it is on disk; never `.ralph/` at the top of the project.
//!
//! The private index stays warm from one snapshot to the next, and one `git status` against it finds all that
//! differs from the last snapshot, together with HEAD and branch. Only if there is something follow `git add` and
//! `git write-tree`. `status` comes before `add` also because it tells the size of new files without reading
//! them.
//!
//! What the user tracks is taken over from the user's index ([`seed`]) when its list of paths changed, and when
//! ignore rules changed. The result depends on files, user's index and ignore rules only, not on earlier
//! snapshots.
//!
//! Known limits: edits inside nested repositories and submodules are not seen, only another commit checked out
//! there; clean filters (LFS, line ends) run as they would for `git add`.
//!
//! | file | holds |
//! |---|---|
//! | `place` | the folders and files involved, and the git calls that use them |
//! | `seed` | the private index taken from the user's |
//! | `memory` | what the last snapshot left for the next, over restarts too |

mod memory;
mod place;
mod seed;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::git_text::{self, Change, ChangeKind, UnknownForm};

use crate::git::{Call, GitError, Repo};
use memory::Memory;
use place::Place;

/// Untracked files over this size are named, not stored.
const BIG: u64 = 50_000_000;

/// How long to wait before the next attempts while somebody else is busy in the working tree.
const WAITS: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];

/// The working tree of one project, to be measured again and again. Only one at a time may be in use for a
/// store; the caller holds ralph's lock.
#[derive(Debug)]
pub struct Tree {
    place: Place,
    /// The comparison that the last snapshot had to make anyway.
    compared: Option<(TreeId, TreeId, Vec<Change>)>,
}

/// The working tree as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub tree: TreeId,
    /// The commit that was checked out; `None` without commits or without git.
    pub head: Option<String>,
    /// The current branch; `None` if HEAD is detached, or without git.
    pub branch: Option<String>,
    /// Untracked files that are too big to be stored: changes to them are not seen and cannot be undone.
    pub too_big: Vec<String>,
    /// What could not be read, in plain words.
    pub problems: Vec<String>,
    /// Files of the last snapshot that are still there but not part of this one: ignored by now, or no longer
    /// tracked. They were not deleted.
    pub let_go: Vec<Vec<u8>>,
}

/// The name of a snapshot's content: equal names, equal files.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TreeId(String);

impl TreeId {
    pub fn new(id: &str) -> Option<TreeId> {
        git_text::is_object_id(id).then(|| TreeId(id.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why the working tree could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Answer(#[from] UnknownForm),
    #[error("cannot use {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

impl TreeError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> TreeError {
        let path = path.to_path_buf();
        move |source| TreeError::File { path, source }
    }

    /// Trying again cannot help.
    fn is_final(&self) -> bool {
        matches!(self, TreeError::Git(GitError::Missing | GitError::Start(_)))
    }
}

/// What `git status` found against the private index.
struct Found {
    head: Option<String>,
    branch: Option<String>,
    /// There is something to add.
    dirty: bool,
    ignore_rules: bool,
    /// Paths of the private index that are no longer there.
    gone: Vec<Vec<u8>>,
    too_big: Vec<Vec<u8>>,
    problems: Vec<String>,
}

impl Tree {
    /// Opens the snapshots of the project at `root`. `store` is a folder of ralph's own, outside the working tree
    /// or below `.ralph/`. Without `repo` a repository in `store` takes its place.
    pub fn open(root: &Path, store: &Path, repo: Option<&Repo>) -> Result<Tree, TreeError> {
        let place = Place::open(root, store, repo)?;
        place.remove_stale_lock();
        Ok(Tree { place, compared: None })
    }

    /// Measures the working tree. A file that changes while it is read, or an object store that is being
    /// repacked, is tried again; the last attempt starts over from the user's index.
    pub fn snapshot(&mut self) -> Result<Snapshot, TreeError> {
        let mut memory = Memory::load(&self.place);
        for wait in WAITS {
            match self.take(memory) {
                Err(error) if !error.is_final() => pause(wait),
                done => return done,
            }
            self.place.remove_stale_lock();
            memory = Memory::load(&self.place);
        }
        memory.distrust_index();
        self.take(memory)
    }

    /// What differs between two snapshots.
    pub fn diff(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, TreeError> {
        if from == to {
            return Ok(Vec::new());
        }
        match &self.compared {
            Some((old, new, changes)) if old == from && new == to => Ok(changes.clone()),
            _ => self.compare(from, to),
        }
    }

    /// What was done to the files between an earlier snapshot and `to`: their difference without the files that
    /// were only let go.
    pub fn changes(&self, from: &TreeId, to: &Snapshot) -> Result<Vec<Change>, TreeError> {
        let mut changes = self.diff(from, &to.tree)?;
        if !to.let_go.is_empty() {
            let let_go: std::collections::HashSet<_> = to.let_go.iter().collect();
            changes.retain(|change| change.kind != ChangeKind::Deleted || !let_go.contains(&change.path));
        }
        Ok(changes)
    }

    /// A git call that sees the private index and the stored snapshots, for putting files back.
    pub fn call(&self, command: &'static str) -> Call {
        self.place.call(command)
    }

    /// One attempt.
    fn take(&mut self, mut memory: Memory) -> Result<Snapshot, TreeError> {
        let mut fresh = seed::refresh(&self.place, &mut memory)?;
        let mut found = self.look(&memory)?;
        // Where git skips files that are absent, an absent file need not be a deletion.
        if !fresh && (found.ignore_rules || memory.skips && !found.gone.is_empty()) {
            seed::replace(&self.place, &mut memory)?;
            fresh = true;
            found = self.look(&memory)?;
        }
        let before = memory.tree.take();
        let mut unchanged = !fresh;
        if found.dirty {
            unchanged &= !self.add(&memory, &found.too_big, &mut found.problems)?;
            seed::note_gone(&self.place, &mut memory, &found.gone)?;
        }
        let tree = match &before {
            Some(tree) if unchanged => tree.clone(),
            _ => self.write_tree()?,
        };
        let let_go = match before {
            Some(before) if fresh && before != tree => self.let_go(before, &tree)?,
            _ => Vec::new(),
        };
        memory.tree = Some(tree.clone());
        memory.save(&self.place)?;
        let too_big = found.too_big.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        Ok(Snapshot {
            tree,
            head: found.head,
            branch: found.branch,
            too_big,
            problems: found.problems,
            let_go,
        })
    }

    /// A call that looks whether files that need not be there are there after all. Asked for only where it
    /// matters: without patterns of a sparse checkout `git add` looks for them again at every file.
    fn seeing_all(&self, command: &'static str, memory: &Memory) -> Call {
        let call = self.place.call(command);
        if memory.skips {
            call.setting("core.sparseCheckout=true").setting("sparse.expectFilesOutsideOfPatterns=false")
        } else {
            call
        }
    }

    /// Compares files and private index. git may write the index here, to note files that were touched but are
    /// the same, so that it need not read them next time.
    fn look(&self, memory: &Memory) -> Result<Found, TreeError> {
        let call = self.seeing_all("status", memory).env("GIT_OPTIONAL_LOCKS", "1").args([
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "--no-renames",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
        ]);
        let captured = call.run()?;
        if !captured.end.success() {
            return Err(call.failure(&captured).into());
        }
        let status = git_text::parse_status(&captured.stdout)?;
        let mut found = Found {
            head: status.head,
            branch: status.branch,
            dirty: false,
            ignore_rules: false,
            gone: Vec::new(),
            too_big: Vec::new(),
            problems: git_text::complaints(&captured.stderr),
        };
        for entry in status.dirty {
            if self.place.is_ours(&entry.path) {
                continue;
            }
            found.ignore_rules |= entry.path.rsplit(|b| *b == b'/').next() == Some(b".gitignore");
            if entry.gone {
                found.gone.push(entry.path);
                found.dirty = true;
            } else if !entry.in_head && self.place.file_size(&entry.path) > BIG {
                found.too_big.push(entry.path);
            } else {
                found.dirty = true;
            }
        }
        found.too_big.sort();
        Ok(found)
    }

    /// Takes the files into the private index and says whether that changed it.
    fn add(
        &self,
        memory: &Memory,
        too_big: &[Vec<u8>],
        problems: &mut Vec<String>,
    ) -> Result<bool, TreeError> {
        // As a list on standard input, because names may be too many or too strange for arguments.
        let mut paths = b":(top)\0".to_vec();
        for path in too_big.iter().map(Vec::as_slice).chain([self.place.ours()]) {
            paths.extend_from_slice(b":(exclude,top,literal)");
            paths.extend_from_slice(path);
            paths.push(0);
        }
        let call = self.seeing_all("add", memory).stdin(paths).args([
            "--all",
            "--verbose",
            "--sparse",
            "--ignore-errors",
            "--no-warn-embedded-repo",
            "--pathspec-from-file=-",
            "--pathspec-file-nul",
        ]);
        let mut changed = false;
        let mut waits = WAITS.into_iter();
        loop {
            let captured = call.run()?;
            // With --ignore-errors, exit 1 means: all but the files that are complained about.
            if !matches!(captured.end.code(), Some(0 | 1)) {
                return Err(call.failure(&captured).into());
            }
            changed |= !captured.stdout.is_empty();
            if git_text::files_moved(&captured.stderr)
                && let Some(wait) = waits.next()
            {
                pause(wait);
                continue;
            }
            for problem in git_text::complaints(&captured.stderr) {
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            return Ok(changed);
        }
    }

    fn write_tree(&self) -> Result<TreeId, TreeError> {
        // Without --missing-ok git would look for every file of every changed folder in both object stores, which
        // takes longer than all the rest, and proves nothing about the other folders.
        let call = self.place.call("write-tree").arg("--missing-ok");
        let id = call.line()?.and_then(|id| TreeId::new(&id));
        Ok(id.ok_or_else(|| call.strange("a tree was asked for"))?)
    }

    fn compare(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, TreeError> {
        let call =
            self.place.call("diff-tree").args(["-r", "-z", "--no-renames", "--ignore-submodules=none"]);
        Ok(git_text::parse_diff(&call.arg(from.as_str()).arg(to.as_str()).output()?)?)
    }

    /// The files that left the snapshot without leaving the disk.
    fn let_go(&mut self, before: TreeId, now: &TreeId) -> Result<Vec<Vec<u8>>, TreeError> {
        let changes = self.compare(&before, now)?;
        let gone = changes.iter().filter(|change| change.kind == ChangeKind::Deleted);
        let let_go =
            gone.filter(|change| self.place.has_file(&change.path)).map(|change| change.path.clone());
        let let_go = let_go.collect();
        self.compared = Some((before, now.clone(), changes));
        Ok(let_go)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "nobody tells when another program has finished writing a file"
)]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
