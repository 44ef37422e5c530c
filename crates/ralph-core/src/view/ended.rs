//! How a run stopped, with what somebody should know who reads no more than that line.

use crate::decision::{Outcome, Proof, Stop};
use crate::evidence::{CHANGE, Held};
use crate::items::{Earlier, some, some_of};
use crate::prelude::*;
use crate::state::State;
use crate::text::{count, one_line};
use crate::view::flagged;

/// The stop in words, and what is to be said with it.
pub fn ended(state: &State, stop: &Stop) -> String {
    let missing = missing(state, stop).map(|missing| format!("missing: {missing}"));
    let printed = printed_last(state, stop).map(|line| format!("it printed last: {line}"));
    let flags = flagged::beside(&flagged::of_stop(state, stop));
    let (stopped, weak) = match none_proved(state, stop) {
        Some(items) => {
            // How many they are is said already.
            let short =
                |weak: String| weak.strip_prefix(&format!("{items} ")).map(Into::into).unwrap_or(weak);
            let weak = weak_points(state, stop).into_iter().map(short).collect();
            (format!("complete, {items} claimed, none proved{flags}"), weak)
        }
        None if is_only_claimed(state, stop) => {
            (format!("complete, claimed and not proved{flags}"), weak_points(state, stop))
        }
        None if matches!(stop, Stop::Complete { proof: Proof::Checks, .. }) && state.is_goal_unmeasured() => {
            let reviewed = if state.reviews_needed() > 0 { "reviewed and " } else { "" };
            (format!("complete, {reviewed}not measured{flags}"), weak_points(state, stop))
        }
        None => (format!("{}{flags}", by_checks(state, stop)), weak_points(state, stop)),
    };
    let early = stop.early().map(ToString::to_string);
    let said = [stopped].into_iter().chain(early).chain(weak).chain(missing).chain(printed);
    said.collect::<Vec<_>>().join("; ")
}

/// `2 items`, where a backlog is complete though all of them are claimed and nobody has changed anything: no word of proof may stand
/// before that.
pub fn none_proved(state: &State, stop: &Stop) -> Option<String> {
    let complete = matches!(stop, Stop::Complete { .. });
    (complete && state.rests_on_words()).then(|| count(state.rules.items.passed, "item"))
}

/// How many items the checks of a complete backlog do not speak for, where they speak for the whole.
pub fn not_proved(state: &State, stop: &Stop) -> Option<String> {
    let items = &state.rules.items;
    let bare = items.unchecked.saturating_add(items.unmeasured);
    let complete = matches!(stop, Stop::Complete { proof: Proof::Checks, .. });
    (complete && bare > 0 && none_proved(state, stop).is_none()).then(|| count(bare, "item"))
}

/// Whether that is all of them.
pub fn no_item_proved(state: &State, stop: &Stop) -> bool {
    let items = &state.rules.items;
    not_proved(state, stop).is_some() && items.unchecked.saturating_add(items.unmeasured) >= items.passed
}

/// How the checks of the whole speak for its items.
fn by_checks(state: &State, stop: &Stop) -> String {
    match not_proved(state, stop) {
        Some(_) if no_item_proved(state, stop) => "complete, no item proved".into(),
        Some(items) => format!("{stop} but for {items}"),
        None => stop.to_string(),
    }
}

/// Whether a goal is complete though no agent has changed a file and no check was run, or all checks are as red as before: whoever
/// reviewed it had only words to review.
pub fn is_only_claimed(state: &State, stop: &Stop) -> bool {
    let goal = state.run.as_ref().is_some_and(|run| run.plan.backlog.is_none());
    let unchecked = state.last.as_ref().is_some_and(|last| last.checks.is_empty());
    let bare = unchecked && state.totals.is_unchanged() || state.last_is_as_red();
    matches!(stop, Stop::Complete { .. }) && goal && bare
}

/// The last line of an agent that failed, where the stop does not say it: it wrote nothing to standard error.
pub fn printed_last(state: &State, stop: &Stop) -> Option<String> {
    let Stop::AgentsExhausted { failures: 1.., last } = stop else { return None };
    let ended = state.last.as_ref()?.ended.as_ref().filter(|ended| ended.failure().is_some())?;
    let line = ended.report.last_words.lines().rev().find(|line| !line.trim().is_empty())?;
    let line = one_line(line, 200);
    (ended.stderr.is_none() && !last.contains(&line)).then_some(line)
}

/// The goal was to be committed when it is reached, and nothing was changed for it.
pub fn nothing_to_commit(state: &State, stop: &Stop) -> bool {
    let plan = state.run.as_ref().map(|run| &run.plan);
    let of_goal = plan.is_some_and(|plan| plan.commits() && plan.backlog.is_none());
    let none = state.own_commits() == 0 && state.totals.commits == 0 && state.uncommitted.is_empty();
    matches!(stop, Stop::Complete { .. }) && of_goal && none && state.rules.items.spans.is_empty()
}

/// What a proof does not show.
pub fn weak_points(state: &State, stop: &Stop) -> Vec<String> {
    if let Stop::ItemPassed { .. } = stop {
        return weak_item(state).into_iter().collect();
    }
    let before = state.backlog.as_ref().map_or(vec![], |read| earlier(&read.earlier));
    match stop {
        Stop::Complete { .. } => {}
        Stop::BacklogComplete { .. } => return before,
        _ => return vec![],
    }
    let last = state.last.as_ref().filter(|last| last.item.is_none());
    let conditions = last.and_then(|last| last.conclusion.as_ref()).map(|told| &told.evidence.conditions);
    let unchanged = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition.name == CHANGE && condition.held == Held::NotApplicable);
    let claimed =
        claimed(state).map(|claimed| format!("{} {claimed}", count(state.rules.items.unchecked, "item")));
    let unchecked = if last.is_some_and(|last| last.checks.is_empty()) { UNCHECKED } else { "" };
    let unchanged = unchanged.map(|condition| format!("{}{unchecked}", condition.fact));
    let unchanged = unchanged.or_else(|| state.is_goal_unmeasured().then(|| UNMEASURED.into()));
    let items = &state.rules.items;
    let unmeasured = Some(items.unmeasured).filter(|some| *some > 0).map(|some| {
        let weak = format!("{} {}", count(some, "item"), green_before(some));
        // A record of an earlier version names none.
        match items.unmeasured_items.is_empty() {
            true => weak,
            false => format!("{weak}: {}", one_line(&some_of(&items.unmeasured_items, some), 300)),
        }
    });
    let without_change = Some(state.rules.items.without_change).filter(|some| *some > 0);
    let without_change =
        without_change.map(|some| format!("{} {}", count(some, "item"), without_change_of(some)));
    let for_people = state.backlog.as_ref().and_then(|read| read.for_people.clone());
    let items = claimed.into_iter().chain(without_change).chain(unmeasured);
    unchanged.into_iter().chain(items).chain(before).chain(for_people).collect()
}

/// What earlier runs are to be believed less for.
pub fn earlier(known: &Earlier) -> Vec<String> {
    let told = |ids: &[String], what: &str| {
        let items = count(ids.len() as u64, "item");
        (!ids.is_empty()).then(|| format!("{items} {what} in an earlier run: {}", one_line(&some(ids), 300)))
    };
    let claimed = told(&known.claimed, "claimed");
    let passed = without_change_of(known.without_change.len() as u64);
    claimed.into_iter().chain(told(&known.without_change, passed)).collect()
}

/// What items lack for which nothing but words speaks, where there are any.
fn claimed(state: &State) -> Option<String> {
    let items = &state.rules.items;
    let checks = state.run.as_ref().is_some_and(|run| !run.plan.checks.is_empty());
    let (them, their) = if items.unchecked == 1 { ("it", "its") } else { ("them", "their") };
    let lack = match items.unchecked {
        0 => return None,
        n if checks && n == items.untouched => format!("without a change and without a check of {their} own"),
        _ if checks => format!("without a check that speaks for {them}"),
        n if n == items.untouched => "without a change and without a check".into(),
        _ => "without a check".into(),
    };
    let some = items.untouched > 0 && items.untouched < items.unchecked;
    let rest = match () {
        () if state.totals.is_unchanged() => UNTOUCHED.into(),
        () if some => format!(", and no file was changed for {} of them", items.untouched),
        () => String::new(),
    };
    Some(format!("claimed {lack}{rest}"))
}

const UNMEASURED: &str = "the checks were green before the run, and no test file was changed: they do not tell whether it is \
                          reached";
const UNTOUCHED: &str = ", and no agent changed a file";
const UNCHECKED: &str = ", and no check was run";

fn green_before(items: u64) -> String {
    let whose = if items == 1 { "its" } else { "their" };
    format!("{GREEN_ALREADY}, with none of {whose} own and no test file changed")
}

/// What is said of an item whose checks could not have failed for want of it: they were green when it was begun, or the run was.
pub const GREEN_ALREADY: &str = "passed by checks that were green already";

/// What is said of items that checks proved though nobody worked for them.
fn without_change_of(items: u64) -> &'static str {
    if items == 1 { WITHOUT_CHANGE } else { "passed their checks with nothing changed for them" }
}

/// The same of one.
pub const WITHOUT_CHANGE: &str = "passed its checks with nothing changed for it";

/// What says nothing for the item that was asked for.
fn weak_item(state: &State) -> Option<String> {
    let last = state.last.as_ref().filter(|last| last.item.is_some())?;
    match (last.is_untouched(), last.checks.is_empty()) {
        (false, false) if last.is_tolerated() => {
            Some("its checks are as red as before, which is tolerated".into())
        }
        (true, true) => Some(format!("no file was changed{UNCHECKED}")),
        (false, true) => Some("no check was run".into()),
        (true, false) => Some("no file was changed, and no check is its own".into()),
        (false, false) if last.is_without_change() => Some(format!("it {WITHOUT_CHANGE}")),
        (false, false) if last.is_unmeasured(&state.baseline.results) => Some(green_before(1)),
        (false, false) => None,
    }
}

/// What a run lacks that stopped between a claim that was accepted and its review.
pub fn missing(state: &State, stop: &Stop) -> Option<String> {
    let cut = matches!(stop, Stop::MaxIterations { .. } | Stop::Budget { .. } | Stop::Stopped);
    let last = state.last.as_ref().filter(|last| last.item.is_none())?;
    let reviews = state.rules.reviews;
    let wanted = cut && last.outcome() == Some(Outcome::Accepted) && reviews.reviewing;
    let left = state.reviews_needed().saturating_sub(reviews.passes).max(1);
    wanted.then(|| format!("{} of the last claim, which was accepted", count(left.into(), "review")))
}
