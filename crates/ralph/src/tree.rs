//! Snapshots of the working tree: what ralph measures instead of believing.
//!
//! A snapshot is a git tree object made through an index and an object store of ralph's own, so the user's index,
//! HEAD, branches, stash, objects and files are only read. It holds every file that is tracked, or untracked and
//! not ignored, as it is on disk; never `.ralph/` at the top of the project, nor the file that ralph's own output goes to.
//!
//! The private index stays warm from one snapshot to the next, and one `git status` against it finds all that
//! differs from the last snapshot, together with HEAD and branch, without reading new files, which may be big. Only
//! if there is something, these files are taken into the index and `git write-tree` follows.
//!
//! What the user tracks is taken over from the user's index ([`seed`]) when its list of paths changed, and when
//! ignore rules changed. The result depends on files, user's index and ignore rules only, not on earlier
//! snapshots.
//!
//! What a snapshot does not hold is told by a stamp ([`beside`]), so that a change counts: untracked files that are too
//! big, files that a filter refuses, and what is not committed in nested repositories and submodules.
//!
//! Known limits: clean filters (LFS, line ends) run as they would for `git add`; a change of the user's global ignore file
//! is noticed at the next change of other rules; content that the user's repository had is not stored again, so it
//! can vanish with it (a rewritten history and `git gc --prune=now`): look before putting files back.
//!
//! | file | holds |
//! |---|---|
//! | `beside` | what no snapshot holds, and whether it changed |
//! | `back` | putting files back as an earlier snapshot has them |
//! | `diffs` | many comparisons in one go |
//! | `files` | comparing the files with the private index, and taking them into it |
//! | `place` | the folders and files involved, and the git calls that use them |
//! | `rules` | `.ralphignore` |
//! | `plain` | whether git would take files in as they are |
//! | `taking` | doing that without git |
//! | `spool` | objects that git does not have yet |
//! | `seed` | the private index taken from the user's |
//! | `tidy` | packing what was stored, and letting go of snapshots nobody may ask for any more |
//! | `inexact` | what git does not put back byte for byte |
//! | `pipes` | what git waits for and nobody writes |
//! | `memory` | what the last snapshot left for the next, over restarts too |

mod back;
mod beside;
mod diffs;
mod files;
mod inexact;
mod memory;
mod pipes;
mod place;
mod plain;
mod rules;
mod seed;
mod spool;
mod taking;
mod tidy;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::beside::Beside;
use ralph_core::evidence::AddedTodos;
use ralph_core::git_index;
use ralph_core::git_text::{self, Change, ChangeKind, Object, UnknownForm};
use ralph_core::time::Time;
use ralph_core::todos;

use crate::clock;
use crate::git::{Call, GitError, Repo};
use crate::process::{self, Hurry, Mark};
use crate::unix::names::OsStringExt;
pub use back::{BackError, WayBack};
use files::{Looking, Taken};
use inexact::Inexact;
use memory::Memory;
use place::Place;
use plain::{Asked, Plain};
use spool::Spool;
use tidy::Tidying;

/// How long to wait before the next attempts while somebody else is busy in the working tree.
const WAITS: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];

/// The working tree of one project, to be measured again and again. Only one at a time may be in use for a
/// store; the caller holds ralph's lock.
#[derive(Debug)]
pub struct Tree {
    place: Place,
    /// The comparison that the last snapshot had to make anyway.
    compared: Option<(TreeId, TreeId, Vec<Change>)>,
    tidying: Option<Tidying>,
    /// The next snapshot, which is being made already.
    ahead: Option<Begun>,
    /// What of snapshots git does not have yet.
    spool: Spool,
    plain: Plain,
    /// How often in a row somebody's work changed something.
    changed: u32,
    inexact: Inexact,
    /// The files that this process says everything to, by device and inode.
    outputs: Vec<(u64, u64)>,
}

/// After how many snapshots that found something git may write its index while it compares.
const NOTES: u32 = 8;

/// What to expect of a look at the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looks {
    /// Somebody worked.
    AfterWork,
    AtRest,
}

/// A snapshot for which git is comparing files.
#[derive(Debug)]
struct Begun {
    memory: Memory,
    looks: Looks,
    /// When it began.
    since: Time,
    /// The private index was made anew.
    fresh: bool,
    /// git does not write its index meanwhile.
    takes: bool,
    looking: Looking,
    /// git is ready to take in what differs.
    taking: Option<process::Begun>,
    /// git is asked whether that is needed.
    asked: Option<Asked>,
}

/// The working tree as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub tree: TreeId,
    /// The commit that was checked out; `None` without commits or without git.
    pub head: Option<String>,
    /// The current branch; `None` if HEAD is detached, or without git.
    pub branch: Option<String>,
    /// Untracked files that are too big to be stored: changes to them cannot be undone.
    pub too_big: Vec<String>,
    /// What is not part of the snapshot though it has an earlier content of it.
    pub outdated: Vec<String>,
    /// What is there and not part of the snapshot, with a stamp of each.
    pub beside: Vec<Beside>,
    /// Files that ralph itself prints to just now: left as the snapshot before had them.
    pub own_output: Vec<String>,
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
        matches!(
            self,
            TreeError::Git(
                GitError::Missing | GitError::Start(_) | GitError::Filter { .. } | GitError::Ended { .. }
            )
        )
    }
}

impl Tree {
    /// Opens the snapshots of the project at `root`. `store` is a folder of ralph's own, outside the working tree
    /// or below `.ralph/`. Without `repo` a repository in `store` takes its place.
    pub fn open(root: &Path, store: &Path, repo: Option<&Repo>) -> Result<Tree, TreeError> {
        let mut tree = Tree::look(root, store, repo)?;
        tree.place.remove_stale_lock();
        tree.place.mark = Mark::of(root).ok();
        // So that programs which git runs come to us if it leaves them; where it cannot be, they are not found.
        let _ = process::become_reaper();
        tree.spool = Spool::open(&tree.place);
        Ok(tree)
    }

    /// From then on no program that git runs is waited for.
    #[must_use]
    pub fn until(mut self, hurry: Hurry) -> Tree {
        self.place.hurry = Some(hurry);
        self
    }

    /// The same for those who only compare snapshots, beside a run that may be going on.
    pub fn look(root: &Path, store: &Path, repo: Option<&Repo>) -> Result<Tree, TreeError> {
        let place = Place::open(root, store, repo)?;
        Ok(Tree {
            place,
            compared: None,
            tidying: None,
            ahead: None,
            spool: Spool::look(),
            plain: Plain::default(),
            changed: 0,
            inexact: Inexact::default(),
            outputs: crate::ui::own_outputs(),
        })
    }

    /// Opens them after the store was damaged: what an index remembers of lost objects is worth nothing.
    pub fn anew(root: &Path, store: &Path, repo: Option<&Repo>) -> Result<Tree, TreeError> {
        let tree = Tree::open(root, store, repo)?;
        tree.place.forget()?;
        Ok(tree)
    }

    /// Whether somebody tidies up in it.
    pub fn is_tidied(&self) -> bool {
        self.tidying.is_some()
    }

    /// Whether the folders that hold the snapshots are there.
    pub fn is_whole(&self) -> bool {
        self.place.is_whole()
    }

    /// Measures the working tree. A file that changes while it is read, or an object store that is being
    /// repacked, is tried again; the last attempt starts over from the user's index.
    pub fn snapshot(&mut self) -> Result<Snapshot, TreeError> {
        self.snapshot_while(|| {})
    }

    /// The same; while git compares, something else is done once.
    pub fn snapshot_while(&mut self, meanwhile: impl FnOnce()) -> Result<Snapshot, TreeError> {
        self.take_in_turns(Looks::AtRest, meanwhile)
    }

    /// The same after somebody worked, so that it is likely that something changed.
    pub fn snapshot_after_work(&mut self, meanwhile: impl FnOnce()) -> Result<Snapshot, TreeError> {
        self.take_in_turns(Looks::AfterWork, meanwhile)
    }

    fn take_in_turns(&mut self, looks: Looks, meanwhile: impl FnOnce()) -> Result<Snapshot, TreeError> {
        let taken = self.try_in_turns(looks, meanwhile);
        self.place.end_left();
        taken.map_err(|error| {
            // One that was ended left its lock.
            self.place.remove_stale_lock();
            pipes::named_in(error, &self.place)
        })
    }

    fn try_in_turns(&mut self, looks: Looks, meanwhile: impl FnOnce()) -> Result<Snapshot, TreeError> {
        let (mut begun, mut meanwhile) = (self.ahead.take(), Some(meanwhile));
        for wait in WAITS {
            let begun = match begun.take() {
                Some(begun) => Ok(begun),
                None => self.begin(Memory::load(&self.place), looks),
            };
            if let Some(meanwhile) = meanwhile.take() {
                meanwhile();
            }
            match begun.and_then(|begun| self.take(begun)) {
                Err(error) if !error.is_final() => pause(wait),
                done => return done,
            }
            self.place.remove_stale_lock();
        }
        let mut memory = Memory::load(&self.place);
        memory.distrust_index();
        let begun = self.begin(memory, looks)?;
        self.take(begun)
    }

    /// Begins to measure after somebody worked, and lets git compare while the caller does something else; what it finds is the
    /// next snapshot. If it cannot, that snapshot begins anew.
    pub fn measure_ahead(&mut self) {
        if self.ahead.is_none() {
            self.ahead = self.begin(Memory::load(&self.place), Looks::AfterWork).ok();
        }
    }

    /// Lets go of what was begun ahead and nobody asked for: it is too old for whoever asks later.
    pub fn forget_ahead(&mut self) {
        self.ahead = None;
    }

    /// What differs between two snapshots.
    pub fn diff(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, TreeError> {
        if from == to {
            return Ok(Vec::new());
        }
        match &self.compared {
            Some((old, new, changes)) if old == from && new == to => Ok(changes.clone()),
            _ => match self.compare_with_index(from, to) {
                Some(changes) => Ok(changes),
                None => self.compare(from, to),
            },
        }
    }

    /// The same by the private index, where it stands for the later one: git need not have that. `None`: it cannot be told so.
    fn compare_with_index(&self, from: &TreeId, to: &TreeId) -> Option<Vec<Change>> {
        let memory = Memory::load(&self.place);
        // Beside a run that goes on the index may be another one by the time git reads it.
        if !self.spool.is_owned()
            || memory.tree.as_ref() != Some(to)
            || !memory.fits_index(&self.place).ok()?
        {
            return None;
        }
        let call = self.place.call("diff-index").args(["--cached", "-z", "--no-renames"]);
        let call = call.args(["--ignore-submodules=none", "--ita-invisible-in-index", from.as_str()]);
        git_text::parse_diff(&call.output().ok()?).ok()
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

    /// Whether what no snapshot holds is still there as it was.
    pub fn is_still(&self, one: &Beside) -> bool {
        beside::is_same(&self.place, one)
    }

    /// What differs between two snapshots, line by line, as `git diff` would show it.
    pub fn patch(&self, from: &TreeId, to: &TreeId) -> Result<Vec<u8>, TreeError> {
        Ok(self.patching().arg(from.as_str()).arg(to.as_str()).output()?)
    }

    fn patching(&self) -> Call {
        let call = self.stored().call("diff-tree").args(["-r", "-p", "-M", "--no-ext-diff", "--no-textconv"]);
        call.args(["--no-color", "--submodule=short"])
    }

    /// Whether a snapshot is stored whole, as far as its folders go.
    pub fn has(&self, tree: &TreeId) -> bool {
        let listed = self.stored().call("ls-tree").args(["-r", "--name-only", "-z"]).arg(tree.as_str()).run();
        listed.is_ok_and(|listed| listed.end.success())
    }

    /// TODO and FIXME comments that are in `to` and were not in `from`. `besides` are files and folders, from the top,
    /// that are no source.
    pub fn added_todos(
        &self,
        from: &TreeId,
        to: &TreeId,
        besides: &[Vec<u8>],
    ) -> Result<AddedTodos, TreeError> {
        if from == to {
            return Ok(AddedTodos::default());
        }
        let call = self.stored().call("diff-tree").args([
            "-r", "-p", "-U0", "-GTODO|FIXME", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
        ]);
        let call = call.arg(from.as_str()).arg(to.as_str()).args(["--", ":(top)"]);
        let exclude =
            |path: &Vec<u8>| OsString::from_vec([&b":(exclude,top,literal)"[..], path.as_slice()].concat());
        Ok(todos::added(&call.args(besides.iter().map(exclude)).output()?))
    }

    /// The texts of these files, as far as a snapshot has them.
    pub fn texts(&self, tree: &TreeId, files: &[String]) -> Result<HashMap<String, String>, TreeError> {
        let asked = files.iter().filter(|file| !file.contains('\n'));
        let questions: String = asked.clone().map(|file| format!("{tree}:{file}\n")).collect();
        let answer = self.stored().call("cat-file").arg("--batch").stdin(questions.into_bytes()).output()?;
        let contents = git_text::parse_batch(&answer);
        let texts = asked.zip(contents).filter_map(|(file, text)| Some((file.clone(), text?)));
        Ok(texts.map(|(file, text)| (file, String::from_utf8_lossy(text).into_owned())).collect())
    }

    /// A git call that sees the private index and the stored snapshots, for putting files back.
    pub fn call(&self, command: &'static str) -> Call {
        self.stored().call(command)
    }

    /// The beginning of an attempt: git is asked what differs.
    fn begin(&mut self, mut memory: Memory, looks: Looks) -> Result<Begun, TreeError> {
        self.let_tidying_end();
        // They may do by now.
        self.place.failing.clear();
        let since = clock::now();
        if self.spool.is_damaged(&self.place) {
            // Whatever it held is stored again.
            memory.distrust_index();
        }
        let fresh = seed::refresh(&mut self.place, &mut memory)?;
        // Whoever changed something the last time is likely to have done so again. But now and then git has its turn to
        // note files that were touched and are the same, or it would read them again every time.
        let takes = looks == Looks::AfterWork && !fresh && !self.changed.is_multiple_of(NOTES);
        let looking = files::begin_to_look(&self.place, &memory, takes)?;
        // Beside what takes its time anyway: a session's hook does without.
        let asks = takes || looks == Looks::AtRest;
        let asked = if asks { self.plain.ask(&self.place) } else { None };
        let by_git = takes && !self.plain.is_likely();
        let taking = by_git.then(|| files::begin_to_take_in(&self.place, &memory)).flatten();
        Ok(Begun { memory, looks, since, fresh, takes, looking, taking, asked })
    }

    /// The rest of it.
    fn take(&mut self, begun: Begun) -> Result<Snapshot, TreeError> {
        let Begun { mut memory, looks, since, mut fresh, takes, looking, mut taking, asked } = begun;
        let looked = files::look(&mut self.place, looking, &self.outputs);
        if let Some(asked) = asked {
            self.plain.answer(&self.place, asked);
        }
        let mut found = looked?;
        // Where git skips files that are absent, an absent file need not be a deletion.
        if !fresh && (found.ignore_rules || memory.skips && !found.gone.is_empty()) {
            taking = None;
            seed::replace(&self.place, &mut memory)?;
            fresh = true;
            let looking = files::begin_to_look(&self.place, &memory, false)?;
            found = files::look(&mut self.place, looking, &self.outputs)?;
        }
        let before = memory.tree.take();
        let mut taken = Taken::Nothing;
        let is_dirty = !found.dirty.is_empty();
        if looks == Looks::AfterWork {
            self.changed = if is_dirty { self.changed.wrapping_add(1) } else { 0 };
        }
        if is_dirty {
            taken = match before.as_ref().filter(|_| !fresh && taking.is_none() && !memory.skips) {
                Some(before)
                    if taking::take_in(&self.place, before, since, &found, &mut self.plain, &self.spool) =>
                {
                    Taken::All
                }
                _ => files::take_in(&mut self.place, &memory, &mut found, taking)?,
            };
            seed::note_gone(&self.place, &mut memory, &found.gone)?;
            found.problems.extend(self.inexact.note(&self.place, &found.converted)?);
        } else {
            drop(taking);
        }
        let tree = match &before {
            Some(tree) if !fresh && matches!(taken, Taken::Nothing) => tree.clone(),
            // Now and then git notes in the index which folders it has stored, or it would store them again every time.
            Some(before) if !fresh && takes && matches!(taken, Taken::All) => {
                let tree = taking::tree(&self.place, before, &found.dirty, &self.spool);
                tree.map_or_else(|| self.write_tree(), Ok)?
            }
            _ => self.write_tree()?,
        };
        if let (Some(before), Taken::All, false) = (&before, &taken, fresh) {
            // The index was the last snapshot, so what differed from it is the difference: git need not look again.
            self.compared = Some((before.clone(), tree.clone(), std::mem::take(&mut found.changes)));
        }
        let let_go = match before {
            Some(before) if fresh && before != tree => self.let_go(before, &tree),
            _ => Vec::new(),
        };
        memory.tree = Some(tree.clone());
        memory.save(&self.place)?;
        let beside = beside::of(&self.place, &found);
        // First: of many problems only some are told.
        found.problems.splice(0..0, beside::unasked(&found));
        let files::Found { head, branch, too_big, outdated, own_output, problems, .. } = found;
        let names = |paths: &[Vec<u8>]| -> Vec<String> {
            paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
        };
        let (too_big, outdated, own_output) = (names(&too_big), names(&outdated), names(&own_output));
        Ok(Snapshot { tree, head, branch, too_big, outdated, beside, own_output, problems, let_go })
    }

    fn write_tree(&self) -> Result<TreeId, TreeError> {
        self.write_tree_of(&self.place.index())
    }

    fn write_tree_of(&self, index: &Path) -> Result<TreeId, TreeError> {
        // Without --missing-ok git would look for every file of every changed folder in both object stores, which takes longer than
        // all the rest, and proves nothing about the other folders.
        let call = place::storing(self.place.call_on(index, "write-tree")).arg("--missing-ok");
        let id = call.output()?;
        let id = String::from_utf8_lossy(&id);
        Ok(TreeId::new(id.trim_end()).ok_or_else(|| call.strange("a tree was asked for"))?)
    }

    /// Where all that was measured is stored, as far as git can.
    fn stored(&self) -> &Place {
        let _ = self.spool.empty(&self.place);
        &self.place
    }

    /// The same with what is stored at each path, which [`Tree::diff`] may not know.
    pub fn compare(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, TreeError> {
        let call =
            self.stored().call("diff-tree").args(["-r", "-z", "--no-renames", "--ignore-submodules=none"]);
        Ok(git_text::parse_diff(&call.arg(from.as_str()).arg(to.as_str()).output()?)?)
    }

    /// Whether a snapshot holds a file of this name, or a folder.
    pub fn holds_any(&self, tree: &TreeId, path: &OsStr) -> Result<bool, TreeError> {
        let call =
            self.stored().call("ls-tree").args(["--full-tree", "--name-only", "-z", tree.as_str(), "--"]);
        Ok(!call.arg(path).output()?.is_empty())
    }

    /// What a snapshot holds at these paths, where it is the last one: the private index stands for it, and no process is
    /// needed. `None`: git has to be asked.
    pub fn held(&self, tree: &TreeId, paths: &BTreeSet<Vec<u8>>) -> Option<BTreeMap<Vec<u8>, Object>> {
        let memory = Memory::load(&self.place);
        let stands = memory.tree.as_ref() == Some(tree) && memory.fits_index(&self.place).ok()?;
        let index = stands.then(|| std::fs::read(self.place.index()).ok()).flatten()?;
        git_index::objects_at(&index, paths, tree.as_str())
    }

    /// The files that left the snapshot without leaving the disk.
    fn let_go(&mut self, before: TreeId, now: &TreeId) -> Vec<Vec<u8>> {
        // The snapshot before may be from long ago, and what it was made of lost with the user's history.
        let Ok(changes) = self.compare(&before, now) else { return Vec::new() };
        let gone = changes.iter().filter(|change| change.kind == ChangeKind::Deleted);
        let let_go =
            gone.filter(|change| self.place.has_file(&change.path)).map(|change| change.path.clone());
        let let_go = let_go.collect();
        self.compared = Some((before, now.clone(), changes));
        let_go
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "nobody tells when another program has finished writing a file"
)]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
