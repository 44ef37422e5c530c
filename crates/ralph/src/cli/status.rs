//! `ralph status`: what is going on, or how the last run ended.

mod follow;

use std::process::ExitCode;

use ralph_core::breaker::Circuit;
use ralph_core::decision::Stop;
use ralph_core::event::StopBy;
use ralph_core::limits::Resource;
use ralph_core::profile::Budget;
use ralph_core::session::Arm;
use ralph_core::state::{Iteration, State};
use ralph_core::view::doing::Doing;
use ralph_core::view::json::{self, Surroundings};
use ralph_core::{redact, text, time, view};

use super::args::StatusArgs;
use super::history::list::is_let_go;
use super::{hook, run};
use crate::clock;
use crate::error::Result;
use crate::project::Project;
use crate::runner;
use crate::secrets;
use crate::store::{self, ArmFile, Holder, Requests, Runs};
use crate::ui::{self, Ui};

const NEXT: &str = "next:";
const HIDDEN: &str = "the lock or the record of the run was removed while it works; both are put back when its agent or check has ended";

/// What is not as it should be about the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Odd {
    None,
    Damaged,
    /// A run goes on, and somebody took its lock away.
    Hidden,
    /// Nobody can tell which session is held.
    Untold,
}

pub(super) fn main(args: &StatusArgs, ui: &mut Ui) -> Result<ExitCode> {
    let project = Project::look()?;
    let mut waited = false;
    while let Some(Told { seen, next_is_awaited }) = look(&project, args, ui)? {
        // A short run may be over before anybody looks.
        let came_and_went = waited && seen.as_ref().is_some_and(follow::Seen::is_over);
        if !args.follow || !next_is_awaited || came_and_went {
            break;
        }
        ui.say("waiting for a run to begin here; Ctrl-C ends this");
        if !follow::await_run(&project, seen.as_ref())? {
            break;
        }
        waited = true;
    }
    super::fine()
}

/// What was told where no run is followed.
struct Told {
    /// The last run.
    seen: Option<follow::Seen>,
    /// Whoever looks on wants to see the next run. Whoever reads it in a script was told how the last one ended, and may have
    /// come for that; only where nothing was run yet there is nothing else to come for. A session is held by processes that
    /// come and go, and nobody is to wait for these.
    next_is_awaited: bool,
}

/// Tells how it stands, and follows the run that goes on, if it is to: then there is nothing more to know.
fn look(project: &Project, args: &StatusArgs, ui: &Ui) -> Result<Option<Told>> {
    let holder = store::holder(&project.truth);
    // An agent may have removed the lock, and the journal with it. Both are put back when it has ended.
    let hidden = holder.is_none() && store::folder_is_held(&project.truth);
    let (hidden, holder) = match hidden {
        true => (store::holder(&project.truth).is_none(), store::holder(&project.truth)),
        false => (false, holder),
    };
    let shown = Runs::of(&project.truth).shown()?;
    let (run, opened) = shown.map_or((None, None), |(run, opened)| (Some(run), Some(opened)));
    let secrets = secrets::of(&project.root);
    let state = opened.as_ref().map(|opened| secrets.shown_state(&opened.state));
    let state = state.as_deref().filter(|state| state.run.is_some());
    let goes_on = state.is_some_and(|state| state.stop().is_none());
    let mut problems: Vec<String> =
        opened.as_ref().map_or(vec![], |opened| opened.problems.iter().map(ToString::to_string).collect());
    if hidden {
        problems.push(HIDDEN.into());
    }
    let untold = untold(project);
    if let (true, true, Some(run), Some(holder)) = (args.follow, goes_on, &run, &holder) {
        if args.json {
            let each = |ui: &mut Ui, state: &State| {
                let holder = Some(holder).filter(|_| state.stop().is_none());
                let state = secrets.shown_state(state);
                ui.json_line(&document(Some(&state), holder, &[], project, false));
            };
            follow::follow(project, holder, run, &mut Ui::new(true), each)?;
        } else {
            show(state, Some(holder), &problems, project, ui, Odd::None);
            ui.data_line("");
            let mut shown = Ui::on_standard_output();
            let over = follow::follow(project, holder, run, &mut shown, |_, _| {})?;
            if let Some((state, stop)) = over.as_ref().and_then(|state| Some((state, state.stop()?))) {
                shown.next_steps(state, stop);
            }
        }
        return Ok(None);
    }
    if args.json {
        problems.extend(untold);
        let status = document(state, holder.as_ref(), &problems, project, hidden);
        // A line, where lines are asked for.
        if args.follow { ui.exact_line(&status.to_string()) } else { ui.json(&status) }
    } else {
        let odd = match opened.as_ref().is_some_and(|opened| !opened.writable()) {
            _ if hidden => Odd::Hidden,
            true => Odd::Damaged,
            false if untold.is_some() => Odd::Untold,
            false => Odd::None,
        };
        show(state, holder.as_ref(), &problems, project, ui, odd);
    }
    let of_session = opened.as_ref().is_some_and(|opened| runner::waits_for_session(&opened.state));
    let nothing_yet = run.is_none() && !hidden;
    let seen = run.zip(opened).map(|(run, opened)| follow::Seen::of(&run, &opened.state));
    Ok(Some(Told { seen, next_is_awaited: !of_session && (nothing_yet || ui::shown()) }))
}

/// Whether the run left something that was to be committed, and somebody seems to have done that: nothing is uncommitted, and HEAD is
/// not where it was left.
fn is_committed_since(state: &State) -> bool {
    if state.stop().is_none() || state.uncommitted.is_empty() || state.undone_since_last().is_some() {
        return false;
    }
    let own = |last: &Iteration| last.settled.as_ref()?.commit.clone();
    let measured = |last: &Iteration| last.after.as_ref()?.head.clone();
    let left = state.last.as_deref().and_then(|last| own(last).or_else(|| measured(last)));
    let repo = || Project::find().ok()?.repo;
    repo().is_some_and(|repo| {
        repo.head().is_ok_and(|head| head.is_some() && head != left)
            && repo.uncommitted().is_ok_and(|files| files == 0)
    })
}

fn document(
    state: Option<&State>,
    holder: Option<&Holder>,
    problems: &[String],
    project: &Project,
    hidden: bool,
) -> serde_json::Value {
    let initialized = project.ralph_dir.is_dir() || state.is_some();
    let notes = unread(state, project);
    let held = held(state, project).is_some() || hidden;
    let around = Surroundings { initialized, pid: holder.map(|holder| holder.pid), held, notes: &notes };
    let mut status = json::status(state, around);
    status["problems"] = problems.into();
    status
}

fn show(
    state: Option<&State>,
    holder: Option<&Holder>,
    problems: &[String],
    project: &Project,
    ui: &Ui,
    odd: Odd,
) {
    // Without hooks nobody asks ralph, so that nothing is held yet.
    let held = held(state, project).map(|arm| {
        let missing = hook::Hooks::look(project).missing(arm.session.is_some());
        (arm, missing)
    });
    let committed = state.filter(|state| is_committed_since(state));
    let committed = committed.map(|state| State { uncommitted: vec![], ..state.clone() });
    let state = committed.as_ref().or(state);
    let notes = unread(state, project);
    let lines = lines(project, state, holder, odd, held, !notes.is_empty());
    // What to do next is said last.
    let (next, stands): (Vec<&String>, Vec<&String>) = lines.iter().partition(|line| line.starts_with(NEXT));
    stands.into_iter().for_each(|line| ui.data_row(12, line));
    for note in notes {
        ui.data_row(12, &format!("note:       {}", text::one_line(&note, 200)));
    }
    for problem in problems {
        ui.data_row(12, &format!("journal:    {problem}"));
    }
    if let Some(untold) = untold(project) {
        ui.data_row(12, &format!("session:    {untold}"));
    }
    next.into_iter().for_each(|line| ui.data_row(12, line));
}

/// Why nobody can tell which session is held, if so, and what to do.
fn untold(project: &Project) -> Option<String> {
    let error = ArmFile::of(&project.truth).read().err()?;
    Some([error.what].into_iter().chain(error.hints).collect::<Vec<_>>().join("; "))
}

/// The session that this run holds or waits for.
fn held(state: Option<&State>, project: &Project) -> Option<Arm> {
    let run = state.filter(|state| state.stop().is_none())?.run.as_ref()?;
    let arm = ArmFile::of(&project.truth).read().ok().flatten();
    arm.filter(|arm| arm.run == run.number)
}

/// The user's words that no iteration has read yet.
fn unread(state: Option<&State>, project: &Project) -> Vec<String> {
    let over = |state: &&State| matches!(state.stop(), Some(Stop::Complete { .. } | Stop::Closed));
    let known = state.filter(|state| !over(state)).map_or(&[][..], |state| &state.notes);
    let waiting = Requests::of(&project.truth).notes();
    let new = waiting.into_iter().filter(|new| known.iter().all(|note| note.id != new.id));
    known.iter().map(|note| note.text.clone()).chain(new.map(|note| note.text)).collect()
}

/// What takes time right now, and for how long.
fn doing_words(doing: &Doing) -> String {
    let now = clock::now();
    match doing {
        Doing::Agent { since } => format!("the agent works, for {}", time::duration(now.since(*since))),
        Doing::Check { command, since } => {
            format!("checking: {command}, for {}", time::duration(now.since(*since)))
        }
        Doing::Wait { until, why } => {
            let left = time::duration(until.since(now));
            format!("waiting until {} ({left} left): {why}", clock::local(*until, now))
        }
    }
}

/// What is used of what a run may use.
fn budgets(state: &State, budget: &Budget) -> Vec<String> {
    let used = state.spent();
    [
        (Resource::Money, used.micro_usd, budget.micro_usd),
        (Resource::Tokens, used.tokens, budget.tokens),
        (Resource::Time, used.time_ms, budget.time_ms),
    ]
    .into_iter()
    .filter(|(.., most)| *most > 0)
    .map(|(what, used, most)| match view::untold(state, what) {
        Some(untold) => what.describe_untold(untold, most),
        None => what.describe(used, most),
    })
    .collect()
}

fn lines(
    project: &Project,
    state: Option<&State>,
    holder: Option<&Holder>,
    odd: Odd,
    held: Option<(Arm, Option<&str>)>,
    noted: bool,
) -> Vec<String> {
    let Some((state, run)) = state.and_then(|state| Some((state, state.run.as_ref()?))) else {
        if odd == Odd::Hidden {
            return vec!["a run is going on here; to stop it: Ctrl-C where it was started".into()];
        }
        if odd == Odd::Damaged {
            return vec![
                "status:     cannot be told: the record of the last run is damaged from its beginning".into(),
                "next:       what is wrong with it: ralph doctor".into(),
                "next:       to begin anew, keeping the damaged record: ralph run --fresh \"GOAL\"".into(),
            ];
        }
        return vec![run::nothing_yet(project)];
    };
    // Nobody has been asked for anything yet.
    let awaited = held.as_ref().is_some_and(|(arm, _)| arm.session.is_none()) && state.last.is_none();
    let mut lines = Vec::new();
    let mut add = |name: &str, value: String| lines.push(format!("{name:<12}{value}"));
    add("goal:", text::one_line(&run.goal, 200));
    // What a run said of its files is not true of them any more.
    let undone = state.undone_since_last();
    let (since, before) = match undone {
        Some(_) => ("; undone since", ", before the undo"),
        None => ("", ""),
    };
    add(
        "status:",
        match (holder, state.stop()) {
            (Some(holder), None) => {
                let since = clock::local(holder.since, clock::now());
                let stops = match state.stop_asked {
                    Some(StopBy::Request) => ", stops after this iteration",
                    Some(_) => ", is being stopped",
                    None => "",
                };
                format!("{}{stops} (pid {}, since {since})", view::status_word(state, true), holder.pid)
            }
            (None, None) if odd == Odd::Hidden => "working".into(),
            (None, None) if odd == Odd::Damaged => "cannot be continued: its journal is damaged".into(),
            (None, None) => match held {
                Some((arm, Some(missing))) if state.last.is_none() => {
                    let whom = arm.session.as_ref().map(|session| format!("session {}", text::one_line(session, 80)));
                    let whom = whom.unwrap_or_else(|| "the next session that starts here".into());
                    format!("{whom} is to be held; {missing}; to let go: ralph hook disarm")
                }
                Some((Arm { session: Some(session), .. }, Some(_))) => {
                    format!("session {} was held; {}", text::one_line(&session, 80), hook::GONE)
                }
                Some((Arm { session: Some(session), .. }, None)) => {
                    format!("session {} is held; to let go: ralph hook disarm", text::one_line(&session, 80))
                }
                Some(_) => "waits for the next session that starts here; to let go: ralph hook disarm".into(),
                None if runner::waits_for_session(state) && odd == Odd::Untold => {
                    "cut off, and nobody can tell which session it holds; to let go of every one: ralph hook disarm".into()
                }
                None if runner::waits_for_session(state) => {
                    "cut off, and holds no session; to hold one: ralph hook arm \"GOAL\"; to close it: ralph reset"
                        .into()
                }
                None => "cut off; to go on: ralph run".into(),
            },
            (_, Some(Stop::CircuitOpen { why, .. })) if state.rules.breaker.circuit == Circuit::Closed => {
                format!("circuit open: {why}; closed since, to go on: ralph run")
            }
            (_, Some(stop)) => format!("{}{since}", clock::for_people(&view::ended(state, stop))),
        },
    );
    if let Some(undone) = undone {
        let words = format!("{}: the files are not those that this run left", undone.put_back);
        add("undone:", words);
    }
    // What the summary of the run said, for whoever did not see it.
    if let Some(flagged) = ui::flagged(state) {
        add("flagged:", flagged + before);
    }
    if let Some(taken) = ui::taken(state) {
        add("yours:", taken + before);
    }
    for left in ui::uncommitted(state) {
        add("to commit:", left + before);
    }
    if let (Some(_), Some(doing)) = (holder, Doing::of(state)) {
        add("doing:", doing_words(&doing));
    }
    let nth = view::nth_of(state, state.used);
    add(
        "iteration:",
        match state.last.is_none() && is_let_go(state) {
            _ if awaited => format!("none yet of run {}: {nth} begins with the session", run.number),
            true => format!("none of run {}", run.number),
            false => format!("{nth} of run {} (#{})", run.number, state.iteration),
        },
    );
    if let (Some(plan), Some(read)) = (&run.plan.backlog, &state.backlog) {
        let phase = read.phase.as_ref().map(|phase| format!(", phase {phase}")).unwrap_or_default();
        let left = format!("{} of {} open", read.items.open, text::count(read.items.total, "item"));
        // It is not read for this, and whoever stands beside the run may have changed it since.
        let as_of = match (holder, state.stop()) {
            (Some(_), _) => "",
            (None, Some(_)) => " when the run stopped",
            (None, None) => " when it was last read",
        };
        add("backlog:", format!("{}, {left}{as_of}{phase}", plan.file));
    }
    let item = state.current.as_ref().and_then(|current| current.item.as_ref());
    if let Some(item) = item {
        add("item:", text::one_line(&item.named(), 200));
    }
    let pool = run.plan.agents.len() > 1;
    for agent in &run.plan.agents {
        let command = agent.command.as_deref().map(|command| redact::command(command, 200));
        let mut words = match command {
            Some(command) if pool => format!("{}: {command}", agent.name),
            Some(command) => command,
            None => agent.name.clone(),
        };
        if pool {
            words.push_str(&standing(state, &agent.name, holder.is_some()));
        }
        add("agent:", words);
    }
    let rules = ui::rules_set(&run.plan.policy);
    if !rules.is_empty() {
        add("rules:", rules.join(", "));
    }
    for check in run.plan.checks_for(item.map(AsRef::as_ref)) {
        add("check:", check.described());
    }
    let (passes, needed) = (state.rules.reviews.passes, state.reviews_needed());
    add(
        "reviews:",
        if needed == 0 { "none wanted".into() } else { format!("{}/{needed}", passes.min(needed)) },
    );
    add("cost:", view::spent(state));
    for used in budgets(state, &run.plan.policy.budget) {
        add("budget:", used);
    }
    if let Some(until) = run.plan.until {
        add("until:", clock::local(until, clock::now()));
    }
    let breaker = &state.rules.breaker;
    if breaker.circuit != Circuit::Closed {
        let why = breaker.reason.as_deref().unwrap_or("");
        add("circuit:", format!("{}: {}", breaker.circuit.word(), text::one_line(why, 300)));
    }
    let unjudged = state.current.as_ref().filter(|current| state.stop().is_some() && current.ended.is_some());
    if let Some(last) = unjudged.or(state.last.as_deref()) {
        let by = if pool { format!(", by {}", last.agent) } else { String::new() };
        let limit = view::limit_words(last).map(|limit| format!("; {limit}")).unwrap_or_default();
        let word = view::result_for_people(last);
        add("last:", format!("#{} {word}, {}{by}{limit}", last.number, view::files(last)));
        if let Some(refusal) = last.conclusion.as_ref().and_then(|conclusion| conclusion.refusal.as_ref()) {
            add("refused:", text::one_line(refusal, 300));
        }
    }
    if let (None, Some(stop)) = (holder, state.stop()) {
        for step in ui::next_steps(state, stop) {
            add(NEXT, if noted { ui::answered(&step) } else { step });
        }
    }
    lines
}

/// What an agent of a pool does, or why it does not.
fn standing(state: &State, name: &str, running: bool) -> String {
    let works =
        state.current.as_ref().is_some_and(|current| current.agent == name && current.ended.is_none());
    let member = state.rules.agents.members.iter().find(|member| member.name == name);
    match member.and_then(|member| member.out.as_ref()) {
        _ if works && running => ", at work now".into(),
        Some(out) => {
            let until = out.until.map(|until| format!(" until {}", clock::local(until, clock::now())));
            format!(", out{}: {}", until.unwrap_or_default(), text::one_line(&out.why, 200))
        }
        None => String::new(),
    }
}
