//! A check that fails before a backlog is begun and names no tests: the user decides whether the run goes on without it.

use ralph_core::check;
use ralph_core::machine;
use ralph_core::state::State;

use crate::settings::{CHECKS, NO_CHECK, Value, Wishes};
use crate::trust::Consent;
use crate::ui;

/// Asks on a terminal; what is to be changed in the plan to go on, if the user wants to.
pub(super) fn ask(state: &State, consent: Option<Consent>) -> Option<Wishes> {
    let check = machine::unnamed_failure(state).filter(|_| consent == Some(Consent::Ask))?;
    let name = CHECKS.into_iter().find(|name| *name == check.name)?;
    let question = format!(
        "\n{} already fails, and names no tests.\n  w  go on without it in this run\n  k  keep it: the items must make it pass\n  s  stop\nWhat to do? [w/k/S] ",
        check::shown(&check.command)
    );
    let go_on = Wishes { detect: true, ..Wishes::default() };
    match ui::ask(&question)?.to_lowercase().as_str() {
        "w" | "without" => Some(Wishes { checks: vec![(name, NO_CHECK.into())], ..go_on }),
        "k" | "keep" => {
            let refuse = Value { key: "baseline".into(), origin: "answered".into(), value: "refuse".into() };
            Some(Wishes { values: vec![refuse], ..go_on })
        }
        _ => None,
    }
}
