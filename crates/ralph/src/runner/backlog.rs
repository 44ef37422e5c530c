//! Effects on the backlog: what it hands out, marking an item, settling an attempt.

use ralph_core::event::{Event, Measured, When};
use ralph_core::git_text::{Change, ChangeKind};
use ralph_core::items::{BacklogRead, Found, ItemAfter, Settlement};

use super::Runner;
use crate::error::{self, Error, Result};
use crate::store;
use crate::work::{OwnBacklog, Settler, Source};

impl Runner<'_> {
    /// The task file of the run, if it has one.
    pub(super) fn source(&self) -> Option<Result<Source>> {
        let plan = &self.state.run.as_ref()?.plan;
        let most = if plan.policy.each_item { plan.policy.max_iterations } else { 0 };
        Some(Source::new(&self.project.root, plan.backlog.as_ref()?, most))
    }

    pub(super) fn read_backlog(&mut self) -> Result<()> {
        let read = match self.source() {
            Some(Ok(source)) => source.read(&self.state.rules.items),
            Some(Err(error)) => unreadable(&error),
            None => unreadable(&Error::new("this run has no backlog")),
        };
        self.send(Event::BacklogRead(Box::new(read)));
        Ok(())
    }

    pub(super) fn mark_item(&mut self, id: &str) -> Result<()> {
        let marked = match self.source() {
            Some(source) => source.and_then(|source| self.mark(&source, id)),
            None => Ok(()),
        };
        self.send(Event::ItemMarked { problem: marked.err().map(|error| error.to_string()) });
        Ok(())
    }

    fn mark(&self, source: &Source, id: &str) -> Result<()> {
        let files = self.files();
        files.make()?;
        let path = files.backlog();
        store::write_private(&path, &source.bytes()?).map_err(error::io("cannot write", &path))?;
        source.mark(id)?;
        self.own_backlog(source).keep(source);
        Ok(())
    }

    /// Which contents of the task file are the run's own doing.
    fn own_backlog<'a>(&'a self, source: &Source) -> OwnBacklog<'a> {
        OwnBacklog::new(self.project, &self.tree, self.state.base.as_ref(), source)
    }

    /// The changes without those of the task file, which are not progress.
    pub(super) fn but_the_backlog(&self, changes: Vec<Change>) -> Vec<Change> {
        let Some(Ok(source)) = self.source() else { return changes };
        let own = source.below(&self.project.root);
        changes.into_iter().filter(|change| Some(&change.path) != own.as_ref()).collect()
    }

    /// What became of the backlog, and of the item that was worked on.
    pub(super) fn measure_backlog(&self, measured: &mut Measured, changes: &[Change]) {
        let Some(Ok(source)) = self.source() else { return };
        measured.items = source.items();
        let item = self.state.current.as_ref().and_then(|current| current.item.as_deref());
        let harness =
            changes.iter().filter(|change| change.kind != ChangeKind::Added && is_harness(&change.path));
        measured.item = item.filter(|_| measured.when == When::After).map(|item| ItemAfter {
            tampered: harness.map(|change| change.name().into_owned()).collect(),
            ..source.after(&item.id, std::fs::read(self.files().backlog()).ok().as_deref())
        });
    }

    pub(super) fn settle(&mut self, settlement: &Settlement) -> Result<()> {
        let source = self.source().transpose()?;
        let run = self.state.run.as_ref().map(|run| run.id.clone()).unwrap_or_default();
        let Some(iteration) = self.state.last.clone() else {
            return Err(Error::data("the record settles an iteration that it does not have"));
        };
        let files = self.run.files(settlement.iteration);
        let mut settler = Settler {
            project: self.project,
            tree: &mut self.tree,
            source: source.as_ref(),
            run: &run,
            files,
            base: self.state.base.as_ref(),
        };
        let settled = settler.settle(settlement, &iteration);
        for problem in &settled.problems {
            self.ui.warn(&self.secrets.hide(problem));
        }
        self.send(Event::Settled(Box::new(settled)));
        Ok(())
    }
}

fn unreadable(error: &Error) -> BacklogRead {
    let found = Found::Unreadable { why: error.to_string() };
    BacklogRead { items: Default::default(), phase: None, phases: vec![], found }
}

/// What an item of a harness is judged by. An agent may leave notes of its own there.
fn is_harness(path: &[u8]) -> bool {
    path.starts_with(b".claude/harness/") && !path.ends_with(b".harness.lock")
}
