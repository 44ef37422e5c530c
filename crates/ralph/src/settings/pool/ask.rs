//! Nobody but the user chooses what an agent may do.

use ralph_core::event::Permissions;

use super::LastUsed;
use crate::agent::Adapter;
use crate::error::{Error, Result};
use crate::ui;

pub(super) struct Choice {
    pub(super) word: &'static str,
    pub(super) means: Permissions,
    asked: &'static str,
    told: &'static str,
}

pub(super) const CHOICES: [Choice; 3] = [
    Choice {
        word: "full",
        means: Permissions::Full,
        asked: "everything, commands too",
        told: "everything without asking; only where that is safe",
    },
    Choice {
        word: "edits",
        means: Permissions::Edits,
        asked: "edit files",
        told: "edit files without asking",
    },
    Choice {
        word: "inherit",
        means: Permissions::Inherit,
        asked: "what its own settings say",
        told: "what the agent's own settings say",
    },
];

/// `last`: what the last run had, where nobody named an agent for this one.
pub(super) fn permissions(adapter: &Adapter, last: Option<&LastUsed>) -> Result<Permissions> {
    let choices = || CHOICES.iter().filter(|choice| adapter.may(choice.means).is_some());
    let chosen = |answer: &str| choices().find(|choice| choice.word == answer).map(|choice| choice.means);
    let words = choices().map(|choice| choice.word).collect::<Vec<_>>().join(", ");
    let lines: String = choices().map(|choice| format!("  {:<8} {}\n", choice.word, choice.asked)).collect();
    let last = last.filter(|last| !last.is(adapter.name));
    let last = last.map(|last| format!("No agent was named; the last run had {}.\n", last.flags));
    let question = format!("What may {} do in this folder without asking?\n{lines}> ", adapter.name);
    let mut answer = ui::ask(&(last.unwrap_or_default() + &question));
    for _ in 0..2 {
        if answer.as_deref().is_some_and(|answer| chosen(answer).is_none()) {
            answer = ui::ask(&format!("one of {words}?\n> "));
        }
    }
    answer.as_deref().and_then(chosen).ok_or_else(|| {
        let why = match &answer {
            Some(answer) => format!("'{answer}' is none of {words}"),
            None => "there is no terminal to ask on, and nobody but you may choose".into(),
        };
        let error = Error::usage("the agent's permissions are not chosen").because(why);
        let hint = |choice: &Choice| format!("--permissions {:<9} {}", choice.word, choice.told);
        choices().map(hint).fold(error, Error::hint)
    })
}
