//! `--mode hook`: arms, explains and returns. A flag that means nothing to a session is refused, not passed over.

use std::process::ExitCode;

use super::super::args::{AgentArgs, RunArgs};
use super::super::hook;
use super::wishes;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::ui::Ui;

pub(super) fn hold(args: &RunArgs, ui: &mut Ui) -> Result<ExitCode> {
    let example = "ralph run --mode hook \"GOAL\"";
    if let Some(flag) = unused(args) {
        return Err(Error::usage(format!(
            "--mode hook holds a session that you start until its goal is reached: {flag} does not go with it"
        ))
        .hint(example));
    }
    let Some(goal) = args.goal.as_deref() else {
        return Err(Error::usage("--mode hook needs a goal").hint(example));
    };
    let order = hook::Order { goal, session: None, probe: args.probe };
    hook::arm(&Project::find()?, order, wishes(args)?, ui)
}

/// The first flag that hook mode has no use for. Every flag is named here, so that a new one is thought of.
fn unused(args: &RunArgs) -> Option<&'static str> {
    let RunArgs {
        goal: _,
        mode: _,
        profile: _,
        set: _,
        max_iterations: _,
        reviews: _,
        build_cmd: _,
        test_cmd: _,
        lint_cmd: _,
        budget: _,
        max_tokens: _,
        max_time: _,
        until: _,
        probe: _,
        agent: AgentArgs { agents, agent_cmd, agent_format, model, permissions, agent_args },
        no_detect,
        timeout,
        idle_timeout,
        backlog,
        harness_dir,
        task,
        phase,
        once,
        all_phases,
        all,
        commit,
        branch,
        dry_run,
        resume,
        fresh,
        yes,
        json,
        quiet,
    } = args;
    let flags = [
        (!agents.is_empty(), "--agents"),
        (!agent_cmd.is_empty(), "--agent-cmd"),
        (agent_format.is_some(), "--agent-format"),
        (!model.is_empty(), "--model"),
        (!permissions.is_empty(), "--permissions"),
        (!agent_args.is_empty(), "an argument for the agent"),
        (*no_detect, "--no-detect"),
        (timeout.is_some(), "--timeout"),
        (idle_timeout.is_some(), "--idle-timeout"),
        (backlog.is_some(), "--backlog"),
        (harness_dir.is_some(), "--harness-dir"),
        (task.is_some(), "--task"),
        (phase.is_some(), "--phase"),
        (*once, "--once"),
        (*all_phases, "--all-phases"),
        (*all, "--all"),
        (*commit, "--commit"),
        (branch.is_some(), "--branch"),
        (*dry_run, "--dry-run"),
        (*resume, "--resume"),
        (*fresh, "--fresh"),
        (*yes, "--yes"),
        (*json, "--json"),
        (*quiet, "--quiet"),
    ];
    flags.into_iter().find_map(|(given, flag)| given.then_some(flag))
}
