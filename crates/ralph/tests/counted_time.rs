//! What an agent or a check worked counts, whoever was killed meanwhile and however little it said.

mod common;

use std::time::Duration;

use common::{history, one_call, ralph, repository, run, says_done, status};
use ralph_testkit::{FakeAgent, Running, Sandbox, Steps};
use rustix::process::Signal;

/// More than the next run may use in all.
const WORKED: Duration = Duration::from_millis(1200);

fn works_for_a_while(running: &Running) {
    assert!(!running.ends_within(WORKED), "it is at work");
}

fn the_next_run_has_no_time_left(sandbox: &Sandbox) {
    let resumed = ralph(sandbox).args(["run", "--max-time", "1s"]).run();
    resumed.assert_code(6).assert_stderr_has("of 1.0s");
    assert_eq!(status(sandbox)["stop_reason"], "max_time");
    sandbox.assert_no_processes();
}

fn the_agent_worked(sandbox: &Sandbox) {
    let worked = history(sandbox)[0]["agent"]["duration_ms"].as_u64().expect("a number");
    assert!(worked >= 1_000, "{worked}");
}

#[test]
fn a_silent_agent_worked_until_it_was_ended_though_ralph_was_killed() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().reach("agent").hang());
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    works_for_a_while(&running);
    running.kill9();
    running.wait().assert_code(137);
    the_next_run_has_no_time_left(&sandbox);
    the_agent_worked(&sandbox);
}

#[test]
fn a_silent_agent_worked_until_the_second_interrupt() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().shell("trap '' TERM").reach("agent").hang());
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    works_for_a_while(&running);
    running.signal(Signal::INT);
    running.wait_for_stderr("ending the agent");
    running.signal(Signal::INT);
    running.wait().assert_code(130);
    the_next_run_has_no_time_left(&sandbox);
    the_agent_worked(&sandbox);
}

#[test]
fn a_check_that_was_cut_off_took_its_time_too() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let check = FakeAgent::new("check").call(Steps::new().reach("check").hang()).install(&sandbox);
    let running =
        run(&sandbox, &agent).args(["--set", "baseline=off", "--test-cmd"]).arg(check.path()).spawn();
    sandbox.wait_for("check");
    works_for_a_while(&running);
    running.kill9();
    running.wait().assert_code(137);
    sandbox.assert_no_processes();
    let resumed = ralph(&sandbox).args(["run", "--max-time", "1s", "--test-cmd", "true"]).run();
    resumed.assert_code(6).assert_stderr_has("of 1.0s");
}

#[test]
#[cfg(target_os = "linux")]
fn an_agent_that_went_on_without_ralph_and_keeper_worked_until_the_next_start() {
    use rustix::process::{Pid, kill_process};
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().reach("agent").hang());
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    let processes = sandbox.processes();
    let keeper = processes.iter().find(|(_, line)| line.contains("__keep")).expect("a keeper").0;
    let keeper = Pid::from_raw(i32::try_from(keeper).expect("small")).expect("not 0");
    kill_process(keeper, Signal::STOP).expect("stopped");
    works_for_a_while(&running);
    running.kill9();
    running.wait().assert_code(137);
    kill_process(keeper, Signal::KILL).expect("kill -9");
    the_next_run_has_no_time_left(&sandbox);
}
