//! Checking JSON against the schemas in `schemas/`, which are JSON Schema 2020-12.
//!
//! It knows the keywords that they use and refuses any other, so that none is passed over. In one thing it is stricter
//! than the standard: a key that `properties` does not list is a complaint, unless `additionalProperties` allows it.
//! Readers pass over keys they do not know; a writer that adds one has to publish it.

use serde_json::{Map, Value};
use std::fs;
use std::path::PathBuf;

/// One published schema.
#[derive(Debug)]
pub struct Schema {
    root: Value,
}

impl Schema {
    /// By the name that documents carry: `ralph.status/1`.
    #[track_caller]
    pub fn published(name: &str) -> Self {
        let path = folder().join(format!("{}.json", name.replace('/', "-")));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let root: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(root["title"], name, "{}", path.display());
        Schema { root }
    }

    /// From a value, for a schema that is not published.
    pub fn new(root: Value) -> Self {
        Schema { root }
    }

    /// What is wrong with a value: none, if it is as the schema says.
    pub fn complaints(&self, value: &Value) -> Vec<String> {
        let mut complaints = Vec::new();
        self.check(&self.root, value, "", &mut complaints);
        complaints
    }

    #[track_caller]
    pub fn assert(&self, value: &Value) {
        let complaints = self.complaints(value);
        assert!(complaints.is_empty(), "{}\n{value:#}", complaints.join("\n"));
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, complaints: &mut Vec<String>) {
        let keywords = schema.as_object().unwrap_or_else(|| panic!("{at}: a schema is an object: {schema}"));
        for (keyword, wanted) in keywords {
            let wrong = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" => continue,
                "$ref" => {
                    self.check(self.definition(wanted), value, at, complaints);
                    continue;
                }
                "properties" | "additionalProperties" => continue,
                "items" => {
                    for (nth, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, item, &format!("{at}/{nth}"), complaints);
                    }
                    continue;
                }
                "required" => {
                    let object = value.as_object();
                    let missing = list(wanted).iter().filter(|name| {
                        object.is_some_and(|object| !object.contains_key(name.as_str().unwrap_or_default()))
                    });
                    complaints.extend(missing.map(|name| format!("{at}: {name} is missing")));
                    continue;
                }
                "type" => !types(wanted).any(|name| is(value, name)),
                "enum" => !list(wanted).contains(value),
                "const" => wanted != value,
                "minimum" => value.as_f64().zip(wanted.as_f64()).is_some_and(|(value, least)| value < least),
                "minLength" => value
                    .as_str()
                    .zip(wanted.as_u64())
                    .is_some_and(|(text, least)| (text.chars().count() as u64) < least),
                "minItems" => value
                    .as_array()
                    .zip(wanted.as_u64())
                    .is_some_and(|(items, least)| (items.len() as u64) < least),
                "pattern" => value.as_str().is_some_and(|text| !is_version(wanted, text)),
                "format" => value.as_str().is_some_and(|text| !is_time(wanted, text)),
                "anyOf" => {
                    let fits = |branch: &Value| {
                        let mut complaints = Vec::new();
                        self.check(branch, value, at, &mut complaints);
                        complaints.is_empty()
                    };
                    !list(wanted).iter().any(fits)
                }
                other => panic!("{at}: this checker does not know the keyword {other}"),
            };
            if wrong {
                complaints.push(format!("{at}: {value} against {keyword}: {wanted}"));
            }
        }
        if let Some(object) = value.as_object() {
            self.check_properties(keywords, object, at, complaints);
        }
    }

    fn check_properties(
        &self,
        keywords: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
        complaints: &mut Vec<String>,
    ) {
        let Some(known) = keywords.get("properties") else { return };
        for (key, value) in object {
            let at = format!("{at}/{key}");
            match (known.get(key), keywords.get("additionalProperties")) {
                (Some(schema), _) | (None, Some(schema @ Value::Object(_))) => {
                    self.check(schema, value, &at, complaints);
                }
                (None, Some(Value::Bool(true))) => {}
                (None, _) => complaints.push(format!("{at}: the schema does not list this key")),
            }
        }
    }

    fn definition(&self, reference: &Value) -> &Value {
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#'));
        let found = pointer.and_then(|pointer| self.root.pointer(pointer));
        found.unwrap_or_else(|| panic!("{reference} is not in this schema"))
    }
}

fn folder() -> PathBuf {
    // The checkout that is tested need not be the one that was compiled when two share a target folder.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
    PathBuf::from(manifest).join("../../schemas")
}

fn list(wanted: &Value) -> &[Value] {
    wanted.as_array().unwrap_or_else(|| panic!("a list is wanted: {wanted}"))
}

fn types(wanted: &Value) -> impl Iterator<Item = &str> {
    let one = wanted.as_str().into_iter();
    one.chain(wanted.as_array().into_iter().flatten().filter_map(Value::as_str))
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("no type of JSON: {other}"),
    }
}

/// `2026-11-16T00:32:39.120Z`: of all that the format allows, ralph writes this.
fn is_time(format: &Value, text: &str) -> bool {
    assert_eq!(*format, "date-time", "the only format this checker knows");
    const FORM: &str = "0000-00-00T00:00:00.000Z";
    let fits = |(form, c): (char, char)| if form == '0' { c.is_ascii_digit() } else { c == form };
    text.len() == FORM.len() && FORM.chars().zip(text.chars()).all(fits)
}

/// `1.0.0`, `1.0.0-rc.1`
fn is_version(pattern: &Value, text: &str) -> bool {
    let known = "^[0-9]+\\.[0-9]+\\.[0-9]+([-+].*)?$";
    assert_eq!(*pattern, known, "the only pattern this checker knows");
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = core.split('.').collect();
    parts.len() == 3
        && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn wrong(schema: Value, value: &Value, complaint: &str) {
        let complaints = Schema::new(schema).complaints(value);
        assert!(complaints.len() == 1 && complaints[0].contains(complaint), "{complaints:?}");
    }

    #[test]
    fn each_keyword_complains_about_what_does_not_fit() {
        wrong(json!({"type": "integer"}), &json!(1.5), "type");
        wrong(json!({"type": ["string", "null"]}), &json!(true), "type");
        wrong(json!({"enum": ["a", null]}), &json!("b"), "enum");
        wrong(json!({"const": 1}), &json!(2), "const");
        wrong(json!({"minimum": 0}), &json!(-1), "minimum");
        wrong(json!({"format": "date-time"}), &json!("2026-11-16"), "format");
        let version = json!({"pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+([-+].*)?$"});
        for text in ["1.0", "v1.0.0", "1.0.0.0", "1..0", "one"] {
            wrong(version.clone(), &json!(text), "pattern");
        }
        Schema::new(version).assert(&json!("1.0.0-rc.1"));
        wrong(json!({"items": {"type": "string"}}), &json!(["a", 1]), "/1");
        wrong(json!({"required": ["a"]}), &json!({}), "\"a\" is missing");
        wrong(json!({"properties": {"a": {"type": "null"}}}), &json!({"a": 1}), "/a");
        wrong(json!({"properties": {}}), &json!({"b": 1}), "does not list");
        wrong(json!({"properties": {}, "additionalProperties": false}), &json!({"b": 1}), "does not list");
        wrong(json!({"properties": {}, "additionalProperties": {"const": 2}}), &json!({"b": 1}), "/b");
        wrong(json!({"anyOf": [{"const": 1}, {"const": 2}]}), &json!(3), "anyOf");
        wrong(json!({"$ref": "#/$defs/a", "$defs": {"a": {"const": 1}}}), &json!(2), "const");
    }

    #[test]
    fn what_fits_has_no_complaints() {
        let schema = Schema::new(json!({
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"type": ["array", "null"], "items": {"$ref": "#/$defs/time"}}, "b": {"minimum": 0}},
            "$defs": {"time": {"type": "string", "format": "date-time"}}
        }));
        schema.assert(&json!({"a": ["2026-11-16T00:32:39.120Z"], "b": 0}));
        schema.assert(&json!({"a": null}));
    }

    #[test]
    #[should_panic(expected = "does not know the keyword")]
    fn a_keyword_that_is_not_checked_is_refused() {
        Schema::new(json!({"maxLength": 3})).complaints(&json!("abcd"));
    }
}
