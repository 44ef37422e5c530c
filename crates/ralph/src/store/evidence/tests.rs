#![expect(clippy::disallowed_methods, reason = "tests have files of their own")]

use super::*;
use ralph_core::ledger::{FaultKind, faults};

/// A ledger in a folder of its own, which goes with it.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("ralph-evidence-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder");
        Self(dir)
    }

    fn ledger(&self) -> Ledger {
        Ledger::of(&self.0)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.ledger().path()).expect("readable")
    }

    fn put(&self, text: &str) {
        std::fs::write(self.ledger().path(), text).expect("written");
    }

    fn add(&self, kind: &str, attempt: &str) -> Appended {
        self.ledger().append(json!({"type": kind, "attempt": attempt})).expect("appended")
    }

    fn faults(&self) -> Vec<FaultKind> {
        let lines = self.ledger().read().expect("readable");
        let links: Vec<Link> = lines.into_iter().map(|line| line.link).collect();
        faults(&links, &[]).into_iter().map(|fault| fault.kind).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn records_are_chained_and_none_is_doubled() {
    let place = Place::new("chained");
    let first = place.add("attempt", "r/1");
    let commit = place.add("commit", "r/1");
    assert_eq!(place.add("attempt", "r/1"), first, "settled again after a cut");
    assert_eq!(place.add("commit", "r/1"), commit);
    place.add("attempt", "r/2");
    let lines = place.ledger().read().expect("readable");
    let seqs: Vec<u64> = lines.iter().filter_map(|line| line.record["seq"].as_u64()).collect();
    assert_eq!(seqs, [1, 2, 3]);
    assert_eq!(lines[1].record["previous"], first.digest);
    assert_eq!(place.faults(), []);
}

#[test]
fn a_record_longer_than_what_is_read_at_first_is_found() {
    let place = Place::new("long");
    let long = "x".repeat(48 << 10);
    let record = json!({"type": "attempt", "attempt": "r/1", "why": long});
    let first = place.ledger().append(record.clone()).expect("appended");
    assert_eq!(place.ledger().append(record).expect("appended"), first);
    place.add("commit", "r/1");
    place.add("attempt", "r/2");
    assert_eq!((place.faults(), place.text().lines().count()), (vec![], 3));
}

#[test]
fn a_line_that_was_cut_off_while_it_was_written_is_written_again() {
    let place = Place::new("torn");
    place.add("attempt", "r/1");
    let whole = place.text();
    place.put(&format!("{whole}{{\"attempt\":\"r/2\",\"ty"));
    assert_eq!(place.ledger().read().expect("readable").len(), 1);
    assert_eq!(place.add("attempt", "r/2").problem, None);
    assert_eq!((place.faults(), place.text().lines().count()), (vec![], 2));
}

#[test]
fn a_record_that_lost_its_line_break_alone_is_kept() {
    let place = Place::new("unended");
    let first = place.add("attempt", "r/1");
    place.put(place.text().trim_end());
    assert_eq!(place.ledger().read().expect("readable").len(), 1);
    assert_eq!(place.add("attempt", "r/1"), first);
    place.add("attempt", "r/2");
    assert_eq!((place.faults(), place.text().lines().count()), (vec![], 2));
}

#[test]
fn a_broken_end_is_named_kept_and_gone_on_from() {
    for (name, broken) in [("changed", "\"attempt\":\"r/9\""), ("unreadable", "\"attempt\":r/1")] {
        let place = Place::new(name);
        place.add("attempt", "r/1");
        place.put(&place.text().replace("\"attempt\":\"r/1\"", broken));
        let appended = place.add("attempt", "r/2");
        assert!(appended.problem.expect("a problem").contains("the last record of the evidence ledger"));
        assert_eq!(place.add("attempt", "r/3").problem, None, "said once");
        let kinds: Vec<Value> = place
            .ledger()
            .read()
            .expect("readable")
            .into_iter()
            .map(|line| line.record["type"].clone())
            .collect();
        assert_eq!(kinds[1..], [json!("break"), json!("attempt"), json!("attempt")], "{name}");
        let expected = if name == "changed" { FaultKind::Changed } else { FaultKind::Unreadable };
        assert_eq!(place.faults(), [expected], "what was broken stays broken, and what follows is whole");
    }
}
