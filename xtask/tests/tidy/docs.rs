//! The map in ARCHITECTURE.md is true, and CI does what the README says.

use crate::sources::Source;

/// Source files that the map does not name. It names a file by its path from its crate's `src/`, such as
/// `store/lock.rs`, or by a longer path. A `tests.rs`, and what is in a `tests/`, belongs to what it tests and needs no
/// place on the map.
pub(crate) fn unmapped(map: &str, sources: &[Source]) -> Vec<String> {
    let named: Vec<&str> = paths(map).collect();
    let named_by_itself =
        |file: &&Source| !file.path.ends_with("/tests.rs") && !file.path.contains("/tests/");
    let ours = sources.iter().filter(named_by_itself).filter_map(|file| {
        let (krate, path) = file.path.strip_prefix("crates/")?.split_once("/src/")?;
        Some((file, krate, path))
    });
    let missing = ours.filter(|(_, krate, path)| {
        let long =
            [format!("src/{path}"), format!("{krate}/src/{path}"), format!("crates/{krate}/src/{path}")];
        !named.iter().any(|name| name == path || long.iter().any(|long| long == name))
    });
    missing
        .map(|(file, _, path)| {
            format!("{}: ARCHITECTURE.md does not say what it is for: write `{path}` into its map", file.path)
        })
        .collect()
}

/// Rust files that the map names and that are not there.
pub(crate) fn ghosts(map: &str, sources: &[Source]) -> Vec<String> {
    let exists = |name: &str| {
        let inner = format!("/{name}");
        sources.iter().any(|file| file.path == name || file.path.ends_with(&inner))
    };
    let ghosts = paths(map).filter(|name| name.ends_with(".rs") && !exists(name));
    ghosts
        .map(|name| format!("ARCHITECTURE.md names {name}, which is not there: take it out or correct it"))
        .collect()
}

/// Files that have two rows of one table: there would be two answers to what they are for.
pub(crate) fn twice(map: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for table in map.split("\n### ").skip(1) {
        let folder = table.lines().next().unwrap_or_default();
        let cells = table.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
        let mut names: Vec<&str> = cells.flat_map(paths).filter(|name| name.ends_with(".rs")).collect();
        names.sort_unstable();
        let again = names.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
        complaints.extend(again.map(|same| {
            format!("ARCHITECTURE.md names {} of {folder} {} times: one row a file", same[0], same.len())
        }));
    }
    complaints
}

/// The words of a text that look like paths.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let inside = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let words = text.split(move |c| !inside(c)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| word.contains('.') && !word.starts_with('.'))
}

/// Agents whose row in docs/agents.md does not have the package and the version that the tests install.
pub(crate) fn pinned(page: &str, pins: &str) -> Vec<String> {
    let values = |key: &str| -> Vec<&str> {
        let lines = pins.lines().filter_map(|line| line.trim().strip_prefix(key)?.strip_prefix(": \""));
        lines.filter_map(|rest| rest.strip_suffix("\",")).collect()
    };
    let (names, packages, versions) = (values("name"), values("package"), values("version"));
    if names.is_empty() || names.len() != packages.len() || names.len() != versions.len() {
        return vec![
            "xtask/src/agents/pins.rs is not written as this check reads it: change one of them".into(),
        ];
    }
    let rows: Vec<&str> = page.lines().filter(|line| line.contains("`npm install -g ")).collect();
    let mut complaints = Vec::new();
    for ((name, package), version) in names.iter().zip(packages).zip(versions) {
        let (begin, end) = (format!("| `{name}` | `npm install -g {package}` |"), format!("| {version} |"));
        if !rows.iter().any(|row| row.starts_with(&begin) && row.ends_with(&end)) {
            complaints
                .push(format!("docs/agents.md needs a row `{begin} … {end}`: that is what the tests run"));
        }
    }
    if rows.len() != names.len() {
        complaints.push(format!("docs/agents.md tells how to install {}, of {}", rows.len(), names.len()));
    }
    complaints
}

const TEST: &str = "cargo xtask test";

pub(crate) fn ci(script: &str) -> Vec<String> {
    let lines: Vec<&str> =
        script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let mut complaints = Vec::new();
    let cargo: Vec<&&str> = lines.iter().filter(|line| line.contains("cargo")).collect();
    if cargo != [&TEST] || lines.last() != Some(&TEST) {
        complaints.push(format!(
            ".ci/run must end with `{TEST}` and run nothing else: add checks to xtask instead"
        ));
    }
    for line in ["set -euo pipefail", "export RALPH_REQUIRE_AGENTS=1"] {
        if !lines.contains(&line) {
            complaints.push(format!(".ci/run must have the line `{line}`"));
        }
    }
    complaints
}

/// The workflow runs that script, with the Rust that the manifest asks for.
pub(crate) fn workflow(workflow: &str, manifest: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if !workflow.lines().any(|line| line.trim() == "- run: .ci/run") {
        complaints.push(".github/workflows/test.yml must run .ci/run".to_owned());
    }
    let quoted = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(key).map(str::to_owned))?;
        line.split('"').nth(1).map(str::to_owned)
    };
    let (used, wanted) = (quoted(workflow, "RUST:"), quoted(manifest, "rust-version ="));
    if used.is_none() || used != wanted {
        complaints.push(format!(".github/workflows/test.yml has Rust {used:?}, Cargo.toml {wanted:?}"));
    }
    complaints
}

pub(crate) fn readme(readme: &str) -> Vec<String> {
    let missing =
        [TEST, "cargo run --release -- demo"].into_iter().filter(|command| !readme.contains(command));
    missing.map(|command| format!("README.md must tell `{command}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::source;

    fn tree() -> [Source; 3] {
        ["crates/ralph/src/store/lock.rs", "crates/ralph/src/git.rs", "xtask/tests/tidy.rs"]
            .map(|path| source(path, ""))
    }

    #[test]
    fn a_file_that_the_map_leaves_out_is_told() {
        assert!(unmapped("| `store/lock.rs` | locks |\n| `crates/ralph/src/git.rs` |", &tree()).is_empty());
        let complaints = unmapped("`store/lock.rs` and `sandbox/git.rs`", &tree());
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].contains("write `git.rs` into its map"), "{complaints:?}");
        assert_eq!(unmapped("", &tree()).len(), 2);
    }

    #[test]
    fn a_file_that_is_only_on_the_map_is_told() {
        assert!(ghosts("`lock.rs`, tests/tidy.rs, *.rs and crates/ralph/src/git.rs.", &tree()).is_empty());
        assert_eq!(ghosts("`store/key.rs`", &tree()).len(), 1);
    }

    #[test]
    fn a_file_with_two_rows_is_told() {
        let once =
            "# Map\n\n### a/src\n\n| `x.rs`, `x/y.rs` | as `x.rs` does |\n\n### b/src\n\n| `x.rs` | x |\n";
        assert!(twice(once).is_empty(), "{:?}", twice(once));
        let complaints = twice(&format!("{once}| `y.rs`, `x.rs` | x |\n"));
        assert_eq!(complaints, ["ARCHITECTURE.md names x.rs of b/src 2 times: one row a file"]);
    }

    #[test]
    fn an_agent_with_another_version_or_without_a_row_is_told() {
        let pin = |name: &str, version: &str| {
            format!("Pin {{\n  name: \"{name}\",\n  package: \"@x/{name}\",\n  version: \"{version}\",\n}}\n")
        };
        let pins = format!("    pub(super) name: &'static str,\n{}{}", pin("a", "1.2"), pin("b", "3"));
        let page = "| `a` | `npm install -g @x/a` | log in | 1.2 |\n| `b` | `npm install -g @x/b` | | 3 |\n";
        assert!(pinned(page, &pins).is_empty(), "{:?}", pinned(page, &pins));
        assert_eq!(pinned(&page.replace("1.2", "1.3"), &pins).len(), 1);
        assert_eq!(pinned(page, &pin("a", "1.2")), ["docs/agents.md tells how to install 2, of 1"]);
        assert_eq!(pinned("", &pins).len(), 3);
        assert_eq!(pinned(page, "").len(), 1);
    }

    #[test]
    fn ci_that_does_more_or_less_is_told() {
        let good =
            "#!/bin/bash\nset -euo pipefail\nexport RALPH_REQUIRE_AGENTS=1\n# Tests.\ncargo xtask test\n";
        assert!(ci(good).is_empty());
        assert_eq!(ci(&format!("{good}cargo build\n")).len(), 1);
        assert_eq!(ci(&good.replace("xtask test", "xtask test || true")).len(), 1);
        assert_eq!(ci(&good.replace("export", "echo")).len(), 1);
        assert_eq!(ci("").len(), 3);
    }

    #[test]
    fn a_workflow_with_another_rust_or_other_tests_is_told() {
        let (good, manifest) = ("  RUST: \"1.95\" # x\n  - run: .ci/run\n", "rust-version = \"1.95\"\n");
        assert!(workflow(good, manifest).is_empty());
        assert_eq!(workflow(good, "rust-version = \"1.96\"\n").len(), 1);
        assert_eq!(workflow(&good.replace(".ci/run", "cargo test"), manifest).len(), 1);
        assert_eq!(workflow("", "").len(), 2);
    }

    #[test]
    fn a_readme_without_the_commands_is_told() {
        assert!(readme("`cargo xtask test`, `cargo run --release -- demo`").is_empty());
        assert_eq!(readme("# ralph").len(), 2);
    }
}
