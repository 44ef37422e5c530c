//! One check: a command of the user's, run in the same custody as an agent.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use ralph_core::check::failing::FailingTests;
use ralph_core::check::{self, CheckResult, CheckSpec};
use ralph_core::event::{End, Event};
use ralph_core::redact::Secrets;
use ralph_core::text;

use super::Input;
use super::agent_job::end_of;
use super::effects::{Heard, tee};
use crate::process::{Ahead, Ender, Output, Spec};
use crate::store::{self, IterationFiles};
use crate::ui::Pulse;

const KEPT_TAIL: usize = 4 << 10;

/// `spec` is how its command is started.
pub(super) fn start(
    check: &CheckSpec,
    spec: &Spec,
    keeper: &mut Ahead,
    files: &IterationFiles,
    secrets: Secrets,
    heard: Heard,
) -> Option<Ender> {
    let Heard { outbox, pulse } = heard;
    let begun = Instant::now();
    let output = files.check(&check.name);
    let CheckSpec { name, command, .. } = check.clone();
    let gone = outbox.clone();
    let report = move |end, asked, failing, output_tail: String| {
        let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let hollow = check::hollow(&output_tail);
        let result = CheckResult { name, command, end, asked, failing, duration_ms, output_tail, hollow };
        let _ = outbox.send(Input::Event(Event::CheckEnded(Box::new(result))));
    };
    // A check that was cut off runs again, and the file holds one run.
    let started = store::write_private(&output, b"").map_err(|error| error.to_string());
    let mut job = match started.and_then(|()| keeper.keep(spec).map_err(|error| error.to_string())) {
        Ok(job) => job,
        Err(error) => {
            report(End::NotStarted { error }, false, vec![], String::new());
            return None;
        }
    };
    let ender = job.ender();
    let (stdout, stderr) = job.take_output();
    let tail = Arc::new(Mutex::new(Vec::new()));
    let readers = [stdout, stderr].map(|stream| {
        let (output, tail, pulse) = (output.clone(), tail.clone(), pulse.clone());
        thread::spawn(move || read(stream, &output, &tail, &pulse))
    });
    thread::spawn(move || {
        let (ended, leaving) = job.wait_for_word();
        let _ = gone.send(Input::Leaving(leaving));
        let [out, err] = readers.map(|reader| reader.join().unwrap_or_default());
        let failing = out.and(err).finish();
        let tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        let tail = text::plain(&String::from_utf8_lossy(&tail));
        // Before it is cut: half a secret is not known for one.
        let tail = secrets.hide(&tail);
        report(end_of(ended.end), ended.asked, failing, text::tail(&tail, KEPT_TAIL).to_owned());
    });
    Some(ender)
}

/// Reads one stream; both share the tail. Returns the failing tests it showed.
fn read(stream: Output, output: &Path, tail: &Mutex<Vec<u8>>, pulse: &Pulse) -> FailingTests {
    let mut failing = FailingTests::default();
    let _ = tee(stream, output, |bytes| {
        pulse.beat(|_| {});
        failing.feed(bytes);
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(bytes);
        if tail.len() > 16 * KEPT_TAIL {
            let from = tail.len() - 2 * KEPT_TAIL;
            tail.drain(..from);
        }
    });
    failing
}
