//! Effects on the backlog: what it hands out, marking an item, settling an attempt.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use ralph_core::decision::Phase;
use ralph_core::event::{Event, Measured, TaskFile, When};
use ralph_core::evidence::Items;
use ralph_core::git_text::{Change, ChangeKind};
use ralph_core::items::{BacklogRead, Found, ItemAfter, Settlement, Work};
use ralph_core::state::Iteration;
use ralph_core::text;

use super::Runner;
use super::effects::Custody;
use crate::bounded;
use crate::digest;
use crate::error::{self, Error, Exit, Result};
use crate::git::Kept;
use crate::process::Spec;
use crate::store::{self, IterationFiles, Ledger, Op, Requests, Way};
use crate::suggest;
use crate::tree::TreeId;
use crate::trust;
use crate::unix::names::OsStrExt;
use crate::work::{self, OwnBacklog, Settler, Source, Steered, Whole, beads, is_below};

/// An agent can write where these are kept.
const MOST_OF_A_COPY: u64 = 1 << 30;
const MOST_OF_A_WAY: u64 = 1 << 20;

/// The copy of the task file as it was kept, unless somebody wrote over it.
fn kept_copy(iteration: &Iteration, files: &IterationFiles) -> Option<Vec<u8>> {
    let bytes = bounded::read(&files.backlog(), MOST_OF_A_COPY).ok()?;
    let noted = iteration.noted.backlog.as_ref();
    noted.is_none_or(|noted| digest::of(&bytes) == *noted).then_some(bytes)
}

/// The task files that a run without a goal could take, with how many of their items are open.
fn task_files(root: &Path) -> Vec<TaskFile> {
    let counted = |file: work::OpenFile| {
        let open = file.plan.open.len() as u64;
        TaskFile { file: file.name, items: Items { open, total: open + file.plan.done } }
    };
    work::open_files(root).into_iter().map(counted).filter(|file| file.items.total > 0).collect()
}

impl Runner<'_> {
    /// The task file of the run, if it has one.
    pub(super) fn source(&self) -> Option<Result<Source>> {
        let source = Source::of(&self.project.root, &self.state.run.as_ref()?.plan)?;
        let (truth, mark) = (self.project.truth.clone(), self.mark);
        let tried = Rc::clone(&self.tried);
        Some(
            source.map(|source| {
                source.knowing(tried).in_custody(move |spec| Custody::at(&truth, mark).over(spec))
            }),
        )
    }

    /// What a ralph that was killed left beside the task file is neither the user's nor an agent's.
    pub(super) fn clear_beside_the_backlog(&self, first: &Event) {
        let plan = match first {
            Event::RunStarted(started) => &started.run.plan,
            Event::RunResumed(resumed) => &resumed.plan,
            _ => return,
        };
        plan.backlog
            .iter()
            .for_each(|backlog| store::clear_leftovers(&self.project.root.join(&backlog.file)));
    }

    /// What is written to the task file after a commit waits for the next one. After the last one it is the user's to
    /// commit, as a tracked file is that ralph never commits.
    pub(super) fn say_what_is_not_committed(&mut self) {
        let (Some(repo), Some(Ok(source))) = (&self.project.repo, self.source()) else { return };
        let Some(path) = source.below(&self.project.root) else { return };
        let ours = work::is_own(&path) || !source.is_file() || self.own_backlog(&source).left(&source);
        let settled = self.state.last.as_ref().and_then(|last| last.settled.as_ref());
        let committed = self.state.committed > 0 || settled.is_some_and(|settled| settled.commit.is_some());
        if committed && ours && repo.differs_from_head(OsStr::from_bytes(&path)).unwrap_or(false) {
            let name = text::one_line(&String::from_utf8_lossy(&path), 400);
            let typed = suggest::quoted(&name);
            self.ui.step(&format!(
                "{name} has ralph's last records, which are not committed: {RECORD} -- {typed}"
            ));
        }
    }

    /// What has had its iterations by the file's own count waits for a person from here on.
    fn block_at_limit(&mut self) {
        let Some(Ok(source)) = self.source() else { return };
        match source.block_at_limit() {
            Ok(ids) if ids.is_empty() => {}
            Ok(ids) => {
                self.own_backlog(&source).keep(&source);
                self.ui.warn(&format!(
                    "blocked, for its iterations are used up and a person has to look: {}",
                    ids.join(", ")
                ));
            }
            // What cannot be read, or written, is not selected from either.
            Err(_) => {}
        }
    }

    pub(super) fn read_backlog(&mut self) -> Result<()> {
        self.take_steers()?;
        self.block_at_limit();
        let read = match self.source() {
            Some(Ok(source)) => {
                let file = source.below(&self.project.root);
                let run = self.state.run.as_ref().map_or("", |run| &run.id);
                let tried = self.tally.of(&Ledger::of(&self.project.truth), file.as_deref()).before(run);
                self.tried = Rc::new(tried);
                let source = source.knowing(Rc::clone(&self.tried));
                self.with_recipes(self.agreed_to(source.read(&self.state.rules.items)))
            }
            Some(Err(error)) => unreadable(&error),
            None => unreadable(&Error::new("this run has no backlog")),
        };
        self.send(Event::BacklogRead(Box::new(read)));
        Ok(())
    }

    /// What people said about items while an agent worked. The file is theirs and ours alone between two agents.
    fn take_steers(&mut self) -> Result<()> {
        let requests = Requests::of(&self.project.truth);
        for (id, steer) in requests.steers() {
            let ledger = self.past.ledger();
            let done = work::steer(self.project, &steer, &mut |record| ledger.append(record).map(drop));
            match done {
                Ok(()) => {
                    let what = match steer.op {
                        Op::Answer => "answered; it is tried again",
                        Op::Skip => "skipped, as you asked",
                        Op::Reset | Op::Unskip => "taken up again, as you asked",
                    };
                    self.ui.step(&format!("{} is {what}", steer.item));
                }
                Err(error) => {
                    self.ui.warn(&work::in_a_line(&error));
                    // What the disk or bd refused for now is tried again before the next item.
                    if error.exit != Exit::Usage {
                        continue;
                    }
                }
            }
            requests.steer_is_taken(&id)?;
        }
        Ok(())
    }

    /// Whoever said yes knew the commands of then: an item that an agent added or gave others waits for a person.
    fn agreed_to(&self, read: BacklogRead) -> BacklogRead {
        let Found::Selected(work) = &read.found else { return read };
        let unknown = work.checks.iter().find(|check| !self.agreed.contains(&check.command));
        let Some(check) = unknown.filter(|_| work.needs.acceptance) else { return read };
        let why = format!(
            "{} brings a command that nobody has agreed to run: {}; read it, then: ralph run --yes",
            work.id,
            trust::shown(&check.command)
        );
        BacklogRead { found: Found::Stuck { why, next: Some("ralph run --yes".into()) }, ..read }
    }

    pub(super) fn mark_item(&mut self, id: &str) -> Result<()> {
        let marked = match self.source() {
            // What a disk refuses for a moment is asked for once more.
            Some(source) => {
                source.and_then(|source| self.mark(&source, id).or_else(|_| self.mark(&source, id)))
            }
            None => Ok(()),
        };
        self.send(Event::ItemMarked { problem: marked.err().map(|error| work::in_a_line(&error)) });
        Ok(())
    }

    fn mark(&mut self, source: &Source, id: &str) -> Result<()> {
        self.steered = (!source.is_file()).then(|| Steered::at(&self.project.root));
        self.issues_changed = (!source.is_file()).then(|| beads::Changes::until_now(&self.project.root));
        self.keep_backlog(source)?;
        source.mark(id)?;
        self.own_backlog(source).keep(source);
        Ok(())
    }

    /// The items as they are and the way to them, here and for a ralph that comes after this one.
    fn keep_backlog(&mut self, source: &Source) -> Result<()> {
        let files = self.files();
        files.make()?;
        let path = files.backlog();
        let bytes = source.bytes()?;
        store::write_private(&path, &bytes).map_err(error::io("cannot write", &path))?;
        self.backlog = Some(bytes);
        self.way = source.way()?;
        if let Some(links) = self.way.as_ref().and_then(Way::to_bytes) {
            let path = files.backlog_way();
            store::write_private(&path, &links).map_err(error::io("cannot write", &path))?;
        }
        Ok(())
    }

    /// The same before an agent that has no item: the whole is to be reviewed or mended.
    pub(super) fn keep_whole_backlog(&mut self) {
        let has_item = self.state.current.as_ref().is_some_and(|current| current.item.is_some());
        let Some(Ok(source)) = self.source().filter(|_| !has_item) else { return };
        (self.backlog, self.way) = (None, None);
        // What cannot be read now is told where it is read next.
        let _ = if source.is_file() { self.keep_backlog(&source) } else { Ok(()) };
    }

    /// Where bd keeps the items, the agent is for bd who ralph is: what it claims there is the run's.
    pub(super) fn as_its_actor(&self, spec: Spec) -> Spec {
        if !self.source().is_some_and(|source| source.is_ok_and(|source| !source.is_file())) {
            return spec;
        }
        let actor = beads::actor(&self.project.root);
        beads::ACTOR.iter().fold(spec, |spec, name| spec.env(name, &actor))
    }

    /// Which contents of the task file are the run's own doing.
    pub(super) fn own_backlog<'a>(&'a self, source: &Source) -> OwnBacklog<'a> {
        OwnBacklog::new(self.project, &self.tree, self.state.base.as_ref(), source)
    }

    /// The changes without those of the task file, which are not progress.
    pub(super) fn but_the_backlog(&self, mut changes: Vec<Change>) -> Vec<Change> {
        let is_noted = self.is_noted();
        changes.retain(|change| !is_noted(&change.path));
        changes
    }

    /// Whether what is done to a path is notes.
    pub(super) fn is_noted(&self) -> impl Fn(&[u8]) -> bool + use<> {
        is_noted(self.source().and_then(Result::ok).as_ref(), &self.project.root)
    }

    /// The task file of the run and the folder of its harness, from the top: ralph itself writes there.
    pub(super) fn own_notes(&self) -> Vec<Vec<u8>> {
        let Some(Ok(source)) = self.source() else { return vec![] };
        let dirs = source.harness().into_iter().chain(source.apart().map(str::to_owned));
        let dirs = dirs.map(|dir| dir.trim_end_matches('/').as_bytes().to_vec());
        source.below(&self.project.root).into_iter().chain(dirs).collect()
    }

    /// What became of the backlog, and of the item that was worked on.
    pub(super) fn measure_backlog(&mut self, measured: &mut Measured, changes: &[Change]) {
        if self.policy().goal_backlog
            && measured.when == When::After
            && self.state.run.as_ref().is_some_and(|run| run.plan.backlog.is_none())
        {
            measured.task_files = task_files(&self.project.root);
        }
        let Some(Ok(source)) = self.source() else { return };
        if measured.when != When::After && !source.is_file() {
            // Nobody asks how many are open before an agent has worked, and bd takes its time to say so.
            return;
        }
        // Before bd is called again.
        let led = if measured.when == When::After { self.put_steered_back() } else { vec![] };
        let item = self.state.current.as_ref().and_then(|current| current.item.clone());
        let item = item.filter(|_| measured.when == When::After);
        let source = match (measured.when, &self.state.current) {
            (When::After, Some(current)) => self.reached(source, current, &self.files()),
            _ => source,
        };
        if item.is_none() {
            self.put_whole_back(&source, measured);
        }
        let first = self.state.current.as_ref().and_then(|current| current.after.as_ref()?.item.clone());
        measured.item = item.map(|item| {
            let current = self.state.current.as_ref();
            let kept = || current.and_then(|current| self.copy_of_the_backlog(current, &self.files()));
            let before = self.backlog.clone().or_else(kept);
            let noted = current.filter(|current| self.backlog.is_none() && current.noted.backlog.is_some());
            let written_over = noted.filter(|current| kept_copy(current, &self.files()).is_none());
            let written_over = written_over.map(|_| COPY.to_owned());
            let required = before.as_deref().map(|before| source.requirements(before)).unwrap_or_default();
            let judges = changes.iter().filter(|change| self.judges(&source, &required, change));
            let judges: Vec<Vec<u8>> = judges.map(|change| change.path.clone()).collect();
            let names = || judges.iter().map(|path| String::from_utf8_lossy(path).into_owned());
            let mut after = source.after(&item, before.as_deref());
            after.ticked_others.extend(self.closed_of_others(&source, before.as_deref()));
            let InCommits { committed, ticked_in_commits } =
                self.judged_in_commits(&source, &required, before.as_deref(), &item, measured);
            let put_back = before.is_some_and(|before| self.put_back(&source, &before, Some(&item.id)));
            let tampered = after.tampered.iter().cloned().chain(names()).chain(led.clone());
            let tampered = tampered.chain(written_over).collect();
            let mut restored: Vec<String> = if self.restore(&judges) { names().collect() } else { vec![] };
            restored.extend(led);
            let after = ItemAfter { tampered, put_back, restored, committed, ticked_in_commits, ..after };
            first.iter().fold(after, ItemAfter::seen_before)
        });
        measured.items = source.items();
        self.backlog_after = source.bytes().ok().map(|bytes| digest::of(&bytes));
    }

    /// As it was reached before the agent of this iteration. What an agent can write is not believed about links: where the record has
    /// another digest, there was none.
    fn reached(&self, source: Source, iteration: &Iteration, files: &IterationFiles) -> Source {
        let another = || {
            let kept = bounded::read(&files.backlog_way(), MOST_OF_A_WAY).ok();
            let kept = kept.as_deref();
            match &iteration.noted.way {
                Some(noted) => {
                    let as_noted = digest::of(kept.unwrap_or_default()) == *noted;
                    Some(source.way_then(kept.filter(|_| as_noted)))
                }
                None => files.backlog().exists().then(|| source.way_then(kept)),
            }
        };
        let way = self.way.clone().or_else(another);
        source.reached_by(way, files.folder().join(TOUCHED))
    }

    /// What an agent without an item put in the place of the task file goes again; that is told.
    fn put_whole_back(&mut self, source: &Source, measured: &mut Measured) {
        let Some(what) = source.replaced_by() else { return };
        let current = self.state.current.as_ref();
        let kept = || current.and_then(|current| self.copy_of_the_backlog(current, &self.files()));
        let Some(before) = self.backlog.clone().or_else(kept) else { return };
        let became = match self.put_back(source, &before, None) {
            true => "the task file is put back in its place",
            false => "nothing is read from there",
        };
        measured.flags.push(format!("the agent changed {what}: {became}"));
    }

    /// The task file before its item was marked, as another ralph kept it, or else as the snapshot has it: not where the record has
    /// another digest of it.
    fn copy_of_the_backlog(&self, iteration: &Iteration, files: &IterationFiles) -> Option<Vec<u8>> {
        let noted = iteration.noted.backlog.as_ref();
        let in_the_snapshot = || {
            let bytes = self.backlog_in_the_snapshot(iteration)?;
            noted.is_some_and(|noted| digest::of(&bytes) == *noted).then_some(bytes)
        };
        kept_copy(iteration, files).or_else(in_the_snapshot)
    }

    fn backlog_in_the_snapshot(&self, iteration: &Iteration) -> Option<Vec<u8>> {
        let source = self.source()?.ok().filter(Source::is_file)?;
        let tree = &iteration.before.as_ref()?.tree;
        let path = String::from_utf8(source.below(&self.project.root)?).ok()?;
        self.tree.call("cat-file").args(["blob", &format!("{tree}:{path}")]).output().ok()
    }

    /// Hooks and settings of bd, which agents leave alone. Where they cannot be put back bd is not called any more.
    fn put_steered_back(&mut self) -> Vec<String> {
        let Some(steered) = &self.steered else { return vec![] };
        steered.put_back(&self.project.root).unwrap_or_else(|error| {
            self.ui.warn(&work::in_a_line(&error));
            vec![]
        })
    }

    /// Issues that others had in hand, and that the agent closed: where bd wrote down that it was done in the run's name.
    fn closed_of_others(&self, source: &Source, before: Option<&[u8]>) -> Vec<String> {
        let (Some(changes), Some(before)) = (&self.issues_changed, before) else { return vec![] };
        let closed = source.closed_for_others(before);
        if closed.is_empty() {
            return closed;
        }
        let by_us = changes.closed_since(&self.project.root);
        closed.into_iter().filter(|id| by_us.contains(id)).collect()
    }

    /// Whether items are judged by this file: it holds requirements, or was in the harness before.
    fn judges(&self, source: &Source, required: &HashSet<PathBuf>, change: &Change) -> bool {
        let dir = source.harness();
        let harness = is_harness(&change.path) || is_below(&change.path, dir.as_deref());
        let required = required.contains(&self.project.root.join(OsStr::from_bytes(&change.path)));
        let own = source.below(&self.project.root);
        change.kind != ChangeKind::Added && (harness || required) && Some(&change.path) != own.as_ref()
    }

    /// What the agent's commits hold of that by which items are judged, otherwise than it was. It is put back in the files
    /// in any case, and nobody would see it in HEAD.
    fn judged_in_commits(
        &self,
        source: &Source,
        required: &HashSet<PathBuf>,
        before: Option<&[u8]>,
        item: &Work,
        measured: &mut Measured,
    ) -> InCommits {
        let mark = self.state.current.as_ref().and_then(|current| current.before.as_ref());
        let (Some(repo), Some(mark)) = (&self.project.repo, mark) else { return InCommits::default() };
        if mark.head.as_deref() == measured.left_head() {
            return InCommits::default();
        }
        let (changes, paths) = match work::by_commits(repo, &self.tree, mark, measured.left_head()) {
            Ok(by_commits) => by_commits,
            Err(error) => {
                measured.notes.push(format!("nobody could look what was committed: {error}"));
                return InCommits::default();
            }
        };
        let others = changes.into_iter().filter(|change| self.judges(source, required, change));
        let own = source.below(&self.project.root).filter(|own| source.is_file() && paths.contains(own));
        let mut ticked_in_commits = vec![];
        let own = own.filter(|own| {
            let at = |commit: Option<&str>| repo.file_at(commit?, own);
            let (now, then) = (at(measured.left_head()), at(mark.head.as_deref()));
            // As it was committed before, or as it was in the files: both are how the user had it.
            let before: Vec<&[u8]> = [before, then.as_deref()].into_iter().flatten().collect();
            ticked_in_commits = source.ticked_since(now.as_deref(), &before, item);
            before.iter().all(|old| source.is_harmed(now.as_deref(), old))
        });
        let own = own.into_iter();
        let paths = own.chain(others.map(|change| change.path));
        let committed = paths.map(|path| String::from_utf8_lossy(&path).into_owned()).collect();
        InCommits { committed, ticked_in_commits }
    }

    /// Puts files back as they were before the agent.
    fn restore(&mut self, paths: &[Vec<u8>]) -> bool {
        let before = self.state.current.as_ref().and_then(|current| current.before.as_ref());
        let Some(to) = before.and_then(|mark| TreeId::new(&mark.tree)).filter(|_| !paths.is_empty()) else {
            return false;
        };
        let keep = |path: &[u8]| !paths.iter().any(|judged| judged == path);
        let done = self.tree.way_back_but(&to, &keep).and_then(|way| self.tree.put_back(&way));
        if let Err(error) = &done {
            self.ui.warn(&format!("what items are judged by could not be put back: {error}"));
        }
        done.is_ok()
    }

    /// Puts the task file back if more was done to it than agents may do; what it was is kept with the iteration, for
    /// nobody can tell an agent's write from a user's.
    fn put_back(&mut self, source: &Source, before: &[u8], marked: Option<&str>) -> bool {
        let now = source.bytes();
        let done = source.put_back(before).and_then(|put_back| match marked.filter(|_| put_back) {
            Some(id) => source.mark(id).map(|()| put_back),
            None => Ok(put_back),
        });
        let kept = self.files().folder().join(TOUCHED);
        if let (Ok(true), Err(_), true) = (&done, &now, kept.exists()) {
            let file = kept.strip_prefix(&self.project.root).unwrap_or(&kept).display();
            self.ui.remark(&format!("what stood in the place of the task file is kept: {file}"));
        }
        if let (Ok(true), Ok(now)) = (&done, now)
            && self.files().make().is_ok()
            && store::write_private(&kept, &now).is_ok()
        {
            let file = kept.strip_prefix(&self.project.root).unwrap_or(&kept).display();
            self.ui.remark(&format!("what the task file had been made into is kept: {file}"));
        }
        done.unwrap_or_else(|error| {
            self.ui.warn(&format!("the backlog could not be put back: {}", work::in_a_line(&error)));
            false
        })
    }

    pub(super) fn settle(&mut self, settlement: &Settlement) -> Result<()> {
        let files = self.run.files(settlement.iteration);
        let source = self.source().transpose()?.map(|source| match (&settlement.item, &self.state.last) {
            (Some(_), Some(last)) => self.reached(source, last, &files),
            _ => source,
        });
        self.way = None;
        let led = self.put_steered_back();
        // Once: a ralph that comes after us finds what this one wrote, and what people did since.
        let before = self.backlog.take().filter(|_| settlement.item.is_some());
        let kept = before.clone();
        let now = source.as_ref().and_then(|source| source.bytes().ok()).map(|bytes| digest::of(&bytes));
        let known = now.is_some() && now == self.backlog_after;
        let since = match (&source, before) {
            (Some(source), Some(before)) => self.put_back(source, &before, None),
            _ => false,
        };
        let run = self.state.run.as_ref().map(|run| run.id.clone()).unwrap_or_default();
        let Some(iteration) = self.state.last.clone() else {
            return Err(Error::data("the record settles an iteration that it does not have"));
        };
        let files = self.run.files(settlement.iteration);
        let stands = self.stands_of(&iteration, &files);
        let backlog = kept.or_else(|| self.copy_of_the_backlog(&iteration, &files));
        let custody = Custody::at(&self.project.truth, self.mark);
        let limit = self.state.run.as_ref().map_or(0, |run| run.plan.policy.check_timeout_ms);
        let then = match &self.state.phase {
            Phase::Settling { then, .. } if settlement.item.is_none() => then.as_deref(),
            _ => None,
        };
        let whole = then.map(|stop| Whole::of(&self.state, stop));
        let mut settler = Settler {
            whole,
            project: self.project,
            tree: &mut self.tree,
            source: source.as_ref(),
            run: &run,
            files,
            base: self.state.base.as_ref(),
            stands,
            backlog,
            secrets: &self.secrets,
            ledger: self.past.ledger(),
            kept: Kept {
                custody: &|spec| custody.over(spec),
                limit: Duration::from_millis(limit),
                running: &|hook| self.jobs.hook(hook),
            },
            task_file_is_ours: false,
            task_file_is_known: known || since,
            commits: self.state.run.as_ref().is_some_and(|run| run.plan.commits()),
            remarks: vec![],
            undid: None,
        };
        let mut settled = settler.settle(settlement, &iteration)?;
        settled
            .problems
            .extend(since.then(|| "the backlog was changed while the checks ran, and is put back".into()));
        if !led.is_empty() {
            settled
                .problems
                .push(format!("{} changed while the checks ran, and is put back", led.join(", ")));
        }
        self.send(Event::Settled(Box::new(settled)));
        Ok(())
    }
}

/// What an agent's commits hold and HEAD is not to keep: files that are judged by, and marks of items.
#[derive(Debug, Default)]
struct InCommits {
    committed: Vec<String>,
    ticked_in_commits: Vec<String>,
}

/// How the user commits what ralph left in the task file.
const RECORD: &str = "git commit -m \"record the last attempt\"";
/// What an agent wrote over that the next ralph would have compared the task file with.
const COPY: &str = "ralph's copy of the task file";
/// What the task file was when it was put back.
const TOUCHED: &str = "touched-backlog";

fn unreadable(error: &Error) -> BacklogRead {
    BacklogRead::new(Found::Unreadable { why: work::in_a_line(error) })
}

/// What an item of a harness is judged by. An agent may leave notes of its own there.
fn is_harness(path: &[u8]) -> bool {
    path.starts_with(b".claude/harness/") && !path.ends_with(b".harness.lock")
}

/// Whether a path is the task file's, of its harness, or bd's: what is done there is notes.
pub(super) fn is_noted(source: Option<&Source>, root: &Path) -> impl Fn(&[u8]) -> bool + use<> {
    let own = source.and_then(|source| source.below(root));
    let harness = source.and_then(Source::harness);
    let apart = source.and_then(Source::apart);
    move |path| own.as_deref() == Some(path) || is_below(path, harness.as_deref()) || is_below(path, apart)
}
