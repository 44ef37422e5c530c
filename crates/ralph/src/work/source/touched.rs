//! What was done to a backlog while an agent worked.

use std::collections::HashSet;
use std::path::PathBuf;

use ralph_core::backlog::Altered;
use ralph_core::items::{ItemAfter, Work};

use super::Source;

impl Source {
    /// Where the requirements of its items may be, by the file as it was.
    pub(crate) fn requirements(&self, before: &[u8]) -> HashSet<PathBuf> {
        let Ok(backlog) = self.place.parse(before) else { return HashSet::new() };
        let files = (0..backlog.items().len()).filter_map(|at| backlog.prd_file(at));
        files.flat_map(|file| self.place.prd_files(&file).collect::<Vec<_>>()).collect()
    }

    /// What was done to the file while the agent worked on this item. A file that cannot be read any more holds other
    /// criteria; where nobody knows how it was, nobody can say that it is as it was.
    pub(crate) fn after(&self, item: &Work, before: Option<&[u8]>) -> ItemAfter {
        if let Some(what) = self.place.replaced_by() {
            let criteria = item.criteria.clone();
            return ItemAfter { criteria, tampered: vec![what], ..ItemAfter::default() };
        }
        let deleted = self.is_file() && !self.place.path.exists();
        let unreadable = ItemAfter { unreadable: true, deleted, ..ItemAfter::default() };
        let Ok(bytes) = self.bytes() else { return unreadable };
        let Ok(backlog) = self.place.parse(&bytes) else { return unreadable };
        let criteria = backlog.find(&item.id).map(|at| self.criteria_now(&backlog, at, item));
        let criteria = criteria.unwrap_or_default();
        let Some(old) = before.and_then(|before| self.place.parse(before).ok()) else {
            let tampered = vec!["ralph's copy of the backlog".into()];
            return ItemAfter { criteria, tampered, ..ItemAfter::default() };
        };
        let touched = backlog.touched_since(&old);
        let (own, mut others): (Vec<_>, Vec<_>) =
            touched.ticked.iter().cloned().partition(|done| *done == item.id);
        // Steps of its own task are how far it got.
        others.extend(touched.stepped.iter().filter(|begun| **begun != item.id).cloned());
        let judged_otherwise = criteria != item.criteria;
        let changed = touched.changed.iter().filter_map(|altered| named(altered, item, judged_otherwise));
        ItemAfter {
            ticked: !own.is_empty(),
            in_part: touched.in_part.contains(&item.id),
            criteria,
            // What is put back takes what was added with it.
            ticked_others: others
                .into_iter()
                .filter(|id| !touched.is_harm() || !self.is_file() || old.find(id).is_some())
                .collect(),
            changed: changed.collect(),
            let_go: if touched.is_harm() && self.is_file() { touched.added.clone() } else { vec![] },
            removed: touched.removed,
            ..ItemAfter::default()
        }
    }

    /// Whether more was done to the file than agents may do, so that it became `now`; `None`: it is gone.
    pub(crate) fn is_harmed(&self, now: Option<&[u8]>, before: &[u8]) -> bool {
        let Ok(old) = self.place.parse(before) else { return false };
        let now = now.and_then(|now| self.place.parse(now).ok());
        now.is_none_or(|now| now.touched_since(&old).is_harm())
    }

    /// The items that are done in `now` and were in neither of these; of other items than this one also those with new steps.
    pub(crate) fn ticked_since(&self, now: Option<&[u8]>, before: &[&[u8]], item: &Work) -> Vec<String> {
        let Some(now) = now.and_then(|now| self.place.parse(now).ok()) else { return vec![] };
        let since = |before: &&[u8]| {
            let touched = now.touched_since(&self.place.parse(before).ok()?);
            let stepped = touched.stepped.into_iter().filter(|id| *id != item.id);
            Some(touched.ticked.into_iter().chain(stepped).collect::<Vec<String>>())
        };
        let mut ticked = before.iter().filter_map(since);
        let first = ticked.next().unwrap_or_default();
        ticked.fold(first, |both, other| both.into_iter().filter(|id| other.contains(id)).collect())
    }

    /// The issues that somebody else had in hand before the agent, and that are closed now.
    pub(crate) fn closed_for_others(&self, before: &[u8]) -> Vec<String> {
        let Ok(bytes) = self.bytes() else { return vec![] };
        let (now, old) = (self.place.parse(&bytes), self.place.parse(before));
        now.ok().zip(old.ok()).map(|(now, old)| now.closed_for_others(&old)).unwrap_or_default()
    }
}

/// `US-2 (title, state)`; of the item itself without what its criteria say already.
fn named(altered: &Altered, item: &Work, judged_otherwise: bool) -> Option<String> {
    const JUDGED: [&str; 4] = ["criteria", "verification", "convergence_criteria", "prd_reference"];
    let own = altered.id == item.id && judged_otherwise;
    let what: Vec<&str> =
        altered.what.iter().filter(|what| !own || !JUDGED.contains(what)).copied().collect();
    match (what.is_empty(), altered.what.is_empty()) {
        (true, true) => Some(altered.id.clone()),
        (true, false) => None,
        _ => Some(format!("{} ({})", altered.id, what.join(", "))),
    }
}
