//! An item out of its fields, whatever the dialect calls them.

use alloc::borrow::Cow;
use core::ops::Range;

use super::beads;
use super::model::{Item, Limit, Problem, Shape, State, id_of};
use super::moves;
use super::node::Node;
use crate::prelude::*;

/// What the reading of one list gathers beside its items.
#[derive(Debug)]
pub(crate) struct Gathered<'a> {
    pub(crate) items: Vec<Item<'a>>,
    pub(crate) problems: Vec<Problem>,
    /// In the order in which they are first named.
    pub(crate) phases: Vec<Cow<'a, str>>,
    /// How often a text was met that an id is made of.
    texts: alloc::collections::BTreeMap<u64, u32>,
    /// Items that say which others wait for them, and those others.
    blocks: Vec<(usize, Vec<Cow<'a, str>>)>,
    shape: Shape,
    /// What the items are, where they are not what the name of their list says.
    other: Option<Shape>,
}

/// The names that an item's fields have in one dialect or another.
#[derive(Debug, Default)]
struct Seen<'t, 'a> {
    id: Option<Node<'t, 'a>>,
    title: Option<Node<'t, 'a>>,
    name: Option<Node<'t, 'a>>,
    description: Option<Node<'t, 'a>>,
    status: Option<Node<'t, 'a>>,
    passes: Option<Node<'t, 'a>>,
    completed: Option<Node<'t, 'a>>,
    priority: Option<Node<'t, 'a>>,
    phase: Option<Node<'t, 'a>>,
    dependencies: Option<Node<'t, 'a>>,
    ralph_loop: Option<Node<'t, 'a>>,
    attempts: Option<Node<'t, 'a>>,
    prd: Option<Node<'t, 'a>>,
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            items: Vec::new(),
            problems: Vec::new(),
            phases: Vec::new(),
            texts: alloc::collections::BTreeMap::new(),
            blocks: Vec::new(),
            shape,
            other: None,
        }
    }

    /// Reads one item. `line` tells where it is, if that is asked for.
    pub(crate) fn item<'t>(
        &mut self,
        fields: impl Iterator<Item = (Cow<'a, str>, Node<'t, 'a>)>,
        span: Range<usize>,
        nth: usize,
        mut line: impl FnMut() -> usize,
    ) where
        'a: 't,
    {
        let mut seen = Seen::default();
        for (name, node) in fields {
            // As bytes: a tree of comparisons rather than one after the other.
            let place = match name.as_bytes() {
                b"id" => &mut seen.id,
                b"title" => &mut seen.title,
                b"name" => &mut seen.name,
                b"description" => &mut seen.description,
                b"status" => &mut seen.status,
                b"passes" => &mut seen.passes,
                b"completed" => &mut seen.completed,
                b"priority" => &mut seen.priority,
                b"phase" => &mut seen.phase,
                b"dependencies" | b"dependsOn" | b"depends_on" => &mut seen.dependencies,
                b"ralph_loop" => &mut seen.ralph_loop,
                b"attempts" => &mut seen.attempts,
                b"prd_reference" => &mut seen.prd,
                _ => continue,
            };
            *place = Some(node);
        }
        if self.shape == Shape::FeatureArray && self.other != Some(Shape::Features) {
            self.other = dialect(&seen).or(self.other);
        }
        let words =
            |node: Option<Node<'t, 'a>>| node.and_then(|node| node.str()).filter(|text| !text.is_empty());
        let title = words(seen.title).or_else(|| words(seen.name));
        let description = || words(seen.description);
        let id = match seen.id.and_then(name_of).or_else(|| title.clone()) {
            Some(id) => id,
            None => match description() {
                Some(text) => Cow::Owned(self.made(&text)),
                None => return self.problems.push(Problem::NoName { line: line() }),
            },
        };
        let title = title.or_else(description).unwrap_or_else(|| id.clone());
        let state = self.state(&seen, &id, &mut line);
        let priority = self.priority(seen.priority, &id, &mut line);
        let phase = seen.phase.and_then(name_of);
        let dependencies = seen.dependencies.map(dependencies).unwrap_or_default();
        if let Some(blocks) = seen.dependencies.filter(Node::is_map).and_then(|node| node.get("blocks")) {
            self.blocks.push((self.items.len(), names(blocks)));
        }
        let (enabled, limit) = self.looping(&seen);
        let place = |node: Option<Node<'t, 'a>>| match node {
            Some(node @ Node::Json(_)) => node.span(),
            _ => 0..0,
        };
        let (attempts, prd) = (place(seen.attempts), place(seen.prd));
        self.items.push(Item {
            id,
            title,
            state,
            priority,
            phase,
            dependencies,
            enabled,
            limit,
            span,
            phase_rank: 0,
            nth,
            attempts,
            prd,
        });
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// The dialect that the list has to be read in again.
    pub(crate) fn other(&self) -> Option<Shape> {
        self.other
    }

    /// Takes over what was gathered further down in the same list, behind `elements` of them. Not if an id was made there
    /// of a text that is here too: it would have another number.
    pub(crate) fn join(&mut self, later: Self, elements: usize) -> bool {
        if later.texts.keys().any(|text| self.texts.contains_key(text)) {
            return false;
        }
        let before = self.items.len();
        self.texts.extend(later.texts);
        self.items.extend(later.items.into_iter().map(|item| Item { nth: item.nth + elements, ..item }));
        self.blocks.extend(later.blocks.into_iter().map(|(at, names)| (at + before, names)));
        self.problems.extend(later.problems);
        if self.other != Some(Shape::Features) {
            self.other = later.other.or(self.other);
        }
        true
    }

    /// What an item blocks depends on it, also where that is said on this side alone.
    pub(crate) fn wait_for_blockers(&mut self, find: impl Fn(&[Item<'a>], &str) -> Option<usize>) {
        let mut waits: Vec<(usize, usize)> = Vec::new();
        for (by, names) in core::mem::take(&mut self.blocks) {
            waits.extend(names.iter().filter_map(|name| find(&self.items, name)).map(|at| (at, by)));
        }
        waits.sort_unstable();
        waits.dedup();
        for of_one in waits.chunk_by(|one, next| one.0 == next.0) {
            let at = of_one[0].0;
            let known: alloc::collections::BTreeSet<_> =
                self.items[at].dependencies.iter().cloned().into_set();
            let new = of_one.iter().map(|(_, by)| self.items[*by].id.clone());
            let new: Vec<_> = new.filter(|id| !known.contains(id)).collect();
            self.items[at].dependencies.extend(new);
        }
    }

    /// An id for what has only a text.
    pub(crate) fn made(&mut self, text: &str) -> String {
        let count = self.texts.entry(crate::text::hash(text)).or_default();
        *count += 1;
        id_of(text, *count)
    }

    /// Items without a phase are in the first one.
    pub(crate) fn rank_phases(&mut self) {
        let mut ranks = alloc::collections::BTreeMap::new();
        for item in &mut self.items {
            let Some(phase) = &item.phase else { continue };
            let next = ranks.len();
            item.phase_rank = *ranks.entry(phase.clone()).or_insert_with(|| {
                self.phases.push(phase.clone());
                next
            });
        }
    }

    fn state(&mut self, seen: &Seen<'_, 'a>, id: &str, line: &mut impl FnMut() -> usize) -> State {
        if seen.passes.or(seen.completed).and_then(|node| node.bool()) == Some(true) {
            return State::Done;
        }
        match seen.status {
            Some(node) if !node.is_null() => {
                let word = node.str().unwrap_or_else(|| Cow::Owned(node.shown()));
                if self.shape == Shape::Beads {
                    return State::parse(&word).unwrap_or_else(|| beads::other_state(&word));
                }
                State::parse(&word).unwrap_or_else(|| {
                    let (id, word) = (id.into(), word.into_owned());
                    let known = moves::words(self.shape);
                    self.problems.push(Problem::UnknownState { id, word, known, line: line() });
                    State::Unknown
                })
            }
            _ => State::Open,
        }
    }

    fn priority(&mut self, node: Option<Node<'_, 'a>>, id: &str, line: &mut impl FnMut() -> usize) -> i64 {
        let none = if self.shape == Shape::Tasks { MEDIUM } else { i64::MAX };
        let Some(node) = node.filter(|node| !node.is_null()) else { return none };
        if let Some(number) = node.number() {
            return number;
        }
        let word = node.str().unwrap_or_else(|| Cow::Owned(node.shown()));
        priority_of(&word).unwrap_or_else(|| {
            let (id, word) = (id.into(), word.into_owned());
            self.problems.push(Problem::UnknownPriority { id, word, line: line() });
            i64::MAX
        })
    }

    fn looping(&self, seen: &Seen<'_, 'a>) -> (bool, Option<Limit>) {
        if self.shape == Shape::Beads {
            let enabled = seen.ralph_loop.and_then(|node| node.get("enabled")?.bool());
            return (enabled != Some(false), None);
        }
        if self.shape != Shape::Features {
            return (true, None);
        }
        let (mut enabled, mut limit) = (false, Limit { used: 0, max: Limit::DEFAULT });
        let read = |name: Cow<'a, str>, node: Node<'_, 'a>| {
            let number = || node.number().and_then(|number| u64::try_from(number).ok());
            match &*name {
                "enabled" => enabled = node.bool() == Some(true),
                "max_iterations" => limit.max = number().unwrap_or(limit.max),
                "current_iteration" => limit.used = number().unwrap_or(limit.used),
                _ => {}
            }
        };
        if let Some(node) = seen.ralph_loop {
            node.each_field(read);
        }
        (enabled, Some(limit))
    }
}

const MEDIUM: i64 = 2;

/// critical, high, medium, low; also P0 to P3, and numbers that stand in quotes.
pub(crate) fn priority_of(word: &str) -> Option<i64> {
    let word = word.trim().to_ascii_lowercase();
    Some(match word.as_str() {
        "critical" | "urgent" | "p0" => 0,
        "high" | "p1" => 1,
        "medium" | "normal" | "p2" => MEDIUM,
        "low" | "p3" => 3,
        _ => return word.parse().ok(),
    })
}

/// An id or a phase: a text or a number.
pub(crate) fn name_of<'a>(node: Node<'_, 'a>) -> Option<Cow<'a, str>> {
    let text = match node {
        Node::Json(value) if node.number().is_some() => Some(Cow::Borrowed(value.raw())),
        _ => node.str(),
    };
    text.filter(|text| !text.is_empty())
}

/// A list, or an object that has one (`blocks` says the same from the other side).
fn dependencies<'a>(node: Node<'_, 'a>) -> Vec<Cow<'a, str>> {
    let list =
        if node.is_map() { node.get("depends_on").or_else(|| node.get("dependsOn")) } else { Some(node) };
    list.map(names).unwrap_or_default()
}

/// The names in a list, or one that stands alone.
fn names<'a>(node: Node<'_, 'a>) -> Vec<Cow<'a, str>> {
    if !node.is_list() {
        return name_of(node).into_iter().collect();
    }
    let mut names = Vec::new();
    node.each_element(|element| names.extend(name_of(element)));
    names
}

/// Seed 003's items, or stories with a status, in a list whose name or lack of one promises neither. By other rules their
/// state would be written where nobody looks for it, or in one of the two places that tell it.
fn dialect(seen: &Seen<'_, '_>) -> Option<Shape> {
    if seen.ralph_loop.is_some() || seen.attempts.is_some() {
        return Some(Shape::Features);
    }
    let word = seen.status?.str()?;
    let seed = matches!(&*word, "FAILING" | "PASSING" | "BLOCKED" | "CANCELLED");
    Some(match (seen.passes, seed) {
        (Some(_), _) => Shape::UserStories,
        (None, true) => Shape::Features,
        (None, false) => Shape::Stories,
    })
}
