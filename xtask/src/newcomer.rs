//! `cargo xtask newcomer`: what somebody does who has just heard of ralph. A fresh clone, the README's own commands in it, and
//! the newcomer's screens with the program that was installed. Not part of `test`, which would build everything twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Result, step, workspace};

/// Tells the test in crates/ralph/tests/newcomer which program to try.
const PROGRAM: &str = "RALPH_NEWCOMER_PROGRAM";
const SCREENS: [&str; 6] = ["test", "--package", "ralph", "--test", "newcomer", "--locked"];

/// An empty folder outside of every project; removed at the end, whatever the end.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Place {
    fn new() -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("ralph-newcomer-{}", std::process::id()));
        let place = Self(dir.clone());
        fs::create_dir_all(dir.join("tmp")).map_err(|error| format!("{}: {error}", dir.display()))?;
        Ok(place)
    }

    fn clone(&self) -> PathBuf {
        self.0.join("ralph")
    }

    /// The program's own throw-away folders go with this one.
    fn cargo(&self, args: &[&str]) -> Command {
        let mut cargo = workspace::cargo();
        cargo.current_dir(self.clone()).env("TMPDIR", self.0.join("tmp")).args(args);
        cargo
    }

    /// Runs a command of the README in the clone.
    fn follow(&self, args: &[&str]) -> Result<()> {
        let line = format!("cargo {}", args.join(" "));
        step::run(&line, &format!("{line} (in a clone of this repository)"), &mut self.cargo(args))
    }
}

/// `whole`: also the gate, which the README names as the second command.
pub(crate) fn main(whole: bool) -> Result<()> {
    let place = Place::new()?;
    let origin = workspace::root();
    if uncommitted(&origin)? {
        println!("uncommitted changes are not in the clone");
    }
    let (from, to) = (origin.display().to_string(), place.clone().display().to_string());
    let clone = ["clone", "--quiet", &from, &to];
    step::run("clone", &format!("git {}", clone.join(" ")), Command::new("git").args(clone))?;
    let readme = place.clone().join("README.md");
    let readme = fs::read_to_string(&readme).map_err(|error| format!("{}: {error}", readme.display()))?;
    let Commands { demo, test, install } = Commands::of(&readme)?;
    place.follow(&demo)?;
    if whole {
        place.follow(&test)?;
    } else {
        println!("left out: cargo {} (--gate runs it in the clone too)", test.join(" "));
    }
    let root = place.0.join("installed");
    let installed = root.display().to_string();
    place.follow(&[&install[..], &["--root", &installed]].concat())?;
    let program = root.join("bin/ralph");
    let repeat = format!("{PROGRAM}=RALPH cargo {}", SCREENS.join(" "));
    step::run("screens", &repeat, workspace::cargo().env(PROGRAM, &program).args(SCREENS))
}

fn uncommitted(origin: &Path) -> Result<bool> {
    let status = ["status", "--porcelain"];
    let output = Command::new("git").args(status).current_dir(origin).stderr(Stdio::inherit()).output();
    output.map(|output| !output.stdout.is_empty()).map_err(|error| format!("git cannot be run: {error}"))
}

/// What the README has people type, each without `cargo`.
#[derive(Debug, PartialEq, Eq)]
struct Commands<'a> {
    demo: Vec<&'a str>,
    test: Vec<&'a str>,
    install: Vec<&'a str>,
}

impl<'a> Commands<'a> {
    fn of(readme: &'a str) -> Result<Self> {
        let mut typed = Vec::new();
        let mut in_shell = false;
        for line in readme.lines() {
            match line.strip_prefix("```") {
                Some(language) => in_shell = language == "sh",
                None if in_shell => {
                    typed.extend(line.split('#').next().unwrap_or_default().strip_prefix("cargo "));
                }
                None => {}
            }
        }
        let words = |line: &'a str| line.split_whitespace().collect::<Vec<&str>>();
        let with = |word: &str| {
            let found: Vec<&str> = typed.iter().copied().filter(|line| words(line).contains(&word)).collect();
            match found.as_slice() {
                [one] => Ok(words(one)),
                _ => Err(format!("README.md should tell one cargo command with `{word}`, not {found:?}")),
            }
        };
        Ok(Self { demo: with("demo")?, test: with("test")?, install: with("install")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_tells_a_newcomer_three_commands() {
        let readme = fs::read_to_string(workspace::root().join("README.md")).unwrap();
        let commands = Commands::of(&readme).unwrap();
        assert_eq!(commands.demo, ["run", "--release", "--", "demo"]);
        assert_eq!(commands.test, ["xtask", "test"]);
        assert_eq!(commands.install, ["install", "--path", "crates/ralph", "--locked"]);
    }

    #[test]
    fn a_readme_that_tells_a_command_twice_or_only_in_passing_is_refused() {
        let shell = "```sh\ncargo x demo # why\ncargo test\ncd y\ncargo install\n```\n";
        assert_eq!(Commands::of(shell).unwrap().demo, ["x", "demo"]);
        assert!(Commands::of(&shell.replace("```sh", "```text")).is_err());
        let twice = Commands::of(&format!("{shell}{shell}")).unwrap_err();
        assert!(twice.contains("`demo`, not [\"x demo \", \"x demo \"]"), "{twice}");
    }
}
