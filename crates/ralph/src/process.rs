//! The only place where ralph starts other programs.
//!
//! There are two ways to run one:
//!
//! * [`capture`] and [`capture_for`] run a short helper (git, `claude --version`) to its end and hand back what
//!   it printed; [`begin`] starts one that gets its input later.
//! * [`start`] runs an agent or a check in the custody of a *keeper*: a second ralph process that stands between
//!   ralph and the command, ends it when asked, and leaves nothing of it behind.
//!
//! # Why a keeper
//!
//! Agents run their tools in sessions of their own, and what those leave in the background survives both the
//! agent and a signal to its process group. The keeper is a sub-reaper: on Linux every orphan below it becomes
//! its child, whatever the orphan did with its session, group, environment or signals. So "wait until no child is
//! left" is a complete answer to "is everything gone?". The keeper and ralph share a socket. When ralph dies,
//! even by `kill -9`, the keeper reads end of file there and ends everything; when the keeper dies, ralph reads
//! end of file, ends what it finds of the command and reports [`End::Lost`]. When both die, the next ralph finds what is
//! left by its [`Mark`] and [`sweep`]s it away.
//!
//! Other systems have no sub-reaper. There the process group is ended, which is best effort.
//!
//! | file | holds |
//! |---|---|
//! | `spec`, `program` | what to run; where it is on PATH |
//! | `capture`, `helpers` | helpers; the programs that they start in turn |
//! | `keeper` | starting a keeper, ahead of its order too |
//! | `job`, `output` | ralph's side of a kept command |
//! | `detached` | another ralph, which is not waited for |
//! | `brief` | a kept command for a bounded time |
//! | `keep/` | the keeper's side |
//! | `wire` | what the two say to each other |
//! | `mark`, `sweep` | finding and ending what a killed keeper left |
//! | `watch` | waiting until files grow or another ralph ends |
//! | `nudge` | telling another ralph to look at its requests; whether it is there |
//! | `end`, `ready`, `children` | how a process ended; waiting for descriptors; the kernel's list of children |

mod brief;
mod capture;
mod children;
mod detached;
mod end;
mod helpers;
mod job;
pub mod keep;
mod keeper;
mod mark;
mod nudge;
mod output;
mod program;
mod ready;
mod spec;
mod sweep;
mod watch;
mod wire;

use std::time::Duration;

pub use brief::{Brief, run_for, run_for_or_until};
pub use capture::{Begun, Captured, begin, capture, capture_for};
pub use children::become_reaper;
pub use detached::start_detached;
pub use end::End;
pub use helpers::{Hurry, Patience, end_left};
pub use job::{Ender, Job, JobEnd, Leaving, start, start_with_keeper};
pub use keeper::Ahead;
pub use mark::Mark;
pub use nudge::{is_there, nudge};
pub use output::Output;
pub use program::{find_program, missing_program};
pub use spec::{SpawnError, Spec, Stdin};
pub use sweep::{Swept, sweep};
pub use watch::{Watch, Woken};

/// KILL works at once, except on processes of another user and on those stuck in the kernel. Nobody is made to
/// wait for these any longer.
const KILL_PATIENCE: Duration = Duration::from_secs(5);
