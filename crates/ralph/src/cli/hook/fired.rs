//! A hook that an agent fires: what it tells comes on standard input, the answer goes to standard output, and the exit
//! code is always 0. Whatever goes wrong in here lets the session stop, and says so.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ralph_core::decision::Phase;
use ralph_core::event::{Event, RunResumed};
use ralph_core::session::{Answer, Arm, Told, Whose, first_moment};
use ralph_core::state::State;
use ralph_core::{text, view};
use serde_json::json;

use crate::cli::run::consent;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::runner::{self, Came, Runner};
use crate::store::{ArmFile, JournalFile, Lock, Run, Runs};
use crate::ui::{self, Ui};
use crate::{clock, secrets, trust};

/// What is told in one call is far smaller.
const MOST: u64 = 64 << 20;
/// A transcript tells within so many bytes when it began.
const HEAD: u64 = 64 << 10;
/// The agents that ralph starts have this in their environment: they are nobody's session.
const OWN: &str = "RALPH_RUN_ID";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Fired {
    Stop,
    Session,
}

impl Fired {
    pub(in crate::cli) fn named(word: &str) -> Option<Self> {
        match word {
            "stop" => Some(Self::Stop),
            "session" => Some(Self::Session),
            _ => None,
        }
    }

    pub(in crate::cli) fn answer(self) -> ExitCode {
        std::panic::set_hook(Box::new(|panic| {
            let what = text::one_line(&panic.to_string(), 300);
            ui::leave_with(&trouble(&format!("a fault of its own: {what}")), 0);
        }));
        let line = match self.look() {
            Ok(None) => None,
            Ok(Some(held)) => held.unwrap_or_else(|error| Some(trouble(&in_words(&error)))),
            Err(error) => Some(trouble(&in_words(&error))),
        };
        if let Some(line) = line {
            Ui::new(true).data_line(&line);
        }
        ExitCode::SUCCESS
    }

    /// Most of the time it is none of our business, and that is found out first.
    fn look(self) -> Result<Option<Result<Option<String>>>> {
        let mut bytes = Vec::new();
        let read = std::io::stdin().take(MOST).read_to_end(&mut bytes);
        if std::env::var_os(OWN).is_some() {
            return Ok(None);
        }
        let told = Told::read(&bytes);
        let named = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
        let there = told.as_ref().ok().and_then(|told| told.cwd.as_ref()).map(PathBuf::from);
        let here = || std::env::current_dir().ok();
        let places = named.into_iter().chain(there).chain(here());
        let Some(project) = places.into_iter().find_map(|place| Project::armed(&place)) else {
            return Ok(None);
        };
        let unread = |why: String| Error::new("what the agent told its hook cannot be read").because(why);
        read.map_err(|error| unread(error.to_string()))?;
        let told = told.map_err(unread)?;
        let Some(arm) = ArmFile::of(&project.truth).read()? else { return Ok(None) };
        Ok(match (self, self.whose(&arm, &told)) {
            (Self::Stop, Whose::Other) => None,
            (Self::Stop, _) => Some(stop(&project, &told).map(|answer| answer.line())),
            (Self::Session, Whose::Next) => Some(begin(&project, &told)),
            // Only its beginning tells that this one was there before.
            (Self::Session, Whose::Other) if arm.session.is_none() => {
                Some(ArmFile::of(&project.truth).write(&arm.passed_over(&told.session_id)).map(|()| None))
            }
            (Self::Session, _) => None,
        })
    }

    fn whose(self, arm: &Arm, told: &Told) -> Whose {
        match self {
            Self::Stop => {
                let started = || first_moment(&head(told.transcript_path.as_deref()?)?);
                let unbound = arm.session.is_none();
                arm.stops(&told.session_id, Some(()).filter(|()| unbound).and_then(|()| started()))
            }
            Self::Session => arm.starts(&told.session_id, told.source.as_deref()),
        }
    }
}

fn trouble(what: &str) -> String {
    let message = format!("ralph lets this session stop, because of {what}");
    Answer::Stop { message }.line().unwrap_or_default()
}

fn in_words(error: &Error) -> String {
    let why = error.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
    let hint = error.hints.first().map_or_else(String::new, |hint| format!("; try: {hint}"));
    text::one_line(&format!("trouble: {}{why}{hint}", error.what), 600)
}

fn head(path: &str) -> Option<Vec<u8>> {
    let path = Path::new(path);
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(HEAD).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The armed run, held so that no other hook works on it.
struct Held {
    lock: Lock,
    run: Run,
    journal: JournalFile,
    state: State,
}

/// What became of a run that is not there to be held any more.
enum Found {
    Held(Box<Held>),
    Over(String),
}

fn open(project: &Project, told: &Told, fired: Fired) -> Result<Option<Found>> {
    let file = ArmFile::of(&project.truth);
    let lock = Lock::take(&project.truth, clock::now())?;
    // Another hook may have been first.
    let Some(arm) = file.read()?.filter(|arm| fired.whose(arm, told) != Whose::Other) else {
        return Ok(None);
    };
    let newest = Runs::of(&project.truth).newest(false)?.map(|(run, _)| run);
    let Some(run) = newest.filter(|run| run.number == arm.run) else {
        file.remove()?;
        return Ok(Some(Found::Over(format!("run {} is not the last one here any more", arm.run))));
    };
    let (journal, state) = JournalFile::resume(&run.journal())?;
    if let Some(stop) = state.stop() {
        file.remove()?;
        return Ok(Some(Found::Over(stop.to_string())));
    }
    let begun = state.run.as_ref();
    if begun.is_some_and(|run| !trust::knows(project, &consent::kept_in_tree(project, &run.goal, &run.plan)))
    {
        return Err(Error::new("its checks are kept in this folder, and nobody here agreed to them")
            .hint("ralph hook disarm, then arm it yourself"));
    }
    if arm.session.is_none() {
        file.write(&arm.bound(&told.session_id))?;
    }
    Ok(Some(Found::Held(Box::new(Held { lock, run, journal, state }))))
}

/// The session wants to stop: what it did is an iteration, and the machine says what follows.
fn stop(project: &Project, told: &Told) -> Result<Answer> {
    let held = match open(project, told, Fired::Stop)? {
        None => return Ok(Answer::Nothing),
        Some(Found::Over(why)) => return Ok(Answer::Stop { message: format!("ralph: {why}") }),
        Some(Found::Held(held)) => *held,
    };
    let Held { mut lock, run, journal, state } = held;
    let secrets = secrets::of(&project.root);
    let signal = project.ralph_dir.join("status");
    let heard = runner::heard(told, &state, &run, &signal, &secrets);
    let asked =
        state.phase == Phase::Working && state.current.as_ref().is_some_and(|now| now.ended.is_none());
    // A hook that was cut off left an iteration to be concluded.
    let first = (!asked).then(|| resumed(&state)).flatten();
    let mut ui = Ui::new(true);
    let runner = Runner::new(project, &mut lock, run, journal, state, &mut ui)?;
    let (came, state) = runner.hold(first.into_iter().chain([heard]))?;
    Ok(match came {
        Came::HandedOver(prompt) => Answer::Block { reason: prompt, message: goes_on(&state) },
        Came::Stopped(stop) => {
            ArmFile::of(&project.truth).remove()?;
            Answer::Stop { message: format!("ralph: {stop} (ralph history)") }
        }
        Came::Waits(why) => Answer::Stop { message: format!("ralph would have to wait, and lets go: {why}") },
    })
}

/// `ralph: iteration 2/50; the last one claimed done, refused: cargo test exit 101`
fn goes_on(state: &State) -> String {
    let last = state.last.as_deref();
    let refusal = last.and_then(|last| last.conclusion.as_ref()?.refusal.as_ref());
    let words = match (last, refusal) {
        (_, Some(refusal)) => format!("claimed done, refused: {}", text::one_line(refusal, 200)),
        (Some(last), None) => format!("{}, {}", view::result_word(last), view::files(last)),
        (None, None) => return format!("ralph: iteration {}", view::nth_of(state, state.used)),
    };
    format!("ralph: iteration {}; the last one: {words}", view::nth_of(state, state.used))
}

fn resumed(state: &State) -> Option<Event> {
    let plan = state.run.as_ref()?.plan.clone();
    let version = env!("CARGO_PKG_VERSION").into();
    Some(Event::RunResumed(Box::new(RunResumed { plan, version, probe: false, unrecorded_ms: 0 })))
}

/// The session that was waited for begins: from here on its time and the tree's changes are its own. It is told at once
/// what it is held for.
fn begin(project: &Project, told: &Told) -> Result<Option<String>> {
    let Some(Found::Held(held)) = open(project, told, Fired::Session)? else { return Ok(None) };
    let Held { mut lock, run, journal, state } = *held;
    let mut ui = Ui::new(true);
    let Some(event) = resumed(&state) else { return Ok(None) };
    let (came, _) = Runner::new(project, &mut lock, run, journal, state, &mut ui)?.hold([event])?;
    Ok(match came {
        Came::HandedOver(prompt) => Some(
            json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": prompt}})
                .to_string(),
        ),
        _ => None,
    })
}
