//! Agents that are bad company: too much output, too much silence, too many children.

mod common;

use common::{history, one_call, ralph, repository, run, says_done};
use ralph_testkit::{Background, FakeAgent, Signal, StatusBlock, Steps};

#[test]
fn an_agent_that_hangs_in_silence_is_ended_with_all_it_started() {
    let sandbox = repository();
    let child = Background::new().own_session().ignores_term().keeps_output();
    let agent =
        one_call(&sandbox, Steps::new().say("working").write("half.txt", "half\n").background(child).hang());
    let finished = run(&sandbox, &agent).args(["--idle-timeout", "1s", "--max-iterations", "1"]).run();
    finished.assert_code(3).assert_stderr_has("the agent said nothing for 1s");
    assert_eq!(history(&sandbox)[0]["agent"]["end"], "ended: it said nothing for 1s");
    assert_eq!(sandbox.read("half.txt"), "half\n", "its work is kept");
    sandbox.assert_no_processes();
}

#[test]
fn an_agent_may_be_silent_where_no_limit_is_set_and_a_wrong_limit_is_refused() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().reach("agent").hold("go").status(&StatusBlock::done()));
    let running = run(&sandbox, &agent)
        .args(["--idle-timeout", "0", "--test-cmd", "true", "--set", "reviews=0"])
        .spawn();
    sandbox.wait_for("agent");
    sandbox.release("go");
    running.wait().assert_code(0);
    ralph(&sandbox)
        .args(["run", "x", "--agent-cmd", "true", "--idle-timeout", "soon"])
        .run()
        .assert_code(64)
        .assert_stderr_has("--idle-timeout soon");
}

#[test]
fn a_storm_of_processes_is_over_with_its_iteration() {
    let sandbox = repository();
    let storm = "i=0; while [ $i -lt 60 ]; do \
                 setsid sh -c 'trap \"\" TERM; while :; do sleep 0.05; done' >/dev/null 2>&1 & i=$((i+1)); done";
    let agent = FakeAgent::new("agent")
        .call(Steps::new().shell(storm).status(&StatusBlock::done()))
        .call(says_done())
        .install(&sandbox);
    run(&sandbox, &agent)
        .args(["--test-cmd", "true"])
        .run()
        .assert_code(0)
        .assert_stderr_has("background process");
    sandbox.assert_no_processes();
}

/// The most memory a process had so far, in kilobytes.
#[cfg(target_os = "linux")]
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
#[cfg(target_os = "linux")]
fn a_hundred_megabytes_of_output_take_no_more_memory_than_a_page_of_it() {
    let sandbox = repository();
    let printed = "yes \"$(head -c 4000 /dev/zero | tr '\\0' '.')\" | head -c 100000000";
    let flood =
        Steps::new().shell(printed).say("").status(&StatusBlock::in_progress()).reach("printed").hold("go");
    let agent = one_call(&sandbox, flood);
    let running = run(&sandbox, &agent).args(["--max-iterations", "1"]).spawn();
    sandbox.wait_for("printed");
    let keepers = sandbox.processes().into_iter().filter(|(_, line)| line.contains("__keep"));
    let keepers: Vec<u64> = keepers.map(|(pid, _)| peak(pid)).collect();
    let peak = peak(running.id());
    assert!(!keepers.is_empty() && keepers.iter().all(|peak| *peak < 25_000), "{keepers:?} kB");
    assert!(peak < 40_000, "{peak} kB");
    sandbox.release("go");
    running.wait().assert_code(3);
    assert_eq!(history(&sandbox)[0]["outcome"], "more", "the report at its end is heard");
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_of_a_hundred_megabytes_is_cut_and_what_follows_is_heard() {
    let sandbox = repository();
    let line = "head -c 100000000 /dev/zero | tr '\\0' x";
    let agent = one_call(
        &sandbox,
        Steps::new().shell(line).say("").status(&StatusBlock::in_progress()).reach("printed").hold("go"),
    );
    let running = run(&sandbox, &agent).args(["--max-iterations", "1"]).spawn();
    sandbox.wait_for("printed");
    let peak = peak(running.id());
    assert!(peak < 60_000, "{peak} kB");
    sandbox.release("go");
    running.wait().assert_code(3);
    assert_eq!(history(&sandbox)[0]["problems"][0], "a line over 8 MB was cut");
    assert_eq!(history(&sandbox)[0]["outcome"], "more");
}

/// A filter of git's that the agent sets up: git runs it for every file `*.q` when ralph measures.
#[cfg(target_os = "linux")]
fn with_filter(command: &str) -> Steps {
    let quoted = command.replace('\'', r"'\''");
    Steps::new()
        .shell(&format!("git config filter.q.clean '{quoted}'"))
        .write(".gitattributes", "*.q filter=q\n")
        .write("one.q", "one\n")
        .write("two.q", "two\n")
}

#[cfg(target_os = "linux")]
#[test]
fn a_filter_that_hangs_ends_with_the_first_ctrl_c_and_the_work_is_kept() {
    let sandbox = repository();
    let hang = format!("echo > {}; exec sleep 98765", sandbox.point("filter").display());
    let agent = one_call(&sandbox, with_filter(&hang).status(&StatusBlock::done()));
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("filter");
    running.signal(Signal::INT);
    running.wait().assert_code(130).assert_stderr_has("INTERRUPTED");
    assert_eq!(sandbox.read("two.q"), "two\n");
    sandbox.assert_no_processes();

    sandbox.git(&["config", "--unset", "filter.q.clean"]);
    ralph(&sandbox).args(["run", "--reviews", "0"]).run().assert_code(0);
    assert!(history(&sandbox)[0]["files"].to_string().contains("two.q"), "{:?}", history(&sandbox)[0]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_filter_that_leaves_processes_leaves_none_after_its_iteration() {
    let sandbox = repository();
    let leave = "env -i setsid sleep 98765 >/dev/null 2>&1 </dev/null & cat";
    let agent = FakeAgent::new("agent")
        .call(with_filter(leave).status(&StatusBlock::done()))
        .call(Steps::new().reach("second").hold("go").status(&StatusBlock::done()))
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "true"]).spawn();
    sandbox.wait_for("second");
    let sleeping = sandbox.processes().into_iter().filter(|(_, line)| line.contains("98765"));
    assert_eq!(sleeping.collect::<Vec<_>>(), [], "while the second agent works");
    sandbox.release("go");
    running.wait().assert_code(0);
    sandbox.assert_no_processes();
}

#[cfg(target_os = "linux")]
#[test]
fn a_filter_that_hangs_and_a_killed_ralph_are_both_gone_at_the_next_start() {
    let sandbox = repository();
    let hang = format!("echo > {}; exec sleep 98765", sandbox.point("filter").display());
    let agent = FakeAgent::new("agent")
        .call(with_filter(&hang).status(&StatusBlock::done()))
        .call(says_done())
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "true"]).spawn();
    sandbox.wait_for("filter");
    running.kill9();
    running.wait().assert_code(137);
    sandbox.git(&["config", "--unset", "filter.q.clean"]);
    ralph(&sandbox).arg("run").run().assert_code(0);
    sandbox.assert_no_processes();
}
