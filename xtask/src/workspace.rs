//! Where things are, and how cargo is called.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;

/// The folder with the workspace's Cargo.toml. Asked when we run: two checkouts that share a target folder
/// share this program too, so where it was compiled says little.
pub(crate) fn root() -> PathBuf {
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let manifest = PathBuf::from(manifest);
    manifest.parent().map(Path::to_path_buf).unwrap_or(manifest)
}

/// The cargo that runs us, at the workspace's root.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// A tool of our own install, at the workspace's root.
pub(crate) fn program(path: &Path) -> Command {
    let mut program = Command::new(path);
    program.current_dir(root());
    program
}

/// Whether cargo has this subcommand: a component or a tool that may be missing.
pub(crate) fn has_subcommand(name: &str) -> bool {
    let mut cargo = cargo();
    cargo.args([name, "--version"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    cargo.status().is_ok_and(|status| status.success())
}

/// Cargo's target folder, whether it comes from the environment, the user's settings or nowhere.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version=1", "--locked"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from("`cargo metadata --no-deps --locked` did not answer; see above"))?;
    let folder = metadata.get("target_directory").and_then(serde_json::Value::as_str);
    folder.map(PathBuf::from).ok_or_else(|| "`cargo metadata` names no target folder".into())
}
