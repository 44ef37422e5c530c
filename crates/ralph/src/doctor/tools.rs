//! The programs that runs call.

use std::path::Path;
use std::time::Duration;

use ralph_core::{git_text, text};

use super::Finding;
use crate::config::{Config, Layers};
use crate::process::{self, End, Spec};
use crate::project::Project;
use crate::settings::{Value, pool};
use crate::{agent, git, runner, trust};

/// The oldest git that does all that ralph asks of it.
const OLDEST_GIT: (u32, u32) = (2, 34);
/// How long an agent may take to tell its version.
const VERSION: Duration = Duration::from_secs(10);
const CHECK: Duration = Duration::from_secs(30 * 60);
/// What the shell does itself.
const BUILT_IN: [&str; 12] =
    ["test", "[", "true", "false", "cd", "if", "for", "while", "exec", "echo", "set", "."];

pub(super) fn git(cwd: &Path) -> Finding {
    const REMEDY: &str = "install git 2.34 or newer";
    let told = match git::version(cwd) {
        Ok(told) => told,
        Err(error) => return Finding::failed(git::NAME, error.to_string(), REMEDY),
    };
    match git_text::version(&told) {
        Some(version) if version >= OLDEST_GIT => Finding::held(git::NAME, told),
        Some(_) => Finding::failed(git::NAME, format!("{told} is too old"), REMEDY),
        None => Finding::warned(git::NAME, format!("its version cannot be read: {told}"), REMEDY),
    }
}

/// Those of the pool, else all that are installed.
pub(super) fn agents(config: &Config, cwd: &Path) -> Vec<Finding> {
    let own =
        |name: &str| config.agents.tables.iter().any(|table| table.name == name && table.command.is_some());
    let named: Vec<&str> =
        config.agents.pool.iter().filter_map(|name| pool::role_of(name).ok()).map(|(name, _)| name).collect();
    if named.is_empty() {
        let installed: Vec<Finding> = agent::names()
            .filter(|name| process::find_program(name).is_some())
            .map(|name| version(name, cwd))
            .collect();
        if !installed.is_empty() {
            return installed;
        }
        let install = agent::adapter("claude").map_or("", |adapter| adapter.install);
        let names = agent::names().collect::<Vec<_>>().join(", ");
        return vec![Finding::failed(
            "agents",
            format!("none of {names} is installed"),
            format!("{install}; or any command: ralph run --agent-cmd CMD \"GOAL\""),
        )];
    }
    let each = |name: &&str| match agent::adapter(name) {
        _ if own(name) => Finding::held(&format!("agent {name}"), "a command of the settings"),
        Some(_) if process::find_program(name).is_some() => version(name, cwd),
        Some(adapter) => {
            Finding::failed(&format!("agent {name}"), "is in the pool and not installed", adapter.install)
        }
        None => Finding::failed(
            &format!("agent {name}"),
            "is in the pool and nobody knows it",
            "ralph config show",
        ),
    };
    named.iter().map(each).collect()
}

fn version(name: &str, cwd: &Path) -> Finding {
    let about = format!("agent {name}");
    let remedy = format!("see what `{name} --version` says");
    match process::capture_for(&Spec::new(name, cwd).arg("--version"), VERSION) {
        Ok(told) if told.end.success() => {
            Finding::held(&about, text::one_line(&text::plain(&String::from_utf8_lossy(&told.stdout)), 100))
        }
        Ok(told) => Finding::warned(&about, format!("does not tell its version: {}", told.end), remedy),
        Err(error) => Finding::failed(&about, error.to_string(), remedy),
    }
}

pub(super) fn checks(project: &Project, layers: &Layers, run: bool) -> Vec<Finding> {
    let config = layers.merged();
    if config.checks.is_empty() {
        return vec![Finding::warned(
            "checks",
            "none are set: a run looks for them in the project's files (ralph run --dry-run shows which)",
            "ralph config set checks.test \"cargo test\", or --test-cmd",
        )];
    }
    let brought = super::brought(&layers.project);
    let unknown = trust::unknown(project, &brought);
    let agreed = |check: &Value| unknown.iter().all(|command| command.command != check.value);
    let each = |check: &Value| {
        let about = format!("check {}", check.key);
        match (run, tool(&check.value, &project.root)) {
            (_, Err(tool)) => Finding::failed(
                &about,
                format!("{tool} is not installed: {}", text::one_line(&check.value, 200)),
                format!("install {tool}, or correct {}", check.origin),
            ),
            (false, Ok(())) => Finding::held(&about, text::one_line(&check.value, 200)),
            (true, Ok(())) if !agreed(check) => Finding::failed(
                &about,
                "it was not run: it comes with the project, and nobody agreed to it",
                "ralph run asks; or give it with --test-cmd",
            ),
            (true, Ok(())) => tried(&about, check, project),
        }
    };
    config.checks.iter().map(each).collect()
}

/// Whether the program that a command begins with is there; anything but a plain word is the shell's business.
fn tool(command: &str, root: &Path) -> Result<(), String> {
    let first = command.split_whitespace().find(|word| !word.contains('=')).unwrap_or_default();
    let plain = !first.is_empty() && first.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+".contains(c));
    let there = match first.contains('/') {
        true => root.join(first).exists(),
        false => BUILT_IN.contains(&first) || process::find_program(first).is_some(),
    };
    if plain && !there { Err(first.to_owned()) } else { Ok(()) }
}

fn tried(about: &str, check: &Value, project: &Project) -> Finding {
    let spec = runner::kept(Spec::shell(&check.value, &project.root), &project.truth);
    let remedy = "see what it says: run it yourself";
    match process::run_for(&spec, CHECK) {
        Ok(brief) if brief.end == End::Exited(0) => Finding::held(about, format!("passed: {}", check.value)),
        Ok(brief) => {
            let last = text::last_line(&text::plain(&brief.words), 200).unwrap_or_default();
            Finding::failed(about, format!("{}: {}: {last}", check.value, brief.end), remedy)
        }
        Err(error) => Finding::failed(about, error.to_string(), remedy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_named_and_the_shell_s_own_are_not() {
        let root = Path::new("/");
        assert_eq!(tool("no-such-tool --all", root), Err("no-such-tool".into()));
        assert_eq!(tool("A=1 no-such-tool", root), Err("no-such-tool".into()));
        assert_eq!(tool("./no/such.sh", root), Err("./no/such.sh".into()));
        for there in ["sh -c x", "test -e x", "A=1 sh", "$TOOL x", "(cd x && make)", ""] {
            assert_eq!(tool(there, root), Ok(()), "{there}");
        }
    }
}
