//! What scripted agents were given, read back from the files they saved.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// One call of a scripted agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCall {
    pub agent: String,
    /// All of standard input.
    pub prompt: String,
    pub args: Vec<String>,
    /// The whole environment.
    pub env: BTreeMap<String, String>,
}

impl AgentCall {
    /// The variables that ralph sets for agents. The sandbox's marker is not one of them.
    pub fn ralph_env(&self) -> BTreeMap<&str, &str> {
        let all = self.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        all.filter(|(name, _)| name.starts_with("RALPH_") && *name != crate::MARKER).collect()
    }
}

pub(crate) fn calls(folder: &Path) -> Vec<AgentCall> {
    let entries = fs::read_dir(folder).expect("list the saved prompts").flatten();
    // Written last: a call without it is still reading its prompt.
    let mut complete: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "agent"))
        .collect();
    // Shorter first, so that 1000 comes after 999.
    complete.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    complete.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> AgentCall {
    let text = |extension: &str| {
        let bytes = fs::read(path.with_extension(extension)).expect("read what an agent saved");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let split = |extension: &str| -> Vec<String> {
        let text = text(extension);
        text.split_terminator('\0').map(str::to_owned).collect()
    };
    let pair = |variable: String| {
        let (name, value) = variable.split_once('=').unwrap_or((&variable, ""));
        (name.to_owned(), value.to_owned())
    };
    AgentCall {
        agent: text("agent").trim_end().to_owned(),
        prompt: text("txt"),
        args: split("args"),
        env: split("env").into_iter().map(pair).collect(),
    }
}
