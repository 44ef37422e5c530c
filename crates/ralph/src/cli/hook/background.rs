//! `/ralph-run`: a run over the backlog that is started from a session and does not need it any more.

use std::process::ExitCode;
use std::time::Duration;

use ralph_core::backlog::Syntax;
use ralph_core::text;

use crate::config::Layers;
use crate::error::{self, Error, Result};
use crate::process::{self, Spec, Watch, Woken};
use crate::project::Project;
use crate::store;
use crate::ui::Ui;
use crate::work::Place;

/// How long a run may take to begin before this stops looking.
const LONGEST_START: Duration = Duration::from_secs(60);
/// How much of what it said is shown where it did not begin.
const MOST_OF_LOG: usize = 4 << 10;
/// A session must not take the agents of a run for its own.
const OF_A_SESSION: [&str; 3] = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"];
const USAGE: &str = "/ralph-run [TASK] [MAX_ITERATIONS] [PHASE], or task=ID max_iterations=N phase=NAME";

/// Seed 004's arguments, and what a run without a terminal may need to be told.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    task: Option<String>,
    max_iterations: Option<u64>,
    phase: Option<String>,
    permissions: Option<String>,
    yes: bool,
}

pub(super) fn start(arguments: &str, ui: &mut Ui) -> Result<ExitCode> {
    let project = Project::find()?;
    let place = Place::of(None, None)?;
    let bytes = place.read()?;
    let backlog = place.parse(&bytes)?;
    let is_phase =
        |word: &str| backlog.phases().iter().any(|phase| phase == word) && backlog.find(word).is_none();
    let asked = read(arguments, is_phase)?;
    // Seed 004's rules are meant for its own task file, unless the project has chosen others.
    let chosen = Layers::read(&project.ralph_dir)?.merged().profile.is_some();
    let profile = (place.syntax == Syntax::Yaml && !chosen).then_some("phases");
    let own =
        std::env::current_exe().map_err(|error| Error::new("this program cannot be found").because(error))?;
    let spec = Spec::new(own, &project.root).args(command(&asked, profile));
    let spec = OF_A_SESSION.iter().fold(spec, |spec, name| spec.env_remove(*name));
    let (path, log) = store::background_log(&project.root, &project.ralph_dir)
        .map_err(error::io("cannot write", &project.ralph_dir))?;
    let before = newest(&project);
    let pid = process::start_detached(&spec, log)
        .map_err(|error| Error::new("the run cannot be started").because(error))?;
    if begins(&project, pid, &path) || newest(&project) != before {
        ui.say(&format!(
            "started in the background (process {pid}): ralph run {}",
            command(&asked, profile)[1..].join(" ")
        ));
        ui.say("to look: ralph status, ralph history; to stop after its iteration: ralph stop");
        ui.say(&format!("what it says: {}", path.strip_prefix(&project.root).unwrap_or(&path).display()));
        return crate::cli::fine();
    }
    let said = std::fs::read(&path).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    Err(Error::new("the run did not begin").because(text::tail(said.trim(), MOST_OF_LOG)))
}

/// Whether the process holds the project before it ends. Where that cannot be watched, it is taken to.
fn begins(project: &Project, pid: u32, log: &std::path::Path) -> bool {
    let Ok(watch) = Watch::new(pid) else { return true };
    let _ = watch.add(log);
    loop {
        if store::holder(&project.truth).is_some_and(|holder| holder.pid == pid) {
            return true;
        }
        match watch.wait(Some(LONGEST_START)) {
            Ok(Woken::Changed) => {}
            Ok(Woken::Ended) => return false,
            Ok(Woken::Time) | Err(_) => return true,
        }
    }
}

/// How far the newest run has come: one that is over at once has left its record.
fn newest(project: &Project) -> Option<(u64, u64)> {
    let (run, state) = store::Runs::of(&project.truth).newest_of(1, |_| true)?;
    Some((run.number, state.seq))
}

fn command(asked: &Asked, profile: Option<&str>) -> Vec<String> {
    let mut words = vec!["run".to_owned()];
    let mut flag = |name: &str, value: Option<String>| {
        words.extend(value.into_iter().flat_map(|value| [format!("--{name}"), value]));
    };
    flag("profile", profile.map(str::to_owned));
    flag("task", asked.task.clone());
    flag("max-iterations", asked.max_iterations.map(|most| most.to_string()));
    flag("phase", asked.phase.clone());
    flag("permissions", asked.permissions.clone());
    if asked.task.is_none() && asked.phase.is_none() {
        // Also where the profile makes one attempt.
        words.push("--all".into());
    }
    words.extend(asked.yes.then(|| "--yes".into()));
    words
}

/// By name, or in the order of the usage: a number is the most iterations, a word the task or the phase.
fn read(arguments: &str, is_phase: impl Fn(&str) -> bool) -> Result<Asked> {
    let wrong = |why: String| Error::usage(why).hint(USAGE);
    let mut asked = Asked::default();
    let mut words = arguments.split_whitespace();
    while let Some(word) = words.next() {
        let bare = word.trim_start_matches("--");
        if word == "--yes" {
            asked.yes = true;
            continue;
        }
        let named = match bare.split_once('=') {
            Some((name, value)) => Some((name, value.to_owned())),
            None if bare != word => Some((bare, words.next().unwrap_or_default().to_owned())),
            None => None,
        };
        let (name, value) = match named {
            Some((name, value)) => (name.replace('-', "_"), value),
            None if word.parse::<u64>().is_ok() => ("max_iterations".into(), word.to_owned()),
            None if asked.task.is_some() || is_phase(word) => ("phase".into(), word.to_owned()),
            None => ("task".into(), word.to_owned()),
        };
        if value.is_empty() || value.starts_with('-') {
            return Err(wrong(format!("'{name}' has no value")));
        }
        match name.as_str() {
            "task" => asked.task = Some(value),
            "phase" => asked.phase = Some(value),
            "permissions" => asked.permissions = Some(value),
            "max_iterations" => {
                let most =
                    value.parse().map_err(|_| wrong(format!("max_iterations is not a number: '{value}'")))?;
                asked.max_iterations = Some(most);
            }
            other => return Err(wrong(format!("unknown argument '{other}'"))),
        }
    }
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_as(arguments: &str) -> String {
        read(arguments, |word| word == "mvp")
            .map_or_else(|error| error.what, |asked| command(&asked, None).join(" "))
    }

    #[test]
    fn arguments_are_read_by_name_or_in_order() {
        for (given, run) in [
            ("", "run --all"),
            ("login", "run --task login"),
            ("login 20 mvp", "run --task login --max-iterations 20 --phase mvp"),
            ("mvp", "run --phase mvp"),
            ("0", "run --max-iterations 0 --all"),
            ("task=login max_iterations=3", "run --task login --max-iterations 3"),
            ("--phase mvp --max-iterations 3 --yes", "run --max-iterations 3 --phase mvp --yes"),
            ("--permissions edits", "run --permissions edits --all"),
            ("task=", "'task' has no value"),
            ("--agent-cmd=sh", "unknown argument 'agent_cmd'"),
            ("max_iterations=many", "max_iterations is not a number: 'many'"),
        ] {
            assert_eq!(read_as(given), run, "{given}");
        }
    }
}
