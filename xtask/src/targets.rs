//! ralph is for every Unix, and is tested on Linux. Where rustup has the standard library of another one, it must compile
//! for that as well.

use std::process::{Command, Stdio};

use crate::{Result, step};

pub(crate) fn check() -> Result<()> {
    let rustup = said("rustup", &["target", "list", "--installed"]);
    let host = said("rustc", &["-vV"]);
    let is_unix = |target: &str| {
        said("rustc", &["--print", "cfg", "--target", target]).lines().any(|line| line == "unix")
    };
    let targets = others(&rustup, &host, is_unix);
    if targets.is_empty() {
        println!(
            "skipped: compiling for other systems (none is installed: rustup target add aarch64-apple-darwin)"
        );
        return Ok(());
    }
    let mut args = vec!["check", "--locked", "--package", "ralph", "--lib", "--bins"];
    targets.iter().for_each(|target| args.extend(["--target", target]));
    let name = format!("other systems: {}; no more are installed", targets.join(", "));
    step::cargo(&name, &args, &[])
}

/// The targets of other Unix systems among those that rustup lists. The compiler says which one it is made for.
fn others<'a>(rustup: &'a str, compiler: &str, is_unix: impl Fn(&str) -> bool) -> Vec<&'a str> {
    let host = compiler.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let targets = rustup.lines().map(str::trim).filter(|target| !target.is_empty());
    targets.filter(|target| *target != host && is_unix(target)).collect()
}

/// What a program prints; nothing, where it is not there or fails.
fn said(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).stderr(Stdio::null()).output();
    let printed = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    printed.and_then(|printed| String::from_utf8(printed).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_unix_that_is_installed_is_compiled_for_and_nothing_else() {
        let rustup = "aarch64-apple-darwin\nwasm32-wasip1\nx86_64-unknown-linux-gnu\n";
        let compiler = "rustc 1.95.0\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        let is_unix = |target: &str| !target.starts_with("wasm");
        assert_eq!(others(rustup, compiler, is_unix), ["aarch64-apple-darwin"]);
        assert!(others("", compiler, is_unix).is_empty());
    }

    #[test]
    fn a_program_that_is_not_there_or_fails_says_nothing() {
        assert_eq!(said("/nonexistent/rustup", &[]), "");
        assert_eq!(said("sh", &["-c", "echo no; exit 1"]), "");
        assert_eq!(said("sh", &["-c", "echo yes"]), "yes\n");
    }
}
