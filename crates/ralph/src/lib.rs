//! The shell of ralph: everything that touches the world. Decisions are `ralph-core`'s.
//!
//! cli -> runner -> {agent, process, tree, git, store, ui} -> core. Nothing in core points out.

pub mod agent;
mod bounded;
mod brought;
pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
mod detected;
mod digest;
mod doctor;
pub mod error;
pub mod git;
mod notify;
mod point;
pub mod process;
pub mod project;
pub mod runner;
pub mod secrets;
pub mod settings;
mod setup;
pub mod store;
pub mod suggest;
mod summary;
pub mod tree;
pub mod trust;
pub mod ui;
mod unix;
mod verify;
mod work;
