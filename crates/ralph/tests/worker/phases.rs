//! Profile phases: seed 004's loop over `.ralph/ralph.yml`.

use ralph_testkit::{Sandbox, Steps};
use serde_json::Value;

use crate::common::{history, ralph, repository, status};
use crate::stage::{another, works_through, writes};

const TWO_PHASES: &str = "tasks:\n  - id: M-1\n    title: one\n    status: todo\n    phase: mvp\n  - id: M-2\n    title: two\n    status: todo\n    phase: mvp\n  - id: P-1\n    title: three\n    status: todo\n    phase: phase_2\n";
const ONE: &str = "tasks:\n  - id: login\n    title: Log in\n    status: todo\n    acceptance_criteria:\n      - works\n    notes: \"\"\n  - id: logout\n    title: Log out\n    status: todo\n";

fn report(words: &str, signal: bool, marker: &str) -> String {
    format!("{words}\n\nRALPH_STATUS: {{\"completion_indicators\": 2, \"EXIT_SIGNAL\": {signal}}}\n{marker}")
}

fn done(marker: &str) -> String {
    report("All tasks are complete. There is nothing left to do.", true, marker)
}

fn project(tasks: &str) -> Sandbox {
    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", tasks);
    sandbox
}

fn state(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read(".ralph/state.json")).expect("JSON")
}

#[test]
fn a_phase_that_is_declared_done_ends_the_run_and_the_next_run_takes_the_next_phase() {
    let sandbox = project(TWO_PHASES);
    let agent = another(&sandbox)
        .call(writes("one").say(done("LOOP_COMPLETE_PHASE_1")))
        .call(writes("two").say(done("LOOP_COMPLETE_PHASE_1")))
        .call(writes("three").say(done("LOOP_COMPLETE_PHASE_2")))
        .install(&sandbox);
    let run = || works_through(&sandbox, &agent).args(["--profile", "phases"]);
    let first = run().run();
    first.assert_code(0).assert_stderr_has("✓ PHASE COMPLETE");
    let told = "phase mvp is done, 1 open item in other phases";
    first.assert_stderr_has(&format!("ended by: {told}"));
    first.assert_stderr_has("to continue with the next phase: ralph run ");
    assert_eq!(agent.calls(&sandbox).len(), 2, "the marker of iteration 1 came too soon\n{first}");
    assert_eq!(state(&sandbox)["last_iteration_status"], "LOOP_COMPLETE_PHASE_1");
    assert_eq!(status(&sandbox)["stop_reason"], "complete");
    assert!(status(&sandbox)["stop_text"].to_string().contains(told), "{}", status(&sandbox));
    assert!(sandbox.read(".ralph/session.md").contains(told), "{}", sandbox.read(".ralph/session.md"));
    assert!(
        sandbox.read(".ralph/ralph.yml").ends_with("title: three\n    status: todo\n    phase: phase_2\n")
    );

    let second = run().run();
    second.assert_code(0).assert_stderr_has("✓ COMPLETE");
    assert_eq!(sandbox.read(".ralph/ralph.yml"), TWO_PHASES.replace("status: todo", "status: done"));
    assert_eq!(state(&sandbox)["last_iteration_status"], "LOOP_COMPLETE");
}

#[test]
fn the_prompt_asks_for_what_it_allows_and_names_commands_notes_and_knowledge() {
    let sandbox = project(ONE);
    sandbox.write("Cargo.toml", "[package]\nname = \"greet\"\n");
    sandbox.commit_all("a manifest");
    sandbox.install_script("cargo", "#!/bin/sh\n");
    sandbox.install_script("cargo-clippy", "#!/bin/sh\n");
    let knowledge = "# Knowledge\n\n## Patterns that work\nuse tabs\n\n## Failed approaches\nsed: error: no such option\n\n## Messages\nmind the gap\n";
    let first = Steps::new()
        .shell("cp .ralph/scratchpad.md first-scratchpad; cp .ralph/ralph.yml .git/meanwhile")
        .write("CLAUDE.md", knowledge)
        .write(".ralph/scratchpad.md", "# Scratchpad - Handoff Notes\n\nhalf of login is there\n")
        .say(report("I wrote half of it.", false, "LOOP_CONTINUE"));
    let second = writes("two").say(done("LOOP_COMPLETE"));
    let agent = another(&sandbox).call(first).call(second).install(&sandbox);
    works_through(&sandbox, &agent)
        .args(["--profile", "phases", "--max-iterations", "2"])
        .run()
        .assert_code(3);
    assert!(
        sandbox.read("first-scratchpad").contains("# Scratchpad - Handoff Notes"),
        "there from the start"
    );
    assert!(sandbox.read(".git/meanwhile").contains("title: Log in\n    status: in-progress\n"));
    let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
    for words in [
        "your item in .ralph/ralph.yml",
        "mark it as done in .ralph/ralph.yml; you may add notes",
        "- build: `cargo build`\n- test: `cargo test`\n- lint: `cargo clippy`",
        "patterns that work, approaches that failed with their error messages, and messages to later agents",
        ".ralph/scratchpad.md: what you did, what comes after it, what blocks you",
    ] {
        assert!(prompts[0].contains(words), "{words}\n{}", prompts[0]);
    }
    assert!(!prompts[0].contains("Notes handed over"), "a template holds none\n{}", prompts[0]);
    let places =
        ["You are iteration 2", "use tabs", "half of login is there", "The item of this iteration: login"];
    let at = |words: &str| prompts[1].find(words).unwrap_or_else(|| panic!("{words}\n{}", prompts[1]));
    assert!(places.map(at).is_sorted(), "seed 004's order\n{}", prompts[1]);
    for words in ["no such option", "mind the gap"] {
        assert!(prompts[1].contains(words), "{words}\n{}", prompts[1]);
    }
    let log = sandbox.read(".ralph/history/iteration-001.md");
    assert!(log.contains("## Report\n") && log.contains("LOOP_CONTINUE") && !log.contains("No "), "{log}");
}

#[test]
fn an_item_that_is_reported_done_while_the_loop_continues_is_taken_up() {
    let marks = "sed -i '0,/in-progress/s//done/; s/notes: \"\"/notes: greets now/' .ralph/ralph.yml";
    let moving_on = report("Task `login` is complete, moving to the next task.", false, "LOOP_CONTINUE");
    for first in [
        writes("one").shell(marks).say(report("I go on.", false, "LOOP_CONTINUE")),
        writes("one").say(moving_on),
    ] {
        let sandbox = project(ONE);
        let agent =
            another(&sandbox).call(first).call(writes("two").say(done("LOOP_COMPLETE"))).install(&sandbox);
        let finished = works_through(&sandbox, &agent).args(["--profile", "phases"]).run();
        finished.assert_code(0).assert_stderr_has("login is claimed").assert_stderr_has("✓ COMPLETE");
        assert_eq!(agent.calls(&sandbox).len(), 2, "{finished}");
        assert_eq!(sandbox.read(".ralph/ralph.yml").matches("status: done").count(), 2);
        assert_eq!(history(&sandbox)[0]["attempt"], "PASSED");
    }
}

#[test]
fn a_part_that_is_done_ends_neither_its_item_nor_the_run() {
    let sandbox = project(ONE);
    let agent = another(&sandbox)
        .call(writes("one").say(report("The first subtask of login is done.", false, "LOOP_CONTINUE")))
        .call(writes("two").say(report("Half of login is done. The form is ready.", true, "LOOP_CONTINUE")))
        .install(&sandbox);
    let finished =
        works_through(&sandbox, &agent).args(["--profile", "phases", "--max-iterations", "2"]).run();
    finished.assert_code(3).assert_stderr_has("2 of 2 items open");
    let outcomes: Vec<_> = history(&sandbox).iter().map(|entry| entry["outcome"].clone()).collect();
    assert_eq!(outcomes, ["more", "more"]);
}

#[test]
fn each_iteration_is_a_process_of_its_own_that_ends_after_its_marker() {
    let sandbox = project(ONE);
    let ends = |file: &str, said: String| writes(file).shell("echo $$ >> .git/pids").say(said);
    let agent = another(&sandbox)
        .call(ends("one", report("Task login is complete.", false, "LOOP_CONTINUE")))
        .call(ends("two", done("LOOP_COMPLETE")))
        .install(&sandbox);
    works_through(&sandbox, &agent).args(["--profile", "phases"]).run().assert_code(0);
    let pids = sandbox.read(".git/pids");
    let pids: Vec<&str> = pids.lines().collect();
    assert!(pids.len() == 2 && pids[0] != pids[1], "{pids:?}");
    let ends: Vec<_> = history(&sandbox).iter().map(|entry| entry["agent"]["end"].clone()).collect();
    assert_eq!(ends, ["exit 0", "exit 0"]);
    assert_eq!(state(&sandbox)["last_iteration_status"], "LOOP_COMPLETE");
}

/// The commands of a stack as its prompt names them.
fn commands(manifest: (&str, &str), programs: &[&str]) -> String {
    let sandbox = repository();
    sandbox.write(manifest.0, manifest.1);
    // A linter is run where the project has settings for it.
    sandbox.write(".golangci.yml", "");
    for program in programs {
        sandbox.install_script(program, "#!/bin/sh\n");
    }
    let run = ["run", "a goal", "--profile", "phases", "--dry-run", "--agent-cmd", "true"];
    let dry = ralph(&sandbox).args(run).run();
    dry.assert_code(0);
    let named = dry.stdout.lines().filter_map(|line| line.trim_start().strip_prefix("- "));
    let named = named
        .filter(|line| ["build", "test", "lint"].iter().any(|name| line.starts_with(&format!("{name}: `"))));
    named.collect::<Vec<_>>().join(", ")
}

#[test]
fn every_stack_of_seed_004_has_its_commands_in_the_prompt() {
    let scripts = r#"{"scripts": {"build": "tsc", "test": "jest", "lint": "eslint ."}}"#;
    let python = "[project]\nname = \"x\"\n[tool.pytest.ini_options]\n[tool.ruff]\n";
    for (manifest, programs, named) in [
        (
            ("package.json", scripts),
            &["npm"][..],
            "build: `npm run build`, test: `npm test`, lint: `npm run lint`",
        ),
        (
            ("Cargo.toml", "[package]\nname = \"x\"\n"),
            &["cargo", "cargo-clippy"],
            "build: `cargo build`, test: `cargo test`, lint: `cargo clippy`",
        ),
        // Nothing is built: archives are for publishing.
        (("pyproject.toml", python), &["pytest", "ruff"], "test: `pytest`, lint: `ruff check`"),
        (
            ("go.mod", "module x\n"),
            &["go", "golangci-lint"],
            "build: `go build ./...`, test: `go test ./...`, lint: `golangci-lint run`",
        ),
    ] {
        assert_eq!(commands(manifest, programs), named, "{}", manifest.0);
    }
}
