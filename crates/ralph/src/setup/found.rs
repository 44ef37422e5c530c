//! What is there already: agents, checks, a backlog, and what other loops have left. It is used where it is.

use std::path::Path;

use ralph_core::backlog::{Item, NAMES};
use ralph_core::check::CheckSpec;
use ralph_core::detect::Stack;
use ralph_core::items::BacklogPlan;
use ralph_core::text;

use super::plugin::{self, Plugin};
use crate::config::Layers;
use crate::error::Result;
use crate::settings::Wishes;
use crate::work::{self, Place, Source};
use crate::{agent, brought, detected, process};

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

impl Found {
    /// What of it is used in `.ralph/`, from there.
    pub(crate) fn in_the_folder(&self) -> impl Iterator<Item = &str> {
        let backlog = self.backlog.iter().map(|backlog| backlog.path.as_str());
        backlog.chain(self.prompt.as_deref()).filter_map(|path| path.strip_prefix(".ralph/"))
    }
}

#[derive(Debug)]
pub(crate) struct FoundBacklog {
    /// From the top of the project.
    pub(crate) path: String,
    /// By its name alone another one would be found, or none: the settings must name it.
    pub(crate) must_be_named: bool,
    /// A run would find it as things are.
    pub(crate) is_known: bool,
    /// How many there are, or why it cannot be read.
    pub(crate) items: std::result::Result<Counted, String>,
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
    ("ralph.yml", "a ralph.yml at the top belongs to another tool and is left alone"),
    (".ralphrc", "settings of another loop; ralph does not read them"),
    ("progress.txt", "another loop's log; ralph does not read it, agents may"),
    (".ralph/state.json", "a view that ralph writes anew when a run begins"),
    (".ralph/session.md", "a view that ralph writes anew when a run begins"),
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
    remarks.extend(other_backlogs(root, backlog.as_ref()));
    let plugin = plugin::read(root);
    remarks.extend(plugin.as_ref().map(|plugin| format!("{}: {}", plugin::FILE, plugin.told())));
    let (stacks, checks) = checks(root, backlog.as_ref())?;
    let prompt = prompt.map(str::to_owned);
    Ok(Found { agents, backlog, prompt, stacks, checks, plugin, remarks })
}

/// Task files that no run takes, because another one comes first.
fn other_backlogs(root: &Path, taken: Option<&FoundBacklog>) -> Vec<String> {
    let names = NAMES.iter().chain(&BACKLOGS).filter(|name| taken.is_some_and(|taken| taken.path != **name));
    let open = |name: &&&str| {
        let path = root.join(name);
        let counted = items(root, &path).ok().filter(|counted| path.is_file() && counted.open > 0)?;
        Some(format!(
            "{name}: another task file ({}), which runs do not take: ralph config set backlog {name}, if it is the one",
            counted.told()
        ))
    };
    names.filter_map(|name| open(&name)).collect()
}

/// What the settings name, else what the backlog wants for every item, else what the project's files stand for.
fn checks(root: &Path, backlog: Option<&FoundBacklog>) -> Result<(Vec<Stack>, Checks)> {
    let config = Layers::read(&root.join(".ralph"))?.merged();
    let mut wishes = Wishes { detect: true, ..Wishes::default() }.over(config.clone());
    let settled = !wishes.checks.is_empty();
    let missing = detected::look(root, &mut wishes).into_iter().map(|left| left.what).collect();
    let mut all = brought::checks(&config, &wishes);
    if let Some(backlog) = backlog {
        let plan = BacklogPlan { file: backlog.path.clone(), ..BacklogPlan::default() };
        // One that cannot be read is told as such.
        let wanted = Source::new(root, &plan, 0)?.checks().unwrap_or_default();
        brought::for_all(&mut all, &wishes, &backlog.path, wanted);
    }
    let place = |check: &CheckSpec| brought::place_of(check, &config);
    let line = |check: &CheckSpec| format!("{}: {} ({})", check.name, check.command, place(check));
    let lines = all.iter().map(line).collect();
    Ok((wishes.stacks, Checks { lines, settled, missing }))
}

/// The items of a task file as a run counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Of those for the loop.
    pub(crate) open: usize,
    /// For the loop.
    pub(crate) all: usize,
    /// Open and not for the loop.
    pub(crate) disabled: usize,
}

impl Counted {
    /// `2 of 3 items open, 1 disabled`
    pub(crate) fn told(self) -> String {
        let disabled = match self.disabled {
            0 => String::new(),
            some => format!(", {some} disabled"),
        };
        match self.all {
            0 if self.disabled == 0 => "no items yet".into(),
            all => format!("{} of {} open{disabled}", self.open, text::count(all as u64, "item")),
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.all == 0 && self.disabled == 0
    }
}

/// How many there are, or why it cannot be read.
pub(crate) fn items(root: &Path, path: &Path) -> std::result::Result<Counted, String> {
    let why = |error: crate::error::Error| error.why.unwrap_or(error.what);
    let place = Place::at(root, path.to_path_buf()).map_err(why)?;
    let bytes = place.read().map_err(why)?;
    let backlog = place.parse(&bytes).map_err(why)?;
    let count =
        |wanted: &dyn Fn(&Item<'_>) -> bool| backlog.items().iter().filter(|item| wanted(item)).count();
    Ok(Counted {
        open: count(&|item| item.enabled && item.state.is_open()),
        all: count(&|item| item.enabled),
        disabled: count(&|item| !item.enabled && item.state.is_open()),
    })
}
