//! `ralph evidence verify`: does what was proved still hold?

use std::process::ExitCode;
use std::time::Duration;

use ralph_core::ledger::{Verdict, Verified, overall};
use ralph_core::profile::Policy;
use ralph_core::text::{count, one_line};
use ralph_core::time;
use ralph_core::view::evidence;

use super::{VerifyArgs, chosen, nothing};
use crate::error::{Error, Result};
use crate::project::Project;
use crate::runner::Again;
use crate::secrets;
use crate::ui::Ui;
use crate::verify::{self, Anchored, Commits, Ended, Loaded, load};

/// Something could not be run, and nothing fails.
const COULD_NOT_RUN: u8 = 3;
/// How much of a failing check's output is shown.
const TAIL_LINES: usize = 12;

pub(super) fn main(args: &VerifyArgs, ui: &mut Ui) -> Result<ExitCode> {
    let project = Project::find()?;
    let loaded = load(&project, Anchored::Asked)?;
    let attempts = chosen(&loaded, args.what.as_deref())?;
    if !args.json {
        tell_of_the_chain(&loaded, ui);
    }
    let mut again = match args.no_run {
        true => None,
        false => Some(Again::new(secrets::of(&project.root), limit(args.timeout.as_deref())?)?),
    };
    let commits = Commits::of(&project, &attempts, &loaded);
    let mut verified = vec![];
    for attempted in &attempts {
        let record = &attempted.record;
        let sound = loaded.is_sound(&record.attempt);
        let runs = again.is_some() && record.passed() && !record.checks.is_empty();
        if runs && sound && attempted.commit().is_some() {
            let what = record.item.as_deref().unwrap_or("the goal");
            ui.say(&format!(
                "{} (#{}) in a clean checkout of its commit:",
                one_line(what, 100),
                record.iteration
            ));
        }
        match verify::attempt(&project, attempted, &loaded, &commits, again.as_mut(), ui) {
            Ok(one) => {
                if !args.json {
                    tell(&one, ui);
                }
                verified.push(one);
            }
            Err(Ended::Failed(error)) => return Err(error),
            Err(Ended::Asked(by)) => {
                ui.say("stopped; what was running is ended and its checkout is removed");
                return Ok(ExitCode::from(verify::exit_code(by)));
            }
        }
    }
    let result = overall(&loaded.summary.faults, &verified);
    match args.json {
        true => ui.json(&evidence::verification(&loaded.summary, &verified, again.is_some())),
        false => summary(&verified, result, again.is_some(), ui),
    }
    if project.repo.is_none() && verified.iter().any(|one| one.verdict == Verdict::CouldNotRun) {
        ui.say(
            "this folder is no git repository: without commits there is no clean checkout to run checks in",
        );
    }
    if loaded.attempts.is_empty() && loaded.summary.faults.is_empty() {
        ui.say(nothing(&project));
    }
    Ok(match result {
        Verdict::Holds => ExitCode::SUCCESS,
        Verdict::Fails => ExitCode::from(1),
        Verdict::CouldNotRun | Verdict::NotProved => ExitCode::from(COULD_NOT_RUN),
    })
}

fn limit(wish: Option<&str>) -> Result<Duration> {
    let millis = match wish {
        None => Policy::default().check_timeout_ms,
        Some(text) => time::parse_span(text)
            .filter(|millis| *millis > 0)
            .ok_or_else(|| Error::usage(format!("'{text}' is no time for a check")).hint("--timeout 10m"))?,
    };
    Ok(Duration::from_millis(millis))
}

fn tell_of_the_chain(loaded: &Loaded, ui: &mut Ui) {
    let summary = &loaded.summary;
    for fault in &summary.faults {
        ui.data_line(&format!("✗ ledger {}: {}", fault.kind.word(), one_line(&fault.what, 400)));
    }
    if summary.faults.is_empty() && summary.records > 0 {
        ui.data_line(&format!("✓ ledger: {} in an unbroken chain", count(summary.records as u64, "record")));
    }
    for unread in &loaded.unread {
        ui.warn(&format!("{unread}; what it knows of the ledger from there on was not asked"));
    }
    if summary.elsewhere > 0 {
        ui.say(&format!(
            "{} evidence that was recorded elsewhere, on another machine or in another worktree",
            match summary.elsewhere {
                1 => "1 commit names".into(),
                n => format!("{n} commits name"),
            }
        ));
    }
}

fn tell(verified: &Verified, ui: &mut Ui) {
    evidence::verified(verified).iter().for_each(|line| ui.data_line(line));
    let failed = verified.checks.iter().filter(|check| check.verdict != Verdict::Holds);
    for now in failed.filter_map(|check| check.now.as_ref()) {
        let lines: Vec<&str> = now.output_tail.lines().collect();
        for line in &lines[lines.len().saturating_sub(TAIL_LINES)..] {
            ui.say(&format!("    | {}", one_line(line, 300)));
        }
    }
}

fn summary(verified: &[Verified], result: Verdict, ran: bool, ui: &Ui) {
    let n = |verdict| verified.iter().filter(|one| one.verdict == verdict).count();
    let by_word = |one: &&Verified| one.verdict == Verdict::Holds && one.record.is_claimed();
    let words = verified.iter().filter(by_word).count();
    let verdict = match result {
        Verdict::Holds if words > 0 && words == n(Verdict::Holds) => {
            "the checks end as recorded, and all of it is only claimed"
        }
        Verdict::Holds if !ran => "the records and their commits are as they were, and no check was run",
        Verdict::Holds => "all that passed holds",
        Verdict::Fails => "something does not hold",
        Verdict::CouldNotRun | Verdict::NotProved if verified.is_empty() => "there is nothing to verify",
        Verdict::CouldNotRun | Verdict::NotProved if n(Verdict::NotProved) == verified.len() => {
            "nothing is proved yet, so there is nothing to verify"
        }
        Verdict::CouldNotRun | Verdict::NotProved => "not everything could be verified",
    };
    let flagged = match verified.iter().filter(|one| evidence::is_flagged(one)).count() {
        0 => String::new(),
        some => format!(" ({some} flagged)"),
    };
    let green = verified.iter().filter(|one| one.verdict == Verdict::Holds && one.record.unmeasured).count();
    let told = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let less = [told(words, "only claimed"), told(green, "by checks that were green already")];
    let less = less.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let only = if less.is_empty() { String::new() } else { format!(" ({less})") };
    let claimed = match verified.iter().filter(|one| one.is_claimed_alone()).count() {
        0 => String::new(),
        some => format!(" ({some} claimed, with no check to run again)"),
    };
    ui.data_line(&format!(
        "{verdict}: {} held{only}{flagged}, {} failed, {} could not run{claimed}, {} not proved",
        n(Verdict::Holds),
        n(Verdict::Fails),
        n(Verdict::CouldNotRun),
        n(Verdict::NotProved)
    ));
}
