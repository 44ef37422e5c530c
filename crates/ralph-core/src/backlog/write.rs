//! Changes of an item as edits of its bytes, in the way the file is written already.

pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod yaml;

use serde_json::Value;

use crate::prelude::*;

/// A value to be written, its fields in their order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Written {
    Null,
    Bool(bool),
    Number(i64),
    Text(String),
    List(Vec<Written>),
    Map(Vec<(&'static str, Written)>),
}

impl Written {
    pub(crate) fn map(fields: impl IntoIterator<Item = (&'static str, Written)>) -> Self {
        Self::Map(fields.into_iter().collect())
    }

    pub(crate) fn texts(texts: &[String]) -> Self {
        Self::List(texts.iter().cloned().map(Self::Text).collect())
    }

    /// What must be read back.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(truth) => (*truth).into(),
            Self::Number(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(items) => items.iter().map(Self::value).collect(),
            Self::Map(fields) => {
                fields.iter().map(|(name, value)| ((*name).to_owned(), value.value())).collect()
            }
        }
    }
}

/// One step of a change: a field of the item, or of an object in it, gets a value; or a list of it gets one more.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Set(&'static [&'static str], Written),
    Push(&'static str, Written),
}

impl Step {
    /// The same step on a value, to know what must be read back.
    pub(crate) fn expect(&self, item: &mut Value) {
        match self {
            Self::Set(path, written) => {
                let mut place = item;
                for name in *path {
                    if !place.is_object() {
                        *place = Value::Object(serde_json::Map::new());
                    }
                    place = &mut place[*name];
                }
                *place = written.value();
            }
            Self::Push(name, written) => match &mut item[*name] {
                Value::Array(list) => list.push(written.value()),
                other => *other = Value::Array(vec![written.value()]),
            },
        }
    }
}

/// Why a change cannot be written without touching more than it should.
pub(crate) type NoPlace = String;

/// Where the line of a byte begins.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Where the line after a byte begins; none where its line is the last and has no end.
pub(crate) fn next_line(text: &str, at: usize) -> Option<usize> {
    if at > 0 && text[..at].ends_with('\n') {
        return Some(at);
    }
    text[at..].find('\n').map(|end| at + end + 1)
}

/// A text in double quotes, as both JSON and YAML read it.
pub(crate) fn quoted(text: &str) -> String {
    let plain = serde_json::to_string(text).unwrap_or_default();
    if plain.chars().all(|c| !needs_escape(c)) {
        return plain;
    }
    let mut out = String::with_capacity(plain.len() + 8);
    for c in plain.chars() {
        if needs_escape(c) {
            out.push_str(&format!("\\u{:04x}", c as u32));
        } else {
            out.push(c);
        }
    }
    out
}

/// Characters that YAML does not take as they are, or takes for line ends.
fn needs_escape(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}
