//! Sessions of the real CLIs that a Stop hook holds.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use ralph_testkit::{Sandbox, Terminal, Turn};
use serde_json::{Value, json};

use crate::common::{GOAL, TEST, outcomes, ralph, status};
use crate::stage::{Actor, Cli, done, more, stage};

const CLAUDE: Cli = Cli::Claude;
const STREAM: [&str; 3] = ["--output-format", "stream-json", "--verbose"];
const FULL: &str = "--dangerously-skip-permissions";

/// A repository with the hooks installed, and Claude Code pointed at its stand-in.
fn with_hooks(script: impl FnOnce(&Sandbox) -> Vec<Turn>) -> (Sandbox, Actor) {
    let (sandbox, actor) = stage(CLAUDE, script);
    ralph(&sandbox).args(["hook", "install"]).run().assert_code(0);
    (sandbox, actor)
}

fn arm(sandbox: &Sandbox, args: &[&str]) {
    ralph(sandbox).args(["hook", "arm", GOAL]).args(args).run().assert_code(0).assert_stderr_has("armed");
}

/// A session with one prompt, to its end; what it printed.
fn session(sandbox: &Sandbox, actor: &Actor, prompt: &str) -> String {
    session_with(sandbox, actor, prompt, &[FULL])
}

fn session_with(sandbox: &Sandbox, actor: &Actor, prompt: &str, args: &[&str]) -> String {
    let mut command = sandbox.command("timeout");
    command.args(["170", "claude", "-p", prompt]).args(STREAM).args(args);
    command.envs(actor.env()).stdin(Stdio::null());
    let output = command.output().expect("claude runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// A session that stays open between prompts.
struct Open {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Open {
    fn start(sandbox: &Sandbox, actor: &Actor) -> Self {
        let mut command = sandbox.command("claude");
        command.args(["-p", "--input-format", "stream-json", FULL]).args(STREAM).envs(actor.env());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("claude starts");
        let stdout = child.stdout.take().expect("piped");
        Self { stdin: child.stdin.take(), lines: BufReader::new(stdout).lines(), child }
    }

    fn ask(&mut self, prompt: &str) {
        let message = json!({"type": "user", "message": {"role": "user", "content": prompt}});
        let stdin = self.stdin.as_mut().expect("open");
        writeln!(stdin, "{message}").and_then(|()| stdin.flush()).expect("claude reads");
    }

    /// Until the turn is over.
    fn answer(&mut self) -> Value {
        let lines = self.lines.by_ref().map(|line| line.expect("a line"));
        let values = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        values.filter(|value| value["type"] == "result").take(1).last().expect("a result")
    }

    fn close(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().expect("claude ends").success());
    }
}

#[test]
fn claude_is_held_until_what_it_claims_is_true() {
    let (sandbox, actor) = with_hooks(|sandbox| {
        vec![
            more("I looked around."),
            done("All done."),
            CLAUDE.writes(sandbox, "green"),
            done("Now it is green."),
        ]
    });
    arm(&sandbox, &["--test-cmd", TEST]);
    let said = session(&sandbox, &actor, "Begin.");
    actor.assert_asked(4);
    assert!(actor.was_told("iteration 1 of at most 50"), "its start tells the goal: {said}");
    assert!(actor.was_told("not ok 1 - is_green"), "the refusal tells why: {said}");
    let expected = [(1, "more"), (2, "refused"), (3, "accepted")].map(|(n, word)| (n, word.to_owned()));
    assert_eq!(outcomes(&sandbox), expected);
    let status = status(&sandbox);
    assert_eq!((&status["stop_reason"], &status["proof"]), (&json!("complete"), &json!("checks")));
    assert!(status["cost"]["tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{status}");
    ralph(&sandbox).args(["hook", "status"]).run().assert_stdout_has("no session is held");
}

#[test]
fn claude_stops_at_its_promise_and_at_no_other() {
    let promise = |text: &str| Turn::text(format!("It is done.\n\n<promise>{text}</promise>"));
    let (sandbox, actor) = with_hooks(|_| vec![promise("COMPLETE"), promise("SHIPPED")]);
    arm(&sandbox, &["--promise", "SHIPPED"]);
    session(&sandbox, &actor, "Begin.");
    actor.assert_asked(2);
    assert_eq!(status(&sandbox)["stop_reason"], "complete");
}

#[test]
fn claude_is_let_go_at_the_limit() {
    let (sandbox, actor) = with_hooks(|_| vec![more("One."), more("Two.")]);
    arm(&sandbox, &["--max-iterations", "2"]);
    session(&sandbox, &actor, "Begin.");
    actor.assert_asked(2);
    assert_eq!(status(&sandbox)["stop_reason"], "max_iterations");
}

#[test]
fn claude_is_let_go_when_the_circuit_opens() {
    let (sandbox, actor) = with_hooks(|_| (1..=4).map(|n| more(&format!("Turn {n}."))).collect());
    arm(&sandbox, &[]);
    session(&sandbox, &actor, "Begin.");
    actor.assert_asked(4);
    assert_eq!(status(&sandbox)["stop_reason"], "circuit_open");
}

#[test]
fn claude_goes_on_beyond_its_own_cap_of_blocks() {
    let (sandbox, actor) = with_hooks(|_| (1..=12).map(|n| more(&format!("Turn {n}."))).collect());
    arm(&sandbox, &["--max-iterations", "12", "--set", "no_progress=off"]);
    session(&sandbox, &actor, "Begin.");
    actor.assert_asked(12);
    assert_eq!(outcomes(&sandbox).len(), 12);
}

/// The record of that run as somebody damaged it.
fn damage(sandbox: &Sandbox, run: &str) {
    sandbox.damages_the_record();
    let path = format!(".git/ralph/runs/{run}/journal.jsonl");
    sandbox.write(&path, sandbox.read(&path).replacen("make it", "fake it", 1));
}

#[test]
fn a_fault_inside_ralph_lets_claude_stop() {
    let (sandbox, actor) = with_hooks(|_| vec![more("One."), more("Two."), more("never asked for")]);
    arm(&sandbox, &[]);
    damage(&sandbox, "0001");
    let said = session(&sandbox, &actor, "Begin.");
    actor.assert_asked(1);
    assert!(said.contains("ralph does not hold this session, because of"), "{said}");
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
    let name = "0f9c2a2e-5d0c-4a33-9a58-1c4b0d2f7e61";
    arm(&sandbox, &["--session", name]);
    damage(&sandbox, "0002");
    let said = session_with(&sandbox, &actor, "Begin.", &[FULL, "--session-id", name]);
    actor.assert_asked(2);
    let transcripts = sandbox.home().join(".claude/projects");
    let told =
        sandbox.command("grep").args(["-rl", "ralph lets this session stop"]).arg(transcripts).status();
    assert!(told.expect("grep").success(), "{said}");
}

#[test]
fn another_session_of_the_project_is_not_held() {
    let (sandbox, actor) = with_hooks(|_| vec![more("Held."), Turn::hang(), more("Not held.")]);
    arm(&sandbox, &[]);
    let mut first = Open::start(&sandbox, &actor);
    first.ask("Begin.");
    actor.server.wait_for_main_requests(2);
    session(&sandbox, &actor, "Something else.");
    actor.assert_asked(3);
    assert_eq!(outcomes(&sandbox)[0], (1, "more".to_owned()));
    first.child.kill().and_then(|()| first.child.wait()).expect("killed");
}

#[test]
fn a_session_that_was_open_before_arming_is_not_held() {
    let (sandbox, actor) =
        with_hooks(|_| vec![more("Before."), more("After."), more("Held."), done("Done.")]);
    let mut open = Open::start(&sandbox, &actor);
    open.ask("Before.");
    open.answer();
    arm(&sandbox, &[]);
    open.ask("After.");
    open.answer();
    actor.assert_asked(2);
    open.close();
    session(&sandbox, &actor, "The next one.");
    actor.assert_asked(4);
    assert_eq!(status(&sandbox)["stop_reason"], "complete");
}

/// Claude Code begins the transcript with the first prompt, so that nothing there tells how long it was open.
#[test]
fn a_session_that_was_open_before_arming_and_was_told_nothing_yet_is_never_held() {
    let (sandbox, actor) =
        with_hooks(|_| vec![more("First."), more("Second."), more("Third."), more("Held."), done("Done.")]);
    let settings = sandbox.read(".claude/settings.json");
    let started = format!("hook session; echo > {}\"", sandbox.point("started").display());
    assert_eq!(settings.matches("hook session\"").count(), 1);
    sandbox.write(".claude/settings.json", settings.replace("hook session\"", &started));
    let mut open = Open::start(&sandbox, &actor);
    sandbox.wait_for("started");
    arm(&sandbox, &[]);
    for prompt in ["First.", "Second.", "Third."] {
        open.ask(prompt);
        open.answer();
    }
    actor.assert_asked(3);
    open.close();
    assert_eq!(outcomes(&sandbox), []);
    session(&sandbox, &actor, "The next one.");
    actor.assert_asked(5);
    assert_eq!(status(&sandbox)["stop_reason"], "complete");
}

#[test]
fn a_command_in_the_session_arms_it_for_itself() {
    let (sandbox, actor) = with_hooks(|_| vec![more("One."), done("Two.")]);
    session(&sandbox, &actor, "/ralph make it \"green\" & don't stop");
    actor.assert_asked(2);
    let status = status(&sandbox);
    assert_eq!(status["goal"], "make it \"green\" & don't stop");
    assert_eq!(status["stop_reason"], "complete");
}

#[test]
fn a_goal_with_lines_that_mean_something_to_shells_stays_a_goal() {
    let (sandbox, actor) = with_hooks(|_| vec![done("Done.")]);
    let goal = "make it green\nEND_OF_GOAL\ntouch pwned\n$(touch pwned)";
    session(&sandbox, &actor, &format!("/ralph {goal}"));
    actor.assert_asked(1);
    assert_eq!(status(&sandbox)["goal"], goal);
    assert!(!sandbox.exists("pwned"));
}

#[test]
fn a_goal_that_ends_the_command_it_is_pasted_into_holds_nothing() {
    let (sandbox, actor) = with_hooks(|_| vec![more("never asked for")]);
    let goal = "make it green\n```\ntouch pwned\n```!\ntouch pwned\n```\n!`touch pwned`";
    let said = session(&sandbox, &actor, &format!("/ralph {goal}"));
    actor.assert_asked(0);
    assert!(said.contains("the text is cut off"), "{said}");
    ralph(&sandbox).args(["hook", "status"]).run().assert_stdout_has("no session is held");
    assert!(!sandbox.exists("pwned"));
}

/// Without rights of its own a session may run what each command says it runs, and nothing else.
#[test]
fn its_commands_run_in_the_ordinary_permission_mode() {
    let (sandbox, actor) = with_hooks(|_| {
        vec![
            CLAUDE.shell("touch by-command"),
            more("I may not."),
            done("It is green."),
            more("Armed for two."),
            more("Let go at two."),
            Turn::text("It stands so."),
            Turn::text("Nothing is held any more."),
        ]
    });
    let ask = |prompt: &str| session_with(&sandbox, &actor, prompt, &[]);
    let goal = "make it \"green\" & don't stop; $(touch pwned)";
    let said = ask(&format!("/ralph {goal}"));
    actor.assert_asked(3);
    assert_eq!(outcomes(&sandbox), [(1, "more".to_owned()), (2, "accepted".to_owned())], "{said}");
    assert_eq!(status(&sandbox)["goal"], goal);
    assert!(!sandbox.exists("by-command") && !sandbox.exists("pwned"), "{said}");

    ask("/ralph-loop 2 make it green twice");
    actor.assert_asked(5);
    let looped = status(&sandbox);
    assert_eq!(looped["goal"], "make it green twice");
    assert_eq!(looped["stop_reason"], "max_iterations", "{looped}");

    arm(&sandbox, &["--session", "another"]);
    ask("/ralph-status");
    actor.assert_asked(6);
    assert!(actor.was_told("armed: session another"), "what `ralph hook status` prints");
    assert!(actor.was_told(&ralph(&sandbox).arg("status").run().stdout), "what `ralph status` prints");
    ask("/ralph-cancel");
    actor.assert_asked(7);
    ralph(&sandbox).args(["hook", "status"]).run().assert_stdout_has("no session is held");
}

const CODEX: Cli = Cli::Codex;

fn codex_command(sandbox: &Sandbox, actor: &Actor, args: &[&str]) -> Command {
    let mut command = sandbox.command("timeout");
    command.args(["170", "codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox"]);
    command.arg("--dangerously-bypass-hook-trust").args(args).envs(actor.env()).stdin(Stdio::null());
    command
}

/// A session of Codex; in a project, its hooks run only where the project is trusted.
fn codex(sandbox: &Sandbox, actor: &Actor) -> String {
    codex_with(sandbox, actor, &["Begin."])
}

fn codex_with(sandbox: &Sandbox, actor: &Actor, args: &[&str]) -> String {
    let output = codex_command(sandbox, actor, args).output().expect("codex runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn codex_is_held_until_what_it_claims_is_true() {
    let (sandbox, actor) = stage(CODEX, |sandbox| {
        vec![more("Looked."), done("All done."), CODEX.writes(sandbox, "green"), done("Now it is green.")]
    });
    ralph(&sandbox).args(["hook", "install", "--agent", "codex", "--user"]).run().assert_code(0);
    arm(&sandbox, &["--test-cmd", TEST]);
    let said = codex(&sandbox, &actor);
    actor.assert_asked(4);
    assert!(actor.was_told("not ok 1 - is_green"), "{said}");
    let status = status(&sandbox);
    assert_eq!(
        (&status["stop_reason"], &status["proof"]),
        (&json!("complete"), &json!("checks")),
        "{status}"
    );
}

#[test]
fn codex_goes_on_for_more_than_eight_blocks_and_stops_at_the_limit() {
    let (sandbox, actor) = stage(CODEX, |_| (1..=10).map(|n| more(&format!("Turn {n}."))).collect());
    ralph(&sandbox).args(["hook", "install", "--agent", "codex", "--user"]).run().assert_code(0);
    arm(&sandbox, &["--max-iterations", "10", "--set", "no_progress=off"]);
    codex(&sandbox, &actor);
    actor.assert_asked(10);
    assert_eq!(status(&sandbox)["stop_reason"], "max_iterations");
    actor.server.push(more("Not held."));
    codex(&sandbox, &actor);
    actor.assert_asked(11);
}

#[test]
fn another_session_of_codex_is_not_held_and_a_fault_lets_it_stop() {
    let (sandbox, actor) = stage(CODEX, |_| vec![more("Not held."), more("Let go.")]);
    ralph(&sandbox).args(["hook", "install", "--agent", "codex", "--user"]).run().assert_code(0);
    arm(&sandbox, &["--session", "another"]);
    codex(&sandbox, &actor);
    actor.assert_asked(1);
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
    arm(&sandbox, &[]);
    damage(&sandbox, "0002");
    let said = codex(&sandbox, &actor);
    actor.assert_asked(2);
    // Nobody sees a hook's words in `codex exec`; ralph tells whoever asks.
    assert!(
        !said.contains("ralph does not hold this session"),
        "it does now: docs/hook-mode.md says otherwise"
    );
    ralph(&sandbox).arg("status").run().assert_stdout_has("the checksum does not fit");
}

#[test]
fn codex_stops_at_its_promise_and_is_let_go_when_the_circuit_opens() {
    let promise = |text: &str| Turn::text(format!("It is done.\n\n<promise>{text}</promise>"));
    let turns = (1..=4).map(|n| more(&format!("Turn {n}.")));
    let (sandbox, actor) =
        stage(CODEX, |_| [promise("COMPLETE"), promise("SHIPPED")].into_iter().chain(turns).collect());
    ralph(&sandbox).args(["hook", "install", "--agent", "codex", "--user"]).run().assert_code(0);
    arm(&sandbox, &["--promise", "SHIPPED"]);
    codex(&sandbox, &actor);
    actor.assert_asked(2);
    assert_eq!(status(&sandbox)["stop_reason"], "complete");
    arm(&sandbox, &[]);
    codex(&sandbox, &actor);
    actor.assert_asked(6);
    assert_eq!(status(&sandbox)["stop_reason"], "circuit_open");
}

#[test]
fn a_session_of_codex_that_was_there_before_arming_is_not_held_when_it_is_resumed() {
    let (sandbox, actor) =
        stage(CODEX, |_| vec![more("Before."), more("After."), more("Held."), done("Done.")]);
    ralph(&sandbox).args(["hook", "install", "--agent", "codex", "--user"]).run().assert_code(0);
    codex(&sandbox, &actor);
    arm(&sandbox, &[]);
    codex_with(&sandbox, &actor, &["resume", "--last", "Go on."]);
    actor.assert_asked(2);
    assert!(actor.server.main_requests()[1].mentions("Before."), "it is the same session");
    codex(&sandbox, &actor);
    actor.assert_asked(4);
    assert_eq!(status(&sandbox)["stop_reason"], "complete");
}

/// Codex tells of a session's start with its first prompt. On a terminal it also looks for news elsewhere, in vain.
#[test]
fn a_session_of_codex_that_was_open_before_arming_and_was_told_nothing_yet_is_never_held() {
    let (sandbox, actor) =
        stage(CODEX, |_| vec![more("One answer."), more("Another answer."), more("Held."), done("Done.")]);
    let config = sandbox.home().join(".codex/config.toml");
    let trusted = format!("\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n", sandbox.project().display());
    sandbox.write(&config, sandbox.read(&config) + &trusted);
    ralph(&sandbox).args(["hook", "install", "--agent", "codex", "--user"]).run().assert_code(0);
    let mut command = sandbox.command("codex");
    command.args(["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]);
    command.envs(actor.env());
    let mut open = Terminal::start(&command);
    open.wait_for("permissions: YOLO mode");
    arm(&sandbox, &[]);
    for (prompt, answer) in [("First.", "One answer."), ("Second.", "Another answer.")] {
        open.type_text(prompt);
        open.wait_for(prompt);
        open.type_text("\r");
        // What is typed before a turn has ended belongs to that turn, and is not answered by itself.
        open.wait_for_in_order(&[answer, "Worked for"]);
    }
    let asked = actor.server.main_requests();
    assert!(asked.len() == 2 && asked[1].mentions("Second."), "nobody but the user asked");
    open.hang_up();
    assert_eq!(outcomes(&sandbox), []);
    codex(&sandbox, &actor);
    assert_eq!(actor.server.main_requests().len(), 4);
    assert_eq!(status(&sandbox)["stop_reason"], "complete");
}

#[test]
fn hooks_in_a_project_that_codex_trusts_hold_it_too() {
    let (sandbox, actor) = stage(CODEX, |_| vec![more("Held."), done("Done.")]);
    let config = sandbox.home().join(".codex/config.toml");
    let trusted = format!("\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n", sandbox.project().display());
    sandbox.write(&config, sandbox.read(&config) + &trusted);
    ralph(&sandbox).args(["hook", "install", "--agent", "codex"]).run().assert_code(0);
    arm(&sandbox, &[]);
    codex(&sandbox, &actor);
    actor.assert_asked(2);
}

/// Claude Code fires no Stop hook after an error of the API, and says so itself; what is open stays open.
#[test]
fn claude_that_met_a_limit_is_not_sent_back_and_goes_on_in_the_same_iteration() {
    let (sandbox, actor) = with_hooks(|_| vec![more("One."), CLAUDE.refuses(429), done("Two.")]);
    arm(&sandbox, &[]);
    let mut open = Open::start(&sandbox, &actor);
    open.ask("Begin.");
    let answer = open.answer();
    assert_eq!(answer["is_error"], true, "{answer}");
    actor.assert_asked(2);
    assert_eq!(outcomes(&sandbox), [(1, "more".to_owned()), (2, "open".to_owned())]);
    open.ask("Go on.");
    open.answer();
    open.close();
    assert_eq!(outcomes(&sandbox), [(1, "more".to_owned()), (2, "accepted".to_owned())]);
}

#[test]
fn codex_that_met_a_limit_is_not_sent_back_and_nothing_is_counted() {
    let (sandbox, actor) = stage(CODEX, |_| vec![more("One."), CODEX.quota(4_000_000_000), more("Two.")]);
    ralph(&sandbox).args(["hook", "install", "--agent", "codex", "--user"]).run().assert_code(0);
    arm(&sandbox, &[]);
    let output = codex_command(&sandbox, &actor, &["Begin."]).output().expect("codex runs");
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    actor.assert_asked(2);
    assert_eq!(outcomes(&sandbox), [(1, "more".to_owned()), (2, "open".to_owned())]);
}
