//! The pure part of ralph: reading what agents say, deciding what follows, and the journal's codec.
//!
//! This crate is `no_std` on purpose: it links neither files, processes, network nor a clock, so a
//! decision can depend only on values that were handed in. Time arrives with each event
//! ([`event::Stamped`]); the world is changed only through the [`effect::Effect`]s a decision returns.
//!
//! Reading order: [`transcript`] (bytes to items), [`report`] (items to claims), the rules ([`gate`],
//! [`evidence`], [`reviews`], [`breaker`], [`saturation`], [`questions`], [`agents`], [`limits`]), [`machine`] (their order), [`state`] (the fold),
//! [`journal`] (the durable form), [`replay`] (deciding again over it).
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod agents;
pub mod analysis;
pub mod backlog;
pub mod beside;
pub mod breaker;
pub mod check;
pub mod decision;
pub mod detect;
pub mod edit;
pub mod effect;
pub mod event;
pub mod evidence;
pub mod gate;
pub mod gather;
pub mod git_index;
pub mod git_object;
pub mod git_text;
pub mod indicator;
pub mod items;
pub mod journal;
pub mod ledger;
pub mod limit;
pub mod limits;
pub mod lost;
pub mod machine;
pub mod own_files;
mod prelude;
pub mod prices;
pub mod profile;
pub mod prompt;
pub mod questions;
pub mod redact;
pub mod replay;
pub mod report;
pub mod reviews;
pub mod saturation;
pub mod session;
pub mod signature;
pub mod simulation;
pub mod state;
pub mod text;
pub mod time;
pub mod todos;
pub mod trail;
pub mod transcript;
pub mod view;
