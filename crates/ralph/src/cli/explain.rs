//! `ralph explain`: what a stop reason or an exit code means and what to do, out of docs/troubleshooting.md, which is part of
//! the program so that its messages can point there wherever it is installed.

use std::process::ExitCode;

use clap::Args;

use crate::error::{Error, Result};
use crate::suggest;
use crate::ui::{self, Ui};

const PAGE: &str = include_str!("../../../../docs/troubleshooting.md");
/// No line is longer, as far as words go.
const COLUMNS: usize = 80;

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// A stop reason, such as circuit_open, or an exit code [default: a list of them]
    word: Option<String>,
}

pub(super) fn main(args: &ExplainArgs, ui: &Ui) -> Result<ExitCode> {
    let Some(word) = &args.word else {
        ui.data(list(PAGE).as_bytes());
        return super::fine();
    };
    let found = sections(PAGE, word);
    if found.is_empty() {
        let error = Error::usage(format!("there is no stop reason and no exit code '{word}'"));
        let words = rows(PAGE).into_iter().flat_map(|row| row.links).flat_map(|(words, _)| words);
        return Err(match suggest::nearest(word, words) {
            Some(near) => error.hint(format!("ralph explain {near}")),
            None => error.hint("ralph explain"),
        });
    }
    let texts: Vec<String> = found.into_iter().map(folded).collect();
    ui.data(texts.join("\n").as_bytes());
    super::fine()
}

/// A line of the page's table: an exit code, what it means, and the stop reasons with the section of each.
struct Row<'a> {
    code: &'a str,
    means: &'a str,
    links: Vec<(Vec<&'a str>, &'a str)>,
}

fn rows(page: &str) -> Vec<Row<'_>> {
    page.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<Row<'_>> {
    let mut cells = line.strip_prefix("| ")?.splitn(3, " | ");
    let (code, means, reasons) = (cells.next()?, cells.next()?, cells.next()?);
    code.parse::<u8>().ok()?;
    let links = reasons.split('[').skip(1).filter_map(|link| {
        let (text, rest) = link.split_once("](#")?;
        let words = text.split('`').skip(1).step_by(2).collect();
        Some((words, rest.split_once(')')?.0))
    });
    Some(Row { code, means, links: links.collect() })
}

/// The sections that a word or a code leads to, each with its heading.
fn sections<'a>(page: &'a str, word: &str) -> Vec<&'a str> {
    let rows = rows(page);
    let links = rows.iter().flat_map(|row| row.links.iter().map(move |link| (row.code, link)));
    let meant = links.filter(|(code, (words, _))| *code == word || words.contains(&word));
    let mut anchors: Vec<&str> = meant.map(|(_, (_, anchor))| *anchor).collect();
    anchors.dedup();
    let slug = |section: &str| section.lines().next().unwrap_or_default().to_lowercase().replace(' ', "-");
    let all = || page.split("\n## ").skip(1);
    anchors.iter().filter_map(|anchor| all().find(|section| slug(section) == *anchor)).collect()
}

fn list(page: &str) -> String {
    let mut list =
        String::from("Exit codes of a run, and the stop reasons behind them. More: ralph explain WORD\n\n");
    for row in rows(page) {
        let words: Vec<&str> = row.links.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        let words = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
        let mark = format!("{:>4}  ", row.code);
        list.push_str(&wrapped(&mark, &format!("{}{words}", row.means.replace('`', ""))));
    }
    list
}

/// A section with its lines as long as fits: paragraphs and list items one by one.
fn folded(section: &str) -> String {
    let mut text = String::new();
    let (heading, body) = section.split_once('\n').unwrap_or((section, ""));
    text.push_str(&format!("{heading}\n"));
    for block in body.trim().split("\n\n") {
        text.push('\n');
        let mut items: Vec<String> = vec![];
        for line in block.lines() {
            match items.last_mut() {
                Some(last) if !line.starts_with("- ") => {
                    last.push(' ');
                    last.push_str(line.trim());
                }
                _ => items.push(line.to_owned()),
            }
        }
        for item in &items {
            let (mark, rest) = item.split_at(if item.starts_with("- ") { 2 } else { 0 });
            text.push_str(&wrapped(mark, rest));
        }
    }
    text
}

/// In lines that fit, the first with a mark and the others below it.
fn wrapped(mark: &str, text: &str) -> String {
    let room = COLUMNS - mark.chars().count();
    let indent = " ".repeat(mark.chars().count());
    let line = |(nth, line): (usize, &String)| format!("{}{line}\n", if nth == 0 { mark } else { &indent });
    ui::wrapped(text, room).iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Exit;
    use ralph_core::decision::{Proof, Stop};
    use ralph_core::limits::Resource;

    /// One of each; the match is there so that a new one cannot be forgotten.
    fn stops() -> Vec<Stop> {
        let text = String::new;
        let budget = |what| Stop::Budget { what, used: 0, max: 0, why: None };
        let saturated = |word: &str| Stop::Saturated { word: word.into(), why: text() };
        let (id, why, proof) = (text(), text(), Proof::Checks);
        let all = vec![
            Stop::Complete { proof },
            Stop::Blocked { why: text() },
            Stop::MaxIterations { used: 0, max: 0 },
            saturated("test_saturation"),
            saturated("done_saturation"),
            Stop::CircuitOpen { why: text(), probe_at: None },
            budget(Resource::Money),
            budget(Resource::Tokens),
            budget(Resource::Time),
            Stop::AgentsExhausted { failures: 0, last: text() },
            Stop::Stopped,
            Stop::Closed,
            Stop::Interrupted,
            Stop::Terminated,
            Stop::Error { what: text() },
            Stop::ItemPassed { id: text(), proof },
            Stop::ItemFailed { id, why },
            Stop::BacklogComplete { once: false },
            Stop::BacklogComplete { once: true },
            Stop::Unreadable { what: text() },
        ];
        for stop in &all {
            match stop {
                Stop::Complete { .. } | Stop::Blocked { .. } | Stop::MaxIterations { .. } => {}
                Stop::Saturated { .. } | Stop::CircuitOpen { .. } | Stop::AgentsExhausted { .. } => {}
                Stop::Budget { what: Resource::Money | Resource::Tokens | Resource::Time, .. } => {}
                Stop::Stopped | Stop::Closed | Stop::Interrupted | Stop::Terminated => {}
                Stop::Error { .. } | Stop::Unreadable { .. } | Stop::Unknown => {}
                Stop::ItemPassed { .. } | Stop::ItemFailed { .. } | Stop::BacklogComplete { .. } => {}
            }
        }
        all
    }

    #[test]
    fn every_stop_reason_and_exit_code_has_a_section_that_speaks_of_it() {
        for stop in stops() {
            let (word, code) = (stop.word(), stop.exit_code().to_string());
            let found = sections(PAGE, word);
            let speaks = |section: &&str| {
                section.starts_with(&format!("{word}\n")) || section.contains(&format!("`{word}`"))
            };
            assert!(!found.is_empty() && found.iter().all(speaks), "{word}: {found:?}");
            let row = rows(PAGE).into_iter().find(|row| row.code == code);
            let links = row.map(|row| row.links).unwrap_or_default();
            let listed = links.iter().any(|(words, _)| words.contains(&word));
            assert!(listed, "{word} is not listed at exit {code}");
        }
        for exit in [Exit::Error, Exit::Usage, Exit::Data] {
            assert!(!sections(PAGE, &(exit as u8).to_string()).is_empty(), "{exit:?}");
        }
    }

    #[test]
    fn every_section_and_every_link_is_reached() {
        let slug =
            |section: &str| section.lines().next().unwrap_or_default().to_lowercase().replace(' ', "-");
        let headings: Vec<String> = PAGE.split("\n## ").skip(1).map(slug).collect();
        for row in rows(PAGE) {
            for (words, anchor) in &row.links {
                assert!(headings.iter().any(|heading| heading == anchor), "{words:?} leads to #{anchor}");
            }
        }
    }

    #[test]
    fn nothing_is_wider_than_a_terminal() {
        let all = PAGE.split("\n## ").skip(1).map(folded).chain([list(PAGE)]);
        for line in all.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()) {
            assert!(line.chars().count() <= COLUMNS, "{line}");
        }
        assert_eq!(folded("a\n\nb\nc\n\n- d\n  e\n- f\n"), "a\n\nb c\n\n- d e\n- f\n");
    }
}
