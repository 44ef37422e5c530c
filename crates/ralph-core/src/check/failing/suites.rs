//! Tests within suites: TAP, and the marks that runners put before a test.
//!
//! A suite fails with its tests, under a name of its own, after them. It was opened under that name before them, so that it
//! can be told from a test.

use alloc::borrow::Cow;

use super::Found;
use super::single::untimed;
use crate::prelude::*;

/// Nobody nests deeper, and nobody else may make this grow.
const DEEPEST: usize = 50;

#[derive(Debug, Default)]
pub(super) struct Suites {
    open: Vec<Suite>,
}

#[derive(Debug)]
struct Suite {
    indent: usize,
    name: String,
    /// A test in it failed.
    failed: bool,
}

impl Suites {
    pub(super) fn read<'l>(&mut self, line: &'l str) -> Option<Found<'l>> {
        let said = line.trim_start();
        let indent = line.len() - said.len();
        let said = said.trim_end();
        if let Some(name) = said.strip_prefix("# Subtest: ").or_else(|| said.strip_prefix("▶ ")) {
            self.open.retain(|suite| suite.indent < indent);
            if self.open.len() < DEEPEST {
                self.open.push(Suite { indent, name: unescaped(name).into_owned(), failed: false });
            }
            return None;
        }
        let found = tap(said).or_else(|| marked(said))?;
        self.open.retain(|suite| suite.indent <= indent);
        let of_tests = |suite: &Suite| suite.indent == indent && suite.failed && suite.name == found.name;
        let suite = self.open.last().is_some_and(of_tests);
        self.open.retain(|suite| suite.indent < indent);
        self.open.iter_mut().for_each(|suite| suite.failed = true);
        (!suite).then_some(found)
    }
}

/// `not ok 2 - greets by name # TODO later`; a TODO failure is no failure.
fn tap(said: &str) -> Option<Found<'_>> {
    let rest = said.strip_prefix("not ok ")?;
    let (number, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    let rest = rest.trim_start();
    let name = rest.strip_prefix("- ");
    if number.is_empty() && name.is_none() {
        return None;
    }
    let name = name.unwrap_or(rest);
    // A `#` of the name itself is written `\#`, by those who know.
    let directive = name.match_indices('#').find_map(|(at, _)| {
        let word = name[at + 1..].trim_start().to_ascii_uppercase();
        let kind = ["TODO", "SKIP", "TIME=", "DURATION_MS"].into_iter().find(|kind| word.starts_with(kind));
        kind.filter(|_| !name[..at].ends_with('\\')).map(|kind| (at, kind))
    });
    match directive {
        Some((_, "TODO" | "SKIP")) => None,
        Some((at, _)) => Some(Found::short(unescaped(name[..at].trim_end()))),
        None => Some(Found::short(unescaped(name))),
    }
}

fn unescaped(name: &str) -> Cow<'_, str> {
    match name.contains("\\#") {
        true => name.replace("\\#", "#").into(),
        false => name.into(),
    }
}

/// `✕ greets by name (3 ms)` of jest, `✖ greets by name (1.2ms)` of node, vitest's `× greets by name 3ms`, which others put
/// before any error, `✗ greets by name [0.42ms]` of bun, `✘ [fail]: greets by name` of ava; not their headings.
fn marked(said: &str) -> Option<Found<'_>> {
    let mut chars = said.chars();
    let mark = chars.next().filter(|mark| "✕✖×✗✘".contains(*mark))?;
    let rest = chars.as_str().strip_prefix(' ')?.trim_start();
    if let Some(rest) = rest.strip_prefix("[fail]: ") {
        const WHY: [&str; 2] = [" Error thrown in test", " Rejected promise returned by test"];
        let name = WHY.iter().find_map(|why| rest.strip_suffix(why)).unwrap_or(rest);
        return Some(Found::whole(name));
    }
    let (named, directive) = rest.rsplit_once(" # ").unwrap_or((rest, ""));
    let excused = ["TODO", "SKIP"].iter().any(|word| directive.starts_with(word));
    if excused && untimed(named).len() < named.len() {
        return None;
    }
    let name = untimed(rest);
    let counted = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let count = counted.len() < rest.len()
        && [" fail", " problem", " error", " warning"].iter().any(|word| counted.starts_with(word));
    let sure = mark != '×' || name.len() < rest.len();
    (sure && !count && rest != "failing tests:").then(|| Found::short(name))
}
