//! `.harness.lock`: seed 003's advisory lock, for others who work with the same harness. It warns and holds nobody up;
//! what keeps two ralphs apart is the lock in the truth folder.

use std::io;
use std::path::{Path, PathBuf};

use ralph_core::state::State;
use ralph_core::time::Time;
use serde_json::{Value, json};

use super::files;

/// After this long nobody is believed to be at work any more.
const STALE: u64 = 30 * 60 * 1000;

#[derive(Debug)]
pub struct HarnessLock {
    path: PathBuf,
}

impl HarnessLock {
    pub fn of(root: &Path) -> Self {
        Self { path: root.join(".harness.lock") }
    }

    /// Who else is at work, in words; nobody, if it is stale or ours. `own` is the id of the run that goes on.
    pub fn somebody(&self, own: Option<&str>, now: Time) -> Option<String> {
        let lock = self.read()?;
        let text = |key: &str| lock[key].as_str().unwrap_or("unknown");
        let since = Time::parse(text("timestamp"))?;
        if now.since(since) >= STALE || own.is_some_and(|run| text("agent_id") == agent_id(run)) {
            return None;
        }
        Some(format!(
            "{} on {} works on {} since {} (.harness.lock); going on all the same",
            text("agent_id"),
            text("hostname"),
            text("feature_id"),
            since
        ))
    }

    /// Says which item is worked on; gone when the run stops. Another's lock stays, as long as it counts.
    pub fn publish(&self, state: &State) -> io::Result<()> {
        let Some(run) = state.run.as_ref().filter(|run| run.plan.policy.harness_lock) else { return Ok(()) };
        if state.stop().is_some() {
            return if self.is_of(&run.id) { files::remove(&self.path) } else { Ok(()) };
        }
        let Some(item) = state.current.as_ref().and_then(|current| current.item.as_ref()) else {
            return Ok(());
        };
        if self.somebody(Some(&run.id), state.updated_at).is_some() {
            return Ok(());
        }
        let lock = json!({
            "agent_id": agent_id(&run.id),
            "timestamp": state.updated_at,
            "feature_id": item.id,
            "hostname": hostname(),
        });
        files::replace(&self.path, format!("{lock:#}\n").as_bytes())
    }

    pub fn is_of(&self, run: &str) -> bool {
        self.read().is_some_and(|lock| lock["agent_id"] == agent_id(run))
    }

    fn read(&self) -> Option<Value> {
        serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()
    }
}

fn agent_id(run: &str) -> String {
    format!("ralph-{run}")
}

pub(crate) fn hostname() -> String {
    let told =
        std::fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| std::env::var("HOSTNAME").ok());
    told.map_or_else(|| "unknown".into(), |name| name.trim().to_owned())
}
