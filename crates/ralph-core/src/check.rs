//! Checks: commands ralph runs itself. What they printed is read here for the names of failing tests.

pub mod failing;
pub mod named;

use serde::{Deserialize, Serialize};

use crate::detect;
use crate::event::End;
use crate::prelude::*;
use crate::text;

/// A command whose success is evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSpec {
    /// `build`, `test` or `lint`.
    pub name: String,
    /// As the user gave it, run by `sh -c`.
    pub command: String,
    /// Where ralph found it, if nobody named it: `package.json, scripts.test`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Where that stands which it runs, if somebody named it: `Makefile, test`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<String>,
    /// A digest of what it stood for when the run began, where that is a recipe or script of the project's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
}

impl CheckSpec {
    /// One that somebody named.
    pub fn named(name: impl Into<String>, command: impl Into<String>) -> Self {
        Self { name: name.into(), command: command.into(), source: None, runs: None, recipe: None }
    }

    /// `make test (Makefile, test)`
    pub fn named_with_source(&self) -> String {
        let source = self.recipe_source().map(|source| format!(" ({source})"));
        format!("{}{}", shown(&self.command), source.unwrap_or_default())
    }

    /// Where its recipe stands, if it has one.
    pub fn recipe_source(&self) -> Option<&str> {
        self.runs.as_deref().or(self.source.as_deref())
    }

    /// With what it stands for by `read`.
    #[must_use]
    pub fn with_recipe(self, read: impl Fn(&str) -> Option<String>) -> Self {
        if let Some(recipe) = self.source.as_deref().and_then(|source| detect::recipe(source, &read)) {
            return Self { recipe: Some(recipe), ..self };
        }
        let (runs, recipe) = detect::recorded(&self.command, read).unzip();
        Self { runs, recipe, ..self }
    }

    /// With where it was found.
    pub fn described(&self) -> String {
        let source = self.source.as_ref().map(|source| format!(" ({source})"));
        format!("{}: {}{}", self.name, crate::redact::command(&self.command, 200), source.unwrap_or_default())
    }
}

/// One run of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub name: String,
    pub command: String,
    pub end: End,
    /// It was asked to end before it ended by itself.
    #[serde(default)]
    pub asked: bool,
    /// Names of tests that failed, where the output tells; bounded.
    pub failing: Vec<String>,
    pub duration_ms: u64,
    /// The end of its output, for the next prompt.
    pub output_tail: String,
    /// It ended well, and what it printed says that nothing was tried ([`hollow`]).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub hollow: bool,
}

/// What make is asked for that is no file: whoever asks for it wants something to be run.
const DEEDS: [&str; 10] =
    ["test", "tests", "check", "checks", "lint", "verify", "ci", "spec", "e2e", "integration"];

/// Whether make says that it ran nothing for a target that tries something: a file or folder called `test` is enough for that, or a
/// target without a recipe. What is built may well be up to date.
pub fn hollow(output: &str) -> bool {
    let target = |line: &str| -> Option<String> {
        let said = line.strip_prefix("make: ").or_else(|| line.strip_prefix("gmake: "))?;
        let named = said.strip_suffix(" is up to date.");
        let named = named.or_else(|| said.strip_prefix("Nothing to be done for ")?.strip_suffix('.'))?;
        Some(named.trim_matches(['\'', '`']).into())
    };
    let is_deed = |target: String| {
        let mut words = target.split(['-', '_', ':']);
        !target.contains(['/', '.']) && words.any(|word| DEEDS.contains(&word))
    };
    output.lines().filter_map(|line| target(line.trim_end())).any(is_deed)
}

/// What a shell ends with when it has not found the program, or may not start it.
pub const NOT_FOUND: i32 = 127;
pub const NOT_STARTED: i32 = 126;

/// A command within a sentence: in backticks where it could be taken for a part of it.
pub fn shown(command: &str) -> String {
    let line = crate::text::one_line(&crate::redact::shapes(command), 120);
    let runs_on = command.contains([';', '|', '&', '<', '>', '$', '`', '(', ')', '\n']);
    if runs_on { format!("`{line}`") } else { line }
}

impl CheckResult {
    /// With no more of what it printed than a prompt has of it.
    #[must_use]
    pub(crate) fn in_short(self) -> Self {
        let output_tail = text::tail(&self.output_tail, crate::prompt::MOST_OF_OUTPUT).into();
        Self { output_tail, ..self }
    }

    pub fn passed(&self) -> bool {
        self.end == End::Exited { code: 0 } && !self.hollow
    }

    /// Why it said nothing about the work, if its exit code or its output says that it, or a command in it, was never run.
    pub fn never_ran(&self) -> Option<&'static str> {
        match self.end {
            End::Exited { code: NOT_FOUND } => Some("command not found"),
            End::Exited { code: NOT_STARTED } => Some("command cannot be run"),
            End::Exited { code: 0 } if self.hollow => Some(
                "make ran nothing: its target has no recipe, or is the name of a file or folder, and .PHONY has to name it",
            ),
            _ => None,
        }
    }

    /// `cargo test exit 101 (auth::login, auth::logout and 3 more)`
    pub fn describe(&self) -> String {
        self.describe_as(None)
    }

    /// The same with a remark: `cargo test exit 101 (auth::login, new)`
    pub fn describe_as(&self, remark: Option<&str>) -> String {
        let mut notes: Vec<String> = self.never_ran().into_iter().map(Into::into).collect();
        if !self.passed() {
            notes.extend(self.failing.iter().take(3).cloned());
            if let Some(last) = notes.last_mut()
                && self.failing.len() > 3
            {
                last.push_str(&format!(" and {} more", self.failing.len() - 3));
            }
        }
        notes.extend(remark.map(Into::into));
        let text = format!("{} {}", shown(&self.command), self.end);
        if notes.is_empty() { text } else { format!("{text} ({})", notes.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_make_takes_for_done_proves_nothing_but_that_something_is_built() {
        let result = CheckResult { hollow: true, ..ended("make test", 0, &[]) };
        assert!(!result.passed() && result.describe().starts_with("make test exit 0 (make ran nothing: "));
        for output in [
            "make: 'test' is up to date.\n",
            "make: `check' is up to date.\n\n",
            "cc -o app app.c\nmake: 'unit-test' is up to date.\n",
            "make: Entering directory 'sub'\nmake: 'test' is up to date.\nmake: Leaving directory 'sub'\n",
            "gmake: Nothing to be done for 'test'.\n",
        ] {
            assert!(hollow(output), "{output}");
        }
        for output in [
            "",
            "ok\n",
            "make: 'build' is up to date.\n",
            "make: 'firmware.bin' is up to date.\n",
            "make: 'tests/run.o' is up to date.\n",
            "make: Nothing to be done for 'all'.\n",
            "make: 'lib.a' is up to date.\nran 3 tests\n",
            "make[1]: 'test' is up to date.\nran 3 tests\n",
        ] {
            assert!(!hollow(output), "{output}");
        }
    }

    fn ended(command: &str, code: i32, failing: &[&str]) -> CheckResult {
        CheckResult {
            name: "test".into(),
            command: command.into(),
            end: End::Exited { code },
            asked: false,
            failing: failing.iter().map(|name| (*name).into()).collect(),
            duration_ms: 0,
            output_tail: String::new(),
            hollow: false,
        }
    }

    #[test]
    fn a_command_that_was_never_run_is_not_told_like_a_test_that_fails() {
        let told = |code: i32| ended("nosuch --all", code, &[]).describe_as(Some("red before the run"));
        assert_eq!(told(127), "nosuch --all exit 127 (command not found, red before the run)");
        assert_eq!(told(126), "nosuch --all exit 126 (command cannot be run, red before the run)");
        assert_eq!(told(2), "nosuch --all exit 2 (red before the run)");
        let named = ended("sh test.sh", 127, &["greets"]).describe();
        assert_eq!(
            named, "sh test.sh exit 127 (command not found, greets)",
            "a test script that lacks a tool"
        );
    }

    #[test]
    fn a_command_that_could_run_into_the_text_is_quoted() {
        let check = |command: &str| ended(command, 1, &[]);
        assert_eq!(check("cargo test -p a").describe(), "cargo test -p a exit 1");
        assert_eq!(check("echo OUT; exit 1").describe(), "`echo OUT; exit 1` exit 1");
        assert_eq!(check("make\ntest").describe(), "`make test` exit 1");
    }
}
