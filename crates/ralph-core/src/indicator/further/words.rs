//! The words by which further work is announced, as data.

/// Heads of lists of what is to come.
pub(super) const LABELS: &[&str] = &[
    "next steps", "next step", "next up", "next", "remaining", "still remaining", "todo", "todos", "to do",
    "to-do", "still to do", "still todo", "still open", "left to do", "what 's left", "what is left",
    "what remains", "what 's next", "what is next", "outstanding", "open items", "open points", "open tasks",
    "open issues", "open", "missing", "still missing", "pending", "not done", "not yet done", "in progress",
    "follow-ups", "follow-up", "future work", "upcoming", "coming next", "known gaps", "unfinished",
    "incomplete", "not started", "work left", "remaining work", "remaining tasks", "remaining items",
    "things left", "blocked", "blockers", "needs work", "wip", "further work", "coming up", "tomorrow",
    "left for later", "deferred", "postponed", "not covered yet", "not covered",
];

/// "the next …" that is work.
pub(super) const NEXT_NOUNS: &[&str] =
    &["steps", "story", "feature", "phase", "iteration", "milestone", "priority", "up", "sprint"];

/// Verbs of the agent's own future that are no work on the project.
pub(super) const OUTWARD: &[&str] = &[
    "stop", "leave", "be", "wait", "end", "exit", "know", "note", "mention", "explain", "summarize",
    "summarise", "say", "hand", "output", "print", "set", "emit", "report", "stand", "signal", "conclude",
    "close", "not", "never", "admit", "thank", "point", "stress", "confirm", "declare", "call", "rest",
    "have", "state", "recap", "list", "describe", "show", "tell", "see", "claim", "therefore", "consider",
    "no", "reiterate", "add", "emphasise", "emphasize", "mark", "finish", "nothing", "present", "sum",
    "start over", "keep", "highlight", "flag", "draw", "share", "remind", "acknowledge", "apologise",
    "apologize", "clarify", "repeat", "walk", "give", "confess",
];

/// Behind "still": not finished.
pub(super) const STILL: &[&str] = &[
    "need", "needs", "lack", "lacks", "missing", "open", "broken", "failing", "fails", "fail", "red",
    "pending", "outstanding", "todo", "incomplete", "unfinished", "waiting", "stubbed", "unimplemented",
    "remain", "remains", "remaining", "undone", "untested", "blocked", "has to", "have to", "to be", "to do",
    "to come", "work to", "much to", "a lot to", "lots to", "in progress", "not done", "not complete",
    "not implemented", "not finished", "not ready", "work left", "things to", "plenty to", "more to",
    "working on", "some work", "a stub", "a draft", "a placeholder", "has bugs", "has a bug", "has no",
    "has gaps", "drops", "crashes", "hangs", "leaks", "panics", "ahead", "two failing",
];

pub(super) const UNFINISHED: &[&str] = &[
    "is incomplete",
    "are incomplete",
    "is unfinished",
    "are unfinished",
    "remains incomplete",
    "far from done",
    "far from complete",
    "far from finished",
    "yet to be",
    "have yet to",
    "has yet to",
    "is missing",
    "are missing",
    "not yet",
    "half done",
    "half finished",
    "is blocked on",
    "are blocked on",
    "i am blocked",
    "we are blocked",
    "needs work",
    "yet to come",
    "to be implemented",
    "to be done",
    "partially complete",
    "partly done",
    "not quite",
    "is a stub",
    "are stubs",
    "is stubbed",
    "not everything",
    "not all",
    "comes later",
    "come later",
    "up next",
    "another iteration",
    "a lot left",
    "lots left",
    "more to come",
    "rest will follow",
    "others will follow",
    "next in line",
    "leaves only",
    "left for later",
    "deferred to",
    "postponed to",
    "half of the plan",
    "to be continued",
    "begun with",
    "is postponed",
    "is deferred",
    "are deferred",
    "are postponed",
    "i postponed",
    "i deferred",
    "is unimplemented",
    "are unimplemented",
    "so far only",
    "only so far",
    "so far i have",
];

/// Verbs for what is to be done to a piece of work.
pub(super) const MAKING: &[&str] = &[
    "written", "done", "implemented", "built", "finished", "added", "fixed", "ported", "tested", "completed",
    "tackled", "addressed", "converted", "migrated", "started", "reviewed", "documented", "decided",
];
