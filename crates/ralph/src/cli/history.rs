//! `ralph history`: what each iteration did and why it counted. Reads the journal, not the views.

mod changed;
pub(super) mod list;
mod transcript;

use std::collections::BTreeMap;
use std::process::ExitCode;

use ralph_core::state::Iteration;
use ralph_core::time;
use ralph_core::view;

use super::args::HistoryArgs;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::secrets;
use crate::store::Runs;
use crate::ui::Ui;

pub(super) fn main(args: &HistoryArgs, ui: &Ui) -> Result<ExitCode> {
    let printed = args.transcript || args.raw;
    // What was changed needs git, and so the repository.
    let project = if args.checks || printed { Project::look()? } else { Project::find()? };
    let runs = Runs::of(&project.truth);
    if args.diff && args.iteration.is_none() && list::last_told(&runs)? > 0 {
        changed::whole(&project, &runs, ui)?;
        return super::fine();
    }
    let wanted = args.diff || args.checks || printed;
    let number = match args.iteration {
        None if wanted => Some(list::last_told(&runs)?).filter(|number| *number > 0),
        named => named,
    };
    let Some(number) = number else { return list::all(&project, &runs, args.json, ui) };
    let found = runs.of_iteration(number)?;
    let Some((run, iteration, state)) = found.filter(|(_, one, state)| !list::is_nothing(one, state)) else {
        return Err(Error::usage(format!("there is no iteration {number}")).hint("ralph history"));
    };
    let secrets = secrets::of(&project.root);
    let (iteration, state) = (secrets.shown_iteration(&iteration), secrets.shown_state(&state));
    let files = run.files(number);
    if (args.checks || printed) && iteration.ended.is_some() && !files.are_kept() {
        let keep = state.run.as_ref().map_or(0, |run| run.plan.policy.keep_output);
        let hint = format!("ralph history {number}, what the journal knows of it");
        if let Some(why) = lost(&runs, number, keep)? {
            return Err(Error::new(format!("the output of iteration {number} is gone"))
                .because(why)
                .hint(hint));
        }
        return Err(Error::no(format!("the output of iteration {number} is not kept any more"))
            .because(format!("only that of the last {keep} iterations is (keep_output)"))
            .hint(hint));
    }
    let counts = match wanted {
        true => BTreeMap::new(),
        false => changed::counts(&project, std::slice::from_ref(&*iteration)),
    };
    if args.diff {
        let keep = state.run.as_ref().map_or(0, |run| run.plan.policy.keep_snapshots);
        let patch = changed::diff(&project, &runs, (&iteration, keep), ui)?;
        let backlog = state.run.as_ref().and_then(|run| run.plan.backlog.as_ref());
        if let Some(line) = backlog.and_then(|backlog| own_mark(&iteration, &backlog.file, &patch)) {
            ui.talk(&format!("{line}\n"));
        }
    } else if args.checks {
        if iteration.checks.is_empty() {
            let none = state.run.as_ref().is_none_or(|run| run.plan.checks.is_empty());
            let why = match none {
                true => "its run has none; to give it one: ralph run --test-cmd CMD",
                false => "they run when the agent says done",
            };
            ui.talk(&format!("iteration {number} ran no checks: {why}\n"));
        }
        for check in &iteration.checks {
            let mark = if check.passed() { "✓" } else { "✗" };
            ui.data_line(&format!("{mark} {} in {}", check.describe(), time::duration(check.duration_ms)));
            transcript::raw(&files.check(&check.name), &secrets, ui)?;
        }
    } else if printed {
        let any = match args.raw {
            true => {
                transcript::raw(&files.transcript(), &secrets, ui)?
                    | transcript::raw(&files.stderr(), &secrets, ui)?
            }
            false => transcript::readable(&files, iteration.format, &secrets, ui)?,
        };
        if !any {
            ui.talk(&format!("the agent of iteration {number} printed nothing\n"));
        }
    } else if args.json {
        let mut entry = view::json::iteration(&iteration, run.number);
        view::counted::add_to(&mut entry, counts.get(&number));
        entry["schema"] = "ralph.history/1".into();
        ui.json(&entry);
    } else {
        ui.data_line(view::files::history(&state, &iteration, counts.get(&number)).trim_end_matches('\n'));
    }
    super::fine()
}

/// Whose marks the task file has in the difference: ralph's own is there before the agent begins, and is not the agent's work.
fn own_mark(iteration: &Iteration, file: &str, patch: &[u8]) -> Option<String> {
    let told = String::from_utf8_lossy(patch).contains(&format!("+++ b/{file}\n"));
    let item = iteration.item.as_ref().filter(|_| told)?;
    let after = iteration.after.as_ref()?.item.as_ref().filter(|after| !after.ticked)?;
    let marked = after.in_part || !after.ticked_others.is_empty() || after.put_back;
    let agent =
        if marked { "what else differs there is the agent's" } else { "the agent marked nothing as done" };
    Some(format!("{file}: that {} is begun is ralph's own mark; {agent}", item.id))
}

/// Why something of an iteration is gone that ought to be there, for only what is older than `keep` is let go.
pub(super) fn lost(runs: &Runs, number: u64, keep: u64) -> Result<Option<String>> {
    if keep > 0 && runs.last_iteration().saturating_sub(number) >= keep {
        return Ok(None);
    }
    let mut told = None;
    for run in runs.all() {
        run.iterations(|iteration, _| {
            let gone = iteration.own_files.iter().find(|line| line.contains("is gone"));
            if let (true, None, Some(line)) = (iteration.number >= number, &told, gone) {
                told = Some(format!("in iteration {}: {line}", iteration.number));
            }
        })?;
    }
    Ok(Some(told.unwrap_or_else(|| "somebody removed it from ralph's folder".into())))
}
