//! A snapshot that git is still storing. Its name is known from the index at once, and an agent may be started while git writes
//! the folders down; whoever wants more than the name waits for that.
//!
//! git makes them from a copy of the index, for the index itself has its stamp before anybody works again and is not to change
//! behind it. The copy is emptied when all is stored: where ralph is cut off in between, the next one finds it and has it stored.
#![expect(clippy::disallowed_methods, reason = "snapshots keep files of their own in the store")]

use std::fs::{self, File};
use std::path::PathBuf;

use ralph_core::git_index;

use super::{Place, Tree, TreeError, TreeId, place};
use crate::git::Call;
use crate::{point, process};

#[derive(Debug)]
pub(super) struct Storing {
    tree: TreeId,
    call: Call,
    begun: Option<process::Begun>,
}

impl Storing {
    /// What the private index holds, to be stored. `None`: what it will be called cannot be told.
    pub(super) fn of(place: &Place, before: &TreeId) -> Result<Option<Self>, TreeError> {
        let (index, copy) = (place.index(), copy(place));
        let index = fs::read(&index).map_err(TreeError::file(&index))?;
        let tree = git_index::tree_of(&index, before.as_str()).and_then(|id| TreeId::new(&id));
        let Some(tree) = tree else { return Ok(None) };
        // Into the same file each time: a new one costs a file system more than what is written into it.
        point::file("write", &copy).and_then(|()| fs::write(&copy, index)).map_err(TreeError::file(&copy))?;
        Ok(Some(Self { tree, call: writing(place.call_on(&copy, "write-tree")), begun: None }))
    }

    pub(super) fn tree(&self) -> &TreeId {
        &self.tree
    }

    /// Where git cannot be started, whoever waits for it finds out.
    fn begin(&mut self) {
        self.begun = self.call.begin().ok();
    }

    fn finish(&mut self) -> Result<TreeId, TreeError> {
        match self.begun.take() {
            Some(begun) => written(&self.call, &self.call.finish(begun, Vec::new())?),
            None => written(&self.call, &self.call.run()?),
        }
    }
}

impl Tree {
    /// Has git begin to store what was measured last. git may run filters for that, to see whether a file is as its index has it, so it
    /// must not be taken for what an earlier call left: those are ended first.
    pub(super) fn begin_to_store(&mut self) {
        self.storing.get_mut().iter_mut().for_each(Storing::begin);
    }

    /// Waits for git where it is storing what was measured last. Where it fails, whoever measures next hears of it.
    pub fn let_storing_end(&self) {
        let begun = self.storing.borrow().as_ref().is_some_and(|storing| storing.begun.is_some());
        if begun {
            let _ = self.settle();
        }
    }

    /// What was measured last is stored when this returns.
    pub fn settle(&self) -> Result<(), TreeError> {
        let Some(mut storing) = self.storing.take() else { return Ok(()) };
        let mut written = storing.finish();
        if written.as_ref().is_err_and(|error| !error.is_final()) {
            // One that was killed left its lock.
            self.place.remove_stale_lock();
            written = storing.finish();
        }
        self.place.end_left();
        match written {
            Err(error) if self.place.is_whole() => {
                self.storing.replace(Some(storing));
                Err(error)
            }
            // With another name: somebody wrote into the copy, and what it held is lost. Without one: the store is gone.
            _ => {
                self.empty_copy();
                Ok(())
            }
        }
    }

    /// Where all that was measured is stored, as far as git can.
    pub(super) fn stored(&self) -> &Place {
        let _ = self.settle();
        &self.place
    }

    /// Lets go of what cannot be stored: to measure is more than to remember.
    pub(super) fn forget_storing(&mut self) {
        let _ = self.settle();
        if self.storing.take().is_some() {
            self.empty_copy();
        }
    }

    /// Stores what a ralph that was cut off had measured and perhaps recorded.
    pub(super) fn store_what_was_left(&self) {
        let copy = copy(&self.place);
        if fs::metadata(&copy).is_ok_and(|data| data.is_file() && data.len() > 0) {
            let _ = self.write_tree_of(&copy);
            self.empty_copy();
        }
    }

    fn empty_copy(&self) {
        let copy = copy(&self.place);
        let _ =
            point::file("empty", &copy).and_then(|()| File::options().write(true).open(&copy)?.set_len(0));
    }
}

/// What git makes the folders from.
fn copy(place: &Place) -> PathBuf {
    place.beside(place::STORING)
}

/// Without --missing-ok git would look for every file of every changed folder in both object stores, which takes longer than
/// all the rest, and proves nothing about the other folders.
pub(super) fn writing(call: Call) -> Call {
    place::storing(call).arg("--missing-ok")
}

/// The tree that git says it has written.
pub(super) fn written(call: &Call, captured: &process::Captured) -> Result<TreeId, TreeError> {
    if !captured.end.success() {
        return Err(call.failure(captured).into());
    }
    let id = String::from_utf8_lossy(&captured.stdout);
    Ok(TreeId::new(id.trim_end()).ok_or_else(|| call.strange("a tree was asked for"))?)
}
