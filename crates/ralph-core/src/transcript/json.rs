//! Loose reading of JSON: a field that is missing or of another type is absent, never an error.

use super::value::Value;
use crate::prelude::*;
use crate::transcript::Usage;

pub(super) fn string(value: &Value<'_>) -> Option<String> {
    value.as_str().map(ToOwned::to_owned)
}

pub(super) fn parts<'v, 'a>(value: &'v Value<'a>) -> impl Iterator<Item = &'v Value<'a>> {
    value.as_array().into_iter().flatten()
}

pub(super) fn number(value: &Value<'_>) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Whole micro-dollars.
pub(super) fn micro_usd(dollars: &Value<'_>) -> Option<u64> {
    // A float-to-integer cast saturates, so the guard only keeps nonsense out.
    let dollars = dollars.as_f64().filter(|dollars| dollars.is_finite() && *dollars >= 0.0)?;
    Some((dollars * 1e6 + 0.5) as u64)
}

/// Input tokens that were told together with the cached ones among them.
pub(super) fn with_cached(input: u64, cached: u64, output: u64, cache_write: u64) -> Usage {
    Usage {
        input: input.saturating_sub(cached).saturating_sub(cache_write),
        output,
        cache_read: cached,
        cache_write,
    }
}

/// The part of a tool's input that tells a person what it is about.
pub(super) fn target(input: &Value<'_>) -> Option<String> {
    const KEYS: [&str; 12] = [
        "file_path", "filePath", "notebook_path", "absolute_path", "path", "command", "cmd", "pattern",
        "url", "query", "prompt", "description",
    ];
    KEYS.iter().find_map(|key| input[*key].as_str()).map(|text| crate::text::one_line(text, 200))
}

/// The file a tool that writes says it touches.
pub(super) fn written_file(tool: &str, input: &Value<'_>) -> Option<String> {
    const WRITERS: [&str; 12] = [
        "Write", "Edit", "MultiEdit", "NotebookEdit", "write", "edit", "multiedit", "patch", "write_file",
        "replace", "edit_file", "create_file",
    ];
    if !WRITERS.contains(&tool) {
        return None;
    }
    ["file_path", "filePath", "notebook_path", "absolute_path", "path"]
        .iter()
        .find_map(|key| string(&input[*key]))
}

/// The start of a tool's output.
pub(super) fn words_of(content: &Value<'_>) -> String {
    crate::text::head(&all_words_of(content), 4096)
}

/// A content is a string or a list of text parts.
pub(super) fn all_words_of(content: &Value<'_>) -> String {
    let mut words = String::new();
    if let Some(text) = content.as_str() {
        words.push_str(text);
    }
    for part in parts(content) {
        words.push_str(part["text"].as_str().unwrap_or(""));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_becomes_whole_micro_dollars() {
        assert_eq!(micro_usd(&Value::Float(0.00525)), Some(5250));
        assert_eq!(micro_usd(&Value::Float(-1.0)), None);
        assert_eq!(micro_usd(&Value::Float(1e300)), Some(u64::MAX));
        assert_eq!(micro_usd(&Value::String("1".into())), None);
    }

    #[test]
    fn cached_tokens_are_not_counted_twice() {
        let usage = with_cached(300, 120, 50, 0);
        assert_eq!((usage.input, usage.cache_read, usage.total()), (180, 120, 350));
        assert_eq!(with_cached(10, 20, 0, 0).input, 0);
    }
}
