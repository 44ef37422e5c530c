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

/// So many commands are written out.
const TYPED: usize = 5;

/// Items whose proof is gone now and that are done all the same, or whose proof is back and that are open: no snapshot holds
/// their task file. `reset`: the branch holds that work, so that what is done again could not be committed.
/// `again`: the flags that a run needs for the same agents.
pub(super) fn items(project: &Project, target: &Target, reset: Option<&str>, again: &str, ui: &mut Ui) {
    let Some(since) = target.iteration.or(target.undone) else { return };
    let gone = target.iteration.is_some();
    for (file, items) in proved(project, since) {
        let Ok(place) = Place::at(&project.root, project.root.join(&file)) else { continue };
        let Ok(bytes) = place.read() else { continue };
        let Ok(backlog) = place.parse(&bytes) else { continue };
        let state = |id: &String| backlog.find(id).map(|at| backlog.items()[at].state);
        let wrong = |id: &String| state(id).is_some_and(|state| (state == State::Done) == gone);
        let found: Vec<String> = items.into_iter().filter(wrong).collect();
        if found.is_empty() {
            continue;
        }
        let mut named =
            found.iter().take(NAMED).map(|id| text::one_line(id, 80)).collect::<Vec<_>>().join(", ");
        if let more @ 1.. = found.len().saturating_sub(NAMED) {
            named.push_str(&format!(" and {more} more"));
        }
        let set = |id: &String, to: &str| format!("ralph backlog set {} {to}{}", quoted(id), place.flag());
        let all = |to: &str| found.iter().take(TYPED).map(|id| set(id, to)).collect::<Vec<_>>().join(" && ");
        let (said, what, typed) = match (gone, reset) {
            (true, Some(reset)) => {
                ("still done", "worked on again and committed", format!("{reset} && {}", all("open")))
            }
            (true, None) => ("still done", "worked on again", all("open")),
            (false, _) => ("passed by what is back, and not done", "marked as done again", all("done")),
        };
        let them = match found.len() {
            1 => "it",
            n if n <= TYPED => "them",
            _ => "the first of them",
        };
        ui.warn(&format!("{said} in {file}: {named}"));
        ui.say(&format!("to have {them} {what}: {typed}"));
        if gone {
            ui.say(&format!("then: ralph run{again}"));
        }
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
    let others = project.repo.as_ref().and_then(|repo| repo.others_since(&then, now).ok()).unwrap_or(0);
    let takes = match others {
        0 => String::new(),
        n => format!(
            " (it takes {} with it that {} not ralph's)",
            text::count(n, "commit"),
            if n == 1 { "is" } else { "are" }
        ),
    };
    ui.say(&format!("to take the branch {there}, leaving {alone} alone{takes}: {reset}"));
    // Nobody is told to take others' commits along with an item.
    (others == 0).then_some(reset)
}
