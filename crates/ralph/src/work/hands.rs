//! A second thread for a large task file.

use std::num::NonZero;
use std::thread;

use ralph_core::backlog::Hands;

/// Below this a thread costs more than it saves.
const LARGE: usize = 1 << 20;

/// The caller's own, and a thread for as long as there are two things to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TwoHands;

impl Hands for TwoHands {
    fn least(&self) -> usize {
        LARGE
    }

    fn both<A: Send, B: Send>(
        &self,
        one: impl FnOnce() -> A + Send,
        other: impl FnOnce() -> B + Send,
    ) -> (A, Option<B>) {
        match thread::available_parallelism().map_or(1, NonZero::get) {
            1 => (one(), None),
            _ => at_once(one, other),
        }
    }
}

/// A thread that cannot be had, or that fails, is as good as none.
fn at_once<A, B: Send>(one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, Option<B>) {
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, other);
        (one(), other.ok().and_then(|other| other.join().ok()))
    })
}

#[cfg(test)]
mod tests {
    use ralph_core::backlog::{Backlog, Syntax};

    use super::*;

    #[test]
    fn both_are_done_at_once_and_a_thread_that_fails_is_none() {
        let meet = std::sync::Barrier::new(2);
        let (one, other) = at_once(|| meet.wait().is_leader(), || meet.wait().is_leader());
        assert_eq!(Some(!one), other, "neither could go on without the other");
        let fails = || -> u32 { std::panic::resume_unwind(Box::new("a hand")) };
        assert_eq!(at_once(|| 1, fails), (1, None));
    }

    #[test]
    fn a_large_file_is_read_as_by_one() {
        let items: Vec<String> =
            (0..40_000).map(|nth| format!("{{\"id\":\"{nth}\",\"passes\":{}}}", nth % 3 == 0)).collect();
        let mut text = format!("[\n{}\n]", items.join(",\n"));
        assert!(text.len() > LARGE);
        let read = |text: &str| {
            let (one, two) = (
                Backlog::read(text, Syntax::Json),
                Backlog::parse_with(text.as_bytes(), Syntax::Json, &TwoHands),
            );
            assert!(format!("{one:?}") == format!("{two:?}"));
            one.map(|backlog| backlog.items().len()).map_err(|error| error.line)
        };
        assert_eq!(read(&text), Ok(40_000));
        text.insert(text.len() - 10, '"');
        assert_eq!(read(&text), Err(40_001));
    }
}
