//! The words the rules know, as data.

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

pub(super) const NEGATIONS: &[&str] = &[
    "not", "never", "neither", "nor", "hardly", "barely", "scarcely", "far from", "unable", "fail to",
    "fails to", "failed to", "false", "untrue", "yet to", "doubt", "wrong", "unlikely", "no way", "none of",
    "nowhere", "lack", "nobody", "few", "premature", "impossible", "no guarantee", "no proof", "no evidence",
    "no idea", "no sign", "too early", "too soon", "not a single", "no", "no longer", "no means",
];
pub(super) const PARTIALS: &[&str] = &[
    "almost",
    "nearly",
    "practically",
    "virtually",
    "mostly",
    "most",
    "half",
    "some",
    "many",
    "several",
    "only",
    "part of",
    "partly",
    "partially",
    "about",
    "roughly",
    "around",
    "close to",
    "just about",
    "pretty much",
    "basically",
    "essentially",
    "more or less",
    "next to",
    "not quite",
    "largely",
    "two of",
    "three of",
    "one of",
    "majority",
    "a third",
    "two thirds",
    "quarter",
    "percent of",
    "fraction",
    "at least",
    "up to",
    "for the most part",
    "in theory",
    "on paper",
    "theoretically",
    "halfway",
];
/// Before or behind a claim they make an exception.
pub(super) const EXCEPTIONS: &[&str] = &[
    "except",
    "excepting",
    "apart from",
    "aside from",
    "other than",
    "save for",
    "but for",
    "barring",
    "with the exception",
    "bar",
    "minus",
    "excluding",
    "besides",
    "all but",
    "anything but",
    "everything but",
    "sans",
    "with one exception",
    "modulo",
    "leaving out",
    "exception of",
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
pub(super) const FUTURE: &[&str] = &[
    "will", "shall", "should", "would", "could", "might", "may", "must", "ought", "going to", "soon",
    "tomorrow", "about to", "want", "wants", "wanted", "hope", "hoping", "aim", "plan to", "plans to",
    "expect", "expects", "try", "trying", "tried", "wish", "need", "needs", "eventually", "aiming",
    "by then", "way to", "intend", "supposed", "by friday", "by monday", "by tomorrow", "by the end",
    "get to", "getting to", "working towards", "working toward", "on track", "until", "expected",
];
/// Somebody's words, an aim or a guess, not the agent's own statement.
pub(super) const REPORTED: &[&str] = &[
    "says", "said", "say", "saying", "wrote", "writes", "reads", "stated", "states", "believes", "believed",
    "believe", "thinks", "thought", "think", "reports that", "reported", "asserts", "asserted", "insists",
    "insisted", "apparently", "seemingly", "seems", "seem", "appears", "hopefully", "probably", "likely",
    "perhaps", "maybe", "possibly", "presumably", "guess", "suspect", "assume", "assumes", "assumed",
    "imagine", "unclear", "unsure", "uncertain", "requires", "require", "defined as", "demands", "asks",
    "asked", "make sure", "makes sure", "ensure", "ensures", "ensuring", "making sure", "see to it",
    "wait for", "waits for", "waiting for", "wait until", "checks that", "check that", "asserts that",
    "verifies", "verifies that", "as if", "promised", "promises", "announced", "announces", "told",
    "answered", "answers", "replied", "declared", "declares", "note says", "notes say", "previous agent",
    "other agent", "posts", "posted", "commented", "ideal",
];
/// Something shown, tested or named, straight before the claim.
pub(super) const MENTIONED: &[&str] = &[
    "prints",
    "print",
    "printed",
    "shows",
    "displays",
    "displayed",
    "logs",
    "called",
    "named",
    "titled",
    "labelled",
    "labeled",
    "phrase",
    "phrases",
    "string",
    "wording",
    "banner",
    "toast",
    "badge",
    "button",
    "message",
    "messages",
    "heading",
    "title",
    "caption",
    "label",
    "placeholder",
    "detects",
    "detect",
    "matches",
    "signals",
    "indicates",
    "example",
    "such as",
    "fixture",
    "hypothetical",
    "simulates",
    "emits",
    "returns",
    "return",
    "renders",
    "outputs",
    "echoes",
    "a run where",
    "the case where",
    "cases where",
    "mentions",
    "mentioned",
    "marked",
    "mark",
    "marks",
    "e-mail",
    "instruction",
    "instructions",
    "tell",
    "tells",
    "condition",
    "rule",
    "target",
    "read as",
    "requirement",
    "goal",
    "goals",
    "criterion",
    "criteria",
    "definition of done",
    "expectation",
    "objective is",
    "written as",
];
/// Verbs that order a state rather than tell it, straight before the claim.
pub(super) const CAUSATIVES: &[&str] = &[
    "get", "getting", "gets", "have", "make", "making", "makes", "let", "keep", "want", "wants", "need",
    "needs", "require", "requires", "expect", "expects", "check", "ensure", "verify", "confirm", "see",
    "having", "keeps", "help", "for", "to", "of", "sees", "like", "than", "about", "on", "in", "from",
    "into", "by", "across", "at", "inside", "within", "throughout", "per", "calling", "is", "are", "do",
    "does", "did", "was", "were",
];
pub(super) const HEDGES_AFTER: &[&str] = &[
    "soon",
    "so far",
    "tomorrow",
    "for now",
    "for the moment",
    "at least",
    "i hope",
    "i think",
    "i guess",
    "i believe",
    "i suppose",
    "i assume",
    "supposedly",
    "allegedly",
    "in theory",
    "hopefully",
    "probably",
    "or so",
    "more or less",
    "sometimes",
    "most of the time",
    "half the time",
    "intermittently",
    "if",
    "unless",
    "when",
    "once",
    "until",
    "till",
    "provided",
    "assuming",
    "as long as",
    "whenever",
    "before",
    "apparently",
    "by then",
    "by tomorrow",
    "by friday",
    "by monday",
    "by the end",
    "next week",
    "in principle",
    "on paper",
    "in isolation",
    "individually",
    "one by one",
    "separately",
    "or not",
    "supposed",
    "locally but",
    "today but",
    "some of the time",
    "which is wrong",
    "which is false",
    "which is untrue",
    "not",
    "as claimed",
    "as far as",
    "pending",
    "is false",
    "is wrong",
    "is a lie",
    "is untrue",
    "is premature",
    "eventually",
    "in a mock",
    "every other",
    "only on",
    "only with",
    "only if",
    "only when",
    "only in",
    "only locally",
    "only for",
    "which is not true",
    "which is not the case",
    "is not true",
    "or would",
    "or will",
    "or should",
    "or nearly",
    "or almost",
    "that is the plan",
    "that is the goal",
    "that is the idea",
    "that is the hope",
    "that was the plan",
    "is what",
    "is the goal",
    "is the plan",
    "is a claim",
    "is an overstatement",
    "would be",
    "is too much",
    "will be",
    "which is not quite",
];
/// Behind "but" and its like: what is lacking.
pub(super) const LACKS: &[&str] = &[
    "fail", "fails", "failing", "failed", "missing", "broken", "lack", "lacks", "needs", "red", "skip",
    "skipped", "skips", "stub", "stubs", "stubbed", "todo", "hang", "hangs", "crash", "crashes", "wrong",
    "unable", "pending", "untested", "incomplete", "remain", "remains", "blocked", "unfinished", "disabled",
    "ignored", "not run", "not pass", "not work", "not done", "not complete", "not finished",
    "not implemented", "not tested", "not ready", "not covered", "not sure", "not compile", "not built",
    "not been", "not yet", "not all", "not everything", "not test", "not every", "not verified", "could not",
    "can not", "still need", "still needs", "still lacks", "still missing", "still has to", "still uses",
    "still to", "still open", "still fails", "only half", "only the", "more work", "to do", "without docs",
    "left to", "is open", "are open",
];
pub(super) const CONTRASTS: &[&str] =
    &["but", "yet", "though", "although", "however", "whereas", "even though", "only"];
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
/// Headings under which stands what shall be, not what is.
pub(super) const AIMS: &[&str] = &[
    "goal", "goals", "acceptance", "criteria", "definition", "requirements", "requirement", "prerequisites",
    "before", "done when", "expected", "exit", "rules", "how to", "instructions", "template", "example",
    "examples", "old", "previous",
];
/// Like [`REPORTED`], and strong enough to reach over an "and".
pub(super) const CLAIMED: &[&str] = &[
    "according to", "claim", "claims", "claimed", "claiming", "supposedly", "allegedly", "pretends",
    "pretend", "oh sure", "yeah right",
];
/// Verbs that report, unless the agent tells what it did itself: "I wrote nine tests".
pub(super) const OWN_DEEDS: &[&str] = &[
    "wrote", "asked", "said", "told", "reported", "stated", "announced", "mentioned", "declared", "promised",
    "posted", "commented", "asserted",
];
/// Another time, before or behind a claim in the past tense.
pub(super) const OTHER_TIMES: &[&str] = &[
    "previously", "used to", "last week", "yesterday", "back then", "formerly", "in the past", "earlier",
    "before", "until", "last", "at the time", "on the old", "ago", "originally",
];
/// Inside a claim, between its whole and its verb.
pub(super) const DOUBTING: &[&str] = &[
    "not", "never", "almost", "nearly", "hope", "think", "believe", "guess", "supposedly", "allegedly",
    "hopefully", "probably", "apparently", "except", "should", "will", "would", "some", "most", "but",
    "mostly", "far from", "by no means", "in theory", "on paper", "half", "partly",
];
/// Straight before a claim, these deny it.
pub(super) const WITHOUT: &[&str] = &["without", "instead of", "rather than"];
/// Behind "done" or "complete" these make it something else: "complete chaos", "done twice".
pub(super) const TURNS: &[&str] = &[
    "enough", "chaos", "mess", "nonsense", "garbage", "disaster", "twice", "wrong", "badly", "differently",
    "manually", "lazily", "eagerly", "automatically", "client-side", "server-side", "serially",
    "sequentially", "asynchronously", "synchronously", "separately", "incrementally", "rewrite", "rewrites",
    "overhaul", "picture", "set", "sets", "list", "copy", "copies", "lie", "fiction", "docs",
    "documentation", "data", "this", "each",
];
/// Verbs for what is to be done to a piece of work.
pub(super) const MAKING: &[&str] = &[
    "written", "done", "implemented", "built", "finished", "added", "fixed", "ported", "tested", "completed",
    "tackled", "addressed", "converted", "migrated", "started", "reviewed", "documented", "decided",
];
/// Anywhere in the clause before a claim: it does not hold always or everywhere.
pub(super) const NOT_ALWAYS: &[&str] = &[
    "most", "some", "sometimes", "only", "half", "many", "several", "occasionally", "usually", "often",
    "rarely", "mostly", "partly", "partially", "almost", "nearly", "few",
];
/// Behind "but" in the same sentence these take a claim back as well.
pub(super) const LACKS_NEARBY: &[&str] = &[
    "never", "without", "half", "except", "need", "but not", "though not", "although not", "yet not",
    "not all", "not on", "not in", "not with", "not the",
];
/// Headings under which only ticked items tell what is.
pub(super) const LISTS: &[&str] =
    &["plan", "workflow", "process", "checklist", "background", "context", "log", "not"];
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
/// Behind "but" straight after a claim.
pub(super) const BUTS: &[&str] = &[
    "not", "no", "never", "without", "half", "need", "except", "is left", "are left", "left to", "is open",
    "are open", "but only", "yet only", "however only",
];
