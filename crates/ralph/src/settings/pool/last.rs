//! What the last run had for agents. A new one does not take them over unasked: what may run, and what it may do, is the
//! user's choice each time, or a setting. But nobody should have to remember what was typed.

use std::collections::BTreeSet;

use ralph_core::agents::Role;
use ralph_core::event::{AgentInfo, Permissions};
use ralph_core::transcript::Format;

use super::AgentWishes;
use crate::agent;
use crate::error::Error;
use crate::suggest::{self, quoted};

/// How the last run was told its agents, and how a new one is told the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastUsed {
    /// `--agent-cmd ./agent.sh`
    pub flags: String,
    /// The command line of the new run, with these flags.
    again: String,
    /// What makes them the setting of the project.
    keep: String,
    names: Vec<String>,
}

impl LastUsed {
    /// `line`: the new run as it was typed; `goal`: only what it is about.
    pub fn of(agents: &[AgentInfo], wishes: &AgentWishes, line: &str, goal: &str) -> Option<Self> {
        if agents.is_empty() || agents.iter().any(|agent| agent.session) {
            return None;
        }
        let flags = flags(agents);
        // What was said of some other agent may not fit these.
        let says_more =
            !(wishes.permissions.is_empty() && wishes.models.is_empty() && wishes.args.is_empty());
        let again = format!("{} {flags}", if says_more { goal } else { line });
        let names = agents.iter().map(|agent| agent.name.clone()).collect();
        Some(Self { flags, again, keep: keep(agents), names })
    }

    /// Whether it was this agent and no other.
    pub(super) fn is(&self, name: &str) -> bool {
        self.names == [name]
    }

    /// What was probably meant comes first.
    pub(super) fn told(&self, mut error: Error) -> Error {
        let hints = [
            format!("with the agent of the last run: {}", self.again),
            format!("to have it in every run here: {}", self.keep),
        ];
        error.hints.splice(0..0, hints);
        error
    }
}

fn flags(agents: &[AgentInfo]) -> String {
    let given: Vec<&str> = agents.iter().filter_map(agent::given).collect();
    if given.len() == agents.len() {
        let commands = given.iter().map(|command| format!("--agent-cmd {}", suggest::command(command)));
        let format = agents[0].format;
        let format = (format != Format::Auto).then(|| format!("--agent-format {}", word(format)));
        return commands.chain(format).collect::<Vec<_>>().join(" ");
    }
    let models = agents.iter().filter_map(|agent| Some((&agent.name, agent.model.as_ref()?)));
    let models = models.map(|(name, model)| format!("--model {name}={}", quoted(model)));
    let names = format!("--agents {}", pool(agents));
    let may = permissions(agents, "--permissions ");
    [names].into_iter().chain(may).chain(models).collect::<Vec<_>>().join(" ")
}

/// As `--agents` and `pool` take them.
fn pool(agents: &[AgentInfo]) -> String {
    let named = agents.iter().map(|agent| match agent.role {
        Role::Any => agent.name.clone(),
        Role::Work => format!("{}:work", agent.name),
        Role::Review => format!("{}:review", agent.name),
    });
    named.collect::<Vec<_>>().join(",")
}

/// What they may do: once, where all may do the same.
fn permissions(agents: &[AgentInfo], flag: &str) -> Vec<String> {
    let said: Vec<(&str, &str)> =
        agents.iter().filter_map(|agent| Some((agent.name.as_str(), may(agent.permissions?)))).collect();
    let kinds: BTreeSet<&str> = said.iter().map(|(_, may)| *may).collect();
    match kinds.len() {
        1 => vec![format!("{flag}{}", said[0].1)],
        _ => said.iter().map(|(name, may)| format!("{flag}{name}={may}")).collect(),
    }
}

fn may(permissions: Permissions) -> &'static str {
    match permissions {
        Permissions::Full => "full",
        Permissions::Edits => "edits",
        Permissions::Inherit => "inherit",
    }
}

fn word(format: Format) -> String {
    format!("{format:?}").to_lowercase()
}

/// A line that can be typed: tables for commands, then the pool, then what its agents may do.
fn keep(agents: &[AgentInfo]) -> String {
    let (mut steps, mut pooled): (Vec<String>, Vec<AgentInfo>) = (vec![], vec![]);
    for agent in agents {
        let Some(command) = agent::given(agent) else {
            pooled.push(agent.clone());
            continue;
        };
        let name = table(&agent.name, &pooled);
        steps.push(format!("agents.{name}.command {}", suggest::command(command)));
        if agent.format != Format::Auto {
            steps.push(format!("agents.{name}.format {}", word(agent.format)));
        }
        pooled.push(AgentInfo { name, ..agent.clone() });
    }
    steps.push(format!("pool {}", pool(&pooled)));
    match &permissions(agents, "")[..] {
        [all] if !all.contains('=') => steps.push(format!("permissions {all}")),
        each => steps.extend(each.iter().filter_map(|said| {
            let (name, may) = said.split_once('=')?;
            Some(format!("agents.{name}.permissions {may}"))
        })),
    }
    let steps: Vec<String> = steps.iter().map(|step| format!("ralph config set {step}")).collect();
    steps.join(" && ")
}

/// A name that a table may have: the program's, without its ending.
fn table(name: &str, taken: &[AgentInfo]) -> String {
    let stem = name.split('.').next().unwrap_or_default();
    let fits = |stem: &&str| {
        let plain = stem.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        plain && !stem.is_empty() && agent::adapter(stem).is_none() && !stem.starts_with(agent::CUSTOM)
    };
    let stem = Some(stem).filter(fits).unwrap_or("mine");
    let free = |name: &String| taken.iter().all(|agent| agent.name != *name);
    let numbered = (2..).map(|nth| format!("{stem}-{nth}"));
    std::iter::once(stem.to_owned()).chain(numbered).find(free).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::For;
    use super::*;

    fn command(command: &str) -> AgentInfo {
        let agent = agent::custom(command.into(), Format::Auto);
        AgentInfo { name: agent::name_of(command, &[]), ..agent }
    }

    fn built_in(name: &str, may: Permissions) -> AgentInfo {
        let agent = agent::custom(String::new(), Format::Auto);
        AgentInfo { name: name.into(), command: None, permissions: Some(may), ..agent }
    }

    #[test]
    fn what_the_last_run_had_can_be_typed_again_and_be_kept() {
        use Permissions::{Edits, Full};
        let old = AgentInfo { name: "custom".into(), ..command("./a.sh") };
        let codex = AgentInfo { format: Format::Codex, ..command("sh my.sh --x") };
        let reviewer = AgentInfo { role: Role::Review, model: Some("o9".into()), ..built_in("codex", Edits) };
        let fast = AgentInfo { name: "fast".into(), ..command("./run.sh") };
        let hidden = command(&format!("KEY=ghp_{} ./a.sh", "a1".repeat(18)));
        for (agents, flags, keep) in [
            (vec![command("./a.sh")], "--agent-cmd ./a.sh", "agents.a.command ./a.sh && pool a"),
            (vec![old], "--agent-cmd ./a.sh", "agents.mine.command ./a.sh && pool mine"),
            (
                vec![codex],
                "--agent-cmd 'sh my.sh --x' --agent-format codex",
                "agents.my.command 'sh my.sh --x' && agents.my.format codex && pool my",
            ),
            (
                vec![command("a/x.sh"), command("b/x.sh")],
                "--agent-cmd a/x.sh --agent-cmd b/x.sh",
                "agents.x.command a/x.sh && agents.x-2.command b/x.sh && pool x,x-2",
            ),
            (vec![hidden], "--agent-cmd CMD", "agents.a.command CMD && pool a"),
            (vec![fast], "--agents fast", "pool fast"),
            (
                vec![built_in("claude", Full)],
                "--agents claude --permissions full",
                "pool claude && permissions full",
            ),
            (
                vec![built_in("claude", Full), reviewer],
                "--agents claude,codex:review --permissions claude=full --permissions codex=edits --model codex=o9",
                "pool claude,codex:review && agents.claude.permissions full && agents.codex.permissions edits",
            ),
        ] {
            let last = LastUsed::of(&agents, &AgentWishes::default(), "ralph run x --once", "ralph run x");
            let last = last.expect("agents");
            assert_eq!(last.flags, flags);
            assert_eq!(last.again, format!("ralph run x --once {flags}"));
            assert_eq!(last.keep.replace("ralph config set ", ""), keep);
        }
        let session = [ralph_core::session::agent()];
        assert_eq!(LastUsed::of(&session, &AgentWishes::default(), "", ""), None);
    }

    #[test]
    fn what_is_said_of_another_agent_is_left_out() {
        let permissions = vec![For::all(Permissions::Full)];
        let wishes = AgentWishes { permissions, ..AgentWishes::default() };
        let last =
            LastUsed::of(&[command("./a.sh")], &wishes, "ralph run x --permissions full", "ralph run x");
        assert_eq!(last.expect("an agent").again, "ralph run x --agent-cmd ./a.sh");
    }
}
