//! The pool: from what the command line and the project's file say to the agents of a plan.

mod ask;
mod last;

use ralph_core::agents::Role;
use ralph_core::event::{AgentInfo, Permissions};
use ralph_core::prices::Prices;
use ralph_core::transcript::Format;

use crate::agent::{self, Adapter};
use crate::config;
use crate::error::{Error, Result};
use crate::suggest;
pub(crate) use last::LastUsed;

#[derive(Debug, Clone, Default)]
pub struct AgentWishes {
    /// The agent is a session that a hook holds.
    pub session: bool,
    /// With a role behind a colon, if they have one.
    pub names: Vec<String>,
    /// Where they stand, if not on the command line.
    pub names_from: Option<String>,
    pub commands: Vec<String>,
    pub format: Option<Format>,
    pub models: Vec<For<String>>,
    pub permissions: Vec<For<Permissions>>,
    pub args: Vec<String>,
    pub file: FileAgents,
    /// What a new run could have been told, and was not.
    pub last: Option<LastUsed>,
}

/// A value for one agent of the pool, or for all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct For<T> {
    pub agent: Option<String>,
    pub value: T,
}

impl<T> For<T> {
    pub fn all(value: T) -> Self {
        Self { agent: None, value }
    }
}

/// What the project's file says about agents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileAgents {
    pub pool: Vec<String>,
    /// `.ralph/config.toml:3`, `RALPH_AGENTS`
    pub pool_from: Option<String>,
    pub permissions: Option<Permissions>,
    pub tables: Vec<Table>,
}

/// `[agents.NAME]`: a command of the project's own, or settings for a built-in agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub command: Option<String>,
    pub format: Option<Format>,
    pub title: Option<String>,
    pub cost: Option<bool>,
    pub model: Option<String>,
    pub permissions: Option<Permissions>,
    pub args: Vec<String>,
    pub prices: Option<Prices>,
}

impl AgentWishes {
    /// With what the project's file says, where the command line says nothing.
    #[must_use]
    pub fn over(&self, file: FileAgents) -> Self {
        let (names, names_from) = match self.names.is_empty() && self.commands.is_empty() {
            true => (file.pool.clone(), file.pool_from.clone()),
            false => (self.names.clone(), None),
        };
        Self { names, names_from, file, ..self.clone() }
    }

    /// Whether nobody has said yet what a built-in agent may do.
    pub fn leaves_permissions_open(&self) -> bool {
        let in_file =
            self.file.permissions.is_some() || self.file.tables.iter().any(|t| t.permissions.is_some());
        self.permissions.is_empty() && self.commands.is_empty() && !in_file && self.has_built_in()
    }

    /// Whether an agent of the pool may be a built-in one.
    fn has_built_in(&self) -> bool {
        let command = |name: &str| self.table(name).is_some_and(|table| table.command.is_some());
        let is_command = |name: &String| role_of(name).is_ok_and(|(name, _)| command(name));
        self.names.is_empty() || !self.names.iter().all(is_command)
    }

    /// Whether the command line says what this agent may do, whatever a file says.
    pub fn permits(&self, name: Option<&str>) -> bool {
        self.permissions.iter().any(|wish| wish.agent.is_none() || wish.agent.as_deref() == name)
    }

    fn with_the_last(&self, error: Error) -> Error {
        match &self.last {
            Some(last) => last.told(error),
            None => error,
        }
    }

    fn table(&self, name: &str) -> Option<&Table> {
        self.file.tables.iter().find(|table| table.name == name)
    }
}

/// Asks what a built-in agent may do.
pub(crate) fn ask_permissions(name: &str) -> Result<Permissions> {
    agent::adapter(name).map_or(Ok(Permissions::Inherit), |adapter| ask::permissions(adapter, None))
}

/// Whether an agent knows such a mode; an error where it does not. A command has none.
pub(crate) fn knows_mode(name: &str, permissions: Permissions) -> Result<()> {
    match agent::adapter(name).filter(|adapter| adapter.may(permissions).is_none()) {
        Some(adapter) => Err(no_such_mode(adapter)),
        None => Ok(()),
    }
}

pub(crate) fn permissions(word: &str) -> Option<Permissions> {
    ask::CHOICES.iter().find(|choice| choice.word == word).map(|choice| choice.means)
}

/// The pool, and what the user should know about how it came about. Commands given make it up alone; else the agents
/// named, else those of the run that goes on, else the first one that is installed.
pub(super) fn settle(
    wishes: &AgentWishes,
    earlier: Option<&[AgentInfo]>,
) -> Result<(Vec<AgentInfo>, Option<String>)> {
    if wishes.session {
        return Ok((vec![ralph_core::session::agent()], None));
    }
    if !wishes.commands.is_empty() {
        let mut agents = vec![];
        for command in &wishes.commands {
            agents.push(given(wishes, command, &agents)?);
        }
        return Ok((agents, None));
    }
    let known = earlier.unwrap_or_default();
    let mut remark = None;
    let members: Vec<(&str, Option<Role>)> = match (&wishes.names[..], known) {
        ([], []) => {
            let name = agent::first_installed().map_err(|error| wishes.with_the_last(error))?;
            let other = wishes.last.as_ref().filter(|last| !last.is(name));
            let other = other.map(|last| format!("the last run had {}", last.flags));
            let other = other.unwrap_or_else(|| "--agents NAME".into());
            remark = Some(format!("no agent was named: {name} is the first that is installed ({other})"));
            vec![(name, None)]
        }
        ([], [AgentInfo { session: true, .. }, ..]) => {
            return Err(Error::usage("the last run was held in a session, which only a hook can go on with")
                .hint("to go on with it in a loop of fresh processes: ralph run --agents claude")
                .hint("to begin another one: ralph run \"GOAL\""));
        }
        ([], known) => known.iter().map(|agent| (agent.name.as_str(), None)).collect(),
        (names, _) => names.iter().map(|name| role_of(name)).collect::<Result<_>>()?,
    };
    let mut drafts: Vec<Draft<'_>> = vec![];
    for (name, role) in members {
        if drafts.iter().any(|draft| draft.name == name) {
            return Err(Error::usage(format!("agent '{name}' is named twice"))
                .hint(format!("name {name} once; without a role it both works and reviews")));
        }
        let same = known.iter().find(|agent| agent.name == name);
        drafts.push(Draft { name, role, same, kind: kind(wishes, name, same)? });
    }
    refuse_what_fits_nobody(wishes, &drafts)?;
    let agents = drafts.iter().map(|draft| draft.settle(wishes)).collect::<Result<_>>()?;
    Ok((agents, remark))
}

/// A command of the command line, beside those that came before it.
fn given(wishes: &AgentWishes, command: &str, before: &[AgentInfo]) -> Result<AgentInfo> {
    if command.trim().is_empty() {
        return Err(Error::usage("--agent-cmd is empty").hint("--agent-cmd ./my-agent.sh"));
    }
    let agent = agent::custom(command.to_owned(), wishes.format.unwrap_or(Format::Auto));
    Ok(AgentInfo { name: agent::name_of(command, before), ..agent })
}

/// `claude` or `claude:review`
pub(crate) fn role_of(name: &str) -> Result<(&str, Option<Role>)> {
    match name.split_once(':') {
        None => Ok((name, None)),
        Some((name, "work")) => Ok((name, Some(Role::Work))),
        Some((name, "review")) => Ok((name, Some(Role::Review))),
        Some((_, role)) => Err(Error::usage(format!("there is no role '{role}'"))
            .because("an agent works, reviews, or does both")
            .hint("--agents claude:work,codex:review")),
    }
}

/// A member of the pool before it is settled.
struct Draft<'a> {
    name: &'a str,
    role: Option<Role>,
    /// The one of that name in the run that goes on.
    same: Option<&'a AgentInfo>,
    kind: Kind,
}

enum Kind {
    Command(AgentInfo),
    BuiltIn(&'static Adapter),
}

/// A table that is named on the command line is read again; a run that only goes on keeps what it has.
fn kind(wishes: &AgentWishes, name: &str, same: Option<&AgentInfo>) -> Result<Kind> {
    if let Some((table, command)) = wishes.table(name).and_then(|table| Some((table, table.command.clone()?)))
    {
        let agent = agent::custom(command, table.format.unwrap_or(Format::Auto));
        let (name, title) = (name.to_owned(), table.title.clone());
        return Ok(Kind::Command(AgentInfo {
            name,
            title,
            tells_cost: table.cost,
            prices: table.prices,
            ..agent
        }));
    }
    if let Some(command) = same.filter(|agent| agent.command.is_some()) {
        return Ok(Kind::Command(command.clone()));
    }
    agent::adapter(name).map(Kind::BuiltIn).ok_or_else(|| unknown(wishes, name))
}

fn unknown(wishes: &AgentWishes, name: &str) -> Error {
    let (error, near) = stranger(&wishes.file.tables, name);
    let Some(from) = &wishes.names_from else {
        return match near {
            Some(near) => error.hint(format!("--agents {near}")),
            None => error
                .hint("--agent-cmd CMD runs any other command")
                .hint(format!("or name it in .ralph/config.toml: [agents.{name}] and command = \"CMD\"")),
        };
    };
    let error = Error { what: format!("{from}: {}", error.what), ..error };
    let meant = near.map(|near| instead(&wishes.names, name, near));
    let how = match from {
        variable if variable.starts_with("RALPH_") => format!("{variable}="),
        file if file.starts_with(config::NAME) => "ralph config set pool ".into(),
        _ => "ralph config set --user pool ".into(),
    };
    let error = meant.into_iter().fold(error, |error, meant| error.hint(format!("{how}{meant}")));
    error.hint(format!("ralph config set agents.{name}.command CMD, which makes a command that agent"))
}

/// Names for a pool that cannot be set, since nobody knows them.
pub(crate) fn refuse_strangers(names: &[String], tables: &[Table], user: bool) -> Result<()> {
    for whole in names {
        let (name, _) = role_of(whole)?;
        let own = tables.iter().any(|table| table.name == name && table.command.is_some());
        if own || agent::adapter(name).is_some() {
            continue;
        }
        let (error, near) = stranger(tables, name);
        let user = if user { "--user " } else { "" };
        let error = Error { what: format!("pool was not set: {}", error.what), ..error };
        return Err(match near {
            Some(near) => error.hint(format!("ralph config set {user}pool {}", instead(names, name, near))),
            None => error.hint(format!("first: ralph config set {user}agents.{name}.command CMD")),
        });
    }
    Ok(())
}

/// An agent that nobody knows, and the one that was probably meant.
fn stranger<'a>(tables: &'a [Table], name: &str) -> (Error, Option<&'a str>) {
    let own = tables.iter().filter(|table| table.command.is_some());
    let mut names: Vec<&str> = agent::names().collect();
    names.extend(own.map(|table| table.name.as_str()));
    let error = Error::usage(format!("unknown agent '{name}'"))
        .because(format!("known agents: {}", names.join(", ")));
    (error, suggest::nearest(name, names))
}

/// The pool as `config set` takes it, with another name in the place of one.
fn instead(names: &[String], wrong: &str, right: &str) -> String {
    let each = names.iter().map(|whole| match whole.split_once(':') {
        Some((name, role)) if name == wrong => format!("{right}:{role}"),
        None if whole == wrong => right.to_owned(),
        _ => whole.clone(),
    });
    let mut once: Vec<String> = vec![];
    each.for_each(|name| once.extend((!once.contains(&name)).then_some(name)));
    once.join(",")
}

/// A model, permissions or arguments that nobody in the pool, or nobody in particular, could take.
fn refuse_what_fits_nobody(wishes: &AgentWishes, drafts: &[Draft<'_>]) -> Result<()> {
    let models = wishes.models.iter().map(|wish| ("--model", wish.agent.as_deref(), wish.value.as_str()));
    let permissions = wishes.permissions.iter().map(|wish| ("--permissions", wish.agent.as_deref(), "full"));
    let args = wishes.args.first().map(|first| ("--", None, first.as_str()));
    let built_in: Vec<&str> = drafts
        .iter()
        .filter(|draft| matches!(draft.kind, Kind::BuiltIn(_)))
        .map(|draft| draft.name)
        .collect();
    for (flag, agent, value) in models.chain(permissions).chain(args) {
        match agent {
            Some(agent) if built_in.contains(&agent) => {}
            Some(agent) if drafts.iter().any(|draft| draft.name == agent) => {
                return Err(takes_nothing(agent));
            }
            Some(agent) => {
                let names: Vec<&str> = drafts.iter().map(|draft| draft.name).collect();
                let error = Error::usage(format!("{flag} {agent}=…: no agent of this run is called {agent}"))
                    .because(format!("agents of this run: {}", names.join(", ")));
                return Err(match suggest::nearest(agent, built_in) {
                    Some(near) => error.hint(format!("{flag} {near}={value}")),
                    None => error,
                });
            }
            None if built_in.is_empty() => return Err(takes_nothing(drafts.first().map_or("", |d| d.name))),
            None if flag == "--model" && built_in.len() > 1 => {
                return Err(Error::usage(format!("--model {value} does not say for which agent"))
                    .because(format!("{} have models of their own", built_in.join(" and ")))
                    .hint(format!("--model {}={value}", built_in[0])));
            }
            None if flag == "--" && drafts.len() > 1 => {
                return Err(Error::usage("arguments behind -- are for one agent, and this run has several")
                    .because(format!("{value} may mean something else to each of them"))
                    .hint(format!(
                        "in .ralph/config.toml: [agents.{}] and args = [\"{value}\"]",
                        built_in[0]
                    )));
            }
            None => {}
        }
    }
    Ok(())
}

fn takes_nothing(name: &str) -> Error {
    Error::usage("a custom command takes neither a model, permissions nor arguments")
        .because(format!("{name} is a command: what it may do is up to it"))
        .hint("--agents claude, to go on with claude")
}

impl Draft<'_> {
    fn settle(&self, wishes: &AgentWishes) -> Result<AgentInfo> {
        let role = self.role.or(self.same.map(|agent| agent.role)).unwrap_or_default();
        let adapter = match &self.kind {
            Kind::Command(command) => return Ok(AgentInfo { role, ..command.clone() }),
            Kind::BuiltIn(adapter) => adapter,
        };
        agent::find(adapter.name)?;
        // What the file says is for those who were not in the run before.
        let table = wishes.table(self.name).filter(|_| self.same.is_none());
        let said = pick(&wishes.permissions, self.name).copied().or_else(|| self.same?.permissions);
        let said = said.or_else(|| table?.permissions).or(wishes.file.permissions);
        let permissions = match said {
            Some(chosen) => chosen,
            None => ask::permissions(adapter, wishes.last.as_ref())
                .map_err(|error| wishes.with_the_last(error))?,
        };
        if adapter.may(permissions).is_none() {
            return Err(no_such_mode(adapter));
        }
        let before = self.same.map(|agent| &agent.args).or(table.map(|table| &table.args));
        let args =
            if wishes.args.is_empty() { before.cloned().unwrap_or_default() } else { wishes.args.clone() };
        let before = self.same.map(|agent| &agent.model).or(table.map(|table| &table.model));
        let model = pick(&wishes.models, self.name).or_else(|| before?.as_ref()).cloned();
        Ok(AgentInfo {
            name: adapter.name.into(),
            command: None,
            format: adapter.format,
            model,
            permissions: Some(permissions),
            args,
            role,
            title: None,
            tells_cost: None,
            prices: self.prices(wishes),
            session: false,
        })
    }
}

impl Draft<'_> {
    /// What its tokens cost; said anew, they count for a run that is continued too.
    fn prices(&self, wishes: &AgentWishes) -> Option<Prices> {
        let before = self.same.and_then(|agent| agent.prices).filter(|prices| !prices.assumed);
        wishes.table(self.name).and_then(|table| table.prices).or(before)
    }
}

/// The last value for that agent, else the last one for all.
fn pick<'a, T>(wishes: &'a [For<T>], name: &str) -> Option<&'a T> {
    let last = |agent: Option<&str>| wishes.iter().rfind(|wish| wish.agent.as_deref() == agent);
    last(Some(name)).or_else(|| last(None)).map(|wish| &wish.value)
}

fn no_such_mode(adapter: &Adapter) -> Error {
    let name = adapter.name;
    Error::usage(format!("{name} has no mode that only edits files without asking"))
        .because("it allows everything that its own rules do not deny")
        .hint(format!("--permissions {name}=inherit   what its own settings say"))
        .hint(format!("--permissions {name}=full      everything without asking; only where that is safe"))
}

#[cfg(test)]
mod tests;
