//! Files of the project that a command runs: `./check.sh`, `sh test.sh`, `python tools/verify.py`.

use crate::prelude::*;

/// Programs whose first argument that is a file is what they run.
const INTERPRETERS: [&str; 18] = [
    "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python3", "node", "deno", "bun", "tsx", "ruby",
    "perl", "php", "Rscript", "lua", "source",
];

/// The paths that a command line may run, from the top of the project, in the order in which they stand. Some may be none.
pub fn files_run(command: &str) -> Vec<String> {
    let mut files = vec![];
    for part in command.split([';', '|', '&', '\n', '(', ')', '{', '}']) {
        let mut words = part.split_whitespace().map(|word| word.trim_matches(['"', '\'', '`']));
        // `CI=1 ./check.sh` runs the script, and so do `! ./check.sh` and `exec ./check.sh`.
        let leads = |word: &&str| word.contains('=') || LEADS.contains(word);
        let Some(program) = words.by_ref().find(|word| !leads(word)) else { continue };
        let name = program.rsplit('/').next().unwrap_or(program);
        let interprets = INTERPRETERS.contains(&name) || name.starts_with("python3.");
        let script = words.find(|word| !word.starts_with(['-', '+', '<', '>']) && !MODES.contains(word));
        let of = if interprets || program == "." {
            script
        } else {
            Some(program).filter(|program| program.contains('/'))
        };
        files.extend(of.map(|path| path.trim_start_matches("./").to_owned()));
    }
    files.retain(|path| !path.is_empty() && !path.starts_with('/') && !path.starts_with(".."));
    files
}

pub(crate) const LEADS: [&str; 10] =
    ["!", "exec", "env", "time", "if", "then", "do", "else", "while", "nice"];
/// Words between an interpreter and its script.
const MODES: [&str; 2] = ["run", "test"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_found_wherever_it_stands_and_what_is_only_looked_at_is_not() {
        for (command, files) in [
            ("./check.sh", &["check.sh"][..]),
            ("sh test.sh", &["test.sh"]),
            ("bash -eu scripts/ci.sh --fast", &["scripts/ci.sh"]),
            ("CI=1 ./a.sh && python3 'tools/v.py' | tee log", &["a.sh", "tools/v.py"]),
            ("if ./a.sh; then exec sh ./b.sh; fi", &["a.sh", "b.sh"]),
            ("bun run build.ts", &["build.ts"]),
            ("scripts/all", &["scripts/all"]),
            (". ./env.sh; make", &["env.sh"]),
            ("test -e one.txt && grep x README.md", &[]),
            ("cargo test -p core", &[]),
            ("/usr/bin/env true; ../other.sh", &[]),
        ] {
            assert_eq!(files_run(command), files, "{command}");
        }
    }
}
