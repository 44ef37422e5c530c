//! What was tried for items that did not pass yet.

use serde::{Deserialize, Serialize};

use super::{Began, Memory};
use crate::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tried {
    pub id: String,
    pub attempts: u64,
    /// None of them changed a file.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub untouched: bool,
    /// The iterations about it that changed a test file, unless that was put back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tested_in: Vec<u64>,
    /// Where its first attempt began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<Began>,
}

impl Memory {
    pub(super) fn tried_mut(&mut self, id: &str) -> &mut Tried {
        let at = self.tried.iter().position(|tried| tried.id == id).unwrap_or_else(|| {
            self.tried.push(Tried { id: id.into(), untouched: true, ..Tried::default() });
            self.tried.len() - 1
        });
        &mut self.tried[at]
    }

    /// With what an iteration about an item did to files, whatever came of it; before it is judged.
    #[must_use]
    pub(crate) fn worked_on(mut self, id: &str, progress: bool, tested_in: Option<u64>) -> Self {
        match self.tried.iter_mut().find(|tried| tried.id == id) {
            Some(tried) => {
                tried.untouched &= !progress;
                tried.tested_in.extend(tested_in);
            }
            None if progress => {
                let tested_in = tested_in.into_iter().collect();
                self.tried.push(Tried { id: id.into(), tested_in, ..Tried::default() });
            }
            None => {}
        }
        self
    }

    /// Items that did not pass, and for which files were changed.
    pub fn worked_on_in_vain(&self) -> Vec<String> {
        self.tried.iter().filter(|tried| !tried.untouched).map(|tried| tried.id.clone()).collect()
    }

    /// Whether no iteration about the item has changed a file, in this run or in those that it goes on with.
    pub(crate) fn is_untouched(&self, id: &str) -> bool {
        self.tried.iter().find(|tried| tried.id == id).is_none_or(|tried| tried.untouched)
    }

    /// Whether an iteration about the item has changed a test file, which nobody has put back.
    pub(crate) fn is_tested(&self, id: &str) -> bool {
        self.tried.iter().any(|tried| tried.id == id && !tried.tested_in.is_empty())
    }

    /// Items that did not pass, and the iterations that changed tests for them.
    pub fn tested_in_vain(&self) -> Vec<(String, Vec<u64>)> {
        let tested = self.tried.iter().filter(|tried| !tried.tested_in.is_empty());
        tested.map(|tried| (tried.id.clone(), tried.tested_in.clone())).collect()
    }

    /// What iterations from this one on did is put back.
    pub(crate) fn undone_from(&mut self, iteration: u64) {
        self.tried.iter_mut().for_each(|tried| tried.tested_in.retain(|nth| *nth < iteration));
    }

    pub fn attempts(&self, id: &str) -> u64 {
        self.tried.iter().find(|tried| tried.id == id).map_or(0, |tried| tried.attempts)
    }
}
