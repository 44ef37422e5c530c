//! What is flagged about a proof, for whoever reads no more than the line that tells it.

use crate::decision::Stop;
use crate::event::{
    OTHERS_RUN, RED_AND_GONE, SCRIPTS_CHANGED, SCRIPTS_CHANGED_BEFORE, TESTS_CHANGED, is_of_judging,
};
use crate::evidence::{FAILED_BEFORE, LEFT_OUT};
use crate::prelude::*;
use crate::state::State;
use crate::text::one_line;

/// How much of the names is told.
const MOST: usize = 300;

/// The names in a flag that begins so.
fn names<'a>(flag: &'a str, beginning: &str) -> Option<&'a str> {
    flag.strip_prefix(beginning)?.strip_prefix(": ")
}

/// What is flagged about the proof of a run that stops so.
pub fn of_stop(state: &State, stop: &Stop) -> Vec<String> {
    let known = || state.flagged.iter().filter(|flagged| !flagged.put_back && is_of_judging(&flagged.what));
    let of_last = || {
        let last = state.last.as_ref().and_then(|last| last.conclusion.as_ref());
        last.map_or(&[][..], |told| &told.proof_flags)
    };
    match stop {
        Stop::Complete { .. } => {
            // What an earlier item left failing may be fixed since.
            let excused = |flag: &&String| flag.starts_with(FAILED_BEFORE) || flag.starts_with(LEFT_OUT);
            let excused = of_last().iter().filter(excused).cloned();
            known().map(|flagged| flagged.what.clone()).chain(excused).collect()
        }
        Stop::ItemPassed { .. } => of_last().to_vec(),
        _ => vec![],
    }
}

/// ` (flagged: tests/login.py changed by the agent)`, to stand behind the word that tells the proof; nothing where nothing is.
pub fn beside(flags: &[String]) -> String {
    let of = |beginnings: &[&str]| {
        let mut told: Vec<&str> = vec![];
        for flag in flags {
            let found = beginnings.iter().find_map(|beginning| names(flag, beginning));
            told.extend(found.filter(|found| !told.contains(found)));
        }
        (!told.is_empty()).then(|| one_line(&told.join(", "), MOST))
    };
    let changed = of(&[TESTS_CHANGED, SCRIPTS_CHANGED, SCRIPTS_CHANGED_BEFORE])
        .map(|names| format!("{names} changed by the agent"));
    let others = of(&[OTHERS_RUN]).map(|names| format!("{OTHERS_RUN}: {names}"));
    let gone = of(&[RED_AND_GONE]).map(|names| format!("{RED_AND_GONE}: {names}"));
    let excused = of(&[FAILED_BEFORE]).map(|names| format!("{FAILED_BEFORE}: {names}"));
    let left_out = of(&[LEFT_OUT]).map(|names| format!("{LEFT_OUT}: {names}"));
    let told: Vec<String> =
        gone.into_iter().chain(changed).chain(others).chain(excused).chain(left_out).collect();
    if told.is_empty() { String::new() } else { format!(" (flagged: {})", told.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_flagged_is_told_once_and_only_what_a_proof_rests_on() {
        let flags = [
            "existing tests were changed: tests/a.sh, tests/b.sh",
            "files that checks run were changed: test.sh",
            "what checks run was changed: of-an-earlier-version.sh",
            "existing tests were changed: tests/a.sh, tests/b.sh",
            "the backlog is put back as it was before the attempt",
            "checks run something else than when the run began: make test (Makefile, test)",
        ]
        .map(String::from);
        assert_eq!(
            beside(&flags),
            " (flagged: tests/a.sh, tests/b.sh, test.sh, of-an-earlier-version.sh changed by the agent; \
             checks run something else than when the run began: make test (Makefile, test))"
        );
        assert_eq!(beside(&flags[4..5]), "");
        assert_eq!(flags.iter().filter(|flag| is_of_judging(flag)).count(), 5);
    }
}
