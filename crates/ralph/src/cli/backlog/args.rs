//! The commands of `ralph backlog` as data.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use ralph_core::backlog::{Outcome, State};

use crate::work::Place;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum BacklogCommand {
    /// Select the item to work on, as JSON in a pipe: exit 0 selected, 1 none eligible, 2 a cycle or a limit
    Next(NextArgs),
    /// List the items
    List(ListArgs),
    /// Show one item as an agent would be told about it
    Show(ShowArgs),
    /// Count the items, by state and by what could begin
    Status(ListArgs),
    /// Add an item at the end
    Add(AddArgs),
    /// Change an item's state; in a feature_list.json, PASSING needs a PASSED attempt, elsewhere done is your word
    Set(SetArgs),
    /// Record an attempt with its evidence; never changes the state
    Attempt(AttemptArgs),
    /// Count one more iteration of an item
    Increment(IncrementArgs),
    /// Check the evidence of all items, or of one: exit 0 in order, 1 not
    Validate(ValidateArgs),
    /// Set an item's iterations back to 0, and open it if it is blocked
    Reset(OneArgs),
    /// Leave an item out of runs; items that depend on it keep waiting
    Skip(SkipArgs),
    /// Have a skipped item worked on again
    Unskip(OneArgs),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ShowArgs {
    #[command(flatten)]
    pub(super) one: OneArgs,
    /// Print the work that was set aside when the item was parked, as a patch
    #[arg(long, conflicts_with = "json")]
    pub(super) patch: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SkipArgs {
    #[command(flatten)]
    pub(super) one: OneArgs,
    /// Why it is left out
    #[arg(long, value_name = "TEXT")]
    pub(super) why: Option<String>,
}

/// Which file, and how to answer.
#[derive(Debug, Args)]
pub(in crate::cli) struct Common {
    /// The task file [default: the one with open items, see docs/backlogs.md]; beads: the issues that bd keeps
    #[arg(long, value_name = "FILE")]
    pub(super) backlog: Option<PathBuf>,
    /// The folder that feature_list.json is in
    #[arg(long, value_name = "DIR", conflicts_with = "backlog")]
    pub(super) harness_dir: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Common {
    pub(super) fn place(&self) -> crate::error::Result<Place> {
        Place::of(self.backlog.as_deref(), self.harness_dir.as_deref())
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct NextArgs {
    /// Only items of this phase
    #[arg(long, value_name = "PHASE")]
    pub(super) phase: Option<String>,
    /// Only this item
    #[arg(long, value_name = "ID")]
    pub(super) task: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ListArgs {
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct OneArgs {
    /// The item's id, a beginning of it that no other has (4 characters or more), or its title
    pub(super) id: String,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct AddArgs {
    /// What is to be done, in a line
    pub(super) title: String,
    /// [default: made of the title]
    #[arg(long)]
    pub(super) id: Option<String>,
    /// More about it
    #[arg(long, value_name = "TEXT")]
    pub(super) description: Option<String>,
    /// A number, or critical, high, medium, low
    #[arg(long)]
    pub(super) priority: Option<String>,
    /// The phase it belongs to
    #[arg(long)]
    pub(super) phase: Option<String>,
    /// Items that must be done before
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    pub(super) depends: Vec<String>,
    /// What must hold when it is done; repeat the option for each
    #[arg(long, value_name = "TEXT")]
    pub(super) criterion: Vec<String>,
    /// A command that must succeed; repeat the option for each
    #[arg(long, value_name = "CMD")]
    pub(super) verify: Vec<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SetArgs {
    /// The item's id, a beginning of it that no other has (4 characters or more), or its title
    pub(super) id: String,
    /// One of open, in_progress, done, blocked, cancelled, or what a task file calls it, such as todo or PASSING
    #[arg(value_parser = state)]
    pub(super) state: State,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct AttemptArgs {
    /// The item's id, a beginning of it that no other has (4 characters or more), or its title
    pub(super) id: String,
    #[arg(value_enum, ignore_case = true)]
    pub(super) result: ResultArg,
    /// The commands that were run, separated by commas
    #[arg(long, value_name = "CMD,…", value_delimiter = ',')]
    pub(super) commands: Vec<String>,
    /// What came of them; needed for PASSED
    #[arg(long, value_name = "TEXT")]
    pub(super) summary: Option<String>,
    /// The commit that holds the work
    #[arg(long, value_name = "HASH")]
    pub(super) commit: Option<String>,
    /// Why it failed
    #[arg(long, value_name = "TEXT")]
    pub(super) failure_reason: Option<String>,
    /// What was tried, and what to try next
    #[arg(long, value_name = "TEXT")]
    pub(super) investigation: Option<String>,
    /// The code was taken back
    #[arg(long)]
    pub(super) reverted: bool,
    /// [default: the next worker-NNN of the item]
    #[arg(long, value_name = "NAME")]
    pub(super) run_id: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct IncrementArgs {
    /// The item's id, a beginning of it that no other has (4 characters or more), or its title
    pub(super) id: String,
    /// Block the item when it has reached its limit
    #[arg(long)]
    pub(super) block_on_max: bool,
    /// Why it is blocked; needed when it is
    #[arg(long, value_name = "TEXT")]
    pub(super) override_reason: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ValidateArgs {
    /// Only this item
    pub(super) id: Option<String>,
    /// Also: what passes has a newest attempt that is PASSED, with a commit that exists
    #[arg(long)]
    pub(super) strict: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(in crate::cli) enum ResultArg {
    /// All criteria are met
    #[value(name = "PASSED")]
    Passed,
    /// One or more are not
    #[value(name = "FAILED")]
    Failed,
    /// Still at it
    #[value(name = "IN_PROGRESS")]
    InProgress,
}

impl From<ResultArg> for Outcome {
    fn from(result: ResultArg) -> Self {
        match result {
            ResultArg::Passed => Self::Passed,
            ResultArg::Failed => Self::Failed,
            ResultArg::InProgress => Self::InProgress,
        }
    }
}

fn state(word: &str) -> Result<State, String> {
    State::parse(word).ok_or_else(|| {
        "it is none of open, in_progress, done, blocked, cancelled, nor what a task file calls them".into()
    })
}
