//! What a command runs: the files of the project (`./check.sh`, `sh test.sh`, `python tools/verify.py`), and by which name people know
//! its program.

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

/// The name of the program that a command line starts, or of the script that it has interpreted: `agent.sh` for
/// `sh tools/agent.sh --fast`. Nothing where that is no plain name (`$AGENT`).
pub fn program(command: &str) -> Option<String> {
    let parts = parts(command);
    let mut named = parts.iter().map(|words| of_words(words)).skip_while(|name| *name == Named::Prepares);
    let Some(Named::Program(name)) = named.next() else { return None };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    let is_name =
        name.len() <= LONGEST_NAME && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (is_name && name.chars().all(plain)).then(|| name.to_owned())
}

/// No program that people type has a longer one.
const LONGEST_NAME: usize = 40;

#[derive(Debug, PartialEq, Eq)]
enum Named<'a> {
    Program(&'a str),
    /// What comes before the program: `cd agents`, `export MODEL=x`.
    Prepares,
    Nothing,
}

fn of_words(words: &[String]) -> Named<'_> {
    let file = |word: &'_ str| word.rfind('/').map_or(0, |at| at + 1);
    let mut words = words.iter().map(String::as_str).filter(|word| !word.is_empty());
    let leads = |word: &&str| is_assigned(word) || LEADS.contains(word);
    let Some(program) = words.by_ref().find(|word| !leads(word)) else { return Named::Prepares };
    if PREPARES.contains(&program) {
        return Named::Prepares;
    }
    let name = &program[file(program)..];
    // A program of many parts is known by the part.
    if name == "ralph" {
        return words.next().map_or(Named::Program(name), Named::Program);
    }
    if !INTERPRETERS.contains(&name) && !name.starts_with("python3.") {
        return if name.is_empty() { Named::Nothing } else { Named::Program(name) };
    }
    for word in words {
        match word {
            // What follows is no file but the program itself.
            "-c" | "-e" | "--eval" | "-s" => break,
            flag if flag.starts_with(['-', '+', '<', '>']) => {}
            mode if MODES.contains(&mode) => {}
            script => return Named::Program(&script[file(script)..]),
        }
    }
    Named::Program(name)
}

fn is_assigned(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The words of each command of a line, without the quotes around them.
fn parts(command: &str) -> Vec<Vec<String>> {
    let (mut parts, mut words, mut word, mut quote) = (vec![], vec![], String::new(), None);
    for c in command.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ';' | '|' | '&' | '\n' | '(' | ')' | '{' | '}') => {
                words.push(core::mem::take(&mut word));
                parts.push(core::mem::take(&mut words));
            }
            (None, c) if c.is_whitespace() => words.push(core::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    parts.push(words);
    parts
}

/// Words that begin a command which starts no program.
const PREPARES: [&str; 8] = ["cd", "export", "set", "unset", "ulimit", "umask", "source", "."];
pub(crate) const LEADS: [&str; 10] =
    ["!", "exec", "env", "time", "if", "then", "do", "else", "while", "nice"];
/// Words between an interpreter and its script.
const MODES: [&str; 2] = ["run", "test"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name_or_that_of_its_script() {
        for (command, name) in [
            ("./my-agent.sh", Some("my-agent.sh")),
            ("/usr/local/bin/agent --fast", Some("agent")),
            ("sh agent.sh", Some("agent.sh")),
            ("python3 -u tools/agent.py --model x", Some("agent.py")),
            ("python3.12 -m my_agent", Some("my_agent")),
            ("'/project/my agents/a.sh' x", Some("a.sh")),
            ("\"$HOME/bin/a.sh\"", Some("a.sh")),
            ("MODEL=big env A=1 exec ./a.sh", Some("a.sh")),
            ("cd agents && ./run.sh | tee log", Some("run.sh")),
            ("export A=1; npx some-agent", Some("npx")),
            ("sh -c 'cat; echo done'", Some("sh")),
            ("/opt/ralph demo-agent --slowly", Some("demo-agent")),
            ("claude -p", Some("claude")),
            ("$AGENT", None),
            ("$(which agent) x", None),
            ("-x", None),
            ("agents/", None),
            ("A=1", None),
            ("", None),
            (&"x".repeat(41), None),
        ] {
            assert_eq!(program(command).as_deref(), name, "{command}");
        }
    }

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
