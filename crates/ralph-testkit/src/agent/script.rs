//! Turns scripted steps into shell text and the files it needs.

use super::FakeAgent;
use super::steps::{Background, Step};
use crate::claude::{CALL, ClaudeSession};
use crate::{MARKER, Sandbox};
use std::fs;
use std::path::{Path, PathBuf};

/// Longer than any test.
const FOR_EVER: u32 = 1_000_000;

/// Writes the agent's files and gives back the text of its program.
pub(super) fn write(agent: &FakeAgent, sandbox: &Sandbox) -> String {
    let own = sandbox.root().join("agents").join(&agent.name);
    fs::create_dir(&own).unwrap_or_else(|error| panic!("agent '{}' cannot be made: {error}", agent.name));
    for (index, steps) in agent.calls.iter().enumerate() {
        let mut writer = Writer::new(sandbox, own.join((index + 1).to_string()));
        let text: String = steps.list.iter().map(|step| writer.shell(step)).collect();
        fs::write(writer.base.with_extension("sh"), text).expect("write an agent's steps");
    }
    let key = if agent.by_iteration { "${RALPH_ITERATION:?}" } else { "$call" };
    let prompt = if agent.reads_stdin { "cat" } else { ":" };
    PROGRAM
        .replace("@OWN@", &quote(&own))
        .replace("@SAVED@", &quote(&sandbox.root().join("prompts")))
        .replace("@NAME@", &quote(Path::new(&agent.name)))
        .replace("@LAST@", &agent.calls.len().to_string())
        .replace("@KEY@", key)
        .replace("@PROMPT@", prompt)
}

/// `$all` numbers the calls of every agent in the sandbox, `$call` those of this one.
const PROGRAM: &str = r#"#!/bin/sh
own=@OWN@
saved=@SAVED@
next() {
    count=0
    if [ -f "$1" ]; then read -r count < "$1"; fi
    count=$((count + 1))
    echo "$count" > "$1.new" && mv "$1.new" "$1"
}
failed() {
    echo "scripted agent: cannot $1 $2" >&2
    exit 97
}
next "$saved/.count"; all=$count
next "$own/count"; call=$count
file=$saved/$(printf '%03d' "$all")
if [ $# -gt 0 ]; then printf '%s\000' "$@"; fi > "$file.args"
env -0 > "$file.env"
@PROMPT@ > "$file.txt"
echo @NAME@ > "$file.agent"
key=@KEY@
if [ "$key" -gt @LAST@ ]; then key=@LAST@; fi
if [ "$key" -gt 0 ]; then . "$own/$key.sh"; fi
exit 0
"#;

struct Writer<'a> {
    sandbox: &'a Sandbox,
    /// Where the files of this call lie, without an extension.
    base: PathBuf,
    files: usize,
    claude: ClaudeSession,
}

impl<'a> Writer<'a> {
    fn new(sandbox: &'a Sandbox, base: PathBuf) -> Self {
        Writer { sandbox, base, files: 0, claude: ClaudeSession::new(&sandbox.project()) }
    }

    fn shell(&mut self, step: &Step) -> String {
        match step {
            Step::Write(path, text) => self.put(path, text, ">"),
            Step::Append(path, text) => self.put(path, text, ">>"),
            Step::Delete(path) => {
                let path = quote(Path::new(path));
                format!("rm -rf -- {path} || failed delete {path}\n")
            }
            Step::Shell(line) => format!("{line}\n"),
            Step::Print(bytes) => format!("cat {}\n", self.payload(bytes)),
            Step::PrintError(bytes) => format!("cat {} >&2\n", self.payload(bytes)),
            Step::Claude(line) => {
                let line = self.claude.render(line);
                let file = self.payload(format!("{line}\n").as_bytes());
                format!("sed \"s/{CALL}/$(printf '%012d' \"$all\")/g\" {file}\n")
            }
            Step::Background(child) => background(*child),
            Step::Reach(point) => format!("printf x > {}\n", quote(&self.sandbox.point(point))),
            Step::Hold(point) => format!("read -r held < {}\n", quote(&self.sandbox.point(point))),
            Step::Hang => format!("exec sleep {FOR_EVER}\n"),
            Step::Exit(code) => format!("exit {code}\n"),
        }
    }

    fn put(&mut self, path: &str, text: &[u8], how: &str) -> String {
        let payload = self.payload(text);
        let (folder, path) = (Path::new(path).parent().unwrap_or(Path::new("")), quote(Path::new(path)));
        let folder = if folder.as_os_str().is_empty() { quote(Path::new(".")) } else { quote(folder) };
        format!("mkdir -p -- {folder} && cat {payload} {how} {path} || failed write {path}\n")
    }

    /// Keeps the bytes in a file; its quoted name.
    fn payload(&mut self, bytes: &[u8]) -> String {
        self.files += 1;
        let file = self.base.with_extension(self.files.to_string());
        fs::write(&file, bytes).expect("write an agent's text");
        quote(&file)
    }
}

fn background(child: Background) -> String {
    let session = if child.own_session { "setsid " } else { "" };
    let environment =
        if child.clean_environment { format!("env -i {MARKER}=\"${MARKER}\" ") } else { String::new() };
    let trap = if child.ignores_term { "trap \"\" TERM; " } else { "" };
    let output = if child.keeps_output { "" } else { " > /dev/null 2>&1" };
    format!("{session}{environment}sh -c '{trap}exec sleep {FOR_EVER}' < /dev/null{output} &\n")
}

fn quote(path: &Path) -> String {
    let text = path.to_str().expect("a path in UTF-8");
    format!("'{}'", text.replace('\'', r"'\''"))
}
