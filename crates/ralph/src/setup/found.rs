//! What is there already: agents, checks, a backlog, and what other loops have left. It is used where it is.

use std::path::{Path, PathBuf};

use ralph_core::backlog::Shape;
use ralph_core::check::CheckSpec;
use ralph_core::detect::Stack;
use ralph_core::items::BacklogPlan;

use super::plugin::{self, Plugin};
use crate::config::Layers;
use crate::error::Result;
use crate::settings::Wishes;
use crate::work::{self, Counted, Place, Source};
use crate::{agent, brought, detected, process};

#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) agents: Vec<&'static str>,
    pub(crate) backlog: Option<FoundBacklog>,
    /// Task files that nothing decides between.
    pub(crate) undecided: Vec<PathBuf>,
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

/// What a task file like this is best worked on with.
#[derive(Debug)]
pub(crate) struct Fitting {
    pub(crate) profile: &'static str,
    pub(crate) why: &'static str,
    /// Where the schema of its items' requirements belongs.
    pub(crate) schema: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct FoundBacklog {
    /// From the top of the project.
    pub(crate) path: String,
    /// By its name alone another one would be found, or none: the settings must name it.
    pub(crate) must_be_named: bool,
    /// How many there are, or why it cannot be read.
    pub(crate) items: std::result::Result<Counted, String>,
    pub(crate) profile: Option<Fitting>,
}

/// Instructions of other loops.
const PROMPTS: [&str; 5] =
    ["PROMPT.md", "@PROMPT.md", ".ralph/PROMPT.md", "PROMPT_build.md", "scripts/ralph/prompt.md"];

/// What ralph neither reads nor touches, and what to know about it.
const OTHERS: [(&str, &str); 3] = [
    ("ralph.yml", "a ralph.yml at the top belongs to another tool and is left alone"),
    (".ralphrc", "settings of another loop; ralph does not read them"),
    ("progress.txt", "another loop's log; ralph does not read it, agents may"),
];

/// `chosen`: the task file that the user picked, where nothing else decides.
pub(crate) fn look(root: &Path, chosen: Option<PathBuf>) -> Result<Found> {
    let agents = agent::names().filter(|name| process::find_program(name).is_some()).collect();
    let undecided = if chosen.is_some() { vec![] } else { work::choices(root) };
    // Settings that are there already have the last word.
    let path = match chosen {
        None if undecided.is_empty() => work::find(root)?,
        chosen => chosen,
    };
    let backlog = path.map(|path| FoundBacklog {
        path: work::below(root, &path),
        must_be_named: work::known(root) != std::slice::from_ref(&path),
        items: work::items(root, &path),
        profile: fitting(root, &path),
    });
    let is_there = |name: &&str| root.join(name).is_file();
    let prompt = PROMPTS.into_iter().find(is_there);
    let others = OTHERS.into_iter().filter(|(name, _)| is_there(name));
    let mut remarks: Vec<String> = others.map(|(name, what)| format!("{name}: {what}")).collect();
    let taken = backlog.as_ref().map(|backlog| backlog.path.clone());
    remarks.extend(other_backlogs(root, taken.as_deref()));
    let plugin = plugin::read(root);
    remarks.extend(plugin.as_ref().map(|plugin| format!("{}: {}", plugin::FILE, plugin.told())));
    let (stacks, checks) = checks(root, backlog.as_ref())?;
    let prompt = prompt.map(str::to_owned);
    Ok(Found { agents, backlog, undecided, prompt, stacks, checks, plugin, remarks })
}

/// Task files with open items that no run takes, because another one comes first.
fn other_backlogs(root: &Path, taken: Option<&str>) -> Vec<String> {
    let Some(taken) = taken else { return vec![] };
    let open = |path: &PathBuf| {
        let name = work::below(root, path);
        let counted = work::items(root, path).ok().filter(|counted| name != taken && counted.open > 0)?;
        Some(format!(
            "{name}: another task file ({}), which runs do not take: ralph config set backlog {name}, if it is the one",
            counted.told()
        ))
    };
    work::candidates(root).iter().filter_map(open).collect()
}

/// The profile that was made for task files like this one.
fn fitting(root: &Path, path: &Path) -> Option<Fitting> {
    let place = Place::at(root, path.to_path_buf()).ok().filter(|place| !place.is_beads())?;
    let bytes = place.read().ok()?;
    let backlog = place.parse(&bytes).ok()?;
    match backlog.shape() {
        Shape::Features => Some(Fitting {
            profile: "worker",
            why: "one item a run, committed if its checks pass and taken back if not",
            schema: place.prd_schema(),
        }),
        Shape::Tasks if !backlog.phases().is_empty() => Some(Fitting {
            profile: "phases",
            why: "its tasks have phases, which are worked through one after the other",
            schema: None,
        }),
        _ => None,
    }
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
