//! package.json: the scripts that it has, by the package manager that the project uses.

use serde_json::Value;

use super::{Detected, Folder};
use crate::prelude::*;

const FILE: &str = "package.json";
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

pub(super) fn scripts(folder: &Folder, all: &mut Detected) {
    let Ok(package) = serde_json::from_str::<Value>(folder.text(FILE).trim_start_matches('\u{feff}')) else {
        return;
    };
    let depends = |name: &str| {
        ["dependencies", "devDependencies"].iter().any(|kind| package[*kind].get(name).is_some())
    };
    let typed = folder.has("tsconfig.json") || depends("typescript");
    all.written_in(if typed { "TypeScript" } else { "JavaScript" }, FILE);
    let manager = manager(folder, &package);
    for check in super::CHECKS {
        let script = package["scripts"][check].as_str().unwrap_or_default();
        if script.trim().is_empty() || is_placeholder(script) || never_ends(script) {
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
fn manager(folder: &Folder, package: &Value) -> &'static str {
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
    said.and_then(known).or_else(lock).unwrap_or("npm")
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
