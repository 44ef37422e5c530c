//! Edits of YAML. A value keeps its quotes; a new field is a line of its own below the last one; flow style stays flow
//! style. What cannot be done in a few bytes is refused.

use super::{NoPlace, Step, Written, line_start, next_line, quoted};
use crate::backlog::node;
use crate::backlog::yaml::{Kind, Node, Style};
use crate::edit::{Edit, line_end};
use crate::prelude::*;

pub(crate) fn edit(text: &str, item: &Node<'_>, step: &Step) -> Result<Edit, NoPlace> {
    match step {
        Step::Set(path, written) => set(text, item, path, written),
        Step::Push(name, written) => match field(item, name) {
            Some((key, list)) => push(text, key, list, written),
            None => set(text, item, &[name], &Written::List(vec![written.clone()])),
        },
    }
}

/// The field of this name; of two the last.
pub(crate) fn field<'n, 'a>(map: &'n Node<'a>, name: &str) -> Option<(&'n Node<'a>, &'n Node<'a>)> {
    let Kind::Map { fields, .. } = &map.kind else { return None };
    let is = |key: &Node<'_>| matches!(&key.kind, Kind::Scalar { text, .. } if text == name);
    fields.iter().rev().find(|(key, _)| is(key)).map(|(key, value)| (key, value))
}

fn set(text: &str, map: &Node<'_>, path: &[&'static str], written: &Written) -> Result<Edit, NoPlace> {
    let Some((name, rest)) = path.split_first() else { return Err("nothing was named".into()) };
    match field(map, name) {
        Some((key, value)) if rest.is_empty() => replace(text, key, value, is_flow(map), written),
        Some((_, value)) if matches!(value.kind, Kind::Map { .. }) => set(text, value, rest, written),
        Some(_) => Err(format!("{name} is no mapping")),
        None => {
            let inner =
                rest.iter().rev().fold(written.clone(), |inner, name| Written::Map(vec![(*name, inner)]));
            insert(text, map, name, &inner)
        }
    }
}

fn is_flow(map: &Node<'_>) -> bool {
    matches!(map.kind, Kind::Map { flow: true, .. } | Kind::List { flow: true, .. })
}

fn replace(
    text: &str,
    key: &Node<'_>,
    value: &Node<'_>,
    flow: bool,
    written: &Written,
) -> Result<Edit, NoPlace> {
    let Kind::Scalar { style, .. } = &value.kind else { return Err("it holds more than one value".into()) };
    match style {
        Style::Block => Err("its value runs over several lines".into()),
        _ if value.span.is_empty() => {
            let colon = text[key.span.end..].find(':').ok_or("there is no colon")?;
            Ok(Edit::insert(key.span.end + colon + 1, format!(" {}", scalar(written, Style::Plain, flow)?)))
        }
        style => Ok(Edit::replace(value.span.clone(), scalar(written, *style, flow)?)),
    }
}

fn insert(text: &str, map: &Node<'_>, name: &str, written: &Written) -> Result<Edit, NoPlace> {
    let Kind::Map { fields, flow } = &map.kind else { return Err("it is no mapping".into()) };
    let Some((first, _)) = fields.first() else { return Err("it is empty".into()) };
    if *flow {
        let style = style_of(first);
        let name = if style == Style::Double { quoted(name) } else { name.to_owned() };
        let end = fields.last().map_or(map.span.end, |(key, value)| value.end().max(key.span.end));
        return Ok(Edit::insert(end, format!(", {name}: {}", inline(written, style))));
    }
    let column = text[line_start(text, first.span.start)..first.span.start].chars().count();
    let indent = " ".repeat(column);
    let mut lines = Vec::new();
    block_field(name, written, &indent, Style::Plain, &mut lines)?;
    Ok(below(text, map.end(), &lines))
}

/// Lines of their own, below the line of a byte.
fn below(text: &str, at: usize, lines: &[String]) -> Edit {
    let end = line_end(text);
    // A text of several lines runs on into the space before what follows.
    let start = line_start(text, at);
    let over = start > 0 && text[start..at].trim().is_empty();
    match if over { Some(start) } else { next_line(text, at) } {
        Some(start) => {
            Edit::insert(start, lines.iter().map(|line| format!("{line}{end}")).collect::<String>())
        }
        None => Edit::insert(text.len(), lines.iter().map(|line| format!("{end}{line}")).collect::<String>()),
    }
}

/// One more element of a list.
pub(crate) fn push(text: &str, key: &Node<'_>, list: &Node<'_>, written: &Written) -> Result<Edit, NoPlace> {
    match &list.kind {
        Kind::List { items, flow: true } => match items.last() {
            Some(last) => Ok(Edit::insert(last.end(), format!(", {}", inline(written, style_within(last))))),
            None => first(text, key, list, written),
        },
        Kind::List { items, flow: false } => {
            let lead = items.iter().rev().find_map(|item| lead_of(text, item.span.start));
            let lead = lead.ok_or("no element stands behind its dash")?;
            let style = items.last().map_or(Style::Plain, style_within);
            Ok(below(text, list.end(), &element(written, &lead, style)?))
        }
        Kind::Scalar { .. } if list.is_null() => first(text, key, list, written),
        _ => Err("it is no list".into()),
    }
}

/// What stands before an element that begins here: its dash, on the same line or with a comment on one above.
fn lead_of(text: &str, start: usize) -> Option<String> {
    let line = line_start(text, start);
    let lead = &text[line..start];
    if lead.trim() == "-" {
        return Some(lead.to_owned());
    }
    let above = text[..line].lines().rev().filter(|_| lead.trim().is_empty());
    let mut above = above.skip_while(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
    let (indent, rest) = above.next()?.split_once('-')?;
    let alone = rest.trim().is_empty() || (rest.starts_with(' ') && rest.trim_start().starts_with('#'));
    (indent.trim().is_empty() && alone).then(|| format!("{indent}- "))
}

/// The first element of a list that was empty or not there: below its name.
fn first(text: &str, key: &Node<'_>, list: &Node<'_>, written: &Written) -> Result<Edit, NoPlace> {
    let column = text[line_start(text, key.span.start)..key.span.start].chars().count();
    let lead = format!("{}- ", " ".repeat(column + 2));
    let lines = element(written, &lead, Style::Double)?;
    let colon = key.span.end + text[key.span.end..].find(':').ok_or("there is no colon")? + 1;
    if list.span.is_empty() {
        return Ok(below(text, colon, &lines));
    }
    // What stood for the empty list goes, with the space before it; a comment behind it stays on its line.
    let end = line_end(text);
    let block: String = lines.iter().map(|line| format!("{end}{line}")).collect();
    let rest = text[list.span.end..].lines().next().unwrap_or_default();
    let (tag, comment) = (text[colon..list.span.start].trim_end(), rest.trim_end());
    Ok(Edit::replace(colon..list.span.end + rest.len(), format!("{tag}{comment}{block}")))
}

/// An element in block style; `lead` has the dash.
fn element(written: &Written, lead: &str, style: Style) -> Result<Vec<String>, NoPlace> {
    let Written::Map(fields) = written else {
        return Ok(vec![format!("{lead}{}", scalar(written, style, false)?)]);
    };
    let indent = " ".repeat(lead.chars().count());
    let mut lines = Vec::new();
    for (name, value) in fields {
        block_field(name, value, &indent, style, &mut lines)?;
    }
    if let Some(first) = lines.first_mut() {
        first.replace_range(..indent.len(), lead);
    }
    Ok(lines)
}

fn block_field(
    name: &str,
    written: &Written,
    indent: &str,
    style: Style,
    lines: &mut Vec<String>,
) -> Result<(), NoPlace> {
    match written {
        Written::List(items) if items.is_empty() => lines.push(format!("{indent}{name}: []")),
        Written::List(items) => {
            lines.push(format!("{indent}{name}:"));
            for item in items {
                lines.extend(element(item, &format!("{indent}  - "), style)?);
            }
        }
        Written::Map(fields) => {
            lines.push(format!("{indent}{name}:"));
            for (name, value) in fields {
                block_field(name, value, &format!("{indent}  "), style, lines)?;
            }
        }
        value => lines.push(format!("{indent}{name}: {}", scalar(value, style, false)?)),
    }
    Ok(())
}

fn inline(written: &Written, style: Style) -> String {
    match written {
        Written::List(items) => {
            format!("[{}]", items.iter().map(|item| inline(item, style)).collect::<Vec<_>>().join(", "))
        }
        Written::Map(fields) => {
            let name = |name: &str| if style == Style::Double { quoted(name) } else { name.to_owned() };
            let fields = fields.iter().map(|(key, value)| format!("{}: {}", name(key), inline(value, style)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        value => scalar(value, style, true).unwrap_or_default(),
    }
}

fn scalar(written: &Written, style: Style, flow: bool) -> Result<String, NoPlace> {
    Ok(match written {
        Written::Null => "null".into(),
        Written::Bool(truth) => truth.to_string(),
        Written::Number(number) => number.to_string(),
        Written::Text(text) => match style {
            Style::Plain if is_plain(text, flow) => text.clone(),
            Style::Single if !text.contains(|c: char| c.is_control()) => {
                format!("'{}'", text.replace('\'', "''"))
            }
            _ => quoted(text),
        },
        _ => return Err("more than one value stands where one was expected".into()),
    })
}

/// How the texts of an element are quoted.
fn style_within(node: &Node<'_>) -> Style {
    match &node.kind {
        Kind::Scalar { .. } => style_of(node),
        Kind::List { items, .. } => items.first().map_or(Style::Plain, style_within),
        Kind::Map { fields, .. } => {
            let named = field(node, "title").or_else(|| field(node, "id"));
            named
                .map(|(_, value)| style_of(value))
                .or_else(|| Some(style_of(&fields.first()?.1)))
                .unwrap_or(Style::Plain)
        }
    }
}

fn style_of(node: &Node<'_>) -> Style {
    match &node.kind {
        Kind::Scalar { style: style @ (Style::Single | Style::Double), .. } => *style,
        _ => Style::Plain,
    }
}

/// Whether a text can stand without quotes and is read as a text by every reader, old ones too.
fn is_plain(text: &str, flow: bool) -> bool {
    const WORDS: [&str; 8] = ["yes", "no", "on", "off", "y", "n", "true", "false"];
    let begins = text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '/');
    let bad = |c: char| c.is_control() || flow && matches!(c, ',' | '[' | ']' | '{' | '}');
    begins
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.contains(bad)
        && quoted(text).len() == text.len() + 2
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
        && node::scalar(text, Style::Plain).is_string()
}
