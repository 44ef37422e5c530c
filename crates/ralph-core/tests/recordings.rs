//! What was recorded from the real CLIs, and what must be read out of it, whole and in any chunks.
//!
//! `expectations/` says it, one entry a file, written by hand from the recordings and the specification and not taken
//! from the program's output. What an entry does not name must not be there.

#[path = "recordings/expectation.rs"]
mod expectation;
#[path = "recordings/reading.rs"]
mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use expectation::{Blocks, Expectation};
use reading::Reading;

/// A folder of recordings, and the files that say what is in them.
struct Set {
    folder: &'static str,
    expectations: &'static [&'static str],
}

/// Made with `ralph-testkit`'s `record`.
const RECORDED: Set = Set {
    folder: "../ralph-testkit/recordings",
    expectations: &["claude.json", "codex.json", "gemini.json", "opencode.json"],
};
/// Given with the specification.
const GIVEN: Set = Set { folder: "tests/transcripts", expectations: &["transcripts.json"] };
/// How each recorded process ended; no recording itself.
const EXIT_CODES: &str = "exit-codes.txt";

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn json<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let path = at("tests/expectations").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

impl Set {
    fn files(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(at(self.folder)).expect("the recordings are in the repository");
        let names = entries.map(|entry| entry.expect("a file").file_name().into_string().expect("a name"));
        names.filter(|name| name != EXIT_CODES).collect()
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(at(self.folder).join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names of the recordings whose process failed.
    fn failed(&self) -> BTreeMap<String, bool> {
        let rows = std::fs::read_to_string(at(self.folder).join(EXIT_CODES)).unwrap_or_default();
        let row = |row: &str| {
            let mut words = row.split(' ');
            let (name, code) = (words.next().expect("a name"), words.next().expect("a code"));
            (name.to_owned(), code != "0")
        };
        rows.lines().map(row).collect()
    }

    /// Each expectation of a file of them, with the recording it is about.
    fn complaints(&self, expectations: &str) -> Vec<String> {
        let blocks: Blocks = json("blocks.json");
        let failed = self.failed();
        let mut complaints = Vec::new();
        for (name, expected) in json::<BTreeMap<String, Expectation>>(expectations) {
            let bytes = self.bytes(&name);
            let failed = failed.get(stem(&name)).copied().unwrap_or(false);
            let found = if name.ends_with(".stderr") {
                expected.complaints_of_stderr(&bytes, failed)
            } else {
                expected.complaints(&Reading::of(&bytes, bytes.len().max(1)), &bytes, failed, &blocks)
            };
            complaints.extend(found.into_iter().map(|complaint| format!("{name}: {complaint}")));
        }
        complaints
    }
}

fn stem(name: &str) -> &str {
    name.split_once('.').expect("an extension").0
}

#[track_caller]
fn holds(set: &Set, expectations: &str) {
    let complaints = set.complaints(expectations);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn claude_is_understood() {
    holds(&RECORDED, "claude.json");
}

#[test]
fn codex_is_understood() {
    holds(&RECORDED, "codex.json");
}

#[test]
fn gemini_is_understood() {
    holds(&RECORDED, "gemini.json");
}

#[test]
fn opencode_is_understood() {
    holds(&RECORDED, "opencode.json");
}

#[test]
fn the_given_transcripts_are_understood() {
    holds(&GIVEN, "transcripts.json");
}

#[test]
fn every_recording_has_an_expectation_and_every_expectation_a_recording() {
    for set in [RECORDED, GIVEN] {
        let entries =
            set.expectations.iter().flat_map(|file| json::<BTreeMap<String, Expectation>>(file).into_keys());
        let expected: BTreeSet<String> = entries.collect();
        assert_eq!(set.files(), expected, "{}", set.folder);
    }
}

#[test]
fn every_recorded_process_has_an_exit_code_and_a_recording() {
    let names: BTreeSet<String> = RECORDED.files().iter().map(|name| stem(name).to_owned()).collect();
    assert_eq!(RECORDED.failed().into_keys().collect::<BTreeSet<_>>(), names);
}

#[test]
fn a_stream_that_loses_its_result_keeps_all_else_and_counts_each_message_once() {
    let bytes = RECORDED.bytes("claude-work-stream.jsonl");
    let result =
        bytes.trim_ascii_end().iter().rposition(|byte| *byte == b'\n').expect("a line before the last");
    let whole = Reading::of(&bytes, bytes.len());
    // The last line is gone, or torn.
    for (end, problems) in [
        (result, &["the stream ended without a result"][..]),
        (bytes.len() - 9, &["a line of the JSON stream is not JSON", "the stream ended without a result"]),
    ] {
        let cut = Reading::of(&bytes[..end], 1000);
        let mut expected = whole.report.clone();
        expected.cut_short = true;
        expected.cost_micro_usd = None;
        expected.problems = problems.iter().map(ToString::to_string).collect();
        assert_eq!(cut.report, expected);
        assert_eq!((cut.tools, cut.tool_failures), (whole.tools.clone(), whole.tool_failures.clone()));
    }
}

#[test]
fn every_recording_reads_the_same_in_any_chunks() {
    for set in [RECORDED, GIVEN] {
        for name in set.files() {
            let bytes = set.bytes(&name);
            let whole = Reading::of(&bytes, bytes.len().max(1));
            for chunk in [1, 7, 1000] {
                assert_eq!(Reading::of(&bytes, chunk), whole, "{name} in chunks of {chunk}");
            }
        }
    }
}
