//! Which item is next.

use super::Backlog;
use super::hands::{Hands, OneHand};
use super::index::Dependencies;
use super::model::{Item, Shape, State};
use crate::prelude::*;

/// What is asked for; nothing: the whole backlog.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wish<'w> {
    pub phase: Option<&'w str>,
    /// This item and no other.
    pub task: Option<&'w str>,
}

/// Why an item is not handed out, by what ralph keeps about it outside of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldBack {
    /// It used up its attempts.
    Attempts,
    /// It waits for a person.
    Parked,
    /// A person left it out.
    Skipped,
}

/// How the items stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Stats {
    pub total: u64,
    pub open: u64,
    pub in_progress: u64,
    pub done: u64,
    pub blocked: u64,
    pub cancelled: u64,
    /// With a status that nobody knows. These six are all there are.
    pub unknown: u64,
    /// Could be worked on now. This and those below are all that is open or in progress; what is skipped may be blocked too.
    pub eligible: u64,
    /// Open, but something they depend on is not done; or nothing begins, since items depend on each other in a ring.
    pub waiting: u64,
    /// Open, but out of iterations.
    pub at_limit: u64,
    /// Open, but not for the loop (`ralph_loop.enabled`).
    pub disabled: u64,
    /// Open in the file, but parked: a person has to answer or reset them.
    pub parked: u64,
    /// Left out by a person.
    pub skipped: u64,
}

/// An item that cannot begin, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub item: usize,
    pub on: Vec<String>,
    /// Those of them that are out of iterations, blocked for it or not.
    pub at_limit: Vec<String>,
}

impl Waiting {
    /// `A waits for B (blocked at its limit), Q (not in the file)`
    pub fn told(&self, backlog: &Backlog<'_>) -> String {
        let on = self.on.iter().map(|id| match backlog.find(id).map(|at| held_up(&backlog.items()[at])) {
            Some(None) => id.clone(),
            Some(Some(why)) => format!("{id} ({why})"),
            None => format!("{id} (not in the file)"),
        });
        format!("{} waits for {}", backlog.items()[self.item].id, on.collect::<Vec<_>>().join(", "))
    }
}

/// Why nobody works on an item, where that is not what it waits for itself.
fn held_up(item: &Item<'_>) -> Option<&'static str> {
    let is_out = item.limit.is_some_and(|limit| limit.is_reached());
    match item.state {
        State::Blocked if is_out => Some("blocked at its limit"),
        State::Blocked => Some("blocked"),
        state if state.is_open() && !item.enabled => Some("not for the loop"),
        state if state.is_open() && is_out => Some("out of iterations"),
        _ => None,
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    Item(usize),
    /// Nothing is open: all is done, or was never for the loop.
    Complete,
    /// Something is open and cannot begin.
    Waiting(Vec<Waiting>),
    /// What is open has used up its iterations.
    AtLimit(Vec<usize>),
    /// Only blocked items are left.
    Blocked(Vec<usize>),
    /// What is left has a status that nobody knows.
    Unknown(Vec<usize>),
    /// Items that depend on each other in a ring, by id; the first again at the end.
    Cycle(Vec<String>),
}

impl Selection {
    /// 0 selected, 1 none eligible, 2 a ring, or what is left is out of iterations, or waits for what is.
    pub fn exit(&self, backlog: &Backlog<'_>) -> u8 {
        let out = |at: &usize| backlog.items()[*at].limit.is_some_and(|limit| limit.is_reached());
        match self {
            Self::Item(_) => 0,
            Self::Waiting(items) if items.iter().any(|waits| !waits.at_limit.is_empty()) => 2,
            Self::Complete | Self::Waiting(_) | Self::Unknown(_) => 1,
            Self::Blocked(items) if items.iter().all(out) => 2,
            Self::Blocked(_) => 1,
            Self::AtLimit(_) | Self::Cycle(_) => 2,
        }
    }

    /// Why nothing was selected, in a word.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Item(_) => "selected",
            Self::Complete => "complete",
            Self::Waiting(items) if items.iter().any(|waits| !waits.at_limit.is_empty()) => {
                "waiting_at_limit"
            }
            Self::Waiting(_) => "waiting",
            Self::AtLimit(_) => "at_limit",
            Self::Blocked(_) => "blocked",
            Self::Unknown(_) => "unknown_status",
            Self::Cycle(_) => "cycle",
        }
    }
}

/// Chooses: in-progress items first, then by phase, priority and order of the file (seed 003: by id).
pub fn select(backlog: &Backlog<'_>, wish: Wish<'_>) -> (Selection, Stats) {
    select_with(backlog, wish, &OneHand)
}

/// The same with a hand that is lent.
pub fn select_with(backlog: &Backlog<'_>, wish: Wish<'_>, hands: &impl Hands) -> (Selection, Stats) {
    among_all(backlog, wish, &Dependencies::of(backlog, hands))
}

/// The same, without items that are held back by what is kept outside of the file; `held` is asked by place.
pub fn select_but(
    backlog: &Backlog<'_>,
    wish: Wish<'_>,
    held: impl Fn(usize) -> Option<HeldBack>,
) -> (Selection, Stats) {
    choose(backlog, wish, &Dependencies::of(backlog, &OneHand), held)
}

fn among_all(backlog: &Backlog<'_>, wish: Wish<'_>, dependencies: &Dependencies) -> (Selection, Stats) {
    choose(backlog, wish, dependencies, |_| None)
}

fn choose(
    backlog: &Backlog<'_>,
    wish: Wish<'_>,
    dependencies: &Dependencies,
    held: impl Fn(usize) -> Option<HeldBack>,
) -> (Selection, Stats) {
    let mut stats = Stats { total: backlog.items().len() as u64, ..Stats::default() };
    let satisfied =
        |at: usize| dependencies.at(at).all(|on| on.is_some_and(|on| backlog.items()[on].state.satisfies()));
    let is_at_limit = |item: &Item<'_>, held: Option<HeldBack>| {
        item.limit.map_or(held == Some(HeldBack::Attempts), |limit| limit.is_reached())
    };
    let mut best: Option<usize> = None;
    let (mut waiting, mut at_limit, mut blocked) = (Vec::new(), Vec::new(), Vec::new());
    let mut unknown = Vec::new();
    let whole = wish.phase.is_none() && wish.task.is_none();
    let parked = if whole { parked_phase(backlog, &held) } else { None };
    for (at, item) in backlog.items().iter().enumerate() {
        count(&mut stats, item);
        let wanted = wish.task.is_none_or(|id| item.id == id)
            && wish.phase.is_none_or(|phase| phase_of(backlog, item) == Some(phase));
        if !item.enabled {
            stats.disabled += u64::from(item.state.is_open());
            continue;
        }
        let held = if item.state.is_unfinished() { held(at) } else { None };
        if held == Some(HeldBack::Skipped) {
            stats.skipped += 1;
            continue;
        }
        match item.state {
            State::Blocked if wanted => blocked.push(at),
            State::Unknown if wanted => unknown.push(at),
            _ => {}
        }
        if !item.state.is_open() {
            continue;
        }
        if held == Some(HeldBack::Parked) {
            stats.parked += 1;
            if wanted {
                blocked.push(at);
            }
            continue;
        }
        if is_at_limit(item, held) {
            stats.at_limit += 1;
            if wanted {
                at_limit.push(at);
            }
            continue;
        }
        if !satisfied(at) || parked.as_ref().is_some_and(|parked| parked.holds(item)) {
            stats.waiting += 1;
            if wanted {
                waiting.push(at);
            }
            continue;
        }
        stats.eligible += 1;
        if wanted && best.is_none_or(|best| sooner(backlog, at, best)) {
            best = Some(at);
        }
    }
    let selection = match (ring(backlog, dependencies), best) {
        (Some(ring), _) => {
            stats.waiting += core::mem::take(&mut stats.eligible);
            Selection::Cycle(ring)
        }
        (None, Some(best)) => Selection::Item(best),
        (None, None) if !waiting.is_empty() => {
            let on = |item: usize| {
                let of_phase = parked.iter().filter(|parked| parked.holds(&backlog.items()[item]));
                let on = blocking(backlog, &backlog.items()[item]);
                let on: Vec<String> =
                    on.into_iter().chain(of_phase.flat_map(|parked| parked.ids.clone())).collect();
                let is_out = |id: &&String| {
                    backlog.find(id).is_some_and(|at| {
                        let item = &backlog.items()[at];
                        item.state.is_unfinished() && is_at_limit(item, held(at))
                    })
                };
                let at_limit = on.iter().filter(is_out).cloned().collect();
                Waiting { item, on, at_limit }
            };
            Selection::Waiting(waiting.into_iter().map(on).collect())
        }
        (None, None) if !at_limit.is_empty() => Selection::AtLimit(at_limit),
        (None, None) if !blocked.is_empty() => Selection::Blocked(blocked),
        (None, None) if !unknown.is_empty() => Selection::Unknown(unknown),
        (None, None) => Selection::Complete,
    };
    (selection, stats)
}

/// The first phase that has parked items: it does not hand over to the next.
struct ParkedPhase {
    rank: usize,
    ids: Vec<String>,
}

impl ParkedPhase {
    fn holds(&self, item: &Item<'_>) -> bool {
        item.phase_rank > self.rank
    }
}

fn parked_phase(backlog: &Backlog<'_>, held: impl Fn(usize) -> Option<HeldBack>) -> Option<ParkedPhase> {
    if backlog.phases().len() < 2 {
        return None;
    }
    let items = || backlog.items().iter().enumerate();
    let parked = |(at, item): &(usize, &Item<'_>)| {
        item.enabled && item.state.is_unfinished() && held(*at) == Some(HeldBack::Parked)
    };
    let rank = items().filter(parked).map(|(_, item)| item.phase_rank).min()?;
    let of_it = items().filter(|(_, item)| item.phase_rank == rank).filter(parked);
    Some(ParkedPhase { rank, ids: of_it.map(|(_, item)| item.id.clone().into_owned()).collect() })
}

fn count(stats: &mut Stats, item: &Item<'_>) {
    match item.state {
        State::Open => stats.open += 1,
        State::InProgress => stats.in_progress += 1,
        State::Done => stats.done += 1,
        State::Blocked => stats.blocked += 1,
        State::Cancelled => stats.cancelled += 1,
        State::Unknown => stats.unknown += 1,
    }
}

/// What says no phase is in the first one.
fn phase_of<'b>(backlog: &'b Backlog<'_>, item: &'b Item<'_>) -> Option<&'b str> {
    item.phase.as_deref().or_else(|| backlog.phases().first().map(|phase| &**phase))
}

/// One that is not in the file is not.
fn is_satisfied(backlog: &Backlog<'_>, id: &str) -> bool {
    backlog.find(id).is_some_and(|at| backlog.items()[at].state.satisfies())
}

/// The dependencies that are not satisfied.
fn blocking(backlog: &Backlog<'_>, item: &Item<'_>) -> Vec<String> {
    let open = item.dependencies.iter().filter(|id| !is_satisfied(backlog, id));
    open.map(|id| id.clone().into_owned()).collect()
}

fn sooner(backlog: &Backlog<'_>, one: usize, other: usize) -> bool {
    let by_id = backlog.shape() == Shape::Features;
    let key = |at: usize| {
        let item = &backlog.items()[at];
        (item.state != State::InProgress, item.phase_rank, item.priority, by_id.then_some(&item.id), at)
    };
    key(one) < key(other)
}

/// The first ring of dependencies, if there is one.
pub fn cycle(backlog: &Backlog<'_>) -> Option<Vec<String>> {
    ring(backlog, &Dependencies::of(backlog, &OneHand))
}

pub(super) fn ring(backlog: &Backlog<'_>, dependencies: &Dependencies) -> Option<Vec<String>> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let items = backlog.items();
    let mut seen = vec![NEW; items.len()];
    // The way that is being walked: items, and how many of their dependencies were looked at.
    let mut way: Vec<(usize, usize)> = Vec::new();
    for start in 0..items.len() {
        if seen[start] != NEW || items[start].dependencies.is_empty() {
            continue;
        }
        way.push((start, 0));
        seen[start] = OPEN;
        while let Some((at, next)) = way.last_mut() {
            let Some(dependency) = dependencies.nth(*at, *next) else {
                seen[*at] = DONE;
                way.pop();
                continue;
            };
            *next += 1;
            let Some(dependency) = dependency else { continue };
            match seen[dependency] {
                NEW if items[dependency].dependencies.is_empty() => seen[dependency] = DONE,
                NEW => {
                    seen[dependency] = OPEN;
                    way.push((dependency, 0));
                }
                OPEN => {
                    let ring = way.iter().skip_while(|(at, _)| *at != dependency).map(|(at, _)| *at);
                    let names = ring.chain([dependency]).map(|at| items[at].id.clone().into_owned());
                    return Some(names.collect());
                }
                _ => {}
            }
        }
    }
    None
}
