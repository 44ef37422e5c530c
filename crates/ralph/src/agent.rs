//! Agents: how each CLI is started. An adapter is data plus a decoder, which is core's.

mod adapter;

use std::iter;
use std::path::{Path, PathBuf};

use ralph_core::agents::Role;
use ralph_core::check::named;
use ralph_core::event::AgentInfo;
use ralph_core::limit::LimitKind;
use ralph_core::prices::{self, Prices};
use ralph_core::profile::Budget;
use ralph_core::redact;
use ralph_core::transcript::Format;

use crate::error::{Error, Result};
use crate::process::{self, Spec};
use crate::project::Project;
use crate::suggest::quoted;

pub use adapter::{Adapter, adapter, names};

/// What a command is called whose program has no plain name; and what comes before one that only a built-in agent may have.
pub const CUSTOM: &str = "custom";

/// The knowledge files of a project, the first one that is there counts.
pub const KNOWLEDGE: [&str; 2] = ["CLAUDE.md", "AGENTS.md"];

const ANY_COMMAND: &str =
    "or name any command that reads a prompt on standard input: ralph run --agent-cmd CMD \"GOAL\"";

/// The title of an agent in the boxes: `Claude working...`. In a pool it matters who works.
pub fn title(agent: &AgentInfo, in_pool: bool) -> &str {
    let any = if in_pool { &agent.name } else { "Agent" };
    let own = || built_in(agent).map_or(any, |adapter| adapter.title);
    agent.title.as_deref().unwrap_or_else(own)
}

/// What a command of the command line is called, wherever people read of it: as its program is. Nobody else in the pool has
/// that name, no built-in agent has it, and no table of a file begins like the names that stand in for it.
pub fn name_of(command: &str, taken: &[AgentInfo]) -> String {
    let own = own_name(command);
    let numbered = (2..).map(|nth| format!("{own}-{nth}"));
    let free = |name: &String| taken.iter().all(|agent| agent.name != *name);
    iter::once(own.clone()).chain(numbered).find(free).unwrap_or(own)
}

fn own_name(command: &str) -> String {
    let shown = |name: &String| redact::command(name, name.len()) == *name;
    match named::program(command).filter(shown) {
        Some(name) if adapter(&name).is_some() => format!("{CUSTOM}-{name}"),
        Some(name) => name,
        None => CUSTOM.into(),
    }
}

/// The command of an agent that was named on a command line, rather than in a file.
pub fn given(agent: &AgentInfo) -> Option<&str> {
    let is_own = |command: &&str| {
        // Until somebody thought of their programs, commands were `custom`, `custom-2` and so on.
        [own_name(command).as_str(), CUSTOM].iter().any(|own| match agent.name.strip_prefix(own) {
            Some("") => true,
            Some(nth) => nth.strip_prefix('-').is_some_and(|nth| nth.parse::<usize>().is_ok()),
            None => false,
        })
    };
    agent.command.as_deref().filter(is_own)
}

/// A command, run by `sh -c`. It has no permissions of its own.
pub fn custom(command: String, format: Format) -> AgentInfo {
    AgentInfo {
        name: CUSTOM.into(),
        command: Some(command),
        format,
        model: None,
        permissions: None,
        args: vec![],
        role: Role::Any,
        title: None,
        tells_cost: None,
        prices: None,
        session: false,
    }
}

fn built_in(agent: &AgentInfo) -> Option<&'static Adapter> {
    adapter(&agent.name).filter(|_| agent.command.is_none())
}

/// The project's knowledge file that must be in the prompt, because the agent does not read one by itself.
pub fn unread_knowledge(agent: &AgentInfo, root: &Path) -> Option<&'static str> {
    let reads = built_in(agent).map_or(&[][..], |adapter| adapter.reads);
    let is_there = |name: &&str| root.join(name).is_file();
    match reads.iter().any(&is_there) {
        true => None,
        false => KNOWLEDGE.into_iter().find(is_there),
    }
}

/// Whether money can be counted: the agent reports it, or its tokens have prices. Of a custom command nobody knows before it
/// ran, unless its table says so.
pub fn may_tell_cost(agent: &AgentInfo) -> bool {
    match &agent.command {
        _ if agent.prices.is_some_and(|prices| !prices.assumed) => true,
        Some(_) => agent.tells_cost != Some(false),
        None => built_in(agent).is_some_and(|adapter| adapter.tells_cost),
    }
}

/// The first built-in agent that is there.
pub fn first_installed() -> Result<&'static str> {
    names().find(|name| process::find_program(name).is_some()).ok_or_else(|| {
        let error = Error::new("no agent found")
            .because(format!("none of {} is on the PATH", names().collect::<Vec<_>>().join(", ")));
        let install = names().filter_map(adapter).map(|adapter| adapter.install);
        install.fold(error, Error::hint).hint(ANY_COMMAND)
    })
}

/// Makes sure that the agent can be started at all, before anything is begun.
pub fn find(name: &str) -> Result<()> {
    if process::find_program(name).is_some() {
        return Ok(());
    }
    let error = Error::new("no agent found").because(format!("`{name}` is not on the PATH"));
    let install = adapter(name).map(|adapter| adapter.install);
    Err(install.into_iter().fold(error, Error::hint).hint(ANY_COMMAND))
}

/// What to do about an agent that is out for good, where somebody can do something.
pub fn remedy(agent: &AgentInfo, limit: LimitKind) -> Option<String> {
    let name = &agent.name;
    match (limit, built_in(agent)) {
        (LimitKind::Auth, Some(adapter)) => Some(format!("to log {name} in: {}", adapter.log_in)),
        (LimitKind::Auth, None) => Some(format!(
            "to log {name} in: see what its provider asks for, and what it printed: ralph history --transcript"
        )),
        (LimitKind::Credit, _) => Some(format!(
            "to give {name} credit: see its provider's billing page, or name another with --agents"
        )),
        (LimitKind::Usage | LimitKind::Rate | LimitKind::Overload, _) => None,
    }
}

/// A command that is not there is better said now than five times in a row. Only a plain path or name can be told;
/// anything else is the shell's business.
pub fn find_command(agent: &AgentInfo, root: &Path) -> Result<()> {
    let whole = agent.command.as_deref().unwrap_or("").trim();
    if whole.contains(' ') && root.join(whole).is_file() {
        let typed = match whole.contains(['\'', '"', '$', '`', '\\', '!']) {
            true => quoted(&quoted(whole)),
            false => format!("\"{}\"", quoted(whole)),
        };
        return Err(Error::usage(format!("the shell would take only a part of {whole} for the program"))
            .because("there is a file of that name, and it has a space in it")
            .hint(format!("--agent-cmd {typed}")));
    }
    let first = agent.command.as_deref().and_then(|command| command.split_whitespace().next()).unwrap_or("");
    if !first.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c)) {
        return Ok(());
    }
    if !first.contains('/') {
        return match process::missing_program(first, root) {
            None => Ok(()),
            Some(name) => Err(Error::usage(format!("there is no command {name}"))
                .because("it is not on the PATH, and the shell has no such word")
                .hint("--agent-cmd with another command, or with the path of a script: ./agent.sh")),
        };
    }
    if root.join(first).exists() {
        return Ok(());
    }
    Err(Error::usage(format!("there is no {first}"))
        .because(format!("agents and checks run at the top of the project: {}", root.display()))
        .hint("--agent-cmd with a path from there, or an absolute one"))
}

/// What its tokens cost at most, where it ends before it reports that.
pub fn costs_at_most(agent: &AgentInfo) -> Option<Prices> {
    built_in(agent)?.costs_at_most
}

/// Whether it ends itself when its money is used up.
pub fn limits_its_money(agent: &AgentInfo) -> bool {
    built_in(agent).is_some_and(|adapter| adapter.budget.is_some())
}

/// Whether one iteration may use more of the run's money or tokens than is left: nothing tells what it uses before its end.
pub fn may_overshoot(agent: &AgentInfo, budget: &Budget) -> bool {
    let tokens = matches!(agent.format, Format::Claude | Format::Opencode);
    let priced = agent.prices.is_some_and(|prices| !prices.assumed) && tokens;
    let money = limits_its_money(agent) || priced || agent.format == Format::Opencode;
    (budget.tokens > 0 && !tokens) || (budget.micro_usd > 0 && !money)
}

/// What to start for one iteration; `left`: the micro-dollars that it may cost. The prompt comes on standard input and is
/// named in the environment.
pub fn spec(agent: &AgentInfo, project: &Project, prompt: PathBuf, left: Option<u64>) -> Spec {
    let spec = match &agent.command {
        Some(command) => Spec::shell(command, &project.root),
        None => Spec::new(&agent.name, &project.root).args(arguments(agent, project.repo.is_some(), left)),
    };
    spec.env("RALPH_PROMPT_FILE", &prompt)
        .env("RALPH_DIR", &project.ralph_dir)
        // Some believe this variable more than the system, and ralph may have been called in a folder below.
        .env("PWD", &project.root)
        .stdin_file(prompt)
}

/// The user's own arguments come last, so that they win; but for a limit of money that is higher than what is left.
fn arguments(agent: &AgentInfo, in_git: bool, left: Option<u64>) -> Vec<String> {
    let Some(adapter) = built_in(agent) else { return agent.args.clone() };
    let outside = if in_git { &[][..] } else { adapter.outside_git };
    let may = agent.permissions.and_then(|permissions| adapter.may(permissions)).unwrap_or_default();
    let model = agent.model.iter().flat_map(|model| [adapter.model, model]);
    let own = agent.args.iter().map(String::as_str);
    let budget = adapter
        .budget
        .zip(left)
        .filter(|(flag, left)| own_limit(&agent.args, flag).is_none_or(|own| own > *left));
    let budget = budget.map(|(flag, left)| [flag.to_owned(), dollars(left)]);
    let all =
        [adapter.headless, outside, may].concat().into_iter().chain(model).chain(own).map(str::to_owned);
    all.chain(budget.into_iter().flatten()).collect()
}

/// Micro-dollars that the user's own arguments allow: `--flag 5` or `--flag=5`.
fn own_limit(args: &[String], flag: &str) -> Option<u64> {
    let joined = args.iter().filter_map(|arg| arg.strip_prefix(flag)?.strip_prefix('='));
    let apart = args.windows(2).filter(|pair| pair[0] == flag).map(|pair| pair[1].as_str());
    joined.chain(apart).last().and_then(|dollars| prices::micro_usd(dollars.trim()))
}

fn dollars(micro_usd: u64) -> String {
    format!("{}.{:06}", micro_usd / 1_000_000, micro_usd % 1_000_000)
}

#[cfg(test)]
mod tests;
