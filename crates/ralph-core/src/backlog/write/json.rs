//! Edits of JSON. A new field or element stands where the one before it stands: on a line of its own with the same
//! indentation, or behind it on the same line.

use super::{NoPlace, Step, Written, line_start, quoted};
use crate::backlog::json::{Field, Value};
use crate::edit::Edit;
use crate::prelude::*;

pub(crate) fn edit(text: &str, item: Value<'_>, step: &Step) -> Result<Edit, NoPlace> {
    match step {
        Step::Set(path, written) => set(text, item, path, written),
        Step::Push(name, written) => match item.get(name) {
            Some(list) if list.first() == b'[' => Ok(push(text, list, written)),
            Some(null) if null.raw() == "null" => {
                set(text, item, &[name], &Written::List(vec![written.clone()]))
            }
            Some(_) => Err(format!("{name} is no list")),
            None => set(text, item, &[name], &Written::List(vec![written.clone()])),
        },
    }
}

fn set(text: &str, object: Value<'_>, path: &[&'static str], written: &Written) -> Result<Edit, NoPlace> {
    let Some((name, rest)) = path.split_first() else { return Err("nothing was named".into()) };
    let fields = object.fields();
    let known = fields.iter().rev().find(|field| field.name == *name);
    match known {
        Some(field) if rest.is_empty() => {
            let style = Style::of(text, &fields, field);
            Ok(Edit::replace(field.value.span(), style.render(written)))
        }
        Some(field) if field.value.first() == b'{' => set(text, field.value, rest, written),
        Some(_) => Err(format!("{name} is no object")),
        None => {
            let inner =
                rest.iter().rev().fold(written.clone(), |inner, name| Written::Map(vec![(*name, inner)]));
            Ok(insert(text, object, &fields, name, &inner))
        }
    }
}

fn insert(text: &str, object: Value<'_>, fields: &[Field<'_>], name: &str, written: &Written) -> Edit {
    let Some(last) = fields.last() else {
        let style = Style { lead: "", colon: ": ", unit: "  ".into() };
        let field = format!("{}: {}", quoted(name), style.render(written));
        return Edit::insert(object.span().start + 1, field);
    };
    let style = Style::of(text, fields, last);
    let field = format!(",{}{}{}{}", style.lead, quoted(name), style.colon, style.render(written));
    Edit::insert(last.value.span().end, field)
}

/// One more element of a list, or of the list of items.
pub(crate) fn push(text: &str, list: Value<'_>, written: &Written) -> Edit {
    let elements = list.elements();
    let start = list.span().start;
    if let Some(last) = elements.last() {
        let lead = space_before(text, last.span().start);
        let style = Style { lead, colon: colon_in(text, *last), unit: unit(text, start, lead) };
        return Edit::insert(last.span().end, format!(",{lead}{}", style.render(written)));
    }
    // Nothing to go by: on lines of its own, where the list's own name stands on one.
    let line = line_start(text, start);
    let indent: String = text[line..].chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    let own_line = text[line..start].trim_start().starts_with('"') && line > 0;
    if !own_line {
        let style = Style { lead: "", colon: ": ", unit: "  ".into() };
        return Edit::replace(list.span(), format!("[{}]", style.render(written)));
    }
    let end = crate::edit::line_end(text);
    let unit = if indent.starts_with('\t') { "\t".into() } else { one_step(text, &indent) };
    let lead = format!("{end}{indent}{unit}");
    let style = Style { lead: &lead, colon: ": ", unit };
    Edit::replace(list.span(), format!("[{lead}{}{end}{indent}]", style.render(written)))
}

/// One step of indentation: that of the file's first indented line.
fn one_step(text: &str, indent: &str) -> String {
    let first = text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    let step: String = first.unwrap_or("  ").chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    if step.len() > 8 || indent.is_empty() && step.is_empty() { "  ".into() } else { step }
}

/// How the fields around are written.
struct Style<'t> {
    /// The white space before a field.
    lead: &'t str,
    colon: &'t str,
    unit: String,
}

impl<'t> Style<'t> {
    fn of(text: &'t str, fields: &[Field<'_>], like: &Field<'_>) -> Self {
        let lead = space_before(text, like.key.start);
        let between = &text[like.key.end..like.value.span().start];
        let colon = if between.contains('\n') { ": " } else { between };
        let start = fields.first().map_or(like.key.start, |first| first.key.start);
        Self { lead, colon, unit: unit(text, text[..start].rfind('{').unwrap_or(0), lead) }
    }

    fn render(&self, written: &Written) -> String {
        let mut out = String::new();
        match self.lead.rfind('\n') {
            Some(end) => {
                let line_end = if self.lead[..end].ends_with('\r') { "\r\n" } else { "\n" };
                self.tall(written, line_end, &self.lead[end + 1..], &mut out);
            }
            None => self.flat(written, &mut out),
        }
        out
    }

    fn tall(&self, written: &Written, line_end: &str, indent: &str, out: &mut String) {
        let inner = format!("{indent}{}", self.unit);
        let open = |out: &mut String, first: bool| {
            out.push_str(if first { "" } else { "," });
            out.push_str(line_end);
            out.push_str(&inner);
        };
        match written {
            Written::List(items) if !items.is_empty() => {
                out.push('[');
                for (nth, item) in items.iter().enumerate() {
                    open(out, nth == 0);
                    self.tall(item, line_end, &inner, out);
                }
                out.push_str(&format!("{line_end}{indent}]"));
            }
            Written::Map(fields) if !fields.is_empty() => {
                out.push('{');
                for (nth, (name, value)) in fields.iter().enumerate() {
                    open(out, nth == 0);
                    out.push_str(&quoted(name));
                    out.push_str(self.colon);
                    self.tall(value, line_end, &inner, out);
                }
                out.push_str(&format!("{line_end}{indent}}}"));
            }
            other => self.flat(other, out),
        }
    }

    fn flat(&self, written: &Written, out: &mut String) {
        let comma = if self.colon == ":" { "," } else { ", " };
        match written {
            Written::Null => out.push_str("null"),
            Written::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Written::Number(number) => out.push_str(&number.to_string()),
            Written::Text(text) => out.push_str(&quoted(text)),
            Written::List(items) => {
                out.push('[');
                for (nth, item) in items.iter().enumerate() {
                    out.push_str(if nth == 0 { "" } else { comma });
                    self.flat(item, out);
                }
                out.push(']');
            }
            Written::Map(fields) => {
                out.push('{');
                for (nth, (name, value)) in fields.iter().enumerate() {
                    out.push_str(if nth == 0 { "" } else { comma });
                    out.push_str(&quoted(name));
                    out.push_str(self.colon);
                    self.flat(value, out);
                }
                out.push('}');
            }
        }
    }
}

/// The white space that ends at a byte.
fn space_before(text: &str, at: usize) -> &str {
    let bare = text[..at].trim_end_matches([' ', '\t', '\r', '\n']);
    &text[bare.len()..at]
}

/// What stands between a name and its value in an element that has fields.
fn colon_in<'t>(text: &'t str, element: Value<'_>) -> &'t str {
    let first = element.fields().into_iter().next();
    let between = first.map(|field| &text[field.key.end..field.value.span().start]);
    between.filter(|between| !between.contains('\n')).unwrap_or(": ")
}

/// One step of indentation: what a field has more than the line that its bracket stands on.
fn unit(text: &str, bracket: usize, lead: &str) -> String {
    let Some(end) = lead.rfind('\n') else { return "  ".into() };
    let inner = &lead[end + 1..];
    let line = line_start(text, bracket);
    let outer: String = text[line..].chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    match inner.strip_prefix(outer.as_str()) {
        Some(step) if !step.is_empty() => step.to_owned(),
        _ => "  ".into(),
    }
}
