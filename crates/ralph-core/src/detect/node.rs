//! package.json: the scripts that it has, by the package manager that the project uses.

use serde_json::Value;

use super::{Detected, Folder};
use crate::prelude::*;

pub(super) const FILE: &str = "package.json";
const ESLINT: [&str; 11] = [
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.cjs",
    "eslint.config.ts",
    "eslint.config.mts",
    ".eslintrc",
    ".eslintrc.js",
    ".eslintrc.cjs",
    ".eslintrc.json",
    ".eslintrc.yml",
    ".eslintrc.yaml",
];

/// `above`: the package manager of the project that the folder is a part of.
pub(super) fn scripts(folder: &Folder, above: Option<&'static str>, all: &mut Detected) {
    let Some(package) = package(folder) else {
        if !folder.text(FILE).trim().is_empty() {
            all.left.push(format!("{FILE} is no JSON, so its scripts are left out"));
        }
        return;
    };
    let depends = |name: &str| {
        ["dependencies", "devDependencies"].iter().any(|kind| package[*kind].get(name).is_some())
    };
    let typed = folder.has("tsconfig.json") || depends("typescript");
    all.written_in(if typed { "TypeScript" } else { "JavaScript" }, FILE);
    let manager = manager(folder, &package).or(above).unwrap_or("npm");
    for check in super::CHECKS {
        let script = package["scripts"][check].as_str().unwrap_or_default();
        if script.trim().is_empty() || is_placeholder(script) {
            continue;
        }
        if never_ends(script) {
            all.left.push(format!(
                "{FILE}, scripts.{check} is left out: `{}` waits for changes and never ends",
                crate::text::one_line(script, 60)
            ));
            continue;
        }
        let run = match (manager, check) {
            // `bun test` is bun's own runner, not the script.
            ("bun", _) | (_, "build" | "lint") => format!("{manager} run {check}"),
            _ => format!("{manager} {check}"),
        };
        // Watches for changes, unless it is told that nobody looks.
        let run = if script.contains("react-scripts test") { format!("CI=true {run}") } else { run };
        all.add(check, run, format!("{FILE}, scripts.{check}"));
    }
    let linted = all.checks.iter().any(|found| found.check == "lint" && found.source.starts_with(FILE));
    if let Some(config) = folder.first(&ESLINT).filter(|_| depends("eslint") && !linted) {
        let run = match manager {
            "npm" => "npx --no-install eslint .",
            "pnpm" => "pnpm exec eslint .",
            "yarn" => "yarn run eslint .",
            _ => "bun run eslint .",
        };
        all.add("lint", run, config);
    }
}

/// What the project says, else whose lock file is there.
fn manager(folder: &Folder, package: &Value) -> Option<&'static str> {
    const LOCKS: [(&str, &str); 5] = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
        ("package-lock.json", "npm"),
    ];
    let said = package["packageManager"].as_str().and_then(|said| said.split('@').next());
    let known = |said: &str| ["npm", "pnpm", "yarn", "bun"].into_iter().find(|known| *known == said);
    let lock = || LOCKS.iter().find(|(file, _)| folder.has(file)).map(|(_, manager)| *manager);
    said.and_then(known).or_else(lock)
}

pub(super) fn manager_of(folder: &Folder) -> Option<&'static str> {
    manager(folder, &package(folder).unwrap_or_default())
}

pub(super) fn package(folder: &Folder) -> Option<Value> {
    serde_json::from_str(folder.text(FILE).trim_start_matches('\u{feff}')).ok()
}

/// What `npm init` writes.
pub(super) fn is_placeholder(script: &str) -> bool {
    script.contains("no test specified")
}

/// A script that waits for changes proves nothing.
fn never_ends(script: &str) -> bool {
    let mut words = script.split_whitespace();
    words.any(|word| matches!(word, "--watch" | "--watchAll" | "--watch=true" | "--watchAll=true"))
}
