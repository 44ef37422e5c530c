//! What of the user's is in the repository and in no snapshot: stashes, branches, tags, and what is staged. What an agent loses of it is
//! told, with the way to have it back.
//!
//! The user's is what was there before the first agent: what came later may be an agent's own, and to bring that back could undo work.
//! And a loss is told of the agent that did it: what was lost before it is not its doing.

use alloc::collections::BTreeMap;

use crate::git_text::Object;
use crate::prelude::*;
use crate::text::{one_line, quoted};

/// How many lost stashes are named, branches and tags, and files that were staged.
const MOST: usize = 10;

/// Work that somebody put aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stash {
    pub id: String,
    pub words: String,
}

/// What each branch and tag stands for, by its whole name.
pub type Refs = BTreeMap<String, String>;

/// What the index holds at each path where HEAD holds something else; `None`: nothing.
pub type Staged = BTreeMap<Vec<u8>, Option<Object>>;

/// Before the first agent, before this one, and after it.
#[derive(Debug)]
pub struct Moments<'a, T: ?Sized> {
    pub first: &'a T,
    pub before: &'a T,
    pub now: &'a T,
}

/// What to say of stashes that are gone.
pub fn stashes(moments: &Moments<'_, [Stash]>) -> Vec<String> {
    let is_in = |list: &[Stash], stash: &Stash| list.iter().any(|other| other.id == stash.id);
    let gone = moments.first.iter().filter(|one| is_in(moments.before, one) && !is_in(moments.now, one));
    let told = gone.take(MOST).map(|Stash { id, words }| {
        let words = one_line(words, 100);
        let typed = quoted(&words);
        format!("a stash of yours is gone ({words}); to have it back: git stash store -m {typed} {id}")
    });
    told.collect()
}

/// What to say of branches and tags that are gone, or stand for something that does not hold what the user's did. `own`: the branch
/// that the user is on is looked at apart while it is there. `holds`: whether the second commit comes after the first; `None`:
/// nobody can tell, and then nothing is said to be lost.
pub fn refs(
    moments: &Moments<'_, Refs>,
    own: Option<&str>,
    mut holds: impl FnMut(&str, &str) -> Option<bool>,
) -> Vec<String> {
    let (mut told, mut untold) = (vec![], 0);
    for (name, first) in moments.first {
        let (before, now) = (moments.before.get(name), moments.now.get(name));
        let Some(before) = before.filter(|before| now != Some(before)) else { continue };
        let (kind, command, short) = match (name.strip_prefix("refs/heads/"), name.strip_prefix("refs/tags/"))
        {
            (Some(short), _) => ("branch", "git branch", short),
            (_, Some(short)) => ("tag", "git tag", short),
            _ => continue,
        };
        let is_own = kind == "branch" && own == Some(short);
        if is_own && now.is_some() {
            continue;
        }
        let mut keeps = |id: &String| match kind {
            _ if id == first => Some(true),
            "branch" => holds(first, id),
            _ => Some(false),
        };
        let kept = now.map_or(Some(false), &mut keeps);
        let had = if is_own || kept == Some(true) { Some(true) } else { keeps(before) };
        match (had, kept) {
            (Some(true), Some(false)) => {}
            (Some(false), _) | (_, Some(true)) => continue,
            (None, _) | (_, None) => {
                untold += 1;
                continue;
            }
        }
        let (shown, typed) = (one_line(short, 100), quoted(short));
        told.push(match now {
            Some(_) => {
                format!(
                    "a {kind} of yours was moved ({shown}); to have it back: {command} -f {typed} {before}"
                )
            }
            None => {
                format!("a {kind} of yours is gone ({shown}); to have it back: {command} {typed} {before}")
            }
        });
    }
    told.truncate(MOST);
    if untold > 0 {
        let branches = if untold == 1 { "branch" } else { "branches" };
        told.push(format!("of {untold} more {branches} nobody looked whether what was yours is still there"));
    }
    told
}

/// What the user had staged, what still was before the agent, and is not so after it.
pub fn unstaged(moments: &Moments<'_, Staged>) -> Staged {
    let is_otherwise = |(path, was): &(&Vec<u8>, &Option<Object>)| {
        moments.before.get(*path) == Some(*was) && moments.now.get(*path) != Some(*was)
    };
    let unstaged = moments.first.iter().filter(is_otherwise);
    unstaged.map(|(path, was)| (path.clone(), was.clone())).collect()
}

/// What a path holds, by the id of its content, where it matters to what was staged there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holds {
    /// The commit that is checked out, if there is one; inside, nothing at this path.
    pub head: Option<Option<String>>,
    /// The files, before the agent and after it.
    pub files: Vec<String>,
}

/// What to say of what was staged. Committed as it was, it is not lost.
pub fn staged(unstaged: &Staged, now: &Staged, holds: impl Fn(&[u8]) -> Holds) -> Vec<String> {
    let (mut only_unstaged, mut lost) = (vec![], vec![]);
    for (path, was) in unstaged {
        let id = was.as_ref().map(|was| &was.id);
        let Holds { head, files } = holds(path);
        if head.as_ref().is_some_and(|head| head.as_ref() == id) {
            continue;
        }
        let name = String::from_utf8_lossy(path).into_owned();
        let held =
            |id: &String| files.contains(id) || head.as_ref().is_some_and(|head| head.as_ref() == Some(id));
        match was.as_ref().filter(|was| !held(&was.id)) {
            Some(was) => lost.push((name, was)),
            None if !now.contains_key(path) => only_unstaged.push(name),
            None => {}
        }
    }
    let mut told = vec![];
    if !only_unstaged.is_empty() {
        let names = one_line(&only_unstaged.join(", "), 400);
        told.push(format!("what you had staged is not staged any more: {names}"));
    }
    told.extend(lost.iter().take(MOST).map(|(name, Object { mode, id })| {
        let entry = quoted(&format!("{mode:o},{id},{name}"));
        let name = one_line(name, 200);
        format!(
            "what you had staged of {name} is in no file any more; to have it staged again: git update-index --add --cacheinfo {entry}"
        )
    }));
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs_of(pairs: &str) -> Refs {
        let pair = |pair: &str| {
            let (name, id) = pair.split_once('=').expect("a pair");
            let kind = if name.starts_with('t') { "tags" } else { "heads" };
            (format!("refs/{kind}/{name}"), id.to_owned())
        };
        pairs.split_whitespace().map(pair).collect()
    }

    /// `a` comes before `ab`, and that before `abc`.
    fn told(first: &str, before: &str, now: &str) -> Vec<String> {
        let (first, before, now) = (refs_of(first), refs_of(before), refs_of(now));
        let holds = |old: &str, new: &str| (new != "?").then(|| new.starts_with(old));
        refs(&Moments { first: &first, before: &before, now: &now }, Some("own"), holds)
    }

    #[test]
    fn a_branch_or_tag_is_lost_where_it_was_there_from_the_first_and_what_it_held_went_with_this_agent() {
        let moved = "a branch of yours was moved (b); to have it back: git branch -f b";
        let gone = "a branch of yours is gone (b); to have it back: git branch b";
        let table = [
            ("b=a", "b=a", "b=a", None),
            ("b=a", "b=a", "b=ab", None),
            ("b=a", "b=a", "b=x", Some(format!("{moved} a"))),
            ("b=a", "b=a", "", Some(format!("{gone} a"))),
            // An agent's own.
            ("", "b=a", "", None),
            ("", "b=a t=a", "b=x t=x", None),
            // It went on with an agent before, and back to what was the user's; or further back, or away.
            ("b=a", "b=ab", "b=a", None),
            ("b=a", "b=ab", "b=ac", None),
            ("b=a", "b=ab", "b=x", Some(format!("{moved} ab"))),
            ("b=a", "b=ab", "", Some(format!("{gone} ab"))),
            // Told before.
            ("b=a", "", "", None),
            ("b=a", "b=x", "b=y", None),
            ("b=a", "b=x", "", None),
            ("b=a", "b=x", "b=a", None),
            // Where HEAD is it is told apart, but for a branch that is not there any more.
            ("own=a", "own=x", "own=y", None),
            (
                "own=a",
                "own=x",
                "",
                Some("a branch of yours is gone (own); to have it back: git branch own x".into()),
            ),
            (
                "t=a",
                "t=a",
                "t=ab",
                Some("a tag of yours was moved (t); to have it back: git tag -f t a".into()),
            ),
            ("t=a", "t=ab", "t=abc", None),
            (
                "b=a",
                "b=a",
                "b=?",
                Some("of 1 more branch nobody looked whether what was yours is still there".into()),
            ),
        ];
        for (first, before, now, expected) in table {
            assert_eq!(
                told(first, before, now),
                expected.into_iter().collect::<Vec<_>>(),
                "{first} | {before} | {now}"
            );
        }
        let many: String = (0..30).map(|nth| format!("b{nth}=a ")).collect();
        assert_eq!(told(&many, &many, "").len(), MOST);
        assert_eq!(told(&many, &many, &many.replace("=a", "=?")).len(), 1);
    }

    #[test]
    fn a_stash_is_the_user_s_where_it_was_there_before_the_first_agent() {
        let list = |ids: &str| -> Vec<Stash> {
            ids.chars().map(|id| Stash { id: id.into(), words: format!("it's {id}") }).collect()
        };
        let table = [
            ("a", "a", "a", ""),
            ("a", "ba", "a", ""),
            ("a", "ba", "b", "a"),
            ("ab", "b", "", "b"),
            ("", "a", "", ""),
        ];
        for (first, before, now, expected) in table {
            let (first, before, now) = (list(first), list(before), list(now));
            let told = stashes(&Moments { first: &first[..], before: &before, now: &now });
            let expected: Vec<String> = expected
                .chars()
                .map(|id| {
                    format!(
                        "a stash of yours is gone (it's {id}); to have it back: git stash store -m 'it'\\''s {id}' {id}"
                    )
                })
                .collect();
            assert_eq!(told, expected, "{first:?} {before:?} {now:?}");
        }
    }

    fn staged_of(pairs: &str) -> Staged {
        let pair = |pair: &str| {
            let (path, id) = pair.split_once('=').expect("a pair");
            let object = Object { mode: 0o100_644, id: id.into() };
            (path.as_bytes().to_vec(), Some(object).filter(|object| !object.id.is_empty()))
        };
        pairs.split_whitespace().map(pair).collect()
    }

    #[test]
    fn what_an_agent_staged_is_its_own_and_what_the_user_did_is_looked_for() {
        let table = [
            ("f=1", "f=1", "f=1", ""),
            ("f=1", "f=1", "", "f=1"),
            ("f=1", "f=1", "f=2", "f=1"),
            ("", "f=1", "", ""),
            ("f=1", "f=2", "", ""),
            ("f=1", "", "", ""),
            ("f=", "f=", "", "f="),
        ];
        for (first, before, now, expected) in table {
            let (first, before, now) = (staged_of(first), staged_of(before), staged_of(now));
            let found = unstaged(&Moments { first: &first, before: &before, now: &now });
            assert_eq!(found, staged_of(expected), "{first:?} {before:?} {now:?}");
        }
    }

    #[test]
    fn what_was_staged_is_lost_where_neither_a_file_nor_head_holds_it() {
        let holds = |head: Option<Option<&str>>, files: &[&str]| Holds {
            head: head.map(|head| head.map(str::to_owned)),
            files: files.iter().map(|id| (*id).to_owned()).collect(),
        };
        let lost = "what you had staged of f is in no file any more; to have it staged again: git update-index --add --cacheinfo \
                    100644,1,f";
        let only = "what you had staged is not staged any more: f";
        let table = [
            ("f=1", "", holds(Some(Some("0")), &["0"]), Some(lost)),
            ("f=1", "f=2", holds(Some(Some("0")), &["2"]), Some(lost)),
            ("f=1", "", holds(None, &[]), Some(lost)),
            ("f=1", "", holds(Some(Some("1")), &["2"]), None),
            ("f=1", "", holds(Some(Some("0")), &["1"]), Some(only)),
            ("f=1", "f=2", holds(Some(Some("0")), &["1", "2"]), None),
            ("f=", "", holds(Some(None), &[]), None),
            ("f=", "", holds(Some(Some("0")), &["0"]), Some(only)),
        ];
        for (unstaged, now, found, expected) in table {
            let told = staged(&staged_of(unstaged), &staged_of(now), |_| found.clone());
            assert_eq!(told, expected.into_iter().collect::<Vec<_>>(), "{unstaged} {now} {found:?}");
        }
    }
}
