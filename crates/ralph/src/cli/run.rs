//! `ralph run`: start a run or take the last one up again.

use std::process::ExitCode;
use std::time::Duration;

use ralph_core::decision::Stop;
use ralph_core::event::{Carried, Event, Plan, RunInfo, RunResumed, RunStarted};
use ralph_core::state::State;
use ralph_core::text;

use super::args::{AgentArgs, RunArgs};
use crate::error::{Error, Result};
use crate::project::Project;
use crate::runner::{self, Runner};
use crate::settings::{self, AgentWishes, Settled, Value, Wishes};
use crate::store::{self, JournalFile, Lock, Run, Runs};
use crate::ui::Ui;
use crate::{agent, clock, config};

/// How long keepers of an earlier run may take to end what they keep, before we give up.
const KEEPERS: Duration = Duration::from_secs(20);

pub(super) fn main(args: &RunArgs, ui: &mut Ui) -> Result<ExitCode> {
    let project = Project::find()?;
    let which = if args.fresh {
        Which::Fresh
    } else if args.resume {
        Which::Resume
    } else {
        Which::Either
    };
    let order = Order { goal: args.goal.as_deref(), which, probe: args.probe };
    let stop = run(&project, order, &wishes(args), ui)?;
    Ok(ExitCode::from(stop.exit_code()))
}

fn wishes(args: &RunArgs) -> Wishes {
    let set = args.set.iter().map(Value::set);
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let flags = [
        ("max_iterations", "max-iterations", number(args.max_iterations)),
        ("reviews", "reviews", number(args.reviews.map(u64::from))),
        ("timeout", "timeout", args.timeout.clone()),
        ("budget", "budget", args.budget.clone()),
        ("max_tokens", "max-tokens", number(args.max_tokens)),
        ("max_time", "max-time", args.max_time.clone()),
    ];
    let flags = flags.into_iter().filter_map(|(key, flag, value)| {
        let value = value?;
        Some(Value { key: key.into(), origin: format!("--{flag} {value}"), value })
    });
    let checks = [("build", &args.build_cmd), ("test", &args.test_cmd), ("lint", &args.lint_cmd)];
    Wishes {
        agent: agent_wishes(&args.agent),
        profile: args.profile.clone(),
        values: set.chain(flags).collect(),
        checks: checks.into_iter().filter_map(|(name, command)| Some((name, command.clone()?))).collect(),
    }
}

fn agent_wishes(args: &AgentArgs) -> AgentWishes {
    AgentWishes {
        names: args.agents.clone(),
        commands: args.agent_cmd.clone(),
        format: args.agent_format.map(Into::into),
        models: args.model.clone(),
        permissions: args.permissions.clone(),
        args: args.agent_args.clone(),
        ..AgentWishes::default()
    }
}

/// Whether to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Continue if the goal is that of the last unfinished run, or none is given.
    Either,
    Resume,
    Fresh,
}

/// What is to be run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order<'a> {
    pub(super) goal: Option<&'a str>,
    pub(super) which: Which,
    /// Try once although the circuit is open.
    pub(super) probe: bool,
}

pub(super) fn run(project: &Project, order: Order<'_>, wishes: &Wishes, ui: &mut Ui) -> Result<Stop> {
    let Order { goal, which, probe } = order;
    // Everything that can be refused is refused before anything is written.
    let runs = Runs::of(&project.truth);
    let last = last_run(&runs, which)?;
    let choice = choose(goal, which, last.as_ref())?;
    if let (Choice::Start(_), Some(last)) = (&choice, &last)
        && let Err(open) = last.state.rules.breaker.carried().guard(clock::now(), probe)
    {
        // A run without an iteration would only make the last one impossible to continue.
        let stop = Stop::CircuitOpen { why: open.reason, probe_at: open.probe_at };
        ui.refused(&last.state, &stop);
        return Ok(stop);
    }
    let earlier =
        last.as_ref().filter(|_| matches!(choice, Choice::Resume)).and_then(|last| last.state.run.as_ref());
    // A run that goes on keeps its plan: the project's file is for new ones.
    let wishes = match earlier {
        Some(_) if wishes.agent.names.is_empty() => wishes.clone(),
        // Somebody names other agents, which may be the file's.
        Some(_) => {
            let file = config::read(&project.ralph_dir)?.agents;
            Wishes { agent: wishes.agent.over(file), ..wishes.clone() }
        }
        None => wishes.over(config::read(&project.ralph_dir)?),
    };
    let Settled { plan, remarks } = settings::settle(&wishes, earlier.map(|run| &run.plan))?;
    for agent in &plan.agents {
        agent::find_script(agent, &project.root)?;
    }
    for remark in remarks {
        ui.warn(&remark);
    }

    let lock = Lock::take(&project.truth, clock::now())?;
    store::wait_for_keepers(&runner::custody_file(&project.truth), KEEPERS)?;
    let mark = |last: &Last| (last.run.number, last.state.seq);
    if last_run(&runs, which)?.as_ref().map(mark) != last.as_ref().map(mark) {
        return Err(
            Error::new("another run was going on here meanwhile").hint("ralph status, then try again")
        );
    }
    let (run, journal, state, first) = match (choice, last) {
        (Choice::Resume, Some(last)) => {
            let (journal, state) = JournalFile::resume(&last.run.journal())?;
            let version = env!("CARGO_PKG_VERSION").into();
            (last.run, journal, state, Event::RunResumed(Box::new(RunResumed { plan, version, probe })))
        }
        (Choice::Start(goal), last) => {
            if let Some(last) = last.as_ref().filter(|last| last.unfinished()) {
                let left = format!(
                    "run {} is left unfinished and cannot be continued: {}",
                    last.run.number,
                    last.goal()
                );
                ui.warn(&format!("a new run begins; {left}"));
                warn_of_unread(&last.state, ui);
            }
            let known = last.as_ref().map_or(0, |last| last.state.iteration);
            let carried = Carried {
                iteration: known.max(runs.last_iteration()),
                breaker: last.map(|last| last.state.rules.breaker).unwrap_or_default(),
                seed: uuid::Uuid::now_v7().as_u64_pair().1,
                probe,
            };
            let run = runs.next();
            let journal = JournalFile::create(&run.journal())?;
            let first = started(&run, goal, plan, carried);
            (run, journal, State::default(), first)
        }
        (Choice::Resume, None) => return Err(Error::new("there is no run to continue")),
    };
    let (stop, state) = Runner::new(project, &lock, run, journal, state, ui)?.run(first)?;
    if let Stop::Complete { .. } = stop {
        warn_of_unread(&state, ui);
    }
    ui.next_steps(&state, &stop);
    drop(lock);
    Ok(stop)
}

/// Notes go with their run; what nobody read may be worth saying again.
fn warn_of_unread(state: &State, ui: &mut Ui) {
    for note in &state.notes {
        ui.warn(&format!("no iteration could read your note: {}", text::one_line(&note.text, 200)));
    }
}

fn started(run: &Run, goal: &str, plan: Plan, carried: Carried) -> Event {
    let info = RunInfo {
        id: uuid::Uuid::now_v7().to_string(),
        number: run.number,
        goal: goal.to_owned(),
        plan,
        version: env!("CARGO_PKG_VERSION").into(),
    };
    Event::RunStarted(Box::new(RunStarted { run: info, carried }))
}

/// The last run and how it stands.
struct Last {
    run: Run,
    state: State,
}

impl Last {
    fn unfinished(&self) -> bool {
        !matches!(self.state.stop(), Some(Stop::Complete { .. } | Stop::Closed))
    }

    fn goal(&self) -> String {
        self.state.run.as_ref().map(|run| text::one_line(&run.goal, 80)).unwrap_or_default()
    }
}

/// The newest run. A fresh start makes do with what can be read of it.
fn last_run(runs: &Runs, which: Which) -> Result<Option<Last>> {
    let newest = runs.newest(which == Which::Fresh)?;
    Ok(newest.map(|(run, state)| Last { run, state }))
}

#[derive(Debug)]
enum Choice<'a> {
    Resume,
    Start(&'a str),
}

fn choose<'a>(goal: Option<&'a str>, which: Which, last: Option<&Last>) -> Result<Choice<'a>> {
    let unfinished = last.filter(|last| last.unfinished());
    if goal.is_some_and(|goal| goal.trim().is_empty()) {
        return Err(Error::usage("the goal is empty").hint("ralph run \"make the tests pass\""));
    }
    let same = unfinished
        .filter(|last| goal.is_none_or(|goal| last.state.run.as_ref().is_some_and(|run| run.goal == goal)));
    match (which, goal, same) {
        (Which::Resume | Which::Either, _, Some(_)) => Ok(Choice::Resume),
        (Which::Fresh | Which::Either, Some(goal), _) => Ok(Choice::Start(goal)),
        (Which::Resume, Some(_), None) if unfinished.is_some() => {
            let last = unfinished.map(Last::goal).unwrap_or_default();
            Err(Error::usage("--resume continues the last run, which has another goal")
                .because(last)
                .hint("ralph run --resume, without a goal"))
        }
        (Which::Resume, _, _) => {
            Err(Error::usage("there is no unfinished run to continue").hint("ralph run \"GOAL\""))
        }
        (Which::Fresh, None, _) => {
            Err(Error::usage("--fresh needs a goal").hint("ralph run --fresh \"GOAL\""))
        }
        (Which::Either, None, None) => Err(Error::usage("no goal given, and no unfinished run to continue")
            .hint("ralph run \"make the tests pass\" --test-cmd \"cargo test\"")
            .hint("ralph demo")),
    }
}
