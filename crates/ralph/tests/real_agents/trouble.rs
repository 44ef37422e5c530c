//! What every CLI meets in the same way; each module says for its own what differs.

use std::fs;

use ralph_testkit::{Finished, Sandbox, Turn};

use serde_json::json;

use crate::common::{TEST, history, outcomes, ralph};
use crate::stage::{Actor, Cli, command, done, run, stage};

pub(crate) const FULL: [&str; 2] = ["--permissions", "full"];

/// 2040-01-01, which nobody waits for.
pub(crate) const FAR: u64 = 2_208_988_800;

/// A lie is refused, a fix accepted, a review confirms it. A long prompt comes whole, the folder it is started in is not
/// the top of the project, and the knowledge file reaches the model once.
pub(crate) fn lies_fixes_and_is_reviewed(cli: Cli, knowledge: &str) -> (Sandbox, Actor) {
    let (sandbox, actor) = stage(cli, |sandbox| {
        vec![
            done("All done, the tests pass."),
            cli.writes(sandbox, "green"),
            done("Now it is green."),
            done("I checked it; nothing to change."),
        ]
    });
    sandbox.write(knowledge, "Remember the word xylophone.\n");
    let long = format!("{}The very last instruction.\n", "Take care of the details, please.\n".repeat(900));
    sandbox.write(".ralph/prompt.md", &long);
    sandbox.write("sub/README.md", "");
    let args = [&FULL[..], &["--test-cmd", TEST]].concat();
    let finished = command(&sandbox, cli.name(), &[&actor], &args).in_folder("sub").run();
    finished
        .assert_code(0)
        .assert_stderr_has("✗ claimed done, refused: ")
        .assert_stderr_has("[REVIEW]")
        .assert_stderr_has("✓ COMPLETE");
    let expected = [(1, "refused"), (2, "accepted"), (3, "accepted")].map(|(n, word)| (n, word.to_owned()));
    assert_eq!(outcomes(&sandbox), expected);
    assert!(sandbox.exists("green"));
    actor.assert_asked(4);
    assert_eq!(actor.server.turns_left(), 0);
    let requests = actor.server.main_requests();
    assert!(requests[0].mentions("The very last instruction."), "the prompt came whole");
    assert!(requests[1].mentions("was refused"), "the refusal reached the model");
    assert!(requests[3].mentions("This iteration is a review"));
    let known = requests[0].body.to_string().matches("xylophone").count();
    assert_eq!(known, 1, "{knowledge} reached the model once");
    sandbox.assert_no_processes();
    (sandbox, actor)
}

/// Each limit of the service ends the run at once where nobody may wait, and says what it is. The CLI asks so often
/// before it believes one.
pub(crate) fn is_limited(cli: Cli, limits: &[(Turn, usize, &[&str])]) {
    let script = limits.iter().flat_map(|(turn, times, _)| vec![turn.clone(); *times]).collect();
    let (sandbox, actor) = stage(cli, |_| script);
    let mut asked = 0;
    for (nth, (_, times, words)) in limits.iter().enumerate() {
        let finished = run(&sandbox, &actor, &[&FULL[..], &["--fresh", "--set", "max_wait=1ms"]].concat());
        finished.assert_code(4).assert_stderr_has("✗ NO AGENT LEFT");
        for words in *words {
            finished.assert_stderr_has(words);
        }
        asked += times;
        actor.assert_asked(asked);
        assert_eq!(history(&sandbox)[nth]["outcome"], "limited", "{finished}");
    }
    sandbox.assert_no_processes();
}

/// The service cuts the first answer off; the second process is killed while it waits for its answer; the third works.
pub(crate) fn loses_its_connection_and_is_killed(cli: Cli, cuts: Vec<Turn>) -> (Sandbox, Actor, Finished) {
    let before = cuts.len();
    let (sandbox, actor) = stage(cli, |sandbox| {
        let rest = [Turn::hang(), cli.writes(sandbox, "green"), done("It is green.")];
        cuts.into_iter().chain(rest).collect()
    });
    let args = [&FULL[..], &["--reviews", "0", "--test-cmd", TEST, "--set", "backoff=1ms"]].concat();
    let running = command(&sandbox, cli.name(), &[&actor], &args).spawn();
    actor.server.wait_for_main_requests(before + 1);
    kill_agent(&sandbox);
    let finished = running.wait();
    finished.assert_code(0).assert_stderr_has("✓ COMPLETE");
    actor.assert_asked(before + 3);
    sandbox.assert_no_processes();
    (sandbox, actor, finished)
}

/// Kills the command that the keeper keeps.
fn kill_agent(sandbox: &Sandbox) {
    let all = sandbox.processes();
    let keepers: Vec<u32> =
        all.iter().filter(|(_, command)| command.contains("__keep")).map(|(pid, _)| *pid).collect();
    let parent = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let kept: Vec<u32> = all
        .iter()
        .map(|(pid, _)| *pid)
        .filter(|pid| parent(*pid).is_some_and(|parent| keepers.contains(&parent)))
        .collect();
    assert!(!kept.is_empty(), "{all:?}");
    for pid in kept {
        let killed = sandbox.command("kill").args(["-9", &pid.to_string()]).status().expect("kill");
        assert!(killed.success());
    }
}

/// It wants to use a tool and may not, twice: that is told wherever an iteration is, and the circuit opens.
pub(crate) fn is_denied(
    cli: Cli,
    tool: &str,
    prepare: impl FnOnce(&Sandbox),
    once: impl FnOnce(&Sandbox) -> Vec<Turn>,
) {
    let (sandbox, actor) = stage(cli, |sandbox| vec![once(sandbox); 2].concat());
    prepare(&sandbox);
    let turns = actor.server.turns_left();
    let finished = run(&sandbox, &actor, &["--permissions", "inherit"]);
    finished
        .assert_code(5)
        .assert_stderr_has(&format!("⚠ denied by its permissions: {tool}\n"))
        .assert_stderr_has(&format!("CIRCUIT OPEN: permission_denied: 2 iterations were denied {tool};"))
        .assert_stderr_has("where that is safe: ralph run --probe --permissions full");
    actor.assert_asked(turns);
    let told = history(&sandbox);
    let seen: Vec<_> = told.iter().map(|entry| (&entry["denied"], &entry["files_changed"])).collect();
    assert_eq!(seen, [(&json!([tool]), &json!(0)), (&json!([tool]), &json!(0))], "{finished}");
    let listed = ralph(&sandbox).arg("history").run();
    listed.assert_stdout_has(&format!("; denied: {tool}\n"));
    let page = sandbox.read(".ralph/history/iteration-001.md");
    assert!(page.contains(&format!("\n- Denied by its permissions: {tool}\n")), "{page}");
    assert!(!sandbox.exists("green") && !sandbox.exists("by-command"), "{finished}");
    sandbox.assert_no_processes();
}

/// It may write in the project without asking, and not do that other thing.
pub(crate) fn may_edit_only(
    cli: Cli,
    other: impl FnOnce(&Sandbox) -> Turn,
    forbidden: impl FnOnce(&Sandbox) -> bool,
) {
    let (sandbox, actor) = stage(cli, |sandbox| {
        vec![cli.writes(sandbox, "green"), other(sandbox), crate::stage::more("Both done.")]
    });
    let finished = run(&sandbox, &actor, &["--permissions", "edits", "--max-iterations", "1"]);
    finished.assert_code(3);
    assert!(sandbox.exists("green"), "{finished}");
    assert!(!forbidden(&sandbox), "{finished}");
    actor.assert_asked(3);
}
