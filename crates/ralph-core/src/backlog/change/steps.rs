//! Marks of a task's steps: those that somebody set are taken back one by one, and the others stay.

use super::Refusal;
use crate::backlog::{Backlog, Source, State, write};
use crate::prelude::*;

impl Backlog<'_> {
    /// How the steps of a task of a plan stand; none where an item is anything else.
    fn steps(&self, at: usize) -> Vec<State> {
        let Source::Markdown(list) = &self.source else { return vec![] };
        let task = list.entries.get(at).filter(|entry| entry.section.is_some());
        task.map_or(vec![], |task| list.boxes[task.boxes.clone()].iter().map(|step| step.state).collect())
    }

    /// Whether a step is done that was not.
    pub(in crate::backlog) fn has_new_steps(&self, at: usize, before: &Backlog<'_>, old: usize) -> bool {
        let (was, is) = (before.steps(old), self.steps(at));
        was.len() == is.len() && was.iter().zip(&is).any(is_new)
    }

    /// The text with these steps as they were; `None` where the item is no task, or has other steps than before.
    pub fn without_new_steps(&self, id: &str, before: &Backlog<'_>) -> Option<Result<String, Refusal>> {
        let (Source::Markdown(list), Source::Markdown(old_list)) = (&self.source, &before.source) else {
            return None;
        };
        let (at, old) = (self.find(id)?, before.find(id)?);
        let (was, is) = (before.steps(old), self.steps(at));
        if is.is_empty() || was.len() != is.len() {
            return None;
        }
        let (steps, old_steps) = (&list.entries[at].boxes, &old_list.entries[old].boxes);
        let pairs = was.iter().zip(&is).zip(steps.clone().zip(old_steps.clone()));
        let taken_back = pairs.filter(|(pair, _)| is_new(*pair)).map(|(_, (step, old_step))| {
            let mark = before.text[old_list.boxes[old_step].mark..].chars().next().unwrap_or(' ');
            write::lines::mark(self.text, list, step, mark.encode_utf8(&mut [0; 4]))
        });
        Some(taken_back.collect::<Result<Vec<_>, _>>().map_err(Refusal::NotLossless).and_then(|edits| {
            let text = self.spliced(&edits)?;
            let wanted = was.iter().zip(&is).map(|(was, is)| if is_new((was, is)) { *was } else { *is });
            self.prove_steps(&text, at, &wanted.collect::<Vec<_>>())?;
            Ok(text)
        }))
    }

    fn prove_steps(&self, text: &str, at: usize, wanted: &[State]) -> Result<(), Refusal> {
        let new = self.again(text)?;
        let others = |backlog: &Backlog<'_>| -> Vec<(String, State)> {
            let items = backlog.items.iter().enumerate().filter(|(nth, _)| *nth != at);
            items.map(|(_, item)| (item.id.to_string(), item.state)).collect()
        };
        match new.steps(at) == wanted && others(&new) == others(self) {
            true => Ok(()),
            false => Err(Refusal::NotLossless("another box would change".into())),
        }
    }
}

fn is_new((was, is): (&State, &State)) -> bool {
    *is == State::Done && *was != State::Done
}
