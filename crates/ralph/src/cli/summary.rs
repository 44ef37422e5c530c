//! `ralph summary`: what a run came to and what it needs from the user.

use std::process::ExitCode;

use clap::Args;
use ralph_core::view::summary::Summary;

use super::args::whole;
use super::run;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::store::{Run, Runs};
use crate::ui::Ui;
use crate::{secrets, summary};

#[derive(Debug, Args)]
pub(super) struct SummaryArgs {
    /// A run, by its number [default: the last one]
    #[arg(value_parser = whole::<u64>)]
    run: Option<u64>,
    /// As JSON (schema ralph.summary/1)
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &SummaryArgs, ui: &mut Ui) -> Result<ExitCode> {
    let project = Project::find()?;
    let runs = Runs::of(&project.truth);
    let newest = runs.shown()?.map(|(run, _)| run);
    let chosen = match args.run {
        Some(number) => Some(named(&runs, number)?),
        None => newest.clone(),
    };
    let Some(run) = chosen else {
        match args.json {
            true => ui.json(&Summary { status: "idle", ..Summary::default() }.document()),
            false => ui.data_line(&run::nothing_yet(&project)),
        }
        return super::fine();
    };
    let told = summary::of(&project, &run, newest.as_ref() == Some(&run), &secrets::of(&project.root))?;
    match args.json {
        true => ui.json(&told.document()),
        false => ui.exact_line(&summary::in_words(&told).1),
    }
    super::fine()
}

fn named(runs: &Runs, number: u64) -> Result<Run> {
    let all = runs.all();
    let (first, last) = (all.first().map(|run| run.number), all.last().map(|run| run.number));
    all.into_iter().find(|run| run.number == number).ok_or_else(|| {
        let error = Error::usage(format!("there is no run {number}"));
        match first.zip(last) {
            None => error.because("nothing has been run here yet").hint("ralph run \"GOAL\""),
            Some((first, last)) if first == last => {
                error.because(format!("the only run is {last}")).hint(format!("ralph summary {last}"))
            }
            Some((first, last)) => {
                error.because(format!("runs: {first} to {last}")).hint(format!("ralph summary {last}"))
            }
        }
    })
}
