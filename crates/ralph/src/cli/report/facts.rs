//! What a block is held against: the tests and the plan.

use std::io::{self, Read};
use std::path::Path;
use std::thread;

use ralph_core::check;
use ralph_core::report::block::Tests;
use ralph_core::report::form::{self, Plan, Tasks, TestsFact};
use ralph_core::text;

use crate::error::{self, Error, Result};
use crate::process::{self, End, Output, Spec};
use crate::ui::Ui;
use crate::work;

/// How much of what failing tests printed is shown.
const TAIL: usize = 4 << 10;

/// Runs the tests in custody, as a run's checks are, so that nothing of them stays behind.
pub(super) fn run_tests(command: &str, root: &Path, ui: &Ui) -> Result<TestsFact> {
    let failed = |why: String| Error::new(format!("the tests cannot be run: {command}")).because(why);
    let mut job = process::start(&Spec::shell(command, root)).map_err(|error| failed(error.to_string()))?;
    let (stdout, stderr) = job.take_output();
    let readers = [stdout, stderr].map(|stream| thread::spawn(move || tail_of(stream)));
    let end = job.wait().end;
    let tails = readers.map(|reader| reader.join().unwrap_or_default());
    if end == End::Lost {
        return Err(failed(end.to_string()));
    }
    let run = format!("{} {end}", check::shown(command));
    if end.success() {
        return Ok(TestsFact { tests: Tests::Passing, run });
    }
    for tail in tails.iter().filter(|tail| !tail.is_empty()) {
        let shown = text::plain(&String::from_utf8_lossy(tail));
        ui.talk(&format!("{}\n", shown.trim_end()));
    }
    Ok(TestsFact { tests: Tests::Failing, run })
}

fn tail_of(mut stream: Output) -> Vec<u8> {
    let mut tail = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => tail.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        let spare = tail.len().saturating_sub(TAIL);
        tail.drain(..spare);
    }
    tail
}

/// The open items of the file that was named, which must be there, or else of every task file that a run could take.
pub(super) fn tasks(named: Option<&Path>, root: &Path) -> Result<Tasks> {
    let Some(file) = named else {
        let mut all = Plan::default();
        for found in work::open_files(root) {
            all.open.extend(found.plan.open.into_iter().map(|item| format!("{item} ({})", found.name)));
            all.done += found.plan.done;
        }
        return Ok(Some(all).into());
    };
    let bytes = std::fs::read(file).map_err(error::named("cannot read the plan", file))?;
    let plan = work::open_items(root, file);
    Ok(Some(plan.unwrap_or_else(|| form::read_plan(&String::from_utf8_lossy(&bytes)))).into())
}
