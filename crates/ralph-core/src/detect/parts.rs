//! The parts of a project below its top: folders that usually hold some, and members that a workspace declares.

use serde_json::Value;

use super::{Folder, is_part, node};
use crate::backlog::yaml_texts;
use crate::prelude::*;

/// Folders whose folders are parts.
const HOLDERS: [&str; 6] = ["apps", "libs", "modules", "packages", "projects", "services"];

/// Where pnpm has its patterns.
const PNPM: &str = "pnpm-workspace.yaml";

/// What a workspace of npm, pnpm, yarn or bun says are its members: `packages/*`.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    patterns: Vec<String>,
    /// What is no member, though it matches: `!packages/old`.
    out: Vec<String>,
}

impl Workspace {
    pub(super) fn of(top: &Folder) -> Self {
        let package: Value = node::package(top).unwrap_or_default();
        let listed = match &package["workspaces"] {
            Value::Object(said) => said.get("packages").cloned().unwrap_or_default(),
            said => said.clone(),
        };
        let listed = listed.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        let pnpm = Some(top.text(PNPM)).filter(|text| !text.is_empty());
        let pnpm = pnpm.and_then(|text| yaml_texts(text, "packages")).unwrap_or_default();
        let mut workspace = Self::default();
        for pattern in listed.chain(pnpm) {
            let bare = |pattern: &str| pattern.trim_start_matches("./").trim_end_matches('/').to_owned();
            match pattern.strip_prefix('!') {
                Some(out) => workspace.out.push(bare(out)),
                None => workspace.patterns.push(bare(&pattern)),
            }
        }
        workspace
    }

    pub(super) fn is_declared(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Whether a folder is a member; what is taken out by `!` is none.
    pub(super) fn has(&self, folder: &str) -> bool {
        let matched = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, folder));
        matched(&self.patterns) && !matched(&self.out)
    }
}

/// `**` stands for any folders, `*` for any part of a name.
fn matches(pattern: &str, folder: &str) -> bool {
    let (first, rest) = pattern.split_once('/').map_or((pattern, None), |(first, rest)| (first, Some(rest)));
    let (name, deeper) = folder.split_once('/').map_or((folder, None), |(name, deeper)| (name, Some(deeper)));
    if first == "**" {
        let none = rest.is_none_or(|rest| matches(rest, folder));
        return none || deeper.is_some_and(|deeper| matches(pattern, deeper));
    }
    fits(first, name)
        && match (rest, deeper) {
            (None, None) | (Some("**"), None) => true,
            (Some(rest), Some(deeper)) => matches(rest, deeper),
            _ => false,
        }
}

/// Whether a name is as one with `*` in it says, however many there are.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(begin) else { return false };
    let (between, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in between.split('*') {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(end)
}

/// Whether the folders in this one are parts as well.
pub fn holds_parts(top: &Folder, folder: &str) -> bool {
    let workspace = Workspace::of(top);
    let mut declared = workspace.patterns.iter().filter_map(|pattern| pattern.split_once('/'));
    is_part(folder) && (HOLDERS.contains(&folder) || declared.any(|(first, _)| fits(first, folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_a_workspace_match_as_their_tools_have_it() {
        for (pattern, folder, wanted) in [
            ("packages/*", "packages/a", true),
            ("packages/*", "packages/a/b", false),
            ("packages/**", "packages/a", true),
            ("packages/**", "packages", true),
            ("packages/app-*", "packages/app-web", true),
            ("packages/app-*", "packages/lib", false),
            ("**/test/**", "packages/a", false),
            ("**/test/**", "packages/test", true),
            ("**", "packages/a", true),
            ("web", "web", true),
            ("web", "webs", false),
            ("*", "web", true),
            ("packages/*-app-*", "packages/my-app-web", true),
            ("packages/*-app-*", "packages/my-web", false),
            ("packages/a*b*a", "packages/aba", true),
            ("packages/a*b*a", "packages/ab", false),
            ("*/web", "clients/web", true),
        ] {
            assert_eq!(matches(pattern, folder), wanted, "{pattern} {folder}");
        }
    }

    #[test]
    fn members_are_told_by_every_way_of_writing_them() {
        let inline = "packages: [\"apps/*\", './libs/*/', '!apps/old'] # all\n";
        let lines = "# all\npackages:\n  - apps/*   # here\n\n  - \"./libs/*/\"\n  - '!apps/old'\ncatalog:\n  - other/*\n";
        let over_lines = "packages: [\n  'apps/*',\n  \"libs/*\",\n  '!./apps/old/',\n]\n";
        let npm = "{\"workspaces\": [\"apps/*\", \"libs/*\", \"!apps/old\"]}";
        for (file, text) in [(PNPM, inline), (PNPM, lines), (PNPM, over_lines), (node::FILE, npm)] {
            let top = Folder { names: [file.into()].into(), texts: [(file.into(), text.into())].into() };
            let workspace = Workspace::of(&top);
            let found = ["apps/web", "libs/ui", "apps/old", "other/x"].map(|folder| workspace.has(folder));
            assert_eq!(found, [true, true, false, false], "{text}");
            assert!(holds_parts(&top, "apps"), "{text}");
        }
    }
}
