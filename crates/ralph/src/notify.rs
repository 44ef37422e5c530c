//! Telling a user who does not watch: by a command, or by the terminal. It never disturbs a run: a command runs beside the
//! loop, in custody, for a bounded time, and what goes wrong with it is a warning.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use ralph_core::text;
use ralph_core::view::notice::Notice;

use crate::config::InTerminal;
use crate::process::{self, Brief, End, Spec};
use crate::project::Project;
use crate::runner;
use crate::ui::Ui;

/// How long a command may take.
const LIMIT: Duration = Duration::from_secs(10);
/// How long it may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(1);
const KEPT: usize = 400;

#[derive(Debug, Default)]
pub struct Notifier {
    command: Option<String>,
    terminal: InTerminal,
    under_way: Vec<JoinHandle<Result<(), String>>>,
}

impl Notifier {
    pub fn new(command: Option<String>, terminal: InTerminal) -> Self {
        Self { command, terminal, under_way: vec![] }
    }

    /// Whether anything would happen.
    pub fn does_nothing(&self) -> bool {
        self.command.is_none() && self.terminal == InTerminal::Off
    }

    /// Whether a command would be run.
    pub fn has_command(&self) -> bool {
        self.command.is_some()
    }

    /// Returns at once. Why the terminal did nothing, where it should have, is for those who ask: a run that nobody
    /// watches has no terminal.
    pub fn tell(
        &mut self,
        notice: &Notice,
        project: &Project,
        ui: &mut Ui,
    ) -> std::result::Result<(), &'static str> {
        let called = match self.terminal {
            InTerminal::Off => Ok(()),
            InTerminal::Bell => ui.attract(None),
            InTerminal::Message => ui.attract(Some(&format!("ralph: {}", notice.text))),
        };
        if let Some(command) = &self.command {
            let spec = spec(command, notice, project);
            self.under_way.push(thread::spawn(move || deliver(&spec)));
        }
        called
    }

    /// Waits until every command has ended, or was ended, and says what went wrong.
    pub fn finish(&mut self) -> Result<(), String> {
        let ends =
            self.under_way.drain(..).map(|job| job.join().unwrap_or_else(|_| Err("it was lost".into())));
        ends.fold(Ok(()), Result::and)
    }
}

fn spec(command: &str, notice: &Notice, project: &Project) -> Spec {
    let spec = Spec::shell(command, &project.root)
        .env("RALPH_NOTIFY_EVENT", notice.event)
        .env("RALPH_NOTIFY_TEXT", &notice.text)
        .env("RALPH_NOTIFY_GOAL", &notice.goal)
        .env("RALPH_NOTIFY_RUN", notice.run.to_string())
        .env("RALPH_NOTIFY_PROJECT", project.name())
        .grace(GRACE);
    runner::kept(spec, &project.truth)
}

fn deliver(spec: &Spec) -> Result<(), String> {
    let Brief { end, words, .. } = process::run_for(spec, LIMIT).map_err(|error| error.to_string())?;
    let words = text::one_line(&text::plain(&words), KEPT);
    match end {
        End::Exited(0) => Ok(()),
        End::TimedOut => Err(format!("it did not end within {} seconds and was ended", LIMIT.as_secs())),
        end if words.is_empty() => Err(end.to_string()),
        end => Err(format!("{end}: {words}")),
    }
}
