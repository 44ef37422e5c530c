//! What of the user's is in the repository and in no snapshot: branches, tags, stashes, and what is staged. An agent that throws some
//! of it away is told of, with the way to have it back: what git no longer names stays stored until git cleans up.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use ralph_core::decision::TreeMark;
use ralph_core::event::Measured;
use ralph_core::gather::Gather as _;
use ralph_core::git_index;
use ralph_core::git_text::is_object_id;
use ralph_core::lost::{self, Holds, Moments, Refs, Staged, Stash};

use super::Runner;
use crate::bounded;
use crate::git::{self, Repo};
use crate::store::{self, Scratch};
use crate::work::Stand;

/// A longer index is not held.
const MOST_INDEX: u64 = 64 << 20;
/// Of so many moved branches git is asked whether they lost something.
const MOST_ASKED: usize = 20;
/// What was staged is looked for at so many paths.
const MOST_PATHS: usize = 1_000;

/// What this ralph saw before an agent; one that comes after it does not know it.
#[derive(Debug, Default, Clone)]
pub(super) struct Seen {
    refs: Option<Arc<Refs>>,
    /// The index as it was, where nobody asked git what is staged.
    index: Option<Arc<Vec<u8>>>,
}

impl Seen {
    /// Without starting git. `index`: the index too. What is as it was `earlier` is not held twice.
    pub(super) fn now(repo: &Repo, index: bool, earlier: Option<&Seen>) -> Self {
        fn shared<T: PartialEq>(new: Option<T>, old: Option<&Arc<T>>) -> Option<Arc<T>> {
            let new = new?;
            Some(old.filter(|old| ***old == new).map_or_else(|| Arc::new(new), Arc::clone))
        }
        let index = index.then(|| read_index(repo)).flatten();
        Self {
            refs: shared(repo.refs(), earlier.and_then(|earlier| earlier.refs.as_ref())),
            index: shared(index, earlier.and_then(|earlier| earlier.index.as_ref())),
        }
    }
}

/// What was there before the first agent that this ralph started. What came since may be an agent's.
#[derive(Debug, Default)]
pub(super) struct Mine {
    pub(super) seen: Seen,
    /// Where HEAD was.
    pub(super) head: Option<String>,
    pub(super) stashes: Vec<Stash>,
    /// Asked for where it matters, and once.
    pub(super) staged: OnceCell<Option<Staged>>,
}

fn read_index(repo: &Repo) -> Option<Vec<u8>> {
    bounded::read(&repo.git_dir.join("index"), MOST_INDEX).ok()
}

impl Runner<'_> {
    pub(super) fn measure_what_is_gone(
        &self,
        measured: &mut Measured,
        repo: &Repo,
        stand: &Stand,
        mark: Option<&TreeMark>,
    ) {
        let before = &stand.stashes[..];
        // Of what another ralph began nobody knows more than how it was before its agent.
        let first = self.mine.as_ref().map_or(before, |mine| &mine.stashes);
        let now = if before.is_empty() { vec![] } else { repo.stashes() };
        measured.flags.extend(lost::stashes(&Moments { first, before, now: &now }));
        self.measure_refs(measured, repo, stand.branch.as_deref());
        if let Some(mark) = mark {
            self.measure_staged(measured, repo, stand, mark);
        }
    }

    fn measure_refs(&self, measured: &mut Measured, repo: &Repo, own: Option<&str>) {
        let first = self.mine.as_ref().and_then(|mine| mine.seen.refs.as_deref());
        let (Some(first), Some(before)) = (first, self.seen.refs.as_deref()) else { return };
        let Some(now) = repo.refs().filter(|now| now != before) else { return };
        let mut left = MOST_ASKED;
        let holds = |old: &str, new: &str| {
            left = left.checked_sub(1)?;
            repo.is_ancestor(old, new).ok()
        };
        measured.flags.extend(lost::refs(&Moments { first, before, now: &now }, own, holds));
    }

    /// What was staged and is not any more, neither committed.
    fn measure_staged(&self, measured: &mut Measured, repo: &Repo, stand: &Stand, mark: &TreeMark) {
        let both = match self.asks_the_index() {
            true => {
                let first = self.mine.as_ref().and_then(|mine| mine.staged.get()?.as_ref());
                Some((first.unwrap_or(&stand.staged).clone(), stand.staged.clone()))
            }
            false => self.staged_in_the_index(repo, mark),
        };
        let Some((first, before)) = both.filter(|(first, before)| !first.is_empty() && !before.is_empty())
        else {
            return;
        };
        let asked = self.staged_after().cloned().map_or_else(|| repo.staged().map(git::as_staged), Ok);
        let Ok(now) = asked else { return };
        let unstaged = lost::unstaged(&Moments { first: &first, before: &before, now: &now });
        // A name with a line break would be two questions.
        let unstaged: Staged =
            unstaged.into_iter().filter(|(path, _)| !path.contains(&b'\n')).take(MOST_PATHS).collect();
        if unstaged.is_empty() {
            return;
        }
        let mut places = vec![mark.tree.as_str(), measured.tree.as_str()];
        places.extend(measured.head.as_deref());
        let Some(found) = self.objects_at(&places, &unstaged) else { return };
        let holds = |path: &[u8]| {
            let mut ids = found.get(path).cloned().unwrap_or_default();
            let head = measured.head.as_ref().and_then(|_| ids.pop());
            Holds { head, files: ids.into_iter().flatten().collect() }
        };
        let told = lost::staged(&unstaged, &now, holds);
        measured.flags.extend(told);
    }

    /// What the index held before the first agent and before this one, if it is not what it was.
    fn staged_in_the_index(&self, repo: &Repo, mark: &TreeMark) -> Option<(Staged, Staged)> {
        let (mine, before) = (self.mine.as_ref()?, self.seen.index.as_ref()?);
        // git writes it anew whenever it looks at the files.
        let is_same = |now: &Vec<u8>| now == &**before || git_index::hold_the_same(before, now, &mark.tree);
        if read_index(repo).as_ref().is_some_and(is_same) {
            return None;
        }
        let at_first = mine.seen.index.as_ref()?;
        let first = mine.staged.get_or_init(|| staged_by(repo, at_first, mine.head.as_deref()));
        let first = first.as_ref().filter(|first| !first.is_empty())?;
        let before = match Arc::ptr_eq(at_first, before) {
            true => first.clone(),
            false => staged_by(repo, before, mark.head.as_deref())?,
        };
        Some((first.clone(), before))
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
        Some(paths.keys().cloned().zip(found).into_map())
    }
}

/// What was staged by an index, where this commit was HEAD: git is asked with a copy of it.
fn staged_by(repo: &Repo, index: &[u8], head: Option<&str>) -> Option<Staged> {
    let staged = || -> io::Result<Option<Staged>> {
        let scratch = Scratch::new("ralph-index")?;
        let copy = scratch.path().join("index");
        store::write_private(&copy, index)?;
        let staged = repo.staged_by(&copy, head).ok();
        scratch.remove()?;
        Ok(staged)
    };
    staged().ok().flatten()
}
