//! The only writer of ralph's own files, the truth folder and the views in `.ralph/`, and of task files.
//!
//! | file | holds |
//! |---|---|
//! | `adopt` | files of an earlier tool, moved aside before the first write |
//! | `alternate` | replacing a view that changes with every iteration |
//! | `arm` | which session a run holds |
//! | `edit` | changing a file that is the user's |
//! | `files` | folders, private files, replacing a file whole |
//! | `evidence` | the ledger of attempts; held while a run goes on |
//! | `harness_lock` | `.harness.lock`: who else works with the harness |
//! | `own` | files in an agent's folder |
//! | `lock` | one run at a time; nobody's agent still at work |
//! | `journal` | the append-only record of a run |
//! | `requests` | what another ralph asks of a run |
//! | `keeping`, `packed` | what becomes of output when its iteration is over |
//! | `past` | earlier runs' records and the ledger, held while somebody works |
//! | `scratch` | folders for a while |
//! | `runs` | which runs there are, and what each iteration left |
//! | `copy` `stamp` | a copy of the journal or the ledger that nobody can touch; whether a file was touched |
//! | `syncer` | making a record durable beside what else is done |
//! | `guard` | what an agent must leave alone in `.ralph/` |
//! | `setup` | files that are put where none are |
//! | `trust` | which commands of which project the user agreed to, outside of it |
//! | `way` | by which names and links a file of the user's is reached |
//! | `views` | `.ralph/`: what people and agents read; `.ralph-session.json` |

mod adopt;
mod alternate;
mod arm;
mod copy;
mod edit;
mod evidence;
mod files;
mod guard;
mod harness_lock;
mod journal;
mod keeping;
mod lock;
mod own;
mod packed;
mod past;
mod requests;
mod runs;
mod scratch;
mod setup;
mod stamp;
mod syncer;
mod trust;
mod views;
mod way;

pub use adopt::{Adopted, adopt};
pub(crate) use alternate::{replace as take_turns, replace_as_of as take_turns_as_of};
pub use arm::ArmFile;
pub use edit::{clear_leftovers, edit, put_back};
pub use evidence::{Appended, HeldLedger, Ledger, Line, Park, Pass, Tally, Tried};
pub use files::{
    append_private, is_passing, make_dir, open_itself, put_back_if_gone, remove, sign_of_life, write_new,
    write_private, write_settings, write_with,
};
pub use guard::Guard;
pub use harness_lock::HarnessLock;
pub(crate) use harness_lock::hostname;
pub use journal::{JournalFile, JournalTail, cannot_continue};
pub use keeping::Keeping;
pub use lock::{
    Holder, Lock, LockState, folder_is_held, holder, lock_state, no_other_run, nobody_is_at_work, pause,
    wait_for_keepers,
};
pub use own::Own;
pub(crate) use packed::deflated;
pub use packed::{open_kept, unpacked};
pub use past::{Past, Restored};
pub use requests::{NoteRequest, Op, Pending, Requests, Steer};
pub use runs::{IterationFiles, Moment, Run, Runs};
pub use scratch::{Scratch, lend_objects};
pub use setup::{Placed, own_folder, place, place_below};
pub(crate) use stamp::Stamp;
pub use trust::TrustFile;
pub use views::{SESSION_VIEW, Views, background_log, has_session_view};
pub use way::Way;
