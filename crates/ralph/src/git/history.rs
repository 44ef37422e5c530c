//! Where HEAD is, and what was committed in between.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

use ralph_core::event::is_progress;
use ralph_core::gather::Gather as _;
use ralph_core::git_text::{is_object_id, parse_paths};
use ralph_core::lost::Stash;

use super::{Call, GitError, Repo};
use crate::bounded;
use crate::unix::names::OsStrExt;

/// A longer log of where HEAD was, or of stashes, is not read.
const MOST_LOG: u64 = 64 << 20;

/// How many commits are named; the rest is counted.
const NAMED: usize = 100;

/// The id of the tree without files, in repositories with SHA-1 and with SHA-256.
const EMPTY_TREES: [&str; 2] = [
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
];

/// Commits that one head has and an earlier one has not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commits {
    /// Newest first, at most 100.
    pub ids: Vec<String>,
    pub total: u64,
    /// There are such commits, and the trees of the two heads differ in more than notes.
    pub changed_tree: bool,
}

impl Repo {
    /// The stashes, as far as a file has them: git is not asked, for this is looked at before every agent.
    pub fn stashes(&self) -> Vec<Stash> {
        let log = bounded::read(&self.common_dir.join("logs/refs/stash"), MOST_LOG).unwrap_or_default();
        let stash = |line: &str| {
            let (head, words) = line.split_once('\t')?;
            let id = head.split(' ').nth(1).filter(|id| is_object_id(id))?;
            Some(Stash { id: id.to_owned(), words: words.to_owned() })
        };
        String::from_utf8_lossy(&log).lines().filter_map(stash).collect()
    }

    /// Where HEAD was at this second, if somebody moved it later, as its log tells; inside, `None` where it had no commit.
    pub fn head_until(&self, second: i64) -> Option<Option<String>> {
        let log = bounded::read(&self.git_dir.join("logs/HEAD"), MOST_LOG).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let moved_later = |line: &str| {
            let (head, _) = line.split_once('\t').unwrap_or((line, ""));
            let at: i64 = head.rsplit(' ').nth(1)?.parse().ok()?;
            let old = head.split(' ').next().filter(|id| is_object_id(id))?;
            (at > second).then(|| Some(old.to_owned()).filter(|old| old.bytes().any(|byte| byte != b'0')))
        };
        log.lines().rev().map_while(moved_later).last()
    }

    /// The commit that is checked out; `None` if there are no commits yet.
    pub fn head(&self) -> Result<Option<String>, GitError> {
        self.call("rev-parse").args(["--quiet", "--verify", "HEAD^{commit}"]).line()
    }

    /// The name of the current branch, also if it has no commits yet; `None` if HEAD is detached.
    pub fn branch(&self) -> Result<Option<String>, GitError> {
        self.call("symbolic-ref").args(["--quiet", "--short", "HEAD"]).line()
    }

    /// The rule by which git leaves a path out, as `FILE:LINE:PATTERN`; `None` if it does not.
    pub fn ignored_by(&self, path: &str) -> Result<Option<String>, GitError> {
        let rule = self.call("check-ignore").args(["--verbose", "--no-index", "--", path]).line()?;
        // A pattern with ! lets it through.
        let rule = rule.and_then(|line| line.split('\t').next().map(str::to_owned));
        Ok(rule.filter(|rule| !rule.splitn(3, ':').nth(2).is_some_and(|pattern| pattern.starts_with('!'))))
    }

    /// Whether a commit is there: a history that was rewritten and cleaned up has lost its old ones.
    pub fn has_commit(&self, id: &str) -> Result<bool, GitError> {
        Ok(self.call("cat-file").arg("-e").arg(format!("{id}^{{commit}}")).run()?.end.success())
    }

    /// Which of these contents of files a commit up to this one brought or took away: those are not lost. All are looked for
    /// in one walk.
    pub fn held_before(&self, head: &str, files: &[(&[u8], &str)]) -> Result<BTreeSet<String>, GitError> {
        let call =
            self.call("log").args(["--format=", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff"]);
        let call =
            call.args(files.iter().map(|(_, blob)| format!("--find-object={blob}"))).arg(head).arg("--");
        let literal = |(path, _): &(&[u8], &str)| {
            let mut literal = OsString::from(":(top,literal)");
            literal.push(OsStr::from_bytes(path));
            literal
        };
        let output = call.args(files.iter().map(literal)).output()?;
        let text = String::from_utf8_lossy(&output);
        // `:100644 100644 OLD NEW M\tNAME`
        let ids = text
            .lines()
            .filter(|line| line.starts_with(':'))
            .flat_map(|line| line.split(' ').skip(2).take(2));
        Ok(ids.map(str::to_owned).into_set())
    }

    /// How many commits from one to the other are not ralph's.
    pub fn others_since(&self, then: &str, now: &str) -> Result<u64, GitError> {
        let call = self.call("rev-list").args(["--count", "--invert-grep", "--grep=^Ralph-Iteration: "]);
        let line = call.arg(format!("{then}..{now}")).line()?;
        Ok(line.and_then(|line| line.parse().ok()).unwrap_or(0))
    }

    /// How many files differ from what is committed; an untracked folder is one.
    pub fn uncommitted(&self) -> Result<u64, GitError> {
        let output = self.short_status().arg("--untracked-files=normal").output()?;
        Ok(output.iter().filter(|byte| **byte == 0).count() as u64)
    }

    /// Whether a file is another one than in HEAD, or staged as another one, or not there; an ignored file is not.
    pub fn is_uncommitted(&self, path: &OsStr) -> Result<bool, GitError> {
        let mut literal = OsString::from(":(literal)");
        literal.push(path);
        let call = self.short_status().args(["--untracked-files=all", "--"]).arg(literal);
        Ok(!call.output()?.is_empty())
    }

    fn short_status(&self) -> Call {
        self.call("status").measuring().args(["--porcelain", "-z", "--no-renames"])
    }

    /// Which of these hashes, or beginnings of them, are of commits that exist here. What is a name of a commit and not its
    /// own hash is none.
    pub fn existing_commits<'n>(&self, names: &BTreeSet<&'n str>) -> Result<BTreeSet<&'n str>, GitError> {
        // A name with a line break would be two questions.
        let asked: Vec<&'n str> = names.iter().copied().filter(|name| !name.contains(['\n', '\r'])).collect();
        let questions: String = asked.iter().map(|name| format!("{name}^{{commit}}\n")).collect();
        let answer = self.call("cat-file").arg("--batch-check").stdin(questions.into_bytes()).output()?;
        let answer = String::from_utf8_lossy(&answer);
        let is_it = |name: &str, line: &str| {
            let (id, rest) = line.split_once(' ').unwrap_or_default();
            rest.starts_with("commit ") && id.starts_with(&name.to_ascii_lowercase())
        };
        Ok(asked
            .into_iter()
            .zip(answer.lines())
            .filter(|(name, line)| is_it(name, line))
            .map(|(name, _)| name)
            .into_set())
    }

    /// What came in between two heads, each `None` where there are no commits yet. Commits that were made
    /// elsewhere and only checked out count too: git cannot tell them apart.
    pub fn commits_between(&self, before: Option<&str>, after: Option<&str>) -> Result<Commits, GitError> {
        self.commits_of_work(before, after, |_| true)
    }

    /// The same; only what is work at these paths makes the trees others.
    pub fn commits_of_work(
        &self,
        before: Option<&str>,
        after: Option<&str>,
        is_work: impl Fn(&[u8]) -> bool,
    ) -> Result<Commits, GitError> {
        let Some(after) = after.filter(|after| Some(*after) != before) else { return Ok(Commits::default()) };
        let mut range = vec![after.to_owned()];
        range.extend(before.map(|before| format!("^{before}")));

        let list = self.call("rev-list").arg(format!("--max-count={}", NAMED + 1)).args(&range);
        let mut ids = object_ids(&list)?;
        let total = if ids.len() <= NAMED { ids.len() as u64 } else { self.count(&range)? };
        ids.truncate(NAMED);
        let changed_tree = !ids.is_empty() && self.trees_differ(before, after, is_work)?;
        Ok(Commits { ids, total, changed_tree })
    }

    /// The first line of each commit's message; commits that are not here any more are left out.
    pub fn subjects(&self, commits: &[&str]) -> Result<BTreeMap<String, String>, GitError> {
        let asked: String = commits.iter().map(|id| format!("{id}\n")).collect();
        let call = self.call("log").args(["--no-walk", "--ignore-missing", "--format=%H %s", "--stdin"]);
        let output = call.stdin(asked.into_bytes()).output()?;
        let text = String::from_utf8_lossy(&output);
        let line = |line: &str| line.split_once(' ').map(|(id, subject)| (id.to_owned(), subject.to_owned()));
        Ok(text.lines().filter_map(line).into_map())
    }

    fn count(&self, range: &[String]) -> Result<u64, GitError> {
        let call = self.call("rev-list").arg("--count").args(range);
        let count = call.line()?.and_then(|line| line.parse().ok());
        count.ok_or_else(|| call.strange("a number was asked for"))
    }

    fn trees_differ(
        &self,
        before: Option<&str>,
        after: &str,
        is_work: impl Fn(&[u8]) -> bool,
    ) -> Result<bool, GitError> {
        let empty = EMPTY_TREES.into_iter().find(|tree| tree.len() == after.len());
        let call = self.call("diff-tree").args(["-r", "-z", "--name-only", "--no-renames"]);
        let call = call.args(["--no-relative", "--ignore-submodules=none"]);
        let call = call.args(before.or(empty)).arg(after);
        let output = call.output()?;
        let paths = parse_paths(&output).map_err(|_| call.strange("a list of paths was asked for"))?;
        Ok(paths.into_iter().any(|path| is_progress(path) && is_work(path)))
    }
}

fn object_ids(call: &Call) -> Result<Vec<String>, GitError> {
    let output = call.output()?;
    let text = String::from_utf8_lossy(&output);
    let ids: Vec<String> = text.lines().map(str::to_owned).collect();
    if ids.iter().all(|id| is_object_id(id)) {
        Ok(ids)
    } else {
        Err(call.strange("object ids were asked for"))
    }
}
