//! Where an installed CLI has its program, and what the program itself needs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;

/// A place in `node_modules`. The links in `.bin` are none: without install scripts they may lead to a stub.
#[derive(Debug, Clone, Copy)]
pub(super) enum Program {
    /// In a package for one platform. A `*` ends what all platforms share of a folder's name: npm installs only
    /// those that fit, which may be several, such as one for older processors.
    Native(&'static str),
    /// A file that Node runs, of at least this major version.
    Script { path: &'static str, node: u32 },
}

impl Program {
    /// The files that could be it, in a fixed order.
    pub(super) fn candidates(self, node_modules: &Path) -> Vec<PathBuf> {
        let path = match self {
            Program::Native(path) | Program::Script { path, .. } => path,
        };
        let mut found = vec![node_modules.to_path_buf()];
        for name in path.split('/') {
            found = match name.strip_suffix('*') {
                None => found.into_iter().map(|folder| folder.join(name)).collect(),
                Some(beginning) => {
                    found.iter().flat_map(|folder| beginning_with(folder, beginning)).collect()
                }
            };
        }
        found.retain(|program| program.is_file());
        found.sort();
        found
    }

    /// Whether this machine has what it takes to run it.
    pub(super) fn check(self, name: &str) -> Result<()> {
        match self {
            Program::Native(_) => Ok(()),
            Program::Script { node, .. } => new_enough(&node_version(), node)
                .map_err(|why| format!("{name} needs Node {node} or newer, and {why}")),
        }
    }
}

fn beginning_with(folder: &Path, beginning: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(beginning));
    ours.map(|entry| entry.path()).collect()
}

/// What `node --version` says, such as `v20.1.0`.
fn node_version() -> Result<String> {
    let output = Command::new("node").arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| match error.kind() {
        ErrorKind::NotFound => String::from("node is not found"),
        _ => format!("node cannot be run: {error}"),
    })?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn new_enough(said: &Result<String>, least: u32) -> Result<()> {
    let said = said.as_ref().map_err(String::clone)?;
    let major = said.trim_start_matches('v').split('.').next().and_then(|word| word.parse::<u32>().ok());
    match major {
        Some(major) if major >= least => Ok(()),
        _ => Err(format!("`node --version` says {said:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_is_compared_by_its_major_version() {
        let check = |said: &str| new_enough(&Ok(said.to_owned()), 20);
        assert_eq!(check("v20.0.0"), Ok(()));
        assert_eq!(check("v100.2.1"), Ok(()));
        assert_eq!(check("v18.20.4"), Err("`node --version` says \"v18.20.4\"".to_owned()));
        assert!(check("").is_err());
        assert_eq!(new_enough(&Err("node is not found".into()), 20), Err("node is not found".into()));
    }

    #[test]
    fn a_program_of_any_platform_is_found_and_its_stub_is_not() {
        let folder = std::env::temp_dir().join(format!("xtask-program-{}", std::process::id()));
        let program = |path: &str| folder.join(path);
        let files = ["one-x64-old/bin/one", "one-x64/bin/one", "one-cli/bin/one.exe", "two/one-x64/bin/one"];
        for file in files.map(program) {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let found = Program::Native("one-*/bin/one").candidates(&folder);
        let deep = Program::Native("two/*/bin/one").candidates(&folder);
        let script = Program::Script { path: "one-cli/bin/one.exe", node: 20 }.candidates(&folder);
        let none = Program::Native("three-*/bin/one").candidates(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, ["one-x64/bin/one", "one-x64-old/bin/one"].map(program));
        assert_eq!(deep, [program("two/one-x64/bin/one")]);
        assert_eq!(script, [program("one-cli/bin/one.exe")]);
        assert!(none.is_empty());
    }
}
