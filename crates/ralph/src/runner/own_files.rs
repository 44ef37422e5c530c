//! Looking after ralph's own files: measuring and putting back. What follows from it is core's to say.

use ralph_core::event::Event;
use ralph_core::own_files::{self, How, OwnFile, Touch};

use super::Runner;
use crate::error::{Error, Result};
use crate::store::Runs;
use crate::tree::Tree;

impl Runner<'_> {
    /// Somebody begins to work.
    pub(super) fn watch_own_files(&mut self) {
        let truth = &self.project.truth;
        let mut past = vec![truth.clone(), truth.join("runs"), truth.join("objects")];
        past.extend(self.state.last.iter().map(|last| self.run.files(last.number).folder().to_path_buf()));
        self.guard.watch(&past);
    }

    pub(super) fn look_after_own_files(&mut self, event: &Event) -> Result<()> {
        let mut touches = Vec::new();
        let ended = matches!(event, Event::AgentEnded(_) | Event::CheckEnded(_));
        if ended {
            touches.extend(self.guard.lost());
            self.mend_tree();
        }
        touches.extend(self.hold_the_truth());
        // Where the truth is not ours any more, nothing is written: not even that.
        if let Some(what) = own_files::judge(&self.state, &touches) {
            return Err(Error::new(what)
                .because("what ralph records could no longer be kept, so the run stops here")
                .hint("look at what was done here: ralph status; git status")
                .hint("then start again: ralph run --fresh GOAL"));
        }
        let mut views = false;
        if ended {
            let looked = self.guard.settle(self.files_in_use().folder());
            views = looked.views;
            touches.extend(looked.touches);
        }
        if !touches.is_empty() {
            self.take(Event::OwnFilesTouched { touches })?;
        }
        if views {
            self.publish();
            if let Err(error) = self.views.remake_history(&Runs::of(&self.project.truth)) {
                self.ui.warn(&format!("old pages of the history cannot be made again: {}", error.what));
            }
        }
        Ok(())
    }

    /// The lock first: whoever has taken it meanwhile may be writing the journal.
    fn hold_the_truth(&mut self) -> Vec<Touch> {
        let mut touches = Vec::new();
        let name = |path: &std::path::Path| {
            path.strip_prefix(&self.project.root).unwrap_or(path).display().to_string()
        };
        let touch = |name: String, kind, how: How, put_back: std::io::Result<()>| Touch {
            name,
            kind,
            how,
            lost: put_back.err().map(|error| error.to_string()),
            kept: None,
        };
        if let Some(how) = self.lock.touched() {
            let put_back = self.lock.put_back();
            let lost = put_back.is_err();
            touches.push(touch(name(&self.project.truth.join("lock")), OwnFile::Lock, how, put_back));
            if lost {
                return touches;
            }
        }
        if let Some(how) = self.journal.touched() {
            let put_back = self.journal.put_back();
            touches.push(touch(name(&self.run.journal()), OwnFile::Journal, how, put_back));
        }
        touches
    }

    /// Snapshots that were taken away are begun anew; what they held cannot be had back.
    fn mend_tree(&mut self) {
        if self.tree.is_whole() {
            return;
        }
        let project = self.project;
        if let Ok(tree) = Tree::anew(&project.root, &project.truth, project.repo.as_ref()) {
            self.tree = tree;
        }
    }
}
