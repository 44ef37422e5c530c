//! Hook mode: a session that somebody else started is held until the loop lets it go. Here is what a hook is told, which
//! session it is for, and what it answers. What follows from a stop is the machine's to decide, as with any agent.

pub mod settings;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agents::Role;
use crate::event::AgentInfo;
use crate::prelude::*;
use crate::time::Time;
use crate::transcript::Format;

/// The name of the agent of such a run.
pub const AGENT: &str = "session";

/// The agent whose process is somebody else's.
pub fn agent() -> AgentInfo {
    AgentInfo {
        name: AGENT.into(),
        command: None,
        format: Format::Hook,
        model: None,
        permissions: None,
        args: vec![],
        role: Role::Any,
        title: Some("Session".into()),
        tells_cost: Some(false),
        session: true,
    }
}

/// What Claude Code and Codex tell a hook, as far as it matters here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Told {
    pub session_id: String,
    pub transcript_path: Option<String>,
    pub cwd: Option<String>,
    pub last_assistant_message: Option<String>,
    /// How a session began: `startup`, `resume`, `clear`, `compact`.
    pub source: Option<String>,
}

impl Told {
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let told: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if told.session_id.is_empty() { Err("it names no session".into()) } else { Ok(told) }
    }
}

/// A run that waits for its session, or holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arm {
    /// The run, by its number.
    pub run: u64,
    pub armed_at: Time,
    /// The session that is held; until there is one, the next that starts will be.
    #[serde(default)]
    pub session: Option<String>,
    /// Sessions that went on when it was armed, as far as one was seen.
    #[serde(default)]
    pub others: Vec<String>,
}

/// What a session is to what is armed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    Held,
    /// Not held yet, but it is the one that was waited for.
    Next,
    Other,
}

impl Arm {
    /// How many others are remembered.
    const MOST: usize = 100;

    /// A session comes to its end for now; `started` is the first moment of its transcript, if it tells one. A session of
    /// which nobody knows when it started is not held: it may have been there before.
    pub fn stops(&self, session: &str, started: Option<Time>) -> Whose {
        match &self.session {
            Some(held) if held == session => Whose::Held,
            Some(_) => Whose::Other,
            None if self.others.iter().any(|other| other == session) => Whose::Other,
            None if started.is_some_and(|started| started > self.armed_at) => Whose::Next,
            None => Whose::Other,
        }
    }

    /// A session begins. One that was resumed or cleared was there before.
    pub fn starts(&self, session: &str, source: Option<&str>) -> Whose {
        match &self.session {
            Some(held) if held == session => Whose::Held,
            Some(_) => Whose::Other,
            None if source == Some("startup") => Whose::Next,
            None => Whose::Other,
        }
    }

    #[must_use]
    pub fn bound(mut self, session: &str) -> Self {
        self.session = Some(session.into());
        self
    }

    #[must_use]
    pub fn passed_over(mut self, session: &str) -> Self {
        if self.session.is_none() && !self.others.iter().any(|other| other == session) {
            self.others.push(session.into());
            let most = self.others.len().saturating_sub(Self::MOST);
            self.others.drain(..most);
        }
        self
    }
}

/// What a Stop hook says; Codex accepts no other properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The session goes on with this prompt.
    Block { reason: String, message: String },
    /// It stops, and the user is told why.
    Stop { message: String },
    /// It stops: it is no business of ours.
    Nothing,
}

impl Answer {
    /// A line, or nothing at all.
    pub fn line(&self) -> Option<String> {
        let value: Value = match self {
            Self::Block { reason, message } => {
                json!({"decision": "block", "reason": reason, "systemMessage": message})
            }
            Self::Stop { message } => json!({"systemMessage": message}),
            Self::Nothing => return None,
        };
        Some(value.to_string())
    }
}

/// The first time that a transcript tells, from its first bytes.
pub fn first_moment(head: &[u8]) -> Option<Time> {
    moments(head).next()
}

/// The lines of a transcript's end that tell a moment from `since` on; what comes before them belongs to others. A line
/// that is not whole is left out.
pub fn lines_since(tail: &[u8], whole: bool, since: Time) -> Vec<&[u8]> {
    let mut lines = tail.split_inclusive(|byte| *byte == b'\n');
    if !whole {
        lines.next();
    }
    lines.filter(|line| moment_of(line).is_some_and(|at| at >= since)).collect()
}

const STAMP: &[u8] = b"\"timestamp\":";

/// The last one on the line is that of the line itself; others belong to what it quotes.
fn moment_of(line: &[u8]) -> Option<Time> {
    moments(line).last()
}

fn moments(bytes: &[u8]) -> impl Iterator<Item = Time> {
    memchr::memmem::find_iter(bytes, STAMP).filter_map(|at| {
        let rest = bytes.get(at + STAMP.len()..)?;
        let rest = rest.strip_prefix(b" ").unwrap_or(rest).strip_prefix(b"\"")?;
        let end = memchr::memchr(b'"', &rest[..rest.len().min(40)])?;
        Time::parse(core::str::from_utf8(&rest[..end]).ok()?)
    })
}
