//! What is run for the items of a backlog.

use ralph_core::backlog::{Backlog, State};
use ralph_core::check::CheckSpec;
use ralph_core::items::{Needs, Work};

use super::Source;
use crate::error::Result;

impl Source {
    /// The commands that items which are still to be done would have run, each with where it stands.
    pub(crate) fn commands(&self) -> Result<Vec<(String, String)>> {
        self.commands_of(|backlog, at| {
            let over = matches!(backlog.items()[at].state, State::Done | State::Cancelled);
            !over && self.in_scope(backlog, at)
        })
    }

    /// Those of all items that are done.
    pub(crate) fn proving(&self) -> Result<Vec<(String, String)>> {
        self.commands_of(|backlog, at| backlog.items()[at].state == State::Done)
    }

    fn commands_of(&self, wanted: impl Fn(&Backlog<'_>, usize) -> bool) -> Result<Vec<(String, String)>> {
        if !self.is_file() {
            // Issues bring none.
            return Ok(vec![]);
        }
        let bytes = self.bytes()?;
        let backlog = self.place.parse(&bytes)?;
        let mut commands = vec![];
        for at in (0..backlog.items().len()).filter(|at| wanted(&backlog, *at)) {
            if !backlog.convergence(at).acceptance {
                continue;
            }
            let item = &backlog.items()[at];
            for (nth, command) in backlog.verification(at).into_iter().enumerate() {
                commands.push((format!("{}, {}, command {}", self.plan.file, item.id, nth + 1), command));
            }
        }
        Ok(commands)
    }

    /// The items that are to be worked on, and for which nothing would be run beside `project`, with how many are to be
    /// worked on at all.
    pub(crate) fn unchecked(&self, project: &[CheckSpec]) -> Result<(Vec<String>, u64)> {
        let bytes = self.bytes()?;
        let backlog = self.place.parse(&bytes)?;
        let (mut bare, mut all) = (vec![], 0);
        for at in (0..backlog.items().len()).filter(|at| self.in_scope(&backlog, *at)) {
            let item = &backlog.items()[at];
            if matches!(item.state, State::Done | State::Cancelled | State::Blocked) {
                continue;
            }
            all += 1;
            let work =
                Work { checks: own_checks(&backlog, at), needs: needs(&backlog, at), ..Work::default() };
            if work.checks(project).next().is_none() {
                bare.push(item.id.to_string());
            }
        }
        Ok((bare, all))
    }

    /// The commands that the file wants to pass for every item, each with where it stands.
    pub(crate) fn checks(&self) -> Result<Vec<CheckSpec>> {
        if !self.is_file() {
            return Ok(vec![]);
        }
        let bytes = self.bytes()?;
        let checks = self.place.parse(&bytes)?.checks().into_iter();
        let place = |source: String| format!("{}, {source}", self.plan.file);
        Ok(checks.map(|check| CheckSpec { source: check.source.map(place), ..check }).collect())
    }

    /// How many iterations the file wants a run to have at most.
    pub(crate) fn max_iterations(&self) -> Option<u64> {
        self.says(|backlog| backlog.max_iterations())
    }

    /// The branch that the work belongs on.
    pub(crate) fn branch_name(&self) -> Option<String> {
        self.says(|backlog| backlog.branch_name())
    }

    /// What the file says of the whole; nothing where it cannot be read.
    fn says<T>(&self, what: impl Fn(&Backlog<'_>) -> Option<T>) -> Option<T> {
        if !self.is_file() {
            return None;
        }
        let bytes = self.bytes().ok()?;
        what(&self.place.parse(&bytes).ok()?)
    }
}

/// An item's own commands.
pub(super) fn own_checks(backlog: &Backlog<'_>, at: usize) -> Vec<CheckSpec> {
    let commands = backlog.verification(at).into_iter().enumerate();
    commands.map(|(nth, command)| CheckSpec::named(format!("verify-{}", nth + 1), command)).collect()
}

pub(super) fn needs(backlog: &Backlog<'_>, at: usize) -> Needs {
    let convergence = backlog.convergence(at);
    Needs { build: convergence.build, tests: convergence.tests, acceptance: convergence.acceptance }
}
