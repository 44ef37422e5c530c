//! Invariant 1: core does no I/O and reads no clock, because it links nothing that could.

use crate::sources::{Source, names, shipped};

/// What core may depend on. None of these opens a file, reads a clock or starts a thread without `std`.
const ALLOWED: [&str; 8] =
    ["crc32fast", "granit-parser", "jiff", "memchr", "serde", "serde_json", "sha1_smol", "thiserror"];

pub(crate) fn dependencies(core: &str, workspace: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let found = entries(core, "[dependencies]");
    for (name, value) in &found {
        if !ALLOWED.contains(&name.as_str()) {
            complaints.push(format!("ralph-core depends on {name}: put what needs it into crates/ralph"));
        }
        let shared = entries(workspace, "[workspace.dependencies]");
        let shared = shared.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value.as_str());
        if !shared.contains("default-features = false") || has_std(shared) || has_std(value) {
            complaints.push(format!(
                "{name} reaches ralph-core with its std feature: in the workspace's Cargo.toml give it \
                 `default-features = false`, and add \"std\" only in crates/ralph"
            ));
        }
    }
    for name in ALLOWED.iter().filter(|name| found.iter().all(|(other, _)| other != *name)) {
        complaints
            .push(format!("ralph-core no longer depends on {name}: take it off the list in {}", file!()));
    }
    complaints
}

fn has_std(value: &str) -> bool {
    value.contains("\"std\"")
}

/// Name and value of each line of a table in a manifest: `name.workspace = true` is also one.
pub(crate) fn entries(manifest: &str, table: &str) -> Vec<(String, String)> {
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != table).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let pairs = lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    pairs
        .map(|(name, value)| (name.trim().trim_end_matches(".workspace").into(), value.trim().into()))
        .collect()
}

pub(crate) fn no_std(core: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    let lib = core.iter().find(|file| file.path.ends_with("src/lib.rs"));
    if !lib.is_some_and(|lib| lib.text.lines().any(|line| line == "#![no_std]")) {
        complaints.push("ralph-core/src/lib.rs must say #![no_std]".into());
    }
    for file in core {
        for (number, line) in shipped(file) {
            if names(line, "extern crate std") || names(line, "std::") {
                complaints.push(format!(
                    "{}:{number}: std in core: use core:: or alloc::, or move it to crates/ralph",
                    file.path
                ));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::source;

    const WORKSPACE: &str = "[workspace.dependencies]\n\
        crc32fast = { default-features = false }\njiff = { default-features = false }\n\
        granit-parser = { default-features = false }\n\
        memchr = { default-features = false }\nserde = { default-features = false }\n\
        serde_json = { default-features = false }\nsha1_smol = { default-features = false }\n\
        thiserror = { default-features = false }\n\
        rand = { default-features = false }\n";
    const CORE: &str = "[dependencies]\ncrc32fast.workspace = true\njiff.workspace = true\n\
        granit-parser.workspace = true\n\
        memchr.workspace = true\nserde.workspace = true\nserde_json.workspace = true\n\
        sha1_smol.workspace = true\nthiserror.workspace = true\n[dev-dependencies]\nproptest.workspace = true\n";

    #[test]
    fn the_right_dependencies_pass() {
        assert_eq!(dependencies(CORE, WORKSPACE), Vec::<String>::new());
    }

    #[test]
    fn another_dependency_or_a_missing_one_is_told() {
        let wrong = CORE.replace("memchr.", "rand.");
        let complaints = dependencies(&wrong, WORKSPACE).join("\n");
        assert!(complaints.contains("depends on rand"), "{complaints}");
        assert!(complaints.contains("no longer depends on memchr"), "{complaints}");
    }

    #[test]
    fn a_std_feature_is_told_wherever_it_comes_from() {
        let here = CORE.replace("jiff.workspace = true", "jiff = { workspace = true, features = [\"std\"] }");
        assert_eq!(dependencies(&here, WORKSPACE).len(), 1);
        let there = WORKSPACE.replace("jiff = { default-features = false }", "jiff = \"0.2\"");
        assert_eq!(dependencies(CORE, &there).len(), 1);
    }

    #[test]
    fn std_is_told_outside_of_tests_only() {
        let lib = source("crates/ralph-core/src/lib.rs", "#![no_std]\n#[cfg(test)]\nextern crate std;\n");
        assert!(no_std(std::slice::from_ref(&lib)).is_empty());
        let bad = source("crates/ralph-core/src/gate.rs", "use std::fs;\n");
        assert_eq!(no_std(&[lib, bad]).len(), 1);
        assert_eq!(no_std(&[source("crates/ralph-core/src/lib.rs", "extern crate std;\n")]).len(), 2);
    }
}
