//! What is in the working tree and in no snapshot: files that are too big, files that a filter of the user's refuses, and
//! what is not committed in nested repositories. It is told apart by a stamp; a change counts, and nobody can take it back.

use serde::{Deserialize, Serialize};

use crate::git_text::ChangeKind;
use crate::prelude::*;

/// Of how many files it is kept in mind, and of how many nested repositories: the first ones by name.
pub const MOST: usize = 100;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// Ends with a slash if it is a nested repository.
    pub path: String,
    pub why: Why,
    /// What is known of its content: its size, or a digest. After a colon its time, where nobody read it.
    pub stamp: String,
}

impl Beside {
    /// As far as anybody knows what it holds: a file that is written with the bytes it had gets another time, and is the same.
    pub fn is_like(&self, stamp: &str) -> bool {
        content(&self.stamp) == content(stamp)
    }
}

fn content(stamp: &str) -> &str {
    stamp.split_once(':').map_or(stamp, |(content, _)| content)
}

/// Whether a list says nothing of one that it lacks: it holds the first ones by name only.
fn is_beyond(list: &[Beside], one: &Beside) -> bool {
    let is_nested = |one: &Beside| one.why == Why::Nested;
    let alike = || list.iter().filter(|other| is_nested(other) == is_nested(one));
    alike().count() >= MOST && alike().all(|other| other.path < one.path)
}

/// Why no snapshot holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    Big,
    Filter,
    Nested,
    #[serde(other)]
    Unknown,
}

/// What became of one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other<'a> {
    pub path: &'a str,
    pub why: Why,
    pub kind: ChangeKind,
    /// Only its time is another: that is no change of which anybody knows, and does not count as one.
    pub touched: bool,
}

/// What differs between two moments. `stays`: it is in no list any more and still the same, for it is ignored or tracked by now.
pub fn changed<'a>(
    before: &'a [Beside],
    after: &'a [Beside],
    stays: impl Fn(&Beside) -> bool,
) -> Vec<Other<'a>> {
    let find = |list: &'a [Beside], path: &str| list.iter().find(|one| one.path == path);
    let other = |one: &'a Beside, kind: ChangeKind| {
        // What is not committed there comes and goes; the repository stays.
        let kind = if one.why == Why::Nested { ChangeKind::Modified } else { kind };
        Other { path: &one.path, why: one.why, kind, touched: false }
    };
    let is_gone = |one: &&Beside| find(after, &one.path).is_none() && !is_beyond(after, one) && !stays(one);
    let gone = before.iter().filter(is_gone);
    let gone = gone.map(|one| other(one, ChangeKind::Deleted));
    let there = after.iter().filter_map(|one| match find(before, &one.path) {
        Some(old) if old.stamp == one.stamp => None,
        Some(old) => Some(Other { touched: old.is_like(&one.stamp), ..other(one, ChangeKind::Modified) }),
        None if is_beyond(before, one) => None,
        None => Some(other(one, ChangeKind::Added)),
    });
    let mut all: Vec<Other<'a>> = gone.chain(there).collect();
    all.sort_by(|one, next| one.path.cmp(next.path));
    all
}

impl Other<'_> {
    /// What to say of it; nothing where nothing can be missed.
    pub fn flag(&self) -> Option<String> {
        if self.touched {
            let written = match self.why {
                Why::Nested => "files of this repository of its own were",
                _ => "it was",
            };
            return Some(format!(
                "{}: {written} written with as many bytes as before; nobody compared them, so that does not count as a change",
                self.path
            ));
        }
        let done = match self.kind {
            ChangeKind::Added => return None,
            ChangeKind::Deleted => "is gone",
            _ => "was changed",
        };
        let why = match self.why {
            Why::Big => "over 50 MB, so that no snapshot holds it",
            Why::Filter => "left out because its filter fails, so that no snapshot holds it",
            Why::Nested => {
                return Some(format!(
                    "{}: files of this repository of its own were changed and not committed: that counts, but no snapshot \
                     holds them, and an undo leaves them",
                    self.path
                ));
            }
            Why::Unknown => "in no snapshot",
        };
        Some(format!("{} {done}: it was {why}, and an undo cannot bring back what it was", self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(path: &str, stamp: &str) -> Beside {
        let why = if path.ends_with('/') { Why::Nested } else { Why::Big };
        Beside { path: path.into(), why, stamp: stamp.into() }
    }

    #[test]
    fn what_came_went_or_became_another_is_a_change_and_what_is_only_let_go_is_none() {
        let before =
            [beside("gone", "1"), beside("ignored now", "1"), beside("same", "1"), beside("z/", "1")];
        let after = [beside("new", "1"), beside("same", "1"), beside("y/", "1")];
        let changes = changed(&before, &after, |one| one.path == "ignored now");
        let told: Vec<_> = changes.iter().map(|one| (one.kind.letter(), one.path)).collect();
        assert_eq!(told, [('D', "gone"), ('A', "new"), ('M', "y/"), ('M', "z/")]);
        let flags: Vec<String> = changes.iter().filter_map(Other::flag).collect();
        assert_eq!(flags.len(), 3, "a new file took nothing away: {flags:?}");
        assert!(flags[0].starts_with("gone is gone: it was over 50 MB"), "{flags:?}");
        let other = [beside("same", "2")];
        let told: Vec<_> =
            changed(&before[2..3], &other, |_| false).iter().map(|one| one.kind.letter()).collect();
        assert_eq!(told, ['M']);
        assert_eq!(changed(&before, &before, |_| false), []);
    }

    #[test]
    fn what_has_only_another_time_is_flagged_and_does_not_count() {
        let table = [
            ("5:1.0", "5:1.0", None),
            ("5:1.0", "5:2.0", Some(true)),
            ("5:1.0", "6:2.0", Some(false)),
            ("5-aa", "5-bb", Some(false)),
            ("5-aa", "5-aa", None),
        ];
        for (old, new, expected) in table {
            for path in ["big", "in/"] {
                let (before, after) = ([beside(path, old)], [beside(path, new)]);
                let told = changed(&before, &after, |_| false);
                assert_eq!(told.first().map(|one| one.touched), expected, "{old} {new}");
                let flag = told.first().and_then(Other::flag).unwrap_or_default();
                assert_eq!(flag.contains("does not count"), expected == Some(true), "{flag}");
            }
        }
    }

    #[test]
    fn of_more_than_are_kept_in_mind_one_that_only_comes_into_view_is_no_change() {
        let named = |numbers: core::ops::Range<usize>| -> Vec<Beside> {
            numbers.map(|number| beside(&format!("{number:03}"), "1")).collect()
        };
        let told = |before: &[Beside], after: &[Beside]| -> Vec<String> {
            let all = changed(before, after, |_| false);
            all.iter().map(|one| format!("{}{}", one.kind.letter(), one.path)).collect()
        };
        assert_eq!(told(&named(0..100), &named(1..101)), ["D000"]);
        assert_eq!(told(&named(1..101), &named(0..100)), ["A000"]);
        assert_eq!(told(&named(0..99), &named(0..100)), ["A099"], "all of them were known");
        let mut with_nested = named(0..99);
        with_nested.push(beside("z/", "1"));
        assert_eq!(told(&with_nested, &named(0..100)), ["A099", "Mz/"]);
    }
}
