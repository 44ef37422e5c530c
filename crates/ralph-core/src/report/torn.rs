//! A single JSON result that is broken, such as one cut off by a full disk: its text is taken out all the same.

use crate::prelude::*;

/// How far from its start the object says what it is.
const INTRODUCTION: usize = 200;

/// The text in something that begins like Claude's single result. An error's text is not the agent's words.
pub(super) fn result_text(words: &str) -> Option<String> {
    let object = words.trim_start();
    let start = &object[..object.floor_char_boundary(INTRODUCTION)];
    if !object.starts_with('{') || !says(start, "type", "\"result\"") || says(object, "is_error", "true") {
        return None;
    }
    let text = values(object, "result").find_map(|value| value.strip_prefix('"'))?;
    Some(unescaped(text))
}

fn says(object: &str, key: &str, value: &str) -> bool {
    values(object, key).any(|found| found.starts_with(value))
}

/// What follows each `"key":`.
fn values<'a>(object: &'a str, key: &str) -> impl Iterator<Item = &'a str> {
    let key = format!("\"{key}\"");
    let places: Vec<usize> = object.match_indices(&key).map(|(at, key)| at + key.len()).take(10).collect();
    places.into_iter().filter_map(|at| Some(object[at..].trim_start().strip_prefix(':')?.trim_start()))
}

/// A JSON string up to its closing quotation mark, or as far as it goes.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => match rest.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some('r') => plain.push('\r'),
                Some('u') => {
                    let code = rest.by_ref().take(4).collect::<String>();
                    let number = u32::from_str_radix(&code, 16).ok().filter(|_| code.len() == 4);
                    plain.push(number.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                Some(other) => plain.push(other),
                None => {}
            },
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_broken_result_is_found_as_far_as_it_goes() {
        for (words, text) in [
            (
                r#"{"type":"result","is_error":false,"result":"a\n\"b\" \u00e4 \\n","usage":{"#,
                "a\n\"b\" ä \\n",
            ),
            (r#"{"type":"result","result":"cut o"#, "cut o"),
            (r#"{"type":"result","result":"cut \u00"#, "cut \u{fffd}"),
            (r#"{"type":"result","subtype":"success","result":"x",}"#, "x"),
            ("\n{\n  \"type\": \"result\",\n  \"result\": \"x\"\n", "x"),
        ] {
            assert_eq!(result_text(words).as_deref(), Some(text), "{words}");
        }
    }

    #[test]
    fn other_text_an_error_s_result_and_one_without_text_stay_as_they_are() {
        for words in [
            "",
            "Done.",
            r#"See {"type":"result","result":"x"}"#,
            r#"{"type":"assistant","result":"x""#,
            r#"{"type":"result","is_error":true,"result":"Credit balance is too low"#,
            r#"{"type":"result","res"#,
            r#"{"type":"result","result":null"#,
        ] {
            assert_eq!(result_text(words), None, "{words}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(words in "(\\{|\"type\":\"result\"|\"result\":|\"|\\\\|\\\\u|,|[ -~]|ä){0,30}") {
            let _ = result_text(&words);
        }
    }
}
