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
use crate::report::Builder;
use crate::state::{Iteration, State};
use crate::time::Time;
use crate::transcript::{Decoder, Format, Item, Usage};

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
        prices: None,
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
    /// A session comes to its end for now. None becomes the next one by this: it may have been open before.
    pub fn stops(&self, session: &str) -> Whose {
        match &self.session {
            Some(held) if held == session => Whose::Held,
            _ => Whose::Other,
        }
    }

    /// A session begins. One that was resumed or cleared was there before, and so was one that is older than this: Codex
    /// tells of the start with the first prompt, however long the session was open. Whoever was told of it before this was armed
    /// may only now have found out that it is.
    pub fn starts(&self, session: &str, source: Option<&str>, fired_at: Time) -> Whose {
        match &self.session {
            Some(held) if held == session => Whose::Held,
            Some(_) => Whose::Other,
            None if fired_at < self.armed_at => Whose::Other,
            None if made_at(session).is_some_and(|made| made < self.armed_at) => Whose::Other,
            None if source == Some("startup") => Whose::Next,
            None => Whose::Other,
        }
    }

    #[must_use]
    pub fn bound(mut self, session: &str) -> Self {
        self.session = Some(session.into());
        self
    }
}

/// Hooks that an agent fires at once start a moment apart.
const APART_MS: u64 = 5_000;

/// Whether another hook took up the stop that this one was fired for: the words of the session were heard then, and not at
/// an earlier stop by a hook whose answer nobody waits for any more.
pub fn is_taken_up(state: &State, fired_at: Time) -> bool {
    let heard = |one: &Iteration| Some(one.started_at?.plus(one.ended.as_ref()?.duration_ms));
    let mut heard = state.current.iter().chain(state.last.as_deref()).filter_map(heard);
    heard.any(|heard| fired_at <= heard.plus(APART_MS))
}

/// When a session's name was made, if the name tells: a UUID of version 7, as Codex has it, begins with the milliseconds.
fn made_at(session: &str) -> Option<Time> {
    let parts: Vec<&str> = session.split('-').collect();
    let is_uuid = parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts[2].starts_with('7');
    let millis = is_uuid.then(|| i64::from_str_radix(&parts[..2].concat(), 16).ok()).flatten()?;
    Some(Time::from_millis(millis))
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

/// The lines of a transcript's end that tell a moment from `since` on; what comes before them belongs to others. A line
/// that is not whole is left out.
pub fn lines_since(tail: &[u8], whole: bool, since: Time) -> Vec<&[u8]> {
    let mut lines = tail.split_inclusive(|byte| *byte == b'\n');
    if !whole {
        lines.next();
    }
    lines.filter(|line| moment_of(line).is_some_and(|at| at >= since)).collect()
}

/// What a session used since it was last heard, where its transcript's end goes back to the start of the run: agents write a message
/// down a moment after they stop, so that the hook of that stop may not find it. `known`: what was counted in the run so far.
pub fn used_since(tail: &[u8], whole: bool, run_began: Time, known: Usage) -> Option<Usage> {
    let first = tail.split(|byte| *byte == b'\n').skip(usize::from(!whole)).find_map(moment_of);
    if !whole && first.is_none_or(|first| first >= run_began) {
        return None;
    }
    let mut decoder = Decoder::new(Format::Hook);
    let mut builder = Builder::new("");
    let mut add = |item: Item| {
        if let Item::Usage { .. } = item {
            builder.add(item);
        }
    };
    lines_since(tail, whole, run_began).into_iter().for_each(|line| decoder.feed(line, &mut add));
    decoder.finish(&mut add);
    Some(builder.finish().usage.minus(known))
}

const STAMP: &[u8] = b"\"timestamp\":";

/// The last one on the line is that of the line itself; others belong to what it quotes.
fn moment_of(line: &[u8]) -> Option<Time> {
    let moments = memchr::memmem::find_iter(line, STAMP).filter_map(|at| {
        let rest = line.get(at + STAMP.len()..)?;
        let rest = rest.strip_prefix(b" ").unwrap_or(rest).strip_prefix(b"\"")?;
        let end = memchr::memchr(b'"', &rest[..rest.len().min(40)])?;
        Time::parse(core::str::from_utf8(&rest[..end]).ok()?)
    });
    moments.last()
}
