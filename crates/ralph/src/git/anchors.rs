//! Commits that name evidence: the trailers that ralph gives its own.

use std::collections::BTreeSet;

use ralph_core::gather::Gather as _;

use super::{GitError, Repo};

/// A commit, and the attempt, the digest of the record and the ledger that its trailers name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub commit: String,
    pub attempt: String,
    pub evidence: String,
    /// Commits of earlier versions do not say.
    pub ledger: Option<String>,
}

/// Each commit with all that it says. Of a message that was put together of several, git takes only the last lines for trailers.
const FORMAT: &str = "--format=%x00%H%n%B";
/// `git merge --squash` indents the messages.
const NAMES: &str = "--grep=^ *Ralph-Evidence: ";

impl Repo {
    /// Of every branch and tag, newest first.
    pub fn named_evidence(&self) -> Result<Vec<Named>, GitError> {
        let call = self.call("log").args(["--all", "--no-show-signature", NAMES, FORMAT]);
        Ok(read(&call.output()?))
    }

    /// Of these commits, which are there.
    pub fn evidence_named_by(&self, commits: &BTreeSet<&str>) -> Result<Vec<Named>, GitError> {
        if commits.is_empty() {
            return Ok(vec![]);
        }
        let call = self.call("log").args(["--no-walk=unsorted", "--no-show-signature", "--stdin", FORMAT]);
        Ok(read(&call.stdin(lines(commits)).output()?))
    }

    /// Those of these commits that no branch, no tag and no checked out commit leads to any more.
    pub fn stray(&self, commits: &BTreeSet<&str>) -> Result<BTreeSet<String>, GitError> {
        self.beyond(commits, &["--branches", "--remotes", "--tags"])
    }

    /// Those of these commits that no branch and no checked out commit leads to.
    pub fn on_no_branch(&self, commits: &BTreeSet<&str>) -> Result<BTreeSet<String>, GitError> {
        self.beyond(commits, &["--branches", "--remotes"])
    }

    /// Those of these commits that HEAD does not lead to.
    pub fn not_in_head(&self, commits: &BTreeSet<&str>) -> Result<BTreeSet<String>, GitError> {
        self.beyond(commits, &[])
    }

    fn beyond(&self, commits: &BTreeSet<&str>, places: &[&str]) -> Result<BTreeSet<String>, GitError> {
        if commits.is_empty() {
            return Ok(BTreeSet::new());
        }
        let call = self.call("rev-list").args(["--stdin", "--not"]).args(places);
        let call = call.args(self.head()?).stdin(lines(commits));
        let output = call.output()?;
        let found = String::from_utf8_lossy(&output);
        Ok(found.lines().filter(|id| commits.contains(id)).map(str::to_owned).into_set())
    }

    /// The trees of these commits, in their order; none of one that is not there.
    pub fn trees_of(&self, commits: &BTreeSet<&str>) -> Result<Vec<Option<String>>, GitError> {
        let questions: String = commits.iter().map(|commit| format!("{commit}^{{tree}}\n")).collect();
        let answer = self.call("cat-file").arg("--batch-check").stdin(questions.into_bytes()).output()?;
        let answer = String::from_utf8_lossy(&answer);
        let tree = |line: &str| line.split_once(" tree ").map(|(id, _)| id.to_owned());
        Ok(answer.lines().map(tree).collect())
    }
}

fn lines(commits: &BTreeSet<&str>) -> Vec<u8> {
    commits.iter().flat_map(|commit| [commit.as_bytes(), b"\n"].concat()).collect()
}

/// A commit that was made of several has several of each: what follows an attempt belongs to it.
fn read(output: &[u8]) -> Vec<Named> {
    let text = String::from_utf8_lossy(output);
    let mut named = vec![];
    for of_one in text.split('\0').skip(1) {
        let mut lines = of_one.lines();
        let commit = lines.next().unwrap_or_default();
        let mut attempt = "";
        let mut before = named.len();
        for (key, value) in lines.filter_map(|line| line.split_once(": ")) {
            let value = value.trim();
            match key.trim_start().to_ascii_lowercase().as_str() {
                "ralph-iteration" => (attempt, before) = (value, named.len()),
                "ralph-evidence" if !attempt.is_empty() && named.len() == before => named.push(Named {
                    commit: commit.to_owned(),
                    attempt: attempt.to_owned(),
                    evidence: value.to_owned(),
                    ledger: None,
                }),
                "ralph-ledger" if named.len() > before => {
                    named
                        .last_mut()
                        .into_iter()
                        .for_each(|last: &mut Named| last.ledger = Some(value.into()));
                }
                _ => {}
            }
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_squashed_commit_names_is_told_apart() {
        let text = "\0c1\nRalph-Item: A\nRalph-Iteration: r/1\nRalph-Iteration: r/2\nRalph-Evidence: d2\nRalph-Ledger: l\n\
                    and: words\n\n    Ralph-Iteration: r/3\n    Ralph-Evidence: d3\n\n\0c2\nRalph-Evidence: nobody's\nRalph-Ledger: l\n";
        let row = |named: Named| (named.commit, named.attempt, named.evidence, named.ledger);
        let rows: Vec<_> = read(text.as_bytes()).into_iter().map(row).collect();
        let of = |attempt: &str, digest: &str, ledger: Option<&str>| {
            ("c1".to_owned(), attempt.to_owned(), digest.to_owned(), ledger.map(str::to_owned))
        };
        assert_eq!(rows, [of("r/2", "d2", Some("l")), of("r/3", "d3", None)], "r/1 has no evidence");
    }
}
