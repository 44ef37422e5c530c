//! The backlog of a simulated world: items are numbered, and only a settled attempt closes one.

use super::turn::Turn;
use super::world::World;
use crate::event::Measured;
use crate::items::{Attempt, BacklogRead, Found, ItemAfter, PutAside, Settled, Settlement, Work};
use crate::prelude::*;

/// What is known of the item that is worked on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Backlog {
    /// The agent marked it as done.
    ticked: bool,
    tampered: bool,
    /// It did something to other items; they are put back.
    harmed: bool,
    /// Passes in spite of that.
    wrongly_passed: u64,
    blocked: u64,
    /// Attempts at the item that is open now.
    attempts: u64,
    /// Settled iterations, so that doing it twice does it once.
    last: Option<(u64, Settled)>,
}

impl World {
    /// The world has a backlog that is handed out item by item.
    pub fn with_backlog(mut self) -> Self {
        self.backlog = Some(Backlog::default());
        self
    }

    /// Items that passed although the agent changed what they or others are judged by.
    pub(super) fn wrongly_passed(&self) -> u64 {
        self.backlog.as_ref().map_or(0, |backlog| backlog.wrongly_passed)
    }

    pub(super) fn selected(&self) -> BacklogRead {
        let items = self.items.unwrap_or_default();
        let blocked = self.backlog.as_ref().map_or(0, |backlog| backlog.blocked);
        let found = match items.open.saturating_sub(blocked) {
            0 if items.open > 0 => Found::Stuck { why: format!("{blocked} items are blocked"), next: None },
            0 => Found::Complete,
            _ => Found::Selected(Box::new(self.work(items.total.saturating_sub(items.open) + blocked))),
        };
        BacklogRead { items, blocked, ..BacklogRead::new(found) }
    }

    fn work(&self, nth: u64) -> Work {
        Work {
            id: format!("item-{nth}"),
            title: format!("item {nth}"),
            criteria: "as written".into(),
            attempts: self.backlog.as_ref().map_or(0, |backlog| backlog.attempts),
            max_attempts: 5,
            ..Work::default()
        }
    }

    /// An agent that closes items only says so.
    pub(super) fn claimed_by(&mut self, turn: &Turn) {
        if let Some(backlog) = &mut self.backlog {
            backlog.ticked |= turn.closes > 0;
            backlog.tampered |= turn.tampers;
            backlog.harmed |= turn.harms;
        }
    }

    pub(super) fn item_after(&self, measured: &mut Measured) {
        measured.item = self.backlog.as_ref().map(|backlog| ItemAfter {
            ticked: backlog.ticked,
            criteria: if backlog.tampered { "otherwise" } else { "as written" }.into(),
            removed: backlog.harmed.then(|| "another".into()).into_iter().collect(),
            put_back: backlog.harmed,
            ..ItemAfter::default()
        });
    }

    pub(super) fn settle(&mut self, settlement: &Settlement) -> Settled {
        let Some(mut backlog) = self.backlog.take() else { return self.commit(settlement) };
        if let Some((iteration, settled)) = &backlog.last
            && *iteration == settlement.iteration
        {
            let settled = settled.clone();
            self.backlog = Some(backlog);
            return settled;
        }
        let mut settled = self.commit(settlement);
        if settlement.revert.is_some() {
            self.put_back();
            settled.reverted = true;
        }
        if settlement.park.is_some() {
            self.put_back();
            settled.put_aside = Some(PutAside::default());
        }
        // What a reviewer does to the backlog proves no item.
        let cheated = settlement.item.is_some() && (backlog.tampered || backlog.harmed);
        backlog.wrongly_passed += u64::from(cheated && settlement.result == Attempt::Passed);
        (backlog.ticked, backlog.tampered, backlog.harmed) = (false, false, false);
        if let (Some(_), Some(items)) = (&settlement.item, &mut self.items) {
            backlog.attempts += 1;
            if settlement.result == Attempt::Passed {
                items.open = items.open.saturating_sub(1);
                backlog.attempts = 0;
            } else if settlement.block.is_some() || settlement.park.is_some() {
                backlog.blocked += 1;
                backlog.attempts = 0;
            }
        }
        backlog.last = Some((settlement.iteration, settled.clone()));
        self.backlog = Some(backlog);
        settled
    }
}
