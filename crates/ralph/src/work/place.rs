//! Which task file is meant, and reading it.

use std::path::{Path, PathBuf};

use ralph_core::backlog::{Backlog, Problem, Refusal, Requirements, Shape, Syntax, Unreadable};

use ralph_core::text;

use super::hands::TwoHands;
use super::known::{find, named, none_here};
use super::stuck::TO_GIVE_STEPS;
use super::{beads, large};
use crate::error::{Error, Exit, Result};
use crate::store::{self, Way};
use crate::suggest::{self, quoted};

/// The task file of a harness.
const FEATURES: &str = "feature_list.json";

/// A task file that is there.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) syntax: Syntax,
    pub(super) root: PathBuf,
    /// How it was reached before an agent worked, and where to put what stands there instead.
    pub(super) way: Option<(Way, PathBuf)>,
}

impl Place {
    /// The one that is named, else that of a harness, else the project's.
    pub(crate) fn of(backlog: Option<&Path>, harness_dir: Option<&Path>) -> Result<Self> {
        let root = root()?;
        let path = match (backlog, harness_dir) {
            (Some(file), _) => named(&root, file),
            (None, Some(dir)) => dir.join(FEATURES),
            (None, None) => find(&root)?.ok_or_else(|| none_here(&root))?,
        };
        Self::at(&root, path)
    }

    /// This file of the project at `root`.
    pub(crate) fn at(root: &Path, path: PathBuf) -> Result<Self> {
        if beads::is_meant(&path) {
            beads::is_at_the_top(root, &path)?;
            return Ok(Self { path, syntax: Syntax::Beads, root: root.to_path_buf(), way: None });
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let syntax = Syntax::of_name(&name).ok_or_else(|| {
            Error::usage(format!("{} is no task file that ralph knows", path.display()))
                .because("its name ends with none of .yml, .yaml, .json and .md")
                .hint("for the issues that bd keeps: --backlog beads")
        })?;
        Ok(Self { path, syntax, root: root.to_path_buf(), way: None })
    }

    pub(crate) fn is_beads(&self) -> bool {
        self.syntax == Syntax::Beads
    }

    /// The top of the project that it is in.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// As people name it.
    pub(crate) fn shown(&self) -> String {
        if self.is_beads() { beads::NAME.into() } else { self.path.display().to_string() }
    }

    /// The same, short where it is below the current folder.
    pub(crate) fn shortly(&self) -> String {
        if self.is_beads() {
            return self.shown();
        }
        let here = std::env::current_dir().ok();
        let short = here.as_ref().and_then(|here| self.path.strip_prefix(here).ok()).unwrap_or(&self.path);
        short.to_string_lossy().into_owned()
    }

    /// What a command must be given so that it takes this one, with a space before it; nothing where it is taken anyway.
    pub(crate) fn flag(&self) -> String {
        if self.is_beads() {
            return match find(&self.root) {
                Ok(Some(known)) if beads::is_meant(&known) => String::new(),
                _ => format!(" --backlog {}", beads::NAME),
            };
        }
        let full = |path: &Path| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
            path.canonicalize().unwrap_or(path)
        };
        if matches!(find(&self.root), Ok(Some(known)) if full(&known) == full(&self.path)) {
            return String::new();
        }
        format!(" --backlog {}", quoted(&self.shortly()))
    }

    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        if self.is_beads() {
            return beads::read(&self.root);
        }
        self.is_in_place()?;
        large::read(&self.path)
            .map_err(|error| Error::data(format!("cannot read {}", self.path.display())).because(error))
    }

    /// What an agent put in the place of the file, or of a folder above it, in words.
    pub(crate) fn replaced_by(&self) -> Option<String> {
        self.way.as_ref()?.0.differs()
    }

    /// Nothing is read or written through a link that an agent made.
    fn is_in_place(&self) -> Result<()> {
        let Some(what) = self.replaced_by() else { return Ok(()) };
        Err(Error::data(format!("{} is not where it was", self.path.display()))
            .because(what)
            .hint("put the file back in its place; ralph has not followed what stands there"))
    }

    /// Changes the file, whole or not at all.
    pub(super) fn edit<T>(&self, change: impl FnMut(&[u8]) -> Result<(Option<Vec<u8>>, T)>) -> Result<T> {
        self.is_in_place()?;
        store::edit(&self.path, change)
    }

    /// Has the file say this again, in its own place.
    pub(super) fn put_back(&self, text: &[u8]) -> Result<()> {
        match &self.way {
            Some((way, aside)) => way.put_back(text, aside),
            None => store::put_back(&self.path, text),
        }
    }

    /// What is to be changed must be there.
    pub(crate) fn is_there(&self) -> Result<()> {
        if self.is_beads() {
            return beads::is_there();
        }
        let there = std::fs::metadata(&self.path);
        there
            .map(drop)
            .map_err(|error| Error::data(format!("cannot read {}", self.path.display())).because(error))
    }

    pub(crate) fn parse<'a>(&self, bytes: &'a [u8]) -> Result<Backlog<'a>> {
        Backlog::parse_with(bytes, self.syntax, &TwoHands).map_err(|error| self.unreadable(&error))
    }

    pub(crate) fn unreadable(&self, error: &Unreadable) -> Error {
        let unread = Error::data(format!("{} cannot be read as a backlog", self.shown()));
        if self.is_beads() {
            return unread.because(&error.why);
        }
        unread
            .because(format!("line {}: {}", error.line, error.why))
            .hint("mend the file by hand; ralph has not touched it")
    }

    /// The item that somebody means by its id, the beginning of one, or its title.
    pub(crate) fn meant(&self, backlog: &Backlog<'_>, words: &str) -> Result<usize> {
        backlog.meant(words).map_err(|refusal| self.refused(&refusal, backlog))
    }

    /// The item of this id, or what was probably meant.
    pub(crate) fn item(&self, backlog: &Backlog<'_>, id: &str) -> Result<usize> {
        backlog.find(id).ok_or_else(|| self.refused(&Refusal::UnknownId(id.into()), backlog))
    }

    /// An item with an id that another one has can neither be marked nor proved.
    pub(crate) fn is_alone(&self, backlog: &Backlog<'_>, at: usize) -> Result<()> {
        let id = &*backlog.items()[at].id;
        if !backlog.problems().iter().filter_map(Problem::duplicate).any(|again| again == id) {
            return Ok(());
        }
        let error = self.refused(&Refusal::Ambiguous(id.into()), backlog);
        Err(Error { exit: Exit::Data, ..error })
    }

    /// Where the items of an id are.
    fn lines_of(&self, backlog: &Backlog<'_>, id: &str) -> String {
        let items = backlog.items().iter().enumerate().filter(|(_, item)| item.id == id);
        let mut lines: Vec<usize> = items.map(|(at, _)| backlog.line(at)).collect();
        lines.dedup();
        let lines: Vec<String> = lines.iter().map(|line| format!("{}:{line}", self.path.display())).collect();
        format!("they are in {}", lines.join(" and "))
    }

    /// A phase that nobody is in is a slip, not one that is complete.
    pub(crate) fn has_phase(&self, backlog: &Backlog<'_>, phase: &str) -> Result<()> {
        let phases = backlog.phases();
        if phases.iter().any(|known| known == phase) {
            return Ok(());
        }
        let error = Error::usage(format!("the backlog has no phase '{phase}'"));
        let near = suggest::nearest(phase, phases.iter().map(|known| &**known));
        let error =
            near.into_iter().fold(error, |error, near| error.hint(format!("--phase {}", quoted(near))));
        Err(match phases.is_empty() {
            true => error.because(format!("{} has no phases", self.shown())),
            false => error.because(format!("phases: {}", phases.join(", "))),
        })
    }

    /// An item of another phase would never be selected.
    pub(crate) fn is_in_phase(&self, backlog: &Backlog<'_>, id: &str, phase: &str) -> Result<()> {
        let own = phase_of(backlog, self.item(backlog, id)?);
        if own == Some(phase) {
            return Ok(());
        }
        let own = own.map_or_else(|| "in no phase".into(), |own| format!("in phase {own}"));
        Err(Error::usage(format!("{id} is not in phase '{phase}'"))
            .because(format!("it is {own}"))
            .hint(format!("--task {} without --phase", quoted(id))))
    }

    /// A refusal as an error, with what to do about it.
    pub(crate) fn refused(&self, refusal: &Refusal, backlog: &Backlog<'_>) -> Error {
        let error = Error::no(refusal.to_string());
        let which = || self.flag();
        match refusal {
            Refusal::Unreadable(error) => self.unreadable(error),
            Refusal::UnknownId(id) => {
                let near = suggest::nearest(id, backlog.items().iter().map(|item| &*item.id));
                let hint = near.map_or_else(|| format!("ralph backlog list{}", which()), |near| suggest::instead(&quoted(near), &quoted(id)));
                error.because(format!("{} has no such id", self.shown())).hint(hint)
            }
            Refusal::Ambiguous(id) => {
                error.because(self.lines_of(backlog, id)).hint("give one of them another id")
            }
            Refusal::Several { ids, .. } => {
                let named = ids.iter().take(10).map(|id| {
                    let title = backlog.find(id).map(|at| text::one_line(&backlog.items()[at].title, 60));
                    format!("{id} ({})", title.unwrap_or_default())
                });
                let more = if ids.len() > 10 { format!(" and {} more", ids.len() - 10) } else { String::new() };
                let named = named.collect::<Vec<_>>().join(", ");
                error.because(format!("they are {named}{more}")).hint("write the whole id of one of them")
            }
            Refusal::Duplicate(id) => error.hint(format!("ralph backlog show {}{}; or --id with another id", quoted(id), which())),
            Refusal::IllegalMove { id, .. } => {
                error.hint(format!("open it first: ralph backlog set {} open{}", quoted(id), which()))
            }
            Refusal::NotOpen { id, .. } => {
                error.hint(format!("to work on it again: ralph backlog set {} open{}", quoted(id), which()))
            }
            Refusal::NoEvidence { id, .. } => error.hint(format!(
                "ralph backlog attempt {id} PASSED --commands CMD,… --summary TEXT{which}; ralph backlog validate {id}{which}",
                id = quoted(id),
                which = which()
            )),
            Refusal::PassedWithout(_) => {
                error.because("a claim without the commands that were run, and what came of them, proves nothing")
            }
            Refusal::MissingDependency { .. } => error.hint("add that item first"),
            Refusal::ReasonNeeded(_) => error.hint("--override-reason TEXT"),
            Refusal::BadPriority(_) if backlog.shape() == Shape::Tasks => {
                error.hint("critical, high, medium or low")
            }
            Refusal::BadPriority(_) => error.hint("a number, or critical, high, medium, low"),
            Refusal::NoHeading(_) => error
                .because(format!("in {} a heading above an item gives its priority", self.path.display()))
                .hint("write one into it, such as: ## High"),
            Refusal::NoPlace { what: "attempts" | "iterations", .. } if self.is_beads() => error
                .because("bd keeps none; ralph's own ledger has every attempt of a run")
                .hint("ralph evidence show ID, which shows them; bd comment ID TEXT, which leaves a word"),
            Refusal::NoPlace { .. } if self.is_beads() => error.hint("bd create --help, which names what it has"),
            Refusal::NoState { .. } if self.is_beads() => {
                error.because("it has open, in_progress, blocked and closed").hint("bd close ID --reason TEXT")
            }
            Refusal::NoPlace { what: "attempts", .. } => error
                .because(format!("that is how {} is written", self.path.display()))
                .hint("ralph keeps those of its runs itself: ralph evidence show"),
            Refusal::NoPlace { what: "verification commands", .. } if backlog.shape() == Shape::Checklist => error
                .because(format!("in {} commands are for every item", self.path.display()))
                .hint("write it below a heading '## Validation Commands', as: - `CMD`"),
            Refusal::NoPlace { .. } | Refusal::NoState { .. } => {
                error.because(format!("that is how {} is written", self.path.display()))
            }
            Refusal::NotLossless(_) => error.hint("make this change by hand"),
            Refusal::NoBox(_) => error.hint(TO_GIVE_STEPS),
            Refusal::NoId => error.hint("leave --id out, and it is made of the title"),
            Refusal::Cycle(_) | Refusal::NoTitle => error,
        }
    }

    /// The requirements that an item refers to; none if it refers to nothing, or where they cannot be read.
    pub(crate) fn requirements(
        &self,
        backlog: &Backlog<'_>,
        at: usize,
    ) -> Option<std::result::Result<Requirements, String>> {
        if !backlog.has_prd(at) {
            return None;
        }
        let Some(file) = backlog.prd_file(at) else {
            return Some(Err("prd_reference names no file in the folder of PRDs".into()));
        };
        let Some(path) = self.prd_path(&file) else {
            return Some(Err(format!("its PRD {file} is not there")));
        };
        let read = std::fs::read(&path).map_err(|error| format!("its PRD {file} cannot be read: {error}"));
        Some(read.and_then(|bytes| {
            Requirements::parse(&bytes).map_err(|error| format!("its PRD {file} cannot be read: {error}"))
        }))
    }

    /// The same as they are written.
    pub(crate) fn requirements_text(&self, backlog: &Backlog<'_>, at: usize) -> Option<String> {
        let bytes = std::fs::read(self.prd_path(&backlog.prd_file(at)?)?).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn prd_path(&self, file: &str) -> Option<PathBuf> {
        self.prd_files(file).find(|path| path.is_file())
    }

    /// Where requirements of this name may be, each without a way back in it.
    pub(crate) fn prd_files(&self, file: &str) -> impl Iterator<Item = PathBuf> {
        self.prd_places().into_iter().map(move |dir| dir.join(file))
    }

    /// Where the schema of requirements belongs: with them, beside the harness.
    pub(crate) fn prd_schema(&self) -> Option<PathBuf> {
        let dir = match self.path.parent() {
            Some(dir) if dir != self.root => dir.parent()?.join("prd"),
            _ => self.root.join(".claude/prd"),
        };
        dir.starts_with(&self.root).then(|| dir.join("schema.json"))
    }

    /// Beside the harness, as the seed has it; in the project where the list itself is at its top.
    fn prd_places(&self) -> Vec<PathBuf> {
        let dir = self.path.parent().unwrap_or(Path::new("")).to_path_buf();
        let full = std::path::absolute(&dir).unwrap_or_else(|_| dir.clone());
        let mut places = vec![dir.join("prd"), self.root.join(".claude/prd")];
        if let Some(above) = full.parent().filter(|_| full != self.root) {
            places.insert(0, above.join("prd"));
        }
        places
    }
}

/// What names none is of the first.
pub(super) fn phase_of<'b>(backlog: &'b Backlog<'_>, at: usize) -> Option<&'b str> {
    let own = backlog.items().get(at)?.phase.as_deref();
    own.or_else(|| backlog.phases().first().map(|phase| &**phase))
}

/// The top of the project, without asking git: looking at a backlog needs no repository.
pub(crate) fn root() -> Result<PathBuf> {
    let cwd = std::env::current_dir()
        .map_err(|error| Error::new("the current folder cannot be found").because(error))?;
    let above = cwd.ancestors().find(|dir| dir.join(".git").exists()).map(Path::to_path_buf);
    Ok(above.unwrap_or(cwd))
}
