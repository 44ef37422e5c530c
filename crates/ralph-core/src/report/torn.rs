//! A single JSON result that is broken, such as one cut off by a full disk: its text is taken out all the same.

use crate::prelude::*;

/// How far from its start the object says what it is.
const INTRODUCTION: usize = 200;

/// The text in something that begins like Claude's single result and is nothing else: what follows a whole object, or
/// cannot be a part of one, is somebody talking about it. An error's text is not the agent's words.
pub(super) fn result_text(words: &str) -> Option<String> {
    let object = words.trim();
    let mut rest = after(object.strip_prefix('{')?);
    let (mut depth, mut key) = (1_usize, None);
    let (mut is_result, mut text) = (false, None);
    while depth > 0 && !rest.is_empty() {
        let value = key.take();
        let token = token(rest)?;
        rest = after(&rest[token.len()..]);
        match token {
            "{" | "[" => depth += 1,
            "}" | "]" => depth -= 1,
            name if depth == 1 && rest.starts_with(':') => key = Some(name),
            "\"result\"" if value == Some("\"type\"") => {
                is_result = object.len() - rest.len() <= INTRODUCTION;
            }
            "true" if value == Some("\"is_error\"") => return None,
            said if value == Some("\"result\"") => text = said.strip_prefix('"').or(text),
            _ => {}
        }
        if key.is_some() {
            rest = after(&rest[1..]);
        }
    }
    text.filter(|_| is_result && rest.is_empty()).map(unescaped)
}

/// What comes next: a bracket, a string with its quotation marks, a number or a word. Nothing if JSON has no such thing.
fn token(text: &str) -> Option<&str> {
    let end = match text.chars().next()? {
        '{' | '}' | '[' | ']' | ',' | ':' => 1,
        '"' => end_of_string(text)?,
        _ => text.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(text.len()),
    };
    let token = &text[..end];
    let number = token.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let known = !token.starts_with(|c: char| c.is_ascii_alphanumeric())
        || number
        || ["true", "false", "null"].iter().any(|word| word.starts_with(token));
    Some(token).filter(|token| !token.is_empty() && known)
}

/// A string ends with its quotation mark, or where all ends. One that was printed with its line ends unescaped is whole
/// only if the object goes on behind it.
fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = true;
    let close = text.char_indices().find_map(|(at, c)| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes.then_some(at + 1)
    });
    let end = close.unwrap_or(text.len());
    let goes_on = close.is_some() && after(&text[end..]).starts_with([',', '}', ':']);
    (goes_on || !text[..end].contains('\n')).then_some(end)
}

fn after(text: &str) -> &str {
    text.trim_start()
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
            (r#"{"type":"result","result":"x","usage":{"n":-1.5e3,"a":[tru"#, "x"),
            (r#"{"usage":{"result":"n"},"type":"result","result":"x","permission_denials":[]}"#, "x"),
            ("{\"type\":\"result\",\"result\":\"a\nb\",\"session_id\":\"s\"}\n", "a\nb"),
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
            r#"{"usage":{"type":"result","result":"x"}}"#,
            "{\"type\":\"result\",\"result\":\"x\"}\nis what the fixture holds. I am not done.",
            "{\"type\":\"result\",\"result\":\"x\"} I am not done.",
            "{\"type\":\"result\",\"result\":\"x\"\nis where it was cut.",
            "{\"type\":\"result\",\"result\":\"x\nis where it was cut.",
            "{\"type\":\"result\",\"result\":\"x\nis where it was \"cut\".",
            "{\"type\":\"result\",\"result\":\"x\"}\n{\"type\":\"result\",\"result\":\"y\"}",
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
