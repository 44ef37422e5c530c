//! What is there already: agents, a backlog, and what other loops have left. It is used where it is.

use std::path::Path;

use ralph_core::backlog::{Backlog, State, Syntax};

use crate::error::Result;
use crate::{agent, process, work};

#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) agents: Vec<&'static str>,
    pub(crate) backlog: Option<FoundBacklog>,
    /// Another loop's instructions.
    pub(crate) prompt: Option<String>,
    /// What else is worth a word.
    pub(crate) remarks: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct FoundBacklog {
    /// From the top of the project.
    pub(crate) path: String,
    /// Its name alone is not looked for, so the settings must name it.
    pub(crate) must_be_named: bool,
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
const OTHERS: [(&str, &str); 5] = [
    (
        ".claude/ralph-loop.local.md",
        "the ralph-loop plugin is active in this project: two loops would hold one session; /cancel-ralph ends it",
    ),
    ("ralph.yml", "a ralph.yml at the top belongs to another tool and is left alone"),
    (".ralphrc", "settings of another loop; ralph does not read them"),
    ("progress.txt", "another loop's log; ralph does not read it, agents may"),
    (".ralph/state.json", "a view that ralph writes anew when a run begins"),
];

pub(crate) fn look(root: &Path) -> Result<Found> {
    let agents = agent::names().filter(|name| process::find_program(name).is_some()).collect();
    // Settings that are there already have the last word.
    let (backlog, must_be_named) = match work::find(root)? {
        Some(path) => (Some(path), false),
        None => (BACKLOGS.iter().map(|name| root.join(name)).find(|path| path.is_file()), true),
    };
    let backlog = backlog.map(|path| FoundBacklog {
        path: path.strip_prefix(root).unwrap_or(&path).display().to_string(),
        must_be_named,
        items: items(&path),
    });
    let is_there = |name: &&str| root.join(name).is_file();
    let prompt = PROMPTS.into_iter().find(is_there).filter(|_| !root.join(".ralph/prompt.md").exists());
    let others = OTHERS.into_iter().filter(|(name, _)| is_there(name));
    let remarks = others.map(|(name, what)| format!("{name}: {what}")).collect();
    Ok(Found { agents, backlog, prompt: prompt.map(str::to_owned), remarks })
}

fn items(path: &Path) -> std::result::Result<(usize, usize), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let syntax = Syntax::of_name(&name).ok_or("its name has none of the known endings")?;
    let backlog =
        Backlog::parse(&bytes, syntax).map_err(|error| format!("line {}: {}", error.line, error.why))?;
    let open = |state: State| matches!(state, State::Open | State::InProgress);
    let items = backlog.items();
    Ok((items.iter().filter(|item| open(item.state)).count(), items.len()))
}
