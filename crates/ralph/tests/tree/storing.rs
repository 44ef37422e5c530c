//! A snapshot has its name before git has stored it.

use std::fs;
use std::path::PathBuf;

use ralph::tree::{Tree, TreeId};

use crate::project::Project;

/// Where git keeps what is in no pack.
fn loose(p: &Project, tree: &TreeId) -> PathBuf {
    let (folder, rest) = tree.as_str().split_at(2);
    p.store().join("objects").join(folder).join(rest)
}

#[test]
fn what_an_agent_left_has_its_name_while_git_is_still_storing_it() {
    let mut p = Project::new();
    p.snap();
    p.write("src/b.txt", "three\n");
    let one = p.snap();
    p.write("src/b.txt", "four\n");
    let other = p.snap();
    assert_ne!(one.tree, other.tree);
    let tree = p.tree.as_ref().unwrap();
    // The difference is known from the comparison, so that nobody waits for it.
    assert_eq!(tree.diff(&one.tree, &other.tree).unwrap().len(), 1);
    tree.settle().unwrap();
    assert!(loose(&p, &other.tree).is_file());
    tree.settle().unwrap();
}

#[test]
fn a_snapshot_that_nobody_waited_for_is_stored_when_ralph_ends() {
    let mut p = Project::new();
    p.snap();
    p.write("a.txt", "two\n");
    let left = p.snap();
    p.restart();
    assert!(loose(&p, &left.tree).is_file());
    assert_eq!(p.snap(), left);
}

#[test]
fn a_snapshot_that_was_recorded_and_not_stored_is_stored_by_the_next_ralph_though_the_files_went_on() {
    let mut p = Project::new();
    p.snap();
    let memory = p.store().join("snapshot");
    let before = fs::read(&memory).unwrap();
    p.write("a.txt", "the agent's\n");
    let left = p.snap();
    p.restart();
    // As a machine leaves it that died before git had written the tree.
    fs::write(&memory, before).unwrap();
    fs::remove_file(loose(&p, &left.tree)).unwrap();
    p.write("a.txt", "the user's, later\n");
    let now = p.snap();
    assert_ne!(now.tree, left.tree);
    let tree = p.tree.as_ref().unwrap();
    assert!(tree.has(&left.tree));
    let changes = tree.diff(&left.tree, &now.tree).unwrap();
    assert_eq!(changes.iter().map(|change| change.name().into_owned()).collect::<Vec<_>>(), ["a.txt"]);
}

#[test]
fn a_store_that_goes_while_git_writes_into_it_hinders_no_later_snapshot() {
    let mut p = Project::new();
    p.snap();
    p.write("a.txt", "two\n");
    p.snap();
    fs::remove_dir_all(p.store()).unwrap();
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
