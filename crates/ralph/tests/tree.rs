//! Snapshots against real git: what they see, what they must not see, and that the user's repository is the same
//! before and after each of them.
#![expect(clippy::disallowed_methods, reason = "tests write their own files")]
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[path = "tree/held_up.rs"]
mod held_up;
#[path = "tree/project.rs"]
mod project;
#[path = "tree/taking.rs"]
mod taking;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use project::Project;
use ralph::git::{self, GitError};
use ralph::process::{Hurry, Spec, capture};
use ralph::tree::Tree;

fn set_mtime(path: &Path, time: SystemTime) {
    File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

const NOTHING: [&str; 0] = [];

#[test]
fn nothing_done_is_nothing_changed() {
    let mut p = Project::new();
    let first = p.snap();
    assert_eq!(p.snap(), first);
    assert_eq!(first.tree.as_str(), p.git("rev-parse HEAD^{tree}"));
    assert_eq!(first.head, Some(p.git("rev-parse HEAD")));
    assert_eq!(first.branch.as_deref(), Some("main"));
    assert_eq!(p.tree.as_ref().unwrap().diff(&first.tree, &first.tree).unwrap(), []);
}

#[test]
fn every_kind_of_edit_is_seen_by_name() {
    let mut p = Project::new();
    p.write("tool.sh", "x\n");
    p.write("old name.txt", "content that moves\n");
    p.write("turns", "into a link\n");
    p.commit("more");
    p.changed();
    p.write("a.txt", "1\n");
    p.write("new/deep/file", "n\n");
    p.remove("src/b.txt");
    fs::rename(p.path("old name.txt"), p.path("new name.txt")).unwrap();
    fs::set_permissions(p.path("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    p.remove("turns");
    symlink("a.txt", p.path("turns")).unwrap();
    symlink("nowhere", p.path("dangling")).unwrap();
    assert_eq!(
        p.changed(),
        [
            "M a.txt", "A dangling", "A new name.txt", "A new/deep/file", "D old name.txt", "D src/b.txt",
            "M tool.sh", "T turns"
        ]
    );
    assert_eq!(p.changed(), NOTHING);
    p.remove("new/deep/file");
    assert_eq!(p.changed(), ["D new/deep/file"]);
}

#[test]
fn a_touched_file_with_the_same_content_is_no_change() {
    let mut p = Project::new();
    p.changed();
    set_mtime(&p.path("a.txt"), SystemTime::now() + Duration::from_secs(5));
    assert_eq!(p.changed(), NOTHING);
    assert_eq!(p.changed(), NOTHING);
}

#[test]
fn an_edit_of_the_same_size_at_the_same_time_is_seen() {
    let mut p = Project::new();
    // All that is left to git is size and time in seconds, and both stay the same.
    p.git("config core.trustctime false");
    p.git("config core.checkStat minimal");
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    set_mtime(&p.path("a.txt"), then);
    p.git("update-index --refresh");
    set_mtime(&p.path(".git/index"), then);
    p.write("a.txt", "ONE\n");
    set_mtime(&p.path("a.txt"), then);
    let snapshot = p.snap();
    assert_ne!(snapshot.tree.as_str(), p.git("rev-parse HEAD^{tree}"));
    // The same between two snapshots, with the private index instead of the user's.
    p.last = Some(snapshot.tree);
    for text in ["two\n", "TWO\n", "two\n"] {
        p.write("a.txt", text);
        assert_eq!(p.changed(), ["M a.txt"], "{text}");
    }
}

#[test]
fn ignored_files_are_not_seen_unless_they_are_tracked() {
    let mut p = Project::new();
    p.write("kept.log", "1\n");
    p.git("add -f kept.log");
    p.git("commit -q -m log");
    p.changed();
    p.write("other.log", "1\n");
    assert_eq!(p.changed(), NOTHING);
    p.write("kept.log", "2\n");
    assert_eq!(p.changed(), ["M kept.log"]);
    p.git("add -f other.log");
    assert_eq!(p.changed(), ["A other.log"]);
    p.remove("kept.log");
    assert_eq!(p.changed(), ["D kept.log"]);
    p.restart();
    p.write("kept.log", "2\n");
    assert_eq!(p.changed(), ["A kept.log"]);
}

#[test]
fn a_file_that_git_only_stops_to_track_was_not_deleted() {
    let mut p = Project::new();
    p.write("kept.log", "1\n");
    p.git("add -f kept.log");
    p.git("commit -q -m log");
    p.changed();
    p.git("rm -q --cached kept.log");
    assert_eq!(p.changed(), NOTHING);
    p.write("kept.log", "2\n");
    assert_eq!(p.changed(), NOTHING);
    // Deleted and no longer tracked is deleted.
    p.git("rm -q a.txt");
    assert_eq!(p.changed(), ["D a.txt"]);
}

#[test]
fn what_becomes_ignored_leaves_the_snapshot_without_a_deletion() {
    let mut p = Project::new();
    p.write("out/1.o", "1\n");
    p.changed();
    p.write(".gitignore", "*.log\nout/\n");
    assert_eq!(p.changed(), ["M .gitignore"]);
    p.write("out/1.o", "2\n");
    p.write("out/2.o", "2\n");
    assert_eq!(p.changed(), NOTHING);
    assert_eq!(p.names(), [".gitignore", "a.txt", "src/b.txt"]);
    p.write(".git/info/exclude", "a.*\nnotes\n");
    p.write("notes", "n\n");
    assert_eq!(p.changed(), NOTHING);
    p.write("a.txt", "tracked\n");
    assert_eq!(p.changed(), ["M a.txt"]);
}

#[test]
fn a_repository_without_commits_is_measured() {
    let mut p = Project::empty();
    let empty = p.snap();
    assert_eq!((empty.head.as_deref(), empty.branch.as_deref()), (None, Some("main")));
    p.last = Some(empty.tree);
    p.write("a", "1\n");
    assert_eq!(p.changed(), ["A a"]);
    p.git("add a");
    assert_eq!(p.changed(), NOTHING);
    p.git("commit -q -m first");
    assert_eq!(p.changed(), NOTHING);
    p.write("a", "2\n");
    p.write(".gitignore", "b\n");
    p.write("b", "1\n");
    assert_eq!(p.changed(), ["A .gitignore", "M a"]);
}

#[test]
fn a_detached_head_is_measured() {
    let mut p = Project::new();
    p.git("checkout -q --detach");
    p.changed();
    p.write("a.txt", "2\n");
    assert_eq!(p.changed(), ["M a.txt"]);
    let snapshot = p.snap();
    assert_eq!(snapshot.branch, None);
    assert_eq!(snapshot.head, Some(p.git("rev-parse HEAD")));
}

#[test]
fn a_linked_worktree_is_measured_by_itself() {
    let mut p = Project::new();
    let linked = p.dir.join("linked: \"here\"");
    let added = p.run(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    assert!(added.end.success());
    p.root = linked.canonicalize().unwrap();
    p.repo = git::discover(&p.root.join("src")).unwrap();
    let repo = p.repo.as_ref().unwrap();
    assert_eq!(repo.root, p.root);
    assert_ne!(repo.git_dir, repo.common_dir);
    p.changed();
    p.write("a.txt", "2\n");
    p.write("n", "2\n");
    assert_eq!(p.changed(), ["M a.txt", "A n"]);
    assert_eq!(p.snap().branch.as_deref(), Some("side"));
}

#[test]
fn a_project_below_the_top_of_the_repository_is_found() {
    let mut p = Project::new();
    let repo = git::discover(&p.path("src")).unwrap().unwrap();
    assert_eq!(repo.root, p.root);
    let mut tree = Tree::open(&p.path("src"), &p.store(), Some(&repo)).unwrap();
    let before = tree.snapshot().unwrap();
    p.write("src/.ralph/notes", "n\n");
    assert_eq!(tree.snapshot().unwrap().tree, before.tree);
    p.write("a.txt", "2\n");
    let after = tree.snapshot().unwrap();
    assert_eq!(tree.diff(&before.tree, &after.tree).unwrap()[0].path, b"a.txt");
    p.repo = None;
}

#[test]
fn objects_borrowed_from_another_repository_are_found() {
    let origin = Project::new();
    let mut p = Project::folder();
    let source = origin.root.to_str().unwrap();
    fs::remove_dir(&p.root).unwrap();
    let middle = p.dir.join("mid:dle");
    let clone = |from: &str, to: &Path| {
        let spec = Spec::new("git", &p.dir).args(["clone", "-q", "--shared", from]).arg(to);
        assert!(capture(&spec).unwrap().end.success());
    };
    clone(source, &middle);
    clone(middle.to_str().unwrap(), &p.root);
    p.repo = git::discover(&p.root).unwrap();
    p.changed();
    p.write("a.txt", "2\n");
    assert_eq!(p.changed(), ["M a.txt"]);
    let snapshot = p.snap();
    let call =
        p.tree.as_ref().unwrap().call("cat-file").args(["-p", &format!("{}:src/b.txt", snapshot.tree)]);
    assert_eq!(call.output().unwrap(), b"two\n");
}

#[test]
fn a_folder_without_git_is_measured() {
    let mut p = Project::folder();
    assert_eq!(git::discover(&p.root).unwrap(), None);
    p.write("a", "1\n");
    p.write("d/b", "1\n");
    p.write(".gitignore", "*.log\n");
    assert_eq!(p.names(), [".gitignore", "a", "d/b"]);
    let snapshot = p.snap();
    assert_eq!((snapshot.head, snapshot.branch), (None, None));
    p.changed();
    p.write("a", "2\n");
    p.write("x.log", "2\n");
    p.write(".ralph/scratchpad.md", "2\n");
    fs::remove_dir_all(p.path("d")).unwrap();
    assert_eq!(p.changed(), ["M a", "D d/b"]);
    p.restart();
    p.write("c", "2\n");
    assert_eq!(p.changed(), ["A c"]);
    p.write(".gitignore", "*.log\nc\n");
    assert_eq!(p.changed(), ["M .gitignore"]);
    assert_eq!(p.names(), [".gitignore", "a"]);
    // The agent makes it a repository in the middle of a run.
    p.git("init -q");
    p.commit("first");
    p.write("a", "3\n");
    assert_eq!(p.changed(), ["M a"]);
}

#[test]
fn names_may_be_any_bytes() {
    let mut p = Project::new();
    p.changed();
    let names: [&[u8]; 5] = [b"\xff\xfe.txt", b"new\nline", b" lead\t", b":(top)x", b"*"];
    for name in names {
        fs::write(p.root.join(OsStr::from_bytes(name)), "x\n").unwrap();
    }
    let before = p.last.clone().unwrap();
    let after = p.snap();
    let changes = p.tree.as_ref().unwrap().diff(&before, &after.tree).unwrap();
    let mut seen: Vec<_> = changes.iter().map(|change| change.path.as_slice()).collect();
    seen.sort_by_key(|name| names.iter().position(|known| known == name));
    assert_eq!(seen, names);
}

#[test]
fn a_staged_conflict_or_intent_counts_as_what_is_on_disk() {
    let mut p = Project::new();
    p.git("checkout -q -b side");
    p.write("a.txt", "side\n");
    p.commit("side");
    p.git("checkout -q main");
    p.write("a.txt", "main\n");
    p.commit("main");
    p.changed();
    p.write("intended", "i\n");
    p.git("add -N intended");
    assert_eq!(p.changed(), ["A intended"]);
    p.write("empty", "");
    p.git("add -N empty");
    assert_eq!(p.changed(), ["A empty"]);
    p.git("reset -q");
    p.git("add intended empty");
    p.git("commit -q -m all");
    assert!(!p.run(&["merge", "-q", "side"]).end.success());
    assert_eq!(p.changed(), ["M a.txt"]);
    assert_eq!(p.changed(), NOTHING);
    p.write("a.txt", "main\n");
    assert_eq!(p.changed(), ["M a.txt"]);
    p.git("merge --abort");
    assert_eq!(p.changed(), NOTHING);
}

#[test]
fn files_that_git_was_told_to_overlook_are_seen() {
    let mut p = Project::new();
    p.git("update-index --assume-unchanged a.txt");
    p.git("update-index --skip-worktree src/b.txt");
    p.changed();
    p.write("a.txt", "2\n");
    p.write("src/b.txt", "2\n");
    assert_eq!(p.changed(), ["M a.txt", "M src/b.txt"]);
    assert_eq!(p.git("ls-files -v a.txt src/b.txt"), "h a.txt\nS src/b.txt");
    p.remove("a.txt");
    assert_eq!(p.changed(), ["D a.txt"]);
    // Skipped and absent is no deletion, but if it comes it is seen.
    let mut p = Project::new();
    p.git("update-index --skip-worktree src/b.txt");
    p.remove("src/b.txt");
    p.changed();
    assert_eq!(p.names(), [".gitignore", "a.txt", "src/b.txt"]);
    p.write("src/b.txt", "2\n");
    assert_eq!(p.changed(), ["M src/b.txt"]);
}

#[test]
fn what_git_noted_about_overlooked_files_is_not_believed() {
    let mut p = Project::new();
    p.git("config core.trustctime false");
    p.git("config core.checkStat minimal");
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for (name, flag) in [("a.txt", "assume-unchanged"), ("src/b.txt", "skip-worktree")] {
        set_mtime(&p.path(name), then);
        p.git("update-index --refresh");
        p.git(&format!("update-index --{flag} {name}"));
        p.write(name, "ONE\n");
        set_mtime(&p.path(name), then);
    }
    // Size and time fit, and the index is newer: git would take both files as unchanged.
    p.changed();
    let tree = p.last.clone().unwrap();
    for name in ["a.txt", "src/b.txt"] {
        let call = p.tree.as_ref().unwrap().call("cat-file").arg("-p").arg(format!("{tree}:{name}"));
        assert_eq!(call.output().unwrap(), b"ONE\n", "{name}");
    }
}

#[test]
fn a_sparse_checkout_shows_no_false_deletions() {
    for index in ["--no-sparse-index", "--sparse-index"] {
        let mut p = Project::new();
        p.write("docs/c.txt", "3\n");
        p.commit("docs");
        p.changed();
        p.git(&format!("sparse-checkout set {index} src"));
        assert!(!p.path("docs/c.txt").exists());
        assert_eq!(p.changed(), NOTHING, "{index}");
        p.write("src/b.txt", "2\n");
        p.write("docs/new.txt", "2\n");
        assert_eq!(p.changed(), ["A docs/new.txt", "M src/b.txt"], "{index}");
        p.write("docs/c.txt", "outside\n");
        assert_eq!(p.changed(), ["M docs/c.txt"], "{index}");
        p.restart();
        assert_eq!(p.changed(), NOTHING, "{index}");
        // Absent again is as it was, not a deletion.
        let before = p.git("rev-parse HEAD:docs/c.txt");
        p.remove("docs/c.txt");
        assert_eq!(p.changed(), ["M docs/c.txt"], "{index}");
        let tree = p.last.clone().unwrap();
        let call = p.tree.as_ref().unwrap().call("rev-parse").arg(format!("{tree}:docs/c.txt"));
        assert_eq!(call.line().unwrap(), Some(before), "{index}");
    }
}

#[test]
fn a_commit_changes_nothing_on_disk() {
    let mut p = Project::new();
    p.write("a.txt", "2\n");
    p.write("new", "2\n");
    p.changed();
    let before = p.snap().head;
    p.commit("work");
    assert_eq!(p.changed(), NOTHING);
    let snapshot = p.snap();
    assert_eq!(snapshot.tree.as_str(), p.git("rev-parse HEAD^{tree}"));
    let repo = p.repo.as_ref().unwrap();
    let commits = repo.commits_between(before.as_deref(), snapshot.head.as_deref()).unwrap();
    assert_eq!(commits.ids, [snapshot.head.unwrap()]);
    assert!(commits.changed_tree);
    p.write("a.txt", "3\n");
    p.commit("more");
    assert_eq!(p.changed(), ["M a.txt"]);
    p.git("stash list");
    p.write("a.txt", "4\n");
    p.git("stash -q");
    assert_eq!(p.changed(), NOTHING);
    p.git("status");
    assert_eq!(p.changed(), NOTHING);
}

#[test]
fn ralphs_own_folder_is_never_seen() {
    let mut p = Project::new();
    p.write(".ralph/config.toml", "x\n");
    p.write(".ralphx", "x\n");
    p.commit("shared");
    assert_eq!(p.names(), [".gitignore", ".ralphx", "a.txt", "src/b.txt"]);
    p.changed();
    p.write(".ralph/config.toml", "y\n");
    p.write(".ralph/history/1.md", "y\n");
    assert_eq!(p.changed(), NOTHING);
    fs::remove_dir_all(p.path(".ralph")).unwrap();
    assert_eq!(p.changed(), NOTHING);
    p.write(".ralph/.gitignore", "*\n");
    p.write("a.txt", "2\n");
    assert_eq!(p.changed(), ["M a.txt"]);
    p.git("add -A");
    assert_eq!(p.changed(), NOTHING);
}

#[test]
fn nested_repositories_count_as_their_commit() {
    let mut p = Project::new();
    p.changed();
    p.git("init -q inner");
    p.write("inner/x", "1\n");
    let snapshot = p.snap();
    assert_eq!(snapshot.problems, ["inner/: a repository without commits, left out"]);
    assert_eq!(Some(&snapshot.tree), p.last.as_ref());
    p.write("a.txt", "2\n");
    assert_ne!(Some(p.snap().tree), p.last, "the rest is still measured");
    p.write("a.txt", "one\n");
    p.git("-C inner add x");
    p.git("-C inner commit -q -m x");
    assert_eq!(p.changed(), ["A inner"]);
    p.write("inner/x", "2\n");
    let snapshot = p.snap();
    assert_eq!(Some(&snapshot.tree), p.last.as_ref());
    let unseen =
        "inner: a repository of its own with changes that are not committed, which no snapshot holds";
    assert_eq!(snapshot.problems, [unseen]);
    p.git("-C inner commit -q -a -m y");
    assert_eq!(p.changed(), ["M inner"]);
}

#[test]
fn big_untracked_files_are_named_and_not_read() {
    let mut p = Project::new();
    p.write("grows", "1\n");
    p.changed();
    let grow = |name: &str| File::create(p.path(name)).unwrap().set_len(51_000_000).unwrap();
    grow("big:\"one\"");
    grow("grows");
    p.write("small", "1\n");
    let snapshot = p.snap();
    assert_eq!(snapshot.too_big, ["big:\"one\"", "grows"]);
    assert_eq!(p.changed(), ["A small"]);
    assert_eq!(p.snap().tree, snapshot.tree);
    p.remove("big:\"one\"");
    p.remove("grows");
    assert_eq!(p.changed(), ["D grows"]);
    assert_eq!(p.snap().too_big, NOTHING);
}

#[test]
fn the_last_snapshot_is_remembered_only_while_it_is_true() {
    let mut p = Project::new();
    p.write("new", "1\n");
    p.changed();
    p.restart();
    assert_eq!(p.changed(), NOTHING);
    p.restart();
    p.write("new", "2\n");
    assert_eq!(p.changed(), ["M new"]);
    // Cut off after the index was written and before that was noted.
    p.write("new", "3\n");
    p.tree.as_ref().unwrap().call("add").arg("-A").output().unwrap();
    p.restart();
    assert_eq!(p.changed(), ["M new"]);
    for damage in ["index", "snapshot"] {
        fs::write(p.store().join(damage), "damaged").unwrap();
        p.restart();
        assert_eq!(p.changed(), NOTHING, "{damage}");
    }
    // A snapshot that is lost with the user's history.
    let file = p.store().join("snapshot");
    let tree = p.last.take().unwrap();
    let lost = fs::read_to_string(&file).unwrap().replace(tree.as_str(), &"1".repeat(40));
    fs::write(&file, lost).unwrap();
    p.git("add -A");
    assert_eq!(p.snap().tree, tree);
}

#[test]
fn a_damaged_index_that_was_remembered_is_made_again() {
    let mut p = Project::new();
    p.write("new", "1\n");
    p.changed();
    let index = p.store().join("index");
    let length = index.metadata().unwrap().len();
    let memory = fs::read_to_string(p.store().join("snapshot")).unwrap();
    File::options().write(true).open(&index).unwrap().set_len(length / 2).unwrap();
    // Remembered as it is now.
    let tree = p.last.clone().unwrap();
    let before = memory.lines().nth(1).unwrap().to_owned();
    fs::write(p.store().join("snapshot"), memory.replace(&before, &stamp_line(&index))).unwrap();
    assert_eq!(p.snap().tree, tree);
}

fn stamp_line(path: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    let d = path.metadata().unwrap();
    let (mtime, ctime) = ((d.mtime(), d.mtime_nsec()), (d.ctime(), d.ctime_nsec()));
    let times = format!("{}.{:09}:{}.{:09}", mtime.0, mtime.1, ctime.0, ctime.1);
    format!("index {}:{}:{}:{times}", d.dev(), d.ino(), d.size())
}

#[test]
fn a_lock_that_a_killed_git_left_is_no_obstacle() {
    let mut p = Project::new();
    p.changed();
    p.write("a.txt", "2\n");
    p.write(".git/ralph/index.lock", "");
    assert_eq!(p.changed(), ["M a.txt"]);
    p.write(".git/ralph/index.lock", "");
    p.restart();
    p.write("a.txt", "3\n");
    assert_eq!(p.changed(), ["M a.txt"]);
    // The user's own lock is the user's.
    p.write(".git/index.lock", "");
    p.write("a.txt", "4\n");
    assert_eq!(p.changed(), ["M a.txt"]);
    assert!(p.path(".git/index.lock").exists());
}

#[test]
fn a_split_index_is_read_and_left_alone() {
    let mut p = Project::new();
    p.git("config core.splitIndex true");
    p.git("update-index --split-index");
    p.write("a.txt", "2\n");
    p.git("add a.txt");
    p.changed();
    p.write("src/b.txt", "2\n");
    assert_eq!(p.changed(), ["M src/b.txt"]);
}

#[test]
fn commits_are_counted_and_named() {
    let p = Project::empty();
    let repo = p.repo.as_ref().unwrap();
    assert_eq!(repo.head().unwrap(), None);
    assert_eq!(repo.branch().unwrap().as_deref(), Some("main"));
    p.git("commit -q --allow-empty -m empty");
    let empty = repo.head().unwrap();
    let commits = repo.commits_between(None, empty.as_deref()).unwrap();
    assert_eq!((commits.total, commits.changed_tree), (1, false));
    p.write("a", "1\n");
    p.commit("a");
    let first = repo.head().unwrap();
    assert!(repo.commits_between(None, first.as_deref()).unwrap().changed_tree);
    for _ in 0..103 {
        p.git("commit -q --allow-empty -m empty");
    }
    let last = repo.head().unwrap();
    let commits = repo.commits_between(first.as_deref(), last.as_deref()).unwrap();
    assert_eq!((commits.ids.len(), commits.total, commits.changed_tree), (100, 103, false));
    assert_eq!(Some(&commits.ids[0]), last.as_ref());
    assert_eq!(repo.commits_between(last.as_deref(), first.as_deref()).unwrap(), git::Commits::default());
    assert_eq!(repo.commits_between(last.as_deref(), last.as_deref()).unwrap(), git::Commits::default());
    p.git("checkout -q --detach");
    assert_eq!(repo.branch().unwrap(), None);
    let error = repo.commits_between(Some("1111111111111111111111111111111111111111"), last.as_deref());
    assert!(error.unwrap_err().to_string().starts_with("git rev-list failed (exit 128): bad object"));
}

#[test]
fn commits_of_notes_alone_change_no_tree() {
    let p = Project::empty();
    let repo = p.repo.as_ref().unwrap();
    let (mut before, mut changed) = (None, vec![]);
    for name in ["CLAUDE.md", "AGENTS.md", ".claude/harness/list.json", "docs/CLAUDE.md"] {
        p.write(name, "learned\n");
        p.commit(name);
        let head = repo.head().unwrap();
        changed.push(repo.commits_between(before.as_deref(), head.as_deref()).unwrap().changed_tree);
        before = head;
    }
    assert_eq!(changed, [false, false, false, true]);
    let below = git::discover(&p.path("docs")).unwrap().expect("the same repository");
    assert!(below.commits_between(None, before.as_deref()).unwrap().changed_tree);
}

#[test]
fn a_place_without_a_working_tree_is_said_plainly() {
    let p = Project::new();
    let inside = git::discover(&p.path(".git")).unwrap_err();
    assert!(matches!(inside, GitError::NoWorkTree { .. }), "{inside}");
    p.git("init -q --bare bare");
    let bare = git::discover(&p.path("bare")).unwrap_err();
    assert!(bare.to_string().contains("has no working tree"), "{bare}");
    p.write("broken/.git", "gitdir: /nowhere/at/all\n");
    let broken = git::discover(&p.path("broken")).unwrap_err();
    assert!(broken.to_string().contains("not a git repository: /nowhere/at/all"), "{broken}");
    let missing = git::Call::new(&p.root, "version").env("PATH", "/nonexistent").run();
    assert_eq!(missing.unwrap_err(), GitError::Missing);
    let nowhere = git::discover(&p.path("does-not-exist")).unwrap_err();
    assert!(matches!(nowhere, GitError::Start(_)), "{nowhere}");
}

#[test]
fn what_is_measured_ahead_is_the_next_snapshot_and_no_later_one() {
    let mut p = Project::new();
    let first = p.snap();
    p.write("a.txt", "changed\n");
    p.tree.as_mut().unwrap().measure_ahead();
    let second = p.snap();
    assert_ne!(second.tree, first.tree);
    p.write("a.txt", "changed again\n");
    let tree = p.tree.as_mut().unwrap();
    tree.measure_ahead();
    tree.forget_ahead();
    p.write("src/b.txt", "and this\n");
    let third = p.snap();
    let changes = p.tree.as_ref().unwrap().changes(&second.tree, &third).unwrap();
    let names: Vec<_> = changes.iter().map(|change| change.name()).collect();
    assert_eq!(names, ["a.txt", "src/b.txt"]);
    // One that nobody asked for is gone with the tree, and its lock too.
    p.tree.as_mut().unwrap().measure_ahead();
    p.restart();
    assert!(!p.store().join("index.lock").exists());
    assert_eq!(p.snap().tree, third.tree);
}

#[test]
fn many_changes_in_a_row_are_each_seen_whatever_git_was_ready_for() {
    let mut p = Project::new();
    p.changed();
    for number in 0..20 {
        p.write("a.txt", &format!("{number}\n"));
        assert_eq!(p.changed(), ["M a.txt"], "{number}");
    }
    // Rules that change, and a repository in the repository, are not taken in by name.
    p.write(".gitignore", "*.log\na.txt\n");
    p.write("c.log", "ignored\n");
    assert_eq!(p.changed(), ["M .gitignore"]);
    p.write("src/b.txt", "three\n");
    assert_eq!(p.changed(), ["M src/b.txt"]);
    fs::create_dir(p.path("inner")).unwrap();
    p.git("-C inner init -q -b main");
    p.git("-C inner commit -q --allow-empty -m inner");
    p.write("src/b.txt", "four\n");
    assert_eq!(p.changed(), ["A inner", "M src/b.txt"]);
}

#[cfg(target_os = "linux")]
#[test]
fn filters_that_hang_are_ended_where_somebody_is_in_a_hurry_and_nothing_is_taken_for_measured() {
    let mut p = Project::new();
    p.changed();
    p.run(&["config", "filter.slow.clean", "exec sleep 98765"]);
    p.write(".gitattributes", "*.slow filter=slow\n");
    p.write("one.slow", "1\n");
    p.write("two.slow", "2\n");
    let hurry = Hurry::new().unwrap();
    hurry.up();
    let mut tree = p.tree.take().unwrap().until(hurry);
    let error = tree.snapshot().unwrap_err().to_string();
    assert!(error.contains("ran a filter (.gitattributes) that was ended"), "{error}");
    // Once it is mended, all is measured.
    p.run(&["config", "--unset", "filter.slow.clean"]);
    p.tree = Some(tree);
    assert_eq!(p.changed(), ["A .gitattributes", "A one.slow", "A two.slow"]);
}

#[test]
fn what_a_snapshot_holds_is_read_from_the_private_index_as_git_would_tell_it() {
    for version in ["2", "4"] {
        let mut p = Project::new();
        p.run(&["config", "index.version", version]);
        p.git(&format!("update-index --index-version {version}"));
        p.write("src/deep/c.txt", "three\n");
        p.write("tool.sh", "x\n");
        fs::set_permissions(p.path("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("a.txt", p.path("turns")).unwrap();
        let first = p.snap();
        p.write("a.txt", "other\n");
        let now = p.snap();
        let names = ["a.txt", "src/b.txt", "src/deep/c.txt", "tool.sh", "turns", "nowhere"];
        let names: BTreeSet<Vec<u8>> = names.map(Vec::from).into();
        let tree = p.tree.as_ref().unwrap();
        let listed = tree.call("ls-tree").args(["-r", now.tree.as_str()]).output().unwrap();
        let listed = String::from_utf8(listed).unwrap();
        let held = tree.held(&now.tree, &names).unwrap();
        let told: Vec<String> = held
            .iter()
            .map(|(path, object)| {
                format!("{:06o} blob {}\t{}", object.mode, object.id, String::from_utf8_lossy(path))
            })
            .collect();
        let listed: Vec<&str> = listed.lines().filter(|line| !line.ends_with(".gitignore")).collect();
        assert_eq!(told, listed, "version {version}");
        assert_eq!(tree.held(&first.tree, &names), None, "it is another one by now");
        fs::write(p.store().join("index"), "no index").unwrap();
        assert_eq!(tree.held(&now.tree, &names), None, "somebody wrote to the index");
    }
}
