//! The lists as they are written: parts with counted rows, each row with an id, a few words and an answer.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Seeds,
    Complaints,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    /// How many rows each part has in the original, which is not in this repository: counted there, by hand.
    pub(crate) counts: BTreeMap<String, usize>,
    #[serde(rename = "part")]
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) id: String,
    /// The answer to the rows that have none of their own.
    #[serde(default)]
    pub(crate) tests: Vec<String>,
    pub(crate) later: Option<String>,
    pub(crate) exception: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) id: String,
    /// What it demands, in our own words.
    pub(crate) demands: String,
    #[serde(default)]
    pub(crate) tests: Vec<String>,
    pub(crate) later: Option<String>,
    pub(crate) exception: Option<String>,
    pub(crate) reason: Option<String>,
}

/// What is wrong with the list itself: rows that are missing, doubled or without words.
pub(crate) fn faults(list: &List) -> Vec<String> {
    let mut faults = Vec::new();
    let mut parts = BTreeSet::new();
    for part in &list.parts {
        if !parts.insert(part.id.as_str()) {
            faults.push(format!("{}: there are two parts of that name", part.id));
        }
        match list.counts.get(&part.id) {
            None => faults.push(format!("{}: [counts] does not say how many rows it has", part.id)),
            Some(count) if *count != part.rows.len() => faults.push(format!(
                "{}: {} rows of {count}: look into the original which one is missing or not there",
                part.id,
                part.rows.len()
            )),
            Some(_) => {}
        }
        let mut ids = BTreeSet::new();
        for row in &part.rows {
            let id = format!("{}.{}", part.id, row.id);
            if !ids.insert(row.id.as_str()) {
                faults.push(format!("{id}: the id is there twice"));
            }
            if !is_id(&id) {
                faults.push(format!("{id}: an id has lower-case letters, digits, dots and hyphens"));
            }
            if row.demands.trim().is_empty() {
                faults.push(format!("{id}: say what it demands"));
            }
        }
    }
    let gone = list.counts.keys().filter(|id| !parts.contains(id.as_str()));
    faults.extend(gone.map(|id| format!("{id}: [counts] names it and it is not there")));
    faults
}

fn is_id(id: &str) -> bool {
    id.split('.').all(|word| !word.is_empty())
        && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-'))
}

#[cfg(test)]
pub(crate) fn list(text: &str) -> List {
    toml::from_str(text).expect("a list")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[counts]\n'0.a' = 2\n[[part]]\nid = '0.a'\nrows = [\n\
        { id = 'x', demands = 'one' },\n{ id = 'y', demands = 'two' },\n]\n";

    fn one_fault(text: &str, words: &str) {
        let faults = faults(&list(text));
        assert!(faults.len() == 1 && faults[0].contains(words), "{words}: {faults:?}");
    }

    #[test]
    fn a_list_with_all_its_rows_passes() {
        assert_eq!(faults(&list(GOOD)), Vec::<String>::new());
    }

    #[test]
    fn a_row_too_few_or_too_many_is_told() {
        one_fault(&GOOD.replace("= 2", "= 3"), "2 rows of 3");
        one_fault(&GOOD.replace("= 2", "= 1"), "2 rows of 1");
    }

    #[test]
    fn a_part_that_is_gone_new_or_doubled_is_told() {
        one_fault(&GOOD.replace("= 2", "= 2\n'0.b' = 1"), "0.b: [counts] names it");
        let mut doubled = list(GOOD);
        doubled.parts.extend(list(GOOD).parts);
        assert_eq!(faults(&doubled), ["0.a: there are two parts of that name"]);
        let new = faults(&list(&GOOD.replace("id = '0.a'", "id = '0.c'")));
        assert_eq!(new.len(), 2, "{new:?}");
    }

    #[test]
    fn a_row_twice_with_a_strange_id_or_without_words_is_told() {
        one_fault(&GOOD.replace("'y'", "'x'"), "0.a.x: the id is there twice");
        one_fault(&GOOD.replace("'y'", "'Row 2'"), "an id has");
        one_fault(&GOOD.replace("'two'", "' '"), "say what it demands");
    }

    #[test]
    fn a_key_that_is_not_known_is_no_list() {
        assert!(
            toml::from_str::<List>(&GOOD.replace("demands = 'two'", "demands = 'two', test = ['a']"))
                .is_err()
        );
    }
}
