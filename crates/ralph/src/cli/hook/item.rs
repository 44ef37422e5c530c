//! The next item of the backlog as the goal of a session.

use ralph_core::backlog::{Backlog, Selection, Shape, Wish};
use ralph_core::items::BacklogPlan;

use crate::cli::{backlog, run};
use crate::error::{Error, Result};
use crate::project::Project;
use crate::suggest::quoted;
use crate::trust::{self, Commands};
use crate::ui::Ui;
use crate::work::{self, Place};

/// What a session is to do, and the command that ralph holds it against.
pub(super) struct Next {
    pub(super) goal: String,
    /// `None`: the item has no commands, or the user has not agreed to them.
    pub(super) check: Option<String>,
}

/// The item that `ralph backlog next` would name.
pub(super) fn next(project: &Project, ralph: &str, ui: &mut Ui) -> Result<Next> {
    let place =
        Place::of(None, None).map_err(|error| error.hint("/ralph-loop N GOAL, for a goal of your own"))?;
    let bytes = place.read()?;
    let list = place.parse(&bytes)?;
    let (selection, stats) = backlog::as_a_run_would(&place, &list, Wish::default());
    let Selection::Item(at) = selection else {
        return Err(Error::no(backlog::message(&selection, &list, &stats, &place)));
    };
    let file = run::below(project, &place.path)?;
    let own = list.verification(at);
    let mut commands = Commands::default();
    for (nth, command) in own.iter().enumerate() {
        commands.add(format!("{file}, {}, command {}", list.items()[at].id, nth + 1), command);
    }
    let known = trust::knows(project, &commands);
    if !known {
        ui.warn(&format!(
            "not approved yet, so the session runs them and ralph does not: {}; to approve them: {ralph} run --profile worker",
            own.join("; ")
        ));
    }
    let all: Vec<String> = own.iter().map(|command| format!("({command})")).collect();
    let check = Some(all.join(" && ")).filter(|check| known && !check.is_empty());
    Ok(Next { goal: goal(project, &place, &file, &list, at, ralph)?, check })
}

/// Seed 003's steps, with the commands that record them.
fn goal(
    project: &Project,
    place: &Place,
    file: &str,
    list: &Backlog<'_>,
    at: usize,
    ralph: &str,
) -> Result<String> {
    let id = quoted(&list.items()[at].id);
    let plan = BacklogPlan { file: file.to_owned(), ..BacklogPlan::default() };
    let boot = work::boot(project, &plan)?.map_or_else(String::new, |boot| {
        format!(
            "First run {}. If it fails: fix the build before anything else, or report BLOCKED.\n\n",
            boot.source
        )
    });
    let prd = place.requirements(list, at).and_then(std::result::Result::ok);
    let words = list.words(at, prd.as_ref());
    let which = place.flag();
    let records = match list.shape() {
        Shape::Features => format!(
            "When it holds: commit the change, then `{ralph} backlog attempt {id} PASSED --commands \"CMD,…\" --summary TEXT \
             --commit HASH{which}` and `{ralph} backlog set {id} done{which}`.\n\
             If it does not: take your changes to the code back, then `{ralph} backlog attempt {id} FAILED --failure-reason TEXT \
             --investigation TEXT{which}` and `{ralph} backlog increment {id} --block-on-max --override-reason TEXT{which}`, and \
             report BLOCKED with what stands in the way."
        ),
        _ => format!("When it holds: commit the change, then `{ralph} backlog set {id} done{which}`."),
    };
    let own = list.verification(at);
    let verify = match own.is_empty() {
        true => String::new(),
        false => format!("It is verified by: {}\n\n", own.join("; ")),
    };
    Ok(format!(
        "Work on this item of {file}, and on no other.\n\n{boot}{}\n\n{verify}{records}\nThen report, and stop: one item a session.",
        words.trim()
    ))
}
