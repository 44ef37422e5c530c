//! Completion indicators: the words by which an agent says, in prose, that the whole is done.
//!
//! They are looked for only in the prose of the agent's final message, never in what it declares (status
//! block, marker lines, promise), shows (code) or quotes, so that they are independent of the declaration. What it
//! narrates while it works ("Let me look at the module first.") neither counts nor cancels. A message is
//! cut into segments, sentences and words; a claim is a whole ("all tasks", "everything", "the project")
//! with a word of completion, or the absence of work ("nothing left to do"). A claim that is negated,
//! conditional, partial, future, asked or somebody else's does not count, and a sentence that announces
//! further work cancels all of them. A wrong "done" ends a run early while a missed one costs an
//! iteration, so where language is ambiguous nothing is counted.

mod claims;
mod doubts;
mod further;
mod segments;
mod sentence;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

use core::ops::ControlFlow;

use crate::prelude::*;
use crate::text;
use further::Outlook;
use segments::{Segment, Shape};
use sentence::Sentence;

/// What a message says about being done.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Indicators {
    /// 0 when cancelled.
    pub count: u32,
    /// The words that counted, as written; at most 20 of them.
    pub phrases: Vec<String>,
    /// The sentence that announces further work.
    pub cancelled_by: Option<String>,
}

const MOST_PHRASES: usize = 20;
const LONGEST_PHRASE: usize = 200;

/// Counts the completion indicators in an agent's final message, which may come in parts.
pub fn indicators(words: &str) -> Indicators {
    count(words, Context::default())
}

/// What is known about words beside them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context {
    /// No tool call parts what the agent narrates from its final message: an announcement is narration if a later
    /// paragraph says something else.
    pub plain_text: bool,
    /// The phase that the report says is done.
    pub phase: Option<u32>,
}

pub fn count(words: &str, context: Context) -> Indicators {
    let Context { plain_text, phase } = context;
    let mut reading = Reading { phase, ..Reading::default() };
    for message in text::messages(words) {
        let mut begins = true;
        segments::segments(message, &mut |segment| {
            if plain_text && (begins || segment.after_gap) {
                reading.leave_narration();
            }
            begins = false;
            reading.segment(&segment);
            if plain_text {
                return ControlFlow::Continue(());
            }
            // Most long messages announce something early on, and what is cancelled stays so.
            if reading.found.cancelled_by.is_some() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if reading.found.cancelled_by.is_some() && !plain_text {
            break;
        }
    }
    reading.finish()
}

/// What a heading or lead-in makes of the claims below it.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Lead {
    #[default]
    Plain,
    /// Items that are not ticked do not count.
    ListDoubted,
    /// Nothing that is not ticked counts.
    Doubted,
}

#[derive(Default)]
struct Reading {
    found: Indicators,
    /// How many claims the sentence before made; the next one may take them back.
    fresh: u32,
    /// A heading ("Acceptance criteria") or a lead-in ("The notes claim:") under which nothing is the
    /// agent's own statement.
    heading: Lead,
    lead: Lead,
    /// A label that announces further work, unless "None" follows.
    announced: Option<String>,
    phase: Option<u32>,
}

impl Reading {
    fn segment(&mut self, segment: &Segment) {
        if segment.shape == Shape::Unticked {
            self.cancel(&segment.text);
            return;
        }
        let tokens = tokens::tokens(&segment.text);
        let sentences = sentence::sentences(&tokens, self.phase);
        for sentence in &sentences {
            self.sentence(segment, sentence);
        }
        let leads = tokens.last().is_some_and(|last| last.kind == tokens::Kind::Break(':'));
        let lead = match sentences.last() {
            _ if !leads && segment.shape != Shape::Heading => Lead::Plain,
            Some(last) if doubts::leads_astray(last) => Lead::Doubted,
            Some(last) if doubts::leads_list(last) => Lead::ListDoubted,
            _ => Lead::Plain,
        };
        match segment.shape {
            Shape::Heading => (self.heading, self.lead) = (lead, Lead::Plain),
            Shape::Paragraph => self.lead = lead,
            _ => {}
        }
    }

    fn sentence(&mut self, segment: &Segment, sentence: &Sentence<'_>) {
        let line = || sentence.span(0..sentence.len()).map_or("", |span| &segment.text[span]);
        if let Some(label) = self.announced.take()
            && !further::says_none(sentence)
            && !further::is_offer(sentence)
        {
            self.cancel(&label);
        }
        if doubts::takes_back(sentence) {
            self.take_back();
        }
        match further::outlook(sentence, segment.shape == Shape::Heading) {
            Outlook::Quiet => {}
            Outlook::More => self.cancel(line()),
            Outlook::Label => self.announced = Some(text::one_line(line(), LONGEST_PHRASE)),
        }
        self.fresh = 0;
        let doubted = match segment.shape {
            Shape::Ticked => false,
            Shape::Item => self.heading != Lead::Plain || self.lead != Lead::Plain,
            _ => self.heading == Lead::Doubted,
        };
        if doubted {
            return;
        }
        for claim in doubts::standing(sentence, claims::claims(sentence)) {
            self.fresh += 1;
            self.found.count = self.found.count.saturating_add(1);
            if self.found.phrases.len() < MOST_PHRASES
                && let Some(span) = sentence.span(claim.range)
            {
                self.found.phrases.push(text::one_line(&segment.text[span], LONGEST_PHRASE));
            }
        }
    }

    /// A new paragraph: what was announced before it is not what the agent ends with.
    fn leave_narration(&mut self) {
        if self.found.cancelled_by.is_some() {
            *self = Self { phase: self.phase, ..Self::default() };
        }
    }

    fn take_back(&mut self) {
        let before = self.found.count.saturating_sub(self.fresh);
        self.found.count = before;
        self.found.phrases.truncate(usize::try_from(before).unwrap_or(usize::MAX));
    }

    fn cancel(&mut self, line: &str) {
        self.found.cancelled_by.get_or_insert_with(|| text::one_line(line, LONGEST_PHRASE));
    }

    fn finish(mut self) -> Indicators {
        if let Some(label) = self.announced.take() {
            self.cancel(&label);
        }
        if self.found.cancelled_by.is_some() {
            self.found.count = 0;
            self.found.phrases.clear();
        }
        self.found
    }
}
