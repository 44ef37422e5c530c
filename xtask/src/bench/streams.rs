//! Agents' output, made up for measuring: the shapes that the CLIs print, in any size, the same every time.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::to_string as quoted;

use crate::Result;

/// What a file is filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Claude Code's stream-json.
    Claude,
    /// Claude Code's session transcript, whose `type` comes after the message.
    Session,
    Codex,
    Opencode,
    Gemini,
}

/// Different texts that tools answer.
const TEXTS: usize = 512;
/// One tool call in this many fails, one turn in this many has words before it.
const FAILED: u64 = 20;
const TALKS: u64 = 3;

/// Writes turns until the file has this many bytes, and the end of the stream.
pub(super) fn write(path: &Path, shape: Shape, bytes: u64) -> Result<()> {
    let said = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).map_err(said)?);
    let mut random = Random(7);
    let texts: Vec<String> = (0..TEXTS).map(|_| text(&mut random)).collect();
    let mut written = 0;
    let mut number = 0;
    let mut line = |line: &str| {
        written += line.len() as u64 + 1;
        writeln!(file, "{line}").map(|()| written).map_err(said)
    };
    for opening in opening(shape) {
        line(&opening)?;
    }
    loop {
        number += 1;
        let turn = Turn {
            number,
            talks: random.below(TALKS) == 0,
            failed: random.below(FAILED) == 0,
            text: &texts[random.below(TEXTS as u64) as usize],
        };
        let mut reached = 0;
        for event in turn.lines(shape) {
            reached = line(&event)?;
        }
        if reached >= bytes {
            break;
        }
    }
    for closing in closing(shape) {
        line(&closing)?;
    }
    file.flush().map_err(said)
}

/// Perhaps some words, a tool call and its answer.
struct Turn<'a> {
    number: u64,
    talks: bool,
    failed: bool,
    /// What the tool answers, as a JSON string.
    text: &'a str,
}

const SESSION: &str = "5f0c9a52-0d6e-4c1d-9a52-6e1d0c9a5f0c";
const WORDS: &str = "Now I look at how `parse` treats \\\"quoted\\\" names.\\n\\nThe loop above skips them, so the \
                     second test fails; I will change the condition and run the tests again.";

impl Turn<'_> {
    fn lines(&self, shape: Shape) -> Vec<String> {
        match shape {
            Shape::Claude | Shape::Session => self.claude(shape),
            Shape::Codex => self.codex(),
            Shape::Opencode => self.opencode(),
            Shape::Gemini => self.gemini(),
        }
    }

    fn claude(&self, shape: Shape) -> Vec<String> {
        let Turn { number, text, .. } = self;
        let usage = format!(
            r#""usage":{{"input_tokens":{},"cache_creation_input_tokens":412,"cache_read_input_tokens":{},"cache_creation":{{"ephemeral_5m_input_tokens":412,"ephemeral_1h_input_tokens":0}},"output_tokens":97,"service_tier":"standard"}}"#,
            number % 50,
            20_000 + number % 9_000
        );
        let message = |content: &str| {
            let message = format!(
                r#""message":{{"model":"claude-opus-4-8","id":"msg_01{number:022}","type":"message","role":"assistant","content":[{content}],"stop_reason":null,"stop_sequence":null,{usage}}}"#
            );
            envelope(shape, "assistant", &message, number, "")
        };
        let mut lines = Vec::new();
        if self.talks {
            lines.push(message(&format!(r#"{{"type":"text","text":"{WORDS}"}}"#)));
        }
        let input = match number % 4 {
            0 => format!(
                r#"{{"command":"cargo test -p parser -- case_{number}","description":"Runs the test"}}"#
            ),
            1 => format!(r#"{{"file_path":"/project/src/part{}.rs","offset":1,"limit":400}}"#, number % 90),
            2 => format!(
                r#"{{"file_path":"/project/src/part{}.rs","old_string":"{WORDS}","new_string":"{WORDS}","replace_all":false}}"#,
                number % 90
            ),
            _ => format!(r#"{{"pattern":"fn case_{number}","path":"/project/src","output_mode":"content"}}"#),
        };
        let name = ["Bash", "Read", "Edit", "Grep"][(number % 4) as usize];
        lines.push(message(&format!(
            r#"{{"type":"tool_use","id":"toolu_01{number:022}","name":"{name}","input":{input}}}"#
        )));
        let result = if self.failed {
            format!(
                r#"{{"type":"tool_result","content":{text},"is_error":true,"tool_use_id":"toolu_01{number:022}"}}"#
            )
        } else if number % 4 == 0 {
            format!(
                r#"{{"tool_use_id":"toolu_01{number:022}","type":"tool_result","content":{text},"is_error":false}}"#
            )
        } else {
            format!(r#"{{"tool_use_id":"toolu_01{number:022}","type":"tool_result","content":{text}}}"#)
        };
        let answer = match number % 4 {
            _ if self.failed => text.to_string(),
            1 => format!(
                r#"{{"type":"text","file":{{"filePath":"/project/src/part.rs","content":{text},"numLines":88,"startLine":1,"totalLines":88}}}}"#
            ),
            _ => format!(r#"{{"stdout":{text},"stderr":"","interrupted":false,"isImage":false}}"#),
        };
        let message = format!(r#""message":{{"role":"user","content":[{result}]}}"#);
        lines.push(envelope(shape, "user", &message, number, &answer));
        lines
    }

    fn codex(&self) -> Vec<String> {
        let Turn { number, text, .. } = self;
        let (code, status) = if self.failed { (1, "failed") } else { (0, "completed") };
        let command = format!(
            r#""id":"item_{number}","type":"command_execution","command":"/bin/bash -lc 'cargo test case_{number}'""#
        );
        let mut lines = vec![
            format!(
                r#"{{"type":"item.started","item":{{{command},"aggregated_output":"","exit_code":null,"status":"in_progress"}}}}"#
            ),
            format!(
                r#"{{"type":"item.completed","item":{{{command},"aggregated_output":{text},"exit_code":{code},"status":"{status}"}}}}"#
            ),
        ];
        if self.talks {
            lines.push(format!(r#"{{"type":"item.completed","item":{{"id":"item_w{number}","type":"agent_message","text":"{WORDS}"}}}}"#));
        }
        lines
    }

    fn opencode(&self) -> Vec<String> {
        let Turn { number, text, .. } = self;
        let event = |kind: &str, part: &str| {
            format!(
                r#"{{"type":"{kind}","timestamp":{},"sessionID":"ses_{SESSION}","part":{{"id":"prt_{number:026}","messageID":"msg_{number:026}","sessionID":"ses_{SESSION}",{part}}}}}"#,
                1_794_795_174_135 + number
            )
        };
        let exit = u8::from(self.failed);
        let tool = format!(
            r#""type":"tool","tool":"bash","callID":"call_{number}","state":{{"status":"completed","input":{{"command":"cargo test case_{number}","description":"Runs the test"}},"output":{text},"metadata":{{"output":{text},"exit":{exit},"truncated":false}},"title":"cargo test"}}"#
        );
        let mut lines = vec![event("step_start", r#""type":"step-start""#)];
        if self.talks {
            lines.push(event("text", &format!(r#""type":"text","text":"{WORDS}""#)));
        }
        lines.push(event("tool_use", &tool));
        lines.push(event("step_finish", r#""reason":"tool-calls","type":"step-finish","tokens":{"total":150,"input":100,"output":50,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.00105"#));
        lines
    }

    fn gemini(&self) -> Vec<String> {
        let Turn { number, text, .. } = self;
        let event = |kind: &str, rest: &str| {
            format!(r#"{{"type":"{kind}","timestamp":"2026-11-16T02:09:32.697Z",{rest}}}"#)
        };
        let mut lines = Vec::new();
        if self.talks {
            lines.push(event("message", &format!(r#""role":"assistant","content":"{WORDS}","delta":true"#)));
        }
        let tool = format!(r#""tool_id":"run_shell_command__call_{number}""#);
        lines.push(event("tool_use", &format!(r#""tool_name":"run_shell_command",{tool},"parameters":{{"command":"cargo test case_{number}"}}"#)));
        let status = if self.failed { "error" } else { "success" };
        lines.push(event("tool_result", &format!(r#"{tool},"status":"{status}","output":{text}"#)));
        lines
    }
}

/// A message of Claude's in the stream, or as the session's file keeps it.
fn envelope(shape: Shape, kind: &str, message: &str, number: &u64, answer: &str) -> String {
    let uuid = format!("00000000-0000-4000-8000-{number:012}");
    let answered =
        |key: &str| if answer.is_empty() { String::new() } else { format!(r#","{key}":{answer}"#) };
    if shape == Shape::Session {
        let answer = answered("toolUseResult");
        return format!(
            r#"{{"parentUuid":"{uuid}","isSidechain":false,"userType":"external","cwd":"/project","sessionId":"{SESSION}","version":"2.1.197","gitBranch":"main",{message},"type":"{kind}","uuid":"{uuid}","timestamp":"2026-11-16T02:07:22.719Z"{answer}}}"#
        );
    }
    let answer = answered("tool_use_result");
    format!(
        r#"{{"type":"{kind}",{message},"parent_tool_use_id":null,"session_id":"{SESSION}","uuid":"{uuid}"{answer}}}"#
    )
}

fn opening(shape: Shape) -> Vec<String> {
    match shape {
        Shape::Claude => vec![format!(
            r#"{{"type":"system","subtype":"init","cwd":"/project","session_id":"{SESSION}","tools":["Bash","Edit","Grep","Read"],"model":"claude-opus-4-8","permissionMode":"default","claude_code_version":"2.1.197"}}"#
        )],
        Shape::Session => vec![format!(
            r#"{{"parentUuid":null,"isSidechain":false,"sessionId":"{SESSION}","message":{{"role":"user","content":"Repair the parser."}},"type":"user","uuid":"{SESSION}"}}"#
        )],
        Shape::Codex => vec![
            format!(r#"{{"type":"thread.started","thread_id":"{SESSION}"}}"#),
            r#"{"type":"turn.started"}"#.into(),
        ],
        Shape::Opencode => Vec::new(),
        Shape::Gemini => vec![format!(
            r#"{{"type":"init","timestamp":"2026-11-16T02:09:32.398Z","session_id":"{SESSION}","model":"gemini-2.5-pro"}}"#
        )],
    }
}

const REPORT: &str = "The parser is repaired.\\n\\n---RALPH_STATUS---\\nSTATUS: COMPLETE\\nTASKS_COMPLETED_THIS_LOOP: 1\\n\
                      FILES_MODIFIED: 2\\nTESTS_STATUS: PASSING\\nWORK_TYPE: IMPLEMENTATION\\nEXIT_SIGNAL: true\\n\
                      RECOMMENDATION: none\\n---END_RALPH_STATUS---";

fn closing(shape: Shape) -> Vec<String> {
    let message = format!(
        r#""message":{{"model":"claude-opus-4-8","id":"msg_end","role":"assistant","content":[{{"type":"text","text":"{REPORT}"}}]}}"#
    );
    let result = format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":3,"result":"{REPORT}","session_id":"{SESSION}","total_cost_usd":0.0108,"usage":{{"input_tokens":1100,"output_tokens":200}},"permission_denials":[]}}"#
    );
    match shape {
        Shape::Claude => vec![envelope(shape, "assistant", &message, &0, ""), result],
        Shape::Session => vec![envelope(shape, "assistant", &message, &0, "")],
        Shape::Codex => vec![
            format!(r#"{{"type":"item.completed","item":{{"id":"item_end","type":"agent_message","text":"{REPORT}"}}}}"#),
            r#"{"type":"turn.completed","usage":{"input_tokens":1200,"cached_input_tokens":600,"output_tokens":250}}"#.into(),
        ],
        Shape::Opencode => vec![format!(
            r#"{{"type":"text","sessionID":"ses_{SESSION}","part":{{"type":"text","text":"{REPORT}"}}}}"#
        )],
        Shape::Gemini => vec![
            format!(r#"{{"type":"message","role":"assistant","content":"{REPORT}","delta":true}}"#),
            r#"{"type":"result","status":"success","stats":{"input_tokens":1100,"output_tokens":200,"cached":600}}"#.into(),
        ],
    }
}

/// What a tool answers, from a hundred bytes to 30 KB, small ones more often: source, a log, or JSON that looks
/// like a stream's own.
fn text(random: &mut Random) -> String {
    let size = 100 << random.below(8);
    let size = (size + random.below(size)) as usize;
    let kind = random.below(8);
    let mut text = String::new();
    while text.len() < size {
        let number = random.below(9_999);
        text.push_str(&match kind {
            0 => format!("{{\"type\":\"result\",\"is_error\":true,\"n\":{number},\"path\":\"a\\\\b\"}}\n"),
            1 | 2 => format!("test parser::case_{number} ... ok\n"),
            3 => format!("  {number} warning: unused variable: `größe` — rename it\n"),
            _ => format!(
                "{number:>6}\t    let name = read(\"part{number}.txt\", &mut lines)?; // the next one\n"
            ),
        });
    }
    quoted(&text).unwrap_or_default()
}

/// Numbers that look random and are the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_every_shape_is_json_and_the_same_every_time() {
        for shape in [Shape::Claude, Shape::Session, Shape::Codex, Shape::Opencode, Shape::Gemini] {
            let path = std::env::temp_dir().join(format!("ralph-bench-{}-{shape:?}", std::process::id()));
            let make = || {
                write(&path, shape, 200_000).expect("written");
                std::fs::read_to_string(&path).expect("read")
            };
            let text = make();
            assert_eq!(make(), text);
            std::fs::remove_file(&path).expect("removed");
            assert!((200_000..400_000).contains(&text.len()), "{shape:?}: {}", text.len());
            for line in text.lines() {
                let event: serde_json::Value = serde_json::from_str(line).expect(line);
                assert!(event["type"].is_string(), "{line}");
            }
        }
    }
}
