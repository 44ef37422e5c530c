mod shapes;

use proptest::prelude::*;

use super::*;

fn of_words(text: &str) -> ErrorSet {
    let mut errors = Errors::default();
    errors.words(text);
    errors.finish()
}

fn of_failure(text: &str) -> ErrorSet {
    let mut errors = Errors::default();
    errors.tool_failed(text);
    errors.finish()
}

fn shown(set: &ErrorSet) -> Vec<&str> {
    set.errors.iter().map(String::as_str).collect()
}

#[test]
fn what_differs_from_run_to_run_goes() {
    for (line, normalised) in [
        ("\u{1b}[1;31merror[E0308]\u{1b}[0m: mismatched types", "error[E0308]: mismatched types"),
        ("src/main.rs:3:5: error:   expected\t`;`", "src/main.rs:#: error: expected `;`"),
        ("x.c:3:5: error: 'y' undeclared", "x.c:#: error: 'y' undeclared"),
        ("src/A.cs(12,5): error CS1002: ; expected", "src/A.cs(#): error CS1002: ; expected"),
        ("at f (/app/v2/x.js:10:15)", "at f (/app/v2/x.js:#)"),
        (
            "thread 'main' (4711) panicked at src/v2/a.rs:10:9:",
            "thread 'main' (#) panicked at src/v2/a.rs:#:",
        ),
        ("object at 0x7f3a2b1c9d00>", "object at #>"),
        ("commit 1a2b3c4 and deadbeef01 failed", "commit # and # failed"),
        ("session 550e8400-e29b-41d4-a716-446655440000 gone", "session # gone"),
        ("2025-01-02T03:04:05.678Z ERROR lost after 1.5s", "# ERROR lost after #"),
        ("[03:04:05] took 1m3.25s, 950ms", "[#] took #, #"),
        ("--- FAIL: TestX (0.03s)", "--- FAIL: TestX (#)"),
        ("connect ECONNREFUSED http://127.0.0.1:43211/api/v1", "connect ECONNREFUSED http://#/api/v1"),
        ("3 of 1_000 tests, 45%", "# of # tests, #%"),
        ("make: *** [Makefile:12: all] Error 2", "make: *** [Makefile:#: all] Error #"),
    ] {
        assert_eq!(normalise(line), normalised, "{line}");
    }
}

#[test]
fn names_and_paths_stay() {
    for line in [
        "error TS2322: Type 'x' in test_login2",
        "cannot open migrations/0001_init.sql",
        "cat: days/3/input.txt: No such file or directory",
        r"cannot open C:\src\2\x.c",
        "use of undeclared crate `sha2` and x86_64",
    ] {
        assert_eq!(normalise(line), line);
    }
}

#[test]
fn temporary_folders_are_made_up_anew_by_each_run() {
    assert_eq!(
        normalise("open '/tmp/tmp.Xa9Kd0/out.txt' failed"),
        normalise("open '/tmp/tmp.Qq1Zz8/out.txt' failed")
    );
    assert_eq!(normalise("/tmp/pytest-of-me/pytest-12/x0/a"), "/tmp/pytest-of-me/pytest-#/x0/a");
    assert_eq!(normalise("target/debug/deps/a-0123456789abcdef"), "target/debug/deps/a-#");
}

#[test]
fn a_long_line_is_cut_and_reading_it_again_changes_nothing() {
    let long = normalise(&"a.1.b".repeat(1000));
    assert!(long.len() <= 200 && long.ends_with('…'), "{long}");
    assert_eq!(normalise(&long), long);
    let path = normalise(&format!("{}/x", "a1.2b.".repeat(40)));
    assert_eq!(normalise(&path), path);
}

#[test]
fn a_failure_gives_its_lines_with_an_error_s_shape() {
    let set = of_failure(
        "Exit code 101\n   Compiling a v0.1.0\nerror[E0308]: mismatched types\n --> src/a.rs:3:5\nerror: could not compile `a`\n",
    );
    assert_eq!(shown(&set), ["error: could not compile `a`", "error[E0308]: mismatched types"]);
    assert_eq!(set.first(), Some("error: could not compile `a`"));
}

#[test]
fn a_failure_without_such_a_line_gives_its_last_one() {
    assert_eq!(
        shown(&of_failure("Exit code 2\nhello\nls: cannot access 'x': No such file or directory")),
        ["ls: cannot access 'x': No such file or directory"]
    );
    assert_eq!(
        shown(&of_failure("Credit balance is too low\n\n \u{1b}[0m\n")),
        ["Credit balance is too low"]
    );
    assert_eq!(shown(&of_failure("3 differences\nExit code 1")), ["# differences"]);
    assert_eq!(shown(&of_failure("odd\nShell cwd was reset to /project")), ["odd"]);
    assert_eq!(shown(&of_failure("Exit code 2")), ["Exit code #"]);
    assert!(of_failure(" \n\n").is_empty());
}

#[test]
fn an_exit_code_alone_says_nothing_beside_a_real_error() {
    let mut errors = Errors::default();
    errors.tool_failed("Exit code 1");
    errors.tool_failed("Exit code 2\nfatal: not a git repository");
    assert_eq!(shown(&errors.finish()), ["fatal: not a git repository"]);
}

#[test]
fn words_count_only_where_nothing_failed_by_structure() {
    let mut errors = Errors::default();
    errors.words("It printed:\nTypeError: x is not a function\n");
    errors.tool_failed("Exit code 128\nfatal: not a git repository");
    assert_eq!(shown(&errors.finish()), ["fatal: not a git repository"]);
    assert_eq!(
        shown(&of_words(
            "It printed:\n\nTypeError: x is not a function\n\nI fixed the TypeError: it was easy."
        )),
        ["TypeError: x is not a function"]
    );
}

#[test]
fn a_discussion_of_error_handling_has_no_errors() {
    let talk = "I added error handling and exception handling.\nErrors are now typed: ParseError, IoError.\n\
        The error path returns an error, and each error has an error code; no error is lost.\n\
        - Error handling: done\n## Errors\n\"is_error\": false\n0 errors, 0 failures\n";
    assert!(of_words(&talk.repeat(5)).is_empty(), "{:?}", of_words(talk));
}

#[test]
fn a_progress_bar_before_the_error_does_not_hide_it() {
    assert_eq!(shown(&of_words("10 %\r100 %\rerror: it broke\r\n")), ["error: it broke"]);
}

#[test]
fn the_same_error_on_another_line_is_the_same() {
    let first = of_failure("src/a.c:3:5: error: expected ';' (0.2s)");
    let second = of_failure("src/a.c:14:1: error: expected ';' (1.31s)");
    let other_file = of_failure("src/b.c:3:5: error: expected ';' (0.2s)");
    assert!(first.same_as(&second));
    assert!(!first.same_as(&other_file));
    assert!(!of_words("fine").same_as(&of_words("fine too")));
}

#[test]
fn three_times_the_same_errors_are_stuck() {
    let same = of_words("error: it broke");
    let other = of_words("error: it broke elsewhere");
    let none = ErrorSet::default();
    let sets = |sets: &[&ErrorSet]| sets.iter().map(|set| (*set).clone()).collect::<Vec<_>>();
    assert!(stuck(&sets(&[&same, &same, &same])));
    assert!(stuck(&sets(&[&other, &none, &same, &same, &same])));
    assert!(!stuck(&sets(&[&same, &same])));
    assert!(!stuck(&sets(&[&same, &same, &other])));
    assert!(!stuck(&sets(&[&same, &same, &same, &none])));
    assert!(!stuck(&sets(&[&none, &none, &none])), "three outputs with no errors");
    assert!(!stuck(&[]));
}

#[test]
fn many_errors_are_bounded_and_their_order_does_not_matter() {
    let names = |n: u32| format!("error: bad name_{}\n", char::from_u32(0x4e00 + n).unwrap());
    let forwards: String = (0..500).map(names).collect();
    let backwards: String = (0..500).rev().map(names).collect();
    let set = of_failure(&forwards);
    assert_eq!(set.errors.len(), MOST);
    assert!(set.same_as(&of_failure(&backwards)));
    let long = of_failure(&format!("error: {}", "ä".repeat(1 << 20)));
    assert!(long.errors.iter().all(|error| error.len() <= 200));
}

#[test]
fn a_set_survives_being_written_down() {
    let set = of_words("fatal: not a git repository");
    let json = serde_json::to_string(&set).unwrap();
    assert_eq!(serde_json::from_str::<ErrorSet>(&json).unwrap(), set);
    assert!(serde_json::from_str::<ErrorSet>("{}").unwrap().is_empty());
}

const PIECES: &str = "(error|Error|TypeError|FAILED|fatal|: |:|::|/|/tmp/|tmp|\\(|\\[|\\]|#|0x|1|23|456|abcdef1|deadbeef|\
    550e8400-e29b-41d4-a716-446655440000|ms|s|m|T|Z|-|\\.|,|_|://|'| |\t|\n|\r|E   |> |thread '|panicked at |\
    \u{1b}\\[3|\u{1b}|…|µ|ä|[ -~]){0,60}";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic(text in any::<String>(), pieces in PIECES) {
        for text in [&text, &pieces] {
            let _ = has_error_shape(text);
            let set = of_failure(text);
            prop_assert!(set.errors.iter().all(|error| !error.is_empty() && error.len() <= 200));
            let _ = of_words(text);
        }
    }

    #[test]
    fn normalising_twice_is_normalising_once(text in any::<String>(), pieces in PIECES) {
        for text in [&text, &pieces] {
            let once = normalise(text);
            prop_assert!(once.len() <= 200);
            prop_assert_eq!(normalise(&once), once);
        }
    }

    #[test]
    fn a_long_text_normalised_twice_is_normalised_once(pieces in PIECES, again in 1..40_usize) {
        let once = normalise(&pieces.repeat(again));
        prop_assert_eq!(normalise(&once), once);
    }
}
