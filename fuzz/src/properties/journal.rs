//! The journal: any bytes are opened without a fall; one changed byte is a named problem and nothing behind it counts.

use ralph_core::event::{Event, Stamped};
use ralph_core::journal::{Opened, Record, encode, last_checkpoint, open};
use ralph_core::machine::{deadline, decide};
use ralph_core::view;

use super::super::bend::Dice;

pub(super) fn journal(bytes: &[u8]) {
    honest(bytes);
    // Hardly any bytes have the right checksum. With it put right, what lies behind it is reached.
    let sealed = resealed(bytes);
    honest(&sealed);
    damaged(&sealed);
}

/// Opens it and looks at everything that can be made of it.
fn honest(bytes: &[u8]) {
    let mut records = Vec::new();
    let opened = open(bytes, |record, _| records.push(record.clone()));
    assert!(opened.good <= bytes.len());
    assert_eq!(opened.records, records.len() as u64);
    assert!(opened.problems.len() <= 2, "{:?}", opened.problems);
    let all_read = opened.good == bytes.len();
    assert!(all_read || !opened.problems.is_empty(), "bytes were left out without a word");
    let start = last_checkpoint(bytes, true);
    assert!(start.is_none_or(|at| at == 0 || bytes[at - 1] == b'\n'));
    again(&bytes[..opened.good], &opened);
    if opened.writable() && all_read {
        records.iter().for_each(same_when_written);
    }
    usable(&opened);
}

/// The good part by itself is the same journal.
fn again(good: &[u8], opened: &Opened) {
    let again = open(good, |_, _| {});
    assert_eq!((again.records, again.good), (opened.records, good.len()));
    assert_eq!(again.state, opened.state);
}

fn same_when_written(record: &Record) {
    let line = encode(record);
    let mut read = None;
    let opened = open(line.as_bytes(), |record, _| read = Some(record.clone()));
    if opened.problems.is_empty() {
        assert_eq!(read.as_ref(), Some(record), "{line}");
    }
}

/// Whatever state came of it, the machine decides and the views show.
fn usable(opened: &Opened) {
    let (state, at) = (&opened.state, opened.state.updated_at);
    let _ = deadline(state);
    for event in [Event::DeadlinePassed, Event::AgentNeverStarted, Event::Unknown] {
        assert!(!decide(state, &Stamped { at, event }).reasons.is_empty(), "a decision says why");
    }
    let around = view::json::Surroundings { initialized: true, ..Default::default() };
    assert!(view::json::status(Some(state), around).is_object());
    let _ = (view::files::session(state), view::files::state_json(state));
    for iteration in state.last.iter().map(|last| &**last).chain(&state.current) {
        let _ = (view::files::history(state, iteration, None), view::json::iteration(iteration, 1));
    }
}

/// The same lines, each with the checksum that fits.
fn resealed(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{")) {
        let line = match line.windows(8).rposition(|window| window == b",\"crc\":\"") {
            Some(at) => &line[..at],
            None => line.strip_suffix(b"}").unwrap_or(line),
        };
        sealed.extend_from_slice(line);
        sealed.extend_from_slice(format!(",\"crc\":\"{:08x}\"}}\n", crc32fast::hash(line)).as_bytes());
    }
    sealed
}

/// One changed byte is told, and what is believed is a beginning of what was there.
fn damaged(bytes: &[u8]) {
    let mut states = Vec::new();
    let opened = open(bytes, |_, state| states.push(state.clone()));
    if opened.records == 0 || !opened.problems.is_empty() {
        return;
    }
    let mut dice = Dice(u64::from(crc32fast::hash(bytes)));
    for _ in 0..4 {
        let mut bytes = bytes.to_vec();
        let at = dice.below(bytes.len());
        bytes[at] ^= 1 << dice.below(8);
        let damaged = open(&bytes, |_, _| {});
        assert!(!damaged.problems.is_empty(), "byte {at} was changed and nothing is said");
        assert!(damaged.records < opened.records);
        if let Some(last) = damaged.records.checked_sub(1) {
            assert_eq!(Some(&damaged.state), states.get(last as usize), "byte {at}");
        }
    }
}
