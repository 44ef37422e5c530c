//! The only writer of ralph's own files, the truth folder and the views in `.ralph/`, and of task files.
//!
//! | file | holds |
//! |---|---|
//! | `edit` | changing a file that is the user's |
//! | `files` | folders, private files, replacing a file whole |
//! | `lock` | one run at a time; nobody's agent still at work |
//! | `journal` | the append-only record of a run |
//! | `requests` | what another ralph asks of a run |
//! | `keeping`, `packed` | what becomes of output when its iteration is over |
//! | `runs` | which runs there are, and what each iteration left |
//! | `copy` `stamp` | a copy of the journal that nobody can touch; whether a file was touched |
//! | `guard` | what an agent must leave alone in `.ralph/` |
//! | `trust` | which commands of which project the user agreed to, outside of it |
//! | `views` | `.ralph/`: what people and agents read; `.ralph-session.json` |

mod copy;
mod edit;
mod files;
mod guard;
mod journal;
mod keeping;
mod lock;
mod packed;
mod requests;
mod runs;
mod stamp;
mod trust;
mod views;

pub use edit::edit;
pub use files::{append_private, open_itself, put_back_if_gone, write_new, write_private};
pub use guard::Guard;
pub use journal::{JournalFile, JournalTail, cannot_continue};
pub use keeping::Keeping;
pub use lock::{Holder, Lock, holder, wait_for_keepers};
pub use packed::{open_kept, unpacked};
pub use requests::{NoteRequest, Pending, Requests};
pub use runs::{IterationFiles, Run, Runs};
pub use trust::TrustFile;
pub use views::Views;
