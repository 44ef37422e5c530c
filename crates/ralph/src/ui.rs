//! The only owner of standard output and standard error. Data goes to the first, talk to the second.
//!
//! On a terminal a run is shown in seed 001's boxes, with a line below that tells what goes on; without one in plain
//! `[ralph]` lines, each with its time. `--json` adds events on standard output.
//!
//! | file | holds |
//! |---|---|
//! | `boxes`, `plain` | a run for people, on a terminal and without one |
//! | `stream`, `fold` | where talk goes, and how it fits there |
//! | `data` | standard output |
//! | `live` | the line that is written over |
//! | `remarks` | what is worth a word beside them |
//! | `stops`, `summary` | each reason to stop in words; what came of a run |
//! | `first` | the screen before the first run in a project |

mod boxes;
mod data;
mod first;
mod fold;
mod live;
mod plain;
mod remarks;
mod stops;
mod stream;
mod summary;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::io::{IsTerminal, Write};
use std::time::Duration;

use ralph_core::decision::{Phase, Stop};
use ralph_core::effect::Effect;
use ralph_core::event::{Event, StopBy};
use ralph_core::journal::{Body, Record};
use ralph_core::redact::Secrets;
use ralph_core::state::State;
use ralph_core::time::Time;
use ralph_core::view;
use ralph_core::view::doing::Doing;
use ralph_core::view::event::{self, RunChanges};

use crate::clock;
use crate::error::Error;
use crate::unix::identity::OwnedFd;
pub(crate) use boxes::{budgets, describe_agent, reviews_of_a_claim, rules_set, wrap_whole as wrapped};
pub(crate) use first::Introduction;
use live::Live;
pub(crate) use live::Pulse;
use stream::Stream;
pub(crate) use summary::{flagged, taken, uncommitted};

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
    stream: Stream,
    colour: bool,
    /// Lines can be written over.
    moving: bool,
    /// Events are told on standard output.
    events: bool,
    /// A box has been begun and not closed.
    box_open: bool,
    live: Live,
    /// How wide the window is that standard output goes to; `None` for a file or a pipe. Asked once: lines may be many.
    output: OnceCell<Option<usize>>,
    /// Data was lost, and that was said.
    lost: Cell<bool>,
    /// Who read standard output has seen enough.
    unheard: Cell<bool>,
    /// The command line by which the run was begun, as it can be typed again.
    typed: Option<String>,
    /// What nobody is shown.
    secrets: Secrets,
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
    pub fn new(quiet: bool) -> Self {
        Self::on(Stream::Error, quiet)
    }

    /// Shows on standard output what others show on standard error.
    #[must_use]
    pub fn on_standard_output() -> Self {
        Self::on(Stream::Output, false)
    }

    /// Tells events as JSON on standard output too.
    #[must_use]
    pub fn with_events(mut self, events: bool) -> Self {
        self.events = events;
        self
    }

    pub fn tells_events(&self) -> bool {
        self.events
    }

    fn on(stream: Stream, quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let moving = stream.is_terminal() && !dumb;
        let mode = match quiet {
            true => Mode::Quiet,
            false if moving && stream.columns() >= boxes::COLUMNS => Mode::Boxes,
            false => Mode::Plain,
        };
        let colour = moving && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let (lost, unheard) = (Cell::new(false), Cell::new(false));
        let live = Live::default();
        let output = OnceCell::new();
        Self {
            mode,
            stream,
            colour,
            moving,
            events: false,
            box_open: false,
            live,
            output,
            lost,
            unheard,
            typed: None,
            secrets: Secrets::default(),
        }
    }

    /// Whoever sits before a terminal and sees nothing happen is told what is waited for.
    pub fn reads_standard_input(&self) {
        if std::io::stdin().is_terminal() {
            self.talk("reading standard input; end it with Ctrl-D\n");
        }
    }

    /// Has the terminal call the user: by its bell, or by a message (OSC 9). Where there is none it says why not.
    pub fn attract(&self, message: Option<&str>) -> std::result::Result<(), &'static str> {
        if !self.stream.is_terminal() {
            return Err("standard error is no terminal");
        }
        if !self.moving {
            return Err("TERM says that this terminal can do nothing of the kind");
        }
        match message {
            None => self.stream.write(b"\x07"),
            Some(message) => {
                // What ends the message must not stand in it.
                let plain: String = message.chars().filter(|c| !c.is_control()).collect();
                self.stream.write(format!("\x1b]9;{plain}\x07").as_bytes());
            }
        }
        Ok(())
    }

    /// Talk that is already laid out.
    pub fn talk(&self, text: &str) {
        self.stream.write(self.stream.folded(text).as_bytes());
    }

    /// A line of talk.
    pub fn say(&mut self, line: &str) {
        self.line(Tone::Plain, line);
    }

    /// What is worth a word, unless only the end is wanted.
    pub fn remark(&mut self, what: &str) {
        match self.mode {
            Mode::Quiet => {}
            Mode::Boxes if self.box_open => self.lines(Tone::Plain, &boxes::noted(what)),
            Mode::Boxes => self.prose(Tone::Plain, what),
            Mode::Plain => self.plain(Tone::Plain, what),
        }
    }

    pub fn warn(&mut self, what: &str) {
        match self.mode {
            Mode::Boxes if self.box_open => self.lines(Tone::Warning, &boxes::noted(what)),
            Mode::Boxes => self.prose(Tone::Warning, &format!("⚠ {what}")),
            Mode::Plain | Mode::Quiet => self.plain(Tone::Warning, &format!("warning: {what}")),
        }
    }

    pub fn error(&mut self, error: &Error) {
        self.close_box();
        self.line(Tone::Bad, &error.to_string());
        if !error.is_all {
            self.line(Tone::Faint, &format!("  more: ralph explain {}", error.exit as u8));
        }
        self.tell_failure(error);
    }

    /// The last event, where events are told.
    pub(crate) fn tell_failure(&mut self, error: &Error) {
        if self.events {
            let (why, exit) = (error.why.as_deref(), error.exit as u8);
            self.json_line(&event::failed(clock::now(), &error.what, why, &error.hints, exit));
        }
    }

    /// What is heard of the agent or check that was just shown to start.
    pub(crate) fn pulse(&self) -> Pulse {
        self.live.pulse()
    }

    /// When the line about what goes on changes by itself, if anybody sees it.
    pub fn next_change(&self) -> Option<Duration> {
        let ms = self.live.next_change_ms(clock::now()).filter(|_| self.moves())?;
        Some(Duration::from_millis(ms))
    }

    /// Draws that line again: only on a terminal, over the old one, and never wider than the window.
    pub fn draw(&mut self) {
        if !self.moves() {
            return;
        }
        let edge = match (self.mode, self.box_open) {
            (Mode::Boxes, true) => "  │  ",
            (Mode::Boxes, false) => "  ",
            _ => "",
        };
        // A line that fills the last column may wrap, and so would the `^C` that a terminal puts behind it.
        let room = self.stream.columns().saturating_sub(edge.chars().count() + 3);
        let Some(line) = self.live.line(clock::now(), room) else { return };
        let line = format!("\r\u{1b}[K{}", self.painted(Tone::Faint, &format!("{edge}{line}")));
        self.stream.write(line.as_bytes());
        self.live.drawn = true;
    }

    fn moves(&self) -> bool {
        self.moving && self.mode != Mode::Quiet
    }

    /// The agent of the current iteration uses a tool.
    pub fn tool(&mut self, state: &State, name: &str, target: Option<&str>) {
        if self.events {
            self.json_line(&event::tool(state, clock::now(), name, target));
        }
        self.draw();
    }

    /// Shows what a record means to somebody who watches. How a run stopped is shown by [`Ui::stopped`].
    pub fn show(&mut self, state: &State, record: &Record) {
        let (state, record) = (&*self.secrets.shown_state(state), &*self.secrets.shown_record(state, record));
        let Body::Step { event, decision } = &record.body else { return };
        self.live.is(Doing::of(state), state.totals);
        if self.events {
            event::of(state, record).iter().for_each(|event| self.json_line(event));
        }
        match self.mode {
            Mode::Quiet => {}
            Mode::Boxes => self.show_boxes(state, record),
            Mode::Plain => {
                let mark = self.mark(record.at);
                for (tone, line) in plain::lines(state, event, decision, record.at) {
                    self.line(tone, &format!("{mark}{line}"));
                }
            }
        }
        self.draw();
    }

    /// What goes on already when somebody begins to watch.
    pub fn join(&mut self, state: &State) {
        let state = &*self.secrets.shown_state(state);
        self.live.is(Doing::of(state), state.totals);
        if let (Mode::Boxes, Phase::Working | Phase::Checking, Some(current)) =
            (self.mode, &state.phase, &state.current)
        {
            self.lines(Tone::Plain, &boxes::begin(state, current));
            self.box_open = true;
        }
        self.draw();
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
            self.lines(Tone::Plain, &boxes::conclude(state, last));
            for (tone, line) in remarks::remarks(state, last) {
                self.prose(tone, &line);
            }
            self.line(Tone::Plain, "");
        }
        for (tone, line) in remarks::baseline(state, event)
            .into_iter()
            .chain(remarks::failing_already(state, event, decision))
            .chain(remarks::touched(state, event))
            .chain(remarks::settled(state, event))
        {
            self.prose(tone, &line);
        }
        if let Some(line) = plain::asked(event, decision) {
            match self.box_open {
                true => self.lines(Tone::Plain, &boxes::beside(&line)),
                false => self.prose(Tone::Plain, &line),
            }
        }
        if let Some(line) = plain::wait(event, decision, record.at) {
            self.prose(Tone::Warning, &format!("⚠ {line}"));
            self.line(Tone::Plain, "");
        }
        let starts = decision.effects.iter().any(|effect| matches!(effect, Effect::StartAgent));
        if let (true, Some(current)) = (starts, &state.current) {
            self.lines(Tone::Plain, &boxes::begin(state, current));
            self.box_open = true;
        }
        let ends = |effect: &Effect| matches!(effect, Effect::EndAgent { .. } | Effect::EndCheck { .. });
        if decision.effects.iter().any(ends) {
            self.live.notice(match event {
                Event::StopAsked { by: StopBy::Interrupt | StopBy::Terminate } => {
                    "stopping; once more to leave at once".into()
                }
                _ => decision.reasons.first().map(|reason| reason.text.clone()).unwrap_or_default(),
            });
        }
    }

    /// How a run stopped and what came of it.
    pub fn stopped(&mut self, state: &State, stop: &Stop, changes: Option<&RunChanges>) {
        let (state, stop) = (&*self.secrets.shown_state(state), &*self.secrets.shown(stop));
        self.live.is(None, state.totals);
        match self.mode {
            Mode::Quiet => {}
            Mode::Boxes => {
                // It was stopped before it was judged, and yet it did something.
                if let Some(current) = state.current.as_ref().filter(|current| current.ended.is_some())
                    && std::mem::take(&mut self.box_open)
                {
                    self.lines(Tone::Plain, &boxes::conclude(state, current));
                    self.line(Tone::Plain, "");
                }
                self.close_box();
                self.lines(stops::tone_of(state, stop), &boxes::halted(state, stop, changes));
            }
            Mode::Plain => {
                for (tone, line) in plain::stopped(state, stop, changes) {
                    self.plain(tone, &line);
                }
            }
        }
        if self.events {
            self.json_line(&event::stopped(state, stop, changes, clock::now()));
        }
    }

    /// A run that was not even begun, and what to do about it.
    pub fn refused(&mut self, last: &State, stop: &Stop) {
        // It was asked for another goal, which a probe has to name again, with all that was typed beside it.
        let typed = self.typed.as_deref().and_then(|typed| typed.strip_prefix("ralph run"));
        let rest = typed.unwrap_or(" \"GOAL\"").to_owned();
        let named = |step: String| match step.split_once("ralph run --probe") {
            // What is said once more replaces what was typed.
            Some((what, flags)) if !flags.is_empty() && rest.contains("--permissions") => {
                format!("{what}ralph run --probe, with{flags} in place of what you typed")
            }
            Some((what, flags)) => format!("{what}ralph run --probe{flags}{rest}"),
            None => step,
        };
        let steps = stops::next_steps(last, stop).into_iter().map(named);
        self.not_begun(last, stop, "no new run was begun", steps);
    }

    /// A run that would stop again at once.
    pub fn refused_again(&mut self, last: &State, stop: &Stop) {
        let last = &*self.secrets.shown_state(last);
        let number = last.run.as_ref().map_or(0, |run| run.number);
        let said = format!("run {number} is as it was: nothing was run or written");
        self.not_begun(last, stop, &said, stops::next_steps(last, stop).into_iter());
    }

    fn not_begun(&mut self, last: &State, stop: &Stop, said: &str, steps: impl Iterator<Item = String>) {
        if self.mode != Mode::Quiet {
            let mark = if self.mode == Mode::Boxes { "  ".into() } else { self.mark(clock::now()) };
            self.line(stops::tone(stop), &format!("{mark}{}", stops::in_a_line(stop)));
            for weak in view::weak_points(last, stop) {
                self.line(Tone::Warning, &format!("{mark}{weak}"));
            }
            self.line(Tone::Plain, &format!("{mark}{said}"));
        }
        self.tell_not_begun(last, stop);
        self.steps(stop, &view::ended(last, stop), steps);
    }

    /// The same where one thing was asked for, and nothing is to be done about it.
    pub(crate) fn nothing_to_do(&mut self, what: &str, next: &str) {
        if self.mode == Mode::Quiet {
            return self.plain(Tone::Plain, what);
        }
        self.remark(what);
        self.remark("no new run was begun");
        self.step(next);
    }

    /// The only event of a run that was not begun. Nothing was used or changed: the last run's figures would be taken for
    /// this one's.
    pub(crate) fn tell_not_begun(&mut self, last: &State, stop: &Stop) {
        if self.events {
            let mut event = event::stopped(&State::default(), stop, None, clock::now());
            event["text"] = view::ended(last, stop).into();
            self.json_line(&event);
        }
    }

    /// What to do next, after a run has stopped.
    pub fn next_steps(&mut self, state: &State, stop: &Stop) {
        let (state, stop) = (&*self.secrets.shown_state(state), &*self.secrets.shown(stop));
        let steps = stops::next_steps_of(state, stop, self.typed.as_deref());
        self.steps(stop, &view::ended(state, stop), steps.into_iter());
    }

    /// What is not to be shown from now on, where it stands in a command.
    pub(crate) fn hides(&mut self, secrets: &Secrets) {
        self.secrets = secrets.clone();
    }

    /// The text as it may be shown.
    pub(crate) fn hidden<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.secrets.hide(text)
    }

    /// By which command line this run begins; none where it goes on with what another one began.
    pub(crate) fn begun_by(&mut self, typed: Option<String>) {
        self.typed = typed;
    }

    /// A command alone, which people can copy whole.
    pub(crate) fn command(&mut self, command: &str) {
        self.exact(Tone::Plain, &format!("  {command}"));
    }

    /// One more thing to do, with a command in it.
    pub(crate) fn step(&mut self, line: &str) {
        match self.mode {
            Mode::Quiet => {}
            Mode::Boxes => self.exact(Tone::Faint, &format!("  {line}")),
            Mode::Plain => self.exact(Tone::Faint, &format!("{}{line}", self.mark(clock::now()))),
        }
    }

    fn steps(&mut self, stop: &Stop, words: &str, steps: impl Iterator<Item = String>) {
        let indent = match self.mode {
            Mode::Boxes => "  ".into(),
            Mode::Plain | Mode::Quiet => self.mark(clock::now()),
        };
        if self.mode == Mode::Quiet {
            let words = clock::for_people(words);
            return self.line(stops::tone(stop), &format!("{indent}{words}"));
        }
        for step in steps {
            self.exact(Tone::Faint, &format!("{indent}{step}"));
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

    /// A remark beside the boxes.
    fn prose(&mut self, tone: Tone, text: &str) {
        self.line(tone, &format!("  {text}"));
    }

    /// What a plain line begins with. Lines that go elsewhere than to a terminal are read later, and need their time.
    fn mark(&self, at: Time) -> String {
        if self.stream.is_terminal() {
            "[ralph] ".into()
        } else {
            format!("[ralph] {} ", clock::with_zone(at))
        }
    }

    fn plain(&mut self, tone: Tone, line: &str) {
        let mark = self.mark(clock::now());
        self.line(tone, &format!("{mark}{line}"));
    }

    fn line(&mut self, tone: Tone, line: &str) {
        self.clear();
        let line = self.stream.folded(line);
        self.stream.write(format!("{}\n", self.painted(tone, &line)).as_bytes());
    }

    /// A line with a command in it, which people can copy whole.
    fn exact(&mut self, tone: Tone, line: &str) {
        self.clear();
        let line = &self.stream.folded_whole(line);
        self.stream.write(format!("{}\n", self.painted(tone, line)).as_bytes());
    }

    /// Takes the line that is written over off the screen.
    fn clear(&mut self) {
        if std::mem::take(&mut self.live.drawn) {
            self.stream.write(b"\r\x1b[K");
        }
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
}

/// Leaves without waiting for anything. The keepers end what they keep.
#[expect(clippy::disallowed_methods, reason = "the second Ctrl-C")]
pub fn leave_at_once(code: i32) -> ! {
    let now = if Stream::Error.is_terminal() {
        String::new()
    } else {
        format!("{} ", clock::with_zone(clock::now()))
    };
    let line = format!("\n[ralph] {now}left at once; to go on: ralph run\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    std::process::exit(code)
}

/// Leaves with a last line on standard output, from wherever that is.
#[expect(clippy::disallowed_methods, reason = "a fault in a hook must not hold the session")]
pub fn leave_with(line: &str, code: i32) -> ! {
    if !line.is_empty() {
        let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
    }
    std::process::exit(code)
}

/// The files that standard output and standard error go to, device and inode each: what ralph says there is not work.
pub fn own_outputs() -> Vec<(u64, u64)> {
    [Stream::Output, Stream::Error].into_iter().filter_map(Stream::file).collect()
}

/// Why a run stopped, or would stop at once, without its title.
pub(crate) fn described(stop: &Stop) -> String {
    stops::details(stop).join("; ")
}

/// What to do after a run has stopped like this.
pub(crate) fn next_steps(state: &State, stop: &Stop) -> Vec<String> {
    stops::next_steps(state, stop)
}

/// The flag that names the run's backlog to a command, where one is needed.
pub(crate) fn which_backlog(state: &State) -> String {
    stops::which(state)
}

/// How to continue after a run has stopped like this.
pub(crate) fn to_continue(state: &State, stop: &Stop) -> Vec<String> {
    stops::to_continue(state, stop)
}

/// How many columns a text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    fold::width(text)
}

/// The same step where an answer is noted already.
pub(crate) fn answered(step: &str) -> String {
    stops::answered(step)
}

/// Whether a person may be looking.
pub fn watched() -> bool {
    Stream::Error.is_terminal()
}

/// Whether what was asked for is shown to somebody.
pub fn shown() -> bool {
    Stream::Output.is_terminal()
}

/// Where data goes, to find out that nobody reads it any more.
pub fn output() -> std::io::Result<OwnedFd> {
    Stream::Output.held()
}

/// Whether there is somebody to ask.
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && Stream::Error.is_terminal()
}

/// Asks a question on the terminal; `None` when there is nobody to ask.
pub fn ask(question: &str) -> Option<String> {
    if !can_ask() {
        return None;
    }
    Stream::Error.write(Stream::Error.folded(question).as_bytes());
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer).ok()?;
    if read == 0 || !answer.ends_with('\n') {
        // Ctrl-D leaves the cursor behind the question.
        Stream::Error.write(b"\n");
    }
    Some(answer.trim().to_owned())
}
