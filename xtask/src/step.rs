//! One step of a chore: a line when it starts, its duration when it ends, what to repeat when it fails.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::agents::Agent;
use crate::{Result, workspace};

/// Does `work` between a line that names it and a line that says how long it took.
pub(crate) fn timed<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("==> {name}");
    let begun = Instant::now();
    let done = work()?;
    println!("    {name}: {}", seconds(begun.elapsed()));
    Ok(done)
}

/// Runs a command as a step; `repeat` is how a person types it.
pub(crate) fn run(name: &str, repeat: &str, command: &mut Command) -> Result<()> {
    timed(name, || {
        let status = command.status().map_err(|error| format!("{name}: cannot be run: {error}"))?;
        if status.success() {
            return Ok(());
        }
        Err(format!("{name} ({status})\nrepeat: {repeat}"))
    })
}

/// Runs cargo as a step, with the agent CLIs where the tests and the recorder look for them.
pub(crate) fn cargo(name: &str, args: &[&str], agents: &[Agent]) -> Result<()> {
    let mut cargo = workspace::cargo();
    let mut repeat = String::new();
    for agent in agents {
        cargo.env(agent.variable, &agent.program);
        repeat.push_str(&format!("{}={} ", agent.variable, agent.program.display()));
    }
    repeat.push_str(&format!("cargo {}", args.join(" ")));
    run(name, &repeat, cargo.args(args))
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_says_what_failed_and_how_to_repeat_it() {
        let error = run("nothing", "false --again", &mut Command::new("false")).unwrap_err();
        assert!(error.starts_with("nothing (exit status: 1)"), "{error}");
        assert!(error.ends_with("repeat: false --again"), "{error}");
    }

    #[test]
    fn a_command_that_is_not_there_is_a_failure() {
        let error = run("ghost", "ghost", &mut Command::new("/nonexistent/ghost")).unwrap_err();
        assert!(error.starts_with("ghost: cannot be run"), "{error}");
    }
}
