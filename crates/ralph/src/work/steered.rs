//! What bd runs by itself, or is led by: the hooks in `.beads/hooks`, and the settings that may name commands or another
//! folder; in a linked worktree also those of the main checkout. The repository brings it, so somebody has to agree to it before bd is called; and no agent changes it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ralph_core::gather::Gather as _;

use super::beads::FOLDER;
use crate::digest;
use crate::error::{Error, Result};
use crate::project;
use crate::store::{self, TrustFile};
use crate::trust::Command;
use crate::unix::rights::PermissionsExt;

const HOOKS: &str = "hooks";
/// Where bd reads what to do; the last one sends it to another folder.
const SETTINGS: [&str; 3] = ["config.yaml", "config.local.yaml", "redirect"];
/// Longer ones are shown by their digest.
const SHOWN: usize = 2000;
/// How deep folders of hooks are looked through.
const DEEP: usize = 4;

/// The files as they are.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Steered(BTreeMap<PathBuf, (Vec<u8>, u32)>);

impl Steered {
    pub(crate) fn at(root: &Path) -> Self {
        let mut files = BTreeMap::new();
        for folder in folders(root) {
            SETTINGS.iter().for_each(|name| take(&folder.join(name), 0, &mut files));
            take(&folder.join(HOOKS), DEEP, &mut files);
        }
        Self(files)
    }

    /// Puts the files back as they were here; the names of those that were not.
    pub(crate) fn put_back(&self, root: &Path) -> Result<Vec<String>> {
        let now = Self::at(root);
        let mut touched = vec![];
        let mut failed = None;
        let paths: std::collections::BTreeSet<&PathBuf> = self.0.keys().chain(now.0.keys()).into_set();
        for path in paths.into_iter().filter(|path| self.0.get(*path) != now.0.get(*path)) {
            touched.push(shown(root, path));
            if let Err(error) = self.put_one_back(path) {
                failed = Some(Error::data(format!("{} cannot be put back", path.display())).because(error));
            }
        }
        failed.map_or(Ok(touched), Err)
    }

    fn put_one_back(&self, path: &Path) -> std::io::Result<()> {
        match self.0.get(path) {
            None => store::remove(path),
            Some((content, mode)) => {
                path.parent().map_or(Ok(()), store::make_dir)?;
                // Never through a link that somebody laid there.
                store::remove(path)?;
                store::write_with(path, content, *mode)
            }
        }
    }

    /// As commands that the repository brings: hooks, and settings by which commands may be run.
    pub(crate) fn commands(&self, root: &Path) -> Vec<Command> {
        let runs = |path: &Path, content: &[u8]| {
            let name = path.file_name().unwrap_or_default();
            name == "redirect" || !SETTINGS.iter().any(|known| name == *known) || names_commands(content)
        };
        let brought = self.0.iter().filter(|(path, (content, _))| runs(path, content));
        brought
            .map(|(path, (content, _))| Command { source: shown(root, path), command: words(content) })
            .collect()
    }
}

/// Those that nobody agreed to here.
fn unknown(root: &Path) -> Vec<Command> {
    let brought = Steered::at(root).commands(root);
    if brought.is_empty() {
        return brought;
    }
    let known = TrustFile::of(root).and_then(|file| file.read()).unwrap_or_default();
    brought.into_iter().filter(|command| !known.contains(command)).collect()
}

/// Whether bd may be called: all that it would run by itself was agreed to, in these words.
pub(crate) fn is_agreed(root: &Path) -> Result<()> {
    let unknown = unknown(root);
    let Some(first) = unknown.first() else { return Ok(()) };
    let names: Vec<&str> = unknown.iter().map(|command| command.source.as_str()).collect();
    Err(Error::data(format!("bd is not called: nobody has agreed to {}", names.join(", ")))
        .because("bd runs the hooks of its folder by itself, and does what its settings say")
        .hint(format!("read {}; then ralph run --backlog beads, which asks; or --yes", first.source))
        .hint("or remove it, if it is not yours"))
}

/// All folders that bd may take for its own here: in a linked worktree also that of the main checkout.
pub(super) fn folders(root: &Path) -> Vec<PathBuf> {
    let named = std::env::var_os("BEADS_DIR").map(|dir| root.join(dir));
    let shared = project::home_of_worktree(root).map(|home| home.join(FOLDER));
    let own: Vec<PathBuf> = [root.join(FOLDER)].into_iter().chain(named).chain(shared).collect();
    let elsewhere: Vec<PathBuf> = own.iter().flat_map(|folder| redirected(folder)).collect();
    let mut all: Vec<PathBuf> = vec![];
    for folder in own.into_iter().chain(elsewhere) {
        if !all.contains(&folder) {
            all.push(folder);
        }
    }
    all
}

/// Where a folder of bd's sends it: a path from the folder above it, or from itself.
fn redirected(folder: &Path) -> Vec<PathBuf> {
    let Ok(text) = std::fs::read_to_string(folder.join("redirect")) else { return vec![] };
    let Some(to) = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#')) else {
        return vec![];
    };
    folder.parent().map(|above| above.join(to)).into_iter().chain([folder.join(to)]).collect()
}

fn take(path: &Path, deep: usize, files: &mut BTreeMap<PathBuf, (Vec<u8>, u32)>) {
    let Ok(data) = std::fs::metadata(path) else { return };
    if data.is_dir() && deep > 0 {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.for_each(|entry| take(&entry.path(), deep - 1, files));
    } else if data.is_file() {
        let content = std::fs::read(path).unwrap_or_default();
        files.insert(path.to_path_buf(), (content, data.permissions().mode() & 0o7777));
    }
}

/// Rather too often than not.
fn names_commands(settings: &[u8]) -> bool {
    let text = String::from_utf8_lossy(settings).to_lowercase();
    let said = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    said.into_iter()
        .any(|line| ["hook", "command", "cmd", "exec", "script"].iter().any(|word| line.contains(word)))
}

fn words(content: &[u8]) -> String {
    match std::str::from_utf8(content) {
        Ok(text) if text.len() <= SHOWN => text.to_owned(),
        _ => format!("{} bytes, of which the digest is {}", content.len(), digest::of(content)),
    }
}

fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
