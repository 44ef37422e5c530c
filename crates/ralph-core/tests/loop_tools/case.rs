//! Inputs with what is to be read in them, as the files of this folder write them down.

use std::path::Path;

use serde_json::Value;

pub(crate) struct Case {
    pub(crate) name: String,
    /// `path = JSON`, `path ~ words in it`, `path empty`.
    pub(crate) expected: Vec<String>,
    pub(crate) input: String,
}

/// Every case with the name of its file.
pub(crate) fn cases(folder: &Path) -> Vec<(String, Case)> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("a file of cases");
        for case in text.split("=== ").skip(1) {
            let (heading, mut rest) = case.split_once('\n').expect("a heading");
            let mut expected = Vec::new();
            while let Some((line, below)) = rest.strip_prefix("? ").and_then(|rest| rest.split_once('\n')) {
                expected.push(line.to_owned());
                rest = below;
            }
            assert!(!expected.is_empty(), "{name}: {heading} expects nothing");
            let input = format!("{}\n", rest.trim_end_matches('\n'));
            cases.push((name.clone(), Case { name: heading.to_owned(), expected, input }));
        }
    }
    cases
}

/// What an analysis does not say as the case expects.
pub(crate) fn differences(case: &Case, analysis: &Value) -> Vec<String> {
    let at = |path: &str| {
        path.split('.').fold(analysis, |value, key| match key.parse::<usize>() {
            Ok(nth) => &value[nth],
            Err(_) => &value[key],
        })
    };
    let holds = |expected: &str| {
        if let Some((path, json)) = expected.split_once(" = ") {
            let expected: Value = serde_json::from_str(json).expect("JSON");
            return (*at(path) == expected, at(path));
        }
        if let Some((path, words)) = expected.split_once(" ~ ") {
            return (at(path).to_string().contains(words.trim_matches('"')), at(path));
        }
        let path = expected.strip_suffix(" empty").expect("an expectation");
        (at(path).as_array().is_none_or(Vec::is_empty), at(path))
    };
    let wrong = case.expected.iter().map(|expected| (expected, holds(expected)));
    wrong
        .filter(|(_, (held, _))| !held)
        .map(|(expected, (_, is))| format!("{expected}, and is {is}"))
        .collect()
}
