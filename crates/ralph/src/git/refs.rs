//! Branches and tags as files have them. git is not asked, for they are looked at before every agent and after it.

use std::io;
use std::path::Path;

use ralph_core::git_text::is_object_id;
use ralph_core::lost::Refs;

use super::Repo;
use crate::bounded;

/// More files than this are not read one by one.
const MOST_LOOSE: usize = 1_000;
/// Nor is a longer list of packed ones.
const MOST_PACKED: u64 = 4 << 20;
/// The file of one branch or tag is a line.
const MOST_LINE: u64 = 1_000;

impl Repo {
    /// `None` where there are too many to look at, or where git keeps them in another form.
    pub fn refs(&self) -> Option<Refs> {
        if self.common_dir.join("reftable").exists() {
            return None;
        }
        let (mut refs, mut looked_at) = (Refs::new(), 0);
        for kind in ["refs/heads", "refs/tags"] {
            loose(&self.common_dir, kind, &mut refs, &mut looked_at)?;
        }
        // After them: whoever packs refs removes the files of their own when the list has them.
        for (name, id) in packed(&self.common_dir.join("packed-refs"))? {
            refs.entry(name).or_insert(id);
        }
        Some(refs)
    }
}

fn packed(file: &Path) -> Option<Refs> {
    let text = match bounded::read(file, MOST_PACKED) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(Refs::new()),
        Err(_) => return None,
    };
    let named = |line: &str| {
        let (id, name) = line.split_once(' ')?;
        let wanted = name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
        (wanted && is_object_id(id)).then(|| (name.to_owned(), id.to_owned()))
    };
    Some(String::from_utf8_lossy(&text).lines().filter_map(named).collect())
}

/// Those with a file of their own, which counts before a packed one.
fn loose(dir: &Path, name: &str, refs: &mut Refs, looked_at: &mut usize) -> Option<()> {
    for entry in std::fs::read_dir(dir.join(name)).into_iter().flatten().flatten() {
        *looked_at += 1;
        if *looked_at > MOST_LOOSE {
            return None;
        }
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        let Ok(data) = entry.metadata() else { continue };
        if data.is_dir() {
            loose(dir, &name, refs, looked_at)?;
        } else if data.is_file() && !name.ends_with(".lock") {
            let text = bounded::read(&entry.path(), MOST_LINE).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let id = text.trim_end();
            if is_object_id(id) {
                refs.insert(name, id.to_owned());
            }
        }
    }
    Some(())
}
