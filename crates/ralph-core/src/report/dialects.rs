//! The other ways in which agents say how it stands: a JSON line with markers, a promise, a status file.
//!
//! All dialects are always heard. Several of one: the last. Dialects that disagree: blocked beats more work beats done.

use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::text;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// `---RALPH_STATUS---` … `---END_RALPH_STATUS---`
    Block,
    /// `RALPH_STATUS: {…}` and a marker line
    Json,
    /// `.ralph/status`
    StatusFile,
    /// `<promise>TEXT</promise>`
    Promise,
}

/// What one dialect said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saying {
    pub dialect: Dialect,
    pub vote: Vote,
    /// The words that said it.
    pub quote: String,
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "vote", rename_all = "snake_case")]
pub enum Vote {
    Done {
        /// The phase that is done, where the marker names one.
        phase: Option<u32>,
    },
    More,
    Blocked {
        why: String,
    },
}

impl Vote {
    /// Of two that disagree the higher one counts.
    fn weight(&self) -> u8 {
        match self {
            Self::Done { .. } => 0,
            Self::More => 1,
            Self::Blocked { .. } => 2,
        }
    }
}

/// The saying that counts, if there is any.
pub fn deciding(sayings: &[Saying]) -> Option<&Saying> {
    // `max_by_key` takes the last of equals; the first is the one with more to tell (the block comes first).
    sayings.iter().rev().max_by_key(|saying| saying.vote.weight())
}

/// `.ralph/status`: one word. IDLE, an empty file and a missing one are silence.
pub fn status_file(content: &str) -> Option<Saying> {
    let word = text::one_line(content, 100);
    let vote = match word.to_ascii_uppercase().as_str() {
        "" | "IDLE" => return None,
        "DONE" => Vote::Done { phase: None },
        "STUCK" => Vote::Blocked {
            why: "the agent wrote STUCK into .ralph/status; .ralph/handoff.md may say what it needs".into(),
        },
        _ => Vote::More,
    };
    let known = ["DONE", "STUCK", "CONTINUE", "ROTATE"].contains(&word.as_str());
    let problems = if known { vec![] } else { vec![format!("unknown signal '{word}'")] };
    Some(Saying { dialect: Dialect::StatusFile, vote, quote: word, problems })
}

/// The last JSON report and the last marker line.
pub fn json_and_marker(words: &str) -> Option<Saying> {
    let clean = text::plain(words);
    let marker = clean.lines().rev().find_map(marker);
    let report = last_json(&clean);
    let mut problems: Vec<String> =
        report.iter().filter_map(|report| report.problem).map(ToOwned::to_owned).collect();
    let vote = match (report.as_ref().map(|report| report.signal), &marker) {
        (None, None) => return None,
        (_, Some((_, Vote::Blocked { why }))) => {
            let told = report.as_ref().and_then(|report| report.reason.clone());
            Vote::Blocked { why: told.filter(|_| why == NO_REASON).unwrap_or_else(|| why.clone()) }
        }
        (Some(true), Some((_, done @ Vote::Done { .. }))) => done.clone(),
        (Some(true), None) => {
            problems.push("EXIT_SIGNAL is true and no marker says so".to_owned());
            Vote::Done { phase: None }
        }
        (Some(false), Some((_, Vote::Done { .. }))) => {
            problems.push("the marker says complete and EXIT_SIGNAL is false".to_owned());
            Vote::More
        }
        (None, Some((_, Vote::Done { .. }))) => {
            problems.push("a marker without its JSON report".to_owned());
            Vote::More
        }
        _ => Vote::More,
    };
    let quotes = [report.map(|report| report.quote), marker.map(|(quote, _)| quote)];
    let quote = quotes.into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some(Saying { dialect: Dialect::Json, vote, quote, problems })
}

/// Said where a marker names none.
const NO_REASON: &str = "no reason given";

/// A marker alone on its line, decoration aside. A placeholder for a reason is quoted instructions.
fn marker(line: &str) -> Option<(String, Vote)> {
    let bare = line.trim_matches(decoration);
    let vote = match bare {
        "LOOP_CONTINUE" => Vote::More,
        "LOOP_COMPLETE" => Vote::Done { phase: None },
        _ => {
            if let Some(phase) = bare.strip_prefix("LOOP_COMPLETE_PHASE_") {
                Vote::Done { phase: Some(phase.parse().ok()?) }
            } else {
                let why = bare.strip_prefix("LOOP_BLOCKED")?;
                let why = why.strip_prefix(':').or_else(|| why.is_empty().then_some(why))?.trim();
                if why.starts_with('[') && why.ends_with(']') {
                    return None;
                }
                let why = if why.is_empty() { NO_REASON } else { why };
                Vote::Blocked { why: text::one_line(why, 500) }
            }
        }
    };
    Some((text::one_line(bare, 200), vote))
}

fn decoration(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '`' | '>' | '"')
}

/// A JSON report: its words, what it declares, and what is wrong with it.
struct Json {
    quote: String,
    signal: bool,
    /// Why it is blocked, where the marker does not say.
    reason: Option<String>,
    problem: Option<&'static str>,
}

/// The last `RALPH_STATUS: {…}` that stands on lines of its own; a template is none. What is no JSON is read as text:
/// passed over, it would leave the word to an older report.
fn last_json(words: &str) -> Option<Json> {
    const KEY: &str = "RALPH_STATUS:";
    let starts: Vec<usize> = words.match_indices(KEY).map(|(at, _)| at).collect();
    starts.into_iter().rev().take(50).find_map(|at| {
        let line = words[..at].rfind('\n').map_or(0, |end| end + 1);
        let after = words[at + KEY.len()..].trim_start();
        let object = balanced(after).or_else(|| torn(after))?;
        let rest = after[object.len()..].lines().next().unwrap_or("").trim_matches(decoration);
        let alone = words[line..at].chars().all(decoration) && (rest.is_empty() || rest.starts_with("LOOP_"));
        if !alone {
            return None;
        }
        let (signal, problem, reason) = match serde_json::from_str::<serde_json::Value>(object) {
            Ok(value) => {
                let signal = value.get("EXIT_SIGNAL").or_else(|| value.get("exit_signal"));
                let signal = signal.map_or_else(String::new, ToString::to_string);
                let (signal, problem) = plainly(&signal)?;
                (signal, problem, reason_in(&value))
            }
            Err(_) => (plainly(value_of_signal(object)?)?.0, Some("the report is not JSON"), None),
        };
        Some(Json { quote: format!("{KEY} {}", text::one_line(object, 300)), signal, reason, problem })
    })
}

/// What the report gives as a reason, or else recommends.
fn reason_in(report: &serde_json::Value) -> Option<String> {
    let said = ["reason", "REASON", "recommendation", "RECOMMENDATION"]
        .into_iter()
        .filter_map(|key| report.get(key)?.as_str())
        .map(|reason| text::one_line(reason, 500));
    said.into_iter().find(|reason| !reason.is_empty())
}

/// What EXIT_SIGNAL says, and a problem where it does not say it plainly. None for a template's `true/false`.
fn plainly(value: &str) -> Option<(bool, Option<&'static str>)> {
    match value {
        "true" | "false" => Some((value == "true", None)),
        "\"true\"" | "\"false\"" => Some((value == "\"true\"", Some("EXIT_SIGNAL is in quotation marks"))),
        _ if ["true/false", "false/true", "|", "["].iter().any(|mark| value.contains(mark)) => None,
        _ => Some((false, Some("EXIT_SIGNAL is not plainly true or false"))),
    }
}

/// The value after `EXIT_SIGNAL` in something that is like JSON.
fn value_of_signal(object: &str) -> Option<&str> {
    let (_, after) = object.split_once("EXIT_SIGNAL")?;
    let after = after.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ':'));
    let end = after.find([',', '}', '\n', '"', '\'']).unwrap_or(after.len());
    Some(after[..end].trim())
}

/// A report whose closing brace is missing goes as far as its paragraph.
fn torn(text: &str) -> Option<&str> {
    text.starts_with('{').then(|| text.split("\n\n").next().unwrap_or(text))
}

/// The text from its first brace to the one that closes it; reports are short.
fn balanced(text: &str) -> Option<&str> {
    if !text.starts_with('{') {
        return None;
    }
    let mut depth = 0_u32;
    for (at, c) in text.char_indices().take(4000) {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[..=at]);
                }
            }
            _ => {}
        }
    }
    None
}

/// No promise is longer, in bytes.
const LONGEST_PROMISE: usize = 4000;

/// A promise with exactly this text, white space folded: alone on a line or at the very end, outside code and quotation.
pub fn promise(words: &str, expected: &str) -> Option<Saying> {
    let clean = text::plain(words);
    let end = clean.trim_end();
    let mut fenced = false;
    let mut offset = 0;
    let mut found = None;
    for line in end.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        let quoted = line.trim_start().starts_with('>') || line.starts_with("    ") || line.starts_with('\t');
        let Some(open) = line.find("<promise>").filter(|_| !fenced && !quoted) else { continue };
        let alone = line[..open].trim().is_empty();
        let rest = &end[start + open + "<promise>".len()..];
        // Looked for only so far: from every line to the very end would take the square of the time.
        let near = &rest[..rest.floor_char_boundary(LONGEST_PROMISE)];
        let Some((said, _)) = near.split_once("</promise>") else { continue };
        let after = &rest[said.len() + "</promise>".len()..];
        let at_the_end = after.trim().is_empty();
        let rest_of_line = after.split('\n').next().unwrap_or("").trim();
        let in_code = line[..open].matches('`').count() % 2 == 1;
        let fits =
            (alone && rest_of_line.is_empty()) || (at_the_end && !in_code && !after_quote(&line[..open]));
        if fits && text::one_line(said, 1000) == text::one_line(expected, 1000) {
            let quote = format!("<promise>{}</promise>", text::one_line(said, 200));
            found = Some(Saying {
                dialect: Dialect::Promise,
                vote: Vote::Done { phase: None },
                quote,
                problems: vec![],
            });
        }
    }
    found
}

/// Whether a quotation is open at the end of this part of a line.
fn after_quote(before: &str) -> bool {
    before.matches('"').count() % 2 == 1 || before.trim_end().ends_with(['“', '«', '\''])
}

#[cfg(test)]
mod tests {
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
        let why = |report: &str, marker: &str| match json_vote(&format!("RALPH_STATUS: {report}\n\n{marker}"))
        {
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
        let vote = |content: &str| status_file(content).map(|saying| saying.vote);
        assert_eq!(vote("DONE\n"), Some(Vote::Done { phase: None }));
        assert!(matches!(vote("STUCK"), Some(Vote::Blocked { .. })));
        for word in ["CONTINUE", "ROTATE", "whatever"] {
            assert_eq!(vote(word), Some(Vote::More), "{word}");
        }
        for silence in ["IDLE\n", "", "  \n"] {
            assert_eq!(vote(silence), None);
        }
        assert_eq!(status_file("maybe").map(|saying| saying.problems.len()), Some(1));
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
    fn a_promise_s_end_is_looked_for_nearby() {
        let said = |filler: usize| {
            let words = format!("<promise>{}COMPLETE</promise>", " ".repeat(filler));
            promise(&words, "COMPLETE").is_some()
        };
        assert!(said(3000));
        assert!(!said(5000));
        assert!(promise(&"<promise>\n".repeat(1000), "COMPLETE").is_none());
    }

    #[test]
    fn blocked_beats_more_work_beats_done() {
        let saying = |dialect, vote| Saying { dialect, vote, quote: String::new(), problems: vec![] };
        let done = saying(Dialect::Promise, Vote::Done { phase: None });
        let more = saying(Dialect::Block, Vote::More);
        let blocked = saying(Dialect::Json, Vote::Blocked { why: "x".into() });
        assert_eq!(deciding(&[done.clone(), more.clone()]), Some(&more));
        assert_eq!(deciding(&[done.clone(), blocked.clone(), more]), Some(&blocked));
        assert_eq!(deciding(core::slice::from_ref(&done)), Some(&done));
        assert_eq!(deciding(&[]), None);
    }

    proptest::proptest! {
        #[test]
        fn any_words_are_heard_without_a_panic(words in "(RALPH_STATUS: \\{|\\}|LOOP_COMPLETE|<promise>|</promise>|COMPLETE|`|\"|\n|[ -~]|ä){0,40}") {
            let _ = (json_and_marker(&words), promise(&words, "COMPLETE"), status_file(&words));
        }
    }
}
