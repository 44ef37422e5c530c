//! The checks that a project brings without anybody naming them, read off the files at its top.
//!
//! What people wrote down under a name (a recipe of a justfile, a target of a Makefile) stands for the whole project and
//! wins over what its languages do by default; the languages that are there stand beside each other. A project whose top
//! has nothing is looked for in the folders below it, and members of a workspace have what their top lacks. What is left
//! out is told. Only what is certain to be there is named: scripts, targets and
//! tools that the files speak of, so that a check is not red because it was guessed.
//!
//! | file | holds |
//! |---|---|
//! | `written` | recipes and targets that people named |
//! | `node`, `python`, `ruby` | one stack each, with its package managers and runners |
//! | `parts` | the parts of a project below its top, and the members of a workspace |
//! | `recipe` | what a command stands for, to tell when it is another |
//! | `beside` | files that take part in a recipe from outside |
//! | `runs` | the recipes, targets and scripts that a command line runs |
//! | `stacks` | the others: those that are one manifest and its commands |

mod beside;
mod node;
mod parts;
mod python;
mod recipe;
mod ruby;
mod runs;
mod stacks;
mod written;

use alloc::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::check::CheckSpec;
use crate::prelude::*;
use parts::Workspace;

pub use beside::{beside, is_beside};
pub use parts::holds_parts;
pub use recipe::{files, recipe, recorded};

/// The names of checks, the cheapest first: what does not build need not be tested.
pub const CHECKS: [&str; 3] = ["build", "test", "lint"];

/// Files longer than this say nothing that is looked for here.
pub const LONGEST: u64 = 512 * 1024;

/// The folders below the top that are looked into, at most; of those that a workspace declares.
const FOLDERS: usize = 50;
const MEMBERS: usize = 500;

/// Which folders below the top are looked into.
#[derive(Debug, PartialEq, Eq)]
pub struct Chosen {
    pub names: Vec<String>,
    /// That there are more, which may have checks that nobody runs.
    pub more: Option<String>,
}

/// Members of a workspace come first: it is they who tell what has to hold.
pub fn chosen(top: &Folder, mut names: Vec<String>) -> Chosen {
    let workspace = Workspace::of(top);
    names.sort();
    names.retain(|name| is_part(name));
    let (mut members, mut others): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| workspace.has(name));
    let cut = members.len().saturating_sub(MEMBERS);
    // Below a top that has checks others are only named.
    let unseen = if one(top).checks.is_empty() { others.len().saturating_sub(FOLDERS) } else { 0 };
    members.truncate(MEMBERS);
    others.truncate(FOLDERS);
    members.append(&mut others);
    let more = match (cut, unseen) {
        (0, 0) => None,
        (0, n) => Some(format!("{n} folders were not looked into for checks, beyond the first {FOLDERS}")),
        (n, _) => Some(format!(
            "{n} members of the workspace were not looked into for checks, beyond the first {MEMBERS}"
        )),
    };
    Chosen { names: members, more }
}

/// What is in a folder: all names, and the texts of the files that [`is_read`] asks for.
#[derive(Debug, Clone, Default)]
pub struct Folder {
    pub names: BTreeSet<String>,
    pub texts: BTreeMap<String, String>,
}

impl Folder {
    fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The first of these that is there.
    fn first(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().find(|name| self.has(name)).copied()
    }

    /// A file's text; empty where there is none.
    fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    fn mentions(&self, names: &[&str], word: &str) -> bool {
        names.iter().any(|name| self.text(name).contains(word))
    }

    /// The names that end so.
    fn ending(&self, end: &str) -> Vec<&str> {
        self.names.iter().map(String::as_str).filter(|name| name.ends_with(end)).collect()
    }
}

/// Whether the text of a file is asked for; of the others the name is enough.
pub fn is_read(name: &str) -> bool {
    const READ: [&str; 23] = [
        "package.json",
        "pnpm-workspace.yaml",
        "Cargo.toml",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "requirements.txt",
        "requirements-dev.txt",
        "GNUmakefile",
        "makefile",
        "Makefile",
        "justfile",
        "Justfile",
        ".justfile",
        "CMakeLists.txt",
        "Rakefile",
        "Gemfile",
        "composer.json",
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "settings.gradle.kts",
        "mix.exs",
    ];
    READ.contains(&name) || name.ends_with(".csproj") || name.ends_with(".fsproj")
}

/// Whether a folder below the top may hold a part of the project, rather than something brought or made.
pub fn is_part(folder: &str) -> bool {
    const OTHERS: [&str; 12] = [
        "node_modules", "vendor", "third_party", "target", "dist", "build", "out", "venv", "env", "docs",
        "examples", "__pycache__",
    ];
    folder.split('/').all(|name| !name.starts_with('.') && !OTHERS.contains(&name))
}

/// A command that would prove something, and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// `build`, `test` or `lint`.
    pub check: &'static str,
    pub command: String,
    /// `package.json, scripts.test`
    pub source: String,
    /// What must be there to run it: a name to be found on the PATH, or a path from the folder.
    pub program: String,
    /// Below the top of the project.
    pub folder: Option<String>,
}

/// What a project is written in, and which file tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    pub language: String,
    pub detected_from: String,
}

impl Stack {
    /// `Rust (Cargo.toml)`
    pub fn described(&self) -> String {
        format!("{} ({})", self.language, self.detected_from)
    }
}

/// How tests are commonly run where nobody says it: an example for whoever has to name a command. `names`: of files at the top.
pub fn usual_test<'n>(stacks: &[Stack], mut names: impl Iterator<Item = &'n str>) -> &'static str {
    let python =
        stacks.iter().any(|stack| stack.language == "Python") || names.any(|name| name.ends_with(".py"));
    if python { "python3 -m unittest" } else { "make test" }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detected {
    pub checks: Vec<Found>,
    /// One of each language, with the first file that tells.
    pub stacks: Vec<Stack>,
    /// What was there and is not run, in words.
    pub left: Vec<String>,
}

impl Detected {
    fn add(&mut self, check: &'static str, command: impl Into<String>, source: impl Into<String>) {
        let command: String = command.into();
        // `CI=true npm test` runs npm.
        let mut words = command.split(' ').skip_while(|word| word.contains('='));
        let program = words.next().unwrap_or_default().to_owned();
        self.checks.push(Found { check, command, source: source.into(), program, folder: None });
    }

    /// What must be there is another program than the one that is called.
    fn needs(&mut self, program: &str) {
        if let Some(last) = self.checks.last_mut() {
            last.program = program.into();
        }
    }

    fn written_in(&mut self, language: &str, detected_from: &str) {
        self.stack(Stack { language: language.into(), detected_from: detected_from.into() });
    }

    fn stack(&mut self, stack: Stack) {
        if self.stacks.iter().all(|known| known.language != stack.language) {
            self.stacks.push(stack);
        }
    }
}

/// Looks at the top of a project and, where that has no check at all, at the folders below it; there too for what it is
/// written in, where the top does not say. Members of a workspace add what their top lacks.
pub fn detect(top: &Folder, below: &BTreeMap<String, Folder>) -> Detected {
    let mut all = one(top);
    let workspace = Workspace::of(top);
    let (no_checks, no_stacks) = (all.checks.is_empty(), all.stacks.is_empty());
    let said: Vec<&'static str> = all.checks.iter().map(|found| found.check).collect();
    let for_all = all.checks.iter().any(|found| found.check == TEST && written::is_written(&found.source));
    let mut taken: Vec<&str> = vec![];
    let mut left: Vec<String> = vec![];
    for (name, folder) in below.iter().filter(|(name, _)| is_part(name)) {
        // A folder with checks stands for what is in it.
        if name.rsplit_once('/').is_some_and(|(above, _)| taken.contains(&above)) {
            continue;
        }
        let Detected { checks, stacks, left: unused } = one_below(folder, top);
        let member = workspace.has(name);
        let known = |stack: &Stack| all.stacks.iter().any(|known| known.language == stack.language);
        let of_its_own = !stacks.iter().all(known) || folder.has(node::FILE) && !workspace.is_declared();
        let tests = checks.iter().find(|found| found.check == TEST);
        if let Some(tests) = tests.filter(|_| !no_checks && !member && !for_all && of_its_own) {
            left.push(format!("`{}` ({name}/{})", tests.command, tests.source));
        }
        if no_checks || member {
            all.left.extend(unused.into_iter().map(|what| format!("{name}/{what}")));
        }
        if no_checks && !checks.is_empty() {
            taken.push(name);
        }
        let wanted = |found: &Found| no_checks || member && !said.contains(&found.check);
        all.checks.extend(checks.into_iter().filter(wanted).map(|found| Found {
            source: format!("{name}/{}", found.source),
            folder: Some(name.clone()),
            ..found
        }));
        if no_checks || no_stacks || member {
            for stack in stacks {
                all.stack(Stack { detected_from: format!("{name}/{}", stack.detected_from), ..stack });
            }
        }
    }
    if !left.is_empty() {
        let more =
            if left.len() > NAMED { format!(" and {} more", left.len() - NAMED) } else { String::new() };
        left.truncate(NAMED);
        all.left.push(format!(
            "tests below the top are left out, since the top has checks of its own: {}{more}",
            left.join(", ")
        ));
    }
    all
}

const TEST: &str = "test";

/// How many that are left out are named.
const NAMED: usize = 5;

/// A folder below the top is run by the package manager of the top, where it names none itself.
fn one_below(folder: &Folder, top: &Folder) -> Detected {
    one_by(folder, node::manager_of(top))
}

fn one(folder: &Folder) -> Detected {
    one_by(folder, None)
}

fn one_by(folder: &Folder, manager: Option<&'static str>) -> Detected {
    let mut all = Detected::default();
    written::targets(folder, &mut all);
    let said: Vec<&str> = all.checks.iter().map(|found| found.check).collect();
    let mut languages = Detected::default();
    stacks::rust(folder, &mut languages);
    node::scripts(folder, manager, &mut languages);
    python::tools(folder, &mut languages);
    stacks::go(folder, &mut languages);
    stacks::jvm(folder, &mut languages);
    stacks::dotnet(folder, &mut languages);
    stacks::cmake(folder, &mut languages);
    stacks::elixir(folder, &mut languages);
    ruby::tasks(folder, &mut languages);
    stacks::php(folder, &mut languages);
    all.checks.extend(languages.checks.into_iter().filter(|found| !said.contains(&found.check)));
    all.stacks = languages.stacks;
    all.left = languages.left;
    all
}

/// One check of each name: where several commands were found for it, all of them must succeed.
pub fn joined(found: &[Found]) -> Vec<CheckSpec> {
    let of = |check: &'static str| found.iter().filter(move |found| found.check == check);
    let one = |check: &'static str| {
        let parts: Vec<String> = of(check).map(Found::run_at_the_top).collect();
        let sources: Vec<&str> = of(check).map(|found| found.source.as_str()).collect();
        let (command, source) = (parts.join(" && "), sources.join("; "));
        (!parts.is_empty()).then(|| CheckSpec { source: Some(source), ..CheckSpec::named(check, command) })
    };
    CHECKS.into_iter().filter_map(one).collect()
}

impl Found {
    /// The command as it is run at the top of the project.
    fn run_at_the_top(&self) -> String {
        match &self.folder {
            Some(folder) => format!("(cd {} && {})", quoted(folder), self.command),
            None => self.command.clone(),
        }
    }

    /// That it is left out, and why.
    pub fn missing(&self) -> String {
        let Self { program, command, source, .. } = self;
        let why = match program.contains('/') {
            true => format!("{program} is not there"),
            false => format!("{program} is not on the PATH"),
        };
        format!("{why}: the check `{command}` ({source}) is left out")
    }
}

/// A folder's name for the shell.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    match name.chars().all(plain) && !name.starts_with('-') {
        true => name.into(),
        false => format!("'./{}'", name.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests;
