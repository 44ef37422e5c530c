//! The evidence ledger as values: what a record says, whether the chain of records is whole, and what running the
//! recorded checks again amounts to. Digests are made by the shell; here they are compared.

mod chain;
mod record;
mod verdict;

pub use chain::{Anchor, Fault, FaultKind, Held, Link, faults, unnamed};
pub use record::{Attempted, Custody, Passed, Ran, Record, attempts, is_by_word, select};
pub use verdict::{Checked, Verdict, Verified, of_check, overall};

#[cfg(test)]
mod tests;
