//! The names of failing tests in what a test runner printed: libtest, nextest, pytest, go, TAP and
//! the mark-and-name style of the JavaScript runners.

use crate::prelude::*;
use crate::text;
use crate::transcript::lines::Lines;

pub(crate) const MOST: usize = 50;

/// Reads a check's output as it streams by.
#[derive(Debug, Default)]
pub struct FailingTests {
    lines: Lines,
    names: Vec<String>,
}

impl FailingTests {
    pub fn feed(&mut self, bytes: &[u8]) {
        let Self { lines, names } = self;
        lines.feed(bytes, |line| note(line.bytes, names));
    }

    pub fn finish(mut self) -> Vec<String> {
        let names = &mut self.names;
        self.lines.finish(|line| note(line.bytes, names));
        self.names
    }
}

fn note(line: &[u8], names: &mut Vec<String>) {
    if names.len() >= MOST || line.len() > 10_000 {
        return;
    }
    let line = text::plain(&String::from_utf8_lossy(line));
    if let Some(name) = name(&line) {
        let name = text::one_line(name, 200);
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
}

fn name(line: &str) -> Option<&str> {
    libtest(line)
        .or_else(|| tap(line))
        .or_else(|| go(line))
        .or_else(|| pytest(line))
        .or_else(|| nextest(line))
        .or_else(|| marked(line))
}

/// `test auth::login ... FAILED`
fn libtest(line: &str) -> Option<&str> {
    line.trim().strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// `not ok 2 - greets by name # TODO later`; a TODO failure is no failure.
fn tap(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("not ok")?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')? };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    let (name, directive) = rest.split_once("# ").unwrap_or((rest, ""));
    let excused = ["TODO", "SKIP"].iter().any(|word| directive.to_ascii_uppercase().starts_with(word));
    (!excused).then_some(name)
}

/// `--- FAIL: TestLogin/empty_name (0.00s)`
fn go(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("--- FAIL: ")?;
    Some(rest.split(" (").next().unwrap_or(rest))
}

/// `FAILED tests/test_auth.py::test_login - AssertionError: …`
fn pytest(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("FAILED ")?;
    rest.contains("::").then(|| rest.split(" - ").next().unwrap_or(rest))
}

/// `        FAIL [   0.005s] (1/2) ralph-core time::tests::x`
fn nextest(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("FAIL [")?;
    let (_, rest) = rest.split_once(']')?;
    let rest = rest.trim();
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim() } else { rest };
    Some(rest)
}

/// `✕ greets by name (3 ms)` and `✖ greets by name`
fn marked(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let rest = ["✕ ", "✖ "].iter().find_map(|mark| rest.strip_prefix(mark))?;
    Some(rest.rsplit_once(" (").filter(|(_, end)| end.ends_with("ms)")).map_or(rest, |(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(output: &str) -> Vec<String> {
        let mut tests = FailingTests::default();
        for chunk in output.as_bytes().chunks(7) {
            tests.feed(chunk);
        }
        tests.finish()
    }

    #[test]
    fn names_are_found_for_each_runner() {
        for (output, names) in [
            ("running 2 tests\ntest auth::login ... FAILED\ntest auth::ok ... ok\n", &["auth::login"][..]),
            ("not ok 2 - greets by name\nok 1 - builds\nnot ok 3\n", &["greets by name"]),
            ("not ok 3 - flaky # TODO later\nnot ok 4 # SKIP no network\n", &[]),
            (
                "--- FAIL: TestLogin (0.00s)\n    --- FAIL: TestLogin/empty (0.00s)\n",
                &["TestLogin", "TestLogin/empty"],
            ),
            (
                "FAILED tests/test_auth.py::test_login - assert 1 == 2\nFAILED (failures=1)\n",
                &["tests/test_auth.py::test_login"],
            ),
            ("        FAIL [   0.005s] (1/2) ralph-core time::x\n", &["ralph-core time::x"]),
            ("  \u{1b}[31m✕\u{1b}[0m greets by name (3 ms)\n", &["greets by name"]),
        ] {
            assert_eq!(failing(output), names, "{output}");
        }
    }

    #[test]
    fn repeated_names_count_once_and_the_list_is_bounded() {
        let output: String = (0..200).map(|n| format!("test t{} ... FAILED\n", n % 100)).collect();
        assert_eq!(failing(&output).len(), MOST);
    }

    #[test]
    fn prose_is_no_test() {
        assert_eq!(
            failing("this test ... FAILED to convince\nnot okay\nFAILED to open file\n"),
            Vec::<String>::new()
        );
    }
}
