//! How large a program was.

use std::fs;
use std::process::Command;

use crate::Result;

/// The largest the program or a keeper of its ever was, in megabytes. The kernel keeps the mark; it is read until there is
/// no more of it.
pub(super) fn peak(command: &mut Command) -> Result<Option<f64>> {
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let pid = child.id();
    let mut kilobytes = None;
    loop {
        let ended = child.try_wait().map_err(|error| format!("{command:?}: {error}"))?;
        if ended.is_some() {
            return Ok(kilobytes.map(|kilobytes: u64| kilobytes as f64 * 1024.0 / 1e6));
        }
        for pid in std::iter::once(pid).chain(keepers(pid)) {
            let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            kilobytes = kilobytes.max(high_water_mark(&text));
        }
    }
}

/// Through whom all that an agent prints goes.
pub(super) fn keepers(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<u32> = children
        .flat_map(|line| line.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect();
    let name = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    children.into_iter().filter(|pid| name(pid).trim() == "ralph-keeper").collect()
}

fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_high_water_mark_is_found_and_a_dead_process_has_none() {
        assert_eq!(high_water_mark("Name:\tx\nVmPeak:\t    9 kB\nVmHWM:\t    2048 kB\n"), Some(2048));
        assert_eq!(high_water_mark("Name:\tx\nState:\tZ (zombie)\n"), None);
    }
}
