//! Task files as values: four ways of writing, seven dialects, one model. Reading never fails on what it can use:
//! what is odd becomes a [`Problem`]; what is no task file at all is [`Unreadable`], with its line.
//!
//! | file | holds |
//! |---|---|
//! | `model` | item, state, limit, problems |
//! | `json`, `yaml`, `node` | values that know their bytes |
//! | `list`, `hands` | the list of a JSON file; a second hand for large ones |
//! | `beads` | issues that `bd` keeps: what it prints as a list, a change as calls |
//! | `fields`, `checklist` | an item out of its fields; boxes in Markdown |
//! | `index`, `select` | items by id; which one is next, and cycles |
//! | `detail`, `attempt` | what is read only when asked for: criteria, commands, words for the prompt; attempts |
//! | `custody` | what was done to items that an agent may not do |
//! | `moves`, `change`, `write` | which state may follow which; a change as edits that are checked; the edits |
//! | `validate`, `kinds`, `requirements` | the rules of evidence; fields of another kind than is read; the document an item may refer to |

mod attempt;
mod beads;
mod change;
pub(crate) mod checklist;
mod custody;
mod detail;
mod fields;
mod hands;
mod index;
pub(crate) mod json;
mod kinds;
mod list;
mod model;
mod moves;
mod node;
mod requirements;
mod select;
mod validate;
pub(crate) mod write;
mod yaml;

use alloc::borrow::Cow;
use core::ops::Range;

pub use attempt::{Attempt, Outcome, Recorded};
pub use beads::{Call, closed_by, complaint, compose as compose_beads, created};
pub use change::{Change, Changed, Incremented, NewItem, Refusal};
pub use custody::{Altered, COMMANDS_FOR_ALL, Touched};
pub use detail::Convergence;
pub use hands::{Hands, OneHand};
pub use index::meant;
pub use model::{Item, Limit, NAMES, PLANS, Problem, Shape, Slip, State, Syntax, Unreadable};
pub use moves::{legal, word as state_word};
pub use requirements::Requirements;
pub use select::{HeldBack, Selection, Stats, Waiting, Wish, cycle, select, select_but, select_with};
pub use validate::{Finding, Findings, Rule, validate, validate_with};

use crate::edit::{self, LineCount};
use crate::prelude::*;
use checklist::Checklist;
use fields::Gathered;
use index::Index;
use node::Node;

/// A task file that was read.
#[derive(Debug)]
pub struct Backlog<'a> {
    text: &'a str,
    syntax: Syntax,
    shape: Shape,
    items: Vec<Item<'a>>,
    phases: Vec<Cow<'a, str>>,
    problems: Vec<Problem>,
    index: Index,
    source: Source<'a>,
}

/// Where the items are.
#[derive(Debug)]
enum Source<'a> {
    /// The list itself.
    Json {
        list: Range<usize>,
    },
    /// The whole tree, and the name of the list in it; none where the tree is the list.
    Yaml {
        root: yaml::Node<'a>,
        list: Option<&'static str>,
    },
    Markdown(Checklist<'a>),
}

impl<'a> Backlog<'a> {
    /// Reads a file's bytes.
    pub fn parse(bytes: &'a [u8], syntax: Syntax) -> Result<Self, Unreadable> {
        Self::parse_with(bytes, syntax, &OneHand)
    }

    /// The same with a hand that is lent.
    pub fn parse_with(bytes: &'a [u8], syntax: Syntax, hands: &impl Hands) -> Result<Self, Unreadable> {
        let text = core::str::from_utf8(bytes).map_err(|error| Unreadable {
            line: bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1,
            why: "the file is not UTF-8".into(),
        })?;
        Self::read_with(text, syntax, hands)
    }

    /// Reads a file's text.
    pub fn read(text: &'a str, syntax: Syntax) -> Result<Self, Unreadable> {
        Self::read_with(text, syntax, &OneHand)
    }

    fn read_with(text: &'a str, syntax: Syntax, hands: &impl Hands) -> Result<Self, Unreadable> {
        let (mut gathered, shape, source) = match syntax {
            Syntax::Json => json_items(text, hands)?,
            Syntax::Yaml => yaml_items(text)?,
            Syntax::Markdown => boxes(text),
            Syntax::Beads => beads_items(text, hands)?,
        };
        gathered.rank_phases();
        let (index, again) = Index::of(&gathered.items);
        gathered.wait_for_blockers(|items, id| index.find(id, items));
        let Gathered { items, mut problems, phases, .. } = gathered;
        let mut lines = LineCount::new(text);
        problems.extend(again.into_iter().map(|at| Problem::Duplicate {
            id: items[at].id.clone().into_owned(),
            line: lines.of(items[at].span.start),
        }));
        Ok(Self { text, syntax, shape, items, phases, problems, index, source })
    }

    pub fn text(&self) -> &'a str {
        self.text
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    pub fn items(&self) -> &[Item<'a>] {
        &self.items
    }

    /// In the order in which they are first named.
    pub fn phases(&self) -> &[Cow<'a, str>] {
        &self.phases
    }

    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The first item of this id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.index.find(id, &self.items)
    }

    /// The item that somebody means by its id, by a beginning of it that no other has, or by its title.
    pub fn meant(&self, words: &str) -> Result<usize, Refusal> {
        if let Some(at) = self.find(words) {
            return Ok(at);
        }
        let known = self.items.iter().map(|item| (&*item.id, Some(&*item.title)));
        let ids = index::meant(words, known);
        match ids.as_slice() {
            [id] => self.find(id).ok_or_else(|| Refusal::UnknownId(words.into())),
            [] => Err(Refusal::UnknownId(words.into())),
            _ => {
                Err(Refusal::Several { words: words.into(), ids: ids.into_iter().map(Into::into).collect() })
            }
        }
    }

    /// The line on which an item begins.
    pub fn line(&self, at: usize) -> usize {
        self.items.get(at).map_or(1, |item| edit::line_of(self.text, item.span.start))
    }

    /// The lines on which the items begin, all in one go.
    pub fn lines(&self) -> Vec<usize> {
        let mut lines = LineCount::new(self.text);
        self.items.iter().map(|item| lines.of(item.span.start)).collect()
    }

    /// Whether an item refers to requirements at all.
    pub fn has_prd(&self, at: usize) -> bool {
        match self.source {
            Source::Json { .. } => self.items.get(at).is_some_and(|item| !item.prd.is_empty()),
            _ => self.node(at).is_some_and(|node| node.get("prd_reference").is_some()),
        }
    }

    /// Whether it is a task of a plan that has nothing to tick: neither to be worked on nor done.
    pub fn lacks_steps(&self, at: usize) -> bool {
        let Source::Markdown(list) = &self.source else { return false };
        list.entries.get(at).is_some_and(|entry| entry.boxes.is_empty())
    }

    /// Whether the file has no id for an item, so that one is made of its words.
    pub fn made_id(&self, at: usize) -> bool {
        self.node(at).is_none_or(|node| node.get("id").and_then(fields::name_of).is_none())
    }

    /// The dialect's own word for an item's state.
    pub fn status(&self, at: usize) -> String {
        let Some(item) = self.items.get(at) else { return String::new() };
        let word = self.node(at).and_then(|node| node.get("status")?.str()).map(Cow::into_owned);
        word.filter(|word| !word.is_empty()).unwrap_or_else(|| item.state.word().into())
    }

    /// The place of an item in JSON or YAML.
    fn node(&self, at: usize) -> Option<Node<'_, 'a>> {
        let item = self.items.get(at)?;
        match &self.source {
            Source::Json { .. } => Some(Node::Json(json::Value::at(self.text, item.span.clone()))),
            Source::Yaml { .. } => self.list()?.nth(item.nth),
            Source::Markdown(_) => None,
        }
    }

    /// The list that the items are in.
    fn list(&self) -> Option<Node<'_, 'a>> {
        match &self.source {
            Source::Json { list } => Some(Node::Json(json::Value::at(self.text, list.clone()))),
            Source::Yaml { root, list } => match list {
                Some(name) => Node::Yaml(root).get(name),
                None => Some(Node::Yaml(root)),
            },
            Source::Markdown(_) => None,
        }
    }

    /// The whole document in JSON or YAML.
    fn root(&self) -> Option<Node<'_, 'a>> {
        match &self.source {
            Source::Json { .. } => json::Walk::new(self.text).any().ok().map(Node::Json),
            Source::Yaml { root, .. } => Some(Node::Yaml(root)),
            Source::Markdown(_) => None,
        }
    }
}

/// What [`beads::compose`] made.
fn beads_items<'a>(text: &'a str, hands: &impl Hands) -> Result<Read<'a>, Unreadable> {
    beads::is_list(text)?;
    let unreadable = |fault: json::Fault| Unreadable {
        line: edit::line_of(text, fault.at),
        why: format!("the list of issues is no JSON: {}", fault.why),
    };
    let mut walk = json::Walk::new(text);
    walk.peek();
    let start = walk.at;
    let gathered = list::read(&mut walk, text, Shape::Beads, hands).map_err(unreadable)?;
    let list = start..walk.at;
    walk.end().map_err(unreadable)?;
    Ok((gathered, Shape::Beads, Source::Json { list }))
}

type Read<'a> = (Gathered<'a>, Shape, Source<'a>);

fn no_list(line: usize) -> Unreadable {
    let names: Vec<&str> = Shape::LISTS.iter().map(|(name, _)| *name).collect();
    Unreadable { line, why: format!("there is no list of items: none of {}", names.join(", ")) }
}

/// One walk over the text: the list is read where it stands.
fn json_items<'a>(text: &'a str, hands: &impl Hands) -> Result<Read<'a>, Unreadable> {
    let unreadable = |fault: json::Fault| Unreadable {
        line: edit::line_of(text, fault.at),
        why: format!("the file is no JSON: {}", fault.why),
    };
    let mut walk = json::Walk::new(text);
    let mut found: Option<(usize, Gathered<'_>, Range<usize>)> = None;
    match walk.peek() {
        b'[' => {
            let start = walk.at;
            let gathered = json_dialect(&mut walk, text, Shape::FeatureArray, hands).map_err(unreadable)?;
            found = Some((0, gathered, start..walk.at));
        }
        b'{' => walk
            .fields_with(|walk, key| {
                let name = walk.name(&key);
                let rank = Shape::LISTS.iter().position(|(list, _)| *list == name);
                let better = |rank: &usize| found.as_ref().is_none_or(|(best, ..)| rank < best);
                match rank.filter(better) {
                    Some(rank) if walk.peek() == b'[' => {
                        let start = walk.at;
                        let gathered = json_dialect(walk, text, Shape::LISTS[rank].1, hands)?;
                        found = Some((rank, gathered, start..walk.at));
                    }
                    _ => drop(walk.any()?),
                }
                Ok(())
            })
            .map_err(unreadable)?,
        _ => drop(walk.any().map_err(unreadable)?),
    }
    walk.end().map_err(unreadable)?;
    let (_, gathered, list) = found.ok_or_else(|| no_list(1))?;
    let shape = gathered.shape();
    Ok((gathered, shape, Source::Json { list }))
}

/// The list in the dialect of its name, or else in that of its items.
fn json_dialect<'a>(
    walk: &mut json::Walk<'a>,
    text: &'a str,
    shape: Shape,
    hands: &impl Hands,
) -> Result<Gathered<'a>, json::Fault> {
    let start = walk.at;
    let gathered = list::read(walk, text, shape, hands)?;
    let Some(other) = gathered.other() else { return Ok(gathered) };
    walk.at = start;
    list::read(walk, text, other, hands)
}

/// The texts in a list of this name at the top of a YAML file; `None` where it cannot be read.
pub(crate) fn yaml_texts(text: &str, name: &str) -> Option<Vec<String>> {
    let root = yaml::read(text).ok()?;
    let list = Node::Yaml(&root).get(name).map(|list| list.texts()).unwrap_or_default();
    Some(list.into_iter().map(Into::into).collect())
}

fn yaml_items(text: &str) -> Result<Read<'_>, Unreadable> {
    let root = yaml::read(text).map_err(|fault| Unreadable {
        line: edit::line_of(text, fault.at),
        why: format!("the file is no YAML: {}", fault.why),
    })?;
    let (list, shape) = match Node::Yaml(&root) {
        node if node.is_list() => (None, Shape::FeatureArray),
        node => {
            // A list with nothing in it yet is a list too.
            let is_list = |node: Node<'_, '_>| node.is_list() || node.is_null();
            let known = Shape::LISTS.iter().find(|(name, _)| node.get(name).is_some_and(is_list));
            let (name, shape) = known.ok_or_else(|| no_list(1))?;
            (Some(*name), *shape)
        }
    };
    let whole = Node::Yaml(&root);
    let place = list.map_or(Some(whole), |name| whole.get(name));
    let elements = place.map(|list| list.elements()).unwrap_or_default();
    let mut gathered = yaml_list(text, &elements, shape);
    if let Some(other) = gathered.other() {
        gathered = yaml_list(text, &elements, other);
    }
    let shape = gathered.shape();
    Ok((gathered, shape, Source::Yaml { root, list }))
}

fn yaml_list<'a>(text: &'a str, elements: &[Node<'_, 'a>], shape: Shape) -> Gathered<'a> {
    let mut gathered = Gathered::new(shape);
    let mut lines = LineCount::new(text);
    for (nth, element) in elements.iter().enumerate() {
        let mut line = || lines.of(element.span().start);
        if element.is_map() {
            gathered.item(element.fields().into_iter(), element.span(), nth, line);
        } else {
            gathered.problems.push(Problem::NoItem { line: line() });
        }
    }
    gathered
}

fn boxes(text: &str) -> Read<'_> {
    let list = checklist::read(text);
    let mut gathered = Gathered::new(Shape::Checklist);
    let mut lines = LineCount::new(text);
    gathered.problems.extend(list.slips.iter().map(|(at, slip)| {
        let written = text[*at..].lines().next().unwrap_or_default();
        let written = crate::text::one_line(written.trim(), 60);
        Problem::Box { slip: *slip, written, line: lines.of(*at) }
    }));
    for (nth, entry) in list.entries.iter().enumerate() {
        let id = gathered.made(entry.title);
        let steps = &list.boxes[entry.boxes.clone()];
        if steps.is_empty() {
            let title = crate::text::one_line(entry.title, 60);
            gathered.problems.push(Problem::NoSteps { title, line: lines.of(entry.line.start) });
        }
        gathered.items.push(Item {
            id: Cow::Owned(id),
            title: Cow::Borrowed(entry.title),
            state: state_of(steps),
            priority: steps.first().map_or(i64::MAX, |step| step.priority),
            phase: None,
            dependencies: Vec::new(),
            enabled: true,
            limit: None,
            span: entry.line.clone(),
            phase_rank: 0,
            nth,
            attempts: 0..0,
            prd: 0..0,
        });
    }
    (gathered, Shape::Checklist, Source::Markdown(list))
}

/// Of a box, or of all the steps of a task: done when all are, begun when one is. Without any nobody can tell.
fn state_of(steps: &[checklist::Tick<'_>]) -> State {
    match steps {
        [] => State::Unknown,
        [one] => one.state,
        all if all.iter().all(|step| step.state == State::Done) => State::Done,
        all if all.iter().all(|step| step.state == State::Open) => State::Open,
        _ => State::InProgress,
    }
}

#[cfg(test)]
mod tests;
