//! Where secrets are told: the environment, and the `.env` files of a project and of its parts.
//!
//! They are looked for again after each agent and each check, and whenever a held session stops, so what is looked at is
//! bounded, whatever the project: nearer folders first.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use ralph_core::detect;
use ralph_core::redact::{self, Secrets, dotenv};
use ralph_core::time::Time;

use crate::store::Stamp;
use crate::{bounded, clock};

/// A longer file holds something else.
const MOST: u64 = 256 << 10;
/// `packages/@scope/name/.env` is three below the top.
const DEEP: usize = 3;
const FOLDERS: usize = 100;
const ENTRIES: usize = 5_000;
const FILES: usize = 50;

/// What is to be hidden now. Files come and go while a run goes on.
pub fn of(root: &Path) -> Secrets {
    of_files(&files(root))
}

fn of_files(files: &[PathBuf]) -> Secrets {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let filed = files.iter().flat_map(|path| dotenv(&read(path).unwrap_or_default()));
    Secrets::new(environment, filed)
}

/// The `.env` files as they were when they were last read.
#[derive(Debug, Default)]
pub(crate) struct Seen(Vec<(PathBuf, Option<Stamp>)>);

impl Seen {
    /// What is to be hidden, if any file came, went or was touched since they were last read.
    pub(crate) fn changed(&mut self, root: &Path) -> Option<Secrets> {
        self.changed_by(root, clock::now())
    }

    fn changed_by(&mut self, root: &Path, now: Time) -> Option<Secrets> {
        let files = files(root);
        let stamps = files.iter().map(|path| {
            let stamp = std::fs::metadata(path).ok().map(|data| Stamp::of(&data));
            (path.clone(), stamp.filter(|stamp| stamp.is_settled(now)))
        });
        let stamps: Vec<_> = stamps.collect();
        if self.0 == stamps && stamps.iter().all(|(_, stamp)| stamp.is_some()) {
            return None;
        }
        self.0 = stamps;
        Some(of_files(&files))
    }
}

/// What to say where more is told than is kept.
pub fn beyond(secrets: &Secrets) -> Option<String> {
    let more = secrets.left_out();
    (more > 0).then(|| {
        format!(
            "the .env files of this project hold {} values that may be secrets; {} are hidden where they are shown or \
             kept, those with telling names first, of the others only keys of known shapes; what holds data is better \
             not called .env",
            redact::MOST + more,
            redact::MOST
        )
    })
}

/// The `.env` files at the top and in the parts of a project. Links are followed to files, not to folders.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = VecDeque::from([(root.to_path_buf(), 0)]);
    let (mut seen, mut entries) = (1, 0);
    while let Some((folder, depth)) = folders.pop_front() {
        let mut below = Vec::new();
        // The top is read whole, however much is in it.
        let most = if depth == 0 { usize::MAX } else { ENTRIES.saturating_sub(entries) };
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().take(most) {
            entries += 1;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let is_folder = || entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dotenv(name) {
                if depth == 0 || found.len() < FILES {
                    found.push(entry.path());
                }
            } else if depth < DEEP && detect::is_part(name) && is_folder() {
                below.push((entry.path(), depth + 1));
            }
        }
        // Which are read where there are too many must not change from one time to the next.
        below.sort();
        below.truncate(FOLDERS.saturating_sub(seen));
        seen += below.len();
        folders.extend(below);
    }
    found
}

/// `.env`, `.env.local`, `.envrc`; not one that only shows how to write one.
fn is_dotenv(name: &str) -> bool {
    let shows = ["example", "sample", "template", "dist", "defaults"];
    name.starts_with(".env") && !shows.iter().any(|ending| name.ends_with(ending))
}

fn read(path: &Path) -> Option<String> {
    let text = bounded::read(path, MOST).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Scratch;

    #[test]
    fn files_that_only_show_how_to_write_one_hold_no_secrets() {
        for name in [".env", ".env.local", ".env.production", ".envrc"] {
            assert!(is_dotenv(name), "{name}");
        }
        for name in [".env.example", ".env.sample", "env", "src.env", ".env.local.template"] {
            assert!(!is_dotenv(name), "{name}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    fn files_are_read_again_only_where_one_came_went_or_was_touched() {
        let scratch = Scratch::new("ralph-secrets").unwrap();
        let root = scratch.path();
        let write = |text: &str| std::fs::write(root.join(".env"), text).unwrap();
        let (mut seen, now) = (Seen::default(), clock::now());
        let later = now.plus(60_000);
        assert_eq!(seen.changed_by(root, later), None, "there is none");
        write("A=zyx987wvu654");
        for _ in 0..2 {
            let told = seen.changed_by(root, now).expect("written so lately that it may be written again");
            assert_eq!(told.hide("zyx987wvu654"), "[redacted:A]");
        }
        assert!(seen.changed_by(root, later).is_some());
        assert_eq!(seen.changed_by(root, later), None);
        write("A=zyx987wvu6543");
        assert!(seen.changed_by(root, later).is_some());
        std::fs::remove_file(root.join(".env")).unwrap();
        assert!(seen.changed_by(root, later).is_some());
        assert_eq!(seen.changed_by(root, later), None);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    fn however_large_a_project_is_a_bounded_part_of_it_is_looked_at_and_nearer_folders_first() {
        let scratch = Scratch::new("ralph-secrets").unwrap();
        let root = scratch.path();
        let write = |folder: &str| {
            std::fs::create_dir_all(root.join(folder)).unwrap();
            std::fs::write(root.join(folder).join(".env"), "A=1").unwrap();
        };
        (0..2 * FILES).for_each(|n| write(&format!("a/deep{n}")));
        ["", "a", "z"].into_iter().for_each(write);
        let found = files(root);
        assert_eq!(found.len(), FILES);
        let nearest = ["", "a", "z"].map(|folder| root.join(folder).join(".env"));
        assert_eq!(found[..3], nearest);
        assert_eq!(found, files(root), "the same ones each time");
        // Nothing but folders: those that are not among the first are not opened.
        (0..FOLDERS).for_each(|n| std::fs::create_dir_all(root.join(format!("b{n:04}"))).unwrap());
        write("zz");
        assert!(!files(root).contains(&root.join("zz/.env")));
    }
}
