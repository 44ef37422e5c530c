//! The command line as data.

use std::num::{IntErrorKind, ParseIntError};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use ralph_core::event::Permissions;
use ralph_core::transcript::Format;

use crate::settings::For;
use crate::settings::pool;

/// Nobody misses what no snapshot holds until it is gone.
const UNDO_LEAVES: &str = "Not put back, for no snapshot holds it: files that git or .ralphignore ignores (.env, node_modules, build output), \
     untracked files over 50 MB, and what is not committed in nested repositories. What you changed yourself while no agent \
     was at work stays as it is, unless you say --all: while one works, nobody can tell your edit from the agent's. \
     With --to everything is exactly as in that snapshot, also what you changed since; the way back from there is named.";

/// Below the help of `run`.
const RUN_EXITS: &str = "Exit codes: 0 proved done (or claimed, where there is no check), 1 error, 2 blocked, 3 iteration limit or not proved, 4 no agent left, \
5 circuit open, 6 budget used up, 7 nothing left to do (--once), 64 wrong usage, 65 unreadable file, 130 and 143 stopped. \
`ralph explain CODE` tells more about each.";

/// Runs coding agents in a loop until the work is proved done.
#[derive(Debug, Parser)]
#[command(
    name = "ralph",
    version,
    about,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Work on a goal until it is proved done; without GOAL, continue the last unfinished run, or work through the
    /// backlog
    #[command(after_help = RUN_EXITS)]
    Run(Box<RunArgs>),
    /// Show what is going on, or how the last run ended
    Status(StatusArgs),
    /// Show what each iteration did and why it counted
    History(HistoryArgs),
    /// Sum up a run: what is proved, what needs your answer, what to type next
    Summary(super::summary::SummaryArgs),
    /// Stop the run that goes on when its iteration is over
    Stop,
    /// Say something to the next iteration and those after it, or answer one that is blocked
    Note(super::ask::NoteArgs),
    /// Look at a task file, select from it, record attempts; changes only the bytes that must change
    #[command(subcommand)]
    Backlog(super::backlog::BacklogCommand),
    /// What was proved: show it, verify that it still holds, export it
    #[command(subcommand)]
    Evidence(super::evidence::EvidenceCommand),
    /// Show or close the circuit breaker
    #[command(subcommand)]
    Circuit(super::circuit::CircuitCommand),
    /// Close the last run and the circuit breaker; deletes nothing
    Reset,
    /// Put the files back as they were before an iteration; a snapshot is taken first, and commits stay
    #[command(after_help = UNDO_LEAVES)]
    Undo(super::undo::UndoArgs),
    /// Show the rules that runs decide by
    #[command(subcommand)]
    Profile(super::profile::ProfileCommand),
    /// Show what is settled for new runs and where it comes from, or change it
    #[command(subcommand)]
    Config(super::config::ConfigCommand),
    /// Try how you are told that a run has ended or waits
    #[command(subcommand)]
    Notify(super::notify::NotifyCommand),
    /// Decide a recorded run again, by its own rules or by others
    Replay(ReplayArgs),
    /// Check a status block, or write one from what can be measured
    #[command(subcommand)]
    Report(super::report::ReportCommand),
    /// Tell what an agent's output says, as JSON; judges words only
    Analyze(AnalyzeArgs),
    /// Write what a project can say for itself: settings, prompt, backlog; nothing that is there is touched
    Init(super::init::InitArgs),
    /// See whether everything that runs need is in order; exit 1 if something is not
    Doctor(super::doctor::DoctorArgs),
    /// Say what a stop reason or an exit code means and what to do about it, or show a page about a topic
    Explain(super::explain::ExplainArgs),
    /// Write completions for a shell to standard output
    Completions(super::generate::CompletionsArgs),
    /// Write a man page to standard output
    Man(super::generate::ManArgs),
    /// Hold a session of Claude Code or Codex until its work is done
    #[command(subcommand)]
    Hook(Box<super::hook::HookCommand>),
    /// Watch ralph catch a lie, in a throw-away project
    Demo(DemoArgs),
    /// Tools for those who work on ralph
    #[command(subcommand, hide = true)]
    Util(super::simulate::UtilCommand),
    /// The scripted agent of the demo
    #[command(hide = true)]
    DemoAgent {
        /// At a pace that a person can follow
        #[arg(long)]
        slowly: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// What is to be reached, in your own words
    pub(super) goal: Option<String>,
    #[command(flatten)]
    pub(super) agent: AgentArgs,
    /// By whose rules to decide; `ralph profile list` names them [default: default]
    #[arg(long, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// One value of the rules; `ralph profile show default` names them
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(super) set: Vec<(String, String)>,
    /// Stop after N iterations in all; 0 = no limit [default: 50]
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    pub(super) max_iterations: Option<u64>,
    /// How many passes in a row must say done and change nothing; such a claim counts as one [default: 1; 3 without a check]
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    pub(super) reviews: Option<u32>,
    /// The command that builds: exit 0 means it does
    #[arg(long, value_name = "CMD")]
    pub(super) build_cmd: Option<String>,
    /// The command that proves the work: exit 0 means the tests pass
    #[arg(long, value_name = "CMD")]
    pub(super) test_cmd: Option<String>,
    /// The command that lints: exit 0 means it is clean
    #[arg(long, value_name = "CMD")]
    pub(super) lint_cmd: Option<String>,
    /// Run no checks but those that are named; otherwise they are looked for in the project's files
    #[arg(long)]
    pub(super) no_detect: bool,
    /// Longest time for one agent process, such as 90s, 30m or 2h [default: 30m]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(super) timeout: Option<String>,
    /// Longest time an agent may print nothing, such as 10m; 0 = no limit [default: 10m]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(super) idle_timeout: Option<String>,
    /// Stop when the run has cost this many dollars; 0 = no limit
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    pub(super) budget: Option<String>,
    /// Stop when the run has used this many tokens; 0 = no limit
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    pub(super) max_tokens: Option<u64>,
    /// Stop when the run has worked this long, such as 8h; 0 = no limit
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(super) max_time: Option<String>,
    /// Stop at this time: 07:00, or 2026-11-19T07:00, in your time zone unless it names another
    #[arg(long, value_name = "WHEN")]
    pub(super) until: Option<String>,
    /// Work through this task file instead of a goal; beads: through the issues that bd keeps
    #[arg(long, value_name = "FILE", conflicts_with = "goal")]
    pub(super) backlog: Option<PathBuf>,
    /// The folder that feature_list.json is in
    #[arg(long, value_name = "DIR", conflicts_with_all = ["goal", "backlog"])]
    pub(super) harness_dir: Option<PathBuf>,
    /// Only this item of the backlog
    #[arg(long, value_name = "ID", conflicts_with = "goal")]
    pub(super) task: Option<String>,
    /// Only items of this phase
    #[arg(long, value_name = "PHASE", conflicts_with = "goal")]
    pub(super) phase: Option<String>,
    /// Continue after a phase that an agent declared done (LOOP_COMPLETE_PHASE_n)
    #[arg(long, conflicts_with_all = ["goal", "phase", "task"])]
    pub(super) all_phases: bool,
    /// One attempt at one item: exit 0 proved, or claimed where no check can tell, 3 not proved, 2 blocked, 7 nothing
    /// left to do
    #[arg(long, conflicts_with = "goal")]
    pub(super) once: bool,
    /// Go on to the next item, also where the profile makes one attempt
    #[arg(long, conflicts_with_all = ["goal", "once"])]
    pub(super) all: bool,
    /// Commit what reached the goal; proved items of a backlog are committed without it
    #[arg(long)]
    pub(super) commit: bool,
    /// Commit what passes on a new branch of this name, begun where you are; you are left on it
    #[arg(long, value_name = "NAME")]
    pub(super) branch: Option<String>,
    /// Only show what would be done, with the prompt; nothing is run or written
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    pub(super) dry_run: bool,
    /// Try again although the circuit is open, and go on if that makes progress
    #[arg(long)]
    pub(super) probe: bool,
    /// script: ralph starts the agents; hook: a session that you start is held
    #[arg(long, value_name = "MODE", default_value = "script")]
    pub(super) mode: Mode,
    /// Continue the last unfinished run, or fail
    #[arg(long, conflicts_with = "fresh")]
    pub(super) resume: bool,
    /// Start a new run even if the last one with this goal is unfinished
    #[arg(long)]
    pub(super) fresh: bool,
    /// Agree to the first run here and to the commands that the project brings; chooses no permissions
    #[arg(long)]
    pub(super) yes: bool,
    /// Tell what happens as JSON, an event a line (schema ralph.event/1)
    #[arg(long)]
    pub(super) json: bool,
    /// Show only how it ended
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Debug, Args)]
pub(super) struct AgentArgs {
    /// Which agents work: claude, codex, opencode, gemini or one of .ralph/config.toml; with a role:
    /// claude:work,codex:review [default: the first that is installed]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with = "agent_cmd")]
    pub(super) agents: Vec<String>,
    /// Any command as the agent: the prompt comes on its standard input; several make a pool
    #[arg(long, value_name = "CMD")]
    pub(super) agent_cmd: Vec<String>,
    /// How to read the command's output
    #[arg(long, value_name = "FORMAT", requires = "agent_cmd")]
    pub(super) agent_format: Option<FormatArg>,
    /// The model the agent is to use; of several agents: --model claude=MODEL
    #[arg(long, value_name = "[NAME=]MODEL", conflicts_with = "agent_cmd", value_parser = named_model)]
    pub(super) model: Vec<For<String>>,
    /// What the agents may do without asking: full (everything), edits (edit files), inherit (what their own
    /// settings say); of one: --permissions codex=edits
    #[arg(long, value_name = "[NAME=]WHAT", conflicts_with = "agent_cmd", value_parser = named_permissions)]
    pub(super) permissions: Vec<For<Permissions>>,
    /// Handed on to the agent as they are
    #[arg(last = true, value_name = "AGENT ARGS", conflicts_with = "agent_cmd")]
    pub(super) agent_args: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Go on showing what happens until the run ends, and wait for one where none goes on (on Linux)
    #[arg(long, short)]
    pub(super) follow: bool,
    /// As JSON (schema ralph.status/1); with --follow a line for each change
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct HistoryArgs {
    /// One iteration, by the number it has in the project
    #[arg(value_parser = number)]
    pub(super) iteration: Option<u64>,
    /// Show what it changed, line by line; without N, what the whole last run changed
    #[arg(long, conflicts_with_all = ["checks", "transcript", "raw", "json"])]
    pub(super) diff: bool,
    /// Show what its checks printed; without N, those of the last iteration
    #[arg(long, conflicts_with_all = ["transcript", "raw", "json"])]
    pub(super) checks: bool,
    /// Show what its agent said and did, with results shortened; without N, that of the last iteration
    #[arg(long, conflicts_with = "json")]
    pub(super) transcript: bool,
    /// Show what its agent printed, in full; without N, that of the last iteration
    #[arg(long, conflicts_with = "json")]
    pub(super) raw: bool,
    /// As JSON (schema ralph.history/1)
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// A run, by its number [default: the last one]
    #[arg(value_parser = whole::<u64>)]
    pub(super) run: Option<u64>,
    /// Decide by this profile instead
    #[arg(long, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// Decide by this value instead
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(super) set: Vec<(String, String)>,
    /// As JSON (schema ralph.replay/1)
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct AnalyzeArgs {
    /// What an agent printed; - is standard input
    #[arg(default_value = "-")]
    pub(super) file: std::path::PathBuf,
    /// How to read it; recognised from the bytes if left out
    #[arg(long, value_name = "FORMAT")]
    pub(super) format: Option<FormatArg>,
    /// By whose rules the words are judged; analyzer believes EXIT_SIGNAL alone, while `ralph run` uses default
    #[arg(long, value_name = "NAME", default_value = "analyzer")]
    pub(super) profile: String,
    /// The iteration's number, for the JSON [default: one more than previous outputs]
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub(super) iteration: Option<u64>,
    /// An earlier output, for stuck loops and saturation; repeat the option for each, oldest first
    #[arg(long, value_name = "FILE")]
    pub(super) previous: Vec<std::path::PathBuf>,
    /// For people, quoting what counted
    #[arg(long)]
    pub(super) explain: bool,
}

#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Use a real agent instead of the scripted one
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// What the real agent may do without asking
    #[arg(long, value_name = "WHAT", requires = "agent")]
    pub(super) permissions: Option<PermissionsArg>,
    /// Make the project here instead of in a new temporary folder; must be empty or absent
    #[arg(long, value_name = "DIR")]
    pub(super) dir: Option<std::path::PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Mode {
    Script,
    Hook,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum FormatArg {
    /// Recognised from the output
    Auto,
    /// Claude Code's stream-json, json or array
    Claude,
    /// Codex's exec --json
    Codex,
    /// OpenCode's run --format json
    Opencode,
    /// Gemini CLI's stream-json
    Gemini,
    /// Claude Code's session transcript
    Hook,
    /// Plain text
    Text,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Auto => Self::Auto,
            FormatArg::Claude => Self::Claude,
            FormatArg::Codex => Self::Codex,
            FormatArg::Opencode => Self::Opencode,
            FormatArg::Gemini => Self::Gemini,
            FormatArg::Hook => Self::Hook,
            FormatArg::Text => Self::Text,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum PermissionsArg {
    /// Everything, without asking
    Full,
    /// Edit files without asking, nothing else
    Edits,
    /// What the agent's own settings say
    Inherit,
}

impl From<PermissionsArg> for Permissions {
    fn from(permissions: PermissionsArg) -> Self {
        match permissions {
            PermissionsArg::Full => Self::Full,
            PermissionsArg::Edits => Self::Edits,
            PermissionsArg::Inherit => Self::Inherit,
        }
    }
}

fn named_model(text: &str) -> Result<For<String>, String> {
    let (agent, value) = named(text);
    if value.is_empty() {
        Err("the model has no name".into())
    } else {
        Ok(For { agent, value: value.into() })
    }
}

fn named_permissions(text: &str) -> Result<For<Permissions>, String> {
    let (agent, word) = named(text);
    let value = pool::permissions(word).ok_or("one of full, edits, inherit")?;
    Ok(For { agent, value })
}

/// `claude=opus`, or `opus` for whoever it may concern.
fn named(text: &str) -> (Option<String>, &str) {
    match text.split_once('=') {
        Some((agent, value)) => (Some(agent.trim().to_owned()), value.trim()),
        None => (None, text.trim()),
    }
}

pub(super) fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| {
        format!(
            "a key needs its value: {}=VALUE; ralph profile show default lists keys and values",
            text.trim()
        )
    })?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// How many. A number below 0 comes here too (`allow_negative_numbers`), to be told what is taken.
pub(super) fn whole<T: FromStr<Err = ParseIntError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => "the number is too large".into(),
        _ => "it takes a whole number, 0 or more".into(),
    })
}

/// An iteration's number, as `ralph history` shows it.
pub(super) fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    digits.parse().map_err(|_| "it is not the number of an iteration; ralph history lists them".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
