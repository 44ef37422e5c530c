//! What somebody probably meant, and words that can be typed.

/// As a shell would take it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// What to do about a word that was a slip.
pub fn instead(near: &str, wrong: &str) -> String {
    format!("write {near} instead of {wrong}")
}

/// The known word that is at most two slips of the finger away, and has something in common with this one.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().map(|known| (distance(known, word), known)).min()?;
    let letters = word.chars().count().max(near.1.chars().count());
    (near.0 <= 2 && near.0 < letters).then_some(near.1)
}

/// How many letters must change to get from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_close_and_another_word_is_not() {
        assert_eq!(distance("claude", "claude"), 0);
        assert_eq!(distance("claude", "cluade"), 2);
        assert_eq!(distance("claude", "claud"), 1);
        assert!(distance("claude", "banana") > 2);
    }

    #[test]
    fn the_nearest_word_is_suggested_and_a_far_one_is_not() {
        assert_eq!(nearest("rnu", ["status", "run"]), Some("run"));
        assert_eq!(nearest("elephant", ["status", "run"]), None);
        for (word, other) in [("Z", "A"), ("", "A"), ("xy", "A"), ("T1", "AB")] {
            assert_eq!(nearest(word, [other]), None, "{word} and {other} have nothing in common");
        }
        assert_eq!(nearest("T1", ["A", "T2"]), Some("T2"));
    }
}
