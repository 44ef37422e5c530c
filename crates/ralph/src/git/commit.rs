//! A commit of given contents. It is put together in an index of its own, and nothing moves before it is there whole: an
//! orphan of a ralph that was killed cannot commit later, and whoever looks finds the old commit or the new one. The
//! user's hooks and signing have their say as with `git commit`.

use std::path::Path;

use ralph_core::git_text::{self, Change, is_object_id};

use super::index::{index_info, when_unlocked};
use super::{Call, Entry, GitError, Kept, Repo};
use crate::store;

/// How far back a commit of ours is looked for: it was made moments before ralph was cut off.
const RECENT: &str = "--max-count=50";
/// The mode of a nested repository.
pub const NESTED: u32 = 0o160_000;

/// What to type where git does not know whose a commit would be.
pub const IDENTIFY: &str = "git config user.name \"NAME\" && git config user.email \"ADDRESS\"";

/// What is to be committed.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The commit below it, which must be checked out; `None` where there is none yet.
    pub head: Option<&'a str>,
    /// What differs from it.
    pub entries: &'a [Entry],
    pub message: &'a str,
    /// A folder of ralph's own.
    pub folder: &'a Path,
}

/// A commit that no branch has yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    pub commit: String,
    /// All that it changes.
    pub changes: Vec<Change>,
    /// What a hook made of it that was not wanted.
    pub differs: Vec<String>,
}

impl Repo {
    /// The newest commit of HEAD that is not in `but` and carries each of these trailers.
    pub fn commit_with_trailers(
        &self,
        trailers: &[(&str, &str)],
        but: Option<&str>,
    ) -> Result<Option<String>, GitError> {
        if self.head()?.is_none() {
            return Ok(None);
        }
        let value = |(name, _): &(&str, &str)| format!("%x09%(trailers:key={name},valueonly,separator=%x20)");
        let format = format!("--format=%H{}", trailers.iter().map(value).collect::<String>());
        let but = but.map(|but| format!("^{but}"));
        let call = self.call("log").args([RECENT, "--no-show-signature", &format, "HEAD"]).args(but);
        let output = call.output()?;
        let text = String::from_utf8_lossy(&output);
        let ours = |line: &&str| {
            let found = line.split('\t').skip(1).map(str::trim);
            found.eq(trailers.iter().map(|(_, value)| *value))
        };
        let found = text.lines().find(ours).and_then(|line| line.split('\t').next());
        Ok(found.map(str::to_owned).filter(|id| is_object_id(id)))
    }

    /// The tree of a commit; of `None` the tree without files.
    pub fn tree_of(&self, commit: Option<&str>) -> Result<String, GitError> {
        let call = match commit {
            Some(commit) => self.call("rev-parse").args(["--verify", &format!("{commit}^{{tree}}")]),
            None => self.call("hash-object").args(["-t", "tree", "/dev/null"]),
        };
        tree_from(&call)
    }

    /// A file as a commit has it.
    pub fn file_at(&self, commit: &str, path: &[u8]) -> Option<Vec<u8>> {
        let name = format!("{commit}:{}", std::str::from_utf8(path).ok()?);
        self.call("cat-file").args(["blob", &name]).output().ok()
    }

    /// Which of these a commit holds, at its top.
    pub fn names_in(&self, commit: Option<&str>, names: &[&str]) -> Result<Vec<String>, GitError> {
        let Some(commit) = commit else { return Ok(vec![]) };
        let call = self.call("ls-tree").args(["--full-tree", "--name-only", "-z", commit, "--"]).args(names);
        let output = call.output()?;
        let held = output.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        Ok(held.filter(|name| !name.is_empty()).map(|name| name.into_owned()).collect())
    }

    /// Whether git knows whose a commit would be.
    pub fn identity(&self) -> Result<(), GitError> {
        let told = |name: &str| self.call("var").as_the_user().arg(name).output().map(drop);
        told("GIT_AUTHOR_IDENT").and_then(|()| told("GIT_COMMITTER_IDENT"))
    }

    /// Whether a merge, a rebase or the like is under way, in which a commit of single paths would be wrong.
    pub fn is_busy(&self) -> Option<&'static str> {
        let there = |name: &str| self.git_dir.join(name).exists();
        [
            ("MERGE_HEAD", "a merge"),
            ("CHERRY_PICK_HEAD", "a cherry-pick"),
            ("REVERT_HEAD", "a revert"),
            ("rebase-merge", "a rebase"),
            ("rebase-apply", "a rebase"),
        ]
        .into_iter()
        .find(|(name, _)| there(name))
        .map(|(_, what)| what)
    }

    /// Takes objects over from `lender`, as far as they are not here.
    pub fn borrow(&self, ids: &[&str], lender: impl Fn(&'static str) -> Call) -> Result<(), GitError> {
        let asked: Vec<u8> = ids.iter().flat_map(|id| [id.as_bytes(), b"\n"].concat()).collect();
        let call = self.call("cat-file").measuring().arg("--batch-check=%(objectname)").stdin(asked);
        let answer = call.output()?;
        let answer = String::from_utf8_lossy(&answer);
        let missing = answer.lines().filter_map(|line| line.strip_suffix(" missing"));
        let missing: Vec<u8> = missing.flat_map(|id| [id.as_bytes(), b"\n"].concat()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let pack = lender("pack-objects").args(["-q", "--stdout"]).stdin(missing).output()?;
        self.call("unpack-objects").arg("-q").stdin(pack).output().map(drop)
    }

    /// Makes the commit, and moves nothing; `None` if it would hold nothing new.
    pub fn make_commit(&self, wanted: Wanted<'_>, kept: &Kept<'_>) -> Result<Option<Made>, GitError> {
        let index = wanted.folder.join("commit-index");
        let message = wanted.folder.join("commit-message");
        let leftovers = [&index, &message, &wanted.folder.join("commit-index.lock")];
        leftovers.into_iter().for_each(|path| drop(store::remove(path)));
        let made = self.make_with(wanted, kept, &index, &message);
        leftovers.into_iter().for_each(|path| drop(store::remove(path)));
        made
    }

    fn make_with(
        &self,
        wanted: Wanted<'_>,
        kept: &Kept<'_>,
        index: &Path,
        message: &Path,
    ) -> Result<Option<Made>, GitError> {
        let old = self.tree_of(wanted.head)?;
        let on_it = |command| self.call(command).env("GIT_INDEX_FILE", index);
        self.fill(&old, index)?;
        let info = on_it("update-index").measuring().args(["-z", "--replace", "--index-info"]);
        info.stdin(index_info(wanted.entries, &old)).output()?;
        let planned = tree_from(&on_it("write-tree").measuring())?;
        if planned == old {
            return Ok(None);
        }
        if self.hook("pre-commit")?.is_some() {
            // Files that are as committed must not look changed to it. Others may be.
            let _ = on_it("update-index").args(["-q", "--refresh"]).run();
            self.run_hook("pre-commit", &[], index, kept)?;
        }
        let tree = tree_from(&on_it("write-tree").measuring())?;
        self.settle_message(wanted.message, message, index, kept)?;
        let call = self.call("commit-tree").as_the_user().arg(&tree).arg("-F").arg(message);
        let call = wanted.head.map_or(call.clone(), |head| call.args(["-p", head]));
        let commit = match self.signs()? {
            true => Some(call.clone().arg("-S").kept(kept)?),
            false => call.line()?,
        };
        let commit =
            commit.filter(|id| is_object_id(id)).ok_or_else(|| call.strange("a commit was asked for"))?;
        let differs =
            self.changes(&planned, &tree)?.iter().map(|change| change.name().into_owned()).collect();
        Ok(Some(Made { commit, changes: self.changes(&old, &tree)?, differs }))
    }

    /// An index of this tree, with what the user's index knows about the times of files.
    fn fill(&self, tree: &str, index: &Path) -> Result<(), GitError> {
        let read = || self.call("read-tree").measuring().env("GIT_INDEX_FILE", index);
        if let Ok(users) = std::fs::read(self.git_dir.join("index"))
            && store::write_private(index, &users).is_ok()
            && read().args(["--reset", tree]).output().is_ok()
        {
            return Ok(());
        }
        let _ = store::remove(index);
        read().arg(tree).output().map(drop)
    }

    /// The message as the user's hooks leave it, in a file.
    fn settle_message(&self, text: &str, file: &Path, index: &Path, kept: &Kept<'_>) -> Result<(), GitError> {
        let call = self.call("stripspace");
        let cannot = |error: std::io::Error| call.strange(&format!("{}: {error}", file.display()));
        store::write_private(file, text.as_bytes()).map_err(cannot)?;
        self.run_hook("prepare-commit-msg", &[file, Path::new("message")], index, kept)?;
        self.run_hook("commit-msg", &[file], index, kept)?;
        let told = std::fs::read(file).map_err(cannot)?;
        let clean = call.clone().stdin(told).output()?;
        if clean.is_empty() {
            return Err(call.strange("a hook left an empty message"));
        }
        store::write_private(file, &clean).map_err(cannot)
    }

    fn signs(&self) -> Result<bool, GitError> {
        let set = self.call("config").args(["--type=bool", "--get", "commit.gpgSign"]).line()?;
        Ok(set.as_deref() == Some("true"))
    }

    /// HEAD, and the branch it stands for, from `old` to `new`; refused if it is somewhere else by now.
    pub fn move_head(
        &self,
        new: &str,
        old: Option<&str>,
        title: &str,
        kept: &Kept<'_>,
    ) -> Result<(), GitError> {
        let nothing = "0".repeat(new.len());
        let how = if old.is_some() { "commit" } else { "commit (initial)" };
        let call =
            self.call("update-ref").as_the_user().args(["-m", &format!("{how}: {title}"), "HEAD", new]);
        let call = call.arg(old.unwrap_or(&nothing));
        match self.hook("reference-transaction")? {
            Some(_) => when_unlocked(|| call.kept(kept)).map(drop),
            None => when_unlocked(|| call.output()).map(drop),
        }
    }

    /// The commit below this one; `None` where it is the first.
    pub fn below(&self, commit: &str) -> Result<Option<String>, GitError> {
        self.call("rev-parse").args(["--verify", "--quiet", &format!("{commit}^")]).line()
    }

    /// After a commit; what it says is its own affair.
    pub fn after_commit(&self, kept: &Kept<'_>) {
        let _ = self.run_hook("post-commit", &[], &self.git_dir.join("index"), kept);
    }

    fn changes(&self, from: &str, to: &str) -> Result<Vec<Change>, GitError> {
        let call = self.call("diff-tree").measuring();
        let call = call.args(["-r", "-z", "--no-renames", "--ignore-submodules=none", from, to]);
        git_text::parse_diff(&call.output()?).map_err(|_| call.strange("a list of changes was asked for"))
    }
}

fn tree_from(call: &Call) -> Result<String, GitError> {
    call.line()?.filter(|id| is_object_id(id)).ok_or_else(|| call.strange("a tree was asked for"))
}
