//! `ralph run --dry-run`: what would be done, without doing or writing any of it.

use ralph_core::decision::Stop;
use ralph_core::event::Plan;
use ralph_core::items::{Found, Memory, Work};
use ralph_core::limits::Left;
use ralph_core::prompt;
use ralph_core::state::{HandedOn, Note, State};
use ralph_core::view;

use super::super::introduction::introduction;
use super::over;
use crate::agent;
use crate::error::Result;
use crate::project::Project;
use crate::runner::Texts;
use crate::store::{Ledger, NoteRequest, Requests, Runs, Tally};
use crate::suggest::quoted;
use crate::trust::{self, Commands};
use crate::ui::{self, Ui};
use crate::work::Source;

pub(super) struct Intent<'a> {
    pub(super) goal: &'a str,
    pub(super) plan: Plan,
    pub(super) commands: &'a Commands,
    /// Of the run that would be continued.
    pub(super) state: Option<&'a State>,
    /// Of the last run about the same backlog, which hands on what its agent was refused for.
    pub(super) before: Option<&'a State>,
    pub(super) branch: Option<&'a str>,
    /// Why no agent would be started yet.
    pub(super) refused: Option<&'a Stop>,
    /// What would be left behind by it.
    pub(super) leaves: Vec<String>,
}

pub(super) fn show(project: &Project, intent: &Intent<'_>, ui: &mut Ui) -> Result<()> {
    let plan = &intent.plan;
    let mut shown = introduction(project, intent.goal, plan, intent.commands, intent.branch);
    shown.title = match intent.state.and_then(|state| state.run.as_ref()) {
        Some(run) => format!("Run {} would be continued", run.number),
        None => "A new run would begin".into(),
    };
    if let Some(stop) = intent.refused {
        shown.title = format!("{}, but the circuit is open", shown.title);
        shown.row("circuit", ui::described(stop));
        shown.row("circuit", "to close it: ralph circuit reset; to try once all the same: --probe");
    }
    intent.leaves.iter().for_each(|left| shown.row("leaves", left));
    for (_, value) in &mut shown.rows {
        *value = value.replace("as you choose below", "as you choose when it begins");
        if intent.state.is_some() {
            *value = value.replace("(your command line)", "(as the run has it)");
        }
    }
    let memory = intent.state.map_or_else(Memory::default, |state| state.rules.items.clone());
    let mut item = None;
    let mut nothing = false;
    if let Some(backlog) = &plan.backlog
        && let Some(source) = Source::of(&project.root, plan).transpose()?
    {
        let file = source.below(&project.root);
        let tried = Tally::default().of(&Ledger::of(&project.truth), file.as_deref());
        let read = source.knowing(tried).read(&memory);
        let next = match read.found {
            Found::Selected(work) => {
                let words = work.named();
                item = Some(*work);
                words
            }
            Found::Complete if read.for_people.is_some() => {
                if intent.state.is_none() {
                    shown.title = "No run would begin: nothing is left for the loop".into();
                }
                format!("none: {}", read.for_people.unwrap_or_default())
            }
            Found::Complete if intent.state.is_none() => {
                shown.title = "No run would begin: nothing is left to do".into();
                let over = over::words(project, backlog);
                over.map_or_else(
                    || "none: the backlog is complete".into(),
                    |(what, _)| format!("none: {what}"),
                )
            }
            Found::Complete => "none: the backlog is complete".into(),
            Found::Stuck { why, .. } | Found::Unreadable { why } => format!("none: {why}"),
        };
        nothing = item.is_none();
        shown.row("next item", next);
        view::earlier(&read.earlier).into_iter().for_each(|weak| shown.row("note", weak));
    }
    for check in item.iter().flat_map(|item: &Work| &item.checks) {
        shown.row("checks", format!("{}: {}", check.name, trust::shown(&check.command)));
    }
    let asked = trust::unknown(project, intent.commands);
    for command in &asked {
        let words = format!("{} ({})", command.shown(), command.source);
        if !shown.rows.iter().any(|(_, value)| value.contains(&words)) {
            shown.row(if command.permits() { "allows" } else { "runs" }, words);
        }
    }
    if !asked.is_empty() {
        shown.row("asks", "first, whether the commands that come with this project may be run");
    }
    if let Some(boot) = &plan.boot {
        shown.row("first", trust::shown(&boot.command));
    }
    let files = Runs::of(&project.truth).next().files(1);
    for agent in &plan.agents {
        let left = Left::of(&plan.policy.budget, intent.state.map(State::spent).unwrap_or_default());
        let spec = agent::spec(agent, project, files.prompt(), left.micro_usd);
        let words =
            std::iter::once(&spec.program).chain(&spec.args).map(|word| quoted(&word.to_string_lossy()));
        shown.row("command", words.collect::<Vec<_>>().join(" "));
    }
    ui.show_introduction(&shown);
    if nothing {
        ui.data_line("  No agent would be started.");
        return Ok(());
    }
    let knowledge = plan.agents.first().and_then(|agent| agent::unread_knowledge(agent, &project.root));
    let texts = Texts::read(project, plan.policy.protocol, knowledge);
    let state = intent.state.cloned().unwrap_or_else(|| {
        let HandedOn { refusal, claimed } = intent.before.map(HandedOn::from).unwrap_or_default();
        let iteration = Runs::of(&project.truth).last_iteration();
        State { iteration, refusal, claimed, ..State::default() }
    });
    let state = with_waiting_notes(state, project);
    let number = Runs::of(&project.truth).next().number;
    let run = state.run.clone().map(|run| ralph_core::event::RunInfo { plan: plan.clone(), ..run });
    let run = run.unwrap_or_else(|| super::info(number, intent.goal, plan.clone()));
    ui.data_line("  The prompt:\n");
    let prompt = prompt::preview(&state, run, item, texts.materials(&project.name()));
    ui.data_line(&ui.hidden(&prompt));
    Ok(())
}

/// What the next run takes in first.
fn with_waiting_notes(mut state: State, project: &Project) -> State {
    for NoteRequest { id, text } in Requests::of(&project.truth).notes() {
        if state.notes.iter().all(|known| known.id != id) {
            state.notes.push(Note { id, text, answers: None });
        }
    }
    state
}
