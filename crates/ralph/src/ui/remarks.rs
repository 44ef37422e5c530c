//! What is worth a word beside the boxes: how a check stood before, what is odd about an iteration.

use ralph_core::check::{self, CheckResult};
use ralph_core::decision::{Decision, Kind, Outcome};
use ralph_core::effect::Effect;
use ralph_core::event::{Event, StopBy, TAKEN_ALONG};
use ralph_core::evidence::Held;
use ralph_core::gate::{Objection, UnreadClaim};
use ralph_core::items::{self, Attempt, InHead, Settled, UNCOMMITTED};
use ralph_core::profile::{Baseline, Protocol};
use ralph_core::report::{IterationReport, MISPLACED, denied_tools};
use ralph_core::state::{self, Iteration, State};
use ralph_core::text;
use ralph_core::view::flagged::beside;
use ralph_core::view::{GREEN_ALREADY, WITHOUT_CHANGE};
use ralph_core::{machine, own_files};

use super::Tone;
use crate::suggest;

/// How a check stood before the first iteration.
pub(super) fn baseline(state: &State, event: &Event) -> Option<(Tone, String)> {
    let Event::CheckEnded(check) = event else { return None };
    if state.last.is_some() || state.current.as_ref().is_some_and(|current| current.started_at.is_some()) {
        return None;
    }
    let again = state.baseline.again.iter().any(|known| known.command == check.command);
    let when = if again { "proved before" } else { "before the run" };
    let by = state.stop_asked.filter(|by| *by != StopBy::Request && check.asked && !check.passed());
    if let Some(by) = by {
        let by = if by == StopBy::Interrupt { "by you" } else { "with ralph" };
        let command = check::shown(&check.command);
        return Some((
            Tone::Faint,
            format!("{when}: {command} was ended {by}, so nobody knows how it stands"),
        ));
    }
    match check.passed() {
        true => Some((Tone::Faint, format!("{when}: ✓ {}", check.describe()))),
        false => Some((Tone::Warning, format!("{when}: ✗ {}{}", check.describe(), spelling(check)))),
    }
}

/// What the failures of before the run mean, once all checks have been run and before the first agent works.
pub(super) fn failing_already(state: &State, event: &Event, decision: &Decision) -> Vec<(Tone, String)> {
    let Some(run) = &state.run else { return vec![] };
    let more = decision.effects.iter().any(|effect| matches!(effect, Effect::RunCheck { .. }));
    let begun = state.last.is_some() || state.current.as_ref().is_some_and(|one| one.started_at.is_some());
    if !matches!(event, Event::CheckEnded(_)) || more || begun || state.stop().is_some() {
        return vec![];
    }
    let excused = run.plan.baseline() == Baseline::Tolerate;
    let (what, blocked) = match run.plan.backlog.is_some() {
        true => ("an item", "items"),
        false => ("the goal", "the goal"),
    };
    let red = || state.baseline.results.iter().filter(|check| !check.passed() && check.never_ran().is_none());
    let names: Vec<String> = red().flat_map(|check| check.failing.iter().cloned()).collect();
    let mut lines = vec![];
    if !names.is_empty() {
        let (tests, they, them) = match names.len() {
            1 => ("1 test fails".to_owned(), "It", "it"),
            many => (format!("{many} tests fail"), "They", "them"),
        };
        let means = match excused {
            true => format!("{they} will not block {blocked}; new failures will."),
            false => format!(
                "{they} must pass before {what} counts as done (--set baseline=tolerate excuses {them})."
            ),
        };
        lines.push((Tone::Warning, format!("{tests} already: {}. {means}", items::some(&names))));
    }
    for check in red().filter(|check| check.failing.is_empty()) {
        let command = check::shown(&check.command);
        lines.push((
            Tone::Warning,
            format!("{command} fails already and names no tests. It must pass before {what} counts as done."),
        ));
    }
    lines
}

/// A check that never ran says nothing about the work: the user may have meant another command, or the work is to bring it.
fn spelling(check: &CheckResult) -> String {
    if check.never_ran().is_none() {
        return String::new();
    }
    let printed = text::last_line(&check.output_tail, 200).map(|line| format!(" It printed: {line}"));
    format!(": is it spelt right?{}", printed.unwrap_or_default())
}

/// What was done to ralph's own files while no iteration was under way that could tell it at its end.
pub(super) fn touched(state: &State, event: &Event) -> Vec<(Tone, String)> {
    let Event::OwnFilesTouched { touches } = event else { return vec![] };
    if state.current.is_some() {
        return vec![];
    }
    let lines = own_files::describe(state, touches).into_iter();
    lines.map(|line| (Tone::Warning, text::one_line(&line, 400))).collect()
}

/// What was committed, put back or left when an attempt was over.
pub(super) fn settled(state: &State, event: &Event) -> Vec<(Tone, String)> {
    let (Event::Settled(settled), Some(last)) = (event, &state.last) else { return vec![] };
    let what = last.item.as_ref().map_or("the goal", |item| &item.id);
    let flagged = last.conclusion.as_ref().map_or_else(String::new, |told| beside(&told.proof_flags));
    let mut lines = vec![];
    let of_item = last.item.is_some();
    // Of the goal this comes after the reviews.
    let claimed = of_item && last.is_claimed() || !of_item && last.is_tolerated();
    let weak = !claimed && (last.passed_anyway() || of_item && last.is_unmeasured(&state.baseline.results));
    let by_checks = !claimed && !weak;
    let (passes, and) = match (claimed, weak) {
        (true, _) => ("is claimed", " and"),
        (_, true) => (GREEN_ALREADY, ", and is"),
        _ => ("is proved", " and"),
    };
    if let Some(commit) = &settled.commit {
        let own = last.after.as_ref().is_some_and(|after| after.left_head() == Some(commit));
        let whose = if own { ", by the agent itself" } else { "" };
        let (tone, sign) = sign(by_checks && settled.left.is_empty() && flagged.is_empty());
        let commit = format!("{}{whose}", short(commit));
        let commit = match settled.left.len() {
            0 => format!(": {commit}"),
            left => {
                let names = text::one_line(&settled.left.join(", "), 400);
                let were = if left == 1 { "was" } else { "were" };
                format!(" as {commit}, without {names}, which {were} not clean before")
            }
        };
        lines.push((tone, format!("{sign} {what} {passes}{flagged}{and} committed{commit}")));
    }
    let passed = last.conclusion.as_ref().is_some_and(|told| told.attempt == Some(Attempt::Passed));
    let uncommitted = settled.problems.iter().any(|problem| problem.starts_with(UNCOMMITTED));
    if of_item && last.is_without_change() {
        lines.push((Tone::Warning, format!("⚠ {what} {WITHOUT_CHANGE}")));
    } else if of_item && passed && !claimed && settled.commit.is_none() && !uncommitted {
        let (tone, sign) = sign(by_checks && flagged.is_empty());
        let place = match settled.in_head {
            InHead::Untold => "it is in your files, and not committed",
            InHead::All | InHead::Work => "HEAD has it already",
        };
        let line = format!("{sign} {what} {passes}{flagged}; {place}");
        lines.push((tone, line));
    }
    if claimed {
        let facts = match (last.is_untouched(), last.checks.is_empty()) {
            (false, false) if last.is_tolerated() => "its checks are as red as before",
            (false, _) => "no check was run",
            (true, true) => "no file was changed and no check was run",
            (true, false) => "no file was changed for it and no check is its own",
        };
        let line = format!("{what} is claimed, and {facts}: nothing but the agent's word says so yet");
        lines.push((Tone::Warning, line));
    }
    lines.extend(parked(last, settled));
    if settled.reverted && settled.put_aside.is_none() {
        lines.push((Tone::Warning, format!("{what}: the code is put back as it was before the attempt")));
    }
    // With a commit it is said what is not in it.
    if !settled.left.is_empty() && (settled.reverted || settled.commit.is_none()) {
        let names = text::one_line(&settled.left.join(", "), 400);
        let were = if settled.left.len() == 1 { "it was" } else { "they were" };
        lines.push((
            Tone::Warning,
            match settled.reverted {
                true => format!("{what}: {}: {names}", settled.left_why()),
                false => format!("not committed with {what}, for {were} not clean before: {names}"),
            },
        ));
    }
    let done = settled.remarks.iter();
    lines.extend(done.map(|remark| (Tone::Warning, format!("{what}: {}", text::one_line(remark, 600)))));
    let problems = settled.problems.iter();
    lines.extend(problems.map(|problem| match problem.starts_with(UNCOMMITTED) {
        true => {
            let problem = if claimed { problem.replacen("proved", "claimed", 1) } else { problem.clone() };
            (Tone::Warning, format!("⚠ {what}: {}", text::one_line(&problem, 600)))
        }
        false => (Tone::Bad, format!("{what}: {}", text::one_line(problem, 600))),
    }));
    lines
}

/// Why an item is parked, and where its work is.
fn parked(last: &Iteration, settled: &Settled) -> Vec<(Tone, String)> {
    let reason = last.conclusion.as_ref().and_then(|told| told.parked.as_ref());
    let (Some(reason), Some(item), Some(aside)) = (reason, &last.item, &settled.put_aside) else {
        return vec![];
    };
    let mut lines = vec![(
        Tone::Warning,
        format!("⚠ {} is parked: {}", item.id, text::one_line(&reason.to_string(), 600)),
    )];
    if let Some(why) = &aside.stays {
        lines.push((Tone::Warning, format!("  its work stays in the files: {}", text::one_line(why, 400))));
    } else if aside.patch.is_some() {
        let show = format!("ralph backlog show {} --patch", suggest::quoted(&item.id));
        let before = if aside.left.is_empty() { ", and the files are as before" } else { "" };
        lines.push((Tone::Faint, format!("  its work is set aside{before}: {show}")));
    }
    if !aside.left.is_empty() {
        let names = text::one_line(&aside.left.join(", "), 400);
        lines.push((
            Tone::Warning,
            format!("  somebody else changed it too, so it is left as it is and not committed: {names}"),
        ));
    }
    if !aside.in_head.is_empty() {
        let names = text::one_line(&aside.in_head.join(", "), 400);
        lines
            .push((Tone::Warning, format!("  not clean before, so the agent's commit of it stays: {names}")));
    }
    lines
}

/// What is fine, or worth a look.
fn sign(fine: bool) -> (Tone, &'static str) {
    if fine { (Tone::Good, "✓") } else { (Tone::Warning, "⚠") }
}

/// What was odd about what it printed, or not understood.
fn problems(report: &IterationReport) -> Option<String> {
    let sayings = report.sayings.iter().flat_map(|saying| &saying.problems);
    let found: Vec<&str> = report
        .problems
        .iter()
        .chain(sayings)
        .map(String::as_str)
        .filter(|found| *found != MISPLACED)
        .collect();
    (!found.is_empty()).then(|| format!("in its output: {}", text::one_line(&found.join("; "), 300)))
}

fn unread(state: &State, iteration: &Iteration) -> Option<UnreadClaim> {
    machine::unread_claim(&state.run.as_ref()?.plan, iteration)
}

/// Why the loop did not take the last claim for one, where it came to nothing.
pub(super) fn unread_claim(state: &State) -> Option<String> {
    let last = state.last.as_ref()?;
    let UnreadClaim { objection, reports_passing_tests } = unread(state, last)?;
    let measured = !last.checks.is_empty() && last.checks.iter().all(CheckResult::passed);
    let tests = if measured || reports_passing_tests { "tests pass, but " } else { "" };
    let why = match objection {
        Objection::OddSignal(value) => format!("EXIT_SIGNAL '{value}'"),
        Objection::OddTests(value) => format!("TESTS_STATUS '{value}'"),
        Objection::OddStatus(value) => format!("STATUS '{value}'"),
        Objection::Announces(sentence) => format!("its last message announces further work: \"{sentence}\""),
        Objection::TooFewWords { said, wanted } => {
            format!("its last message says so {said} of {wanted} times")
        }
        other => other.to_string(),
    };
    Some(format!("{tests}the claim was read as not done: {why}"))
}

fn has_misplaced(problems: &[String]) -> bool {
    problems.iter().any(|problem| problem == MISPLACED)
}

/// As much of a name as people need.
pub(super) fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

/// Reviews that all change something never come to an end.
pub(super) fn restless(state: &State) -> Option<String> {
    let files = state::restless(&state.recent)?;
    let what = match files.is_empty() {
        true => "something".to_owned(),
        false => {
            let names = text::one_line(&files.join(", "), 200);
            format!("{names}; notes and logs that are no work: name them in .ralphignore")
        }
    };
    Some(format!("all of the last reviews changed {what}; to do without reviews: ralph run --reviews 0"))
}

/// What is worth a word about an iteration; above all a claim that the facts do not bear out.
pub(super) fn remarks(state: &State, last: &Iteration) -> Vec<(Tone, String)> {
    let Some(conclusion) = &last.conclusion else { return vec![] };
    let mut lines = vec![];
    let mut warn = |text: String| lines.push((Tone::Warning, text));
    last.own_files.iter().for_each(|touched| warn(text::one_line(touched, 400)));
    if let Some(after) = last.after.as_ref().filter(|after| !after.taken.is_empty()) {
        warn(format!("⚠ {TAKEN_ALONG}: {}", text::one_line(&after.taken.join(", "), 400)));
    }
    if let Some(tools) = last.ended.as_ref().and_then(|ended| denied_tools(&ended.report.denied)) {
        warn(format!("⚠ denied by its permissions: {tools}"));
    }
    match conclusion.outcome {
        Outcome::Silent if last.ended.as_ref().is_some_and(|ended| has_misplaced(&ended.report.problems)) => {
            warn(MISPLACED.into());
        }
        Outcome::Silent => {
            let protocol = state.run.as_ref().map(|run| run.plan.policy.protocol);
            warn(match protocol {
                Some(Protocol::StatusFile) => {
                    "no signal: the prompt asks for CONTINUE, ROTATE, DONE or STUCK in .ralph/status (ralph run --dry-run \
                     shows it)"
                }
                Some(Protocol::Json) => {
                    "no report in what the agent printed: the prompt asks for RALPH_STATUS: {…} and a marker such as \
                     LOOP_CONTINUE (ralph run --dry-run shows it)"
                }
                _ => {
                    "no report in what the agent printed: the prompt asks for a status block (ralph run --dry-run shows it, ralph report emit --help tells how to have one written)"
                }
            }
            .into());
        }
        // A plain "more work" needs no remark; a claim that was not read as one does.
        Outcome::More if unread(state, last).is_some() => warn(conclusion.words.clone()),
        Outcome::Accepted if last.kind == Kind::Review && last.progress() => {
            let again = "the review changed something, so it is reviewed again";
            warn(restless(state).map_or_else(|| again.into(), |why| format!("{again}; {why}")));
        }
        // Its own pass makes the count look full.
        Outcome::Accepted
            if last.kind == Kind::Work
                && conclusion.passes_needed > 0
                && conclusion.passes >= conclusion.passes_needed =>
        {
            warn("nobody has doubted the claim yet: a review has the last word".into());
        }
        _ => {}
    }
    // Of an agent that did not come to its end, how it ended is said already.
    let ended = last
        .ended
        .as_ref()
        .filter(|_| !matches!(conclusion.outcome, Outcome::Failed | Outcome::Limited | Outcome::Interrupted));
    if let Some(line) = ended.and_then(|ended| problems(&ended.report)) {
        lines.push((Tone::Faint, line));
    }
    let mut warn = |text: String| lines.push((Tone::Warning, text));
    let flagged = conclusion.evidence.conditions.iter().filter(|condition| condition.name == "leftovers");
    for condition in flagged.filter(|condition| condition.held == Held::NotApplicable) {
        warn(text::one_line(&condition.fact, 400));
    }
    conclusion.flags.iter().for_each(|flag| warn(text::one_line(flag, 400)));
    conclusion.warnings.iter().for_each(|warning| warn(text::one_line(warning, 400)));
    conclusion
        .differences
        .iter()
        .for_each(|more| warn(format!("claimed more than was measured: {}", text::one_line(more, 400))));
    if let Some(refusal) = &conclusion.refusal {
        let what = if conclusion.unasked { "not done" } else { "claimed done, refused" };
        lines.push((Tone::Bad, format!("✗ {what}: {}", text::one_line(refusal, 600))));
        if last.checks.iter().any(|check| !check.passed()) {
            lines.push((Tone::Faint, format!("  full output: ralph history {} --checks", last.number)));
        }
    }
    lines
}
