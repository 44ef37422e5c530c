//! What a decoder recognises, and what it hands on.

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
    assert_eq!(read(&whole.replace('\n', "\r\n")).1, items, "with the other line ends");
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
    // As it is recorded: the content first, and all of it once more at the end.
    let answer = |failed: bool| {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","content":"{long}","is_error":{failed},"tool_use_id":"t"}}]}},"tool_use_result":"Error: {long}"}}"#
        )
    };
    let first = |failed: bool| {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","is_error":{failed},"content":"{long}"}}]}}}}"#
        )
    };
    let about = |line: &str| decode(Format::Auto, &[init, line.as_bytes()]).1[2..].to_vec();
    let too_long = Item::Problem(Problem::LineTooLong);
    let no_result = Item::Problem(Problem::NoResult);
    for failed in [answer(true), first(true)] {
        assert_eq!(about(&failed), [too_long.clone(), Item::ToolFailed(String::new()), no_result.clone()]);
    }
    for well in [answer(false), first(false)] {
        assert_eq!(about(&well), [too_long.clone(), no_result.clone()]);
    }
}

#[test]
fn of_an_array_that_is_longer_than_a_line_may_be_only_the_long_element_is_lost() {
    let long = "x".repeat(lines::MAX_LINE);
    let array = format!(
        r#"[{{"type":"system","subtype":"init","session_id":"s"}},{{"type":"assistant","message":"{long}"}},{{"type":"result","subtype":"success","result":"done"}}]"#
    );
    let (format, items) = decode(Format::Auto, &[array.as_bytes(), b"\n"]);
    assert_eq!(format, Format::Claude);
    let problems = items.iter().filter(|item| matches!(item, Item::Problem(_))).cloned().collect::<Vec<_>>();
    assert_eq!(problems, [Problem::LineTooLong, Problem::NotJson].map(Item::Problem));
    let finished = |item: &Item| matches!(item, Item::Finished(end) if end.text.as_deref() == Some("done"));
    assert!(items.iter().any(finished), "{items:?}");
    assert_eq!(Problem::LineTooLong.to_string(), "a line over 8 MB was cut");
}

#[test]
fn an_array_without_a_stream_in_it_is_given_back_as_it_came() {
    for text in [
        "[{\"a\":1},\n {\"b\":[2]}]\nwords\n",
        "[\n[\n{\n",
        "[",
        "[{\"a\":\"]}\"} x\ny\n",
        "[info] a\n[ ] b\n[x] c\n",
        "[]\n",
    ] {
        for chunk in [1, 3, 1000] {
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(chunk).collect();
            let (format, items) = decode(Format::Auto, &chunks);
            assert_eq!(
                (format, words(&items).concat().trim_end()),
                (Format::Auto, text.trim_end()),
                "{text}"
            );
        }
    }
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
}

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s"}"#;

/// A whole stream, or all that there is of one, that says it is done.
fn quotable() -> Vec<String> {
    let result = format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"result":"{BLOCK}","session_id":"s"}}"#
    );
    let message =
        format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{BLOCK}"}}]}}}}"#);
    vec![
        format!("{INIT}\n{message}\n{result}"),
        format!("[{INIT},{result}]"),
        result,
        message,
        r#"{"type":"turn.started"}"#.into(),
        r#"{"type":"thread.started","thread_id":"t"}"#.into(),
        r#"{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"Unauthorized","statusCode":401}}}"#.into(),
        r#"{"type":"step_start","sessionID":"s"}"#.into(),
        r#"{"type":"init","session_id":"s","model":"m"}"#.into(),
        r#"{"type":"user","message":{"content":"hi"},"uuid":"u","sessionId":"s"}"#.into(),
    ]
}

/// What was said after the last time that all before it was dropped.
fn own_words(items: &[Item]) -> String {
    let begins = items
        .iter()
        .rposition(|item| matches!(item, Item::StreamBegins | Item::TextBegins))
        .map_or(0, |at| at + 1);
    let only_words = |item: &Item| matches!(item, Item::Words(_) | Item::Problem(_));
    assert!(items[begins..].iter().all(only_words), "{items:?}");
    words(&items[begins..]).concat()
}

#[test]
fn an_agent_that_quotes_a_stream_and_goes_on_in_plain_text_is_heard() {
    let block = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nTESTS_STATUS: FAILING\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---\n";
    let reports = [
        block,
        "RALPH_STATUS: {\"EXIT_SIGNAL\": false}\n",
        "{\"EXIT_SIGNAL\": false}\n",
        "{\"EXIT_SIGNAL\": false,}\n",
        "{\n  \"EXIT_SIGNAL\": false\n}\n",
        "LOOP_BLOCKED: no key\n",
        "<promise>DONE</promise>\n",
        "I am not done.\n",
    ];
    for quoted in quotable() {
        for before in ["", "From the log of the last run:\n", "It said this.\n", "```json\n"] {
            for after in ["", "is what it says.\n", "```\n"] {
                for report in reports {
                    let text = format!("{before}{quoted}\n{after}{report}");
                    let (format, items) = decode(Format::Auto, &[text.as_bytes()]);
                    assert!(matches!(format, Format::Text | Format::Auto), "{format:?}: {text}");
                    let said = own_words(&items);
                    assert_eq!(
                        said.replace(&format!("{quoted}\n"), ""),
                        format!("{before}{after}{report}"),
                        "{text}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_was_said_before_a_quoted_stream_counts_though_the_quotation_comes_last() {
    for quoted in quotable() {
        for before in [
            "---RALPH_STATUS---\nSTATUS: BLOCKED\n---END_RALPH_STATUS---\nThe log.\n",
            "{\"EXIT_SIGNAL\": false}\nThe log.\n",
            "LOOP_BLOCKED: no key\nThe log.\n",
            "<promise>NOT YET</promise>\nThe log.\n",
            "I am not done. The log of the last run:\n",
            "```json\n",
            &"I looked at it.\n".repeat(21),
        ] {
            let (format, items) = decode(Format::Auto, &[before.as_bytes(), quoted.as_bytes()]);
            assert_eq!(format, Format::Auto, "{before}{quoted}");
            assert_eq!(own_words(&items), format!("{before}{quoted}\n"));
        }
    }
}

#[test]
fn a_stream_that_goes_on_in_plain_words_is_named_and_a_warning_in_one_is_not_words() {
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}"#;
    let problems = |text: &str| {
        let items = decode(Format::Auto, &[text.as_bytes()]).1;
        let named = items.into_iter().filter_map(|item| match item {
            Item::Problem(problem) => Some(problem.to_string()),
            _ => None,
        });
        named.collect::<Vec<_>>()
    };
    assert_eq!(
        problems(&format!("{INIT}\n{result}\nDone in 3 s.\n")),
        [
            "what looked like Claude Code's output goes on in plain words: read as plain text, since no format was named"
        ]
    );
    let not_json = ["a line of the JSON stream is not JSON"];
    assert_eq!(problems(&format!("{INIT}\n(node:7) Warning: old\n(see more)\n{result}\n")), not_json);
    assert_eq!(problems(&format!("{INIT}\n{result}\n{{\"type\":\"sys")), not_json, "torn");
    for end in ["\n\n \n", "\n\u{1b}[0m\u{1b}[?25h\n", "\n{\"level\":\"info\"}\n"] {
        assert_eq!(
            decode(Format::Auto, &[INIT.as_bytes(), b"\n", result.as_bytes(), end.as_bytes()]).0,
            Format::Claude
        );
    }
}

#[test]
fn a_wrapper_may_say_that_the_run_failed() {
    let result = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: 429","session_id":"s"}"#;
    let text = format!("{INIT}\n{result}\nclaude exited with 1\n");
    let (format, items) = decode(Format::Auto, &[text.as_bytes()]);
    assert_eq!(format, Format::Claude);
    assert!(items.iter().any(|item| matches!(item, Item::Limit(_))), "{items:?}");
    let (format, items) = decode(Format::Auto, &[result.as_bytes(), b"\nis what it must not say.\n"]);
    assert_eq!((format, &*own_words(&items)), (Format::Text, "is what it must not say.\n"));
}

#[test]
fn of_much_said_among_events_the_end_is_kept() {
    let mut text = format!("{INIT}\n").into_bytes();
    for nth in 0..100 {
        text.extend_from_slice(format!("{} {nth}\n", "much ".repeat(2000)).as_bytes());
    }
    let (format, items) = decode(Format::Auto, &[&text]);
    assert_eq!(format, Format::Text);
    let said = own_words(&items);
    assert!(said.len() < 1 << 20 && said.ends_with("much  99\n"), "{}", said.len());
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
    }
    let quoting = |quoted: &str| decode(Format::Auto, &[quoted.as_bytes(), b"\nis what it said\n"]);
    let (read, items) = quoting(result);
    assert_eq!((read, items.len()), (Format::Auto, result.lines().count() + 1), "nothing is lost");
    let (read, items) = quoting(&array);
    assert_eq!((read, &*own_words(&items)), (Format::Text, "is what it said\n"));
    assert_eq!(decode(Format::Auto, &[b"[\n  1,\n  2\n]\n"]).0, Format::Auto);
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
fn a_model_of_opencode_without_a_price_tells_no_cost() {
    let costs = |cost: &str| {
        let step = format!(r#"{{"type":"step_finish","sessionID":"x","part":{{"id":"p","cost":{cost}}}}}"#);
        let (_, items) = decode(Format::Opencode, &[step.as_bytes()]);
        items.into_iter().filter(|item| matches!(item, Item::Cost(_))).count()
    };
    assert_eq!((costs("0"), costs("0.002")), (0, 1));
}
