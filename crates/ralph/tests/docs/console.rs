//! Examples: ```` ```console ```` blocks hold `$ command` lines and what they print. They are run in order, all of a page in
//! one sandbox, which begins with the project docs/examples/greet. A line `...` stands for any lines, `[..]` for
//! anything within a line. Blocks with `file=` are written into the project on the way.

use std::path::Path;

use ralph_testkit::{Sandbox, without_stamps};

use crate::pages::{Fence, Page, root};

#[track_caller]
pub(crate) fn holds(page: &Page) {
    let sandbox = project();
    for fence in page.fences() {
        if let Some(file) = fence.file {
            sandbox.write(file, fence.text());
            if fence.language == "sh" {
                sh(&sandbox, &format!("chmod +x '{file}'"));
            }
        }
        if fence.language == "console" {
            for (line, command, expected) in commands(&fence) {
                let printed = sh(&sandbox, command);
                let lines: Vec<&str> = printed.trim_end().lines().collect();
                assert!(
                    fits(&expected, &lines),
                    "{}:{line}: $ {command}\n--- the page says:\n{}\n--- it prints:\n{printed}",
                    page.path,
                    expected.join("\n")
                );
            }
        }
    }
    sandbox.assert_no_processes();
}

/// The example project in a repository of its own, with ralph on the search path.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    let exe = Path::new(env!("CARGO_BIN_EXE_ralph"));
    // So that `ralph replay` is asked at the end about every run of the page.
    drop(sandbox.ralph(exe));
    sandbox.install_script("ralph", &format!("#!/bin/sh\nexec '{}' \"$@\"\n", exe.display()));
    sh(&sandbox, &format!("cp -R '{}/.' .", root().join("docs/examples/greet").display()));
    sandbox.init_git();
    sandbox.commit_all("A greeter with a red test");
    sandbox
}

/// What a command prints, talk and data as they come, without the time of plain lines.
fn sh(sandbox: &Sandbox, command: &str) -> String {
    let output = sandbox.command("sh").args(["-c", &format!("exec 2>&1\n{command}")]).output().expect("sh");
    without_stamps(&String::from_utf8(output.stdout).expect("UTF-8"))
}

/// Each command with its line and what is expected of it.
fn commands<'a>(fence: &Fence<'a>) -> Vec<(usize, &'a str, Vec<&'a str>)> {
    let mut commands: Vec<(usize, &str, Vec<&str>)> = Vec::new();
    for (index, line) in fence.body.iter().enumerate() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((fence.line + index, command, Vec::new())),
            (None, Some((_, _, expected))) => expected.push(line),
            (None, None) => panic!("line {}: a block begins with `$ `", fence.line + index),
        }
    }
    commands
}

fn fits(expected: &[&str], lines: &[&str]) -> bool {
    match (expected, lines) {
        ([], lines) => lines.is_empty(),
        (["...", rest @ ..], lines) => (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..])),
        (_, []) => false,
        ([first, expected @ ..], [line, lines @ ..]) => fits_line(first, line) && fits(expected, lines),
    }
}

pub(crate) fn fits_line(expected: &str, line: &str) -> bool {
    let Some((start, rest)) = expected.split_once("[..]") else { return expected == line };
    let Some(line) = line.strip_prefix(start) else { return false };
    let mut ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
    ends.any(|at| fits_line(rest, &line[at..]))
}

#[test]
fn dots_stand_for_any_lines_and_any_text() {
    let lines = ["one", "two 2ms", "three"];
    for expected in [
        &["one", "two [..]", "three"][..],
        &["..."],
        &["...", "three"],
        &["one", "..."],
        &["o[..]e", "...", "three"],
    ] {
        assert!(fits(expected, &lines), "{expected:?}");
    }
    for expected in [
        &["one"][..],
        &["...", "two"],
        &["one", "two [..]s", "...", "four"],
        &[],
        &["one", "two [..]x", "three"],
    ] {
        assert!(!fits(expected, &lines), "{expected:?}");
    }
}
