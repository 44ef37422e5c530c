//! The work that a backlog hands out: reading it for the loop, and settling an attempt.
//!
//! | file | holds |
//! |---|---|
//! | `source` | the task file of a run: what it hands out, what an agent did to it, changing it |
//! | `place` | which task file it is, and reading it |
//! | `settle` | the parts of a settlement, each of which is done once however often it is asked for |
//! | `paths` | which of the changed files may be committed |
//! | `record` | the evidence of an attempt as a record |

mod paths;
mod place;
mod record;
mod settle;
mod source;

pub(crate) use place::{Place, find};
pub(crate) use settle::Settler;
pub(crate) use source::{Before, Source};
