//! ralph is killed, or refused by the disk, at every point it passes (`crates/ralph/src/point.rs`), and taken up again:
//! nothing may be lost, doubled, under-counted or left running.
//!
//! A dry run lists the points. `RALPH_SWEEP=full` (`cargo xtask sweep`) strikes at all of them. Else the whole run is killed
//! at the first and the last passing of each name, and the others try the middle one of some names: on a full disk of one half of
//! them, on a failing one of the other. `RALPH_SWEEP_ONLY=TEXT` tries those cases alone whose name has the text.
#![expect(clippy::disallowed_methods, reason = "tests have files of their own")]

mod backlog;
mod cases;
#[path = "../common/mod.rs"]
mod common;
mod own_files;
mod parking;
mod scenario;
mod undo;
mod verdict;

use cases::{How, Sample};
use scenario::Scenario;

#[test]
fn a_run_killed_at_any_point_goes_on_and_nothing_is_lost_or_doubled() {
    cases::sweep(&Scenario::whole_run(), How::Kill, Sample::Ends);
}

#[test]
fn a_disk_that_is_full_for_a_moment_costs_a_run_nothing() {
    refused_by_the_disk(How::DiskFull, Sample::Every2nd(0));
}

#[test]
fn a_disk_that_fails_for_a_moment_costs_a_run_nothing() {
    refused_by_the_disk(How::DiskFails, Sample::Every2nd(1));
}

#[test]
fn a_run_killed_at_any_point_while_it_is_taken_up_again_goes_on_too() {
    cases::sweep(&Scenario::taken_up_again(), How::Kill, Sample::Every2nd(0));
}

fn refused_by_the_disk(how: How, sample: Sample) {
    cases::sweep(&Scenario::whole_run(), how, sample);
    if cases::is_full() {
        cases::sweep(&Scenario::taken_up_again(), how, sample);
    }
}

#[test]
fn a_backlog_that_is_struck_at_any_point_has_each_attempt_commit_and_revert_once() {
    in_every_way(&backlog::scenario(), 24);
}

#[test]
fn a_settlement_that_is_struck_again_while_it_is_taken_up_is_settled_once() {
    in_every_way(&backlog::settled_again(), 24);
}

#[test]
fn an_item_that_is_parked_while_ralph_is_struck_is_parked_once_and_its_work_is_kept() {
    in_every_way(&parking::scenario(), 24);
}

#[test]
fn own_files_that_an_agent_removed_come_back_wherever_ralph_is_struck() {
    in_every_way(&own_files::scenario(), 12);
}

#[test]
fn an_undo_that_is_struck_at_any_point_is_not_begun_or_done_and_the_next_one_finishes_it() {
    in_every_way(&undo::scenario(), 3);
}

/// All ways at every point; in a sample each takes its own of every so many names.
fn in_every_way(scenario: &Scenario, every: usize) {
    let ways = [How::Kill, How::DiskFull, How::DiskFails];
    for (nth, how) in ways.into_iter().enumerate() {
        cases::sweep(scenario, how, Sample::Own { every, from: nth * every / 3 });
    }
}

#[test]
fn agents_checks_and_git_do_not_see_the_variables_of_the_sweep() {
    let scenario = Scenario::whole_run();
    let copy = scenario.copy();
    copy.run().env(cases::POINT, "kill:no such point#1").run().assert_code(0);
    let seen = copy.environment_of_agents();
    assert!(seen.contains("RALPH_ITERATION="), "{seen}");
    assert!(!seen.contains("CRASH") && !seen.contains("CHECKPOINT_EVERY"), "{seen}");
}
