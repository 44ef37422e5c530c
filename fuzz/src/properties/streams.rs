//! Readers of streams: whatever the bytes and however they are cut into pieces, the same items in bounded memory.

use ralph_core::analysis::{Question, analyse};
use ralph_core::check::failing::FailingTests;
use ralph_core::profile::PROFILES;
use ralph_core::report::{Builder, IterationReport};
use ralph_core::time::Time;
use ralph_core::transcript::{Decoder, Format, Item};

use super::super::bend::Dice;

/// What an agent's bytes amount to.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub format: Format,
    pub items: Vec<Item>,
    pub report: IterationReport,
}

pub(super) fn auto(bytes: &[u8]) {
    stream(Format::Auto, bytes);
}

pub(super) fn claude(bytes: &[u8]) {
    stream(Format::Claude, bytes);
}

pub(super) fn codex(bytes: &[u8]) {
    stream(Format::Codex, bytes);
}

pub(super) fn opencode(bytes: &[u8]) {
    stream(Format::Opencode, bytes);
}

pub(super) fn gemini(bytes: &[u8]) {
    stream(Format::Gemini, bytes);
}

pub(super) fn hook(bytes: &[u8]) {
    stream(Format::Hook, bytes);
}

pub(super) fn text(bytes: &[u8]) {
    stream(Format::Text, bytes);
}

fn stream(format: Format, bytes: &[u8]) {
    let whole = read(format, &[bytes]);
    assert!(format == Format::Auto || whole.format == format, "the format became {:?}", whole.format);
    bounded(&whole.report);
    kept_whole(&whole.report);
    let each_byte: Vec<&[u8]> = bytes.chunks(1).collect();
    for pieces in [each_byte, cut_by_chance(bytes)] {
        // The report is made of the items alone: the same items, the same report.
        let (read_as, items) = decode(format, &pieces);
        assert_eq!((read_as, &items), (whole.format, &whole.items), "in {} pieces", pieces.len());
    }
}

/// Cut at these places, it is read as if it had come whole.
pub fn same_in_pieces(format: Format, bytes: &[u8], cuts: &[usize]) {
    assert_eq!(read(format, &cut(bytes, cuts)), read(format, &[bytes]), "cut at {cuts:?}");
}

pub fn read(format: Format, pieces: &[&[u8]]) -> Reading {
    let (format, items) = decode(format, pieces);
    let mut builder = Builder::default();
    items.iter().cloned().for_each(|item| builder.add(item));
    Reading { format, items, report: builder.finish() }
}

fn decode(format: Format, pieces: &[&[u8]]) -> (Format, Vec<Item>) {
    let mut decoder = Decoder::new(format);
    let mut items = Vec::new();
    for piece in pieces {
        decoder.feed(piece, |item| items.push(item));
    }
    decoder.finish(|item| items.push(item));
    (decoder.format(), items)
}

/// The bytes in pieces, some of them empty.
fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| (*cut).min(bytes.len())).collect();
    ends.sort_unstable();
    ends.push(bytes.len());
    let starts = [0].into_iter().chain(ends.iter().copied());
    starts.zip(&ends).map(|(start, end)| &bytes[start..*end]).collect()
}

fn cut_by_chance(bytes: &[u8]) -> Vec<&[u8]> {
    let mut dice = Dice(u64::from(crc32fast::hash(bytes)));
    let cuts: Vec<usize> = (0..dice.below(20)).map(|_| dice.below(bytes.len() + 1)).collect();
    cut(bytes, &cuts)
}

/// A report goes into the journal and into memory, so there is an end to what an agent can put there.
fn bounded(report: &IterationReport) {
    assert!(report.problems.len() <= 20 && report.problems.iter().all(|problem| problem.len() <= 200));
    assert!(report.files.len() <= 200 && report.denied.len() <= 200 && report.sayings.len() <= 3);
    assert!(report.last_words.len() <= 2000);
    let stored = serde_json::to_string(report).expect("a report is JSON").len();
    assert!(stored <= 2 << 20, "a report of {stored} bytes");
}

/// What the journal gives back is what was decided about.
fn kept_whole(report: &IterationReport) {
    let stored = serde_json::to_string(report).expect("a report is JSON");
    let again: IterationReport = serde_json::from_str(&stored).expect("its own JSON is read");
    assert_eq!(again, *report);
}

/// The whole of `ralph analyze`: up to three outputs, divided by NUL NUL, by every profile.
pub(super) fn analysis(bytes: &[u8]) {
    let outputs = bytes
        .windows(2)
        .position(|pair| pair == b"\0\0")
        .map_or(vec![bytes], |at| vec![&bytes[..at], &bytes[at + 2..], &bytes[..at]]);
    let mut reports: Vec<IterationReport> =
        outputs.iter().map(|output| read(Format::Auto, &[output]).report).collect();
    let Some(report) = reports.pop() else { return };
    for profile in &PROFILES {
        let policy = profile.policy();
        let question =
            Question { policy: &policy, format: Format::Auto, iteration: 1, at: Time::from_millis(0) };
        let json = analyse(&report, &reports, question);
        let text = json.to_string();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok().as_ref(), Some(&json));
        assert!(text.len() <= 2 << 20, "an analysis of {} bytes", text.len());
        let decision = json["exit_decision"].as_str().unwrap_or_default();
        assert!(
            ["continue", "project_complete", "test_saturation", "blocked"].contains(&decision),
            "{decision}"
        );
        if decision == "project_complete" {
            assert!(report.block.is_some() || !report.sayings.is_empty(), "done without a word: {text}");
        }
    }
}

/// Names of failing tests in what a check printed.
pub(super) fn failing(bytes: &[u8]) {
    let names = |pieces: &[&[u8]]| {
        let mut failing = FailingTests::default();
        pieces.iter().for_each(|piece| failing.feed(piece));
        failing.finish()
    };
    let whole = names(&[bytes]);
    assert!(whole.len() <= 50 && whole.iter().all(|name| !name.is_empty() && name.len() <= 203));
    assert_eq!(names(&bytes.chunks(1).collect::<Vec<_>>()), whole);
    assert_eq!(names(&cut_by_chance(bytes)), whole);
    let stream = || {
        let mut failing = FailingTests::default();
        failing.feed(bytes);
        failing
    };
    let both = stream().and(stream()).finish();
    assert!(both.len() <= 50 && both.iter().all(|name| whole.contains(name)), "{both:?}, {whole:?}");
}
