//! Sentences that announce further work, or say that something is unfinished or was left undone. One of them cancels
//! every claim of the message.

mod admitted;
mod offered;
mod unfinished;
mod words;

use super::sentence::Sentence;
use admitted::admitted;
pub(super) use offered::is_offer;
use unfinished::{counts_short, fails, left_over, to_be_made, todo, unfinished};
use words::{LABELS, NEXT_NOUNS, OUTWARD};

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
    let offers = is_offer(s);
    if let Some(end) = label(s).filter(|_| !offers) {
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
    let more = (0..s.len()).filter(|at| !s.word(*at).is_empty()).any(|at| {
        !offers && (next(s, at) || goes_on(s, at))
            || first_person(s, at)
            || left_over(s, at)
            || unfinished(s, at)
            || todo(s, at)
            || fails(s, at)
            || counts_short(s, at)
            || to_be_made(s, at)
            || admitted(s, at)
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
    s.condition.is_some_and(|first| first < at)
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
