//! A place in a task file, be it JSON or YAML: what is there, and its bytes.

use alloc::borrow::Cow;
use core::ops::Range;

use super::{json, yaml};
use crate::prelude::*;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Node<'t, 'a> {
    Json(json::Value<'a>),
    Yaml(&'t yaml::Node<'a>),
}

/// A name and what it stands for.
pub(crate) type Named<'t, 'a> = (Cow<'a, str>, Node<'t, 'a>);

impl<'t, 'a> Node<'t, 'a> {
    /// A text. In YAML a number or a word such as `yes` that stands where a text is expected is one, as it is written.
    pub(crate) fn str(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::Json(value) => value.str(),
            Self::Yaml(node) => match &node.kind {
                yaml::Kind::Scalar { text, .. } if !node.is_null() => Some(text.clone()),
                _ => None,
            },
        }
    }

    /// Whether it is a text, without reading it.
    pub(crate) fn is_text(&self) -> bool {
        match self {
            Self::Json(value) => value.first() == b'"',
            Self::Yaml(node) => matches!(node.kind, yaml::Kind::Scalar { .. }) && !node.is_null(),
        }
    }

    pub(crate) fn bool(&self) -> Option<bool> {
        match self {
            Self::Json(value) => match value.raw() {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            },
            Self::Yaml(node) => node.bool(),
        }
    }

    /// A whole number.
    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Self::Json(value) => whole(value.raw()),
            Self::Yaml(node) => whole(node.plain()?),
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        match self {
            Self::Json(value) => value.raw() == "null",
            Self::Yaml(node) => node.is_null(),
        }
    }

    pub(crate) fn is_map(&self) -> bool {
        match self {
            Self::Json(value) => value.first() == b'{',
            Self::Yaml(node) => matches!(node.kind, yaml::Kind::Map { .. }),
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        match self {
            Self::Json(value) => value.first() == b'[',
            Self::Yaml(node) => matches!(node.kind, yaml::Kind::List { .. }),
        }
    }

    pub(crate) fn fields(&self) -> Vec<Named<'t, 'a>> {
        match self {
            Self::Json(value) => {
                value.fields().into_iter().map(|field| (field.name, Node::Json(field.value))).collect()
            }
            Self::Yaml(node) => match &node.kind {
                yaml::Kind::Map { fields, .. } => fields.iter().map(named).collect(),
                _ => Vec::new(),
            },
        }
    }

    /// The same, one after the other.
    pub(crate) fn each_field(&self, mut each: impl FnMut(Cow<'a, str>, Node<'t, 'a>)) {
        match self {
            Self::Json(value) => value.each_field(|name, value| each(name, Node::Json(value))),
            Self::Yaml(_) => self.fields().into_iter().for_each(|(name, node)| each(name, node)),
        }
    }

    /// The same where it is known in JSON from where to where one of the values goes.
    pub(crate) fn each_field_over(
        &self,
        known: &Range<usize>,
        mut each: impl FnMut(Cow<'a, str>, Node<'t, 'a>),
    ) {
        match self {
            Self::Json(value) => value.each_field_over(known, |name, value| each(name, Node::Json(value))),
            Self::Yaml(_) => self.each_field(each),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Node<'t, 'a>> {
        match self {
            Self::Json(value) => value.get(name).map(Node::Json),
            Self::Yaml(_) => self.fields().into_iter().rev().find(|(known, _)| known == name).map(|(_, n)| n),
        }
    }

    pub(crate) fn elements(&self) -> Vec<Node<'t, 'a>> {
        match self {
            Self::Json(value) => value.elements().into_iter().map(Node::Json).collect(),
            Self::Yaml(node) => match &node.kind {
                yaml::Kind::List { items, .. } => items.iter().map(Node::Yaml).collect(),
                _ => Vec::new(),
            },
        }
    }

    /// The same, one after the other.
    pub(crate) fn each_element(&self, mut each: impl FnMut(Node<'t, 'a>)) {
        match self {
            Self::Json(value) => value.each_element(|value| each(Node::Json(value))),
            Self::Yaml(_) => self.elements().into_iter().for_each(each),
        }
    }

    /// The first element that is like this.
    pub(crate) fn first_element(&self, like: impl Fn(&Node<'t, 'a>) -> bool) -> Option<Node<'t, 'a>> {
        let mut found = None;
        self.each_element(|element| {
            if found.is_none() && like(&element) {
                found = Some(element);
            }
        });
        found
    }

    pub(crate) fn nth(&self, nth: usize) -> Option<Node<'t, 'a>> {
        match self {
            Self::Yaml(yaml::Node { kind: yaml::Kind::List { items, .. }, .. }) => {
                items.get(nth).map(Node::Yaml)
            }
            _ => self.elements().get(nth).copied(),
        }
    }

    /// The texts of a list; one text alone is a list of it.
    pub(crate) fn texts(&self) -> Vec<Cow<'a, str>> {
        match self.str() {
            Some(text) => vec![text],
            None => self.elements().iter().filter_map(Node::str).collect(),
        }
    }

    pub(crate) fn span(&self) -> Range<usize> {
        match self {
            Self::Json(value) => value.span(),
            Self::Yaml(node) => node.span.start..node.end(),
        }
    }

    /// As it is written, for somebody who is to correct it.
    pub(crate) fn shown(&self) -> String {
        crate::text::one_line(&self.value().to_string(), 60)
    }

    /// As a value without its place, to be shown or compared.
    pub(crate) fn value(&self) -> serde_json::Value {
        match self {
            Self::Json(value) => serde_json::from_str(value.raw()).unwrap_or_default(),
            Self::Yaml(node) => match &node.kind {
                yaml::Kind::Scalar { text, style } => scalar(text, *style),
                yaml::Kind::List { .. } => self.elements().iter().map(Node::value).collect(),
                yaml::Kind::Map { .. } => self
                    .fields()
                    .iter()
                    .map(|(name, node)| (name.clone().into_owned(), node.value()))
                    .collect(),
            },
        }
    }
}

pub(crate) fn named<'t, 'a>((key, value): &'t (yaml::Node<'a>, yaml::Node<'a>)) -> Named<'t, 'a> {
    let name = match &key.kind {
        yaml::Kind::Scalar { text, .. } => text.clone(),
        _ => Cow::Borrowed(""),
    };
    (name, Node::Yaml(value))
}

/// A whole number, also one that is written as 2.0.
fn whole(text: &str) -> Option<i64> {
    text.strip_suffix(".0").unwrap_or(text).parse().ok()
}

/// What YAML 1.2's core schema makes of a scalar.
pub(crate) fn scalar(text: &str, style: yaml::Style) -> serde_json::Value {
    use serde_json::Value;
    if style != yaml::Style::Plain {
        return text.into();
    }
    if yaml::is_null(text) {
        return Value::Null;
    }
    if let Some(truth) = yaml::bool_of(text) {
        return truth.into();
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return text.into();
    }
    if let Ok(number) = text.trim_start_matches('+').parse::<i64>() {
        return number.into();
    }
    if text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'))
        && let Ok(number) = text.parse::<f64>()
        && let Some(number) = serde_json::Number::from_f64(number)
    {
        return Value::Number(number);
    }
    text.into()
}
