//! Arming, disarming and looking.

use std::io::Read;
use std::process::ExitCode;

use ralph_core::check::CheckSpec;
use ralph_core::decision::Stop;
use ralph_core::event::{Carried, Plan};
use ralph_core::session::Arm;
use ralph_core::state::State;
use ralph_core::{journal, text, view};
use serde_json::json;

use super::install::{self, Hooks};
use super::turn::TURN;
use crate::cli::run::{self, Last, Which, consent};
use crate::config::{Config, Layers};
use crate::error::{Error, Result};
use crate::project::Project;
use crate::runner::{self, Came, Opened, Runner};
use crate::settings::{self, Settled, Wishes};
use crate::store::{self, ArmFile, JournalFile, Lock, Runs};
use crate::ui::{self, Ui};
use crate::{clock, detected, secrets, setup, suggest, trust};

/// By whose rules a session is held, unless somebody says otherwise.
const PROFILE: &str = "analyzer";
const REVIEWS: &str = "reviews";
/// No prompt that a person writes is longer.
const LONGEST: u64 = 1 << 20;

/// What a session is to be held for.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Order<'a> {
    pub(in crate::cli) goal: &'a str,
    pub(in crate::cli) session: Option<&'a str>,
    /// Try once although the circuit is open.
    pub(in crate::cli) probe: bool,
}

/// The goal as it was given, or from standard input; there it may have to end in a mark, which shows that it is whole.
pub(super) fn prompt(given: &str, mark: Option<&str>, ui: &Ui) -> Result<String> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    ui.reads_standard_input();
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(LONGEST)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::new("standard input cannot be read").because(error))?;
    let text = String::from_utf8_lossy(&bytes);
    let whole = mark.map_or(Some(text.trim()), |mark| text.trim_end().strip_suffix(mark));
    let goal = whole.ok_or_else(|| {
        Error::usage("the text is cut off, so nothing is begun")
            .because("a line of three backticks ends it in a command of Claude Code")
            .hint("say it without them, or in a terminal: ralph hook arm \"GOAL\"")
    })?;
    Ok(goal.trim().to_owned())
}

/// Begins a run whose agent is a session: measured now, so that what the session changes is seen at its first stop.
pub(in crate::cli) fn arm(
    project: &Project,
    order: Order<'_>,
    wishes: Wishes,
    ui: &mut Ui,
) -> Result<ExitCode> {
    let Order { goal, session, probe } = order;
    let secrets = secrets::of(&project.root);
    let goal = secrets.hide(goal.trim()).into_owned();
    if goal.is_empty() {
        return Err(Error::usage("the prompt is empty").hint("ralph hook arm \"make the tests pass\""));
    }
    if session.is_some_and(|session| session.trim().is_empty()) {
        return Err(
            Error::usage("--session names no session").hint("leave it out to hold the next one that starts")
        );
    }
    let layers = Layers::read(&project.ralph_dir)?;
    let config = layers.merged();
    let unused = for_runs_alone(&config, &wishes);
    // Single values are the project's; whose rules, reviews, agents and checks are for loops of fresh processes.
    let mut own = wishes;
    own.values.splice(0..0, config.values.into_iter().filter(|value| value.key != REVIEWS));
    own.agent.session = true;
    own.profile.get_or_insert_with(|| PROFILE.into());
    let Settled { mut plan, remarks } = settings::settle(&own, None)?;
    detected::remember(&project.root, &mut plan, None);
    let run_order = run::Order {
        goal: Some(order.goal),
        which: Which::Fresh,
        probe,
        consent: None,
        branch: None,
        dry: false,
    };
    for remark in remarks.into_iter().chain(unused).chain(run::told_secrets(&secrets, run_order, &plan)) {
        ui.warn(&remark);
    }
    let runs = Runs::of(&project.truth);
    let mut lock = Lock::await_turn(&project.truth, clock::now(), TURN)?;
    let file = ArmFile::of(&project.truth);
    if let Some(arm) = file.read()?
        && let Some(state) = run_of(project, &arm)
        && state.stop().is_none()
    {
        return Err(Error::new("a session is held here already, or waited for")
            .because(described(&arm, &state, &Hooks::look(project)))
            .hint("ralph hook disarm"));
    }
    let last = run::last_run(&runs, Which::Fresh)?;
    let breaker = last.as_ref().map(|last: &Last| last.state.rules.breaker.clone()).unwrap_or_default();
    if let Err(open) = breaker.carried().guard(clock::now(), probe) {
        let stop = Stop::CircuitOpen { why: open.reason, probe_at: open.probe_at };
        return Err(Error::new(format!("no session is held: {stop}"))
            .hint("ralph circuit reset, or ralph hook arm --probe"));
    }
    run::warn_of_unfinished(last.as_ref(), ui);
    setup::keep_earlier(project, ui)?;
    trust::vouch(project, &consent::kept_in_tree(project, &goal, &plan), ui);
    let known = last.as_ref().map_or(0, |last| last.state.iteration);
    let iteration = known.max(runs.last_iteration());
    let carried = Carried { iteration, breaker, seed: run::seed(), probe, ..Carried::default() };
    let run = runs.next();
    let journal = JournalFile::create(&run.journal())?;
    let number = run.number;
    let first = run::started(&run, &goal, plan, carried);
    let mut quiet = Ui::new(true);
    let opened = Opened { run, journal, state: State::default(), tree: runner::open_tree(project)? };
    let mut runner = Runner::new(project, &mut lock, opened, secrets::of(&project.root), &mut quiet);
    match runner.hold([first])? {
        Came::HandedOver(_) => {}
        Came::Stopped(stop) => return Err(Error::new(format!("no session is held: {stop}"))),
        Came::Waits(why) => return Err(Error::new(format!("no session is held: {why}"))),
    }
    let arm = Arm { run: number, armed_at: clock::now(), session: session.map(Into::into) };
    // A run without it is one that was cut off here: `hook disarm` closes it, and another `hook arm` begins anew.
    file.write(&arm, runner.lock())?;
    let hooks = Hooks::look(project);
    ui.say(&format!("armed: {}", described(&arm, runner.state(), &hooks)));
    match held_against(project, &arm, &secrets.shown_state(runner.state())) {
        Ok(checks) => ui.say(&checks),
        Err(none) => ui.warn(&none),
    }
    if let Some(missing) = hooks.missing(session.is_some()) {
        ui.warn(missing);
    }
    if session.is_none() {
        ui.say(
            "start it in this project and say go: it is told the goal when it starts; sessions that are open are left alone",
        );
    }
    if let Some(plugin) = setup::in_the_way(&project.root) {
        ui.warn(&plugin);
    }
    if !trust::knows(project, &consent::brought_notify(&layers)) {
        ui.warn("not approved yet: how this project would notify you; to approve it: ralph notify test");
    }
    ui.say("ralph status shows how it stands, ralph hook disarm lets go");
    if store::has_session_view(&project.root) {
        ui.say(&format!("{} shows it too; git does not know it, and it may be deleted", store::SESSION_VIEW));
    }
    let _ = runner.rest(None);
    crate::cli::fine()
}

/// What the settings say in vain, in words.
fn for_runs_alone(config: &Config, own: &Wishes) -> Option<String> {
    let told = |key: &str| match key {
        "profile" => own.profile.is_none(),
        "policy.reviews" => own.values.iter().all(|value| value.key != REVIEWS),
        "backlog" | "pool" | "permissions" => true,
        _ if key.starts_with("agents.") => true,
        _ => key.strip_prefix("checks.").is_some_and(|name| name != "detect" && !own.says(name)),
    };
    let mut unused: Vec<String> = Vec::new();
    for said in config.said.iter().rev().filter(|said| told(&said.key)) {
        if !unused.iter().any(|known| known.starts_with(&format!("{} ", said.key))) {
            unused.push(format!("{} ({})", said.key, said.origin));
        }
    }
    (!unused.is_empty()).then(|| {
        format!(
            "for runs alone, and not for this session: {}; what it needs of them goes with arm",
            unused.join(", ")
        )
    })
}

/// Lets go: the run is closed, and then nobody looks for it any more. Cut off in between, the next hook finds it closed.
pub(super) fn disarm(ui: &mut Ui) -> Result<ExitCode> {
    let project = Project::look()?;
    let file = ArmFile::of(&project.truth);
    let nothing = "no session is held here";
    let open =
        Runs::of(&project.truth).newest(true)?.is_some_and(|(_, state)| runner::waits_for_session(&state));
    if matches!(file.read(), Ok(None)) && !open {
        ui.say(nothing);
        return crate::cli::fine();
    }
    let lock = Lock::await_turn(&project.truth, clock::now(), TURN)?;
    let armed = file.read();
    let closed = runner::close_session(&project, &lock, ui);
    file.remove(&lock)?;
    match (armed, closed) {
        (Ok(None), Ok(false)) => ui.say(nothing),
        (Ok(None), Err(error)) => return Err(error),
        (_, closed) => {
            if let Err(error) = closed {
                ui.warn(&format!("its run cannot be closed: {}", error.what));
            }
            ui.say("disarmed: every session stops when it wants to; nothing was deleted: ralph history");
            install::tell_of_the_view(&project.root, ui);
        }
    }
    crate::cli::fine()
}

pub(super) fn status(as_json: bool, ui: &Ui) -> Result<ExitCode> {
    let project = Project::look()?;
    let arm = ArmFile::of(&project.truth).read()?;
    let opened = arm.as_ref().and_then(|arm| opened_of(&project, arm));
    let damaged = opened.as_ref().is_some_and(|opened| !opened.writable());
    let state = opened.map(|opened| opened.state);
    let arm = arm.filter(|_| state.as_ref().is_some_and(|state| state.stop().is_none()));
    let held = arm.as_ref().zip(state.as_ref());
    let hooks = Hooks::look(&project);
    if as_json {
        ui.json(&json!({
            "schema": "ralph.hook/1",
            "armed": held.is_some(),
            "session": held.and_then(|(arm, _)| arm.session.as_deref()),
            "armed_at": held.map(|(arm, _)| arm.armed_at),
            "run": held.map(|(arm, _)| arm.run),
            "iteration": held.map(|(_, state)| state.used),
            "max_iterations": held.and_then(|(_, state)| Some(state.run.as_ref()?.plan.policy.max_iterations)),
            "goal": held.and_then(|(_, state)| Some(state.run.as_ref()?.goal.as_str())),
            "promise": held.and_then(|(_, state)| Some(state.run.as_ref()?.plan.policy.promise.as_str())),
            "installed": hooks.are_whole(),
            "hooks": hooks.document(),
        }));
        return crate::cli::fine();
    }
    match held {
        Some(_) if damaged => ui.data_line(
            "armed, but the record of its run is damaged, so every session stops when it wants to: ralph hook disarm, and arm again",
        ),
        Some((arm, state)) => {
            ui.data_line(&format!("armed: {}", described(arm, state, &hooks)));
            let shown = secrets::of(&project.root);
            let (Ok(held) | Err(held)) = held_against(&project, arm, &shown.shown_state(state));
            ui.data_line(&held);
        }
        None => ui.data_line("no session is held here; to hold one: ralph hook arm \"GOAL\""),
    }
    let there = hooks.named();
    if !there.is_empty() {
        ui.data_line(&format!("hooks are installed for {there}"));
    }
    let was_held = held.is_some_and(|(_, state)| state.last.is_some());
    match hooks.missing(arm.is_some_and(|arm| arm.session.is_some())) {
        Some(_) if was_held => ui.data_line(GONE),
        Some(missing) => ui.data_line(missing),
        None => {}
    }
    crate::cli::fine()
}

/// What is said where a session was held, and no settings run the hooks any more.
pub(in crate::cli) const GONE: &str = "no agent's settings name ralph's hooks any more, so that it is held at most until it is closed: ralph hook disarm lets go of \
                    it, ralph hook install puts them back";

/// Hooks were taken out: who is or was to be held by them.
pub(super) fn warn_of_armed(project: &Project, ui: &mut Ui) {
    let Ok(Some(arm)) = ArmFile::of(&project.truth).read() else { return };
    let Some(state) = run_of(project, &arm).filter(|state| state.stop().is_none()) else { return };
    let hooks = Hooks::look(project);
    let Some(missing) = hooks.missing(arm.session.is_some()) else { return };
    let missing = if state.last.is_some() { GONE } else { missing };
    let shown = secrets::of(&project.root).shown_state(&state);
    ui.warn(&format!("{}; {missing}", described(&arm, &shown, &hooks)));
}

/// A session that is held works in this tree, and another agent beside it would be a second one; one that is waited for may start
/// at any time. A file that cannot be read holds nobody.
pub(in crate::cli) fn nobody_is_held(project: &Project) -> Result<()> {
    let Ok(Some(arm)) = ArmFile::of(&project.truth).read() else { return Ok(()) };
    let Some(state) = run_of(project, &arm).filter(|state| state.stop().is_none()) else { return Ok(()) };
    let secrets = secrets::of(&project.root);
    Err(Error::new(described(&arm, &secrets.shown_state(&state), &Hooks::look(project)))
        .because("two agents in one tree would undo each other's work")
        .hint("ralph hook disarm, which lets go of it; then run again"))
}

/// How the armed run stands.
fn run_of(project: &Project, arm: &Arm) -> Option<State> {
    opened_of(project, arm).map(|opened| opened.state)
}

fn opened_of(project: &Project, arm: &Arm) -> Option<journal::Opened> {
    let run = Runs::of(&project.truth).all().into_iter().find(|run| run.number == arm.run)?;
    run.peek().ok()
}

/// What must pass before the session's word lets it go; where nothing must, how to have it otherwise.
fn held_against(project: &Project, arm: &Arm, state: &State) -> std::result::Result<String, String> {
    let plan = state.run.as_ref().map(|run| &run.plan);
    let asked = plan.map_or(&[][..], Plan::asked);
    if !asked.is_empty() {
        let checks: Vec<String> = asked.iter().map(CheckSpec::described).collect();
        return Ok(format!("it is let go when it says done and ralph sees this pass: {}", checks.join("; ")));
    }
    let word = match state.reviews_needed() {
        0 => "its word that it is done is enough".to_owned(),
        reviews => {
            let reviews = ui::reviews_of_a_claim(reviews);
            format!("its word that it is done, and {reviews}, are enough")
        }
    };
    let flag = match plan.is_some_and(|plan| !plan.checks.is_empty()) {
        true => "--set evidence=required".to_owned(),
        false => format!("--test-cmd {}", detected::test_command(&project.root)),
    };
    let session = arm.session.as_ref().map(|session| format!(" --session {}", suggest::quoted(session)));
    let goal = suggest::goal(state.run.as_ref().map_or("", |run| &run.goal));
    Err(format!(
        "no check holds it: {word}; to add one: ralph hook disarm, then ralph hook arm {goal}{} {flag}",
        session.unwrap_or_default()
    ))
}

/// Without hooks nobody asks ralph, so that nothing is held yet.
fn is_held(arm: &Arm, state: &State, hooks: &Hooks) -> bool {
    state.last.is_some() || hooks.missing(arm.session.is_some()).is_none()
}

fn described(arm: &Arm, state: &State, hooks: &Hooks) -> String {
    let goal = state.run.as_ref().map(|run| text::one_line(&run.goal, 100)).unwrap_or_default();
    let nth = view::nth_of(state, state.used);
    let held = is_held(arm, state, hooks);
    match &arm.session {
        // It may be open, with the hooks that it began with.
        Some(session) if held && hooks.missing(true).is_some() => {
            format!("session {} was held, last in iteration {nth}: {goal}", text::one_line(session, 80))
        }
        Some(session) if held => {
            format!("session {} is held, iteration {nth}: {goal}", text::one_line(session, 80))
        }
        Some(session) => format!("session {} is to be held: {goal}", text::one_line(session, 80)),
        None if held => format!("the next session that starts here will be held: {goal}"),
        None => format!("the next session that starts here is to be held: {goal}"),
    }
}
