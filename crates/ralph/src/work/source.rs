//! The task file of a run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ralph_core::backlog::{self, Altered, Backlog, Call, Change, Problem, Refusal, Selection, State, Wish};
use ralph_core::check::CheckSpec;
use ralph_core::evidence::Items;
use ralph_core::items::{BacklogPlan, BacklogRead, Found, ItemAfter, Memory, Needs, PhaseItems, Work};

use super::{Place, TwoHands, beads, steered, stuck};
use crate::error::{Error, Exit, Result};
use crate::process::Spec;
use crate::store::{self, Tried};
use crate::{clock, digest};

/// How much of an item's words a prompt holds.
const MOST_OF_TEXT: usize = 24 << 10;

#[derive(Debug)]
pub(crate) struct Source {
    root: PathBuf,
    place: Place,
    plan: BacklogPlan,
    /// Attempts that an item may have where it does not say itself; 0 = no limit.
    most_attempts: u64,
    /// What was tried, where the file does not count.
    earlier: Tried,
    custody: Option<Custodian>,
}

/// How calls of bd that change something are kept.
struct Custodian(Box<dyn Fn(Spec) -> Spec>);

impl std::fmt::Debug for Custodian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Custodian")
    }
}

/// What is left to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// There is no item at all.
    NoItem,
    Nothing,
    /// An item, or something in the way of one.
    Something,
}

impl Source {
    pub(crate) fn new(root: &Path, plan: &BacklogPlan, most_attempts: u64) -> Result<Self> {
        let place = Place::at(root, root.join(&plan.file))?;
        let root = root.to_path_buf();
        Ok(Self { root, place, plan: plan.clone(), most_attempts, earlier: Tried::default(), custody: None })
    }

    /// Whether it matters what was tried.
    pub(crate) fn counts(&self) -> bool {
        self.most_attempts > 0
    }

    /// With what was tried, in this run and before it.
    #[must_use]
    pub(crate) fn knowing(self, earlier: Tried) -> Self {
        Self { earlier, ..self }
    }

    /// What is started to change the items is ended with the run.
    #[must_use]
    pub(crate) fn in_custody(self, custody: impl Fn(Spec) -> Spec + 'static) -> Self {
        Self { custody: Some(Custodian(Box::new(custody))), ..self }
    }

    fn has_bd(&self, call: &Call) -> Result<()> {
        let custody = self.custody.as_ref();
        beads::call_kept(&self.root, call, &|spec| match custody {
            Some(custody) => (custody.0)(spec),
            None => spec,
        })
    }

    /// From the top of the project, as git names it.
    pub(crate) fn below(&self, root: &Path) -> Option<Vec<u8>> {
        let path = self.place.path.strip_prefix(root).ok()?;
        Some(path.as_os_str().as_encoded_bytes().to_vec())
    }

    /// Whether it is a file: else bd keeps the items.
    pub(crate) fn is_file(&self) -> bool {
        !self.place.is_beads()
    }

    /// The folder that is bd's business, from the top of the project and with a slash at its end: nothing in it is work.
    pub(crate) fn apart(&self) -> Option<&'static str> {
        self.place.is_beads().then_some(beads::FOLDER)
    }

    /// What the file hands out now.
    pub(crate) fn read(&self, memory: &Memory) -> BacklogRead {
        match self.try_read(memory) {
            Ok(read) => read,
            Err(error) => BacklogRead {
                items: Items::default(),
                phase: None,
                phases: vec![],
                blocked: 0,
                found: Found::Unreadable { why: in_a_line(&error) },
            },
        }
    }

    fn try_read(&self, memory: &Memory) -> Result<BacklogRead> {
        let bytes = self.place.read()?;
        let backlog = self.place.parse(&bytes)?;
        self.is_in(&backlog)?;
        let wish = Wish { phase: self.plan.phase.as_deref(), task: self.plan.task.as_deref() };
        let (selection, _) =
            backlog::select_but(&backlog, wish, |id| self.had_its_attempts(&backlog, memory, id));
        if let Selection::Item(at) = selection {
            self.place.is_alone(&backlog, at)?;
        }
        let phase = self.phase(&backlog, &selection);
        Ok(BacklogRead {
            items: self.count(&backlog),
            phases: phases(&backlog),
            blocked: self.blocked(&backlog),
            phase,
            found: self.found(&backlog, &selection, memory)?,
        })
    }

    /// What is meant of it is there, all of it can be read, and no item that is to be done has another one's id.
    pub(crate) fn is_there(&self) -> Result<()> {
        if !self.is_file() && steered::is_agreed(&self.root).is_err() {
            // That is asked first.
            return Ok(());
        }
        let bytes = self.place.read()?;
        let backlog = self.place.parse(&bytes)?;
        self.is_in(&backlog)?;
        let again: HashSet<&str> = backlog.problems().iter().filter_map(Problem::duplicate).collect();
        if again.is_empty() {
            return Ok(());
        }
        let to_do = |at: &usize| {
            let item = &backlog.items()[*at];
            let over = matches!(item.state, State::Done | State::Cancelled);
            again.contains(&*item.id) && !over && self.in_scope(&backlog, *at)
        };
        let twice = (0..backlog.items().len()).find(to_do);
        twice.map_or(Ok(()), |at| self.place.is_alone(&backlog, at))
    }

    fn is_in(&self, backlog: &Backlog<'_>) -> Result<()> {
        if let Some(task) = &self.plan.task {
            self.place.item(backlog, task).map_err(|error| Error { exit: Exit::Usage, ..error })?;
        }
        let Some(phase) = self.plan.phase.as_deref() else { return Ok(()) };
        self.place.has_phase(backlog, phase)?;
        self.plan.task.as_deref().map_or(Ok(()), |task| self.place.is_in_phase(backlog, task, phase))
    }

    /// The commands that items which are still to be done would have run, each with where it stands.
    pub(crate) fn commands(&self) -> Result<Vec<(String, String)>> {
        if !self.is_file() {
            // Issues bring none.
            return Ok(vec![]);
        }
        let bytes = self.place.read()?;
        let backlog = self.place.parse(&bytes)?;
        let mut commands = vec![];
        for at in (0..backlog.items().len()).filter(|at| self.in_scope(&backlog, *at)) {
            let item = &backlog.items()[at];
            if matches!(item.state, State::Done | State::Cancelled) || !backlog.convergence(at).acceptance {
                continue;
            }
            for (nth, command) in backlog.verification(at).into_iter().enumerate() {
                commands.push((format!("{}, {}, command {}", self.plan.file, item.id, nth + 1), command));
            }
        }
        Ok(commands)
    }

    /// The items that are to be worked on, and for which nothing would be run beside `project`, with how many are to be
    /// worked on at all.
    pub(crate) fn unchecked(&self, project: &[CheckSpec]) -> Result<(Vec<String>, u64)> {
        let bytes = self.place.read()?;
        let backlog = self.place.parse(&bytes)?;
        let (mut bare, mut all) = (vec![], 0);
        for at in (0..backlog.items().len()).filter(|at| self.in_scope(&backlog, *at)) {
            let item = &backlog.items()[at];
            if matches!(item.state, State::Done | State::Cancelled | State::Blocked) {
                continue;
            }
            all += 1;
            let work =
                Work { checks: own_checks(&backlog, at), needs: needs(&backlog, at), ..Work::default() };
            if work.checks(project).next().is_none() {
                bare.push(item.id.to_string());
            }
        }
        Ok((bare, all))
    }

    /// The commands that the file wants to pass for every item, each with where it stands.
    pub(crate) fn checks(&self) -> Result<Vec<CheckSpec>> {
        if !self.is_file() {
            return Ok(vec![]);
        }
        let bytes = self.place.read()?;
        let checks = self.place.parse(&bytes)?.checks().into_iter();
        let place = |source: String| format!("{}, {source}", self.plan.file);
        Ok(checks.map(|check| CheckSpec { source: check.source.map(place), ..check }).collect())
    }

    /// How many iterations the file wants a run to have at most.
    pub(crate) fn max_iterations(&self) -> Option<u64> {
        if !self.is_file() {
            return None;
        }
        let bytes = self.place.read().ok()?;
        self.place.parse(&bytes).ok()?.max_iterations()
    }

    /// The folder of a harness, from the top of the project and with a slash at its end, where the file is in one.
    pub(crate) fn harness(&self) -> Option<String> {
        let (dir, name) = self.plan.file.rsplit_once('/')?;
        (name == "feature_list.json").then(|| format!("{dir}/"))
    }

    /// Whether a run would leave this item out.
    pub(crate) fn is_out(&self, backlog: &Backlog<'_>, id: &str) -> bool {
        self.had_its_attempts(backlog, &Memory::default(), id)
    }

    /// Only for files that do not count themselves.
    fn had_its_attempts(&self, backlog: &Backlog<'_>, memory: &Memory, id: &str) -> bool {
        self.most_attempts > 0 && self.tried(backlog, memory, id) >= self.most_attempts
    }

    /// Where a file can say that an item is blocked, whoever opens it again gives it new attempts; where it cannot, other
    /// words do, for they make it another item.
    fn tried(&self, backlog: &Backlog<'_>, memory: &Memory, id: &str) -> u64 {
        let counted = backlog.find(id).filter(|_| self.counts());
        let Some(at) = counted else { return memory.attempts(id) };
        let known =
            self.earlier.attempts(id, &backlog.items()[at].title, || !backlog.can_say(at, State::Blocked));
        known.unwrap_or_else(|| memory.attempts(id))
    }

    fn found(&self, backlog: &Backlog<'_>, selection: &Selection, memory: &Memory) -> Result<Found> {
        let name = |at: &usize| backlog.items()[*at].id.to_string();
        let reset = |at: &usize| stuck::reset(&self.root, &self.plan, &name(at));
        let names = |items: &[usize]| items.iter().take(10).map(name).collect::<Vec<_>>().join(", ");
        Ok(match selection {
            Selection::Item(at) => Found::Selected(Box::new(self.work(backlog, *at, memory)?)),
            Selection::Complete => Found::Complete,
            Selection::Waiting(waiting) => {
                let told = waiting.iter().take(10).map(|waits| waits.told(backlog));
                let why = told.collect::<Vec<_>>().join("; ");
                let is_out = |id: &str| self.had_its_attempts(backlog, memory, id);
                Found::Stuck { why, next: stuck::to_begin(backlog, &self.root, &self.plan, waiting, is_out) }
            }
            Selection::AtLimit(items) => Found::Stuck {
                why: format!(
                    "{} had all its attempts; ralph backlog reset ID{} gives it new ones",
                    names(items),
                    stuck::which(&self.root, &self.plan)
                ),
                next: items.first().map(reset),
            },
            Selection::Blocked(items) => Found::Stuck {
                why: format!("only blocked items are left: {}", names(items)),
                next: items.first().map(reset),
            },
            Selection::Unknown(items) => Found::Stuck {
                why: format!("what is left has a status that nobody knows: {}", names(items)),
                next: items.first().map(|at| stuck::to_open(&self.root, &self.plan, &name(at))),
            },
            Selection::Cycle(ring) => {
                let why = format!("items depend on each other in a ring: {}", ring.join(" -> "));
                Found::Stuck { why, next: Some(stuck::to_break(&self.plan)) }
            }
        })
    }

    fn work(&self, backlog: &Backlog<'_>, at: usize, memory: &Memory) -> Result<Work> {
        let item = &backlog.items()[at];
        let prd = match self.place.requirements(backlog, at) {
            None => None,
            Some(Ok(prd)) => Some(prd),
            Some(Err(why)) => return Err(Error::data(format!("{}: {why}", item.id))),
        };
        let limit = item.limit;
        let mut text = ralph_core::text::head(&backlog.words(at, prd.as_ref()), MOST_OF_TEXT);
        // What failed in this run is told by the run, and what the file keeps stands in its words.
        let told = memory.attempts(&item.id) > 0 || !backlog.attempts(at).is_empty();
        if let Some(why) = self.earlier.why(&item.id, &item.title).filter(|_| !told) {
            text.push_str(&format!("\nThe last attempt failed: {why}\n"));
        }
        Ok(Work {
            id: item.id.to_string(),
            title: item.title.to_string(),
            text,
            criteria: self.criteria(backlog, at),
            checks: own_checks(backlog, at),
            needs: needs(backlog, at),
            // What ralph recorded itself counts as well: a file can be edited by anybody.
            attempts: limit.map_or_else(
                || self.tried(backlog, memory, &item.id),
                |limit| limit.used.max(self.tried(backlog, &Memory::default(), &item.id)),
            ),
            max_attempts: limit.map_or(self.most_attempts, |limit| limit.max),
        })
    }

    /// Where the requirements of its items may be, by the file as it was.
    pub(crate) fn requirements(&self, before: &[u8]) -> HashSet<PathBuf> {
        let Ok(backlog) = self.place.parse(before) else { return HashSet::new() };
        let files = (0..backlog.items().len()).filter_map(|at| backlog.prd_file(at));
        files.flat_map(|file| self.place.prd_files(&file).collect::<Vec<_>>()).collect()
    }

    /// A digest of what an item is judged by, its requirements included.
    fn criteria(&self, backlog: &Backlog<'_>, at: usize) -> String {
        let prd = self.place.requirements_text(backlog, at);
        digest::of(backlog.judged_by(at, prd.as_deref()).as_bytes())
    }

    /// The same of an item that was handed out: an older ralph made another digest of the same criteria, and another title
    /// is named as such.
    fn criteria_now(&self, backlog: &Backlog<'_>, at: usize, item: &Work) -> String {
        let prd = self.place.requirements_text(backlog, at);
        // A title with a secret in it is not what it was handed out with.
        let known = [
            backlog.judged_by(at, prd.as_deref()),
            backlog.judged_by_as(at, &item.title, prd.as_deref()),
            backlog.judged_by_before(at, prd.as_deref()),
        ];
        let [own, as_then, before] = known.map(|judged| digest::of(judged.as_bytes()));
        if [&as_then, &before].contains(&&item.criteria) { item.criteria.clone() } else { own }
    }

    fn in_scope(&self, backlog: &Backlog<'_>, at: usize) -> bool {
        let item = &backlog.items()[at];
        let phase = super::place::phase_of(backlog, at);
        item.enabled
            && self.plan.task.as_deref().is_none_or(|task| item.id == task)
            && self.plan.phase.as_deref().is_none_or(|wanted| phase == Some(wanted))
    }

    pub(crate) fn items(&self) -> Option<Items> {
        let bytes = self.place.read().ok()?;
        Some(self.count(&self.place.parse(&bytes).ok()?))
    }

    fn count(&self, backlog: &Backlog<'_>) -> Items {
        let meant = (0..backlog.items().len()).filter(|at| self.in_scope(backlog, *at));
        meant.fold(Items::default(), |items, at| {
            let state = backlog.items()[at].state;
            let open = !matches!(state, State::Done | State::Cancelled);
            Items { open: items.open + u64::from(open), total: items.total + 1 }
        })
    }

    /// Of what is meant, how many items wait for a person.
    fn blocked(&self, backlog: &Backlog<'_>) -> u64 {
        let meant = (0..backlog.items().len()).filter(|at| self.in_scope(backlog, *at));
        meant.filter(|at| backlog.items()[*at].state == State::Blocked).count() as u64
    }

    /// What a run that begins with it finds.
    pub(crate) fn left(&self) -> Result<Left> {
        let bytes = self.place.read()?;
        let backlog = self.place.parse(&bytes)?;
        if backlog.items().is_empty() {
            return Ok(Left::NoItem);
        }
        let wish = Wish { phase: self.plan.phase.as_deref(), task: self.plan.task.as_deref() };
        Ok(match backlog::select_with(&backlog, wish, &TwoHands).0 {
            Selection::Complete => Left::Nothing,
            _ => Left::Something,
        })
    }

    fn phase(&self, backlog: &Backlog<'_>, selection: &Selection) -> Option<String> {
        let first = || backlog.phases().first().map(ToString::to_string);
        match selection {
            Selection::Item(at) => {
                backlog.items()[*at].phase.as_ref().map(ToString::to_string).or_else(first)
            }
            _ => self.plan.phase.clone().or_else(|| backlog.phases().last().map(ToString::to_string)),
        }
    }

    /// The file as it is, to be kept while an agent works: what it ticked is told by comparing.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        self.place.read()
    }

    /// What was done to the file while the agent worked on this item. A file that cannot be read any more holds other
    /// criteria; where nobody knows how it was, nobody can say that it is as it was.
    pub(crate) fn after(&self, item: &Work, before: Option<&[u8]>) -> ItemAfter {
        let unreadable = ItemAfter { unreadable: true, ..ItemAfter::default() };
        let Ok(bytes) = self.place.read() else { return unreadable };
        let Ok(backlog) = self.place.parse(&bytes) else { return unreadable };
        let criteria = backlog.find(&item.id).map(|at| self.criteria_now(&backlog, at, item));
        let criteria = criteria.unwrap_or_default();
        let Some(old) = before.and_then(|before| self.place.parse(before).ok()) else {
            let tampered = vec!["ralph's copy of the backlog".into()];
            return ItemAfter { criteria, tampered, ..ItemAfter::default() };
        };
        let touched = backlog.touched_since(&old);
        let (own, others): (Vec<_>, Vec<_>) =
            touched.ticked.iter().cloned().partition(|done| *done == item.id);
        let judged_otherwise = criteria != item.criteria;
        let changed = touched.changed.iter().filter_map(|altered| named(altered, item, judged_otherwise));
        ItemAfter {
            ticked: !own.is_empty(),
            criteria,
            // What is put back takes what was added with it.
            ticked_others: others
                .into_iter()
                .filter(|id| !touched.is_harm() || !self.is_file() || old.find(id).is_some())
                .collect(),
            changed: changed.collect(),
            let_go: if touched.is_harm() && self.is_file() { touched.added.clone() } else { vec![] },
            removed: touched.removed,
            ..ItemAfter::default()
        }
    }

    /// Puts the file back as it was, if more was done to it than agents may do. Says whether it had to.
    pub(crate) fn put_back(&self, before: &[u8]) -> Result<bool> {
        let now = self.place.read().ok();
        let now = now.as_ref().and_then(|bytes| self.place.parse(bytes).ok());
        let Ok(old) = self.place.parse(before) else { return Ok(false) };
        if !self.is_file() {
            let calls = now.map(|now| now.way_back(&old)).unwrap_or_default();
            // What can be put back is, whatever cannot.
            let failed: Vec<Error> = calls.iter().filter_map(|call| self.has_bd(call).err()).collect();
            return match failed.into_iter().next() {
                Some(error) => Err(error),
                None => Ok(!calls.is_empty()),
            };
        }
        if now.is_some_and(|now| !now.touched_since(&old).is_harm()) {
            return Ok(false);
        }
        store::put_back(&self.place.path, before)?;
        Ok(true)
    }

    /// Puts the file back as it was, if what is there now cannot be read. Says whether it had to.
    pub(crate) fn mend(&self, before: &[u8]) -> Result<bool> {
        if !self.is_file() {
            return Ok(false);
        }
        let readable = self.place.read().is_ok_and(|bytes| self.place.parse(&bytes).is_ok());
        if readable || self.place.parse(before).is_err() {
            return Ok(false);
        }
        store::put_back(&self.place.path, before)?;
        Ok(true)
    }

    pub(crate) fn mark(&self, id: &str) -> Result<()> {
        self.change(&Change::State { id: id.into(), to: State::InProgress, at: Some(clock::now()) })
    }

    pub(crate) fn change(&self, change: &Change) -> Result<()> {
        self.change_all(std::slice::from_ref(change))
    }

    /// Changes in one edit, so that nobody ever sees some of them alone. One that the format has no place for is none.
    pub(crate) fn change_all(&self, changes: &[Change]) -> Result<()> {
        if !self.is_file() {
            return self.each_call(changes, |call| self.has_bd(call));
        }
        store::edit(&self.place.path, |bytes| Ok((Some(self.changed(bytes, changes)?), ())))
    }

    /// Whether the same could be done, without doing it.
    pub(crate) fn would_change(&self, changes: &[Change]) -> Result<()> {
        if !self.is_file() {
            return self.each_call(changes, |_| Ok(()));
        }
        self.changed(&self.place.read()?, changes).map(drop)
    }

    /// The calls that are still to be made, one after the other: what is so already needs none.
    fn each_call(&self, changes: &[Change], make: impl Fn(&Call) -> Result<()>) -> Result<()> {
        let actor = beads::actor(&self.root);
        for change in changes {
            // bd has no place for these, but what they say goes into the reason of the others.
            if matches!(change, Change::Attempt { .. } | Change::Increment { .. }) {
                continue;
            }
            let bytes = self.place.read()?;
            let backlog = self.place.parse(&bytes)?;
            match backlog.call(change, changes, &actor) {
                Ok(call) => call.as_ref().map_or(Ok(()), &make)?,
                Err(Refusal::NoPlace { .. } | Refusal::NoState { .. }) => {}
                Err(refusal) => return Err(self.place.refused(&refusal, &backlog)),
            }
        }
        Ok(())
    }

    fn changed(&self, bytes: &[u8], changes: &[Change]) -> Result<Vec<u8>> {
        let mut text = bytes.to_vec();
        for change in changes {
            let backlog = self.place.parse(&text)?;
            match backlog.change(change) {
                Ok(changed) => text = changed.text.into_bytes(),
                Err(Refusal::NoPlace { .. } | Refusal::NoState { .. }) => {}
                // Where the file keeps no count this is a note, which is not worth an item that stays unmarked.
                Err(Refusal::NotLossless(_)) if is_note(change, &backlog) => {}
                Err(refusal) => return Err(self.place.refused(&refusal, &backlog)),
            }
        }
        Ok(text)
    }

    /// Whether an attempt of this name is recorded already.
    pub(crate) fn has_attempt(&self, id: &str, run_id: &str) -> bool {
        if !self.is_file() {
            return false;
        }
        let Ok(bytes) = self.place.read() else { return false };
        let Ok(backlog) = self.place.parse(&bytes) else { return false };
        let Some(at) = backlog.find(id) else { return false };
        backlog.attempts(at).iter().any(|attempt| attempt.run_id.as_deref() == Some(run_id))
    }
}

fn is_note(change: &Change, backlog: &Backlog<'_>) -> bool {
    let Change::Increment { id, .. } = change else { return false };
    backlog.find(id).is_some_and(|at| backlog.items()[at].limit.is_none())
}

/// An item's own commands.
fn own_checks(backlog: &Backlog<'_>, at: usize) -> Vec<CheckSpec> {
    let commands = backlog.verification(at).into_iter().enumerate();
    commands.map(|(nth, command)| CheckSpec::named(format!("verify-{}", nth + 1), command)).collect()
}

fn needs(backlog: &Backlog<'_>, at: usize) -> Needs {
    let convergence = backlog.convergence(at);
    Needs { build: convergence.build, tests: convergence.tests, acceptance: convergence.acceptance }
}

/// An error as the reason of a stop.
pub(crate) fn in_a_line(error: &Error) -> String {
    error.why.iter().fold(error.what.clone(), |what, why| format!("{what}: {why}"))
}

/// `US-2 (title, state)`; of the item itself without what its criteria say already.
fn named(altered: &Altered, item: &Work, judged_otherwise: bool) -> Option<String> {
    const JUDGED: [&str; 4] = ["criteria", "verification", "convergence_criteria", "prd_reference"];
    let own = altered.id == item.id && judged_otherwise;
    let what: Vec<&str> =
        altered.what.iter().filter(|what| !own || !JUDGED.contains(what)).copied().collect();
    match (what.is_empty(), altered.what.is_empty()) {
        (true, true) => Some(altered.id.clone()),
        (true, false) => None,
        _ => Some(format!("{} ({})", altered.id, what.join(", "))),
    }
}

fn phases(backlog: &Backlog<'_>) -> Vec<PhaseItems> {
    let first = backlog.phases().first();
    let count = |phase: &str| {
        let of = backlog
            .items()
            .iter()
            .filter(|item| item.enabled && item.phase.as_ref().or(first).is_some_and(|own| own == phase));
        of.fold(Items::default(), |items, item| {
            let open = !matches!(item.state, State::Done | State::Cancelled);
            Items { open: items.open + u64::from(open), total: items.total + 1 }
        })
    };
    backlog.phases().iter().map(|phase| PhaseItems { name: phase.to_string(), items: count(phase) }).collect()
}
