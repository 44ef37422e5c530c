//! What happened: facts from outside, stamped with the time they came in.

mod judging;

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::agents::Role;
use crate::beside::Beside;
use crate::breaker::Breaker;
use crate::check::{CheckResult, CheckSpec, named};
use crate::decision::TreeMark;
use crate::detect::Stack;
use crate::evidence::{AddedTodos, Items};
use crate::git_text::Change;
use crate::items::{BacklogPlan, BacklogRead, Inherited, ItemAfter, Settled, Work};
use crate::own_files::Touch;
use crate::prelude::*;
use crate::prices::Prices;
use crate::profile::{Baseline, Commits, Gate, Policy};
use crate::report::IterationReport;
use crate::saturation::{is_document, is_test_path};
use crate::text;
use crate::time::{self, Time};
use crate::transcript::Format;

pub(crate) use judging::SCRIPTS_CHANGED_BEFORE;
pub use judging::{Judging, OTHERS_RUN, RED_AND_GONE, SCRIPTS_CHANGED, TESTS_CHANGED, is_of_judging};

/// An event and when it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamped {
    pub at: Time,
    pub event: Event,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    RunStarted(Box<RunStarted>),
    /// A new process took the run up again, after a stop or a crash.
    RunResumed(Box<RunResumed>),
    TreeMeasured(Box<Measured>),
    MeasureFailed {
        error: String,
    },
    AgentStarted {
        pid: u32,
        #[serde(default, skip_serializing_if = "Noted::is_nothing")]
        noted: Noted,
    },
    AgentEnded(Box<AgentEnded>),
    /// The agent has printed nothing for so long; told once the time that `machine::silence` names is over.
    AgentSilent {
        for_ms: u64,
    },
    /// What the running agent has used by now; told once, when it reaches what `machine::left` names.
    UsageSeen {
        tokens: u64,
        /// `None` where nothing tells its cost yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        micro_usd: Option<u64>,
    },
    /// ralph was cut off after it decided to start the agent and before it did.
    AgentNeverStarted,
    CheckEnded(Box<CheckResult>),
    /// What the backlog hands out.
    BacklogRead(Box<BacklogRead>),
    /// The item is marked as begun, or why that cannot be.
    ItemMarked {
        problem: Option<String>,
    },
    /// What came of an attempt that was settled.
    Settled(Box<Settled>),
    /// The moment `machine::deadline` named has come.
    DeadlinePassed,
    /// The machine slept, and everything that runs with it.
    Slept {
        ms: u64,
    },
    StopAsked {
        by: StopBy,
    },
    /// Words of the user for the next prompt.
    NoteAdded {
        id: String,
        text: String,
    },
    /// Files of ralph's own were not as ralph had left them.
    OwnFilesTouched {
        touches: Vec<Touch>,
    },
    /// The user closed the circuit.
    CircuitReset,
    /// The user put an end to the run: it is not continued.
    RunClosed,
    /// The user has the files put back as they were at an earlier snapshot; recorded before the first file is touched.
    TreePutBack(Box<PutBack>),
    /// Written by a newer version.
    #[serde(other)]
    Unknown,
}

/// The first event of a run: everything its decisions depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStarted {
    pub run: RunInfo,
    /// What earlier runs of the project hand on.
    pub carried: Carried,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// A UUID.
    pub id: String,
    /// Runs of this project are numbered from 1.
    pub number: u64,
    pub goal: String,
    pub plan: Plan,
    /// The version of ralph that started it.
    pub version: String,
}

/// How a run is to be done. Continuing a run may change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub policy: Policy,
    pub checks: Vec<CheckSpec>,
    /// The pool, never empty. (Format 1 had one agent.)
    #[serde(alias = "agent", deserialize_with = "one_or_many")]
    pub agents: Vec<AgentInfo>,
    /// Where the work comes from, if not from the goal alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backlog: Option<BacklogPlan>,
    /// Commit what reached the goal.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub commit: bool,
    /// What must pass before anything is selected, each time that ralph is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<CheckSpec>,
    /// What the project is written in, where it was looked for and found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<Stack>,
    /// Checks that the user chose to go on without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<CheckSpec>,
    /// The stack's build, test and lint commands where ralph runs none of them itself: agents are told to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack_commands: Vec<CheckSpec>,
    /// When the run ends, by the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

/// One agent where a list is wanted is a list of one.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<AgentInfo>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let list = if value.is_array() { value } else { serde_json::Value::Array(vec![value]) };
    serde_json::from_value(list).map_err(serde::de::Error::custom)
}

impl Plan {
    /// The agent of that name; a run that is continued may have others.
    pub fn agent(&self, name: &str) -> Option<&AgentInfo> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    /// Whether ralph's own checks decide about a claim.
    pub fn proves_by_checks(&self) -> bool {
        !self.asked().is_empty()
    }

    /// What checks that fail before the run mean to the claims of this run.
    pub fn baseline(&self) -> Baseline {
        let of_items = self.policy.item_baseline.filter(|_| self.backlog.is_some());
        of_items.unwrap_or(self.policy.baseline)
    }

    /// The checks that a claim is held against beside an item's own, which are always asked.
    pub fn asked(&self) -> &[CheckSpec] {
        if self.policy.wants_checks() { &self.checks } else { &[] }
    }

    /// The checks that decide about a claim: about an item, or about the whole.
    pub fn checks_for<'a>(&'a self, item: Option<&'a Work>) -> impl Iterator<Item = &'a CheckSpec> {
        let whole = self.asked().iter().filter(move |_| item.is_none());
        whole.chain(item.into_iter().flat_map(|item| item.checks(self.asked())))
    }

    /// Whether anything could prove an item: its checks, or else words and reviews where they are asked.
    pub fn can_prove(&self, item: &Work) -> bool {
        self.policy.gate != Gate::Evidence || self.checks_for(Some(item)).next().is_some()
    }

    /// How a file that was changed judges claims, if it does: as a test, or as what a check runs.
    pub fn judged_by(&self, item: Option<&Work>, path: &str) -> Option<Judge> {
        if is_test_path(path) {
            return Some(Judge::Test);
        }
        let runs = |check: &CheckSpec| named::files_run(&check.command).iter().any(|file| file == path);
        // A recipe may run it, which nobody follows.
        let called_so = path.rsplit('/').next().is_some_and(|file| file.starts_with("test."));
        let script = self.checks_for(item).any(runs).then_some(Judge::Script);
        script.or(called_so.then_some(Judge::Test))
    }

    /// Iterations that the run may have; 0 = no limit, or one for each item.
    pub fn most_iterations(&self) -> u64 {
        if self.limits_each_item() { 0 } else { self.policy.max_iterations }
    }

    /// Whether `max_iterations` is meant for each item.
    pub fn limits_each_item(&self) -> bool {
        self.policy.each_item && self.backlog.is_some()
    }

    /// Whether the run is over with one item: nobody looks at the whole, and nobody reviews it.
    pub fn is_for_one_item(&self) -> bool {
        self.backlog.as_ref().is_some_and(|backlog| backlog.once || backlog.task.is_some())
    }

    /// Whether ralph makes commits of its own.
    pub fn commits(&self) -> bool {
        self.commit || (self.backlog.is_some() && self.policy.commits == Commits::Items)
    }

    pub fn has_test_check(&self) -> bool {
        self.checks.iter().any(|check| check.name == "test")
    }
}

/// See [`Plan::judged_by`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judge {
    Test,
    Script,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInfo {
    /// `claude`, the name that the project's file gives to a command, or that of a command's program (`agent.sh`); `custom` where
    /// that has none, and in old records. Unique in a pool.
    pub name: String,
    /// The command, when it is a custom one.
    pub command: Option<String>,
    pub format: Format,
    pub model: Option<String>,
    pub permissions: Option<Permissions>,
    /// Arguments handed on to the agent as they are.
    pub args: Vec<String>,
    #[serde(default)]
    pub role: Role,
    /// How a custom command is called on the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether a custom command says what it cost, where somebody told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tells_cost: Option<bool>,
    /// What its tokens cost, where it does not report that itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// A session that somebody else started and a hook holds: to start it means to hand it the prompt.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub session: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permissions {
    Full,
    Edits,
    Inherit,
}

impl Permissions {
    /// By the word that people use for it.
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "full" => Some(Self::Full),
            "edits" => Some(Self::Edits),
            "inherit" => Some(Self::Inherit),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Carried {
    /// The project's last iteration number.
    pub iteration: u64,
    /// An open circuit outlives the run that opened it.
    pub breaker: Breaker,
    /// A number nobody could foresee, for a random order of agents.
    pub seed: u64,
    /// The user asked for a probe of an open circuit.
    pub probe: bool,
    /// What agents did for this backlog before.
    #[serde(skip_serializing_if = "Inherited::is_nothing")]
    pub work: Inherited,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunResumed {
    pub plan: Plan,
    pub version: String,
    /// The user asked for a probe of an open circuit.
    #[serde(default)]
    pub probe: bool,
    /// How long somebody still worked after the last record: ralph was cut off, and what it had started left signs.
    #[serde(default)]
    pub unrecorded_ms: u64,
}

/// Digests of what is kept in files beside the record when an agent is started. They are for a ralph that comes after this one, and
/// an agent can write there: what has another digest is not believed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Noted {
    /// Where the user stood in the repository when the run's first agent was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// And before this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The task file before its item was marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog: Option<String>,
    /// Which links led to it; of nothing, where none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub way: Option<String>,
}

impl Noted {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A task file of the project, by its name from the top.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFile {
    pub file: String,
    pub items: Items,
}

/// Before the agent, or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    Before,
    After,
}

/// The tree as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    pub when: When,
    pub tree: String,
    pub head: Option<String>,
    /// Against the tree before the agent: names, bounded, and how many there are in all.
    pub changed: Vec<ChangedPath>,
    pub changed_total: u64,
    /// Commits made since, and whether they changed a tree.
    pub commits: u64,
    pub committed_change: bool,
    /// Files of the user's, not committed before, that these commits hold: names, bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<String>,
    /// What could not be measured or stored, in words.
    pub notes: Vec<String>,
    /// TODO and FIXME comments added since the run began, if that was asked.
    #[serde(default)]
    pub todos: Option<AddedTodos>,
    /// The items of the backlog, where there is one.
    #[serde(default)]
    pub items: Option<Items>,
    /// Task files that have nothing to do with a goal but its end: their open items.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub task_files: Vec<TaskFile>,
    /// What became of the item that was worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemAfter>,
    /// What became of that by which claims are judged, if somebody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<Judging>,
    /// The files as the agent left them, where somebody else changed some before they were measured: it was cut off, or ralph
    /// was after it had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
    /// HEAD as the agent left it, where somebody else moved it before it was measured; without a name where it was no commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_head: Option<String>,
    /// A digest of where the user stood in the repository by then, which is kept in a file beside the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood: Option<String>,
    /// What the tree does not hold, bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
    /// What is worth a look though it refuses nothing, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// The tree before is not stored any more: nobody can tell what changed since, nor take it back.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub untold: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPath {
    /// `A`, `M`, `D` or `T`, as git says it; a changed mode is `M`.
    pub kind: char,
    pub path: String,
}

/// How a flag begins that tells of the user's work which the agent threw away and a snapshot has; the number of the
/// iteration comes next.
pub const THROWN_AWAY: &str =
    "what you had not committed is gone with what the agent did (to have it back: ralph undo";

/// What is said of files of the user's in a commit of an agent's.
pub const TAKEN_ALONG: &str = "its commit also holds files of yours that were not committed before";

impl Measured {
    const MOST: usize = 500;
    const MOST_TAKEN: usize = 50;

    pub fn new(when: When, tree: String, head: Option<String>, changes: &[Change]) -> Self {
        let counted = || changes.iter().filter(|change| is_progress(&change.path));
        Self {
            when,
            tree,
            head,
            changed: counted()
                .take(Self::MOST)
                .map(|change| ChangedPath {
                    kind: change.kind.letter(),
                    path: String::from_utf8_lossy(&change.path).into_owned(),
                })
                .collect(),
            changed_total: counted().count() as u64,
            commits: 0,
            committed_change: false,
            taken: Vec::new(),
            notes: Vec::new(),
            todos: None,
            items: None,
            task_files: Vec::new(),
            item: None,
            judging: None,
            left: None,
            left_head: None,
            stood: None,
            beside: Vec::new(),
            flags: Vec::new(),
            untold: false,
        }
    }

    pub fn mark(&self) -> TreeMark {
        TreeMark { tree: self.tree.clone(), head: self.head.clone(), beside: self.beside.clone() }
    }

    /// The files as the agent left them.
    pub fn left(&self) -> &str {
        self.left.as_deref().unwrap_or(&self.tree)
    }

    /// HEAD as the agent left it.
    pub fn left_head(&self) -> Option<&str> {
        match &self.left_head {
            Some(left) => Some(left.as_str()).filter(|left| !left.is_empty()),
            None => self.head.as_deref(),
        }
    }

    /// With where HEAD was when the agent had ended.
    #[must_use]
    pub fn with_head_left_at(mut self, head: Option<&str>) -> Self {
        if self.head.as_deref() != head {
            self.left_head = Some(head.unwrap_or_default().into());
        }
        self
    }

    /// With files of the user's that a commit of the agent's took along.
    pub fn takes_along(&mut self, mut paths: Vec<String>) {
        let all = paths.len();
        paths.truncate(Self::MOST_TAKEN);
        if all > 0 {
            let more =
                if all > paths.len() { format!(" and {} more", all - paths.len()) } else { String::new() };
            self.notes.push(format!("{TAKEN_ALONG}: {}{more}", paths.join(", ")));
        }
        self.taken = paths;
    }

    /// Whether only tests were changed, as far as the names are known.
    pub fn tests_alone(&self) -> bool {
        let known = self.changed.len() as u64 == self.changed_total;
        known && self.changed_total > 0 && self.changed.iter().all(|change| is_test_path(&change.path))
    }

    /// Whether anything but tests and prose was changed; a change without a name may be anything.
    pub fn touched_source(&self) -> bool {
        let unnamed = self.changed.len() as u64 != self.changed_total;
        let source = |path: &str| !is_test_path(path) && !is_document(path);
        unnamed || self.changed.iter().any(|change| source(&change.path))
    }

    /// Tests that were there before and were changed or deleted.
    pub fn touched_tests(&self) -> impl Iterator<Item = &ChangedPath> {
        self.changed.iter().filter(|change| change.kind != 'A' && is_test_path(&change.path))
    }

    /// A change, or a commit that changed a tree.
    pub fn progress(&self) -> bool {
        self.changed_total > 0 || self.committed_change
    }
}

/// The working tree on its way from one snapshot to an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutBack {
    /// As it was before this iteration; `None` where a snapshot was named.
    pub iteration: Option<u64>,
    /// The tree that was there, which leads back.
    pub from: String,
    pub to: String,
    /// How many files differ between the two.
    pub files: u64,
    /// The commit that was checked out; also absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Where only some files were wanted: those that changed, the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

impl PutBack {
    /// How many of the files that were named are recorded.
    pub const MOST_NAMED: usize = 20;

    /// Whether it takes an iteration back, and not only some files.
    pub fn undoes(&self) -> Option<u64> {
        self.iteration.filter(|_| self.only.is_empty())
    }
}

impl fmt::Display for PutBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = text::count(self.files, "file");
        match self.iteration {
            Some(number) if !self.only.is_empty() => {
                let names = text::one_line(&self.only.join(", "), 200);
                write!(f, "{files} put back as before iteration {number}, and nothing else: {names}")
            }
            Some(number) => write!(f, "{files} put back as before iteration {number}"),
            None => {
                write!(f, "{files} put back as in snapshot {}", self.to.get(..12).unwrap_or(&self.to))
            }
        }
    }
}

/// Notes are not progress: ralph's own files, a harness and the knowledge file do not count as changes. (Nor will the
/// backlog file of a run that has one.)
pub fn is_progress(path: &[u8]) -> bool {
    const NOTES: [&[u8]; 4] = [b".ralph-session.json", b".harness.lock", b"CLAUDE.md", b"AGENTS.md"];
    !NOTES.contains(&path) && !path.starts_with(b".ralph/") && !path.starts_with(b".claude/harness/")
}

/// How the agent's process ended and what it said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentEnded {
    pub end: End,
    pub duration_ms: u64,
    /// It was asked to end before it ended by itself.
    #[serde(default)]
    pub asked: bool,
    /// Processes it left behind, which were ended.
    pub leftovers: u32,
    pub report: IterationReport,
    /// The last line it wrote to standard error.
    pub stderr: Option<String>,
    /// When the limit it ran into ends, by this machine's clock.
    #[serde(default)]
    pub reset_at: Option<Time>,
}

impl AgentEnded {
    /// How many processes it left running in the background. Those of an agent that was itself ended may as well have
    /// been what it waited for.
    pub fn left_running(&self) -> u32 {
        if self.asked { 0 } else { self.leftovers }
    }

    /// How it went wrong, if it did.
    pub fn failure(&self) -> Option<String> {
        let said = self.report.error.as_deref();
        match (&self.end, said) {
            (End::Exited { code: 0 }, None) if self.report.cut_short => {
                Some("its stream ended without a result".into())
            }
            (End::Exited { code: 0 }, None) => None,
            (End::Exited { .. }, Some(error)) => Some(error.to_owned()),
            (End::Exited { .. }, None) => Some(match &self.stderr {
                Some(line) => format!("{}: {line}", self.end),
                None => self.end.to_string(),
            }),
            _ => Some(self.end.to_string()),
        }
    }
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum End {
    Exited {
        code: i32,
    },
    Signaled {
        signal: i32,
    },
    /// It ran past its time and was ended.
    TimedOut,
    /// It said nothing for so long that it was ended.
    Idle {
        ms: u64,
    },
    /// It was ended because the run ends: the user asked for it, or its time, money or tokens were used up.
    Stopped,
    /// ralph itself was cut off while it ran: it was killed, or left at once by a second Ctrl-C.
    Cut,
    /// Its keeper was killed, so nobody saw how it ended.
    Lost,
    NotStarted {
        error: String,
    },
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { code } => write!(f, "exit {code}"),
            Self::Signaled { signal } => write!(f, "killed by signal {signal}"),
            Self::TimedOut => f.write_str("timed out"),
            Self::Idle { ms } => write!(f, "ended: it said nothing for {}", time::span(*ms)),
            Self::Stopped => f.write_str("stopped with the run"),
            Self::Cut => f.write_str("cut off together with ralph"),
            Self::Lost => f.write_str("lost: its keeper was killed"),
            Self::NotStarted { error } => write!(f, "could not be started: {error}"),
        }
    }
}

/// Who asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopBy {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM or SIGHUP.
    Terminate,
    /// `ralph stop`: when this iteration is over.
    Request,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_not_progress() {
        for path in [".ralph/status", "CLAUDE.md", "AGENTS.md", ".claude/harness/feature_list.json"] {
            assert!(!is_progress(path.as_bytes()), "{path}");
        }
        for path in ["src/main.rs", "fix_plan.md", "docs/CLAUDE.md", "ralph/x", ".claude/settings.json"] {
            assert!(is_progress(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn an_exit_of_zero_with_an_error_result_is_a_failure() {
        let mut ended = AgentEnded {
            end: End::Exited { code: 0 },
            duration_ms: 1,
            asked: false,
            leftovers: 0,
            report: IterationReport::default(),
            stderr: Some("noise".into()),
            reset_at: None,
        };
        assert_eq!(ended.failure(), None);
        ended.report.cut_short = true;
        assert_eq!(ended.failure().as_deref(), Some("its stream ended without a result"));
        ended.report.cut_short = false;
        ended.report.error = Some("Credit balance is too low".into());
        assert_eq!(ended.failure().as_deref(), Some("Credit balance is too low"));
        ended.report.error = None;
        ended.end = End::Exited { code: 3 };
        assert_eq!(ended.failure().as_deref(), Some("exit 3: noise"));
    }

    #[test]
    fn tests_and_what_checks_run_judge_a_claim() {
        let plan = crate::machine::tests::plan(&["sh ci/all.sh && make"]);
        assert_eq!(plan.judged_by(None, "tests/test_calc.py"), Some(Judge::Test));
        assert_eq!(plan.judged_by(None, "ci/all.sh"), Some(Judge::Script));
        assert_eq!(plan.judged_by(None, "src/calc.py"), None);
        let own = Work { checks: vec![CheckSpec::named("verify-1", "./verify.sh")], ..Work::default() };
        assert_eq!(plan.judged_by(Some(&own), "verify.sh"), Some(Judge::Script));
        assert_eq!(plan.judged_by(None, "verify.sh"), None);
    }

    #[test]
    fn where_somebody_else_moved_head_it_is_known_where_the_agent_left_it() {
        let at = |head: Option<&str>| Measured::new(When::After, "t".into(), head.map(Into::into), &[]);
        assert_eq!(at(Some("a")).with_head_left_at(Some("a")), at(Some("a")));
        let moved = at(Some("b")).with_head_left_at(Some("a"));
        assert_eq!((moved.head.as_deref(), moved.left_head()), (Some("b"), Some("a")));
        assert_eq!(at(Some("b")).with_head_left_at(None).left_head(), None);
    }

    #[test]
    fn an_event_of_a_newer_version_is_read_as_unknown() {
        let event: Event = serde_json::from_str(r#"{"type":"moon_rose","height":3}"#).expect("readable");
        assert_eq!(event, Event::Unknown);
    }
}
