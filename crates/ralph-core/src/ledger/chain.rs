//! Whether the chain is whole: each record holds the digest of the one before it, and commits and journals hold digests
//! of records.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::prelude::*;
use crate::text::count;

/// One line of the ledger, as far as the chain goes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    /// From 1.
    pub line: usize,
    /// Digest of the line as it stands, whatever it holds.
    pub raw: String,
    /// `None`: it cannot be read.
    pub held: Option<Held>,
}

/// What a line says about its place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Held {
    pub seq: u64,
    pub previous: String,
    /// The digest that it carries, and the one that its content has.
    pub digest: String,
    pub content: String,
    /// `attempt`, `commit`, `reset` or `break`.
    pub kind: String,
    pub attempt: String,
    /// Of a `commit` record: the digest of its attempt's record, and the commit.
    pub evidence: String,
    pub commit: String,
}

/// A digest of a record that is written elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    pub digest: String,
    pub attempt: Option<String>,
    /// A commit that the ledger must have a record of too.
    pub commit: Option<String>,
    /// The journal, which knows whether there is a commit at all.
    pub settled: bool,
    /// `commit 1a2b3c4d5e6f`, `the journal of run 3`
    pub by: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    Unreadable,
    /// Its content is not what was recorded.
    Changed,
    /// Another one stands where it stood.
    Replaced,
    Removed,
    /// It stands elsewhere, or twice.
    Moved,
    /// Somebody else holds its digest, and it is gone: the ledger was cut.
    Missing,
    /// It is sound in itself, and neither a journal nor a commit knows of it.
    Unnamed,
}

impl FaultKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Changed => "changed",
            Self::Replaced => "replaced",
            Self::Removed => "removed",
            Self::Moved => "moved",
            Self::Missing => "missing",
            Self::Unnamed => "unnamed",
        }
    }
}

/// One thing that is wrong with the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub line: Option<usize>,
    pub attempt: Option<String>,
    pub what: String,
}

/// A record that ralph writes when it finds the end of the chain broken, and from which a new part begins.
const BREAK: &str = "break";
const ATTEMPT: &str = "attempt";
const COMMIT: &str = "commit";

/// Everything that is wrong, in the order of the lines; then what only anchors know.
pub fn faults(links: &[Link], anchors: &[Anchor]) -> Vec<Fault> {
    let places: BTreeMap<&str, usize> = links
        .iter()
        .filter_map(|link| link.held.as_ref().map(|held| (held.content.as_str(), link.line)))
        .into_map();
    let mut faults = vec![];
    let mut before = Before { seq: 0, digest: Some(""), raw: "" };
    for (nth, link) in links.iter().enumerate() {
        let Some(held) = &link.held else {
            faults.push(fault(FaultKind::Unreadable, link, format!("line {} cannot be read", link.line)));
            before = Before { seq: before.seq + 1, digest: None, raw: &link.raw };
            continue;
        };
        if held.digest != held.content {
            let what = format!("line {} ({}) is not what was recorded", link.line, named(held));
            faults.push(fault(FaultKind::Changed, link, what));
        }
        faults.extend(misplaced(link, held, &before, nth as u64 + 1, &places));
        before = Before { seq: held.seq, digest: Some(&held.digest), raw: &link.raw };
    }
    let known = anchored(links, anchors, &places, &faults);
    faults.extend(known);
    faults
}

struct Before<'a> {
    seq: u64,
    /// Nobody knows that of a line that cannot be read.
    digest: Option<&'a str>,
    raw: &'a str,
}

/// Whether a record follows the one before it.
fn misplaced(
    link: &Link,
    held: &Held,
    before: &Before<'_>,
    nth: u64,
    places: &BTreeMap<&str, usize>,
) -> Option<Fault> {
    let follows = match held.kind.as_str() {
        BREAK => held.previous == before.raw,
        _ => match before.digest {
            Some(digest) => held.previous == digest && held.seq == before.seq.wrapping_add(1),
            None => true,
        },
    };
    if follows {
        return None;
    }
    let line = link.line;
    let elsewhere = held.previous.is_empty() || places.contains_key(held.previous.as_str());
    // What it follows is there. Where it has its own number, it is its neighbours that were moved.
    if elsewhere {
        let what = format!("line {line} ({}) is out of its place", named(held));
        return (held.seq != nth).then(|| fault(FaultKind::Moved, link, what));
    }
    let gap = held.seq.saturating_sub(before.seq).saturating_sub(1);
    if gap > 0 {
        let what = format!("{} gone before line {line} ({})", is(gap), named(held));
        return Some(fault(FaultKind::Removed, link, what));
    }
    // A changed one still carries the digest by which it is followed; one that was made anew does not.
    let what = format!("what stands before line {line} ({}) is not what it was written after", named(held));
    Some(fault(FaultKind::Replaced, link, what))
}

/// What is known to have been there, and is not.
fn anchored(
    links: &[Link],
    anchors: &[Anchor],
    places: &BTreeMap<&str, usize>,
    found: &[Fault],
) -> Vec<Fault> {
    let mut faults: Vec<Fault> = vec![];
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let named: BTreeSet<usize> = found.iter().filter_map(|fault| fault.line).into_set();
    let of_attempt = by_attempt(links, |held| held.kind != BREAK && held.kind != COMMIT);
    for anchor in anchors.iter().filter(|anchor| !places.contains_key(anchor.digest.as_str())) {
        if !told.insert(&anchor.digest) {
            continue;
        }
        let same = anchor.attempt.as_ref().and_then(|attempt| of_attempt.get(attempt.as_str()).copied());
        let attempt = anchor.attempt.clone();
        let who = attempt.as_deref().map_or_else(|| "a record".into(), |id| format!("the record of {id}"));
        match same {
            // It was named already.
            Some(link) if named.contains(&link.line) => {}
            Some(link) => faults.push(Fault {
                kind: FaultKind::Replaced,
                line: Some(link.line),
                what: format!("line {}, {who}, is another one than {} names", link.line, anchor.by),
                attempt,
            }),
            None => faults.push(Fault {
                kind: FaultKind::Missing,
                line: None,
                what: format!("{who} is gone, and {} names it", anchor.by),
                attempt,
            }),
        }
    }
    let held = links.iter().filter_map(|link| link.held.as_ref());
    let committed: BTreeSet<&str> =
        held.filter(|held| held.kind == COMMIT).map(|held| held.attempt.as_str()).into_set();
    faults.extend(anchors.iter().filter_map(|anchor| uncommitted(&committed, anchor, places)));
    faults
}

/// The first record of each attempt that is meant.
fn by_attempt(links: &[Link], meant: impl Fn(&Held) -> bool) -> BTreeMap<&str, &Link> {
    let held = links.iter().rev().filter_map(|link| Some((link.held.as_ref()?, link)));
    held.filter(|(held, _)| meant(held)).map(|(held, link)| (held.attempt.as_str(), link)).into_map()
}

/// Records that are sound in themselves and that nobody else tells of: whoever can write to the ledger can make them.
/// `pending` are attempts that a journal is still to say something about, for ralph was cut off while it settled them.
pub fn unnamed(links: &[Link], anchors: &[Anchor], pending: &BTreeSet<String>) -> Vec<Fault> {
    let digests: BTreeSet<&str> = anchors.iter().map(|anchor| anchor.digest.as_str()).into_set();
    let settled = anchors.iter().filter(|anchor| anchor.settled);
    let settled: BTreeMap<&str, &Anchor> =
        settled.filter_map(|anchor| Some((anchor.attempt.as_deref()?, anchor))).into_map();
    let of_attempt = by_attempt(links, |held| held.kind == ATTEMPT);
    let mut faults = vec![];
    for (link, held) in links.iter().filter_map(|link| Some((link, link.held.as_ref()?))) {
        if held.digest != held.content || pending.contains(&held.attempt) {
            continue;
        }
        let line = link.line;
        let journal = settled.get(held.attempt.as_str());
        let told = match held.kind.as_str() {
            ATTEMPT if !digests.contains(held.content.as_str()) => {
                Some(format!("line {line} ({}) is named by no journal and no commit", named(held)))
            }
            COMMIT => {
                let own = of_attempt.get(held.attempt.as_str()).and_then(|link| link.held.as_ref());
                let other = own.is_some_and(|own| own.digest != held.evidence);
                match journal {
                    _ if other => Some(format!(
                        "line {line} ({}) is of another record than that attempt's",
                        named(held)
                    )),
                    Some(journal) if journal.commit.as_deref() != Some(&held.commit) => Some(format!(
                        "line {line} ({}) names a commit that {} does not",
                        named(held),
                        journal.by
                    )),
                    _ => None,
                }
            }
            _ => None,
        };
        faults.extend(told.map(|what| fault(FaultKind::Unnamed, link, what)));
    }
    faults
}

/// The record of a commit whose attempt is still there.
fn uncommitted(committed: &BTreeSet<&str>, anchor: &Anchor, places: &BTreeMap<&str, usize>) -> Option<Fault> {
    let (commit, attempt) = (anchor.commit.as_ref()?, anchor.attempt.as_ref()?);
    let known = committed.contains(attempt.as_str());
    (!known && places.contains_key(anchor.digest.as_str())).then(|| Fault {
        kind: FaultKind::Missing,
        line: None,
        attempt: Some(attempt.clone()),
        what: format!("the record of commit {commit} of {attempt} is gone, and {} names it", anchor.by),
    })
}

fn fault(kind: FaultKind, link: &Link, what: String) -> Fault {
    let attempt = link.held.as_ref().map(|held| held.attempt.clone()).filter(|id| !id.is_empty());
    Fault { kind, line: Some(link.line), attempt, what }
}

fn named(held: &Held) -> String {
    match held.attempt.is_empty() {
        true => held.kind.clone(),
        false => format!("{} {}", held.kind, held.attempt),
    }
}

fn is(n: u64) -> String {
    format!("{} {}", count(n, "record"), if n == 1 { "is" } else { "are" })
}
