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
    /// A stop reason, such as circuit_open, or a part of one, or an exit code [default: a list of them]
    word: Option<String>,
}

pub(super) fn main(args: &ExplainArgs, ui: &Ui) -> Result<ExitCode> {
    let Some(word) = &args.word else {
        ui.data(list(PAGE).as_bytes());
        return super::fine();
    };
    let mut found = sections(PAGE, word);
    if found.is_empty() {
        let part = word.to_lowercase().replace(['-', ' '], "_");
        let reasons = rows(PAGE).into_iter().flat_map(|row| row.words);
        let mut named: Vec<&str> =
            reasons.filter(|reason| part.len() > 2 && reason.contains(part.as_str())).collect();
        named.dedup();
        found = named.into_iter().flat_map(|reason| sections(PAGE, reason)).collect();
    }
    if found.is_empty() {
        let error = Error::usage(format!("there is no stop reason and no exit code '{word}'"));
        let words = rows(PAGE).into_iter().flat_map(|row| row.words);
        // A part of a reason stands for all that have it.
        let parts = |reason: &'static str| {
            std::iter::once(reason).chain(reason.split('_').filter(|part| part.len() > 3))
        };
        return Err(match suggest::nearest(word, words.flat_map(parts)) {
            Some(near) => error.hint(format!("ralph explain {near}")),
            None => error.hint("ralph explain"),
        });
    }
    let texts: Vec<String> = found.into_iter().map(folded).collect();
    ui.data(texts.join("\n").as_bytes());
    super::fine()
}

/// A line of the page's table: an exit code, what it means, and the stop reasons.
struct Row<'a> {
    code: &'a str,
    means: &'a str,
    words: Vec<&'a str>,
}

fn rows(page: &str) -> Vec<Row<'_>> {
    page.lines().filter_map(row).collect()
}

/// `` | [5](#exit-5) | the loop goes nowhere | [`circuit_open`](#circuit_open) | ``
fn row(line: &str) -> Option<Row<'_>> {
    let mut cells = line.strip_prefix("| [")?.splitn(3, " | ");
    let (code, means, reasons) = (cells.next()?, cells.next()?, cells.next()?);
    let code = code.split_once(']')?.0;
    code.parse::<u8>().ok()?;
    Some(Row { code, means, words: reasons.split('`').skip(1).step_by(2).collect() })
}

/// What the page says about a stop reason, with its heading; about an exit code, with its own words and all its reasons.
fn sections<'a>(page: &'a str, word: &str) -> Vec<&'a str> {
    let named = |section: &&str, name: &str| section.split_once('\n').is_some_and(|(first, _)| first == name);
    let exits = || page.split("\n## ").skip(1);
    if word.parse::<u8>().is_ok() {
        let name = format!("Exit {word}");
        return exits()
            .find(|exit| named(exit, &name))
            .into_iter()
            .flat_map(|exit| exit.split("\n### "))
            .collect();
    }
    exits().flat_map(|exit| exit.split("\n### ").skip(1)).filter(|section| named(section, word)).collect()
}

fn list(page: &str) -> String {
    let mut list =
        String::from("Exit codes of a run, and the stop reasons behind them. More: ralph explain WORD\n\n");
    for row in rows(page) {
        let words = if row.words.is_empty() { String::new() } else { format!(": {}", row.words.join(", ")) };
        let mark = format!("{:>4}  ", row.code);
        list.push_str(&wrapped(&mark, &format!("{}{words}", row.means.replace('`', ""))));
    }
    list
}

/// A section with its lines as long as fits: paragraphs and list items one by one, and code as it is.
fn folded(section: &str) -> String {
    let (heading, body) = section.split_once('\n').unwrap_or((section, ""));
    let mut text = format!("{heading}\n");
    // Every other part is what stands between two fences, behind the word for its language.
    for (nth, part) in body.split("```").enumerate() {
        if nth % 2 == 1 {
            let (_, code) = part.split_once('\n').unwrap_or_default();
            text.push_str(&format!("\n{code}"));
        } else {
            fold_prose(part, &mut text);
        }
    }
    text
}

fn fold_prose(prose: &str, text: &mut String) {
    for block in unlinked(prose).trim().split("\n\n").filter(|block| !block.is_empty()) {
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
}

/// `[exit 7](#exit-7)` leads nowhere on a terminal; another page is named by its file.
fn unlinked(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let named = link.split_once("](").filter(|(name, _)| !name.contains(']'));
        let target = named.and_then(|(name, rest)| Some((name, rest.split_once(')')?)));
        plain.push_str(before);
        let Some((name, (target, after))) = target else {
            plain.push('[');
            rest = link;
            continue;
        };
        plain.push_str(name);
        if let Some(page) = target.split('#').next().filter(|page| !page.is_empty()) {
            plain.push_str(&format!(" (docs/{page})"));
        }
        rest = after;
    }
    plain + rest
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
            Stop::BacklogComplete { once: false, for_people: None },
            Stop::BacklogComplete { once: true, for_people: None },
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
    fn every_stop_reason_and_exit_code_has_a_section_and_is_listed() {
        for stop in stops() {
            let (word, code) = (stop.word(), stop.exit_code().to_string());
            assert_eq!(sections(PAGE, word).len(), 1, "{word}");
            let row = rows(PAGE).into_iter().find(|row| row.code == code);
            assert!(row.is_some_and(|row| row.words.contains(&word)), "{word} is not listed at exit {code}");
            assert!(!sections(PAGE, &code).is_empty(), "exit {code}");
        }
        for exit in [Exit::Error, Exit::Usage, Exit::Data] {
            assert!(!sections(PAGE, &(exit as u8).to_string()).is_empty(), "{exit:?}");
        }
        assert_eq!(sections(PAGE, "3").first(), Some(&"Exit 3\n"));
    }

    #[test]
    fn a_section_is_shown_alone_and_leans_on_no_other() {
        for stop in stops() {
            let shown: String = sections(PAGE, stop.word()).into_iter().map(folded).collect();
            assert!(!shown.contains("the same, "), "{shown}");
        }
    }

    #[test]
    fn links_are_told_by_their_names() {
        let text = "see [exit 7](#exit-7), a[0] and [b](c.md#d).";
        assert_eq!(unlinked(text), "see exit 7, a[0] and b (docs/c.md).");
        for section in ["circuit_open", "test_saturation", "agents_exhausted"] {
            let shown: String = sections(PAGE, section).into_iter().map(folded).collect();
            let one_line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(one_line.contains(" (docs/") && !one_line.contains("(("), "{shown}");
        }
    }

    #[test]
    fn code_is_shown_line_by_line_without_its_fences() {
        let page = "a\n\nb\nc\n\n```console\n$ d [e](f)\n  g\n\nh\n```\n\ni\nj\n";
        assert_eq!(folded(page), "a\n\nb c\n\n$ d [e](f)\n  g\n\nh\n\ni j\n");
    }

    #[test]
    fn nothing_is_wider_than_a_terminal() {
        let all =
            PAGE.split("\n## ").flat_map(|exit| exit.split("\n### ")).skip(1).map(folded).chain([list(PAGE)]);
        // Code is as wide as it is.
        let code: Vec<&str> = PAGE.split("```").skip(1).step_by(2).flat_map(str::lines).collect();
        for line in all.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()) {
            assert!(line.chars().count() <= COLUMNS || code.contains(&line.as_str()), "{line}");
        }
        assert_eq!(folded("a\n\nb\nc\n\n- d\n  e\n- f\n"), "a\n\nb c\n\n- d e\n- f\n");
    }
}
