//! Keeping the private object store small: loose objects are packed, and what only snapshots hold that nobody may ask
//! for any more is let go.
//!
//! Both happen beside an agent at work. Packing is safe at any time; letting go is not, for git does not store again
//! what it finds stored, so that a snapshot waits until that is over.
#![expect(clippy::disallowed_methods, reason = "snapshots keep files of their own in the store")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use super::{Place, Tree, TreeError, TreeId, inexact, spool};
use crate::point;

/// From how many loose objects on they are packed.
const LOOSE: usize = 8_192;
/// From how many packs on they become one, without what is let go.
const PACKS: usize = 8;

#[derive(Debug)]
pub(super) struct Tidying {
    thread: JoinHandle<()>,
    lets_go: bool,
}

impl Drop for Tree {
    fn drop(&mut self) {
        if let Some(tidying) = self.tidying.take() {
            let _ = tidying.thread.join();
        }
    }
}

impl Tree {
    /// Tidies up in the background, if there is reason to. `kept` names the snapshots that may still be asked for.
    pub fn tidy<E>(&mut self, kept: impl FnOnce() -> Result<Vec<TreeId>, E> + Send + 'static) {
        if self.tidying.as_ref().is_some_and(|tidying| !tidying.thread.is_finished()) {
            return;
        }
        let full = self.spool.set_aside(&self.place);
        let (lets_go, packs) = (packs(&self.place).len() >= PACKS, loose_about(&self.place) >= LOOSE);
        if !lets_go && !packs && full.is_none() {
            return;
        }
        // What git does not have would be let go of.
        if lets_go && self.spool.empty(&self.place).is_err() {
            return;
        }
        let place = self.place.clone();
        let thread = thread::spawn(move || {
            // A failure costs space, and is tried again next time.
            if lets_go {
                let _ = kept().map(|kept| let_go(&place, &kept));
            } else if packs {
                let _ = pack(&place);
            } else if let Some(full) = full {
                let _ = spool::hand_over(&place, &full, true);
            }
        });
        self.tidying = Some(Tidying { thread, lets_go });
    }

    pub(super) fn let_tidying_end(&mut self) {
        if let Some(tidying) = self.tidying.take_if(|tidying| tidying.lets_go) {
            let _ = tidying.thread.join();
        }
    }

    /// Packs what is loose, now.
    pub fn pack(&self) -> Result<(), TreeError> {
        pack(self.stored())
    }

    /// Lets go of all that is in none of these snapshots, now.
    pub fn let_go_of_others(&mut self, kept: &[TreeId]) -> Result<(), TreeError> {
        self.spool.empty(&self.place)?;
        self.let_tidying_end();
        let_go(&self.place, kept)
    }
}

/// Counted in one of 256 folders, as git itself does.
fn loose_about(place: &Place) -> usize {
    fs::read_dir(place.objects().join("17")).map_or(0, |entries| entries.count() * 256)
}

fn packs(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.objects().join("pack")).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "pack"))
        .collect()
}

/// The loose objects and their files.
fn loose(place: &Place) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for folder in fs::read_dir(place.objects()).into_iter().flatten().flatten() {
        let Some(start) = folder.file_name().to_str().filter(|name| name.len() == 2).map(str::to_owned)
        else {
            continue;
        };
        for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let id = format!("{start}{}", file.file_name().to_string_lossy());
            if ralph_core::git_text::is_object_id(&id) {
                found.push((id, file.path()));
            }
        }
    }
    found
}

fn pack(place: &Place) -> Result<(), TreeError> {
    let loose = loose(place);
    write_pack(place, loose.iter().map(|(id, _)| id.as_str()))?;
    for (_, path) in loose {
        remove(&path);
    }
    Ok(())
}

/// The name of the pack; none where there is nothing to pack. It is durable when this returns.
fn write_pack<'a>(place: &Place, ids: impl Iterator<Item = &'a str>) -> Result<Option<String>, TreeError> {
    let call = place.call_on_own_objects("pack-objects").setting("pack.packSizeLimit=0");
    let call = call.args(["--quiet", "--non-empty", "--threads=1"]).arg(place.objects().join("pack/pack"));
    let packs = place.objects().join("pack");
    point::file("make folder", &packs)
        .and_then(|()| fs::create_dir_all(&packs))
        .map_err(TreeError::file(&packs))?;
    Ok(call.stdin(lines(ids)).line()?.filter(|name| !name.is_empty()))
}

fn let_go(place: &Place, kept: &[TreeId]) -> Result<(), TreeError> {
    let own = place.call_on_own_objects("cat-file");
    let own = own.args(["--batch-all-objects", "--batch-check=%(objectname)"]).output()?;
    let own: HashSet<String> = String::from_utf8_lossy(&own).lines().map(str::to_owned).collect();
    let (loose, old) = (loose(place), packs(place));
    let reached = reached(place, kept)?;
    let new = write_pack(place, own.iter().map(String::as_str).filter(|id| reached.contains(*id)))?;
    // From here on nothing is lost: what is wanted is in the new pack.
    let new = new.map(|name| format!("pack-{name}"));
    for pack in old {
        if pack.file_stem().and_then(|stem| stem.to_str()) != new.as_deref() {
            // Without its index nobody looks into a pack.
            ["idx", "rev", "pack"].iter().for_each(|end| remove(&pack.with_extension(end)));
        }
    }
    // What came since is in neither list.
    loose.iter().filter(|(id, _)| own.contains(id)).for_each(|(_, path)| remove(path));
    inexact::let_go(place, &reached)
}

/// All that the snapshots are made of, as far as it is there.
fn reached(place: &Place, kept: &[TreeId]) -> Result<HashSet<String>, TreeError> {
    let check = place.call("cat-file").unwatched().arg("--batch-check=%(objectname) %(objecttype)");
    let there = check.stdin(lines(kept.iter().map(TreeId::as_str))).output()?;
    let there = String::from_utf8_lossy(&there).into_owned();
    let trees = there.lines().filter_map(|line| line.strip_suffix(" tree"));
    let walk = place.call("rev-list").unwatched().args([
        "--objects",
        "--no-object-names",
        "--missing=allow-any",
        "--stdin",
    ]);
    let reached = walk.stdin(lines(trees)).output()?;
    Ok(String::from_utf8_lossy(&reached).lines().map(str::to_owned).collect())
}

fn lines<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<u8> {
    ids.flat_map(|id| [id.as_bytes(), b"\n"].concat()).collect()
}

fn remove(path: &Path) {
    let _ = point::file("remove", path).and_then(|()| fs::remove_file(path));
}
