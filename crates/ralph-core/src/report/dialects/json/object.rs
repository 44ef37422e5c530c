//! The object of a JSON report: how far it goes and what it says, JSON or not.

use core::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::prelude::*;
use crate::text;

/// Reports are short; in bytes.
const LONGEST: usize = 4000;
const SIGNAL: &str = "EXIT_SIGNAL";
const ODD: &str = "EXIT_SIGNAL is not plainly true or false";

/// What a report declares.
pub(super) struct Read {
    pub(super) signal: bool,
    pub(super) problem: Option<&'static str>,
    pub(super) reason: Option<String>,
}

/// The object in braces, and how much white space stands before it.
pub(super) fn braced(behind: &str) -> Option<(usize, &str)> {
    let after = behind.trim_start();
    Some((behind.len() - after.len(), extent(after)?))
}

/// The text from its first brace to the one that closes it, or as far as its paragraph. Braces in strings are words.
fn extent(text: &str) -> Option<&str> {
    if !text.starts_with('{') {
        return None;
    }
    let near = text::start(text, LONGEST);
    let (mut depth, mut in_string, mut escaped) = (0_u32, false, false);
    for (at, c) in near.char_indices() {
        match c {
            _ if core::mem::take(&mut escaped) => {}
            '\\' => escaped = in_string,
            // A string does not go over the line: its end is missing.
            '\n' => in_string = false,
            '"' => in_string = !in_string,
            '{' if !in_string => depth += 1,
            '}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[..=at]);
                }
            }
            _ => {}
        }
    }
    near.split("\n\n").next()
}

/// Lines of `name: value` below the name of the report, as YAML has them, if the signal is among them; and how much
/// stands before them.
pub(super) fn plain_keys(behind: &str) -> Option<(usize, &str)> {
    let near = text::start(behind, LONGEST);
    let (heading, below) = near.split_once('\n')?;
    if !text::undecorated(heading).is_empty() {
        return None;
    }
    let below = below.trim_start_matches(['\n', '\r']);
    let keys = below.split_inclusive('\n').take_while(|line| key(line).is_some());
    let length = keys.clone().map(str::len).sum();
    let signals = keys.filter_map(key).any(|key| key.eq_ignore_ascii_case(SIGNAL));
    signals.then(|| (near.len() - below.len(), below[..length].trim_end()))
}

/// The name in a line of `name: value`. A marker has a colon too, and is none.
fn key(line: &str) -> Option<&str> {
    let bare = line.trim_start().trim_start_matches(['-', '*', ' ']);
    let (name, value) = bare.split_once(':')?;
    let name = name.trim_matches(['*', '"', '`', ' ']);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_name && !name.starts_with("LOOP_") && !value.trim().is_empty()).then_some(name)
}

/// `None` for a template, and for braces that hold nothing.
pub(super) fn read(object: &str) -> Option<Read> {
    let Ok(Members(members)) = serde_json::from_str(object) else { return read_broken(object) };
    let said = members.iter().filter(|(name, _)| name.eq_ignore_ascii_case(SIGNAL));
    let (signal, problem) = agreed(said.map(|(_, value)| plainly(&value.to_string())))?;
    Some(Read { signal, problem, reason: reason(&members) })
}

/// What is no JSON is read as text.
fn read_broken(object: &str) -> Option<Read> {
    let upper = object.to_ascii_uppercase();
    let values = upper.match_indices(SIGNAL).map(|(at, _)| value(&object[at + SIGNAL.len()..]));
    let values = values.map(|value| plainly(&without_trimmings(value)));
    let (signal, _) = agreed(values).filter(|_| object.contains(':'))?;
    Some(Read { signal, problem: Some("the report is not JSON"), reason: None })
}

/// What all the signals of one report amount to: true only if every one of them is. `None` if all are a template's.
fn agreed(
    said: impl Iterator<Item = Option<(bool, Option<&'static str>)>>,
) -> Option<(bool, Option<&'static str>)> {
    let said: Vec<_> = said.collect();
    if !said.is_empty() && said.iter().all(Option::is_none) {
        return None;
    }
    let all = !said.is_empty() && said.iter().all(|said| said.is_some_and(|(signal, _)| signal));
    let differ = said.iter().any(|one| one.map(|(signal, _)| signal) != said[0].map(|(signal, _)| signal));
    let odd = said.iter().flatten().find_map(|(_, problem)| *problem);
    let problem = match said.as_slice() {
        [] => Some(ODD),
        _ if differ => Some("EXIT_SIGNAL is there twice, in two ways"),
        _ => odd,
    };
    Some((all, problem))
}

/// What EXIT_SIGNAL says, and a problem where it does not say it plainly. None for a template's `true/false`.
fn plainly(value: &str) -> Option<(bool, Option<&'static str>)> {
    match value {
        "true" | "false" => Some((value == "true", None)),
        "\"true\"" | "\"false\"" => Some((value == "\"true\"", Some("EXIT_SIGNAL is in quotation marks"))),
        _ if ["true/false", "false/true", "|", "[", "<", "..."].iter().any(|mark| value.contains(mark)) => {
            None
        }
        _ => Some((false, Some(ODD))),
    }
}

/// The value after the name in something that is like JSON.
fn value(after: &str) -> &str {
    let after = after.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ':'));
    let end = after.find([',', '}', '\n', '"', '\'']).unwrap_or(after.len());
    after[..end].trim()
}

/// A word in lower case, without a comment or a full stop behind it.
fn without_trimmings(value: &str) -> String {
    let bare = value.split(" #").next().unwrap_or(value).trim();
    let word = bare.trim_end_matches(['.', '!']);
    if word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        word.to_ascii_lowercase()
    } else {
        bare.to_ascii_lowercase()
    }
}

/// What the report gives as a reason, or else recommends.
fn reason(members: &[(String, Value)]) -> Option<String> {
    let told = |key: &str| {
        let (_, value) = members.iter().rev().find(|(name, _)| name == key)?;
        Some(text::one_line(value.as_str()?, 500)).filter(|reason| !reason.is_empty())
    };
    ["reason", "REASON", "recommendation", "RECOMMENDATION"].into_iter().find_map(told)
}

/// The members of an object, those with the same name too.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Members, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        from.deserialize_map(Collect)
    }
}
