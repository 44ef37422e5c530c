//! Which of several task files is meant: asked on a terminal.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::ui;
use crate::work;

/// The project's task file; of several that nothing decides between, the one that the user picks, if one may be asked.
pub(super) fn backlog(root: &Path, asks: bool) -> Result<Option<PathBuf>> {
    let choices = if asks { work::choices(root) } else { vec![] };
    if choices.is_empty() {
        return work::find(root);
    }
    pick(root, &choices).map(Some).ok_or_else(|| work::undecided(root, &choices))
}

/// `None` where nobody answers with one of them.
pub(super) fn pick(root: &Path, choices: &[PathBuf]) -> Option<PathBuf> {
    if choices.is_empty() {
        return None;
    }
    let line = |(nth, path): (usize, &PathBuf)| {
        let told = work::items(root, path).map_or_else(|why| why, work::Counted::told);
        format!("  {}  {}: {told}\n", nth + 1, work::below(root, path))
    };
    let lines: String = choices.iter().enumerate().map(line).collect();
    let most = choices.len();
    let answer =
        ui::ask(&format!("Several task files have open items:\n{lines}Which one? (1-{most}, Enter: none) "))?;
    let by_name = || choices.iter().find(|path| work::below(root, path) == answer);
    let by_number = answer.parse::<usize>().ok().and_then(|nth| choices.get(nth.checked_sub(1)?));
    by_number.or_else(by_name).cloned()
}
