//! The list of a JSON file, element after element. Where there is a second hand it begins in the middle, at what looks
//! like an element; what it reads counts only if the first hand arrives there and finds an element beginning. So it
//! makes no difference to what is read.

use core::sync::atomic::{AtomicBool, Ordering};

use super::fields::Gathered;
use super::hands::Hands;
use super::json::{Fault, Field, Walk};
use super::model::{Problem, Shape};
use super::node::Node;
use crate::edit::LineCount;
use crate::prelude::*;

/// How much of the text is searched for a place to begin in, at least; else an eighth of it.
const NEAR: usize = 1 << 16;

/// Reads the list that begins here, to its end.
pub(super) fn read<'a>(
    walk: &mut Walk<'a>,
    text: &'a str,
    shape: Shape,
    hands: &impl Hands,
) -> Result<Gathered<'a>, Fault> {
    if !walk.enter() {
        return Ok(Gathered::new(shape));
    }
    let mut part = Part::new(text, shape, walk.at);
    match middle(text, walk.at, hands.least()) {
        Some(middle) => part = in_two(part, middle, hands)?,
        None => part.finish()?,
    }
    walk.at = part.walk.at;
    Ok(part.gathered)
}

/// Some elements of the list, one behind the other.
#[derive(Debug)]
struct Part<'a> {
    text: &'a str,
    walk: Walk<'a>,
    lines: LineCount<'a>,
    fields: Vec<Field<'a>>,
    gathered: Gathered<'a>,
    /// How many there are; some are no items.
    count: usize,
}

impl<'a> Part<'a> {
    fn new(text: &'a str, shape: Shape, at: usize) -> Self {
        let mut walk = Walk::new(text);
        walk.at = at;
        let (lines, gathered) = (LineCount::new(text), Gathered::new(shape));
        Self { text, walk, lines, fields: Vec::new(), gathered, count: 0 }
    }

    fn finish(&mut self) -> Result<(), Fault> {
        while self.one_more()? {}
        Ok(())
    }

    /// Reads up to the element that begins at `middle`; where none does, to the end, which it tells.
    fn to(&mut self, middle: usize, missed: &AtomicBool) -> Result<bool, Fault> {
        while self.walk.at != middle {
            if self.walk.at > middle {
                missed.store(true, Ordering::Relaxed);
            }
            if !self.one_more()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads to the end, as long as anybody wants to have it.
    fn unless(&mut self, missed: &AtomicBool) -> Result<(), Fault> {
        while !missed.load(Ordering::Relaxed) && self.one_more()? {}
        Ok(())
    }

    /// Reads an element; tells whether another one follows.
    fn one_more(&mut self) -> Result<bool, Fault> {
        self.element()?;
        self.walk.another()
    }

    fn element(&mut self) -> Result<(), Fault> {
        let lines = &mut self.lines;
        if self.walk.peek() == b'{' {
            let span = self.walk.item(&mut self.fields)?.span();
            let named = self.fields.drain(..).map(|field| (field.name, Node::Json(field.value)));
            let start = span.start;
            self.gathered.item(named, span, self.count, || lines.of(start));
        } else {
            let line = lines.of(self.walk.any()?.span().start);
            self.gathered.problems.push(Problem::NoItem { line });
        }
        self.count += 1;
        Ok(())
    }

    /// Takes over what was read from here to the end of the list; not if it would have been read differently.
    fn join(&mut self, rest: Self) -> bool {
        let joined = self.gathered.join(rest.gathered, self.count);
        if joined {
            self.walk = rest.walk;
        }
        joined
    }
}

fn in_two<'a>(mut part: Part<'a>, middle: usize, hands: &impl Hands) -> Result<Part<'a>, Fault> {
    let mut rest = Part::new(part.text, part.gathered.shape(), middle);
    // Nobody will arrive in the middle: then the second hand need not go on.
    let missed = AtomicBool::new(false);
    let one = || {
        let ended = part.to(middle, &missed);
        missed.store(ended != Ok(false), Ordering::Relaxed);
        ended.map(|ended| (part, ended))
    };
    let other = || rest.unless(&missed).map(|()| rest);
    let (one, other) = hands.both(one, other);
    let (mut part, ended) = one?;
    if !ended && !other.transpose()?.is_some_and(|rest| part.join(rest)) {
        part.finish()?;
    }
    Ok(part)
}

/// Where an element seems to begin near the middle of what is left: on a line of its own, indented as the first one is,
/// and behind a comma. No string goes over the end of a line, so it is in none.
fn middle(text: &str, first: usize, least: usize) -> Option<usize> {
    let left = text.len().saturating_sub(first);
    if left < least {
        return None;
    }
    let (_, indent) = text.get(..first)?.rsplit_once('\n')?;
    if !indent.bytes().all(|byte| matches!(byte, b' ' | b'\t')) {
        return None;
    }
    let opening = format!("\n{indent}{{");
    let start = text.floor_char_boundary(first + left / 2);
    let end = text.floor_char_boundary(start + NEAR.max(left / 8));
    let mut found = text.get(start..end)?.match_indices(&opening).map(|(at, _)| start + at);
    let line_end = found.find(|at| text[..*at].trim_ascii_end().ends_with(','))?;
    Some(line_end + opening.len() - 1)
}

#[cfg(test)]
mod tests;
