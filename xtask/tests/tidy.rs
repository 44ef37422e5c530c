//! Holds what the compiler cannot: the owners of side effects, the third-party crates' places, the map in
//! ARCHITECTURE.md. It reads the sources as text; clippy's `disallowed-methods` sees through other names.
//!
//! Each check is a function from files to complaints and is tested with bad input beside it. A complaint says
//! what to do: mostly to move the code to its owner, rarely to add an owner, with a reason, to a table here.

#[path = "tidy/core.rs"]
mod core_purity;
#[path = "tidy/crates.rs"]
mod crates;
#[path = "tidy/docs.rs"]
mod docs;
#[path = "tidy/owners.rs"]
mod owners;
#[path = "tidy/points.rs"]
mod points;
#[path = "tidy/schemas.rs"]
mod schemas;
#[path = "tidy/sources.rs"]
mod sources;
#[path = "tidy/style.rs"]
mod style;

use sources::{all_text, root, rust, text};

#[track_caller]
fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} to settle:\n{}\n", complaints.len(), complaints.join("\n"));
}

#[test]
fn core_depends_only_on_crates_that_cannot_touch_the_world() {
    none(&core_purity::dependencies(&text("crates/ralph-core/Cargo.toml"), &text("Cargo.toml")));
}

#[test]
fn core_has_no_standard_library_outside_its_tests() {
    none(&core_purity::no_std(&rust("crates/ralph-core/src/")));
}

#[test]
fn each_side_effect_has_its_owner() {
    none(&owners::violations(&rust("crates/ralph/src/")));
}

#[test]
fn each_owner_is_still_there() {
    none(&owners::stale(&rust("crates/ralph/src/")));
}

#[test]
fn each_effect_can_be_cut_off_before() {
    none(&points::missing(&rust("crates/ralph/src/")));
}

#[test]
fn each_third_party_crate_is_named_only_in_its_place() {
    let manifests = ["crates/ralph-core/Cargo.toml", "crates/ralph/Cargo.toml"].map(text);
    let sources = [rust("crates/ralph-core/src/"), rust("crates/ralph/src/")].concat();
    none(&crates::unplaced(&manifests));
    none(&crates::violations(&sources));
}

#[test]
fn no_source_file_is_two_things() {
    none(&style::too_long(&rust("")));
}

#[test]
fn nothing_is_left_unfinished() {
    none(&style::unfinished(&rust("")));
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    none(&style::machine_paths(&all_text()));
}

#[test]
fn the_architecture_maps_every_source_file_once_and_no_other() {
    let all = rust("");
    none(&docs::twice(&text("ARCHITECTURE.md")));
    none(&docs::unmapped(&text("ARCHITECTURE.md"), &all));
    none(&docs::ghosts(&text("ARCHITECTURE.md"), &all));
}

#[test]
fn every_json_document_has_a_published_schema() {
    let mut published = all_text();
    published.retain(|file| file.path.starts_with("schemas/"));
    let sources = [rust("crates/ralph-core/src/"), rust("crates/ralph/src/")].concat();
    none(&schemas::unpublished(&sources, &published));
    none(&schemas::unused(&rust("crates/"), &published));
}

#[test]
fn the_page_about_agents_names_the_versions_that_are_tested() {
    none(&docs::pinned(&text("docs/agents.md"), &text("xtask/src/agents/pins.rs")));
}

#[test]
fn ci_runs_what_contributors_run() {
    none(&docs::ci(&text(".ci/run")));
    none(&docs::readme(&text("README.md")));
    none(&docs::workflow(&text(".github/workflows/test.yml"), &text("Cargo.toml")));
}

#[cfg(unix)]
#[test]
fn ci_can_be_started() {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(root().join(".ci/run")).expect(".ci/run is there").permissions().mode();
    assert_eq!(mode & 0o111, 0o111, "chmod +x .ci/run");
}
