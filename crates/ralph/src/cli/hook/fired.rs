//! A hook that an agent fires: what it tells comes on standard input, the answer goes to standard output, and the exit
//! code is always 0. Whatever goes wrong in here lets the session stop, and says so.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use ralph_core::session::{self, Answer, Arm, Told, Whose};
use ralph_core::state::State;
use ralph_core::text;
use ralph_core::time::Time;

use super::turn;
use crate::clock;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::store::{ArmFile, Runs};
use crate::ui::{self, Ui};

/// What is told in one call is far smaller.
const MOST: u64 = 64 << 20;
/// The agents that ralph starts have this in their environment: they are nobody's session.
const OWN: &str = "RALPH_RUN_ID";
/// Where Claude Code was started, wherever its shell went since.
const STARTED_IN: &str = "CLAUDE_PROJECT_DIR";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Fired {
    Stop,
    Session,
}

/// What a hook is called for, in a project where something is armed.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) fired: Fired,
    pub(super) project: &'a Project,
    pub(super) told: &'a Told,
    /// The session was started in this project; else it only is there now.
    at_home: bool,
    /// When the agent fired it.
    fired_at: Time,
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
        let fired_at = clock::now();
        if_it_panics(move |what| self.trouble(what));
        if let Err(error) = self.look(fired_at) {
            say(&self.trouble(&in_words(&error)));
        }
        ExitCode::SUCCESS
    }

    /// Most of the time it is none of our business, and that is found out first. An error means that nothing was said yet.
    fn look(self, fired_at: Time) -> Result<()> {
        let mut bytes = Vec::new();
        let read = std::io::stdin().take(MOST).read_to_end(&mut bytes);
        if std::env::var_os(OWN).is_some() {
            return Ok(());
        }
        let told = read.map_err(|error| error.to_string()).and_then(|_| Told::read(&bytes));
        for (place, at_home) in places(told.as_ref().ok()) {
            let Some(project) = Project::armed(&place) else { continue };
            let told = told.as_ref().map_err(|why| {
                Error::new("what the agent told its hook cannot be read").because(why.clone())
            })?;
            let Some(arm) = ArmFile::of(&project.truth).read()? else { continue };
            let call = Call { fired: self, project: &project, told, at_home, fired_at };
            match (self, call.whose(&arm)) {
                (Self::Stop, Whose::Held) => return turn::stop(&call),
                (Self::Session, Whose::Next) => return turn::begin(&call),
                _ => {}
            }
        }
        Ok(())
    }

    fn trouble(self, what: &str) -> String {
        let message = match self {
            Self::Stop => format!("ralph lets this session stop, because of {what}"),
            Self::Session => format!(
                "ralph does not hold this session, because of {what}; when that is settled, start another one \
                 (ralph hook status tells whether one is waited for)"
            ),
        };
        Answer::Stop { message }.line().unwrap_or_default()
    }
}

impl Call<'_> {
    /// A session belongs to the project that it was started in: one that is elsewhere now is held only if it was bound by
    /// its name.
    pub(super) fn whose(&self, arm: &Arm) -> Whose {
        let whose = match self.fired {
            Fired::Stop => arm.stops(&self.told.session_id),
            Fired::Session => arm.starts(&self.told.session_id, self.told.source.as_deref(), self.fired_at),
        };
        if self.at_home || whose == Whose::Held { whose } else { Whose::Other }
    }

    /// Settings of the user and of the project may both run ralph, and agents fire all their hooks at once. Whoever had to wait
    /// for another one finds that the iteration which it was fired for is over.
    pub(super) fn is_answered(&self, state: &State) -> bool {
        let begun = state.current.as_ref().and_then(|current| current.started_at);
        begun.is_some_and(|begun| self.fired_at < begun && begun <= clock::now())
            && (self.fired == Fired::Session || session::is_taken_up(state, self.fired_at))
    }

    /// Whether the other hook that was fired for the same is at work, when somebody is: on the run that holds this session.
    pub(super) fn is_another_s(&self) -> Result<bool> {
        let truth = &self.project.truth;
        let Some(arm) = ArmFile::of(truth).read()?.filter(|arm| self.whose(arm) == Whose::Held) else {
            return Ok(false);
        };
        match (self.fired, Runs::of(truth).if_newest(arm.run)?) {
            // It is held by now, and will be whatever becomes of that hook.
            (Fired::Session, _) => Ok(true),
            (Fired::Stop, Some(run)) => Ok(session::is_taken_up(&run.peek()?.state, self.fired_at)),
            (Fired::Stop, None) => Ok(false),
        }
    }
}

/// Where the session may be held, and whether it was started there. Codex does not tell where, and stays there.
fn places(told: Option<&Told>) -> impl Iterator<Item = (PathBuf, bool)> {
    let started = std::env::var_os(STARTED_IN).filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let now = told.and_then(|told| told.cwd.as_ref()).map(PathBuf::from);
    let now = now.or_else(|| std::env::current_dir().ok());
    let unknown = started.is_none();
    started.map(|place| (place, true)).into_iter().chain(now.map(|place| (place, unknown)))
}

/// The answer, whole and at once: what is done afterwards must not add to it, whatever becomes of it.
pub(super) fn say(line: &str) {
    std::panic::set_hook(Box::new(|_| ui::leave_with("", 0)));
    Ui::new(true).exact_line(line);
}

/// What is said where this process has a fault of its own, before anything was.
pub(super) fn if_it_panics(message: impl Fn(&str) -> String + Send + Sync + 'static) {
    std::panic::set_hook(Box::new(move |panic| {
        let what = text::one_line(&panic.to_string(), 300);
        ui::leave_with(&message(&format!("a fault of its own: {what}")), 0);
    }));
}

pub(super) fn in_words(error: &Error) -> String {
    let why = error.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
    let hint = error.hints.first().map_or_else(String::new, |hint| format!("; try: {hint}"));
    text::one_line(&format!("trouble: {}{why}{hint}", error.what), 600)
}
