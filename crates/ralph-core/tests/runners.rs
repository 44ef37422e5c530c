//! What real test runners printed, recorded stream by stream (`docs/testing.md`), and the failing tests that are in it.
//!
//! The names are written by hand from the tests that were run, not taken from the program's output.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ralph_core::check::failing::FailingTests;

/// Suites that count up to what makes a runner pad its numbers; greetings that fail, nested and with parameters; what breaks
/// instead of failing; a file that cannot be read; what is expected to fail; and words that look like a runner's.
const RECORDED: &[(&[&str], &[&str])] = &[
    (
        &["pytest", "pytest-verbose-colour", "pytest-parallel"],
        &[
            "tests/test_greet.py::TestGreeting::test_by_name",
            "tests/test_greet.py::test_shows[a - b-x]",
            r"tests/test_greet.py::test_shows[\xe4\xf6-x]",
            "tests/test_greet.py::test_stores",
            "tests/test_broken.py",
        ],
    ),
    (&["pytest-collecting"], &["tests/test_broken.py"]),
    (
        &["unittest-3.8", "unittest-3.13-verbose"],
        &[
            "tests.test_greet.Greeting.test_again",
            "tests.test_greet.Greeting.test_by_name",
            "tests.test_greet.Greeting.test_each (name='Ada')",
            "tests.test_greet.Greeting.test_each (name='Bob (jr)')",
            "tests.test_greet.Storing.test_store",
            "tests.test_broken",
            "tests.test_greet.Setting.setUpClass",
        ],
    ),
    (
        &["nose2"],
        &[
            "tests.test_greet.Greeting.test_again",
            "tests.test_greet.Greeting.test_by_name",
            "tests.test_greet.Greeting.test_each (name='Ada')",
            "tests.test_greet.Greeting.test_each (name='Bob (jr)')",
            "tests.test_greet.Storing.test_store",
            "tests.test_broken",
            "_ErrorHolder",
        ],
    ),
    (
        &["jest", "jest-colour"],
        &[
            "greeting › by name › says hello",
            "greeting › shows Bob",
            "greeting › stores",
            "works outside of any suite",
            "./broken.test.js",
        ],
    ),
    (&["jest-verbose"], &["greeting › by name › says hello", "greeting › shows Bob", "greeting › stores"]),
    (
        &["vitest", "vitest-colour", "vitest-verbose"],
        &[
            "greet.test.js > greeting > by name > says hello",
            "greet.test.js > greeting > shows Bob",
            "greet.test.js > greeting > stores",
            "plain.test.js > works outside of any suite",
            "broken.test.js",
        ],
    ),
    (
        &["mocha", "mocha-colour"],
        &[
            "greeting by name says hello",
            "greeting shows Bob: all of it",
            "greeting stores",
            r#"setting up "before all" hook for "never""#,
            "works outside of any suite",
        ],
    ),
    (
        &["node-tap", "node-spec"],
        &[
            "/project/broken.test.js",
            "says hello",
            "shows Bob # all of it",
            "stores",
            "works outside of any suite",
            "a part",
        ],
    ),
    (
        &["bun", "bun-colour"],
        &[
            "greeting > by name > says hello",
            "greeting > shows Bob",
            "greeting > stores",
            "works outside of any suite",
            "broken.test.js",
        ],
    ),
    (
        &["ava", "ava-tap"],
        &["greet › greets › by name", "greet › shows Bob", "greet › stores", "other › is alone"],
    ),
    (&["jasmine"], &["greeting by name says hello", "greeting stores"]),
    (
        &["go", "go-verbose"],
        &[
            "TestGreets",
            "TestShows",
            "TestShows/Bob_(jr)",
            "ExampleGreet",
            "TestStores",
            "example.com/greet/broken",
        ],
    ),
    (
        &["cargo", "cargo-colour"],
        &[
            "tests::greeting::by_name",
            "tests::greeting::panics",
            "tests::greeting::panics_so",
            "tests::greeting::stores",
            "answers",
            "runs",
            "src/lib.rs - greet (line 3)",
        ],
    ),
    (
        &["cargo-quiet"],
        &[
            "tests::greeting::by_name",
            "tests::greeting::panics",
            "tests::greeting::panics_so",
            "tests::greeting::stores",
        ],
    ),
    (
        &["nextest", "nextest-colour"],
        &[
            "greet tests::greeting::by_name",
            "greet tests::greeting::panics",
            "greet tests::greeting::panics_so",
            "greet tests::greeting::stores",
            "greet::api answers",
            "greet::api dies",
            "greet::api is_flaky",
            "greet::api runs",
        ],
    ),
    (
        &["nextest-retries"],
        &[
            "greet tests::greeting::by_name",
            "greet tests::greeting::panics",
            "greet tests::greeting::panics_so",
            "greet tests::greeting::stores",
            "greet::api answers",
            "greet::api dies",
            "greet::api runs",
        ],
    ),
    (
        &["ctest", "ctest-parallel"],
        &[
            "counts_2",
            "greets_by_name",
            "shows.a/b",
            "aborts",
            "hangs",
            "is_missing",
            "a_long_name_of_a_test_that_takes_more_place_than_there_is_for_dots",
        ],
    ),
    (
        &["rspec", "rspec-colour"],
        &[
            "greeting by name says hello",
            "greeting shows Bob # all of it",
            "greeting stores",
            "greeting is expected to eq 2",
        ],
    ),
    (&["rspec-loading"], &["./spec/broken_spec.rb"]),
    (
        &["minitest", "rails"],
        &[
            "GreetingTest#test_by_name",
            "GreetingTest#test_stores",
            "GreetingTest::Nested#test_shows: Bob #2 [all]",
            "Spec::nested#test_0001_says hello",
        ],
    ),
    (
        &["test-unit"],
        &[
            "test_by_name(GreetingTest)",
            "test_shows[bob](GreetingTest)",
            "test_stores(GreetingTest)",
            "test: says hello(GreetingTest::nested)",
        ],
    ),
    (
        &["phpunit", "phpunit-colour"],
        &[
            r"Tests\GreetTest::testByName",
            r#"Tests\GreetTest::testShows with data set "bob" ('Bob')"#,
            r"Tests\GreetTest::testShows with data set #0 ('Cleo')",
            r"Tests\GreetTest::testStores",
        ],
    ),
    (&["phpunit-testdox"], &["By name", r#"Shows with data set "bob""#, "Shows with data set #0", "Stores"]),
    (
        &["mix", "mix-colour"],
        &[
            "test greeting by name (GreetTest)",
            "test greeting stores (all of it) (GreetTest)",
            "doctest Greet.hello/0 (1) (GreetTest)",
            "GreetSetupTest",
        ],
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runners")
}

/// What one stream showed; nothing, where the runner left it empty.
fn stream(recording: &str, end: &str, piece: usize) -> FailingTests {
    let mut tests = FailingTests::default();
    if let Ok(bytes) = std::fs::read(folder().join(format!("{recording}.{end}"))) {
        bytes.chunks(piece).for_each(|piece| tests.feed(piece));
    }
    tests
}

fn names(recording: &str, piece: usize) -> Vec<String> {
    stream(recording, "out", piece).and(stream(recording, "err", piece)).finish()
}

fn sorted(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort();
    names
}

#[test]
fn each_failing_test_is_named_once_and_nothing_else_is() {
    for (recordings, expected) in RECORDED {
        let expected = sorted(expected.iter().map(|name| (*name).to_owned()));
        for recording in *recordings {
            for piece in [7, 1 << 20] {
                assert_eq!(sorted(names(recording, piece)), expected, "{recording}");
            }
        }
    }
}

#[test]
fn the_streams_may_come_in_any_order() {
    for recording in RECORDED.iter().flat_map(|(recordings, _)| *recordings) {
        let turned = stream(recording, "err", 99).and(stream(recording, "out", 99)).finish();
        assert_eq!(sorted(turned), sorted(names(recording, 99)), "{recording}");
    }
}

#[test]
fn every_recording_is_read() {
    let known: BTreeSet<&str> = RECORDED.iter().flat_map(|(recordings, _)| *recordings).copied().collect();
    let files = std::fs::read_dir(folder()).expect("recordings").map(|entry| entry.expect("a file").path());
    let there: BTreeSet<PathBuf> = files.collect();
    let names: BTreeSet<&str> =
        there.iter().map(|path| path.file_stem().and_then(|name| name.to_str()).expect("a name")).collect();
    assert_eq!(names, known);
}
