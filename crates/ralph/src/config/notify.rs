//! `[notify]`: how the user hears of what happened while nobody watched.

use toml_edit::Item;

use super::{File, agents, entries};
use crate::error::{Error, Result};
use crate::notify::host;
use crate::settings::Value;
use crate::suggest;

const COMMAND: &str = "command";
const TERMINAL: &str = "terminal";
const URL: &str = "url";
const URL_KIND: &str = "url_kind";
const KEYS: [&str; 4] = [COMMAND, URL, URL_KIND, TERMINAL];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileNotify {
    pub command: Option<Value>,
    pub terminal: Option<InTerminal>,
    pub url: Option<Value>,
    pub url_kind: Option<UrlKind>,
}

/// In which form a notification is sent to a URL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UrlKind {
    /// By the name of the host.
    #[default]
    Auto,
    Json,
    Ntfy,
    Slack,
}

impl UrlKind {
    pub const WORDS: [(&'static str, Self); 4] =
        [("auto", Self::Auto), ("json", Self::Json), ("ntfy", Self::Ntfy), ("slack", Self::Slack)];

    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

/// What the terminal does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InTerminal {
    #[default]
    Off,
    Bell,
    /// OSC 9: many terminals make a message of the desktop of it.
    Message,
}

impl InTerminal {
    pub const WORDS: [(&'static str, Self); 3] =
        [("off", Self::Off), ("bell", Self::Bell), ("message", Self::Message)];

    fn named(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, means)| *means)
    }
}

pub(super) fn read(item: &Item, origin: &str, file: File<'_>) -> Result<FileNotify> {
    let table = item.as_table_like().ok_or_else(|| {
        Error::usage(format!("{origin}: notify is a table"))
            .hint("[notify]\ncommand = \"notify-send \\\"$RALPH_NOTIFY_TEXT\\\"\"")
    })?;
    let mut notify = FileNotify::default();
    for (key, item, origin) in entries(table, file) {
        match key {
            COMMAND => {
                let value = agents::filled(item, key, &origin)?;
                notify.command = Some(Value { key: "notify.command".into(), value, origin });
            }
            TERMINAL => notify.terminal = Some(terminal(&agents::text(item, key, &origin)?, &origin)?),
            URL => {
                let value = address(agents::filled(item, key, &origin)?, &origin)?;
                notify.url = Some(Value { key: "notify.url".into(), value, origin });
            }
            URL_KIND => notify.url_kind = Some(url_kind(&agents::text(item, key, &origin)?, &origin)?),
            other => {
                let error = Error::usage(format!("{origin}: there is no key '{other}'"));
                return Err(match suggest::nearest(other, KEYS) {
                    Some(near) => error.hint(suggest::instead(near, other)),
                    None => error
                        .because(format!("the table may have: {}", KEYS.join(", ")))
                        .hint(format!("take {other} out of the table")),
                });
            }
        }
    }
    Ok(notify)
}

fn terminal(word: &str, origin: &str) -> Result<InTerminal> {
    InTerminal::named(word).ok_or_else(|| {
        let words: Vec<&str> = InTerminal::WORDS.iter().map(|(word, _)| *word).collect();
        Error::usage(format!("{origin}: '{word}' is none of {}", words.join(", ")))
            .hint(format!("{TERMINAL} = \"{}\"", words[0]))
    })
}

/// An address that curl may be handed. It may hold a token, so that no message shows it.
pub(super) fn address(url: String, origin: &str) -> Result<String> {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    let known = matches!(scheme.as_deref(), Some("https" | "http"));
    let plain = url.chars().all(|c| !c.is_control() && !c.is_whitespace());
    if known && plain && !host(&url).is_empty() {
        return Ok(url);
    }
    Err(Error::usage(format!("{origin}: {URL} is not an address that begins with https:// or http://"))
        .hint(format!("{URL} = \"https://ntfy.sh/my-topic\"")))
}

pub(super) fn url_kind(word: &str, origin: &str) -> Result<UrlKind> {
    let known = UrlKind::WORDS.iter().find(|(known, _)| *known == word);
    known.map(|(_, kind)| *kind).ok_or_else(|| {
        let words: Vec<&str> = UrlKind::WORDS.iter().map(|(word, _)| *word).collect();
        Error::usage(format!("{origin}: '{word}' is none of {}", words.join(", ")))
            .hint(format!("{URL_KIND} = \"{}\"", words[0]))
    })
}
