//! Issues that bd keeps: it is asked for them, and called for each change.

use std::cell::RefCell;

use ralph_core::backlog::{Call, Change, Refusal};

use super::Keeping;
use crate::error::{Error, Result};
use crate::process::Spec;
use crate::work::{Place, beads, steered};

/// One look at the issues: whoever looks again makes another one. Each question to bd is a process and a database that is
/// opened, so what it said is kept until something is changed.
#[derive(Debug, Default)]
pub(super) struct WithBd {
    custody: Option<Custodian>,
    said: RefCell<Option<Vec<u8>>>,
}

/// How calls of bd that change something are kept.
struct Custodian(Box<dyn Fn(Spec) -> Spec>);

impl std::fmt::Debug for Custodian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Custodian")
    }
}

impl WithBd {
    pub(super) fn in_custody(custody: impl Fn(Spec) -> Spec + 'static) -> Self {
        Self { custody: Some(Custodian(Box::new(custody))), said: RefCell::default() }
    }

    fn has_bd(&self, place: &Place, call: &Call) -> Result<()> {
        self.said.take();
        let custody = self.custody.as_ref();
        beads::call_kept(place.root(), call, &|spec| match custody {
            Some(custody) => (custody.0)(spec),
            None => spec,
        })
    }

    /// The calls that are still to be made, one after the other: what is so already needs none.
    fn each_call(&self, place: &Place, changes: &[Change], make: impl Fn(&Call) -> Result<()>) -> Result<()> {
        let actor = beads::actor(place.root());
        for change in changes {
            // bd has no place for these, but what they say goes into the reason of the others.
            if matches!(change, Change::Attempt { .. } | Change::Increment { .. }) {
                continue;
            }
            let bytes = self.read(place)?;
            let backlog = place.parse(&bytes)?;
            match backlog.call(change, changes, &actor) {
                Ok(call) => call.as_ref().map_or(Ok(()), &make)?,
                Err(Refusal::NoPlace { .. } | Refusal::NoState { .. }) => {}
                Err(refusal) => return Err(place.refused(&refusal, &backlog)),
            }
        }
        Ok(())
    }
}

impl Keeping for WithBd {
    fn may_be_read(&self, place: &Place) -> bool {
        steered::is_agreed(place.root()).is_ok()
    }

    fn read(&self, place: &Place) -> Result<Vec<u8>> {
        let known = self.said.borrow().clone();
        let said = known.map_or_else(|| place.read(), Ok)?;
        self.said.replace(Some(said.clone()));
        Ok(said)
    }

    fn put_back(&self, place: &Place, before: &[u8]) -> Result<bool> {
        let now = self.read(place).ok();
        let now = now.as_ref().and_then(|bytes| place.parse(bytes).ok());
        let Ok(old) = place.parse(before) else { return Ok(false) };
        let calls = now.map(|now| now.way_back(&old)).unwrap_or_default();
        // What can be put back is, whatever cannot.
        let failed: Vec<Error> = calls.iter().filter_map(|call| self.has_bd(place, call).err()).collect();
        match failed.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(!calls.is_empty()),
        }
    }

    /// An agent cannot make the answers of bd unreadable for good.
    fn mend(&self, _: &Place, _: &[u8]) -> Result<bool> {
        Ok(false)
    }

    fn change(&self, place: &Place, changes: &[Change]) -> Result<()> {
        self.each_call(place, changes, |call| self.has_bd(place, call))
    }

    fn would_change(&self, place: &Place, changes: &[Change]) -> Result<()> {
        let could = self.each_call(place, changes, |_| Ok(()));
        // Whoever asks that does something else first, which takes its time: a commit, with the user's hooks.
        self.said.take();
        could
    }

    /// Each call looks itself whether it is needed.
    fn has_attempt(&self, _: &Place, _: &str, _: &str) -> bool {
        false
    }
}
