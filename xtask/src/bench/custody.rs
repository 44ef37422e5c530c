//! What it costs to watch over an agent: memory when it talks without end, processor time when it says nothing.

use std::fs;
use std::process::Command;
use std::time::Duration;

use super::memory::{keepers, peak};
use super::place::Place;
use super::table::{Row, Target, Value};
use crate::Result;

/// The most that ralph may weigh, whatever the agent prints.
const MEGABYTES: f64 = 16.0;
/// How long the silence is watched, once the run is under way.
const SILENCE: Duration = Duration::from_secs(4);
const UNDER_WAY: Duration = Duration::from_secs(2);

/// Rows, and a word on what the kernel counted.
pub(super) fn custody(place: &Place, large: bool) -> Result<(Vec<Row>, Vec<String>)> {
    let repo = place.repository("custody", 100)?;
    let megabytes = if large { 1_000 } else { 200 };
    let line =
        r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"a line of a build"}]}}"#;
    place.script("flood.sh", &format!("yes '{line}' | head -c {megabytes}000000\n"))?;
    let run = |agent: &str| {
        let args = ["run", "bench", "--fresh", "--agent-cmd", agent, "--max-iterations", "1", "--quiet"];
        place.ralph(&repo, &args)
    };
    let mut rows = Vec::new();
    let mut said = Vec::new();
    // First: what the flood leaves is packed by the run after it.
    match silence(&mut run("exec sleep 8"))? {
        Some(spent) => {
            let seconds = SILENCE.as_secs_f64();
            rows.push(Row {
                what: format!("processor time, agent silent for {seconds} s"),
                measured: Value::Millis(spent.millis),
                baseline: Value::Millis(seconds * 1e3),
                against: "the silence",
                ratio: spent.millis / (seconds * 1e3),
                target: Some(Target::AtMost(0.0)),
                runs: 1,
                spread: None,
            });
            let Spent { threads, wakes, .. } = spent;
            said.push(format!(
                "silence: {threads} threads of ralph and its keeper woke up {wakes} times in all"
            ));
        }
        None => said.push("processor time in silence: only Linux tells".into()),
    }
    match peak(&mut run("sh ../flood.sh"))? {
        Some(megabytes_used) => rows.push(Row {
            what: format!("peak memory, agent prints {megabytes} MB"),
            measured: Value::Megabytes(megabytes_used),
            baseline: Value::Megabytes(MEGABYTES),
            against: "the limit",
            ratio: megabytes_used / MEGABYTES,
            target: Some(Target::AtMost(1.0)),
            runs: 1,
            spread: None,
        }),
        None => said.push("peak memory of a run: only Linux tells".into()),
    }
    Ok((rows, said))
}

/// What ralph and its keeper used.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    millis: f64,
    /// Times that a thread had gone to sleep and was woken.
    wakes: u64,
    threads: usize,
}

fn silence(command: &mut Command) -> Result<Option<Spent>> {
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let pid = child.id();
    std::thread::sleep(UNDER_WAY);
    let before = spent(pid);
    std::thread::sleep(SILENCE);
    let after = spent(pid);
    child.wait().map_err(|error| format!("{command:?}: {error}"))?;
    Ok(before.zip(after).map(|(before, after)| Spent {
        millis: after.millis - before.millis,
        wakes: after.wakes.saturating_sub(before.wakes),
        threads: after.threads,
    }))
}

/// Of a process and the keepers below it; `None` where the kernel does not tell.
fn spent(pid: u32) -> Option<Spent> {
    let mut sum = Spent::default();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let read = |name: &str| fs::read_to_string(thread.path().join(name)).ok();
        let nanoseconds: f64 = read("schedstat")?.split_whitespace().next()?.parse().ok()?;
        sum.millis += nanoseconds / 1e6;
        sum.wakes += wakes(&read("status")?)?;
        sum.threads += 1;
    }
    for keeper in keepers(pid).into_iter().filter_map(spent) {
        sum.millis += keeper.millis;
        sum.wakes += keeper.wakes;
        sum.threads += keeper.threads;
    }
    Some(sum)
}

fn wakes(status: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_times_that_a_thread_went_to_sleep_by_itself_are_counted() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t7\n";
        assert_eq!(wakes(status), Some(12));
        assert_eq!(wakes("Name:\tx\n"), None);
    }
}
