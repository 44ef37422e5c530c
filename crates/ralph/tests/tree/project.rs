//! A project whose tree is measured, and everything of its user's that must stay as it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use ralph::git::{self, Repo};
use ralph::process::{Captured, Spec, capture};
use ralph::tree::{Snapshot, Tree, TreeId};

/// A folder with a project in it, gone after the test.
pub(crate) struct Project {
    pub(crate) dir: PathBuf,
    pub(crate) root: PathBuf,
    pub(crate) repo: Option<Repo>,
    pub(crate) tree: Option<Tree>,
    pub(crate) last: Option<TreeId>,
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Project {
    pub(crate) fn folder() -> Project {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("ralph-tree-{}-{number}", std::process::id()));
        let root = dir.join("project");
        fs::create_dir_all(&root).unwrap();
        let root = root.canonicalize().unwrap();
        Project { dir, root, repo: None, tree: None, last: None }
    }

    /// A repository without commits.
    pub(crate) fn empty() -> Project {
        let mut project = Project::folder();
        project.git("init -q -b main");
        for setting in ["excludesFile /dev/null", "autocrlf false", "fileMode true"] {
            project.git(&format!("config core.{setting}"));
        }
        project.repo = git::discover(&project.root).unwrap();
        project
    }

    /// A repository with three files and one commit.
    pub(crate) fn new() -> Project {
        let project = Project::empty();
        project.write("a.txt", "one\n");
        project.write("src/b.txt", "two\n");
        project.write(".gitignore", "*.log\n");
        project.commit("first");
        project
    }

    pub(crate) fn run(&self, args: &[&str]) -> Captured {
        let mut spec = Spec::new("git", &self.root).args(args);
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "test"),
            ("GIT_AUTHOR_EMAIL", "test@localhost"),
            ("GIT_COMMITTER_NAME", "test"),
            ("GIT_COMMITTER_EMAIL", "test@localhost"),
            ("GIT_OPTIONAL_LOCKS", "0"),
        ] {
            spec = spec.env(name, value);
        }
        capture(&spec).unwrap()
    }

    pub(crate) fn git(&self, args: &str) -> String {
        let args: Vec<&str> = args.split(' ').collect();
        let captured = self.run(&args);
        assert!(captured.end.success(), "git {args:?}: {}", String::from_utf8_lossy(&captured.stderr));
        String::from_utf8_lossy(&captured.stdout).trim_end().to_owned()
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git("add -A");
        self.git(&format!("commit -q -m {message}"));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    pub(crate) fn store(&self) -> PathBuf {
        match &self.repo {
            Some(repo) => repo.git_dir.join("ralph"),
            None => self.root.join(".ralph/.state"),
        }
    }

    /// A snapshot, during which nothing of the user's may change. As after work: where the one before found something, git
    /// gets ready to take in the next change before it is known.
    pub(crate) fn snap(&mut self) -> Snapshot {
        let before = self.users_things();
        let store = self.store();
        let tree =
            self.tree.get_or_insert_with(|| Tree::open(&self.root, &store, self.repo.as_ref()).unwrap());
        let snapshot = tree.snapshot_after_work(|| {}).unwrap();
        assert_eq!(before, self.users_things());
        snapshot
    }

    /// What the next snapshot says has changed since the one before: `A name`, `M name`, …
    pub(crate) fn changed(&mut self) -> Vec<String> {
        let before = self.last.take();
        let snapshot = self.snap();
        assert_eq!(snapshot.problems, Vec::<String>::new());
        let tree = self.tree.as_ref().unwrap();
        let changes = match before {
            Some(before) => tree.changes(&before, &snapshot).unwrap(),
            None => Vec::new(),
        };
        // What it was called before git had stored it is what git calls it.
        assert!(tree.has(&snapshot.tree), "{} is not stored", snapshot.tree);
        self.last = Some(snapshot.tree);
        changes.iter().map(|change| format!("{} {}", change.kind.letter(), change.name())).collect()
    }

    /// Starts anew, as after a restart of ralph.
    pub(crate) fn restart(&mut self) {
        self.tree = None;
    }

    /// All that a snapshot must leave alone, to be compared byte by byte.
    pub(crate) fn users_things(&self) -> Vec<(String, Vec<u8>)> {
        let mut things = Vec::new();
        if let Some(repo) = &self.repo {
            for file in ["index", "HEAD", "config", "logs/HEAD", "info/exclude"] {
                for dir in [&repo.git_dir, &repo.common_dir] {
                    things.push((file.to_owned(), fs::read(dir.join(file)).unwrap_or_default()));
                }
            }
            for question in ["for-each-ref", "stash list", "count-objects -v", "worktree list"] {
                things.push((question.to_owned(), self.git(question).into_bytes()));
            }
        }
        list_files(&self.root, &mut things);
        things
    }

    /// What is in a snapshot, by name.
    pub(crate) fn names(&mut self) -> Vec<String> {
        let snapshot = self.snap();
        let call =
            self.tree.as_ref().unwrap().call("ls-tree").args(["-r", "--name-only", snapshot.tree.as_str()]);
        String::from_utf8(call.output().unwrap()).unwrap().lines().map(str::to_owned).collect()
    }
}

fn list_files(dir: &Path, things: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(dir).into_iter().flatten().map(Result::unwrap) {
        let (path, data) = (entry.path(), entry.path().symlink_metadata().unwrap());
        if entry.file_name() == ".git" || path.ends_with("project/.ralph") {
            continue;
        }
        let facts = format!("{} {:?} {:?}", data.len(), data.modified().unwrap(), data.permissions());
        things.push((path.to_string_lossy().into_owned(), facts.into_bytes()));
        if data.is_dir() {
            list_files(&path, things);
        }
    }
    things.sort();
}
