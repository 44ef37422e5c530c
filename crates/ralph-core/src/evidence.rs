//! Evidence: do the facts agree with a claim of done?

use serde::{Deserialize, Serialize};

use crate::check::{CheckResult, failing};
use crate::event::{End, Judging, TaskFile};
use crate::items;
use crate::prelude::*;
use crate::profile::{Baseline, EvidenceNeeded, Todos};
use crate::text::count;
use crate::todos;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    Held,
    Failed,
    NotApplicable,
}

const TESTS: &str = "tests";
/// What is said of a check that is as red as it was.
const RED_BEFORE: &str = "red before the run";
const UNNAMED: &str = "red before the run, and not tolerated: it names no tests";
/// What a proof leaves open: tests that are excused, and checks that the user chose to go on without.
pub const FAILED_BEFORE: &str = "tests that failed before the run still fail";
pub const LEFT_OUT: &str = "checks left out of this run";
/// The condition that something was changed.
pub(crate) const CHANGE: &str = "change";

/// One condition, with the fact that decided it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    pub name: String,
    pub held: Held,
    pub fact: String,
}

/// The conditions of one claim.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    pub conditions: Vec<Condition>,
}

impl Evidence {
    pub fn holds(&self) -> bool {
        self.conditions.iter().all(|condition| condition.held != Held::Failed)
    }

    /// Whether it was looked at, and that by which claims are judged is as it was when the run began.
    pub fn finds_tests_as_they_were(&self) -> bool {
        self.conditions.iter().any(|condition| condition.name == TESTS && condition.held == Held::Held)
    }

    /// Whether it is refused because that is not as it was.
    pub fn finds_tests_changed(&self) -> bool {
        self.failures().any(|condition| condition.name == TESTS)
    }

    /// Whether nothing refuses it but checks that were red before the run, and are no redder; and that nothing is left to change.
    pub fn refused_by_what_was_red(&self, checks: &[CheckResult]) -> Option<WasRed> {
        let ends = |condition: &Condition, remark: &str| condition.fact.ends_with(&format!("{remark})"));
        let as_before = |condition: &Condition| ends(condition, RED_BEFORE) || ends(condition, UNNAMED);
        let of_checks = |condition: &&Condition| condition.name != CHANGE;
        if self.failures().find(of_checks).is_none() || !self.failures().filter(of_checks).all(as_before) {
            return None;
        }
        // Only tests that have names can be told from new ones.
        let named = checks.iter().filter(|check| !check.passed()).all(|check| !check.failing.is_empty());
        Some(if named { WasRed::Named } else { WasRed::Unnamed })
    }

    pub fn failures(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|condition| condition.held == Held::Failed)
    }
}

/// Whether tests that were red before the run can be tolerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WasRed {
    Named,
    /// What is printed names none of them: a new failure could not be told.
    Unnamed,
}

/// Everything a claim is held against.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub needed: EvidenceNeeded,
    pub baseline: Baseline,
    pub todos: Todos,
    /// How the agent process went wrong, if it did. Then checks are not asked: the claim is refused whatever they say.
    pub failure: Option<&'a str>,
    pub checks: &'a [CheckResult],
    /// The same checks before the run.
    pub before: &'a [CheckResult],
    /// Tests that failed then and passed in an accepted claim since: they are not excused any more.
    pub fixed: &'a [Fixed],
    pub items: Option<Items>,
    /// Of a claim about a goal: the task files whose open items refuse it.
    pub task_files: &'a [TaskFile],
    /// What else stands for or against a claim about one item, whose open neighbours do not matter.
    pub item: Option<&'a [Condition]>,
    /// Of a claim about a goal: the files are as they were when the run began.
    pub unchanged: bool,
    /// TODO and FIXME comments the run added, if somebody looked.
    pub added_todos: Option<&'a AddedTodos>,
    /// What became of that by which claims are judged, where it may refuse one.
    pub judging: Option<&'a Judging>,
}

/// Tests that failed before the run and have passed since, by the check that runs them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fixed {
    pub command: String,
    pub tests: Vec<String>,
}

/// The items of a backlog or of its current phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Items {
    pub open: u64,
    pub total: u64,
}

/// TODO and FIXME comments that were added.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AddedTodos {
    pub total: u64,
    /// Some of them, as `file: line`.
    pub samples: Vec<String>,
}

pub fn judge(context: Context<'_>) -> Evidence {
    let about_an_item = context.item.is_some();
    let mut conditions = context.item.unwrap_or_default().to_vec();
    if context.needed != EvidenceNeeded::Off && !about_an_item {
        match context.task_files {
            [] => conditions.push(items(context.items)),
            files => conditions.extend(files.iter().map(task_file)),
        }
    }
    // What an item brings itself is run whatever else is asked, and what was run counts.
    if context.needed == EvidenceNeeded::Required || !context.checks.is_empty() {
        checks(&mut conditions, context);
    }
    conditions.push(match context.failure {
        None => condition("agent", Held::Held, "the agent ended normally".into()),
        Some(failure) => {
            condition("agent", Held::Failed, format!("the agent did not end normally: {failure}"))
        }
    });
    if let Some(todos) = context.added_todos.filter(|_| context.todos != Todos::Off) {
        conditions.push(leftovers(todos, context.todos));
    }
    if let Some(judging) = context.judging {
        conditions.push(tests(judging));
    }
    if context.unchanged && !about_an_item {
        conditions.push(condition(CHANGE, Held::NotApplicable, unchanged(context)));
    }
    Evidence { conditions }
}

/// Whether each of these checks was green before the run.
pub fn were_green(checks: &[CheckResult], before: &[CheckResult]) -> bool {
    checks.iter().all(|check| before.iter().any(|before| before.command == check.command && before.passed()))
}

/// A goal may have been reached before anybody began, so this refuses nothing; but checks that were green all the time prove
/// nothing that was asked for.
fn unchanged(context: Context<'_>) -> String {
    match context.checks {
        [_, ..] if were_green(context.checks, context.before) => {
            "nothing was changed, and the checks were green before the run: the goal was reached already, or they do not \
             measure it"
        }
        _ => "nothing was changed in this run",
    }
    .into()
}

fn items(items: Option<Items>) -> Condition {
    match items {
        None => condition("items", Held::NotApplicable, "there is no backlog".into()),
        Some(Items { open: 0, total }) => {
            condition("items", Held::Held, format!("none of {} is open", count(total, "item")))
        }
        Some(Items { open, total }) => {
            condition("items", Held::Failed, format!("{open} of {} open", count(total, "item")))
        }
    }
}

fn task_file(TaskFile { file, items }: &TaskFile) -> Condition {
    let all = count(items.total, "item");
    match items.open {
        0 => condition("items", Held::Held, format!("none of {all} in {file} is open")),
        open => condition("items", Held::Failed, format!("{open} of {all} in {file} open")),
    }
}

fn checks(conditions: &mut Vec<Condition>, context: Context<'_>) {
    if context.checks.is_empty() {
        let fact = if context.failure.is_none() { "no check is configured" } else { "not run" };
        conditions.push(condition("checks", Held::NotApplicable, fact.into()));
    }
    conditions.extend(context.checks.iter().map(|check| {
        let before = context.before.iter().find(|before| before.command == check.command);
        let fixed = context.fixed.iter().find(|fixed| fixed.command == check.command);
        let fixed = fixed.map_or(&[][..], |fixed| &fixed.tests);
        let (held, fact) = judge_check(check, before, fixed, context.baseline);
        condition(&format!("check {}", check.name), held, fact)
    }));
}

fn judge_check(
    check: &CheckResult,
    before: Option<&CheckResult>,
    fixed: &[String],
    baseline: Baseline,
) -> (Held, String) {
    if check.passed() {
        return (Held::Held, check.describe());
    }
    let Some(before) = before else { return (Held::Failed, check.describe()) };
    let again = check.failing.iter().any(|name| fixed.contains(name));
    let known = |name: &String| !before.passed() && before.failing.contains(name);
    let new = check.failing.iter().filter(|name| !known(name)).count();
    let same = !check.failing.is_empty() && new == 0 && !again;
    if baseline == Baseline::Tolerate && same && is_comparable(check, before) {
        return (Held::Held, check.describe_as(Some("tolerated: red before the run")));
    }
    let remark = match (before.passed(), new) {
        (true, _) => "new".into(),
        (false, _) if again => "fixed in this run, and failing again".into(),
        (false, _) if baseline == Baseline::Tolerate && check.failing.is_empty() => UNNAMED.into(),
        (false, 0) => RED_BEFORE.into(),
        (false, new) if new == check.failing.len() => "red before the run, by other tests".into(),
        (false, new) => format!("{new} of them new"),
    };
    (Held::Failed, check.describe_as(Some(&remark)))
}

/// Whether the failures of two runs of a check can be compared by name. A list that was cut short may hide a new failure, and so may
/// a runner that came to another end; some runners (mocha) end with the number of failures.
fn is_comparable(check: &CheckResult, before: &CheckResult) -> bool {
    let counts = |check: &CheckResult| matches!(check.end, End::Exited { code } if usize::try_from(code) == Ok(check.failing.len()));
    let alike = check.end == before.end && matches!(check.end, End::Exited { .. });
    (alike || counts(check) && counts(before)) && check.failing.len() < failing::MOST
}

fn leftovers(added: &AddedTodos, what: Todos) -> Condition {
    let held = match (added.total, what) {
        (0, _) => Held::Held,
        (_, Todos::Refuse) => Held::Failed,
        _ => Held::NotApplicable,
    };
    let fact = match added.total {
        0 => "no TODO, FIXME or unimplemented! was added".into(),
        _ => todos::told(added),
    };
    condition("leftovers", held, fact)
}

fn tests(judging: &Judging) -> Condition {
    match judging.not_as_before() {
        changed if changed.is_empty() => {
            condition(TESTS, Held::Held, "existing tests and what checks run are as they were".into())
        }
        changed => {
            let fact = format!(
                "not as when the run began: {}; put it back as it was, and add new tests instead",
                items::some(&changed)
            );
            condition(TESTS, Held::Failed, fact)
        }
    }
}

fn condition(name: &str, held: Held, fact: String) -> Condition {
    Condition { name: name.into(), held, fact }
}

#[cfg(test)]
mod tests;
