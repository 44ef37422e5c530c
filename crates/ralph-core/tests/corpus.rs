//! How well the words of agents are understood, measured on passages labelled by hand.
//!
//! The development set may be read while the rules are written; the held-out set may not, so of that one
//! only numbers are printed.
#![expect(clippy::disallowed_macros, reason = "the figures are printed, whether they please or not")]

#[path = "corpus/conversation.rs"]
mod conversation;
#[path = "corpus/transcripts.rs"]
mod transcripts;

use std::fmt::Write as _;
use std::path::Path;

use ralph_core::indicator::indicators;
use ralph_core::limit::{LimitKind, from_prose};
use serde::Deserialize;

#[derive(Deserialize)]
struct Passage {
    id: String,
    text: String,
    #[serde(flatten)]
    label: Label,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Label {
    Prose { done: bool },
    Limit { failed: bool, limit: Option<LimitKind> },
}

#[derive(Default)]
struct Score {
    passages: u32,
    done: u32,
    false_done: u32,
    missed_done: u32,
    limits: u32,
    false_limit: u32,
    missed_limit: u32,
    wrong_kind: u32,
    mistakes: String,
}

impl Score {
    fn of(set: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/corpus")
            .join(set)
            .with_extension("jsonl");
        let lines = std::fs::read_to_string(&path).expect("the corpus is in the repository");
        let mut score = Self::default();
        for line in lines.lines().filter(|line| !line.trim().is_empty()) {
            score.add(&serde_json::from_str(line).expect("a labelled passage"));
        }
        score
    }

    fn add(&mut self, passage: &Passage) {
        self.passages += 1;
        let mistake = match passage.label {
            Label::Prose { done } => {
                let found = indicators(&passage.text);
                self.done += u32::from(done);
                match (found.count >= 1, done) {
                    (true, false) => {
                        self.false_done += 1;
                        Some(format!("false done by {:?}", found.phrases))
                    }
                    (false, true) => {
                        self.missed_done += 1;
                        Some(format!("missed done, cancelled by {:?}", found.cancelled_by))
                    }
                    _ => None,
                }
            }
            Label::Limit { failed, limit } => {
                self.limits += u32::from(limit.is_some());
                let found = from_prose(failed, &passage.text).map(|limit| limit.kind);
                let counter = match (found, limit) {
                    (Some(_), None) => &mut self.false_limit,
                    (None, Some(_)) => &mut self.missed_limit,
                    (Some(found), Some(expected)) if found != expected => &mut self.wrong_kind,
                    _ => return,
                };
                *counter += 1;
                Some(format!("limit {found:?} instead of {limit:?}"))
            }
        };
        if let Some(mistake) = mistake {
            let _ = writeln!(self.mistakes, "{}: {mistake}\n    {:?}", passage.id, passage.text);
        }
    }

    fn missed_percent(&self) -> f64 {
        100.0 * f64::from(self.missed_done) / f64::from(self.done.max(1))
    }

    fn row(&self, set: &str) -> String {
        format!(
            "{set:<12} {:>8} {:>10} {:>5}/{:<3} {:>5.1} % {:>11} {:>9}/{:<2} {:>10}",
            self.passages,
            self.false_done,
            self.missed_done,
            self.done,
            self.missed_percent(),
            self.false_limit,
            self.missed_limit,
            self.limits,
            self.wrong_kind,
        )
    }
}

#[test]
fn what_agents_say_is_understood_as_people_understand_it() {
    let development = Score::of("development");
    let held_out = Score::of("held_out");
    println!("{:<12} passages false-done   missed-done    false-limit missed-limit wrong-kind", "set");
    println!("{}", development.row("development"));
    println!("{}", held_out.row("held-out"));
    println!("\nmistakes on the development set:\n{}", development.mistakes);

    for (set, score, missed) in [("development", &development, 2.0), ("held-out", &held_out, 5.0)] {
        assert_eq!(score.false_done, 0, "{set}: work taken for done that is not");
        assert!(
            score.missed_percent() <= missed,
            "{set}: {:.1} % of the dones missed",
            score.missed_percent()
        );
        assert_eq!(score.false_limit, 0, "{set}: prose taken for a limit");
    }
}
