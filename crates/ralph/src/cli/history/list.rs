//! Every iteration of every run in a line, with the stops and undos between them.

use std::collections::VecDeque;
use std::process::ExitCode;

use ralph_core::decision::{Kind, Stop};
use ralph_core::event::PutBack;
use ralph_core::redact::Secrets;
use ralph_core::report::denied_tools;
use ralph_core::state::{Iteration, State, Undone};
use ralph_core::view;
use ralph_core::{text, time};
use serde_json::{Value, json};

use super::super::{fine, run};
use super::changed;
use crate::error::Result;
use crate::project::Project;
use crate::store::{ArmFile, Moment, Run, Runs};
use crate::ui::Ui;
use crate::{clock, secrets};

/// Of so many iterations the files are named.
const MOST_RECENT: usize = 50;

const LET_GO: &str = "  no iteration: no session wanted to stop before it was let go";

/// A line of the list. How an undo is told depends on what came after it.
enum Told {
    Line(String),
    Iteration(u64, String),
    /// After so many iterations.
    Stopped(u64, String),
    Undone(Undone),
}

impl Told {
    /// The last iteration at that time, where it was no iteration itself.
    fn after(&self) -> Option<u64> {
        match self {
            Told::Stopped(after, _) => Some(*after),
            Told::Undone(undone) => Some(undone.after),
            Told::Line(_) | Told::Iteration(..) => None,
        }
    }
}

/// What the list has, for people and for programs.
#[derive(Default)]
struct List {
    told: Vec<Told>,
    iterations: Vec<Value>,
    stops: Vec<Value>,
    undone: Vec<Value>,
    problems: Vec<String>,
    /// Those whose lines may be counted, the last few.
    recent: VecDeque<Iteration>,
}

pub(super) fn all(project: &Project, runs: &Runs, as_json: bool, ui: &Ui) -> Result<ExitCode> {
    let mut list = List::default();
    let secrets = secrets::of(&project.root);
    let arm = ArmFile::of(&project.truth).read().ok().flatten();
    let awaited = arm.filter(|arm| arm.session.is_none()).map(|arm| arm.run);
    for run in runs.all() {
        list.take(&run, &secrets, awaited == Some(run.number))?;
    }
    list.count_lines(project);
    if as_json {
        ui.json(&json!({
            "schema": "ralph.history/1",
            "iterations": list.iterations,
            "stops": list.stops,
            "undone": list.undone,
            "problems": list.problems,
        }));
    } else if list.told.is_empty() {
        ui.data_line(&run::nothing_yet(project));
    } else {
        list.lines().iter().for_each(|line| ui.data_line(line));
    }
    fine()
}

/// The newest iteration that there is something to tell of; 0 where there is none.
pub(in crate::cli) fn last_told(runs: &Runs) -> Result<u64> {
    let mut number = runs.last_iteration();
    while number > 0 {
        let found = runs.of_iteration(number)?;
        if found.is_some_and(|(_, iteration, state)| !is_nothing(&iteration, &state)) {
            break;
        }
        number -= 1;
    }
    Ok(number)
}

impl List {
    /// `awaited`: its session has not started yet.
    fn take(&mut self, run: &Run, secrets: &Secrets, awaited: bool) -> Result<()> {
        let heading = self.told.len();
        let mut unended = None;
        let opened = run.moments(|moment, state| {
            let state = &*secrets.shown_state(state);
            match moment {
                Moment::Iteration(iteration) => {
                    let iteration = &*secrets.shown_iteration(iteration);
                    unended = Some(iteration.number).filter(|_| iteration.ended.is_none());
                    self.iterations.push(view::json::iteration(iteration, run.number));
                    let pool = state.run.as_ref().is_some_and(|run| run.plan.agents.len() > 1);
                    self.place(heading, iteration.number, line(state, iteration, pool));
                    self.recent.push_back(iteration.clone());
                    let surplus = self.recent.len().saturating_sub(MOST_RECENT);
                    self.recent.drain(..surplus);
                }
                Moment::Stopped(stop) => {
                    let stop = &*secrets.shown(stop);
                    let words = format!("  stopped: {}", clock::for_people(&view::ended(state, stop)));
                    self.stops.push(view::json::stopped(state, stop, run.number));
                    self.told.push(Told::Stopped(state.iteration, words));
                }
                Moment::Undone(undone) => {
                    self.undone.push(view::json::undone(undone, run.number));
                    self.told.push(Told::Undone(undone.clone()));
                }
            }
        })?;
        match unended {
            Some(number) if awaited => {
                self.leave_out(number, run, heading, "  no iteration yet: its session has not started");
            }
            Some(number) if is_let_go(&opened.state) => self.leave_out(number, run, heading, LET_GO),
            _ => {}
        }
        let begun = secrets.shown_state(&opened.state);
        if begun.run.is_some() || !opened.problems.is_empty() {
            let goal =
                begun.run.as_ref().map_or("it is not on record how it began", |begun| begun.goal.as_str());
            let words = format!("run {}: {}", run.number, text::one_line(goal, 100));
            self.told.insert(heading, Told::Line(words));
        }
        for problem in &opened.problems {
            self.problems.push(format!("run {}: {problem}", run.number));
            self.told.push(Told::Line(format!("  journal: {problem}")));
        }
        Ok(())
    }

    /// The files of the last iterations by name, with their lines.
    fn count_lines(&mut self, project: &Project) {
        let recent = self.recent.make_contiguous();
        let counts = changed::counts(project, recent);
        for entry in &mut self.iterations {
            let number = entry["iteration"].as_u64().unwrap_or(0);
            view::counted::add_to(entry, counts.get(&number));
        }
        for told in &mut self.told {
            let Told::Iteration(number, line) = told else { continue };
            let iteration = recent.iter().find(|iteration| iteration.number == *number);
            let named = iteration.and_then(|iteration| view::counted::named(iteration, counts.get(number)));
            line.extend(named.map(|named| format!("\n        {named}")));
        }
    }

    /// One that was under way when the run stopped, or when its files were put back, is told before that.
    fn place(&mut self, heading: usize, number: u64, line: String) {
        let later = |told: &Told| told.after().is_some_and(|after| after >= number);
        let at = self.told[heading..].iter().position(later).map_or(self.told.len(), |at| heading + at);
        self.told.insert(at, Told::Iteration(number, line));
    }

    /// What a session was to do, and nobody has seen any of.
    fn leave_out(&mut self, number: u64, run: &Run, heading: usize, instead: &str) {
        self.iterations.retain(|entry| entry["run"] != run.number || entry["iteration"] != number);
        let of_it = |told: &Told| matches!(told, Told::Iteration(known, _) if *known == number);
        let Some(at) = self.told.iter().rposition(of_it) else { return };
        self.told.remove(at);
        if !self.told[heading..].iter().any(|told| matches!(told, Told::Iteration(..))) {
            self.told.insert(at, Told::Line(instead.into()));
        }
    }

    fn lines(&self) -> Vec<String> {
        let undone: Vec<&Undone> = self.told.iter().filter_map(undo).collect();
        let taken_back = pairs(&undone);
        let mut nth = 0;
        let line = |told: &Told| match told {
            Told::Line(line) | Told::Iteration(_, line) | Told::Stopped(_, line) => line.clone(),
            Told::Undone(one) => {
                nth += 1;
                undone_line(one, nth - 1, &taken_back)
            }
        };
        self.told.iter().map(line).collect()
    }
}

fn undo(told: &Told) -> Option<&Undone> {
    if let Told::Undone(undone) = told { Some(undone) } else { None }
}

/// Which undo was taken back by which: it went the same way back, and nobody had done anything in between.
fn pairs(undone: &[&Undone]) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = vec![];
    for (later, one) in undone.iter().enumerate() {
        let back = |earlier: &PutBack| {
            one.put_back.iteration.is_none()
                && (&one.put_back.from, &one.put_back.to) == (&earlier.to, &earlier.from)
        };
        let is_free = |nth: &usize| !pairs.iter().any(|(earlier, later)| earlier == nth || later == nth);
        let taken = (0..later).rev().find(|nth| is_free(nth) && back(&undone[*nth].put_back));
        pairs.extend(taken.map(|earlier| (earlier, later)));
    }
    pairs
}

/// The way back is named only where it leads anywhere.
fn undone_line(one: &Undone, nth: usize, taken_back: &[(usize, usize)]) -> String {
    if taken_back.iter().any(|(_, later)| *later == nth) {
        let files = text::count(one.put_back.files, "file");
        return format!("  undo taken back after #{}: {files} as before it", one.after);
    }
    let said = format!("  undone after #{}: {}", one.after, one.put_back);
    if taken_back.iter().any(|(earlier, _)| *earlier == nth) {
        return format!("{said}; taken back since");
    }
    let from = one.put_back.from.get(..12).unwrap_or_default();
    format!("{said}\n    back again: ralph undo --to {from}")
}

/// What a session was to do that was let go before anybody has seen any of it.
pub(super) fn is_nothing(iteration: &Iteration, state: &State) -> bool {
    iteration.ended.is_none() && is_let_go(state)
}

/// A run whose agent is a session, closed while that was waited for or at work.
pub(in crate::cli) fn is_let_go(state: &State) -> bool {
    let plan = state.run.as_ref().map(|run| &run.plan);
    state.stop() == Some(&Stop::Closed)
        && plan.is_some_and(|plan| plan.agents.iter().any(|agent| agent.session))
}

fn line(state: &State, iteration: &Iteration, pool: bool) -> String {
    let kind = if iteration.kind == Kind::Review { "review" } else { "work" };
    let mut words = format!(
        "  #{:<4} {kind:<6}  {:<11}  {}",
        iteration.number,
        view::result_for_people(iteration),
        view::files(iteration)
    );
    if let Some(ended) = &iteration.ended {
        words.push_str(&format!(", {}", time::duration(ended.duration_ms)));
    }
    if pool {
        words.push_str(&format!(", by {}", iteration.agent));
    }
    if let Some(item) = &iteration.item {
        words.push_str(&format!("; {}", text::one_line(&item.id, 60)));
        let attempt = iteration.conclusion.as_ref().and_then(|conclusion| conclusion.attempt);
        words.push_str(&attempt.map_or_else(String::new, |attempt| format!(" {}", attempt.word())));
        let flagged = iteration.conclusion.as_ref().map_or(&[][..], |conclusion| &conclusion.proof_flags);
        words.push_str(&view::flagged::beside(flagged));
        words.push_str(match (iteration.is_claimed(), iteration.is_without_change()) {
            (true, _) => ", claimed",
            (false, true) => " with nothing changed for it",
            (false, false) if iteration.passed_anyway() => " by checks that were green already",
            (false, false) => "",
        });
    }
    if let Some(settled) = &iteration.settled {
        let commit = settled.commit.as_ref().map(|commit| commit.get(..12).unwrap_or(commit));
        words.push_str(&commit.map_or_else(String::new, |commit| format!(", committed {commit}")));
        words.push_str(if settled.reverted { ", put back" } else { "" });
    }
    if let Some(refusal) = iteration.conclusion.as_ref().and_then(|conclusion| conclusion.refusal.as_ref()) {
        words.push_str(&format!("; refused: {}", text::one_line(refusal, 160)));
    } else if let Some(failure) = view::failure(state, iteration) {
        words.push_str(&format!("; {}", text::one_line(&failure, 160)));
        let limit = view::limit_words(iteration).filter(|limit| !failure.contains(limit.as_str()));
        words.push_str(&limit.map_or_else(String::new, |limit| format!(": {}", text::one_line(&limit, 160))));
    }
    if let Some(tools) = iteration.ended.as_ref().and_then(|ended| denied_tools(&ended.report.denied)) {
        words.push_str(&format!("; denied: {tools}"));
    }
    let flags = iteration.conclusion.as_ref().map_or(&[][..], |conclusion| &conclusion.flags);
    if !flags.is_empty() {
        words.push_str(&format!("; flagged: {}", text::one_line(&flags.join("; "), 300)));
    }
    words
}
