//! What README and docs/ say is true: examples are run, command lines are understood, settings are accepted, links lead
//! somewhere. docs/testing.md tells how a page is written.

#[path = "../common/mod.rs"]
mod common;
mod console;
mod pages;
mod screens;
mod shown;
mod words;

use std::collections::BTreeSet;

use pages::{Page, all, page};

/// One test for each page with examples, so that they run beside each other.
macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        const TRIED: &[&str] = &[$($path),*];
        mod examples_hold_in {
            $(#[test] fn $name() { crate::console::holds(&crate::page($path)); })*
        }
    };
}

pages! {
    backlog: "docs/concepts/backlog.md",
    circuit_breaker: "docs/concepts/circuit-breaker.md",
    custody: "docs/concepts/custody.md",
    evidence: "docs/concepts/evidence.md",
    exit_gate: "docs/concepts/exit-gate.md",
    fresh_context: "docs/concepts/fresh-context.md",
    handoff: "docs/concepts/handoff.md",
    hook_mode: "docs/concepts/hook-mode.md",
    iteration: "docs/concepts/iteration.md",
    limits: "docs/concepts/limits.md",
    phases: "docs/concepts/phases.md",
    pools: "docs/concepts/pools.md",
    profiles: "docs/concepts/profiles.md",
    record_and_replay: "docs/concepts/record-and-replay.md",
    reports: "docs/concepts/reports.md",
    reviews: "docs/concepts/reviews.md",
    saturation: "docs/concepts/saturation.md",
    security: "docs/security.md",
    snapshots: "docs/concepts/snapshots.md",
    troubleshooting: "docs/troubleshooting.md",
    tuning: "docs/tuning.md",
    worker: "docs/concepts/worker.md",
}

#[test]
fn every_page_with_examples_is_tried() {
    let with: Vec<String> =
        all().into_iter().filter(|page| page.has_examples()).map(|page| page.path).collect();
    let tried: BTreeSet<&str> = TRIED.iter().copied().collect();
    let forgotten: Vec<&String> = with.iter().filter(|path| !tried.contains(path.as_str())).collect();
    assert!(forgotten.is_empty(), "add to the list in tests/docs/main.rs: {forgotten:?}");
    assert_eq!(with.len(), TRIED.len(), "a page on the list has no example any more");
}

#[test]
fn every_link_leads_somewhere() {
    let pages = all();
    let broken: Vec<String> = pages.iter().flat_map(Page::broken_links).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_page_can_be_reached_from_the_readme() {
    let mut seen = BTreeSet::from(["README.md".to_owned()]);
    let mut next = vec!["README.md".to_owned()];
    while let Some(path) = next.pop() {
        let linked = page(&path).links().into_iter().map(|(_, target)| target.path);
        let new: Vec<String> =
            linked.filter(|path| path.ends_with(".md") && seen.insert(path.clone())).collect();
        next.extend(new);
    }
    let lost: Vec<String> =
        all().into_iter().map(|page| page.path).filter(|path| !seen.contains(path)).collect();
    assert!(lost.is_empty(), "no link leads to {lost:?}");
}
