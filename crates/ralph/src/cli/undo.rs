//! `ralph undo`: the files as they were before an iteration. A snapshot is taken first, so that it can be taken back.
//! What somebody else than an agent changed since stays as it is, unless it is asked for.

mod beside;
mod named;
mod outside;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use ralph_core::event::{Event, PutBack};
use ralph_core::git_text::{Change, ChangeKind};
use ralph_core::text;
use ralph_core::trail::Trail;

use super::history::list::last_told;
use super::history::lost;
use super::run::be_alone;
use crate::agent;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::runner::Still;
use crate::store::{Moment, Runs};
use crate::suggest::{self, quoted};
use crate::tree::{BackError, Tree, TreeError, TreeId, WayBack};
use crate::ui::Ui;
use crate::work::{beads, is_below};
use named::Named;

/// How much of a snapshot's name is shown.
const SHORT: usize = 12;
/// How many files are named one by one.
const NAMED: usize = 20;

#[derive(Debug, Args)]
pub(super) struct UndoArgs {
    /// Put the files back as they were before this iteration, by the number it has in the project
    #[arg(value_parser = super::args::number)]
    iteration: Option<u64>,
    /// Only these files, or what is in these folders, whoever changed them
    #[arg(value_name = "FILE", conflicts_with_all = ["to", "all"])]
    files: Vec<PathBuf>,
    /// Put them back as in this snapshot, which an undo named, to take the undo back
    #[arg(long, value_name = "SNAPSHOT", conflicts_with = "iteration")]
    to: Option<String>,
    /// Put back too what was changed outside of the iterations, by you or somebody else, and what nobody can tell from that
    #[arg(long, conflicts_with = "to")]
    all: bool,
    /// Only list the files that would change: A comes back, D goes, M changes
    #[arg(long)]
    dry_run: bool,
}

/// Where to go, and the commit that was checked out there, if that is known.
struct Target {
    iteration: Option<u64>,
    /// The iteration that was undone by what is taken back now.
    undone: Option<u64>,
    tree: TreeId,
    /// Who changed the files since then; where a snapshot was named, since the last that was recorded.
    trail: Trail,
    head: Option<Option<String>>,
}

pub(super) fn main(args: &UndoArgs, ui: &mut Ui) -> Result<ExitCode> {
    let project = Project::find()?;
    if args.iteration.is_none() && args.to.is_none() {
        return Err(nothing_named(&project)?);
    }
    let Some(mut still) = Still::open(&project)? else {
        return Err(without_a_record(&project));
    };
    let only = Named::new(&args.files, &project)?;
    // A run that was just killed may still have somebody at work on the files.
    be_alone(&project, ui)?;
    let target = target(args, &Runs::of(&project.truth))?;
    let mut tree = Tree::open(&project.root, &project.truth, project.repo.as_ref())
        .map_err(|error| refused(&error.into(), args))?;
    let now = tree.snapshot().map_err(|error| refused(&error.into(), args))?;
    only.are_held(&tree, [&now.tree, &target.tree])?;
    let outside = outside::of(&target, &now, &tree, &project);
    let keeps = target.iteration.is_some() && !args.all && args.files.is_empty();
    // The issues of beads are in bd's database, which no snapshot holds: nor is its export put back.
    let apart = target.trail.task_files.contains(beads::FILE).then_some(beads::FOLDER);
    let keep = |path: &[u8]| {
        is_below(path, apart)
            || !only.covers(path)
            || keeps && outside.as_ref().is_ok_and(|outside| outside.paths.contains(path))
    };
    let way = tree.way_back_from(now, &target.tree, &keep).map_err(|error| match &error {
        BackError::Gone(gone) => not_stored(&error, gone, &project, &still),
        error => refused(error, args),
    })?;
    let outside = match outside {
        Err(error) if keeps => return Err(cannot_tell(&error, args)),
        outside => outside.unwrap_or_default(),
    };
    if keeps && let Some(error) = outside::refuse(&way, &outside, args, ui) {
        return Err(error);
    }
    if args.dry_run {
        let as_when = match target.iteration {
            Some(number) => format!("before iteration {number}"),
            None => format!("in snapshot {}", short(&target.tree)),
        };
        let files = text::count(way.changes.len() as u64, "file");
        ui.say(&format!("{files} would be put back as {as_when}; nothing is touched now"));
        for change in &way.changes {
            ui.data_line(&format!("{} {}", change.kind.letter(), text::one_line(&change.name(), 4096)));
        }
    }
    outside::say(&way, &outside, args, ui);
    if args.dry_run {
        deleted(&way, true).iter().for_each(|line| ui.say(line));
        left_alone(&way, ui);
        return super::fine();
    }
    if way.changes.is_empty() {
        let they = match (args.files.is_empty(), way.kept.is_empty()) {
            (false, _) => "what was named is",
            (true, true) => "the files are",
            (true, false) => "all others are",
        };
        ui.say(&format!("{they} like that already; nothing was put back"));
    } else {
        let put_back = PutBack {
            iteration: target.iteration,
            from: way.now.tree.to_string(),
            to: way.to.to_string(),
            files: way.changes.len() as u64,
            head: way.now.head.clone(),
            only: match args.files.is_empty() {
                true => vec![],
                false => names(&way.changes, PutBack::MOST_NAMED),
            },
        };
        let said = match target.iteration.filter(|_| !args.files.is_empty()) {
            // Which ones is told below.
            Some(_) => PutBack { only: vec![], ..put_back.clone() }.to_string(),
            None => put_back.to_string(),
        };
        still.take(Event::TreePutBack(Box::new(put_back)))?;
        let again = format!("ralph undo --to {}", short(&way.now.tree));
        tree.put_back(&way).map_err(|error| half_way(&error, args, &again))?;
        still.publish(&project, ui);
        ui.say(&said);
        name(&way.changes, ui);
        deleted(&way, false).iter().for_each(|line| ui.say(line));
        ui.say(&format!("to take this back: {again}"));
    }
    left_alone(&way, ui);
    if args.files.is_empty() {
        let reset = beside::branch(&project, &target, way.now.head.as_deref(), ui);
        beside::items(&project, &target, reset.as_deref(), &again(&still), ui);
    } else if !way.changes.is_empty() {
        if target.head.as_ref().is_some_and(|then| *then != way.now.head) {
            ui.say("commits stay as they are");
        }
        // Whether one of them rests on these files, nobody can tell.
        beside::items(&project, &target, None, &again(&still), ui);
    }
    super::fine()
}

/// A command of the user's is not remembered from run to run.
fn again(still: &Still) -> String {
    let agents = still.state.run.iter().flat_map(|run| &run.plan.agents);
    agents
        .filter_map(agent::given)
        .map(|command| format!(" --agent-cmd {}", suggest::command(command)))
        .collect()
}

/// What people read of a run may be there though its record is not.
fn without_a_record(project: &Project) -> Error {
    if !project.ralph_dir.join("session.md").exists() {
        return Error::usage("nothing has been run here yet; there is nothing to undo");
    }
    let gone = Error::new(
        "the record of what was run here is gone, and the snapshots with it; nothing can be undone",
    );
    match &project.repo {
        Some(_) => gone
            .because(format!("somebody removed {}", project.truth.display()))
            .hint("see what git can tell of the files: git status"),
        // Nobody can tell whether this was a repository.
        None => gone
            .because(format!(
                "there is no {}, and no repository that could have it: if this was one, somebody removed .git",
                project.truth.display()
            ))
            .hint("put that folder back from a copy, or have the history again with git clone"),
    }
}

/// Let go because it is too old, or gone though it ought to be there.
fn not_stored(error: &BackError, gone: &TreeId, project: &Project, still: &Still) -> Error {
    let said = Error::new("the files cannot be put back; none was touched");
    let runs = Runs::of(&project.truth);
    let keep = still.state.run.as_ref().map_or(0, |run| run.plan.policy.keep_snapshots);
    let number = runs
        .trees()
        .ok()
        // What removed it came after the last time that it was measured.
        .and_then(|trees| Some(trees.into_iter().rfind(|(_, tree)| tree == gone.as_str())?.0));
    match number.and_then(|number| lost(&runs, number, keep).ok().flatten()) {
        Some(why) => said
            .because(format!("{error}; {why}"))
            .hint("what came after that can be undone; to see the iterations: ralph history"),
        None => {
            said.because(error).hint("keep_snapshots says how many iterations are kept: ralph profile show")
        }
    }
}

fn nothing_named(project: &Project) -> Result<Error> {
    let error = Error::usage("say which iteration is to be undone, or which undo");
    let error = match last_told(&Runs::of(&project.truth))? {
        0 => return Ok(without_a_record(project)),
        last => error.hint(format!("the files as before the last iteration: ralph undo {last}")),
    };
    Ok(error
        .hint("all of them: ralph history")
        .hint("to take an undo back: ralph undo --to SNAPSHOT, which the undo and ralph history name"))
}

/// How much of it goes.
fn deleted(way: &WayBack, dry: bool) -> Option<String> {
    let gone = way.changes.iter().filter(|change| change.kind == ChangeKind::Deleted).count();
    let they = if gone == 1 { "it was" } else { "they were" };
    let files = if dry { format!("{} would be", text::count(gone as u64, "file")) } else { are(gone) };
    (gone > 0).then(|| format!("{files} deleted: {they} not there at that time"))
}

fn are(files: usize) -> String {
    let verb = if files == 1 { "is" } else { "are" };
    format!("{} {verb}", text::count(files as u64, "file"))
}

fn target(args: &UndoArgs, runs: &Runs) -> Result<Target> {
    if let Some(start) = &args.to {
        return named(start, runs);
    }
    let number = args.iteration.unwrap_or_default();
    let Some((run, iteration, _)) = runs.of_iteration(number)? else {
        return Err(Error::usage(format!("there is no iteration {number}")).hint("ralph history"));
    };
    let before = iteration.before.and_then(|mark| Some((TreeId::new(&mark.tree)?, mark.head)));
    let Some((tree, head)) = before else {
        return Err(Error::new(format!("nobody measured the files before iteration {number}"))
            .because("it was cut off before it began"));
    };
    let trail = runs.trail(&run, number)?;
    Ok(Target { iteration: Some(number), undone: None, tree, trail, head: Some(head) })
}

/// Only what was recorded: any other tree of git's would be taken for the whole project.
fn named(start: &str, runs: &Runs) -> Result<Target> {
    let mut known: Vec<String> = runs.trees()?.into_iter().map(|(_, tree)| tree).collect();
    known.sort();
    known.dedup();
    known.retain(|tree| start.len() >= 4 && tree.starts_with(start));
    match known.as_slice() {
        [tree] => {
            let named = TreeId::new(tree).ok_or_else(|| {
                Error::data(format!("the record names a snapshot '{tree}' that cannot be one"))
            });
            let trail = runs.newest(false)?.map(|(run, _)| run.trail()).transpose()?.unwrap_or_default();
            let (undone, head) = undone_from(tree, runs)?.unzip();
            let head = head.filter(Option::is_some);
            named.map(|tree| Target {
                iteration: None,
                undone: undone.flatten(),
                tree,
                trail: trail.last_point(),
                head,
            })
        }
        [] => Err(Error::usage(format!("no snapshot is called {start}")).hint("ralph history --json")),
        _ => Err(Error::usage(format!("several snapshots begin with {start}")).hint("give more of its name")),
    }
}

/// Which iteration the last undo was about that left this snapshot, and the commit that was checked out then.
fn undone_from(tree: &str, runs: &Runs) -> Result<Option<(Option<u64>, Option<String>)>> {
    let mut found = None;
    for run in runs.all() {
        run.moments(|moment, _| {
            if let Moment::Undone(undone) = moment
                && undone.put_back.from == tree
                && undone.put_back.only.is_empty()
            {
                found = Some((undone.put_back.iteration, undone.put_back.head.clone()));
            }
        })?;
    }
    Ok(found)
}

fn refused(error: &BackError, args: &UndoArgs) -> Error {
    let said = Error::new("the files cannot be put back; none was touched").because(error);
    match error {
        BackError::Gone(_) => said,
        BackError::Lost(_) => said.because(format!(
            "{error}: it was in your repository's history only, which was rewritten and cleaned up"
        )),
        BackError::InTheWay(_) => said.hint("move them elsewhere, and try again"),
        BackError::Refused(_) => said.hint("try again when nobody works on the files"),
        BackError::Tree(_) => said.hint(format!("once that is settled: {}", same(args))),
    }
}

/// The snapshots in between are not whole.
fn cannot_tell(error: &TreeError, args: &UndoArgs) -> Error {
    Error::new("ralph cannot tell what agents changed from what you did; no file was touched")
        .because(error)
        .hint(format!("to put back all of it: {}", typed(args, true)))
}

/// The command for the same iteration.
fn typed(args: &UndoArgs, all: bool) -> String {
    let all = if all { " --all" } else { "" };
    let files: String =
        args.files.iter().map(|file| format!(" {}", quoted(&file.to_string_lossy()))).collect();
    format!("ralph undo {}{all}{files}", args.iteration.unwrap_or_default())
}

/// The command that was typed.
fn same(args: &UndoArgs) -> String {
    match &args.to {
        Some(to) => format!("ralph undo --to {to}"),
        None => typed(args, args.all),
    }
}

/// git tried the way before; what stops it on the way itself may have left it anywhere in between.
fn half_way(error: &BackError, args: &UndoArgs, again: &str) -> Error {
    Error::new("not all files could be put back; some may have been")
        .because(error)
        .hint(format!("to put back the rest: {}", same(args)))
        .hint(format!("to have all as it was before: {again}"))
}

fn names(changes: &[Change], most: usize) -> Vec<String> {
    changes.iter().take(most).map(|change| change.name().into_owned()).collect()
}

fn name(changes: &[Change], ui: &mut Ui) {
    for change in changes.iter().take(NAMED) {
        ui.say(&format!("  {} {}", change.kind.letter(), text::one_line(&change.name(), 200)));
    }
    if let more @ 1.. = changes.len().saturating_sub(NAMED) {
        ui.say(&format!("  and {more} more"));
    }
}

/// What no snapshot holds.
fn left_alone(way: &WayBack, ui: &mut Ui) {
    let line = |name: &str| text::one_line(name, 200);
    for path in &way.now.too_big {
        ui.warn(&format!("{} is over 50 MB, is in no snapshot and stays as it is", line(path)));
    }
    for path in &way.inexact {
        ui.warn(&format!(
            "{} has the line ends that git gives it (core.autocrlf, .gitattributes), which are not those that it had",
            line(path)
        ));
    }
    for path in &way.nested {
        ui.warn(&format!("{} is a repository of its own and stays as it is", line(path)));
    }
    for problem in &way.now.problems {
        ui.warn(&line(problem));
    }
}

fn short(tree: &TreeId) -> &str {
    tree.as_str().get(..SHORT).unwrap_or(tree.as_str())
}
