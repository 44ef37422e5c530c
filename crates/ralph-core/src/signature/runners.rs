//! The lines that test runners print for one failure.

use super::shape::announces;

/// Whether a line names a test that failed, or says that the tests did.
pub(super) fn failed_test(text: &str) -> bool {
    plain(text) || libtest(text) || pytest(text) || jest(text) || gradle(text) || tap(text)
}

/// `FAILED tests/test_a.py::test_b`, `FAIL: test_b (a.Test)`, `FAIL src/a.test.js`, `FAIL\texample.com/a`.
/// `FAILED to open` is prose.
fn plain(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("FAILED").or_else(|| text.strip_prefix("FAIL")) else { return false };
    rest.is_empty()
        || rest.starts_with('\t')
        || rest.strip_prefix(':').is_some_and(announces)
        || rest.starts_with(' ') && names_a_test(rest)
}

/// A path or a path's end: no word of a sentence.
fn names_a_test(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("");
    first.contains("::") || first.contains(['/', '.']) && !first.ends_with('.')
}

/// `test auth::login ... FAILED`
fn libtest(text: &str) -> bool {
    text.starts_with("test ") && text.ends_with(" ... FAILED")
}

/// `ERROR tests/test_a.py`, `tests/test_a.py::test_b FAILED [ 50%]`
fn pytest(text: &str) -> bool {
    let Some((first, rest)) = text.split_once(' ') else { return false };
    first == "ERROR" && names_a_test(rest) || first.contains("::") && rest.starts_with("FAILED")
}

/// `● Login › greets by name`, `✕ greets by name (3 ms)`
fn jest(text: &str) -> bool {
    let marked = |mark| text.strip_prefix(mark);
    marked("● ").is_some_and(|name| name.contains(" › "))
        || marked("✕ ").or_else(|| marked("✖ ")).is_some_and(|name| name.ends_with("ms)"))
}

/// `LoginTest > greetsByName() FAILED`, `> Task :test FAILED`
fn gradle(text: &str) -> bool {
    text.ends_with(" FAILED") && (text.contains(" > ") || text.starts_with("> Task :"))
}

/// `not ok 2 - greets by name`; a TODO failure is no failure.
fn tap(text: &str) -> bool {
    text.strip_prefix("not ok ").is_some_and(|rest| {
        let excused = rest.contains("# TODO") || rest.contains("# SKIP");
        !excused && rest.starts_with(|c: char| c.is_ascii_digit() || c == '-')
    })
}
