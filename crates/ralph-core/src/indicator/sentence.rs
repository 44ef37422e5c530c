//! One sentence, and the questions that are asked about its words.

use core::ops::Range;

use super::tokens::{Kind, Token};
use super::words::CONDITIONS;
use crate::prelude::*;

/// Longer ones are cut: rules look back and forth inside a sentence, and must stay linear overall.
const LONGEST: usize = 120;

pub(super) struct Sentence<'a> {
    pub tokens: &'a [Token],
    /// `.`, `!`, `?`, or a space where the segment ends without one.
    pub end: char,
    /// Where its first word of a condition stands.
    pub condition: Option<usize>,
    /// The phase that the report says is done: that one is the whole.
    pub phase: Option<u32>,
}

impl<'a> Sentence<'a> {
    fn new(tokens: &'a [Token], end: char, phase: Option<u32>) -> Self {
        let mut sentence = Self { tokens, end, condition: None, phase };
        sentence.condition = sentence.find(0..tokens.len(), CONDITIONS);
        sentence
    }
}

pub(super) fn sentences(tokens: &[Token], phase: Option<u32>) -> Vec<Sentence<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut closing = 0;
    for (at, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Break('(') {
            let near = tokens.iter().take(at + 30).skip(at);
            closing =
                near.clone().position(|token| token.kind == Kind::Break(')')).map_or(closing, |len| at + len);
        }
        let end = match token.kind {
            // Inside brackets a full stop or "…" ends nothing.
            Kind::Break('.' | '…') if at < closing && at + 1 != closing => continue,
            Kind::Break(c @ ('.' | '!' | '?' | '…')) => c,
            _ if at - start >= LONGEST => ' ',
            _ => continue,
        };
        if at > start {
            found.push(Sentence::new(&tokens[start..at], end, phase));
        }
        start = if end == ' ' { at } else { at + 1 };
    }
    if start < tokens.len() {
        found.push(Sentence::new(&tokens[start..], ' ', phase));
    }
    found
}

impl Sentence<'_> {
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The word at a place; empty past the ends, and for anything that is no word.
    pub(super) fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.word.as_str())
    }

    pub(super) fn before(&self, at: usize) -> &str {
        if at == 0 { "" } else { self.word(at - 1) }
    }

    pub(super) fn is(&self, at: usize, words: &[&str]) -> bool {
        let word = self.word(at);
        !word.is_empty() && words.contains(&word)
    }

    pub(super) fn mark(&self, at: usize) -> Option<char> {
        match self.tokens.get(at)?.kind {
            Kind::Break(c) => Some(c),
            _ => None,
        }
    }

    pub(super) fn is_code(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Code)
    }

    pub(super) fn is_number(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Number)
    }

    /// Past the last word, or at punctuation.
    pub(super) fn is_edge(&self, at: usize) -> bool {
        at >= self.len() || self.mark(at).is_some()
    }

    /// At the first word, or behind punctuation.
    pub(super) fn is_start(&self, at: usize) -> bool {
        at == 0 || self.mark(at - 1).is_some()
    }

    /// Whether the words of `phrase` stand at a place; gives the place behind them.
    pub(super) fn says(&self, at: usize, phrase: &str) -> Option<usize> {
        let mut end = at;
        let mut rest = phrase;
        loop {
            let word =
                self.tokens.get(end).map(|token| token.word.as_str()).filter(|word| !word.is_empty())?;
            rest = rest.strip_prefix(word)?;
            end += 1;
            if rest.is_empty() {
                return Some(end);
            }
            rest = rest.strip_prefix(' ')?;
        }
    }

    pub(super) fn says_any(&self, at: usize, phrases: &[&str]) -> Option<usize> {
        // The tables are long and most words begin none of their phrases.
        let first = self.word(at).as_bytes().first()?;
        phrases
            .iter()
            .filter(|phrase| phrase.as_bytes().first() == Some(first))
            .find_map(|phrase| self.says(at, phrase))
    }

    /// The first place in a range where one of the phrases begins.
    pub(super) fn find(&self, range: Range<usize>, phrases: &[&str]) -> Option<usize> {
        range.into_iter().find(|at| !self.word(*at).is_empty() && self.says_any(*at, phrases).is_some())
    }

    /// Skips words of a list.
    pub(super) fn skip(&self, mut at: usize, words: &[&str]) -> usize {
        while self.is(at, words) {
            at += 1;
        }
        at
    }

    pub(super) fn span(&self, range: Range<usize>) -> Option<Range<usize>> {
        let tokens = self.tokens.get(range)?;
        Some(tokens.first()?.start..tokens.last()?.end)
    }
}

/// A verb in the past, by its form.
pub(super) fn is_past(word: &str) -> bool {
    (word.len() > 3
        && word.ends_with("ed")
        && !matches!(word, "need" | "speed" | "indeed" | "exceed" | "proceed"))
        || matches!(
            word,
            "did"
                | "built"
                | "wrote"
                | "made"
                | "took"
                | "put"
                | "went"
                | "got"
                | "ran"
                | "reran"
                | "re-ran"
                | "done"
                | "cut"
                | "had"
                | "fixed"
        )
}
