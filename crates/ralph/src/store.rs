//! The only writer of ralph's own files: the truth folder and the views in `.ralph/`.
//!
//! | file | holds |
//! |---|---|
//! | `files` | folders, private files, replacing a file whole |
//! | `lock` | one run at a time; nobody's agent still at work |
//! | `journal` | the append-only record of a run |
//! | `requests` | what another ralph asks of a run |
//! | `runs` | which runs there are, and what each iteration left |
//! | `trust` | which commands of which project the user agreed to, outside of it |
//! | `views` | `.ralph/`: what people and agents read; `.ralph-session.json` |

mod files;
mod journal;
mod lock;
mod requests;
mod runs;
mod trust;
mod views;

pub use files::{append_private, write_new, write_private};
pub use journal::{JournalFile, JournalTail, cannot_continue};
pub use lock::{Holder, Lock, holder, wait_for_keepers};
pub use requests::{NoteRequest, Pending, Requests};
pub use runs::{IterationFiles, Run, Runs};
pub use trust::TrustFile;
pub use views::Views;
