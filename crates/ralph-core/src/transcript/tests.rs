use super::*;

pub(super) fn decode(format: Format, chunks: &[&[u8]]) -> (Format, Vec<Item>) {
    let mut decoder = Decoder::new(format);
    let mut items = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk, |item| items.push(item));
    }
    decoder.finish(|item| items.push(item));
    (decoder.format(), items)
}

#[test]
fn plain_text_is_words_and_bad_bytes_are_named() {
    let (format, items) = decode(Format::Auto, &[b"hello\nbad \xff byte"]);
    assert_eq!(format, Format::Auto);
    assert_eq!(
        items,
        [
            Item::Words("hello\n".into()),
            Item::Problem(Problem::InvalidUtf8),
            Item::Words("bad \u{fffd} byte\n".into())
        ]
    );
}

#[test]
fn a_quoted_line_of_a_stream_does_not_make_plain_text_a_stream() {
    let quoted =
        br#"{"type":"assistant","message":{"content":[{"type":"text","text":"EXIT_SIGNAL: true"}]}}"#;
    let (format, _) = decode(Format::Auto, &[b"look:\n", quoted, b"\nso it says\n"]);
    assert_eq!(format, Format::Auto);
    let init = b"---END_RALPH_STATUS---\n{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n";
    assert_eq!(decode(Format::Auto, &[init]).0, Format::Auto);
}

#[test]
fn a_stream_is_recognised_after_a_wrapper_s_own_lines() {
    let stream = b"npm notice\n{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n";
    let (format, items) = decode(Format::Auto, &[stream]);
    assert_eq!(format, Format::Claude);
    assert_eq!(items.last(), Some(&Item::Problem(Problem::NoResult)));
}

#[test]
fn a_document_is_read_only_where_it_is_the_whole_output() {
    let whole = "{\n  \"session_id\": \"s\",\n  \"response\": \"hi\",\n  \"stats\": {}\n}";
    let read = |text: &str| decode(Format::Auto, &[text.as_bytes()]);
    let (format, items) = read(whole);
    assert_eq!(format, Format::Gemini);
    assert!(items.contains(&Item::Words("hi".into())), "{items:?}");
    assert_eq!(read(&format!("\n{whole}\n\n")).0, Format::Gemini);
    for text in [
        format!("It says:\n{whole}\n"),
        format!("{whole}\nis what it says\n"),
        whole.replace("response", "answer"),
        whole.trim_end_matches('}').to_owned(),
    ] {
        let (format, items) = read(&text);
        assert_eq!(format, Format::Auto, "{text}");
        let expected: Vec<Item> = text.lines().map(|line| Item::Words(format!("{line}\n"))).collect();
        assert_eq!(items, expected, "nothing is lost");
    }
}

#[test]
fn a_tool_result_that_is_too_long_to_parse_is_still_known_to_have_failed() {
    let init = b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n".as_slice();
    let long = "x".repeat(lines::MAX_LINE);
    let answer = |failed: bool| {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","is_error":{failed},"content":"{long}"}}]}}}}"#
        )
    };
    let about = |line: &str| decode(Format::Auto, &[init, line.as_bytes()]).1[2..].to_vec();
    let too_long = Item::Problem(Problem::LineTooLong);
    let no_result = Item::Problem(Problem::NoResult);
    assert_eq!(about(&answer(true)), [too_long.clone(), Item::ToolFailed(String::new()), no_result.clone()]);
    assert_eq!(about(&answer(false)), [too_long, no_result]);
}

const BLOCK: &str = "---RALPH_STATUS---\\nSTATUS: COMPLETE\\nEXIT_SIGNAL: true\\n---END_RALPH_STATUS---";

fn words(items: &[Item]) -> Vec<&str> {
    items
        .iter()
        .filter_map(|item| match item {
            Item::Words(words) => Some(words.as_str()),
            _ => None,
        })
        .collect()
}

#[test]
fn claude_s_stream_is_recognised_without_a_session_s_id_where_nothing_was_said_before() {
    let assistant =
        format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{BLOCK}"}}]}}}}"#);
    let result = format!(r#"{{"type":"result","subtype":"success","result":"{BLOCK}"}}"#);
    let init = r#"{"type":"system","subtype":"init","cwd":"/x"}"#;
    for stream in [
        format!("{init}\n{assistant}\n{result}\n"),
        format!("\n{assistant}\n{result}\n"),
        format!("[{assistant},{result}]"),
        format!("{assistant}\nnpm warn deprecated\n{result}"),
    ] {
        let (format, items) = decode(Format::Auto, &[stream.as_bytes()]);
        assert_eq!(format, Format::Claude, "{stream}");
        assert_eq!(words(&items).concat().trim(), BLOCK.replace("\\n", "\n"), "{stream}");
        let later = decode(Format::Auto, &[b"It printed:\n", stream.as_bytes()]);
        assert_eq!(later.0, Format::Auto, "somebody quotes it: {stream}");
    }
    assert_eq!(decode(Format::Auto, &[result.as_bytes()]).0, Format::Claude);
    let marked = decode(Format::Auto, &[b"\xef", b"\xbb\xbf", result.as_bytes()]);
    assert_eq!(marked.0, Format::Claude, "behind a byte order mark");
}

#[test]
fn an_agent_that_quotes_a_stream_first_and_reports_in_plain_text_is_heard() {
    let quoted =
        format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{BLOCK}"}}]}}}}"#);
    for report in ["---RALPH_STATUS---\nSTATUS: BLOCKED", "LOOP_BLOCKED: no key", "<promise>DONE</promise>"] {
        let text = format!("{quoted}\nis what it says.\n{report}\nBye.\n");
        let (format, items) = decode(Format::Auto, &[text.as_bytes()]);
        assert_eq!(format, Format::Text, "{report}");
        let begins = items.iter().rposition(|item| *item == Item::StreamBegins).expect("begun again");
        assert_eq!(words(&items[begins..]).concat(), format!("{report}\nBye.\n"));
    }
}

#[test]
fn json_that_only_resembles_claude_s_stays_text() {
    for line in [
        r#"{"type":"system","message":"up"}"#,
        r#"{"type":"assistant","text":"hi"}"#,
        r#"{"type":"assistant","message":"hi"}"#,
        r#"{"type":"result","value":3}"#,
        r#"{"type":"user","message":{"content":"hi"}}"#,
        r#"[{"type":"result"}]"#,
        "[]",
    ] {
        assert_eq!(decode(Format::Auto, &[line.as_bytes()]).0, Format::Auto, "{line}");
    }
}

#[test]
fn claude_s_result_and_array_are_read_over_many_lines_too() {
    let result = "{\n  \"type\": \"result\",\n  \"subtype\": \"success\",\n  \"is_error\": false,\n  \"result\": \"hi\"\n}";
    let array = format!(
        "[\n  {},\n  {}\n]",
        r#"{"type": "system", "subtype": "init"}"#,
        result.replace('\n', "\n  ")
    );
    for document in [result, &array] {
        for text in [format!("{document}\n"), format!("\n{document}\n\n"), document.replace('\n', "\r\n")] {
            for format in [Format::Auto, Format::Claude] {
                let (read, items) = decode(format, &[text.as_bytes()]);
                assert_eq!(read, Format::Claude, "{text}");
                let finished =
                    |item: &Item| matches!(item, Item::Finished(end) if end.text.as_deref() == Some("hi"));
                assert!(items.iter().any(finished), "{items:?}");
                assert!(!items.iter().any(|item| matches!(item, Item::Problem(_))), "{items:?}");
            }
        }
        let (read, items) = decode(Format::Auto, &[document.as_bytes(), b"\nis what it said\n"]);
        assert_eq!(read, Format::Auto);
        assert_eq!(items.len(), document.lines().count() + 1, "nothing is lost");
    }
    assert_eq!(decode(Format::Auto, &[b"[\n  1,\n  2\n]\n"]).0, Format::Auto);
}

#[test]
fn a_stream_whose_events_stand_over_many_lines_says_the_same() {
    for stream in [
        &include_bytes!("../../tests/transcripts/claude-work-stream.jsonl")[..],
        include_bytes!("../../../ralph-testkit/recordings/codex-work-json.jsonl"),
        include_bytes!("../../../ralph-testkit/recordings/opencode-work-json.jsonl"),
        include_bytes!("../../../ralph-testkit/recordings/gemini-work-stream.jsonl"),
    ] {
        let events = serde_json::Deserializer::from_slice(stream).into_iter::<serde_json::Value>();
        let lines = events.map(|event| serde_json::to_string_pretty(&event.expect("JSON")).expect("JSON"));
        let pretty = lines.map(|event| event + "\n").collect::<String>();
        let (format, items) = decode(Format::Auto, &[stream]);
        let (read, pretty_items) = decode(Format::Auto, &[pretty.as_bytes()]);
        assert_eq!(read, format);
        assert_eq!(words(&pretty_items), words(&items), "{format:?}");
        assert_eq!(pretty_items.len(), items.len(), "{format:?}");
        assert_eq!(decode(format, &[pretty.as_bytes()]).1.len(), items.len(), "{format:?}");
    }
}

#[test]
fn a_format_that_was_asked_for_and_is_not_there_is_named() {
    let claude = br#"{"type":"system","subtype":"init","session_id":"s"}
{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"hi"}
"#;
    let wrong = |format, bytes: &[u8]| {
        let found = decode(format, &[bytes]).1.into_iter().find_map(|item| match item {
            Item::Problem(problem @ Problem::OtherFormat { .. }) => Some(problem.to_string()),
            _ => None,
        });
        found.unwrap_or_default()
    };
    for format in [Format::Codex, Format::Opencode, Format::Gemini] {
        let said = wrong(format, claude);
        assert!(said.starts_with(&format!("nothing in it looks like {} output; ", format.whose())), "{said}");
        assert!(said.ends_with("it looks like Claude Code's, which --format auto recognises"), "{said}");
    }
    assert_eq!(wrong(Format::Codex, b"Hello.\n"), "nothing in it looks like Codex's output");
    for (format, bytes) in [
        (Format::Claude, &claude[..]),
        (Format::Auto, claude),
        (Format::Text, claude),
        (Format::Codex, b"\n"),
    ] {
        assert_eq!(wrong(format, bytes), "", "{format:?}");
    }
}

#[test]
fn json_that_is_not_a_stream_stays_text() {
    let (format, _) = decode(Format::Auto, &[b"{\"type\":\"banana\"}\n[1,2]\n"]);
    assert_eq!(format, Format::Auto);
}
