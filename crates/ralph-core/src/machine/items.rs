//! Backlogs in the order of things: what an answer of the backlog means, and what follows when an attempt is over.

use super::begin::{Selection, next_iteration, no_item_could_pass};
use super::conclude::proof;
use super::{halt, park, proceed};
use crate::check::{self, CheckResult, CheckSpec};
use crate::decision::{Conclusion, Decision, Early, Outcome, Phase, Proof, Stop, TreeMark};
use crate::effect::Effect;
use crate::event::Plan;
use crate::evidence::{FAILED_BEFORE, LEFT_OUT};
use crate::items::{
    self, Attempt, BacklogPlan, BacklogRead, CommitOrder, Found, ItemAfter, Memory, Says, Settlement,
    account, all_as_red,
};
use crate::prelude::*;
use crate::profile::{FailedItem, Gate, Protocol};
use crate::state::{Iteration, State};
use crate::text::count;
use crate::time::Time;

/// Asks for an item.
pub(super) fn select(seen: &State) -> Decision {
    Decision {
        effects: vec![Effect::ReadBacklog],
        next: Phase::Selecting,
        ..proceed(seen, "items", "the backlog is asked for an item")
    }
}

pub(super) fn selected(seen: &State, plan: &Plan, now: Time, read: &BacklogRead) -> Decision {
    if seen.phase != Phase::Selecting {
        return proceed(seen, "items", "nobody asked for an item");
    }
    let once = plan.backlog.as_ref().is_some_and(|backlog| backlog.once);
    if let (Found::Selected(_), Some(stop)) = (&read.found, no_item_could_pass(seen)) {
        return halt(seen, stop);
    }
    match &read.found {
        // No agent is spent on what nobody could prove afterwards.
        Found::Selected(work) if !plan.can_prove(work) => {
            halt(seen, Stop::Blocked { why: items::unprovable(work) })
        }
        Found::Selected(_) if phase_is_over(seen, plan).is_some() => {
            let early = phase_is_over(seen, plan);
            let checked = seen.last.as_ref().is_some_and(|last| !last.checks.is_empty());
            let proof = proof(plan, 0, checked, !seen.rests_on_words());
            stop_or_settle(seen, plan, Stop::Complete { proof, early })
        }
        Found::Selected(work) => next_iteration(seen, plan, now, None, Selection::Item(work)),
        Found::Unreadable { why } => halt(seen, Stop::Unreadable { what: why.clone() }),
        Found::Stuck { why, .. } => halt(seen, Stop::Blocked { why: why.clone() }),
        Found::Complete
            if seen.rules.items.passed == 0 && !seen.rules.reviews.reviewing && seen.used == 0 =>
        {
            complete_before(seen, plan, now, once)
        }
        Found::Complete if whole_is_out(seen, plan) => {
            let last = seen.last.as_ref().and_then(|last| last.conclusion.as_ref()?.refusal.clone());
            let why = last.unwrap_or_else(|| "the last iteration did not say that it is done".into());
            let times = count(seen.rules.items.whole_refused, "iteration");
            let why = format!("no item is open, and {times} did not bring the whole to an end: {why}");
            halt(seen, Stop::Blocked { why })
        }
        // Whoever was refused a moment ago is told why; nothing has to be run again for that.
        Found::Complete if declared_done(seen, plan) && !refused_last(seen) => {
            match seen.unknown_proof(plan) {
                Some(check) => super::run_check(seen, check, &held_together(check)),
                None if seen.baseline.again.iter().all(CheckResult::passed) => {
                    let last = seen.last.as_ref().is_some_and(|last| !last.checks.is_empty());
                    let checked = last || !seen.baseline.again.is_empty();
                    let proof = proof(plan, seen.reviews_needed(), checked, !seen.rests_on_words());
                    stop_or_settle(seen, plan, Stop::complete(proof))
                }
                // Something broke what an earlier item had proved.
                None => next_iteration(seen, plan, now, None, Selection::Whole),
            }
        }
        Found::Complete => next_iteration(seen, plan, now, None, Selection::Whole),
    }
}

/// The phase that the last iteration declared done, where it is, and other phases have open items.
fn phase_is_over(seen: &State, plan: &Plan) -> Option<Early> {
    let asked = plan.policy.protocol == Protocol::Json;
    plan.backlog.as_ref().filter(|backlog| asked && !backlog.all_phases && backlog.is_whole())?;
    let number = seen.rules.items.declared_phase?;
    let read = seen.backlog.as_ref()?;
    let phase = read.numbered(number).filter(|phase| phase.items.open == 0)?;
    Some(Early::Phase { number, name: phase.name.clone(), open: read.items.open })
}

fn held_together(check: &CheckSpec) -> String {
    format!("all that was proved has to hold at the end: running {}", check.name)
}

/// No item was open when the run began. What earlier runs proved has to hold together all the same: a later item may have
/// broken an earlier one, and no run has looked at the whole since.
fn complete_before(seen: &State, plan: &Plan, now: Time, once: bool) -> Decision {
    let whole = plan.backlog.as_ref().is_some_and(BacklogPlan::is_whole);
    if let Some(check) = seen.unknown_proof(plan).filter(|_| whole) {
        return super::run_check(seen, check, &held_together(check));
    }
    match seen.baseline.again.iter().find(|check| !check.passed()) {
        None => {
            let for_people = seen.backlog.as_ref().and_then(|read| read.for_people.clone());
            halt(seen, Stop::BacklogComplete { once, for_people })
        }
        Some(broken) if once => {
            let why =
                format!("no item is open, but what proved one does not hold any more: {}", broken.describe());
            halt(seen, Stop::Blocked { why })
        }
        Some(_) => next_iteration(seen, plan, now, None, Selection::Whole),
    }
}

/// Whether the whole had as many iterations as an item may have, where those are what is limited.
fn whole_is_out(seen: &State, plan: &Plan) -> bool {
    let most = plan.policy.max_iterations;
    plan.policy.each_item && most > 0 && seen.rules.items.whole_refused >= most
}

/// Whether the last iteration was about the whole, and refused.
fn refused_last(seen: &State) -> bool {
    let last = seen.last.as_ref().filter(|last| last.item.is_none());
    last.and_then(|last| last.conclusion.as_ref()).is_some_and(|told| told.outcome == Outcome::Refused)
}

/// Whether the whole needs no further word: nobody has to review it, and it was declared done, or need not be.
fn declared_done(seen: &State, plan: &Plan) -> bool {
    let said = plan.policy.gate == Gate::Evidence || seen.rules.items.declared;
    seen.reviews_needed() == 0 && said
}

/// The item is marked as begun, or cannot be.
pub(super) fn marked(seen: &State, problem: Option<&str>) -> Decision {
    match problem {
        Some(problem) => halt(seen, Stop::Unreadable { what: problem.into() }),
        None if seen.current.is_none() => proceed(seen, "items", "no iteration is under way"),
        None => super::start(seen, "the item is marked as begun"),
    }
}

/// What an attempt means, now that the iteration is judged; `None` if it was none.
pub(super) fn attempt(outcome: Outcome) -> Option<Attempt> {
    match outcome {
        Outcome::Accepted => Some(Attempt::Passed),
        Outcome::Refused | Outcome::Failed => Some(Attempt::Failed),
        Outcome::More | Outcome::Silent | Outcome::Blocked => Some(Attempt::InProgress),
        Outcome::Limited | Outcome::Interrupted => None,
    }
}

/// The settlement of an attempt at an item.
pub(super) fn settlement(
    seen: &State,
    plan: &Plan,
    current: &Iteration,
    conclusion: &Conclusion,
    memory: &Memory,
) -> Option<Settlement> {
    let item = current.item.as_ref()?;
    let after = current.after.as_ref().and_then(|after| after.item.as_ref());
    // Of whoever was limited or stopped only marks are taken back, which nobody could prove, and what its commits hold of
    // that by which items are judged: it was no attempt.
    let uncounted = conclusion.attempt.is_none();
    let marks = after.is_some_and(|after| after.is_marked() || after.is_committed())
        && matches!(conclusion.outcome, Outcome::Limited | Outcome::Interrupted)
        && !current.is_cut();
    let attempt = conclusion.attempt.or(marks.then_some(Attempt::InProgress))?;
    // Where one attempt is all there is, one that claimed nothing has failed as well.
    let once = plan.backlog.as_ref().is_some_and(|backlog| backlog.once);
    let unfinished = once && !uncounted && attempt == Attempt::InProgress && conclusion.parked.is_none();
    let result = if unfinished { Attempt::Failed } else { attempt };
    let passed = result == Attempt::Passed;
    let spent = !uncounted && park::is_spent(item, Some(result));
    let mut untick: Vec<String> = after.map_or(vec![], |after| after.ticked_others.clone());
    // Parts without the whole are how far it got, until they are refused.
    let in_part = |after: &ItemAfter| after.in_part && result == Attempt::Failed;
    if !passed && after.is_some_and(|after| after.ticked || in_part(after)) {
        untick.insert(0, item.id.clone());
    }
    let park = conclusion.parked.clone().map(|reason| park::order(reason, item, plan, memory));
    // What is parked is put aside as a whole.
    let reverts =
        park.is_none() && result == Attempt::Failed && plan.policy.failed_item == FailedItem::Revert;
    Some(Settlement {
        iteration: current.number,
        item: Some((**item).clone()),
        result,
        why: why(conclusion, current),
        commit: passed
            .then(|| {
                let idle = conclusion.untouched || conclusion.without_change;
                order(seen, plan, memory, Some(current), idle)
            })
            .flatten(),
        revert: current.before.clone().filter(|_| reverts),
        block: spent.then(|| BLOCKED.into()),
        untick,
        unchecked: (passed && (conclusion.untouched || conclusion.tolerated || current.checks.is_empty()))
            .then(|| unchecked(seen, plan, current, conclusion)),
        park,
        uncounted,
        said: None,
    })
}

const AS_RED: &str = "its checks are as red as before, which is tolerated";

/// What stands for commands in an attempt that passed without any, or beside those that could not tell its work.
fn unchecked(seen: &State, plan: &Plan, current: &Iteration, conclusion: &Conclusion) -> String {
    let lacks = match current.checks.is_empty() {
        true => "no check was run",
        false if conclusion.tolerated => AS_RED,
        false => "no file was changed for it, and no check is its own",
    };
    match seen.reviews_needed() {
        0 => format!("{lacks}: the agent's word"),
        _ if plan.is_for_one_item() => format!("{lacks}: the agent's word"),
        _ => format!("{lacks}: the agent's word, before anybody reviewed the whole"),
    }
}

/// The most that a check says for the work on an item; `None`: there is no item, or no check was run.
pub(super) fn says(seen: &State, current: &Iteration) -> Option<Says> {
    let item = current.item.as_deref()?;
    let standing = seen.rules.items.standing.clone().begun(&item.id, &seen.baseline.results);
    let said = current.checks.iter().map(|check| standing.says(check));
    said.reduce(|one, other| match (one, other) {
        (Says::Better, _) | (_, Says::Better) => Says::Better,
        (Says::Green, _) | (_, Says::Green) => Says::Green,
        (Says::Red, Says::Red) => Says::Red,
    })
}

/// Whether a check speaks that can tell the work of an item: one of its own, or one that went from red to green while it was the
/// only work.
pub(super) fn is_told(seen: &State, current: &Iteration, says: Option<Says>) -> bool {
    let Some(item) = current.item.as_deref() else { return false };
    let was_red = |check: &CheckResult| {
        let mut before = seen.baseline.results.iter();
        before.any(|before| before.command == check.command && !before.passed())
    };
    let turned =
        || says == Some(Says::Better) && seen.rules.items.passed == 0 && current.checks.iter().any(was_red);
    !current.checks.is_empty() && (item.has_own_checks() || turned())
}

/// Seed 003's note.
const BLOCKED: &str = "Max iterations reached, human review required";

fn why(conclusion: &Conclusion, current: &Iteration) -> String {
    let held = || {
        let facts = conclusion.evidence.conditions.iter().map(|condition| condition.fact.as_str());
        facts.collect::<Vec<_>>().join("; ")
    };
    let failure = || current.ended.as_ref().and_then(|ended| ended.failure());
    conclusion
        .refusal
        .clone()
        .or_else(|| Some(held()).filter(|held| !held.is_empty()))
        .or_else(failure)
        .unwrap_or_else(|| conclusion.words.clone())
}

/// What may be committed now, if anything was changed and the policy commits.
fn order(
    seen: &State,
    plan: &Plan,
    memory: &Memory,
    last: Option<&Iteration>,
    with_work: bool,
) -> Option<CommitOrder> {
    if !plan.commits() || memory.spans.is_empty() {
        return None;
    }
    // What checks run is compared with how the run began each time, so the last word on it is the one that counts.
    let others_run =
        last.and_then(|last| last.after.as_ref()?.judging.as_ref()?.others_run(last.item.is_some()));
    let excused = last.and_then(failed_before).into_iter().chain(left_out(plan));
    let flagged = memory.flagged.iter().cloned().chain(others_run).chain(excused).collect();
    Some(CommitOrder {
        spans: memory.spans.clone(),
        base: seen.base.clone(),
        flagged,
        with_work,
        not_ours: memory.not_ours.clone(),
    })
}

/// Begins to settle; `then` is what the run stops with afterwards.
pub(super) fn settle(seen: &State, settlement: Settlement, then: Option<Stop>) -> Decision {
    let settlement = Box::new(settlement);
    Decision {
        effects: vec![Effect::Settle { settlement: settlement.clone() }],
        next: Phase::Settling { settlement, then: then.map(Box::new) },
        ..proceed(seen, "items", "the attempt is settled")
    }
}

/// A completion first commits what is not committed yet.
pub(super) fn stop_or_settle(seen: &State, plan: &Plan, stop: Stop) -> Decision {
    let memory = &seen.rules.items;
    let last = seen.current.as_ref().or(seen.last.as_deref());
    // The marks of all items are in it.
    let with_work = memory.untouched > 0 || memory.without_change > 0;
    let as_red = last.is_some_and(|last| all_as_red(&last.checks, &seen.baseline.results));
    match order(seen, plan, memory, last, with_work).filter(|_| matches!(stop, Stop::Complete { .. })) {
        None => halt(seen, stop),
        Some(order) => {
            let goal = seen.run.as_ref().map(|run| run.goal.clone()).unwrap_or_default();
            let settlement = Settlement {
                iteration: seen.iteration,
                item: None,
                result: Attempt::Passed,
                why: goal,
                commit: Some(order),
                revert: None,
                block: None,
                untick: vec![],
                unchecked: as_red.then(|| AS_RED.into()),
                park: None,
                uncounted: false,
                said: memory.said.clone(),
            };
            settle(seen, settlement, Some(stop))
        }
    }
}

/// The attempt is settled: what now?
pub(super) fn settled(seen: &State, plan: &Plan, now: Time) -> Decision {
    let Phase::Settling { settlement, then } = &seen.phase else {
        return proceed(seen, "items", "nothing was to be settled");
    };
    let unmarked = seen.last.as_ref().and_then(|last| last.settled.as_ref()?.unmarked.clone());
    if let Some(what) = unmarked.filter(|_| settlement.item.is_some()) {
        return halt(seen, Stop::Unreadable { what });
    }
    if let Some(stop) = then {
        return halt(seen, (**stop).clone());
    }
    let scope = plan.backlog.as_ref();
    let once = scope.is_some_and(|backlog| backlog.once);
    let only = plan.is_for_one_item();
    let Some(item) = &settlement.item else { return next_iteration(seen, plan, now, None, Selection::None) };
    let id = item.id.clone();
    if let Some(park) = settlement.park.as_ref().filter(|_| only) {
        let why = settlement.block.clone().unwrap_or_else(|| park.reason.to_string());
        return halt(seen, Stop::Blocked { why: format!("{id}: {why}") });
    }
    match (settlement.result, &settlement.block) {
        (Attempt::Passed, _) if only => halt(seen, Stop::ItemPassed { id, proof: item_proof(plan, seen) }),
        (_, Some(note)) if only => halt(seen, Stop::Blocked { why: format!("{id}: {note}") }),
        _ if settlement.park.is_some() => next_iteration(seen, plan, now, None, Selection::None),
        (Attempt::InProgress, None) => next_iteration(seen, plan, now, None, Selection::None),
        (_, None) if once => halt(seen, Stop::ItemFailed { id, why: settlement.why.clone() }),
        _ => next_iteration(seen, plan, now, None, Selection::None),
    }
}

fn item_proof(plan: &Plan, seen: &State) -> Proof {
    match &seen.last {
        Some(last) if last.is_claimed() => Proof::Words,
        last => proof(plan, 0, last.as_ref().is_some_and(|last| !last.checks.is_empty()), true),
    }
}

/// The failing tests that are excused in a claim that was accepted.
pub(super) fn failed_before(current: &Iteration) -> Option<String> {
    let red = current.checks.iter().filter(|check| !check.passed());
    let names: Vec<String> = red.flat_map(|check| check.failing.iter().cloned()).collect();
    (!names.is_empty()).then(|| format!("{FAILED_BEFORE}: {}", items::some(&names)))
}

/// The checks that no claim of this run is held against, because the user chose so.
pub(super) fn left_out(plan: &Plan) -> Option<String> {
    let commands: Vec<String> = plan.left_out.iter().map(|check| check::shown(&check.command)).collect();
    (!commands.is_empty()).then(|| format!("{LEFT_OUT}: {}", items::some(&commands)))
}

/// Tests that were red before the run and are gone with their file.
pub(super) fn red_and_gone(seen: &State, current: &Iteration) -> Option<String> {
    let after = current.after.as_ref()?;
    after.judging.as_ref()?.red_and_gone(&after.changed, &seen.baseline.results)
}

/// What the agents changed, for the next commit.
pub(super) fn remembered(seen: &State, current: &Iteration) -> Memory {
    let tree = |mark: &Option<TreeMark>| mark.as_ref().map(|mark| mark.tree.clone());
    let memory = seen.rules.items.clone();
    let item = current.item.as_deref().map(|item| item.id.as_str());
    let memory = match item {
        Some(id) => {
            let tested = current.changed_tests().then_some(current.number);
            memory.worked_on(id, current.progress(), tested)
        }
        None => memory,
    };
    let commits = seen.run.as_ref().is_some_and(|run| run.plan.commits());
    let memory = match commits && item.is_none() && current.progress() {
        true => Memory { said: account(current), ..memory },
        false => memory,
    };
    let memory = match (item, &current.before, &current.after) {
        (Some(id), Some(before), Some(after)) => {
            memory.followed(id, current.number, before, after.left_head())
        }
        _ => memory,
    };
    match (tree(&current.before), &current.after) {
        (Some(before), Some(after)) => memory
            .changed(&before, after.left(), item)
            .flagged(red_and_gone(seen, current).into_iter())
            .flagged(after.judging.iter().flat_map(|judging| judging.touched())),
        _ => memory,
    }
}
