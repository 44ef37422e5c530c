use super::*;

fn json_vote(words: &str) -> Option<Vote> {
    json_and_marker(words).map(|saying| saying.vote)
}

#[test]
fn the_json_dialect_needs_both_and_blocked_wins() {
    let report = |signal: &str| {
        format!("RALPH_STATUS: {{\n  \"completion_indicators\": 3,\n  \"EXIT_SIGNAL\": {signal}\n}}\n")
    };
    let done = |phase| Some(Vote::Done { phase });
    assert_eq!(json_vote(&format!("{}\nLOOP_COMPLETE", report("true"))), done(None));
    assert_eq!(json_vote(&format!("{}\n**LOOP_COMPLETE_PHASE_2**\n", report("true"))), done(Some(2)));
    assert_eq!(json_vote(&format!("{}\nLOOP_COMPLETE", report("false"))), Some(Vote::More));
    assert_eq!(json_vote(&format!("{}\nLOOP_CONTINUE", report("true"))), Some(Vote::More));
    assert_eq!(json_vote(&report("false")), Some(Vote::More));
    assert_eq!(json_vote("LOOP_COMPLETE"), Some(Vote::More), "a marker alone is no declaration");
    let blocked = json_vote(&format!("{}\nLOOP_BLOCKED: no database", report("true")));
    assert_eq!(blocked, Some(Vote::Blocked { why: "no database".into() }));
    let without = json_and_marker(&report("true")).expect("heard");
    assert_eq!((without.vote, without.problems.len()), (Vote::Done { phase: None }, 1));
}

#[test]
fn a_marker_without_a_reason_has_that_of_its_report() {
    let why = |report: &str, marker: &str| match json_vote(&format!("RALPH_STATUS: {report}\n\n{marker}")) {
        Some(Vote::Blocked { why }) => why,
        other => panic!("{report} {marker}: {other:?}"),
    };
    let recommends = r#"{"status":"BLOCKED","recommendation":"need  a key"}"#;
    assert_eq!(why(recommends, "LOOP_BLOCKED"), "need a key");
    assert_eq!(why(recommends, "LOOP_BLOCKED:"), "need a key");
    assert_eq!(why(recommends, "LOOP_BLOCKED: no database"), "no database");
    let reason = r#"{"EXIT_SIGNAL": false, "RECOMMENDATION": "wait", "reason": "no network"}"#;
    assert_eq!(why(reason, "LOOP_BLOCKED"), "no network");
    for silent in [r#"{"EXIT_SIGNAL": false}"#, r#"{"EXIT_SIGNAL": false, "reason": " "}"#] {
        assert_eq!(why(silent, "LOOP_BLOCKED"), "no reason given");
    }
}

#[test]
fn templates_and_prose_are_not_heard() {
    for words in [
        "RALPH_STATUS: {\n  \"completion_indicators\": N,\n  \"EXIT_SIGNAL\": true/false\n}",
        "LOOP_BLOCKED: [specific reason]",
        "I will print LOOP_COMPLETE when it is done.",
        "RALPH_STATUS: soon",
        "RALPH_STATUS: {",
        "RALPH_STATUS: {\"EXIT_SIGNAL\": \"true/false\"}",
        "When all is done I print RALPH_STATUS: {\"EXIT_SIGNAL\": true} and stop.",
        "RALPH_STATUS: {\"EXIT_SIGNAL\": true} is what I will print.",
        "",
    ] {
        assert_eq!(json_vote(words), None, "{words}");
    }
}

#[test]
fn a_json_report_that_is_odd_is_read_as_text_and_named() {
    for (report, vote, problem) in [
        ("{\"EXIT_SIGNAL\": true,}", Vote::Done { phase: None }, "the report is not JSON"),
        (
            "{completion_indicators: 3, EXIT_SIGNAL: true}",
            Vote::Done { phase: None },
            "the report is not JSON",
        ),
        ("{\n  \"EXIT_SIGNAL\": false\n", Vote::More, "the report is not JSON"),
        ("{\"EXIT_SIGNAL\": \"true\"}", Vote::Done { phase: None }, "EXIT_SIGNAL is in quotation marks"),
        ("{\"EXIT_SIGNAL\": 1}", Vote::More, "EXIT_SIGNAL is not plainly true or false"),
        ("{\"EXIT_SIGNAL\": \"maybe\"}", Vote::More, "EXIT_SIGNAL is not plainly true or false"),
        ("{\"EXIT_SIGNAL\": tru}", Vote::More, "the report is not JSON"),
        ("{\"completion_indicators\": 3}", Vote::More, "EXIT_SIGNAL is not plainly true or false"),
    ] {
        let earlier = "RALPH_STATUS: {\"EXIT_SIGNAL\": true}\n\n";
        let saying =
            json_and_marker(&format!("{earlier}RALPH_STATUS: {report}\n\nLOOP_COMPLETE")).expect("heard");
        assert_eq!(saying.vote, vote, "{report}");
        assert_eq!(saying.problems.first().map(String::as_str), Some(problem), "{report}");
    }
}

#[test]
fn the_status_file_is_one_word() {
    let vote = |content: &str| status_file(content, None).map(|saying| saying.vote);
    assert_eq!(vote("DONE\n"), Some(Vote::Done { phase: None }));
    assert!(matches!(vote("STUCK"), Some(Vote::Blocked { .. })));
    for word in ["CONTINUE", "ROTATE", "whatever"] {
        assert_eq!(vote(word), Some(Vote::More), "{word}");
    }
    for silence in ["IDLE\n", "", "  \n"] {
        assert_eq!(vote(silence), None);
    }
    assert_eq!(status_file("maybe", None).map(|saying| saying.problems.len()), Some(1));
}

#[test]
fn a_promise_counts_alone_on_a_line_or_at_the_very_end() {
    let said = |words: &str| promise(words, "COMPLETE").is_some();
    assert!(said("<promise>COMPLETE</promise>"));
    assert!(said("All good.\n  <promise> COMPLETE </promise>\nBye."));
    assert!(said("That is it: <promise>COMPLETE</promise>"));
    assert!(said("<promise>\nCOMPLETE\n</promise>"));
    for words in [
        "When done I will say <promise>COMPLETE</promise> and stop.",
        "`<promise>COMPLETE</promise>`",
        "```\n<promise>COMPLETE</promise>\n```",
        "> <promise>COMPLETE</promise>",
        "He said \"<promise>COMPLETE</promise>\"",
        "<promise>NOT YET</promise>",
        "<promise>complete</promise>",
        "<promise>COMPLETE",
    ] {
        assert!(!said(words), "{words}");
    }
    assert!(promise("<promise>all  tests\npass</promise>", "all tests pass").is_some());
}

#[test]
fn a_promise_inside_a_line_is_known_and_not_heard() {
    let misplaced = |words: &str| promise(words, "COMPLETE").is_none() && misplaced(words, "COMPLETE");
    assert!(misplaced("Here: <promise>COMPLETE</promise> and bye."));
    assert!(misplaced("So <promise>COMPLETE</promise>\nBye."));
    for words in [
        "<promise>COMPLETE</promise>",
        "When done I will say <promise>COMPLETE</promise> and stop.",
        "I cannot say <promise>COMPLETE</promise> yet.",
        "`<promise>COMPLETE</promise>` is what I am asked for.",
        "> so <promise>COMPLETE</promise> it is",
        "So <promise>SOMETHING ELSE</promise> it is.",
        "No promise.",
    ] {
        assert!(!misplaced(words), "{words}");
    }
}

#[test]
fn a_promise_s_end_is_looked_for_nearby() {
    let said = |filler: usize| {
        let words = format!("<promise>{}COMPLETE</promise>", " ".repeat(filler));
        promise(&words, "COMPLETE").is_some()
    };
    assert!(said(3000));
    assert!(!said(5000));
    assert!(promise(&"<promise>\n".repeat(1000), "COMPLETE").is_none());
}

/// What is said first, then what is said last, on lines of their own.
fn newer(first: &str, last: &str) -> Saying {
    let words = format!("RALPH_STATUS: {first}\nLOOP_COMPLETE\n\nRALPH_STATUS: {last}\n");
    json_and_marker(&words).expect("heard")
}

#[test]
fn a_newer_report_that_says_false_is_never_passed_over() {
    let done = r#"{"EXIT_SIGNAL": true}"#;
    assert_eq!(newer(done, done).vote, Vote::Done { phase: None });
    for false_one in [
        r#"{"summary": "fix } in parser", "EXIT_SIGNAL": false}"#,
        r#"{"summary": "say \"{\" }", "EXIT_SIGNAL": false}"#,
        r#"{"EXIT_SIGNAL": false} (two tests fail)"#,
        r#"{"note": "EXIT_SIGNAL: true, nearly", "EXIT_SIGNAL": false,}"#,
        r#"{"EXIT_SIGNAL": false, "EXIT_SIGNAL": true}"#,
        r#"{"EXIT_SIGNAL": true, "exit_signal": false}"#,
        r#"{"completion_indicators": 3"#,
    ] {
        let saying = newer(done, false_one);
        assert_eq!(saying.vote, Vote::More, "{false_one}");
    }
    let twice = newer(done, r#"{"EXIT_SIGNAL": false, "EXIT_SIGNAL": true}"#);
    assert_eq!(twice.problems, ["EXIT_SIGNAL is there twice, in two ways"]);
}

#[test]
fn braces_in_the_words_of_a_report_do_not_end_it() {
    let words = r#"RALPH_STATUS: {"summary": "fix } in {parser", "at": {"x": 1}, "EXIT_SIGNAL": true}"#;
    let saying = json_and_marker(&format!("{words}\nLOOP_COMPLETE")).expect("heard");
    assert_eq!((saying.vote, saying.problems.len()), (Vote::Done { phase: None }, 0));
    assert!(saying.quote.ends_with("true} LOOP_COMPLETE"), "{}", saying.quote);
}

#[test]
fn a_reason_in_any_brackets_is_a_template_and_a_shown_marker_is_not_said() {
    for words in [
        "LOOP_BLOCKED: <reason>",
        "LOOP_BLOCKED: <specific reason>",
        "LOOP_BLOCKED: {reason}",
        "LOOP_BLOCKED: ...",
        "The protocol has this:\n\n```\nLOOP_BLOCKED: no database\n```\n\nI go on.",
        "The last run ended with\n> LOOP_BLOCKED: no database\n\nand I go on.",
        "The log says \"it was\nLOOP_BLOCKED: no database\n\" and no more.",
        "\"LOOP_BLOCKED: no database\"",
        "`LOOP_BLOCKED: no database`",
    ] {
        assert_eq!(json_vote(words), None, "{words}");
    }
    let why = |reason: &str| Some(Vote::Blocked { why: reason.into() });
    assert_eq!(json_vote("LOOP_BLOCKED: no table \"users\""), why("no table \"users\""));
    assert_eq!(json_vote("**LOOP_BLOCKED: no database**"), why("no database"));
}

#[test]
fn a_shown_marker_counts_straight_behind_its_report() {
    let report = "RALPH_STATUS: {\"EXIT_SIGNAL\": false}";
    let blocked = Some(Vote::Blocked { why: "no database".into() });
    for words in [
        format!("```\n{report}\n\nLOOP_BLOCKED: no database\n```"),
        format!("> {report}\n> LOOP_BLOCKED: no database"),
        format!("```json\n{report}\n```\n\n`LOOP_BLOCKED: no database`"),
    ] {
        assert_eq!(json_vote(&words), blocked, "{words}");
    }
    let apart = format!("{report}\n\nEarlier the log said:\n```\nLOOP_BLOCKED: no database\n```");
    assert_eq!(json_vote(&apart), Some(Vote::More));
}

#[test]
fn the_decoration_of_a_report_and_its_marker_is_named() {
    let report = "RALPH_STATUS: {\"EXIT_SIGNAL\": true}";
    for (words, problem) in [
        (format!("```\n{report}\nLOOP_COMPLETE\n```"), "code fence"),
        (format!("> {report}\n> LOOP_COMPLETE"), "quote marks"),
        (format!("**{report}**\nLOOP_COMPLETE"), "bold"),
        (format!("{report}\n**LOOP_COMPLETE**"), "bold"),
        (format!("{report}\n`LOOP_COMPLETE`"), "code marks"),
        (format!("  {report}\nLOOP_COMPLETE"), "indentation"),
        (format!("{report}\n  LOOP_COMPLETE"), "indentation"),
    ] {
        let saying = json_and_marker(&words).expect("heard");
        assert_eq!(saying.vote, Vote::Done { phase: None }, "{words}");
        assert_eq!(saying.problems, [problem], "{words}");
    }
    for plain in [format!("{report}\n\nLOOP_COMPLETE\n"), format!("{report} LOOP_COMPLETE")] {
        let saying = json_and_marker(&plain).expect("heard");
        assert_eq!((saying.vote, saying.problems.len()), (Vote::Done { phase: None }, 0), "{plain}");
    }
}

#[test]
fn a_marker_before_the_last_report_belongs_to_an_older_one() {
    let words =
        "LOOP_BLOCKED: no database\n\nIt came up after all.\n\nRALPH_STATUS: {\"EXIT_SIGNAL\": true}\n";
    assert_eq!(json_vote(&format!("{words}\nLOOP_COMPLETE\n")), Some(Vote::Done { phase: None }));
    let alone = json_and_marker(words).expect("heard");
    assert_eq!(alone.problems, ["EXIT_SIGNAL is true and no marker says so"]);
    let later = json_vote("RALPH_STATUS: {\"EXIT_SIGNAL\": true}\nLOOP_COMPLETE\n\nLOOP_BLOCKED: no key");
    assert_eq!(later, Some(Vote::Blocked { why: "no key".into() }));
}

#[test]
fn a_promise_that_is_withheld_quoted_or_taken_back_is_none() {
    let said = |words: &str| promise(words, "COMPLETE").is_some();
    for words in [
        "I cannot honestly say <promise>COMPLETE</promise>",
        "Two stories are open, so I must not yet output <promise>COMPLETE</promise>",
        "I cannot honestly say: <promise>COMPLETE</promise>",
        "When it is done I will print:\n\n<promise>COMPLETE</promise>",
        "Shown:\n````\n```\n````\n```\n<promise>COMPLETE</promise>\n```",
        "````\n```\n<promise>COMPLETE</promise>\n```\n````",
        "````\n```\ncode\n```\n<promise>COMPLETE</promise>\n````",
        "<promise>COMPLETE</promise>\n<promise>NOT YET</promise>",
        "<promise>COMPLETE</promise>\n\nI take it back: <promise>NOT YET</promise>.",
        "> The rule is to print\n<promise>COMPLETE</promise>\n> at the end.",
        "The prompt says \"print\n<promise>COMPLETE</promise>\nat the end\".",
        "The prompt says “print\n\n<promise>COMPLETE</promise>\n\nat the end”.",
        "The prompt says:\n\"\n<promise>COMPLETE</promise>\n\"",
        "<promise>COM\u{200b}PLETE</promise>",
    ] {
        assert!(!said(words), "{words}");
    }
    for words in [
        "<promise>NOT YET</promise>\n\nNow it is: <promise>COMPLETE</promise>",
        "All tests pass. <promise>COMPLETE</promise>",
        "The \"export\" is in!\n<promise>COMPLETE</promise>",
        "```\ncode\n```\nThe disk is 5\" wide.\n\n<promise>COMPLETE</promise>",
        "> quoted\n\n<promise>COMPLETE</promise>",
        "I will now output the promise:\n<promise>COMPLETE</promise>",
        "`code` is in place.\n<promise>COMPLETE</promise>\nBye, 👩\u{200d}💻.",
    ] {
        assert!(said(words), "{words}");
    }
}

#[test]
fn a_signal_with_something_invisible_in_it_is_not_plainly_true() {
    let saying = newer(r#"{"EXIT_SIGNAL": true}"#, "{\"EXIT_SIGNAL\": tr\u{200b}ue}");
    assert_eq!((saying.vote, saying.problems), (Vote::More, vec!["invisible characters".into()]));
    let file = status_file("DO\u{200b}NE", None).expect("heard");
    assert_eq!((file.vote, file.problems), (Vote::More, vec!["invisible characters".into()]));
    let marked = status_file("\u{feff}DONE\r\n", None).expect("heard");
    assert_eq!((marked.vote, marked.problems), (Vote::Done { phase: None }, vec![]));
}

#[test]
fn a_signal_in_lower_case_is_known_and_named() {
    let saying = status_file("done\n", None).expect("heard");
    assert_eq!(saying.vote, Vote::Done { phase: None });
    assert_eq!(saying.problems, ["DONE is not in upper case"]);
    assert_eq!(status_file("continue", None).expect("heard").problems, ["CONTINUE is not in upper case"]);
    assert_eq!(status_file("finished", None).expect("heard").problems, ["unknown signal 'finished'"]);
}

proptest::proptest! {
    #[test]
    fn any_words_are_heard_without_a_panic(words in "(RALPH_STATUS: \\{|\\}|\"EXIT_SIGNAL\": (true|false)|LOOP_COMPLETE|LOOP_BLOCKED: |\u{1e}|\u{200b}|```|<promise>|</promise>|COMPLETE|`|\"|\n|[ -~]|ä){0,40}") {
        let _ = (json_and_marker(&words), promise(&words, "COMPLETE"), status_file(&words, Some(&words)));
    }
}
