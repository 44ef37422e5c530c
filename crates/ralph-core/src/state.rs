//! The state of a run: `fold(apply, records)`. Observing takes facts in; adopting takes a decision over.
//! Neither decides anything.

mod handed_on;
mod iteration;
mod recent;
mod totals;

use serde::{Deserialize, Serialize};

use crate::breaker::Breaker;
use crate::check::{CheckResult, CheckSpec};
use crate::decision::{Decision, Outcome, Phase, Rules, Stop, TreeMark};
use crate::effect::{Effect, Ending};
use crate::event::{AgentEnded, End, Event, Measured, Plan, PutBack, RunInfo, StopBy, When, is_of_judging};
use crate::evidence::were_green;
use crate::items::{Attempt, BacklogRead, InHead, Memory, ParkedItem, Settled, Span, Work, all_as_red};
use crate::journal::{Body, Record};
use crate::limits::Used;
use crate::own_files;
use crate::prelude::*;
use crate::questions::ASKS;
use crate::saturation::is_test_path;
use crate::text;
use crate::time::Time;

pub use handed_on::HandedOn;
pub use iteration::Iteration;
pub use recent::{Recent, claim_passed, restless};
pub use totals::Totals;

/// Of files that agents took along, so many are named.
const MOST_TAKEN: usize = 50;
/// After this many records a checkpoint keeps opening cheap.
const CHECKPOINT_EVERY: u32 = 16;
/// How many undos are remembered.
const MOST_UNDONE: usize = 20;
/// How many flags are.
const MOST_FLAGGED: usize = 50;
/// How many of the user's notes are told again, and how much of one.
const MOST_TOLD: usize = 10;
pub(crate) const LONGEST_TOLD: usize = 2000;
/// How much of a question is kept with its answer.
const LONGEST_QUESTION: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// `None` until the run's first record.
    pub run: Option<RunInfo>,
    pub started_at: Time,
    pub updated_at: Time,
    pub phase: Phase,
    /// The project's last iteration number.
    pub iteration: u64,
    /// Iterations of this run.
    pub used: u64,
    pub current: Option<Iteration>,
    /// The last iteration that was concluded.
    pub last: Option<Box<Iteration>>,
    /// The last few that were concluded, oldest first, for people to read.
    pub recent: Vec<Recent>,
    pub rules: Rules,
    pub totals: Totals,
    pub stop_asked: Option<StopBy>,
    /// The user asked for a probe of an open circuit.
    pub probe: bool,
    /// The checks before the first iteration.
    pub baseline: Baseline,
    /// The tree before the first iteration, without what agents of earlier runs left uncommitted.
    pub base: Option<TreeMark>,
    /// What agents of earlier runs changed and nobody proved: from the files without it to those of the beginning.
    pub unproved: Option<Span>,
    /// The user's words for the next prompt.
    pub notes: Vec<Note>,
    /// Those that an iteration of this run has read already, oldest first: each later one has to be told again.
    pub told: Vec<Note>,
    /// What the run stopped to ask a person, until the iteration after it is concluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Time the run was at work.
    pub active_ms: u64,
    /// Time the machine slept since the running agent or check was started.
    pub asleep_ms: u64,
    /// The last refused claim, until a later one is accepted.
    pub refusal: Option<Refusal>,
    /// Where the last attempt of the run before claimed more than was measured, and at which item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed: Option<(String, Vec<String>)>,
    /// A run was taken up again, and the tree has not been looked at since.
    pub resumed: bool,
    /// The last times that the user had files put back, oldest first.
    pub undone: Vec<Undone>,
    /// The tree after the last iteration, if nothing has run since.
    pub settled: Option<TreeMark>,
    /// The backlog as it was last read.
    pub backlog: Option<BacklogRead>,
    /// Commits that ralph made in this run.
    pub committed: u64,
    /// Those that only took back what agents had committed.
    pub took_back: u64,
    /// What is proved and in no commit.
    pub uncommitted: Vec<Uncommitted>,
    /// Files of the user's that commits of agents took along.
    pub taken: Vec<String>,
    /// What was flagged in this run, each once.
    pub flagged: Vec<Flagged>,
    pub seq: u64,
    pub since_checkpoint: u32,
}

/// What is proved and in no commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncommitted {
    /// The item's id, or `the goal`.
    pub what: String,
    pub why: String,
    /// A later commit does not take it along: its files were not clean before.
    pub stays: bool,
    /// Nothing but the agent's word says that it is done.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub claimed: bool,
}

/// What an agent changed of that by which claims are judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flagged {
    /// The first that it was told of.
    pub iteration: u64,
    pub what: String,
    /// What that iteration did was put back.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub put_back: bool,
}

/// How the checks stood before anything was done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Baseline {
    pub results: Vec<CheckResult>,
    /// How the boot ritual ended, since ralph was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<CheckResult>,
    /// How what was proved stands now that nothing is left to do: no agent has worked since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<CheckResult>,
    /// When the running check was started.
    pub check_started_at: Option<Time>,
    pub ending: Option<Ending>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub id: String,
    pub text: String,
    /// What the run had stopped to ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

impl Note {
    fn in_short(self) -> Self {
        Self { text: text::head(self.text.trim(), LONGEST_TOLD), ..self }
    }
}

/// Files that the user had put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    pub at: Time,
    /// The project's last iteration at that time.
    pub after: u64,
    pub put_back: PutBack,
}

/// A claim that was not accepted, for the prompts that follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub iteration: u64,
    /// The item that it was about; `None`: the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    pub why: String,
    /// The checks that failed.
    pub checks: Vec<CheckResult>,
    /// The agent had not said done.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unasked: bool,
}

/// Takes a record over. Never decides: what was decided is part of the record.
#[must_use]
pub fn apply(state: State, record: &Record) -> State {
    let mut state = match &record.body {
        Body::Step { event, decision } => {
            return take_over(observe(state, record.at, event), record.seq, record.at, decision);
        }
        Body::Checkpoint { state } => State { since_checkpoint: 0, ..(**state).clone() },
        Body::Unknown => state,
    };
    state.seq = record.seq;
    state.updated_at = record.at;
    state
}

/// Takes over what was decided about an event that was observed.
#[must_use]
pub(crate) fn take_over(mut state: State, seq: u64, at: Time, decision: &Decision) -> State {
    adopt(&mut state, at, decision);
    state.since_checkpoint = state.since_checkpoint.saturating_add(1);
    state.seq = seq;
    state.updated_at = at;
    state
}

/// Takes the facts of an event in.
#[must_use]
pub(crate) fn observe(mut state: State, at: Time, event: &Event) -> State {
    // These come to a run that stands still, and that time is not its own.
    let from_rest = matches!(
        event,
        Event::RunStarted(_)
            | Event::RunResumed(_)
            | Event::CircuitReset
            | Event::RunClosed
            | Event::TreePutBack(_)
    );
    if !from_rest && state.stop().is_none() {
        let asleep = if let Event::Slept { ms } = event { *ms } else { 0 };
        let passed = at.since(state.updated_at).saturating_sub(asleep);
        state.active_ms = state.active_ms.saturating_add(passed);
    }
    match event {
        Event::RunStarted(started) => {
            let carried = &started.carried;
            state = State { iteration: carried.iteration, started_at: at, ..State::default() };
            state.run = Some(started.run.clone());
            state.rules.breaker = carried.breaker.carried();
            state.base.clone_from(&carried.work.base);
            state.unproved.clone_from(&carried.work.unproved);
            state.rules.items = Memory::inherited(&carried.work);
            state.refusal.clone_from(&carried.work.told.refusal);
            state.claimed.clone_from(&carried.work.told.claimed);
            state.rules.agents = state.rules.agents.for_run(&names(&started.run.plan), carried.seed);
            state.probe = carried.probe;
        }
        Event::RunResumed(resumed) => {
            if state.stop().is_none() {
                state.active_ms = state.active_ms.saturating_add(resumed.unrecorded_ms);
            }
            state.rules.agents = state.rules.agents.for_run(&names(&resumed.plan), state.rules.agents.dice);
            // Whoever takes a run up again that stopped to ask for a person has looked at it.
            if let Some(Stop::Blocked { .. } | Stop::Saturated { .. }) = state.stop() {
                if let Some(question) = state.question() {
                    state.asked = Some(text::one_line(question, LONGEST_QUESTION));
                }
                state.rules.questions = Default::default();
                state.rules.saturation = Default::default();
            }
            if let Some(run) = &mut state.run {
                run.plan = resumed.plan.clone();
            }
            state.stop_asked = None;
            state.probe = resumed.probe;
            state.baseline.check_started_at = None;
            state.baseline.ending = None;
            state.baseline.boot = None;
            state.baseline.again.clear();
            state.settled = None;
            state.resumed = true;
            state.forget_what_was_not_begun();
            if let Some(current) = &mut state.current {
                // A check that was running is run again, from the first one on.
                current.checks.clear();
                current.check_started_at = None;
                current.ending = None;
            }
        }
        // A request to stop later does not soften one to stop now.
        Event::StopAsked { by: StopBy::Request } => {
            state.stop_asked.get_or_insert(StopBy::Request);
        }
        Event::StopAsked { by } => state.stop_asked = Some(*by),
        Event::NoteAdded { id, text } => {
            // A crash after it was recorded hands it in again.
            if state.notes.iter().all(|note| note.id != *id) {
                // A person has spoken: what was counted before is not the loop's own doing any more.
                state.rules.breaker = state.rules.breaker.after_a_word();
                state.rules.questions = Default::default();
                let answers = state.asked.clone();
                state.notes.push(Note { id: id.clone(), text: text.clone(), answers });
            }
        }
        Event::CircuitReset => state.rules.breaker = Breaker::default(),
        Event::TreePutBack(put_back) => observe_put_back(&mut state, at, put_back),
        Event::TreeMeasured(measured) => observe_tree(&mut state, measured),
        Event::AgentStarted { pid, noted } => {
            if let Some(current) = &mut state.current {
                current.pid = Some(*pid);
                current.noted.clone_from(noted);
            }
        }
        Event::AgentNeverStarted => {
            if let Some(current) = &mut state.current {
                current.started_at = None;
            }
            state.forget_what_was_not_begun();
        }
        Event::AgentEnded(ended) => observe_agent_end(&mut state, ended),
        Event::CheckEnded(check) => observe_check_end(&mut state, (**check).clone()),
        Event::BacklogRead(read) => {
            // What is worked on is kept with its iteration.
            state.backlog = Some((**read).clone());
        }
        Event::Settled(settled) => observe_settled(&mut state, settled),
        Event::Slept { ms } => state.asleep_ms = state.asleep_ms.saturating_add(*ms),
        Event::OwnFilesTouched { touches } => {
            let lines = own_files::describe(&state, touches);
            if let Some(current) = &mut state.current {
                current.own_files.extend(lines);
            }
        }
        Event::MeasureFailed { .. }
        | Event::AgentSilent { .. }
        | Event::UsageSeen { .. }
        | Event::ItemMarked { .. }
        | Event::DeadlinePassed
        | Event::RunClosed
        | Event::Unknown => {}
    }
    state
}

pub(crate) fn names(plan: &Plan) -> Vec<&str> {
    plan.agents.iter().map(|agent| agent.name.as_str()).collect()
}

fn observe_check_end(state: &mut State, mut check: CheckResult) {
    state.settled = None;
    if let Some(current) = &mut state.current {
        check.end = after_request(check.end, check.asked, current.ending.take());
        current.check_started_at = None;
        current.checks.push(check);
        return;
    }
    check.end = after_request(check.end, check.asked, state.baseline.ending.take());
    state.baseline.check_started_at = None;
    // A check that the user cut off says nothing; it is run again when the run goes on.
    if check.end == End::Stopped {
        return;
    }
    let boots = state.run.as_ref().and_then(|run| run.plan.boot.as_ref());
    match boots.is_some_and(|boot| boot.name == check.name) {
        true => state.baseline.boot = Some(check),
        // There is no baseline any more when an agent has worked, and what only items were proved by is none.
        false if state.last.is_some() || state.is_proof_alone(&check.command) => {
            state.baseline.again.push(check);
        }
        false => state.baseline.results.push(check),
    }
}

fn observe_settled(state: &mut State, settled: &Settled) {
    // A commit or a revert makes the tree another one.
    state.settled = None;
    if let Phase::Settling { settlement, .. } = &state.phase
        && settlement.result == Attempt::Passed
        && settlement.item.is_some()
    {
        match (&settled.unmarked, &mut state.backlog) {
            (None, Some(backlog)) => backlog.one_less_open(),
            (None, None) => {}
            // It is as open as it was.
            (Some(_), _) => {
                let before = &state.baseline.results;
                let last = state.last.as_ref();
                let unchecked = last.is_some_and(|last| last.is_claimed());
                let unmeasured = last.is_some_and(|last| !unchecked && last.is_unmeasured(before));
                let untouched = last.is_some_and(|last| last.is_untouched());
                let without_change = last.is_some_and(|last| last.is_without_change());
                let items = &mut state.rules.items;
                items.passed = items.passed.saturating_sub(1);
                items.unchecked = items.unchecked.saturating_sub(u64::from(unchecked));
                items.untouched = items.untouched.saturating_sub(u64::from(untouched));
                if let Some(item) = settlement.item.as_ref().filter(|_| unmeasured) {
                    items.not_unmeasured(&item.id);
                }
                items.without_change = items.without_change.saturating_sub(u64::from(without_change));
            }
        }
    }
    if let (Phase::Settling { settlement, .. }, Some(backlog)) = (&state.phase, &mut state.backlog)
        && (settlement.block.is_some() || settlement.park.is_some())
        && settled.unmarked.is_none()
    {
        backlog.blocked = backlog.blocked.saturating_add(1);
    }
    observe_parked(state, settled);
    state.rules.items = core::mem::take(&mut state.rules.items).settled(settled, state.last.as_deref());
    if let Some(last) = state.last.as_ref().filter(|_| settled.reverted) {
        let of_last = state.flagged.iter_mut().filter(|flagged| flagged.iteration == last.number);
        of_last.for_each(|flagged| flagged.put_back |= is_of_judging(&flagged.what));
    }
    // Where an agent had committed everything itself, its commit is named and none was made.
    let agent_s_own = state.last.as_ref().and_then(|last| last.after.as_ref()?.left_head());
    let made = settled.commit.is_some() && settled.commit.as_deref() != agent_s_own;
    state.committed = state.committed.saturating_add(u64::from(made));
    state.took_back = state.took_back.saturating_add(u64::from(settled.undid.is_some()));
    match settled.in_head {
        InHead::All => state.uncommitted.clear(),
        // The agent committed it by itself.
        InHead::Work => state.uncommitted.retain(|known| known.stays),
        // A commit takes along what was proved before.
        InHead::Untold if settled.commit.is_some() => state.uncommitted.retain(|known| known.stays),
        InHead::Untold => {}
    }
    if let (Phase::Settling { settlement, .. }, Some(why)) = (&state.phase, &settled.uncommitted) {
        let what = settlement.item.as_ref().map_or("the goal".into(), |item| item.id.clone());
        // At the end it is tried once more for all of them, and each is named already.
        if settlement.item.is_some() || state.uncommitted.is_empty() {
            let claimed =
                settlement.item.is_some() && state.last.as_ref().is_some_and(|last| last.is_claimed());
            let stays = !settled.left.is_empty();
            state.uncommitted.push(Uncommitted { what, why: why.clone(), stays, claimed });
        }
    }
    if let Some(last) = &mut state.last {
        last.settled = Some(settled.clone());
    }
}

/// An item that is parked takes along what was done for it.
fn observe_parked(state: &mut State, settled: &Settled) {
    let Phase::Settling { settlement, .. } = &state.phase else { return };
    let (Some(item), Some(park)) = (&settlement.item, &settlement.park) else { return };
    let put_back = settled.put_aside.as_ref().is_some_and(|aside| aside.stays.is_none());
    if put_back {
        let began = park.began.as_ref().map_or(u64::MAX, |began| began.iteration);
        let of_item = state.flagged.iter_mut().filter(|flagged| flagged.iteration >= began);
        of_item.for_each(|flagged| flagged.put_back |= is_of_judging(&flagged.what));
        state.refusal.take_if(|refusal| refusal.item.as_ref() == Some(&item.id));
    }
    state.rules.items.parked(&item.id, put_back);
    let left = settled.put_aside.iter().flat_map(|aside| &aside.left);
    state.rules.items.not_ours.extend(left.cloned());
    if let Some(backlog) = state.backlog.as_mut().filter(|_| settled.unmarked.is_none()) {
        backlog.parked.retain(|known| known.id != item.id);
        backlog.parked.push(ParkedItem {
            id: item.id.clone(),
            title: item.title.clone(),
            reason: park.reason.clone(),
            patch: settled.put_aside.as_ref().is_some_and(|aside| aside.patch.is_some()),
        });
    }
}

fn observe_put_back(state: &mut State, at: Time, put_back: &PutBack) {
    state.settled = None;
    // What was refused is gone with the work that it was about.
    state.refusal.take_if(|refusal| put_back.undoes().is_some_and(|undone| undone <= refusal.iteration));
    let tests = put_back.only.is_empty() || put_back.only.iter().any(|path| is_test_path(path));
    if let Some(undone) = put_back.iteration.filter(|_| tests) {
        state.rules.items.undone_from(undone);
    }
    let way =
        |undone: &Undone| (&undone.put_back.to, &undone.put_back.from) == (&put_back.from, &put_back.to);
    let taken_back = put_back.iteration.is_none() && state.undone.iter().any(way);
    state.rules.items = core::mem::take(&mut state.rules.items).put_back(put_back, taken_back);
    if state.undone.len() >= MOST_UNDONE {
        state.undone.remove(0);
    }
    state.undone.push(Undone { at, after: state.iteration, put_back: put_back.clone() });
}

fn observe_tree(state: &mut State, measured: &Measured) {
    let Some(current) = &mut state.current else { return };
    let mark = measured.mark();
    match measured.when {
        When::Before => {
            state.base.get_or_insert_with(|| mark.clone());
            current.before = Some(mark);
        }
        When::After => {
            current.after = Some(measured.clone());
            for path in &measured.taken {
                if state.taken.len() < MOST_TAKEN && !state.taken.contains(path) {
                    state.taken.push(path.clone());
                }
            }
            state.settled = Some(mark);
        }
    }
}

fn observe_agent_end(state: &mut State, ended: &AgentEnded) {
    let Some(current) = &mut state.current else { return };
    state.baseline.again.clear();
    let mut ended = ended.clone();
    ended.end = after_request(ended.end, ended.asked, current.ending);
    state.totals.usage = state.totals.usage.plus(ended.report.usage);
    if ended.end == End::Cut {
        // Nobody counted while it ran on alone; what was recorded meanwhile is counted already.
        let until_cut = current.active_before_ms.saturating_add(ended.duration_ms);
        state.active_ms = state.active_ms.max(until_cut);
    }
    state.totals.agent_ms = state.totals.agent_ms.saturating_add(ended.duration_ms);
    let plan = state.run.as_ref().map(|run| &run.plan);
    let prices = plan.and_then(|plan| plan.agent(&current.agent)?.prices);
    state.totals.charge_agent(&mut ended.report, prices);
    let budget = plan.map_or(0, |plan| plan.policy.budget.micro_usd);
    if ended.report.over_budget
        && budget > 0
        && state.totals.cost_micro_usd.is_some_and(|cost| cost >= budget)
    {
        // It was started with what was left of the run's money, and ended itself as ralph would have ended it.
        ended.end = End::Stopped;
    }
    current.ended = Some(ended);
}

/// How a process ended that we may have asked to end: our request explains a signal or an odd exit code, unless it
/// had ended by itself before.
fn after_request(end: End, asked: bool, ending: Option<Ending>) -> End {
    match (&end, ending.filter(|_| asked)) {
        (End::Cut | End::NotStarted { .. } | End::Lost, _) | (_, None) => end,
        (_, Some(Ending::Timeout)) => End::TimedOut,
        (_, Some(Ending::Idle { ms })) => End::Idle { ms },
        (_, Some(Ending::Stop)) => End::Stopped,
    }
}

fn adopt(state: &mut State, at: Time, decision: &Decision) {
    state.rules = decision.rules.clone();
    if let Some(conclusion) = &decision.concluded
        && let Some(mut iteration) = state.current.take()
    {
        if conclusion.evidence.finds_tests_as_they_were() {
            let of_judging = state.flagged.iter_mut().filter(|flagged| is_of_judging(&flagged.what));
            of_judging.for_each(|flagged| flagged.put_back = true);
        }
        match conclusion.outcome {
            Outcome::Refused => {
                state.refusal = conclusion.refusal.as_ref().map(|why| Refusal {
                    iteration: iteration.number,
                    item: iteration.item.as_ref().map(|item| item.id.clone()),
                    why: why.clone(),
                    checks: iteration
                        .checks
                        .iter()
                        .filter(|check| conclusion.refused(check))
                        .cloned()
                        .collect(),
                    unasked: conclusion.unasked,
                });
            }
            // What was refused of another item is still to be told to whoever tries that again.
            Outcome::Accepted => {
                drop(state.refusal.take_if(|refusal| match (&refusal.item, &iteration.item) {
                    (Some(refused), Some(item)) => *refused == item.id,
                    _ => true,
                }));
            }
            // A limit is not a counted iteration.
            Outcome::Limited => state.used = state.used.saturating_sub(1),
            _ => {}
        }
        if !keeps_notes(Some(conclusion.outcome)) {
            let read = state.notes.drain(..iteration.notes.min(state.notes.len()));
            state.told.extend(read.map(Note::in_short));
            let surplus = state.told.len().saturating_sub(MOST_TOLD);
            state.told.drain(..surplus);
            state.asked = None;
        }
        for what in conclusion.flags.iter().chain(&conclusion.proof_flags) {
            let is_known = |known: &Flagged| known.what == *what && !known.put_back;
            if state.flagged.len() < MOST_FLAGGED && !state.flagged.iter().any(is_known) {
                state.flagged.push(Flagged {
                    iteration: iteration.number,
                    what: what.clone(),
                    put_back: false,
                });
            }
        }
        iteration.conclusion = Some(conclusion.clone());
        iteration.concluded_at = Some(at);
        state.totals = state.totals.with(&iteration);
        recent::remember(&mut state.recent, &iteration);
        state.last = Some(Box::new(iteration));
    }
    if let Some(begin) = &decision.begins {
        state.iteration = begin.number;
        state.used = begin.nth;
        state.current = Some(Iteration::new(begin, at));
        state.probe = false;
    }
    for effect in &decision.effects {
        if matches!(effect, Effect::StartAgent | Effect::RunCheck { .. }) {
            state.asleep_ms = 0;
        }
        match (effect, &mut state.current) {
            (Effect::StartAgent, Some(current)) => {
                current.started_at = Some(at);
                current.active_before_ms = state.active_ms;
                current.notes = state.notes.len();
                state.resumed = false;
            }
            (Effect::RunCheck { .. }, Some(current)) => current.check_started_at = Some(at),
            (Effect::EndAgent { why } | Effect::EndCheck { why }, Some(current)) => {
                current.ending.get_or_insert(*why);
            }
            (Effect::RunCheck { .. }, None) => state.baseline.check_started_at = Some(at),
            (Effect::EndCheck { why }, None) => {
                state.baseline.ending.get_or_insert(*why);
            }
            _ => {}
        }
    }
    state.phase = decision.next.clone();
}

/// Whether nobody can be sure that an iteration that ended so has heeded the user's notes: the next one reads them again.
pub(crate) fn keeps_notes(outcome: Option<Outcome>) -> bool {
    matches!(outcome, Some(Outcome::Failed | Outcome::Limited | Outcome::Interrupted))
}

impl State {
    pub fn stop(&self) -> Option<&Stop> {
        match &self.phase {
            Phase::Halted { stop } => Some(stop),
            _ => None,
        }
    }

    /// Whether the last record concluded this iteration.
    pub fn just_concluded(&self, iteration: &Iteration) -> bool {
        let last = self.last.as_ref().is_some_and(|last| last.number == iteration.number);
        last && iteration.concluded_at == Some(self.updated_at)
    }

    /// What the agent asks of a person, where the run stopped for that; what a backlog stops for is no question.
    pub(crate) fn question(&self) -> Option<&str> {
        let Some(Stop::Blocked { why }) = self.stop() else { return None };
        let says_so = self.last.as_ref().is_some_and(|last| last.outcome() == Some(Outcome::Blocked));
        why.strip_prefix(ASKS).or(says_so.then_some(why))
    }

    pub fn wants_checkpoint(&self) -> bool {
        self.since_checkpoint >= CHECKPOINT_EVERY
    }

    /// What the user had put back since the last iteration was concluded; the newest, if several times. `None` where all
    /// of it was taken back.
    pub fn undone_since_last(&self) -> Option<&Undone> {
        let last = self.last.as_ref().and_then(|last| last.concluded_at);
        let since = |undone: &&Undone| last.is_none_or(|last| undone.at >= last);
        let first = self.undone.iter().find(since)?;
        let newest = self.undone.last()?;
        (newest.put_back.to != first.put_back.from).then_some(newest)
    }

    /// Whether all that passed in this run is claimed, and no check speaks for any of it: they are green without a change, or as red
    /// as before.
    pub(crate) fn rests_on_words(&self) -> bool {
        let items = &self.rules.items;
        items.is_claimed_alone() && self.totals.files == 0 || items.are_all_claimed() && self.last_is_as_red()
    }

    /// Whether all that was run for the last claim is as red as before the run.
    pub(crate) fn last_is_as_red(&self) -> bool {
        self.last.as_ref().is_some_and(|last| all_as_red(&last.checks, &self.baseline.results))
    }

    /// Whether all that was run for the goal was green before the run as well, and no agent changed a test: the checks could not have
    /// failed for want of the work.
    pub fn is_goal_unmeasured(&self) -> bool {
        let goal = self.run.as_ref().is_some_and(|run| run.plan.backlog.is_none());
        let green =
            |last: &Iteration| !last.checks.is_empty() && were_green(&last.checks, &self.baseline.results);
        goal && !self.rules.items.goal_tested && self.last.as_deref().is_some_and(green)
    }

    /// Commits that ralph made in this run: of proved work, and those that take an agent's back.
    pub fn own_commits(&self) -> u64 {
        self.committed.saturating_add(self.took_back)
    }

    /// Reviews this run needs.
    pub fn reviews_needed(&self) -> u32 {
        self.run.as_ref().map_or(0, |run| {
            let reviews = run.plan.policy.reviews;
            if run.plan.proves_by_checks() { reviews.with_checks } else { reviews.without_checks }
        })
    }

    /// The checks that decide about a claim: about an item, or about the whole, which holds all that was proved.
    pub fn checks_for<'a>(
        &'a self,
        plan: &'a Plan,
        item: Option<&'a Work>,
    ) -> impl Iterator<Item = &'a CheckSpec> {
        plan.checks_for(item).chain(self.proofs(plan).filter(move |_| item.is_none()))
    }

    /// The checks that proved items.
    fn proofs<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = &'a CheckSpec> {
        let other = |check: &&CheckSpec| plan.asked().iter().all(|known| known.command != check.command);
        let wanted = plan.backlog.is_some();
        self.rules.items.proofs.iter().filter(other).filter(move |_| wanted)
    }

    fn is_proof_alone(&self, command: &str) -> bool {
        let plan = self.run.as_ref().map(|run| &run.plan);
        plan.is_some_and(|plan| self.proofs(plan).any(|proof| proof.command == command))
    }

    /// The tree with that by which claims are judged, as nobody's agent had changed it: when the run began, and without what
    /// was not proved before.
    pub fn judged_from(&self) -> Option<&str> {
        let unproved = self.unproved.as_ref().map(|span| span.from.as_str());
        unproved.or(self.base.as_ref().map(|base| base.tree.as_str()))
    }

    /// The next of them of which nobody knows how it stands now, when no agent is at work. What the last iteration ran is
    /// known, unless somebody could have worked since.
    pub(crate) fn unknown_proof<'a>(&'a self, plan: &'a Plan) -> Option<&'a CheckSpec> {
        let last = self.last.iter().filter(|_| !self.resumed).flat_map(|last| &last.checks);
        let known: Vec<&str> =
            self.baseline.again.iter().chain(last).map(|result| result.command.as_str()).collect();
        self.proofs(plan).find(|check| !known.contains(&check.command.as_str()))
    }

    /// An iteration whose agent was never started is begun again, with its number: by the plan of now.
    fn forget_what_was_not_begun(&mut self) {
        if let Some(current) = self.current.take_if(|current| current.started_at.is_none()) {
            self.iteration = current.number.saturating_sub(1);
            self.used = current.nth.saturating_sub(1);
        }
    }

    /// What the run has used so far.
    pub fn spent(&self) -> Used {
        Used {
            time_ms: self.active_ms,
            tokens: self.totals.usage.total(),
            micro_usd: self.totals.cost_micro_usd.unwrap_or(0),
        }
    }
}
