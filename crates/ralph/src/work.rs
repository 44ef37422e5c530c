//! The work that a backlog hands out: reading it for the loop, and settling an attempt.
//!
//! | file | holds |
//! |---|---|
//! | `source` | the task file of a run: what it hands out, what an agent did to it, changing it |
//! | `stuck` | what to do where no item can begin |
//! | `beads` | issues that `bd` keeps: asking it, and having it change them |
//! | `steered` | the hooks and settings of bd: agreed to before it is called, and put back after an agent |
//! | `known` | which task files a project has, and which is meant where none is named |
//! | `place`, `large`, `hands` | a task file, and reading it; the same in several threads |
//! | `open` | the open items of every task file that could be taken |
//! | `settle` | the parts of a settlement, each of which is done once however often it is asked for |
//! | `commit`, `paths`, `back` | its commit; which of the changed files that may hold; taking a failed attempt back |
//! | `taken` | files of the user's that an agent committed |
//! | `unwanted` | what agents committed and HEAD must not keep: ralph's own files, and other criteria |
//! | `stand` | where the user stood in the repository before and after an agent |
//! | `inherit` | what a new run takes over from the last one about the same backlog |
//! | `park` | setting a parked item aside: its work kept, its files put back |
//! | `steer` | what a person says about an item: an answer, or that it is left out |
//! | `boot` | what must pass before anything is selected |
//! | `own` | which contents of the task file are ralph's own doing, and so may be committed |
//! | `record` | the evidence of an attempt as a record |

mod back;
pub(crate) mod beads;
mod boot;
mod commit;
mod hands;
pub(crate) mod inherit;
mod known;
mod large;
mod open;
mod own;
mod park;
mod paths;
mod place;
mod record;
mod settle;
mod source;
mod stand;
mod steer;
mod steered;
mod stuck;
mod taken;
mod unwanted;

pub(crate) use boot::boot;
pub(crate) use hands::TwoHands;
pub(crate) use known::{
    Counted, FAR_BACK, below, candidates, choices, find, is_somewhere, items, known, places, undecided,
    unnamed_beads,
};
pub(crate) use open::{OpenFile, open_files, open_items};
pub(crate) use own::{OwnBacklog, is_as_left};
pub(crate) use paths::{is_below, is_own};
pub(crate) use place::{Place, root};
pub(crate) use record::{Whole, steered as steer_record};
pub(crate) use settle::Settler;
pub(crate) use source::{Left, Source, in_a_line};
pub(crate) use stand::{CHANGED, Stand, Stands, Stood, departed};
pub(crate) use steer::apply as steer;
pub(crate) use steered::Steered;
pub(crate) use stuck::{
    TO_GIVE_STEPS, again as how_to_try_again, hand_over as how_to_hand_over, reset as how_to_reset, spent,
    which as which_backlog, without_steps,
};
pub(crate) use taken::{Before, InHead, dirty_at, taken_along, thrown_away};
pub(crate) use unwanted::by_commits;
