//! Items in a file: it is edited, and put back as a whole.

use ralph_core::backlog::{Backlog, Change, Refusal};

use super::Keeping;
use crate::error::Result;
use crate::work::Place;

#[derive(Debug)]
pub(super) struct InFile;

impl Keeping for InFile {
    fn read(&self, place: &Place) -> Result<Vec<u8>> {
        place.read()
    }

    fn put_back(&self, place: &Place, before: &[u8]) -> Result<bool> {
        let now = place.read().ok();
        let now = now.as_ref().and_then(|bytes| place.parse(bytes).ok());
        let Ok(old) = place.parse(before) else { return Ok(false) };
        if now.is_some_and(|now| !now.touched_since(&old).is_harm()) {
            return Ok(false);
        }
        place.put_back(before)?;
        Ok(true)
    }

    fn mend(&self, place: &Place, before: &[u8]) -> Result<bool> {
        let readable = place.read().is_ok_and(|bytes| place.parse(&bytes).is_ok());
        if readable || place.parse(before).is_err() {
            return Ok(false);
        }
        place.put_back(before)?;
        Ok(true)
    }

    /// In one edit, so that nobody ever sees some of them alone.
    fn change(&self, place: &Place, changes: &[Change]) -> Result<()> {
        place.edit(|bytes| Ok((Some(changed(place, bytes, changes)?), ())))
    }

    fn would_change(&self, place: &Place, changes: &[Change]) -> Result<()> {
        changed(place, &place.read()?, changes).map(drop)
    }

    fn has_attempt(&self, place: &Place, id: &str, run_id: &str) -> bool {
        let Ok(bytes) = place.read() else { return false };
        let Ok(backlog) = place.parse(&bytes) else { return false };
        let Some(at) = backlog.find(id) else { return false };
        backlog.attempts(at).iter().any(|attempt| attempt.run_id.as_deref() == Some(run_id))
    }
}

fn changed(place: &Place, bytes: &[u8], changes: &[Change]) -> Result<Vec<u8>> {
    let mut text = bytes.to_vec();
    for change in changes {
        let backlog = place.parse(&text)?;
        match backlog.change(change) {
            Ok(changed) => text = changed.text.into_bytes(),
            Err(Refusal::NoPlace { .. } | Refusal::NoState { .. }) => {}
            // Where the file keeps no count this is a note, which is not worth an item that stays unmarked.
            Err(Refusal::NotLossless(_)) if is_note(change, &backlog) => {}
            Err(refusal) => return Err(place.refused(&refusal, &backlog)),
        }
    }
    Ok(text)
}

fn is_note(change: &Change, backlog: &Backlog<'_>) -> bool {
    let Change::Increment { id, .. } = change else { return false };
    backlog.find(id).is_some_and(|at| backlog.items()[at].limit.is_none())
}
