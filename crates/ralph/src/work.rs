//! The work that a backlog hands out: reading it for the loop, and settling an attempt.
//!
//! | file | holds |
//! |---|---|
//! | `source` | the task file of a run: what it hands out, what an agent did to it, changing it |
//! | `place` | which task file it is, and reading it |
//! | `settle` | the parts of a settlement, each of which is done once however often it is asked for |
//! | `boot` | what must pass before anything is selected |
//! | `own` | which contents of the task file are ralph's own doing, and so may be committed |
//! | `paths` | which of the changed files may be committed |
//! | `record` | the evidence of an attempt as a record |

mod boot;
mod own;
mod paths;
mod place;
mod record;
mod settle;
mod source;

pub(crate) use boot::boot;
pub(crate) use own::OwnBacklog;
pub(crate) use place::{Place, find, known};
pub(crate) use record::reset as reset_record;
pub(crate) use settle::Settler;
pub(crate) use source::{Source, in_a_line};
