//! The document with an item's requirements (seed 003's PRD), as `schemas/ralph.prd-1.json` describes it.

use serde_json::Value;

use super::detail::section;
use super::model::Unreadable;
use crate::prelude::*;
use crate::time::Time;

/// What a prompt needs of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requirements {
    pub feature_id: String,
    pub title: String,
    pub overview: String,
    pub functional: Vec<String>,
    pub nonfunctional: Vec<String>,
    pub criteria: Vec<String>,
    pub constraints: Vec<String>,
    /// What is missing or wrong in it.
    pub faults: Vec<String>,
}

const TITLE: usize = 5;
const OVERVIEW: usize = 20;

impl Requirements {
    pub fn parse(bytes: &[u8]) -> Result<Self, Unreadable> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|error| Unreadable { line: error.line().max(1), why: "the PRD is no JSON".into() })?;
        let mut found = Self::default();
        let faults = &mut found.faults;
        if !value.is_object() {
            return Err(Unreadable { line: 1, why: "the PRD is no object".into() });
        }
        found.feature_id = text(&value, "feature_id", 1, faults);
        found.title = text(&value, "title", TITLE, faults);
        found.overview = text(&value, "overview", OVERVIEW, faults);
        found.functional = list(&value, "functional_requirements", faults);
        found.criteria = list(&value, "acceptance_criteria", faults);
        found.nonfunctional = lines(&value["nonfunctional_requirements"]);
        found.constraints = lines(&value["constraints"]);
        for name in ["nonfunctional_requirements", "constraints"] {
            if !matches!(value[name], Value::Null | Value::Array(_) | Value::Object(_)) {
                faults.push(format!("{name} is neither a list nor an object"));
            }
        }
        optional(&value, "version", "a version such as 1.0.0", is_semver, faults);
        optional(&value, "last_updated", "a date and time", |text| Time::parse(text).is_some(), faults);
        Ok(found)
    }

    pub(crate) fn words(&self) -> String {
        let mut words = String::new();
        if !self.overview.is_empty() {
            words.push_str(&format!("\n{}\n", self.overview.trim_end()));
        }
        section(&mut words, "What to build", &self.functional);
        section(&mut words, "Acceptance criteria", &self.criteria);
        section(&mut words, "Hard limits", &self.constraints);
        section(&mut words, "Targets", &self.nonfunctional);
        words
    }
}

fn text(value: &Value, name: &str, least: usize, faults: &mut Vec<String>) -> String {
    match &value[name] {
        Value::Null => faults.push(format!("{name} is missing")),
        Value::String(text) if text.chars().count() < least => {
            faults.push(format!("{name} is shorter than {}", crate::text::count(least as u64, "character")));
        }
        Value::String(text) => return text.clone(),
        _ => faults.push(format!("{name} is no text")),
    }
    String::new()
}

/// At least one entry.
fn list(value: &Value, name: &str, faults: &mut Vec<String>) -> Vec<String> {
    match &value[name] {
        Value::Null => faults.push(format!("{name} is missing")),
        Value::Array(entries) if entries.is_empty() => faults.push(format!("{name} is empty")),
        Value::Array(entries) if entries.iter().all(Value::is_string) => return lines(&value[name]),
        _ => faults.push(format!("{name} is no list of texts")),
    }
    Vec::new()
}

fn optional(value: &Value, name: &str, what: &str, right: impl Fn(&str) -> bool, faults: &mut Vec<String>) {
    if !value[name].is_null() && !value[name].as_str().is_some_and(right) {
        faults.push(format!("{name} is not {what}"));
    }
}

/// A list of texts, or an object as `name: value`.
fn lines(value: &Value) -> Vec<String> {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    match value {
        Value::Array(entries) => entries.iter().map(plain).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| format!("{name}: {}", plain(value))).collect()
        }
        _ => Vec::new(),
    }
}

fn is_semver(text: &str) -> bool {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = core.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{
        "$schema": "https://example.org/prd-v1.json", "feature_id": "FEAT-7", "title": "Search",
        "overview": "People find their notes by any word in them.",
        "functional_requirements": ["FR-1: a search field"], "acceptance_criteria": ["AC-1: tests pass"],
        "constraints": {"offline": true, "max": "10 MB"}, "nonfunctional_requirements": ["within 50 ms"],
        "version": "1.2.0", "last_updated": "2026-01-07T00:00:00Z", "more": 1
    }"#;

    #[test]
    fn a_whole_one_has_no_faults_and_reaches_the_words() {
        let prd = Requirements::parse(GOOD.as_bytes()).expect("JSON");
        assert_eq!(prd.faults, Vec::<String>::new());
        let words = prd.words();
        for part in [
            "any word in them",
            "- FR-1: a search field",
            "- AC-1",
            "- max: 10 MB",
            "- offline: true",
            "- within 50 ms",
        ] {
            assert!(words.contains(part), "{part} in {words}");
        }
    }

    #[test]
    fn each_fault_is_named() {
        for (from, to, fault) in [
            ("\"feature_id\": \"FEAT-7\",", "", "feature_id is missing"),
            ("\"Search\"", "\"Find\"", "title is shorter than 5 characters"),
            ("\"Search\"", "7", "title is no text"),
            (
                "People find their notes by any word in them.",
                "Short.",
                "overview is shorter than 20 characters",
            ),
            ("[\"FR-1: a search field\"]", "[]", "functional_requirements is empty"),
            ("[\"FR-1: a search field\"]", "[1]", "functional_requirements is no list of texts"),
            ("\"acceptance_criteria\"", "\"criteria\"", "acceptance_criteria is missing"),
            ("[\"within 50 ms\"]", "5", "nonfunctional_requirements is neither a list nor an object"),
            ("1.2.0", "v1", "version is not a version such as 1.0.0"),
            ("2026-01-07T00:00:00Z", "yesterday", "last_updated is not a date and time"),
        ] {
            let prd = Requirements::parse(GOOD.replace(from, to).as_bytes()).expect("JSON");
            assert_eq!(prd.faults, [fault]);
        }
    }

    #[test]
    fn what_is_no_json_or_no_object_is_unreadable_with_its_line() {
        assert_eq!(Requirements::parse(b"{\n\"a\": }").unwrap_err().line, 2);
        assert!(Requirements::parse(b"[]").is_err());
        assert!(Requirements::parse("\u{feff}{}".as_bytes()).is_ok(), "a mark at the start is no fault");
    }
}
