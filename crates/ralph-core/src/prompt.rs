//! The prompt of one iteration, from values: where we are, what the files say, why the last claim was
//! refused, and how to report.

pub(crate) mod protocol;

use crate::decision::{Begin, Kind, Outcome};
use crate::event::{Plan, RunInfo};
use crate::items::Work;
use crate::prelude::*;
use crate::profile::{Baseline, Gate, Protocol, TestsChanged};
use crate::redact::shapes;
use crate::report::{MISPLACED, PROMISE};
use crate::state::{Iteration, LONGEST_TOLD, Note, State};
use crate::text;
use crate::transcript::Format;
use protocol::About;

/// What the files of the project contribute. Each is absent when the file is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Materials<'a> {
    pub project: &'a str,
    /// `.ralph/prompt.md`
    pub instructions: Option<&'a str>,
    /// `CLAUDE.md` or `AGENTS.md`, unless the agent loads it itself.
    pub knowledge: Option<&'a str>,
    /// `.ralph/scratchpad.md` or `handoff.md`
    pub handoff: Option<&'a str>,
    /// `.ralph/guardrails.md`
    pub guardrails: Option<&'a str>,
}

const MOST_OF_A_FILE: usize = 32 << 10;
const MOST_OF_HANDOFF: usize = 8 << 10;
pub(crate) const MOST_OF_OUTPUT: usize = 4 << 10;
/// Commands that are named to an agent.
const MOST_CHECKS: usize = 30;
/// How much of the user's notes a prompt holds.
pub const MOST_OF_NOTES: usize = 8 << 10;
/// So much of what was flagged is told to a reviewer.
const MOST_FLAGS: usize = 10;

/// The prompt of the next iteration, were it begun now; `item` is what the backlog hands out.
pub fn preview(state: &State, run: RunInfo, item: Option<Work>, materials: Materials<'_>) -> String {
    let mut state = state.clone();
    let agent = run.plan.agents.first();
    let begin = Begin {
        number: state.iteration.saturating_add(1),
        nth: state.used.saturating_add(1),
        kind: if state.rules.reviews.reviewing { Kind::Review } else { Kind::Work },
        agent: agent.map(|agent| agent.name.clone()).unwrap_or_default(),
        format: agent.map_or(Format::Auto, |agent| agent.format),
        before: None,
        item: item.map(Box::new),
    };
    state.iteration = begin.number;
    state.used = begin.nth;
    state.run = Some(run);
    state.current = Some(Iteration::new(&begin, state.updated_at));
    render(&state, materials)
}

pub fn render(state: &State, materials: Materials<'_>) -> String {
    let mut prompt = String::new();
    let Some((run, current)) = state.run.as_ref().zip(state.current.as_ref()) else { return prompt };
    let mut part = |text: &str| {
        prompt.push_str(text.trim());
        prompt.push_str("\n\n");
    };
    part(&where_we_are(state, current));
    if let Some(instructions) = materials.instructions {
        let filled = instructions
            .replace("{{PROJECT_NAME}}", materials.project)
            .replace("{{ITERATION}}", &current.number.to_string())
            .replace("{{COMPLETION_PERCENTAGE}}", &percentage(state).to_string())
            .replace("{{SESSION_ID}}", &run.id)
            .replace("{{TASK}}", current.item.as_ref().map_or(&run.goal, |item| &item.id));
        part(&text::head(&filled, MOST_OF_A_FILE));
    }
    if let Some(knowledge) = materials.knowledge {
        part(&format!("# What is known about this project\n\n{}", text::head(knowledge, MOST_OF_A_FILE)));
    }
    if let Some(handoff) = materials.handoff.filter(|notes| written(notes).is_some()) {
        let newest = text::tail(handoff, MOST_OF_HANDOFF);
        part(&format!("# Notes handed over by the last iteration\n\n{newest}"));
    }
    match &current.item {
        None => part(&format!("# Goal\n\n{}", run.goal)),
        Some(item) => part(&about_item(item, state, &run.plan)),
    }
    if state.checks_for(&run.plan, current.item.as_deref()).next().is_some() {
        part(&checks(state, &run.plan, current));
    }
    if !run.plan.stack_commands.is_empty() {
        part(&stack_commands(&run.plan));
    }
    if current.kind == Kind::Review {
        part(&review(state));
    }
    if let Some(guardrails) = materials.guardrails.and_then(written) {
        part(&format!("# Guardrails\n\n{}", text::head(guardrails, MOST_OF_A_FILE)));
    }
    // A session remembers it.
    if !state.told.is_empty() && !in_session(state) {
        part(&told(&state.told));
    }
    if !state.notes.is_empty() {
        part(&notes(&state.notes));
    }
    if let Some(refused) = refused(state, current) {
        part(&refused);
    }
    let about = if current.item.is_some() { About::Item } else { About::Whole };
    part(&protocol::ask(run.plan.policy.protocol, about));
    if in_session(state) || run.plan.policy.promise != PROMISE {
        part(&protocol::promise(&run.plan.policy.promise));
    }
    if run.plan.policy.gate == Gate::Dual && current.kind == Kind::Work {
        part(protocol::IN_WORDS_TOO);
    }
    prompt
}

/// The text below a file's own heading, unless it is only the comment of a template.
fn written(file: &str) -> Option<&str> {
    let (first, rest) = file.trim().split_once('\n').unwrap_or((file.trim(), ""));
    let text = if first.starts_with('#') { rest.trim() } else { file.trim() };
    let comment = text.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
    let nothing = text.is_empty() || comment.is_some_and(|inside| !inside.contains("-->"));
    (!nothing).then_some(text)
}

/// Whether it is for a session, which knows what it did and can be told in few words.
fn in_session(state: &State) -> bool {
    let agent = state.run.as_ref().zip(state.current.as_ref());
    agent.and_then(|(run, current)| run.plan.agent(&current.agent)).is_some_and(|agent| agent.session)
}

fn where_we_are(state: &State, current: &Iteration) -> String {
    let max = state.run.as_ref().map_or(0, |run| run.plan.policy.max_iterations);
    let of = if max == 0 { String::new() } else { format!(" of at most {max}") };
    let mut words = match in_session(state) {
        true => format!(
            "This session is iteration {}{of} of a loop that holds it until the goal is reached. What you remember may \
             be outdated: look at the files. Work on the goal in this folder, run the tests yourself, and end with the \
             report described below. Do not edit anything in .ralph/ except .ralph/guardrails.md, for lessons that \
             nobody should have to learn twice.",
            current.nth
        ),
        false => fresh(state, current.nth, &of),
    };
    let refuses =
        |run: &&RunInfo| run.plan.policy.tests_changed == TestsChanged::Refuse && current.kind == Kind::Work;
    if state.run.as_ref().filter(refuses).is_some() {
        words.push_str(
            " Leave existing tests, and the scripts and recipes that run them, as they are: nothing is accepted while one \
             of them is changed or deleted. New tests are welcome.",
        );
    }
    let item = current.item.as_ref().map(|item| item.id.as_str());
    match (&state.last, &state.claimed) {
        (Some(last), _) => words.push_str(&format!("\n\n{}", last_did(last))),
        (None, Some((id, differences))) if item == Some(id) => words.push_str(&format!(
            "\n\nThe last attempt at {id} claimed more than was measured: {}.",
            differences.join("; ")
        )),
        _ => {}
    }
    if let Some(undone) = state.undone_since_last() {
        words.push_str(&format!(
            "\n\nSince then the user undid work: {}. The files are what counts, not what earlier notes say about them.",
            undone.put_back
        ));
    }
    words
}

fn fresh(state: &State, nth: u64, of: &str) -> String {
    format!(
        "You are iteration {}{of} of a loop that works on this project. You start with an empty context; what you \
         know is in this prompt and in the files. Work on the goal in this folder, run the tests yourself, and end \
         with the report described below. Do not edit anything in .ralph/ except {}",
        nth,
        match state.run.as_ref().map(|run| run.plan.policy.protocol) {
            Some(Protocol::StatusFile) =>
                ".ralph/handoff.md, .ralph/guardrails.md and .ralph/status.".to_owned(),
            _ => format!(
                ".ralph/scratchpad.md, where you may leave notes for the next iteration, {}and .ralph/guardrails.md, \
                 for lessons that nobody should have to learn twice.",
                own_item(state).map(|file| format!("your item in {file}, ")).unwrap_or_default()
            ),
        }
    )
}

/// The backlog below `.ralph/` in which the agent marks its item itself.
fn own_item(state: &State) -> Option<&str> {
    let plan = &state.run.as_ref()?.plan;
    let item = state.current.as_ref()?.item.as_ref();
    item.filter(|_| marks_items(plan))?;
    plan.backlog.as_ref().map(|backlog| backlog.file.as_str()).filter(|file| file.starts_with(".ralph/"))
}

/// Whether the protocol has no word of its own for an item, so that a mark in the backlog claims it.
fn marks_items(plan: &Plan) -> bool {
    plan.policy.protocol != Protocol::Block
}

fn last_did(last: &Iteration) -> String {
    let changed = last.after.as_ref().map_or(0, |after| after.changed_total);
    let outcome =
        last.conclusion.as_ref().map_or("was not concluded", |conclusion| match conclusion.outcome {
            Outcome::Accepted if conclusion.unasked => {
                "did not say done, and the evidence says that its item is"
            }
            Outcome::Refused if conclusion.unasked => "did not reach what it was judged by",
            Outcome::Accepted if last.is_claimed() => "said done, and nothing but its word says so",
            Outcome::Accepted if last.is_without_change() => {
                "said done, and its item's checks were green without a change for it"
            }
            Outcome::Accepted => "said done, and the evidence agreed",
            Outcome::Refused => "said done, which was refused",
            Outcome::More => "did not say done",
            Outcome::Silent if promised_in_passing(last) => {
                "gave its promise inside a line, where it is not heard: it has to stand alone on its line"
            }
            Outcome::Silent => "ended without a report",
            Outcome::Blocked => "said that it is blocked",
            Outcome::Failed => "failed",
            Outcome::Limited => "was stopped by a limit of its provider",
            Outcome::Interrupted => "was interrupted",
        });
    let mut words = format!("The last iteration changed {} and {outcome}.", text::count(changed, "file"));
    if let Some(conclusion) =
        last.conclusion.as_ref().filter(|conclusion| conclusion.outcome == Outcome::More)
    {
        words.push_str(&format!(" It was read as: {}.", conclusion.words));
    }
    let differences = last.conclusion.as_ref().map_or(&[][..], |conclusion| &conclusion.differences);
    if !differences.is_empty() {
        words.push_str(&format!(" It claimed more than was measured: {}.", differences.join("; ")));
    }
    let block = last.ended.as_ref().and_then(|ended| ended.report.block.as_ref());
    if let Some(recommendation) = block.and_then(|block| block.recommendation.as_deref()) {
        words.push_str(&format!(" Its recommendation: {recommendation}"));
    }
    words
}

fn promised_in_passing(last: &Iteration) -> bool {
    let problems = last.ended.as_ref().map_or(&[][..], |ended| &ended.report.problems);
    problems.iter().any(|problem| problem == MISPLACED)
}

/// The one item of this iteration. What is written about it comes from the project, so it may be long.
fn about_item(item: &Work, state: &State, plan: &Plan) -> String {
    let mut words = format!("# The item of this iteration: {}\n", item.id);
    // The text of many formats begins with the title.
    if !begins_with_title(item) {
        words.push_str(&format!("\n{}\n", item.title));
    }
    if !item.text.trim().is_empty() {
        words.push_str(&format!("\n{}\n", text::head(item.text.trim(), MOST_OF_A_FILE)));
    }
    let checked = plan.checks_for(Some(item)).next().is_some();
    let file = plan.backlog.as_ref().map_or("the backlog", |backlog| backlog.file.as_str());
    words.push_str("\nWork on this item alone. ");
    words.push_str(&match checked {
        true => format!(
            "It counts as done when its checks pass, so do not change what it is judged by: neither its criteria in \
             {file} nor the check commands."
        ),
        false => format!(
            "No command is run for it, so claim it only when you have seen that it holds, and do not change its \
             criteria in {file}."
        ),
    });
    if marks_items(plan) {
        words.push_str(&format!(
            " When it is done, mark it as done in {file}; you may add notes to it there."
        ));
    }
    if let Some(phase) = state.backlog.as_ref().and_then(|backlog| backlog.phase.as_ref()) {
        words.push_str(&format!(" The phase is {}.", text::one_line(phase, 60)));
    }
    if item.attempts > 0 {
        let of =
            if item.max_attempts > 0 { format!(" of at most {}", item.max_attempts) } else { String::new() };
        words.push_str(&format!(" This is attempt {}{of}.", item.attempts + 1));
    }
    if let Some(items) = state.backlog.as_ref().map(|backlog| backlog.items) {
        words.push_str(&format!(" Open: {} of {}.", items.open, text::count(items.total, "item")));
    }
    words
}

fn begins_with_title(item: &Work) -> bool {
    let first = item.text.trim().lines().next().unwrap_or_default();
    // Before it there may be a heading's sign, a list's or a box, and the id.
    let signs = first.trim_start_matches(['#', '-', '*', '+', ' ']);
    let boxed = ["[ ]", "[x]", "[X]"].iter().find_map(|it| signs.strip_prefix(it)).unwrap_or(signs).trim();
    let bare = boxed.strip_prefix(item.id.as_str()).unwrap_or(boxed).trim_start_matches([':', ' ']);
    !item.title.is_empty() && [bare, boxed].contains(&item.title.trim())
}

fn percentage(state: &State) -> u64 {
    let items = state.backlog.as_ref().map(|backlog| backlog.items).unwrap_or_default();
    items.total.saturating_sub(items.open) * 100 / items.total.max(1)
}

/// What will be run, and how it stood before the first iteration.
fn checks(state: &State, plan: &Plan, current: &Iteration) -> String {
    let mut words =
        "# Checks\n\nWhen you say done, the loop runs this in the project's folder, and believes nothing else:\n".to_owned();
    let mut all = state.checks_for(plan, current.item.as_deref());
    for check in all.by_ref().take(MOST_CHECKS) {
        words.push_str(&format!("\n    {}", shapes(&check.command)));
    }
    let more = all.count() as u64;
    if more > 0 {
        words.push_str(&format!("\n\nand {} of items that are done.", text::count(more, "command")));
    }
    let red = state.baseline.results.iter().filter(|check| !check.passed());
    let red: Vec<String> = red.map(|check| check.describe()).collect();
    if !red.is_empty() {
        words.push_str(&format!("\n\nBefore the loop began: {}.", red.join("; ")));
        if plan.baseline() == Baseline::Tolerate {
            words.push_str(
                " Tests that failed then may still fail, unless they are your task; new failures may not.",
            );
        }
    }
    let broken = state.baseline.again.iter().filter(|check| !check.passed());
    let broken: Vec<String> = broken.take(MOST_CHECKS).map(|check| check.describe()).collect();
    if !broken.is_empty() {
        let broken = broken.join("; ");
        words.push_str(&format!("\n\nThis was proved, and does not hold any more: {broken}. Mend that."));
    }
    words
}

/// Commands that the agent is to run, for ralph does not.
fn stack_commands(plan: &Plan) -> String {
    let mut words = "# Commands of this project\n\nRun them yourself; the loop does not:\n".to_owned();
    for check in &plan.stack_commands {
        words.push_str(&format!("\n- {}: `{}`", check.name, shapes(&check.command)));
    }
    words
}

const REVIEW: &str = "\
# This iteration is a review

The last iteration said that the goal is reached. Doubt it. Compare the goal with what is really there: read the \
code, run it, run the tests, look for what was left out, stubbed or only claimed. If everything holds, change nothing \
and report done. If anything is missing or wrong, report that more work is needed, or mend it; a change is reviewed again.";

/// With what was flagged: a test that is gone, or a recipe that is another one, is what a check cannot tell.
fn review(state: &State) -> String {
    let mut words = String::from(REVIEW);
    let mut standing = state.flagged.iter().filter(|flag| !flag.put_back).peekable();
    if standing.peek().is_some() {
        words.push_str("\n\nThe loop saw this and could not judge it. Find out whether the goal called for it, and undo what it did not call for:\n");
        for flag in standing.take(MOST_FLAGS) {
            words.push_str(&format!("- iteration {}: {}\n", flag.iteration, text::one_line(&flag.what, 300)));
        }
    }
    words
}

/// What the user said meanwhile; the newest words are the ones that are kept.
fn notes(notes: &[Note]) -> String {
    let said = notes.iter().map(|note| note.text.trim()).collect::<Vec<_>>().join("\n\n");
    format!("# Notes from the user\n\n{}", text::tail(&said, MOST_OF_NOTES))
}

/// What the user said to iterations before this one, which knows nothing of them; the newest words are the ones that are kept.
fn told(told: &[Note]) -> String {
    let said = told_again(told).iter().map(in_words).collect::<Vec<_>>().join("\n\n");
    format!("# What the user said earlier in this run\n\nIt still holds; the newest comes last.\n\n{said}")
}

fn in_words(note: &Note) -> String {
    let text = note.text.trim();
    match &note.answers {
        Some(question) => format!("Asked: {question}\nAnswered: {text}"),
        None => text.to_owned(),
    }
}

/// The newest of them, as far as there is room; one always.
pub(crate) fn told_again(told: &[Note]) -> &[Note] {
    let mut room = LONGEST_TOLD;
    let fits = |note: &&Note| {
        let words = in_words(note).len();
        let fits = words <= room;
        room = room.saturating_sub(words);
        fits
    };
    let newest = told.iter().rev().take_while(fits).count().max(1);
    &told[told.len().saturating_sub(newest)..]
}

/// Why the last claim was not accepted, with what the failing check printed.
fn refused(state: &State, current: &Iteration) -> Option<String> {
    let item = current.item.as_ref().map(|item| &item.id);
    let refusal =
        state.refusal.as_ref().filter(|refusal| refusal.item.is_none() || refusal.item.as_ref() == item)?;
    let mut words = match refusal.unasked {
        true => format!(
            "# The last attempt did not pass\n\nWhat the loop found after iteration {}: {}. ",
            refusal.iteration, refusal.why
        ),
        false => format!(
            "# The last \"done\" was refused\n\nIteration {} said done. What the loop found: {}. ",
            refusal.iteration, refusal.why
        ),
    };
    if !refusal.checks.is_empty() {
        words.push_str("The loop runs these checks itself; the work is not done until they pass.");
    }
    for check in &refusal.checks {
        let tail = text::tail(check.output_tail.trim(), MOST_OF_OUTPUT);
        let command = shapes(&check.command);
        if tail.is_empty() {
            words.push_str(&format!("\n\n`{command}` printed nothing.\n"));
            continue;
        }
        words.push_str(&format!("\n\nThe end of what `{command}` printed:\n\n"));
        for line in tail.lines() {
            words.push_str("    ");
            words.push_str(line);
            words.push('\n');
        }
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Stop;
    use crate::event::{End, Event, Measured, RunResumed, When};
    use crate::machine::tests::{BLOCKED, DONE, MORE, Sim, ended, plan};
    use crate::report::block::{self, BEGIN};

    fn begun() -> Sim {
        let mut sim = Sim::new(plan(&["make test"]));
        sim.event(Event::TreeMeasured(Box::new(Measured::new(When::Before, "t".into(), None, &[]))));
        sim
    }

    fn refused_once() -> Sim {
        let mut sim = begun();
        sim.event(ended("COMPLETE PASSING true", End::Exited { code: 0 }));
        sim.event(Event::TreeMeasured(Box::new(Measured::new(When::After, "t".into(), None, &[]))));
        sim.event(Event::CheckEnded(Box::new(crate::check::CheckResult {
            name: "test".into(),
            command: "make test".into(),
            end: End::Exited { code: 1 },
            asked: false,
            failing: vec!["greets".into()],
            duration_ms: 1,
            output_tail: "not ok 1 - greets".into(),
            hollow: false,
        })));
        sim
    }

    #[test]
    fn a_reviewer_is_told_what_was_flagged_and_nobody_else_is() {
        let mut sim = begun();
        let told = |sim: &Sim| render(&sim.state, Materials::default()).contains("tests/a.rs was deleted");
        let what = "tests/a.rs was deleted".to_owned();
        sim.state.flagged.push(crate::state::Flagged { iteration: 1, what, put_back: false });
        assert!(!told(&sim), "work goes on");
        sim.state.current.as_mut().expect("one").kind = Kind::Review;
        assert!(told(&sim));
    }

    #[test]
    fn our_own_words_stay_under_a_thousand_tokens() {
        // A token of English prose is about four bytes.
        let prompt = render(&refused_once().state, Materials::default());
        assert!(prompt.len() < 4000, "{} bytes", prompt.len());
    }

    #[test]
    fn the_prompt_s_own_block_is_a_template_and_never_a_report() {
        let prompt = render(&begun().state, Materials::default());
        assert!(prompt.contains(BEGIN));
        assert_eq!(block::last(&prompt).0, None);
    }

    #[test]
    fn whoever_works_on_an_item_is_told_how_to_claim_it_alone() {
        let whole = "EXIT_SIGNAL: true means that the whole goal is reached";
        for (protocol, claim) in [
            (Protocol::Block, "TASKS_COMPLETED_THIS_LOOP: 1 means that the item of this iteration is done"),
            (Protocol::StatusFile, "mark it as done in its file"),
            (Protocol::Json, "mark it as done in its file"),
        ] {
            let mut state = begun().state.clone();
            state.run.as_mut().expect("a run").plan.policy.protocol = protocol;
            let prompt = render(&state, Materials::default());
            assert_eq!(prompt.contains(whole), protocol == Protocol::Block, "{prompt}");
            assert!(!prompt.contains(claim), "{prompt}");
            state.current.as_mut().expect("begun").item = Some(Box::default());
            let prompt = render(&state, Materials::default());
            assert!(prompt.contains(claim) && !prompt.contains(whole), "{prompt}");
            assert!(prompt.len() < 4000, "{} bytes", prompt.len());
        }
    }

    #[test]
    fn a_refusal_is_told_with_its_reason_and_the_failing_output() {
        let prompt = render(&refused_once().state, Materials::default());
        assert!(prompt.contains("make test exit 1 (greets)"), "{prompt}");
        assert!(prompt.contains("    not ok 1 - greets"), "{prompt}");
        let mut silent = refused_once();
        silent.state.refusal.as_mut().expect("a refusal").checks[0].output_tail = " \n".into();
        let prompt = render(&silent.state, Materials::default());
        assert!(prompt.contains("`make test` printed nothing.\n"), "{prompt}");
        assert!(!prompt.contains("The end of what"), "{prompt}");
    }

    #[test]
    fn notes_of_the_user_stand_before_the_refusal_and_are_bounded() {
        let mut sim = refused_once();
        let note = |id: &str, text: String| Event::NoteAdded { id: id.into(), text };
        sim.event(note("1", format!("OLDEST {}", "x".repeat(20_000))));
        sim.event(note("2", "use the staging server".into()));
        let prompt = render(&sim.state, Materials { guardrails: Some("GUARDED"), ..Materials::default() });
        let at = |needle: &str| prompt.find(needle).unwrap_or_else(|| panic!("{needle}: {prompt}"));
        let places =
            [at("GUARDED"), at("# Notes from the user"), at("staging server"), at("# The last \"done\"")];
        assert!(places.is_sorted(), "{places:?}");
        assert!(!prompt.contains("OLDEST") && prompt.len() < 16_000, "{} bytes", prompt.len());
    }

    /// While the run waits for something else.
    fn note(sim: &mut Sim, text: String) {
        let (id, effects) = (sim.state.seq.to_string(), sim.effects.clone());
        sim.event(Event::NoteAdded { id, text });
        sim.effects = effects;
    }

    #[test]
    fn what_the_user_said_is_told_to_every_later_iteration_newest_last_and_bounded() {
        const HEADING: &str = "# What the user said earlier in this run";
        let mut sim = Sim::new(plan(&[]));
        note(&mut sim, "use tabs".into());
        sim.work(MORE, 1);
        for _ in 0..3 {
            let prompt = render(&sim.state, Materials::default());
            assert!(!prompt.contains("# Notes from the user"), "it was read: {prompt}");
            assert!(prompt.contains(HEADING) && prompt.contains("use tabs"), "{prompt}");
            sim.work(MORE, 1);
        }
        sim.work(DONE, 1);
        let review = render(&sim.state, Materials::default());
        assert!(review.contains("# This iteration is a review") && review.contains("use tabs"), "{review}");

        (0..12).for_each(|nth| note(&mut sim, format!("note {nth}.")));
        sim.work(MORE, 1);
        sim.work(MORE, 1);
        note(&mut sim, "a new one".into());
        let prompt = render(&sim.state, Materials::default());
        let at = |needle: &str| prompt.find(needle).unwrap_or_else(|| panic!("{needle}: {prompt}"));
        let places =
            [at(HEADING), at("note 2."), at("note 11."), at("# Notes from the user"), at("a new one")];
        assert!(places.is_sorted() && !prompt.contains("note 1.") && !prompt.contains("tabs"), "{prompt}");
        note(&mut sim, "x".repeat(20_000));
        sim.work(MORE, 1);
        sim.work(MORE, 1);
        let prompt = render(&sim.state, Materials::default());
        assert!(prompt.contains("xxx") && !prompt.contains("note 11.") && prompt.len() < 6000, "{prompt}");
    }

    #[test]
    fn an_answer_is_told_with_its_question() {
        let mut sim = Sim::new(plan(&[]));
        sim.work(BLOCKED, 1);
        let Some(Stop::Blocked { why }) = sim.state.stop().cloned() else { panic!("{:?}", sim.state.phase) };
        let resumed = RunResumed { plan: plan(&[]), version: "0".into(), probe: false, unrecorded_ms: 0 };
        sim.event(Event::RunResumed(Box::new(resumed)));
        note(&mut sim, "the second".into());
        sim.work(MORE, 1);
        note(&mut sim, "use tabs".into());
        sim.work(MORE, 1);
        sim.work(MORE, 1);
        let prompt = render(&sim.state, Materials::default());
        assert!(prompt.contains(&format!("Asked: {why}\nAnswered: the second\n\nuse tabs\n")), "{prompt}");
    }

    #[test]
    fn guardrails_have_one_heading_and_no_lessons_none() {
        for (file, shown) in [
            ("# Guardrails\n\n- never push\n", Some("- never push")),
            ("never push", Some("never push")),
            ("# Guardrails\n\n<!-- a line each -->\n", None),
            ("# Guardrails\n\n<!-- a -->\n- b\n<!-- c -->\n", Some("<!-- a -->\n- b\n<!-- c -->")),
            ("# Guardrails\n", None),
            ("\n", None),
        ] {
            let materials = Materials { guardrails: Some(file), ..Materials::default() };
            let prompt = render(&begun().state, materials);
            let told = prompt.split_once("# Guardrails\n\n").map(|(_, rest)| rest);
            assert_eq!(told.is_some(), shown.is_some(), "{prompt}");
            assert!(told.is_none_or(|told| told.starts_with(shown.unwrap_or_default())), "{prompt}");
        }
    }

    #[test]
    fn files_come_in_order_with_their_placeholders_filled() {
        let materials = Materials {
            project: "demo",
            instructions: Some("{{PROJECT_NAME}} at {{ITERATION}}: {{TASK}}"),
            knowledge: Some("KNOWN"),
            handoff: Some("HANDED"),
            guardrails: Some("GUARDED"),
        };
        let prompt = render(&begun().state, materials);
        let at =
            |needle: &str| prompt.find(needle).unwrap_or_else(|| panic!("{needle} is missing: {prompt}"));
        assert!(
            prompt.starts_with("You are iteration 1 of at most 50 "),
            "where we are comes first: {prompt}"
        );
        let places =
            [at("demo at 11: goal"), at("KNOWN"), at("HANDED"), at("# Goal"), at("GUARDED"), at("# Report")];
        assert!(places.is_sorted(), "{places:?}");
    }
}
