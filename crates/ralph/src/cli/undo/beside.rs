//! What an undo leaves alone and a user would look for: marks in the task file, and where the branch is.

use std::collections::{BTreeMap, BTreeSet};

use ralph_core::backlog::State;
use ralph_core::ledger::Record;
use ralph_core::text;

use super::{NAMED, SHORT, Target};
use crate::project::Project;
use crate::store::Ledger;
use crate::suggest::quoted;
use crate::ui::Ui;
use crate::work::Place;

/// Items whose proof is gone now and that are done all the same, or whose proof is back and that are open: no snapshot holds
/// their task file. `reset`: the branch holds that work, so that what is done again could not be committed.
pub(super) fn items(project: &Project, target: &Target, reset: Option<&str>, ui: &mut Ui) {
    let Some(since) = target.iteration.or(target.undone) else { return };
    let gone = target.iteration.is_some();
    for (file, items) in proved(project, since) {
        let Ok(place) = Place::at(&project.root, project.root.join(&file)) else { continue };
        let Ok(bytes) = place.read() else { continue };
        let Ok(backlog) = place.parse(&bytes) else { continue };
        let state = |id: &String| backlog.find(id).map(|at| backlog.items()[at].state);
        let wrong = |id: &String| state(id).is_some_and(|state| (state == State::Done) == gone);
        let found: Vec<String> = items.into_iter().filter(wrong).collect();
        let Some(first) = found.first() else { continue };
        let mut named =
            found.iter().take(NAMED).map(|id| text::one_line(id, 80)).collect::<Vec<_>>().join(", ");
        if let more @ 1.. = found.len().saturating_sub(NAMED) {
            named.push_str(&format!(" and {more} more"));
        }
        let typed = |to: &str| format!("ralph backlog set {} {to}{}", quoted(first), place.flag());
        let (said, what, typed) = match gone {
            true => match reset {
                Some(reset) => (
                    "still done",
                    "have it worked on again and committed",
                    format!("{reset} && {}", typed("open")),
                ),
                None => ("still done", "have it worked on again", typed("open")),
            },
            false => ("proved by what is back, and not done", "mark it as done again", typed("done")),
        };
        let what = match found.len() {
            1 => what.to_owned(),
            _ => format!("{what}, such as {}", text::one_line(first, 80)),
        };
        ui.warn(&format!("{said} in {file}: {named}"));
        ui.say(&format!("to {what}: {typed}"));
    }
}

/// What was proved from this iteration on, by task file.
fn proved(project: &Project, since: u64) -> BTreeMap<String, BTreeSet<String>> {
    let mut proved: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let lines = Ledger::of(&project.truth).read().unwrap_or_default();
    for record in lines.into_iter().filter_map(|line| serde_json::from_value::<Record>(line.record).ok()) {
        if let (Some(file), Some(item)) = (&record.backlog, &record.item)
            && record.kind == "attempt"
            && record.passed()
            && record.iteration >= since
        {
            proved.entry(file.clone()).or_default().insert(item.clone());
        }
    }
    proved
}

/// Commits are not touched: where the branch was then, and the command to have it there.
pub(super) fn branch(project: &Project, target: &Target, now: Option<&str>, ui: &mut Ui) -> Option<String> {
    let (then, now) = (target.head.as_ref()?, now?);
    let short = |id: &str| id.get(..SHORT).unwrap_or(id).to_owned();
    let Some(then) = then.as_deref() else {
        ui.say(&format!("commits stay as they are: HEAD is {}, and there was none then", short(now)));
        return None;
    };
    if then == now {
        return None;
    }
    let then = short(then);
    ui.say(&format!("commits stay as they are: HEAD is {}, and was {then} then", short(now)));
    let there = if target.iteration.is_some() { "back too" } else { "there again" };
    // Where nobody can tell, nothing is to be lost either.
    let staged =
        project.repo.as_ref().is_none_or(|repo| !repo.staged().is_ok_and(|staged| staged.is_empty()));
    let (alone, reset) = match staged {
        true => ("the files and what is staged", format!("git reset --soft {then}")),
        false => ("the files", format!("git reset {then}")),
    };
    ui.say(&format!("to take the branch {there}, leaving {alone} alone: {reset}"));
    Some(reset)
}
