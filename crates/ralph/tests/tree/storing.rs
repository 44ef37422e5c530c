//! A snapshot has its name before git has stored it.

use std::fs;
use std::path::PathBuf;

use ralph::tree::{Snapshot, Tree, TreeId};

use crate::project::Project;

/// Where git keeps what is in no pack.
fn loose(p: &Project, tree: &TreeId) -> PathBuf {
    let (folder, rest) = tree.as_str().split_at(2);
    p.store().join("objects").join(folder).join(rest)
}

/// What git is still to store is in a copy of the index.
fn is_pending(p: &Project) -> bool {
    fs::metadata(p.store().join("index.storing")).is_ok_and(|data| data.len() > 0)
}

/// Takes snapshots until one is stored beside what comes next.
fn pending(p: &mut Project) -> Snapshot {
    for round in 0..3 {
        p.write("src/b.txt", &format!("{round}\n"));
        let snapshot = p.snap();
        if is_pending(p) {
            return snapshot;
        }
    }
    panic!("no snapshot was left to be stored later");
}

#[test]
fn what_an_agent_left_has_its_name_while_git_is_still_storing_it() {
    let mut p = Project::new();
    p.snap();
    let one = pending(&mut p);
    p.write("src/b.txt", "four\n");
    let other = p.snap();
    assert!(is_pending(&p));
    let tree = p.tree.as_ref().unwrap();
    // The difference is known from the comparison, so that nobody waits for it.
    assert_eq!(tree.diff(&one.tree, &other.tree).unwrap().len(), 1);
    assert!(is_pending(&p));
    tree.settle().unwrap();
    assert!(!is_pending(&p) && loose(&p, &other.tree).is_file());
    tree.settle().unwrap();
}

#[test]
fn now_and_then_git_notes_which_folders_it_has_stored() {
    let mut p = Project::new();
    p.snap();
    let later = (0..16).filter(|round| {
        p.write("src/b.txt", &format!("{round}\n"));
        p.snap();
        is_pending(&p)
    });
    assert_eq!(later.count(), 14, "of 16");
}

#[test]
fn a_snapshot_that_nobody_waited_for_is_stored_when_ralph_ends() {
    let mut p = Project::new();
    p.snap();
    let left = pending(&mut p);
    p.restart();
    assert!(!is_pending(&p) && loose(&p, &left.tree).is_file());
    assert_eq!(p.snap(), left);
}

#[test]
fn a_snapshot_that_was_recorded_and_not_stored_is_stored_by_the_next_ralph_though_the_files_went_on() {
    let mut p = Project::new();
    p.snap();
    let left = pending(&mut p);
    let copy = p.store().join("index.storing");
    let index = fs::read(p.store().join("index")).unwrap();
    p.restart();
    // As a machine leaves it that died before git had written the tree.
    fs::write(&copy, index).unwrap();
    fs::remove_file(loose(&p, &left.tree)).unwrap();
    p.write("src/b.txt", "the user's, later\n");
    let now = p.snap();
    assert_ne!(now.tree, left.tree);
    let tree = p.tree.as_ref().unwrap();
    assert!(tree.has(&left.tree));
    let changes = tree.diff(&left.tree, &now.tree).unwrap();
    assert_eq!(changes.iter().map(|change| change.name().into_owned()).collect::<Vec<_>>(), ["src/b.txt"]);
}

#[test]
fn a_lock_that_a_killed_git_left_does_not_keep_a_snapshot_from_being_stored() {
    let mut p = Project::new();
    p.snap();
    let copy = p.store().join("index.storing.lock");
    fs::write(&copy, "").unwrap();
    let left = pending(&mut p);
    p.tree.as_ref().unwrap().settle().unwrap();
    assert!(loose(&p, &left.tree).is_file() && !copy.exists());
}

#[test]
fn a_damaged_copy_of_the_index_hinders_no_later_snapshot() {
    let mut p = Project::new();
    p.snap();
    let left = pending(&mut p);
    p.restart();
    fs::write(p.store().join("index.storing"), "damaged").unwrap();
    p.write("src/b.txt", "and again\n");
    let now = p.snap();
    let tree = p.tree.as_ref().unwrap();
    assert!(tree.has(&now.tree) && tree.has(&left.tree));
}

#[test]
fn a_store_that_goes_while_git_writes_into_it_hinders_no_later_snapshot() {
    let mut p = Project::new();
    p.snap();
    pending(&mut p);
    // In one step: git may make a file while others are removed.
    let gone = p.dir.join("gone");
    fs::rename(p.store(), &gone).unwrap();
    p.tree.as_ref().unwrap().settle().unwrap();
    p.tree = Some(Tree::anew(&p.root, &p.store(), p.repo.as_ref()).unwrap());
    p.write("a.txt", "three\n");
    let after = p.snap();
    assert!(p.tree.as_ref().unwrap().has(&after.tree));
}

#[test]
fn repositories_with_longer_ids_wait_for_git() {
    let mut p = Project::folder();
    p.git("init -q -b main --object-format=sha256");
    p.repo = ralph::git::discover(&p.root).unwrap();
    p.write("a.txt", "one\n");
    p.commit("first");
    p.changed();
    p.write("a.txt", "two\n");
    assert_eq!(p.changed(), ["M a.txt"]);
    p.write("a.txt", "three\n");
    assert_eq!(p.changed(), ["M a.txt"]);
    assert_eq!(p.last.as_ref().map(|tree| tree.as_str().len()), Some(64));
}
