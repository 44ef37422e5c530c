use super::*;
use crate::check::CheckResult;
use crate::event::End;
use crate::prelude::*;

/// A whole ledger of `n` attempts; the digest of one is its number.
fn ledger(n: u64) -> Vec<Link> {
    let link = |seq: u64| Link {
        line: seq as usize,
        raw: format!("raw {seq}"),
        held: Some(Held {
            seq,
            previous: if seq == 1 { String::new() } else { format!("d{}", seq - 1) },
            digest: format!("d{seq}"),
            content: format!("d{seq}"),
            kind: "attempt".into(),
            attempt: format!("r/{seq}"),
            ..Held::default()
        }),
    };
    (1..=n).map(link).collect()
}

fn numbered(mut links: Vec<Link>) -> Vec<Link> {
    links.iter_mut().enumerate().for_each(|(nth, link)| link.line = nth + 1);
    links
}

fn anchor(seq: u64) -> Anchor {
    Anchor {
        digest: format!("d{seq}"),
        attempt: Some(format!("r/{seq}")),
        commit: None,
        settled: false,
        by: "commit abc".into(),
    }
}

fn found(links: Vec<Link>, anchors: &[Anchor]) -> Vec<(FaultKind, Option<usize>)> {
    faults(&numbered(links), anchors).into_iter().map(|fault| (fault.kind, fault.line)).collect()
}

#[test]
fn a_whole_chain_has_no_fault() {
    assert_eq!(found(ledger(4), &[anchor(1), anchor(4)]), []);
    assert_eq!(found(vec![], &[]), []);
}

#[test]
fn a_changed_record_is_named_once_with_its_line() {
    let mut links = ledger(3);
    links[1].held.as_mut().unwrap().content = "other".into();
    assert_eq!(found(links, &[anchor(2)]), [(FaultKind::Changed, Some(2))]);
}

#[test]
fn a_record_that_was_made_anew_is_found_by_the_next_or_by_its_anchor() {
    let mut links = ledger(3);
    for at in [1, 2] {
        let held = links[at].held.as_mut().unwrap();
        (held.digest, held.content) = ("new".into(), "new".into());
    }
    links[2].held.as_mut().unwrap().previous = "d2".into();
    assert_eq!(found(links[..2].to_vec(), &[anchor(2)]), [(FaultKind::Replaced, Some(2))]);
    assert_eq!(found(links, &[]), [(FaultKind::Replaced, Some(3))]);
}

#[test]
fn removed_records_are_counted_wherever_they_stood() {
    for (gone, line) in [(0, 1), (1, 2), (2, 3)] {
        let mut links = ledger(4);
        links.remove(gone);
        assert_eq!(found(links, &[]), [(FaultKind::Removed, Some(line))], "{gone}");
    }
    let mut links = ledger(5);
    links.drain(1..3);
    let faults = faults(&numbered(links), &[]);
    assert_eq!(faults[0].what, "2 records are gone before line 2 (attempt r/4)");
}

#[test]
fn records_that_changed_places_or_stand_twice_are_named() {
    let mut links = ledger(4);
    links.swap(1, 2);
    assert_eq!(found(links, &[]), [(FaultKind::Moved, Some(2)), (FaultKind::Moved, Some(3))]);
    let mut links = ledger(3);
    links.insert(2, links[1].clone());
    assert_eq!(found(links, &[])[0], (FaultKind::Moved, Some(3)));
}

#[test]
fn a_ledger_that_was_cut_at_its_end_is_found_by_what_commits_name() {
    let cut = ledger(4)[..2].to_vec();
    assert_eq!(found(cut.clone(), &[]), [], "the chain itself cannot tell");
    assert_eq!(found(cut.clone(), &[anchor(4), anchor(4)]), [(FaultKind::Missing, None)], "told once");
    let told = &faults(&cut, &[anchor(4)])[0];
    assert_eq!(told.what, "the record of r/4 is gone, and commit abc names it");
}

#[test]
fn the_record_of_a_commit_that_was_cut_off_is_missed_too() {
    let mut links = ledger(2);
    let anchors = [Anchor { commit: Some("abc".into()), ..anchor(1) }];
    assert_eq!(found(links.clone(), &anchors), [(FaultKind::Missing, None)]);
    let held = links[1].held.as_mut().unwrap();
    (held.kind, held.attempt) = ("commit".into(), "r/1".into());
    assert_eq!(found(links, &anchors), []);
}

#[test]
fn a_sound_record_that_nobody_else_tells_of_is_named() {
    let of = |links: &[Link], anchors: &[Anchor], pending: &[&str]| {
        let pending = pending.iter().map(|id| (*id).into()).collect();
        unnamed(links, anchors, &pending).into_iter().map(|fault| fault.line).collect::<Vec<_>>()
    };
    let mut links = ledger(3);
    assert_eq!(of(&links, &[anchor(1), anchor(3)], &[]), [Some(2)]);
    assert_eq!(
        of(&links, &[anchor(1), anchor(3)], &["r/2"]),
        [],
        "ralph was cut off while it settled that one"
    );
    let held = links[1].held.as_mut().unwrap();
    (held.kind, held.attempt) = ("reset".into(), String::new());
    assert_eq!(of(&links, &[anchor(1), anchor(3)], &[]), [], "a person's doing");
    let held = links[1].held.as_mut().unwrap();
    (held.kind, held.attempt, held.commit) = ("commit".into(), "r/1".into(), "abc".into());
    assert_eq!(of(&links, &[anchor(1), anchor(3)], &[]), [Some(2)], "of no record");
    links[1].held.as_mut().unwrap().evidence = "d1".into();
    assert_eq!(of(&links, &[anchor(1), anchor(3)], &[]), [], "no journal says otherwise");
    let journal =
        |commit: Option<&str>| Anchor { commit: commit.map(Into::into), settled: true, ..anchor(1) };
    assert_eq!(of(&links, &[journal(Some("abc")), anchor(3)], &[]), []);
    assert_eq!(of(&links, &[journal(Some("abd")), anchor(3)], &[]), [Some(2)]);
    assert_eq!(of(&links, &[journal(None), anchor(3)], &[]), [Some(2)]);
}

#[test]
fn a_break_that_ralph_found_itself_begins_a_new_part() {
    let mut links = ledger(4);
    links[1].held = None;
    let held = links[2].held.as_mut().unwrap();
    (held.kind, held.attempt, held.previous) = ("break".into(), String::new(), "raw 2".into());
    assert_eq!(found(links.clone(), &[]), [(FaultKind::Unreadable, Some(2))]);
    links[1].raw = "mended".into();
    assert_eq!(found(links, &[]).len(), 2, "what it was written after is another line now");
}

fn ran(exit: i32, failing: &[&str]) -> Ran {
    let failing = failing.iter().map(|name| (*name).into()).collect();
    Ran { exit: Some(exit), end: format!("exit {exit}"), failing, ..Ran::default() }
}

fn now(end: End, failing: &[&str]) -> CheckResult {
    CheckResult {
        name: "test".into(),
        command: "make test".into(),
        end,
        asked: false,
        failing: failing.iter().map(|name| (*name).into()).collect(),
        duration_ms: 1,
        output_tail: String::new(),
        hollow: false,
    }
}

#[test]
fn a_check_holds_fails_or_could_not_run() {
    let exited = |code| End::Exited { code };
    let cases = [
        (ran(0, &[]), now(exited(0), &[]), Verdict::Holds),
        (ran(0, &[]), now(exited(1), &["a"]), Verdict::Fails),
        (ran(0, &[]), now(End::Signaled { signal: 11 }, &[]), Verdict::Fails),
        (ran(0, &[]), now(exited(127), &[]), Verdict::CouldNotRun),
        (ran(0, &[]), now(End::TimedOut, &[]), Verdict::CouldNotRun),
        (ran(0, &[]), now(End::NotStarted { error: "no sh".into() }, &[]), Verdict::CouldNotRun),
        (ran(1, &["a", "b"]), now(exited(1), &["a"]), Verdict::Holds),
        (ran(1, &["a"]), now(exited(1), &["a", "c"]), Verdict::Fails),
        (ran(1, &[]), now(exited(1), &[]), Verdict::Fails),
        (ran(1, &["a"]), now(exited(0), &[]), Verdict::Holds),
    ];
    for (then, now, verdict) in cases {
        assert_eq!(of_check(&then, &now).0, verdict, "{then:?} {now:?}");
    }
}

fn verified(verdict: Verdict) -> Verified {
    let record = Record::default();
    Verified { record, commit: None, verdict, why: String::new(), remarks: vec![], checks: vec![] }
}

#[test]
fn one_failure_outweighs_what_could_not_run_and_nothing_proved_is_not_success() {
    use Verdict::{CouldNotRun, Fails, Holds, NotProved};
    let of = |verdicts: &[Verdict]| overall(&[], &verdicts.iter().copied().map(verified).collect::<Vec<_>>());
    assert_eq!(of(&[Holds, NotProved, Holds]), Holds);
    assert_eq!(of(&[Holds, CouldNotRun]), CouldNotRun);
    assert_eq!(of(&[Fails, CouldNotRun, Holds]), Fails);
    assert_eq!(of(&[]), CouldNotRun);
    assert_eq!(of(&[NotProved]), CouldNotRun);
    let broken = faults(&ledger(1), &[anchor(2)]);
    assert_eq!(overall(&broken, &[verified(Holds)]), Fails);
}

#[test]
fn attempts_are_named_by_item_by_themselves_or_by_iteration() {
    let record = |attempt: &str, iteration, item: &str| Attempted {
        record: Record { attempt: attempt.into(), iteration, item: Some(item.into()), ..Record::default() },
        commit: None,
    };
    let all = vec![record("r/1", 1, "A"), record("r/2", 2, "A"), record("r/3", 3, "1")];
    let names = |name: &str| -> Vec<String> {
        select(all.clone(), name).into_iter().map(|found| found.record.attempt).collect()
    };
    assert_eq!(names("A"), ["r/1", "r/2"]);
    assert_eq!(names("r/2"), ["r/2"]);
    assert_eq!((names("2"), names("#2")), (vec!["r/2".into()], vec!["r/2".into()]));
    assert_eq!(names("1"), ["r/3"], "an item of that name comes first");
    assert!(names("B").is_empty());
}
