//! `ralph stop` and `ralph note`: what is asked of the run that goes on, from beside it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use ralph_core::decision::Phase;
use ralph_core::prompt::MOST_OF_NOTES;
use ralph_core::session::Arm;

use super::backlog::steer;
use super::run;
use crate::clock;
use crate::error::{Error, Result};
use crate::process;
use crate::project::Project;
use crate::secrets;
use crate::store::{self, ArmFile, Holder, Op, Requests, Runs};
use crate::suggest::quoted;
use crate::ui::Ui;
use crate::work::Place;

#[derive(Debug, Args)]
pub(super) struct NoteArgs {
    /// What the iterations from the next one on should know, in your own words
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Say it about this item only; a parked item is tried again with it
    #[arg(long, value_name = "ID")]
    item: Option<String>,
    /// The task file that the item is in [default: as ralph run finds it]
    #[arg(long, value_name = "FILE", requires = "item")]
    backlog: Option<PathBuf>,
}

pub(super) fn stop(ui: &mut Ui) -> Result<ExitCode> {
    let project = Project::look()?;
    let nobody = || match session(&project) {
        Some(_) => Error::no("no run is going on here, but a session is held or waited for")
            .hint("to let go of it: ralph hook disarm"),
        None => Error::no("no run is going on here").hint("ralph status"),
    };
    let holder = store::holder(&project.truth).ok_or_else(nobody)?;
    let requests = Requests::of(&project.truth);
    if is_asked(&project, &holder)? {
        ui.say(&format!(
            "it is asked already: the run stops when this iteration is over (pid {})",
            holder.pid
        ));
        ui.say(&format!("to end its agent now, keeping the work: kill -INT {}", holder.pid));
        return super::fine();
    }
    let waits = waits(&project)?;
    requests.stop(&holder)?;
    if !told(&project, &holder)? {
        requests.stop_is_taken(&holder)?;
        return Err(nobody());
    }
    let when = if waits { "now, for it only waits" } else { "when this iteration is over" };
    ui.say(&format!("the run stops {when} (pid {})", holder.pid));
    super::fine()
}

/// Whether the run that goes on has heard that it is to stop.
fn is_asked(project: &Project, holder: &Holder) -> Result<bool> {
    let Some((_, opened)) = Runs::of(&project.truth).shown()? else { return Ok(false) };
    // What an earlier process was asked is forgotten when the run is taken up again.
    let by_this = opened.state.updated_at >= holder.since;
    Ok(by_this && opened.state.stop_asked.is_some() && opened.state.stop().is_none())
}

/// Whether nobody is at work in the run that goes on, because it waits for an agent's limit to end.
fn waits(project: &Project) -> Result<bool> {
    let shown = Runs::of(&project.truth).shown()?;
    Ok(shown.is_some_and(|(_, opened)| matches!(opened.state.phase, Phase::Waiting { .. })))
}

/// The session that the newest run holds, or waits for.
fn session(project: &Project) -> Option<Arm> {
    let arm = ArmFile::of(&project.truth).read().ok().flatten()?;
    let (run, state) = Runs::of(&project.truth).newest(true).ok().flatten()?;
    Some(arm).filter(|arm| arm.run == run.number && state.stop().is_none())
}

/// Whether a run without that word would be refused.
fn needs_a_probe(project: &Project) -> bool {
    let last = Runs::of(&project.truth).newest(true).ok().flatten();
    last.is_some_and(|(_, state)| state.rules.breaker.guard(clock::now(), false).is_err())
}

pub(super) fn note(args: &NoteArgs, ui: &mut Ui) -> Result<ExitCode> {
    let text = args.text.join(" ");
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::usage("the note is empty").hint("ralph note \"use the staging server\""));
    }
    if text.len() > MOST_OF_NOTES {
        return Err(Error::usage(format!("a note has at most {MOST_OF_NOTES} bytes"))
            .hint("what every iteration should know belongs into .ralph/prompt.md"));
    }
    if let Some(item) = &args.item {
        return answer(args, item, text, ui);
    }
    let project = Project::look()?;
    let hidden = secrets::of(&project.root).hide(text);
    if hidden != text {
        ui.warn("the note holds what looks like a secret: it was left out; let the agent find it in its environment");
    }
    Requests::of(&project.truth).note(&request_id(), &hidden)?;
    let running = match store::holder(&project.truth) {
        Some(holder) => told(&project, &holder)?,
        None => false,
    };
    ui.say(match (running, session(&project)) {
        (true, None) => "noted; the next iteration will read it, and those after it",
        (_, Some(Arm { session: Some(_), .. })) => {
            "noted; the session that is held is told when it next wants to stop"
        }
        (_, Some(_)) => "noted; the session that is waited for is told when it starts",
        (false, None) if needs_a_probe(&project) => {
            "noted; no run is going on and the circuit is open, so it is kept for: ralph run --probe"
        }
        (false, None) if run::has_something_to_do(&project) => {
            "noted; no run is going on, so it is kept for the next: ralph run"
        }
        (false, None) => "noted; no run is going on, so it is kept for the next: ralph run \"GOAL\"",
    });
    if !running {
        parked(&project).iter().for_each(|hint| ui.say(hint));
    }
    super::fine()
}

/// Ids that sort by time keep requests in order.
pub(super) fn request_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Words to all agents open no parked item again.
fn parked(project: &Project) -> Option<String> {
    let (_, state) = Runs::of(&project.truth).newest(true).ok().flatten()?;
    let item = state.backlog.as_ref()?.parked.first()?;
    let id = quoted(&item.id);
    Some(format!("{} is still parked; to answer it: ralph note --item {id} \"…\"", item.id))
}

/// Words about one item: they open it again if it is parked.
fn answer(args: &NoteArgs, item: &str, text: &str, ui: &mut Ui) -> Result<ExitCode> {
    let place = Place::of(args.backlog.as_deref(), None)?;
    let steered = steer(&place, item, Op::Answer, text)?;
    ui.say(&match steered.queued {
        true => format!("noted; the run tells the next agent that works on {}", steered.id),
        false => format!("noted for {}; to continue: ralph run", steered.id),
    });
    super::fine()
}

/// Whether the run of `holder` was told to look at the requests.
fn told(project: &Project, holder: &Holder) -> Result<bool> {
    process::nudge(holder.pid, || store::holder(&project.truth).as_ref() == Some(holder))
        .map_err(|error| Error::new(format!("the run (pid {}) cannot be told", holder.pid)).because(error))
}
