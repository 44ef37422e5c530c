//! Why two words of a command line do not go together, and what to type instead: the parser only says that they do not.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What the parser calls them in its messages, and what is said about the two.
const PAIRS: &[(&str, &str, &str)] = &[
    (
        "--agent-cmd",
        "--agents",
        "--agents names agents that ralph knows, --agent-cmd is a command of yours: give one of them; for both, make the \
         command an agent: ralph config set agents.mine.command CMD, then --agents claude,mine",
    ),
    (
        "--agent-cmd",
        "--permissions",
        "ralph cannot tell a command of yours what it may do: leave --permissions out, and say it in the command",
    ),
    (
        "--agent-cmd",
        "--model",
        "ralph cannot tell a command of yours its model: leave --model out, and say it in the command",
    ),
    ("--agent-cmd", "AGENT ARGS", "arguments of a command of yours belong into it: --agent-cmd \"CMD ARGS\""),
    ("--backlog", "GOAL", BACKLOG),
    ("--harness-dir", "GOAL", BACKLOG),
    ("--task", "GOAL", BACKLOG),
    ("--phase", "GOAL", BACKLOG),
    ("--once", "GOAL", BACKLOG),
    ("--all", "GOAL", BACKLOG),
    ("--all-phases", "GOAL", BACKLOG),
    ("--all-phases", "--phase", "--phase works on one phase, --all-phases on each in turn: give one of them"),
    ("--all-phases", "--task", "--task works on one item, --all-phases on every phase: give one of them"),
    (
        "--harness-dir",
        "--backlog",
        "--backlog names the task file, --harness-dir the folder of feature_list.json: give one of them",
    ),
    ("--once", "--all", "--once makes one attempt, --all goes on to the next item: give one of them"),
    ("--dry-run", "--json", "--dry-run only shows what would be done, to people: leave --json out"),
    ("--dry-run", "--quiet", "--dry-run only shows what would be done: leave --quiet out"),
    ("--resume", "--fresh", "--resume continues the last run, --fresh begins a new one: give one of them"),
    ("--diff", "--checks", VIEWS),
    ("--diff", "--transcript", VIEWS),
    ("--diff", "--raw", VIEWS),
    ("--diff", "--json", VIEWS),
    ("--checks", "--transcript", VIEWS),
    ("--checks", "--raw", VIEWS),
    ("--checks", "--json", VIEWS),
    ("--transcript", "--json", VIEWS),
    ("--raw", "--json", VIEWS),
    (
        "--to",
        "ITERATION",
        "a number goes back to before that iteration, --to to a snapshot that an undo named: give one of them",
    ),
    ("--to", "FILE", "--to puts back everything; for some files, name the iteration: ralph undo N FILE"),
    ("--all", "FILE", "a file that is named is put back whoever changed it: leave --all out"),
    ("--to", "--all", "--to puts back everything in any case: leave --all out"),
];

const BACKLOG: &str =
    "a run has a goal or works through a backlog, and this flag is for a backlog: leave one of the two out";
const VIEWS: &str =
    "each of them is a view of its own: give one of --diff, --checks, --transcript, --raw and --json";

/// What needs another one with it.
const ALONE: &[(&str, &str)] = &[
    (
        "--agent-format",
        "--agent-format says how the output of a command of yours is read: --agent-cmd CMD --agent-format FORMAT",
    ),
    (
        "--permissions",
        "the scripted agent needs none, they are for a real one: ralph demo --agent claude --permissions edits",
    ),
];

/// What to say to whoever gave them.
pub(super) fn tip(error: &clap::Error) -> Option<String> {
    match error.kind() {
        ErrorKind::ArgumentConflict => {
            let ContextValue::String(one) = error.get(ContextKind::InvalidArg)? else { return None };
            let others: &[String] = match error.get(ContextKind::PriorArg)? {
                ContextValue::String(other) => std::slice::from_ref(other),
                ContextValue::Strings(others) => others,
                _ => return None,
            };
            others.iter().find_map(|other| together(one, other)).map(Into::into)
        }
        ErrorKind::MissingRequiredArgument => {
            let given = |flag: &str| std::env::args().any(|word| word.split('=').next() == Some(flag));
            ALONE.iter().find(|(flag, _)| given(flag)).map(|(_, tip)| (*tip).into())
        }
        _ => None,
    }
}

fn together(one: &str, other: &str) -> Option<&'static str> {
    let is = |shown: &str, name: &str| match name.starts_with("--") {
        true => shown.split(' ').next() == Some(name),
        false => shown.contains(name),
    };
    let pair = PAIRS.iter().find(|(a, b, _)| is(one, a) && is(other, b) || is(one, b) && is(other, a));
    pair.map(|(.., tip)| *tip)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;
    use clap::{Command, CommandFactory};

    #[test]
    fn whoever_gives_two_words_that_do_not_go_together_is_told_why() {
        let mut cli = Cli::command();
        cli.build();
        let told = ["run", "history", "undo", "demo", "status", "replay", "analyze", "init", "doctor"];
        let mut pairs = 0;
        for command in told.iter().filter_map(|name| cli.find_subcommand(name)) {
            pairs += every_pair(command);
        }
        assert_eq!(pairs, PAIRS.len(), "a pair that no command refuses is named");
    }

    fn every_pair(command: &Command) -> usize {
        let mut pairs = 0;
        for arg in command.get_arguments().filter(|arg| arg.get_id() != "help") {
            for other in command.get_arg_conflicts_with(arg) {
                let (one, other) = (arg.to_string(), other.to_string());
                assert!(together(&one, &other).is_some(), "{}: {one} and {other}", command.get_name());
                pairs += 1;
            }
        }
        pairs
    }
}
