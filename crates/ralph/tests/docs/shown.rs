//! What pages show without running it: command lines, settings, scripts.

use clap::error::ErrorKind;
use ralph_testkit::Sandbox;
use serde_json::Value;

use crate::common::ralph;
use crate::pages::{Page, all};
use crate::words;

/// What ralph would say to a command line; nothing, if it takes it.
fn refusal(command: &str, loosely: bool) -> Option<String> {
    let line = words::of_command(command);
    let error = match ralph::cli::parsed(&line) {
        Ok(()) => return unknown_key(&line),
        Err(error) => error,
    };
    // A name such as N or ID in place of a value, or a command that is only named.
    let placeholder = [
        ErrorKind::InvalidValue,
        ErrorKind::ValueValidation,
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
    ];
    let help = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion].contains(&error.kind());
    let fine = help || (loosely && placeholder.contains(&error.kind()));
    (!fine).then(|| error.to_string())
}

/// `--set` takes any text; these must be keys of the rules.
fn unknown_key(line: &[String]) -> Option<String> {
    let behind = line.windows(2).filter(|pair| pair[0] == "--set").map(|pair| pair[1].as_str());
    let name = |set: &str| set.split('=').next().unwrap_or_default().to_owned();
    let unknown = behind.map(name).find(|name| name != "KEY" && ralph_core::profile::key(name).is_none())?;
    Some(format!("there is no key {unknown}"))
}

fn complaints(page: &Page) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut look = |line: usize, command: &str, loosely: bool| {
        if let Some(why) = refusal(command, loosely) {
            complaints.push(format!("{}:{line}: {command}\n  {}", page.path, why.trim_end()));
        }
    };
    for fence in page.fences().iter().filter(|fence| fence.language == "sh" && fence.file.is_none()) {
        let lines = fence.body.iter().enumerate().filter(|(_, line)| line.starts_with("ralph "));
        lines.for_each(|(index, line)| look(fence.line + index, line, false));
    }
    for (number, line) in page.prose() {
        // In a table a bar has to be written with a backslash; it parts what can be typed.
        let spans = line.split('`').skip(1).step_by(2).filter(|span| span.starts_with("ralph "));
        for span in spans.filter(|span| !span.contains(['|', '[', '…', '<'])) {
            look(number, span, true);
        }
    }
    complaints
}

#[test]
fn every_command_line_is_one() {
    let pages = all();
    // These tell of the inside and of the past, and that one is made from the program.
    let others = ["ARCHITECTURE.md", "CHANGELOG.md", "docs/commands.md"];
    let shown = pages.iter().filter(|page| !others.contains(&page.path.as_str()));
    let complaints: Vec<String> = shown.flat_map(complaints).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_command_line_that_is_none_is_told() {
    assert_eq!(refusal("ralph run \"a goal\" --set gate=dual # why", false), None);
    assert_eq!(refusal("ralph undo N", true), None);
    for wrong in ["ralph undo N", "ralph rnu", "ralph run --max-iteration 3 x", "ralph run x --set gaet=dual"]
    {
        assert!(refusal(wrong, false).is_some(), "{wrong}");
    }
    for wrong in ["ralph rnu", "ralph undo --dryrun N", "ralph replay --set gaet=dual"] {
        assert!(refusal(wrong, true).is_some(), "{wrong}");
    }
}

#[test]
fn all_settings_are_accepted() {
    let mut seen = 0;
    for page in all() {
        for fence in page.fences().iter().filter(|fence| fence.language == "toml") {
            let sandbox = Sandbox::new();
            sandbox.write(".ralph/config.toml", fence.text());
            let shown = ralph(&sandbox).args(["config", "show"]).run();
            assert_eq!(shown.code, 0, "{}:{}\n{shown}", page.path, fence.line);
            seen += 1;
        }
    }
    assert!(seen > 1, "settings are shown somewhere");
}

#[test]
fn all_json_is_json_and_scripts_of_runs_can_be_played() {
    let mut played = 0;
    for page in all() {
        for fence in page.fences().iter().filter(|fence| fence.language == "json") {
            let place = format!("{}:{}", page.path, fence.line);
            let value: Value =
                serde_json::from_str(&fence.text()).unwrap_or_else(|error| panic!("{place}: {error}"));
            if value.get("agents").is_some() {
                let sandbox = Sandbox::new();
                sandbox.write("script.json", fence.text());
                let told = ralph(&sandbox).args(["util", "simulate", "script.json", "--json"]).run();
                assert!(told.json().get("iterations").is_some(), "{place}\n{told}");
                played += 1;
            }
        }
    }
    assert!(played > 0, "a script is shown somewhere");
}
