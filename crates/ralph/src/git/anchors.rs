//! Commits that name evidence: the trailers that ralph gives its own.

use super::{GitError, Repo};

/// A commit, and the attempt and the digest of the record that its trailers name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub commit: String,
    pub attempt: String,
    pub evidence: String,
}

impl Repo {
    /// Of every branch and tag, newest first.
    pub fn named_evidence(&self) -> Result<Vec<Named>, GitError> {
        let values = |key: &str| format!("%(trailers:key={key},valueonly,separator=%x20)");
        let format = format!("--format=%H%x09{}%x09{}", values("Ralph-Iteration"), values("Ralph-Evidence"));
        let call = self.call("log").args(["--all", "--no-show-signature", "--grep=^Ralph-Evidence: "]);
        let output = call.arg(format).output()?;
        let text = String::from_utf8_lossy(&output);
        let mut named = vec![];
        for line in text.lines() {
            let mut parts = line.split('\t');
            let (Some(commit), Some(attempts), Some(digests)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            // A squashed one has several of each.
            for (attempt, evidence) in attempts.split_whitespace().zip(digests.split_whitespace()) {
                named.push(Named {
                    commit: commit.to_owned(),
                    attempt: attempt.to_owned(),
                    evidence: evidence.to_owned(),
                });
            }
        }
        Ok(named)
    }
}
