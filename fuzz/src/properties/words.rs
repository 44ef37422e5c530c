//! Readers of text, with what they promise beyond not falling over.

use std::collections::BTreeSet;

use ralph_core::gate::{self, Context, Words};
use ralph_core::indicator::indicators;
use ralph_core::limit::{self, Limit, Reset};
use ralph_core::profile::Gate;
use ralph_core::redact::{self, Secrets};
use ralph_core::report::IterationReport;
use ralph_core::report::block::{self, Block, Status, Tests};
use ralph_core::report::dialects::{self, Saying, Vote};
use ralph_core::report::form::{self, Check, Facts, Form, Tasks};
use ralph_core::signature::{Errors, has_error_shape, normalise};
use ralph_core::text;
use ralph_core::{git_index, git_text};

/// What `text::head` adds where it cuts.
const ELLIPSIS: usize = '…'.len_utf8();

pub(super) fn block(bytes: &[u8]) {
    let words = String::from_utf8_lossy(bytes);
    let (found, problems) = block::last(&words);
    assert!(problems.len() <= 20 && problems.iter().all(|problem| problem.len() <= 100 + ELLIPSIS));
    // Line ends of another system change nothing but the list of what is odd.
    let (crlf, _) = block::last(&words.replace('\n', "\r\n"));
    assert_eq!(crlf.as_ref().map(values), found.as_ref().map(values));
    let Some(block) = found else { return };
    assert!(block.verbatim.len() <= 2000 + ELLIPSIS);
    assert!(block.recommendation.as_ref().is_none_or(|line| line.len() <= 500 + ELLIPSIS));
    // What is said after a report does not take it back, unless it is another report.
    if block.problems.iter().all(|problem| problem != "missing end line") {
        let (after, _) = block::last(&format!("{words}\n\nThat was it.\n"));
        assert_eq!(after.as_ref().map(values), Some(values(&block)));
    }
    if let Some(form) = written(&block) {
        assert_eq!(block::last(&form.to_string()).0.as_ref().and_then(written), Some(form));
    }
}

fn values(block: &Block) -> Block {
    Block { problems: Vec::new(), verbatim: String::new(), ..block.clone() }
}

/// The block as a form, if it says everything a form has.
fn written(block: &Block) -> Option<Form> {
    let recommendation = block.recommendation.clone()?;
    let known = block.status != Some(Status::Unknown) && block.tests != Some(Tests::Unknown);
    // What was cut already must not be cut again.
    let fits = form::recommendation_fault(&recommendation).is_none() && recommendation.len() <= 500;
    (known && fits).then_some(Form {
        status: block.status?,
        tasks: block.tasks?,
        files: block.files?,
        tests: block.tests?,
        work_type: block.work_type?,
        exit_signal: block.exit_signal,
        recommendation,
    })
}

pub(super) fn form(bytes: &[u8]) {
    let words = String::from_utf8_lossy(bytes);
    let _ = form::read_plan(&words);
    let Some(found) = form::find(&words) else { return };
    let facts = Facts { tests: None, files: None, tasks: Tasks::Untold, todos: None };
    for violation in found.check(&facts) {
        let line = violation.to_string();
        assert!(!line.contains('\n') && line.len() <= 500, "{line}");
    }
    let _ = (found.warning(), found.claims_done());
    // The block that ralph writes itself has the form, whatever the words in it.
    if let Some(form) = block::last(&words).0.as_ref().and_then(written) {
        let text = form.to_string();
        let again = form::find(&text).expect("a block");
        let formal =
            |check| matches!(check, Check::Format | Check::RecommendationPresent | Check::NoExtraFields);
        assert_eq!(again.check(&facts).into_iter().find(|violation| formal(violation.check)), None, "{text}");
    }
}

pub(super) fn dialects(bytes: &[u8]) {
    let words = String::from_utf8_lossy(bytes);
    let plain = text::plain(&words);
    assert_eq!(text::plain(&plain), plain, "nothing hidden is left");
    let expected = words.lines().next().unwrap_or("");
    let heard = [
        dialects::json_and_marker(&words),
        dialects::promise(&words, expected),
        dialects::status_file(&words, Some(&words)),
    ];
    heard.iter().flatten().for_each(said_shortly);
    let sayings: Vec<Saying> = heard.into_iter().flatten().collect();
    let says = |wanted: fn(&Vote) -> bool| sayings.iter().any(|saying| wanted(&saying.vote));
    let blocked = says(|vote| matches!(vote, Vote::Blocked { .. }));
    let more = says(|vote| matches!(vote, Vote::More));
    let nothing = sayings.is_empty();
    let report = IterationReport { sayings, ..IterationReport::default() };
    let judged = gate::judge(EXPLICIT, &report);
    let agrees = match judged {
        Words::Blocked { .. } => blocked,
        Words::More { .. } => more && !blocked,
        Words::Done { .. } => !more && !blocked && !nothing,
        Words::Silence => nothing,
    };
    assert!(agrees, "{judged:?}: {report:?}");
}

/// Only words count, and all of them.
const EXPLICIT: Context = Context {
    gate: Gate::Explicit,
    indicators: 2,
    review: false,
    has_test_check: true,
    believes_contradictions: false,
};

fn said_shortly(saying: &Saying) {
    assert!(saying.quote.len() <= 1000 && !saying.quote.contains('\n'), "{}", saying.quote);
    assert!(saying.problems.len() <= 12 && saying.problems.iter().all(|problem| problem.len() <= 200));
}

pub(super) fn indicator(bytes: &[u8]) {
    let words = String::from_utf8_lossy(bytes);
    let found = indicators(&words);
    assert!(found.phrases.len() <= 20 && found.phrases.iter().all(|phrase| phrase.len() <= 200 + ELLIPSIS));
    match &found.cancelled_by {
        Some(sentence) => assert!(found.count == 0 && sentence.len() <= 200 + ELLIPSIS, "{found:?}"),
        None => assert!(found.phrases.len() <= found.count as usize, "{found:?}"),
    }
}

pub(super) fn limit(bytes: &[u8]) {
    let words = String::from_utf8_lossy(bytes);
    assert_eq!(limit::from_prose(false, &words), None, "an agent that ended well talks about limits");
    let found = [limit::from_prose(true, &words), limit::of(None, &words), limit::of(Some(429), &words)];
    assert!(found[2].is_some(), "a status says it whatever the words");
    found.iter().flatten().for_each(told_well);
    if let Some(status) = limit::status_in(&words) {
        assert!((100..600).contains(&status), "{status}");
    }
    limit::reset_in(&words).iter().for_each(clock_exists);
}

fn told_well(limit: &Limit) {
    assert!(limit.text.len() <= 300 + ELLIPSIS && !limit.text.contains('\n'), "{}", limit.text);
    limit.reset.iter().for_each(clock_exists);
    let stored = serde_json::to_string(limit).expect("a limit is JSON");
    assert_eq!(serde_json::from_str::<Limit>(&stored).ok().as_ref(), Some(limit), "{stored}");
}

fn clock_exists(reset: &Reset) {
    if let Reset::Clock { hour, minute, zone } = reset {
        assert!(*hour < 24 && *minute < 60, "{hour}:{minute}");
        assert!(zone.as_ref().is_none_or(|zone| zone.len() <= 100), "{zone:?}");
    }
}

pub(super) fn signature(bytes: &[u8]) {
    let words = String::from_utf8_lossy(bytes);
    for line in words.lines() {
        let normal = normalise(line);
        assert!(normal.len() <= 200, "{normal}");
        assert_eq!(normalise(&normal), normal, "normalised twice");
        let _ = has_error_shape(line);
    }
    let errors = |texts: &mut dyn Iterator<Item = &str>| {
        let mut errors = Errors::default();
        texts.for_each(|text| errors.tool_failed(text));
        errors.finish()
    };
    let (forth, back) = (errors(&mut words.split("\n\n")), errors(&mut words.rsplit("\n\n")));
    assert_eq!(forth, back, "the order they came in");
    assert!(forth.errors.len() <= 20 && forth.errors.iter().all(|error| error.len() <= 200));
}

/// What git printed, or something that says it is git.
pub(super) fn git(bytes: &[u8]) {
    let _ = (git_text::parse_diff(bytes), git_text::parse_status(bytes));
    let _ = git_index::objects_at(bytes, &BTreeSet::new(), &"0".repeat(40));
    for listed in git_text::parse_listing(bytes).into_iter().flatten() {
        assert!(listed.entry.ends_with(listed.path));
    }
    if let Ok(paths) = git_text::parse_paths(bytes) {
        let again: Vec<u8> = paths.iter().flat_map(|path| path.iter().chain(b"\0")).copied().collect();
        assert_eq!(again, bytes, "every byte of a list is in a path");
    }
    assert!(!git_text::reason(bytes).contains('\n'));
    let _ = (git_text::files_moved(bytes), git_text::complaints(bytes));
}

pub(super) fn redact(bytes: &[u8]) {
    let words = String::from_utf8_lossy(bytes);
    let token = || ("MY_TOKEN".to_owned(), "swordfish-1".to_owned());
    let secrets = Secrets::new([token()], redact::dotenv(&words));
    let hidden = secrets.hide(&format!("{words} swordfish-1")).into_owned();
    assert!(!hidden.contains("swordfish-1"));
    // Shapes that are hidden once are hidden for good.
    let shapes = redact::shapes(&words).into_owned();
    assert_eq!(redact::shapes(&shapes), shapes);
    // No line of a JSON document becomes another kind of value.
    let key = format!("{{\"a\":\"ghp_{}\"}}", "a1".repeat(18));
    assert_eq!(redact::shapes(&key), "{\"a\":\"[redacted]\"}");
}
