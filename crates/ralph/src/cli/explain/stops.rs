//! What docs/troubleshooting.md says of one stop reason or exit code.

use super::{fold, pages};

fn page() -> &'static str {
    pages::named("troubleshooting").map_or("", pages::Page::text)
}

/// A line of the page's table: an exit code, what it means, and the stop reasons.
struct Row {
    code: &'static str,
    means: &'static str,
    words: Vec<&'static str>,
}

fn rows() -> Vec<Row> {
    page().lines().filter_map(row).collect()
}

/// `` | [5](#exit-5) | the loop goes nowhere | [`circuit_open`](#circuit_open) | ``
fn row(line: &'static str) -> Option<Row> {
    let mut cells = line.strip_prefix("| [")?.splitn(3, " | ");
    let (code, means, reasons) = (cells.next()?, cells.next()?, cells.next()?);
    let code = code.split_once(']')?.0;
    code.parse::<u8>().ok()?;
    Some(Row { code, means, words: reasons.split('`').skip(1).step_by(2).collect() })
}

/// Every stop reason once.
pub(super) fn reasons() -> Vec<&'static str> {
    let mut reasons: Vec<&str> = vec![];
    for word in rows().into_iter().flat_map(|row| row.words) {
        if !reasons.contains(&word) {
            reasons.push(word);
        }
    }
    reasons
}

/// What the page says about a stop reason, with its heading; about an exit code, with its own words and all its reasons.
pub(super) fn sections(word: &str) -> Vec<&'static str> {
    let named = |section: &&str, name: &str| section.split_once('\n').is_some_and(|(first, _)| first == name);
    let exits = || page().split("\n## ").skip(1);
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

pub(super) fn shown(section: &str) -> String {
    fold::folded(&format!("### {section}"), &|target| pages::told(target, ""))
}

/// The table, for the list.
pub(super) fn lines() -> String {
    let line = |row: Row| {
        let words = if row.words.is_empty() { String::new() } else { format!(": {}", row.words.join(", ")) };
        let mark = format!("{:>4}  ", row.code);
        fold::wrapped(&mark, &format!("{}{words}", row.means.replace('`', "")))
    };
    rows().into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Exit;
    use ralph_core::decision::{Proof, Stop};
    use ralph_core::limits::Resource;
    use ralph_core::time::Time;

    /// One of each; the match is there so that a new one cannot be forgotten.
    fn stops() -> Vec<Stop> {
        let text = String::new;
        let budget = |what| Stop::Budget { what, used: 0, max: 0, why: None, until: None };
        let saturated = |word: &str| Stop::Saturated { word: word.into(), why: text() };
        let (id, why, proof) = (text(), text(), Proof::Checks);
        let all = vec![
            Stop::complete(proof),
            Stop::Blocked { why: text() },
            Stop::MaxIterations { used: 0, max: 0 },
            saturated("test_saturation"),
            saturated("done_saturation"),
            Stop::CircuitOpen { why: text(), probe_at: None },
            budget(Resource::Money),
            budget(Resource::Tokens),
            budget(Resource::Time),
            Stop::Budget { what: Resource::Time, used: 0, max: 0, why: None, until: Some(Time::default()) },
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
            assert_eq!(sections(word).len(), 1, "{word}");
            let row = rows().into_iter().find(|row| row.code == code);
            assert!(row.is_some_and(|row| row.words.contains(&word)), "{word} is not listed at exit {code}");
            assert!(!sections(&code).is_empty(), "exit {code}");
        }
        for exit in [Exit::Error, Exit::Usage, Exit::Data] {
            assert!(!sections(&(exit as u8).to_string()).is_empty(), "{exit:?}");
        }
        assert!(
            sections("3").first().is_some_and(|own| own.starts_with("Exit 3\n\n")),
            "its own words first"
        );
        assert_eq!(sections("5").first(), Some(&"Exit 5\n"));
    }

    #[test]
    fn a_section_is_shown_alone_and_leans_on_no_other() {
        for stop in stops() {
            let shown: String = sections(stop.word()).into_iter().map(shown).collect();
            assert!(shown.starts_with(&format!("{}\n\n", stop.word())), "{shown}");
            assert!(!shown.contains("the same, "), "{shown}");
        }
    }

    #[test]
    fn a_section_names_the_commands_that_show_other_pages() {
        for (reason, page) in
            [("circuit_open", "tuning"), ("test_saturation", "saturation"), ("agents_exhausted", "pools")]
        {
            let shown: String = sections(reason).into_iter().map(shown).collect();
            let one_line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(one_line.contains(&format!(" (ralph explain {page})")), "{shown}");
            assert!(!one_line.contains("(docs/"), "{shown}");
        }
    }
}
