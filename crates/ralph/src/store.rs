//! The only writer of ralph's own files, the truth folder and the views in `.ralph/`, and of task files.
//!
//! | file | holds |
//! |---|---|
//! | `edit` | changing a file that is the user's |
//! | `files` | folders, private files, replacing a file whole |
//! | `lock` | one run at a time; nobody's agent still at work |
//! | `journal` | the append-only record of a run |
//! | `requests` | what another ralph asks of a run |
//! | `runs` | which runs there are, and what each iteration left |
//! | `views` | `.ralph/`: what people and agents read; `.ralph-session.json` |

mod edit;
mod files;
mod journal;
mod lock;
mod requests;
mod runs;
mod views;

pub use edit::edit;
pub use files::{append_private, write_new, write_private};
pub use journal::{JournalFile, cannot_continue};
pub use lock::{Holder, Lock, holder, wait_for_keepers};
pub use requests::{NoteRequest, Pending, Requests};
pub use runs::{IterationFiles, Run, Runs};
pub use views::Views;
