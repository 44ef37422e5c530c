//! Loose reading of JSON: a field that is missing or of another type is absent, never an error.

use super::value::Value;
use crate::prelude::*;

pub(super) fn string(value: &Value<'_>) -> Option<String> {
    value.as_str().map(ToOwned::to_owned)
}

pub(super) fn parts<'v, 'a>(value: &'v Value<'a>) -> impl Iterator<Item = &'v Value<'a>> {
    value.as_array().into_iter().flatten()
}

/// Whole and not negative; some write it with a fraction or in quotation marks.
pub(super) fn number(value: &Value<'_>) -> u64 {
    let whole = || value.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
    let quoted = || value.as_str().and_then(|text| text.trim().parse().ok());
    value.as_u64().or_else(|| whole().map(|number| number as u64)).or_else(quoted).unwrap_or(0)
}

/// Whole micro-dollars.
pub(super) fn micro_usd(dollars: &Value<'_>) -> Option<u64> {
    // A float-to-integer cast saturates, so the guard only keeps nonsense out.
    let dollars = dollars.as_f64().filter(|dollars| dollars.is_finite() && *dollars >= 0.0)?;
    Some((dollars * 1e6 + 0.5) as u64)
}

/// The money that a closing event names, in the spellings of several CLIs.
pub(super) fn cost(event: &Value<'_>) -> Option<u64> {
    const NAMES: [&str; 6] =
        ["total_cost_usd", "totalCostUsd", "totalCostUSD", "cost_usd", "costUsd", "total_cost"];
    NAMES.iter().find_map(|name| micro_usd(&event[*name]))
}

/// What an error says, however deep its message lies: in a string, a list, or an object of a service or a CLI.
pub(super) fn error_text(error: &Value<'_>) -> Option<String> {
    const NAMES: [&str; 10] =
        ["message", "data", "error", "errors", "detail", "description", "reason", "name", "code", "type"];
    const DEEPEST: usize = 5;
    fn said(error: &Value<'_>, depth: usize) -> Option<String> {
        if depth > DEEPEST {
            return None;
        }
        match error {
            Value::String(text) => Some(text.trim()).filter(|text| !text.is_empty()).map(ToOwned::to_owned),
            Value::Array(errors) => errors.iter().find_map(|error| said(error, depth + 1)),
            Value::Object(_) => NAMES.iter().find_map(|name| said(&error[*name], depth + 1)),
            _ => None,
        }
    }
    said(error, 0)
}

/// The HTTP status that an error names in a field of its own.
pub(super) fn status_of(error: &Value<'_>) -> Option<u16> {
    const NAMES: [&str; 6] =
        ["statusCode", "status_code", "api_error_status", "error_status", "code", "status"];
    let named = |error: &Value<'_>| {
        NAMES.iter().find_map(|name| error[*name].as_u64()).and_then(|status| u16::try_from(status).ok())
    };
    let status = named(error).or_else(|| named(&error["data"])).or_else(|| named(&error["error"]));
    status.filter(|status| (400..600).contains(status))
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
}
