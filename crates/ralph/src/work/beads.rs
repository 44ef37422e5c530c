//! The issues of beads. They are in a database that only `bd` opens, so `bd` is asked for them and told to change them; what
//! it exports (`.beads/issues.jsonl`) is neither read nor written. Core says what to call and what the answers mean.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::backlog::{Call, closed_by, complaint, compose_beads};

use super::steered;
use crate::error::{Error, Result};
use crate::process::{self, Captured, End, Spec};
use crate::suggest::quoted;
use crate::{point, store};

/// How a user names it.
pub(crate) const NAME: &str = "beads";
/// What bd exports: stands for the issues wherever a file's name is asked for.
pub(crate) const FILE: &str = ".beads/issues.jsonl";
/// Where bd keeps everything, from the top of the project.
pub(crate) const FOLDER: &str = ".beads/";

const PROGRAM: &str = "bd";
const UNANSWERED: &str = "had not answered after two minutes and was ended";
/// bd may have to start a server of its own first.
const LIMIT: Duration = Duration::from_secs(120);
/// How long a change that fails is tried again: another bd may be at work.
const WAITS_MS: [u64; 3] = [100, 300, 900];
/// By which bd knows who calls, the newer one first.
pub(crate) const ACTOR: [&str; 2] = ["BEADS_ACTOR", "BD_ACTOR"];

/// Where bd writes down who changed what, if it is told to: its answers do not say it.
const TRAIL: &str = "interactions.jsonl";

/// How much bd has written down so far.
#[derive(Debug)]
pub(crate) struct Changes(Vec<(PathBuf, usize)>);

impl Changes {
    pub(crate) fn until_now(root: &Path) -> Self {
        let files = steered::folders(root).into_iter().map(|folder| folder.join(TRAIL));
        let long = |path: &Path| std::fs::metadata(path).map_or(0, |data| data.len());
        let long = |path: &Path| usize::try_from(long(path)).unwrap_or(usize::MAX);
        Self(files.map(|path| (path.clone(), long(&path))).collect())
    }

    /// The issues that were closed since in the name of this run.
    pub(crate) fn closed_since(&self, root: &Path) -> BTreeSet<String> {
        let since = |(path, until): &(PathBuf, usize)| {
            let text = std::fs::read(path).unwrap_or_default();
            String::from_utf8_lossy(text.get(*until..).unwrap_or_default()).into_owned()
        };
        let trail: String = self.0.iter().map(since).collect();
        closed_by(&trail, &actor(root))
    }
}

/// Whether this path stands for the issues.
pub(crate) fn is_meant(path: &Path) -> bool {
    path.ends_with(FILE)
}

/// bd is asked at the top of the project: the issues of another folder are not those.
pub(super) fn is_at_the_top(root: &Path, path: &Path) -> Result<()> {
    let real = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    let folder = path.parent().unwrap_or(path);
    if folder == root.join(FOLDER) || real(folder) == real(&root.join(FOLDER)) {
        return Ok(());
    }
    Err(Error::usage(format!("{} does not hold the issues of this project", path.display()))
        .because(format!("bd is asked for those in {}", root.join(FOLDER).display()))
        .hint("--backlog beads"))
}

/// A task file as people name it.
pub(crate) fn name_of(file: &str) -> &str {
    if file == FILE { NAME } else { file }
}

/// Who ralph is for bd: what it claims is told from the claims of people, and of ralphs in other checkouts.
pub(crate) fn actor(root: &Path) -> String {
    let said = ACTOR.iter().filter_map(|name| std::env::var(name).ok()).find(|name| !name.trim().is_empty());
    said.unwrap_or_else(|| {
        let folder = root.file_name().unwrap_or_default().to_string_lossy();
        format!("ralph-{folder}@{}", store::hostname())
    })
}

/// All issues, as the list that core reads.
pub(super) fn read(root: &Path) -> Result<Vec<u8>> {
    let asked = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let told = called(root, &args)?;
        succeeded(&told, &args).map(|()| String::from_utf8_lossy(&told.stdout).into_owned())
    };
    let list = asked(&["list", "--all", "--limit", "0"])?;
    let ready = asked(&["ready", "--limit", "0"])?;
    let list = compose_beads(&list, &ready, &actor(root)).map_err(|why| {
        Error::data("the answer of bd cannot be read as issues")
            .because(why)
            .hint("bd list --all --json, which shows it; ralph reads what bd 1.x prints")
    })?;
    Ok(list.into_bytes())
}

/// Has bd change something; what it printed.
pub(crate) fn call(root: &Path, call: &Call) -> Result<String> {
    changed(call, |args| called(root, args))
}

/// The same while a run goes on: nothing that it starts outlives it, not even where ralph is killed.
pub(super) fn call_kept(root: &Path, call: &Call, kept: &dyn Fn(Spec) -> Spec) -> Result<()> {
    let run = |args: &[String]| {
        let spec = kept(spec(root, args)?);
        let passes =
            ["start", "wait for"].iter().try_for_each(|what| point::call(what, &spec.program, &spec.args));
        let unstarted =
            |why: String| Error::data(format!("{} could not be started", shown(args))).because(why);
        passes.map_err(|error| unstarted(error.to_string()))?;
        let brief = process::run_for(&spec, LIMIT).map_err(|error| unstarted(error.to_string()))?;
        let stderr = brief.words.strip_prefix(&brief.stdout).unwrap_or(&brief.words).as_bytes().to_vec();
        Ok(Captured { end: brief.end, stdout: brief.stdout.into_bytes(), stderr, ended: 0, gave_up: false })
    };
    let mut waits = WAITS_MS.iter();
    loop {
        let done = changed(call, run);
        match (&done, waits.next()) {
            // What was ended is not waited for once more.
            (Err(error), Some(wait))
                if !error.what.contains(UNANSWERED) && steered::is_agreed(root).is_ok() =>
            {
                store::pause(Duration::from_millis(*wait));
            }
            _ => return done.map(drop),
        }
    }
}

fn changed(call: &Call, run: impl Fn(&[String]) -> Result<Captured>) -> Result<String> {
    let mut args = &call.args;
    let mut told = run(args)?;
    if let Some((flag, instead)) = &call.instead
        && told.end != End::Exited(0)
        && is_unknown(flag, &told)
    {
        args = instead;
        told = run(args)?;
    }
    succeeded(&told, args).map(|()| String::from_utf8_lossy(&told.stdout).into_owned())
}

pub(super) fn is_there() -> Result<()> {
    match process::find_program(PROGRAM) {
        Some(_) => Ok(()),
        None => Err(Error::usage("bd is not there, which keeps the issues of beads")
            .because("no folder of the PATH has it")
            .hint("install beads, so that bd --version answers; or name a task file: --backlog FILE")),
    }
}

fn spec(root: &Path, args: &[String]) -> Result<Spec> {
    is_there()?;
    steered::is_agreed(root)?;
    Ok(Spec::new(PROGRAM, root).args(args).args(["--actor", &actor(root), "--json"]))
}

fn called(root: &Path, args: &[String]) -> Result<Captured> {
    process::capture_for(&spec(root, args)?, LIMIT)
        .map_err(|error| Error::data(format!("{} could not be started", shown(args))).because(error))
}

fn is_unknown(flag: &str, told: &Captured) -> bool {
    let said = [&told.stderr, &told.stdout].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    said.iter().any(|said| said.contains("unknown flag") && said.contains(flag))
}

fn succeeded(told: &Captured, args: &[String]) -> Result<()> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (what, why) = match told.end {
        End::Exited(0) => return Ok(()),
        End::TimedOut => (UNANSWERED.to_owned(), String::new()),
        ref end => (format!("failed: {end}"), complaint(&text(&told.stdout), &text(&told.stderr))),
    };
    let error = Error::data(format!("{} {what}", shown(args)));
    let error = if why.is_empty() { error } else { error.because(why) };
    Err(error.hint(format!("{}, which shows more; bd doctor", shown(args))))
}

/// As it can be typed.
fn shown(args: &[String]) -> String {
    let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
    format!("{PROGRAM} {}", args.join(" "))
}
