//! What a person sees in the morning: the summary, notifications, and the log of a run that nobody watched.

#[path = "../common/mod.rs"]
mod common;
mod history;
mod log;
mod summary;
mod url;
