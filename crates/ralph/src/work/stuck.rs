//! What to do about a backlog of which no item can begin.

use std::path::Path;

use ralph_core::backlog::{Backlog, State, Waiting};
use ralph_core::items::BacklogPlan;
use ralph_core::text;

use super::{Place, beads};
use crate::suggest::quoted;

/// The one that nobody has to name.
const DEFAULT_PROFILE: &str = "default";

/// An item that is blocked or had its attempts is to be tried again.
pub(crate) fn reset(root: &Path, plan: &BacklogPlan, id: &str) -> String {
    format!("ralph backlog reset {}{}, then ralph run", quoted(id), which(root, plan))
}

/// An item whose status nobody knows is to be worked on.
pub(super) fn to_open(root: &Path, plan: &BacklogPlan, id: &str) -> String {
    format!("ralph backlog set {} open{}, then ralph run", quoted(id), which(root, plan))
}

pub(crate) const TO_GIVE_STEPS: &str =
    "write '- [ ] words' below its heading, or '- [x] words' where it is done";

/// Tasks of a plan without a box below them are not done, and there is nothing in them that could become so.
pub(crate) fn without_steps(backlog: &Backlog<'_>, items: &[usize]) -> String {
    let named = |at: &usize| format!("'{}' in line {}", backlog.items()[*at].title, backlog.line(*at));
    let named: Vec<String> = items.iter().take(10).map(named).collect();
    format!(
        "what is left has no box below its heading, so that nobody can tell whether it is done: {}",
        named.join(", ")
    )
}

/// What names the backlog of a run to a command, where it is not found without a word. `ralph run` itself goes on with
/// the run that stopped, whatever its backlog is.
pub(crate) fn which(root: &Path, plan: &BacklogPlan) -> String {
    Place::at(root, root.join(&plan.file)).map(|place| place.flag()).unwrap_or_default()
}

/// How one more attempt is begun as the last one was, where nobody remembers what was typed.
pub(crate) fn again(root: &Path, plan: &BacklogPlan, profile: &str) -> String {
    let flag = |name: &str, value: Option<&str>| {
        value.map(|value| format!(" --{name} {}", quoted(value))).unwrap_or_default()
    };
    let profile = Some(profile).filter(|name| *name != DEFAULT_PROFILE);
    format!(
        "ralph run{}{}{}{}{}",
        which(root, plan),
        flag("task", plan.task.as_deref()),
        flag("phase", plan.phase.as_deref()),
        if plan.once { " --once" } else { "" },
        flag("profile", profile)
    )
}

fn is_beads(plan: &BacklogPlan) -> bool {
    plan.file == beads::FILE
}

/// What is open and no run takes up, where nothing else is left.
pub(super) fn for_people(plan: &BacklogPlan, left: u64) -> String {
    let one = left == 1;
    if is_beads(plan) {
        let (have, them) = if one { ("is", "it") } else { ("are", "them") };
        let issues = text::count(left, "open issue");
        return format!("{issues} {have} in other hands, or bd does not hand {them} out");
    }
    let lacks = if one { "lacks" } else { "lack" };
    format!("{} {lacks} ralph_loop.enabled: true", text::count(left, "open item"))
}

/// What makes one of these the loop's.
pub(crate) fn hand_over(root: &Path, plan: &BacklogPlan) -> String {
    if is_beads(plan) {
        return "who has one, or until when it rests: bd show ID".into();
    }
    format!(
        "to hand one to ralph: write \"ralph_loop\": {{\"enabled\": true}} into it in {}, then ralph run{}",
        plan.file,
        which(root, plan)
    )
}

pub(super) fn to_break(plan: &BacklogPlan) -> String {
    if is_beads(plan) {
        return "bd dep cycles, which shows them; bd dep remove ID OTHER; then ralph run".into();
    }
    format!("take one of these dependencies out of {}, then ralph run", plan.file)
}

/// The first item that others wait for and that only a reset has tried again: it is blocked, or had its attempts.
pub(crate) fn spent<'w>(
    backlog: &Backlog<'_>,
    waiting: &'w [Waiting],
    is_out: impl Fn(usize) -> bool,
) -> Option<&'w str> {
    let is_spent = |id: &&str| {
        backlog.find(id).is_some_and(|at| {
            let item = &backlog.items()[at];
            let out = || is_out(at) || item.limit.is_some_and(|limit| limit.is_reached());
            item.state == State::Blocked || item.state.is_open() && out()
        })
    };
    waiting.iter().flat_map(|waits| waits.on.iter().map(String::as_str)).find(is_spent)
}

/// The first thing that somebody can do so that one of these begins.
pub(super) fn to_begin(
    backlog: &Backlog<'_>,
    root: &Path,
    plan: &BacklogPlan,
    waiting: &[Waiting],
    is_out: impl Fn(usize) -> bool,
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
    let for_people = |(_, id): (usize, &str)| {
        let item = &backlog.items()[backlog.find(id)?];
        if is_beads(plan) && !item.enabled {
            let shown = quoted(id);
            return Some(format!(
                "bd show {shown}, which says who has it or until when it rests; then ralph run"
            ));
        }
        (!item.enabled).then(|| format!("do {id} yourself, which is not for the loop, then ralph run"))
    };
    let left_out = |(_, id): (usize, &str)| {
        let scoped = plan.task.is_some() || plan.phase.is_some();
        scoped.then(|| format!("ralph run --task {}{}, and then this again", quoted(id), which(root, plan)))
    };
    let looked_at = |(_, id): (usize, &str)| {
        Some(format!("see to {id}: ralph backlog show {}{}", quoted(id), which(root, plan)))
    };
    spent(backlog, waiting, is_out)
        .map(|id| reset(root, plan, id))
        .or_else(|| all().find_map(missing))
        .or_else(|| all().find_map(for_people))
        .or_else(|| all().find_map(left_out))
        .or_else(|| all().find_map(looked_at))
}
