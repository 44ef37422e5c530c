//! `ralph history`: what each iteration did and why it counted. Reads the journal, not the views.

pub(super) mod list;

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::ExitCode;

use ralph_core::redact::Secrets;
use ralph_core::state::Iteration;
use ralph_core::time;
use ralph_core::view;

use super::args::HistoryArgs;
use crate::error::{self, Error, Result};
use crate::project::Project;
use crate::secrets;
use crate::store::{self, Runs};
use crate::tree::{Tree, TreeId};
use crate::ui::Ui;

pub(super) fn main(args: &HistoryArgs, ui: &Ui) -> Result<ExitCode> {
    // A diff needs git, and so the repository.
    let project = if args.diff { Project::find()? } else { Project::look()? };
    let runs = Runs::of(&project.truth);
    let wanted = args.diff || args.checks || args.transcript;
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
    if (args.checks || args.transcript) && iteration.ended.is_some() && !files.are_kept() {
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
    if args.diff {
        let keep = state.run.as_ref().map_or(0, |run| run.plan.policy.keep_snapshots);
        let patch = diff(&project, &runs, (&iteration, keep), ui)?;
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
            show(&files.check(&check.name), &secrets, ui)?;
        }
    } else if args.transcript {
        let printed = show(&files.transcript(), &secrets, ui)? | show(&files.stderr(), &secrets, ui)?;
        if !printed {
            ui.talk(&format!("the agent of iteration {number} printed nothing\n"));
        }
    } else if args.json {
        let mut entry = view::json::iteration(&iteration, run.number);
        entry["schema"] = "ralph.history/1".into();
        ui.json(&entry);
    } else {
        ui.data_line(view::files::history(&state, &iteration).trim_end_matches('\n'));
    }
    super::fine()
}

/// What an iteration did to the files, from the snapshots before and after it.
fn diff(project: &Project, runs: &Runs, (iteration, keep): (&Iteration, u64), ui: &Ui) -> Result<Vec<u8>> {
    let number = iteration.number;
    let before = iteration.before.as_ref().and_then(|mark| TreeId::new(&mark.tree));
    let after = iteration.after.as_ref().and_then(|after| TreeId::new(after.left()));
    let Some((before, after)) = before.zip(after) else {
        return Err(Error::no(format!("iteration {number} has no two snapshots to compare"))
            .because("it is still at work, or was cut off before it was measured"));
    };
    if before == after {
        ui.talk(&format!("iteration {number} changed no files\n"));
        return Ok(vec![]);
    }
    let patch = Tree::look(&project.root, &project.truth, project.repo.as_ref())
        .and_then(|tree| tree.patch(&before, &after));
    match patch {
        Ok(patch) => {
            ui.patch(&patch);
            Ok(patch)
        }
        Err(error) => {
            let gone = Error::new(format!("what iteration {number} changed is not stored any more"));
            Err(match lost(runs, number, keep)? {
                Some(why) => gone.because(why),
                None => gone
                    .because(error)
                    .hint("keep_snapshots says how many iterations are kept: ralph profile show"),
            })
        }
    }
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

/// How much is looked at in one piece, to the next line end: a longer line is cut.
const PIECE: u64 = 1 << 20;

/// Copies a kept file to standard output without secrets; onto a terminal without escape codes too. The file itself stays
/// as it is. Whether there was anything.
fn show(path: &Path, secrets: &Secrets, ui: &Ui) -> Result<bool> {
    let mut any = false;
    let mut file = match store::open_kept(path) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error::io("cannot read", path)(error)),
    };
    loop {
        let mut piece = Vec::new();
        let read = file
            .by_ref()
            .take(PIECE)
            .read_to_end(&mut piece)
            .and_then(|_| file.by_ref().take(PIECE).read_until(b'\n', &mut piece));
        read.map_err(error::io("cannot read", path))?;
        if piece.is_empty() {
            return Ok(any);
        }
        any = true;
        ui.kept(&without(secrets, &piece));
    }
}

/// Bytes that are no text stay as they are, unless there is a secret in their line.
fn without(secrets: &Secrets, piece: &[u8]) -> Vec<u8> {
    if let Ok(text) = std::str::from_utf8(piece) {
        return secrets.hide(text).into_owned().into_bytes();
    }
    let line = |line: &[u8]| match secrets.hide(&String::from_utf8_lossy(line)) {
        Cow::Borrowed(_) => line.to_vec(),
        Cow::Owned(hidden) => hidden.into_bytes(),
    };
    piece.split_inclusive(|byte| *byte == b'\n').flat_map(line).collect()
}
