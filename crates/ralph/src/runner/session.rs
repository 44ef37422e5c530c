//! A run whose agent is a session that somebody else started: it is handed a prompt, and heard when it stops.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ralph_core::event::{AgentEnded, End, Event};
use ralph_core::prompt::{self, Materials};
use ralph_core::redact::Secrets;
use ralph_core::report::Builder;
use ralph_core::session::{self, Told};
use ralph_core::state::State;
use ralph_core::text;
use ralph_core::transcript::{Decoder, Format, Item};

use super::agent_job::{UNHEARD, hear_signal};
use super::texts::read_text;
use super::{PACKING, Runner};
use crate::clock;
use crate::error::{self, Result};
use crate::notify::Notifier;
use crate::store::{self, Lock, Run};

/// How much of a transcript's end is looked at, however long it is.
const TAIL: u64 = 256 << 10;
/// How long a hook waits until the snapshots are tidied up, when there is reason to: once in thousands of objects.
const TIDYING: Duration = Duration::from_secs(30);

impl Runner<'_> {
    pub(super) fn is_session(&self) -> bool {
        self.state.run.as_ref().is_some_and(|run| run.plan.agents.iter().any(|agent| agent.session))
    }

    /// The session is told what a fresh agent would be, in fewer words: it knows the project's files.
    pub(super) fn hand_over(&mut self) -> Result<()> {
        let files = self.files();
        files.make()?;
        if let Err(error) = self.views.reset_signal() {
            self.ui.warn(&format!("{UNHEARD}: {error}"));
        }
        if let Err(error) = self.views.prepare(&self.secrets.shown_state(&self.state)) {
            self.warn_of_views(&error);
        }
        let guardrails = read_text(&self.project.ralph_dir.join("guardrails.md"), &mut vec![]);
        let project = self.project.name();
        let materials =
            Materials { project: &project, guardrails: guardrails.as_deref(), ..Materials::default() };
        let prompt = prompt::render(&self.state, materials);
        self.keep_stand(&files);
        let path = files.prompt();
        self.journal.settle()?;
        store::write_private(&path, prompt.as_bytes()).map_err(error::io("cannot write", &path))?;
        self.handed = Some(prompt);
        Ok(())
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn lock(&self) -> &Lock {
        self.lock
    }

    /// Whether something happened that somebody who does not watch wants to hear of.
    pub(crate) fn has_untold(&self) -> bool {
        !self.untold.is_empty()
    }

    /// What is left to do when the session has its answer; the agent waits for this process to end, so it is not waited
    /// for long. What is under way of the notifications is the caller's to finish.
    pub(crate) fn rest(mut self, mut notifier: Option<Notifier>) -> Option<Notifier> {
        if let Some(notifier) = &mut notifier {
            for notice in std::mem::take(&mut self.untold) {
                let message = self.message(notice);
                // A hook has no terminal.
                let _ = notifier.tell(&message, self.project, self.ui);
            }
        }
        if self.state.stop().is_none() {
            self.tidy();
        }
        self.keeping.finish(PACKING);
        // A tree that is let go of waits until it is tidied up. Whoever is cut off in that leaves more than is needed, no less.
        if self.tree.is_tidied() {
            let (done, waiting) = mpsc::channel::<()>();
            let tree = self.tree;
            thread::spawn(move || {
                drop(tree);
                drop(done);
            });
            let _ = waiting.recv_timeout(TIDYING);
        }
        notifier
    }
}

/// What a session that stops has to say.
#[derive(Debug)]
pub(crate) enum Heard {
    /// It ended its turn.
    Ended(Event),
    /// Its provider did, with these words: nothing came of it yet.
    Limited(String),
}

/// What the session did in this iteration: its last words as the hook tells them, and what its transcript's end holds of
/// tools, errors and tokens. Where the hook tells no words, those of the transcript count.
pub(crate) fn heard(told: &Told, state: &State, run: &Run, signal: &Path, secrets: &Secrets) -> Heard {
    let current = state.current.as_ref();
    let since = current.and_then(|current| current.started_at).unwrap_or(state.updated_at);
    let files = run.files(state.iteration);
    let asked = std::fs::read_to_string(files.prompt()).unwrap_or_default();
    let promise = state.run.as_ref().map(|run| run.plan.policy.promise.as_str()).unwrap_or_default();
    let mut builder = Builder::new(&asked).hiding(secrets.clone()).expecting(promise);
    let words = told.last_assistant_message.as_deref().filter(|words| !words.trim().is_empty());
    let (tail, whole) = told.transcript_path.as_deref().map(|path| tail(Path::new(path))).unwrap_or_default();
    let mut decoder = Decoder::new(Format::Hook);
    let mut limit = None;
    let mut add = |item: Item| {
        match &item {
            Item::Limit(met) => limit = Some(met.text.clone()),
            // It went on after it.
            Item::Words(_) | Item::MoreWords(_) | Item::Tool { .. } => limit = None,
            _ => {}
        }
        match item {
            Item::Words(_) | Item::MoreWords(_) if words.is_some() => {}
            // A part of a stream has no end, and Codex writes another one.
            Item::Problem(_) | Item::Finished(_) | Item::StreamBegins | Item::TextBegins => {}
            item => builder.add(item),
        }
    };
    for line in session::lines_since(&tail, whole, since) {
        decoder.feed(line, &mut add);
    }
    decoder.finish(&mut add);
    // The words that the hook tells may be newer than the transcript.
    if let Some(limit) = limit.filter(|limit| words.is_none_or(|words| text::one_line(words, 300) == *limit))
    {
        return Heard::Limited(secrets.hide(&limit).into_owned());
    }
    if let Some(words) = words {
        builder.add(Item::Words(words.to_owned()));
        // What `history --transcript` shows; without it the record still has the end of it.
        let _ =
            files.make().is_ok_and(|()| store::write_private(&files.transcript(), words.as_bytes()).is_ok());
    }
    let mut report = builder.finish();
    let used = session::used_since(&tail, whole, state.started_at, state.totals.usage);
    report.usage = used.unwrap_or(report.usage);
    hear_signal(&mut report, signal);
    Heard::Ended(Event::AgentEnded(Box::new(AgentEnded {
        end: End::Exited { code: 0 },
        duration_ms: clock::now().since(since),
        asked: false,
        leftovers: 0,
        report,
        stderr: None,
        reset_at: None,
    })))
}

/// The end of a transcript, and whether that is all of it. One that cannot be read tells nothing.
fn tail(path: &Path) -> (Vec<u8>, bool) {
    let read = || -> std::io::Result<(Vec<u8>, bool)> {
        let mut file = File::open(path)?;
        let data = file.metadata()?;
        if !data.is_file() {
            return Ok((vec![], true));
        }
        let from = data.len().saturating_sub(TAIL);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::with_capacity(usize::try_from(data.len() - from).unwrap_or(0) + 1);
        file.take(TAIL).read_to_end(&mut bytes)?;
        Ok((bytes, from == 0))
    };
    read().unwrap_or_default()
}
