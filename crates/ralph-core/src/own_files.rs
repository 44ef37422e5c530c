//! ralph's own files, when something laid hands on them while an agent or a check was at work: what can go on, and
//! what cannot. The shell measures and puts back; what follows is decided here.

use serde::{Deserialize, Serialize};

use crate::decision::Phase;
use crate::prelude::*;
use crate::state::State;
use crate::text;

/// One file or folder that is not as ralph left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    /// As people know it: `.ralph/prompt.md`
    pub name: String,
    pub kind: OwnFile,
    pub how: How,
    /// Why it could not be put back, if it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// Where what it was changed to is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnFile {
    /// The record of this run.
    Journal,
    /// What keeps a second run out.
    Lock,
    /// What the user wrote for ralph.
    Yours,
    /// Made from the record.
    View,
    /// What earlier iterations and runs left, and the snapshots of the tree.
    Past,
    #[serde(other)]
    Unknown,
}

impl OwnFile {
    /// Without it nothing can be recorded, or not by us alone.
    fn holds_the_truth(self) -> bool {
        matches!(self, Self::Journal | Self::Lock)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Removed,
    Changed,
}

impl Touch {
    /// `removed .ralph/: put back`
    pub fn describe(&self) -> String {
        let did = match self.how {
            How::Removed => "removed",
            How::Changed => "changed",
        };
        let then = match (&self.lost, self.kind) {
            (Some(why), _) => text::one_line(why, 300),
            (None, OwnFile::View) => "made again".into(),
            (None, _) => "put back".into(),
        };
        let kept = self.kept.as_ref().map(|path| format!(" (what it was changed to: {path})"));
        format!("{did} {}: {then}{}", text::one_line(&self.name, 200), kept.unwrap_or_default())
    }
}

impl Touch {
    /// `.ralph/prompt.md was changed while the agent worked: put back (your own change? it is kept in …)`
    fn while_working(&self, who: &str) -> String {
        let when = if who == "something" { "meanwhile".into() } else { format!("while {who} worked") };
        let then = self.lost.as_ref().map_or("put back".into(), |why| text::one_line(why, 300));
        let kept = self.kept.as_ref().map(|path| format!(" (your own change? it is kept in {path})"));
        let name = text::one_line(&self.name, 200);
        format!("{name} was changed {when}: {then}{}", kept.unwrap_or_default())
    }
}

/// Who was at work: the best guess there is, for nobody watches every write.
fn who(seen: &State) -> &'static str {
    match seen.phase {
        Phase::Working => "the agent",
        Phase::Checking => "a check",
        _ => "something",
    }
}

/// A line for each.
pub fn describe(seen: &State, touches: &[Touch]) -> Vec<String> {
    let who = who(seen);
    let line = |touch: &Touch| match (touch.kind, touch.how) {
        // What a person writes for ralph a person may have written just now: nobody is accused.
        (OwnFile::Yours, How::Changed) => touch.while_working(who),
        _ => format!("{who} {}", touch.describe()),
    };
    touches.iter().map(line).collect()
}

/// Why the run cannot go on, if it cannot.
pub fn judge(seen: &State, touches: &[Touch]) -> Option<String> {
    let fatal = touches.iter().find(|touch| touch.kind.holds_the_truth() && touch.lost.is_some())?;
    Some(format!("{} {}", who(seen), fatal.describe()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(kind: OwnFile, how: How, lost: Option<&str>) -> Touch {
        Touch { name: "X".into(), kind, how, lost: lost.map(Into::into), kept: None }
    }

    #[test]
    fn only_a_truth_that_cannot_be_put_back_ends_the_run() {
        let state = State { phase: Phase::Working, ..State::default() };
        for kind in [OwnFile::Journal, OwnFile::Lock, OwnFile::Yours, OwnFile::View, OwnFile::Past] {
            assert_eq!(judge(&state, &[touch(kind, How::Changed, None)]), None);
            let fatal = matches!(kind, OwnFile::Journal | OwnFile::Lock);
            let lost = touch(kind, How::Removed, Some("no room"));
            assert_eq!(judge(&state, &[lost]).is_some(), fatal, "{kind:?}");
        }
        let why = judge(&state, &[touch(OwnFile::Journal, How::Removed, Some("no room"))]);
        assert_eq!(why.as_deref(), Some("the agent removed X: no room"));
    }

    #[test]
    fn each_touch_says_who_did_what_and_what_came_of_it() {
        let at = |phase| State { phase, ..State::default() };
        let mut changed = touch(OwnFile::Yours, How::Changed, None);
        changed.kept = Some("there".into());
        assert_eq!(
            describe(&at(Phase::Working), &[changed]),
            ["X was changed while the agent worked: put back (your own change? it is kept in there)"]
        );
        let view = touch(OwnFile::View, How::Removed, None);
        assert_eq!(describe(&at(Phase::Checking), &[view]), ["a check removed X: made again"]);
        let past = touch(OwnFile::Past, How::Removed, Some("its files are gone"));
        assert_eq!(describe(&at(Phase::Fresh), &[past]), ["something removed X: its files are gone"]);
    }
}
