//! What was recorded from the real CLIs, and what must be read out of it. The expectations are written by hand from
//! the recordings and the specification, not taken from the program's output.

use std::path::Path;

use ralph_core::limit::LimitKind;
use ralph_core::report::block::Status;
use ralph_core::report::{Builder, IterationReport};
use ralph_core::transcript::{Decoder, Format};

/// What one recording says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expected {
    format: Format,
    /// The status block of the work recordings: in progress, one task, two files, tests passing.
    block: bool,
    tools: u64,
    tool_failures: u64,
    denied: &'static [&'static str],
    files: &'static [&'static str],
    tokens: u64,
    micro_usd: Option<u64>,
    /// How the error begins.
    error: Option<&'static str>,
    api_status: Option<u16>,
    limit: Option<LimitKind>,
    cut_short: bool,
}

const NOTHING: Expected = Expected {
    format: Format::Auto,
    block: false,
    tools: 0,
    tool_failures: 0,
    denied: &[],
    files: &[],
    tokens: 0,
    micro_usd: None,
    error: None,
    api_status: None,
    limit: None,
    cut_short: false,
};

fn read(bytes: &[u8], chunk: usize) -> (Format, IterationReport) {
    let mut decoder = Decoder::new(Format::Auto);
    let mut builder = Builder::default();
    for chunk in bytes.chunks(chunk) {
        decoder.feed(chunk, |item| builder.add(item));
    }
    decoder.finish(|item| builder.add(item));
    (decoder.format(), builder.finish())
}

fn check(name: &str, expected: &Expected) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ralph-testkit/recordings").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (format, report) = read(&bytes, 64 << 10);
    for chunk in [1, 7, 1000] {
        assert_eq!(read(&bytes, chunk), (format, report.clone()), "{name} in chunks of {chunk}");
    }
    assert_eq!(format, expected.format, "{name}: format");
    let block = report.block.as_ref();
    assert_eq!(block.is_some(), expected.block, "{name}: {report:#?}");
    if let Some(block) = block {
        assert_eq!(
            (block.status, block.tasks, block.files),
            (Some(Status::InProgress), Some(1), Some(2)),
            "{name}"
        );
        assert!(!block.exit_signal && block.problems.is_empty(), "{name}: {:?}", block.problems);
    }
    assert_eq!(
        (report.tools, report.tool_failures),
        (expected.tools, expected.tool_failures),
        "{name}: tools"
    );
    assert_eq!(report.denied, expected.denied, "{name}: denied");
    assert_eq!(report.files, expected.files, "{name}: files");
    assert_eq!(report.usage.total(), expected.tokens, "{name}: tokens {:?}", report.usage);
    assert_eq!(report.cost_micro_usd, expected.micro_usd, "{name}: cost");
    match (expected.error, report.error.as_deref()) {
        (None, None) => {}
        (Some(begins), Some(error)) if error.starts_with(begins) => {}
        (_, error) => panic!("{name}: error {error:?}, expected {:?}", expected.error),
    }
    assert_eq!(report.api_status, expected.api_status, "{name}: status");
    assert_eq!(report.limit.map(|limit| limit.kind), expected.limit, "{name}: limit");
    assert_eq!(report.cut_short, expected.cut_short, "{name}: cut short");
}

fn failed(
    format: Format,
    error: &'static str,
    api_status: Option<u16>,
    limit: Option<LimitKind>,
) -> Expected {
    Expected { format, error: Some(error), api_status, limit, ..NOTHING }
}

const HELLO: &[&str] = &["/project/hello.txt"];

#[test]
fn claude_streams() {
    use LimitKind::{Auth, Overload, Rate};
    let ok = Expected {
        format: Format::Claude,
        block: true,
        tools: 2,
        tool_failures: 1,
        files: HELLO,
        tokens: 1900,
        micro_usd: Some(10_800),
        ..NOTHING
    };
    check("claude-work-stream.jsonl", &ok);
    check("claude-denied-stream.jsonl", &Expected { tool_failures: 2, denied: &["Write"], ..ok });
    let turns = Expected {
        tools: 1,
        files: HELLO,
        tokens: 150,
        micro_usd: Some(1750),
        ..failed(Format::Claude, "Reached maximum number of turns (1)", None, None)
    };
    check("claude-maxturns-stream.jsonl", &turns);
    let error = |begins, status, limit| Expected {
        micro_usd: Some(0),
        ..failed(Format::Claude, begins, status, limit)
    };
    check("claude-r400-stream.jsonl", &error("API Error: 400", Some(400), None));
    check("claude-r401-stream.jsonl", &error("Failed to authenticate.", Some(401), Some(Auth)));
    for name in ["claude-r429-stream.jsonl", "claude-r429after-stream.jsonl", "claude-quota-stream.jsonl"] {
        check(name, &error("API Error: Request rejected (429)", Some(429), Some(Rate)));
    }
    check("claude-r503-stream.jsonl", &error("API Error: 503", Some(503), Some(Overload)));
    check("claude-r529-stream.jsonl", &error("API Error: 529", Some(529), Some(Overload)));
    check("claude-cut-stream.jsonl", &error("API Error: Connection to the API was lost", None, None));
    // Lost once and made again: `usage` says nothing, `modelUsage` does.
    let again =
        Expected { tools: 0, tool_failures: 0, files: &[], tokens: 1120, micro_usd: Some(6200), ..ok };
    check("claude-cutonce-stream.jsonl", &again);
}

#[test]
fn claude_single_results() {
    let ok =
        Expected { format: Format::Claude, block: true, tokens: 1900, micro_usd: Some(10_800), ..NOTHING };
    check("claude-work-json.json", &ok);
    check("claude-denied-json.json", &Expected { denied: &["Write"], ..ok });
    let auth = failed(Format::Claude, "Failed to authenticate.", Some(401), Some(LimitKind::Auth));
    check("claude-r401-json.json", &Expected { micro_usd: Some(0), ..auth });
}

#[test]
fn codex_streams() {
    use LimitKind::{Auth, Overload, Rate, Usage};
    let ok = Expected {
        format: Format::Codex,
        block: true,
        tools: 3,
        tool_failures: 1,
        files: &["/project/notes.txt"],
        tokens: 1450,
        ..NOTHING
    };
    check("codex-work-json.jsonl", &ok);
    let error = |begins, status, limit| failed(Format::Codex, begins, status, limit);
    check("codex-r400-json.jsonl", &error("{\"error\":", None, None));
    check("codex-r401-json.jsonl", &error("unexpected status 401", Some(401), Some(Auth)));
    check("codex-r429-json.jsonl", &error("exceeded retry limit", Some(429), Some(Rate)));
    check("codex-r429after-json.jsonl", &error("exceeded retry limit", Some(429), Some(Rate)));
    check("codex-quota-json.jsonl", &error("You’ve hit your usage limit.", None, Some(Usage)));
    check("codex-r503-json.jsonl", &error("unexpected status 503", Some(503), Some(Overload)));
    check("codex-r529-json.jsonl", &error("unexpected status 529", Some(529), Some(Overload)));
    check("codex-cut-json.jsonl", &error("stream disconnected before completion", None, None));
}

#[test]
fn gemini_streams() {
    use LimitKind::{Auth, Overload, Rate, Usage};
    // A shell command that failed is told as a success.
    let ok =
        Expected { format: Format::Gemini, block: true, tools: 2, files: HELLO, tokens: 1300, ..NOTHING };
    check("gemini-work-stream.jsonl", &ok);
    let denied = &["write_file", "run_shell_command"];
    check("gemini-denied-stream.jsonl", &Expected { tool_failures: 2, denied, ..ok });
    let error = |begins, status, limit| failed(Format::Gemini, begins, status, limit);
    check("gemini-r400-stream.jsonl", &error("[API Error: ", Some(400), None));
    check("gemini-r401-stream.jsonl", &error("[API Error: ", Some(401), Some(Auth)));
    check("gemini-r429-stream.jsonl", &error("[API Error: Too many requests.]", None, Some(Rate)));
    check("gemini-r429after-stream.jsonl", &error("[API Error: Too many requests.]", None, Some(Rate)));
    check(
        "gemini-quota-stream.jsonl",
        &error("[API Error: You have exhausted your daily quota", None, Some(Usage)),
    );
    check(
        "gemini-r503-stream.jsonl",
        &error("[API Error: The service is unavailable.]", None, Some(Overload)),
    );
    check("gemini-r529-stream.jsonl", &error("[API Error: ", Some(529), Some(Overload)));
}

#[test]
fn opencode_streams() {
    let ok = Expected {
        format: Format::Opencode,
        block: true,
        tools: 2,
        tool_failures: 1,
        files: HELLO,
        tokens: 1300,
        micro_usd: Some(4680),
        ..NOTHING
    };
    check("opencode-work-json.jsonl", &ok);
    let denied =
        Expected { block: false, tools: 1, denied: &["write"], tokens: 150, micro_usd: Some(1050), ..ok };
    check("opencode-denied-json.jsonl", &denied);
    check("opencode-r400-json.jsonl", &failed(Format::Opencode, "Not a valid request.", Some(400), None));
    let auth = Some(LimitKind::Auth);
    check("opencode-r401-json.jsonl", &failed(Format::Opencode, "Not a valid API key.", Some(401), auth));
    check("opencode-cut-json.jsonl", &Expected { format: Format::Opencode, cut_short: true, ..NOTHING });
    // It goes on trying in silence.
    for name in ["opencode-r429-json.jsonl", "opencode-quota-json.jsonl", "opencode-r503-json.jsonl"] {
        check(name, &NOTHING);
    }
}

#[test]
fn text_forms() {
    for cli in ["claude", "codex", "gemini", "opencode"] {
        check(&format!("{cli}-work-text.txt"), &Expected { block: true, ..NOTHING });
    }
}
