//! Recipes of a justfile and targets of a Makefile: somebody wrote down what testing this project means.

use super::recipe::{JUSTFILES, MAKEFILES};
use super::{Detected, Folder};
use crate::prelude::*;

/// For each check the names that mean it, the surest first.
const MEANT: [(&str, &[&str]); 3] =
    [("build", &["build"]), ("test", &["test", "check"]), ("lint", &["lint"])];

pub(super) fn targets(folder: &Folder, all: &mut Detected) {
    let just = folder.first(&JUSTFILES);
    // Of several, make reads the first.
    let make = folder.first(&MAKEFILES);
    let recipes = just.map(|file| ("just", file, recipes(folder.text(file))));
    let rules = make.map(|file| ("make", file, rules(folder.text(file))));
    let written: Vec<_> = recipes.into_iter().chain(rules).collect();
    for (check, names) in MEANT {
        let known = written.iter().flat_map(|(program, file, there)| {
            let name = names.iter().find(|name| there.contains(name));
            name.map(|name| (format!("{program} {name}"), format!("{file}, {name}")))
        });
        if let Some((command, source)) = known.into_iter().next() {
            all.add(check, command, source);
        }
    }
}

/// Whether a check was found here, by where it was found.
pub(super) fn is_written(source: &str) -> bool {
    let file = source.split(", ").next().unwrap_or_default();
    JUSTFILES.contains(&file) || MAKEFILES.contains(&file)
}

/// The targets of a Makefile that rules are written for.
pub(super) fn rules(text: &str) -> Vec<&str> {
    let line = |line: &str| !line.starts_with(['\t', '#', ' ', '.']);
    let head = |line| {
        let (head, rest) = str::split_once(line, ':')?;
        // `name := value` and `name ::= value` are no rules.
        let assigned = rest.trim_start_matches(':').starts_with('=') || head.contains('=');
        (!assigned).then_some(head)
    };
    text.lines().filter(|text| line(text)).filter_map(head).flat_map(str::split_whitespace).collect()
}

/// The recipes of a justfile that need no argument.
fn recipes(text: &str) -> Vec<&str> {
    let line = |line: &str| !line.starts_with(['\t', '#', ' ', '[']);
    let recipe = |line| {
        let (head, rest) = str::split_once(line, ':')?;
        if rest.starts_with('=') {
            return None;
        }
        let mut words = head.split_whitespace();
        let name = words.next()?.trim_start_matches('@');
        let optional = |word: &str| word.contains('=') || word.starts_with('*');
        words.all(optional).then_some(name)
    };
    text.lines().filter(|text| line(text)).filter_map(recipe).collect()
}
