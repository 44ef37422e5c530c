//! One agent process: read as it talks, reported when it and all it started are gone.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use ralph_core::event::{AgentEnded, AgentInfo, End, Event, Noted};
use ralph_core::limits::Left;
use ralph_core::prices::Prices;
use ralph_core::redact::Secrets;
use ralph_core::report::{IterationReport, dialects};
use ralph_core::time::Time;
use ralph_core::transcript::{Format, Item, Usage};
use ralph_core::{limit, text};

use super::effects::{Heard, read_all};
use super::reader::Reader;
use super::silence::{self, Voice};
use super::{Input, Tool, Tools};
use crate::agent;
use crate::clock;
use crate::process::{self, Ahead, Ender, Job, Leaving, Output, SpawnError, Spec};
use crate::store::{self, IterationFiles};

/// A moment late is better than one early: the agent would run into the same limit again.
const LATER_MS: u64 = 2_000;

pub(super) const UNHEARD: &str = ".ralph/status cannot be reset, so no signal in it is heard";

/// How an agent is asked and heard.
#[derive(Debug)]
pub(super) struct Talk<'a> {
    pub(super) format: Format,
    pub(super) prompt: &'a str,
    /// The promise that says done.
    pub(super) promise: &'a str,
    /// What is not to be repeated of what it says.
    pub(super) secrets: &'a Secrets,
    /// The file it may signal by; `None` if an old signal may still stand there.
    pub(super) signal: Option<PathBuf>,
    /// After how long a silence the loop is told.
    pub(super) silence: Option<Duration>,
    /// After which use the loop is told.
    pub(super) meter: Meter,
    /// What was kept beside the record before it.
    pub(super) noted: Noted,
}

/// What an agent may use, as far as ralph has to see to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meter {
    pub(super) left: Left,
    pub(super) prices: Option<Prices>,
}

impl Meter {
    /// For an agent that may use so much. One that limits its money itself knows better what it costs.
    pub(super) fn of(agent: &AgentInfo, left: Left) -> Self {
        let micro_usd = left.micro_usd.filter(|_| !agent::limits_its_money(agent));
        Self { left: Left { micro_usd, ..left }, prices: agent.prices }
    }

    /// What to tell the loop when the agent has used more than that.
    fn exceeded(&self, usage: Usage, cost: Option<u64>) -> Option<Event> {
        let (tokens, micro_usd) = (usage.total(), cost.or(self.prices.map(|prices| prices.cost(usage))));
        self.left.exceeded(tokens, micro_usd).map(|_| Event::UsageSeen { tokens, micro_usd })
    }
}

/// Starts it. A failure to start is an end like any other.
pub(super) fn start(
    spec: &Spec,
    keeper: &mut Ahead,
    talk: &Talk<'_>,
    files: &IterationFiles,
    heard: &Heard,
) -> Option<Ender> {
    let outbox = &heard.outbox;
    let begun = Instant::now();
    let mut job = match keeper.keep(spec) {
        Ok(job) => job,
        Err(error) => {
            let ended = match &error {
                SpawnError::KeeperLost { survivors, .. } => {
                    let mut ended = recover(files, talk.format, None, talk.secrets);
                    ended.report.problems.extend(unended(survivors));
                    AgentEnded { end: End::Lost, stderr: Some(error.to_string()), ..ended }
                }
                _ => cut(End::NotStarted { error: error.to_string() }, IterationReport::default()),
            };
            let _ = outbox.send(Input::Event(Event::AgentEnded(Box::new(ended))));
            return None;
        }
    };
    let _ = outbox.send(Input::Event(Event::AgentStarted { pid: job.pid(), noted: talk.noted.clone() }));
    let ender = job.ender();
    let (stdout, stderr) = job.take_output();
    let (heard, outbox) = (heard.clone(), outbox.clone());
    let reader = Reader::new(talk.format, talk.prompt, talk.secrets).expecting(talk.promise);
    let (secrets, hidden) = (talk.secrets.clone(), talk.secrets.clone());
    let (signal, files, asked_in) = (talk.signal.clone(), files.clone(), talk.format);
    let voice = Voice::new();
    let (said, complained) = (voice.clone(), voice.clone());
    let meter = talk.meter;
    let words = thread::spawn(move || listen(stdout, reader, &heard, &said, meter));
    let complaints = thread::spawn(move || hidden.hide(&last_complaints(stderr, &complained)).into_owned());
    let watch = talk.silence.map(|longest| {
        let outbox = outbox.clone();
        silence::watch(voice, longest, move |silent| {
            let _ = outbox.send(Input::Event(Event::AgentSilent { for_ms: millis(silent) }));
        })
    });
    thread::spawn(move || {
        let _watch = watch;
        let (mut ended, leaving) = wait(job, begun, words, complaints, signal.as_deref());
        if ended.end == End::Lost {
            // The keeper writes before it passes on, so the file may know more; but not what ralph itself found.
            let found = std::mem::take(&mut ended.report.problems);
            ended.report = recover(&files, asked_in, None, &secrets).report;
            let known = ended.report.problems.clone();
            ended.report.problems.extend(found.into_iter().filter(|problem| !known.contains(problem)));
        }
        let _ = outbox.send(Input::Leaving(leaving));
        let _ = outbox.send(Input::Event(Event::AgentEnded(Box::new(ended))));
    });
    Some(ender)
}

fn wait(
    job: Job,
    begun: Instant,
    words: thread::JoinHandle<(Format, IterationReport)>,
    complaints: thread::JoinHandle<String>,
    signal: Option<&Path>,
) -> (AgentEnded, Leaving) {
    let (end, leaving) = job.wait_for_word();
    let duration_ms = millis(begun.elapsed());
    let (format, mut report) = words.join().unwrap_or((Format::Auto, IterationReport::default()));
    report.problems.extend(unended(&end.survivors));
    if let Some(why) = end.unkept {
        report.problems.push(format!("the transcript could not be kept whole: {why}"));
    }
    match signal {
        Some(signal) => hear_signal(&mut report, signal),
        None => report.problems.push(UNHEARD.into()),
    }
    let complaints = complaints.join().unwrap_or_default();
    let failed = end.end != process::End::Exited(0) || report.error.is_some();
    report.limit = report.limit.or_else(|| limit::from_stderr(failed, &complaints)).or_else(|| {
        limit::from_prose(failed && matches!(format, Format::Text | Format::Auto), &report.last_words)
    });
    let stderr = text::last_line(&complaints, 300);
    let reset = report.limit.as_ref().and_then(|limit| limit.reset.as_ref());
    let reset_at = reset.and_then(|reset| clock::reset_at(reset, clock::now())).map(|at| at.plus(LATER_MS));
    let ended = AgentEnded {
        end: end_of(end.end),
        duration_ms,
        asked: end.asked,
        leftovers: end.leftovers,
        report,
        stderr,
        reset_at,
    };
    (ended, leaving)
}

fn unended(survivors: &[u32]) -> Option<String> {
    (!survivors.is_empty()).then(|| format!("processes that could not be ended: {survivors:?}"))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What it wrote into `.ralph/status`. Only a regular file: a pipe would hold the loop up.
pub(super) fn hear_signal(report: &mut IterationReport, signal: &Path) {
    let Some(word) = read_small(signal, 4 << 10) else { return };
    let handoff = signal.parent().and_then(|dir| read_small(&dir.join("handoff.md"), 64 << 10));
    report.sayings.extend(dialects::status_file(&word, handoff.as_deref()));
}

/// The beginning of a file that an agent can replace.
fn read_small(path: &Path, most: u64) -> Option<String> {
    if !std::fs::symlink_metadata(path).is_ok_and(|data| data.is_file()) {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// An end that nobody waited for.
fn cut(end: End, report: IterationReport) -> AgentEnded {
    AgentEnded { end, duration_ms: 0, asked: false, leftovers: 0, report, stderr: None, reset_at: None }
}

pub(super) fn end_of(end: process::End) -> End {
    match end {
        process::End::Exited(code) => End::Exited { code },
        process::End::Signaled(signal) => End::Signaled { signal },
        process::End::TimedOut => End::TimedOut,
        process::End::Lost => End::Lost,
    }
}

/// Its report, and the format it talked in.
fn listen(
    stdout: Output,
    mut reader: Reader,
    heard: &Heard,
    voice: &Voice,
    meter: Meter,
) -> (Format, IterationReport) {
    let tools = Tools::new(heard.outbox.clone());
    let (mut goes_on, mut told) = (false, false);
    let read = read_all(stdout, |bytes| {
        voice.heard();
        let mut used = Vec::new();
        heard.pulse.beat(|heard| {
            reader.feed(bytes, |item| {
                heard.item(item);
                match item {
                    Item::Tool { name, target } => {
                        goes_on = true;
                        used.push(Tool { name: name.clone(), target: target.clone() });
                    }
                    // An agent that only talks is at its end, and what it says last may say done.
                    Item::Words(_) | Item::MoreWords(_) => goes_on = false,
                    _ => {}
                }
            });
            let (usage, cost) = reader.spent();
            (heard.tokens, heard.cost_micro_usd) = (usage.total(), cost);
        });
        used.into_iter().for_each(|tool| tools.used(tool));
        if goes_on && !told && !reader.is_finished() {
            let (usage, cost) = reader.spent();
            let exceeded = meter.exceeded(usage, cost);
            told = exceeded.is_some();
            exceeded.into_iter().for_each(|event| drop(heard.outbox.send(Input::Event(event))));
        }
    });
    let (format, mut report) = reader.finish();
    if let Err(error) = read {
        report.problems.push(format!("not all that it said was heard: {error}"));
    }
    (format, report)
}

/// What a cut-off agent left in its transcript: its words do not count as an end, its tokens and its
/// time count. Its signal is not heard: nobody knows any more whether an old one stood there when it started.
pub(super) fn recover(
    files: &IterationFiles,
    format: Format,
    started_at: Option<Time>,
    secrets: &Secrets,
) -> AgentEnded {
    let prompt = std::fs::read_to_string(files.prompt()).unwrap_or_default();
    let mut reader = Reader::new(format, &prompt, secrets);
    if let Ok(mut file) = store::open_kept(&files.transcript()) {
        let mut buffer = vec![0; 256 << 10];
        while let Ok(read @ 1..) = file.read(&mut buffer) {
            reader.feed(&buffer[..read], |_| {});
        }
    }
    let (_, report) = reader.finish();
    let worked = started_at.map_or(0, |started_at| last_seen(files).min(clock::now()).since(started_at));
    AgentEnded { duration_ms: worked, ..cut(End::Cut, report) }
}

/// When something it said was last kept: it worked at least until then.
fn last_seen(files: &IterationFiles) -> Time {
    let written = |path: PathBuf| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    let times = [files.transcript(), files.stderr()].into_iter().filter_map(written);
    let since_1970 = times.max().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Time::from_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}

/// Reads standard error and returns its end.
fn last_complaints(stderr: Output, voice: &Voice) -> String {
    let mut tail: Vec<u8> = Vec::new();
    let _ = read_all(stderr, |bytes| {
        voice.heard();
        tail.extend_from_slice(bytes);
        if tail.len() > 64 << 10 {
            tail.drain(..tail.len() - (16 << 10));
        }
    });
    String::from_utf8_lossy(&tail).into_owned()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::store::Runs;

    #[test]
    fn a_cut_off_agent_worked_until_its_last_words_and_never_into_the_future() {
        let sandbox = ralph_testkit::Sandbox::new();
        let files = Runs::of(&sandbox.project()).next().files(1);
        files.make().expect("a folder");
        let worked = |from: i64| {
            let from = Some(Time::from_millis(from));
            recover(&files, Format::Text, from, &Secrets::default()).duration_ms
        };
        let spoke = |path: &Path, at: SystemTime| {
            store::append_private(path).and_then(|file| file.set_modified(at)).expect("a file");
        };
        assert_eq!(worked(1_750_000_000_000), 0, "nothing was kept");
        let second = |second| UNIX_EPOCH + Duration::from_secs(second);
        spoke(&files.transcript(), second(1_750_000_060));
        assert_eq!(worked(1_750_000_000_000), 60_000);
        spoke(&files.stderr(), second(1_750_000_090));
        assert_eq!(worked(1_750_000_000_000), 90_000, "the later one");
        assert_eq!(worked(1_750_000_100_000), 0, "a clock that was set back");
        assert_eq!(recover(&files, Format::Text, None, &Secrets::default()).duration_ms, 0);
        spoke(&files.stderr(), second(10_000_000_000));
        let now = clock::now();
        assert!(worked(now.millis() - 5_000) < 3_600_000, "a file from the future");
    }
}
