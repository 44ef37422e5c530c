//! The summary of a run: core's value, with what the repository and the backlog add to the record.

use std::collections::BTreeMap;

use ralph_core::redact::Secrets;
use ralph_core::state::State;
use ralph_core::view::summary::{self, Around, Commit, Committed, Gathered, Page, Summary};

use crate::error::Result;
use crate::project::Project;
use crate::store::{self, Run};
use crate::{clock, ui};

/// A phone shows no more in a line, and neither do most terminals.
const COLUMNS: usize = 80;

/// How many commits are named.
const MOST_COMMITS: usize = 200;

/// What a run came to, by its journal. `newest`: the backlog is as this run left it.
pub(crate) fn of(project: &Project, run: &Run, newest: bool, secrets: &Secrets) -> Result<Summary> {
    let mut gathered = Gathered::default();
    let opened = run.iterations(|iteration, state| {
        gathered.take(&secrets.shown_iteration(iteration), &secrets.shown_state(state));
    })?;
    let state = secrets.shown_state(&opened.state);
    let running = newest && state.stop().is_none() && store::holder(&project.truth).is_some();
    let around = Around {
        running,
        which_backlog: ui::which_backlog(&state),
        commits: commits(project, gathered.commits(), secrets),
        next: if newest { next(&state, running) } else { vec![] },
    };
    Ok(summary::of(&state, gathered, around))
}

/// The title and all lines, as people read them.
pub(crate) fn in_words(summary: &Summary) -> (String, String) {
    let page =
        Page { columns: COLUMNS, width: &ui::width, moment: &clock::with_zone, readable: &clock::for_people };
    (summary.title(&page), summary.lines(&page).join("\n"))
}

/// What to type next.
fn next(state: &State, running: bool) -> Vec<String> {
    match state.stop() {
        None if running => vec!["ralph status --follow".into()],
        None => vec!["ralph run".into()],
        Some(stop) => ui::to_continue(state, stop),
    }
}

/// Every commit of the run with its subject, oldest first.
fn commits(project: &Project, made: &[Committed], secrets: &Secrets) -> Vec<Commit> {
    let Some(repo) = &project.repo else { return vec![] };
    let mut all: Vec<(String, bool)> = vec![];
    for made in made {
        match made {
            Committed::ByRalph(hash) => all.push((hash.clone(), false)),
            Committed::ByAgent { before, after } => {
                let between = repo.commits_between(before.as_deref(), Some(after));
                // A history that was rewritten has lost them.
                let ids = between.map_or_else(|_| vec![after.clone()], |commits| commits.ids);
                all.extend(ids.into_iter().rev().map(|hash| (hash, true)));
            }
        }
    }
    all.truncate(MOST_COMMITS);
    let hashes: Vec<&str> = all.iter().map(|(hash, _)| hash.as_str()).collect();
    let subjects = match hashes.is_empty() {
        true => BTreeMap::new(),
        false => repo.subjects(&hashes).unwrap_or_default(),
    };
    let subject = |hash: &str| subjects.get(hash).map(|subject| secrets.hide(subject).into_owned());
    all.into_iter().map(|(hash, by_agent)| Commit { subject: subject(&hash), hash, by_agent }).collect()
}
