//! `ralph replay`: decides a recorded run again. By its own rules every step must come out as it was recorded; by other
//! rules it tells where they part, where they would have stopped, and what that saves.

mod document;
mod lines;

use std::process::ExitCode;

use ralph_core::event::{Plan, RunInfo};
use ralph_core::journal::{Opened, Problem};
use ralph_core::replay::{Agreement, Came, Changed, Told};

use super::args::ReplayArgs;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::settings::{OtherRules, Value};
use crate::store::{JournalFile, Run, Runs};
use crate::ui::Ui;

/// What there is to show.
struct Shown<'a> {
    number: u64,
    /// `None`: nothing was recorded but a torn line.
    info: Option<&'a RunInfo>,
    opened: &'a Opened,
    replayed: &'a Replayed,
}

enum Replayed {
    Unchanged(Box<Agreement>),
    Changed(OtherRules, Box<Told>),
}

pub(super) fn main(args: &ReplayArgs, ui: &Ui) -> Result<ExitCode> {
    let rules = OtherRules::new(args.profile.as_deref(), args.set.iter().map(Value::set).collect())?;
    let project = Project::look()?;
    let run = find(&Runs::of(&project.truth), args.run)?;
    let (opened, replayed) = replay(&run, rules)?;
    if opened.problems.iter().any(|problem| !matches!(problem, Problem::Torn | Problem::Newer { .. })) {
        let why: Vec<String> = opened.problems.iter().map(ToString::to_string).collect();
        return Err(Error::data(format!("the journal {} cannot be replayed", run.journal().display()))
            .because(why.join("; ")));
    }
    let info = opened.state.run.as_ref();
    let shown = Shown { number: run.number, info, opened: &opened, replayed: &replayed };
    if args.json {
        ui.json(&shown.document());
    } else {
        ui.data_line(&shown.lines().join("\n"));
    }
    Ok(ExitCode::from(u8::from(!replayed.told())))
}

fn find(runs: &Runs, number: Option<u64>) -> Result<Run> {
    let mut all = runs.all();
    let Some(number) = number else {
        return all
            .pop()
            .ok_or_else(|| Error::usage("nothing has been run here yet").hint("ralph run \"GOAL\""));
    };
    let known: Vec<String> = all.iter().map(|run| run.number.to_string()).collect();
    all.into_iter().find(|run| run.number == number).ok_or_else(|| {
        let runs = if known.is_empty() { "none yet".into() } else { known.join(", ") };
        Error::usage(format!("there is no run {number}"))
            .because(format!("runs: {runs}"))
            .hint("ralph history")
    })
}

fn replay(run: &Run, rules: Option<OtherRules>) -> Result<(Opened, Replayed)> {
    let path = run.journal();
    Ok(match rules {
        None => {
            let mut agreement = Agreement::default();
            let opened = JournalFile::read(&path, |record, _| agreement.take(record))?;
            (opened, Replayed::Unchanged(Box::new(agreement)))
        }
        Some(rules) => {
            let mut changed = Changed::new(|plan: &mut Plan| rules.apply(plan));
            let opened = JournalFile::read(&path, |record, _| changed.take(record))?;
            let told = changed.finish();
            (opened, Replayed::Changed(rules, Box::new(told)))
        }
    })
}

impl Replayed {
    /// Whether it agrees, or could be told.
    fn told(&self) -> bool {
        match self {
            Self::Unchanged(agreement) => agreement.disagreement.is_none(),
            Self::Changed(_, told) => !matches!(told.came, Came::CannotBeTold { .. }),
        }
    }
}

impl Shown<'_> {
    /// What the reader should know about how far it can be trusted.
    fn remarks(&self) -> Vec<String> {
        let Replayed::Changed(rules, told) = self.replayed else { return vec![] };
        let mut remarks = told.remarks.clone();
        if let (Some(name), Some(info)) = (rules.profile(), self.info)
            && rules.checks_all_the_same(&info.plan)
        {
            remarks.push(format!("profile {name} runs no checks, but the run has one: evidence = required"));
        }
        remarks
    }
}

/// What other rules save; less than nothing is what they add.
struct Saved {
    iterations: i64,
    /// `None` where it cannot be known.
    micro_usd: Option<i64>,
    tokens: Option<i64>,
    /// They go on where the record ends.
    at_least: bool,
}

impl Saved {
    /// `None` where nothing can be told.
    fn of(told: &Told) -> Option<Self> {
        let (then, now) = (&told.recorded, &told.replayed);
        let less = |then: u64, now: u64| then as i64 - now as i64;
        let iterations = less(then.iterations, now.iterations);
        match told.came {
            Came::CannotBeTold { .. } => None,
            Came::GoesOn => {
                Some(Self { iterations: iterations.min(-1), micro_usd: None, tokens: None, at_least: true })
            }
            Came::Same | Came::Stops => Some(Self {
                iterations,
                micro_usd: then
                    .totals
                    .cost_micro_usd
                    .map(|cost| less(cost, now.totals.cost_micro_usd.unwrap_or(0))),
                tokens: Some(less(then.totals.usage.total(), now.totals.usage.total())),
                at_least: false,
            }),
        }
    }
}
