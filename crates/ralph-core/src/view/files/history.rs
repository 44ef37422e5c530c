//! `history/iteration-NNN.md`: summary, status block verbatim, files, checks, decision.

use crate::breaker::Circuit;
use crate::decision::{Conclusion, Kind, Outcome};
use crate::evidence::Held;
use crate::prelude::*;
use crate::prompt::told_again;
use crate::report::denied_tools;
use crate::report::dialects::{Dialect, Saying};
use crate::state::{Iteration, Note, State, keeps_notes};
use crate::text::{count, one_line};
use crate::time::duration;
use crate::view::counted::{self, LineCounts};
use crate::view::{
    GREEN_ALREADY, WITHOUT_CHANGE, ended, ended_by, failure, files, flagged, money, nth_of,
    result_for_people, thousands,
};

/// `state` is that of the record that concluded the iteration, or a later one, which knows less about it. `counts`: the lines
/// of its files, where somebody has counted them.
pub fn history(state: &State, iteration: &Iteration, counts: Option<&LineCounts>) -> String {
    let kind = if iteration.kind == Kind::Review { " (review)" } else { "" };
    let mut text = format!("# Iteration {}{kind}\n\n", iteration.number);
    let mut line = |name: &str, value: &str| text.push_str(&format!("- {name}: {value}\n"));
    if let Some(run) = &state.run {
        line("Goal", &one_line(&run.goal, 500));
        line("Run", &format!("{}, iteration {}", run.number, nth_of(state, iteration.nth)));
        let pool: Vec<&str> = run.plan.agents.iter().map(|agent| agent.name.as_str()).collect();
        line(
            "Agent",
            &match pool.len() {
                0 | 1 => iteration.agent.clone(),
                _ => format!("{} (of {})", iteration.agent, pool.join(", ")),
            },
        );
    }
    line("Began", &iteration.began_at.to_string());
    line("Result", result_for_people(iteration));
    let said = in_its_prompt(state, iteration);
    said.iter().for_each(|note| line("Your words in its prompt", &one_line(&note.text, 500)));
    if said.is_empty() && iteration.notes > 0 {
        line("Your words in its prompt", &count(iteration.notes as u64, "note"));
    }
    for touched in &iteration.own_files {
        line("ralph's own files", &one_line(touched, 1000));
    }
    if let Some(ended) = &iteration.ended {
        let how = ended_by(state, &ended.end).unwrap_or_else(|| ended.end.to_string());
        line("Agent process", &format!("{how} after {}", duration(ended.duration_ms)));
        if let Some(failure) = failure(state, iteration) {
            line("Failure", &failure);
        }
        if let Some(tools) = denied_tools(&ended.report.denied) {
            line("Denied by its permissions", &tools);
        }
        if let Some(limit) = &ended.report.limit {
            let until =
                ended.reset_at.map_or_else(|| "until when is not said".into(), |at| format!("until {at}"));
            line("Limit", &format!("{}, {until}", limit.text));
        }
        if ended.left_running() > 0 {
            line("Background processes ended", &ended.left_running().to_string());
        }
        if ended.report.usage.total() > 0 {
            line("Tokens", &thousands(ended.report.usage.total()));
        }
        if let Some(cost) = ended.report.cost_micro_usd {
            line("Cost", &money(cost));
        }
        for problem in &ended.report.problems {
            line("Problem in the report", problem);
        }
    }
    files_part(&mut text, iteration, counts);
    checks_part(&mut text, state, iteration);
    decision_part(&mut text, state, iteration);
    item_part(&mut text, iteration);
    if let Some(ended) = &iteration.ended {
        match &ended.report.block {
            Some(block) => fenced(&mut text, "Status block", &block.verbatim),
            None if ended.report.last_words.trim().is_empty() && ended.report.sayings.is_empty() => {
                match ended.stderr.as_deref() {
                    Some(error) => {
                        fenced(&mut text, "No report and no words. The last line of its error output", error);
                    }
                    None => {
                        text.push_str(
                            "\n## No report\n\nIt printed no words, and nothing to its error output.\n",
                        );
                    }
                }
            }
            None => {
                let heading = match ended.report.sayings.last() {
                    Some(Saying { dialect: Dialect::StatusFile, quote, .. }) => {
                        format!("Signal: {quote}. Its last words")
                    }
                    Some(_) => "Report".into(),
                    None => "No report. Its last words".into(),
                };
                fenced(&mut text, &heading, &ended.report.last_words);
            }
        }
    }
    text
}

/// The notes that it read, as far as the state of its conclusion knows them: those that earlier iterations were told hold on.
fn in_its_prompt<'a>(state: &'a State, iteration: &Iteration) -> Vec<&'a Note> {
    let is = |known: Option<&Iteration>| known.is_some_and(|known| known.number == iteration.number);
    let concluded = is(state.last.as_deref()) && iteration.conclusion.is_some();
    if !concluded && !is(state.current.as_ref()) {
        return vec![];
    }
    // What a conclusion took over is among those that were told.
    let new = if concluded && !keeps_notes(iteration.outcome()) { 0 } else { iteration.notes };
    let (before, taken) = state.told.split_at(state.told.len().saturating_sub(iteration.notes - new));
    let agent = state.run.as_ref().and_then(|run| run.plan.agent(&iteration.agent));
    // A session remembers what it was told before.
    let before = if agent.is_some_and(|agent| agent.session) { &[] } else { told_again(before) };
    before.iter().chain(taken).chain(state.notes.iter().take(new)).collect()
}

fn item_part(text: &mut String, iteration: &Iteration) {
    let Some(item) = iteration.item.as_deref() else { return };
    text.push_str(&format!("\n## Item\n\n- {}\n", one_line(&item.named(), 500)));
    let mut line = |name: &str, value: &str| text.push_str(&format!("- {name}: {}\n", one_line(value, 500)));
    if let Some(conclusion) = &iteration.conclusion {
        let word = match (iteration.is_claimed(), iteration.is_without_change()) {
            (true, _) => ", claimed: nothing but the agent's word says so".to_owned(),
            (false, true) => format!(": it {WITHOUT_CHANGE}"),
            (false, false) if iteration.passed_anyway() => format!(": it {GREEN_ALREADY}"),
            (false, false) => String::new(),
        };
        let attempt = conclusion.attempt.iter();
        let flagged = flagged::beside(&conclusion.proof_flags);
        attempt.for_each(|attempt| line("attempt", &format!("{}{flagged}{word}", attempt.word())));
        conclusion
            .differences
            .iter()
            .for_each(|difference| line("claimed more than was measured", difference));
    }
    let Some(settled) = &iteration.settled else { return };
    settled.commit.iter().for_each(|commit| line("commit", commit));
    if settled.reverted {
        line("code", "put back");
    }
    settled.left.iter().for_each(|path| line(settled.left_why(), path));
    settled.evidence.iter().for_each(|digest| line("evidence", digest));
    settled.remarks.iter().for_each(|remark| line("taken back", remark));
    settled.problems.iter().for_each(|problem| line("problem", problem));
}

fn files_part(text: &mut String, iteration: &Iteration, counts: Option<&LineCounts>) {
    text.push_str(&format!("\n## Files\n\n{}\n", files(iteration)));
    let Some(after) = &iteration.after else { return };
    if !after.changed.is_empty() {
        text.push('\n');
    }
    for change in &after.changed {
        // A name is somebody's text: it must not forge lines of ours.
        let lines = counted::lines(&change.path, counts);
        text.push_str(&format!("- {} {}{lines}\n", change.kind, one_line(&change.path, 1000)));
    }
    let unnamed = after.changed_total.saturating_sub(after.changed.len() as u64);
    if unnamed > 0 && !after.untold {
        text.push_str(&format!("- and {unnamed} more\n"));
    }
    for note in &after.notes {
        text.push_str(&format!("- note: {}\n", one_line(note, 1000)));
    }
}

fn checks_part(text: &mut String, state: &State, iteration: &Iteration) {
    if iteration.checks.is_empty() {
        return;
    }
    text.push_str("\n## Checks\n\n");
    for check in &iteration.checks {
        let mark = if check.passed() { "passed" } else { "FAILED" };
        let before = state.baseline.results.iter().find(|before| before.command == check.command);
        let before = before.map_or("", |before| match before.passed() {
            true => "; green before the run",
            false => "; red before the run",
        });
        let took = duration(check.duration_ms);
        text.push_str(&format!("- {mark}: {} in {took}{before}\n", check.describe()));
    }
}

fn decision_part(text: &mut String, state: &State, iteration: &Iteration) {
    let Some(conclusion) = &iteration.conclusion else { return };
    text.push_str("\n## Decision\n\n");
    text.push_str(&format!("- words: {}\n", one_line(&conclusion.words, 500)));
    if let Some(refusal) = &conclusion.refusal {
        let what = if conclusion.unasked { "not done" } else { "claimed done, refused" };
        text.push_str(&format!("- {what}: {refusal}\n"));
    }
    for condition in &conclusion.evidence.conditions {
        let held = match condition.held {
            Held::Held => "held",
            Held::Failed => "failed",
            Held::NotApplicable => "not applicable",
        };
        text.push_str(&format!("- {} {held}: {}\n", condition.name, condition.fact));
    }
    if conclusion.outcome == Outcome::Accepted {
        text.push_str(&match conclusion.passes_needed {
            0 => "- accepted, with no review wanted\n".into(),
            needed => format!("- verification {}/{needed}\n", conclusion.passes),
        });
        if iteration.kind == Kind::Review && iteration.progress() {
            text.push_str("- the review changed something, so it is reviewed again\n");
        }
    }
    for flag in &conclusion.flags {
        text.push_str(&format!("- flagged: {}\n", one_line(flag, 500)));
    }
    stuck_part(text, state, conclusion);
    if let Some(stop) = state.stop().filter(|_| state.just_concluded(iteration)) {
        text.push_str(&format!("- the run stops: {}\n", one_line(&ended(state, stop), 500)));
    }
}

/// What speaks for a loop that goes nowhere.
fn stuck_part(text: &mut String, state: &State, conclusion: &Conclusion) {
    for warning in &conclusion.warnings {
        text.push_str(&format!("- breaker: {}\n", one_line(warning, 500)));
    }
    let (breaker, saturation) = (&state.rules.breaker, state.rules.saturation);
    match (breaker.circuit, breaker.probe_at) {
        (Circuit::Closed, _) => {}
        (Circuit::HalfOpen, _) => text.push_str("- circuit: half-open, the next iteration is a probe\n"),
        (Circuit::Open, None) => text.push_str("- circuit: open until a probe is asked for\n"),
        (Circuit::Open, Some(at)) => {
            text.push_str(&format!("- circuit: open, no run begins before {at}\n"));
        }
    }
    for (row, what) in [
        (saturation.test_loops, "touched tests alone"),
        (saturation.done_signals, "talked of being done while work went on"),
    ] {
        if row > 0 {
            text.push_str(&format!("- saturation: {} in a row {what}\n", count(row.into(), "iteration")));
        }
    }
}

fn fenced(text: &mut String, title: &str, content: &str) {
    // A fence longer than any inside keeps the agent's words from ending it.
    let mut fence = "```".to_owned();
    while content.contains(&fence) {
        fence.push('`');
    }
    text.push_str(&format!("\n## {title}\n\n{fence}\n{}\n{fence}\n", content.trim_end()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Begin;
    use crate::event::{AgentEnded, End};
    use crate::evidence::Evidence;
    use crate::limit::{Limit, LimitKind};
    use crate::report::IterationReport;
    use crate::saturation::Saturation;
    use crate::time::Time;
    use crate::transcript::Format;

    fn concluded() -> State {
        let begin = Begin {
            number: 4,
            nth: 2,
            kind: Kind::Work,
            agent: "claude".into(),
            format: Format::Auto,
            before: None,
            item: None,
        };
        let conclusion = Conclusion {
            unasked: false,
            outcome: Outcome::More,
            words: "not done: EXIT_SIGNAL: false".into(),
            evidence: Evidence::default(),
            refusal: None,
            passes: 0,
            passes_needed: 1,
            warnings: vec!["output_decline: output declined by 80%".into()],
            differences: vec![],
            flags: vec![],
            proof_flags: vec![],
            attempt: None,
            parked: None,
            untouched: false,
            without_change: false,
            tolerated: false,
            unmeasured: None,
        };
        let iteration =
            Iteration { notes: 2, conclusion: Some(conclusion), ..Iteration::new(&begin, Time::default()) };
        let mut state = State { last: Some(Box::new(iteration)), ..State::default() };
        state.rules.saturation = Saturation { done_signals: 1, ..Saturation::default() };
        state
    }

    #[test]
    fn notes_warnings_and_saturation_are_told() {
        let state = concluded();
        let text = history(&state, state.last.as_deref().expect("there"), None);
        for line in [
            "- Your words in its prompt: 2 notes\n",
            "- breaker: output_decline: output declined by 80%\n",
            "- saturation: 1 iteration in a row talked of being done while work went on\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("- circuit"), "{text}");
    }

    #[test]
    fn the_words_of_notes_are_told_where_the_state_has_them() {
        let note = |text: &str| Note { id: text.into(), text: text.into(), answers: None };
        let words = |state: &State| {
            let text = history(state, state.last.as_deref().expect("there"), None);
            let line = |line: &str| line.strip_prefix("- Your words in its prompt: ").map(str::to_owned);
            text.lines().filter_map(line).collect::<Vec<_>>()
        };
        let mut state = concluded();
        (state.told, state.notes) = (vec![note("a"), note("b"), note("c")], vec![note("next")]);
        assert_eq!(words(&state), ["a", "b", "c"], "and not what came since");
        state.told = vec![note("no room"), note(&"long ".repeat(400)), note("b"), note("c")];
        assert_eq!(words(&state).len(), 3, "as many as the prompt had");
        // Who failed has not heeded them, so that they wait again.
        let last = state.last.as_mut().expect("there");
        last.conclusion.as_mut().expect("concluded").outcome = Outcome::Failed;
        (state.told, state.notes) = (vec![note("a")], vec![note("b"), note("c"), note("next")]);
        assert_eq!(words(&state), ["a", "b", "c"]);
    }

    #[test]
    fn a_limit_is_told_with_its_end() {
        let mut state = concluded();
        let last = state.last.as_mut().expect("there");
        let notice = "You've hit your limit";
        let limit = Limit { kind: LimitKind::Usage, status: Some(429), reset: None, text: notice.into() };
        last.ended = Some(AgentEnded {
            end: End::Exited { code: 1 },
            duration_ms: 1,
            asked: false,
            leftovers: 0,
            report: IterationReport { limit: Some(limit), ..IterationReport::default() },
            stderr: None,
            reset_at: Some(Time::from_millis(60_000)),
        });
        let text = history(&state, state.last.as_deref().expect("there"), None);
        let line = format!("- Limit: {notice}, until 1970-01-01T00:01:00.000Z\n");
        assert!(text.contains(&line), "{text}");
    }

    #[test]
    fn a_circuit_that_is_not_closed_is_told() {
        for (circuit, probe_at, line) in [
            (Circuit::HalfOpen, None, "- circuit: half-open, the next iteration is a probe\n"),
            (Circuit::Open, None, "- circuit: open until a probe is asked for\n"),
            (
                Circuit::Open,
                Some(Time::default()),
                "- circuit: open, no run begins before 1970-01-01T00:00:00.000Z\n",
            ),
        ] {
            let mut state = concluded();
            (state.rules.breaker.circuit, state.rules.breaker.probe_at) = (circuit, probe_at);
            let text = history(&state, state.last.as_deref().expect("there"), None);
            assert!(text.contains(line), "{text}");
        }
    }
}
