//! What is there already: agents, checks, a backlog, and what other loops have left. It is used where it is.

use std::path::Path;

use ralph_core::backlog::State;
use ralph_core::detect::Stack;

use super::plugin::{self, Plugin};
use crate::config::Layers;
use crate::error::Result;
use crate::settings::{NO_CHECK, Wishes};
use crate::work::{self, Place};
use crate::{agent, detected, process};

#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) agents: Vec<&'static str>,
    pub(crate) backlog: Option<FoundBacklog>,
    /// Another loop's instructions.
    pub(crate) prompt: Option<String>,
    pub(crate) stacks: Vec<Stack>,
    pub(crate) checks: Checks,
    /// The loop of a plugin, as its file has it.
    pub(crate) plugin: Option<Plugin>,
    /// What else is worth a word.
    pub(crate) remarks: Vec<String>,
}

/// What would prove the work in a run.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// Each with where it stands.
    pub(crate) lines: Vec<String>,
    /// Somebody named one, or said that there is to be none.
    pub(crate) settled: bool,
    /// Those that the project's files stand for and whose program is not there.
    pub(crate) missing: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct FoundBacklog {
    /// From the top of the project.
    pub(crate) path: String,
    /// By its name alone another one would be found, or none: the settings must name it.
    pub(crate) must_be_named: bool,
    /// A run would find it as things are.
    pub(crate) is_known: bool,
    /// Open items and all of them, or why it cannot be read.
    pub(crate) items: std::result::Result<(usize, usize), String>,
}

/// Task files of other loops, in places where ralph would not look by itself.
const BACKLOGS: [&str; 6] = [
    "scripts/ralph/prd.json",
    ".ralph/prd.json",
    ".agents/tasks/prd.json",
    ".ralph/fix_plan.md",
    "@fix_plan.md",
    ".ralph/IMPLEMENTATION_PLAN.md",
];

/// Instructions of other loops.
const PROMPTS: [&str; 5] =
    ["PROMPT.md", "@PROMPT.md", ".ralph/PROMPT.md", "PROMPT_build.md", "scripts/ralph/prompt.md"];

/// What ralph neither reads nor touches, and what to know about it.
const OTHERS: [(&str, &str); 4] = [
    ("ralph.yml", "a ralph.yml at the top belongs to another tool and is left alone"),
    (".ralphrc", "settings of another loop; ralph does not read them"),
    ("progress.txt", "another loop's log; ralph does not read it, agents may"),
    (".ralph/state.json", "a view that ralph writes anew when a run begins"),
];

pub(crate) fn look(root: &Path) -> Result<Found> {
    let agents = agent::names().filter(|name| process::find_program(name).is_some()).collect();
    // Settings that are there already have the last word.
    let known = work::find(root)?;
    let is_known = known.is_some();
    let path = known.or_else(|| BACKLOGS.iter().map(|name| root.join(name)).find(|path| path.is_file()));
    let backlog = path.map(|path| FoundBacklog {
        path: path.strip_prefix(root).unwrap_or(&path).display().to_string(),
        must_be_named: work::known(root).as_deref() != Some(&path),
        is_known,
        items: items(root, &path),
    });
    let is_there = |name: &&str| root.join(name).is_file();
    let prompt = PROMPTS.into_iter().find(is_there);
    let others = OTHERS.into_iter().filter(|(name, _)| is_there(name));
    let mut remarks: Vec<String> = others.map(|(name, what)| format!("{name}: {what}")).collect();
    let plugin = plugin::read(root);
    remarks.extend(plugin.as_ref().map(|plugin| format!("{}: {}", plugin::FILE, plugin.told())));
    let (stacks, checks) = checks(root)?;
    let prompt = prompt.map(str::to_owned);
    Ok(Found { agents, backlog, prompt, stacks, checks, plugin, remarks })
}

/// What the settings name, else what the project's files stand for.
fn checks(root: &Path) -> Result<(Vec<Stack>, Checks)> {
    let config = Layers::read(&root.join(".ralph"))?.merged();
    let named = config.checks.iter().filter(|check| check.value.trim() != NO_CHECK);
    let named: Vec<String> =
        named.map(|check| format!("{}: {} ({})", check.key, check.value, check.origin)).collect();
    let mut wishes = Wishes { detect: true, ..Wishes::default() }.over(config);
    let settled = !wishes.checks.is_empty();
    let missing = detected::look(root, &mut wishes);
    let found = wishes.found.iter().map(|check| {
        format!("{}: {} ({})", check.name, check.command, check.source.as_deref().unwrap_or_default())
    });
    let lines = named.into_iter().chain(found).collect();
    Ok((wishes.stacks, Checks { lines, settled, missing }))
}

/// Open items and all of them, or why it cannot be read.
pub(crate) fn items(root: &Path, path: &Path) -> std::result::Result<(usize, usize), String> {
    let why = |error: crate::error::Error| error.why.unwrap_or(error.what);
    let place = Place::at(root, path.to_path_buf()).map_err(why)?;
    let bytes = place.read().map_err(why)?;
    let backlog = place.parse(&bytes).map_err(why)?;
    let open = |state: State| matches!(state, State::Open | State::InProgress);
    let items = backlog.items();
    Ok((items.iter().filter(|item| open(item.state)).count(), items.len()))
}
