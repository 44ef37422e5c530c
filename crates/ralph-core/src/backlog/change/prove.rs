//! Reads an edited text again: it must say what was meant, and of everything else what it said before.

use serde_json::Value;

use super::Refusal;
use crate::backlog::fields::Gathered;
use crate::backlog::node::Node;
use crate::backlog::{Backlog, Item, Limit, Shape, Source, State, json};
use crate::edit::Edit;
use crate::prelude::*;

/// How an item is read again.
#[derive(Debug)]
pub(super) struct Now {
    pub(super) state: State,
    /// What the file calls that.
    pub(super) status: String,
    pub(super) limit: Option<Limit>,
}

impl Now {
    fn of(new: &Backlog<'_>, at: usize) -> Self {
        let item = &new.items[at];
        Self { state: item.state, status: new.status(at), limit: item.limit }
    }
}

impl Backlog<'_> {
    /// One item has become `expected`.
    pub(super) fn prove_item(&self, text: &str, at: usize, expected: &Value) -> Result<Now, Refusal> {
        let new = self.again(text)?;
        match &self.source {
            Source::Json { .. } => self.same_places(&new, at)?,
            _ => {
                let mut whole = self.whole();
                if let Some(place) =
                    self.list_in(&mut whole).and_then(|list| list.get_mut(self.items[at].nth))
                {
                    *place = expected.clone();
                }
                same(&whole, &new.whole())?;
            }
        }
        same(expected, &new.value(at))?;
        Ok(Now::of(&new, at))
    }

    /// The same where it is enough to read that item: in JSON, what takes the place of a whole value and is one itself
    /// changes nothing for what stands around it, and around it the bytes are the same.
    pub(super) fn prove_in_place(
        &self,
        text: &str,
        at: usize,
        edits: &[Edit],
        expected: &Value,
    ) -> Option<Result<Now, Refusal>> {
        let Source::Json { .. } = self.source else { return None };
        let span = self.items.get(at)?.span.clone();
        let inside = |edit: &Edit| span.start < edit.range.start && edit.range.end < span.end;
        if !edits.iter().all(inside) {
            return None;
        }
        let end = text.len().checked_sub(self.text.len() - span.end)?;
        let around = text.get(..=span.start)? == self.text.get(..=span.start)?
            && text.get(end - 1..)? == self.text.get(span.end - 1..)?;
        let (item, value, status) = read_one(text.get(span.start..end)?, self.shape).filter(|_| around)?;
        // An id that is made of a text depends on the other items.
        if item.id != self.items[at].id {
            return None;
        }
        Some(same(expected, &value).map(|()| Now { state: item.state, status, limit: item.limit }))
    }

    /// One more item stands at the end.
    pub(super) fn prove_added(&self, text: &str, expected: &Value) -> Result<Now, Refusal> {
        let new = self.again(text)?;
        let at = self.items.len();
        if new.items.len() != at + 1 {
            return Err(Refusal::NotLossless("the new item is not read as one".into()));
        }
        match &self.source {
            Source::Json { .. } => self.same_places(&new, at)?,
            _ => {
                let mut whole = self.whole();
                match self.list_in(&mut whole) {
                    Some(list) => list.push(expected.clone()),
                    None => return Err(Refusal::NotLossless("there is no list".into())),
                }
                same(&whole, &new.whole())?;
            }
        }
        same(expected, &new.value(at))?;
        Ok(Now::of(&new, at))
    }

    /// One box has another mark.
    pub(super) fn prove_tick(&self, text: &str, at: usize, to: State) -> Result<(), Refusal> {
        let new = self.again(text)?;
        let expected = self.items.iter().enumerate().map(|(nth, item)| {
            (&item.id, &item.title, if nth == at { to } else { item.state }, item.priority)
        });
        let found = new.items.iter().map(|item| (&item.id, &item.title, item.state, item.priority));
        if expected.eq(found) { Ok(()) } else { Err(Refusal::NotLossless("another box would change".into())) }
    }

    /// One more box stands at the `nth` place, of this priority if one was asked for.
    pub(super) fn prove_box(
        &self,
        text: &str,
        nth: usize,
        title: &str,
        priority: Option<i64>,
    ) -> Result<String, Refusal> {
        let new = self.again(text)?;
        let row = |item: &Item<'_>| (item.id.clone().into_owned(), item.state, item.priority);
        let before = self.items.iter().map(row);
        let kept = new.items.iter().enumerate().filter(|(at, _)| *at != nth).map(|(_, item)| row(item));
        let meant =
            |item: &&Item<'_>| item.title == title && priority.is_none_or(|wanted| wanted == item.priority);
        match new.items.get(nth).filter(meant) {
            Some(item) if before.eq(kept) => Ok(item.id.clone().into_owned()),
            _ => Err(Refusal::NotLossless("the new line is not read as a box".into())),
        }
    }

    pub(super) fn again<'n>(&self, text: &'n str) -> Result<Backlog<'n>, Refusal> {
        Backlog::read(text, self.syntax)
            .map_err(|error| Refusal::NotLossless(format!("the edited file could not be read: {error}")))
    }

    /// In JSON, every other item has kept its bytes: it stands where it stood, or as much further as the text grew.
    /// What is outside of the list was spliced as it is, and the list begins and ends where it did.
    fn same_places(&self, new: &Backlog<'_>, at: usize) -> Result<(), Refusal> {
        let grown = new.text.len().wrapping_sub(self.text.len());
        let (Source::Json { list: old_list }, Source::Json { list: new_list }) = (&self.source, &new.source)
        else {
            return Err(Refusal::NotLossless("it is no JSON any more".into()));
        };
        let lists = old_list.start == new_list.start && old_list.end.wrapping_add(grown) == new_list.end;
        let kept = self.items.iter().zip(&new.items).enumerate().all(|(nth, (old, new))| {
            let (before, after) = if nth < at {
                (0, 0)
            } else if nth > at {
                (grown, grown)
            } else {
                (0, grown)
            };
            old.nth == new.nth
                && old.span.start.wrapping_add(before) == new.span.start
                && old.span.end.wrapping_add(after) == new.span.end
        });
        let counts = new.items.len() == self.items.len() + usize::from(at == self.items.len());
        if lists && kept && counts {
            Ok(())
        } else {
            Err(Refusal::NotLossless("another item would change".into()))
        }
    }

    fn whole(&self) -> Value {
        self.root().map(|root| root.value()).unwrap_or_default()
    }

    /// The list of items in the document's value.
    fn list_in<'v>(&self, whole: &'v mut Value) -> Option<&'v mut Vec<Value>> {
        let list = match &self.source {
            Source::Yaml { list: Some(name), .. } => whole.get_mut(*name)?,
            _ => whole,
        };
        if list.is_null() {
            *list = Value::Array(Vec::new());
        }
        list.as_array_mut()
    }
}

/// An item that stands alone, whole; with its value and its word for the state.
fn read_one(text: &str, shape: Shape) -> Option<(Item<'_>, Value, String)> {
    let mut walk = json::Walk::new(text);
    let mut fields = Vec::new();
    let place = (walk.peek() == b'{').then(|| walk.item(&mut fields).ok()).flatten()?;
    if place.span() != (0..text.len()) {
        return None;
    }
    let mut gathered = Gathered::new(shape);
    let named = fields.into_iter().map(|field| (field.name, Node::Json(field.value)));
    gathered.item(named, place.span(), 0, || 1);
    let item = gathered.items.pop()?;
    let word = Node::Json(place).get("status").and_then(|node| node.str()).filter(|word| !word.is_empty());
    let status = word.map_or_else(|| item.state.word().into(), alloc::borrow::Cow::into_owned);
    Some((item, Node::Json(place).value(), status))
}

fn same(expected: &Value, found: &Value) -> Result<(), Refusal> {
    if expected == found {
        Ok(())
    } else {
        Err(Refusal::NotLossless("the edited file would not say what was meant".into()))
    }
}
