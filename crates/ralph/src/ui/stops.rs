//! How each reason to stop is put into words: its title, its tone, and what to do next.

use ralph_core::breaker::{Circuit, DENIED};
use ralph_core::decision::{Early, Proof, Stop};
use ralph_core::event::{Plan, THROWN_AWAY, is_of_judging};
use ralph_core::evidence::WasRed;
use ralph_core::items::{self, Attempt, Found, ParkedItem};
use ralph_core::limits::Resource;
use ralph_core::state::{Flagged, Iteration, State};
use ralph_core::{machine, text, view};

use super::Tone;
use super::remarks::{self, short};
use crate::settings::{CHECKS, NO_CHECK};
use crate::{agent, clock, suggest, work};

/// The line that catches the eye.
pub(super) fn title(stop: &Stop) -> &'static str {
    match stop {
        Stop::Complete { early: Some(Early::Phase { .. }), .. } => "✓ PHASE COMPLETE",
        Stop::Complete { .. } => "✓ COMPLETE",
        Stop::ItemPassed { proof: Proof::Words, .. } => "⚠ ITEM CLAIMED",
        Stop::ItemPassed { .. } => "✓ ITEM PASSED",
        Stop::BacklogComplete { for_people: Some(_), .. } => "⚠ NOTHING LEFT FOR THE LOOP",
        Stop::BacklogComplete { .. } => "✓ BACKLOG COMPLETE",
        Stop::ItemFailed { .. } => "✗ ITEM NOT PROVED",
        Stop::Blocked { .. } => "✗ BLOCKED",
        Stop::MaxIterations { .. } => "⚠ MAX ITERATIONS",
        Stop::Saturated { .. } => "⚠ SATURATED",
        Stop::CircuitOpen { .. } => "✗ CIRCUIT OPEN",
        Stop::Budget { until: Some(_), .. } => "⚠ TIME IS UP",
        Stop::Budget { what: Resource::Money, .. } => "⚠ BUDGET USED UP",
        Stop::Budget { what: Resource::Tokens, .. } => "⚠ TOKENS USED UP",
        Stop::Budget { what: Resource::Time, .. } => "⚠ TIME USED UP",
        Stop::AgentsExhausted { failures: 0, .. } => "✗ NO AGENT LEFT",
        Stop::AgentsExhausted { .. } => "✗ AGENT FAILED",
        Stop::Stopped => "⚠ STOPPED",
        Stop::Closed => "⚠ CLOSED",
        Stop::Interrupted => "⚠ INTERRUPTED",
        Stop::Terminated => "⚠ TERMINATED",
        Stop::Error { .. } | Stop::Unreadable { .. } | Stop::Unknown => "✗ ERROR",
    }
}

/// The same where it is known what came of the run.
pub(super) fn title_of(state: &State, stop: &Stop) -> &'static str {
    match view::none_proved(state, stop).is_some() {
        true => "⚠ COMPLETE, ALL CLAIMED",
        false if view::is_only_claimed(state, stop) => "⚠ COMPLETE, ONLY CLAIMED",
        false if view::no_item_proved(state, stop) => "⚠ COMPLETE, NO ITEM PROVED",
        false if view::not_proved(state, stop).is_some() => "⚠ COMPLETE, NOT ALL PROVED",
        false
            if matches!(stop, Stop::Complete { .. })
                && (state.is_goal_unmeasured() || !view::flagged::of_stop(state, stop).is_empty()) =>
        {
            "⚠ COMPLETE"
        }
        false if is_passed_anyway(state, stop) => "⚠ ITEM PASSED",
        false => title(stop),
    }
}

/// Whether the one item passed by checks that could not have failed for want of it.
fn is_passed_anyway(state: &State, stop: &Stop) -> bool {
    let last = state.last.as_ref().filter(|last| !last.is_claimed());
    matches!(stop, Stop::ItemPassed { .. })
        && last.is_some_and(|last| last.is_unmeasured(&state.baseline.results))
}

/// What is to be said below the title, if the title does not say it all.
pub(super) fn details(stop: &Stop) -> Vec<String> {
    match stop {
        Stop::Complete { .. } | Stop::Interrupted | Stop::Terminated | Stop::Stopped | Stop::Closed => vec![],
        Stop::ItemPassed { id, .. } => vec![id.clone()],
        Stop::ItemFailed { id, why } => vec![format!("{id}: {why}")],
        Stop::BacklogComplete { for_people: Some(left), .. } => vec![left.clone()],
        Stop::BacklogComplete { .. } => vec!["nothing is left to do".into()],
        Stop::Blocked { why } => vec!["Human input needed".into(), why.clone()],
        Stop::MaxIterations { used, max } if used > max => {
            vec![format!("{used} used, more than the limit of {max}, not done")]
        }
        Stop::MaxIterations { used, max } => vec![format!("{used} of {max} used, not done")],
        Stop::CircuitOpen { why, probe_at } => {
            let probe = match probe_at {
                Some(at) => {
                    format!("no run begins before {}, unless as a probe", clock::local(*at, clock::now()))
                }
                None => "no run begins by itself".into(),
            };
            vec![why.clone(), probe]
        }
        Stop::AgentsExhausted { failures: 0, last } => vec![clock::for_people(last)],
        Stop::AgentsExhausted { failures, last } => {
            vec![format!("{failures} times in a row: {}", clock::for_people(last))]
        }
        Stop::Saturated { .. }
        | Stop::Budget { .. }
        | Stop::Error { .. }
        | Stop::Unreadable { .. }
        | Stop::Unknown => {
            vec![stop.to_string()]
        }
    }
}

/// Title and details without what would be said twice.
pub(super) fn in_a_line(stop: &Stop) -> String {
    let details = details(stop).join("; ");
    if details.is_empty() {
        return title(stop).to_owned();
    }
    format!("{}: {}", title(stop), text::one_line(&details, 600))
}

pub(super) fn tone(stop: &Stop) -> Tone {
    tone_by(title(stop))
}

pub(super) fn tone_of(state: &State, stop: &Stop) -> Tone {
    tone_by(title_of(state, stop))
}

fn tone_by(title: &str) -> Tone {
    match title.chars().next() {
        Some('✓') => Tone::Good,
        Some('⚠') => Tone::Warning,
        _ => Tone::Bad,
    }
}

/// The last iteration whose agent threw work of the user's away that nobody has put back since.
fn thrown_away(state: &State) -> Option<u64> {
    let flagged = state.flagged.iter().rfind(|flagged| flagged.what.starts_with(THROWN_AWAY))?;
    let names = flagged.what.rsplit_once("): ").map_or("", |(_, names)| names);
    let is_back = |name: &str| {
        let since = state.undone.iter().filter(|undone| undone.after >= flagged.iteration);
        since
            .map(|undone| &undone.put_back.only)
            .any(|only| only.is_empty() || only.iter().any(|one| one == name))
    };
    (!names.split(", ").all(is_back)).then_some(flagged.iteration)
}

/// The iteration that began to change what claims are judged by, where that refuses them and another one was the last.
fn first_change_of_tests(state: &State) -> Option<u64> {
    let last = state.last.as_ref()?;
    let refused = last.conclusion.as_ref().is_some_and(|told| told.evidence.finds_tests_changed());
    let judging = last.after.as_ref()?.judging.as_ref()?;
    // What was changed and put back meanwhile needs no undo.
    let stands = |flagged: &&Flagged| judging.stands_in(&flagged.what) && !flagged.put_back;
    let first = state.flagged.iter().filter(stands).map(|flagged| flagged.iteration).min();
    first.filter(|first| refused && *first < last.number)
}

/// What to do next; how to go on comes last.
pub(super) fn next_steps(state: &State, stop: &Stop) -> Vec<String> {
    next_steps_of(state, stop, None)
}

/// The same where it is known what was typed to begin the run.
pub(super) fn next_steps_of(state: &State, stop: &Stop, typed: Option<&str>) -> Vec<String> {
    let mut steps: Vec<String> =
        to_look(state, stop).into_iter().chain(to_look_at_flagged(state, stop)).collect();
    // One that was stopped while it was judged has its files as well.
    let last = state.current.as_ref().or(state.last.as_deref()).filter(|last| last.progress());
    let reverted = |last: &Iteration| last.settled.as_ref().is_some_and(|settled| settled.reverted);
    let undone = state.undone_since_last();
    if let Some(undone) = undone {
        // The files are another iteration's by now: to undo the last one as well would bring back what came before it.
        steps.push(format!("to take the undo back: ralph undo --to {}", short(&undone.put_back.from)));
    } else if let Some(last) = last.filter(|last| reverted(last)) {
        let tree = last.after.as_ref().map_or("", |after| short(&after.tree));
        steps.push(format!("to have what it did again: ralph undo --to {tree}"));
    } else if let Some(lost) = thrown_away(state) {
        // To take a later one back would not bring it.
        steps.push(format!("to have back what you had not committed: ralph undo {lost} FILE"));
    } else if let Some(last) = last.filter(|last| last.after.as_ref().is_none_or(|after| !after.untold)) {
        steps.push(format!("to take its last iteration back: ralph undo {}", last.number));
    }
    if let Some(first) = first_change_of_tests(state).filter(|_| undone.is_none()) {
        steps.push(format!("to have all as before the tests were changed: ralph undo {first}"));
    }
    if !state.uncommitted.is_empty() {
        let left = if undone.is_some() { ", as far as the undo left it" } else { "" };
        let claimed = state.uncommitted.iter().all(|known| known.claimed);
        let word = match claimed {
            true => "claimed",
            false if state.rules.items.unmeasured > 0 => "done",
            false => "proved",
        };
        steps.push(format!("what is {word} and not committed is in your files{left}: git status"));
    }
    // Whoever got what was asked for needs no explanation, nor does one who has closed the circuit.
    if stop.exit_code() != 0 && *stop != Stop::Unknown && !is_closed_since(state, stop) {
        steps.push(format!("more about this stop: ralph explain {}", stop.word()));
    }
    steps.extend(about_checks(state, stop));
    if !matches!(stop, Stop::Blocked { .. }) {
        steps.extend(parked_steps(state));
    }
    let go_on = to_go_on(state, stop, typed);
    steps.extend(if is_session(state) { in_a_session(state, stop, go_on) } else { go_on });
    steps
}

/// What a person can do about each parked item.
fn parked_steps(state: &State) -> Vec<String> {
    const MOST: usize = 5;
    let which = which(state);
    let step = |item: &ParkedItem| {
        let id = suggest::quoted(&item.id);
        match item.reason.asks() {
            Some(_) => format!("to answer {}: ralph note --item {id} \"…\"{which}", item.id),
            None => format!(
                "to try {} again: ralph backlog reset {id}{which}; to leave it out: ralph backlog skip {id}{which}",
                item.id
            ),
        }
    };
    let Some(backlog) = &state.backlog else { return vec![] };
    let waited_for = |id: &&String| backlog.waiting.iter().any(|item| item.on.contains(id));
    let skipped = backlog.skipped.iter().filter(waited_for).take(MOST).map(|id| {
        format!(
            "to have {id} worked on, which others wait for: ralph backlog unskip {}{which}",
            suggest::quoted(id)
        )
    });
    backlog.parked.iter().take(MOST).map(step).chain(skipped).collect()
}

/// Only how to continue; where nothing is left to do, where to look.
pub(super) fn to_continue(state: &State, stop: &Stop) -> Vec<String> {
    let go_on = to_go_on(state, stop, None);
    let go_on = if is_session(state) { in_a_session(state, stop, go_on) } else { go_on };
    // How to answer is said with the question.
    let answered = |step: String| match step.strip_prefix(TO_ANSWER) {
        Some(rest) => format!("after your answer{}", rest.replacen(A_NOTE, "", 1)),
        None if step == THEN_RUN => "after your answers: ralph run".into(),
        None => step,
    };
    let parked = parked_steps(state);
    let go_on = go_on.into_iter().filter(|step| !parked.contains(step)).map(answered);
    let steps: Vec<String> = about_checks(state, stop).into_iter().chain(go_on).collect();
    if steps.is_empty() { to_look(state, stop).into_iter().collect() } else { steps }
}

/// What the user can do where not the work, but what it is held against, refused the last claim.
fn about_checks(state: &State, stop: &Stop) -> Option<String> {
    let last = state.last.as_ref().filter(|_| stop.exit_code() != 0)?;
    let evidence = &last.conclusion.as_ref().filter(|told| told.refusal.is_some())?.evidence;
    let open = matches!(stop, Stop::CircuitOpen { .. }) && !is_closed_since(state, stop);
    let probe = if open { " --probe" } else { "" };
    if let Some(check) = last.checks.iter().find(|check| !check.passed() && check.never_ran().is_some()) {
        let name = &check.name;
        let named = CHECKS.contains(&name.as_str());
        return named.then(|| format!("to name another command for it: ralph run{probe} --{name}-cmd CMD"));
    }
    // A probe would have to change something.
    let reset = if open { "ralph circuit reset && " } else { "" };
    Some(match evidence.refused_by_what_was_red(&last.checks)? {
        // Where nothing was changed there is nothing that could count.
        WasRed::Named if state.totals.is_unchanged() => return None,
        WasRed::Named => format!(
            "if the tests that were red before are not what is asked for, to have it count beside them: \
             {reset}ralph run --set baseline=tolerate"
        ),
        WasRed::Unnamed => {
            let red = last.checks.iter().find(|check| !check.passed()).map(|check| check.name.as_str());
            let name = red.filter(|name| CHECKS.contains(name))?;
            format!(
                "the check was red before the run and names no tests, so none can be tolerated; to check only what is \
                 asked for: {reset}ralph run --{name}-cmd CMD"
            )
        }
    })
}

fn is_session(state: &State) -> bool {
    state.run.as_ref().is_some_and(|run| run.plan.agents.iter().any(|agent| agent.session))
}

/// A session that was let go is not taken up again: fresh processes go on with its run, or another run holds the next one.
fn in_a_session(state: &State, stop: &Stop, go_on: Vec<String>) -> Vec<String> {
    if go_on.is_empty() || *stop == Stop::Closed {
        return go_on;
    }
    let flags = match stop {
        Stop::MaxIterations { max, .. } => format!(" --max-iterations {}", (*max).max(10)),
        Stop::CircuitOpen { .. } if !is_closed_since(state, stop) => " --probe".into(),
        Stop::Saturated { .. } => SATURATION_OFF.into(),
        _ => String::new(),
    };
    let goal = state.run.as_ref().map_or("", |run| run.goal.as_str());
    let goal = suggest::goal(goal);
    let fresh = |step: String| match step.replace("ralph run", "ralph run --agents claude") {
        changed if changed != step => changed.replacen(": ", ", in a loop of fresh processes: ", 1),
        same => same,
    };
    let again = format!("to hold another session for it: ralph hook arm {goal}{flags}");
    go_on.into_iter().map(fresh).chain([again]).collect()
}

const SATURATION_OFF: &str = " --set test_only=off --set done_signals=off --set test_share=off";

/// Whether an open circuit stopped the run, and somebody has closed it since.
pub(super) fn is_closed_since(state: &State, stop: &Stop) -> bool {
    matches!(stop, Stop::CircuitOpen { .. }) && state.rules.breaker.circuit == Circuit::Closed
}

/// Where the circuit opened because tools were denied.
fn to_allow_it(state: &State, why: &str, closed: bool) -> Option<String> {
    let built_in = |plan: &Plan| plan.agents.iter().any(|agent| agent.permissions.is_some());
    let flag = match state.run.as_ref().is_some_and(|run| built_in(&run.plan)) {
        true if closed => ", or where that is safe: ralph run --permissions full",
        true => ", or where that is safe: ralph run --probe --permissions full",
        false => "",
    };
    why.starts_with(DENIED)
        .then(|| format!("to let it use them: allow that in the agent's own settings{flag}"))
}

/// The flag that names the run's backlog, where one is needed.
pub(super) fn which(state: &State) -> String {
    let plan = state.run.as_ref().and_then(|run| run.plan.backlog.as_ref());
    plan.and_then(|plan| Some(work::which_backlog(&work::root().ok()?, plan))).unwrap_or_default()
}

/// What makes an item that is open the loop's.
fn to_hand_over(state: &State) -> Option<String> {
    let plan = state.run.as_ref()?.plan.backlog.as_ref()?;
    Some(work::how_to_hand_over(&work::root().ok()?, plan))
}

/// The command that begins another run as this one was begun.
fn same_command(state: &State, typed: Option<&str>) -> String {
    let profile = state.run.as_ref().map_or("default", |run| run.plan.policy.profile.as_str());
    let by_plan = || match profile {
        "default" => format!("ralph run{}", which(state)),
        profile => format!("ralph run --profile {profile}{}", which(state)),
    };
    typed.map_or_else(by_plan, str::to_owned)
}

/// The run is over: whoever wants another attempt begins it as this one was begun.
fn next_attempt(state: &State, typed: Option<&str>) -> String {
    let by_plan = || {
        let plan = &state.run.as_ref()?.plan;
        let again = work::how_to_try_again(&work::root().ok()?, plan.backlog.as_ref()?, &plan.policy.profile);
        let own = plan.agents.iter().filter_map(agent::given);
        let own = own.map(|command| format!(" --agent-cmd {}", suggest::command(command)));
        // Without them the next attempt would be held against less.
        let named = plan.checks.iter().filter(|check| check.source.is_none());
        let named = named.map(|check| format!(" --{}-cmd {}", check.name, suggest::command(&check.command)));
        Some(again + &own.chain(named).collect::<String>())
    };
    typed.map(str::to_owned).or_else(by_plan).unwrap_or_else(|| "ralph run".into())
}

/// Where to see what it did.
fn to_look(state: &State, stop: &Stop) -> Option<String> {
    let last = state.iteration;
    // A run that had no iteration has nothing to look at.
    let looked =
        |words: &str, how: &str| (state.used > 0).then(|| format!("{words}: ralph history {last}{how}"));
    match stop {
        Stop::Complete { .. } | Stop::ItemPassed { .. } => {
            Some("what was done and why it counts: ralph history".into())
        }
        Stop::ItemFailed { .. } => looked("what it did and why it does not count", ""),
        Stop::BacklogComplete { .. } => Some(format!("all items: ralph backlog list{}", which(state))),
        Stop::Blocked { why } if by_the_backlog(state, why).is_some() => {
            Some(format!("all items: ralph backlog list{}", which(state)))
        }
        Stop::Blocked { .. } => looked("what it needs", ""),
        Stop::MaxIterations { .. } | Stop::Saturated { .. } | Stop::Budget { .. } => {
            Some("what it did: ralph history".into())
        }
        Stop::CircuitOpen { .. } => looked("what it did last", ""),
        Stop::AgentsExhausted { .. } => looked("what it printed", " --transcript"),
        _ => None,
    }
}

/// Where it is done, and an agent changed what that was judged by.
fn to_look_at_flagged(state: &State, stop: &Stop) -> Option<String> {
    let done = matches!(stop, Stop::Complete { .. } | Stop::ItemPassed { .. });
    let stands = |flagged: &&Flagged| is_of_judging(&flagged.what) && !flagged.put_back;
    let first = state.flagged.iter().find(stands).filter(|_| done)?;
    Some(format!("what was changed of the tests or checks: ralph history {} --diff", first.iteration))
}

const THEN_RUN: &str = "then: ralph run";
const TO_ANSWER: &str = "to answer and go on";
const A_NOTE: &str = "ralph note \"…\", then ";

/// The same step where the answer is noted already.
pub(super) fn answered(step: &str) -> String {
    match step.strip_prefix(TO_ANSWER) {
        Some(rest) => format!("to go on with your note{}", rest.replacen(A_NOTE, "", 1)),
        None => step.to_owned(),
    }
}

fn to_go_on(state: &State, stop: &Stop, typed: Option<&str>) -> Vec<String> {
    let more = || vec![format!("to go on: ralph run{}", raised(state, stop))];
    match stop {
        Stop::BacklogComplete { for_people: Some(_), .. } => to_hand_over(state).into_iter().collect(),
        Stop::Complete { early: Some(Early::Phase { .. }), .. } => {
            vec![format!("to continue with the next phase: {}", same_command(state, typed))]
        }
        Stop::Complete { .. } | Stop::ItemPassed { .. } | Stop::BacklogComplete { .. } => vec![],
        Stop::ItemFailed { .. } => vec![format!("the next attempt: {}", next_attempt(state, typed))],
        Stop::Blocked { .. } if machine::unnamed_failure(state).is_some() => to_go_on_without(state),
        // What was proved before does not hold any more.
        Stop::Blocked { .. } if is_complete(state) => {
            vec![format!("to have it mended: ralph run --all{}", which(state))]
        }
        Stop::Blocked { .. } if !parked_steps(state).is_empty() => {
            parked_steps(state).into_iter().chain([THEN_RUN.into()]).collect()
        }
        Stop::Blocked { why } => vec![match by_the_backlog(state, why) {
            Some(next) => format!("to go on: {next}"),
            None => format!("{TO_ANSWER}: {A_NOTE}ralph run"),
        }],
        Stop::MaxIterations { .. } => remarks::restless(state).into_iter().chain(more()).collect(),
        Stop::Saturated { .. } => vec![format!("to go on all the same: ralph run{SATURATION_OFF}")],
        Stop::CircuitOpen { why, .. } => {
            let closed = is_closed_since(state, stop);
            let again: &[&str] = match closed {
                true => &["to go on: ralph run"],
                false => &[
                    "to close it: ralph circuit reset",
                    "to try again, and go on if it makes progress: ralph run --probe",
                ],
            };
            let steps =
                ["to say what to do differently: ralph note \"…\""].into_iter().chain(again.iter().copied());
            to_allow_it(state, why, closed).into_iter().chain(steps.map(Into::into)).collect()
        }
        Stop::Budget { .. } => more(),
        Stop::AgentsExhausted { .. } => {
            let again = "to try again: ralph run".to_owned();
            // What a run was given is its own: it goes on with the same command until another is named.
            let plan = state.run.as_ref().map(|run| &run.plan);
            let given = plan.is_some_and(|plan| plan.agents.iter().all(|agent| agent.command.is_some()));
            let other = given.then(|| "with another command: ralph run --agent-cmd CMD".to_owned());
            remedies(state).chain(other).chain([again]).collect()
        }
        // The same limit would stop it again at once.
        Stop::Stopped if !raised(state, stop).is_empty() => more(),
        Stop::Interrupted | Stop::Terminated | Stop::Stopped if state.undone_since_last().is_some() => {
            vec!["to go on: ralph run".into()]
        }
        Stop::Interrupted | Stop::Terminated | Stop::Stopped => {
            vec!["the work is kept; to go on: ralph run".into()]
        }
        Stop::Closed => {
            let backlog = state.run.as_ref().is_some_and(|run| run.plan.backlog.is_some());
            let what =
                if backlog { format!("ralph run{}", which(state)) } else { "ralph run \"GOAL\"".into() };
            vec![format!("to start a new one: {what}")]
        }
        Stop::Error { .. } | Stop::Unreadable { .. } | Stop::Unknown => {
            vec!["once that is settled: ralph run".into()]
        }
    }
}

/// A check that fails before the run without naming tests.
fn to_go_on_without(state: &State) -> Vec<String> {
    let Some(check) = machine::unnamed_failure(state) else { return vec![] };
    vec![
        format!("to go on without it: ralph run --{}-cmd {NO_CHECK}", check.name),
        "if the items are to make it pass: ralph run --set baseline=refuse".into(),
        format!("to name another command for it: ralph run --{}-cmd CMD", check.name),
    ]
}

/// Every limit that is used up, as flags with enough to go on with: the next one would stop the run again at once.
fn raised(state: &State, stop: &Stop) -> String {
    let plan = state.run.as_ref().map(|run| &run.plan).filter(|_| state.current.is_none());
    let most = plan.map_or(0, |plan| plan.most_iterations());
    let iterations = match stop {
        Stop::MaxIterations { used, .. } => Some(*used),
        _ => (most > 0 && state.used >= most).then_some(state.used),
    };
    let iterations = iterations
        .map(|used| format!(" --max-iterations {}", used.saturating_add(used.clamp(10, 50))))
        .unwrap_or_default();
    let spent = state.spent();
    let budget = plan.map(|plan| &plan.policy.budget);
    let over = |resource: Resource, used: u64, max: Option<u64>| match stop {
        Stop::Budget { what, used, max, until: None, .. } if *what == resource => Some(twice(*used, *max)),
        _ => max.filter(|max| *max > 0 && used >= *max).map(|max| twice(used, max)),
    };
    let money = over(Resource::Money, spent.micro_usd, budget.map(|budget| budget.micro_usd));
    let tokens = over(Resource::Tokens, spent.tokens, budget.map(|budget| budget.tokens));
    let time = over(Resource::Time, spent.time_ms, budget.map(|budget| budget.time_ms));
    let flag = |name: &str, most: Option<u64>, unit: &str| {
        most.map(|most| format!(" --{name} {most}{unit}")).unwrap_or_default()
    };
    iterations
        + &flag("budget", money.map(|most| most.div_ceil(1_000_000)), "")
        + &flag("max-tokens", tokens, "")
        + &flag("max-time", time.map(|most| most.div_ceil(60_000)), "m")
}

/// No item was open, and no agent was asked for anything.
fn is_complete(state: &State) -> bool {
    state.used == 0 && state.backlog.as_ref().is_some_and(|read| read.found == Found::Complete)
}

/// What to type where the backlog stops the run, and no agent that waits for an answer.
fn by_the_backlog(state: &State, why: &str) -> Option<String> {
    match state.backlog.as_ref().map(|read| &read.found) {
        // No answer to an agent helps here; an older record may name no way.
        Some(Found::Stuck { why: stuck, next }) if stuck == why => {
            return Some(next.clone().unwrap_or_else(|| "settle that, then ralph run".into()));
        }
        Some(Found::Selected(work)) if items::unprovable(work) == why => {
            return Some("ralph run --test-cmd CMD".into());
        }
        _ => {}
    }
    let (id, reset) = at_its_limit(state)?;
    why.strip_prefix(id).is_some_and(|rest| rest.starts_with(": ")).then_some(reset)
}

/// The last item, where its last attempt failed and it has no more of them; and what gives it new ones.
fn at_its_limit(state: &State) -> Option<(&str, String)> {
    let last = state.last.as_ref().filter(|last| last.settled.is_some())?;
    let attempt = last.conclusion.as_ref()?.attempt;
    let item = last.item.as_ref().filter(|_| attempt != Some(Attempt::Passed))?;
    let spent = item.max_attempts > 0 && item.attempts.saturating_add(1) >= item.max_attempts;
    let plan = state.run.as_ref()?.plan.backlog.as_ref()?;
    let root = work::root().ok().filter(|_| spent)?;
    Some((&item.id, work::how_to_reset(&root, plan, &item.id)))
}

/// What somebody can do about agents that are out for good.
fn remedies(state: &State) -> impl Iterator<Item = String> {
    state.rules.agents.members.iter().filter_map(|member| {
        let agent = state.run.as_ref()?.plan.agent(&member.name)?;
        agent::remedy(agent, member.out.as_ref()?.limit?)
    })
}

/// Enough to go on with.
fn twice(used: u64, max: u64) -> u64 {
    used.max(max).saturating_mul(2)
}
