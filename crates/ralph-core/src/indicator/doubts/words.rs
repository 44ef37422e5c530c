//! The words that take a claim its weight, as data.

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

/// Set off at the end of a sentence.
pub(super) const QUALIFIED: &[&str] = &[
    "almost",
    "nearly",
    "mostly",
    "partly",
    "partially",
    "more or less",
    "sort of",
    "kind of",
    "to some extent",
    "for the most part",
    "in part",
    "basically",
    "essentially",
    "not quite",
    "almost there",
    "nearly there",
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

/// Behind "but" straight after a claim.
pub(super) const BUTS: &[&str] = &[
    "not", "no", "never", "without", "half", "need", "except", "is left", "are left", "left to", "is open",
    "are open", "but only", "yet only", "however only",
];
