//! Saturation: the features are there and the loop goes on polishing.
//!
//! Three signs: iterations in a row that touch tests alone, iterations in a row that talk of being done while work goes
//! on, and a run that is mostly tests.

use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::profile::{Saturated, SaturationPolicy};

/// What this rule remembers of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Saturation {
    /// In a row.
    pub test_loops: u32,
    /// In a row.
    pub done_signals: u32,
    pub iterations: u32,
    pub test_iterations: u32,
}

/// One iteration, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    pub test_only: bool,
    /// Its prose says done, the loop went on, and something was changed.
    pub done_signal: bool,
    /// Counters stand still.
    pub review: bool,
}

/// Saturation was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// `test_saturation` or `done_saturation`
    pub word: &'static str,
    pub why: String,
    pub action: Saturated,
}

impl Saturation {
    #[must_use]
    pub fn step(self, policy: &SaturationPolicy, facts: Facts) -> (Self, Option<Reached>) {
        if facts.review {
            return (self, None);
        }
        let count = |known: u32, again: bool| if again { known.saturating_add(1) } else { 0 };
        let next = Self {
            test_loops: count(self.test_loops, facts.test_only),
            done_signals: count(self.done_signals, facts.done_signal),
            iterations: self.iterations.saturating_add(1),
            test_iterations: self.test_iterations.saturating_add(u32::from(facts.test_only)),
        };
        (next, next.reached(policy))
    }

    /// The share of iterations that touched tests alone, in per cent.
    pub fn test_percentage(self) -> u32 {
        let share = u64::from(self.test_iterations) * 100 / u64::from(self.iterations.max(1));
        u32::try_from(share).unwrap_or(100)
    }

    fn reached(self, policy: &SaturationPolicy) -> Option<Reached> {
        let tests = format!("{} iterations in a row touched tests alone", self.test_loops);
        let signals =
            format!("{} iterations in a row talked of being done while work went on", self.done_signals);
        let share =
            format!("{}% of {} iterations touched tests alone", self.test_percentage(), self.iterations);
        let enough = self.iterations >= policy.test_share_after;
        let signs = [
            (policy.test_only, self.test_loops >= policy.test_only_after, "test_saturation", tests),
            (policy.done_signals, self.done_signals >= policy.done_signals_after, "done_saturation", signals),
            (
                policy.test_share,
                enough && self.test_percentage() >= policy.test_share_percent,
                "test_saturation",
                share,
            ),
        ];
        let (action, _, word, why) =
            signs.into_iter().find(|(action, reached, ..)| *action != Saturated::Off && *reached)?;
        Some(Reached { word, why, action })
    }
}

/// Whether a path is a test by where it is or what it is called.
pub fn is_test_path(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let (folders, file) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let folder = |name: &str| {
        matches!(name, "test" | "tests" | "__tests__" | "spec" | "specs" | "e2e" | "testdata" | "fixtures")
    };
    let stem = file.split('.').next().unwrap_or_default();
    folders.split('/').any(folder)
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || stem == "tests"
        || stem == "conftest"
        || file.contains(".test.")
        || file.contains(".spec.")
        || java_test(path)
}

/// `FooTest.java`, `FooTests.cs`, `TestFoo.kt`: a capital tells the word from the end of another.
fn java_test(path: &str) -> bool {
    let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
    let Some((stem, "java" | "kt" | "cs" | "scala" | "swift" | "php" | "groovy")) = file.rsplit_once('.')
    else {
        return false;
    };
    let begins =
        stem.strip_prefix("Test").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    begins || ["Test", "Tests", "Spec"].iter().any(|end| stem.len() > end.len() && stem.ends_with(end))
}

/// Whether a path is prose about the project rather than the project.
pub fn is_document(path: &str) -> bool {
    let end = path.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    matches!(end.as_str(), "md" | "markdown" | "rst" | "txt" | "adoc")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Facts = Facts { test_only: false, done_signal: false, review: false };
    const TEST: Facts = Facts { test_only: true, ..WORK };
    const DONE: Facts = Facts { done_signal: true, ..WORK };
    const REVIEW: Facts = Facts { review: true, ..TEST };

    fn phases() -> SaturationPolicy {
        let action = Saturated::Complete;
        SaturationPolicy { test_only: action, done_signals: action, test_share: action, ..Default::default() }
    }

    fn reached(policy: &SaturationPolicy, script: &[Facts]) -> Option<String> {
        let (mut saturation, mut reached) = (Saturation::default(), None);
        for facts in script {
            assert_eq!(reached, None, "reached early");
            (saturation, reached) = saturation.step(policy, *facts);
        }
        reached.map(|reached| format!("{}: {}", reached.word, reached.why))
    }

    #[test]
    fn three_test_loops_in_a_row() {
        let three = Some("test_saturation: 3 iterations in a row touched tests alone".to_owned());
        assert_eq!(reached(&phases(), &[TEST, TEST]), None);
        assert_eq!(reached(&phases(), &[TEST, TEST, TEST]), three);
        assert_eq!(reached(&phases(), &[TEST, TEST, WORK, TEST]), None);
        assert_eq!(reached(&phases(), &[TEST, TEST, REVIEW, TEST]), three, "a review stands still");
        assert_eq!(reached(&SaturationPolicy::default(), &[TEST; 9]), None, "off");
    }

    #[test]
    fn two_done_signals_in_a_row() {
        let two = "done_saturation: 2 iterations in a row talked of being done while work went on".to_owned();
        assert_eq!(reached(&phases(), &[DONE]), None);
        assert_eq!(reached(&phases(), &[DONE, DONE]), Some(two));
        assert_eq!(reached(&phases(), &[DONE, WORK, DONE]), None);
    }

    #[test]
    fn the_share_counts_only_after_ten_iterations() {
        let only_share = SaturationPolicy { test_only: Saturated::Off, ..phases() };
        assert_eq!(reached(&only_share, &[TEST; 9]), None);
        let mut script = vec![TEST, WORK, WORK, WORK, TEST, WORK, WORK, WORK, TEST, WORK];
        let share = "test_saturation: 30% of 10 iterations touched tests alone".to_owned();
        assert_eq!(reached(&only_share, &script), Some(share));
        script[8] = WORK;
        assert_eq!(reached(&only_share, &script), None);
    }

    #[test]
    fn the_action_is_the_policy_s() {
        let halt = SaturationPolicy { test_only: Saturated::Halt, ..Default::default() };
        let (saturation, _) = Saturation::default().step(&halt, TEST);
        let (saturation, _) = saturation.step(&halt, TEST);
        assert_eq!(saturation.step(&halt, TEST).1.expect("reached").action, Saturated::Halt);
    }

    #[test]
    fn tests_are_told_by_place_and_name() {
        for path in [
            "tests/run.rs",
            "src/foo_test.go",
            "a/__tests__/x.js",
            "x.test.ts",
            "spec/a_spec.rb",
            "test_x.py",
            "src/FooTest.java",
            "TestFoo.kt",
            "conftest.py",
            "crates/a/src/machine/tests.rs",
            "e2e/login.ts",
            "src/parser_tests.rs",
            "lib/user_spec.rb",
            "web/user.spec.ts",
            "src/LoginSpec.scala",
        ] {
            assert!(is_test_path(path), "{path}");
        }
        for path in [
            "src/main.rs", "src/latest.rs", "contest.py", "src/Contest.java", "attest/x.go", "protest.md",
            "src/Test.java", "src/Spec.kt",
        ] {
            assert!(!is_test_path(path), "{path}");
        }
    }

    #[test]
    fn prose_is_told_by_the_end_of_its_name() {
        for path in ["README.md", "docs/guide.RST", "notes.txt", "a/b.adoc", "x.markdown"] {
            assert!(is_document(path), "{path}");
        }
        for path in ["src/main.rs", "md", "readme", "a.md/b.rs"] {
            assert!(!is_document(path), "{path}");
        }
    }
}
