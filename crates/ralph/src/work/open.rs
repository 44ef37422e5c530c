//! The open items of every task file that a run without a goal could take.

use std::path::{Path, PathBuf};

use ralph_core::backlog::Syntax;
use ralph_core::report::form::{self, Plan};
use ralph_core::text;

use super::{Place, beads, candidates, find};
use crate::config::Layers;

/// A task file of the project, by its name from the top.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) name: String,
    pub(crate) plan: Plan,
}

/// Those that can be read: the one that the settings name, else each that is looked for and there. Issues that `bd`
/// keeps are not looked at, for that would run it.
pub(crate) fn open_files(root: &Path) -> Vec<OpenFile> {
    let read = |path: PathBuf| {
        let plan = open_items(root, &path)?;
        Some(OpenFile { name: path.strip_prefix(root).unwrap_or(&path).display().to_string(), plan })
    };
    files(root).into_iter().filter_map(read).collect()
}

fn files(root: &Path) -> Vec<PathBuf> {
    let named = Layers::read(&root.join(".ralph")).is_ok_and(|layers| layers.merged().backlog.is_some());
    if named {
        return find(root).ok().flatten().into_iter().collect();
    }
    candidates(root)
}

/// Every box of a checklist counts; of other formats the items that are for the loop.
pub(crate) fn open_items(root: &Path, path: &Path) -> Option<Plan> {
    if beads::is_meant(path) {
        return None;
    }
    let place = Place::at(root, path.to_path_buf()).ok()?;
    let bytes = place.read().ok()?;
    if place.syntax == Syntax::Markdown {
        return Some(form::read_plan(&String::from_utf8_lossy(&bytes)));
    }
    let backlog = place.parse(&bytes).ok()?;
    let mut plan = Plan::default();
    for item in backlog.items().iter().filter(|item| item.enabled) {
        match item.state.is_open() {
            true => plan.open.push(text::one_line(&item.title, 80)),
            false => plan.done += 1,
        }
    }
    Some(plan)
}
