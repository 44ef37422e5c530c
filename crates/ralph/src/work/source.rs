//! The task file of a run.

use std::path::Path;

use ralph_core::backlog::{self, Backlog, Change, Selection, State, Wish};
use ralph_core::check::CheckSpec;
use ralph_core::evidence::Items;
use ralph_core::items::{BacklogPlan, BacklogRead, Found, ItemAfter, Memory, Needs, PhaseItems, Work};

use super::Place;
use crate::error::{Error, Result};
use crate::{clock, digest, store};

/// How much of an item's words a prompt holds.
const MOST_OF_TEXT: usize = 24 << 10;

#[derive(Debug)]
pub(crate) struct Source {
    place: Place,
    plan: BacklogPlan,
    /// Attempts that an item may have where it does not say itself; 0 = no limit.
    most_attempts: u64,
}

/// The states of the items before an agent worked: what it ticked is told by comparing.
#[derive(Debug, Default)]
pub(crate) struct Before {
    done: std::collections::HashSet<String>,
}

impl Source {
    pub(crate) fn new(root: &Path, plan: &BacklogPlan, most_attempts: u64) -> Result<Self> {
        let place = Place::at(root, root.join(&plan.file))?;
        Ok(Self { place, plan: plan.clone(), most_attempts })
    }

    /// From the top of the project, as git names it.
    pub(crate) fn below(&self, root: &Path) -> Option<Vec<u8>> {
        let path = self.place.path.strip_prefix(root).ok()?;
        Some(path.as_os_str().as_encoded_bytes().to_vec())
    }

    /// What the file hands out now.
    pub(crate) fn read(&self, memory: &Memory) -> BacklogRead {
        match self.try_read(memory) {
            Ok(read) => read,
            Err(error) => BacklogRead {
                items: Items::default(),
                phase: None,
                phases: vec![],
                found: Found::Unreadable { why: error.to_string() },
            },
        }
    }

    fn try_read(&self, memory: &Memory) -> Result<BacklogRead> {
        let bytes = self.place.read()?;
        let backlog = self.place.parse(&bytes)?;
        if let Some(task) = &self.plan.task {
            self.place.item(&backlog, task)?;
        }
        if let Some(phase) = &self.plan.phase
            && !backlog.phases().iter().any(|known| known == phase)
        {
            return Err(Error::usage(format!("the backlog has no phase '{phase}'"))
                .because(format!("phases: {}", backlog.phases().join(", "))));
        }
        let wish = Wish { phase: self.plan.phase.as_deref(), task: self.plan.task.as_deref() };
        let (selection, _) = backlog::select_but(&backlog, wish, |id| self.had_its_attempts(memory, id));
        let phase = self.phase(&backlog, &selection);
        Ok(BacklogRead {
            items: self.count(&backlog),
            phases: phases(&backlog),
            phase,
            found: self.found(&backlog, &selection, memory)?,
        })
    }

    /// Only for files that do not count themselves.
    fn had_its_attempts(&self, memory: &Memory, id: &str) -> bool {
        self.most_attempts > 0 && memory.attempts(id) >= self.most_attempts
    }

    fn found(&self, backlog: &Backlog<'_>, selection: &Selection, memory: &Memory) -> Result<Found> {
        let name = |at: &usize| backlog.items()[*at].id.to_string();
        let names = |items: &[usize]| items.iter().take(10).map(name).collect::<Vec<_>>().join(", ");
        Ok(match selection {
            Selection::Item(at) => Found::Selected(Box::new(self.work(backlog, *at, memory)?)),
            Selection::Complete => Found::Complete,
            Selection::Waiting(waiting) => {
                let told = waiting
                    .iter()
                    .take(10)
                    .map(|waits| format!("{} waits for {}", name(&waits.item), waits.on.join(", ")));
                Found::Stuck { why: told.collect::<Vec<_>>().join("; ") }
            }
            Selection::AtLimit(items) => Found::Stuck {
                why: format!(
                    "{} had all its attempts; ralph backlog reset ID gives it new ones",
                    names(items)
                ),
            },
            Selection::Blocked(items) => {
                Found::Stuck { why: format!("only blocked items are left: {}", names(items)) }
            }
            Selection::Cycle(ring) => {
                Found::Stuck { why: format!("items depend on each other in a ring: {}", ring.join(" -> ")) }
            }
        })
    }

    fn work(&self, backlog: &Backlog<'_>, at: usize, memory: &Memory) -> Result<Work> {
        let item = &backlog.items()[at];
        let prd = match self.place.requirements(backlog, at) {
            None => None,
            Some(Ok(prd)) => Some(prd),
            Some(Err(why)) => return Err(Error::data(format!("{}: {why}", item.id))),
        };
        let convergence = backlog.convergence(at);
        let checks = backlog.verification(at).into_iter().enumerate();
        let own = checks.map(|(nth, command)| CheckSpec::named(format!("verify-{}", nth + 1), command));
        let limit = item.limit;
        Ok(Work {
            id: item.id.to_string(),
            title: item.title.to_string(),
            text: ralph_core::text::head(&backlog.words(at, prd.as_ref()), MOST_OF_TEXT).into(),
            criteria: self.criteria(backlog, at),
            checks: own.collect(),
            needs: Needs {
                build: convergence.build,
                tests: convergence.tests,
                acceptance: convergence.acceptance,
            },
            attempts: limit.map_or_else(|| memory.attempts(&item.id), |limit| limit.used),
            max_attempts: limit.map_or(self.most_attempts, |limit| limit.max),
        })
    }

    /// A digest of what an item is judged by, its requirements included.
    fn criteria(&self, backlog: &Backlog<'_>, at: usize) -> String {
        let prd = self.place.requirements_text(backlog, at);
        digest::of(backlog.judged_by(at, prd.as_deref()).as_bytes())
    }

    fn in_scope(&self, backlog: &Backlog<'_>, at: usize) -> bool {
        let item = &backlog.items()[at];
        let phase = item.phase.as_deref().or_else(|| backlog.phases().first().map(|phase| &**phase));
        item.enabled
            && self.plan.task.as_deref().is_none_or(|task| item.id == task)
            && self.plan.phase.as_deref().is_none_or(|wanted| phase == Some(wanted))
    }

    pub(crate) fn items(&self) -> Option<Items> {
        let bytes = self.place.read().ok()?;
        Some(self.count(&self.place.parse(&bytes).ok()?))
    }

    fn count(&self, backlog: &Backlog<'_>) -> Items {
        let meant = (0..backlog.items().len()).filter(|at| self.in_scope(backlog, *at));
        meant.fold(Items::default(), |items, at| {
            let state = backlog.items()[at].state;
            let open = !matches!(state, State::Done | State::Cancelled);
            Items { open: items.open + u64::from(open), total: items.total + 1 }
        })
    }

    fn phase(&self, backlog: &Backlog<'_>, selection: &Selection) -> Option<String> {
        let first = || backlog.phases().first().map(ToString::to_string);
        match selection {
            Selection::Item(at) => {
                backlog.items()[*at].phase.as_ref().map(ToString::to_string).or_else(first)
            }
            _ => self.plan.phase.clone().or_else(|| backlog.phases().last().map(ToString::to_string)),
        }
    }

    pub(crate) fn before(&self) -> Before {
        let Ok(bytes) = self.place.read() else { return Before::default() };
        let Ok(backlog) = self.place.parse(&bytes) else { return Before::default() };
        let done = backlog.items().iter().filter(|item| item.state == State::Done);
        Before { done: done.map(|item| item.id.to_string()).collect() }
    }

    /// What the agent did to the file. A file that cannot be read any more holds other criteria.
    pub(crate) fn after(&self, id: &str, before: &Before) -> ItemAfter {
        let Ok(bytes) = self.place.read() else { return ItemAfter::default() };
        let Ok(backlog) = self.place.parse(&bytes) else { return ItemAfter::default() };
        let newly = backlog
            .items()
            .iter()
            .filter(|item| item.state == State::Done && !before.done.contains(&*item.id));
        let (own, others): (Vec<_>, Vec<_>) =
            newly.map(|item| item.id.to_string()).partition(|done| done == id);
        ItemAfter {
            ticked: !own.is_empty(),
            criteria: backlog.find(id).map(|at| self.criteria(&backlog, at)).unwrap_or_default(),
            ticked_others: others,
            tampered: vec![],
        }
    }

    pub(crate) fn mark(&self, id: &str) -> Result<()> {
        self.change(&Change::State { id: id.into(), to: State::InProgress, at: Some(clock::now()) })
    }

    /// A change that the format has no place for is none.
    pub(crate) fn change(&self, change: &Change) -> Result<()> {
        store::edit(&self.place.path, |bytes| {
            let backlog = self.place.parse(bytes)?;
            match backlog.change(change) {
                Ok(changed) => Ok((Some(changed.text.into_bytes()), ())),
                Err(backlog::Refusal::NoPlace { .. } | backlog::Refusal::NoState { .. }) => Ok((None, ())),
                Err(refusal) => Err(self.place.refused(&refusal, &backlog)),
            }
        })
    }

    /// Whether an attempt of this name is recorded already.
    pub(crate) fn has_attempt(&self, id: &str, run_id: &str) -> bool {
        let Ok(bytes) = self.place.read() else { return false };
        let Ok(backlog) = self.place.parse(&bytes) else { return false };
        let Some(at) = backlog.find(id) else { return false };
        backlog.attempts(at).iter().any(|attempt| attempt.run_id.as_deref() == Some(run_id))
    }
}

fn phases(backlog: &Backlog<'_>) -> Vec<PhaseItems> {
    let first = backlog.phases().first();
    let count = |phase: &str| {
        let of = backlog
            .items()
            .iter()
            .filter(|item| item.enabled && item.phase.as_ref().or(first).is_some_and(|own| own == phase));
        of.fold(Items::default(), |items, item| {
            let open = !matches!(item.state, State::Done | State::Cancelled);
            Items { open: items.open + u64::from(open), total: items.total + 1 }
        })
    };
    backlog.phases().iter().map(|phase| PhaseItems { name: phase.to_string(), items: count(phase) }).collect()
}
