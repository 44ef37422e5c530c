//! Words that lead to a report or a promise without giving it.

use crate::prelude::*;

/// "I cannot yet say:", "When it is done I will print:". What stands behind it is not said.
pub(super) fn is_withheld(lead: &str) -> bool {
    const NO: [&str; 9] = ["not", "cannot", "never", "no", "until", "unless", "if", "yet", "without"];
    const LATER: [&str; 6] = ["will", "would", "shall", "should", "could", "may"];
    let lead = lead.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lead.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
    let says = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let later = says(&LATER) || words.iter().any(|word| word.ends_with("'ll") || word.ends_with("'d"));
    says(&NO) || words.iter().any(|word| word.ends_with("n't")) || (later && !says(&["now"]))
}
