//! `ralph status --follow`: shows a run of another process while it goes on, from its journal and what its agent has
//! printed so far. Ends with the run.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use ralph_core::decision::Phase;
use ralph_core::redact::Secrets;
use ralph_core::state::State;

use crate::error::{Error, Result};
use crate::process::{Watch, Woken};
use crate::project::Project;
use crate::runner::Reader;
use crate::secrets;
use crate::store::{Holder, JournalTail, Run};
use crate::ui::Ui;

/// `each`: what to do with the state after each change.
pub(super) fn follow(
    project: &Project,
    holder: &Holder,
    run: &Run,
    ui: &mut Ui,
    mut each: impl FnMut(&mut Ui, &State),
) -> Result<()> {
    let cannot = |error| Error::new("the run cannot be followed").because(error).hint("ralph status");
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
            ui.stopped(tail.state(), &stop, None);
            return Ok(());
        }
        ear.listen(run, tail.state(), &watch, ui);
        let woken = watch.wait(ui.next_change()).map_err(cannot)?;
        watch_journal().map_err(cannot)?;
        let before = tail.state().seq;
        tail.more(|record, state| ui.show(state, record))?;
        if tail.state().seq != before {
            each(ui, tail.state());
        } else if woken == Woken::Ended {
            ui.warn(&format!("{} was cut off; to go on: ralph run", project.name()));
            return Ok(());
        }
        if !ui.is_heard() {
            return Ok(());
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
                (heard.tokens, heard.cost_micro_usd) = reader.spent();
            });
        }
        ui.draw();
    }
}
