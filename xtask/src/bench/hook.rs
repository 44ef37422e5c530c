//! `ralph hook stop` against a program that does nothing, and against a shell script with jq that does the same job the way
//! such hooks do: find the last message in the transcript, look for the promise in it, answer.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::place::Place;
use super::samples::Samples;
use super::table::{Row, Target, Value};
use crate::Result;

const SESSION: &str = "bench";
const FILES: usize = 100;
const TIMES: usize = 40;
/// The most that a stop may cost beyond one look at the tree, in starts of a program that does nothing.
const MOST: f64 = 5.0;
/// Transcripts, by what they are called and how many bytes they have.
const SIZES: [(&str, u64); 3] = [("1 KB", 1_000), ("10 MB", 10_000_000), ("1 GB", 1_000_000_000)];

const SCRIPT: &str = r#"
input=$(cat)
session=$(printf %s "$input" | jq -r .session_id)
[ "$session" = bench ] || exit 0
transcript=$(printf %s "$input" | jq -r .transcript_path)
last=$(grep '"role":"assistant"' "$transcript" | tail -n 1)
text=$(printf %s "$last" | jq -r '.message.content | map(select(.type == "text")) | map(.text) | join("\n")')
case $text in *"<promise>COMPLETE</promise>"*) exit 0;; esac
git status --porcelain > /dev/null
jq -n --arg reason "$text" '{decision: "block", reason: $reason, systemMessage: "again"}'
"#;

pub(super) fn hook(place: &Place) -> Result<(Vec<Row>, Vec<String>)> {
    let nothing = ["/bin/true", "/usr/bin/true"].into_iter().find(|path| Path::new(path).exists());
    let nothing = nothing.ok_or("this machine has no /bin/true to measure against")?;
    let repo = place.repository("held", FILES)?;
    let script = place.script("hook.sh", SCRIPT)?;
    let jq = place.command("jq", &repo).arg("--version").status().is_ok_and(|status| status.success());
    let mut rows = Vec::new();
    let stop = ["hook", "stop"];
    let told = |transcript: &Path, session: &str| {
        let path = transcript.display();
        let text = format!(
            "{{\"session_id\":\"{session}\",\"transcript_path\":\"{path}\",\"hook_event_name\":\"Stop\"}}"
        );
        place.script(&format!("told-{session}"), &text)
    };
    let small = transcript(place, "small.jsonl", 1_000)?;
    let other = told(&small, "other")?;
    let against = |what: &str, ralph: &dyn Fn() -> Result<Command>, scan: bool| -> Result<Row> {
        let (mut own, mut idle, mut scans) = (Samples::default(), Samples::default(), Samples::default());
        for _ in 0..TIMES {
            idle.push(place.time(&mut place.command(nothing, &repo), 0)?);
            if scan {
                scans.push(place.time(place.command("git", &repo).args(["status", "--porcelain"]), 0)?);
            }
            own.push(place.time(&mut ralph()?, 0)?);
        }
        let beyond = own.median() - scans.median();
        Ok(Row {
            what: what.into(),
            measured: Value::Millis(beyond),
            baseline: Value::Millis(idle.median()),
            against: "true",
            ratio: beyond / idle.median(),
            target: Some(Target::AtMost(MOST)),
            runs: own.len(),
            spread: Some(own.spread()),
        })
    };
    let with_input = |mut command: Command, input: &Path| -> Result<Command> {
        let file = File::open(input).map_err(|error| format!("{}: {error}", input.display()))?;
        command.stdin(file);
        Ok(command)
    };
    rows.push(against("hook stop, nothing armed", &|| with_input(place.ralph(&repo, &stop), &other), false)?);
    let arm = ["hook", "arm", "bench", "--session", SESSION, "--max-iterations", "0"];
    let args = [&arm[..], &super::STILL, &["--set", "questions=0"]].concat();
    place.time(&mut place.ralph(&repo, &args), 0)?;
    rows.push(against(
        "hook stop, another session",
        &|| with_input(place.ralph(&repo, &stop), &other),
        false,
    )?);
    for (size, bytes) in SIZES {
        let path = transcript(place, "transcript.jsonl", bytes)?;
        place.settle(0)?;
        let input = told(&path, SESSION)?;
        let what = format!("hook stop, held, {size}, - scan");
        rows.push(against(&what, &|| with_input(place.ralph(&repo, &stop), &input), true)?);
        if !jq {
            continue;
        }
        let (mut own, mut theirs) = (Samples::default(), Samples::default());
        for _ in 0..if bytes > 100_000_000 { 3 } else { TIMES / 2 } {
            own.push(place.time(&mut with_input(place.ralph(&repo, &stop), &input)?, 0)?);
            let mut bash = place.command("bash", &repo);
            bash.arg(&script);
            theirs.push(place.time(&mut with_input(bash, &input)?, 0)?);
        }
        rows.push(Row {
            what: format!("hook stop, held, {size}"),
            measured: Value::Millis(own.median()),
            baseline: Value::Millis(theirs.median()),
            against: "bash+jq",
            ratio: own.median() / theirs.median(),
            target: None,
            runs: own.len(),
            spread: Some(own.spread()),
        });
    }
    Ok((
        rows,
        if jq {
            vec![]
        } else {
            vec!["jq is not installed: the hook is not compared with a script.".to_owned()]
        },
    ))
}

/// A session's transcript, which ends in a message that promises nothing.
fn transcript(place: &Place, name: &str, bytes: u64) -> Result<PathBuf> {
    let path = place.script(name, "")?;
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = BufWriter::with_capacity(1 << 20, File::create(&path).map_err(fail)?);
    let line = |role: &str, text: &str| {
        format!(
            "{{\"isSidechain\":false,\"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}},\
             \"type\":\"{role}\",\"timestamp\":\"2999-01-01T00:00:00.000Z\"}}\n"
        )
    };
    let (user, last) =
        (line("user", &"the result of a tool ".repeat(90)), line("assistant", "Going on with it."));
    let mut written = last.len() as u64;
    while written + user.len() as u64 <= bytes {
        file.write_all(user.as_bytes()).map_err(fail)?;
        written += user.len() as u64;
    }
    file.write_all(last.as_bytes()).and_then(|()| file.flush()).map_err(fail)?;
    Ok(path)
}
