//! What is safe when things go wrong: `kill -9` of ralph, its keeper or both, Ctrl-C, SIGTERM, SIGHUP, and the user's own
//! work.

mod common;

use common::{
    TEST, history, one_call, outcomes, ralph, repository, repository_with_work_in_progress, run, says_done,
    says_more, status,
};
use ralph_testkit::{Background, FakeAgent, Sandbox, Signal, StatusBlock, Steps, Terminal};
use rustix::process::{Pid, kill_process};

#[test]
fn killed_while_the_agent_works_nothing_runs_on_and_the_next_iteration_follows() {
    let sandbox = repository();
    let stubborn = Background::new().own_session().clean_environment().ignores_term();
    let agent = FakeAgent::new("agent")
        .call(says_more())
        .call(
            Steps::new()
                .write("half.txt", "half\n")
                .say("working")
                .background(stubborn)
                .reach("agent")
                .hang(),
        )
        .call(Steps::new().write("green", "").status(&StatusBlock::done()))
        .call(says_done())
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", TEST]).spawn();
    sandbox.wait_for("agent");
    running.kill9();
    running.wait().assert_code(137);
    assert_eq!(status(&sandbox)["status"], "cut_off");

    // At once, while the keeper may still be ending what it keeps.
    let resumed = ralph(&sandbox).arg("run").run();
    resumed
        .assert_code(0)
        .assert_stderr_has("run 1 continued")
        .assert_stderr_has("iteration 3/50 (#3) begins");
    let expected = [(1, "more"), (2, "interrupted"), (3, "accepted"), (4, "accepted")];
    assert_eq!(outcomes(&sandbox), expected.map(|(n, word)| (n, word.to_owned())));
    assert_eq!(history(&sandbox)[1]["files"][0]["path"], "half.txt", "its work is measured");
    assert_eq!(sandbox.read("half.txt"), "half\n", "and kept");
    sandbox.assert_no_processes();
}

#[test]
fn after_a_kill_nothing_is_left_even_if_nobody_resumes() {
    let sandbox = repository();
    let stubborn = Background::new().own_session().clean_environment().ignores_term();
    let agent = one_call(&sandbox, Steps::new().background(stubborn).reach("agent").hang());
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    running.kill9();
    running.wait();
    sandbox.assert_no_processes();
}

#[test]
fn killed_while_the_check_runs_the_same_iteration_is_checked_again() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let points = FakeAgent::new("checker")
        .call(Steps::new().reach("check").hang())
        .call(Steps::new())
        .install(&sandbox);
    let running =
        run(&sandbox, &agent).args(["--set", "baseline=off", "--test-cmd"]).arg(points.path()).spawn();
    sandbox.wait_for("check");
    running.kill9();
    running.wait();
    let resumed = ralph(&sandbox).arg("run").run();
    resumed.assert_code(0).assert_stderr_lacks("(#1) begins");
    assert_eq!(outcomes(&sandbox), [(1, "accepted".to_owned()), (2, "accepted".to_owned())]);
    assert_eq!(agent.calls(&sandbox).len(), 2, "the agent is not asked again, only reviewed");
    sandbox.assert_no_processes();
}

#[test]
fn killed_between_journal_and_view_the_run_goes_on_and_the_view_is_made_again() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().status(&StatusBlock::in_progress()))
        .call(says_done())
        .install(&sandbox);
    let points = sandbox.root().join("tmp/points");
    sandbox.write(&points, "");
    // The journal has the conclusion, and its log is about to be put in place.
    run(&sandbox, &agent)
        .args(["--test-cmd", "true"])
        .env("RALPH_CRASH_POINTS", &points)
        .env("RALPH_CRASH_POINT", "kill:rename iteration-#.md#1")
        .run()
        .assert_code(137);
    assert_eq!(status(&sandbox)["last_decision"]["iteration"], 1);
    assert!(!sandbox.exists(".ralph/history/iteration-001.md"));

    let resumed = ralph(&sandbox).arg("run").run();
    resumed
        .assert_code(0)
        .assert_stderr_has("run 1 continued")
        .assert_stderr_has("iteration 2/50 (#2) begins");
    assert_eq!(
        outcomes(&sandbox),
        [(1, "more".to_owned()), (2, "accepted".to_owned()), (3, "accepted".to_owned())]
    );
    assert_eq!(agent.calls(&sandbox).len(), 3, "no iteration was lost, none was done twice");
    assert!(sandbox.exists(".ralph/history/iteration-001.md"), "the view is made again");
    assert!(sandbox.read(".ralph/session.md").contains("Status: complete"));
}

#[test]
fn ctrl_c_stops_the_agent_keeps_the_work_and_the_run_can_go_on() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new()
                .write("half.txt", "half\n")
                .background(Background::new().own_session())
                .reach("agent")
                .hang(),
        )
        .call(says_done())
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "true"]).spawn();
    sandbox.wait_for("agent");
    running.signal(Signal::INT);
    running.wait().assert_code(130).assert_stderr_has("INTERRUPTED").assert_stderr_has("to go on: ralph run");
    sandbox.assert_no_processes();
    assert_eq!(sandbox.read("half.txt"), "half\n");
    assert_eq!(status(&sandbox)["stop_reason"], "interrupted");
    ralph(&sandbox).arg("run").run().assert_code(0);
    assert_eq!(outcomes(&sandbox)[0], (1, "interrupted".to_owned()));
}

#[test]
fn a_second_ctrl_c_leaves_at_once_and_the_keeper_ends_the_agent() {
    let sandbox = repository();
    // Ignores TERM, so that the first Ctrl-C has to wait for the grace period.
    let agent = FakeAgent::new("agent")
        .call(Steps::new().shell("trap '' TERM").reach("agent").shell("while :; do sleep 1000; done"))
        .call(says_done())
        .install(&sandbox);
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    running.signal(Signal::INT);
    running.wait_for_stderr("ending the agent");
    running.signal(Signal::INT);
    running.wait().assert_code(130);
    sandbox.assert_no_processes();
    ralph(&sandbox).arg("run").run();
    for args in [&["history"][..], &["history", "1"]] {
        let told = ralph(&sandbox).args(args).run();
        assert!(told.stdout.contains("cut off together with ralph"), "{told}");
    }
}

#[test]
fn terminate_is_143() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().reach("agent").hang());
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    running.signal(Signal::TERM);
    let ended = running.wait();
    ended
        .assert_code(143)
        .assert_stderr_has("INTERRUPTED, no changes, ended: ralph was asked to end (SIGTERM");
    ended.assert_stderr_lacks("stopped by you");
    for args in [&["history"][..], &["history", "1"]] {
        ralph(&sandbox).args(args).run().assert_stdout_has("ended: ralph was asked to end (SIGTERM");
    }
    sandbox.assert_no_processes();
}

/// Index, stash, HEAD, branches, dirty and untracked files after each stop reason.
#[test]
fn the_user_s_own_work_is_the_same_after_every_stop_reason() {
    let blocked = || Steps::new().status(&StatusBlock::blocked("need a key"));
    let stops: [(&str, Steps, &[&str], i32); 4] = [
        ("complete", says_done(), &["--test-cmd", "true"], 0),
        ("blocked", blocked(), &[], 2),
        ("max_iterations", says_more(), &["--max-iterations", "2"], 3),
        ("agents_exhausted", Steps::new().exit(1), &[], 4),
    ];
    for (reason, steps, args, code) in stops {
        let sandbox = repository_with_work_in_progress();
        let agent = one_call(&sandbox, steps);
        let before = sandbox.user_git_state();
        run(&sandbox, &agent).args(args).run().assert_code(code);
        assert_eq!(status(&sandbox)["stop_reason"], reason);
        before.assert_same(&sandbox.user_git_state());
    }
}

#[test]
fn the_user_s_own_work_is_the_same_after_interrupt_terminate_kill_and_error() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::KILL, 137)] {
        let sandbox = repository_with_work_in_progress();
        let agent = one_call(&sandbox, Steps::new().reach("agent").hang());
        let before = sandbox.user_git_state();
        let running = run(&sandbox, &agent).spawn();
        sandbox.wait_for("agent");
        running.signal(signal);
        running.wait().assert_code(code);
        sandbox.assert_no_processes();
        before.assert_same(&sandbox.user_git_state());
    }
    let sandbox = repository_with_work_in_progress();
    let agent = one_call(&sandbox, says_more());
    // A tree that cannot be measured: the private index is a folder.
    sandbox.write(".git/ralph/index/in-the-way", "x");
    let before = sandbox.user_git_state();
    run(&sandbox, &agent).run().assert_code(1).assert_stderr_has("could not be measured");
    before.assert_same(&sandbox.user_git_state());
}

#[test]
fn an_agent_that_deletes_ralph_s_folder_loses_nothing() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().shell("rm -rf .ralph && git clean -fdxq").status(&StatusBlock::in_progress()))
        .call(says_done())
        .install(&sandbox);
    run(&sandbox, &agent).args(["--test-cmd", "true"]).run().assert_code(0);
    assert_eq!(outcomes(&sandbox).len(), 3);
    assert!(sandbox.exists(".ralph/.gitignore") && sandbox.exists(".ralph/session.md"));
}

#[test]
fn a_torn_journal_goes_on_and_a_damaged_one_refuses() {
    let sandbox = repository();
    sandbox.damages_the_record();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).args(["--max-iterations", "2"]).run().assert_code(3);
    let journal = ".git/ralph/runs/0001/journal.jsonl";
    let whole = sandbox.read(journal);

    sandbox.write(journal, &whole[..whole.len() - 10]);
    ralph(&sandbox).args(["run", "--max-iterations", "3", "--set", "no_progress=off"]).run().assert_code(3);

    sandbox.write(journal, whole.replacen("make it green", "make it gone!", 1));
    let refused = ralph(&sandbox).args(["run", "--max-iterations", "4"]).run();
    refused.assert_code(65).assert_stderr_has("checksum").assert_stderr_has("--fresh");
    assert_eq!(sandbox.read(journal), whole.replacen("make it green", "make it gone!", 1), "left as it was");
    let status = ralph(&sandbox).arg("status").run();
    status.assert_code(0).assert_stdout_has("the record of the last run is damaged");
    status.assert_stdout_has("ralph run --fresh \"GOAL\"").assert_stdout_has("journal:    line 1: ");
}

#[test]
fn a_parent_that_ignores_the_death_of_children_does_no_harm() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let script = format!(
        "trap '' CHLD; exec {} run goal --test-cmd true --agent-cmd {}",
        env!("CARGO_BIN_EXE_ralph"),
        agent.path().display()
    );
    let sh = sandbox.install_script("deaf-parent", &format!("#!/bin/bash\n{script}\n"));
    sandbox.ralph(&sh).run().assert_code(0).assert_stderr_has("⚠ COMPLETE");
    assert_eq!(status(&sandbox)["proof"], "checks");
}

#[test]
fn a_damaged_or_torn_run_does_not_set_the_numbers_back() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).args(["--max-iterations", "3", "--set", "no_progress=off"]).run().assert_code(3);
    let journal = ".git/ralph/runs/0001/journal.jsonl";
    let whole = sandbox.read(journal);
    sandbox.write(journal, whole.replacen("make it green", "make it gone!", 1));
    let fresh = ralph(&sandbox)
        .args(["run", "other", "--fresh", "--max-iterations", "1", "--agent-cmd"])
        .arg(agent.path());
    fresh.run().assert_code(3).assert_stderr_has("(#4)");

    // A run that was cut off in its very first record was never begun.
    sandbox.write(journal, &whole);
    sandbox.write(".git/ralph/runs/0003/journal.jsonl", &whole[..100]);
    let next = ralph(&sandbox)
        .args(["run", "third", "--max-iterations", "1", "--agent-cmd"])
        .arg(agent.path())
        .run();
    next.assert_code(3).assert_stderr_has("run 4 started").assert_stderr_has("(#5)");
}

#[test]
fn git_init_by_the_agent_does_not_hide_the_run() {
    let sandbox = Sandbox::new();
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new().shell("git init -q .").reach("agent").hold("go").status(&StatusBlock::in_progress()),
        )
        .call(says_done())
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "true", "--max-iterations", "1"]).spawn();
    sandbox.wait_for("agent");
    assert_eq!(status(&sandbox)["running"], true);
    ralph(&sandbox)
        .args(["run", "other", "--agent-cmd", "true"])
        .run()
        .assert_code(1)
        .assert_stderr_has("another run");
    sandbox.release("go");
    running.wait().assert_code(3);
    ralph(&sandbox)
        .args(["run", "--max-iterations", "5"])
        .run()
        .assert_code(0)
        .assert_stderr_has("run 1 continued");
}

#[test]
fn wrong_usage_writes_nothing_and_a_run_above_does_not_catch_folders_below_home() {
    let sandbox = Sandbox::new();
    ralph(&sandbox).arg("run").run().assert_code(64);
    ralph(&sandbox).args(["run", "goal", "--agents", "banana"]).run().assert_code(64);
    assert!(!sandbox.exists(".ralph"));

    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).env("HOME", sandbox.project()).args(["--test-cmd", "true"]).run().assert_code(0);
    sandbox.write("below/file", "x");
    let below = ralph(&sandbox).in_folder("below").env("HOME", sandbox.project()).args(["status"]).run();
    below.assert_code(0).assert_stdout_has("nothing has been run");
}

fn hanging() -> (Sandbox, ralph_testkit::Running) {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().reach("agent").hang());
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    (sandbox, running)
}

#[test]
fn a_second_run_in_the_same_tree_is_refused_with_pid_and_since_when() {
    let (sandbox, running) = hanging();
    let second = ralph(&sandbox).args(["run", "other", "--agent-cmd", "true"]).run();
    second.assert_code(1).assert_stderr_has(&format!("pid {}", running.id())).assert_stderr_has("since ");
    let status = status(&sandbox);
    assert_eq!(
        (status["running"].as_bool(), status["pid"].as_u64()),
        (Some(true), Some(u64::from(running.id())))
    );
    assert_eq!(status["status"], "working");
    running.signal(Signal::INT);
    running.wait().assert_code(130);
}

/// A process of the sandbox by a word of its command line.
fn process(sandbox: &Sandbox, word: &str) -> Pid {
    let found = sandbox.processes().into_iter().find(|(_, line)| line.contains(word));
    let (pid, _) = found.unwrap_or_else(|| panic!("no {word} in {:?}", sandbox.processes()));
    Pid::from_raw(i32::try_from(pid).expect("a number")).expect("a process")
}

/// Everything that tries to get away: a session of its own, no environment, deaf to TERM, and a child of each kind.
fn runaways() -> Steps {
    let stubborn = Background::new().own_session().clean_environment().ignores_term();
    Steps::new()
        .background(Background::new())
        .background(Background::new().own_session())
        .background(Background::new().clean_environment().keeps_output())
        .background(stubborn)
}

#[test]
#[cfg(target_os = "linux")]
fn if_the_keeper_is_killed_ralph_ends_everything_and_goes_on() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(runaways().write("half.txt", "half\n").reach("agent").hang())
        .call(says_done())
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "true"]).spawn();
    sandbox.wait_for("agent");
    kill_process(process(&sandbox, "__keep"), Signal::KILL).expect("kill -9");
    running.wait().assert_code(0).assert_stderr_has("its keeper was killed");
    assert_eq!(sandbox.read("half.txt"), "half\n", "the work is kept");
    assert_eq!(history(&sandbox)[0]["files"][0]["path"], "half.txt", "and measured");
    sandbox.assert_no_processes();
}

#[test]
#[cfg(target_os = "linux")]
fn if_ralph_and_the_keeper_are_both_killed_the_next_start_ends_what_is_left() {
    let sandbox = repository();
    let agent =
        FakeAgent::new("agent").call(runaways().reach("agent").hang()).call(says_done()).install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "true"]).spawn();
    sandbox.wait_for("agent");
    let keeper = process(&sandbox, "__keep");
    // Stopped, so that it cannot do its duty when ralph dies.
    kill_process(keeper, Signal::STOP).expect("stopped");
    running.kill9();
    running.wait().assert_code(137);
    kill_process(keeper, Signal::KILL).expect("kill -9");
    assert!(sandbox.processes().len() >= 5, "agent and runaways are there: {:?}", sandbox.processes());

    // Somebody else's, which must not be touched.
    let mut stranger = sandbox.command("sleep").arg("1000000").spawn().expect("a stranger");
    let resumed = ralph(&sandbox).arg("run").run();
    resumed.assert_code(0).assert_stderr_has("that a killed run had left at work");
    assert!(stranger.try_wait().expect("its state").is_none(), "the stranger lives");
    stranger.kill().expect("ended");
    stranger.wait().expect("gone");
    assert_eq!(outcomes(&sandbox)[0], (1, "interrupted".to_owned()));
    sandbox.assert_no_processes();
}

#[test]
fn after_a_second_ctrl_c_the_next_start_knows_what_happened() {
    let sandbox = repository();
    let deaf = Steps::new().write("half.txt", "half\n").shell("trap '' TERM").reach("agent");
    let agent = FakeAgent::new("agent")
        .call(deaf.shell("while :; do sleep 1000; done"))
        .call(says_done())
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "true"]).spawn();
    sandbox.wait_for("agent");
    running.signal(Signal::INT);
    running.wait_for_stderr("ending the agent");
    running.signal(Signal::INT);
    running.wait().assert_code(130).assert_stderr_has("to go on: ralph run");
    sandbox.assert_no_processes();
    ralph(&sandbox).arg("run").run().assert_code(0);
    assert_eq!(outcomes(&sandbox)[0], (1, "interrupted".to_owned()));
    assert_eq!(sandbox.read("half.txt"), "half\n");
}

#[test]
fn a_hangup_stops_the_run_and_keeps_the_work() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(runaways().write("half.txt", "half\n").reach("agent").hang())
        .call(says_done())
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "true"]).spawn();
    sandbox.wait_for("agent");
    running.signal(Signal::HUP);
    running.wait().assert_code(143);
    sandbox.assert_no_processes();
    assert_eq!(status(&sandbox)["stop_reason"], "terminated");
    ralph(&sandbox).arg("run").run().assert_code(0);
    assert_eq!(sandbox.read("half.txt"), "half\n");
}

#[test]
fn a_window_that_is_closed_leaves_nothing_running() {
    let sandbox = repository();
    let agent = one_call(&sandbox, runaways().write("half.txt", "half\n").reach("agent").hang());
    let mut terminal = Terminal::start(&run(&sandbox, &agent).into_command());
    sandbox.wait_for("agent");
    terminal.hang_up();
    assert_eq!(terminal.wait(), 143);
    sandbox.assert_no_processes();
    assert_eq!(status(&sandbox)["stop_reason"], "terminated");
    assert_eq!(sandbox.read("half.txt"), "half\n");
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_started_with_nohup_outlives_the_window() {
    let sandbox = repository();
    let agent =
        one_call(&sandbox, Steps::new().reach("agent").hold("go").status(&StatusBlock::in_progress()));
    let script = format!(
        "#!/bin/sh\ntrap '' HUP\nexec {} run goal --max-iterations 1 --agent-cmd {}\n",
        env!("CARGO_BIN_EXE_ralph"),
        agent.path().display()
    );
    let running = sandbox.ralph(&sandbox.install_script("without-hangup", &script)).spawn();
    sandbox.wait_for("agent");
    running.signal(Signal::HUP);
    assert_eq!(status(&sandbox)["status"], "working");
    sandbox.release("go");
    running.wait().assert_code(3);
}

#[test]
fn ctrl_c_twice_at_the_terminal_leaves_at_once() {
    let sandbox = repository();
    let deaf = runaways().shell("trap '' TERM INT").reach("agent").shell("while :; do sleep 1000; done");
    let agent = one_call(&sandbox, deaf);
    let mut terminal = Terminal::start(&run(&sandbox, &agent).into_command());
    sandbox.wait_for("agent");
    terminal.type_text("\x03");
    terminal.wait_for("once more to leave at once");
    terminal.type_text("\x03");
    assert_eq!(terminal.wait(), 130, "{}", terminal.all_output());
    sandbox.assert_no_processes();
}

#[test]
#[cfg(target_os = "linux")]
fn a_keeper_that_does_not_do_its_duty_is_ended_with_what_it_keeps() {
    let sandbox = repository();
    let agent =
        FakeAgent::new("agent").call(runaways().reach("agent").hang()).call(says_done()).install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "true"]).spawn();
    sandbox.wait_for("agent");
    let keeper = process(&sandbox, "__keep");
    kill_process(keeper, Signal::STOP).expect("stopped");
    running.kill9();
    running.wait().assert_code(137);
    ralph(&sandbox).arg("run").run().assert_code(0);
    sandbox.assert_no_processes();
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_killed_run_left_is_found_though_its_agent_replaced_the_truth_folder() {
    let sandbox = repository();
    let replaces = runaways().shell("mv .git/ralph .git/before").reach("agent").hang();
    let agent = FakeAgent::new("agent").call(replaces).call(says_done()).install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "true"]).spawn();
    sandbox.wait_for("agent");
    let keeper = process(&sandbox, "__keep");
    kill_process(keeper, Signal::STOP).expect("stopped");
    running.kill9();
    running.wait().assert_code(137);
    kill_process(keeper, Signal::KILL).expect("kill -9");
    let again = run(&sandbox, &agent).args(["--test-cmd", "true"]).run();
    again.assert_code(0).assert_stderr_has("that a killed run had left at work");
    sandbox.assert_no_processes();
}

#[test]
#[cfg(target_os = "linux")]
fn what_ralph_noted_of_an_agent_is_kept_though_its_keeper_is_killed() {
    let sandbox = repository();
    // Where the signal cannot be reset, that is noted.
    let in_the_way = "rm -f .ralph/status; mkdir .ralph/status; touch .ralph/status/file";
    let agent = FakeAgent::new("agent")
        .call(says_more().shell(in_the_way))
        .call(Steps::new().say("working").reach("agent").hang())
        .call(says_done())
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "true"]).spawn();
    sandbox.wait_for("agent");
    kill_process(process(&sandbox, "__keep"), Signal::KILL).expect("kill -9");
    running.wait().assert_code(0);
    let problems = history(&sandbox)[1]["problems"].to_string();
    assert!(problems.contains(".ralph/status cannot be reset"), "{problems}");
}
