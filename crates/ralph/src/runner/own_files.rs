//! Looking after ralph's own files: measuring and putting back. What follows from it is core's to say.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use ralph_core::decision::Phase;
use ralph_core::event::Event;
use ralph_core::own_files::{self, How, OwnFile, Touch};

use super::{Input, Runner};
use crate::error::{Error, Result};
use crate::store::{self, Restored, Runs};
use crate::tree::Tree;

/// How long whoever works is waited for when the run cannot go on.
const ENDING: Duration = Duration::from_secs(3);
/// How long a deletion that goes on is waited out.
const WAITS: [u64; 7] = [5, 10, 20, 40, 80, 160, 320];

/// Tries again while a folder is being removed, and once more where the disk refuses it.
fn patiently(mut put_back: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for wait in WAITS {
        match put_back() {
            Err(error) if store::is_passing(&error) => store::pause(Duration::from_millis(wait)),
            Ok(()) => return Ok(()),
            Err(_) => break,
        }
    }
    put_back()
}

impl Runner<'_> {
    /// Somebody begins to work.
    pub(super) fn watch_own_files(&mut self) {
        let truth = &self.project.truth;
        let mut past = vec![truth.clone(), truth.join("runs"), truth.join("objects")];
        past.extend(self.state.last.iter().map(|last| self.run.files(last.number).folder().to_path_buf()));
        self.guard.watch(&past);
        self.past.watch();
    }

    pub(super) fn look_after_own_files(&mut self, event: &Event) -> Result<()> {
        let mut touches = Vec::new();
        let ended = matches!(event, Event::AgentEnded(_) | Event::CheckEnded(_));
        if ended {
            touches.extend(self.guard.lost());
        }
        touches.extend(self.hold_the_truth());
        // Where the truth is not ours any more, nothing is written: not even that.
        if let Some(what) = own_files::judge(&self.state, &touches) {
            self.journal.give_up();
            return Err(Error::new(what)
                .because("what ralph records could no longer be kept, so the run stops here")
                .hint("look at what was done here: ralph status; git status"));
        }
        let (mut views, mut pages) = (false, false);
        if ended {
            touches.extend(self.put_the_past_back());
            self.mend_tree();
            let looked = self.guard.settle(self.files_in_use().folder());
            (views, pages) = (looked.views, looked.pages);
            touches.extend(looked.touches);
        }
        if !touches.is_empty() {
            self.take(Event::OwnFilesTouched { touches })?;
        }
        if views {
            self.publish();
        }
        if pages
            && let Err(error) =
                self.views.remake_pages(&self.state, &Runs::of(&self.project.truth), &self.secrets)
        {
            self.ui.warn(&format!("old pages of the history cannot be made again: {}", error.what));
        }
        Ok(())
    }

    /// The lock first: whoever has taken it meanwhile may be writing the journal.
    fn hold_the_truth(&mut self) -> Vec<Touch> {
        let mut touches = Vec::new();
        let touch = |name: String, kind, how: How, put_back: std::io::Result<()>| Touch {
            name,
            kind,
            how,
            lost: put_back.err().map(|error| error.to_string()),
            kept: None,
        };
        if let Some(how) = self.lock.touched() {
            let put_back = patiently(|| self.lock.put_back());
            let lost = put_back.is_err();
            touches.push(touch(self.shown(&self.project.truth.join("lock")), OwnFile::Lock, how, put_back));
            if lost {
                return touches;
            }
        }
        let mended = self.journal.mended();
        if let Some(how) = self.journal.touched().or(mended) {
            let put_back = patiently(|| self.journal.put_back());
            touches.push(touch(self.shown(&self.run.journal()), OwnFile::Journal, how, put_back));
        }
        touches
    }

    pub(super) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.project.root).unwrap_or(path).display().to_string()
    }

    /// What earlier runs recorded, and the evidence.
    fn put_the_past_back(&mut self) -> Vec<Touch> {
        let Restored { back, lost } = self.past.put_back();
        let mut touches = Vec::new();
        let why = lost.first().map(|(_, _, why)| format!("lost for good: {why}"));
        let lost = lost.into_iter().map(|(path, how, _)| (path, how)).collect();
        for (paths, why) in [(back, None), (lost, why)] {
            let (journals, others): (Vec<_>, Vec<_>) =
                paths.iter().partition(|(path, _)| path.ends_with("journal.jsonl"));
            let runs = [How::Removed, How::Changed].into_iter().filter_map(|how| {
                let mut these = journals.iter().filter(|(_, done)| *done == how);
                let name = match (these.next(), these.count()) {
                    (None, _) => return None,
                    (Some((one, _)), 0) => self.shown(one),
                    (Some(_), more) => format!("the records of {} earlier runs", more + 1),
                };
                Some((name, how))
            });
            let names = runs.chain(others.iter().map(|(path, how)| (self.shown(path), *how)));
            touches.extend(names.map(|(name, how)| Touch {
                name,
                kind: OwnFile::Past,
                how,
                lost: why.clone(),
                kept: None,
            }));
        }
        touches
    }

    /// The record cannot be kept while somebody works against it. Ends that, and leaves the record behind whole, so that
    /// the run can be continued; unless another ralph is the one who writes here now.
    pub(super) fn leave_the_record(&mut self, mut error: Error, at_work: bool) -> Error {
        self.end_what_works(at_work);
        let held = self.lock.touched().is_none() || patiently(|| self.lock.put_back()).is_ok();
        let whole = held && patiently(|| self.journal.put_back()).is_ok();
        if held {
            let touches = self.put_the_rest_back();
            self.tell_of(&touches);
        }
        error.hints.push(match whole {
            true => "the record is put back; to go on: ralph run".into(),
            false => "then start again: ralph run --fresh \"GOAL\"".into(),
        });
        error
    }

    /// The disk refuses the record, and ralph ends. What whoever works has removed by then goes with it, unless it is put back first;
    /// the journal as far as it was written is not touched, for the disk may refuse that too.
    pub(super) fn leave_what_is_ours(&mut self, error: Error, at_work: bool) -> Error {
        if !matches!(self.state.phase, Phase::Working | Phase::Checking) {
            return error;
        }
        // Nobody waits for a session to end.
        self.end_what_works(at_work && !self.is_session());
        if self.lock.touched().is_some() && patiently(|| self.lock.put_back()).is_err() {
            return error;
        }
        if self.journal.touched() == Some(How::Removed) {
            let _ = patiently(|| self.journal.put_back());
        }
        let touches = self.put_the_rest_back();
        self.tell_of(&touches);
        error
    }

    /// Earlier records, the evidence, and what people wrote for ralph.
    fn put_the_rest_back(&mut self) -> Vec<Touch> {
        let mut touches = self.put_the_past_back();
        touches.extend(self.guard.settle(self.files_in_use().folder()).touches);
        touches
    }

    /// Where nothing can be recorded any more. Views are made again by whoever goes on.
    fn tell_of(&mut self, touches: &[Touch]) {
        let lasting: Vec<Touch> =
            touches.iter().filter(|touch| touch.kind != OwnFile::View).cloned().collect();
        for told in own_files::describe(&self.state, &lasting) {
            self.ui.warn(&told);
        }
    }

    fn end_what_works(&mut self, at_work: bool) {
        self.jobs.end_now();
        let over = Instant::now() + if at_work { ENDING } else { Duration::ZERO };
        while let Ok(input) = self.inbox.recv_timeout(over.saturating_duration_since(Instant::now())) {
            if matches!(input, Input::Event(Event::AgentEnded(_) | Event::CheckEnded(_))) {
                break;
            }
        }
    }

    /// Snapshots that were taken away are begun anew; what they held cannot be had back.
    fn mend_tree(&mut self) {
        if self.tree.is_whole() {
            return;
        }
        self.tree.forget_ahead();
        self.snapshots_gone = true;
        let project = self.project;
        if let Ok(tree) = Tree::anew(&project.root, &project.truth, project.repo.as_ref()) {
            self.tree = self.jobs.hurrying(tree);
        }
    }
}
