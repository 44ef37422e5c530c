//! Which task files a project has, and which of them is meant where none is named.

use std::path::{Path, PathBuf};

use ralph_core::backlog::{Item, NAMES, PLANS};
use ralph_core::items::BacklogPlan;
use ralph_core::state::State;
use ralph_core::text;

use super::{Place, beads};
use crate::config::Layers;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::store::Runs;
use crate::suggest::quoted;

/// A task file of more bytes is not read only to see whether there is anything in it.
const MOST_TO_LOOK: u64 = 64 << 10;
/// How many runs back one about a backlog is looked for.
pub(crate) const FAR_BACK: usize = 100;

/// The one that the settings name, else the one that [`known`] finds, else the one of the last run. Several that nothing
/// decides between are an error that names them.
pub(crate) fn find(root: &Path) -> Result<Option<PathBuf>> {
    if let Some(named) = Layers::read(&root.join(".ralph"))?.merged().backlog {
        let path = root.join(self::named(root, Path::new(&named.value)));
        if path.is_file() || beads::is_meant(&path) {
            return Ok(Some(path));
        }
        return Err(Error::data(format!("{}: the backlog {} is not there", named.origin, named.value))
            .because(format!("it is looked for in {}", root.display()))
            .hint("correct the line, or name one: --backlog FILE"));
    }
    let mut open = known(root);
    match open.len() {
        0 | 1 => Ok(open.pop()),
        _ => match in_use(root, &open) {
            Some(path) => Ok(Some(path)),
            None => Err(undecided(root, &open)),
        },
    }
}

/// The task files that nothing decides between; none where [`find`] has an answer.
pub(crate) fn choices(root: &Path) -> Vec<PathBuf> {
    let is_named = Layers::read(&root.join(".ralph")).is_ok_and(|layers| layers.merged().backlog.is_some());
    let open = if is_named { vec![] } else { known(root) };
    if open.len() > 1 && in_use(root, &open).is_none() { open } else { vec![] }
}

/// The task file of the newest run about one, where it is among these: a file that an agent made since does not take its place.
fn in_use(root: &Path, open: &[PathBuf]) -> Option<PathBuf> {
    let project = Project::look_from(root).ok()?;
    let about = |state: &State| -> Option<BacklogPlan> { state.run.as_ref()?.plan.backlog.clone() };
    let (_, state) = Runs::of(&project.truth).newest_of(FAR_BACK, |state| about(state).is_some())?;
    let path = root.join(about(&state)?.file);
    open.contains(&path).then_some(path)
}

pub(crate) fn undecided(root: &Path, open: &[PathBuf]) -> Error {
    let name = |path: &PathBuf| match items(root, path) {
        Ok(_) => below(root, path),
        Err(why) => format!("{} (cannot be read: {})", below(root, path), text::one_line(&why, 120)),
    };
    let names: Vec<String> = open.iter().map(name).collect();
    let first = open.first().map(|path| quoted(&below(root, path))).unwrap_or_default();
    Error::usage(format!("several task files have open items: {}", names.join(", ")))
        .because("ralph works through one at a time, and neither a flag nor a setting names it")
        .hint(format!("--backlog FILE, such as: --backlog {first}"))
        .hint("ralph config set backlog FILE, which settles it for this project")
}

/// As people name it, from the top of the project.
pub(crate) fn below(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// What somebody calls this, from the top of the project where it is a word for something.
pub(super) fn named(root: &Path, name: &Path) -> PathBuf {
    if name == Path::new(beads::NAME) { root.join(beads::FILE) } else { name.to_path_buf() }
}

/// Issues are worked on only by whoever says so; how to say it, where there are some.
pub(crate) fn unnamed_beads(root: &Path) -> Option<String> {
    let there = root.join(beads::FOLDER).is_dir();
    there.then(|| {
        "for the issues in .beads, which are taken only where they are named: ralph run --backlog beads"
            .into()
    })
}

/// Every task file that is looked for and there, in the order of [`NAMES`]. A plan without any box is only a document.
pub(crate) fn candidates(root: &Path) -> Vec<PathBuf> {
    let names = NAMES.into_iter().map(|name| root.join(name)).filter(|path| path.is_file());
    let mut plans: Vec<PathBuf> = std::fs::read_dir(root.join(PLANS))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "md") && path.is_file())
        .filter(|path| !is_empty(root, path))
        .collect();
    plans.sort();
    names.chain(plans).collect()
}

/// Those that a run could mean: the one that is there; of several the one with items, such as init does not write; of
/// several of these, those with open ones.
pub(crate) fn known(root: &Path) -> Vec<PathBuf> {
    let there = candidates(root);
    let narrowed = narrow(there, |path| !is_empty(root, path));
    narrow(narrowed, |path| items(root, path).map_or(true, |counted| counted.open > 0))
}

/// Those of several that are so; the first, where none is.
fn narrow(mut paths: Vec<PathBuf>, is_so: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    if paths.len() < 2 {
        return paths;
    }
    let so: Vec<PathBuf> = paths.iter().filter(|path| is_so(path)).cloned().collect();
    if so.is_empty() {
        paths.truncate(1);
        return paths;
    }
    so
}

/// Whether there is a task file that a run without a goal would work through, without reading a large one.
pub(crate) fn is_somewhere(root: &Path) -> bool {
    let Ok(layers) = Layers::read(&root.join(".ralph")) else { return false };
    let large = |path: &Path| path.metadata().is_ok_and(|data| data.len() > MOST_TO_LOOK);
    let has_items = |path: &PathBuf| path.is_file() && (large(path) || !is_empty(root, path));
    if let Some(named) = layers.merged().backlog {
        let path = root.join(self::named(root, Path::new(&named.value)));
        return beads::is_meant(&path) || has_items(&path);
    }
    candidates(root).iter().any(has_items)
}

/// What cannot be read is not empty: it has to be looked at.
fn is_empty(root: &Path, path: &Path) -> bool {
    let Ok(place) = Place::at(root, path.to_path_buf()) else { return false };
    let Ok(bytes) = place.read() else { return false };
    place.parse(&bytes).is_ok_and(|backlog| backlog.items().is_empty() && backlog.problems().is_empty())
}

/// The places that were looked at in vain.
pub(crate) fn places() -> String {
    format!("{} and {PLANS}/*.md", NAMES.join(", "))
}

pub(super) fn none_here(root: &Path) -> Error {
    let error = Error::usage("there is no backlog here").because(format!(
        "none of {} is in {}",
        places(),
        root.display()
    ));
    let error = unnamed_beads(root).into_iter().fold(error, Error::hint);
    error.hint("ralph init, which begins one").hint("name one: --backlog FILE")
}

/// The items of a task file as a run counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Of those for the loop.
    pub(crate) open: usize,
    /// For the loop.
    pub(crate) all: usize,
    /// Open and not for the loop.
    pub(crate) disabled: usize,
}

impl Counted {
    /// `2 of 3 items open, 1 disabled`
    pub(crate) fn told(self) -> String {
        let disabled = match self.disabled {
            0 => String::new(),
            some => format!(", {some} disabled"),
        };
        match self.all {
            0 if self.disabled == 0 => "no items yet".into(),
            all => format!("{} of {} open{disabled}", self.open, text::count(all as u64, "item")),
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.all == 0 && self.disabled == 0
    }
}

/// How many there are, or why it cannot be read.
pub(crate) fn items(root: &Path, path: &Path) -> std::result::Result<Counted, String> {
    let why = |error: Error| error.why.unwrap_or(error.what);
    let place = Place::at(root, path.to_path_buf()).map_err(why)?;
    let bytes = place.read().map_err(why)?;
    let backlog = place.parse(&bytes).map_err(why)?;
    let count =
        |wanted: &dyn Fn(&Item<'_>) -> bool| backlog.items().iter().filter(|item| wanted(item)).count();
    Ok(Counted {
        open: count(&|item| item.enabled && item.state.is_open()),
        all: count(&|item| item.enabled),
        disabled: count(&|item| !item.enabled && item.state.is_open()),
    })
}
