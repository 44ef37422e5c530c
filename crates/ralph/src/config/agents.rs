//! What the file says about agents: `pool`, `permissions` and the tables `[agents.NAME]`.

use ralph_core::event::Permissions;
use ralph_core::prices::Prices;
use ralph_core::transcript::Format;
use toml_edit::Item;

use super::{File, entries};
use crate::agent;
use crate::error::{Error, Result};
use crate::settings::pool::{self, FileAgents, Table};
use crate::suggest;

/// The keys of a command's table, and those of a built-in agent's.
pub(super) const OF_COMMANDS: [&str; 4] = ["command", "format", "title", "cost"];
pub(super) const OF_BUILT_IN: [&str; 3] = ["model", "permissions", "args"];
/// Both have it.
pub(super) const PRICES: &str = "prices";
const FORMATS: [(&str, Format); 6] = [
    ("auto", Format::Auto),
    ("claude", Format::Claude),
    ("codex", Format::Codex),
    ("opencode", Format::Opencode),
    ("gemini", Format::Gemini),
    ("text", Format::Text),
];

/// Whether tables of agents have this key.
pub(super) fn has(key: &str) -> bool {
    OF_COMMANDS.contains(&key) || OF_BUILT_IN.contains(&key) || key == PRICES
}

pub(super) fn powers(file: &FileAgents) -> Vec<(String, String)> {
    let word = |permissions: Permissions| format!("{permissions:?}").to_lowercase();
    let mut powers: Vec<_> =
        file.permissions.iter().map(|chosen| ("permissions".to_owned(), word(*chosen))).collect();
    for table in &file.tables {
        // As a list: joined, two lists could look alike.
        let args = (!table.args.is_empty()).then(|| format!("{:?}", table.args));
        let own = [
            ("command", table.command.clone()),
            ("permissions", table.permissions.map(word)),
            ("args", args),
        ];
        let own = own.into_iter().filter_map(|(key, value)| Some((key, value?)));
        powers.extend(own.map(|(key, value)| (format!("agents.{}.{key}", table.name), value)));
    }
    powers
}

pub(super) fn pool(item: &Item, origin: &str) -> Result<Vec<String>> {
    let names = texts(item).filter(|names| !names.is_empty()).ok_or_else(|| {
        Error::usage(format!("{origin}: pool is a list of agents"))
            .hint("pool = [\"claude\", \"codex:review\"]")
    })?;
    for name in &names {
        pool::role_of(name).map_err(|error| Error { what: format!("{origin}: {}", error.what), ..error })?;
    }
    Ok(names)
}

pub(super) fn permissions(item: &Item, origin: &str) -> Result<Permissions> {
    let word = text(item, "permissions", origin)?;
    pool::permissions(&word)
        .ok_or_else(|| no_permissions(&word, origin).hint(format!("permissions = \"{}\"", meant(&word))))
}

/// The choice that was probably meant, or the middle one.
pub(super) fn meant(word: &str) -> &'static str {
    suggest::nearest(&word.to_lowercase(), ["full", "edits", "inherit"]).unwrap_or("edits")
}

pub(super) fn no_permissions(word: &str, origin: &str) -> Error {
    Error::usage(format!("{origin}: '{word}' is none of full, edits, inherit"))
}

pub(super) fn tables(item: &Item, origin: &str, file: File<'_>) -> Result<Vec<Table>> {
    let agents = item.as_table_like().ok_or_else(|| {
        Error::usage(format!("{origin}: agents are tables, one for each"))
            .hint("pool = [\"claude\"] names who works by default")
            .hint("[agents.mine] and command = \"CMD\" adds one")
    })?;
    entries(agents, file).into_iter().map(|(name, item, origin)| table(name, item, &origin, file)).collect()
}

fn table(name: &str, item: &Item, origin: &str, file: File<'_>) -> Result<Table> {
    let keys = item.as_table_like().ok_or_else(|| {
        Error::usage(format!("{origin}: agents.{name} is a table"))
            .hint(format!("[agents.{name}]\ncommand = \"CMD\""))
    })?;
    let mut table = Table { name: name.into(), ..Table::default() };
    let built_in = agent::adapter(name).is_some();
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) || name.is_empty() {
        return Err(Error::usage(format!("{origin}: '{name}' is no name for an agent"))
            .because("a name has letters, digits, - and _")
            .hint("[agents.mine]"));
    }
    if name == agent::CUSTOM || name.starts_with("custom-") {
        return Err(Error::usage(format!("{origin}: {name} is what --agent-cmd is called"))
            .hint("choose another name for the table, such as [agents.mine]"));
    }
    for (key, item, origin) in entries(keys, file) {
        if built_in && OF_COMMANDS.contains(&key) {
            return Err(Error::usage(format!("{origin}: {name} is built in and has no {key} of its own"))
                .hint("choose another name for the table"));
        }
        match key {
            "command" => table.command = Some(filled(item, key, &origin)?),
            "format" => table.format = Some(format(item, &origin)?),
            "title" => table.title = Some(filled(item, key, &origin)?),
            "cost" => {
                let told = item.as_bool();
                table.cost = Some(told.ok_or_else(|| {
                    Error::usage(format!("{origin}: cost is true or false")).hint("cost = true")
                })?);
            }
            PRICES => table.prices = Some(prices(item, &origin)?),
            "model" | "permissions" | "args" if !built_in && keys.contains_key("command") => {
                return Err(Error::usage(format!("{origin}: a custom command takes no {key}"))
                    .because("what it may do is up to it; arguments are part of the command")
                    .hint(format!("take {key} out of [agents.{name}]")));
            }
            "model" => table.model = Some(filled(item, key, &origin)?),
            "permissions" => table.permissions = Some(permissions(item, &origin)?),
            "args" => {
                table.args = texts(item).ok_or_else(|| {
                    Error::usage(format!("{origin}: args is a list of texts")).hint("args = [\"--verbose\"]")
                })?;
            }
            other => return Err(unknown(other, &origin, built_in)),
        }
    }
    if !built_in && table.command.is_none() {
        let error = Error::usage(format!("{origin}: {name} has no command"))
            .because(format!("only {} need none", agent::names().collect::<Vec<_>>().join(", ")));
        return Err(match suggest::nearest(name, agent::names()) {
            Some(near) => error.hint(format!("[agents.{near}]")),
            None => error.hint("command = \"CMD\""),
        });
    }
    Ok(table)
}

fn unknown(key: &str, origin: &str, built_in: bool) -> Error {
    let keys = if built_in { &OF_BUILT_IN[..] } else { &OF_COMMANDS };
    let keys = [keys, &[PRICES]].concat();
    let error = Error::usage(format!("{origin}: there is no key '{key}'"));
    match suggest::nearest(key, keys.iter().copied()) {
        Some(near) => error.hint(suggest::instead(near, key)),
        None => {
            let error = error.because(format!("the table may have: {}", keys.join(", ")));
            error.hint(format!("take {key} out of the table"))
        }
    }
}

fn prices(item: &Item, origin: &str) -> Result<Prices> {
    let word = text(item, PRICES, origin)?;
    Prices::parse(&word).ok_or_else(|| {
        Error::usage(format!("{origin}: invalid prices '{word}'"))
            .because("prices are dollars for a million tokens: INPUT/OUTPUT[/CACHE_READ[/CACHE_WRITE]]")
            .hint("prices = \"1.25/10/0.125\"")
    })
}

fn format(item: &Item, origin: &str) -> Result<Format> {
    let word = text(item, "format", origin)?;
    let found = FORMATS.iter().find(|(name, _)| *name == word);
    found.map(|(_, format)| *format).ok_or_else(|| {
        let names = || FORMATS.iter().map(|(name, _)| *name);
        let error = Error::usage(format!("{origin}: there is no format '{word}'"))
            .because(format!("formats: {}", names().collect::<Vec<_>>().join(", ")));
        match suggest::nearest(&word, names()) {
            Some(near) => error.hint(format!("format = \"{near}\"")),
            None => error.hint("format = \"auto\""),
        }
    })
}

pub(super) fn text(item: &Item, key: &str, origin: &str) -> Result<String> {
    let wrong = || Error::usage(format!("{origin}: {key} is a text")).hint("put the value in quotes");
    item.as_str().map(str::to_owned).ok_or_else(wrong)
}

pub(super) fn filled(item: &Item, key: &str, origin: &str) -> Result<String> {
    let text = text(item, key, origin)?;
    if text.trim().is_empty() {
        return Err(Error::usage(format!("{origin}: {key} is empty"))
            .hint(format!("give {key} a value, or take the line out")));
    }
    Ok(text)
}

pub(super) fn texts(item: &Item) -> Option<Vec<String>> {
    item.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}
