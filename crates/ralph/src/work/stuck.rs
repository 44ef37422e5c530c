//! What to do about a backlog of which no item can begin.

use ralph_core::backlog::{Backlog, State, Waiting};
use ralph_core::items::BacklogPlan;

use super::beads;
use crate::suggest::quoted;

/// An item that is blocked or had its attempts is to be tried again.
pub(crate) fn reset(plan: &BacklogPlan, id: &str) -> String {
    let which = if is_beads(plan) { " --backlog beads" } else { "" };
    format!("ralph backlog reset {}{which}, then ralph run{which}", quoted(id))
}

/// An item whose status nobody knows is to be worked on.
pub(super) fn to_open(plan: &BacklogPlan, id: &str) -> String {
    let which = if is_beads(plan) { " --backlog beads" } else { "" };
    format!("ralph backlog set {} open{which}, then ralph run{which}", quoted(id))
}

fn is_beads(plan: &BacklogPlan) -> bool {
    plan.file == beads::FILE
}

pub(super) fn to_break(plan: &BacklogPlan) -> String {
    if is_beads(plan) {
        return "bd dep cycles, which shows them; bd dep remove ID OTHER; then ralph run --backlog beads"
            .into();
    }
    format!("take one of these dependencies out of {}, then ralph run", plan.file)
}

/// The first thing that somebody can do so that one of these begins.
pub(super) fn to_begin(
    backlog: &Backlog<'_>,
    plan: &BacklogPlan,
    waiting: &[Waiting],
    is_out: impl Fn(&str) -> bool,
) -> Option<String> {
    let all = || waiting.iter().flat_map(|waits| waits.on.iter().map(move |id| (waits.item, id.as_str())));
    let missing = |(item, id): (usize, &str)| {
        let who = &backlog.items()[item].id;
        if is_beads(plan) {
            let gone = backlog.find(id).is_none();
            return gone.then(|| format!("bd show {}, which shows what it waits for", quoted(who)));
        }
        let words = format!("add {id} to {file}, or take it out of what {who} depends on", file = plan.file);
        backlog.find(id).is_none().then(|| format!("{words}, then ralph run"))
    };
    let spent = |(_, id): (usize, &str)| {
        let item = &backlog.items()[backlog.find(id)?];
        let out = || item.limit.map_or_else(|| is_out(id), |limit| limit.is_reached());
        (item.state == State::Blocked || item.state.is_open() && out()).then(|| reset(plan, id))
    };
    let for_people = |(_, id): (usize, &str)| {
        let item = &backlog.items()[backlog.find(id)?];
        if is_beads(plan) && !item.enabled {
            let shown = quoted(id);
            return Some(format!(
                "bd show {shown}, which says who has it or until when it rests; then ralph run --backlog beads"
            ));
        }
        (!item.enabled).then(|| format!("do {id} yourself, which is not for the loop, then ralph run"))
    };
    let left_out = |(_, id): (usize, &str)| {
        let scoped = plan.task.is_some() || plan.phase.is_some();
        scoped.then(|| format!("ralph run --task {}, and then this again", quoted(id)))
    };
    let looked_at = |(_, id): (usize, &str)| Some(format!("see to {id}: ralph backlog show {}", quoted(id)));
    all()
        .find_map(spent)
        .or_else(|| all().find_map(missing))
        .or_else(|| all().find_map(for_people))
        .or_else(|| all().find_map(left_out))
        .or_else(|| all().find_map(looked_at))
}
