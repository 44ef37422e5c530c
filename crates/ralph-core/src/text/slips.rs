//! Slips of the finger.

use crate::prelude::*;

/// How many slips lie between two words: a letter that is another, too much, missing, or exchanged with the next one.
pub fn slips(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (vec![], (0..=b.len()).collect());
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let change = last[j] + usize::from(a[i] != b[j]);
            let mut slips = change.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                slips = slips.min(before[j - 1] + 1);
            }
            row.push(slips);
        }
        before = core::mem::replace(&mut last, row);
    }
    last[b.len()]
}
