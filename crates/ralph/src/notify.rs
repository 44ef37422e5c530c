//! Telling a user who does not watch: by a command, by URL, or by the terminal. It never disturbs a run: what is started runs
//! beside the loop, in custody, for a bounded time, and what goes wrong with it is a warning.

mod url;

use std::thread::{self, JoinHandle};
use std::time::Duration;

use ralph_core::redact::Secrets;
use ralph_core::text;
use ralph_core::view::notice::Notice;
use serde_json::{Value, json};

use crate::config::InTerminal;
use crate::process::{self, Brief, End, Spec};
use crate::project::Project;
use crate::runner;
use crate::store::Run;
use crate::summary;
use crate::ui::Ui;
pub(crate) use url::{Target, host, masked};

/// How long a command may take.
const LIMIT: Duration = Duration::from_secs(10);
/// How long it may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(1);
const KEPT: usize = 400;

#[derive(Debug, Default)]
pub struct Notifier {
    channels: Channels,
    under_way: Vec<JoinHandle<Result<(), Failure>>>,
}

/// How the user wants to be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Channels {
    pub command: Option<String>,
    pub url: Option<Target>,
    pub terminal: InTerminal,
}

/// A notification that did not arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub what: String,
    pub why: String,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    notice: Notice,
    project: String,
    title: String,
    /// The title's words come first.
    text: String,
    /// `ralph.summary/1`, where a run has ended.
    summary: Option<Value>,
}

impl Message {
    /// The notice alone.
    pub fn of(notice: Notice, project: &Project) -> Self {
        let name = project.name();
        let title = format!("{name}: {}", notice.text);
        Self { title, text: notice.text.clone(), project: name, notice, summary: None }
    }

    /// With the summary of the run, where it has ended and its record can be read.
    pub fn about(notice: Notice, project: &Project, run: &Run, secrets: &Secrets) -> Self {
        let message = Self::of(notice, project);
        if message.notice.event == "waiting" {
            return message;
        }
        let Ok(summary) = summary::of(project, run, true, secrets) else { return message };
        let (title, text) = summary::in_words(&summary);
        let title = format!("{}: {title}", message.project);
        Self { title, text, summary: Some(summary.document()), ..message }
    }

    /// What is left of the text where its first line is the title.
    fn below_title(&self) -> String {
        let below = self.summary.as_ref().and_then(|_| self.text.split_once('\n'));
        below.map_or(&*self.text, |(_, below)| below).to_owned()
    }

    /// `ralph.notification/1`
    fn document(&self) -> Value {
        json!({
            "schema": "ralph.notification/1",
            "event": self.notice.event,
            "project": self.project,
            "run": Some(self.notice.run).filter(|run| *run > 0),
            "goal": self.notice.goal,
            "title": self.title,
            "text": self.text,
            "summary": self.summary,
        })
    }
}

impl Notifier {
    pub fn new(channels: Channels) -> Self {
        Self { channels, under_way: vec![] }
    }

    /// Whether anything would happen.
    pub fn does_nothing(&self) -> bool {
        self.channels == Channels::default()
    }

    /// Whether anything would be sent beside what the terminal does.
    pub fn sends(&self) -> bool {
        self.channels.command.is_some() || self.channels.url.is_some()
    }

    pub fn target(&self) -> Option<&Target> {
        self.channels.url.as_ref()
    }

    /// Returns at once. Why the terminal did nothing, where it should have, is for those who ask: a run that nobody
    /// watches has no terminal.
    pub fn tell(
        &mut self,
        message: &Message,
        project: &Project,
        ui: &mut Ui,
    ) -> std::result::Result<(), &'static str> {
        let called = match self.channels.terminal {
            InTerminal::Off => Ok(()),
            InTerminal::Bell => ui.attract(None),
            InTerminal::Message => ui.attract(Some(&format!("ralph: {}", message.notice.text))),
        };
        if let Some(command) = &self.channels.command {
            let spec = spec(command, message, project);
            self.under_way.push(thread::spawn(move || deliver(&spec)));
        }
        if let Some(target) = self.channels.url.clone() {
            let spec = runner::kept(target.spec(message, &project.root).grace(GRACE), &project.truth);
            let send = move || {
                let failed =
                    |why| Failure { what: format!("the notification to {} failed", target.shown()), why };
                target.send(&spec).map_err(failed)
            };
            self.under_way.push(thread::spawn(send));
        }
        called
    }

    /// Waits until everything that was started has ended, or was ended; what did not arrive.
    pub fn finish(&mut self) -> Vec<Failure> {
        let lost =
            || Err(Failure { what: "a notification failed".into(), why: "its thread was lost".into() });
        self.under_way.drain(..).filter_map(|job| job.join().unwrap_or_else(|_| lost()).err()).collect()
    }
}

fn spec(command: &str, message: &Message, project: &Project) -> Spec {
    let notice = &message.notice;
    let spec = Spec::shell(command, &project.root)
        .env("RALPH_NOTIFY_EVENT", notice.event)
        .env("RALPH_NOTIFY_TITLE", &message.title)
        .env("RALPH_NOTIFY_TEXT", &message.text)
        .env("RALPH_NOTIFY_GOAL", &notice.goal)
        .env("RALPH_NOTIFY_RUN", notice.run.to_string())
        .env("RALPH_NOTIFY_PROJECT", &message.project)
        .grace(GRACE);
    runner::kept(spec, &project.truth)
}

fn deliver(spec: &Spec) -> Result<(), Failure> {
    let failed = |why: String| Failure { what: "the command of [notify] failed".into(), why };
    let brief = process::run_for(spec, LIMIT).map_err(|error| failed(error.to_string()))?;
    let Brief { end, words, .. } = brief;
    let words = text::one_line(&text::plain(&words), KEPT);
    match end {
        End::Exited(0) => Ok(()),
        End::TimedOut => {
            Err(failed(format!("it did not end within {} seconds and was ended", LIMIT.as_secs())))
        }
        end if words.is_empty() => Err(failed(end.to_string())),
        end => Err(failed(format!("{end}: {words}"))),
    }
}
