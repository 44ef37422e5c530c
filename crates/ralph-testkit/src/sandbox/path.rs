//! Which system programs a sandbox can find: all of them but agent CLIs.
//!
//! A developer's own `claude` on the search path would make tests depend on the machine, or even call a real
//! service. A folder that holds one is replaced by a folder of links to everything else in it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const AGENTS: [&str; 13] = [
    "aider", "amp", "bd", "claude", "codex", "copilot", "cursor-agent", "droid", "gemini", "goose",
    "opencode", "qwen", "ralph",
];
const FOLDERS: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/// Looked for on the outer search path too: not every system keeps these in the usual folders.
const NEEDED: [&str; 5] = ["sh", "cat", "git", "setsid", "node"];

/// The search path: the sandbox's own programs, then the system's.
pub(super) fn search_path(root: &Path, bin: &Path) -> OsString {
    let mut folders = vec![bin.to_path_buf()];
    for (number, folder) in system_folders().into_iter().enumerate() {
        folders.push(without_agents(&folder, || root.join(format!("path-{number}"))));
    }
    std::env::join_paths(folders).expect("folders without a colon in their names")
}

fn system_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = FOLDERS.map(PathBuf::from).into_iter().filter(|f| f.is_dir()).collect();
    let outer: Vec<PathBuf> =
        std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
    for program in NEEDED {
        let has = |folder: &PathBuf| folder.is_absolute() && folder.join(program).is_file();
        if !folders.iter().any(has) {
            folders.extend(outer.iter().find(|folder| has(folder)).cloned());
        }
    }
    folders
}

fn without_agents(folder: &Path, place: impl FnOnce() -> PathBuf) -> PathBuf {
    if !AGENTS.iter().any(|agent| folder.join(agent).exists()) {
        return folder.to_path_buf();
    }
    let hidden = BTreeSet::from(AGENTS.map(OsString::from));
    let place = place();
    fs::create_dir(&place).expect("make a folder of links");
    for entry in fs::read_dir(folder).expect("list a folder of programs").flatten() {
        if !hidden.contains(&entry.file_name()) {
            symlink(entry.path(), place.join(entry.file_name())).expect("link a program");
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_on_the_machine_is_hidden_and_its_neighbours_are_not() {
        let outside = tempfile::tempdir().expect("a temporary folder");
        for name in ["claude", "git"] {
            fs::write(outside.path().join(name), "").expect("write a file");
        }
        let links = outside.path().join("links");
        let folder = without_agents(outside.path(), || links.clone());
        assert_eq!(folder, links);
        assert!(folder.join("git").exists());
        assert!(!folder.join("claude").exists());
    }
}
