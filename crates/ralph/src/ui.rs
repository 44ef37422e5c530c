//! The only owner of standard output and standard error. Data goes to the first, talk to the second.
//!
//! On a terminal a run is shown in seed 001's boxes; without one in plain `[ralph]` lines.

mod boxes;
mod plain;
mod stops;

use std::cell::Cell;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use ralph_core::decision::{Kind, Outcome, Phase, Stop, Verdict};
use ralph_core::effect::Effect;
use ralph_core::event::{Event, StopBy};
use ralph_core::evidence::Held;
use ralph_core::journal::{Body, Record};
use ralph_core::own_files;
use ralph_core::state::State;
use ralph_core::{text, view};
use unicode_width::UnicodeWidthStr;

use crate::error::{Error, Exit};

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Boxes,
    Plain,
    /// Only how it ended.
    Quiet,
}

#[derive(Debug)]
pub struct Ui {
    mode: Mode,
    colour: bool,
    columns: usize,
    /// A box has been begun and not closed.
    box_open: bool,
    live: bool,
    /// Data was lost, and that was said.
    lost: Cell<bool>,
}

/// What a line means; colours follow meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tone {
    Plain,
    Good,
    Bad,
    Warning,
    Faint,
}

impl Ui {
    #[expect(clippy::disallowed_methods, reason = "the owner of standard error")]
    pub fn new(quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let columns =
            rustix::termios::tcgetwinsize(std::io::stderr()).map_or(80, |size| usize::from(size.ws_col));
        let columns = if columns == 0 { 80 } else { columns };
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let mode = match quiet {
            true => Mode::Quiet,
            false if terminal && !dumb && columns >= boxes::COLUMNS => Mode::Boxes,
            false => Mode::Plain,
        };
        let colour = terminal && !dumb && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { mode, colour, columns, box_open: false, live: false, lost: Cell::new(false) }
    }

    /// Data, for standard output, as it is.
    #[expect(clippy::disallowed_methods, reason = "the owner of standard output")]
    pub fn data(&self, bytes: &[u8]) {
        if self.lost.get() {
            return;
        }
        let mut out = std::io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            // A reader that has seen enough closes the pipe; that is no error.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                self.lost.set(true);
                let error = Error::new("cannot write to standard output").because(error);
                self.talk(&format!("{error}\n"));
            }
            _ => {}
        }
    }

    /// How the program ends that would end like this: whoever asked for data and did not get it all is told.
    pub fn ending(&self, code: ExitCode) -> ExitCode {
        if self.lost.get() { ExitCode::from(Exit::Error as u8) } else { code }
    }

    /// What somebody else printed, kept in a file: as it is, but it must not play with the terminal.
    #[expect(clippy::disallowed_methods, reason = "the owner of standard output")]
    pub fn kept(&self, bytes: &[u8]) {
        if std::io::stdout().is_terminal() {
            self.data(text::plain(&String::from_utf8_lossy(bytes)).as_bytes());
        } else {
            self.data(bytes);
        }
    }

    /// What differs, line by line: as it is into a pipe; on a terminal in colours, and without anybody else's codes.
    #[expect(clippy::disallowed_methods, reason = "the owner of standard output")]
    pub fn patch(&self, bytes: &[u8]) {
        if !std::io::stdout().is_terminal() {
            return self.data(bytes);
        }
        let mut shown = String::new();
        for line in text::plain(&String::from_utf8_lossy(bytes)).lines() {
            let tone = match line.as_bytes() {
                [b'+', ..] => Tone::Good,
                [b'-', ..] => Tone::Bad,
                [b'@', ..] => Tone::Faint,
                _ => Tone::Plain,
            };
            shown.push_str(&self.painted(tone, line));
            shown.push('\n');
        }
        self.data(shown.as_bytes());
    }

    pub fn data_line(&self, text: &str) {
        self.data(format!("{text}\n").as_bytes());
    }

    /// A document for machines.
    pub fn json(&self, document: &serde_json::Value) {
        self.data_line(&serde_json::to_string_pretty(document).unwrap_or_default());
    }

    /// Whoever sits before a terminal and sees nothing happen is told what is waited for.
    pub fn reads_standard_input(&self) {
        if std::io::stdin().is_terminal() {
            self.talk("reading standard input; end it with Ctrl-D\n");
        }
    }

    /// Talk that is already laid out.
    pub fn talk(&self, text: &str) {
        self.write(text.as_bytes());
    }

    /// A line of talk.
    pub fn say(&mut self, line: &str) {
        self.line(Tone::Plain, line);
    }

    pub fn warn(&mut self, what: &str) {
        let line = if self.mode == Mode::Boxes {
            format!("  ⚠ {what}")
        } else {
            format!("[ralph] warning: {what}")
        };
        self.line(Tone::Warning, &line);
    }

    pub fn error(&mut self, error: &Error) {
        self.close_box();
        self.line(Tone::Bad, &error.to_string());
    }

    /// What the agent is doing, in a line that is written over. Only on a terminal.
    pub fn live(&mut self, what: &str) {
        if self.mode != Mode::Boxes {
            return;
        }
        let what = fit(&text::one_line(what, 400), self.columns.saturating_sub(8));
        let line = format!("\r\u{1b}[K{}", self.painted(Tone::Faint, &format!("  │  … {what}")));
        self.write(line.as_bytes());
        self.live = true;
    }

    /// Shows what a record means to somebody who watches.
    pub fn show(&mut self, state: &State, record: &Record) {
        let Body::Step { event, decision } = &record.body else { return };
        match self.mode {
            Mode::Quiet => {}
            Mode::Boxes => self.show_boxes(state, record),
            Mode::Plain => {
                for (tone, line) in plain::lines(state, event, decision) {
                    self.line(tone, &format!("[ralph] {line}"));
                }
            }
        }
    }

    fn show_boxes(&mut self, state: &State, record: &Record) {
        let Body::Step { event, decision } = &record.body else { return };
        if let Event::RunStarted(_) | Event::RunResumed(_) = event {
            for line in boxes::header(state, matches!(event, Event::RunResumed(_))) {
                self.line(Tone::Plain, &line);
            }
        }
        if let (Some(_), Some(last)) = (&decision.concluded, &state.last) {
            if !std::mem::take(&mut self.box_open) {
                // The box was begun by a process that is gone.
                self.lines(Tone::Plain, &boxes::begin(state, last));
            }
            self.lines(Tone::Plain, &boxes::conclude(last));
            for (tone, line) in remarks(last) {
                self.line(tone, &format!("  {line}"));
            }
            self.line(Tone::Plain, "");
        }
        for (tone, line) in baseline(state, event).into_iter().chain(touched(state, event)) {
            self.line(tone, &format!("  {line}"));
        }
        if let Some(line) = plain::asked(event, decision) {
            match self.box_open {
                true => self.live(&line),
                false => self.line(Tone::Plain, &format!("  {line}")),
            }
        }
        if let Verdict::Wait = decision.verdict
            && let Some(reason) = decision.reasons.last()
        {
            self.line(Tone::Warning, &format!("  ⚠ {}", reason.text));
            self.line(Tone::Plain, "");
        }
        let starts = decision.effects.iter().any(|effect| matches!(effect, Effect::StartAgent));
        if let (true, Some(current)) = (starts, &state.current) {
            self.lines(Tone::Plain, &boxes::begin(state, current));
            self.box_open = true;
        }
        if let Event::StopAsked { by: StopBy::Interrupt | StopBy::Terminate } = event
            && !decision.effects.is_empty()
        {
            self.live("stopping; once more to leave at once");
        }
        if let Phase::Halted { stop } = &decision.next {
            self.close_box();
            let tone = stops::tone(stop);
            let lines = boxes::halted(state, stop);
            self.lines(tone, &lines);
        }
    }

    /// A run that was not even begun, and what to do about it.
    pub fn refused(&mut self, last: &State, stop: &Stop) {
        if self.mode != Mode::Quiet {
            let mark = if self.mode == Mode::Boxes { "  " } else { "[ralph] " };
            self.line(stops::tone(stop), &format!("{mark}{}", stops::in_a_line(stop)));
            self.line(Tone::Plain, &format!("{mark}no new run was begun; to try one iteration of it all the same: ralph run \"GOAL\" --probe"));
        }
        self.next_steps(last, stop);
    }

    /// What to do next, after a run has stopped.
    pub fn next_steps(&mut self, state: &State, stop: &Stop) {
        let indent = match self.mode {
            Mode::Boxes => "  ",
            Mode::Plain | Mode::Quiet => "[ralph] ",
        };
        if self.mode == Mode::Quiet {
            return self.line(stops::tone(stop), &format!("{indent}{stop}"));
        }
        for step in stops::next_steps(state, stop) {
            self.line(Tone::Faint, &format!("{indent}{step}"));
        }
    }

    fn close_box(&mut self) {
        if std::mem::take(&mut self.box_open) {
            self.line(Tone::Plain, &boxes::bottom());
            self.line(Tone::Plain, "");
        }
    }

    fn lines(&mut self, tone: Tone, lines: &[String]) {
        for line in lines {
            self.line(tone, line);
        }
    }

    fn line(&mut self, tone: Tone, line: &str) {
        let clear = if std::mem::take(&mut self.live) { "\r\u{1b}[K" } else { "" };
        let line = format!("{clear}{}\n", self.painted(tone, line));
        self.write(line.as_bytes());
    }

    fn painted(&self, tone: Tone, line: &str) -> String {
        let code = match tone {
            Tone::Plain => return line.to_owned(),
            _ if !self.colour => return line.to_owned(),
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Warning => "33",
            Tone::Faint => "2",
        };
        format!("\u{1b}[{code}m{line}\u{1b}[0m")
    }

    #[expect(clippy::disallowed_methods, reason = "the owner of standard error")]
    fn write(&self, bytes: &[u8]) {
        let mut err = std::io::stderr().lock();
        let _ = err.write_all(bytes).and_then(|()| err.flush());
    }
}

/// Leaves without waiting for anything. The keepers end what they keep.
#[expect(clippy::disallowed_methods, reason = "the second Ctrl-C")]
pub fn leave_at_once(code: i32) -> ! {
    let _ = std::io::stderr().write_all("\n[ralph] left at once; to go on: ralph run\n".as_bytes());
    std::process::exit(code)
}

/// Whether a person may be looking.
#[expect(clippy::disallowed_methods, reason = "the owner of standard error")]
pub fn watched() -> bool {
    std::io::stderr().is_terminal()
}

/// Asks a question on the terminal; `None` when there is nobody to ask.
#[expect(clippy::disallowed_methods, reason = "the owner of standard error")]
pub fn ask(question: &str) -> Option<String> {
    let (stdin, mut stderr) = (std::io::stdin(), std::io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return None;
    }
    let _ = write!(stderr, "{question}").and_then(|()| stderr.flush());
    let mut answer = String::new();
    stdin.read_line(&mut answer).ok()?;
    Some(answer.trim().to_owned())
}

/// How a check stood before the first iteration.
fn baseline(state: &State, event: &Event) -> Option<(Tone, String)> {
    let Event::CheckEnded(check) = event else { return None };
    if state.last.is_some() || state.current.as_ref().is_some_and(|current| current.started_at.is_some()) {
        return None;
    }
    match check.passed() {
        true => Some((Tone::Faint, format!("before the run: {}", check.describe()))),
        false => Some((Tone::Warning, format!("before the run: ✗ {}", check.describe()))),
    }
}

/// What was done to ralph's own files while no iteration was under way that could tell it at its end.
fn touched(state: &State, event: &Event) -> Vec<(Tone, String)> {
    let Event::OwnFilesTouched { touches } = event else { return vec![] };
    if state.current.is_some() {
        return vec![];
    }
    let lines = own_files::describe(state, touches).into_iter();
    lines.map(|line| (Tone::Warning, text::one_line(&line, 400))).collect()
}

/// What is worth a word about an iteration; above all a claim that the facts do not bear out.
fn remarks(last: &ralph_core::state::Iteration) -> Vec<(Tone, String)> {
    let Some(conclusion) = &last.conclusion else { return vec![] };
    let mut lines = vec![];
    let mut warn = |text: String| lines.push((Tone::Warning, text));
    last.own_files.iter().for_each(|touched| warn(text::one_line(touched, 400)));
    match conclusion.outcome {
        Outcome::Silent => warn("no report in what the agent printed; the prompt asks for one".into()),
        // A plain "more work" needs no remark; a report that contradicts itself does.
        Outcome::More
            if conclusion.words.contains("contradicts") || conclusion.words.contains("claims done") =>
        {
            warn(conclusion.words.clone());
        }
        Outcome::Accepted if last.kind == Kind::Review && last.progress() => {
            warn("the review changed something, so it is reviewed again".into());
        }
        _ => {}
    }
    let flagged = conclusion.evidence.conditions.iter().filter(|condition| condition.name == "leftovers");
    for condition in flagged.filter(|condition| condition.held == Held::NotApplicable) {
        warn(text::one_line(&condition.fact, 400));
    }
    conclusion.warnings.iter().for_each(|warning| warn(text::one_line(warning, 400)));
    if let Some(refusal) = &conclusion.refusal {
        lines.push((Tone::Bad, format!("✗ claimed done, refused: {}", text::one_line(refusal, 600))));
        if last.checks.iter().any(|check| !check.passed()) {
            lines.push((Tone::Faint, format!("  full output: ralph history {} --checks", last.number)));
        }
    }
    lines
}

/// The start of a text that fits into so many columns.
fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        if out.width() + unicode_width::UnicodeWidthChar::width(c).unwrap_or(0) + 1 > columns {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// `checks: cargo test exit 0; 1/1 reviews`
fn proof_line(state: &State) -> String {
    let Some(last) = &state.last else { return "none".into() };
    let conditions = last.conclusion.iter().flat_map(|conclusion| &conclusion.evidence.conditions);
    let checks = conditions.filter(|condition| condition.name.starts_with("check "));
    let mut parts: Vec<String> = checks.map(|condition| condition.fact.clone()).collect();
    if let Some(conclusion) = last.conclusion.as_ref().filter(|conclusion| conclusion.passes_needed > 0) {
        parts.push(format!("{}/{} reviews without a change", conclusion.passes, conclusion.passes_needed));
    }
    let word = match state.stop() {
        Some(Stop::Complete { proof }) => proof.word(),
        _ => "none",
    };
    if parts.is_empty() { word.to_owned() } else { format!("{word}: {}", parts.join("; ")) }
}

fn cost_line(state: &State) -> String {
    match (state.totals.usage.total(), state.totals.cost_micro_usd) {
        (0, None) => "cost not told by the agent".into(),
        _ => view::cost(&state.totals),
    }
}
