//! Sentences that announce further work, or say that something is unfinished. One of them cancels
//! every claim of the message.

use super::sentence::Sentence;
use super::words::{
    CONDITIONS, DONE, LABELS, MAKING, NEXT_NOUNS, NUMBERS, OUTWARD, STILL, TESTS, THINGS, UNFINISHED, WORK,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outlook {
    /// Nothing is announced.
    Quiet,
    /// Further work.
    More,
    /// A label or heading ("Next steps:") that announces it unless "None" follows.
    Label,
}

pub(super) fn outlook(s: &Sentence<'_>, heading: bool) -> Outlook {
    if let Some(end) = label(s) {
        let none = s.is(end + 1, NONE);
        if s.mark(end) == Some(':') && end + 1 < s.len() {
            return if none { Outlook::Quiet } else { Outlook::More };
        }
        if heading || s.mark(end) == Some(':') {
            return Outlook::Label;
        }
    }
    if s.end == '?' {
        return Outlook::Quiet;
    }
    let more = (0..s.len()).any(|at| {
        next(s, at)
            || goes_on(s, at)
            || first_person(s, at)
            || left_over(s, at)
            || unfinished(s, at)
            || todo(s, at)
            || fails(s, at)
            || counts_short(s, at)
            || to_be_made(s, at)
    });
    if more { Outlook::More } else { Outlook::Quiet }
}

/// What takes a label's announcement back.
const NONE: &[&str] = &["none", "nothing", "no", "0", "zero", "n", "empty"];

pub(super) fn says_none(s: &Sentence<'_>) -> bool {
    s.is(0, NONE)
}

/// "Next steps", "Remaining", "Still to do": at the head, up to a colon or the end.
fn label(s: &Sentence<'_>) -> Option<usize> {
    (0..s.len()).filter(|at| s.is_start(*at)).find_map(|at| {
        let mut end = s.says_any(at, LABELS)?;
        end = s.skip(
            end,
            &[
                "work", "tasks", "items", "for", "the", "this", "next", "iteration", "later", "steps",
                "project",
            ],
        );
        (s.mark(end) == Some(':') || end == s.len())
            .then_some(end)
            .filter(|_| at == 0 || s.mark(end) == Some(':'))
    })
}

fn has_condition_before(s: &Sentence<'_>, at: usize) -> bool {
    s.find(0..at, CONDITIONS).is_some()
}

fn denied(s: &Sentence<'_>, at: usize) -> bool {
    s.find(
        at.saturating_sub(6)..at,
        &["no", "nothing", "none", "zero", "0", "without", "not", "never", "any", "neither", "nor", "empty"],
    )
    .is_some()
}

fn next(s: &Sentence<'_>, at: usize) -> bool {
    if let Some(end) = s.says_any(
        at,
        &[
            "moving on to", "move on to", "moving to", "turning to", "what 's next", "what is next",
            "up next", "comes next",
        ],
    ) {
        return end > 0
            && (s.is(at, &["moving", "turning", "up", "on"]) && s.is_start(at)
                || s.find(at..s.len(), &["next"]).is_some()
                || s.find(0..at, &["i", "we", "am"]).is_some());
    }
    if s.word(at) != "next" || denied(s, at) {
        return false;
    }
    let noun = s.skip(
        at + 1,
        &["logical", "big", "small", "open", "planned", "few", "two", "three", "major", "immediate", "user"],
    );
    let person = s.find(0..s.len(), &["i", "we", "will", "going to", "me"]).is_some();
    if s.is(at.wrapping_sub(1), &["is", "are", "comes", "come"])
        && (s.is_edge(at + 1) || s.is(at + 1, &["in", "on", "and"]))
    {
        return true;
    }
    let opens = (s.is_start(at) || s.is(at - 1, &["the", "my", "our"]) && s.is_start(at - 1))
        && s.find(0..s.len(), &["button", "link"]).is_none();
    const STEPS: &[&str] = &[
        "step", "task", "tasks", "item", "items", "module", "chapter", "stage", "batch", "ticket", "stories",
        "features", "iterations", "loop",
    ];
    s.is(noun, NEXT_NOUNS)
        || ((opens
            || person
            || s.find(
                0..at,
                &["ready for", "on to", "start", "starting", "begin", "tackle", "pick up", "proceeding"],
            )
            .is_some())
            && s.is(noun, STEPS))
        || (person
            && s.is(
                noun,
                &[
                    "session", "round", "run", "turn", "pass", "commit", "pr", "one", "time", "thing",
                    "message", "chunk",
                ],
            ))
        || (s.is_start(at)
            && (s.is_edge(at + 1)
                || s.is(at + 1, &["i", "we", "up", "is", "on", "comes", "will", "would", "in"])))
        || (s.is_edge(at + 1)
            && (person
                || s.find(
                    0..at,
                    &["implemented", "done", "added", "tackle", "come", "comes", "do", "is", "are"],
                )
                .is_some()))
}

fn goes_on(s: &Sentence<'_>, at: usize) -> bool {
    if s.is(at, &["continues", "continue"])
        && s.find(0..at, &["work", "implementation", "development"]) == Some(0)
    {
        return true;
    }
    // "On to the exporter.", "Starting with the writer."
    const ONWARD: &[&str] = &[
        "on to", "off to", "time to", "time for", "now to the", "now for", "now on to", "onwards to",
        "starting with", "starting on", "starting the", "beginning with", "that leaves", "this leaves",
    ];
    let kept = s
        .find(
            0..s.len(),
            &[
                "nothing", "unchanged", "free", "untouched", "no", "ship", "merge", "release", "celebrate",
                "exit", "stop",
            ],
        )
        .is_some();
    if at == 0 && s.says_any(at, ONWARD).is_some() && !kept {
        return true;
    }
    if s.says(at, "to be continued").is_some() {
        return true;
    }
    if !s.is(at, &["continue", "continuing", "proceed", "proceeding", "resume", "carry on", "carrying"])
        || denied(s, at)
    {
        return false;
    }
    let by_agent = s.find(at.saturating_sub(4)..at, &["i", "we", "me", "let us"]).is_some();
    let onward = s.is(
        at + 1,
        &["with", "on", "to", "working", "by", "from", "the", "this", "in", "tomorrow", "here", "until"],
    );
    (by_agent && !s.is(at, &["proceeded"])) || (s.is_start(at) && onward)
}

/// "I'll add the websocket", "I still need to", "let me": the agent's own future.
fn first_person(s: &Sentence<'_>, at: usize) -> bool {
    const INTENTS: &[&str] = &[
        "will",
        "am going to",
        "are going to",
        "plan to",
        "intend to",
        "am about to",
        "need to",
        "have to",
        "still need to",
        "still have to",
        "have started on",
        "have started with",
        "have begun",
        "can now start",
        "can now begin",
        "can now continue",
        "can now tackle",
        "can start on",
        "can start with",
        "can begin with",
        "can move on",
        "want to",
        "would like to",
        "aim to",
        "must",
        "must still",
        "should",
        "should still",
        "have yet to",
        "still must",
        "am planning to",
        "hope to",
        "am now going to",
        "shall",
        "still want to",
        "now need to",
        "also need to",
        "also have to",
        "am working on",
        "am in the middle of",
        "am now working on",
        "am still working on",
        "started on",
    ];
    if has_condition_before(s, at) {
        return false;
    }
    let verb = if s.is(at, &["i", "we"]) {
        s.says_any(s.skip(at + 1, &["now", "then", "also", "next"]), INTENTS)
    } else {
        let opens =
            s.is_start(at) || s.is(at - 1, &["now", "so", "then", "ok", "okay", "next", "first", "and"]);
        s.says_any(at, &["let me", "let us", "going to"]).filter(|_| opens)
    };
    if s.is(at, &["i", "we"])
        && s.is(at + 1, &["am", "are"])
        && s.word(at + 2) == "still"
        && s.word(at + 3).ends_with("ing")
    {
        return true;
    }
    let Some(mut verb) = verb else { return false };
    verb = s.skip(verb, &["now", "then", "also", "still", "just", "next", "simply", "therefore", "probably"]);
    !s.is(verb, OUTWARD) && !s.is_edge(verb)
}

/// "how many items remain", "which file is missing": what the program tells, not what is to do.
fn is_indirect(s: &Sentence<'_>, at: usize) -> bool {
    let clause = (0..at).rev().find(|place| s.mark(*place).is_some()).map_or(0, |place| place + 1);
    s.find(
        clause..at,
        &[
            "which", "how many", "how much", "where", "whose", "shows", "displays", "prints", "show", "see",
            "sees", "count", "counts", "while",
        ],
    )
    .is_some()
}

fn left_over(s: &Sentence<'_>, at: usize) -> bool {
    if is_indirect(s, at) {
        return false;
    }
    match s.word(at) {
        "remaining" => remaining(s, at),
        "remain" | "remains" => {
            let of_work =
                (0..at).any(|place| s.is(place, WORK) || s.is_number(place) || s.is(place, NUMBERS));
            let named = s.word(at + 1) == "is" && s.find(0..at, &["what", "all that"]).is_some();
            let open = s.is_edge(at + 1)
                || named
                || s.is(
                    at + 1,
                    &["to", "undone", "unfinished", "incomplete", "todo", "outstanding", "unimplemented"],
                )
                || (of_work && s.is(at + 1, &["open", "in", "for", "before", "on", "and"]));
            open && !denied(s, at) && !has_condition_before(s, at)
        }
        "left" => left(s, at),
        "more" | "further" | "additional" | "much" | "lots" | "plenty" => {
            let noun = s.skip(at + 1, &["more", "of"]);
            let to_do = s.says_any(noun, &["to do", "to be done", "to implement", "to come"]).is_some();
            let things = s
                .is(noun, &["tasks", "stories", "steps", "iterations", "items", "features", "things"])
                && (s.is(noun + 1, &["to", "remain", "left", "are", "follow", "in"])
                    && s.find(0..at, &["have", "are", "there", "i"]).is_some());
            let work = s.is(noun, &["work", "effort"]);
            (to_do || things || work)
                && !denied(s, at)
                && !has_condition_before(s, at)
                && !s.is(at.wrapping_sub(1), &["the"])
        }
        "outstanding" | "pending" | "open" => {
            let of_work = s.is(at.wrapping_sub(1), &["is", "are", "still", "remain", "remains", "as"])
                && (0..at).any(|place| s.is(place, WORK) && !s.is(place, &["open"]) || s.is_number(place));
            let some = s.is(at + 1, WORK)
                && at > 0
                && (s.is_number(at - 1) && s.word(at - 1) != "0"
                    || s.is(at - 1, NUMBERS)
                    || s.is(at - 1, &["has", "have", "one", "are"]));
            (of_work || some)
                && !denied(s, at)
                && !has_condition_before(s, at)
                && s.find(0..at, &["all", "checked", "looked", "was", "were"]).is_none()
        }
        "needs" | "need" => {
            (s.says_any(
                at + 1,
                &[
                    "to be done",
                    "to be implemented",
                    "to be finished",
                    "to be added",
                    "to be fixed",
                    "more work",
                    "work",
                    "another",
                    "doing",
                    "finishing",
                    "fixing",
                    "implementing",
                ],
            )
            .is_some()
                || s.is(at.wrapping_sub(1), &["still"]))
                && !denied(s, at)
                && !has_condition_before(s, at)
        }
        _ => false,
    }
}

/// "five remaining tasks", but not "the last remaining task went in" nor "remaining lives".
fn remaining(s: &Sentence<'_>, at: usize) -> bool {
    if denied(s, at) || has_condition_before(s, at) || s.is(at.wrapping_sub(1), &["last", "final", "all"]) {
        return false;
    }
    let clause = (0..at).rev().find(|place| s.mark(*place).is_some()).map_or(0, |place| place + 1);
    let settled = (clause..at).any(|place| is_past(s.word(place)) || s.is(place, &["were", "was"]))
        || s.find(
            at..s.len(),
            &[
                "were", "was", "have been", "has been", "went", "passed", "landed", "are done",
                "are complete", "are now", "are fixed", "is fixed", "are closed", "is done", "is closed",
                "is complete", "are in", "is in",
            ],
        )
        .is_some();
    let noun = (at + 1..at + 4).any(|place| s.is(place, WORK));
    let said = at > 0 && s.is(at - 1, &["is", "are", "'s", "still"])
        || s.is_edge(at + 1)
            && (s.is(at.wrapping_sub(1), WORK)
                || s.find(clause..at, &["still", "there are", "there is"]).is_some());
    (noun || said) && !settled
}

/// A verb in the past, by its form.
pub(super) fn is_past(word: &str) -> bool {
    (word.len() > 3
        && word.ends_with("ed")
        && !matches!(word, "need" | "speed" | "indeed" | "exceed" | "proceed"))
        || matches!(
            word,
            "did"
                | "built"
                | "wrote"
                | "made"
                | "took"
                | "put"
                | "went"
                | "got"
                | "ran"
                | "reran"
                | "re-ran"
                | "done"
                | "cut"
                | "had"
                | "fixed"
        )
}

/// "two things left to do", "three tasks are left"; not "left out", "I left it alone".
fn left(s: &Sentence<'_>, at: usize) -> bool {
    if denied(s, at) || has_condition_before(s, at) {
        return false;
    }
    let to_do = s
        .says_any(
            at + 1,
            &[
                "to do", "to be done", "to implement", "to fix", "to build", "to finish", "to add",
                "to port", "to write", "to go",
            ],
        )
        .is_some();
    let kept = s.is(
        at + 1,
        &[
            "out", "alone", "untouched", "as", "unchanged", "it", "the", "off", "behind", "over", "side",
            "hand", "aligned", "join", "of",
        ],
    );
    let counted = at > 0
        && (s.is(at - 1, WORK)
            || (s.is(at - 1, &["is", "are", "'s", "still"])
                && (s.is_edge(at + 1) || s.is(at + 1, &["for", "in", "on", "before"]))));
    to_do || (counted && !kept)
}

/// "is not complete yet", "still missing", "in progress".
fn unfinished(s: &Sentence<'_>, at: usize) -> bool {
    if has_condition_before(s, at)
        || s.is(at.wrapping_sub(1), &["that", "which", "who"])
        || is_indirect(s, at)
    {
        return false;
    }
    if s.word(at) == "not" && s.word(at + 1) != "only" {
        let verb = s.skip(
            at + 1,
            &[
                "yet", "fully", "quite", "entirely", "really", "all", "completely", "totally", "nearly",
                "even",
            ],
        );
        let present = at == 0
            || s.is(at - 1, &["is", "are", "am", "do", "does", "has", "have", "'s"])
            || s.is_start(at);
        let relative =
            (at.saturating_sub(3)..at).any(|place| s.is(place, &["that", "which", "who", "was", "were"]));
        let tests = (0..at).any(|place| s.is(place, CHECKS) || s.is(place, &["everything", "all"]));
        let whole = s.is(at + 1, &["all", "everything", "every"]) && s.is_start(at);
        return present
            && !relative
            && (s.is(verb, DONE)
                || s.is(verb, &["implemented", "passing", "started"])
                || tests && s.word(verb) == "pass"
                || whole);
    }
    if s.word(at) == "still" {
        return s.says_any(at + 1, STILL).is_some() && !denied(s, at);
    }
    let negative =
        s.says_any(at, UNFINISHED).is_some() || s.says(at, "in progress").is_some_and(|end| s.is_edge(end));
    negative && !denied(s, at) && s.find(at.saturating_sub(3)..at, &["was", "were"]).is_none()
}

/// "4 of 9 tasks are done", "5/12 tasks complete".
fn counts_short(s: &Sentence<'_>, at: usize) -> bool {
    if !s.is_number(at) || has_condition_before(s, at) {
        return false;
    }
    let (some, all, end) = match s.word(at).split_once('/') {
        Some((some, all)) => (some, all, at + 1),
        None => match s.says_any(at + 1, &["of", "out of"]) {
            Some(of) => {
                let of = s.skip(of, &["the"]);
                (s.word(at), s.word(of), of + 1)
            }
            None => return false,
        },
    };
    let (Ok(some), Ok(all)) = (some.parse::<u32>(), all.parse::<u32>()) else { return false };
    let thing = s.skip(end, &["planned", "user", "the", "acceptance"]);
    let said = s.skip(thing + 1, &["are", "is", "now", "have", "been"]);
    some < all
        && (s.is(thing, THINGS) || s.is(thing, TESTS))
        && (s.is(said, DONE) || s.is(said, &["pass", "passing", "implemented"]))
}

/// "the exporter has to be written", "docs will be added later", "there are docs to write".
fn to_be_made(s: &Sentence<'_>, at: usize) -> bool {
    if has_condition_before(s, at) || denied(s, at) || is_indirect(s, at) {
        return false;
    }
    if let Some(end) = s.says_any(
        at,
        &[
            "has to be", "have to be", "must be", "must still be", "needs to be", "need to be", "is to be",
            "are to be", "should be",
        ],
    ) {
        return s.is(end, MAKING) && s.is_edge(end + 1);
    }
    if let Some(end) = s.says_any(at, &["will be", "can be", "gets", "get"]) {
        return s.is(end, MAKING)
            && s.find(
                end..s.len(),
                &["later", "next", "soon", "tomorrow", "afterwards", "in a follow-up", "in the following"],
            )
            .is_some();
    }
    if s.says_any(at, &["has not been", "have not been", "was not", "were not"])
        .is_some_and(|end| s.is(end, MAKING) && s.word(at + 1) == "not" && !s.is(at, &["was", "were"]))
    {
        return true;
    }
    if let Some(end) = s.says_any(at, &["have not", "has not"]) {
        return s.is(
            s.skip(end, &["yet", "even"]),
            &["started", "begun", "implemented", "written", "finished", "completed"],
        );
    }
    if s.says_any(at, &["there is", "there are", "there 's"]).is_some() {
        let more = s.is(at + 2, &["still", "also", "yet", "more", "docs", "one", "a few"])
            || s.is(at + 2, WORK)
            || s.is(at + 2, NUMBERS);
        return more
            && s.find(
                at..s.len(),
                &["to write", "to implement", "to finish", "to port", "to build", "to test"],
            )
            .is_some_and(|end| !denied(s, end) && !s.is(end - 1, &["ways", "way", "scripts", "script"]));
    }
    if let Some(end) =
        s.says_any(at, &["waiting for", "waits for", "wait for", "awaits", "awaiting", "blocked on"])
    {
        return (end..end + 4).any(|place| {
            s.is(
                place,
                &["decision", "you", "your", "input", "approval", "credentials", "feedback", "answer", "key"],
            )
        });
    }
    s.says(at, "to go").is_some()
        && s.is_edge(at + 2)
        && at > 0
        && (s.is(at - 1, WORK) || s.is_number(at - 1))
}

/// "TODO: …", "left as a todo"; not "the todo app", "resolved the TODO comments".
fn todo(s: &Sentence<'_>, at: usize) -> bool {
    if !s.is(at, &["todo", "todos", "to-do", "fixme", "wip"]) || denied(s, at) {
        return false;
    }
    (s.mark(at + 1) == Some(':') && !s.is(at + 2, NONE))
        || (s.is(at.wrapping_sub(1), &["still", "as", "is", "are", "remain", "remains"])
            && !has_condition_before(s, at))
        || (s.is(at.wrapping_sub(1), &["a"])
            && s.is(at.wrapping_sub(2), &["as"])
            && !has_condition_before(s, at))
        || (at == 0 && matches!(s.mark(1), Some('—')))
}

const CHECKS: &[&str] = &[
    "test", "tests", "suite", "build", "ci", "pipeline", "them", "ones", "lint", "compilation", "checks",
    "check",
];

/// "two tests fail", "the build is red": present, and about the project's own checks.
fn fails(s: &Sentence<'_>, at: usize) -> bool {
    if s.word(at) == "failing"
        && s.is(at + 1, CHECKS)
        && at > 0
        && (s.is_number(at - 1) && s.word(at - 1) != "0" || s.is(at - 1, NUMBERS))
    {
        return s.find(0..at, &["fixed", "fix", "were", "was", "had"]).is_none();
    }
    let now = s.is(at, &["fail", "fails"])
        || (s.is(at, &["failing", "red", "broken"]) && s.is(at.wrapping_sub(1), &["is", "are", "still"]));
    if !now || has_condition_before(s, at) || denied(s, at) {
        return false;
    }
    let from = at.saturating_sub(4);
    if s.is(
        at + 1,
        &[
            "fast", "early", "loudly", "closed", "open", "gracefully", "safe", "over", "immediately",
            "cleanly",
        ],
    ) {
        return false;
    }
    let told = s
        .find(
            from..at,
            &["that", "which", "would", "should", "could", "can", "to", "may", "must", "makes", "make", "so"],
        )
        .is_some()
        || s.find(at..s.len(), &["if", "when", "unless", "without", "before", "on purpose"]).is_some();
    !told && (from..at).any(|place| s.is(place, CHECKS) || s.is_number(place) || s.is(place, NUMBERS))
}
