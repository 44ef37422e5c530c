//! Setting up: settings in layers, `init`, `doctor`, notifications, and what is made from the program itself.

mod adoption;
mod chosen;
#[path = "../common/mod.rs"]
mod common;
mod config;
mod doctor;
mod folders;
mod init;
mod notify;
mod reference;
