//! Screens and files that pages show whole, held against the program.

use ralph_core::state::Totals;
use ralph_core::time::Time;
use ralph_core::transcript::Item;
use ralph_core::view::doing::{Doing, Heard, parts};
use ralph_testkit::{FakeAgent, Sandbox, Steps, Terminal};
use serde_json::Value;

use crate::common::{ralph, repository};
use crate::console;
use crate::pages::page;

/// The one block of a page that has these words in it.
#[track_caller]
fn block(path: &str, words: &str) -> String {
    let page = page(path);
    let found: Vec<String> =
        page.fences().iter().map(|fence| fence.text()).filter(|text| text.contains(words)).collect();
    assert_eq!(found.len(), 1, "{path}: blocks with {words:?}");
    found.concat()
}

/// `newcomer/screens.txt` is what the demo shows on a terminal: another test runs it.
#[test]
fn the_box_in_the_readme_is_the_demo_s() {
    let screens = include_str!("../newcomer/screens.txt");
    let demo = screens.split("\n$ ").next().expect("the first command");
    assert!(demo.starts_with("$ ralph demo\n"), "{demo}");
    let shown = block("README.md", "Agent working...");
    let used = |line: &str| line.contains("│  Used: ");
    let lines: Vec<&str> = shown.lines().filter(|line| !used(line)).collect();
    assert_eq!(lines.len() + 1, shown.lines().count(), "how long it took, and nothing else, is passed over");
    let demo: Vec<&str> = demo.lines().filter(|line| !used(line)).collect();
    assert!(
        demo.windows(lines.len()).any(|part| part == lines),
        "README.md shows:\n{shown}\nthe demo:\n{}",
        demo.join("\n")
    );
}

#[test]
fn the_screen_before_the_first_run_is_as_shown() {
    let sandbox = repository();
    sandbox.write("Cargo.toml", "[package]\nname = \"login\"\nedition = \"2024\"\n");
    sandbox.write("src/main.rs", "fn main() {}\n");
    for program in ["claude", "cargo", "cargo-clippy"] {
        sandbox.install_script(program, "#!/bin/sh\nexit 0\n");
    }
    let shown = block("docs/running.md", "The first run in this project");
    let goal = "make the login work for users without a name";
    let run = ralph(&sandbox).args(["run", goal, "--agents", "claude", "--permissions", "full"]);
    let mut terminal = Terminal::start(&run.into_command());
    terminal.wait_for("[y/N]");
    let screen = terminal.all_output().replace(&sandbox.project().display().to_string(), "/project");
    assert_eq!(screen.trim_end(), shown.trim_end());
    terminal.type_text("n\r");
    assert_eq!(terminal.wait(), 1, "{}", terminal.all_output());
}

/// A line about an agent or a check, without its spinner.
fn live(doing: &Doing, heard: &Heard, second: i64) -> String {
    let (what, rest) = parts(doing, heard, &Totals::default(), at(second));
    format!("{what} · {rest}")
}

fn at(second: i64) -> Time {
    Time::from_millis(second * 1000)
}

fn heard(tool: &str, target: &str, tokens: u64, cost_micro_usd: u64, second: i64) -> Heard {
    let mut heard = Heard::default();
    (heard.tokens, heard.cost_micro_usd) = (tokens, Some(cost_micro_usd));
    heard.item(&Item::Tool { name: tool.into(), target: Some(target.into()) });
    heard.something(at(second));
    heard
}

#[test]
fn the_lines_about_what_takes_time_are_as_shown() {
    let shown = block("docs/running.md", "quiet for");
    let shown: Vec<&str> = shown.lines().collect();
    let agent = Doing::Agent { since: at(0) };
    let edits = heard("Edit", "src/auth.rs", 48_000, 310_000, 133);
    let builds = heard("Bash", "cargo build", 61_000, 400_000, 142);
    let check = Doing::Check { command: "cargo test".into(), since: at(0) };
    let mut prints = Heard::default();
    prints.something(at(12));
    let made = [live(&agent, &edits, 133), live(&agent, &builds, 242), live(&check, &prints, 12)];
    for (shown, made) in shown.iter().zip(&made) {
        let (spinner, line) =
            shown.strip_prefix("  │  ").and_then(|line| line.split_once(' ')).expect("a box");
        assert!("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".contains(spinner), "{shown}");
        assert_eq!(line, made);
    }
    assert_eq!(shown.len(), made.len() + 1, "the last is about a wait: {shown:?}");
    let wait = shown[made.len()];
    let (_, why) = wait.split_once(" left): claude: ").expect("a wait");
    waits_as_shown(wait, why);
}

#[track_caller]
fn waits_as_shown(line: &str, why: &str) {
    let sandbox = Sandbox::new();
    let limit = Steps::new().claude_api_error("rate_limit", why).exit(1);
    FakeAgent::new("claude").call(limit).install(&sandbox);
    let run = ralph(&sandbox).args(["run", "log in", "--yes", "--agents", "claude", "--permissions", "full"]);
    let run = run.args(["--set", "limit_backoff=2530s"]);
    let mut terminal = Terminal::start(&run.into_command());
    terminal.wait_for(" left): claude: ");
    let screen = terminal.screen();
    let waiting = screen.lines().find(|line| line.contains(" left): ")).expect("it was there");
    terminal.type_text("\u{3}");
    assert_eq!(terminal.wait(), 130, "{}", terminal.all_output());
    let (until, rest) = line.split_once(" (42:10 left)").expect("how long");
    let until = until.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
    let pattern = format!("{until}[..] (42:[..] left){rest}");
    assert!(console::fits_line(&pattern, waiting), "shown: {line}\nit is:  {waiting}");
}

#[test]
fn the_settings_that_install_writes_are_as_shown() {
    let sandbox = Sandbox::new();
    let exe = env!("CARGO_BIN_EXE_ralph");
    std::os::unix::fs::symlink(exe, sandbox.bin().join("ralph")).expect("ralph on the PATH");
    ralph(&sandbox).args(["hook", "install"]).run().assert_code(0);
    let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let shown = block("docs/hook-mode.md", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP");
    assert_eq!(json(&shown), json(&sandbox.read(".claude/settings.json")));
}

#[test]
fn every_variable_of_a_notification_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write(".ralph/config.toml", "[notify]\ncommand = 'env > told'\n");
    ralph(&sandbox).args(["notify", "test", "--yes"]).run().assert_code(0);
    let told = sandbox.read("told");
    let names = told.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
    let names: Vec<&str> = names.filter(|name| name.starts_with("RALPH_NOTIFY_")).collect();
    assert!(names.len() > 3, "{told}");
    let page = page("docs/running.md").text;
    let missing: Vec<&&str> = names.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/running.md does not tell {missing:?}");
}

#[test]
fn every_event_of_a_run_is_told() {
    let schema: Value =
        serde_json::from_str(include_str!("../../../../schemas/ralph.event-1.json")).expect("JSON");
    let defined = schema["$defs"].as_object().expect("shapes").values();
    let kinds: Vec<&str> =
        defined.filter_map(|shape| shape["properties"]["type"]["const"].as_str()).collect();
    assert!(kinds.len() > 8, "{kinds:?}");
    let page = page("docs/running.md").text;
    let missing: Vec<&&str> = kinds.iter().filter(|kind| !page.contains(&format!("`{kind}`"))).collect();
    assert!(missing.is_empty(), "docs/running.md does not tell {missing:?}");
}
