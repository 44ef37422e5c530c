//! `[notify]`: how the user hears of what happened while nobody watched.

use toml_edit::Item;

use super::{File, agents, entries};
use crate::error::{Error, Result};
use crate::settings::Value;
use crate::suggest;

const COMMAND: &str = "command";
const TERMINAL: &str = "terminal";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileNotify {
    pub command: Option<Value>,
    pub terminal: Option<InTerminal>,
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
            other => {
                let error = Error::usage(format!("{origin}: there is no key '{other}'"));
                return Err(match suggest::nearest(other, [COMMAND, TERMINAL]) {
                    Some(near) => error.hint(suggest::instead(near, other)),
                    None => error
                        .because(format!("the table may have: {COMMAND}, {TERMINAL}"))
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
