//! `ralph explain`: what a stop reason or an exit code means and what to do, and the pages for users, all of which are part of
//! the program so that its messages can point there wherever it is installed.

mod fold;
mod pages;
mod stops;

use std::process::ExitCode;

use clap::Args;

use crate::error::{Error, Result};
use crate::suggest;
use crate::ui::Ui;

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// A stop reason, such as circuit_open, an exit code, a signal, such as STUCK, or a page, such as pools; a part of a name will do
    /// [default: a list of them]
    topic: Vec<String>,
}

pub(super) fn main(args: &ExplainArgs, ui: &Ui) -> Result<ExitCode> {
    let topic = args.topic.join(" ");
    let shown = if topic.is_empty() { list() } else { answer(&topic).ok_or_else(|| nothing(&topic))? };
    ui.data(shown.as_bytes());
    super::fine()
}

/// What is named exactly comes before what is named by a part of it, and a stop before a page.
fn answer(topic: &str) -> Option<String> {
    let reason = topic.to_lowercase().replace(['-', ' '], "_");
    let reason =
        reason.strip_prefix("exit_").filter(|code| code.parse::<u8>().is_ok()).unwrap_or(&reason).to_owned();
    let name = reason.replace('_', "-");
    let stops_of = |reasons: &[&str]| {
        let sections = reasons.iter().flat_map(|reason| stops::sections(reason));
        let shown: Vec<String> = sections.map(stops::shown).collect();
        (!shown.is_empty()).then(|| shown.join("\n"))
    };
    if let Some(shown) = stops_of(&[&reason]) {
        return Some(shown);
    }
    let signals = pages::named("signals");
    if let Some(shown) = signals.and_then(|page| page.section(&reason.to_uppercase())) {
        return Some(shown);
    }
    if let Some(page) = pages::named(&name) {
        return Some(page.shown());
    }
    if reason.chars().count() < 3 {
        return None;
    }
    let reasons = stops::reasons();
    let parts: Vec<&str> = reasons.into_iter().filter(|word| word.contains(&reason)).collect();
    stops_of(&parts).or_else(|| match pages::with(&name)[..] {
        [] => None,
        [page] => Some(page.shown()),
        // Too much to read at once.
        ref several => {
            let lines: String = several.iter().map(|page| page.line()).collect();
            Some(format!("Several pages have that in their names. More: ralph explain TOPIC\n\n{lines}"))
        }
    })
}

fn nothing(topic: &str) -> Error {
    let error = Error::usage(format!("there is no stop reason, exit code or page '{topic}'"));
    let known = stops::reasons().into_iter().chain(pages::PAGES.iter().map(pages::Page::name));
    // A part of a name stands for all that have it.
    let parts = |name: &'static str| {
        std::iter::once(name).chain(name.split(['_', '-']).filter(|part| part.len() > 3))
    };
    match suggest::nearest(topic, known.flat_map(parts)) {
        Some(near) => error.hint(format!("ralph explain {near}")),
        None => error.hint("ralph explain"),
    }
}

fn list() -> String {
    let pages: String = pages::PAGES.iter().map(pages::Page::line).collect();
    let stops = stops::lines();
    format!(
        "Exit codes of a run, and the stop reasons behind them. More: ralph explain WORD\n\n{stops}\n\
         Pages, about everything else. More: ralph explain TOPIC\n\n{pages}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Exit;

    fn found(topic: &str) -> String {
        answer(topic).unwrap_or_else(|| panic!("{topic} leads nowhere"))
    }

    fn title(topic: &str) -> String {
        found(topic).lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_name_comes_before_a_part_of_one_and_a_stop_before_a_page() {
        for (topic, shown) in [
            ("circuit_open", "circuit_open"),
            ("Circuit-Open", "circuit_open"),
            ("5", "Exit 5"),
            ("budget", "budget"),
            ("saturation", "Saturation"),
            ("backlog", "Backlog and attempts"),
            ("circuit breaker", "Circuit breaker"),
            ("hook_mode", "Hook mode: holding a session that you started"),
            ("circuit", "circuit_open"),
            ("breaker", "Circuit breaker"),
            ("pool", "Pools"),
            ("undo", "Snapshots and undo"),
            ("STUCK", "STUCK"),
            ("done", "DONE"),
            ("Rotate", "ROTATE"),
            ("continue", "CONTINUE"),
            ("IDLE", "IDLE"),
            ("signals", "Status signals"),
        ] {
            assert_eq!(title(topic), shown, "{topic}");
        }
        assert!(found("max").contains("\nmax_time\n"), "{}", found("max"));
        assert!(found("rep").contains("\n  reports ") && found("rep").contains("\n  record-and-replay "));
        for nowhere in ["zz", "elephant", "256", "9"] {
            assert_eq!(answer(nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn what_was_probably_meant_may_be_a_page() {
        let near = |topic: &str| format!("{:?}", nothing(topic));
        assert!(near("circut").contains("ralph explain circuit"), "{}", near("circut"));
        assert!(near("snapshosts").contains("ralph explain snapshots"), "{}", near("snapshosts"));
        assert_eq!(nothing("zz").exit, Exit::Usage);
    }

    #[test]
    fn the_list_fits_and_has_everything() {
        let list = list();
        assert!(list.lines().all(|line| line.chars().count() <= fold::COLUMNS), "{list}");
        for page in pages::PAGES {
            assert!(list.contains(&format!("\n  {} ", page.name())), "{}", page.name());
        }
        for reason in stops::reasons() {
            assert!(list.contains(reason), "{reason}");
        }
    }

    /// Also in what pages print themselves: every `ralph explain NAME` can be typed.
    #[test]
    fn whatever_is_said_to_be_explained_is() {
        let codes = (0..=u8::MAX).map(|code| code.to_string());
        let stops =
            stops::reasons().into_iter().map(str::to_owned).chain(codes).filter_map(|word| answer(&word));
        let all: Vec<String> = pages::PAGES.iter().map(pages::Page::shown).chain(stops).collect();
        let words: Vec<&str> = all.iter().flat_map(|text| text.split_whitespace()).collect();
        let mut links = 0;
        for three in words.windows(3).filter(|three| three[0].ends_with("(ralph") && three[1] == "explain") {
            let name = three[2].split(')').next().unwrap_or_default();
            let exactly = pages::named(name).is_some() || !stops::sections(name).is_empty();
            assert!(exactly, "{three:?} leads nowhere");
            links += 1;
        }
        assert!(links > 50, "{links}");
    }
}
