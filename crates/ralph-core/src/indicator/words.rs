//! The words that claims are made of, as data.

/// Things a project is made of; "all" of them is the whole.
pub(super) const THINGS: &[&str] = &[
    "tasks", "stories", "items", "phases", "features", "requirements", "criteria", "milestones", "work",
    "todos", "to-dos", "goals", "deliverables", "tickets", "steps", "epics", "objectives", "user-stories",
    "specs", "stages", "bullets", "checkboxes", "subtasks", "chapters", "modules", "components", "sections",
];

/// One of each, behind "every".
pub(super) const THING: &[&str] = &[
    "task", "story", "item", "phase", "feature", "requirement", "criterion", "milestone", "todo", "goal",
    "deliverable", "ticket", "step", "epic", "objective", "stage", "subtask",
];

pub(super) const TESTS: &[&str] = &["tests", "checks", "suites", "specs", "gates"];

pub(super) const TEST: &[&str] = &["test", "check", "suite", "gate"];

/// Words between "all" and the thing that do not make it a part.
pub(super) const ADJECTIVES: &[&str] = &[
    "existing", "new", "old", "planned", "remaining", "listed", "requested", "required", "current",
    "automated", "outstanding", "open", "user", "acceptance", "project", "plan", "single", "last", "my",
    "our", "other", "various", "the", "of", "these", "those", "your", "its", "this", "specified", "agreed",
    "original", "different", "assigned", "defined", "individual", "necessary", "core", "major",
    "pre-existing", "quality", "functional", "backlog",
];

/// Kinds of tests: one kind is a part, several joined are the whole.
pub(super) const TEST_KINDS: &[&str] = &[
    "unit", "integration", "e2e", "end-to-end", "regression", "smoke", "property", "doc", "snapshot",
    "browser", "frontend", "backend", "functional", "acceptance", "component", "contract", "lint", "type",
];

pub(super) const NUMBERS: &[&str] = &[
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty",
    "fifty", "sixty", "seventy", "eighty", "ninety", "hundred",
];

/// What "whole" and "entire" can stand before.
pub(super) const WHOLES: &[&str] = &[
    "project", "implementation", "work", "game", "app", "application", "site", "website", "product",
    "program", "library", "plan", "backlog", "job", "system", "codebase", "repo", "repository", "tool",
    "prd", "spec", "specification", "list", "roadmap", "scope", "thing", "build", "assignment", "task",
    "effort", "port", "migration", "rewrite", "book", "package", "checklist",
];

/// Where the things of a whole stand: "all tasks in the plan".
pub(super) const PLACES: &[&str] = &[
    "plan", "prd", "spec", "specification", "backlog", "brief", "list", "project", "roadmap", "phase",
    "prompt", "request", "repo", "repository", "workspace", "tree", "codebase", "suite", "board", "tracker",
    "scope", "sprint", "md", "here", "checklist", "milestone", "tests", "stories", "tasks", "mvp", "ticket",
    "issue", "readme", "contract", "proposal", "design", "outline", "description",
];

pub(super) const DETERMINERS: &[&str] =
    &["the", "this", "our", "your", "my", "that", "its", "these", "those", "a"];

/// Between a subject and what is said of it.
pub(super) const ADVERBS: &[&str] = &[
    "now", "all", "also", "finally", "fully", "officially", "completely", "truly", "both", "again",
    "already", "successfully", "therefore", "thus", "still", "indeed", "hereby", "100%", "really", "totally",
    "entirely", "at", "last", "then", "reliably", "consistently", "cleanly", "actually", "together",
    "definitely", "happily", "just", "simply", "even", "too", "likewise", "itself",
];

pub(super) const COPULAS: &[&str] = &["is", "are", "'s", "was", "were", "stands", "has", "have", "been"];

pub(super) const DONE: &[&str] = &["complete", "completed", "done", "finished", "ready", "feature-complete"];

pub(super) const MADE: &[&str] = &[
    "implemented", "built", "delivered", "met", "satisfied", "fulfilled", "resolved", "shipped", "closed",
    "achieved", "reached",
];

pub(super) const PASS: &[&str] =
    &["pass", "passes", "passed", "passing", "succeed", "succeeds", "succeeded", "green"];

/// "ready for …" and "ready to …" that still mean the whole.
pub(super) const READY_FOR: &[&str] = &[
    "go", "ship", "use", "release", "hand-over", "handover", "production", "delivery", "deployment",
    "deploy", "launch", "shipping", "review", "merge", "merging",
];

/// Behind "done", "built" or "implemented" these tell how or where, not that.
pub(super) const MANNER: &[&str] = &[
    "in", "by", "with", "on", "via", "through", "using", "at", "inside", "from", "for", "as", "over",
    "within", "under", "into",
];

/// Work that can be left over.
pub(super) const WORK: &[&str] = &[
    "work", "task", "tasks", "item", "items", "story", "stories", "todo", "todos", "to-dos", "to-do", "step",
    "steps", "issue", "issues", "phase", "phases", "feature", "features", "requirement", "requirements",
    "thing", "things", "bug", "bugs", "defect", "defects", "milestone", "milestones", "ticket", "tickets",
    "piece", "pieces", "part", "parts", "point", "points", "gap", "gaps", "failure", "failures", "subtasks",
    "box", "boxes", "stubs", "pages", "endpoints", "modules", "screens", "effort", "blocker", "blockers",
    "chunk", "open",
];

pub(super) const CONDITIONS: &[&str] = &[
    "if",
    "unless",
    "whether",
    "once",
    "when",
    "whenever",
    "until",
    "till",
    "provided",
    "providing",
    "assuming",
    "suppose",
    "supposing",
    "as soon as",
    "as long as",
    "so long as",
    "in case",
    "by the time",
    "only after",
    "lest",
    "in the event",
    "the point where",
    "the point at which",
    "depends on",
    "depending on",
    "on condition",
    "contingent on",
    "even if",
    "so that",
    "such that",
    "for when",
    "the moment",
    "the day",
    "every time",
    "each time",
];

/// Behind "done" or "complete" these make it something else: "complete chaos", "done twice".
pub(super) const TURNS: &[&str] = &[
    "enough", "chaos", "mess", "nonsense", "garbage", "disaster", "twice", "wrong", "badly", "differently",
    "manually", "lazily", "eagerly", "automatically", "client-side", "server-side", "serially",
    "sequentially", "asynchronously", "synchronously", "separately", "incrementally", "rewrite", "rewrites",
    "overhaul", "picture", "set", "sets", "list", "copy", "copies", "lie", "fiction", "docs",
    "documentation", "data", "this", "each",
];

/// Behind "project complete", said without a verb, the statement may go on with these; any other word makes
/// a name of it ("the project complete banner").
pub(super) const GOES_ON: &[&str] = &[
    "and", "or", "but", "now", "here", "in", "on", "as", "with", "so", "since", "because", "at", "down",
    "again", "too", "today", "per", "after", "by", "from", "including", "according", "except", "unless",
    "if", "when", "once", "until", "without", "thanks", "thx", "i", "we", "which", "all", "there", "also",
    "nothing", "everything", "project", "for", "to", "apart", "already", "aside", "then", "before", "while",
    "soon", "only", "not", "within", "under", "via", "through", "using", "inside", "over", "it", "across",
    "no", "tests", "is", "would", "yay", "see",
];
