//! `cargo xtask test`: everything a change must pass, in order, up to the first failure.

use std::thread;

use crate::agents::{self, Agent};
use crate::{Result, step, targets, workspace};

/// Features that build the tests with real agent CLIs.
const REAL_AGENTS: &str = "ralph/real-agents,ralph-testkit/real-agents";

pub(crate) fn main(runner_args: &[&str]) -> Result<()> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !workspace::has_subcommand(subcommand) {
            return Err(format!("{component} is not installed\nrepeat: rustup component add {component}"));
        }
    }
    step::cargo("format", &["fmt", "--all", "--check"], &[])?;
    let agents = thread::scope(|scope| {
        // The network has work for half a minute, and the compiler does not need it.
        let installing = scope.spawn(agents::install_all);
        let clippy = "clippy --workspace --all-targets --all-features --locked -- -D warnings";
        step::cargo("lints", &clippy.split(' ').collect::<Vec<_>>(), &[])?;
        targets::check()?;
        let required = std::env::var_os("RALPH_REQUIRE_AGENTS").is_some_and(|value| value == "1");
        real_agents(required, || installing.join().unwrap_or_else(|_| Err("their install panicked".into())))
    })?;
    tests(&agents, runner_args)
}

/// The agent CLIs, or none when they cannot be had and need not be.
fn real_agents(required: bool, installed: impl FnOnce() -> Result<Vec<Agent>>) -> Result<Vec<Agent>> {
    let name = "agent CLIs";
    match step::timed(name, || Ok(installed()))? {
        Ok(agents) => Ok(agents),
        Err(why) if required => {
            Err(format!("{name}: {why}, and RALPH_REQUIRE_AGENTS=1\nrepeat: cargo xtask agents"))
        }
        Err(why) => {
            println!("skipped: tests with real agent CLIs ({why})");
            Ok(Vec::new())
        }
    }
}

fn tests(agents: &[Agent], runner_args: &[&str]) -> Result<()> {
    let nextest = workspace::has_subcommand("nextest");
    let mut args = if nextest { vec!["nextest", "run"] } else { vec!["test"] };
    args.extend(["--workspace", "--locked"]);
    let features = if agents.is_empty() { vec![] } else { vec!["--features", REAL_AGENTS] };
    args.extend(&features);
    args.extend(runner_args);
    step::cargo("tests", &args, agents)?;
    // `cargo test` runs them by itself; a filter asks for particular tests.
    if nextest && runner_args.is_empty() {
        let mut args = vec!["test", "--doc", "--workspace", "--locked"];
        args.extend(&features);
        step::cargo("doc tests", &args, agents)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_that_cannot_be_had_fail_the_gate_only_where_they_are_required() {
        let missing = || Err(String::from("npm not found"));
        assert_eq!(real_agents(false, missing).map(|agents| agents.len()), Ok(0));
        let error = real_agents(true, missing).unwrap_err();
        assert!(error.starts_with("agent CLIs: npm not found, and RALPH_REQUIRE_AGENTS=1\n"), "{error}");
    }

    #[test]
    fn agents_that_were_installed_are_all_tested() {
        let agent = || Agent { variable: "RALPH_TEST_ONE", program: "one".into() };
        let agents = real_agents(false, || Ok(vec![agent(), agent()]));
        assert_eq!(agents.map(|agents| agents.len()), Ok(2));
    }
}
