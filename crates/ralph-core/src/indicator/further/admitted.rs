//! What the agent admits: something was skipped, silenced, not verified, or does not work.

use super::{NONE, denied, has_condition_before};
use crate::indicator::sentence::Sentence;

/// "I skipped US-007", "I commented out the failing ones", "I was unable to verify the API", "it is broken".
pub(super) fn admitted(s: &Sentence<'_>, at: usize) -> bool {
    if !s.is(at, &["i", "we", "it", "this", "that", "they", "everything"]) || has_condition_before(s, at) {
        return false;
    }
    if s.is(at, &["i", "we"]) {
        let verb = s.skip(
            at + 1,
            &["have", "also", "just", "only", "simply", "therefore", "deliberately", "however", "still"],
        );
        return left_undone(s, verb) || silenced(s, verb) || failed_to(s, verb);
    }
    does_not_work(s, at) && !denied(s, at)
}

/// "I skipped nothing" is no admission, nor is "I skipped ahead".
fn left_undone(s: &Sentence<'_>, verb: usize) -> bool {
    let end = s.says_any(verb, &["skipped", "left out", "gave up on", "did not get to", "ran out of time"]);
    end.is_some_and(|end| !s.is(end, NONE) && !s.is(end, &["ahead", "over", "any", "straight"]))
}

/// Tests that no longer say what they said.
fn silenced(s: &Sentence<'_>, verb: usize) -> bool {
    const SILENCED: &[&str] = &[
        "commented out", "disabled", "ignored", "excluded", "deleted", "removed", "stubbed out", "stubbed",
        "faked", "weakened", "relaxed",
    ];
    const TESTS: &[&str] = &[
        "failing test",
        "failing tests",
        "failing ones",
        "failing checks",
        "failing assertion",
        "failing assertions",
        "failing suite",
        "flaky tests",
        "broken tests",
        "red tests",
    ];
    s.says_any(verb, SILENCED).is_some_and(|end| s.find(end..(end + 6).min(s.len()), TESTS).is_some())
}

/// Told of now: "at first I could not run the tests" is a story.
fn failed_to(s: &Sentence<'_>, verb: usize) -> bool {
    const UNABLE: &[&str] = &[
        "was unable to",
        "were unable to",
        "am unable to",
        "are unable to",
        "was not able to",
        "were not able to",
        "am not able to",
        "are not able to",
        "could not",
        "can not",
        "did not",
        "have not",
        "failed to",
        "did not manage to",
    ];
    const WORK: &[&str] = &[
        "verify", "verified", "test", "tested", "check", "confirm", "validate", "finish", "finished",
        "complete", "completed", "implement", "implemented", "build", "compile", "run", "fix", "fixed",
        "deploy", "connect", "access", "install",
    ];
    const STORY: &[&str] =
        &["first", "initially", "until", "originally", "before", "then", "but now", "earlier"];
    let Some(end) = s.says_any(verb, UNABLE) else { return false };
    s.is(s.skip(end, &["yet", "fully", "even", "actually", "manage", "to"]), WORK)
        && s.find(0..s.len(), STORY).is_none()
}

fn does_not_work(s: &Sentence<'_>, at: usize) -> bool {
    const BROKEN: &[&str] =
        &["is broken", "are broken", "does not work", "do not work", "is not working", "are not working"];
    let verb = s.skip(at + 1, &["just", "simply", "actually", "currently"]);
    s.is_start(at)
        && s.says_any(verb, BROKEN).is_some_and(|end| {
            s.is_edge(end) || s.is(end, &["on", "in", "for", "at", "right", "yet", "now", "though", "anyway"])
        })
}
