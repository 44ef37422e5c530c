//! How often each item failed, by what the ledger says: counted as it grows, so that a selection reads what is new.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use ralph_core::items::{ParkReason, Patch};
use ralph_core::ledger::is_by_word;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::Ledger;

/// How often an item failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Failures {
    /// Since it was last blocked.
    attempts: u64,
    blocked: bool,
    in_all: u64,
    /// What the last one failed by.
    why: String,
    /// How it passed, where that was the last that was done to it.
    passed: Option<Pass>,
    /// Why it is parked, and its work. Whoever takes it up again is told of both.
    park: Option<Park>,
    /// The work of every time that it was parked.
    patches: Vec<Patch>,
    /// It is parked now.
    parked: bool,
    /// A person left it out, and perhaps says why.
    skipped: Option<String>,
    /// What a person said about it.
    answers: Vec<String>,
}

/// Why an item was parked, and its work as a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Park {
    pub reason: ParkReason,
    #[serde(default)]
    pub patch: Option<Patch>,
}

/// Answers that an item's prompt holds.
const MOST_ANSWERS: usize = 10;

/// What a pass rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pass {
    run: String,
    /// Nothing but the agent's word speaks for it.
    pub claimed: bool,
    /// Its checks passed, and no file was changed for it.
    pub without_change: bool,
}

/// How much of a reason is told to the next agent.
const REASON: usize = 600;

/// The items of one backlog that failed, by id and title: another title is another item. A title that held a secret is
/// not recorded, and stands for any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tried(HashMap<String, HashMap<String, Failures>>);

#[derive(Debug, Default)]
pub struct Tally {
    /// As far as the ledger was read.
    read: u64,
    /// By the file that the items are in.
    backlogs: HashMap<String, Tried>,
}

/// What counts of a record.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Brief {
    #[serde(rename = "type")]
    kind: String,
    backlog: Option<String>,
    item: Option<String>,
    title: Option<String>,
    result: Option<String>,
    why: String,
    blocked: bool,
    run: String,
    checks: Vec<IgnoredAny>,
    untouched: bool,
    tolerated: bool,
    without_change: bool,
    parked: Option<Park>,
    text: String,
}

impl Tried {
    /// Why the last attempt at an item failed, where that was the last that was done to it.
    pub fn why(&self, id: &str, title: &str) -> Option<&str> {
        Some(self.known(id, title)?.why.as_str()).filter(|why| !why.is_empty())
    }

    /// How an item passed, where that was the last that was done to it.
    pub fn passed(&self, id: &str, title: &str) -> Option<&Pass> {
        self.known(id, title)?.passed.as_ref()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn known(&self, id: &str, title: &str) -> Option<&Failures> {
        let titles = self.0.get(id)?;
        titles.get(title).or_else(|| titles.get(""))
    }

    /// Why an item was last parked, also where somebody took it up again since.
    pub fn park(&self, id: &str, title: &str) -> Option<&Park> {
        self.known(id, title)?.park.as_ref()
    }

    /// Whether it waits for a person.
    pub fn is_parked(&self, id: &str, title: &str) -> bool {
        self.known(id, title).is_some_and(|known| known.parked)
    }

    /// That a person left it out, with what they said about it.
    pub fn skipped(&self, id: &str, title: &str) -> Option<&str> {
        self.known(id, title)?.skipped.as_deref()
    }

    /// What a person said about it, oldest first.
    pub fn answers(&self, id: &str, title: &str) -> &[String] {
        self.known(id, title).map_or(&[], |known| &known.answers)
    }

    /// Without what passed in this run, which knows that itself.
    #[must_use]
    pub fn before(mut self, run: &str) -> Self {
        let known = self.0.values_mut().flat_map(HashMap::values_mut);
        known.for_each(|known| drop(known.passed.take_if(|pass| pass.run == run)));
        self
    }

    /// How many attempts at an item count; none where nobody recorded any of that id. `stays` tells whether the task file has no
    /// word for a blocked item: where it has one, whoever opens the item again gives it new attempts.
    pub fn attempts(&self, id: &str, title: &str, stays: impl FnOnce() -> bool) -> Option<u64> {
        let titles = self.0.get(id)?;
        let Some(known) = titles.get(title).or_else(|| titles.get("")) else { return Some(0) };
        Some(match known.blocked {
            true if stays() => known.in_all,
            true => 0,
            false => known.attempts,
        })
    }
}

impl Failures {
    /// A person gives it new attempts. Whoever tries again is still told why it failed, or was parked.
    fn taken_up(self) -> Self {
        let Self { why, park, patches, answers, .. } = self;
        Self { why, park, patches, answers, ..Self::default() }
    }
}

impl Tally {
    /// Counts what came since, and hands out what is known of this backlog.
    pub fn of(&mut self, ledger: &Ledger, backlog: Option<&[u8]>) -> Tried {
        // Who cannot read it counts nothing; writing to it says what is wrong.
        let _ = self.catch_up(ledger);
        let backlog = String::from_utf8_lossy(backlog.unwrap_or_default());
        self.backlogs.get(&*backlog).cloned().unwrap_or_default()
    }

    /// The snapshots that hold the work of parked items, until these pass.
    pub fn pinned(&mut self, ledger: &Ledger) -> Vec<String> {
        let _ = self.catch_up(ledger);
        let known = self.backlogs.values().flat_map(|tried| tried.0.values()).flat_map(HashMap::values);
        let patches = known.flat_map(|known| known.patches.iter().cloned());
        patches.flat_map(|Patch { before, after }| [before, after]).collect()
    }

    fn catch_up(&mut self, ledger: &Ledger) -> io::Result<()> {
        let mut file = File::open(ledger.path())?;
        if file.metadata()?.len() < self.read {
            *self = Self::default();
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes)?;
        for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            self.read += line.len() as u64;
            if let Ok(brief) = serde_json::from_slice(line) {
                self.note(brief);
            }
        }
        Ok(())
    }

    /// A pass begins anew, and so does a person who resets the item.
    fn note(&mut self, brief: Brief) {
        let Brief { kind, backlog, item: Some(item), title, result, why, blocked, run, parked, text, .. } =
            brief
        else {
            return;
        };
        let pass = Pass {
            run,
            claimed: is_by_word(brief.checks.is_empty(), brief.untouched, brief.tolerated),
            without_change: brief.without_change,
        };
        let title = title.filter(|title| !title.contains("[redacted")).unwrap_or_default();
        let of_one = self.backlogs.entry(backlog.unwrap_or_default()).or_default();
        let known = of_one.0.entry(item).or_default().entry(title).or_default();
        match (kind.as_str(), result.as_deref()) {
            ("attempt", Some("PASSED")) => *known = Failures { passed: Some(pass), ..Failures::default() },
            ("reset" | "unskip", _) => *known = std::mem::take(known).taken_up(),
            ("answer", _) => {
                *known = std::mem::take(known).taken_up();
                if !known.answers.contains(&text) {
                    known.answers.push(text);
                }
                let surplus = known.answers.len().saturating_sub(MOST_ANSWERS);
                known.answers.drain(..surplus);
            }
            ("skip", _) => known.skipped = Some(text),
            ("attempt", _) => {
                let so_far = if known.blocked { 0 } else { known.attempts };
                let is_parked = parked.is_some();
                let mut patches = std::mem::take(&mut known.patches);
                patches.extend(parked.as_ref().and_then(|park| park.patch.clone()));
                // Where nothing was done this time, what was done before is still to be had.
                let parked = parked.map(|park| Park { patch: patches.last().cloned(), ..park });
                *known = Failures {
                    attempts: so_far + 1,
                    blocked,
                    in_all: known.in_all + 1,
                    why: ralph_core::text::one_line(&why, REASON),
                    passed: None,
                    park: parked.or(known.park.take()),
                    patches,
                    parked: is_parked,
                    skipped: None,
                    answers: std::mem::take(&mut known.answers),
                };
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(backlog: &str, item: &str, title: &str, result: &str, blocked: bool) -> Brief {
        let kind = if result == "reset" { "reset" } else { "attempt" };
        let record = json!({"type": kind, "backlog": backlog, "item": item, "title": title, "result": result,
            "blocked": blocked});
        serde_json::from_value(record).expect("a record")
    }

    #[test]
    fn another_file_or_title_is_another_item_and_a_pass_or_a_reset_begins_anew() {
        let mut tally = Tally::default();
        let tried = |tally: &Tally, file: &str, title: &str, stays: bool| {
            tally.backlogs.get(file).and_then(|tried| tried.attempts("US-1", title, || stays))
        };
        for blocked in [false, true] {
            tally.note(of("prd.json", "US-1", "one", "FAILED", blocked));
        }
        assert_eq!(tried(&tally, "prd.json", "one", true), Some(2), "the file cannot say that it is blocked");
        assert_eq!(tried(&tally, "prd.json", "one", false), Some(0), "somebody opened it again");
        assert_eq!(
            (tried(&tally, "prd.json", "other", true), tried(&tally, "plan.md", "one", true)),
            (Some(0), None)
        );
        tally.note(of("prd.json", "US-1", "one", "reset", false));
        assert_eq!(tried(&tally, "prd.json", "one", true), Some(0));
        tally.note(of("prd.json", "US-1", "one", "FAILED", false));
        assert_eq!(tried(&tally, "prd.json", "one", true), Some(1));
        tally.note(of("prd.json", "US-1", "one", "PASSED", false));
        assert_eq!(tried(&tally, "prd.json", "one", true), Some(0));
        tally.note(of("prd.json", "US-1", "key [redacted]", "FAILED", false));
        assert_eq!(tried(&tally, "prd.json", "key s3cr3t", true), Some(1));
    }
}
