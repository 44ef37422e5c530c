//! Secrets out of what is kept and shown: keys of known shapes, and the very values that the environment and `.env`
//! files name as secrets.
//!
//! Values are hidden in an event before anything is decided about it, so that the record, the state and every view agree.
//! What an agent printed stays as it is in its transcript, which only the user can read.

mod assigned;
mod event;
mod exact;
mod login;
mod names;
mod pem;
mod shapes;
mod shown;
mod values;

use alloc::borrow::Cow;
use core::fmt;

use crate::prelude::*;
use exact::{Exact, Values};
pub use values::dotenv;

/// What stands where a secret stood.
const HIDDEN: &str = "[redacted]";
/// How every such mark begins.
const MARK: &str = "[redacted";

/// How many values are kept at most.
pub const MOST: usize = exact::MOST;

/// What must not be told.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    exact: Values,
}

/// Says how many, never which.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.exact.len())
    }
}

impl Secrets {
    /// From the environment, where a name tells a secret, and from `.env` files, where most values are.
    pub fn new(
        environment: impl IntoIterator<Item = (String, String)>,
        dotenv: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let named = environment.into_iter().filter(|(name, value)| values::named(name, value));
        let filed = dotenv.into_iter().filter(|(name, value)| values::filed(name, value));
        let told = named.chain(filed).flat_map(|(name, value)| {
            let (mark, named) = (exact::mark(&values::label(&name)), values::named(&name, &value));
            values::parts(value).into_iter().map(move |value| Exact { value, mark: mark.clone(), named })
        });
        Self { exact: Values::new(Vec::new(), told, 0) }
    }

    /// These too, from now on.
    pub fn also(&mut self, others: Secrets) {
        self.exact.also(others.exact);
    }

    /// How many values were told beyond those that are kept.
    pub fn left_out(&self) -> usize {
        self.exact.left_out()
    }

    /// The text without its secrets.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = self.exact.hide(text).map_or(Cow::Borrowed(text), Cow::Owned);
        match shapes::hide(&text) {
            Some(hidden) => Cow::Owned(hidden),
            None => text,
        }
    }

    pub fn hide_in(&self, text: &mut String) {
        if let Cow::Owned(hidden) = self.hide(text) {
            *text = hidden;
        }
    }

    fn hide_maybe(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.hide_in(text);
        }
    }

    fn hide_all(&self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| self.hide_in(text));
    }
}

/// What looks like a secret, whoever's it is.
pub fn shapes(text: &str) -> Cow<'_, str> {
    shapes::hide(text).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// A command as it may be shown, on a line. It is kept as it is in the plan, for a run that is continued starts it again.
pub fn command(command: &str, most: usize) -> String {
    crate::text::one_line(&shapes(command), most)
}

#[cfg(test)]
mod tests;
