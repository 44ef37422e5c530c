//! Small helpers for text that came from somewhere else.

mod fences;
mod slips;

use crate::prelude::*;
pub(crate) use fences::{Fences, Place, opens_fence};
pub use slips::slips;

/// Stands between the messages of one agent, where several are kept as one text. A fence, a quotation or a report ends
/// with its message.
pub(crate) const MESSAGE_END: char = '\u{1e}';

/// Ends a message that tools were used after: what follows the last of them is the agent's final message.
pub(crate) const TOOLS_USED: char = '\u{1d}';

/// What stands between messages, of either kind.
pub(crate) const MESSAGE_ENDS: [char; 2] = [MESSAGE_END, TOOLS_USED];

/// The messages of a text, one after the other.
pub(crate) fn messages(words: &str) -> impl DoubleEndedIterator<Item = &str> {
    words.split(MESSAGE_ENDS)
}

/// What was said after the last tool: the messages that report, without the narration before.
pub(crate) fn final_message(words: &str) -> &str {
    words.rsplit(TOOLS_USED).next().unwrap_or(words)
}

/// At most `max` bytes from the start, cut at a character.
pub(crate) fn start(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// A line without indentation, quote marks, bold, code and table marks around it.
pub(crate) fn undecorated(line: &str) -> &str {
    line.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '>' | '*' | '`' | '|' | '"' | '\'' | '“' | '”')
    })
}

/// Keeps at most `max` bytes from the start, cut at a character, with an ellipsis where it was cut.
pub fn head(text: &str, max: usize) -> String {
    if text.len() <= max { text.to_owned() } else { format!("{}…", start(text, max)) }
}

/// Keeps at most `max` bytes from the end, cut at a character.
pub fn tail(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let mut start = text.len() - max;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// Takes terminal escape sequences and control characters out, so that what an agent printed can
/// neither move our cursor nor hide a word from us. Tabs and line ends stay.
pub fn plain(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || is_invisible(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// Whether it holds characters that [`plain`] takes out and that nobody sees: a word with one of them inside is not
/// plainly that word. Escape sequences are no such characters, nor are line ends.
pub(crate) fn hides(text: &str) -> bool {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\n' | '\t' | '\r' => {}
            c if c.is_control() || is_invisible(c) => return true,
            _ => {}
        }
    }
    false
}

/// As a shell would take it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// One line of it: white space folded, bounded.
pub fn one_line(text: &str, max: usize) -> String {
    // Most names, paths and commands are such a line already.
    let ends_in_space = text.starts_with(' ') || text.ends_with(' ');
    if text.len() <= max && !ends_in_space && is_plain_ascii(text) && !text.contains("  ") {
        return text.to_owned();
    }
    let mut line = String::new();
    for word in plain(text).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > max {
            break;
        }
    }
    head(&line, max)
}

/// The whole of it on one line, with nothing left out: what would play with a terminal or vanish is written as its
/// code. For what somebody has to agree to.
pub fn visible(text: &str) -> String {
    let mut line = String::new();
    for c in text.chars() {
        match c {
            '\n' => line.push_str(" ⏎ "),
            c if c.is_control() || is_invisible(c) => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    line
}

/// The last line that says something, bounded; a bracket alone does not.
pub fn last_line(text: &str, max: usize) -> Option<String> {
    let mut lines = text.lines().rev().map(|line| one_line(line, max));
    lines.find(|line| line.contains(char::is_alphanumeric))
}

/// Nothing in it that [`plain`] or a line end would change.
fn is_plain_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// FNV-1a: to tell names apart, not to keep secrets.
pub fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// `1 file`, `3 files`.
pub fn count(n: u64, noun: &str) -> String {
    let plural = if noun.ends_with('s') { "es" } else { "s" };
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}{plural}") }
}

/// Characters that reorder or vanish on a screen (bidirectional marks, zero-width spaces).
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn skip_escape(chars: &mut core::iter::Peekable<core::str::Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            // A control sequence ends with a byte from @ to ~.
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                if ('@'..='~').contains(&c) {
                    break;
                }
            }
        }
        Some(']' | 'P' | '_' | '^' | 'X') => {
            // A string sequence ends with BEL or ESC \; never past the line.
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                if c == '\u{7}' {
                    break;
                }
                if c == '\u{1b}' {
                    chars.next_if_eq(&'\\');
                    break;
                }
            }
        }
        Some('\n') | None => {}
        Some(_) => {
            chars.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_one_that_says_something() {
        assert_eq!(
            last_line("first\n  the\tlast one \n}\n\u{1b}[0m\n", 300).as_deref(),
            Some("the last one")
        );
        assert_eq!(last_line("a long one", 6).as_deref(), Some("a long…"));
        assert_eq!(last_line("}\n\n", 300), None);
    }

    #[test]
    fn escapes_go_and_words_stay() {
        assert_eq!(plain("\u{1b}[1;32mSTATUS\u{1b}[0m: x"), "STATUS: x");
        assert_eq!(plain("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\ after"), "link after");
        assert_eq!(plain("a\u{202e}b\u{0}c\rd\te\n"), "abcd\te\n");
        assert_eq!(plain("cut \u{1b}["), "cut ");
        assert_eq!(plain("cut \u{1b}]0;title\nnext"), "cut \nnext");
    }

    #[test]
    fn what_nobody_sees_is_noticed() {
        for seen in ["", "true", "\u{1b}[1mtrue\u{1b}[0m\r\n\t", "häuser"] {
            assert!(!hides(seen), "{seen:?}");
        }
        for hidden in ["tr\u{200b}ue", "\u{feff}true", "tr\0ue", "\u{202e}eurt"] {
            assert!(hides(hidden), "{hidden:?}");
        }
    }

    #[test]
    fn nothing_can_hide_in_what_is_made_visible() {
        let sly = "true \u{1b}]0;\nrm -rf ~\n\u{7}\u{202e}é";
        assert_eq!(visible(sly), "true \\u{1b}]0; ⏎ rm -rf ~ ⏎ \\u{7}\\u{202e}é");
    }

    #[test]
    fn cuts_fall_on_characters() {
        assert_eq!(head("häuser", 2), "h…");
        assert_eq!(start("häuser", 2), "h");
        assert_eq!(start("short", 10), "short");
        assert_eq!(tail("häuser", 5), "user");
        assert_eq!(head("short", 10), "short");
    }

    #[test]
    fn a_line_is_folded_and_bounded() {
        assert_eq!(one_line("  a\n\n b\tc ", 100), "a b c");
        assert_eq!(one_line("aaaa bbbb cccc", 6), "aaaa b…");
    }
}
