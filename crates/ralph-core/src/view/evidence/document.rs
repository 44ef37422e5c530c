//! The ledger and its verification as JSON.

use serde_json::{Value, json};

use crate::ledger::{Checked, Fault, Verdict, Verified, overall};
use crate::prelude::*;

/// The ledger as a whole.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    pub records: usize,
    /// The digest of the last record.
    pub head: Option<String>,
    pub faults: Vec<Fault>,
    /// Commits that name evidence which was recorded elsewhere.
    pub elsewhere: usize,
}

impl Ledger {
    fn json(&self) -> Value {
        let fault = |fault: &Fault| {
            json!({
                "kind": fault.kind.word(),
                "line": fault.line,
                "attempt": fault.attempt,
                "what": fault.what,
            })
        };
        json!({
            "records": self.records,
            "head": self.head,
            "intact": self.faults.is_empty(),
            "faults": self.faults.iter().map(fault).collect::<Vec<_>>(),
        })
    }
}

/// `ralph.evidence/1`: records as they stand in the ledger, so that their digests can be made again.
pub fn document(ledger: &Ledger, records: &[Value]) -> Value {
    json!({"schema": "ralph.evidence/1", "ledger": ledger.json(), "records": records})
}

/// `ralph.verification/1`
pub fn verification(ledger: &Ledger, verified: &[Verified], ran: bool) -> Value {
    json!({
        "schema": "ralph.verification/1",
        "result": overall(&ledger.faults, verified).word(),
        "checks_run": ran,
        "ledger": ledger.json(),
        "recorded_elsewhere": ledger.elsewhere,
        "attempts": verified.iter().map(attempt).collect::<Vec<_>>(),
    })
}

fn attempt(verified: &Verified) -> Value {
    let record = &verified.record;
    json!({
        "attempt": record.attempt,
        "iteration": record.iteration,
        "item": record.item,
        "title": record.title,
        "result": record.result,
        "claimed": record.is_claimed(),
        "without_change": record.without_change,
        "commit": verified.commit,
        "evidence": record.digest,
        "verdict": verified.verdict.word(),
        "why": verified.why,
        "remarks": verified.remarks,
        "checks": verified.checks.iter().map(checked).collect::<Vec<_>>(),
    })
}

fn checked(check: &Checked) -> Value {
    let now = check.now.as_ref();
    let failed = now.filter(|_| check.verdict != Verdict::Holds);
    json!({
        "name": check.recorded.name,
        "command": check.recorded.command(),
        "recorded": check.recorded.end,
        "now": now.map(|now| now.end.to_string()),
        "failing": now.map_or(vec![], |now| now.failing.clone()),
        "duration_ms": now.map(|now| now.duration_ms),
        "verdict": check.verdict.word(),
        "why": check.why,
        "output_tail": failed.map(|now| now.output_tail.as_str()),
    })
}
