//! What an earlier tool left in the project: moved aside before ralph's first write, and told.

use std::path::Path;

use ralph_core::text;
use serde_json::Value;

use crate::error::Result;
use crate::project::Project;
use crate::store::{self, Runs};
use crate::ui::Ui;

/// Where tools keep how their circuit breaker stands.
const BREAKERS: [&str; 4] =
    [".ralph/state.json", ".ralph-session.json", ".ralph/.circuit_breaker_state", ".circuit_breaker_state"];

/// To be called before anything is written for a run. A project with a run has ralph's own files under these names.
pub(crate) fn keep(project: &Project, ui: &mut Ui) -> Result<()> {
    if !Runs::of(&project.truth).all().is_empty() {
        return Ok(());
    }
    let open = open_breaker(&project.root);
    if let Some(adopted) = store::adopt(&project.root, &project.ralph_dir)? {
        ui.remark(&format!("moved files of an earlier tool to {}: {}", adopted.to, adopted.moved.join(", ")));
    }
    if let Some(open) = open {
        ui.warn(&open);
    }
    Ok(())
}

/// The first that says open, in words.
fn open_breaker(root: &Path) -> Option<String> {
    let told = |file: &str| {
        let value: Value = serde_json::from_slice(&std::fs::read(root.join(file)).ok()?).ok()?;
        let breaker = value.get("circuit_breaker").filter(|breaker| breaker.is_object()).unwrap_or(&value);
        let state = breaker.get("state").or_else(|| breaker.get("circuit_breaker_state"))?.as_str()?;
        state.eq_ignore_ascii_case("open").then_some(())?;
        let reason = breaker.get("reason").and_then(Value::as_str).filter(|reason| !reason.is_empty());
        let reason = reason.map(|reason| format!(": {}", text::one_line(reason, 200))).unwrap_or_default();
        Some(format!(
            "the circuit breaker of the earlier tool is open ({file}){reason}; ralph's own starts closed"
        ))
    };
    BREAKERS.into_iter().find_map(told)
}
