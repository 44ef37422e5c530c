//! What every task file comes down to.

use alloc::borrow::Cow;
use core::fmt;
use core::ops::Range;

use crate::prelude::*;

/// Where a project's backlog is looked for: exactly these, and the plans in [`PLANS`]; never any file with boxes in it.
pub const NAMES: [&str; 13] = [
    ".ralph/ralph.yml",
    "feature_list.json",
    ".claude/harness/feature_list.json",
    "prd.json",
    "scripts/ralph/prd.json",
    ".ralph/prd.json",
    ".agents/tasks/prd.json",
    "IMPLEMENTATION_PLAN.md",
    ".ralph/IMPLEMENTATION_PLAN.md",
    "fix_plan.md",
    ".ralph/fix_plan.md",
    "@fix_plan.md",
    ".ralph/@fix_plan.md",
];

/// A folder of plans, each of which is a Markdown checklist.
pub const PLANS: &str = "docs/plans";

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    Json,
    Yaml,
    Markdown,
    /// Issues that `bd` keeps, in a list that is made of what it prints.
    Beads,
}

impl Syntax {
    /// By the end of its name.
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "yml" | "yaml" => Some(Self::Yaml),
            "md" | "markdown" => Some(Self::Markdown),
            _ => None,
        }
    }
}

/// Which dialect: told by the name of the list that the items are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `items`: feature_list.json of seed 003.
    Features,
    /// `tasks`: ralph.yml of seed 004, and lists with `completed`.
    Tasks,
    /// `userStories`: prd.json.
    UserStories,
    /// `stories` with a status.
    Stories,
    /// A bare list, or `features`: of an item only `passes` may change.
    FeatureArray,
    /// Boxes to tick in Markdown.
    Checklist,
    /// Issues that `bd` keeps.
    Beads,
}

impl Shape {
    /// The names of lists, the surest first.
    pub(crate) const LISTS: [(&'static str, Shape); 5] = [
        ("items", Self::Features),
        ("userStories", Self::UserStories),
        ("stories", Self::Stories),
        ("tasks", Self::Tasks),
        ("features", Self::FeatureArray),
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Features => "feature list",
            Self::Tasks => "task list",
            Self::UserStories => "prd",
            Self::Stories => "stories",
            Self::FeatureArray => "feature array",
            Self::Checklist => "checklist",
            Self::Beads => "beads",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    Open,
    InProgress,
    Done,
    Blocked,
    Cancelled,
    /// A word that no dialect has: neither to be worked on nor done.
    Unknown,
}

impl State {
    /// From any dialect's word.
    pub fn parse(word: &str) -> Option<Self> {
        // As they are mostly written.
        match word {
            "FAILING" | "todo" | "open" => return Some(Self::Open),
            "PASSING" | "done" => return Some(Self::Done),
            "BLOCKED" | "blocked" => return Some(Self::Blocked),
            _ => {}
        }
        let word = word.trim().to_ascii_lowercase().replace(['_', ' '], "-");
        Some(match word.as_str() {
            "todo" | "open" | "pending" | "failing" | "failed" | "not-started" | "new" => Self::Open,
            "in-progress" | "doing" | "started" | "active" => Self::InProgress,
            "done" | "passing" | "passed" | "completed" | "complete" | "closed" => Self::Done,
            "blocked" => Self::Blocked,
            "cancelled" | "canceled" | "skipped" => Self::Cancelled,
            _ => return None,
        })
    }

    /// ralph's own word, in public JSON and for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in_progress",
            Self::Done => "done",
            Self::Blocked => "blocked",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }

    /// Whether a task file's own word is this one, however it is spelt: `in-progress` is `in_progress`.
    pub fn is_called(self, own: &str) -> bool {
        own.trim().to_ascii_lowercase().replace(['-', ' '], "_") == self.word()
    }

    /// Whether what depends on it may begin.
    pub fn satisfies(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled)
    }

    /// Whether it is open, or waits for a person.
    pub fn is_unfinished(self) -> bool {
        self.is_open() || self == Self::Blocked
    }

    /// Whether there is something to do.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::InProgress)
    }
}

/// How many iterations an item has had, of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub used: u64,
    pub max: u64,
}

impl Limit {
    /// Where an item says none.
    pub const DEFAULT: u64 = 5;

    pub fn is_reached(self) -> bool {
        self.used >= self.max
    }
}

/// One unit of work. What is rarely asked for (criteria, attempts, notes) is read from its place when it is.
#[derive(Debug, Clone)]
pub struct Item<'a> {
    pub id: Cow<'a, str>,
    pub title: Cow<'a, str>,
    pub state: State,
    /// Lower is sooner: a number as it is; critical, high, medium and low are 0 to 3.
    pub priority: i64,
    pub phase: Option<Cow<'a, str>>,
    pub dependencies: Vec<Cow<'a, str>>,
    /// Seed 003: only items with `ralph_loop.enabled`; elsewhere all.
    pub enabled: bool,
    pub limit: Option<Limit>,
    /// Its bytes.
    pub span: Range<usize>,
    /// The phase's place in the order of phases.
    pub(crate) phase_rank: usize,
    /// Which element of the list it is.
    pub(crate) nth: usize,
    /// Where its attempts are, in JSON.
    pub(crate) attempts: Range<usize>,
    /// Where its `prd_reference` is, in JSON.
    pub(crate) prd: Range<usize>,
}

/// Why a file is no backlog at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct Unreadable {
    pub line: usize,
    pub why: String,
}

/// What was read all the same, and should be mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    Duplicate {
        id: String,
        line: usize,
    },
    /// `known`: the words of this dialect.
    UnknownState {
        id: String,
        word: String,
        known: String,
        line: usize,
    },
    UnknownPriority {
        id: String,
        word: String,
        line: usize,
    },
    NoName {
        line: usize,
    },
    NoItem {
        line: usize,
    },
    Box {
        slip: Slip,
        written: String,
        line: usize,
    },
    /// A task of a plan without a box below it.
    NoSteps {
        title: String,
        line: usize,
    },
}

/// What is wrong with a line that looks like a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slip {
    /// `-[ ] x`
    NoSpaceBefore,
    /// `- [x]x`
    NoSpaceAfter,
    /// `- [] x`
    Inside,
    /// `- [~] x`
    Mark(char),
    /// `- [ ]`
    NoWords,
}

impl Problem {
    /// The id that several items have.
    pub fn duplicate(&self) -> Option<&str> {
        match self {
            Self::Duplicate { id, .. } => Some(id),
            _ => None,
        }
    }

    /// The line that it is about.
    pub fn line(&self) -> usize {
        match self {
            Self::Duplicate { line, .. }
            | Self::UnknownState { line, .. }
            | Self::UnknownPriority { line, .. }
            | Self::NoName { line }
            | Self::NoItem { line }
            | Self::NoSteps { line, .. }
            | Self::Box { line, .. } => *line,
        }
    }

    /// Whether ralph does the right thing all the same: what another tool marks in its own way is left to it.
    pub fn is_harmless(&self) -> bool {
        matches!(self, Self::Box { slip: Slip::Mark(_), .. })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { id, line } => write!(f, "{id} is there twice, again in line {line}"),
            Self::UnknownState { id, word, known, line } => write!(
                f,
                "{id} in line {line} has the status '{word}', which nobody knows: it is not worked on; write {known}"
            ),
            Self::UnknownPriority { id, word, line } => write!(
                f,
                "{id} in line {line} has the priority '{word}', which nobody knows: it comes last; write a number, or \
                 critical, high, medium or low"
            ),
            Self::NoName { line } => write!(f, "the item in line {line} has neither id nor title"),
            Self::NoItem { line } => write!(f, "what stands in line {line} of the list is no item"),
            Self::NoSteps { title, line } => write!(
                f,
                "'{title}' in line {line} has no box below it: it is neither worked on nor done; write '- [ ] words' below \
                 its heading, or '- [x] words' where it is done"
            ),
            Self::Box { slip: Slip::NoWords, line, .. } => {
                write!(
                    f,
                    "the box in line {line} says nothing: write what is to be done behind it, or take it out"
                )
            }
            Self::Box { slip, written, line } => {
                let why = match slip {
                    Slip::NoSpaceBefore => "a space is missing before its [, as in '- [ ] words'".into(),
                    Slip::NoSpaceAfter => "a space is missing behind its ], as in '- [x] words'".into(),
                    Slip::Mark(mark) => format!("'{mark}' is none of the marks ' ', '/' and 'x'"),
                    _ => "between [ and ] stands one character: a space, / or x, as in '- [ ] words'".into(),
                };
                write!(f, "line {line} is not read as an item: {written}: {why}")
            }
        }
    }
}

/// Makes an id of a text that has none: the same text has the same id wherever it stands; of several, all but the
/// first also have a number.
pub(crate) fn id_of(text: &str, ordinal: u32) -> String {
    let hash = crate::text::hash(text);
    let short = (hash ^ (hash >> 32)) & 0xffff_ffff;
    if ordinal <= 1 { format!("{short:08x}") } else { format!("{short:08x}-{ordinal}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_every_dialect_are_known() {
        for (words, state) in [
            (&["todo", "open", "pending", "FAILING", "failed"][..], State::Open),
            (&["in-progress", "in_progress", "IN_PROGRESS", "In Progress"], State::InProgress),
            (&["done", "PASSING", "completed"], State::Done),
            (&["blocked", "BLOCKED"], State::Blocked),
            (&["CANCELLED", "canceled"], State::Cancelled),
        ] {
            for word in words {
                assert_eq!(State::parse(word), Some(state), "{word}");
            }
            assert_eq!(State::parse(state.word()), Some(state), "the public word too");
        }
        assert_eq!(State::parse("almost"), None);
    }

    #[test]
    fn a_name_tells_how_a_file_is_written() {
        assert_eq!(Syntax::of_name("feature_list.json"), Some(Syntax::Json));
        assert_eq!(Syntax::of_name("ralph.YML"), Some(Syntax::Yaml));
        assert_eq!(Syntax::of_name("fix_plan.md"), Some(Syntax::Markdown));
        assert_eq!((Syntax::of_name("tasks.txt"), Syntax::of_name("json")), (None, None));
    }

    #[test]
    fn an_id_depends_on_the_text_alone() {
        assert_eq!(id_of("write it", 1), id_of("write it", 0));
        assert_ne!(id_of("write it", 1), id_of("write it", 2));
        assert_eq!(id_of("write it", 1).len(), 8);
    }
}
