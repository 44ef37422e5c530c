use super::*;
use crate::event::{End, When};
use crate::machine::tests::{Sim, ended, plan};

fn sample() -> String {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.event(Event::TreeMeasured(Box::new(crate::event::Measured::new(
        When::Before,
        "t".into(),
        None,
        &[],
    ))));
    sim.event(ended("COMPLETE PASSING true", End::Exited { code: 0 }));
    sim.journal.clone()
}

#[test]
fn a_line_has_its_envelope_first_and_its_checksum_last() {
    let text = sample();
    let line = text.lines().next().expect("a line");
    assert!(
        line.starts_with(
            r#"{"v":2,"seq":1,"at":"1970-01-01T00:16:40.010Z","type":"step","event":{"type":"run_started""#
        ),
        "{line}"
    );
    assert_eq!(&line[line.len() - CRC_LEN..][..CRC_KEY.len()], CRC_KEY);
}

#[test]
fn cut_at_every_byte_the_good_part_is_read_and_the_cut_is_named() {
    let text = sample();
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    for cut in 0..=text.len() {
        let opened = open(&text.as_bytes()[..cut], |_, _| {});
        let whole = ends.iter().filter(|end| **end <= cut).count() as u64;
        assert_eq!(opened.records, whole, "cut at {cut}");
        let expected: &[Problem] = if cut == 0 || ends.contains(&cut) { &[] } else { &[Problem::Torn] };
        assert_eq!(opened.problems, expected, "cut at {cut}");
        assert!(opened.writable());
    }
}

#[test]
fn one_flipped_bit_anywhere_is_always_named_and_never_believed() {
    let text = sample();
    let mut states = vec![State::default()];
    open(text.as_bytes(), |_, state| states.push(state.clone()));
    for at in 0..text.len() {
        for bit in [0, 5] {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            let opened = open(&bytes, |_, _| {});
            assert!(!opened.problems.is_empty(), "byte {at}, bit {bit}");
            let records = usize::try_from(opened.records).expect("small");
            assert_eq!(opened.state, states[records], "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn damage_in_the_middle_forbids_writing() {
    let text = sample().replacen("make test", "make best", 1);
    let opened = open(text.as_bytes(), |_, _| {});
    assert_eq!(opened.problems, [Problem::Checksum { line: 1 }]);
    assert!(!opened.writable());
}

#[test]
fn a_removed_line_is_a_gap() {
    let text = sample();
    let lines: Vec<&str> = text.lines().collect();
    let text = format!("{}\n{}\n", lines[0], lines[2]);
    let opened = open(text.as_bytes(), |_, _| {});
    assert_eq!(opened.problems, [Problem::Sequence { line: 2, expected: 2, found: 3 }]);
    assert!(!opened.writable());
}

#[test]
fn after_the_last_number_there_is_only_a_gap() {
    let last = Record { seq: u64::MAX, at: Time::from_millis(0), body: Body::Unknown };
    let text = encode(&last).replacen("\"v\":2", "\"v\":3", 1);
    let body = &text[..text.len() - 1 - CRC_LEN];
    let line = format!("{body}{CRC_KEY}{}\"}}\n", checksum(body.as_bytes()));
    let opened = open(format!("{line}{line}").as_bytes(), |_, _| {});
    let gap = Problem::Sequence { line: 2, expected: 0, found: u64::MAX };
    assert_eq!(opened.problems, [Problem::Newer { version: 3 }, gap]);
}

#[test]
fn a_newer_version_is_read_and_never_written() {
    let mut text = sample();
    let body = r#"{"v":3,"seq":4,"at":"2026-01-01T00:00:00.000Z","type":"comet","tail":true"#;
    text.push_str(&format!("{body}{CRC_KEY}{:08x}\"}}\n", crc32fast::hash(body.as_bytes())));
    let opened = open(text.as_bytes(), |_, _| {});
    assert_eq!((opened.records, opened.state.seq), (4, 4));
    assert_eq!(opened.problems, [Problem::Newer { version: 3 }]);
    assert!(!opened.writable());
}

fn resealed(line: &str, from: &str, to: &str) -> String {
    let body = line[..line.len() - CRC_LEN].replacen(from, to, 1);
    assert_ne!(body, line[..line.len() - CRC_LEN], "{from} is there to be replaced");
    format!("{body}{CRC_KEY}{}\"}}\n", checksum(body.as_bytes()))
}

#[test]
fn a_whole_record_that_is_not_understood_is_never_called_torn() {
    let text = sample();
    let line = text.lines().next().expect("a line");
    let newer = resealed(resealed(line, "\"v\":2", "\"v\":3").trim_end(), "\"continue\"", "\"levitate\"");
    let opened = open(newer.as_bytes(), |_, _| {});
    assert_eq!(opened.problems, [Problem::Newer { version: 3 }]);
    assert_eq!((opened.records, opened.writable()), (1, false));

    let odd = resealed(line, "\"continue\"", "\"levitate\"");
    let opened = open(odd.as_bytes(), |_, _| {});
    assert!(matches!(opened.problems[..], [Problem::Unreadable { line: 1, .. }]), "{:?}", opened.problems);
    assert!(!opened.writable());
}

#[test]
fn a_field_added_later_does_not_make_old_records_unreadable() {
    let text = sample();
    let line = text.lines().next().expect("a line");
    let older = resealed(line, ",\"questions\":{\"in_a_row\":0}", "");
    assert_eq!(open(older.as_bytes(), |_, _| {}).problems, []);
}

#[test]
fn a_checkpoint_of_another_shape_is_passed_over() {
    let sim = Sim::new(plan(&[]));
    let body = Body::Checkpoint { state: Box::new(State::default()) };
    let line = encode(&Record { seq: 2, at: sim.now, body });
    let other = resealed(line.trim_end(), &format!("\"shape\":{STATE_SHAPE}"), "\"shape\":999");
    let text = format!("{}{other}", sim.journal);
    assert_eq!(last_checkpoint(text.as_bytes(), true), None);
    let opened = open(text.as_bytes(), |_, _| {});
    assert_eq!((opened.problems.len(), opened.state.run.is_some(), opened.state.seq), (0, true, 2));
}

#[test]
fn the_last_checkpoint_is_found_from_the_end_and_not_in_an_agent_s_words() {
    let sim = Sim::new(plan(&[]));
    let state = Box::new(sim.state.clone());
    let checkpoint = encode(&Record { seq: 2, at: sim.now, body: Body::Checkpoint { state } });
    let start = sim.journal.len();
    let mut text = format!("{}{checkpoint}", sim.journal);
    let words = encode(&Record {
        seq: 3,
        at: sim.now,
        body: Body::Step {
            event: Event::MeasureFailed { error: r#"{"type":"checkpoint"}"#.into() },
            decision: sim.last.clone().expect("decided"),
        },
    });
    text.push_str(&words);
    assert_eq!(last_checkpoint(text.as_bytes(), true), Some(start));
    assert_eq!(last_checkpoint(&text.as_bytes()[start..], false), None);
    assert_eq!(last_checkpoint(sample().as_bytes(), true), None);
}

#[test]
fn a_journal_of_format_1_is_read_whole() {
    let opened = open(include_bytes!("../../../../fuzz/seeds/journal.jsonl"), |_, _| {});
    assert_eq!(opened.problems, []);
    assert_eq!(opened.state.stop().map(crate::decision::Stop::word), Some("complete"));
    let plan = &opened.state.run.as_ref().expect("a run").plan;
    assert_eq!((plan.agents.len(), plan.agents[0].name.as_str()), (1, "custom"));
}

#[test]
fn a_journal_that_grows_is_read_as_it_grows() {
    let text = sample();
    let (whole, ends) = (open(text.as_bytes(), |_, _| {}), text.match_indices('\n').map(|(at, _)| at + 1));
    for end in ends {
        let first = open(&text.as_bytes()[..end], |_, _| {});
        let mut seen = 0;
        let rest = go_on(first.state, &text.as_bytes()[end..], |_, _| seen += 1);
        assert_eq!((rest.state, rest.problems), (whole.state.clone(), vec![]), "after {end} bytes");
        assert_eq!((first.records + rest.records, seen), (whole.records, rest.records));
    }
    let skipped = &text.as_bytes()[text.find('\n').expect("a line") + 1..];
    let first = open(skipped.split_at(0).0, |_, _| {});
    assert!(go_on(State { seq: 7, ..first.state }, skipped, |_, _| {}).problems.len() == 1, "a gap is named");
}
