//! Two CLIs in one pool.

use ralph_testkit::Sandbox;

use crate::common::{TEST, history, outcomes, repository};
use crate::stage::{Actor, Cli, command, done, more};
use crate::trouble::{FAR, FULL};

fn agents(sandbox: &Sandbox) -> Vec<String> {
    history(sandbox).iter().filter_map(|entry| Some(entry["agent"]["name"].as_str()?.to_owned())).collect()
}

#[test]
fn a_limit_of_claude_hands_the_work_over_to_codex() {
    let sandbox = repository();
    let claude = Actor::enter(Cli::Claude, &sandbox, [Cli::Claude.quota(FAR)]).subscribed();
    let codex = Actor::enter(
        Cli::Codex,
        &sandbox,
        [Cli::Codex.writes(&sandbox, "green"), done("It is green."), done("Nothing to change.")],
    );
    let args = [&FULL[..], &["--test-cmd", TEST, "--model", "claude=opus"]].concat();
    let finished = command(&sandbox, "claude,codex", &[&claude, &codex], &args).run();
    finished.assert_code(0).assert_stderr_has("✓ COMPLETE");
    assert_eq!(agents(&sandbox), ["claude", "codex", "codex"]);
    assert_eq!(outcomes(&sandbox)[0], (1, "limited".to_owned()));
    claude.assert_asked(1);
    codex.assert_asked(3);
    sandbox.assert_no_processes();
}

#[test]
fn gemini_reviews_what_opencode_did_and_sends_it_back() {
    let sandbox = repository();
    let (author, reviewer) = (Cli::Opencode, Cli::Gemini);
    let opencode = Actor::enter(
        author,
        &sandbox,
        [
            author.writes(&sandbox, "green"),
            done("It is green."),
            author.writes(&sandbox, "docs"),
            done("Documented."),
        ],
    );
    let gemini = Actor::enter(
        reviewer,
        &sandbox,
        [more("The documentation is missing."), done("Now it is all there.")],
    );
    let args = [&FULL[..], &["--test-cmd", TEST]].concat();
    let finished = command(&sandbox, "opencode:work,gemini:review", &[&opencode, &gemini], &args).run();
    finished.assert_code(0).assert_stderr_has("(#2) [REVIEW] begins, by gemini");
    assert_eq!(agents(&sandbox), ["opencode", "gemini", "opencode", "gemini"]);
    opencode.assert_asked(4);
    gemini.assert_asked(2);
    assert!(gemini.was_told("This iteration is a review"));
    sandbox.assert_no_processes();
}
