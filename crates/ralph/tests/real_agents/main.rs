//! ralph with the real agent CLIs, against stand-ins for their models on loopback. `cargo xtask test` installs them and
//! tells where they are.

#[path = "../common/mod.rs"]
mod common;

mod claude;
mod codex;
mod gemini;
mod hanging;
#[allow(dead_code, reason = "shared with the tests of the worker, which use all of it")]
#[path = "../worker/stage.rs"]
mod harness;
mod hook;
mod items;
mod night;
mod opencode;
mod pools;
mod stage;
mod trouble;
