//! Names that tell a secret: `DB_PASSWORD`, `clientSecret`, `SECRET_KEY_BASE`; not `MONKEY`, `max_tokens`, `publicKey`.

/// How surely a name in a text tells that its value is a secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tells {
    /// The name is that of a secret.
    Surely,
    /// One of its words is. Programs use such words for other things too.
    Perhaps,
}

/// A name that ends like this names a secret. Hyphens count as underscores.
const ENDINGS: &[&str] = &[
    "password", "passwd", "passphrase", "secret", "secret_key", "secretkey", "token", "api_key", "apikey",
    "access_key", "accesskey", "account_key", "accountkey", "private_key", "credential", "credentials",
];

/// Words that may stand anywhere in a name.
const WORDS: &[&str] = &[
    "key", "secret", "token", "password", "passwd", "passphrase", "pass", "pwd", "credential", "credentials",
];

/// With one of these words a name is about a secret, or about another kind of key.
const OTHERWISE: &[&str] = &[
    "public", "pub", "publishable", "primary", "foreign", "cache", "sort", "partition", "shard", "index",
    "query", "storage", "object", "lookup", "group", "routing", "row", "map", "hot", "shortcut", "id", "ids",
    "name", "path", "file", "dir", "url", "uri", "endpoint", "host", "arn", "type", "kind", "mode", "format",
    "algorithm", "alg", "version", "policy", "provider", "ttl", "expiry", "expires", "at", "age", "size",
    "length", "len", "count", "limit", "max", "min", "used", "usage", "rate", "hash", "digest",
    "fingerprint", "checksum", "hint", "label", "field", "header", "prefix", "suffix", "code", "ref",
];

/// What the name of something in a text tells about it.
pub(super) fn in_text(name: &str) -> Option<Tells> {
    if ENDINGS.iter().any(|ending| ends_with(name, ending)) || name.eq_ignore_ascii_case("pwd") {
        return Some(Tells::Surely);
    }
    let perhaps = has(name, WORDS) && words(name).nth(1).is_some() && !has(name, OTHERWISE);
    perhaps.then_some(Tells::Perhaps)
}

/// Passwords are made by people: shorter, and without digits.
pub(super) fn is_password(name: &str) -> bool {
    has(name, &["password", "passwd", "pwd"])
        || ["password", "passwd"].iter().any(|ending| ends_with(name, ending))
}

/// As variables of the environment are written.
pub(super) fn is_loud(name: &str) -> bool {
    !name.bytes().any(|byte| byte.is_ascii_lowercase())
}

pub(super) fn ends_with(name: &str, ending: &str) -> bool {
    let like =
        |(byte, wanted): (u8, u8)| byte.eq_ignore_ascii_case(&wanted) || (byte, wanted) == (b'-', b'_');
    name.len() >= ending.len() && name.bytes().rev().zip(ending.bytes().rev()).all(like)
}

fn has(name: &str, known: &[&str]) -> bool {
    words(name).any(|word| known.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// The words of a name, without numbers at their end: parted by signs, and by a capital after a small letter.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let digits = |word: &'_ str| word.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    name.split(['_', '-'])
        .flat_map(humps)
        .map(move |word| &word[..digits(word)])
        .filter(|word| !word.is_empty())
}

fn humps(mut rest: &str) -> impl Iterator<Item = &str> {
    core::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let hump = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
        let end = bytes.windows(2).position(hump).map_or(bytes.len(), |at| at + 1);
        let (word, after) = rest.split_at(end);
        rest = after;
        (end > 0).then_some(word)
    })
}
