//! What is made from the program: pages, completions, man pages. `RALPH_BLESS=1` writes the pages anew.

use std::fs;

use ralph_testkit::Sandbox;
use serde_json::Value;

use crate::common::snapshot::{file, holds};
use crate::common::{one_call, ralph, repository, run, says_done, says_more};

/// The list of keys in the published schema.
#[track_caller]
pub(crate) fn holds_keys(keys: &[&Value]) {
    const SCHEMA: &str = "schemas/ralph.config-1.json";
    let text = fs::read_to_string(file(SCHEMA)).expect("published");
    let start = text.find("\"enum\": [").and_then(|_| text.rfind("\"enum\": [")).expect("a list of keys") + 9;
    let end = start + text[start..].find(']').expect("its end");
    let list: Vec<String> = keys.iter().map(|key| format!("\n        {key}")).collect();
    holds(SCHEMA, &format!("{}{}\n      {}", &text[..start], list.join(","), &text[end..]));
}

#[test]
fn the_page_of_settings_is_what_the_program_says() {
    holds("docs/config.md", &ralph::config::reference::page());
}

#[test]
fn the_page_of_commands_is_what_the_program_says() {
    let page = ralph::cli::commands_page();
    assert!(page.contains("\n## ralph run\n") && page.contains("\n## ralph backlog next\n"));
    for hidden in ["demo-agent", "## ralph hook session"] {
        assert!(!page.contains(hidden), "what is hidden stays hidden: {hidden}");
    }
    holds("docs/commands.md", &page);
}

#[test]
fn completions_are_what_the_shells_take_and_name_the_commands() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ralph(&sandbox).args(["completions", shell]).run();
        script.assert_code(0).assert_stdout_has("max-iterations").assert_stdout_has("doctor");
        assert!(!script.stdout.contains("demo-agent"), "{shell}");
        if shell == "bash" {
            sandbox.write("ralph.bash", &script.stdout);
            let sourced = "source ./ralph.bash && COMP_WORDS=(ralph comp) COMP_CWORD=1 && _ralph ralph comp ralph && echo \"${COMPREPLY[@]}\"";
            let answer = sandbox.command("bash").args(["-c", sourced]).output().expect("bash");
            assert_eq!(String::from_utf8_lossy(&answer.stdout).trim(), "completions");
        }
    }
    ralph(&sandbox).args(["completions", "cmd"]).run().assert_code(64);
}

#[test]
fn a_page_may_be_asked_for_by_the_name_of_its_file() {
    let sandbox = Sandbox::new();
    let page = |words: &[&str]| ralph(&sandbox).arg("man").args(words).run().stdout;
    let asked = page(&["backlog", "next"]);
    assert!(asked.contains(".TH ralph-backlog-next"), "{asked}");
    for name in ["backlog-next", "ralph-backlog-next"] {
        assert_eq!(page(&[name]), asked, "{name}");
    }
}

#[test]
fn a_part_of_a_stop_reason_finds_all_that_have_it() {
    let sandbox = Sandbox::new();
    let told = |word: &str| ralph(&sandbox).args(["explain", word]).run();
    assert_eq!(told("circuit").stdout, told("circuit_open").stdout);
    told("max").assert_stdout_has("max_iterations\n").assert_stdout_has("max_time\n");
    told("zz").assert_code(64).assert_stderr_has("ralph explain");
}

#[test]
fn the_pages_for_users_are_shown_without_the_sources() {
    let sandbox = Sandbox::new();
    let told = |words: &[&str]| ralph(&sandbox).arg("explain").args(words).run();
    let page = told(&["circuit-breaker"]);
    page.assert_code(0).assert_stdout_has("Circuit breaker\n===============\n\n").assert_stdout_has(
        "\n  iterations in a row with the same errors\n    key: `same_error`, `same_error_after`\n",
    );
    for words in [&["circuit_breaker"][..], &["circuit", "breaker"], &["breaker"]] {
        assert_eq!(told(words).stdout, page.stdout, "{words:?}");
    }
    told(&["pools"]).assert_stdout_has("reviews\n  (ralph explain reviews)");
    told(&[]).assert_code(0).assert_stdout_has("\n  pools              several agents that share the work");
    told(&["snapsht"]).assert_code(64).assert_stderr_has("try: ralph explain snapshots\n");
}

#[test]
fn there_is_a_man_page_for_every_command() {
    let sandbox = Sandbox::new();
    ralph(&sandbox).arg("man").run().assert_code(0).assert_stdout_has(".TH ralph 1");
    ralph(&sandbox).args(["man", "run"]).run().assert_code(0).assert_stdout_has("max\\-iterations");
    ralph(&sandbox)
        .args(["man", "backlog", "next"])
        .run()
        .assert_code(0)
        .assert_stdout_has("ralph-backlog-next");
    ralph(&sandbox)
        .args(["man", "backlgo"])
        .run()
        .assert_code(64)
        .assert_stderr_has("try: ralph man backlog\n");
}

/// Every exit code and stop reason has its place where the program's messages send people.
#[test]
fn every_stop_reason_and_exit_code_has_a_section() {
    let page = fs::read_to_string(file("docs/troubleshooting.md")).expect("there");
    let schema = fs::read_to_string(file("schemas/ralph.event-1.json")).expect("published");
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let words: Vec<&str> = schema["$defs"]["stop_reason"]["enum"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(words.contains(&"circuit_open") && words.len() > 15, "{words:?}");
    for word in words {
        assert!(page.contains(&format!("\n### {word}\n")), "{word} has no section");
        assert!(page.contains(&format!("[`{word}`](#{word})")), "{word} is not in the table");
    }
    for code in [0, 1, 2, 3, 4, 5, 6, 7, 64, 65, 130, 143] {
        assert!(page.contains(&format!("\n## Exit {code}\n")), "exit {code} has no section");
        assert!(page.contains(&format!("\n| [{code}](#exit-{code}) |")), "exit {code} is not in the table");
    }
}

#[test]
fn stops_are_explained_without_the_sources_and_their_messages_point_there() {
    let sandbox = repository();
    let explain = |word: &str| ralph(&sandbox).args(["explain", word]).run();
    explain("circuit_open").assert_code(0).assert_stdout_has("circuit_open\n\nSeveral iterations");
    explain("3").assert_code(0).assert_stdout_has("max_iterations\n\n").assert_stdout_has("saturation\n\n");
    explain("blokced").assert_code(64).assert_stderr_has("try: ralph explain blocked");
    ralph(&sandbox)
        .arg("explain")
        .run()
        .assert_code(0)
        .assert_stdout_has("   5  the loop goes nowhere: circuit_open\n");
    let agent = one_call(&sandbox, says_more());
    let stopped = run(&sandbox, &agent).args(["--max-iterations", "1"]).run();
    stopped.assert_code(3).assert_stderr_has("more about this stop: ralph explain max_iterations");
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let complete = run(&sandbox, &agent).args(["--fresh", "--reviews", "0"]).run();
    assert!(!complete.stderr.contains("ralph explain"), "{}", complete.stderr);
}

#[test]
fn messages_name_the_section_that_is_about_them() {
    let sandbox = Sandbox::new();
    let open =
        ralph(&sandbox).args(["run", "think", "--yes", "--agent-cmd", "true", "--max-iterations", "1"]).run();
    open.assert_code(3).assert_stderr_has("more about this stop: ralph explain max_iterations");
    let nobody = ralph(&sandbox).args(["run", "x", "--agents", "claude", "--permissions", "inherit"]).run();
    nobody.assert_code(1).assert_stderr_has("more: ralph explain 1");
    sandbox.write(".ralph/config.toml", "[checks\n");
    let torn = ralph(&sandbox).args(["config", "show"]).run();
    torn.assert_code(65).assert_stderr_has("more: ralph explain 65");
    let usage = ralph(&sandbox).args(["profile", "show", "strickt"]).run();
    usage.assert_code(64).assert_stderr_lacks("ralph explain");
    // Nor where the answer is no and there is nothing to explain.
    sandbox.write(".ralph/config.toml", "");
    sandbox.write("fix_plan.md", "- [ ] thing\n");
    let id = ralph(&sandbox).args(["backlog", "next", "--json"]).run().json()["selected"]["id"].clone();
    let id = id.as_str().expect("an id");
    for no in [&["stop"][..], &["backlog", "attempt", id, "IN_PROGRESS"], &["backlog", "show", "nobody"]] {
        let told = ralph(&sandbox).args(no).run();
        told.assert_code(1).assert_stderr_lacks("ralph explain");
    }
}
