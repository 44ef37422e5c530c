//! The ledger of a project, with what commits and journals know of it.

use std::collections::{BTreeMap, BTreeSet};

use ralph_core::decision::Phase;
use ralph_core::event::Event;
use ralph_core::gather::Gather as _;
use ralph_core::items::attempt_id;
use ralph_core::journal::Body;
use ralph_core::ledger::{Anchor, Attempted, Link, Record, attempts, faults, unnamed};
use ralph_core::state::State;
use ralph_core::view::evidence;
use serde::Deserialize;
use serde_json::Value;

use crate::error::{self, Error, Result};
use crate::project::Project;
use crate::store::{JournalFile, Ledger, Line, Runs};

#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) lines: Vec<Line>,
    pub(crate) attempts: Vec<Attempted>,
    pub(crate) summary: evidence::Ledger,
    /// Journals that cannot be read to their end, with why: what they know of the ledger behind that is not known here.
    pub(crate) unread: Vec<String>,
    /// Attempts with a record that is not what was recorded, or not where it was.
    unsound: BTreeSet<String>,
    /// All commits that name evidence, by the digest; the newest first.
    pub(super) named: BTreeMap<String, Vec<String>>,
    /// The commits of attempts, as journals have them.
    pub(super) settled: BTreeMap<String, String>,
}

/// Whether commits and journals are asked too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchored {
    Asked,
    NotAsked,
}

pub(crate) fn load(project: &Project, anchored: Anchored) -> Result<Loaded> {
    let ledger = Ledger::of(&project.truth);
    let lines = ledger.read().map_err(error::io("cannot read", ledger.path()))?;
    let links: Vec<Link> = lines.iter().map(|line| line.link.clone()).collect();
    let told = match anchored {
        Anchored::Asked => told(project, &links, ledger.id().as_deref())?,
        Anchored::NotAsked => Told::default(),
    };
    let mut found = faults(&links, &told.anchors);
    if anchored == Anchored::Asked {
        let known: BTreeSet<usize> = found.iter().filter_map(|fault| fault.line).into_set();
        let unnamed = unnamed(&links, &told.anchors, &told.pending).into_iter();
        found.extend(unnamed.filter(|fault| fault.line.is_none_or(|line| !known.contains(&line))));
    }
    let last = links.last().and_then(|link| link.held.as_ref());
    let summary = evidence::Ledger {
        records: lines.len(),
        head: last.map(|held| held.digest.clone()),
        faults: found,
        elsewhere: told.elsewhere,
    };
    // A record of another shape was changed, which the chain tells.
    let records: Vec<Record> =
        lines.iter().filter_map(|line| Record::deserialize(&line.record).ok()).collect();
    let named: BTreeSet<usize> = summary.faults.iter().filter_map(|fault| fault.line).into_set();
    let unsound = lines.iter().filter(|line| !line.is_sound() || named.contains(&line.link.line));
    let unsound = unsound.filter_map(|line| line.record["attempt"].as_str().map(str::to_owned)).collect();
    let settled = told.anchors.into_iter().filter_map(|anchor| Some((anchor.attempt?, anchor.commit?)));
    let settled = settled.collect();
    Ok(Loaded {
        attempts: attempts(&records),
        lines,
        summary,
        unread: told.unread,
        unsound,
        named: told.named,
        settled,
    })
}

impl Loaded {
    /// Whether all records of an attempt are what was recorded.
    pub(crate) fn is_sound(&self, attempt: &str) -> bool {
        !self.unsound.contains(attempt)
    }

    /// Every record that can be read, as it stands in the ledger.
    pub(crate) fn records(&self) -> Vec<Value> {
        self.lines.iter().map(|line| &line.record).filter(|record| record.is_object()).cloned().collect()
    }

    /// Those of these attempts.
    pub(crate) fn records_of(&self, attempts: &[Attempted]) -> Vec<Value> {
        let names: BTreeSet<&str> =
            attempts.iter().map(|attempted| attempted.record.attempt.as_str()).into_set();
        let of = |line: &&Line| line.record["attempt"].as_str().is_some_and(|id| names.contains(id));
        self.lines.iter().filter(of).map(|line| line.record.clone()).collect()
    }
}

/// What is written elsewhere about records of this ledger.
#[derive(Debug, Default)]
struct Told {
    anchors: Vec<Anchor>,
    /// How many commits name records of another ledger: those that were pulled from somebody else, or made in another
    /// worktree.
    elsewhere: usize,
    /// Attempts that a journal was still to say something about.
    pending: BTreeSet<String>,
    /// Commits that name evidence, by the digest.
    named: BTreeMap<String, Vec<String>>,
    unread: Vec<String>,
}

fn told(project: &Project, links: &[Link], id: Option<&str>) -> Result<Told> {
    let mut runs: BTreeSet<String> =
        links.iter().filter_map(|link| Some(run_of(&link.held.as_ref()?.attempt).to_owned())).into_set();
    let mut told = Told::default();
    let mut recorded = vec![];
    for run in Runs::of(&project.truth).all() {
        let by = format!("the journal of run {}", run.number);
        let opened = JournalFile::read(&run.journal(), |record, state| {
            told.pending.extend(being_settled(state));
            if let Body::Step { event: Event::Settled(settled), .. } = &record.body
                && let Some(digest) = &settled.evidence
            {
                let attempt = state.run.as_ref().zip(state.last.as_ref());
                recorded.push(Anchor {
                    digest: digest.clone(),
                    attempt: attempt.map(|(run, last)| attempt_id(&run.id, last.number)),
                    commit: settled.commit.clone(),
                    settled: true,
                    by: by.clone(),
                });
            }
        })?;
        if !opened.writable() {
            let why = opened.problems.iter().map(|problem| format!("{by}: {problem}"));
            told.unread.extend(why);
        }
        told.pending.extend(being_settled(&opened.state));
        runs.extend(opened.state.run.map(|run| run.id));
    }
    let settled: BTreeSet<&str> =
        recorded.iter().filter_map(|anchor: &Anchor| anchor.attempt.as_deref()).into_set();
    told.pending.retain(|attempt| !settled.contains(attempt.as_str()));
    if let Some(repo) = &project.repo {
        let named = repo
            .named_evidence()
            .map_err(|error| Error::new("the commits cannot be asked for evidence").because(error))?;
        for named in named {
            let ours = named.ledger.is_some() && named.ledger.as_deref() == id;
            if !ours && !runs.contains(run_of(&named.attempt)) {
                told.elsewhere += 1;
                continue;
            }
            let by = format!("commit {}", named.commit.get(..12).unwrap_or(&named.commit));
            told.named.entry(named.evidence.clone()).or_default().push(named.commit);
            told.anchors.push(Anchor {
                digest: named.evidence,
                attempt: Some(named.attempt),
                commit: None,
                settled: false,
                by,
            });
        }
    }
    // Commits come first: they tell which attempt is meant.
    told.anchors.extend(recorded);
    Ok(told)
}

/// The attempt whose record may be there before the journal names it.
fn being_settled(state: &State) -> Option<String> {
    let Phase::Settling { settlement, .. } = &state.phase else { return None };
    Some(attempt_id(&state.run.as_ref()?.id, settlement.iteration))
}

fn run_of(attempt: &str) -> &str {
    attempt.rsplit_once('/').map_or(attempt, |(run, _)| run)
}
