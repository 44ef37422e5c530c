//! What ralph left uncommitted in a task file is no work of the user's: the hash of a commit is recorded after it, and
//! the next commit takes that along. Which contents these are is kept beside the record.

use ralph_core::decision::TreeMark;

use super::{Source, paths};
use crate::project::Project;
use crate::tree::Tree;
use crate::{digest, store};

const FILE: &str = "backlog-left";
/// How many contents are remembered.
const MOST: usize = 200;

pub(crate) struct OwnBacklog<'a> {
    project: &'a Project,
    tree: &'a Tree,
    base: Option<&'a TreeMark>,
    /// From the top of the project.
    path: Option<Vec<u8>>,
}

impl<'a> OwnBacklog<'a> {
    pub(crate) fn new(
        project: &'a Project,
        tree: &'a Tree,
        base: Option<&'a TreeMark>,
        source: &Source,
    ) -> Self {
        // What bd exports is never ours.
        let path = source.below(&project.root).filter(|_| source.is_file());
        Self { project, tree, base, path }
    }

    /// Whether the file was as committed, or as ralph had left it, when the run began.
    pub(crate) fn is_ours(&self) -> bool {
        let (Some(repo), Some(base), Some(path)) = (&self.project.repo, self.base, &self.path) else {
            return false;
        };
        let changed = repo
            .tree_of(base.head.as_deref())
            .ok()
            .and_then(|head| paths::between(self.tree, &head, &base.tree).ok());
        match changed {
            None => false,
            Some(changed) if !changed.contains(path) => true,
            Some(_) => {
                self.in_base(path, base).is_some_and(|bytes| self.known().contains(&digest::of(&bytes)))
            }
        }
    }

    fn in_base(&self, path: &[u8], base: &TreeMark) -> Option<Vec<u8>> {
        let name = format!("{}:{}", base.tree, std::str::from_utf8(path).ok()?);
        self.tree.call("cat-file").args(["blob", &name]).output().ok()
    }

    /// Whether what is there now is what ralph left there.
    pub(crate) fn left(&self, source: &Source) -> bool {
        self.path.is_some() && source.bytes().is_ok_and(|bytes| self.known().contains(&digest::of(&bytes)))
    }

    /// Remembers what is there now, if it is the run's doing.
    pub(crate) fn keep(&self, source: &Source) {
        if !self.is_ours() {
            return;
        }
        let Ok(bytes) = source.bytes() else { return };
        let (mut known, now) = (self.known(), digest::of(&bytes));
        if known.last() == Some(&now) {
            return;
        }
        known.push(now);
        let surplus = known.len().saturating_sub(MOST);
        known.drain(..surplus);
        // Without it the file is taken for the user's, and left alone.
        let _ = store::write_private(&self.project.truth.join(FILE), known.join("\n").as_bytes());
    }

    fn known(&self) -> Vec<String> {
        known(self.project)
    }
}

fn known(project: &Project) -> Vec<String> {
    let text = std::fs::read_to_string(project.truth.join(FILE)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Whether a task file is as ralph left it, before a run has begun.
pub(crate) fn is_as_left(project: &Project, source: &Source) -> bool {
    source.is_file() && source.bytes().is_ok_and(|bytes| known(project).contains(&digest::of(&bytes)))
}
