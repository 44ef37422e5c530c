//! The recipes, targets and scripts that a command line runs, whoever wrote it: `make test` is as good as what its Makefile
//! says.

use crate::check::named::LEADS;
use crate::prelude::*;

/// Instead of a name: what `make` and `just` run where none is said.
pub(super) const FIRST: &str = "the first target";

/// A file, from the top of the project, and a name in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) name: String,
}

/// The places that a command line may run, in the order in which they stand. Some may be none.
pub(super) fn places(command: &str) -> Vec<Place> {
    let mut places = vec![];
    // `None` where nobody can tell.
    let mut folder = Some(String::new());
    let mut outer = vec![];
    let mut start = 0;
    for (at, c) in command.char_indices().chain([(command.len(), ';')]) {
        if !matches!(c, ';' | '|' | '&' | '\n' | '(' | ')' | '{' | '}') {
            continue;
        }
        let words = Words::of(&command[start..at]);
        start = at + c.len_utf8();
        match (words.program(), &folder) {
            (Some(("cd", rest)), Some(from)) => folder = rest.last().and_then(|to| joined(from, to)),
            (Some((program, rest)), Some(folder)) => places.extend(run_by(program, &rest, folder)),
            _ => {}
        }
        match c {
            '(' => outer.push(folder.clone()),
            ')' => folder = outer.pop().unwrap_or(folder),
            _ => {}
        }
    }
    places
}

/// The words of a simple command, without quotes and without where its output goes.
struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    fn of(part: &'a str) -> Self {
        let mut words = part.split_whitespace().map(|word| word.trim_matches(['"', '\'', '`']));
        let mut kept = vec![];
        while let Some(word) = words.next().filter(|word| !word.starts_with('#')) {
            match word {
                _ if word.ends_with(['<', '>']) => drop(words.next()),
                _ if word.contains(['<', '>']) || word.is_empty() => {}
                _ => kept.push(word),
            }
        }
        Self(kept)
    }

    /// The program by its own name, behind whatever leads to it, and its arguments.
    fn program(&self) -> Option<(&'a str, Vec<&'a str>)> {
        const MORE: [&str; 9] =
            ["timeout", "command", "sudo", "corepack", "bundle", "sh", "bash", "dash", "zsh"];
        let leads = |word: &str| {
            LEADS.contains(&word)
                || MORE.contains(&word)
                || word.contains('=')
                || word.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        };
        let at = self.0.iter().position(|word| !leads(word))?;
        let program = self.0[at].rsplit('/').next()?;
        Some((program, self.0[at + 1..].to_vec()))
    }
}

/// A folder below another; `None` where the shell alone knows it.
fn joined(folder: &str, to: &str) -> Option<String> {
    let to = to.trim_start_matches("./").trim_end_matches('/');
    let odd = to.starts_with(['/', '-', '~']) || to.contains("..") || to.contains(['$', '`', '*']);
    match (to, folder) {
        _ if odd => None,
        ("" | ".", _) => Some(folder.into()),
        (_, "") => Some(to.into()),
        _ => Some(format!("{folder}/{to}")),
    }
}

fn run_by(program: &str, rest: &[&str], folder: &str) -> Vec<Place> {
    let found = match program {
        "make" | "gmake" => targets(rest, folder, &MAKE),
        "just" => targets(rest, folder, &JUST),
        "rake" => targets(rest, folder, &RAKE),
        "npm" | "pnpm" | "yarn" | "bun" | "composer" => script(program, rest, folder),
        _ => None,
    };
    found.unwrap_or_default()
}

/// How a program that runs targets is told which, and where.
struct Runner {
    file: &'static str,
    first: &'static str,
    folders: &'static [&'static str],
    files: &'static [&'static str],
    /// Other options with a word behind them, and with a number that may be left out.
    with_word: &'static [&'static str],
    with_number: &'static [&'static str],
}

const MAKE: Runner = Runner {
    file: "Makefile",
    first: FIRST,
    folders: &["-C", "--directory"],
    files: &["-f", "--file", "--makefile"],
    with_word: &["-I", "--include-dir", "-o", "-W"],
    with_number: &["-j", "--jobs", "-l", "--load-average"],
};
const JUST: Runner = Runner {
    file: "justfile",
    first: FIRST,
    folders: &[],
    files: &["-f", "--justfile"],
    with_word: &["-d", "--working-directory", "--shell", "--shell-arg"],
    with_number: &[],
};
const RAKE: Runner = Runner {
    file: "Rakefile",
    first: "default",
    folders: &[],
    files: &["-f", "--rakefile"],
    with_word: &["-I", "-r"],
    with_number: &["-j", "-m"],
};

fn targets(rest: &[&str], folder: &str, runner: &Runner) -> Option<Vec<Place>> {
    let (mut folder, mut file, mut names) = (folder.to_owned(), runner.file.to_owned(), vec![]);
    let mut words = rest.iter().copied().peekable();
    while let Some(word) = words.next() {
        if let Some(value) = value_of(word, runner.folders, &mut words) {
            folder = joined(&folder, value?)?;
        } else if let Some(value) = value_of(word, runner.files, &mut words) {
            file = value?.into();
        } else if runner.with_word.contains(&word) {
            words.next();
        } else if runner.with_number.contains(&word) {
            words.next_if(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        } else if !word.starts_with(['-', '$']) && !word.contains('=') {
            names.push(word);
        }
    }
    if names.is_empty() {
        names.push(runner.first);
    }
    let file = joined(&folder, &file)?;
    Some(names.into_iter().map(|name| Place { file: file.clone(), name: name.into() }).collect())
}

/// What an option of these is set to, where `word` is one: `-C web`, `-Cweb`, `--directory=web`.
fn value_of<'a>(
    word: &'a str,
    options: &[&str],
    words: &mut impl Iterator<Item = &'a str>,
) -> Option<Option<&'a str>> {
    let attached = |option: &&str| {
        let rest = word.strip_prefix(*option)?;
        if option.starts_with("--") {
            rest.strip_prefix('=')
        } else {
            Some(rest).filter(|rest| !rest.is_empty())
        }
    };
    match options.contains(&word) {
        true => Some(words.next()),
        false => options.iter().find_map(attached).map(Some),
    }
}

/// The script of a manifest that a package manager is asked for.
fn script(manager: &str, rest: &[&str], folder: &str) -> Option<Vec<Place>> {
    const FOLDERS: [&str; 5] = ["--prefix", "-C", "--dir", "--cwd", "--working-dir"];
    // Then it is some other folder's manifest, or many.
    const ELSEWHERE: [&str; 9] = [
        "-w", "--workspace", "--workspaces", "--filter", "-F", "-r", "--recursive", "workspace", "workspaces",
    ];
    let (mut folder, mut said) = (folder.to_owned(), vec![]);
    let mut words = rest.iter().copied();
    while let Some(word) = words.next().filter(|word| *word != "--") {
        if let Some(value) = value_of(word, &FOLDERS, &mut words) {
            folder = joined(&folder, value?)?;
        } else if ELSEWHERE.contains(&word) {
            return None;
        } else if !word.starts_with('-') {
            said.push(word);
        }
    }
    let name = match (manager, said.as_slice()) {
        (_, ["run" | "run-script" | "rum" | "urn", name, ..]) => name,
        ("npm" | "pnpm", ["t" | "tst", ..]) => "test",
        ("npm", [name @ ("test" | "start" | "stop" | "restart"), ..]) => name,
        ("pnpm" | "yarn" | "composer", [name, ..]) => name,
        _ => return None,
    };
    let file = if manager == "composer" { "composer.json" } else { "package.json" };
    Some(vec![Place { file: joined(&folder, file)?, name: format!("scripts.{name}") }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_line_runs_is_found_wherever_it_stands() {
        for (command, told) in [
            ("make test", &["Makefile, test"][..]),
            ("make", &["Makefile, the first target"]),
            ("CI=1 make -j 4 -s lint test V=1 > log 2>&1", &["Makefile, lint", "Makefile, test"]),
            ("make -C web -f ci.mk t1", &["web/ci.mk, t1"]),
            ("gmake --directory=web t1 || exit 1", &["web/Makefile, t1"]),
            ("(cd web && npm test) && make check", &["web/package.json, scripts.test", "Makefile, check"]),
            ("cd ./web; npm run -s unit -- --all", &["web/package.json, scripts.unit"]),
            ("timeout 60 pnpm -C app test", &["app/package.json, scripts.test"]),
            ("sh -c 'yarn lint'", &["package.json, scripts.lint"]),
            ("bun run test | tee log", &["package.json, scripts.test"]),
            ("just", &["justfile, the first target"]),
            ("just --set a=b test x", &["justfile, test", "justfile, x"]),
            ("composer run-script test", &["composer.json, scripts.test"]),
            ("bundle exec rake spec", &["Rakefile, spec"]),
            ("cd \"$HOME\" && make test", &[]),
            ("npm ci; bun test; npm test -w app", &[]),
            ("cargo test && echo make test", &[]),
            ("# make test", &[]),
        ] {
            let found: Vec<String> =
                places(command).iter().map(|place| format!("{}, {}", place.file, place.name)).collect();
            assert_eq!(found, told, "{command}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_command_is_read(command in "[a-z -./=;&|(){}$'\"<>#\u{e4}]{0,60}") {
            let _ = places(&command);
            let _ = places(&format!("make {command} npm {command}"));
        }
    }
}
