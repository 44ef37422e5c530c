//! Which of the two hooks the settings run that an agent reads when it is started in the project.

use serde_json::{Value, json};

use super::super::Agent;
use super::place::Place;
use crate::project::Project;

/// Settings that run one of the hooks, or both.
struct There {
    agent: Agent,
    file: String,
    stop: bool,
    start: bool,
}

pub(in crate::cli) struct Hooks(Vec<There>);

impl Hooks {
    pub(in crate::cli) fn look(project: &Project) -> Self {
        let there = |place: Place| {
            let [stop, start] = place.runs();
            let file = place.settings.strip_prefix(&project.root).unwrap_or(&place.settings);
            There { agent: place.agent, file: file.display().to_string(), stop, start }
        };
        Self(Place::all(project).map(there).filter(|there| there.stop || there.start).collect())
    }

    /// Whether some agent runs them all; it may have one here and one there.
    pub(in crate::cli) fn are_whole(&self) -> bool {
        self.some_agent(|stop, start| stop && start)
    }

    /// Why a session is not held as things are, and what to do: without Stop nobody is asked, and only SessionStart tells
    /// that the next one begins. One that is `named` needs no start.
    pub(in crate::cli) fn missing(&self, named: bool) -> Option<&'static str> {
        if self.are_whole() || named && self.some_agent(|stop, _| stop) {
            None
        } else if self.some_agent(|stop, _| stop) {
            Some(
                "of ralph's hooks the agent's settings name Stop alone, by which only a session that --session or /ralph \
                 names is held, and not the next one that starts: ralph hook install",
            )
        } else if self.0.is_empty() {
            Some(
                "no agent's settings name ralph's hooks yet, and until then nothing is held: ralph hook install",
            )
        } else {
            Some(
                "no agent's settings name ralph's Stop hook yet, and until then nothing is held: ralph hook install",
            )
        }
    }

    /// `claude (.claude/settings.json)`
    pub(in crate::cli) fn named(&self) -> String {
        let named = |there: &There| {
            let alone = match (there.stop, there.start) {
                (true, true) => "",
                (true, false) => ", Stop alone",
                (false, _) => ", SessionStart alone",
            };
            format!("{} ({}{alone})", there.agent.word(), there.file)
        };
        self.0.iter().map(named).collect::<Vec<_>>().join(", ")
    }

    pub(in crate::cli) fn document(&self) -> Value {
        let hooks = self.0.iter().map(|there| {
            json!({"agent": there.agent.word(), "file": there.file, "stop": there.stop, "session_start": there.start})
        });
        hooks.collect()
    }

    fn some_agent(&self, wanted: impl Fn(bool, bool) -> bool) -> bool {
        let has = |agent: Agent, of: fn(&There) -> bool| {
            self.0.iter().any(|there| there.agent == agent && of(there))
        };
        let both = |agent| wanted(has(agent, |there| there.stop), has(agent, |there| there.start));
        [Agent::Claude, Agent::Codex].into_iter().any(both)
    }
}
