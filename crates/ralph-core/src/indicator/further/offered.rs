//! What the agent leaves to the user: "next steps you could take", "possible follow-ups (optional)". No work of its own.

use crate::indicator::sentence::Sentence;

const OFFERS: &[&str] = &[
    "you could",
    "you can",
    "you might",
    "you may",
    "you would",
    "if you want",
    "if you like",
    "if you wish",
    "should you want",
    "one could",
    "one might",
    "for you",
    "up to you",
    "optional",
    "optionally",
    "nice to have",
    "out of scope",
    "outside the scope",
    "not part of this",
];

/// At the head of a list: "Possible next steps".
const POSSIBLE: &[&str] = &["possible", "potential", "optional", "consider", "ideas for"];

/// Whether a sentence offers something instead of announcing it. The agent's own future is an announcement all the same.
pub(in crate::indicator) fn is_offer(s: &Sentence<'_>) -> bool {
    let own =
        s.find(0..s.len(), &["i will", "i still", "i need", "i have to", "we still", "we need"]).is_some();
    !own && (s.find(0..s.len(), OFFERS).is_some() || s.says_any(0, POSSIBLE).is_some())
}
