//! Whether every row has an answer, and whether what answers it is there.

use std::collections::{BTreeMap, BTreeSet};

use crate::list::{Kind, List, Part, Row};

/// The issues that are still to come. When one is finished, its line goes, and its rows need tests.
const LATER: [&str; 0] = [];

/// A row's own answer, or that of its part.
struct Answer<'a> {
    tests: &'a [String],
    later: Option<&'a str>,
    /// An exception of the seeds, a reason to a complaint.
    excuse: Option<&'a str>,
    wrong_excuse: bool,
}

fn answer<'a>(part: &'a Part, row: &'a Row, kind: Kind) -> Answer<'a> {
    let own = !row.tests.is_empty() || row.later.is_some() || row.exception.is_some() || row.reason.is_some();
    let (tests, later, exception, reason) = if own {
        (&row.tests, &row.later, &row.exception, &row.reason)
    } else {
        (&part.tests, &part.later, &part.exception, &part.reason)
    };
    let (excuse, wrong) = match kind {
        Kind::Seeds => (exception, reason),
        Kind::Complaints => (reason, exception),
    };
    Answer { tests, later: later.as_deref(), excuse: excuse.as_deref(), wrong_excuse: wrong.is_some() }
}

pub(crate) fn faults(list: &List, kind: Kind, tests: &BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    for (part, row) in rows(list) {
        let id = format!("{}.{}", part.id, row.id);
        let answer = answer(part, row, kind);
        if answer.tests.is_empty() && answer.later.is_none() && answer.excuse.is_none() {
            faults.push(format!("{id}: nothing answers it: write a test and name it in `tests`"));
        }
        for name in answer.tests.iter().filter(|name| !tests.contains(name.as_str())) {
            faults.push(format!("{id}: there is no test {name}"));
        }
        if let Some(later) = answer.later.filter(|later| !LATER.contains(later)) {
            faults.push(format!("{id}: '{later}' is none of the issues to come: {}", LATER.join(", ")));
        }
        if answer.excuse.is_some_and(|words| words.trim().is_empty()) {
            faults.push(format!("{id}: say why"));
        }
        if answer.wrong_excuse {
            faults.push(format!("{id}: seeds have `exception`, complaints have `reason`"));
        }
    }
    faults
}

fn rows(list: &List) -> impl Iterator<Item = (&Part, &Row)> {
    list.parts.iter().flat_map(|part| part.rows.iter().map(move |row| (part, row)))
}

/// What answers the rows: of each seed, and of all.
pub(crate) fn figures(list: &List) -> Vec<String> {
    let mut groups: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for (part, row) in rows(list) {
        // One of the two is never there, so that it does not matter whose rows these are.
        let seeds = answer(part, row, Kind::Seeds);
        let excused = seeds.excuse.is_some() || seeds.wrong_excuse;
        let column = match (seeds.later.is_some(), seeds.tests.is_empty()) {
            (true, false) => 1,
            (true, true) => 2,
            (false, _) if excused => 3,
            (false, _) => 0,
        };
        let group = part.id.split('.').next().unwrap_or_default();
        for group in [group, "all"] {
            groups.entry(group).or_default()[column] += 1;
        }
    }
    let line = |(group, [tested, partly, later, excused]): (&&str, &[usize; 4])| {
        let rows = tested + partly + later + excused;
        format!("{group}: {rows} rows: {tested} tested, {partly} partly, {later} later, {excused} exceptions")
    };
    groups.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::list;

    fn with(part: &str, row: &str) -> List {
        list(&format!(
            "[counts]\n[[part]]\nid = '0.a'\n{part}\nrows = [{{ id = 'x', demands = 'one'{row} }}]\n"
        ))
    }

    fn of(part: &str, row: &str) -> Vec<String> {
        faults(&with(part, row), Kind::Seeds, &BTreeSet::from(["ralph::run::it_works".to_owned()]))
    }

    #[test]
    fn tests_or_an_exception_answer_a_row_or_its_part() {
        for answer in ["tests = ['ralph::run::it_works']", "exception = 'so'"] {
            assert_eq!(of(answer, ""), Vec::<String>::new(), "{answer}");
            assert_eq!(of("", &format!(", {answer}")), Vec::<String>::new(), "{answer}");
        }
        assert_eq!(of("tests = ['gone::test']", ", exception = 'so'"), Vec::<String>::new());
    }

    #[test]
    fn what_does_not_answer_is_told() {
        for (part, row, words) in [
            ("", "", "0.a.x: nothing answers it"),
            ("tests = []", "", "nothing answers it"),
            ("", ", tests = ['ralph::run::it_work']", "there is no test ralph::run::it_work"),
            ("tests = ['run::it_works']", "", "there is no test run::it_works"),
            ("later = 'issue 9: dreams'", "", "none of the issues"),
            ("later = 'issue 4: deciding'", "", "none of the issues"),
            ("later = 'issue 7'", "", "none of the issues"),
            ("exception = ' '", "", "say why"),
            ("later = 'issue 7: setup and hook'", "", "none of the issues"),
            ("exception = 'so'\nreason = 'so'", "", "seeds have `exception`"),
        ] {
            let found = of(part, row);
            assert!(found.len() == 1 && found[0].contains(words), "{part}{row}: {found:?}");
        }
        assert_eq!(
            faults(&with("reason = 'so'", ""), Kind::Complaints, &BTreeSet::new()),
            Vec::<String>::new()
        );
    }

    #[test]
    fn figures_tell_tested_partly_later_and_excused_apart() {
        let rows = [
            "tests = ['a']",
            "tests = ['a']\nlater = 'b'",
            "later = 'b'",
            "exception = 'c'",
            "tests = ['a']\nreason = 'c'",
            "later = 'b'\nreason = 'c'",
        ];
        let mut all = with("", "");
        all.parts = rows.iter().flat_map(|row| with(row, "").parts).collect();
        let line = "6 rows: 1 tested, 1 partly, 2 later, 2 exceptions";
        assert_eq!(figures(&all), [format!("0: {line}"), format!("all: {line}")]);
    }
}
