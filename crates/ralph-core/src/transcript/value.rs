//! A JSON value that borrows from its line. Lines come by the hundred thousand and little of each is looked at:
//! strings are copied only where they hold escapes, objects are lists that are searched.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use core::fmt;
use core::ops::Index;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::prelude::*;

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Value<'a> {
    #[default]
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    String(Cow<'a, str>),
    Array(Vec<Value<'a>>),
    Object(Object<'a>),
}

/// In the order of the line, doublets and all.
type Object<'a> = Vec<(Cow<'a, str>, Value<'a>)>;

/// Claude's second copy of what a tool answered: large, and nobody asks for it.
const UNREAD: [&str; 2] = ["tool_use_result", "toolUseResult"];

/// What is not there.
static NULL: Value<'static> = Value::Null;

impl<'a> Value<'a> {
    pub(super) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    pub(super) fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    pub(super) fn as_u64(&self) -> Option<u64> {
        if let Self::Unsigned(number) = self { Some(*number) } else { None }
    }

    pub(super) fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Unsigned(number) => i64::try_from(*number).ok(),
            Self::Signed(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Unsigned(number) => Some(*number as f64),
            Self::Signed(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn as_array(&self) -> Option<&[Value<'a>]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// The names and values of an object as they come, doublets and all.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        let fields = if let Self::Object(fields) = self { fields.as_slice() } else { &[] };
        fields.iter().map(|(name, value)| (&**name, value))
    }

    /// The values of an object, by name.
    pub(super) fn fields(&self) -> impl Iterator<Item = &Value<'a>> {
        self.entries().map(|(_, value)| value)
    }

    /// The names and values of an object; of two with the same name the last.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        let by_name: BTreeMap<&str, &Value<'a>> = self.pairs().into_map();
        by_name.into_iter()
    }
}

/// A field, or null where there is none.
impl<'a> Index<&str> for Value<'a> {
    type Output = Value<'a>;

    fn index(&self, name: &str) -> &Value<'a> {
        let Self::Object(fields) = self else { return &NULL };
        fields.iter().rev().find(|(known, _)| known == name).map_or(&NULL, |(_, value)| value)
    }
}

/// An element, or null where there is none.
impl<'a> Index<usize> for Value<'a> {
    type Output = Value<'a>;

    fn index(&self, at: usize) -> &Value<'a> {
        self.as_array().and_then(|items| items.get(at)).unwrap_or(&NULL)
    }
}

impl PartialEq<&str> for Value<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<bool> for Value<'_> {
    fn eq(&self, other: &bool) -> bool {
        self.as_bool() == Some(*other)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(Value::Unsigned(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'de>, E> {
        Ok(u64::try_from(number).map_or(Value::Signed(number), Value::Unsigned))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value<'de>, E> {
        Ok(Value::Float(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value<'de>, A::Error> {
        let mut fields = Object::with_capacity(8);
        while let Some(Name(name)) = access.next_key()? {
            if UNREAD.contains(&&*name) {
                access.next_value::<IgnoredAny>()?;
            } else {
                fields.push((name, access.next_value()?));
            }
        }
        Ok(Value::Object(fields))
    }
}

/// A field's name. (`Cow` alone is always read as owned.)
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Value<'_> {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn what_is_missing_or_of_another_kind_is_null() {
        let value = read(r#"{"a":[1,{"b":"x"}],"n":null}"#);
        assert_eq!(value["a"][1]["b"], "x");
        assert!(value["a"][7].is_null() && value["a"]["b"].is_null() && value["n"]["c"][0].is_null());
        assert!(value["a"][1].is_object() && !value["a"].is_object());
    }

    #[test]
    fn numbers_are_read_as_serde_json_reads_them() {
        for text in ["0", "7", "-7", "-0", "1.0", "2.5e3", "18446744073709551615", "18446744073709551616"] {
            let (ours, theirs) = (read(text), serde_json::from_str::<serde_json::Value>(text).expect("JSON"));
            assert_eq!(
                (ours.as_u64(), ours.as_i64(), ours.as_f64()),
                (theirs.as_u64(), theirs.as_i64(), theirs.as_f64()),
                "{text}"
            );
        }
    }

    #[test]
    fn of_fields_with_one_name_the_last_counts() {
        let value = read(r#"{"a":1,"b":2,"\u0061":3}"#);
        assert_eq!(value["a"].as_u64(), Some(3));
        assert_eq!(value.fields().filter_map(Value::as_u64).collect::<Vec<_>>(), [3, 2]);
        assert_eq!(read("[1]").fields().count(), 0);
    }

    #[test]
    fn strings_are_copied_only_where_they_hold_escapes() {
        let text = r#"{"plain":"größe","escaped":"a\nb\u00e9"}"#;
        let value = read(text);
        assert!(matches!(&value["plain"], Value::String(Cow::Borrowed("größe"))));
        assert_eq!(value["escaped"], "a\nbé");
    }

    #[test]
    fn what_is_no_json_or_too_deep_is_an_error() {
        for text in ["{", "[1,]", "\"\\ud800\"", "1e999", "nul", "{} {}", "{1:2}"] {
            assert!(serde_json::from_str::<Value<'_>>(text).is_err(), "{text}");
        }
        assert!(serde_json::from_str::<Value<'_>>(&"[".repeat(100_000)).is_err());
    }
}
