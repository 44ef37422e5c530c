//! `ralph status --follow`: shows a run of another process while it goes on, from its journal and what its agent has
//! printed so far. Ends with the run. Where none goes on, it can be waited for.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ralph_core::decision::{Phase, Stop};
use ralph_core::redact::Secrets;
use ralph_core::state::State;

use crate::error::{Error, Result};
use crate::process::{Watch, Woken};
use crate::project::Project;
use crate::runner::{self, Reader};
use crate::secrets;
use crate::store::{self, Holder, JournalTail, Run, Runs};
use crate::ui::{self, Ui};

fn cannot(error: io::Error) -> Error {
    Error::new("the run cannot be followed").because(error).hint("ralph status")
}

/// The run as somebody saw it who waits for the next one.
#[derive(Debug, PartialEq)]
pub(super) struct Seen {
    run: u64,
    iteration: u64,
    stop: Option<Stop>,
}

impl Seen {
    pub(super) fn of(run: &Run, state: &State) -> Self {
        Self { run: run.number, iteration: state.iteration, stop: state.stop().cloned() }
    }

    /// Whether it came to an end. What somebody only closed was over before.
    pub(super) fn is_over(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| *stop != Stop::Closed)
    }
}

/// Waits until a run goes on, or another than the one that was seen came and went. False where nobody listens any more.
pub(super) fn await_run(project: &Project, known: Option<&Seen>) -> Result<bool> {
    let runs = Runs::of(&project.truth);
    let watch = Watch::while_read(ui::output().map_err(cannot)?).map_err(cannot)?;
    loop {
        watch_for_runs(&watch, &project.truth, &runs).map_err(cannot)?;
        let now = runs.shown()?.filter(|(_, opened)| opened.state.run.is_some());
        if let Some((run, opened)) = now {
            let seen = Seen::of(&run, &opened.state);
            let begun = seen.stop.is_none() && store::holder(&project.truth).is_some();
            if begun || seen.is_over() && known != Some(&seen) {
                return Ok(true);
            }
        }
        if watch.wait(None).map_err(cannot)? == Woken::Ended {
            return Ok(false);
        }
    }
}

/// The folders in which a run begins, as far as they are there: each is watched before what is in it is looked for.
fn watch_for_runs(watch: &Watch, truth: &Path, runs: &Runs) -> io::Result<()> {
    let nearest = || truth.ancestors().find(|folder| folder.is_dir()).unwrap_or(truth);
    loop {
        let there = nearest();
        let added = watch.add(there);
        // What was made or removed before it was watched is told by nobody.
        if nearest() == there {
            added?;
            break;
        }
    }
    // What is not there is told by the folder above it when it comes.
    let _ = watch.add(runs.dir());
    let _ = runs.newest_folder().map(|folder| watch.add(&folder));
    Ok(())
}

/// `each`: what to do with the state after each change. Returns how the run stood when it stopped, if it did.
pub(super) fn follow(
    project: &Project,
    holder: &Holder,
    run: &Run,
    ui: &mut Ui,
    mut each: impl FnMut(&mut Ui, &State),
) -> Result<Option<State>> {
    // Watched before it is read, so that nothing is missed in between.
    let watch = Watch::new(holder.pid).map_err(cannot)?;
    let journal = run.journal();
    let watch_journal = || {
        // Whatever is taken away of the way to it wakes the follower, and so does what is put back.
        let folders = journal.ancestors().skip(1).take(5);
        folders.map(|folder| watch.add(folder)).fold(Err(io::ErrorKind::NotFound.into()), io::Result::or)
    };
    watch_journal().map_err(cannot)?;
    let mut tail = JournalTail::open(&journal)?;
    let mut ear = Ear { heard: None, secrets: secrets::of(&project.root) };
    ui.hides(&ear.secrets);
    ui.join(tail.state());
    each(ui, tail.state());
    loop {
        if let Some(stop) = tail.state().stop().cloned() {
            // Who only looks has not asked git where the repository is.
            let whole = Project::at(&project.root).ok();
            let changes = whole.and_then(|whole| runner::changes_of(&whole, run, tail.state()));
            ui.stopped(tail.state(), &stop, changes.as_ref());
            return Ok(Some(tail.state().clone()));
        }
        ear.listen(run, tail.state(), &watch, ui);
        let woken = watch.wait(ui.next_change()).map_err(cannot)?;
        watch_journal().map_err(cannot)?;
        let before = tail.state().seq;
        tail.more(|record, state| ui.show(state, record))?;
        if tail.state().seq != before {
            each(ui, tail.state());
        } else if woken == Woken::Ended {
            match runner::waits_for_session(tail.state()) {
                // Each of its turns is a process of its own.
                true => ui.say("the session goes on by itself: ralph status"),
                false => ui.warn(&format!("{} was cut off; to go on: ralph run", project.name())),
            }
            return Ok(None);
        }
        if !ui.is_heard() {
            return Ok(None);
        }
    }
}

/// Hears what the agent of the other process says, from its transcript.
struct Ear {
    heard: Option<Hearing>,
    secrets: Secrets,
}

struct Hearing {
    iteration: u64,
    path: PathBuf,
    file: Option<File>,
    reader: Reader,
}

impl Ear {
    fn listen(&mut self, run: &Run, state: &State, watch: &Watch, ui: &mut Ui) {
        let current = state.current.as_ref().filter(|_| state.phase == Phase::Working);
        let Some(current) = current else { return self.heard = None };
        if self.heard.as_ref().is_none_or(|heard| heard.iteration != current.number) {
            let files = run.files(current.number);
            let prompt = std::fs::read_to_string(files.prompt()).unwrap_or_default();
            let reader = Reader::new(current.format, &prompt, &self.secrets);
            let (iteration, path) = (current.number, files.transcript());
            self.heard = Some(Hearing { iteration, path, file: None, reader });
        }
        if let Some(heard) = &mut self.heard {
            heard.go_on(watch, ui);
        }
    }
}

impl Hearing {
    fn go_on(&mut self, watch: &Watch, ui: &mut Ui) {
        if self.file.is_none() {
            // Both come into being just after the record that names them; the next change tries again.
            let _ = self.path.parent().map(|folder| watch.add(folder));
            self.file = File::open(&self.path).ok();
        }
        let Some(file) = &mut self.file else { return };
        let mut buffer = vec![0; 64 << 10];
        while let Ok(read @ 1..) = file.read(&mut buffer) {
            let reader = &mut self.reader;
            ui.pulse().beat(|heard| {
                reader.feed(&buffer[..read], |item| heard.item(item));
                let (usage, cost) = reader.spent();
                (heard.tokens, heard.cost_micro_usd) = (usage.total(), cost);
            });
        }
        ui.draw();
    }
}
