//! ralph with the real agent CLIs, against stand-ins for their models on loopback. `cargo xtask test` installs them and
//! tells where they are.

#[path = "../common/mod.rs"]
mod common;

mod claude;
mod codex;
mod gemini;
mod hanging;
mod hook;
mod opencode;
mod pools;
mod stage;
mod trouble;
