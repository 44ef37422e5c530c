//! The backlog of a run: which part of it is meant, and what is done with it.
//!
//! | file | holds |
//! |---|---|
//! | `file`, `issues` | the two ways in which items are kept: in a file, or by bd |
//! | `selected` | what is handed out, and what is left |
//! | `commands` | what is run for items |
//! | `touched` | what was done to it while an agent worked |

mod commands;
mod file;
mod issues;
mod selected;
mod touched;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use ralph_core::backlog::{Backlog, Change, Item, State};
use ralph_core::event::Plan;
use ralph_core::items::{BacklogPlan, Earlier, Work};

use self::file::InFile;
use self::issues::WithBd;
use super::{Place, beads};
use crate::error::{self, Error, Exit, Result};
use crate::process::Spec;
use crate::store::{Tried, Way};
use crate::{clock, digest};

#[derive(Debug)]
pub(crate) struct Source {
    place: Place,
    kept: Box<dyn Keeping>,
    plan: BacklogPlan,
    /// Attempts that an item may have where it does not say itself; 0 = no limit.
    most_attempts: u64,
    /// What was tried, where the file does not count.
    earlier: Rc<Tried>,
}

/// How items are read and changed where they are.
trait Keeping: std::fmt::Debug {
    /// Whether reading them asks for nobody's agreement.
    fn may_be_read(&self, _: &Place) -> bool {
        true
    }

    fn read(&self, place: &Place) -> Result<Vec<u8>>;

    /// Puts them back as they were, if more was done to them than agents may do. Says whether it had to.
    fn put_back(&self, place: &Place, before: &[u8]) -> Result<bool>;

    /// Puts them back as they were, if what is there now cannot be read. Says whether it had to.
    fn mend(&self, place: &Place, before: &[u8]) -> Result<bool>;

    /// Makes these changes. One that the format has no place for is none.
    fn change(&self, place: &Place, changes: &[Change]) -> Result<()>;

    /// Whether the same could be done, without doing it.
    fn would_change(&self, place: &Place, changes: &[Change]) -> Result<()>;

    /// Whether an attempt of this name is recorded already.
    fn has_attempt(&self, place: &Place, id: &str, run_id: &str) -> bool;
}

/// What is left to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Left {
    /// There is no item at all.
    NoItem,
    /// Nothing for the loop; what is open all the same, in words.
    Nothing { for_people: Option<String>, earlier: Earlier },
    /// An item, or something in the way of one.
    Something,
}

impl Source {
    pub(crate) fn new(root: &Path, plan: &BacklogPlan, most_attempts: u64) -> Result<Self> {
        let place = Place::at(root, root.join(&plan.file))?;
        let kept: Box<dyn Keeping> =
            if place.is_beads() { Box::new(WithBd::default()) } else { Box::new(InFile) };
        Ok(Self { place, kept, plan: plan.clone(), most_attempts, earlier: Rc::default() })
    }

    /// As a run by this plan takes it, if it is about a backlog.
    pub(crate) fn of(root: &Path, plan: &Plan) -> Option<Result<Self>> {
        let most = if plan.policy.each_item { plan.policy.max_iterations } else { 0 };
        Some(Self::new(root, plan.backlog.as_ref()?, most))
    }

    /// Whether it matters what was tried.
    pub(crate) fn counts(&self) -> bool {
        self.most_attempts > 0
    }

    /// With what was tried, in this run and before it.
    #[must_use]
    pub(crate) fn knowing(self, earlier: impl Into<Rc<Tried>>) -> Self {
        let earlier = earlier.into();
        Self { earlier, ..self }
    }

    /// What is started to change the items is ended with the run.
    #[must_use]
    pub(crate) fn in_custody(self, custody: impl Fn(Spec) -> Spec + 'static) -> Self {
        if self.is_file() {
            return self;
        }
        Self { kept: Box::new(WithBd::in_custody(custody)), ..self }
    }

    /// Knowing by which names and links its file was reached before an agent: what stands there instead goes, or to `aside`.
    #[must_use]
    pub(crate) fn reached_by(self, way: Option<Way>, aside: PathBuf) -> Self {
        if !self.is_file() {
            return self;
        }
        Self { place: Place { way: way.map(|way| (way, aside)), ..self.place }, ..self }
    }

    /// What an agent put in the place of its file, in words.
    pub(crate) fn replaced_by(&self) -> Option<String> {
        self.place.replaced_by()
    }

    /// By which names and links its file is reached now.
    pub(crate) fn way(&self) -> Result<Option<Way>> {
        let way = self.is_file().then(|| Way::to(self.place.root(), &self.place.path));
        way.transpose().map_err(error::io("cannot read", &self.place.path))
    }

    /// The same as it was when an agent was started, by what was kept of it.
    pub(crate) fn way_then(&self, kept: Option<&[u8]>) -> Way {
        Way::from_bytes(self.place.root(), &self.place.path, kept)
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

    /// The folder of a harness, from the top of the project and with a slash at its end, where the file is in one.
    pub(crate) fn harness(&self) -> Option<String> {
        let (dir, name) = self.plan.file.rsplit_once('/')?;
        (name == "feature_list.json").then(|| format!("{dir}/"))
    }

    /// The items as they are, to be kept while an agent works: what it ticked is told by comparing.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        self.kept.read(&self.place)
    }

    /// Puts them back as they were, if more was done to them than agents may do. Says whether it had to.
    pub(crate) fn put_back(&self, before: &[u8]) -> Result<bool> {
        self.kept.put_back(&self.place, before)
    }

    /// Puts them back as they were, if what is there now cannot be read. Says whether it had to.
    pub(crate) fn mend(&self, before: &[u8]) -> Result<bool> {
        self.kept.mend(&self.place, before)
    }

    pub(crate) fn mark(&self, id: &str) -> Result<()> {
        self.change(&Change::State { id: id.into(), to: State::InProgress, at: Some(clock::now()) })
    }

    /// Blocks what is open and has used up the iterations that the file gives it, with the note that asks for a person. Says which.
    pub(crate) fn block_at_limit(&self) -> Result<Vec<String>> {
        if !self.is_file() {
            return Ok(vec![]);
        }
        let bytes = self.bytes()?;
        let backlog = self.place.parse(&bytes)?;
        let is_out = |(at, item): &(usize, &Item<'_>)| {
            let spent = item.limit.is_some_and(|limit| limit.is_reached());
            item.enabled && item.state.is_open() && spent && self.in_scope(&backlog, *at)
        };
        let out = backlog.items().iter().enumerate().filter(is_out);
        let out: Vec<String> = out.map(|(_, item)| item.id.to_string()).collect();
        let blocked = |id: &String| Change::State { id: id.clone(), to: State::Blocked, at: None };
        let changes: Vec<Change> = out.iter().map(blocked).collect();
        if !changes.is_empty() {
            self.change_all(&changes)?;
        }
        Ok(out)
    }

    /// Takes back that an item is done, or parts of it. `before`: the file as it was; what was marked then stays so, and an item that
    /// is not done, or was done by then, is what it was: so this can be done twice.
    pub(crate) fn untick(&self, id: &str, before: Option<&[u8]>) -> Result<()> {
        let open = || self.change(&Change::State { id: id.into(), to: State::Open, at: None });
        let before = before.filter(|_| self.is_file()).and_then(|before| self.place.parse(before).ok());
        let Some(before) = before else { return open() };
        let is_done = |backlog: &Backlog<'_>| {
            backlog.find(id).is_some_and(|at| backlog.items()[at].state == State::Done)
        };
        self.place.edit(|bytes| {
            let text = self.place.parse(bytes)?.without_new_parts(id, &before);
            Ok((text.and_then(std::result::Result::ok).map(String::into_bytes), ()))
        })?;
        let done = self.place.edit(|bytes| {
            let now = self.place.parse(bytes)?;
            match now.without_new_steps(id, &before).and_then(std::result::Result::ok) {
                Some(text) => Ok((Some(text.into_bytes()), false)),
                None => Ok((None, is_done(&now))),
            }
        })?;
        if done && !is_done(&before) { open() } else { Ok(()) }
    }

    /// How an item stands in the file; `None` where it has no such item.
    pub(crate) fn state_of(&self, id: &str) -> Result<Option<State>> {
        let bytes = self.bytes()?;
        let backlog = self.place.parse(&bytes)?;
        Ok(backlog.find(id).map(|at| backlog.items()[at].state))
    }

    /// What a parked item is in the file. One without a word for a blocked item has it open, and the ledger alone knows.
    pub(crate) fn state_of_parked(&self, id: &str) -> State {
        let can_say = |bytes: Vec<u8>| {
            let backlog = self.place.parse(&bytes).ok()?;
            Some(backlog.can_say(backlog.find(id)?, State::Blocked))
        };
        if self.bytes().ok().and_then(can_say) == Some(true) { State::Blocked } else { State::Open }
    }

    pub(crate) fn change(&self, change: &Change) -> Result<()> {
        self.change_all(std::slice::from_ref(change))
    }

    /// Changes that belong together. One that the format has no place for is none.
    pub(crate) fn change_all(&self, changes: &[Change]) -> Result<()> {
        self.kept.change(&self.place, changes)
    }

    /// Whether a change that failed so may succeed another time: bd failed, and has not said no.
    pub(crate) fn may_do_it_later(&self, error: &Error) -> bool {
        !self.is_file() && error.exit == Exit::Data
    }

    /// Whether the same could be done, without doing it.
    pub(crate) fn would_change(&self, changes: &[Change]) -> Result<()> {
        self.kept.would_change(&self.place, changes)
    }

    /// Whether an attempt of this name is recorded already.
    pub(crate) fn has_attempt(&self, id: &str, run_id: &str) -> bool {
        self.kept.has_attempt(&self.place, id, run_id)
    }

    /// A digest of what an item is judged by, its requirements included.
    fn criteria(&self, backlog: &Backlog<'_>, at: usize) -> String {
        let prd = self.place.requirements_text(backlog, at);
        digest::of(backlog.judged_by(at, prd.as_deref()).as_bytes())
    }

    /// The same of an item that was handed out: an older ralph made another digest of the same criteria, and another title
    /// is named as such.
    pub(super) fn criteria_now(&self, backlog: &Backlog<'_>, at: usize, item: &Work) -> String {
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
        backlog.items()[at].enabled && self.is_meant(backlog, at)
    }

    /// Whether it is of the part that was asked for, for the loop or not.
    fn is_meant(&self, backlog: &Backlog<'_>, at: usize) -> bool {
        let item = &backlog.items()[at];
        let phase = super::place::phase_of(backlog, at);
        self.plan.task.as_deref().is_none_or(|task| item.id == task)
            && self.plan.phase.as_deref().is_none_or(|wanted| phase == Some(wanted))
    }
}

/// An error as the reason of a stop.
pub(crate) fn in_a_line(error: &Error) -> String {
    error.why.iter().fold(error.what.clone(), |what, why| format!("{what}: {why}"))
}
