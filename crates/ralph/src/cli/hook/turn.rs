//! One turn of the run that a session is the agent of: taken up, decided, answered, and only then tidied up after. The
//! agent waits for this process to end, so that what comes after the answer is bounded too.

use std::time::Duration;

use ralph_core::decision::Phase;
use ralph_core::event::{Event, RunResumed};
use ralph_core::session::{Answer, Whose};
use ralph_core::state::{Iteration, State};
use ralph_core::{text, view};
use serde_json::json;

use super::fired::{Call, if_it_panics, in_words, say};
use crate::cli::run::consent;
use crate::config::Layers;
use crate::error::{Error, Result};
use crate::notify::Notifier;
use crate::project::Project;
use crate::runner::{self, Came, Heard, Opened, Runner};
use crate::store::{ArmFile, JournalFile, Lock, Runs};
use crate::ui::Ui;
use crate::{clock, secrets, trust};

/// How long a turn waits for another one to end.
pub(super) const TURN: Duration = Duration::from_secs(5);
/// The same where both are about one stop: that one may run checks, for as long as agents let a hook run.
const SAME: Duration = Duration::from_secs(2 * 60 * 60);

/// The armed run, held so that no other hook works on it.
struct Held {
    lock: Lock,
    opened: Opened,
}

/// What became of a run that is not there to be held any more.
enum Found {
    Held(Box<Held>),
    Over(String),
}

/// Where another hook works on the same stop, the session is not let go, so that nobody may say so. That one may still be
/// killed: then its lock is free, and the answer is ours to give.
fn await_turn(call: &Call<'_>) -> Result<Lock> {
    let truth = &call.project.truth;
    match Lock::await_turn(truth, clock::now(), TURN) {
        Err(_) if call.is_another_s().unwrap_or(false) => Lock::await_turn(truth, clock::now(), SAME),
        turn => turn,
    }
}

fn open(call: &Call<'_>) -> Result<Option<Found>> {
    let project = call.project;
    let file = ArmFile::of(&project.truth);
    let lock = await_turn(call)?;
    // Another hook may have been first.
    let Some(arm) = file.read()?.filter(|arm| call.whose(arm) != Whose::Other) else {
        return Ok(None);
    };
    let Some(run) = Runs::of(&project.truth).if_newest(arm.run)? else {
        file.remove(&lock)?;
        return Ok(Some(Found::Over(format!("run {} is not the last one here any more", arm.run))));
    };
    let mut tree = runner::open_tree(project);
    // The session rests: git may look at its files while the record is read. What is found counts from this turn on.
    if let Ok(tree) = &mut tree {
        tree.measure_ahead();
    }
    let (journal, state) = JournalFile::resume_briefly(&run.journal())?;
    if let Some(stop) = state.stop() {
        file.remove(&lock)?;
        let secrets = secrets::of(&project.root);
        let over = view::ended(&secrets.shown_state(&state), &secrets.shown(stop));
        return Ok(Some(Found::Over(over)));
    }
    if call.is_answered(&state) {
        return Ok(None);
    }
    let begun = state.run.as_ref();
    if begun.is_some_and(|run| !trust::knows(project, &consent::kept_in_tree(project, &run.goal, &run.plan)))
    {
        return Err(Error::new("its checks are kept in this folder, and nobody here agreed to them")
            .hint("ralph hook disarm, then arm it yourself"));
    }
    let opened = Opened { run, journal, state, tree: tree? };
    // From here on it is held, whatever becomes of this process.
    if arm.session.is_none() {
        file.write(&arm.bound(&call.told.session_id), &lock)?;
    }
    Ok(Some(Found::Held(Box::new(Held { lock, opened }))))
}

/// The session wants to stop: what it did is an iteration, and the machine says what follows.
pub(super) fn stop(call: &Call<'_>) -> Result<()> {
    let (project, told) = (call.project, call.told);
    let held = match open(call)? {
        None => return Ok(()),
        Some(Found::Over(why)) => {
            answer(&Answer::Stop { message: format!("ralph: {why}") });
            return Ok(());
        }
        Some(Found::Held(held)) => *held,
    };
    let Held { mut lock, opened } = held;
    let (run, state) = (&opened.run, &opened.state);
    let secrets = secrets::of(&project.root);
    let signal = project.ralph_dir.join("status");
    let heard = match runner::heard(told, state, run, &signal, &secrets) {
        Heard::Ended(ended) => ended,
        Heard::Limited(why) => {
            let message = format!(
                "ralph: the session met a limit ({why}); it stops, and nothing is counted: when it goes on, it is held"
            );
            answer(&Answer::Stop { message });
            return Ok(());
        }
    };
    let asked =
        state.phase == Phase::Working && state.current.as_ref().is_some_and(|now| now.ended.is_none());
    // A hook that was cut off left an iteration to be concluded.
    let first = (!asked).then(|| resumed(state)).flatten();
    let mut ui = Ui::new(true);
    let mut runner = Runner::new(project, &mut lock, opened, secrets.clone(), &mut ui);
    let came = runner.hold(first.into_iter().chain([heard]))?;
    answer(&match came {
        Came::HandedOver(prompt) => {
            Answer::Block { reason: prompt, message: goes_on(&secrets.shown_state(runner.state())) }
        }
        Came::Stopped(stop) => {
            ArmFile::of(&project.truth).remove(runner.lock())?;
            let ended = view::ended(&secrets.shown_state(runner.state()), &secrets.shown(&stop));
            Answer::Stop { message: format!("ralph: {ended} (ralph history)") }
        }
        Came::Waits(why) => Answer::Stop { message: waits(&why) },
    });
    let told = rest(project, runner);
    drop(lock);
    wait_for(told);
    Ok(())
}

/// When the session has its answer: the user is told, and what the iteration left is tidied up.
fn rest(project: &Project, runner: Runner<'_>) -> Option<Notifier> {
    let notifier = runner.has_untold().then(|| notifier(project)).flatten();
    runner.rest(notifier)
}

/// Others may have their turn meanwhile.
fn wait_for(told: Option<Notifier>) {
    // There is nobody left to hear of a command that failed; `ralph notify test` tells.
    let _ = told.map(|mut told| told.finish());
}

/// How the user wants to be told: by what the project brings only where the user agreed to it.
fn notifier(project: &Project) -> Option<Notifier> {
    let layers = Layers::read(&project.ralph_dir).ok()?;
    let agreed = trust::knows(project, &consent::brought_notify(&layers));
    Some(Notifier::new(layers.channels(agreed)))
}

fn answer(answer: &Answer) {
    if let Some(line) = answer.line() {
        say(&line);
    }
}

fn waits(why: &str) -> String {
    format!("ralph lets this session stop, since it would have to wait ({why}); when it goes on, it is held")
}

/// `ralph: iteration 2/50; the last one claimed done, refused: cargo test exit 101`
fn goes_on(state: &State) -> String {
    let last = state.last.as_deref();
    let refusal = last.and_then(|last| last.conclusion.as_ref()?.refusal.as_ref());
    let what = if last.is_some_and(Iteration::is_unasked) { "not done" } else { "claimed done, refused" };
    let words = match (last, refusal) {
        (_, Some(refusal)) => format!("{what}: {}", text::one_line(refusal, 200)),
        (Some(last), None) => format!("{}, {}", view::result_for_people(last), view::files(last)),
        (None, None) => return format!("ralph: iteration {}", view::nth_of(state, state.used)),
    };
    format!("ralph: iteration {}; the last one: {words}", view::nth_of(state, state.used))
}

fn resumed(state: &State) -> Option<Event> {
    let plan = state.run.as_ref()?.plan.clone();
    let version = env!("CARGO_PKG_VERSION").into();
    Some(Event::RunResumed(Box::new(RunResumed { plan, version, probe: false, unrecorded_ms: 0 })))
}

/// The session that was waited for begins: from here on its time and the tree's changes are its own. It is told at once
/// what it is held for, or its user why it is not.
pub(super) fn begin(call: &Call<'_>) -> Result<()> {
    let held = match open(call)? {
        None => return Ok(()),
        Some(Found::Over(why)) => {
            answer(&not_held(&why));
            return Ok(());
        }
        Some(Found::Held(held)) => *held,
    };
    if_it_panics(|what| untold(what).line().unwrap_or_default());
    if let Err(error) = hand_over(call, held) {
        answer(&untold(&in_words(&error)));
    }
    Ok(())
}

fn not_held(why: &str) -> Answer {
    Answer::Stop { message: format!("ralph holds no session here: {why}") }
}

/// It is held all the same: its first stop is answered with the goal.
fn untold(what: &str) -> Answer {
    let message = format!(
        "ralph holds this session, but could not tell it its goal, because of {what}; it is told when it first wants to stop"
    );
    Answer::Stop { message }
}

/// An error means that nothing was said yet.
fn hand_over(call: &Call<'_>, held: Held) -> Result<()> {
    let Held { mut lock, opened } = held;
    let mut ui = Ui::new(true);
    let Some(event) = resumed(&opened.state) else { return Ok(()) };
    let secrets = secrets::of(&call.project.root);
    let mut runner = Runner::new(call.project, &mut lock, opened, secrets.clone(), &mut ui);
    match runner.hold([event])? {
        Came::HandedOver(prompt) => say(&json!({
            "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": prompt}
        })
        .to_string()),
        Came::Stopped(stop) => {
            ArmFile::of(&call.project.truth).remove(runner.lock())?;
            answer(&not_held(&format!("{} (ralph history)", secrets.shown(&stop))));
        }
        Came::Waits(why) => answer(&Answer::Stop { message: waits(&why) }),
    }
    let told = rest(call.project, runner);
    drop(lock);
    wait_for(told);
    Ok(())
}
