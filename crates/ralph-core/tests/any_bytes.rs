//! Any bytes, any split of the stream: the same report, no fall, bounded memory.
//!
//! The properties are those the fuzzer runs (`fuzz/src`). Here they meet what the real CLIs said, bent by chance, on
//! every run of the tests. The cases are few because the fuzzer makes many.

#[path = "../../../fuzz/src/lib.rs"]
pub mod fuzz;

use std::path::Path;
use std::sync::LazyLock;

use fuzz::bend::bend;
use fuzz::properties::{Property, TARGETS, named, read, same_in_pieces};
use proptest::prelude::{ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::{collection, sample};
use ralph_core::journal;
use ralph_core::transcript::lines::MAX_LINE;
use ralph_core::transcript::{Format, Item, Problem};

const FORMATS: [Format; 7] = [
    Format::Auto,
    Format::Claude,
    Format::Codex,
    Format::Opencode,
    Format::Gemini,
    Format::Hook,
    Format::Text,
];

/// What real CLIs said, and what else is read, by the name of its file.
static GOOD: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates/ralph-testkit/recordings", "crates/ralph-core/tests/transcripts", "fuzz/seeds"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("a folder").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            files.push((name, std::fs::read(entry.path()).expect("a file")));
        }
    }
    files.sort();
    assert!(files.len() > 100, "only {} files", files.len());
    files
});

/// A recording with up to six changes; sometimes two of them, one cut off in the middle.
fn bent() -> impl Strategy<Value = Vec<u8>> {
    let good = || sample::select(&**GOOD).prop_map(|(_, bytes)| bytes);
    let spliced = (good(), any::<sample::Index>(), good())
        .prop_map(|(first, at, second)| [&first[..at.index(first.len() + 1)], &second].concat());
    let start = prop_oneof![3 => good(), 1 => spliced];
    (start, collection::vec(any::<u64>(), 0..6))
        .prop_map(|(bytes, seeds)| seeds.into_iter().fold(bytes, |bytes, seed| bend(&bytes, seed)))
}

/// Lines that are nearly JSON, nearly reports, or nothing at all.
fn lines() -> impl Strategy<Value = Vec<u8>> {
    let json = r#"[{\[]{0,2}("(type|text|result|error|session_id|content|usage)"[:,] ?("[a-z\\]{0,5}"|[0-9e.-]{1,20}|null|true|\{\}|\[),?){0,6}[}\]]{0,2}"#;
    let words = "(---(END_)?RALPH_STATUS---|STATUS: |EXIT_SIGNAL: true|[A-Z_]{3,8}: |<promise>|\u{1b}\\[|[ -~]|ä|\u{202e}){0,12}";
    let end = sample::select(vec![&b"\n"[..], b"\r\n", b"\0\n", b"\xff\n", b""]);
    let line = (prop_oneof![json, words], end).prop_map(|(line, end)| [line.as_bytes(), end].concat());
    collection::vec(line, 0..12).prop_map(|lines| lines.concat())
}

fn any_input() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![4 => bent(), 2 => lines(), 1 => collection::vec(any::<u8>(), 0..400)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_is_read_the_same_in_whatever_pieces_it_comes(
        bytes in any_input(),
        cuts in collection::vec(any::<sample::Index>(), 0..20),
    ) {
        let cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        FORMATS.into_iter().for_each(|format| same_in_pieces(format, &bytes, &cuts));
    }

    #[test]
    fn every_property_holds_for_any_bytes(bytes in any_input()) {
        TARGETS.iter().for_each(|(_, property)| property(&bytes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_bent_journal_is_named_and_never_believed(seeds in collection::vec(any::<u64>(), 0..4)) {
        property("journal")(&seeds.into_iter().fold(good("journal.jsonl").to_vec(), |bytes, seed| bend(&bytes, seed)));
    }

    #[test]
    fn a_bent_checkpoint_is_no_fall(seeds in collection::vec(any::<u64>(), 0..4)) {
        property("journal")(&seeds.into_iter().fold(good("checkpoints.jsonl").to_vec(), |bytes, seed| bend(&bytes, seed)));
    }
}

fn property(name: &str) -> Property {
    named(name).expect("a target")
}

fn good(name: &str) -> &'static [u8] {
    &GOOD.iter().find(|(known, _)| known == name).expect("a file").1
}

#[test]
fn every_property_holds_for_what_the_fuzzer_begins_with() {
    for (file, bytes) in &*GOOD {
        for (name, property) in TARGETS {
            let held = std::panic::catch_unwind(|| property(bytes));
            assert!(held.is_ok(), "{name} of {file}");
        }
    }
}

/// Otherwise the fuzzer would begin with a journal that is thrown away at once.
#[test]
fn the_journal_the_fuzzer_begins_with_is_a_good_one() {
    for (name, records) in [("journal.jsonl", 16), ("checkpoints.jsonl", 1)] {
        let opened = journal::open(good(name), |_, _| {});
        assert_eq!(opened.records, records, "{name}: {:?}", opened.problems);
    }
    assert!(journal::open(good("journal.jsonl"), |_, _| {}).problems.is_empty());
}

#[test]
fn a_line_longer_than_any_memory_is_cut_and_the_next_one_is_read() {
    let mut bytes = b"{\"type\":\"result\",\"result\":\"".to_vec();
    bytes.resize(MAX_LINE + 100, b'x');
    bytes.extend_from_slice(b"\"}\nlast line\n");
    for format in [Format::Auto, Format::Claude] {
        let whole = read(format, &[&bytes]);
        assert!(whole.items.contains(&Item::Problem(Problem::LineTooLong)), "{format:?}");
        assert!(whole.report.last_words.len() <= 2000);
        let pieces: Vec<&[u8]> = bytes.chunks((1 << 20) + 7).collect();
        assert!(read(format, &pieces) == whole, "{format:?} in pieces");
    }
    let said = read(Format::Auto, &[&bytes]).report.last_words;
    assert!(said.ends_with("x\nlast line"), "{}", &said[said.len() - 40..]);
}
