//! How many lines were added and removed, file by file.

use crate::event::ChangedPath;
use crate::git_text::LineCount;
use crate::prelude::*;
use crate::state::Iteration;
use crate::text::one_line;
use alloc::collections::BTreeMap;
use serde_json::Value;

/// By path. What is not text has no entry.
pub type LineCounts = BTreeMap<String, LineCount>;

/// How many files of an iteration are named in a list.
const NAMED: usize = 5;

/// `+10 -3`; nothing where nobody can tell.
pub fn lines(path: &str, counts: Option<&LineCounts>) -> String {
    counts.and_then(|counts| counts.get(path)).map_or_else(String::new, |count| {
        let parts = [(count.added, '+'), (count.removed, '-')];
        parts
            .into_iter()
            .filter(|(lines, _)| *lines > 0)
            .map(|(lines, sign)| format!(" {sign}{lines}"))
            .collect()
    })
}

/// `src/a.rs +10 -3, src/b.rs (new) +4 and 3 more`, for a line of a list; `None` where nothing was changed.
pub fn named(iteration: &Iteration, counts: Option<&LineCounts>) -> Option<String> {
    let after = iteration.after.as_ref().filter(|after| !after.changed.is_empty())?;
    let name = |changed: &ChangedPath| {
        let what = match changed.kind {
            'A' => " (new)",
            'D' => " (deleted)",
            _ => "",
        };
        format!("{}{what}{}", one_line(&changed.path, 200), lines(&changed.path, counts))
    };
    let names: Vec<String> = after.changed.iter().take(NAMED).map(name).collect();
    let more = after.changed_total.saturating_sub(names.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{}{more}", names.join(", ")))
}

/// An entry of `ralph.history/1` with the lines of its files.
pub fn add_to(entry: &mut Value, counts: Option<&LineCounts>) {
    for file in entry["files"].as_array_mut().into_iter().flatten() {
        let count = file["path"].as_str().and_then(|path| counts?.get(path)).copied();
        file["added"] = count.map(|count| count.added).into();
        file["removed"] = count.map(|count| count.removed).into();
    }
}
