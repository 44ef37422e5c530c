//! What a project is written in, and the checks that its files stand for where nobody names any.

use std::collections::BTreeMap;
use std::path::Path;

use ralph_core::check::CheckSpec;
use ralph_core::detect::{self, Folder, Found};
use ralph_core::event::Plan;
use ralph_core::gather::Gather as _;

use crate::process::find_program;
use crate::runner::on_disk;
use crate::settings::{self, Wishes};
use crate::suggest;

/// A check that was found and is not run: why, and what somebody may do about it.
#[derive(Debug)]
pub(crate) struct LeftOut {
    pub(crate) what: String,
    pub(crate) remedy: String,
}

/// Fills in what is found, and tells what could not be used. Whoever names a check has said what proves the work; what
/// the project is written in is told all the same.
pub(crate) fn look(root: &Path, wishes: &mut Wishes) -> Vec<LeftOut> {
    let top = folder(root);
    let (parts, more) = below(root, &top);
    let mut found = detect::detect(&top, &parts);
    found.left.extend(more);
    wishes.stacks = found.stacks;
    let named = wishes.checks.iter().any(|(_, command)| command.trim() != settings::NO_CHECK);
    if named || !wishes.detect {
        return vec![];
    }
    let unsaid = found.checks.into_iter().filter(|found| !wishes.says(found.check));
    let (there, missing): (Vec<Found>, Vec<Found>) = unsaid.partition(|found| is_there(root, found));
    wishes.found = detect::joined(&there);
    let without = |found: &Found| LeftOut {
        what: found.missing(),
        remedy: format!(
            "install {}, or name another command: ralph config set checks.{} CMD",
            found.program, found.check
        ),
    };
    let named = "name what is to be run: ralph config set checks.test CMD";
    let unused = found.left.into_iter().map(|what| LeftOut { what, remedy: named.into() });
    missing.iter().map(without).chain(unused).collect()
}

/// The checks that the project's files stand for, for those who suggest one.
pub(crate) fn checks(root: &Path) -> Vec<CheckSpec> {
    let mut wishes = Wishes { detect: true, ..Wishes::default() };
    look(root, &mut wishes);
    wishes.found
}

/// The command that tests the project, as it can be typed behind `--test-cmd`.
pub(crate) fn test_command(root: &Path) -> String {
    let checks = checks(root);
    let test = checks.iter().find(|check| check.name == "test");
    test.map_or_else(|| "CMD".into(), |test| suggest::quoted(&test.command))
}

/// Remembers what the checks of a plan stand for, whoever named them. Those of a run that goes on keep what they stood for
/// when it began.
pub(crate) fn remember(root: &Path, plan: &mut Plan, earlier: Option<&Plan>) {
    for check in &mut plan.checks {
        let same = |known: &&CheckSpec| known.name == check.name && known.command == check.command;
        *check = match earlier.and_then(|plan| plan.checks.iter().find(same)) {
            Some(CheckSpec { runs, recipe, .. }) => {
                CheckSpec { runs: runs.clone(), recipe: recipe.clone(), ..check.clone() }
            }
            None => check.clone().with_recipe(on_disk(root)),
        };
    }
}

fn is_there(root: &Path, found: &Found) -> bool {
    if !found.program.contains('/') {
        return find_program(&found.program).is_some();
    }
    let folder = found.folder.as_ref().map_or_else(|| root.to_path_buf(), |folder| root.join(folder));
    find_program(folder.join(&found.program)).is_some()
}

/// The parts that a project may have below its top, some of them in folders that hold several; and that there are more.
fn below(root: &Path, top: &Folder) -> (BTreeMap<String, Folder>, Option<String>) {
    let mut names = vec![];
    for name in folders(root) {
        if detect::holds_parts(top, &name) {
            names.extend(folders(&root.join(&name)).into_iter().map(|part| format!("{name}/{part}")));
        }
        names.push(name);
    }
    let detect::Chosen { names, more } = detect::chosen(top, names);
    (names.into_iter().map(|name| (name.clone(), folder(&root.join(name)))).into_map(), more)
}

fn folders(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| detect::is_part(name)).collect()
}

/// What is in a folder; nothing, where it cannot be read.
fn folder(path: &Path) -> Folder {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let mut folder = Folder { names, ..Folder::default() };
    for name in folder.names.iter().filter(|name| detect::is_read(name)) {
        let file = path.join(name);
        let fits = std::fs::metadata(&file).is_ok_and(|data| data.is_file() && data.len() <= detect::LONGEST);
        if let Some(bytes) = fits.then(|| std::fs::read(&file).ok()).flatten() {
            folder.texts.insert(name.clone(), String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    folder
}
