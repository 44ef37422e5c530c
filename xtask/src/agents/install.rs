//! One pinned CLI: found in the cache, or installed there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Pin;
use crate::Result;

/// Holds the version; in the folder of an install that has proved itself.
const MARKER: &str = "installed";

/// The program of a pin, installed first if need be. The caller holds the cache's lock.
pub(super) fn installed(pin: &Pin, cache: &Path) -> Result<PathBuf> {
    let place = cache.join(format!("{}-{}", pin.name, pin.version));
    if let Some(program) = finished(pin, &place) {
        return Ok(program);
    }
    let beside = cache.join(format!(".{}-{}.new", pin.name, pin.version));
    // Left by an install that was cut off: the lock says that nobody is at work on it.
    remove(&beside)?;
    remove(&place)?;
    npm_install(pin, &beside)?;
    prove(pin, &beside)?;
    fs::write(beside.join(MARKER), pin.version).map_err(|error| format!("{}: {error}", beside.display()))?;
    fs::rename(&beside, &place).map_err(|error| format!("{}: {error}", place.display()))?;
    finished(pin, &place).ok_or_else(|| format!("{}: the install is not whole", place.display()))
}

fn finished(pin: &Pin, place: &Path) -> Option<PathBuf> {
    let version = fs::read_to_string(place.join(MARKER)).ok()?;
    if version != pin.version {
        return None;
    }
    candidates(pin, place).into_iter().next()
}

fn candidates(pin: &Pin, place: &Path) -> Vec<PathBuf> {
    pin.program.candidates(&place.join("node_modules"))
}

fn npm_install(pin: &Pin, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--prefix"]).arg(folder);
    npm.args(["--no-save", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]);
    // The platform packages are optional dependencies; they need no scripts.
    npm.args(["--include=optional", "--ignore-scripts"]);
    npm.arg(format!("{}@{}", pin.package, pin.version)).current_dir(folder).stdin(Stdio::null());
    let output = npm.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => String::from("npm not found"),
        _ => format!("npm cannot be run: {error}"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let why = text.lines().find(|line| line.contains("error")).unwrap_or("no reason given").trim();
    Err(format!("npm could not install {}@{}: {why}", pin.package, pin.version))
}

/// Runs the program in a clean environment with a HOME of its own: it must say the pinned version. What
/// cannot run here is taken away, so that only the proved program is left to be found.
fn prove(pin: &Pin, folder: &Path) -> Result<()> {
    let home = folder.join("home");
    fs::create_dir_all(&home).map_err(|error| format!("{}: {error}", home.display()))?;
    let mut said = String::from("it has no program for this platform");
    for program in candidates(pin, folder) {
        let mut command = Command::new(&program);
        command.arg("--version").current_dir(&home).stdin(Stdio::null()).env_clear();
        command.env("HOME", &home).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(pin.env.iter().copied());
        match command.output() {
            Ok(output) if says(&output.stdout, pin.version) => {
                keep_only(pin, folder, &program)?;
                return remove(&home);
            }
            Ok(output) => {
                said = format!("`--version` said {:?}", String::from_utf8_lossy(&output.stdout).trim());
            }
            Err(error) => said = error.to_string(),
        }
    }
    Err(format!("{}@{} does not run: {said}", pin.package, pin.version))
}

fn says(stdout: &[u8], version: &str) -> bool {
    String::from_utf8_lossy(stdout).split_whitespace().any(|word| word == version)
}

fn keep_only(pin: &Pin, folder: &Path, proved: &Path) -> Result<()> {
    for other in candidates(pin, folder).into_iter().filter(|program| program != proved) {
        fs::remove_file(&other).map_err(|error| format!("{}: {error}", other.display()))?;
    }
    Ok(())
}

/// Removes a folder, if there is one.
fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(format!("{}: {error}", folder.display())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_whole_word() {
        assert!(says(b"2.1.197 (Claude Code)\n", "2.1.197"));
        assert!(says(b"codex-cli 0.166.0\n", "0.166.0"));
        assert!(!says(b"2.1.1970\n", "2.1.197"));
        assert!(!says(b"", "2.1.197"));
    }
}
