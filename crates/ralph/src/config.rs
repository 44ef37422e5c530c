//! What is settled for new runs before the command line has its say: defaults, then the user's file, then the project's
//! `.ralph/config.toml`, then the environment. The only reader of TOML.
//!
//! `profile = "strict"` names the rules to start from, a `[policy]` table sets single values by the names that
//! `--set` knows, and a `[checks]` table names the commands that prove the work. Whether a key exists and a value fits
//! is the policy's to say; here each gets its line. `pool` and `permissions` are for runs that name no agents of their
//! own, and `[agents.NAME]` makes a command an agent or sets up a built-in one.
//!
//! | file | holds |
//! |---|---|
//! | `keys` | every key with its meaning: the one list that messages, documents and `init` are made from |
//! | `layers` | user, project and environment, one above the other |
//! | `environment` | `RALPH_*` |
//! | `agents`, `notify` | what a file says about agents and about telling the user |
//! | `change` | setting and unsetting a key: the bytes that change and no others |
//! | `reference` | the keys as a commented file and as a page |

mod agents;
mod change;
mod environment;
pub mod keys;
mod layers;
mod notify;
pub mod reference;

use std::path::{Path, PathBuf};

use toml_edit::{Document, Item, Key, TableLike, Value as Toml};

use crate::error::{self, Error, Result};
use crate::settings::pool::FileAgents;
use crate::settings::{self, Value};
use crate::suggest;

pub use change::{change, unset, whole};
pub use layers::{Layers, Origin, Shown, user_file};
pub use notify::{FileNotify, InTerminal, UrlKind};

pub const FILE: &str = "config.toml";
/// How the project's file is called in messages.
pub const NAME: &str = ".ralph/config.toml";
const POLICY: &str = "policy";
const CHECKS: &str = "checks";
/// In `[checks]`: whether those that nobody names are looked for.
const DETECT: &str = "detect";
const PROFILE: &str = "profile";
const POOL: &str = "pool";
const PERMISSIONS: &str = "permissions";
const BACKLOG: &str = "backlog";
const AGENTS: &str = "agents";
const NOTIFY: &str = "notify";

/// What a file, or the environment, says; nothing, where there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    pub profile: Option<String>,
    pub values: Vec<Value>,
    /// Commands by the name of their check. Those that come with the repository need the user's trust.
    pub checks: Vec<Value>,
    /// Whether checks that nobody names may be looked for; they are, where nobody says.
    pub detect: Option<bool>,
    pub agents: FileAgents,
    /// The task file of runs that are told nothing, from the top of the project.
    pub backlog: Option<Value>,
    pub notify: FileNotify,
    /// Everything in it by its whole key, for those who ask where a value comes from.
    pub said: Vec<Value>,
}

/// Where something of the file is said to come from.
pub fn source(key: &str) -> String {
    format!("{NAME}, {key}")
}

/// Where a check of the file is said to come from.
pub fn check_source(name: &str) -> String {
    source(&format!("{CHECKS}.{name}"))
}

/// Whether a power concerns agents.
pub fn is_of_agents(key: &str) -> bool {
    key == PERMISSIONS || key.starts_with("agents.")
}

impl Config {
    /// What the file would have run or allowed without a word on the command line: each by the name of its key. Whoever
    /// did not write the file should have seen these.
    pub fn powers(&self) -> Vec<(String, String)> {
        let mut powers = agents::powers(&self.agents);
        let notify = self.notify.command.iter().chain(&self.notify.url);
        powers.extend(notify.map(|told| (told.key.clone(), told.value.clone())));
        powers
    }
}

/// The text of a file and how messages call it.
#[derive(Debug, Clone, Copy)]
struct File<'a> {
    name: &'a str,
    text: &'a str,
}

impl File<'_> {
    fn line(self, at: usize) -> String {
        format!("{}:{}", self.name, line_of(self.text.as_bytes(), at))
    }
}

/// The project's file.
pub fn project_file(ralph_dir: &Path) -> PathBuf {
    ralph_dir.join(FILE)
}

fn read(path: &Path, name: &str) -> Result<Config> {
    let Ok(data) = std::fs::metadata(path) else { return Ok(Config::default()) };
    if !data.is_file() {
        return Err(Error::data(format!("{} is not a file", path.display())).hint("move it away"));
    }
    let bytes = std::fs::read(path).map_err(error::io("cannot read", path))?;
    parse(&text(bytes, name)?, name)
}

fn text(bytes: Vec<u8>, name: &str) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let line = line_of(error.as_bytes(), error.utf8_error().valid_up_to());
        Error::data(format!("{name}:{line}: this is not UTF-8")).hint("correct that line")
    })
}

fn document(file: File<'_>) -> Result<Document<&str>> {
    Document::parse(file.text).map_err(|error| {
        let line = file.line(error.span().map_or(0, |span| span.start));
        let error = Error::data(format!("{line}: this is not TOML")).because(error.message().trim());
        error.hint("correct that line")
    })
}

fn parse(text: &str, name: &str) -> Result<Config> {
    let file = File { name, text };
    let document = document(file)?;
    let mut config = Config::default();
    for (key, item, origin) in entries(document.as_table(), file) {
        match key {
            PROFILE => config.profile = Some(profile(item, &origin)?),
            CHECKS => {
                let table = item.as_table_like().ok_or_else(|| {
                    Error::usage(format!("{origin}: checks is a table")).hint("[checks]\ntest = \"CMD\"")
                })?;
                for (key, item, origin) in entries(table, file) {
                    match key {
                        DETECT => config.detect = Some(truth(key, item, &origin)?),
                        _ => config.checks.push(check(key, item, origin)?),
                    }
                }
            }
            POOL => {
                config.agents.pool = agents::pool(item, &origin)?;
                config.agents.pool_from = Some(origin);
            }
            PERMISSIONS => config.agents.permissions = Some(agents::permissions(item, &origin)?),
            AGENTS => config.agents.tables = agents::tables(item, &origin, file)?,
            NOTIFY => config.notify = notify::read(item, &origin, file)?,
            BACKLOG => {
                let value = agents::filled(item, key, &origin)?;
                config.backlog = Some(Value { key: key.into(), value, origin });
            }
            POLICY => {
                let table = item.as_table_like().ok_or_else(|| {
                    Error::usage(format!("{origin}: policy is a table")).hint("[policy]\ngate = \"dual\"")
                })?;
                for (key, item, origin) in entries(table, file) {
                    let value = plain(item).ok_or_else(|| {
                        Error::usage(format!("{origin}: {key} is neither a text, a number, true nor false"))
                            .hint(format!("ralph config get {key} tells what it is now"))
                    })?;
                    config.values.push(Value { key: key.into(), value, origin });
                }
            }
            other => return Err(unknown(other, &origin)),
        }
    }
    leaves(document.as_table(), "", file, &mut config.said);
    Ok(config)
}

fn truth(key: &str, item: &Item, origin: &str) -> Result<bool> {
    let wrong = || Error::usage(format!("{origin}: {key} is true or false")).hint(format!("{key} = true"));
    item.as_bool().ok_or_else(wrong)
}

/// Every value below a table by its whole key.
fn leaves(table: &dyn TableLike, above: &str, file: File<'_>, said: &mut Vec<Value>) {
    for (key, item, origin) in entries(table, file) {
        let key = if above.is_empty() { key.to_owned() } else { format!("{above}.{key}") };
        match item.as_table_like() {
            Some(below) => leaves(below, &key, file, said),
            None => {
                let value = plain(item).or_else(|| Some(keys::shown_list(&agents::texts(item)?)));
                let value = value.unwrap_or_default();
                said.push(Value { key, value, origin });
            }
        }
    }
}

fn check(name: &str, item: &Item, origin: String) -> Result<Value> {
    if !settings::CHECKS.contains(&name) {
        let error = Error::usage(format!("{origin}: there is no check '{name}'"));
        return Err(match suggest::nearest(name, settings::CHECKS.into_iter().chain([DETECT])) {
            Some(near) => error.hint(suggest::instead(near, name)),
            None => error
                .because(format!("checks are: {}", settings::CHECKS.join(", ")))
                .hint("put the command under one of these names"),
        });
    }
    match item.as_str().filter(|command| !command.trim().is_empty()) {
        Some(command) => Ok(Value { key: name.into(), value: command.into(), origin }),
        None => Err(Error::usage(format!("{origin}: {name} is a command")).hint(format!("{name} = \"CMD\""))),
    }
}

/// The keys of a table with what they hold and where they stand.
fn entries<'a>(table: &'a dyn TableLike, file: File<'_>) -> Vec<(&'a str, &'a Item, String)> {
    let origin = |key: Option<&Key>, item: &Item| {
        let span = key.and_then(Key::span).or_else(|| item.span());
        file.line(span.map_or(0, |span| span.start))
    };
    table.iter().map(|(name, item)| (name, item, origin(table.key(name), item))).collect()
}

fn profile(item: &Item, origin: &str) -> Result<String> {
    let name = item
        .as_str()
        .ok_or_else(|| Error::usage(format!("{origin}: profile is a name")).hint("profile = \"strict\""))?;
    profile_named(name, origin)
}

fn profile_named(name: &str, origin: &str) -> Result<String> {
    match settings::profile(name) {
        Ok(profile) => Ok(profile.name.into()),
        Err(error) => {
            let hints = error.hints.iter().map(|hint| match hint.strip_prefix("--profile ") {
                Some(near) => format!("profile = \"{near}\""),
                None => hint.clone(),
            });
            Err(Error { what: format!("{origin}: {}", error.what), hints: hints.collect(), ..error })
        }
    }
}

/// A value as `--set` would have it.
fn plain(item: &Item) -> Option<String> {
    match item.as_value()? {
        Toml::String(text) => Some(text.value().clone()),
        Toml::Integer(number) => Some(number.value().to_string()),
        // The shortest text that means the same number: what was written, for any sum of money.
        Toml::Float(number) => Some(number.value().to_string()),
        Toml::Boolean(truth) => Some(truth.value().to_string()),
        _ => None,
    }
}

fn unknown(key: &str, origin: &str) -> Error {
    let error = Error::usage(format!("{origin}: there is no key '{key}'"));
    let is_policy = |name: &str| ralph_core::profile::key(name).is_some();
    match suggest::nearest(key, keys::top()) {
        Some(near) => error.hint(suggest::instead(near, key)),
        None if is_policy(key) => error.hint(format!("put {key} below a line [policy]")),
        None if agents::has(key) => error.hint(format!("put {key} below a line such as [agents.claude]")),
        None => error
            .because(
                "the file may have: profile, pool, permissions, backlog, and the tables [policy], [checks], [agents.NAME] \
                 and [notify]",
            )
            .hint("ralph config show lists the keys"),
    }
}

fn line_of(text: &[u8], at: usize) -> usize {
    1 + text.iter().take(at).filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Exit;

    fn parse(text: &str) -> Result<Config> {
        super::parse(text, NAME)
    }

    #[test]
    fn texts_numbers_and_truths_are_values_with_their_lines() {
        let text = "profile = 'strict'\n\n[policy]\nmax_iterations = 1_0\nbudget = 2.50 # dollars\ncooldown = \"30m\"\n\
                    believe_contradictions = true\n";
        let config = parse(text).expect("read");
        assert_eq!(config.profile.as_deref(), Some("strict"));
        let values: Vec<_> =
            config.values.iter().map(|v| (v.key.as_str(), v.value.as_str(), v.origin.as_str())).collect();
        assert_eq!(
            values,
            [
                ("max_iterations", "10", ".ralph/config.toml:4"),
                ("budget", "2.5", ".ralph/config.toml:5"),
                ("cooldown", "30m", ".ralph/config.toml:6"),
                ("believe_contradictions", "true", ".ralph/config.toml:7"),
            ]
        );
        assert_eq!(parse("policy.gate = 'dual'").expect("read").values[0].value, "dual");
        let check = &parse("[checks]\ntest = 'make test'").expect("read").checks[0];
        assert_eq!((check.key.as_str(), check.value.as_str()), ("test", "make test"));
        assert_eq!(parse("[checks]\ndetect = false").expect("read").detect, Some(false));
        assert_eq!(parse("# nothing\n").expect("read"), Config::default());
    }

    #[test]
    fn what_it_would_run_or_allow_can_be_asked_for() {
        let text = "pool = ['claude', 'mine:review']\npermissions = 'full'\n\n[agents.mine]\ncommand = './mine.sh'\n\
                    format = 'codex'\ntitle = 'Mine'\ncost = false\n\n[agents.claude]\nmodel = 'opus'\n\
                    permissions = 'edits'\nargs = ['--max-turns', '5']\n";
        let config = parse(text).expect("read");
        assert_eq!(config.agents.pool, ["claude", "mine:review"]);
        let powers: Vec<_> = config.powers();
        let powers: Vec<_> = powers.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(
            powers,
            [
                ("permissions", "full"),
                ("agents.mine.command", "./mine.sh"),
                ("agents.claude.permissions", "edits"),
                ("agents.claude.args", r#"["--max-turns", "5"]"#),
            ]
        );
        assert_eq!(parse("profile = 'strict'").expect("read").powers(), []);
    }

    #[test]
    fn what_it_does_not_know_is_told_with_the_line() {
        for (text, exit, told) in [
            ("\nprofil = 'x'", Exit::Usage, ":2: there is no key 'profil'"),
            ("profil = 'x'", Exit::Usage, "try: write profile instead of profil"),
            ("gate = 'dual'", Exit::Usage, "below a line [policy]"),
            ("colour = 1", Exit::Usage, "the tables [policy], [checks]"),
            ("\n\nprofile = 'strickt'", Exit::Usage, ":3: there is no profile 'strickt'"),
            ("profile = 'strickt'", Exit::Usage, "profile = \"strict\""),
            ("profile = 3", Exit::Usage, ":1: profile is a name"),
            ("policy = 3", Exit::Usage, "policy is a table"),
            ("checks = 3", Exit::Usage, "checks is a table"),
            ("[checks]\ntests = 'x'", Exit::Usage, ":2: there is no check 'tests'"),
            ("[checks]\ntests = 'x'", Exit::Usage, "try: write test instead of tests"),
            ("[checks]\ntest = ' '", Exit::Usage, ":2: test is a command"),
            ("[checks]\nlint = true", Exit::Usage, ":2: lint is a command"),
            ("[checks]\ndetect = 'no'", Exit::Usage, ":2: detect is true or false"),
            ("[policy]\ngate = ['dual']", Exit::Usage, ":2: gate is neither"),
            ("agents = ['claude']", Exit::Usage, "pool = [\"claude\"]"),
            ("pool = 'claude'", Exit::Usage, ":1: pool is a list"),
            ("pool = ['claude:revue']", Exit::Usage, ":1: there is no role 'revue'"),
            ("permissions = 'all'", Exit::Usage, ":1: 'all' is none of full, edits, inherit"),
            ("model = 'opus'", Exit::Usage, "below a line such as [agents.claude]"),
            ("[agents.mine]\ncommnd = 'x'", Exit::Usage, ":2: there is no key 'commnd'"),
            ("[agents.mine]\ncommnd = 'x'", Exit::Usage, "try: write command instead of commnd"),
            ("[agents.mine]\ncommand = ' '", Exit::Usage, ":2: command is empty"),
            ("[agents.mine]\ncommand = 'x'\nformat = 'claud'", Exit::Usage, ":3: there is no format 'claud'"),
            ("[agents.mine]\ncommand = 'x'\nmodel = 'y'", Exit::Usage, ":3: a custom command takes no model"),
            ("[agents.mine]\ncommand = 'x'\ncost = 'y'", Exit::Usage, ":3: cost is true or false"),
            ("[agents.cluade]\nmodel = 'y'", Exit::Usage, ":1: cluade has no command"),
            ("[agents.cluade]\nmodel = 'y'", Exit::Usage, "[agents.claude]"),
            ("\n[agents.codex]\ncommand = 'x'", Exit::Usage, ":3: codex is built in"),
            ("[agents.codex]\ntitle = 'x'", Exit::Usage, ":2: codex is built in"),
            ("[agents.'a b']\ncommand = 'x'", Exit::Usage, ":1: 'a b' is no name"),
            ("[agents.custom]\ncommand = 'x'", Exit::Usage, ":1: custom is what --agent-cmd is called"),
            ("agents.mine = 3", Exit::Usage, ":1: agents.mine is a table"),
            ("[policy]\ngate = ", Exit::Data, ":2: this is not TOML"),
            ("[policy]\n[policy]\n", Exit::Data, ":2: this is not TOML"),
            ("[checks]\nbanana = 'x'", Exit::Usage, "checks are: build, test, lint"),
            ("permissions = 3", Exit::Usage, ":1: permissions is a text"),
            ("[agents.mine]\ncommand = 3", Exit::Usage, ":2: command is a text"),
            ("[agents.mine]\ncommand = 'x'\nformat = 'banana'", Exit::Usage, "try: format = \"auto\""),
            ("[agents.mine]\nbanana = 'x'", Exit::Usage, "the table may have: command"),
            ("[agents.claude]\nargs = 'x'", Exit::Usage, ":2: args is a list of texts"),
            ("notify = 3", Exit::Usage, ":1: notify is a table"),
            ("[notify]\ncomand = 'x'", Exit::Usage, "try: write command instead of comand"),
            ("[notify]\nbanana = 'x'", Exit::Usage, "the table may have: command, url, url_kind, terminal"),
            ("[notify]\nterminal = 'x'", Exit::Usage, ":2: 'x' is none of "),
            ("backlog = ' '", Exit::Usage, ":1: backlog is empty"),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(error.exit, exit, "{text}");
            assert!(error.to_string().contains(told), "{text}: {error}");
            assert!(!error.hints.is_empty(), "{text}: it does not say what to do: {error}");
            assert!(error.hints.iter().all(|hint| !hint.contains('?')), "{text}: {error}");
        }
    }
}
