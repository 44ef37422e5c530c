//! Many comparisons in one go.

use std::collections::HashSet;
use std::ffi::OsStr;

use ralph_core::gather::Gather as _;
use ralph_core::git_text::{self, Change};
use ralph_core::trail::{By, Trail};
use ralph_core::view::counted::LineCounts;

use super::{Tree, TreeError, TreeId};
use crate::unix::names::OsStrExt;

impl Tree {
    /// Which of these snapshots are kept, as far as their own names tell.
    pub fn are_there(&self, trees: &[&TreeId]) -> Result<Vec<bool>, TreeError> {
        let questions: String = trees.iter().map(|tree| format!("{tree}\n")).collect();
        let answer = self.call("cat-file").arg("--batch-check").stdin(questions.into_bytes()).output()?;
        let answer = String::from_utf8_lossy(&answer);
        Ok(answer.lines().map(|line| line.split(' ').nth(1) == Some("tree")).collect())
    }

    /// What differs between the trees of each pair.
    pub fn diff_all(&self, pairs: &[(&TreeId, &TreeId)]) -> Result<Vec<Vec<Change>>, TreeError> {
        if pairs.is_empty() {
            return Ok(vec![]);
        }
        let questions: String = pairs.iter().map(|(from, to)| format!("{from} {to}\n")).collect();
        let call = self.call("diff-tree").args(["-r", "-z", "--no-renames", "--ignore-submodules=none"]);
        let call = call.arg("--stdin").stdin(questions.into_bytes());
        let output = call.output()?;
        let parts = parts(&output);
        if parts.len() != pairs.len() {
            return Err(TreeError::Git(call.strange("each pair of trees was asked for")));
        }
        parts.into_iter().map(|part| Ok(git_text::parse_diff(part)?)).collect()
    }

    /// How many lines differ between the trees of each pair, file by file.
    pub fn line_counts(&self, pairs: &[(&TreeId, &TreeId)]) -> Result<Vec<LineCounts>, TreeError> {
        if pairs.is_empty() {
            return Ok(vec![]);
        }
        let heads: Vec<String> = pairs.iter().map(|(from, to)| format!("{from} {to}\n")).collect();
        let call =
            self.stored().call("diff-tree").args(["-r", "-z", "--numstat", "--no-renames", "--no-ext-diff"]);
        let call = call.args(["--no-textconv", "--stdin"]).stdin(heads.concat().into_bytes());
        let output = call.output()?;
        let mut rest = output.as_slice();
        let mut counts = vec![];
        for (nth, head) in heads.iter().enumerate() {
            rest =
                rest.strip_prefix(head.as_bytes()).ok_or_else(|| call.strange("each pair was asked for"))?;
            // A path may hold anything but a NUL, and what follows the last one is the next head.
            let next = heads.get(nth + 1).map(String::as_bytes);
            let mut end = 0;
            while end < rest.len() && !next.is_some_and(|next| rest[end..].starts_with(next)) {
                end += rest[end..].iter().position(|byte| *byte == 0).map_or(rest.len() - end, |nul| nul + 1);
            }
            let lines = git_text::parse_numstat(&rest[..end])?.into_iter();
            let named = lines.map(|(path, lines)| (String::from_utf8_lossy(path).into_owned(), lines));
            counts.push(named.into_map());
            rest = &rest[end..];
        }
        Ok(counts)
    }

    /// What differs between two snapshots at these paths, line by line.
    pub fn patch_at(&self, from: &TreeId, to: &TreeId, paths: &[Vec<u8>]) -> Result<Vec<u8>, TreeError> {
        const AT_ONCE: usize = 200;
        let mut patch = vec![];
        for some in paths.chunks(AT_ONCE) {
            let call =
                self.patching().env("GIT_LITERAL_PATHSPECS", "1").args([from.as_str(), to.as_str(), "--"]);
            let some = some.iter().map(|path| OsStr::from_bytes(path));
            patch.extend(call.args(some).output()?);
        }
        Ok(patch)
    }

    /// What was changed on the way, step by step, as far as its snapshots are still there.
    pub fn along(&self, trail: &Trail) -> Result<Vec<(By, Vec<Change>)>, TreeError> {
        let known: HashSet<TreeId> = trail.trees().filter_map(TreeId::new).collect();
        let known: Vec<&TreeId> = known.iter().collect();
        let there = known.iter().zip(self.are_there(&known)?).filter(|(_, there)| *there);
        let there: HashSet<&str> = there.map(|(tree, _)| tree.as_str()).collect();
        let steps = trail.steps(|tree| there.contains(tree));
        let ends = steps.iter().filter_map(|step| TreeId::new(&step.from).zip(TreeId::new(&step.to)));
        let ends: Vec<(TreeId, TreeId)> = ends.collect();
        let pairs: Vec<(&TreeId, &TreeId)> = ends.iter().map(|(from, to)| (from, to)).collect();
        Ok(steps.iter().map(|step| step.by).zip(self.diff_all(&pairs)?).collect())
    }
}

/// The answers, each behind a line with the names of its trees. A path may hold a line break, but ends with a NUL.
fn parts(mut output: &[u8]) -> Vec<&[u8]> {
    let mut parts = vec![];
    while let Some(line) = output.iter().position(|byte| *byte == b'\n') {
        let rest = &output[line + 1..];
        let mut end = 0;
        while rest.get(end) == Some(&b':') {
            let nuls = rest[end..].iter().enumerate().filter(|(_, byte)| **byte == 0);
            let Some((path, _)) = nuls.take(2).last() else { break };
            end += path + 1;
        }
        parts.push(&rest[..end]);
        output = &rest[end..];
    }
    parts
}
