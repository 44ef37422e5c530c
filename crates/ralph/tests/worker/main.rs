//! `ralph run` on a backlog, end to end: real binary, real git, scripted agents.

mod again;
mod beads;
mod beads_kept;
mod boot;
mod by_evidence;
mod commits;
mod committed;
#[path = "../common/mod.rs"]
mod common;
mod crashes;
mod custody;
mod failing_before;
mod formats;
mod handed_on;
mod hooks;
mod items;
mod judged;
mod links;
mod parked;
mod phases;
mod proved;
mod rests_on;
mod reverts;
mod scope;
mod shown;
mod stage;
mod staged;
mod taken_up;
mod thrown_away;
mod whole;
