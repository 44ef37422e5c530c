//! A segment as words, with everything that is not the agent's own assertion reduced to a stand-in:
//! inline code and quotations become one token, markup disappears.

use crate::prelude::*;
use crate::text;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// `7`, `1,024`, `7/7`, `100%`.
    Number,
    /// Inline code, and names that are no words: `a_b.rs`, `ctx.Done`.
    Code,
    Quote,
    /// Punctuation.
    Break(char),
}

#[derive(Debug)]
pub(super) struct Token {
    pub kind: Kind,
    /// In lower case and without contractions; empty unless a word or a number.
    pub word: String,
    pub start: usize,
    pub end: usize,
}

/// A quotation longer than this is taken for an unpaired mark.
const LONGEST_QUOTE: usize = 2000;
const LONGEST_SINGLE_QUOTE: usize = 200;
const LONGEST_TAG: usize = 200;
/// Abbreviations whose full stop does not end a sentence.
const ABBREVIATIONS: [&str; 8] = ["e.g", "i.e", "etc", "vs", "approx", "incl", "resp", "cf"];

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut scanner = Scanner { text, at: 0, found: Vec::new(), unpaired: Vec::new() };
    while let Some(c) = scanner.peek() {
        scanner.step(c);
    }
    scanner.found
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    found: Vec<Token>,
    /// Lengths of backtick runs that have no partner further on.
    unpaired: Vec<usize>,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn before(&self) -> Option<char> {
        self.text[..self.at].chars().next_back()
    }

    fn push(&mut self, kind: Kind, word: impl Into<String>, len: usize) {
        self.found.push(Token { kind, word: word.into(), start: self.at, end: self.at + len });
    }

    fn step(&mut self, c: char) {
        let len = c.len_utf8();
        match c {
            '`' => self.code(),
            // `5"` is a length.
            '"' if self.before().is_some_and(char::is_alphanumeric) => self.at += len,
            '"' => self.quote(len, &['"']),
            '“' | '„' | '‟' => self.quote(len, &['”', '“', '"']),
            '«' => self.quote(len, &['»']),
            '»' => self.quote(len, &['«']),
            '‹' => self.quote(len, &['›']),
            '\'' | '‘' => self.single_quote(len),
            '<' => self.tag(),
            '~' => self.struck(),
            ']' if self.rest().starts_with("](") => self.link_target(),
            ',' | ';' | ':' | '(' | ')' | '[' | ']' | '|' | '!' | '?' | '…' => self.mark(c, len),
            '—' | '–' => self.mark('—', len),
            '→' | '⇒' => self.mark(':', len),
            '-' | '=' => self.dash(c),
            '.' => self.full_stop(),
            '❌' | '✗' | '✘' | '✖' => {
                self.push(Kind::Word, "not", len);
                self.at += len;
            }
            c if c.is_alphanumeric() || matches!(c, '@' | '#' | '$' | '/' | '\\') => self.word(),
            _ => self.at += len,
        }
    }

    fn mark(&mut self, as_char: char, len: usize) {
        self.push(Kind::Break(as_char), "", len);
        self.at += len;
    }

    fn code(&mut self) {
        let run = self.rest().bytes().take_while(|b| *b == b'`').count();
        let closing = if self.unpaired.contains(&run) { None } else { closing_run(&self.rest()[run..], run) };
        match closing {
            Some(end) => {
                self.push(Kind::Code, "", end + run);
                self.at += end + run;
            }
            None => {
                self.unpaired.push(run);
                self.at += run;
            }
        }
    }

    fn quote(&mut self, len: usize, closing: &[char]) {
        let inside = text::start(&self.rest()[len..], LONGEST_QUOTE);
        match inside.char_indices().find(|(_, c)| closing.contains(c)) {
            Some((end, c)) => {
                let whole = len + end + c.len_utf8();
                self.push(Kind::Quote, "", whole);
                self.at += whole;
            }
            None => self.at += len,
        }
    }

    /// An apostrophe is no quotation mark: one opens before a word and the other closes behind one.
    fn single_quote(&mut self, len: usize) {
        let inside = text::start(&self.rest()[len..], LONGEST_SINGLE_QUOTE);
        let opens = !self.before().is_some_and(char::is_alphanumeric)
            && inside.chars().next().is_some_and(|c| !c.is_whitespace());
        let end = inside.char_indices().find(|(at, c)| {
            matches!(c, '\'' | '’')
                && !inside[at + c.len_utf8()..].chars().next().is_some_and(char::is_alphanumeric)
                && !inside[..*at].ends_with(char::is_whitespace)
        });
        match end {
            Some((end, c)) if opens => {
                let whole = len + end + c.len_utf8();
                self.push(Kind::Quote, "", whole);
                self.at += whole;
            }
            _ => self.at += len,
        }
    }

    fn tag(&mut self) {
        let rest = self.rest();
        if starts_with_ignoring_case(rest, "<promise>") {
            let skip = text::start(rest, LONGEST_QUOTE).find("</").map_or("<promise>".len(), |at| at + 2);
            self.at += skip;
            let name = self.rest().find('>').map_or(0, |at| at + 1);
            self.at += name;
            return;
        }
        let named = rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!'));
        match text::start(rest, LONGEST_TAG).find('>') {
            Some(end) if named => self.at += end + 1,
            _ => self.at += 1,
        }
    }

    fn struck(&mut self) {
        let rest = self.rest();
        self.at +=
            match rest.strip_prefix("~~").and_then(|inside| text::start(inside, LONGEST_QUOTE).find("~~")) {
                Some(end) => end + 4,
                None => 1,
            };
    }

    fn link_target(&mut self) {
        let end = text::start(self.rest(), LONGEST_QUOTE).find(')');
        self.at += end.map_or(1, |end| end + 1);
    }

    /// `a - b`, `a -- b`, `a => b`; a hyphen or sign elsewhere says nothing.
    fn dash(&mut self, c: char) {
        let run = self.rest().bytes().take_while(|b| *b == b'-' || *b == b'=').count();
        if self.rest()[run..].starts_with('>') {
            self.mark(':', run + 1);
        } else if c == '-' && (run == 2 || run == 1 && self.rest()[1..].starts_with(char::is_whitespace)) {
            self.mark('—', run);
        } else {
            self.at += run;
        }
    }

    fn full_stop(&mut self) {
        let abbreviated = self.found.last().is_some_and(|last| {
            last.end == self.at
                && ABBREVIATIONS.iter().any(|a| self.text[last.start..last.end].eq_ignore_ascii_case(a))
        });
        if abbreviated { self.at += 1 } else { self.mark('.', 1) }
    }

    fn word(&mut self) {
        let rest = self.rest();
        let mut end = rest.len();
        let mut chars = rest.char_indices().peekable();
        let mut last = ' ';
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map_or(' ', |(_, c)| *c);
            let thousands = c == ',' && last.is_ascii_digit() && next.is_ascii_digit();
            let double_dash = c == '-' && next == '-';
            if double_dash || (ends_word(c) && !thousands) {
                end = at;
                break;
            }
            last = c;
        }
        let run = rest[..end].trim_end_matches(['.', '\'', '’', '_', '-', '/']);
        if run.is_empty() {
            self.at += rest.chars().next().map_or(1, char::len_utf8);
            return;
        }
        self.classify(run);
        self.at += run.len();
    }

    fn classify(&mut self, run: &str) {
        // Nearly all of them: nothing to replace, nothing to expand.
        if run.bytes().all(|byte| byte.is_ascii_alphabetic()) && !run.eq_ignore_ascii_case("cannot") {
            return self.push(Kind::Word, run.to_ascii_lowercase(), run.len());
        }
        let simple = run.replace('’', "'").replace(['\u{2010}', '\u{2011}'], "-").to_lowercase();
        if simple.starts_with(|c: char| c.is_ascii_digit()) {
            let digits: String = simple.chars().filter(|c| *c != ',').collect();
            // "100 %" is written by many.
            let percent = [" %", "\u{a0}%", "\u{202f}%"]
                .iter()
                .find(|sign| self.rest()[run.len()..].starts_with(**sign));
            match percent {
                Some(sign) => self.push(Kind::Number, digits + "%", run.len() + sign.len()),
                None => self.push(Kind::Number, digits, run.len()),
            }
        } else if simple.chars().all(|c| c.is_alphanumeric() || matches!(c, '\'' | '-')) {
            for word in expand(&simple) {
                self.push(Kind::Word, word, run.len());
            }
        } else {
            self.push(Kind::Code, "", run.len());
        }
    }
}

fn ends_word(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '"' | '“' | '”' | '«' | '»' | '<' | '>' | '(' | ')' | '[' | ']' | '{' | '}' | '*' | '~' | ',' | ';')
        || matches!(c, ':' | '!' | '?' | '—' | '–' | '…' | '|' | '`' | '→' | '⇒' | '=')
        // Symbols and pictures.
        || ('\u{2600}'..='\u{27bf}').contains(&c)
        || c >= '\u{1f000}'
}

/// `isn't` is two words, so that negation is a word like any other.
fn expand(word: &str) -> Vec<&str> {
    match word {
        "cannot" | "can't" => return vec!["can", "not"],
        "won't" => return vec!["will", "not"],
        "shan't" => return vec!["shall", "not"],
        "let's" => return vec!["let", "us"],
        _ => {}
    }
    for (ending, meaning) in [
        ("n't", "not"),
        ("'ll", "will"),
        ("'re", "are"),
        ("'ve", "have"),
        ("'m", "am"),
        ("'d", "would"),
        ("'s", "'s"),
    ] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| !stem.is_empty()) {
            return vec![stem, meaning];
        }
    }
    vec![word]
}

fn closing_run(text: &str, run: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'`', &bytes[at..]) {
        let start = at + found;
        let len = bytes[start..].iter().take_while(|b| **b == b'`').count();
        if len == run {
            return Some(start + len);
        }
        at = start + len;
    }
    None
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}
