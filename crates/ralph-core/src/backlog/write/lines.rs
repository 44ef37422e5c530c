//! Edits of checklists: one character in a box, or one more line.

use core::ops::Range;

use super::{NoPlace, next_line};
use crate::backlog::checklist::{Checklist, Entry, task_number};
use crate::edit::{Edit, line_end};
use crate::prelude::*;

pub(crate) fn mark(text: &str, list: &Checklist<'_>, at: usize, mark: &str) -> Result<Edit, NoPlace> {
    let found = list.boxes.get(at).ok_or("there is no such box")?;
    let old = text[found.mark..].chars().next().map_or(1, char::len_utf8);
    Ok(Edit::replace(found.mark..found.mark + old, mark))
}

/// A new box below the last one and what belongs to it, with the marker of the outermost: a sibling, not a part of it.
/// Behind a task it is a task as well, and `words` become its title.
pub(crate) fn add(text: &str, list: &Checklist<'_>, words: &mut String) -> Result<Edit, NoPlace> {
    one_line(words)?;
    if let Some((last, section)) = list.entries.last().and_then(|last| Some((last, last.section.clone()?))) {
        return Ok(another_task(text, list, last, section, words));
    }
    let words = words.as_str();
    let end = line_end(text);
    let Some(last) = list.boxes.len().checked_sub(1) else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
        return Ok(Edit::insert(text.len(), format!("{gap}- [ ] {words}{end}")));
    };
    Ok(behind(text, list, last, words))
}

/// The same among those of a priority, or below a heading that stands for it; none where there is neither.
pub(crate) fn add_under(
    text: &str,
    list: &Checklist<'_>,
    words: &str,
    priority: i64,
) -> Option<Result<Edit, NoPlace>> {
    if let Err(why) = one_line(words) {
        return Some(Err(why));
    }
    if let Some(last) = list.boxes.iter().rposition(|found| found.priority == priority) {
        let of_task = |entry: &Entry<'_>| entry.section.is_some() && entry.boxes.contains(&last);
        // It would be a step of that task.
        return (!list.entries.iter().any(of_task)).then(|| Ok(behind(text, list, last, words)));
    }
    let (_, heading) = list.headings.iter().rfind(|(of, _)| *of == priority)?;
    let end = line_end(text);
    let Some(start) = next_line(text, *heading) else {
        return Some(Ok(Edit::insert(text.len(), format!("{end}{end}- [ ] {words}{end}"))));
    };
    let (line, more) = match text[start..].split_once('\n') {
        Some((line, rest)) => (line, !rest.is_empty()),
        None => (&text[start..], false),
    };
    let blank = line.trim().is_empty() && start + line.len() < text.len();
    Some(Ok(match blank {
        true => {
            let gap = if more { end } else { "" };
            Edit::insert(start + line.len() + 1, format!("- [ ] {words}{end}{gap}"))
        }
        false => Edit::insert(start, format!("{end}- [ ] {words}{end}")),
    }))
}

/// `### Task 4: words`, with these words as its only step.
fn another_task(
    text: &str,
    list: &Checklist<'_>,
    last: &Entry<'_>,
    section: Range<usize>,
    words: &mut String,
) -> Edit {
    let number = |entry: &Entry<'_>| -> Option<u64> {
        let whole = task_number(entry.title)?.split(|c: char| !c.is_ascii_digit()).next()?;
        entry.section.as_ref().and(whole.parse().ok())
    };
    let highest = list.entries.iter().filter_map(number).max().unwrap_or(0);
    let next = highest.saturating_add(1);
    let heading = text[last.line.clone()].trim_start();
    let level = &heading[..heading.len() - heading.trim_start_matches('#').len()];
    let (end, step) = (line_end(text), words.clone());
    *words = format!("Task {next}: {step}");
    let at = section.start + text[section].trim_end().len();
    Edit::insert(at, format!("{end}{end}{level} {words}{end}{end}- [ ] {step}"))
}

fn one_line(words: &str) -> Result<(), NoPlace> {
    if words.contains(['\n', '\r']) {
        return Err("an item of a checklist is one line".into());
    }
    Ok(())
}

/// Below a box, the one that it is a part of, and all that belongs to that.
fn behind(text: &str, list: &Checklist<'_>, last: usize, words: &str) -> Edit {
    let end = line_end(text);
    let deep = |at: usize| indentation(&text[list.boxes[at].line.clone()]);
    let mut outer = last;
    for at in (0..last).rev() {
        if list.boxes[at].section != list.boxes[last].section {
            break;
        }
        if deep(at) < deep(outer) {
            outer = at;
        }
    }
    let lead = next_marker(&text[list.boxes[outer].lead.clone()]);
    let mut at = list.boxes[last].line.end;
    while let Some(start) = next_line(text, at).filter(|start| *start < text.len()) {
        let line = text[start..].lines().next().unwrap_or_default();
        if line.trim().is_empty() || indentation(line) <= deep(outer) {
            break;
        }
        at = start + line.len();
    }
    match next_line(text, at) {
        Some(start) => Edit::insert(start, format!("{lead}[ ] {words}{end}")),
        None => Edit::insert(text.len(), format!("{end}{lead}[ ] {words}")),
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// After `3. ` comes `4. `; other markers stay.
fn next_marker(lead: &str) -> String {
    let digits: String = lead.chars().filter(char::is_ascii_digit).collect();
    match digits.parse::<u64>() {
        Ok(number) => lead.replacen(&digits, &number.saturating_add(1).to_string(), 1),
        Err(_) => lead.to_owned(),
    }
}
