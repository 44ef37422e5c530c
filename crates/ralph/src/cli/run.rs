//! `ralph run`: start a run or take the last one up again.

mod alone;
mod backlog;
mod branch;
mod configured;
pub(super) mod consent;
mod dry;
mod held;
mod over;
mod unnamed;

pub(super) use backlog::below;

use std::process::ExitCode;

use ralph_core::decision::Stop;
use ralph_core::event::{Carried, Event, Permissions, Plan, RunInfo, RunResumed, RunStarted};
use ralph_core::items::Inherited;
use ralph_core::redact::Secrets;
use ralph_core::state::State;
use ralph_core::text;
use ralph_core::time::Time;

use super::args::{AgentArgs, Mode, RunArgs};
use super::{hook, introduction};
use crate::error::{Error, Result};
use crate::project::Project;
use crate::runner::{self, Opened, Runner};
use crate::settings::pool::LastUsed;
use crate::settings::{self, AgentWishes, For, Settled, Value, Wishes};
use crate::setup;
use crate::store::{self, ArmFile, HarnessLock, JournalFile, Lock, Run, Runs};
use crate::suggest::{self, quoted};
use crate::trust::{self, Consent};
use crate::ui::{self, Ui};
use crate::work;
use crate::{agent, brought, clock, detected, secrets};
pub(super) use alone::be_alone;
use configured::{Configured, configured};
use consent::Proposal;

pub(super) fn main(args: &RunArgs, ui: &mut Ui) -> Result<ExitCode> {
    if args.mode == Mode::Hook {
        return held::hold(args, ui);
    }
    let project = Project::find()?;
    // Before all that looks at the folder: a slip is none of what is in it.
    args.profile.as_deref().map_or(Ok(()), |name| settings::profile(name).map(drop))?;
    args.branch.as_deref().map_or(Ok(()), |name| branch::is_name(&project, name))?;
    ui.begun_by(Some(typed(&project)));
    let which = if args.fresh {
        Which::Fresh
    } else if args.resume {
        Which::Resume
    } else {
        Which::Either
    };
    let consent = Some(if args.yes { Consent::Given } else { Consent::Ask });
    let mut wishes = wishes(args)?;
    wishes.backlog = backlog::wanted(&project, args)?;
    let branch = args.branch.as_deref();
    let order =
        Order { goal: args.goal.as_deref(), which, probe: args.probe, consent, branch, dry: args.dry_run };
    match run(&project, order, &wishes, ui)? {
        Some(stop) => Ok(ExitCode::from(stop.exit_code())),
        None => super::fine(),
    }
}

/// The command line, as it can be typed once more. What is only for once is left out, and secrets are.
fn typed(project: &Project) -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let again = words.filter(|word| !["--resume", "--probe"].contains(&word.as_str()));
    let typed = again.fold("ralph".to_owned(), |typed, word| format!("{typed} {}", quoted(&word)));
    secrets::of(&project.root).hide(&typed).into_owned()
}

fn wishes(args: &RunArgs) -> Result<Wishes> {
    let set = args.set.iter().map(Value::set);
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let flags = [
        ("max_iterations", "max-iterations", number(args.max_iterations)),
        ("reviews", "reviews", number(args.reviews.map(u64::from))),
        ("timeout", "timeout", args.timeout.clone()),
        ("idle_timeout", "idle-timeout", args.idle_timeout.clone()),
        ("budget", "budget", args.budget.clone()),
        ("max_tokens", "max-tokens", number(args.max_tokens)),
        ("max_time", "max-time", args.max_time.clone()),
    ];
    let flags = flags.into_iter().filter_map(|(key, flag, value)| {
        let value = value?;
        Some(Value { key: key.into(), origin: format!("--{flag} {value}"), value })
    });
    let checks = [("build", &args.build_cmd), ("test", &args.test_cmd), ("lint", &args.lint_cmd)];
    Ok(Wishes {
        agent: agent_wishes(&args.agent),
        profile: args.profile.clone(),
        values: set.chain(flags).collect(),
        checks: checks.into_iter().filter_map(|(name, command)| Some((name, command.clone()?))).collect(),
        backlog: None,
        all: args.all,
        // Whoever wants a branch wants commits on it.
        commit: args.commit || args.branch.is_some(),
        until: args.until.as_deref().map(until).transpose()?,
        detect: !args.no_detect,
        ..Wishes::default()
    })
}

/// When a run that is to end then ends.
fn until(text: &str) -> Result<Time> {
    let now = clock::now();
    let Some(until) = clock::coming(text, now) else {
        return Err(Error::usage(format!("invalid time '{}' for --until", text::one_line(text, 60)))
            .because("it takes a time of day or a date with a time")
            .hint("--until 07:00")
            .hint("--until 2026-11-19T07:00"));
    };
    if until <= now {
        return Err(Error::usage(format!("--until {text} is in the past"))
            .because(format!("it is {} now", clock::local(now, now)))
            .hint("--until 07:00, which is the next time that it is seven"));
    }
    Ok(until)
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
    /// How the user agrees to it; `None` where there is nothing to agree to.
    pub(super) consent: Option<Consent>,
    /// A new branch to commit on.
    pub(super) branch: Option<&'a str>,
    /// Only show what would be done.
    pub(super) dry: bool,
}

/// The run before is over, and its ralph was cut off before it said so: nobody takes it up again.
fn let_go(project: &Project, last: Option<&Last>, ui: &mut Ui) -> Result<()> {
    let over = last.filter(|last| last.state.stop().is_some());
    let own = |last: &&Last| {
        last.state.run.as_ref().is_some_and(|run| HarnessLock::of(&project.root).is_of(&run.id))
    };
    if let Some(last) = over.filter(own) {
        let _alone = Lock::take(&project.truth, clock::now())?;
        runner::publish(project, &last.run, &last.state, ui);
    }
    Ok(())
}

/// How the run stopped; `None` where it was only shown.
pub(super) fn run(project: &Project, order: Order<'_>, wishes: &Wishes, ui: &mut Ui) -> Result<Option<Stop>> {
    let Order { goal, which, probe, consent, .. } = order;
    let secrets = secrets::of(&project.root);
    ui.hides(&secrets);
    let told = goal.map(|goal| secrets.hide(goal).into_owned()).or_else(|| backlog::goal(wishes));
    let goal = told.as_deref();
    // Everything that can be refused is refused before anything is written; and first what nothing else can change.
    if !order.dry {
        store::no_other_run(&project.truth)?;
        hook::nobody_is_held(project)?;
    }
    let runs = Runs::of(&project.truth);
    let last = last_run(&runs, which)?;
    // Without a word, and nothing to continue, the project's backlog is what there is to do.
    let chosen = choose(goal, which, last.as_ref());
    let found = match (&chosen, goal) {
        (Err(_), None) if which != Which::Resume => backlog::found(project, consent == Some(Consent::Ask))?,
        _ => None,
    };
    let choice = match &found {
        Some((_, goal)) => Choice::Start(goal),
        None => chosen.map_err(|error| match goal {
            None if which != Which::Resume => {
                let begins = to_begin(project).into_iter().filter(|_| which == Which::Either);
                begins.chain(work::unnamed_beads(&project.root)).fold(error, Error::hint)
            }
            _ => error,
        })?,
    };
    let mut wishes = wishes.clone();
    if let (Choice::Start(_), Some((backlog, _)), None) = (&choice, &found, goal) {
        wishes.backlog = Some(backlog.clone());
    }
    let wishes = &wishes;
    if let (Choice::Resume, Which::Either, None) = (&choice, which, goal) {
        let beside = last.as_ref().and_then(|last| backlog::beside_a_goal(project, last));
        beside.iter().for_each(|beside| ui.remark(beside));
    }
    let refused = last.as_ref().and_then(|last| may_begin(&choice, last, order).err());
    // Whoever only wants to see what would be done starts nothing.
    if let (Some(last), Some(stop), false) = (&last, &refused, order.dry) {
        let stop = stop.clone();
        match choice {
            Choice::Start(_) => ui.refused(&last.state, &stop),
            Choice::Resume => ui.refused_again(&last.state, &stop),
        }
        return Ok(Some(stop));
    }
    let earlier =
        last.as_ref().filter(|_| matches!(choice, Choice::Resume)).and_then(|last| last.state.run.as_ref());
    let own = wishes;
    let Configured { config, mut brought, notifier } = configured(project, own, earlier.is_some(), ui)?;
    let mut wishes = own.over(config);
    let before = match settings::backlog(&wishes)? {
        Some(plan) if earlier.is_none() => backlog::before(&runs, last.as_ref(), &plan.file),
        _ => None,
    };
    if earlier.is_none()
        && let Some(stop) =
            backlog::nothing_to_do(project, &wishes, before.as_ref(), last.as_ref(), order.dry, ui)?
    {
        if !order.dry {
            let_go(project, last.as_ref(), ui)?;
        }
        return Ok(Some(stop));
    }
    if earlier.is_none() && wishes.agent.names.is_empty() && wishes.agent.commands.is_empty() {
        wishes.agent.last = last.as_ref().and_then(|last| last.agents(project, &wishes.agent, order));
    }
    // A run that goes on has its plan already.
    let missing = if earlier.is_some() { vec![] } else { detected::look(&project.root, &mut wishes) };
    // What is asked before a first run includes the permissions; until then they are nobody's choice. Where nobody can be
    // asked, all that is missing is told at once.
    let asks = consent == Some(Consent::Ask) && last.is_none() && !order.dry;
    // A run that goes on has them in its plan.
    let unchosen = (asks || order.dry && earlier.is_none()) && wishes.agent.leaves_permissions_open();
    if unchosen {
        wishes.agent.permissions.push(For::all(Permissions::Inherit));
    }
    let Settled { mut plan, remarks } = settings::settle(&wishes, earlier.map(|run| &run.plan))?;
    if earlier.is_none() {
        brought.extend(brought::by_detection(&plan.checks));
    }
    if unchosen {
        consent::permit(&mut plan, None);
    }
    for agent in &plan.agents {
        agent::find_command(agent, &project.root)?;
    }
    let missing = missing.into_iter().map(|left| left.what);
    for remark in remarks.into_iter().chain(missing).chain(told_secrets(&secrets, order, &plan)) {
        ui.warn(&remark);
    }
    let of_items = backlog::brought(project, &wishes, earlier.is_none(), &mut plan)?;
    detected::remember(&project.root, &mut plan, earlier.map(|run| &run.plan));
    branch::may_commit(project, own.commit && order.branch.is_none())?;
    let goes_on = last.as_ref().filter(|_| earlier.is_some() && (plan.backlog.is_some() || plan.commits()));
    if let Some(before) = before.as_ref().or(goes_on).filter(|_| which != Which::Fresh) {
        branch::is_where_it_was(project, before)?;
    }
    let of_backlog = match order.branch {
        None if earlier.is_none() => branch::of_backlog(project, &plan, ui)?,
        _ => None,
    };
    let order = Order { branch: order.branch.or(of_backlog.as_deref()), ..order };
    if let Some(name) = order.branch {
        branch::may_begin(project, name)?;
    }
    let unsaid = goal.or(found.as_ref().map(|found| found.1.as_str())).unwrap_or_default();
    let called = earlier.map_or(unsaid, |run| &run.goal);
    let kept = consent::kept_in_tree(project, called, &plan);
    let mut commands = brought;
    commands.extend(of_items.clone());
    commands.extend(backlog::brought_again(project, before.as_ref(), &plan));
    if order.dry {
        let state = last.as_ref().filter(|_| earlier.is_some()).map(|last| &last.state);
        let intent = dry::Intent {
            goal: called,
            plan,
            commands: &commands,
            state,
            before: before.as_ref().map(|before| &before.state),
            branch: order.branch,
            refused: refused.as_ref(),
            leaves: last.as_ref().filter(|_| earlier.is_none()).map_or(vec![], Last::left),
        };
        dry::show(project, &intent, ui)?;
        return Ok(None);
    }
    let agreed = of_items.iter().map(|command| command.command.clone()).collect();
    if let Some(consent) = consent {
        let goal = called;
        if let Some(run) = earlier {
            let recorded = consent::kept_in_tree(project, &run.goal, &run.plan);
            commands.extend(consent::not_said_again(&kept, &recorded, own));
            if let Some(last) = &last {
                commands.extend(consent::of_items_in_tree(project, &last.state));
            }
        }
        let first = last.is_none();
        let branch = order.branch;
        let proposal = Proposal { project, goal, commands: &commands, first, unchosen, branch };
        proposal.agree(consent, &mut plan, ui)?;
    }

    if earlier.is_none() {
        introduction::unchecked(project, &plan).iter().for_each(|bare| ui.warn(bare));
        let unclean = introduction::unclean(project, &plan);
        unclean.iter().for_each(|file| ui.warn(&introduction::to_commit_first(file)));
    }

    let mut lock = Lock::take(&project.truth, clock::now())?;
    if be_alone(project, ui)?
        && let Some(last) = last.as_ref().filter(|last| last.state.stop().is_none())
    {
        alone::went_on_until_now(&last.run, &last.state);
    }
    let mark = |last: &Last| (last.run.number, last.state.seq);
    if last_run(&runs, which)?.as_ref().map(mark) != last.as_ref().map(mark) {
        return Err(
            Error::new("another run was going on here meanwhile").hint("ralph status, then try again")
        );
    }
    if consent.is_some() {
        trust::vouch(project, &kept, ui);
    }
    setup::keep_earlier(project, ui)?;
    let left = branch::begin(project, &plan, order.branch, ui)?;
    if consent.is_some() && last.is_none() && !ui::can_ask() && !ui.tells_events() {
        ui.remark(&introduction::place_of_first(project));
    }
    if plan.policy.harness_lock {
        let own = last.as_ref().and_then(|last| last.state.run.as_ref()).map(|run| run.id.as_str());
        let somebody = HarnessLock::of(&project.root).somebody(own, clock::now());
        somebody.iter().for_each(|somebody| ui.warn(somebody));
    }
    // Whoever takes the run over, or begins another, waits for no session any more.
    ArmFile::of(&project.truth).remove(&lock)?;
    let mut tree = runner::open_tree(project)?;
    let (run, journal, state, first) = match (choice, last) {
        (Choice::Resume, Some(last)) => {
            ui.begun_by(None);
            let (journal, state) = JournalFile::resume(&last.run.journal())?;
            let version = env!("CARGO_PKG_VERSION").into();
            let unrecorded_ms = alone::unrecorded(&last.run, &state);
            (
                last.run,
                journal,
                state,
                Event::RunResumed(Box::new(RunResumed { plan, version, probe, unrecorded_ms })),
            )
        }
        (Choice::Start(goal), last) => {
            if let Some(last) = &last {
                // Its ralph may have been cut off between its last record and the views, and nobody takes it up again.
                runner::publish(project, &last.run, &last.state, ui);
            }
            warn_of_unfinished(last.as_ref(), ui);
            let work = match &before {
                Some(before) => {
                    let anew = which == Which::Fresh;
                    backlog::inherited(project, before, &mut tree, &mut plan, anew, ui)?
                }
                None => Inherited::default(),
            };
            let known = last.as_ref().map_or(0, |last| last.state.iteration);
            let carried = Carried {
                iteration: known.max(runs.last_iteration()),
                breaker: last.map(|last| last.state.rules.breaker).unwrap_or_default(),
                seed: seed(),
                probe,
                work,
            };
            let run = runs.next();
            let journal = JournalFile::create(&run.journal())?;
            let first = started(&run, goal, plan, carried);
            (run, journal, State::default(), first)
        }
        (Choice::Resume, None) => return Err(Error::new("there is no run to continue")),
    };
    let secrets = secrets::of(&project.root);
    let opened = Opened { run, journal, state, tree };
    let (stop, state) =
        Runner::new(project, &mut lock, opened, secrets, ui).agreed(agreed).notifying(notifier).run(first)?;
    if let Some(wishes) = unnamed::ask(&state, consent) {
        drop(lock);
        let again = Order { goal: None, which: Which::Resume, branch: None, ..order };
        let stop = self::run(project, again, &wishes, ui)?;
        branch::way_back(project, order.branch, left).iter().for_each(|way| ui.step(way));
        return Ok(stop);
    }
    if let Stop::Complete { .. } = stop {
        unread(&state).for_each(|note| ui.warn(&note));
    }
    branch::way_back(project, order.branch, left).iter().for_each(|way| ui.step(way));
    ui.next_steps(&state, &stop);
    drop(lock);
    Ok(Some(stop))
}

/// Whether the circuit lets anybody in. A new run without an iteration would make the last one impossible to continue;
/// and one that an open circuit has stopped would stop again at once, and tell what it did before as if it were new.
fn may_begin(choice: &Choice<'_>, last: &Last, order: Order<'_>) -> std::result::Result<(), Stop> {
    let breaker = &last.state.rules.breaker;
    let guarded = match choice {
        Choice::Start(_) => breaker.carried().guard(clock::now(), order.probe),
        Choice::Resume if !matches!(last.state.stop(), Some(Stop::CircuitOpen { .. })) => return Ok(()),
        Choice::Resume => breaker.guard(clock::now(), order.probe),
    };
    guarded.map(drop).map_err(|open| Stop::CircuitOpen { why: open.reason, probe_at: open.probe_at })
}

/// Goals and commands are kept: a secret in one is better told otherwise.
pub(super) fn told_secrets(secrets: &Secrets, order: Order<'_>, plan: &Plan) -> Vec<String> {
    let has = |text: &str| secrets.hide(text) != text;
    let goal = order.goal.filter(|goal| has(goal)).map(|_| {
        "the goal holds what looks like a secret: it was left out; let the agent find it in its environment".into()
    });
    let commands = plan.checks.iter().map(|check| &check.command);
    let of_agents =
        plan.agents.iter().flat_map(|agent| agent.command.iter().chain(&agent.args).chain(&agent.model));
    let command = commands.chain(of_agents).find(|command| has(command)).map(|command| {
        let shown = text::one_line(&secrets.hide(command), 120);
        format!("a command holds what looks like a secret, and commands are kept to continue the run; better put it into the environment: {shown}")
    });
    goal.into_iter().chain(command).chain(secrets::beyond(secrets)).collect()
}

/// A new run takes the place of one that could have been continued.
pub(super) fn warn_of_unfinished(last: Option<&Last>, ui: &mut Ui) {
    let left = last.map_or(vec![], Last::left);
    if let Some((run, notes)) = left.split_first() {
        ui.warn(&format!("a new run begins; {run}"));
        notes.iter().for_each(|note| ui.warn(note));
    }
}

/// Notes go with their run; what nobody read may be worth saying again.
fn unread(state: &State) -> impl Iterator<Item = String> {
    let words = |text: &str| text::one_line(text, 200);
    let line =
        move |text: &str| format!("your note reached no iteration that came to its end: {}", words(text));
    state.notes.iter().map(move |note| line(&note.text))
}

pub(super) fn started(run: &Run, goal: &str, plan: Plan, carried: Carried) -> Event {
    Event::RunStarted(Box::new(RunStarted { run: info(run.number, goal, plan), carried }))
}

/// A number nobody could foresee.
pub(super) fn seed() -> u64 {
    uuid::Uuid::now_v7().as_u64_pair().1
}

fn info(number: u64, goal: &str, plan: Plan) -> RunInfo {
    RunInfo {
        id: uuid::Uuid::now_v7().to_string(),
        number,
        goal: goal.to_owned(),
        plan,
        version: env!("CARGO_PKG_VERSION").into(),
    }
}

/// The last run and how it stands.
pub(super) struct Last {
    pub(super) run: Run,
    pub(super) state: State,
}

impl Last {
    /// What a new run leaves behind of it, where it could have been continued.
    fn left(&self) -> Vec<String> {
        if !self.unfinished() {
            return vec![];
        }
        let (number, goal) = (self.run.number, self.goal());
        let run = format!("run {number} is left unfinished and cannot be continued: {goal}");
        [run].into_iter().chain(unread(&self.state)).collect()
    }

    fn unfinished(&self) -> bool {
        let over = |stop: &Stop| {
            matches!(
                stop,
                Stop::Complete { .. }
                    | Stop::Closed
                    | Stop::ItemPassed { .. }
                    | Stop::ItemFailed { .. }
                    | Stop::BacklogComplete { .. }
            )
        };
        !self.state.stop().is_some_and(over)
    }

    /// What it had for agents, and how the run of this order could have the same.
    fn agents(&self, project: &Project, wishes: &AgentWishes, order: Order<'_>) -> Option<LastUsed> {
        let secrets = secrets::of(&project.root);
        let shown = secrets.shown_state(&self.state);
        let line = typed(project);
        let line = line.split(" -- ").next().unwrap_or_default();
        let about = order.goal.map(|goal| format!(" {}", suggest::goal(goal))).unwrap_or_default();
        LastUsed::of(&shown.run.as_ref()?.plan.agents, wishes, line, &format!("ralph run{about}"))
    }

    fn goal(&self) -> String {
        self.state.run.as_ref().map(|run| text::one_line(&run.goal, 80)).unwrap_or_default()
    }
}

/// The newest run. A fresh start makes do with what can be read of it.
pub(super) fn last_run(runs: &Runs, which: Which) -> Result<Option<Last>> {
    let newest = runs.newest(which == Which::Fresh)?;
    Ok(newest.map(|(run, state)| Last { run, state }))
}

/// Whether `ralph run` would begin or go on without being told a goal.
pub(super) fn has_something_to_do(project: &Project) -> bool {
    let last = last_run(&Runs::of(&project.truth), Which::Fresh).ok().flatten();
    last.is_some_and(|last| last.unfinished()) || !matches!(work::find(&project.root), Ok(None))
}

/// What is said where nothing was run, with what begins it.
pub(super) fn nothing_yet(project: &Project) -> String {
    let begins = match work::is_somewhere(&project.root) {
        true => "ralph run, which works through the task list here, or ralph run \"GOAL\"",
        false => "ralph run \"GOAL\"",
    };
    format!("nothing has been run here yet; start with: {begins}")
}

/// What to type where there is nothing to do yet.
fn to_begin(project: &Project) -> [String; 3] {
    let test = detected::test_command(&project.root);
    [
        format!("ralph run \"make the tests pass\" --test-cmd {test}"),
        "ralph init, then ralph backlog add \"TITLE\" for each task".into(),
        "ralph demo".into(),
    ]
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
            Err(Error::usage("--fresh needs a goal or a backlog").hint("ralph run --fresh \"GOAL\""))
        }
        // Whoever asks looks for a backlog before this is said.
        (Which::Either, None, None) => {
            Err(Error::usage("no goal given, no unfinished run to continue, and no backlog to work through")
                .because(format!("none of {} is here", work::places())))
        }
    }
}
