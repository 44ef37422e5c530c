//! A snapshot that git is still storing. Its name is known from the index at once, and an agent may be started while git writes
//! the folders down; whoever wants more than the name waits for that.
//!
//! What was taken into the index stays there until the next snapshot, which waits too. So where ralph is cut off in between,
//! the next one finds an index that does not fit what is remembered of it, and has it stored then.

use ralph_core::git_index;

use super::memory::Memory;
use super::{Place, Tree, TreeError, TreeId, place};
use crate::git::Call;
use crate::process;

#[derive(Debug)]
pub(super) struct Storing {
    tree: TreeId,
    /// What is remembered of the snapshot once it is stored.
    memory: Memory,
    call: Call,
    /// `None`: git failed, and is asked again.
    begun: Option<process::Begun>,
}

impl Storing {
    /// What the private index holds, to be stored. `None`: what it will be called cannot be told.
    pub(super) fn of(place: &Place, before: &TreeId, memory: &mut Memory) -> Result<Option<Self>, TreeError> {
        let index = std::fs::read(place.index()).map_err(TreeError::file(&place.index()))?;
        let tree = git_index::tree_of(&index, before.as_str()).and_then(|id| TreeId::new(&id));
        let Some(tree) = tree else { return Ok(None) };
        memory.tree = Some(tree.clone());
        let call = writing(place.call("write-tree"));
        Ok(Some(Self { tree, memory: memory.clone(), call, begun: None }))
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

    /// What was measured last is stored when this returns. Where git fails at it, whoever measures next hears of it.
    pub fn settle(&self) -> Result<(), TreeError> {
        let Some(mut storing) = self.storing.take() else { return Ok(()) };
        let saved = match storing.finish().or_else(|_| storing.finish()) {
            Ok(tree) if tree == storing.tree => storing.memory.save(&self.place),
            // Somebody wrote that index meanwhile: what it held is lost, and the next snapshot begins anew.
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        self.place.end_left();
        match saved {
            Err(error) if self.place.is_whole() => {
                self.storing.replace(Some(storing));
                Err(error)
            }
            // Somebody removed the store.
            _ => Ok(()),
        }
    }

    /// What the last snapshot left for the next.
    pub(super) fn remembered(&self) -> Result<Memory, TreeError> {
        self.settle()?;
        Ok(Memory::load(&self.place))
    }

    /// Whether git writes this snapshot down just now. The private index stands for it already, before and after git writes that anew.
    pub(super) fn is_being_stored(&self, tree: &TreeId) -> bool {
        self.storing.borrow().as_ref().is_some_and(|storing| storing.tree == *tree)
    }

    /// Where all that was measured is stored, as far as git can.
    pub(super) fn stored(&self) -> &Place {
        let _ = self.settle();
        &self.place
    }

    /// Stores what a ralph that was cut off had measured and perhaps recorded.
    pub(super) fn store_what_was_left(&self) {
        let fits = Memory::load(&self.place).fits_index(&self.place);
        if self.place.index().exists() && !fits.unwrap_or(true) {
            let _ = self.write_tree();
        }
    }
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
