//! Labelled conversations, and how each CLI prints one: whole transcripts, in the shapes that were recorded from the
//! real programs (`crates/ralph-testkit/recordings`).

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

/// What the agent did and said, with what a reader takes it to have declared. The labels come from reading the
/// conversation alone; no line of the detector was consulted for them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Conversation {
    pub id: String,
    pub declared: Declared,
    /// For people: why it has this label.
    #[serde(rename = "why")]
    _why: String,
    /// Of a report that says done: whether the final message says so in words of its own as well.
    #[serde(default = "yes")]
    pub in_words: bool,
    /// The exit signal itself says true, though the rest of the report contradicts it: enough for a profile that
    /// believes the signal alone.
    #[serde(default)]
    pub signal: bool,
    pub steps: Vec<Step>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Declared {
    Done,
    NotDone,
    Blocked,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Step {
    pub say: Option<String>,
    read: Option<String>,
    edit: Option<String>,
    run: Option<String>,
    /// A sub-agent, and what it says in its own stream.
    agent: Option<String>,
    output: String,
    exit: i64,
}

fn yes() -> bool {
    true
}

pub(crate) fn conversations(set: &str) -> Vec<Conversation> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(set).with_extension("jsonl");
    let lines = std::fs::read_to_string(&path).expect("the corpus is in the repository");
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    lines.lines().map(read).collect()
}

impl Conversation {
    /// Whether the last thing it did was to use a tool: its stream has no end then.
    fn is_cut_off(&self) -> bool {
        self.steps.last().is_none_or(|step| step.say.is_none())
    }

    pub(crate) fn last_said(&self) -> &str {
        self.steps.iter().rev().find_map(|step| step.say.as_deref()).unwrap_or_default()
    }
}

/// A CLI's transcript of a conversation.
type Print = fn(&Conversation) -> String;

pub(crate) const CLIS: [(&str, Print); 4] =
    [("claude", claude), ("codex", codex), ("opencode", opencode), ("gemini", gemini)];

/// What an agent thinks counts for nothing, whatever it is.
const THOUGHT: &str =
    "All tasks are complete and all tests pass. Next I will continue with the remaining work.";

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

impl Step {
    /// The tool as Claude Code names it, with its input.
    fn claude_tool(&self) -> (&'static str, Value) {
        match self {
            Self { read: Some(path), .. } => ("Read", json!({"file_path": path})),
            Self { edit: Some(path), .. } => {
                ("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}))
            }
            Self { agent: Some(_), .. } => ("Task", json!({"description": "help", "prompt": "Help."})),
            _ => ("Bash", json!({"command": self.run})),
        }
    }
}

fn claude(conversation: &Conversation) -> String {
    let session = "ece877bb-6771-415b-807d-603db120ae10";
    let assistant = |nth: usize, part: Value, parent: Value| {
        json!({"type": "assistant", "message": {"id": format!("msg_{nth}"), "type": "message", "role": "assistant",
            "model": "claude-opus-4-8", "content": [part], "stop_reason": null,
            "usage": {"input_tokens": 100, "output_tokens": 50}}, "parent_tool_use_id": parent, "session_id": session})
    };
    let mut events =
        vec![json!({"type": "system", "subtype": "init", "cwd": "/project", "session_id": session,
        "model": "claude-opus-4-8", "claude_code_version": "2.1.197"})];
    for (nth, step) in conversation.steps.iter().enumerate() {
        if let Some(text) = &step.say {
            events.push(assistant(nth, json!({"type": "thinking", "thinking": THOUGHT}), Value::Null));
            events.push(assistant(nth, json!({"type": "text", "text": text}), Value::Null));
            continue;
        }
        let (name, input) = step.claude_tool();
        let id = format!("toolu_{nth}");
        events.push(assistant(
            nth,
            json!({"type": "tool_use", "id": id, "name": name, "input": input}),
            Value::Null,
        ));
        if let Some(words) = &step.agent {
            events.push(assistant(nth + 1000, json!({"type": "text", "text": words}), json!(id)));
        }
        let mut result = json!({"tool_use_id": id, "type": "tool_result", "content": step.output});
        if step.exit != 0 {
            result["content"] = format!("Exit code {}\n{}", step.exit, step.output).into();
            result["is_error"] = true.into();
        }
        events.push(json!({"type": "user", "message": {"role": "user", "content": [result]},
            "parent_tool_use_id": null, "session_id": session}));
    }
    if !conversation.is_cut_off() {
        events.push(json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 3,
            "result": conversation.last_said(), "session_id": session, "total_cost_usd": 0.01,
            "usage": {"input_tokens": 1100, "output_tokens": 200}}));
    }
    lines(&events)
}

fn codex(conversation: &Conversation) -> String {
    let mut events = vec![
        json!({"type": "thread.started", "thread_id": "01a1e227-05d0-7f23-8481-abd8e128f11c"}),
        json!({"type": "turn.started"}),
    ];
    for (nth, step) in conversation.steps.iter().enumerate() {
        let id = format!("item_{nth}");
        if let Some(text) = &step.say {
            events.push(json!({"type": "item.completed", "item": {"id": format!("{id}r"), "type": "reasoning", "text": THOUGHT}}));
            events.push(
                json!({"type": "item.completed", "item": {"id": id, "type": "agent_message", "text": text}}),
            );
            continue;
        }
        let (started, completed) = match step {
            Step { edit: Some(path), .. } => {
                let item = |status: &str| json!({"id": id, "type": "file_change", "changes": [{"path": path, "kind": "update"}], "status": status});
                (item("in_progress"), item("completed"))
            }
            Step { agent: Some(words), .. } => {
                let item = |status: &str| {
                    json!({"id": id, "type": "mcp_tool_call", "server": "helper", "tool": "ask", "status": status,
                    "result": {"content": [{"type": "text", "text": words}]}})
                };
                (item("in_progress"), item("completed"))
            }
            _ => {
                let command = step
                    .run
                    .clone()
                    .unwrap_or_else(|| format!("cat {}", step.read.as_deref().unwrap_or_default()));
                let command = format!("/bin/bash -lc '{command}'");
                let status = if step.exit == 0 { "completed" } else { "failed" };
                (
                    json!({"id": id, "type": "command_execution", "command": command, "aggregated_output": "", "exit_code": null, "status": "in_progress"}),
                    json!({"id": id, "type": "command_execution", "command": command, "aggregated_output": step.output, "exit_code": step.exit, "status": status}),
                )
            }
        };
        events.push(json!({"type": "item.started", "item": started}));
        events.push(json!({"type": "item.completed", "item": completed}));
    }
    if !conversation.is_cut_off() {
        events.push(json!({"type": "turn.completed", "usage": {"input_tokens": 1200, "cached_input_tokens": 600, "output_tokens": 250}}));
    }
    lines(&events)
}

fn opencode(conversation: &Conversation) -> String {
    let session = "ses_e1ddf216bffey5P9ZVkLHk41un";
    let mut events = vec![];
    let mut event = |kind: &str, mut part: Value| {
        part["sessionID"] = session.into();
        part["messageID"] = "msg_1e220ec530017lV8vcOnpbkznP".into();
        events.push(
            json!({"type": kind, "timestamp": 1_794_795_174_135_u64, "sessionID": session, "part": part}),
        );
    };
    let mut in_step = false;
    let finish = |nth: usize, reason: &str| {
        json!({"id": format!("prt_f{nth}"), "type": "step-finish", "reason": reason, "cost": 0.001,
            "tokens": {"input": 100, "output": 50, "reasoning": 0, "cache": {"read": 0, "write": 0}}})
    };
    for (nth, step) in conversation.steps.iter().enumerate() {
        if !in_step {
            event("step_start", json!({"id": format!("prt_s{nth}"), "type": "step-start"}));
            in_step = true;
        }
        if let Some(text) = &step.say {
            event("text", json!({"id": format!("prt_{nth}"), "type": "text", "text": text}));
            continue;
        }
        let (tool, input) = match step {
            Step { read: Some(path), .. } => ("read", json!({"filePath": path})),
            Step { edit: Some(path), .. } => {
                ("edit", json!({"filePath": path, "oldString": "a", "newString": "b"}))
            }
            Step { agent: Some(_), .. } => ("task", json!({"prompt": "Help."})),
            _ => ("bash", json!({"command": step.run})),
        };
        let output = [step.agent.as_deref().unwrap_or_default(), &step.output].concat();
        let metadata = if tool == "bash" { json!({"exit": step.exit}) } else { json!({}) };
        event(
            "tool_use",
            json!({"type": "tool", "tool": tool, "callID": format!("call_{nth}"),
                "state": {"status": "completed", "input": input, "output": output, "metadata": metadata}}),
        );
        event("step_finish", finish(nth, "tool-calls"));
        in_step = false;
    }
    if !conversation.is_cut_off() {
        event("step_finish", finish(conversation.steps.len(), "stop"));
    }
    lines(&events)
}

fn gemini(conversation: &Conversation) -> String {
    let mut events = vec![
        json!({"type": "init", "session_id": "14d02093-db02-4e7b-844d-6e8ed43a5563", "model": "gemini-2.5-pro"}),
        json!({"type": "message", "role": "user", "content": "Do what PLAN.md says. Say when all tasks are complete."}),
    ];
    let mut spoke = false;
    for (nth, step) in conversation.steps.iter().enumerate() {
        if let Some(text) = &step.say {
            // What follows without a tool in between continues the message.
            let text = if spoke { format!("\n\n{text}") } else { text.clone() };
            let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 3));
            for delta in [first, second] {
                events.push(json!({"type": "message", "role": "assistant", "content": delta, "delta": true}));
            }
            spoke = true;
            continue;
        }
        spoke = false;
        let (tool, parameters) = match step {
            Step { read: Some(path), .. } => ("read_file", json!({"file_path": path})),
            Step { edit: Some(path), .. } => {
                ("replace", json!({"file_path": path, "old_string": "a", "new_string": "b"}))
            }
            Step { agent: Some(_), .. } => ("codebase_investigator", json!({"objective": "Help."})),
            _ => ("run_shell_command", json!({"command": step.run})),
        };
        let id = format!("{tool}__call_{nth}");
        events.push(json!({"type": "tool_use", "tool_name": tool, "tool_id": id, "parameters": parameters}));
        let output = [step.agent.as_deref().unwrap_or_default(), &step.output].concat();
        events.push(json!({"type": "tool_result", "tool_id": id, "status": "success", "output": output}));
    }
    if !conversation.is_cut_off() {
        events.push(json!({"type": "result", "status": "success", "stats": {"total_tokens": 1300, "input_tokens": 1100, "output_tokens": 200, "cached": 600}}));
    }
    lines(&events)
}
