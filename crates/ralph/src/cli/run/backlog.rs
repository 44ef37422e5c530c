//! Which backlog a run works through.

use std::path::{Path, PathBuf};

use ralph_core::check::CheckSpec;
use ralph_core::decision::Stop;
use ralph_core::event::Plan;
use ralph_core::items::{BacklogPlan, BacklogRead, Earlier, Found, Inherited};
use ralph_core::profile::Policy;
use ralph_core::state::{HandedOn, State};

use super::super::which;
use super::{Last, RunArgs, over};
use crate::brought;
use crate::doctor;
use crate::error::{Error, Exit, Result};
use crate::project::Project;
use crate::settings::{self, Wishes};
use crate::store::{Ledger, Runs, Tally};
use crate::suggest::{self, quoted};
use crate::tree::Tree;
use crate::trust::Commands;
use crate::ui::Ui;
use crate::work::{self, FAR_BACK, Left, Place, Source, beads, inherit};

/// What the command line says; `None` where it does not speak of a backlog.
pub(super) fn wanted(project: &Project, args: &RunArgs) -> Result<Option<BacklogPlan>> {
    let named = args.backlog.is_some() || args.harness_dir.is_some();
    let meant =
        named || args.task.is_some() || args.phase.is_some() || args.once || args.all || args.all_phases;
    if !meant {
        return Ok(None);
    }
    let chosen = if named { None } else { which::backlog(&project.root, !args.yes)? };
    let place = Place::of(args.backlog.as_deref().or(chosen.as_deref()), args.harness_dir.as_deref())?;
    place.is_there()?;
    let plan = BacklogPlan {
        file: below(project, &place.path)?,
        task: args.task.as_deref().map(|task| id_of(&place, task)).transpose()?,
        phase: args.phase.clone(),
        once: args.once,
        all_phases: args.all_phases,
    };
    source(project, &plan)?.is_there()?;
    Ok(Some(plan))
}

/// The id of the item that is meant. What bd keeps is not read before somebody agreed to that: there it must be the id.
fn id_of(place: &Place, task: &str) -> Result<String> {
    if place.is_beads() {
        return Ok(task.to_owned());
    }
    let bytes = place.read()?;
    let backlog = place.parse(&bytes)?;
    let at = place.meant(&backlog, task).map_err(|error| Error { exit: Exit::Usage, ..error })?;
    Ok(backlog.items()[at].id.to_string())
}

/// The project's backlog, and what working through it is called, where nobody says what to do.
pub(super) fn found(project: &Project, asks: bool) -> Result<Option<(BacklogPlan, String)>> {
    let Some(path) = which::backlog(&project.root, asks)? else { return Ok(None) };
    let plan = BacklogPlan { file: below(project, &path)?, ..BacklogPlan::default() };
    source(project, &plan)?.is_there()?;
    let goal = called(&plan);
    Ok(Some((plan, goal)))
}

/// Whoever goes on with a goal may have meant the task file: how to get there, where one has open items.
pub(super) fn beside_a_goal(project: &Project, last: &Last) -> Option<String> {
    last.state.run.as_ref().filter(|run| run.plan.backlog.is_none())?;
    let path = work::find(&project.root).ok()??;
    if beads::is_meant(&path) {
        return None;
    }
    let counted = work::items(&project.root, &path).ok().filter(|counted| counted.open > 0)?;
    let (file, goal) = (below(project, &path).ok()?, last.goal());
    Some(format!(
        "this goes on with the goal of run {}: {goal}; to work on {file} instead ({}): ralph run --backlog {}; \
         or close the goal first: ralph reset",
        last.run.number,
        counted.told(),
        quoted(&file)
    ))
}

fn source(project: &Project, plan: &BacklogPlan) -> Result<Source> {
    Source::new(&project.root, plan, 0)
}

/// The commands that a run's backlog brings: those of its items, and those for every item and the boot ritual, which
/// become part of the plan. A new run has the limit that its backlog wants, where nobody says another.
pub(super) fn brought(project: &Project, wishes: &Wishes, new: bool, plan: &mut Plan) -> Result<Commands> {
    plan.boot = None;
    let Some(backlog) = &plan.backlog else { return Ok(Commands::default()) };
    if new && !plan.policy.each_item && !wishes.values.iter().any(|value| value.key == "max_iterations") {
        let most = source(project, backlog)?.max_iterations();
        plan.policy.max_iterations = most.unwrap_or(plan.policy.max_iterations);
    }
    let (commands, boot) = brought::by_backlog(project, &plan.policy, backlog, wishes, &mut plan.checks)?;
    if plan.policy.boot && boot.is_none() {
        is_healthy(project)?;
    }
    plan.boot = boot;
    Ok(commands)
}

/// How a new run would end that has nothing to do, and says so: nobody is asked or looked for, and nothing is begun.
pub(super) fn nothing_to_do(
    project: &Project,
    wishes: &Wishes,
    before: Option<&Last>,
    last: Option<&Last>,
    dry: bool,
    ui: &mut Ui,
) -> Result<Option<Stop>> {
    let Some(plan) = settings::backlog(wishes)? else { return Ok(None) };
    let source = source(project, &plan)?;
    let tried = Tally::default().of(&Ledger::of(&project.truth), source.below(&project.root).as_deref());
    let source = source.knowing(tried);
    // What cannot be read stops the run, with its own words.
    let left = source.left().unwrap_or(Left::Something);
    let (for_people, earlier) = match &left {
        Left::Nothing { for_people, earlier } => (for_people.clone(), earlier.clone()),
        _ => (None, Earlier::default()),
    };
    let stop = Stop::BacklogComplete { once: plan.once, for_people };
    let known = known(&plan, earlier);
    match left {
        // What was proved item by item has to hold together.
        Left::Nothing { .. } if plan.is_whole() && !unproved_whole(before, &source).is_empty() => {
            return Ok(None);
        }
        Left::NoItem => {
            let file = beads::name_of(&plan.file);
            let which = work::which_backlog(&project.root, &plan);
            ui.warn(&format!(
                "the backlog {file} is empty: ralph backlog add \"TITLE\"{which}, or ralph run \"GOAL\""
            ));
            undone(last).iter().for_each(|again| ui.remark(again));
            ui.tell_not_begun(&known, &stop);
        }
        Left::Nothing { .. } if plan.task.is_some() && !dry => {
            over::tell(project, &plan, ui);
            ui.tell_not_begun(&known, &stop);
        }
        Left::Nothing { .. } if !dry => {
            undone(last).iter().for_each(|again| ui.remark(again));
            ui.refused(&known, &stop);
        }
        _ => return Ok(None),
    }
    Ok(Some(stop))
}

/// Where what the last run did was undone: what begins it anew.
fn undone(last: Option<&Last>) -> Option<String> {
    let last = last?;
    let undone = last.state.undone_since_last().filter(|undone| undone.put_back.only.is_empty())?;
    let run = last.state.run.as_ref()?;
    Some(match run.plan.backlog {
        None => format!(
            "run {} was undone; to have its goal worked on again: ralph run {}",
            run.number,
            suggest::goal(&run.goal)
        ),
        Some(_) => {
            let what = match undone.put_back.iteration {
                Some(first) => format!("what was done from #{first} on was undone"),
                None => format!("run {} was undone", run.number),
            };
            format!(
                "{what}, and items may still be marked as done; to have one worked on again: ralph backlog set ID open"
            )
        }
    })
}

/// The newest run about this backlog. One about something else in between changes nothing for it.
pub(super) fn before(runs: &Runs, last: Option<&Last>, file: &str) -> Option<Last> {
    let is_about_it = |state: &State| {
        let plan = state.run.as_ref().and_then(|run| run.plan.backlog.as_ref());
        plan.is_some_and(|plan| plan.file == file)
    };
    if !is_about_it(&last?.state) && !runs.all().is_empty() {
        return runs.newest_of(FAR_BACK, is_about_it).map(|(run, state)| Last { run, state });
    }
    last.map(|last| Last { run: last.run.clone(), state: last.state.clone() })
}

/// Those of these checks that the backlog still asks for, with their places: they proved items in earlier runs, and have to hold.
fn still_asked_for(proofs: &[CheckSpec], source: &Source) -> Vec<(String, CheckSpec)> {
    let asked_for = source.proving().unwrap_or_default();
    let place = |check: &CheckSpec| asked_for.iter().find(|(_, command)| *command == check.command);
    proofs.iter().cloned().filter_map(|check| Some((place(&check)?.0.clone(), check))).collect()
}

/// What proved the items of this backlog in earlier runs, none of which has proved the whole.
fn unproved_whole(before: Option<&Last>, source: &Source) -> Vec<(String, CheckSpec)> {
    before.map_or(vec![], |before| still_asked_for(inherit::proofs_apart(&before.state), source))
}

fn proofs_of(before: &Last) -> &[CheckSpec] {
    &before.state.rules.items.proofs
}

/// The commands that come with it: they stand in the backlog, and are run again.
pub(super) fn brought_again(project: &Project, before: Option<&Last>, plan: &Plan) -> Commands {
    let mut commands = Commands::default();
    if let (Some(backlog), Some(before)) = (&plan.backlog, before)
        && let Ok(source) = source(project, backlog)
    {
        let proofs = still_asked_for(proofs_of(before), &source);
        proofs.into_iter().for_each(|(place, check)| commands.add(place, check.command));
    }
    commands
}

/// What a new run takes over from the one before it about the same backlog. `anew`: the user wants to begin with things as they
/// are, where nobody can tell.
pub(super) fn inherited(
    project: &Project,
    before: &Last,
    tree: &mut Tree,
    plan: &mut Plan,
    anew: bool,
    ui: &mut Ui,
) -> Result<Inherited> {
    let Some(backlog) = plan.backlog.clone() else { return Ok(Inherited::default()) };
    let state = &before.state;
    let source = source(project, &backlog)?;
    let proofs = still_asked_for(proofs_of(before), &source).into_iter().map(|(_, check)| check).collect();
    let file = source.below(&project.root);
    let apart = |path: &[u8]| file.as_deref() == Some(path) || work::is_below(path, source.apart());
    let work = match inherit::work(project, tree, state, apart) {
        Ok(work) => work,
        Err(error) if anew => {
            ui.warn(&format!("what agents of earlier runs left is taken for yours: {error}"));
            Inherited::default()
        }
        Err(error) => {
            return Err(Error::new("what agents of earlier runs left cannot be told from your work")
                .because(error)
                .hint("look at it: git status, git diff")
                .hint("to begin with your files as they are, the same command with --fresh"));
        }
    };
    if let (Some(unproved), Some(run)) = (&work.unproved, &state.run) {
        inherit::recipes(project, tree, unproved, &run.plan, plan);
    }
    let unchanged = state.rules.items.unchanged.clone();
    let (worked_on, tested) = (state.rules.items.worked_on_in_vain(), state.rules.items.tested_in_vain());
    Ok(Inherited { proofs, unchanged, worked_on, tested, told: HandedOn::from(state), ..work })
}

/// What a run would know that was not begun: which backlog it is about, and what of it rests on little.
fn known(plan: &BacklogPlan, earlier: Earlier) -> State {
    let read = BacklogRead { earlier, ..BacklogRead::new(Found::Complete) };
    let backlog = Some(plan.clone());
    let (policy, checks, agents) = (Policy::default(), vec![], vec![]);
    let plan = Plan {
        policy,
        checks,
        agents,
        backlog,
        commit: false,
        boot: None,
        stack: None,
        left_out: vec![],
        stack_commands: vec![],
        until: None,
    };
    State { run: Some(super::info(0, "", plan)), backlog: Some(read), ..State::default() }
}

/// Where the harness has no ritual of its own, what `ralph doctor` looks at must be in order.
fn is_healthy(project: &Project) -> Result<()> {
    let Some(found) = doctor::in_the_way(project) else { return Ok(()) };
    let error =
        Error::new("Fix build before running Ralph Loop").because(format!("{}: {}", found.about, found.text));
    Err(found.remedy.into_iter().fold(error, Error::hint).hint("ralph doctor"))
}

/// What a run is called that works through a backlog.
pub(super) fn goal(wishes: &Wishes) -> Option<String> {
    wishes.backlog.as_ref().map(called)
}

fn called(plan: &BacklogPlan) -> String {
    let file = beads::name_of(&plan.file);
    match (&plan.task, &plan.phase) {
        (Some(task), _) => format!("item {task} of {file}"),
        (None, Some(phase)) => format!("phase {phase} of {file}"),
        (None, None) => format!("every item of {file}"),
    }
}

/// From the top of the project.
pub(in crate::cli) fn below(project: &Project, path: &Path) -> Result<String> {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let full = full.canonicalize().unwrap_or(full);
    let root = project.root.canonicalize().unwrap_or_else(|_| project.root.clone());
    let inside = full.strip_prefix(&root).map(Path::to_path_buf).ok();
    // A link out of the project is still the project's file.
    let inside = inside.or_else(|| path.strip_prefix(&project.root).map(PathBuf::from).ok());
    let name = inside.and_then(|path| path.to_str().map(str::to_owned));
    name.ok_or_else(|| {
        Error::usage(format!("{} is not in this project", path.display()))
            .because(format!("a run works on {}", project.root.display()))
    })
}
