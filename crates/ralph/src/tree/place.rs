//! The folders and files that snapshots involve, and the git calls that use them.
#![expect(clippy::disallowed_methods, reason = "snapshots keep files of their own in the store")]

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, Metadata};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::TreeError;
use crate::git::{Call, Repo};
use crate::point;
use crate::process::{self, Hurry, Mark};
use crate::unix::identity::MetadataExt;
use crate::unix::names::{OsStrExt, OsStringExt};
use crate::unix::rights::DirBuilderExt;

/// What ralph writes at the top of a project.
const OURS: [&[u8]; 3] = [b".ralph", b".ralph-session.json", b".harness.lock"];

#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Top of the working tree that is measured.
    work: PathBuf,
    git_dir: PathBuf,
    store: PathBuf,
    /// The user's object store, as git wants it in the environment.
    lent_objects: Option<OsString>,
    /// Ignore rules that are in no working tree.
    pub(super) exclude: PathBuf,
    /// The user's index, if there is a repository.
    pub(super) user_index: Option<PathBuf>,
    /// The project's folder, seen from the top of the working tree: empty, or with a slash at its end.
    project: Vec<u8>,
    /// There are ignore rules for ralph alone.
    pub(super) has_own_rules: bool,
    /// By which programs are found that git runs here; only whoever has ralph's lock may look for them.
    pub(super) mark: Option<Mark>,
    /// Told when nobody wants to wait for them any longer.
    pub(super) hurry: Option<Hurry>,
    /// Filters that failed where git insists on them. Other calls are not to insist: git runs filters for files that nobody
    /// asked about too. What is taken in must go through all of its filters, or it is no content to commit.
    pub(super) failing: Vec<String>,
}

impl Place {
    pub(super) fn open(root: &Path, store: &Path, repo: Option<&Repo>) -> Result<Place, TreeError> {
        point::file("make folder", store)
            .and_then(|()| fs::create_dir_all(store))
            .map_err(TreeError::file(store))?;
        // git takes a repository without its object folder for none at all.
        create_private(&store.join("objects"))?;
        match repo {
            Some(repo) => Ok(Place {
                work: repo.root.clone(),
                git_dir: repo.git_dir.clone(),
                store: store.to_path_buf(),
                lent_objects: Some(quoted(&repo.common_dir.join("objects"))),
                exclude: repo.common_dir.join("info/exclude"),
                user_index: Some(repo.git_dir.join("index")),
                project: project_below(&repo.root, root),
                has_own_rules: false,
                mark: None,
                hurry: None,
                failing: Vec::new(),
            }),
            None => Place::without_git(root, store),
        }
    }

    fn without_git(root: &Path, store: &Path) -> Result<Place, TreeError> {
        let git_dir = store.join("git");
        let exclude = git_dir.join("info/exclude");
        if !exclude.exists() {
            let init = Call::new(root, "init").measuring().args(["--quiet", "--bare", "--template="]);
            init.args(["--initial-branch=main", "--object-format=sha1"]).arg(&git_dir).output()?;
            create_private(&git_dir.join("info"))?;
            point::file("write", &exclude)
                .and_then(|()| fs::write(&exclude, "/.ralph/\n"))
                .map_err(TreeError::file(&exclude))?;
        }
        settle_config(&git_dir)?;
        Ok(Place {
            work: root.to_path_buf(),
            git_dir,
            store: store.to_path_buf(),
            lent_objects: None,
            exclude,
            user_index: None,
            project: Vec::new(),
            has_own_rules: false,
            mark: None,
            hurry: None,
            failing: Vec::new(),
        })
    }

    /// Ends programs that git ran here and that it left.
    pub(super) fn end_left(&self) {
        self.mark.into_iter().for_each(process::end_left);
    }

    pub(super) fn is_whole(&self) -> bool {
        self.store.join("objects").is_dir() && self.git_dir.join("HEAD").exists()
    }

    /// Removes what the last snapshot left.
    pub(super) fn forget(&self) -> Result<(), TreeError> {
        for path in [self.index(), self.beside(super::taking::OTHER_INDEX), self.memory()] {
            match point::file("remove", &path).and_then(|()| fs::remove_file(&path)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(TreeError::file(&path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A call on the private index and object store.
    pub(super) fn call(&self, command: &'static str) -> Call {
        self.call_on(&self.index(), command)
    }

    /// A call in a repository below this one, which may have filters of its own.
    pub(super) fn call_below(&self, dir: &Path, command: &'static str) -> Call {
        Call::new(dir, command)
            .measuring()
            .watched(self.mark, self.hurry.as_ref())
            // Its configuration may name another folder, the whole disk too.
            .env("GIT_WORK_TREE", dir)
    }

    pub(super) fn call_on(&self, index: &Path, command: &'static str) -> Call {
        let call = Call::new(&self.work, command)
            .measuring()
            .expendable()
            .watched(self.mark, self.hurry.as_ref())
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_WORK_TREE", &self.work)
            .env("GIT_INDEX_FILE", index)
            .env("GIT_OBJECT_DIRECTORY", self.objects());
        let call = match &self.lent_objects {
            Some(objects) => call.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects),
            None => call,
        };
        let call = self.failing.iter().fold(call, |call, filter| lenient(call, filter));
        match self.has_own_rules {
            true => call.setting(&format!("core.excludesFile={}", self.rules().display())),
            false => call,
        }
    }

    /// A call that sees what is in the private object store, and not what the user's repository lends.
    pub(super) fn call_on_own_objects(&self, command: &'static str) -> Call {
        Call::new(&self.work, command)
            .measuring()
            .expendable()
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_OBJECT_DIRECTORY", self.objects())
    }

    /// Where git's own files are.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    pub(super) fn objects(&self) -> PathBuf {
        self.store.join("objects")
    }

    pub(super) fn index(&self) -> PathBuf {
        self.store.join("index")
    }

    /// A file of ralph's own.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.store.join(name)
    }

    pub(super) fn in_work_tree(&self, name: impl AsRef<Path>) -> PathBuf {
        self.work.join(name)
    }

    /// A call that sees the user's settings only.
    pub(super) fn outside_settings(&self, command: &'static str) -> Call {
        Call::new(&self.work, command).env("GIT_DIR", &self.git_dir)
    }

    /// Where the next private index is prepared.
    pub(super) fn next_index(&self) -> PathBuf {
        self.store.join("index.next")
    }

    pub(super) fn memory(&self) -> PathBuf {
        self.store.join("snapshot")
    }

    /// A killed git leaves its lock behind. Nobody but ralph, which is alone here, uses this index.
    pub(super) fn remove_stale_lock(&self) {
        let _ = point::pass("remove stale index locks");
        for index in ["index", "index.next"] {
            let _ = fs::remove_file(self.store.join(format!("{index}.lock")));
        }
    }

    /// What ralph writes into the working tree, seen from its top. It is no work, so no snapshot holds it.
    pub(super) fn ours(&self) -> impl Iterator<Item = Vec<u8>> {
        OURS.iter().map(|name| [self.project.as_slice(), name].concat())
    }

    /// One of them, or below it.
    pub(super) fn is_ours(&self, path: &[u8]) -> bool {
        let Some(path) = path.strip_prefix(self.project.as_slice()) else { return false };
        OURS.iter().any(|name| {
            path.strip_prefix(*name).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
        })
    }

    /// 0 for what is no plain file.
    pub(super) fn file_size(&self, path: &[u8]) -> u64 {
        self.metadata(path).filter(Metadata::is_file).map_or(0, |data| data.len())
    }

    /// Device and inode of what is at this path.
    pub(super) fn file_id(&self, path: &[u8]) -> Option<(u64, u64)> {
        self.metadata(path).map(|data| (data.dev(), data.ino()))
    }

    pub(super) fn has_folder(&self, path: &[u8]) -> bool {
        self.metadata(path).is_some_and(|data| data.is_dir())
    }

    /// There is a file or a link at this path.
    pub(super) fn has_file(&self, path: &[u8]) -> bool {
        self.metadata(path).is_some_and(|data| !data.is_dir())
    }

    /// Of what is at this path itself: what is found behind a link is at another one.
    pub(super) fn metadata(&self, path: &[u8]) -> Option<Metadata> {
        let look = |path: &[u8]| fs::symlink_metadata(self.work.join(OsStr::from_bytes(path))).ok();
        let data = look(path)?;
        let mut above = (0..path.len()).filter(|at| path[*at] == b'/').map(|at| &path[..at]);
        let beyond = above.any(|folder| look(folder).is_some_and(|data| data.is_symlink()));
        (!beyond).then_some(data)
    }
}

/// What is stored loose is packed soon, and packs are compressed anew: until then the least will do.
pub(super) fn storing(call: Call) -> Call {
    call.setting("core.looseCompression=1")
}

/// Has git go on where this filter fails.
pub(super) fn lenient(call: Call, filter: &str) -> Call {
    call.setting_named(&format!("filter.{filter}.required"), "false")
}

/// All that the private repository is told. Whoever hands the folder over hands this repository over with it, and a
/// configuration can name commands to run.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";

fn settle_config(git_dir: &Path) -> Result<(), TreeError> {
    let config = git_dir.join("config");
    let plain = fs::symlink_metadata(&config).is_ok_and(|data| data.is_file());
    if !plain || fs::read(&config).is_ok_and(|text| text != CONFIG.as_bytes()) {
        let made = git_dir.join("config.new");
        point::file("write", &config)
            .and_then(|()| {
                let _ = fs::remove_file(&made);
                fs::File::create_new(&made)?.write_all(CONFIG.as_bytes())
            })
            .and_then(|()| fs::rename(&made, &config))
            .map_err(TreeError::file(&config))?;
    }
    let elsewhere = git_dir.join("commondir");
    if fs::symlink_metadata(&elsewhere).is_ok() {
        point::file("remove", &elsewhere)
            .and_then(|()| fs::remove_file(&elsewhere))
            .map_err(TreeError::file(&elsewhere))?;
    }
    Ok(())
}

/// Snapshots hold files that only their owner may read, so the store is closed to others.
fn create_private(dir: &Path) -> Result<(), TreeError> {
    point::file("make folder", dir)
        .and_then(|()| DirBuilder::new().recursive(true).mode(0o700).create(dir))
        .map_err(TreeError::file(dir))
}

fn project_below(work: &Path, root: &Path) -> Vec<u8> {
    let real = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    let below = real.strip_prefix(work).unwrap_or(Path::new(""));
    // With an empty name at its end a path gets a slash, unless it is empty itself.
    below.join("").into_os_string().into_vec()
}

/// A path inside a list that is separated by colons: quoted as in C, so that it may hold any byte.
fn quoted(path: &Path) -> OsString {
    let mut text = b"\"".to_vec();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            0..0x20 | 0x7f.. => text.extend(format!("\\{byte:03o}").bytes()),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
    OsString::from_vec(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_folders_may_have_any_name() {
        assert_eq!(quoted(Path::new("/a b/c:d")), "\"/a b/c:d\"");
        assert_eq!(quoted(Path::new("/q\"\\\n")), "\"/q\\\"\\\\\\012\"");
        assert_eq!(quoted(Path::new(OsStr::from_bytes(b"/\xff"))), "\"/\\377\"");
    }
}
