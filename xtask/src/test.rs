//! `cargo xtask test`: everything a change must pass, in order, up to the first failure.

use crate::agents::{self, Agent};
use crate::{Result, step, workspace};

/// Features that build the tests with real agent CLIs.
const REAL_AGENTS: &str = "ralph/real-agents,ralph-testkit/real-agents";

pub(crate) fn main(runner_args: &[&str]) -> Result<()> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !workspace::has_subcommand(subcommand) {
            return Err(format!("{component} is not installed\nrepeat: rustup component add {component}"));
        }
    }
    cargo_step("format", &["fmt", "--all", "--check"], &[])?;
    let clippy = "clippy --workspace --all-targets --all-features --locked -- -D warnings";
    cargo_step("lints", &clippy.split(' ').collect::<Vec<_>>(), &[])?;
    let agents = real_agents()?;
    tests(&agents, runner_args)
}

/// The agent CLIs, or none when they cannot be had and need not be.
fn real_agents() -> Result<Vec<Agent>> {
    let required = std::env::var_os("RALPH_REQUIRE_AGENTS").is_some_and(|value| value == "1");
    let name = "agent CLIs";
    match step::timed(name, || Ok(agents::install_all()))? {
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
    cargo_step("tests", &args, agents)?;
    // `cargo test` runs them by itself; a filter asks for particular tests.
    if nextest && runner_args.is_empty() {
        let mut args = vec!["test", "--doc", "--workspace", "--locked"];
        args.extend(&features);
        cargo_step("doc tests", &args, agents)?;
    }
    Ok(())
}

fn cargo_step(name: &str, args: &[&str], agents: &[Agent]) -> Result<()> {
    let mut cargo = workspace::cargo();
    let mut repeat = String::new();
    for agent in agents {
        cargo.env(agent.variable, &agent.program);
        repeat.push_str(&format!("{}={} ", agent.variable, agent.program.display()));
    }
    repeat.push_str(&format!("cargo {}", args.join(" ")));
    step::run(name, &repeat, cargo.args(args))
}
