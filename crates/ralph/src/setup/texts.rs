//! What the files of `init` say. They go into prompts, so they are short.

use ralph_core::check::CheckSpec;
use ralph_core::text;

use super::{Found, Wanted};
use crate::config;

/// With `--share`: what people write is committed, what ralph writes is not.
const SHARED_IGNORE: &str = "# ralph's own files are not committed; what people write is\n*\n!.gitignore\n\
                                        !config.toml\n!prompt.md\n!ralph.yml\n!guardrails.md\n";

/// The same with what was found in the folder and is used there, for a clone must have it too.
pub(crate) fn shared_ignore(found: &Found) -> String {
    let mut text = SHARED_IGNORE.to_owned();
    for path in found.in_the_folder() {
        let mut above = String::new();
        for part in path.split_inclusive('/') {
            above.push_str(&part.replace(['\\', '*', '?', '['], "?"));
            let line = format!("!{above}\n");
            if !text.contains(&format!("\n{line}")) {
                text.push_str(&line);
            }
        }
    }
    text
}

const PROMPT: &str = "# How to work on {{PROJECT_NAME}}\n\n\
- One thing at a time, the most important first. Look for what is there already before you write it anew.\n\
- Whole work: no placeholders, no stubs. Tests come with what they test.\n\
- Run the project's checks before you say that something is done.\n\
- What the next iteration must know goes into .ralph/scratchpad.md; lessons not to learn twice into .ralph/guardrails.md.\n";

const GUARDRAILS: &str = "# Guardrails\n\n<!-- Lessons not to learn twice, a line each. -->\n";

const BACKLOG: &str = "# What is to be done. `ralph run` without a goal works through it, `ralph backlog add \"TITLE\"` adds to it.\n\
# An item looks like this:\n\
#\n\
#   - id: login\n\
#     title: Log in with a password\n\
#     priority: high        # critical, high, medium, low\n\
#     status: todo          # todo, in-progress, done, blocked\n\
#     acceptance_criteria:\n\
#       - A wrong password is refused\n\
#     verification:         # commands that prove it: each must exit 0\n\
#       - @TEST@\n\
tasks: []\n";

/// The published schema, as a file of the harness: everything in it means the same in draft-07, which its tools read.
pub(super) fn prd_schema() -> String {
    const PUBLISHED: &str = include_str!("../../../../schemas/ralph.prd-1.json");
    PUBLISHED.replacen(
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
        1,
    )
}

/// The files that a project with these findings should have.
pub(crate) fn files(found: &Found, known: &[(String, String)], checks: &[CheckSpec]) -> Vec<Wanted> {
    let wanted = |name, text, may_replace| Wanted { name, text, may_replace };
    let prompt = match &found.prompt {
        Some(path) => format!("Read {path} first: it holds the instructions of this project.\n\n{PROMPT}"),
        None => PROMPT.to_owned(),
    };
    let mut files = vec![
        wanted("config.toml", config::reference::template(known, checks), true),
        wanted("prompt.md", prompt, true),
        wanted("guardrails.md", GUARDRAILS.to_owned(), true),
        wanted("status", "IDLE\n".to_owned(), false),
    ];
    if found.backlog.is_none() && found.undecided.is_empty() {
        let test =
            checks.iter().find(|check| check.name == "test").map(|test| text::one_line(&test.command, 100));
        let backlog = BACKLOG.replace("@TEST@", test.as_deref().unwrap_or("make test"));
        files.push(wanted("ralph.yml", backlog, false));
    }
    files
}
