//! What a backlog hands out, and what is left of it.

use std::collections::HashSet;

use ralph_core::backlog::{self, Backlog, HeldBack, Problem, Selection, State, Waiting, Wish};
use ralph_core::evidence::Items;
use ralph_core::items::{BacklogRead, Earlier, Found, Memory, ParkedItem, PhaseItems, WaitingItem, Work};

use super::commands::{needs, own_checks};
use super::{Left, Source, in_a_line};
use crate::error::{Error, Exit, Result};
use crate::store::Pass;
use crate::suggest::quoted;
use crate::work::stuck;

/// How much of an item's words a prompt holds.
const MOST_OF_TEXT: usize = 24 << 10;

impl Source {
    /// What the file hands out now.
    pub(crate) fn read(&self, memory: &Memory) -> BacklogRead {
        match self.try_read(memory) {
            Ok(read) => read,
            Err(error) => BacklogRead::new(Found::Unreadable { why: in_a_line(&error) }),
        }
    }

    fn try_read(&self, memory: &Memory) -> Result<BacklogRead> {
        let bytes = self.bytes()?;
        let backlog = self.place.parse(&bytes)?;
        self.is_in(&backlog)?;
        let wish = Wish { phase: self.plan.phase.as_deref(), task: self.plan.task.as_deref() };
        let (selection, _) = backlog::select_but(&backlog, wish, |at| self.held_back(&backlog, memory, at));
        if let Selection::Item(at) = selection {
            self.place.is_alone(&backlog, at)?;
        }
        let phase = self.phase(&backlog, &selection);
        Ok(BacklogRead {
            items: self.count(&backlog),
            phases: phases(&backlog),
            blocked: self.blocked(&backlog),
            for_people: self.for_people(&backlog),
            earlier: match selection {
                Selection::Complete => self.rest_on_little(&backlog),
                _ => Earlier::default(),
            },
            phase,
            parked: self.parked(&backlog),
            skipped: self.skipped(&backlog),
            waiting: waiting(&backlog, &selection),
            found: self.found(&backlog, &selection, memory)?,
        })
    }

    /// What is meant of it is there, all of it can be read, and no item that is to be done has another one's id.
    pub(crate) fn is_there(&self) -> Result<()> {
        if !self.kept.may_be_read(&self.place) {
            // That is asked first.
            return Ok(());
        }
        let bytes = self.bytes()?;
        let backlog = self.place.parse(&bytes)?;
        self.is_in(&backlog)?;
        let again: HashSet<&str> = backlog.problems().iter().filter_map(Problem::duplicate).collect();
        if again.is_empty() {
            return Ok(());
        }
        let to_do = |at: &usize| {
            let item = &backlog.items()[*at];
            let over = matches!(item.state, State::Done | State::Cancelled);
            again.contains(&*item.id) && !over && self.in_scope(&backlog, *at)
        };
        let twice = (0..backlog.items().len()).find(to_do);
        twice.map_or(Ok(()), |at| self.place.is_alone(&backlog, at))
    }

    fn is_in(&self, backlog: &Backlog<'_>) -> Result<()> {
        if let Some(task) = &self.plan.task {
            self.place.item(backlog, task).map_err(|error| Error { exit: Exit::Usage, ..error })?;
        }
        let Some(phase) = self.plan.phase.as_deref() else { return Ok(()) };
        self.place.has_phase(backlog, phase)?;
        self.plan.task.as_deref().map_or(Ok(()), |task| self.place.is_in_phase(backlog, task, phase))
    }

    /// Why a run would leave this item out.
    pub(crate) fn left_out(&self, backlog: &Backlog<'_>, at: usize) -> Option<HeldBack> {
        self.held_back(backlog, &Memory::default(), at)
    }

    fn held_back(&self, backlog: &Backlog<'_>, memory: &Memory, at: usize) -> Option<HeldBack> {
        let item = &backlog.items()[at];
        if self.earlier.skipped(&item.id, &item.title).is_some() {
            Some(HeldBack::Skipped)
        } else if self.is_parked(backlog, at) {
            Some(HeldBack::Parked)
        } else {
            self.had_its_attempts(backlog, memory, &item.id).then_some(HeldBack::Attempts)
        }
    }

    /// Where a file has a word for a blocked item, whoever opens it again takes it up.
    fn is_parked(&self, backlog: &Backlog<'_>, at: usize) -> bool {
        let item = &backlog.items()[at];
        let opened = item.state.is_open() && backlog.can_say(at, State::Blocked);
        !opened && self.earlier.is_parked(&item.id, &item.title)
    }

    /// What a person left out of what is meant.
    fn skipped(&self, backlog: &Backlog<'_>) -> Vec<String> {
        let skipped = |at: &usize| {
            let item = &backlog.items()[*at];
            item.state.is_unfinished()
                && self.in_scope(backlog, *at)
                && self.earlier.skipped(&item.id, &item.title).is_some()
        };
        (0..backlog.items().len()).filter(skipped).map(|at| backlog.items()[at].id.to_string()).collect()
    }

    /// What is parked of what is meant.
    fn parked(&self, backlog: &Backlog<'_>) -> Vec<ParkedItem> {
        let parked = |at: usize| {
            let item = &backlog.items()[at];
            let meant = item.state.is_unfinished() && self.in_scope(backlog, at);
            let held = meant && self.left_out(backlog, at) == Some(HeldBack::Parked);
            let park = self.earlier.park(&item.id, &item.title).filter(|_| held)?;
            Some(ParkedItem {
                id: item.id.to_string(),
                title: item.title.to_string(),
                reason: park.reason.clone(),
                patch: park.patch.is_some(),
            })
        };
        (0..backlog.items().len()).filter_map(parked).collect()
    }

    /// Only for files that do not count themselves.
    fn had_its_attempts(&self, backlog: &Backlog<'_>, memory: &Memory, id: &str) -> bool {
        self.most_attempts > 0 && self.tried(backlog, memory, id) >= self.most_attempts
    }

    /// Where a file can say that an item is blocked, whoever opens it again gives it new attempts; where it cannot, other
    /// words do, for they make it another item.
    fn tried(&self, backlog: &Backlog<'_>, memory: &Memory, id: &str) -> u64 {
        if self.counts() { self.recorded(backlog, memory, id) } else { memory.attempts(id) }
    }

    /// By the ledger, whichever run it was.
    fn recorded(&self, backlog: &Backlog<'_>, memory: &Memory, id: &str) -> u64 {
        let Some(at) = backlog.find(id) else { return memory.attempts(id) };
        let known =
            self.earlier.attempts(id, &backlog.items()[at].title, || !backlog.can_say(at, State::Blocked));
        known.unwrap_or_else(|| memory.attempts(id))
    }

    fn found(&self, backlog: &Backlog<'_>, selection: &Selection, memory: &Memory) -> Result<Found> {
        let name = |at: &usize| backlog.items()[*at].id.to_string();
        let reset = |at: &usize| stuck::reset(&self.place.root, &self.plan, &name(at));
        let names = |items: &[usize]| items.iter().take(10).map(name).collect::<Vec<_>>().join(", ");
        Ok(match selection {
            Selection::Item(at) => Found::Selected(Box::new(self.work(backlog, *at, memory)?)),
            Selection::Complete => Found::Complete,
            Selection::Waiting(waiting) => {
                let told = waiting.iter().take(10).map(|waits| waits.told(backlog));
                let why = told.collect::<Vec<_>>().join("; ");
                let is_out = |at: usize| self.held_back(backlog, memory, at).is_some();
                Found::Stuck {
                    why,
                    next: stuck::to_begin(backlog, &self.place.root, &self.plan, waiting, is_out),
                }
            }
            Selection::AtLimit(items) => Found::Stuck {
                why: format!(
                    "{} had all its attempts; ralph backlog reset ID{} gives it new ones",
                    names(items),
                    stuck::which(&self.place.root, &self.plan)
                ),
                next: items.first().map(reset),
            },
            Selection::Blocked(items) => Found::Stuck {
                why: format!("every item that is left waits for a person: {}", names(items)),
                next: items.first().map(reset),
            },
            Selection::Unknown(items) if items.iter().all(|at| backlog.lacks_steps(*at)) => Found::Stuck {
                why: stuck::without_steps(backlog, items),
                next: Some(format!("{}, then ralph run", stuck::TO_GIVE_STEPS)),
            },
            Selection::Unknown(items) => Found::Stuck {
                why: format!("what is left has a status that nobody knows: {}", names(items)),
                next: items.first().map(|at| stuck::to_open(&self.place.root, &self.plan, &name(at))),
            },
            Selection::Cycle(ring) => {
                let why = format!("items depend on each other in a ring: {}", ring.join(" -> "));
                Found::Stuck { why, next: Some(stuck::to_break(&self.plan)) }
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
        let limit = item.limit;
        let mut text = ralph_core::text::head(&backlog.words(at, prd.as_ref()), MOST_OF_TEXT);
        // What failed in this run is told by the run, and what the file keeps stands in its words.
        let told = memory.attempts(&item.id) > 0 || !backlog.attempts(at).is_empty();
        if let Some(why) = self.earlier.why(&item.id, &item.title).filter(|_| !told) {
            text.push_str(&format!("\nThe last attempt failed: {why}\n"));
        }
        text.push_str(&self.taken_up(&item.id, &item.title));
        Ok(Work {
            id: item.id.to_string(),
            made_id: backlog.made_id(at),
            title: item.title.to_string(),
            text,
            criteria: self.criteria(backlog, at),
            checks: own_checks(backlog, at),
            needs: needs(backlog, at),
            // What ralph recorded itself counts as well: a file can be edited by anybody.
            attempts: limit.map_or_else(
                // Also where nothing limits them: it is how often it was tried.
                || self.recorded(backlog, memory, &item.id),
                |limit| limit.used.max(self.tried(backlog, &Memory::default(), &item.id)),
            ),
            max_attempts: limit.map_or(self.most_attempts, |limit| limit.max),
        })
    }

    pub(crate) fn items(&self) -> Option<Items> {
        let bytes = self.bytes().ok()?;
        Some(self.count(&self.place.parse(&bytes).ok()?))
    }

    fn count(&self, backlog: &Backlog<'_>) -> Items {
        let meant = (0..backlog.items().len()).filter(|at| self.in_scope(backlog, *at));
        meant.fold(Items::default(), |items, at| {
            let state = backlog.items()[at].state;
            let item = &backlog.items()[at];
            let skipped = || self.earlier.skipped(&item.id, &item.title).is_some();
            let open = !matches!(state, State::Done | State::Cancelled) && !skipped();
            Items { open: items.open + u64::from(open), total: items.total + 1 }
        })
    }

    /// What an agent is told of an item that was parked and is taken up again, and what a person said about it.
    fn taken_up(&self, id: &str, title: &str) -> String {
        let park = self.earlier.park(id, title).map(|park| {
            let patch = match park.patch {
                Some(_) => {
                    format!(" What was done then, as a patch: ralph backlog show {} --patch", quoted(id))
                }
                None => String::new(),
            };
            format!("\nAn earlier attempt was set aside ({}).{patch}\n", park.reason)
        });
        let answers = self.earlier.answers(id, title).iter();
        let answers = answers.map(|answer| format!("\nThe user says about this item: {answer}\n"));
        park.into_iter().chain(answers).collect()
    }

    /// Of what is meant, how many items wait for a person.
    fn blocked(&self, backlog: &Backlog<'_>) -> u64 {
        let meant = (0..backlog.items().len()).filter(|at| self.in_scope(backlog, *at));
        let waits = |at: &usize| match self.left_out(backlog, *at) {
            Some(HeldBack::Skipped) => false,
            Some(HeldBack::Parked) => true,
            _ => backlog.items()[*at].state == State::Blocked,
        };
        meant.filter(waits).count() as u64
    }

    /// What is open of what is meant, and not for the loop.
    fn for_people(&self, backlog: &Backlog<'_>) -> Option<String> {
        let is_left = |at: &usize| {
            let item = &backlog.items()[*at];
            !item.enabled && item.state.is_open() && self.is_meant(backlog, *at)
        };
        let left = (0..backlog.items().len()).filter(is_left).count() as u64;
        (left > 0).then(|| stuck::for_people(&self.plan, left))
    }

    /// What is done of what is meant, and passed in an earlier run by a word alone, or with nothing changed for it.
    fn rest_on_little(&self, backlog: &Backlog<'_>) -> Earlier {
        let mut earlier = Earlier::default();
        for at in (0..backlog.items().len()).filter(|at| self.in_scope(backlog, *at)) {
            let item = &backlog.items()[at];
            let known =
                (item.state == State::Done).then(|| self.earlier.passed(&item.id, &item.title)).flatten();
            match known {
                Some(Pass { claimed: true, .. }) => earlier.claimed.push(item.id.to_string()),
                Some(Pass { without_change: true, .. }) => earlier.without_change.push(item.id.to_string()),
                _ => {}
            }
        }
        earlier
    }

    /// What a run that begins with it finds.
    pub(crate) fn left(&self) -> Result<Left> {
        let bytes = self.bytes()?;
        let backlog = self.place.parse(&bytes)?;
        if backlog.items().is_empty() {
            return Ok(Left::NoItem);
        }
        let wish = Wish { phase: self.plan.phase.as_deref(), task: self.plan.task.as_deref() };
        Ok(match backlog::select_but(&backlog, wish, |at| self.left_out(&backlog, at)).0 {
            Selection::Complete => Left::Nothing {
                for_people: self.for_people(&backlog),
                earlier: self.rest_on_little(&backlog),
            },
            _ => Left::Something,
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
}

fn waiting(backlog: &Backlog<'_>, selection: &Selection) -> Vec<WaitingItem> {
    let Selection::Waiting(waiting) = selection else { return vec![] };
    let item = |waits: &Waiting| {
        let item = &backlog.items()[waits.item];
        WaitingItem { id: item.id.to_string(), title: item.title.to_string(), on: waits.on.clone() }
    };
    waiting.iter().map(item).collect()
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
