//! What an agent or a check must leave alone: a copy is kept while it works, and put back after it.
//!
//! Nobody can tell an agent's write from a user's, so nothing is thrown away: what a file was changed to is kept with the
//! iteration. The journal and the lock look after themselves.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ralph_core::own_files::{How, OwnFile, Touch};

use super::files;
use super::runs::TOUCHED;
use super::stamp::Stamp;
use crate::unix::identity::MetadataExt;

/// These steer ralph itself: no agent writes them.
const STEERING: [&str; 3] = ["config.toml", "prompt.md", ".gitignore"];
/// These agents may write, but not take away.
const SHARED: [&str; 4] = ["guardrails.md", "scratchpad.md", "handoff.md", "ralph.yml"];
/// These ralph makes from its record.
const VIEWS: [&str; 2] = ["session.md", "state.json"];
/// And these are full of them; one look at the folder tells whether it is gone.
const FOLDERS: [&str; 2] = ["history", "checkpoints"];
/// Of a bigger file no copy is kept.
const MOST: u64 = 1 << 20;

#[derive(Debug)]
pub struct Guard {
    root: PathBuf,
    dir: PathBuf,
    files: Vec<Kept>,
    views: Vec<(&'static str, Option<Stamp>)>,
    folders: Vec<(&'static str, Option<Stamp>)>,
    /// Folders of the truth, held open, so that another one cannot come to have the same number.
    past: Vec<(PathBuf, File)>,
    /// Somebody is at work.
    watching: bool,
    folder: bool,
}

/// A file as it was when somebody began to work.
#[derive(Debug)]
struct Kept {
    name: &'static str,
    stamp: Option<Stamp>,
    copy: Option<Vec<u8>>,
}

/// What became of the files.
#[derive(Debug, Default)]
pub struct Looked {
    pub touches: Vec<Touch>,
    /// The views are to be made again.
    pub views: bool,
    /// Folders of views are gone: every page of them too.
    pub pages: bool,
}

/// The names under which files are put back, and removed where a ralph was cut off.
pub(super) fn half_written() -> impl Iterator<Item = String> {
    STEERING.into_iter().chain(SHARED).map(half)
}

fn half(name: &str) -> String {
    format!(".{name}.new")
}

impl Guard {
    pub fn new(root: &Path, ralph_dir: &Path) -> Self {
        let kept = |name| Kept { name, stamp: None, copy: None };
        Self {
            root: root.to_path_buf(),
            dir: ralph_dir.to_path_buf(),
            files: STEERING.into_iter().chain(SHARED).map(kept).collect(),
            views: VIEWS.map(|name| (name, None)).into(),
            folders: FOLDERS.map(|name| (name, None)).into(),
            past: Vec::new(),
            watching: false,
            folder: false,
        }
    }

    /// Somebody is about to work. `past`: folders with what was recorded before.
    pub fn watch(&mut self, past: &[PathBuf]) {
        // Nothing is put back through a link that leads elsewhere.
        self.watching = files::stays_within(&self.root, &self.dir).is_ok();
        self.folder = self.dir.is_dir();
        for file in &mut self.files {
            file.remember(&self.dir);
            // Of a ralph that was cut off while it put the file back.
            let half = self.dir.join(half(file.name));
            if Stamp::at(&half).is_some() {
                // Where it cannot be removed it is in nobody's way.
                let _ = files::remove(&half);
            }
        }
        for (name, stamp) in self.views.iter_mut().chain(&mut self.folders) {
            *stamp = Stamp::at(&self.dir.join(*name));
        }
        self.past = past.iter().filter_map(|dir| Some((dir.clone(), File::open(dir).ok()?))).collect();
    }

    /// Folders of the truth that are gone with all that was in them. To be asked before anything is put back.
    pub fn lost(&mut self) -> Vec<Touch> {
        let id = |data: &Metadata| (data.dev(), data.ino());
        let there = |dir: &Path, held: &File| {
            let held = held.metadata().ok()?;
            Some(id(&std::fs::metadata(dir).ok()?) == id(&held))
        };
        let gone =
            std::mem::take(&mut self.past).into_iter().find(|(dir, held)| there(dir, held) != Some(true));
        gone.map(|(dir, _)| Touch {
            name: format!("{}/", self.shown(&dir)),
            kind: OwnFile::Past,
            how: How::Removed,
            lost: Some("what earlier iterations left there (transcripts, snapshots) is gone".into()),
            kept: None,
        })
        .into_iter()
        .collect()
    }

    /// Nobody is at work any more: puts back what has to be. What a file was changed to goes to `keep`.
    pub fn settle(&mut self, keep: &Path) -> Looked {
        let mut looked = Looked::default();
        if !std::mem::take(&mut self.watching) {
            return looked;
        }
        let elsewhere = files::stays_within(&self.root, &self.dir).is_err();
        if elsewhere || self.folder && !self.dir.is_dir() {
            let lost = files::twice(|| self.put_folder_back()).err().map(|error| error.to_string());
            let touch = Touch {
                name: format!("{}/", self.shown(&self.dir)),
                kind: OwnFile::Yours,
                how: How::Removed,
                lost,
                kept: None,
            };
            return Looked { touches: vec![touch], views: true, pages: true };
        }
        for (name, stamp) in &self.views {
            let now = Stamp::at(&self.dir.join(name));
            if stamp.is_some() && now != *stamp {
                looked.views = true;
                looked.touches.push(Touch {
                    name: self.shown(&self.dir.join(name)),
                    kind: OwnFile::View,
                    how: if now.is_none() { How::Removed } else { How::Changed },
                    lost: None,
                    kept: None,
                });
            }
        }
        for (name, stamp) in &self.folders {
            let path = self.dir.join(name);
            let same = |was: &Stamp| Stamp::at(&path).is_some_and(|now| now.same_file(*was));
            if stamp.as_ref().is_some_and(|was| !same(was)) {
                (looked.views, looked.pages) = (true, true);
                looked.touches.push(Touch {
                    name: format!("{}/", self.shown(&path)),
                    kind: OwnFile::View,
                    how: How::Removed,
                    lost: None,
                    kept: None,
                });
            }
        }
        let touches = self.files.iter().filter_map(|file| self.settle_file(file, keep));
        looked.touches.extend(touches);
        looked
    }

    fn put_folder_back(&self) -> io::Result<()> {
        if self.dir.is_symlink() {
            files::remove(&self.dir)?;
        }
        files::make_dir(&self.dir)?;
        let mut missing = Vec::new();
        for file in &self.files {
            match (&file.copy, file.stamp) {
                (Some(copy), _) => files::replace(&self.dir.join(file.name), copy)?,
                (None, Some(_)) => missing.push(file.name),
                (None, None) => {}
            }
        }
        match missing.is_empty() {
            true => Ok(()),
            false => Err(io::Error::other(format!(
                "put back without {}, of which there was no copy",
                missing.join(", ")
            ))),
        }
    }

    fn settle_file(&self, file: &Kept, keep: &Path) -> Option<Touch> {
        let path = self.dir.join(file.name);
        let now = Stamp::at(&path);
        let steers = STEERING.contains(&file.name);
        if now == file.stamp || (now.is_some() && !steers) {
            return None;
        }
        if now.is_some() && file.copy.is_some() && read(&path) == file.copy {
            return None;
        }
        let how = if now.is_some() { How::Changed } else { How::Removed };
        let mut touch = Touch { name: self.shown(&path), kind: OwnFile::Yours, how, lost: None, kept: None };
        // What was there may be kept by now, and gone.
        let mut put_back = || self.put_file_back(file, &path, Stamp::at(&path).is_some(), keep, &mut touch);
        if let Err(error) = files::twice(&mut put_back) {
            touch.lost = Some(error.to_string());
        }
        Some(touch)
    }

    fn put_file_back(
        &self,
        file: &Kept,
        path: &Path,
        there: bool,
        keep: &Path,
        touch: &mut Touch,
    ) -> io::Result<()> {
        if file.stamp.is_some() && file.copy.is_none() {
            return Err(io::Error::other("it cannot be put back, for there was no copy of it"));
        }
        if there {
            let kept = keep.join(format!("{TOUCHED}{}", file.name));
            files::private_dir(keep)?;
            match read(path) {
                Some(text) => files::write_private(&kept, &text)?,
                None => files::rename(path, &kept)?,
            }
            touch.kept = Some(self.shown(&kept));
        }
        match &file.copy {
            Some(copy) => files::replace(path, copy),
            // There was none.
            None => files::remove(path),
        }
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}

impl Kept {
    /// Reads it only if it changed since the last time.
    fn remember(&mut self, dir: &Path) {
        let path = dir.join(self.name);
        let stamp = Stamp::at(&path);
        if stamp != self.stamp {
            self.copy = stamp.and_then(|_| read(&path));
            self.stamp = stamp;
        }
    }
}

/// A regular file of a bearable size.
fn read(path: &Path) -> Option<Vec<u8>> {
    let data = std::fs::metadata(path).ok()?;
    if !data.is_file() || data.len() > MOST {
        return None;
    }
    let mut text = Vec::new();
    File::open(path).ok()?.take(MOST + 1).read_to_end(&mut text).ok()?;
    (text.len() as u64 <= MOST).then_some(text)
}
