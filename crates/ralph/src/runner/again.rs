//! Checks outside of a loop: in the same custody, one after the other, with a time limit, and ended by Ctrl-C.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use ralph_core::check::{CheckResult, CheckSpec};
use ralph_core::event::{End, Event, StopBy};
use ralph_core::redact::Secrets;

use super::effects::{Custody, Heard, Jobs};
use super::{Input, check_job, signals};
use crate::error::Result;
use crate::process::{Ahead, Ender, Mark, Spec};
use crate::store::IterationFiles;
use crate::ui::Ui;

/// What would point a check's git at another repository than the one it runs in.
const ELSEWHERE: [&str; 6] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX"];

pub(crate) struct Again {
    inbox: Receiver<Input>,
    outbox: Sender<Input>,
    jobs: Jobs,
    secrets: Secrets,
    limit: Duration,
}

impl Again {
    pub(crate) fn new(secrets: Secrets, limit: Duration) -> Result<Self> {
        let (outbox, inbox) = mpsc::channel();
        let jobs = Jobs::default();
        signals::listen(outbox.clone(), jobs.clone())?;
        Ok(Self { inbox, outbox, jobs, secrets, limit })
    }

    /// Runs one check in `dir`; `beside` is a folder for what it prints. `Err`: the user asked to stop, and all that it
    /// started is gone.
    pub(crate) fn run(
        &mut self,
        check: &CheckSpec,
        dir: &Path,
        beside: &Path,
        ui: &Ui,
    ) -> std::result::Result<CheckResult, StopBy> {
        let spec =
            ELSEWHERE.iter().fold(Spec::shell(&check.command, dir), |spec, name| spec.env_remove(*name));
        // A mark of its own: it is nobody's business whether a run goes on in the project.
        let spec = Custody::at(beside, Mark::of(beside).ok()).over(spec);
        let heard = Heard { outbox: self.outbox.clone(), pulse: ui.pulse() };
        let files = IterationFiles::at(beside);
        let running =
            check_job::start(check, &spec, &mut Ahead::default(), &files, self.secrets.clone(), heard);
        self.jobs.check(running.clone());
        let ended = self.wait(running.as_ref());
        self.jobs.check(None);
        ended
    }

    fn wait(&self, running: Option<&Ender>) -> std::result::Result<CheckResult, StopBy> {
        let mut deadline = Instant::now().checked_add(self.limit);
        let (mut late, mut stop) = (false, None);
        loop {
            let input = match deadline {
                Some(at) => self.inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
                None => self.inbox.recv().map_err(RecvTimeoutError::from),
            };
            match input {
                Ok(Input::Event(Event::CheckEnded(result))) => {
                    return match stop {
                        Some(by) => Err(by),
                        None if late => Ok(CheckResult { end: End::TimedOut, ..*result }),
                        None => Ok(*result),
                    };
                }
                Ok(Input::Event(Event::StopAsked { by })) => {
                    stop = Some(by);
                    running.into_iter().for_each(Ender::end);
                }
                Err(RecvTimeoutError::Timeout) => {
                    (late, deadline) = (true, None);
                    running.into_iter().for_each(Ender::end);
                }
                // The sender is ours as well, so it is never gone.
                Ok(_) | Err(RecvTimeoutError::Disconnected) => {}
            }
        }
    }

    /// Whether the user asked to stop while nothing ran.
    pub(crate) fn asked_to_stop(&self) -> Option<StopBy> {
        self.inbox.try_iter().find_map(|input| match input {
            Input::Event(Event::StopAsked { by }) => Some(by),
            _ => None,
        })
    }
}
