//! A simulated run as JSON: the policy, the files and checks, and what each agent does in turn.

use serde::Deserialize;

use alloc::collections::BTreeMap;

use super::turn::{Agent, Glance, Turn};
use super::world::{Check, World};
use crate::agents::Role;
use crate::event::{AgentInfo, Carried, Plan, RunInfo, RunStarted};
use crate::evidence::Items;
use crate::items::BacklogPlan;
use crate::prelude::*;
use crate::profile;
use crate::transcript::Format;

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    pub goal: String,
    pub profile: String,
    /// Values of the policy, as `--set` has them.
    pub set: BTreeMap<String, String>,
    /// There at the beginning.
    pub files: Vec<String>,
    /// Items of a backlog, all open.
    pub items: Option<u64>,
    /// Hand them out one by one.
    pub backlog: bool,
    /// One attempt, then stop.
    pub once: bool,
    pub checks: Vec<Check>,
    pub agents: Vec<Player>,
    /// For a random order of agents.
    pub seed: u64,
    /// After how many records the run counts as endless.
    pub most_records: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Player {
    pub name: String,
    #[serde(default)]
    pub role: Role,
    /// One after the other; the last goes on for ever.
    pub steps: Vec<Step>,
}

/// A turn, and how often it is taken.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    #[serde(default = "once")]
    pub times: u64,
    #[serde(rename = "do")]
    pub turn: Turn,
}

fn once() -> u64 {
    1
}

impl Default for Script {
    fn default() -> Self {
        Self {
            goal: "a simulated goal".into(),
            profile: "default".into(),
            set: BTreeMap::new(),
            files: vec![],
            items: None,
            backlog: false,
            once: false,
            checks: vec![],
            agents: vec![],
            seed: 0,
            most_records: 100_000,
        }
    }
}

impl Script {
    /// Reads JSON; the error says what is wrong and where.
    pub fn read(json: &str) -> Result<Self, String> {
        let script: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if script.agents.is_empty() {
            return Err("there are no agents".into());
        }
        if let Some(idle) = script.agents.iter().find(|agent| agent.steps.is_empty()) {
            return Err(format!("agent {} has no steps", idle.name));
        }
        doubled("agents", script.agents.iter().map(|agent| agent.name.as_str()))?;
        doubled("checks", script.checks.iter().map(|check| check.name.as_str()))?;
        script.started()?;
        Ok(script)
    }

    pub fn world(&self) -> World {
        let items = self.items.map(|total| Items { open: total, total });
        let world = World::new(&self.files, self.checks.clone(), items);
        if self.backlog { world.with_backlog() } else { world }
    }

    pub fn agents(&self) -> Vec<Box<dyn Agent>> {
        self.agents.iter().map(|player| Box::new(Scripted::new(&player.steps)) as Box<dyn Agent>).collect()
    }

    /// The run's first event.
    pub fn started(&self) -> Result<RunStarted, String> {
        let profile = profile::profile(&self.profile)
            .ok_or_else(|| format!("there is no profile '{}'", self.profile))?;
        let mut policy = profile.policy();
        for (key, value) in &self.set {
            policy.set(key, value).map_err(|error| error.to_string())?;
        }
        let checks = self.checks.iter().map(Check::spec).collect();
        let agents = self.agents.iter().map(|player| agent(&player.name, player.role)).collect();
        let backlog = self.backlog.then(|| BacklogPlan {
            file: "backlog".into(),
            once: self.once,
            ..BacklogPlan::default()
        });
        Ok(started(
            &self.goal,
            Plan {
                policy,
                checks,
                agents,
                backlog,
                commit: false,
                boot: None,
                stack: None,
                left_out: vec![],
                stack_commands: vec![],
                until: None,
            },
            self.seed,
        ))
    }
}

/// Whoever is found by name must be the only one.
fn doubled<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut known: Vec<&str> = vec![];
    for name in names {
        if known.contains(&name) {
            return Err(format!("two {what} are called {name}"));
        }
        known.push(name);
    }
    Ok(())
}

/// The first event of a simulated run.
pub(super) fn started(goal: &str, plan: Plan, seed: u64) -> RunStarted {
    let (id, version) = ("simulated".into(), env!("CARGO_PKG_VERSION").into());
    RunStarted {
        run: RunInfo { id, number: 1, goal: goal.into(), plan, version },
        carried: Carried { seed, ..Carried::default() },
    }
}

/// An agent of a simulated plan.
pub(super) fn agent(name: &str, role: Role) -> AgentInfo {
    AgentInfo {
        name: name.into(),
        command: None,
        format: Format::Auto,
        model: None,
        permissions: None,
        args: vec![],
        role,
        title: None,
        tells_cost: None,
        prices: None,
        session: false,
    }
}

/// An agent that takes its steps one after the other.
#[derive(Debug)]
struct Scripted {
    steps: Vec<Step>,
    at: usize,
    taken: u64,
}

impl Scripted {
    fn new(steps: &[Step]) -> Self {
        Self { steps: steps.to_vec(), at: 0, taken: 0 }
    }
}

impl Agent for Scripted {
    fn turn(&mut self, _: Glance<'_>) -> Turn {
        while self.at + 1 < self.steps.len() && self.taken >= self.steps[self.at].times {
            (self.at, self.taken) = (self.at + 1, 0);
        }
        self.taken += 1;
        self.steps.get(self.at).map(|step| step.turn.clone()).unwrap_or_default()
    }
}
