//! What came of a run: what it rests on, what it changed and what it used, in words.

use ralph_core::decision::{Proof, Stop};
use ralph_core::event::ChangedPath;
use ralph_core::state::{State, claim_passed};
use ralph_core::view::event::RunChanges;
use ralph_core::view::flagged::{self, beside};
use ralph_core::{text, time, view};

use super::remarks;

/// How many parked and waiting items are named.
const NAMED_ITEMS: usize = 10;
/// How many files are named.
const NAMED: usize = 5;

/// How much is said of what was flagged.
const MOST_OF_FLAGS: usize = 600;

/// Label and value of each line below the title, where there is something to say.
pub(super) fn rows(state: &State, stop: &Stop, changes: Option<&RunChanges>) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if stop.proof().is_some() {
        rows.push(("Proof:", proof(state, stop)));
    }
    rows.extend(stop.early().map(|early| ("Ended by:", early.to_string())));
    if let Stop::BacklogComplete { .. } = stop {
        rows.extend(view::weak_points(state, stop).into_iter().map(|weak| ("Note:", weak)));
        let baseline = &state.baseline;
        if state.last.is_none() && baseline.results.is_empty() && baseline.again.is_empty() {
            rows.push(("Checks:", "none was run".into()));
        }
    }
    rows.extend(view::missing(state, stop).map(|missing| ("Missing:", missing)));
    rows.extend(view::printed_last(state, stop).map(|line| ("Last line:", line)));
    // What a completion rests on says how the checks ended.
    if !stop.proof().is_some_and(|proof| proof == Proof::Checks)
        && let Some(last) = &state.last
    {
        let outcome = |check: &ralph_core::check::CheckResult| {
            let mark = if check.passed() { "✓" } else { "✗" };
            ("Check:", format!("{mark} {}", last.describe(check)))
        };
        rows.extend(last.checks.iter().map(outcome));
    }
    rows.extend(refused(state, stop).map(|why| ("Refused:", why)));
    if matches!(stop, Stop::CircuitOpen { .. } | Stop::MaxIterations { .. } | Stop::Budget { .. }) {
        rows.extend(remarks::unread_claim(state).map(|why| ("Claim:", why)));
    }
    if let Some(backlog) = &state.backlog {
        let (memory, items) = (&state.rules.items, backlog.items);
        let some = |count: u64, what: &str| match count {
            0 => String::new(),
            count => format!(", {count} {what}"),
        };
        let claimed = some(memory.unchecked, "claimed");
        let green = some(memory.unmeasured, "passed by checks that were green already");
        let idle = match memory.without_change {
            0 => String::new(),
            some => format!(" ({some} with nothing changed)"),
        };
        let blocked = backlog.blocked.min(items.open);
        let parked = backlog.parked.len() as u64;
        let waits = some(blocked.saturating_sub(parked), "blocked") + &some(parked, "parked");
        let waits = waits + &some(backlog.skipped.len() as u64, "skipped");
        let (open, total) = (items.open - blocked, text::count(items.total, "item"));
        let proved = memory.proved_by_checks().saturating_sub(memory.unmeasured);
        let left =
            format!("{proved} proved in this run{idle}{green}{claimed}, {open} of {total} open{waits}");
        rows.push(("Items:", left));
    }
    rows.extend(parked(state));
    rows.extend(flagged(state).map(|line| ("Flagged:", line)));
    if let Some(changes) = changes {
        rows.push(("Files:", files(changes)));
    }
    rows.extend(put_back(state).map(|line| ("Put back:", line)));
    match (state.totals.commits, state.own_commits()) {
        (0, 0) if view::nothing_to_commit(state, stop) => {
            rows.push(("Commits:", "none, for nothing was changed".into()));
        }
        // Whoever thinks of a loop that commits would look for it.
        (0, 0) if is_left_to_commit(state, stop) => {
            rows.push(("Commits:", "none: a goal is committed where --commit is given".into()));
        }
        (0, 0) => {}
        (0, ours) => rows.push(("Commits:", ours.to_string())),
        (agents, 0) => rows.push(("Commits:", format!("{agents} by agents"))),
        (agents, ours) => rows.push(("Commits:", format!("{ours}, and {agents} by agents"))),
    }
    rows.extend(taken(state).map(|line| ("Yours:", line)));
    rows.extend(uncommitted(state).into_iter().map(|line| ("Uncommitted:", line)));
    rows
}

/// `FEAT-1 Log in: asks: Postgres or SQLite?`, and what waits for them.
fn parked(state: &State) -> Vec<(&'static str, String)> {
    let Some(backlog) = &state.backlog else { return vec![] };
    let parked = backlog.parked.iter().map(|item| {
        ("Parked:", text::one_line(&format!("{} {}: {}", item.id, item.title, item.reason), 300))
    });
    let waiting = backlog.waiting.iter().map(|item| {
        ("Waiting:", text::one_line(&format!("{} {}: for {}", item.id, item.title, item.on.join(", ")), 300))
    });
    let skipped =
        (!backlog.skipped.is_empty()).then(|| ("Skipped:", text::one_line(&backlog.skipped.join(", "), 300)));
    parked.take(NAMED_ITEMS).chain(waiting.take(NAMED_ITEMS)).chain(skipped).collect()
}

/// A goal is reached in a repository by changes that nobody asked to have committed.
fn is_left_to_commit(state: &State, stop: &Stop) -> bool {
    let plan = state.run.as_ref().map(|run| &run.plan);
    let goal = plan.is_some_and(|plan| plan.backlog.is_none() && !plan.commits());
    let in_a_repository = state.base.as_ref().is_some_and(|base| base.head.is_some());
    matches!(stop, Stop::Complete { .. }) && goal && in_a_repository && state.totals.files > 0
}

/// Why the last claim did not count, where the stop does not say it.
fn refused(state: &State, stop: &Stop) -> Option<String> {
    let refusal = state.last.as_ref()?.conclusion.as_ref()?.refusal.as_ref()?;
    (!stop.to_string().contains(refusal.as_str())).then(|| text::one_line(refusal, 300))
}

/// `⚠ FEAT-1, FEAT-2, proved: a hook refused it`, a line for each reason.
pub(crate) fn uncommitted(state: &State) -> Vec<String> {
    let items_of_run = &state.rules.items;
    let bare = items_of_run.unchecked > 0 && items_of_run.proved_by_checks() == 0;
    let mut reasons: Vec<(&str, &str, Vec<&str>)> = vec![];
    for known in &state.uncommitted {
        let word = match bare || known.claimed {
            true => "claimed",
            // Which of them are proved is counted above.
            false if items_of_run.unmeasured > 0 => "passed",
            false => "proved",
        };
        match reasons.iter_mut().find(|(why, as_what, _)| *why == known.why && *as_what == word) {
            Some((.., items)) => items.push(&known.what),
            None => reasons.push((&known.why, word, vec![&known.what])),
        }
    }
    let line = |(why, word, items): &(&str, &str, Vec<&str>)| {
        let why = if items.len() > 1 { of_several(why) } else { (*why).into() };
        format!("⚠ {}, {word}: {}", text::one_line(&items.join(", "), 300), text::one_line(&why, 500))
    };
    reasons.iter().map(line).collect()
}

/// A reason that was recorded for one item, as it is said of several.
fn of_several(why: &str) -> String {
    const WORDS: [(&str, &str); 3] = [
        ("its commit is ", "their commits are "),
        ("its files were ", "their files were "),
        (
            "no file was changed for it, and a mark alone is ",
            "no file was changed for them, and marks alone are ",
        ),
    ];
    let said = WORDS.iter().find_map(|(one, several)| Some(format!("{several}{}", why.strip_prefix(one)?)));
    said.unwrap_or_else(|| why.into())
}

/// `existing tests were changed: tests/a.sh (#2)`, each with the iteration that did it.
pub(crate) fn flagged(state: &State) -> Option<String> {
    let mut told = String::new();
    for (nth, flagged) in state.flagged.iter().enumerate() {
        let back = if flagged.put_back { ", put back" } else { "" };
        let one = format!("{} (#{}{back})", text::one_line(&flagged.what, 200), flagged.iteration);
        if nth > 0 && told.len() + one.len() > MOST_OF_FLAGS {
            let more = state.flagged.len() - nth;
            told.push_str(&format!("; and {more} more: ralph status --json, flags"));
            break;
        }
        told.push_str(if nth > 0 { "; " } else { "" });
        told.push_str(&one);
    }
    (!told.is_empty()).then_some(told)
}

/// Files of the user's that are in commits of agents.
pub(crate) fn taken(state: &State) -> Option<String> {
    let names = text::one_line(&state.taken.join(", "), 400);
    (!names.is_empty()).then(|| format!("⚠ agents committed files that you had not committed: {names}"))
}

/// What the last attempt had changed, where that is as it was before.
fn put_back(state: &State) -> Option<String> {
    let last = state.last.as_ref().filter(|last| last.settled.as_ref().is_some_and(|it| it.reverted))?;
    let after = last.after.as_ref().filter(|after| after.changed_total > 0)?;
    let changes = RunChanges { paths: after.changed.clone(), total: after.changed_total };
    Some(files(&changes).replacen(" changed", ", as before the attempt", 1))
}

/// `3 files changed: src/a.rs, src/b.rs (new), c.txt (deleted)`
fn files(changes: &RunChanges) -> String {
    if changes.total == 0 {
        return "no changes".into();
    }
    let name = |changed: &ChangedPath| match changed.kind {
        'A' => format!("{} (new)", text::one_line(&changed.path, 200)),
        'D' => format!("{} (deleted)", text::one_line(&changed.path, 200)),
        _ => text::one_line(&changed.path, 200),
    };
    let names: Vec<String> = changes.paths.iter().take(NAMED).map(name).collect();
    let more = match changes.total.saturating_sub(names.len() as u64) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} changed: {}{more}", text::count(changes.total, "file"), names.join(", "))
}

/// `3 (#12 to #14)`, or just how many.
pub(super) fn iterations(state: &State) -> String {
    match state.iteration {
        last if last > state.used => format!("{}, the last one is #{last}", state.used),
        _ => state.used.to_string(),
    }
}

/// The time of the whole run, where its agents did not take all of it, and what was used.
pub(super) fn used(state: &State) -> String {
    let (agents, whole) = (time::duration(state.totals.agent_ms), time::duration(state.active_ms));
    let time = if agents == whole { whole } else { format!("{whole} (agents {agents})") };
    format!("{time}, {}", cost(state))
}

/// `checks: cargo test exit 0; 1/1 reviews`
fn proof(state: &State, stop: &Stop) -> String {
    let Some(last) = &state.last else { return "none".into() };
    let conditions = last.conclusion.iter().flat_map(|conclusion| &conclusion.evidence.conditions);
    // Where they speak for nothing, they are told below.
    let checks = conditions
        .filter(|condition| condition.name.starts_with("check ") && view::none_proved(state, stop).is_none());
    let mut parts: Vec<String> = checks.map(|condition| condition.fact.clone()).collect();
    if let Some(conclusion) = last.conclusion.as_ref().filter(|conclusion| conclusion.passes_needed > 0) {
        parts.push(passes(state, conclusion.passes, conclusion.passes_needed));
    }
    parts.extend(view::weak_points(state, stop));
    let word = state.stop().and_then(Stop::proof).map_or("none", Proof::word);
    let word = format!("{word}{}", beside(&flagged::of_stop(state, stop)));
    if parts.is_empty() { word } else { format!("{word}: {}", parts.join("; ")) }
}

/// `3/3 reviews without a change`. A claim that changed nothing is a pass too, and no review.
fn passes(state: &State, passes: u32, needed: u32) -> String {
    // Where more passed than was needed, there are reviews enough without the claim.
    let in_a_row = state.rules.reviews.passes;
    let claim = match in_a_row > passes {
        true => Some(false),
        false => claim_passed(&state.recent, in_a_row, state.totals.concluded),
    };
    match claim {
        Some(false) => format!("{passes}/{needed} reviews without a change"),
        Some(true) => format!("{passes}/{needed} passes without a change, the claim itself one of them"),
        None => format!("{passes}/{needed} passes without a change"),
    }
}

fn cost(state: &State) -> String {
    match (state.totals.usage.total(), state.totals.cost_micro_usd) {
        (0, None) => "cost not told by the agent".into(),
        _ => view::cost(&state.totals),
    }
}

#[cfg(test)]
mod tests {
    use ralph_core::state::Flagged;

    use super::*;

    #[test]
    fn of_many_flags_the_rest_is_counted() {
        let of = |count: u64| {
            let what = "existing tests were changed: ".repeat(3);
            let flag = |iteration| Flagged { iteration, what: what.clone(), put_back: false };
            flagged(&State { flagged: (1..=count).map(flag).collect(), ..State::default() })
                .unwrap_or_default()
        };
        assert!(of(2).ends_with("(#2)"), "{}", of(2));
        let many = of(30);
        let named = many.matches("(#").count();
        assert!(
            named > 3 && many.ends_with(&format!("; and {} more: ralph status --json, flags", 30 - named)),
            "{many}"
        );
        assert_eq!(of(0), "");
    }

    #[test]
    fn the_first_files_are_named_and_the_rest_counted() {
        let path = |kind, path: &str| ChangedPath { kind, path: path.into() };
        let mut changes = RunChanges::default();
        assert_eq!(files(&changes), "no changes");
        changes.paths = vec![path('M', "a"), path('A', "b"), path('D', "c")];
        changes.total = 3;
        assert_eq!(files(&changes), "3 files changed: a, b (new), c (deleted)");
        changes.paths.extend(["d", "e", "f"].map(|name| path('M', name)));
        changes.total = 600;
        assert!(files(&changes).ends_with("d, e and 595 more"), "{}", files(&changes));
    }
}
