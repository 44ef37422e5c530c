//! Effects on the backlog: what it hands out, marking an item, settling an attempt.

use std::time::Duration;

use ralph_core::event::{Event, Measured, When};
use ralph_core::git_text::{Change, ChangeKind};
use ralph_core::items::{BacklogRead, Found, ItemAfter, Settlement};

use super::Runner;
use super::effects::Custody;
use crate::error::{self, Error, Result};
use crate::git::Kept;
use crate::store::{self, Ledger};
use crate::trust;
use crate::work::{self, OwnBacklog, Settler, Source};

impl Runner<'_> {
    /// The task file of the run, if it has one.
    pub(super) fn source(&self) -> Option<Result<Source>> {
        let plan = &self.state.run.as_ref()?.plan;
        let most = if plan.policy.each_item { plan.policy.max_iterations } else { 0 };
        Some(Source::new(&self.project.root, plan.backlog.as_ref()?, most))
    }

    pub(super) fn read_backlog(&mut self) -> Result<()> {
        let read = match self.source() {
            Some(Ok(source)) => {
                let source = source.knowing(Ledger::of(&self.project.truth).failures());
                self.agreed_to(source.read(&self.state.rules.items))
            }
            Some(Err(error)) => unreadable(&error),
            None => unreadable(&Error::new("this run has no backlog")),
        };
        self.send(Event::BacklogRead(Box::new(read)));
        Ok(())
    }

    /// Whoever said yes knew the commands of then: an item that an agent added or gave others waits for a person.
    fn agreed_to(&self, read: BacklogRead) -> BacklogRead {
        let Found::Selected(work) = &read.found else { return read };
        let unknown = work.checks.iter().find(|check| !self.agreed.contains(&check.command));
        let runs = self.state.run.as_ref().is_some_and(|run| run.plan.policy.wants_checks());
        let Some(check) = unknown.filter(|_| runs && work.needs.acceptance) else { return read };
        let why = format!(
            "{} brings a command that nobody has agreed to run: {}; read it, then: ralph run --yes",
            work.id,
            trust::shown(&check.command)
        );
        BacklogRead { found: Found::Stuck { why }, ..read }
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
        let (own, harness) = (source.below(&self.project.root), source.harness());
        let noted = |path: &Vec<u8>| Some(path) == own.as_ref() || is_below(path, harness.as_deref());
        changes.into_iter().filter(|change| !noted(&change.path)).collect()
    }

    /// What became of the backlog, and of the item that was worked on.
    pub(super) fn measure_backlog(&self, measured: &mut Measured, changes: &[Change]) {
        let Some(Ok(source)) = self.source() else { return };
        measured.items = source.items();
        let item = self.state.current.as_ref().and_then(|current| current.item.as_deref());
        let dir = source.harness();
        let own = source.below(&self.project.root);
        let harness = changes.iter().filter(|change| {
            let judged_by = is_harness(&change.path) || is_below(&change.path, dir.as_deref());
            change.kind != ChangeKind::Added && judged_by && Some(&change.path) != own.as_ref()
        });
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
        let custody = Custody::at(&self.project.truth, self.mark);
        let limit = self.state.run.as_ref().map_or(0, |run| run.plan.policy.check_timeout_ms);
        let mut settler = Settler {
            project: self.project,
            tree: &mut self.tree,
            source: source.as_ref(),
            run: &run,
            files,
            base: self.state.base.as_ref(),
            at_the_start: self.run.baseline_files(),
            secrets: &self.secrets,
            kept: Kept {
                custody: &|spec| custody.over(spec),
                limit: Duration::from_millis(limit),
                running: &|hook| self.jobs.hook(hook),
            },
            task_file_is_ours: false,
        };
        let settled = settler.settle(settlement, &iteration);
        self.send(Event::Settled(Box::new(settled)));
        Ok(())
    }
}

fn is_below(path: &[u8], dir: Option<&str>) -> bool {
    dir.is_some_and(|dir| path.starts_with(dir.as_bytes()))
}

fn unreadable(error: &Error) -> BacklogRead {
    let found = Found::Unreadable { why: work::in_a_line(error) };
    BacklogRead { items: Default::default(), phase: None, phases: vec![], found }
}

/// What an item of a harness is judged by. An agent may leave notes of its own there.
fn is_harness(path: &[u8]) -> bool {
    path.starts_with(b".claude/harness/") && !path.ends_with(b".harness.lock")
}
