//! From what the user said to a settled plan.

use ralph_core::check::CheckSpec;
use ralph_core::event::{AgentInfo, Permissions, Plan};
use ralph_core::profile;
use ralph_core::transcript::Format;

use crate::agent;
use crate::error::{Error, Result};
use crate::{suggest, ui};

/// What the command line says; what it does not say is `None`.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    pub agent: AgentWishes,
    pub max_iterations: Option<u64>,
    pub reviews: Option<u32>,
    pub test_cmd: Option<String>,
    pub timeout_ms: Option<u64>,
}

#[derive(Debug, Clone, Default)]
pub struct AgentWishes {
    pub name: Option<String>,
    pub command: Option<String>,
    pub format: Option<Format>,
    pub model: Option<String>,
    pub permissions: Option<Permissions>,
    pub args: Vec<String>,
}

/// The plan of a new run, or of one that goes on with `earlier` and what the user changed.
pub fn settle(wishes: &Wishes, earlier: Option<&Plan>) -> Result<Plan> {
    let agent = settle_agent(&wishes.agent, earlier.map(|plan| &plan.agent))?;
    let mut plan = match earlier {
        Some(plan) => Plan { agent, ..plan.clone() },
        None => Plan { policy: profile::default(), checks: vec![], agent },
    };
    if let Some(max) = wishes.max_iterations {
        plan.policy.max_iterations = max;
    }
    if let Some(reviews) = wishes.reviews {
        plan.policy.reviews = profile::ReviewPolicy { with_checks: reviews, without_checks: reviews };
    }
    if let Some(timeout) = wishes.timeout_ms {
        plan.policy.agent_timeout_ms = timeout;
    }
    if let Some(command) = &wishes.test_cmd {
        if command.trim().is_empty() {
            return Err(Error::usage("--test-cmd is empty").hint("--test-cmd \"cargo test\""));
        }
        plan.checks = vec![CheckSpec { name: "test".into(), command: command.clone() }];
    }
    Ok(plan)
}

fn settle_agent(wishes: &AgentWishes, earlier: Option<&AgentInfo>) -> Result<AgentInfo> {
    if let Some(command) = &wishes.command {
        if command.trim().is_empty() {
            return Err(Error::usage("--agent-cmd is empty").hint("--agent-cmd ./my-agent.sh"));
        }
        return Ok(agent::custom(command.clone(), wishes.format.unwrap_or(Format::Auto)));
    }
    let same = earlier.filter(|agent| wishes.name.as_ref().is_none_or(|name| *name == agent.name));
    let name = match (&wishes.name, same) {
        (Some(name), _) => name.clone(),
        (None, Some(agent)) => agent.name.clone(),
        (None, None) => agent::KNOWN[0].to_owned(),
    };
    if let Some(custom) = same.filter(|agent| agent.command.is_some()) {
        if wishes.model.is_some() || wishes.permissions.is_some() || !wishes.args.is_empty() {
            return Err(Error::usage("a custom command takes neither a model, permissions nor arguments")
                .because("the run that is continued works with --agent-cmd")
                .hint("--agents claude, to go on with claude"));
        }
        return Ok(custom.clone());
    }
    if !agent::KNOWN.contains(&name.as_str()) {
        return Err(Error::usage(format!("unknown agent '{name}'"))
            .because(format!("known agents: {}", agent::KNOWN.join(", ")))
            .hint(suggestion(&name)));
    }
    let mut settled = AgentInfo {
        name,
        command: None,
        format: Format::Claude,
        model: wishes.model.clone().or_else(|| same?.model.clone()),
        permissions: wishes.permissions.or_else(|| same?.permissions),
        args: if wishes.args.is_empty() {
            same.map_or(vec![], |agent| agent.args.clone())
        } else {
            wishes.args.clone()
        },
    };
    agent::find(&settled)?;
    settled.permissions = Some(match settled.permissions {
        Some(chosen) => chosen,
        None => ask_permissions(&settled.name)?,
    });
    Ok(settled)
}

fn suggestion(name: &str) -> String {
    match suggest::nearest(name, agent::KNOWN) {
        Some(known) => format!("--agents {known}"),
        None => "--agent-cmd CMD runs any other command".into(),
    }
}

/// Nobody but the user chooses what an agent may do.
fn ask_permissions(agent: &str) -> Result<Permissions> {
    let question = format!(
        "What may {agent} do in this folder without asking?\n  \
         full     everything, commands too\n  edits    edit files\n  inherit  what its own settings say\n> "
    );
    let mut answer = ui::ask(&question);
    for _ in 0..2 {
        if answer.as_deref().is_some_and(|answer| !["full", "edits", "inherit"].contains(&answer)) {
            answer = ui::ask("full, edits or inherit?\n> ");
        }
    }
    match answer.as_deref() {
        Some("full") => Ok(Permissions::Full),
        Some("edits") => Ok(Permissions::Edits),
        Some("inherit") => Ok(Permissions::Inherit),
        answer => {
            let why = match answer {
                Some(answer) => format!("'{answer}' is none of full, edits, inherit"),
                None => "there is no terminal to ask on, and nobody but you may choose".into(),
            };
            Err(Error::usage("the agent's permissions are not chosen")
                .because(why)
                .hint("--permissions full      everything without asking; only where that is safe")
                .hint("--permissions edits     edit files without asking")
                .hint("--permissions inherit   what the agent's own settings say"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuing_keeps_what_was_chosen_and_takes_what_is_new() {
        let first = Wishes {
            agent: AgentWishes { command: Some("./a".into()), ..AgentWishes::default() },
            test_cmd: Some("make test".into()),
            max_iterations: Some(5),
            ..Wishes::default()
        };
        let plan = settle(&first, None).expect("settled");
        let more = Wishes { max_iterations: Some(9), ..Wishes::default() };
        let next = settle(&more, Some(&plan)).expect("settled");
        assert_eq!(next.agent.command.as_deref(), Some("./a"));
        assert_eq!(next.checks, plan.checks);
        assert_eq!(next.policy.max_iterations, 9);
    }
}
