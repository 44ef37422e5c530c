//! A second hand for what is large. Core has no threads: whoever calls may lend one, and what comes out is the same.

use core::ops::Range;

use crate::prelude::*;

/// Who does the work. What is long is no generic function: those are built with the caller's crate, which may be built
/// for size.
pub trait Hands {
    /// From how many bytes of text on a second hand is worth its while.
    fn least(&self) -> usize;

    /// Does both at once; only the first where nobody is there for the other.
    fn both<A: Send, B: Send>(
        &self,
        one: impl FnOnce() -> A + Send,
        other: impl FnOnce() -> B + Send,
    ) -> (A, Option<B>);
}

/// Nobody but the caller.
#[derive(Debug, Clone, Copy)]
pub struct OneHand;

impl Hands for OneHand {
    fn least(&self) -> usize {
        usize::MAX
    }

    fn both<A: Send, B: Send>(
        &self,
        one: impl FnOnce() -> A + Send,
        _: impl FnOnce() -> B + Send,
    ) -> (A, Option<B>) {
        (one(), None)
    }
}

/// Goes over `count` items of a text, in two halves where that is worth it; what came of each, in order.
pub(super) fn in_halves<T: Send>(
    hands: &impl Hands,
    text: &str,
    count: usize,
    part: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    if text.len() < hands.least() {
        return vec![part(0..count)];
    }
    let (first, second) = (0..count / 2, count / 2..count);
    let (one, other) = hands.both(|| part(first), || part(second.clone()));
    vec![one, other.unwrap_or_else(|| part(second))]
}
