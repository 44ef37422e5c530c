//! An item that an agent's prose reports as done. The JSON protocol declares only the whole, so an agent that goes on to
//! other items says it in words.

use super::Work;
use crate::indicator::indicators;
use crate::prelude::*;
use crate::text;

/// Words before an item's id that belong to its name.
const NOUNS: [&str; 5] = ["task ", "item ", "story ", "feature ", "ticket "];
/// The item of the iteration without its name.
const THIS: [&str; 8] = [
    "this task", "the task", "this item", "the item", "this story", "the story", "this feature",
    "the feature",
];
/// What comes after the item says nothing against it.
const MOVES_ON: [&str; 7] = ["moving", "next", "continuing", "proceeding", "going", "on to", "now"];

/// The sentence that says so. It counts where the same sentence about the whole project would.
pub fn reported_done(work: &Work, words: &str) -> Option<String> {
    let names = [work.id.as_str(), work.title.trim()];
    let sentences = words.lines().flat_map(|line| line.split_inclusive(['.', '!', '?', ';']));
    sentences.map(|sentence| text::one_line(sentence, 200)).find_map(|sentence| {
        let about = about_the_whole(&sentence, &names)?;
        (indicators(&about).count > 0).then_some(sentence)
    })
}

/// The sentence with `the project` in the place of the item; `None` if it is not about the item.
fn about_the_whole(sentence: &str, names: &[&str]) -> Option<String> {
    let plain: String = sentence.chars().filter(|c| !matches!(c, '`' | '"' | '*' | '\'')).collect();
    let lower = plain.to_ascii_lowercase();
    let named = names.iter().filter(|name| name.len() > 1).find_map(|name| {
        let at = whole_word(&lower, &name.to_ascii_lowercase())?;
        Some((at, at + name.len()))
    });
    let (start, end) = named.or_else(|| {
        let this = THIS.iter().find_map(|this| Some((whole_word(&lower, this)?, this.len())))?;
        Some((this.0, this.0 + this.1))
    })?;
    let before = &plain[..start];
    let noun = NOUNS.iter().find(|noun| lower[..start].ends_with(**noun)).map_or(0, |noun| noun.len());
    let before = &before[..before.len() - noun];
    let rest = &plain[end..];
    let cut = rest.match_indices([',', '-', '–', '—']).find(|(at, mark)| {
        let next = rest[at + mark.len()..].trim_start().to_ascii_lowercase();
        MOVES_ON.iter().any(|word| next.starts_with(word))
    });
    Some(format!("{before}the project{}.", cut.map_or(rest, |(at, _)| &rest[..at]).trim_end_matches('.')))
}

fn whole_word(text: &str, word: &str) -> Option<usize> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(word)
        .map(|(at, _)| at)
        .find(|at| !text[..*at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_reported_by_its_id_its_title_or_as_the_task() {
        let work = Work { id: "auth-1".into(), title: "Log in".into(), ..Work::default() };
        for said in [
            "Task auth-1 is complete.",
            "Ran the tests.\nTask `auth-1` is done, moving to the next task.",
            "The item is finished.",
            "\"Log in\" is complete. Next I would take auth-2.",
        ] {
            assert!(reported_done(&work, said).is_some(), "{said}");
        }
        for said in [
            "Task auth-1 is not complete.",
            "Task auth-1 is complete except for the tests.",
            "Task auth-1 will be complete soon.",
            "Is auth-1 done?",
            "Task auth-12 is complete.",
            "Phase complete, moving to next feature",
            "auth-1 is half done.",
            "Once auth-1 is complete, deploy.",
            "I worked on the task.",
        ] {
            assert_eq!(reported_done(&work, said), None, "{said}");
        }
    }
}
