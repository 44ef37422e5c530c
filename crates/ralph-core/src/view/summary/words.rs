//! A summary in words: plain lines that fit a phone, at most [`MOST_LINES`] of them.

use super::{Named, ParkedLine, PassedItem, Rests, Summary, UnfinishedItem, WaitingLine};
use crate::prelude::*;
use crate::text::{count, one_line};
use crate::time::{Time, duration};
use crate::view;

/// How long a summary may become.
const MOST_LINES: usize = 25;

/// How much of the title a lock screen shows.
const LONGEST_HEADLINE: usize = 60;

const LONGEST_REASON: usize = 300;

/// How lines are measured, and how moments are shown.
#[derive(Clone, Copy)]
pub struct Page<'a> {
    pub columns: usize,
    /// How many columns a text takes.
    pub width: &'a dyn Fn(&str) -> usize,
    /// A moment on the user's clock, with its zone.
    pub moment: &'a dyn Fn(Time) -> String,
    /// A text whose moments are shown on the user's clock.
    pub readable: &'a dyn Fn(&str) -> String,
}

/// How much of each part is shown. A summary that is too long is laid out again with less.
#[derive(Clone, Copy)]
struct Room {
    /// Items that passed, one a line; 0: their names in a row.
    passed: usize,
    /// Of a question or a reason; 0: as much as a line holds.
    text: usize,
    parked: usize,
    /// Items that wait, one a line; 0: their names in a row.
    waiting: usize,
    /// Items that are not done, one a line; 0: their names in a row.
    unfinished: usize,
    commits: usize,
    next: usize,
}

const ROOMS: [Room; 6] = [
    Room { passed: 12, text: 500, parked: 12, waiting: 12, unfinished: 12, commits: 12, next: 5 },
    Room { passed: 12, text: 300, parked: 12, waiting: 12, unfinished: 5, commits: 3, next: 3 },
    Room { passed: 0, text: 300, parked: 12, waiting: 5, unfinished: 5, commits: 3, next: 3 },
    Room { passed: 0, text: 140, parked: 12, waiting: 0, unfinished: 3, commits: 1, next: 2 },
    Room { passed: 0, text: 0, parked: 10, waiting: 0, unfinished: 0, commits: 0, next: 1 },
    Room { passed: 0, text: 0, parked: 5, waiting: 0, unfinished: 0, commits: 0, next: 1 },
];

impl Summary {
    /// The first line, short enough for a lock screen.
    pub fn title(&self, page: &Page<'_>) -> String {
        let headline = one_line(&(page.readable)(&self.headline()), LONGEST_HEADLINE);
        let counts = self.counts();
        match counts.is_empty() {
            true => format!("Run {}: {headline}", self.run),
            false => format!("Run {}: {headline}; {}", self.run, counts.join(", ")),
        }
    }

    /// All of it, the title first.
    pub fn lines(&self, page: &Page<'_>) -> Vec<String> {
        let mut lines = vec![];
        for room in &ROOMS {
            lines = Sheet::new(page).filled(self, room);
            if lines.len() <= MOST_LINES {
                return lines;
            }
        }
        lines.truncate(MOST_LINES - 1);
        lines.push(ALL.into());
        lines
    }

    fn headline(&self) -> String {
        let Some(ended) = &self.ended else {
            return if self.status == "cut_off" { "cut off".into() } else { "still running".into() };
        };
        let first = ended.text.split("; ").next().unwrap_or_default();
        match ended.reason {
            "blocked" => "blocked".into(),
            // What the agent printed comes below.
            "agents_exhausted" | "circuit_open" => first.split(": ").next().unwrap_or(first).into(),
            _ => first.into(),
        }
    }

    fn counts(&self) -> Vec<String> {
        let Some(items) = self.items else { return vec![] };
        let of = |rests_on| self.passed.iter().filter(|one| one.rests_on == rests_on).count();
        let named = |count: usize, word: &str| (count > 0).then(|| format!("{count} {word}"));
        let counts = [
            named(of(Rests::Proved), "proved"),
            named(of(Rests::GreenAlready), "passed"),
            named(of(Rests::Claimed), "claimed"),
            named(self.parked.len(), "parked"),
            named(self.waiting.len(), "waiting"),
        ];
        let left = format!("{} of {} open", items.open, count(items.total, "item"));
        counts.into_iter().flatten().chain([left]).collect()
    }

    /// What the title leaves out of how the run ended.
    fn reason(&self) -> Option<String> {
        let ended = self.ended.as_ref()?;
        let rest = ended.text.strip_prefix(&self.headline())?.trim_start_matches([';', ':', ' ']);
        // The question stands below.
        let asked = ended.reason == "blocked" && !self.parked.is_empty();
        (!rest.is_empty() && !asked).then(|| rest.into())
    }

    fn figures(&self) -> String {
        let (agents, whole) = (duration(self.totals.agent_ms), duration(self.active_ms));
        let time = if agents == whole { whole } else { format!("{whole} (agents {agents})") };
        let cost = match (self.totals.usage.total(), self.totals.cost_micro_usd) {
            (0, None) => "cost unknown".into(),
            _ => view::cost(&self.totals),
        };
        format!("{}, {time}, {cost}", count(self.iterations, "iteration"))
    }

    fn moment(&self, page: &Page<'_>) -> String {
        let verb = if self.ended.is_some() { "ended" } else { "last record" };
        format!("{verb} {}", (page.moment)(self.updated_at))
    }
}

const ALL: &str = "More: ralph summary --json";

/// The lines so far.
struct Sheet<'a> {
    page: &'a Page<'a>,
    lines: Vec<String>,
}

impl<'a> Sheet<'a> {
    fn new(page: &'a Page<'a>) -> Self {
        Self { page, lines: vec![] }
    }

    fn filled(mut self, summary: &Summary, room: &Room) -> Vec<String> {
        self.wrap(0, &summary.title(self.page));
        if let Some(reason) = summary.reason() {
            let reason = one_line(&(self.page.readable)(&reason), LONGEST_REASON);
            if room.text == 0 { self.line(&reason) } else { self.wrap(0, &reason) }
        }
        if summary.items.is_none() {
            self.wrap(2, &format!("Goal: {}", one_line(&summary.goal, 150)));
        }
        let (figures, moment) = (summary.figures(), summary.moment(self.page));
        let both = format!("{figures}; {moment}");
        if (self.page.width)(&both) <= self.page.columns {
            self.line(&both);
        } else {
            self.wrap(2, &figures);
            self.line(&moment);
        }
        self.parked(&summary.parked, room);
        self.waiting(&summary.waiting, room);
        self.unfinished(&summary.unfinished, room);
        for (rests_on, heading) in [
            (Rests::Proved, "Proved"),
            (Rests::GreenAlready, "Passed by checks that were green already"),
            (Rests::Claimed, "Claimed, with no check to prove it"),
        ] {
            let of_kind: Vec<&PassedItem> =
                summary.passed.iter().filter(|one| one.rests_on == rests_on).collect();
            self.passed(heading, &of_kind, summary, room);
        }
        self.commits(summary, room);
        if let [only] = summary.next.as_slice() {
            self.wrap(2, &format!("Next: {only}"));
        } else if !summary.next.is_empty() {
            self.wrap(0, "Next:");
            // How to continue comes last.
            let first = summary.next.len().saturating_sub(room.next);
            summary.next[first..].iter().for_each(|step| self.wrap(4, &format!("  {step}")));
        }
        self.lines
    }

    fn parked(&mut self, parked: &[ParkedLine], room: &Room) {
        if parked.is_empty() {
            return;
        }
        match parked.iter().any(|one| one.item.is_none()) {
            true => self.wrap(0, "Needs your answer:"),
            false => self.wrap(0, &format!("Parked ({}):", parked.len())),
        }
        for one in parked.iter().take(room.parked) {
            let name =
                one.item.as_ref().map_or_else(|| "the goal".into(), |item| self.fit(&item.words(), 60));
            let short = one.item.as_ref().map_or("the goal", Named::short);
            let asked = one.question.as_ref();
            match (room.text, asked) {
                (0, asked) => self.line(&format!("  {short}: {}", asked.unwrap_or(&one.reason))),
                (most, Some(asked)) => {
                    self.wrap(4, &format!("  {name}: {}: {}", one.reason, one_line(asked, most)));
                }
                (most, None) => self.wrap(4, &format!("  {name}: {}", one_line(&one.reason, most))),
            }
            self.lines.push(match &one.leave_out_with {
                Some(leave_out) => format!("    try again: {}; leave out: {leave_out}", one.answer_with),
                None => format!("    answer with: {}", one.answer_with),
            });
        }
        self.more(parked.len(), room.parked);
    }

    fn waiting(&mut self, waiting: &[WaitingLine], room: &Room) {
        if waiting.is_empty() {
            return;
        }
        if room.waiting == 0 {
            return self.in_a_row("Waiting", waiting.len(), waiting.iter().map(|one| &one.item));
        }
        self.wrap(0, &format!("Waiting ({}):", waiting.len()));
        for one in waiting.iter().take(room.waiting) {
            let name = self.fit(&one.item.words(), 60);
            self.wrap(4, &format!("  {name}: for {}", one_line(&one.waits_for.join(", "), 60)));
        }
        self.more(waiting.len(), room.waiting);
    }

    fn unfinished(&mut self, unfinished: &[UnfinishedItem], room: &Room) {
        if unfinished.is_empty() {
            return;
        }
        if room.unfinished == 0 {
            return self.in_a_row("Not done yet", unfinished.len(), unfinished.iter().map(|one| &one.item));
        }
        self.wrap(0, &format!("Not done yet ({}):", unfinished.len()));
        for one in unfinished.iter().take(room.unfinished) {
            let why = one
                .why
                .as_ref()
                .map_or_else(String::new, |why| format!(", {}", one_line(why, room.text.min(200))));
            let name = self.fit(&one.item.words(), 60);
            self.wrap(4, &format!("  {name}: {}{why}", count(one.attempts, "attempt")));
        }
        self.more(unfinished.len(), room.unfinished);
    }

    fn passed(&mut self, heading: &str, passed: &[&PassedItem], summary: &Summary, room: &Room) {
        if passed.is_empty() {
            return;
        }
        if room.passed == 0 {
            return self.in_a_row(heading, passed.len(), passed.iter().map(|one| &one.item));
        }
        self.wrap(0, &format!("{heading} ({}):", passed.len()));
        for one in passed.iter().take(room.passed) {
            let known = |hash: &String| summary.commits.iter().find(|commit| commit.hash == *hash);
            let words = match one.commit.as_ref().map(|hash| (hash, known(hash))) {
                Some((hash, Some(commit))) => {
                    let subject = commit.subject.clone().unwrap_or_else(|| one.item.title.clone());
                    let id = if one.item.made_id { String::new() } else { format!("{} ", one.item.id) };
                    format!("{id}{} {subject}", short(hash))
                }
                Some((hash, None)) => format!("{} ({})", one.item.words(), short(hash)),
                None => format!("{}, not committed", one.item.words()),
            };
            self.line(&format!("  {words}"));
        }
        self.more(passed.len(), room.passed);
    }

    /// Those that are not named with an item already.
    fn commits(&mut self, summary: &Summary, room: &Room) {
        let named = |hash: &String| {
            room.passed > 0 && summary.passed.iter().any(|one| one.commit.as_ref() == Some(hash))
        };
        let others: Vec<_> = summary.commits.iter().filter(|commit| !named(&commit.hash)).collect();
        if others.is_empty() {
            return;
        }
        if room.commits == 0 {
            let (first, last) = (&others[0].hash, &others[others.len() - 1].hash);
            let range = if others.len() == 1 {
                short(first).into()
            } else {
                format!("{} to {}", short(first), short(last))
            };
            return self.wrap(2, &format!("Commits ({}): {range}", others.len()));
        }
        self.wrap(0, &format!("Commits ({}):", others.len()));
        for commit in others.iter().take(room.commits) {
            let subject = commit.subject.as_deref().unwrap_or("not in the repository any more");
            let by = if commit.by_agent { " (by the agent)" } else { "" };
            self.line(&format!("  {} {}{by}", short(&commit.hash), one_line(subject, 200)));
        }
        self.more(others.len(), room.commits);
    }

    fn in_a_row<'n>(&mut self, heading: &str, count: usize, items: impl Iterator<Item = &'n Named>) {
        let mut names: Vec<String> = items.take(10).map(|item| one_line(item.short(), 30)).collect();
        if count > names.len() {
            names.push(format!("and {} more", count - names.len()));
        }
        self.wrap(2, &format!("{heading} ({count}): {}", names.join(", ")));
    }

    fn more(&mut self, all: usize, shown: usize) {
        if all > shown {
            self.lines.push(format!("  and {} more: ralph summary --json", all - shown));
        }
    }

    /// The beginning of a text, so many columns wide at most.
    fn fit(&self, text: &str, most: usize) -> String {
        let width = self.page.width;
        if width(text) <= most {
            return text.into();
        }
        let mut kept = String::new();
        for c in text.chars() {
            kept.push(c);
            if width(&kept) >= most {
                kept.pop();
                break;
            }
        }
        format!("{}…", kept.trim_end())
    }

    /// A line that is cut where the page ends.
    fn line(&mut self, text: &str) {
        let line = self.fit(text, self.page.columns);
        self.lines.push(line);
    }

    /// A line that is broken between words; the rest of it stands below, indented.
    fn wrap(&mut self, hang: usize, text: &str) {
        let (width, columns) = (self.page.width, self.page.columns);
        let indent = text.len() - text.trim_start_matches(' ').len();
        let mut line = " ".repeat(indent);
        let mut is_empty = true;
        for word in text.split_whitespace() {
            if !is_empty && width(&line) + 1 + width(word) > columns {
                self.lines.push(core::mem::replace(&mut line, " ".repeat(hang)));
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
        self.lines.push(line);
    }
}

/// The part of a commit's name that people use.
fn short(hash: &str) -> &str {
    hash.get(..9).unwrap_or(hash)
}
