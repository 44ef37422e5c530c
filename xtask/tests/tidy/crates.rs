//! Invariant 9: each third-party crate touches one module, so that it can be replaced there.

use crate::core_purity::entries;
use crate::sources::{Source, names, shipped};

/// Vocabulary rather than a service: derives and values, everywhere.
const FREE: [&str; 3] = ["serde", "serde_json", "thiserror"];

/// A crate and the files and folders that may name it. A second place is a decision.
const PLACES: &[(&str, &[&str])] = &[
    // Digests of evidence.
    ("blake3", &["crates/ralph/src/digest.rs"]),
    ("clap", &["crates/ralph/src/cli.rs", "crates/ralph/src/cli/"]),
    // Completions and man pages, from the command line as data.
    ("clap_complete", &["crates/ralph/src/cli/generate.rs"]),
    ("clap_mangen", &["crates/ralph/src/cli/generate.rs"]),
    ("crc32fast", &["crates/ralph-core/src/journal.rs"]),
    // Output that is kept packed.
    ("flate2", &["crates/ralph/src/store/packed.rs"]),
    // YAML with the place of every node, and without the standard library.
    ("granit-parser", &["crates/ralph-core/src/backlog/yaml.rs"]),
    ("jiff", &["crates/ralph-core/src/time.rs", "crates/ralph/src/clock.rs"]),
    // Readers of bytes: streams, journals, git's answers, prose.
    (
        "memchr",
        &[
            "crates/ralph-core/src/transcript/",
            "crates/ralph-core/src/journal.rs",
            "crates/ralph-core/src/git_text.rs",
            "crates/ralph-core/src/todos.rs",
            "crates/ralph-core/src/indicator/tokens.rs",
            "crates/ralph-core/src/redact.rs",
            "crates/ralph-core/src/redact/",
            "crates/ralph-core/src/session.rs",
        ],
    ),
    // Digests of evidence.
    ("blake3", &["crates/ralph/src/digest.rs"]),
    // Processes, the kernel's timers, and how wide the terminal is.
    (
        "rustix",
        &[
            "crates/ralph/src/process.rs",
            "crates/ralph/src/process/",
            "crates/ralph/src/clock/alarm.rs",
            "crates/ralph/src/ui/stream.rs",
            "crates/ralph/src/ui.rs",
            // Two names exchanged in one step.
            "crates/ralph/src/store/alternate.rs",
            // How much room there is, and who may write.
            "crates/ralph/src/doctor/disk.rs",
            // SIGKILL for ourselves, in debug builds.
            "crates/ralph/src/point/armed.rs",
        ],
    ),
    // What git calls a tree.
    ("sha1_smol", &["crates/ralph-core/src/git_object.rs"]),
    ("signal-hook", &["crates/ralph/src/runner/signals.rs"]),
    // TOML with spans, to name a line, and lossless, to edit one.
    ("toml_edit", &["crates/ralph/src/config.rs", "crates/ralph/src/config/"]),
    ("unicode-width", &["crates/ralph/src/ui.rs", "crates/ralph/src/ui/"]),
    // Where ids are made: of a run, of a note, and of the demo's folder.
    ("uuid", &["crates/ralph/src/cli/run.rs", "crates/ralph/src/cli/ask.rs", "crates/ralph/src/demo.rs"]),
];

/// Dependencies of the production crates that have no place yet, and places of crates that are gone.
pub(crate) fn unplaced(manifests: &[String]) -> Vec<String> {
    let named: Vec<String> = manifests
        .iter()
        .flat_map(|manifest| entries(manifest, "[dependencies]"))
        .map(|(name, _)| name)
        .filter(|name| name != "ralph-core" && !FREE.contains(&name.as_str()))
        .collect();
    let new = named.iter().filter(|name| PLACES.iter().all(|(known, _)| known != *name));
    let new =
        new.map(|name| format!("{name} is a new dependency: give it one module, and a row in {}", file!()));
    let old = PLACES.iter().filter(|(known, _)| !named.iter().any(|name| name == known));
    let old =
        old.map(|(known, _)| format!("{known} is no dependency any more: take its row out of {}", file!()));
    new.chain(old).collect()
}

pub(crate) fn violations(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in sources {
        for (name, places) in PLACES {
            let at_home = places.iter().any(|place| {
                if place.ends_with('/') { file.path.starts_with(place) } else { file.path == *place }
            });
            if at_home {
                continue;
            }
            for (number, line) in shipped(file).into_iter().filter(|(_, line)| uses(line, name)) {
                complaints.push(format!(
                    "{}:{number}: names {name}, whose place is {}: ask that module, or decide for a second place \
                     in {}\n    {}",
                    file.path,
                    places.join(" and "),
                    file!(),
                    line.trim()
                ));
            }
        }
    }
    complaints
}

/// Whether a line of code names a crate: a path that starts with it, or an import of it.
fn uses(line: &str, name: &str) -> bool {
    let ident = name.replace('-', "_");
    let path = format!("{ident}::");
    let inner = [format!("crate::{path}"), format!("self::{path}"), format!("super::{path}")];
    let line = inner.iter().fold(line.to_owned(), |line, own| line.replace(own, ""));
    names(&line, &path)
        || names(&line, &format!("use {ident}"))
        || names(&line, &format!("extern crate {ident}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::source;

    #[test]
    fn a_crate_out_of_its_place_is_told() {
        for line in ["use rustix::process::Pid;", "let n = rustix::fs::open(p);", "use rustix as unix;"] {
            assert_eq!(violations(&[source("crates/ralph/src/cli/run.rs", line)]).len(), 1, "{line}");
            assert_eq!(violations(&[source("crates/ralph/src/process/job.rs", line)]).len(), 0, "{line}");
        }
        assert_eq!(violations(&[source("crates/ralph-core/src/gate.rs", "use memchr::memchr;")]).len(), 1);
        assert_eq!(violations(&[source("crates/ralph/src/runner.rs", "use signal_hook::flag;")]).len(), 1);
    }

    #[test]
    fn a_module_or_a_word_of_the_same_name_is_no_crate() {
        for line in ["use crate::clap::x;", "let uuid = 1;", "my_clap::run()", "// clap::Parser"] {
            assert_eq!(
                violations(&[source("crates/ralph/src/runner.rs", line)]),
                Vec::<String>::new(),
                "{line}"
            );
        }
    }

    #[test]
    fn a_new_dependency_needs_a_row_and_an_old_row_must_go() {
        let names = PLACES.iter().map(|(name, _)| format!("{name}.workspace = true\n")).collect::<String>();
        let manifest = format!("[dependencies]\nserde.workspace = true\n{names}");
        assert_eq!(unplaced(std::slice::from_ref(&manifest)), Vec::<String>::new());
        let more = format!("{manifest}rand = \"0.9\"\n");
        assert!(unplaced(&[more])[0].starts_with("rand is a new dependency"));
        let less = manifest.replace("uuid.workspace = true\n", "");
        assert!(unplaced(&[less])[0].starts_with("uuid is no dependency any more"));
    }
}
