//! Every demand of the seeds, and every complaint of users, is answered: by tests that are there, by the issue that
//! will answer it, or by a reason. The lists are `docs/seeds.toml` and `docs/complaints.toml`.

#[path = "coverage/answers.rs"]
mod answers;
#[path = "coverage/list.rs"]
mod list;
#[path = "coverage/names.rs"]
mod names;

use std::path::{Path, PathBuf};

use list::{Kind, List};

/// The workspace's folder: of the checkout that is tested.
fn root() -> PathBuf {
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&manifest).parent().expect("xtask is in the workspace").to_path_buf()
}

#[track_caller]
fn answered(path: &str, kind: Kind) {
    let text = std::fs::read_to_string(root().join(path)).expect("the list is in the repository");
    let list: List = toml::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let tests = names::of_workspace(&root());
    for line in answers::figures(&list) {
        println!("{path}: {line}");
    }
    let complaints = [list::faults(&list), answers::faults(&list, kind, &tests)].concat();
    assert!(complaints.is_empty(), "{path}: {} to settle:\n{}\n", complaints.len(), complaints.join("\n"));
}

#[test]
fn every_row_of_the_seeds_is_answered() {
    answered("docs/seeds.toml", Kind::Seeds);
}

#[test]
fn every_complaint_of_users_is_answered() {
    answered("docs/complaints.toml", Kind::Complaints);
}
