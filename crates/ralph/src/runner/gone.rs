//! What of the user's is in the repository and in no snapshot: branches, tags, stashes, and what is staged. An agent that throws some
//! of it away is told of, with the way to have it back: what git no longer names stays stored until git cleans up.

use std::collections::BTreeMap;
use std::io;

use ralph_core::decision::TreeMark;
use ralph_core::event::Measured;
use ralph_core::git_text::{Object, is_object_id};
use ralph_core::text;

use super::Runner;
use crate::git::{self, Refs, Repo, Staged, Stash};
use crate::store::{self, Scratch};
use crate::suggest::quoted;
use crate::work::Stand;

/// How many lost stashes are named, branches and tags, and files that were staged.
const MOST: usize = 10;
/// A longer index is not held.
const MOST_INDEX: u64 = 64 << 20;
/// What was staged is looked for at so many paths.
const MOST_PATHS: usize = 1_000;

/// What this ralph saw before the agent; one that comes after it does not know it.
#[derive(Debug, Default)]
pub(super) struct Seen {
    refs: Option<Refs>,
    /// The index as it was, where nobody asked git what is staged.
    index: Option<Vec<u8>>,
}

impl Seen {
    /// Without starting git. `index`: the index too.
    pub(super) fn now(repo: &Repo, index: bool) -> Self {
        Self { refs: repo.refs(), index: index.then(|| read_index(repo)).flatten() }
    }
}

fn read_index(repo: &Repo) -> Option<Vec<u8>> {
    let path = repo.git_dir.join("index");
    match std::fs::metadata(&path) {
        Ok(data) if data.len() > MOST_INDEX => None,
        Ok(_) => std::fs::read(path).ok(),
        Err(_) => None,
    }
}

impl Runner<'_> {
    pub(super) fn measure_what_is_gone(
        &self,
        measured: &mut Measured,
        repo: &Repo,
        stand: &Stand,
        mark: Option<&TreeMark>,
    ) {
        stashes(measured, repo, &stand.stashes);
        if let Some(before) = &self.seen.refs {
            refs(measured, repo, before, stand.branch.as_deref());
        }
        if let Some(mark) = mark {
            self.measure_staged(measured, repo, stand, mark);
        }
    }

    /// What was staged and is not any more, neither committed.
    fn measure_staged(&self, measured: &mut Measured, repo: &Repo, stand: &Stand, mark: &TreeMark) {
        let before = match self.asks_the_index() {
            true => Some(stand.staged.clone()),
            false => self.staged_in_the_index_before(repo, mark),
        };
        let Some(before) = before.filter(|before| !before.is_empty()) else { return };
        let asked = self.staged_after().cloned().map_or_else(|| repo.staged().map(git::as_staged), Ok);
        let Ok(now) = asked else { return };
        let other = |(path, was): &(&Vec<u8>, &Option<Object>)| {
            now.get(*path) != Some(*was) && !path.contains(&b'\n')
        };
        let other: Staged = before
            .iter()
            .filter(other)
            .take(MOST_PATHS)
            .map(|(path, was)| (path.clone(), was.clone()))
            .collect();
        if other.is_empty() {
            return;
        }
        let mut places = vec![mark.tree.as_str(), measured.tree.as_str()];
        places.extend(measured.head.as_deref());
        let Some(found) = self.objects_at(&places, &other) else { return };
        let in_head = |path: &[u8], id: Option<&str>| match measured.head {
            Some(_) => found.get(path).and_then(|ids| ids.last()).map(|id| id.as_deref()) == Some(id),
            None => false,
        };
        let (mut unstaged, mut lost) = (vec![], vec![]);
        for (path, was) in &other {
            let id = was.as_ref().map(|was| was.id.as_str());
            if in_head(path, id) {
                continue;
            }
            let name = String::from_utf8_lossy(path).into_owned();
            let held =
                |id: &str| found.get(path).is_some_and(|ids| ids.iter().flatten().any(|known| known == id));
            match was.as_ref().filter(|was| !held(&was.id)) {
                Some(was) => lost.push((name, was.clone())),
                None if !now.contains_key(path) => unstaged.push(name),
                None => {}
            }
        }
        if !unstaged.is_empty() {
            let names = text::one_line(&unstaged.join(", "), 400);
            measured.flags.push(format!("what you had staged is not staged any more: {names}"));
        }
        measured.flags.extend(lost.iter().take(MOST).map(|(name, Object { mode, id })| {
            let entry = quoted(&format!("{mode:o},{id},{name}"));
            let name = text::one_line(name, 200);
            format!(
                "what you had staged of {name} is in no file any more; to have it staged again: git update-index --add --cacheinfo {entry}"
            )
        }));
    }

    /// What the index held before, if it is not what it was; git is asked with a copy of it.
    fn staged_in_the_index_before(&self, repo: &Repo, mark: &TreeMark) -> Option<Staged> {
        let before = self.seen.index.as_ref().filter(|before| read_index(repo).as_ref() != Some(*before))?;
        let staged = || -> io::Result<Option<Staged>> {
            let scratch = Scratch::new("ralph-index")?;
            let index = scratch.path().join("index");
            store::write_private(&index, before)?;
            let staged = repo.staged_by(&index, mark.head.as_deref()).ok();
            scratch.remove()?;
            Ok(staged)
        };
        staged().ok().flatten()
    }

    /// What each of these places holds at these paths.
    fn objects_at(&self, places: &[&str], paths: &Staged) -> Option<BTreeMap<Vec<u8>, Vec<Option<String>>>> {
        let mut asked = vec![];
        for path in paths.keys() {
            for place in places {
                asked.extend(place.bytes().chain([b':']).chain(path.iter().copied()).chain([b'\n']));
            }
        }
        let call = self.tree.call("cat-file").arg("--batch-check=%(objectname)").stdin(asked);
        let answer = call.output().ok()?;
        let answer = String::from_utf8_lossy(&answer);
        let ids: Vec<Option<String>> =
            answer.lines().map(|line| Some(line.to_owned()).filter(|id| is_object_id(id))).collect();
        let found = ids.chunks(places.len().max(1)).map(<[_]>::to_vec);
        Some(paths.keys().cloned().zip(found).collect())
    }
}

/// Stashes of the user's that are gone.
fn stashes(measured: &mut Measured, repo: &Repo, before: &[Stash]) {
    let now = if before.is_empty() { vec![] } else { repo.stashes() };
    let gone = before.iter().filter(|stash| now.iter().all(|other| other.id != stash.id));
    measured.flags.extend(gone.take(MOST).map(|Stash { id, words }| {
        let words = text::one_line(words, 100);
        let typed = quoted(&words);
        format!("a stash of yours is gone ({words}); to have it back: git stash store -m {typed} {id}")
    }));
}

/// Branches and tags that are gone or stand for something else. The branch that the user is on is looked at apart, while it is
/// there; one that only went on has lost nothing.
fn refs(measured: &mut Measured, repo: &Repo, before: &Refs, own: Option<&str>) {
    let Some(now) = repo.refs().filter(|now| now != before) else { return };
    let own = own.map(|own| format!("refs/heads/{own}"));
    let mut told = vec![];
    for (name, old) in before {
        let (kind, command, short) = match (name.strip_prefix("refs/heads/"), name.strip_prefix("refs/tags/"))
        {
            (Some(short), _) => ("branch", "git branch", short),
            (_, Some(short)) => ("tag", "git tag", short),
            _ => continue,
        };
        let (shown, typed) = (text::one_line(short, 100), quoted(short));
        match now.get(name) {
            Some(new) if new == old || own.as_ref() == Some(name) => {}
            Some(new) if kind == "branch" && repo.is_ancestor(old, new).unwrap_or(false) => {}
            Some(_) => told.push(format!(
                "a {kind} of yours was moved ({shown}); to have it back: {command} -f {typed} {old}"
            )),
            None => told.push(format!(
                "a {kind} of yours is gone ({shown}); to have it back: {command} {typed} {old}"
            )),
        }
        if told.len() >= MOST {
            break;
        }
    }
    measured.flags.extend(told);
}
