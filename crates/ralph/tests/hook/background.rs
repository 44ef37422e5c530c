//! `/ralph-run`: a run over the backlog that a session starts and does not hold.

use ralph_testkit::{FakeAgent, Sandbox, Steps};

use crate::common::{history, ralph, repository, status};
use crate::install::{hook, pasted};

const TASKS: &str = "tasks:\n  - {id: one, title: One, status: todo, phase: mvp}\n  - {id: two, title: Two, status: todo, phase: mvp}\n  - {id: three, title: Three, status: todo, phase: phase_2}\n";

fn project() -> Sandbox {
    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", TASKS);
    hook(&sandbox, "install").assert_code(0);
    sandbox
}

/// What the installed command says to its session.
fn typed(sandbox: &Sandbox, arguments: &str) -> (Option<i32>, String) {
    let script = pasted(sandbox, "ralph-run", arguments);
    let done = sandbox.command("sh").args(["-c", &script]).env("CLAUDECODE", "1").output().expect("sh");
    (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
}

#[test]
fn a_session_starts_a_run_in_the_background_with_seed_004_s_arguments() {
    let sandbox = project();
    let claims = "Task two is complete.\n\nRALPH_STATUS: {\"completion_indicators\": 1, \"EXIT_SIGNAL\": false}\nLOOP_CONTINUE";
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new()
                .shell("echo \"CLAUDECODE=$CLAUDECODE\" > .git/environment")
                .reach("here")
                .hold("go")
                .append("a.txt", "x\n")
                .say(claims),
        )
        .install(&sandbox);
    let config = format!("pool = [\"mine\"]\n[agents.mine]\ncommand = \"{}\"\n", agent.path().display());
    sandbox.write(".ralph/config.toml", config);
    let (code, said) = typed(&sandbox, "two 7 mvp --yes");
    assert_eq!(code, Some(0), "{said}");
    let run = "ralph run --profile phases --task two --max-iterations 7 --phase mvp --yes";
    for words in ["started in the background", run, "ralph stop", ".ralph/background.log"] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    sandbox.wait_for("here");
    assert_eq!(status(&sandbox)["max_iterations"], 7);
    let following = ralph(&sandbox).args(["status", "--follow"]).spawn();
    following.wait_for_stdout("status:     working");
    sandbox.release("go");
    following.wait().assert_code(0);
    assert_eq!(history(&sandbox)[0]["item"]["id"], "two");
    assert!(sandbox.read(".ralph/ralph.yml").contains("{id: two, title: Two, status: done"));
    assert_eq!(sandbox.read(".git/environment"), "CLAUDECODE=\n", "agents are not part of the session");
    assert!(sandbox.read(".ralph/background.log").contains("iteration 1/7"));
}

#[test]
fn a_run_that_cannot_begin_tells_the_session_why_and_odd_arguments_are_refused() {
    let sandbox = project();
    let (code, said) = typed(&sandbox, "nothing-like-it");
    assert!(code == Some(1) && said.contains("the run did not begin"), "{said}");
    assert!(said.contains("nothing-like-it"), "{said}");
    let (code, said) = typed(&sandbox, "--agent-cmd=sh");
    assert!(code == Some(64) && said.contains("unknown argument 'agent_cmd'"), "{said}");
    let (_, said) = typed(&sandbox, "$(touch pwned) `touch pwned`");
    assert!(!sandbox.exists("pwned"), "{said}");
    hook(&sandbox, "uninstall").assert_code(0);
    assert!(!sandbox.exists(".claude/commands/ralph-run.md"));
}
