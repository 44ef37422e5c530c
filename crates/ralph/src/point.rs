//! Points: the places where ralph may be cut off. Every write, rename, new folder, removal, sync, spawn and call of git
//! passes one *before* its effect, so the moment after an effect is the next point.
//!
//! In debug builds two variables make use of them (`tests/crash_sweep/` does; see docs/testing.md). In release builds
//! a point is nothing, and the variables mean nothing.
//!
//! * `RALPH_CRASH_POINTS=FILE`: every point that is passed appends its name. ralph and its keepers share the file, so a
//!   name's occurrences are counted over all of them.
//! * `RALPH_CRASH_POINT=HOW:NAME#N`: the N-th passing of NAME is `kill` (SIGKILL for the process that passes) or
//!   `panic` (a fault of its own), or comes back with `enospc` or `eio` instead of its effect. `#N+`: and every later one.
//! * `RALPH_CHECKPOINT_EVERY=N`: a checkpoint after N records instead of 16, so that a short run has one.
//!
//! A name and not a number of all points, because threads interleave: the third append to the journal is the same in
//! every run, the fortieth point is not. Agents, checks and git never see the variables.

#[cfg(debug_assertions)]
mod armed;
#[cfg(not(debug_assertions))]
#[path = "point/nothing.rs"]
mod armed;

pub(crate) use armed::{VARIABLES, call, early_checkpoint, file, pass, torn};
