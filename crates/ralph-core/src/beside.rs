//! What is in the working tree and in no snapshot: files that are too big, files that a filter of the user's refuses, and
//! what is not committed in nested repositories. It is told apart by a stamp; a change counts, and nobody can take it back.

use serde::{Deserialize, Serialize};

use crate::git_text::ChangeKind;
use crate::prelude::*;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// Ends with a slash if it is a nested repository.
    pub path: String,
    pub why: Why,
    /// Size and time of a file; a digest of what is not committed.
    pub stamp: String,
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
        Other { path: &one.path, why: one.why, kind }
    };
    let gone = before.iter().filter(|one| find(after, &one.path).is_none() && !stays(one));
    let gone = gone.map(|one| other(one, ChangeKind::Deleted));
    let there = after.iter().filter_map(|one| match find(before, &one.path) {
        Some(old) if old.stamp == one.stamp => None,
        Some(_) => Some(other(one, ChangeKind::Modified)),
        None => Some(other(one, ChangeKind::Added)),
    });
    let mut all: Vec<Other<'a>> = gone.chain(there).collect();
    all.sort_by(|one, next| one.path.cmp(next.path));
    all
}

impl Other<'_> {
    /// What to say of it; nothing where nothing can be missed.
    pub fn flag(&self) -> Option<String> {
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
}
