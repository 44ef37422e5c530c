//! Which values of the environment and of `.env` files are worth hiding.

use crate::prelude::*;

const LEAST: usize = 8;
const MOST: usize = 4096;

/// Words in the name of a secret.
const SECRET: &[&str] = &[
    "KEY", "KEYS", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS",
    "CREDENTIAL", "CREDENTIALS", "APIKEY", "AUTH",
];
/// What a longer word of a name may end with.
const ENDINGS: &[&str] = &["TOKEN", "SECRET", "PASSWORD", "APIKEY"];

/// Values that say nothing, whatever they are called.
const COMMON: &[&str] = &[
    "password", "localhost", "production", "development", "staging", "disabled", "required", "optional",
    "complete", "completed", "continue", "in_progress", "blocked", "passing", "implementation", "testing",
    "documentation", "refactoring", "changeme", "undefined", "postgres", "redacted", "anonymous",
    "administrator",
];

/// A variable of the environment: its name has to tell.
pub(super) fn named(name: &str, value: &str) -> bool {
    is_secret_name(name) && is_worth(value) && !value.bytes().all(|byte| byte.is_ascii_digit())
}

/// A value of a `.env` file: secret, unless it is plainly a setting.
pub(super) fn filed(name: &str, value: &str) -> bool {
    named(name, value) || is_worth(value) && !is_setting(value)
}

fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let words = || upper.split(['_', '-', '.']);
    let told = |word: &str| SECRET.contains(&word) || ENDINGS.iter().any(|ending| word.ends_with(ending));
    // `PWD` alone is where one is.
    let told = words().any(told) || words().nth(1).is_some() && words().any(|word| word == "PWD");
    told && !words().any(|word| word == "PUBLIC")
}

fn is_worth(value: &str) -> bool {
    let is_path = value.starts_with(['/', '~']) || value.starts_with("./") || value.starts_with("../");
    (LEAST..=MOST).contains(&value.len())
        && !value.contains(['\n', '\r'])
        && !is_path
        && !value.starts_with('$')
        && !COMMON.contains(&value.to_ascii_lowercase().as_str())
        && value.bytes().any(|byte| Some(byte) != value.bytes().next())
}

/// A word, a name, a number, a version, a host, an address without anything secret in it, or prose.
fn is_setting(value: &str) -> bool {
    if let Some((_, rest)) = value.split_once("://") {
        let long = |part: &str| part.len() >= 16 && part.bytes().any(|byte| byte.is_ascii_digit());
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        return !host.contains('@') && !path.split(['/', '?', '&', '=']).any(long);
    }
    // `my-app`, `us-east-1`, `claude-sonnet-4-5`, `1.2.3`, `db.internal:5432`, `a@b.example`, `two words`
    let plain = |part: &str| {
        let (digits, letters) = (
            part.bytes().filter(u8::is_ascii_digit).count(),
            part.bytes().filter(u8::is_ascii_alphabetic).count(),
        );
        let one_case = part.bytes().skip(1).all(|byte| !byte.is_ascii_uppercase())
            || part.bytes().all(|byte| !byte.is_ascii_lowercase());
        digits + letters == part.len()
            && (letters == 0 || digits <= 3 && part.len() <= 16 || digits == 0)
            && one_case
    };
    value.split(['-', '_', '.', ':', ' ', ',', '@', '/']).all(plain)
}

/// A name as it may stand in a mark.
pub(super) fn label(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(64).collect()
}

/// The value, and the password of an address, which is one by itself.
pub(super) fn parts(value: String) -> Vec<String> {
    let host = value.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or(rest));
    let user = host.and_then(|host| host.rsplit_once('@')).map(|(user, _)| user);
    let password = user.and_then(|user| user.split_once(':')).map(|(_, password)| password.to_owned());
    let password = password.filter(|password| is_worth(password));
    [Some(value), password].into_iter().flatten().collect()
}

/// The lines of a `.env` file: `NAME=value`, `export NAME='value'`, with comments.
pub fn dotenv(text: &str) -> Vec<(String, String)> {
    let line = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=')?;
        let name = name.trim();
        if name.is_empty()
            || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
        {
            return None;
        }
        let value = value.trim();
        let value = match value.bytes().next() {
            Some(quote @ (b'"' | b'\'' | b'`')) => value[1..].split(char::from(quote)).next().unwrap_or(""),
            _ => value.split(" #").next().unwrap_or("").trim_end(),
        };
        Some((name.to_owned(), value.to_owned()))
    };
    text.lines().filter_map(line).collect()
}
