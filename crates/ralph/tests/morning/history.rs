use ralph_testkit::{ClaudeResult, FakeAgent, Schema, StatusBlock, Steps};
use serde_json::json;

use crate::common::{one_call, ralph, repository, run};

#[test]
fn a_transcript_is_readable_and_raw_has_every_byte() {
    let sandbox = repository();
    let steps = Steps::new()
        .claude_init()
        .claude_text("I run the tests first.")
        .claude_tool("Bash", json!({"command": "cargo test", "timeout": 5}))
        .claude_tool_ok("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n")
        .claude_tool("Edit", json!({"file_path": "src/a.rs", "old_string": "a", "new_string": "b"}))
        .claude_tool_error("String to replace not found")
        .claude_text(StatusBlock::in_progress().to_string())
        .claude_result(ClaudeResult::success("fine"))
        .complain("a warning of the CLI's own");
    let agent = one_call(&sandbox, steps);
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    let shown = |flag: &str| {
        let finished = ralph(&sandbox).args(["history", "1", flag]).run();
        finished.assert_code(0);
        finished
    };
    let readable = shown("--transcript");
    let expected = "I run the tests first.\n\n> Bash: cargo test\n    one\n    two\n    three\n    four\n    five\n    six\n    \
                    … 2 more lines\n> Edit: src/a.rs\n    failed: String to replace not found\n---RALPH_STATUS---\n";
    assert!(readable.stdout.starts_with(expected), "{readable}");
    readable.assert_stdout_has("a warning of the CLI's own\n").assert_stderr_has("standard error:");
    assert!(!readable.stdout.contains("tool_use"), "{readable}");
    let raw = shown("--raw");
    raw.assert_stdout_has("\"tool_use\"").assert_stdout_has("seven\\neight").assert_stdout_has("a warning");
    assert_eq!(raw.stdout.lines().filter(|line| line.starts_with('{')).count(), 8, "{raw}");
}

#[test]
fn the_diff_of_a_run_is_what_its_agents_changed_from_the_first_iteration_to_the_last() {
    let sandbox = repository();
    sandbox.write("mine.txt", "not committed\n");
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new()
                .write("a.txt", "one\ntwo\n")
                .write("gone.txt", "x\n")
                .status(&StatusBlock::in_progress()),
        )
        .call(
            Steps::new()
                .write("a.txt", "one\n2\nthree\n")
                .write("picture.bin", b"\0\x01")
                .delete("gone.txt")
                .status(&StatusBlock::in_progress()),
        )
        .install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "2"]).run().assert_code(3);

    let whole = ralph(&sandbox).args(["history", "--diff"]).run();
    whole.assert_code(0).assert_stdout_has("+++ b/a.txt\n@@ -0,0 +1,3 @@\n+one\n+2\n+three\n");
    for other in ["gone.txt", "mine.txt", "+two"] {
        assert!(!whole.stdout.contains(other), "{other}\n{whole}");
    }
    ralph(&sandbox).args(["history", "1", "--diff"]).run().assert_stdout_has("gone.txt");

    let list = ralph(&sandbox).arg("history").run();
    list.assert_stdout_has("\n        a.txt (new) +2, gone.txt (new) +1\n");
    list.assert_stdout_has("\n        a.txt +2 -1, gone.txt (deleted) -1, picture.bin (new)\n");
    let one = ralph(&sandbox).args(["history", "2"]).run();
    one.assert_stdout_has("- M a.txt +2 -1\n- D gone.txt -1\n- A picture.bin\n");
    for args in [&["history", "--json"][..], &["history", "2", "--json"]] {
        let document = ralph(&sandbox).args(args).run().json();
        Schema::published("ralph.history/1").assert(&document);
        let entry = if args.len() == 2 { &document["iterations"][1] } else { &document };
        let expected = json!({"change": "M", "path": "a.txt", "added": 2, "removed": 1});
        assert_eq!(entry["files"][0], expected, "{document:#}");
        assert_eq!(entry["files"][2]["added"], json!(null), "it is not text");
    }
}

#[test]
fn a_run_that_changed_nothing_says_so_for_its_diff() {
    let sandbox = repository();
    let none = ralph(&sandbox).args(["history", "--diff"]).run();
    none.assert_code(0).assert_stdout_has("nothing has been run here yet");
    let agent = one_call(&sandbox, Steps::new().status(&StatusBlock::in_progress()));
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    let whole = ralph(&sandbox).args(["history", "--diff"]).run();
    whole.assert_code(0).assert_stderr_has("run 1 changed no files");
    assert_eq!(whole.stdout, "");
}
