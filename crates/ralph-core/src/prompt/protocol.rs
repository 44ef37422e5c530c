//! How an agent is asked to report: one protocol a profile. Whatever is asked, every dialect is heard.

use crate::prelude::*;
use crate::profile::Protocol;
use crate::report::block::{BEGIN, END};

pub(crate) const ALL: [Protocol; 3] = [Protocol::Block, Protocol::StatusFile, Protocol::Json];

/// What an iteration is asked to report about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// The goal, or the backlog as a whole.
    Whole,
    /// One item, which can be done while others are open.
    Item,
}

/// The last part of a prompt.
pub(crate) fn ask(protocol: Protocol, about: About) -> String {
    let asked = match protocol {
        Protocol::Block => return block(about),
        Protocol::StatusFile => STATUS_FILE,
        Protocol::Json => JSON,
    };
    match about {
        About::Whole => asked.into(),
        About::Item => format!("{asked}\n\n{TICK}"),
    }
}

/// Everything that may stand at the end of a prompt.
pub(crate) fn every() -> impl Iterator<Item = String> {
    ALL.into_iter().flat_map(|protocol| [About::Whole, About::Item].map(|about| ask(protocol, about)))
}

/// These protocols have no word of their own for an item.
const TICK: &str = "\
All of this is about the whole. To say that the item of this iteration is done, mark it as done in its file, also where \
others are open; that is checked, not believed.";

fn block(about: About) -> String {
    let means = match about {
        About::Whole => "EXIT_SIGNAL: true means that the whole goal is reached and the tests pass.",
        About::Item => {
            "TASKS_COMPLETED_THIS_LOOP: 1 means that the item of this iteration is done and its tests pass, \
             whatever else is open. EXIT_SIGNAL: true means that nothing else is open either."
        }
    };
    format!(
        "# Report\n\nEnd your last message with exactly this block, each value filled in:\n\n{BEGIN}\n\
         STATUS: [IN_PROGRESS | COMPLETE | BLOCKED]\n\
         TASKS_COMPLETED_THIS_LOOP: [number]\n\
         FILES_MODIFIED: [number]\n\
         TESTS_STATUS: [PASSING | FAILING | NOT_RUN]\n\
         WORK_TYPE: [IMPLEMENTATION | TESTING | DOCUMENTATION | REFACTORING]\n\
         EXIT_SIGNAL: [false | true]\n\
         RECOMMENDATION: [one line: what is next, what is complete, or what blocks you]\n{END}\n\n\
         {means} It is checked, not believed. \
         STATUS: BLOCKED means that you cannot go on without a person; say what you need in RECOMMENDATION."
    )
}

const STATUS_FILE: &str = "\
# Report

Before you end, do two things:

1. Write what the next iteration must know into .ralph/handoff.md: what you did, what is next, what to watch out for.
2. Write one word into .ralph/status, and nothing else:
   - CONTINUE: there is more to do
   - ROTATE: there is more to do, and a fresh context will help
   - DONE: the whole goal is reached; others will look for what is missing before it counts
   - STUCK: you cannot go on without a person; say in .ralph/handoff.md what you need";

const JSON: &str = "\
# Before you end

Write down what later iterations must know:

- .ralph/scratchpad.md: what you did, what comes after it, what blocks you
- CLAUDE.md, or AGENTS.md where the project has that: patterns that work, approaches that failed with their error \
messages, and messages to later agents

# Report

End your last message with one JSON report and one marker, each on lines of their own:

RALPH_STATUS: {\"completion_indicators\": N, \"EXIT_SIGNAL\": true/false}
[marker]

completion_indicators is how often your message says that the work is complete. EXIT_SIGNAL is true only if everything \
in this phase is done. The marker is one of:

- LOOP_CONTINUE: more work is needed
- LOOP_COMPLETE_PHASE_1, LOOP_COMPLETE_PHASE_2, …: that phase is done
- LOOP_COMPLETE: everything is done; say so in plain words above the report as well
- LOOP_BLOCKED: [reason]: you cannot go on without a person";

/// Beside any of them, where a promise may say the same. In code, so that these words give none.
pub(crate) fn promise(text: &str) -> String {
    format!(
        "Instead of the report you may end your last message with `<promise>{text}</promise>`, alone on its line and \
         without the quotes around it. It says the same as EXIT_SIGNAL: true: give it only when that is so."
    )
}

/// Beside any of them, where the prose must say done as well.
pub(crate) const IN_WORDS_TOO: &str = "\
When everything is reached, say so in two plain sentences of your own above the report as well, such as that all tasks \
are complete and that nothing is left to do. Both are needed; announce further work and neither counts.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{self, Words};
    use crate::report::Builder;
    use crate::transcript::Item;

    #[test]
    fn no_protocol_s_own_words_are_a_report() {
        for asked in every() {
            let mut builder = Builder::default();
            builder.add(Item::Words(format!("{asked}\n\n{}", promise("COMPLETE"))));
            let context = gate::Context {
                gate: crate::profile::Gate::Explicit,
                indicators: 2,
                review: false,
                has_test_check: true,
                believes_contradictions: true,
            };
            let report = builder.finish();
            assert_eq!(gate::judge(context, &report), Words::Silence, "{asked}");
            assert_eq!(report.indicators.count, 0, "{asked}");
        }
    }
}
