//! One item was asked for, and there is nothing to do about it: what became of it, and how to have it done again.

use ralph_core::backlog::State;
use ralph_core::items::BacklogPlan;
use ralph_core::text;

use super::super::backlog::in_ledger;
use crate::clock;
use crate::project::Project;
use crate::suggest::quoted;
use crate::ui::Ui;
use crate::work::Place;

/// As much of a commit's name as people need.
const SHORT: usize = 12;

/// Says what there is to say; whatever cannot be read any more is left out.
pub(super) fn tell(project: &Project, plan: &BacklogPlan, ui: &mut Ui) {
    let Some((what, next)) = words(project, plan) else { return };
    ui.nothing_to_do(&what, &next);
}

/// `FEAT-1 is done already: proved in #3, …`
pub(super) fn words(project: &Project, plan: &BacklogPlan) -> Option<(String, String)> {
    let id = plan.task.as_deref()?;
    let place = Place::at(&project.root, project.root.join(&plan.file)).ok()?;
    let bytes = place.read().ok()?;
    let backlog = place.parse(&bytes).ok()?;
    let item = &backlog.items()[backlog.find(id)?];
    let (typed, which, shown) = (quoted(id), place.flag(), text::one_line(id, 100));
    let run = format!("then ralph run --task {typed}{which}");
    let open = format!("ralph backlog set {typed} open{which}, {run}");
    Some(match item.state {
        State::Done => (
            format!("{shown} is done already{}", proved(&place, id)),
            format!("to have it done again: {open}"),
        ),
        State::Cancelled => (format!("{shown} is cancelled"), format!("to have it done: {open}")),
        _ if place.is_beads() => (
            format!("{shown} is not handed out by bd, or somebody else has it"),
            format!("who has it, or until when it rests: bd show {typed}"),
        ),
        _ => (
            format!("{shown} is not for the loop: its ralph_loop.enabled is not true"),
            format!("to have it done: set that in {}, {run}", place.shown()),
        ),
    })
}

/// When and by what, as far as ralph knows.
fn proved(place: &Place, id: &str) -> String {
    let attempts = in_ledger(place, id).0;
    let Some(last) = attempts.last().filter(|last| last.record.passed()) else {
        return "; no evidence of it is recorded here".into();
    };
    let commit = last.commit().map(|commit| format!(", commit {}", commit.get(..SHORT).unwrap_or(commit)));
    let how = match (last.record.is_claimed(), last.record.without_change) {
        (true, _) => "claimed, and nothing but the agent's word says so,",
        (false, true) => "passed with nothing changed for it",
        (false, false) => "passed",
    };
    format!(
        ": {how} in #{}, {}{}; ralph evidence show {}",
        last.record.iteration,
        clock::for_people(&last.record.at),
        commit.unwrap_or_default(),
        quoted(id)
    )
}
