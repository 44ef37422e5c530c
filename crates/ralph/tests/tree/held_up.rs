//! What an agent can leave in a tree to hold up whoever measures it: pipes, filters with children, repositories that point
//! elsewhere, and notes without end.

use std::fs;

use super::Project;
use ralph::process::{Hurry, Spec, capture};

fn pipe(p: &Project, name: &str) {
    fs::create_dir_all(p.path(name).parent().unwrap()).unwrap();
    capture(&Spec::new("mkfifo", "/").arg(p.path(name))).unwrap();
}

fn refused(p: &mut Project) -> String {
    p.tree.as_mut().unwrap().snapshot_after_work(|| {}).unwrap_err().to_string()
}

#[cfg(target_os = "linux")]
#[test]
fn a_named_pipe_at_which_git_waits_is_named_and_nobody_waits_for_ever() {
    let mut p = Project::new();
    p.changed();
    p.write("sub/x", "1\n");
    pipe(&p, "sub/.gitignore");
    let told = refused(&mut p);
    let words =
        "git status was ended: it waits for a named pipe in the place of a file; remove it: sub/.gitignore";
    assert_eq!(told, words);
    p.remove("sub/.gitignore");
    assert_eq!(p.changed(), ["A sub/x"], "all is measured where it is gone");
    p.write("sub/x", "2\n");
    pipe(&p, "sub/.gitattributes");
    assert!(refused(&mut p).contains("remove it: sub/.gitattributes"));
    p.remove("sub/.gitattributes");
    assert_eq!(p.changed(), ["M sub/x"]);
}

#[test]
fn a_git_that_waits_for_ever_is_ended_where_somebody_is_in_a_hurry_and_leaves_no_lock() {
    let mut p = Project::new();
    p.changed();
    p.write("sub/x", "1\n");
    pipe(&p, "sub/.gitignore");
    let hurry = Hurry::new().unwrap();
    hurry.up();
    p.tree = Some(p.tree.take().unwrap().until(hurry));
    assert!(refused(&mut p).starts_with("git status was ended: "));
    assert!(!p.store().join("index.lock").exists());
    p.remove("sub/.gitignore");
    assert_eq!(p.changed(), ["A sub/x"]);
}

#[test]
fn files_are_put_back_to_the_last_though_their_filters_take_longer_than_somebody_in_a_hurry_waits() {
    let mut p = Project::new();
    p.run(&["config", "filter.slow.clean", "cat"]);
    p.run(&["config", "filter.slow.smudge", "sleep 3; cat"]);
    p.write(".gitattributes", "*.slow filter=slow\n");
    p.write("one.slow", "1\n");
    let first = p.snap();
    p.write("one.slow", "2\n");
    let hurry = Hurry::new().unwrap();
    let mut tree = p.tree.take().unwrap().until(hurry.clone());
    let way = tree.way_back_but(&first.tree, &|_| false).unwrap();
    hurry.up();
    tree.put_back(&way).unwrap();
    assert_eq!(fs::read_to_string(p.path("one.slow")).unwrap(), "1\n");
    p.tree = Some(tree);
}

/// How many children of this process have ended and wait to be reaped.
#[cfg(target_os = "linux")]
fn zombies() -> usize {
    let own = format!(" {} ", std::process::id());
    let stat = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("stat")).ok();
    let stats = fs::read_dir("/proc").unwrap().flatten().filter_map(stat);
    stats.filter(|stat| stat.rsplit_once(") Z").is_some_and(|(_, rest)| rest.starts_with(&own))).count()
}

#[cfg(target_os = "linux")]
#[test]
fn what_filters_leave_behind_is_reaped_and_does_not_pile_up() {
    let mut p = Project::new();
    p.changed();
    p.run(&["config", "filter.leaves.clean", "(true &); sleep 0.02; cat"]);
    p.write(".gitattributes", "*.left filter=leaves\n");
    for round in 0..4 {
        for file in ["1", "2", "3", "4", "5"] {
            p.write(&format!("{file}.left"), &format!("{round}\n"));
        }
        p.snap();
        assert_eq!(zombies(), 0, "round {round}");
    }
}

#[test]
fn a_nested_repository_is_looked_for_where_it_is_and_not_where_it_says() {
    let mut p = Project::new();
    let elsewhere = p.dir.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    p.git("init -q -b main in");
    p.git(&format!("-C in config core.worktree {}", elsewhere.display()));
    p.write("in/here.txt", "1\n");
    let first = p.snap().beside;
    assert_eq!(first.len(), 1, "{first:?}");
    fs::write(elsewhere.join("there.txt"), "1\n").unwrap();
    assert_eq!(p.snap().beside, first);
    p.write("in/here.txt", "longer\n");
    assert_ne!(p.snap().beside, first);
}

#[test]
fn of_very_many_nested_repositories_the_first_by_name_are_asked_and_the_rest_is_said() {
    let mut p = Project::new();
    p.git("init -q -b main in-000");
    p.write("in-000/file", "1\n");
    for number in 1..103 {
        let copied = Spec::new("cp", &p.root).args(["-r", "in-000", &format!("in-{number:03}")]);
        assert!(capture(&copied).unwrap().end.success());
    }
    let snapshot = p.snap();
    let names: Vec<String> = (0..100).map(|number| format!("in-{number:03}/")).collect();
    let told: Vec<String> = snapshot.beside.iter().map(|one| one.path.to_string()).collect();
    assert_eq!(told, names);
    assert_eq!(p.snap().beside, snapshot.beside);
    let said = "3 of the repositories within this one were not looked into";
    assert!(snapshot.problems.iter().any(|problem| problem.starts_with(said)), "{:?}", snapshot.problems);
}

fn notes(p: &Project) -> usize {
    fs::read(p.store().join("inexact")).unwrap_or_default().iter().filter(|byte| **byte == 0).count()
}

#[test]
fn notes_about_line_ends_go_with_the_snapshots_they_are_about() {
    let mut p = Project::new();
    p.snap();
    p.git("config core.autocrlf input");
    p.write("dos.txt", "1\r\n");
    p.snap();
    p.write("dos.txt", "2\r\n");
    let second = p.snap();
    assert_eq!(notes(&p), 2);
    p.write("dos.txt", "1\r\n");
    p.snap();
    assert_eq!(notes(&p), 2, "it is known");
    p.tree.as_mut().unwrap().let_go_of_others(&[second.tree]).unwrap();
    assert_eq!(notes(&p), 1);
    p.write("dos.txt", "2\r\n");
    p.snap();
    p.write("dos.txt", "1\r\n");
    p.snap();
    assert_eq!(notes(&p), 2, "what was let go of is noted anew");
}

#[test]
fn that_there_is_no_room_for_notes_about_line_ends_is_said_once() {
    let mut p = Project::new();
    p.snap();
    p.git("config core.autocrlf input");
    fs::write(p.store().join("inexact"), vec![b'x'; (16 << 20) + 1]).unwrap();
    p.write("dos.txt", "1\r\n");
    let problems = p.snap().problems;
    assert!(problems[0].contains("holds more notes than ralph looks through"), "{problems:?}");
    p.write("dos.txt", "2\r\n");
    assert_eq!(p.snap().problems, [""; 0]);
}

#[test]
fn a_filter_that_fails_may_have_any_name() {
    let mut p = Project::new();
    p.changed();
    p.run(&["config", "filter.a=b.clean", "false"]);
    p.run(&["config", "filter.a=b.required", "true"]);
    p.write(".gitattributes", "*.odd filter=a=b\n");
    p.write("one.odd", "1\n");
    p.write("plain.txt", "1\n");
    let snapshot = p.snap();
    assert_eq!(snapshot.problems, ["one.odd: its filter 'a=b' fails, so no snapshot holds it"]);
    assert_eq!(snapshot.beside.len(), 1);
    assert!(p.names().contains(&"plain.txt".to_owned()));
}
