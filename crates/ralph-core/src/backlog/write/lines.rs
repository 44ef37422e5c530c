//! Edits of checklists: one character in a box, or one more line.

use super::{NoPlace, next_line};
use crate::backlog::checklist::Checklist;
use crate::edit::{Edit, line_end};
use crate::prelude::*;

pub(crate) fn mark(text: &str, list: &Checklist<'_>, at: usize, mark: &str) -> Result<Edit, NoPlace> {
    let found = list.boxes.get(at).ok_or("there is no such box")?;
    let old = text[found.mark..].chars().next().map_or(1, char::len_utf8);
    Ok(Edit::replace(found.mark..found.mark + old, mark))
}

/// A new box below the last one and what belongs to it, with the same marker.
pub(crate) fn add(text: &str, list: &Checklist<'_>, words: &str) -> Result<Edit, NoPlace> {
    if words.contains(['\n', '\r']) {
        return Err("an item of a checklist is one line".into());
    }
    let end = line_end(text);
    let Some(last) = list.boxes.last() else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
        return Ok(Edit::insert(text.len(), format!("{gap}- [ ] {words}{end}")));
    };
    let lead = next_marker(&text[last.lead.clone()]);
    let deep = indentation(&text[last.line.clone()]);
    let mut at = last.line.end;
    while let Some(start) = next_line(text, at).filter(|start| *start < text.len()) {
        let line = text[start..].lines().next().unwrap_or_default();
        if line.trim().is_empty() || indentation(line) <= deep {
            break;
        }
        at = start + line.len();
    }
    Ok(match next_line(text, at) {
        Some(start) => Edit::insert(start, format!("{lead}[ ] {words}{end}")),
        None => Edit::insert(text.len(), format!("{end}{lead}[ ] {words}")),
    })
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
