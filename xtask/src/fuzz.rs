//! `cargo xtask fuzz`: libFuzzer over the properties in `fuzz/`, one after another.
//!
//! Stable Rust can instrument by itself (`-Cpasses=sancov-module`), and libfuzzer-sys brings libFuzzer as source, so
//! nothing has to be installed but a C++ compiler. No sanitizer: our code has no `unsafe`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Result, step, workspace};

/// Counts which branches were taken, and tells libFuzzer what was compared with what.
const INSTRUMENT: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// An input that takes this many seconds, or this much memory in all, is a finding.
const LIMITS: [&str; 3] = ["-timeout=10", "-rss_limit_mb=1024", "-max_len=8192"];

/// Where good bytes are to begin with; the fuzzer only reads them.
const SEEDS: [&str; 2] = ["crates/ralph-testkit/recordings", "fuzz/seeds"];

const SECONDS: u32 = 60;

/// What the arguments ask for.
#[derive(Debug, PartialEq, Eq)]
struct Wish<'a> {
    /// None: every target.
    target: Option<&'a str>,
    seconds: u32,
    /// Only try this input again.
    again: Option<&'a str>,
}

/// `None`: the arguments are not understood.
pub(crate) fn main(args: &[&str]) -> Option<Result<()>> {
    wish(args).map(|wish| fuzz(&wish))
}

fn wish<'a>(mut args: &[&'a str]) -> Option<Wish<'a>> {
    let mut wish = Wish { target: None, seconds: SECONDS, again: None };
    loop {
        args = match args {
            [] => return (wish.again.is_none() || wish.target.is_some()).then_some(wish),
            ["--seconds", seconds, rest @ ..] => {
                wish.seconds = seconds.parse().ok().filter(|seconds| *seconds > 0)?;
                rest
            }
            ["--again", file, rest @ ..] => {
                wish.again = Some(file);
                rest
            }
            [target, rest @ ..] if wish.target.is_none() && !target.starts_with('-') => {
                wish.target = Some(target);
                rest
            }
            _ => return None,
        }
    }
}

fn fuzz(wish: &Wish<'_>) -> Result<()> {
    let place = workspace::target_dir()?.join("fuzz");
    let program = build(&place)?;
    let known = targets(&program)?;
    let chosen = match wish.target {
        None => known,
        Some(target) if known.iter().any(|name| name == target) => vec![target.to_owned()],
        Some(target) => return Err(format!("no target {target}; there are: {}", known.join(", "))),
    };
    if let Some(file) = wish.again {
        let mut again = command(&program, &chosen[0]);
        let file = std::path::absolute(file).map_err(|error| format!("{file}: {error}"))?;
        return step::run(&chosen[0], "the same", again.args(LIMITS).arg(file));
    }
    let mut found = Vec::new();
    for target in &chosen {
        match run(&program, target, wish.seconds, &place) {
            Ok(line) => println!("{target}: {line}"),
            Err(why) => {
                println!("{target}: FAILED\n{why}");
                found.push(target.as_str());
            }
        }
    }
    if found.is_empty() { Ok(()) } else { Err(format!("findings in {}", found.join(", "))) }
}

fn build(place: &Path) -> Result<PathBuf> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let answers =
        Command::new(&compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !answers.is_ok_and(|status| status.success()) {
        return Err(format!("libFuzzer is C++ and there is no {compiler}: install g++ or clang, or set CXX"));
    }
    let host = host()?;
    let target_dir = place.join("build");
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--release", "--locked", "--quiet", "--manifest-path", "fuzz/Cargo.toml"]);
    // With a target named, build scripts and macros stay as they are.
    cargo.args(["--target", &host, "--target-dir"]).arg(&target_dir);
    cargo.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", INSTRUMENT.join(" "));
    step::run("build", "cargo xtask fuzz", &mut cargo)?;
    Ok(target_dir.join(host).join("release").join("ralph-fuzz"))
}

fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output =
        Command::new(rustc).arg("-vV").output().map_err(|error| format!("rustc cannot be run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(ToOwned::to_owned).ok_or_else(|| "`rustc -vV` names no host".into())
}

fn command(program: &Path, target: &str) -> Command {
    let mut command = Command::new(program);
    command.env("RALPH_FUZZ_TARGET", target).current_dir(workspace::root()).stdin(Stdio::null());
    command
}

/// The program knows its targets, so that there is one list.
fn targets(program: &Path) -> Result<Vec<String>> {
    let output =
        command(program, "list").output().map_err(|error| format!("{}: {error}", program.display()))?;
    let names: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(ToOwned::to_owned).collect();
    if names.is_empty() { Err(format!("{} lists no targets", program.display())) } else { Ok(names) }
}

/// Runs one target; how it went, or the end of its log.
fn run(program: &Path, target: &str, seconds: u32, place: &Path) -> Result<String> {
    let wrong = |path: &Path, error| format!("{}: {error}", path.display());
    // What was found to be interesting stays for the next time.
    let (corpus, findings) = (place.join("corpus").join(target), place.join("findings"));
    for folder in [&corpus, &findings] {
        fs::create_dir_all(folder).map_err(|error| wrong(folder, error))?;
    }
    let log = place.join(format!("{target}.log"));
    let file = File::create(&log).map_err(|error| wrong(&log, error))?;
    let mut fuzzer = command(program, target);
    fuzzer.args(LIMITS).arg(format!("-max_total_time={seconds}"));
    fuzzer.args(["-print_final_stats=1", "-dict=fuzz/words.dict"]);
    fuzzer.arg(format!("-artifact_prefix={}/{target}-", findings.display())).arg(corpus).args(SEEDS);
    let status = fuzzer.stderr(file).stdout(Stdio::null()).status();
    let status = status.map_err(|error| wrong(program, error))?;
    let text = String::from_utf8_lossy(&fs::read(&log).map_err(|error| wrong(&log, error))?).into_owned();
    if status.success() {
        return summary(&text).ok_or_else(|| format!("{}: no count of executions", log.display()));
    }
    let interesting = ["panicked", "ERROR", "SUMMARY", "Test unit written", "left:", "right:"];
    let mut why: Vec<&str> =
        text.lines().filter(|line| interesting.iter().any(|word| line.contains(word))).collect();
    if why.is_empty() {
        why = text.lines().rev().take(3).collect();
        why.reverse();
    }
    Err(format!(
        "{}\n{status}; the whole log: {}\nrepeat: cargo xtask fuzz {target} --again FILE",
        why.join("\n"),
        log.display()
    ))
}

/// From libFuzzer's last lines.
fn summary(log: &str) -> Option<String> {
    let stat = |name: &str| {
        let line = log.lines().rev().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(name))?;
        line.trim_start_matches(':').trim().parse::<u64>().ok()
    };
    let (runs, rss) = (stat("number_of_executed_units")?, stat("peak_rss_mb")?);
    let edges = log.lines().rev().find_map(|line| line.split_once(" cov: ")?.1.split(' ').next())?;
    (runs > 0).then(|| format!("{runs} executions, {edges} edges, at most {rss} MB, clean"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_a_target_and_two_options() {
        let all = Wish { target: None, seconds: 60, again: None };
        assert_eq!(wish(&[]), Some(all));
        let some = Wish { target: Some("claude"), seconds: 5, again: None };
        assert_eq!(wish(&["claude", "--seconds", "5"]), Some(some));
        let again = Wish { target: Some("claude"), seconds: 60, again: Some("file") };
        assert_eq!(wish(&["claude", "--again", "file"]), Some(again));
        for wrong in [&["--seconds"][..], &["--seconds", "0"], &["a", "b"], &["--fast"], &["--again", "file"]]
        {
            assert_eq!(wish(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_log_without_a_count_is_no_success() {
        let log = "#2\tINITED cov: 10 ft: 10\n#99\tDONE   cov: 12 ft: 12 corp: 5/21b\nstat::number_of_executed_units: 99\nstat::peak_rss_mb:              27\n";
        assert_eq!(summary(log).as_deref(), Some("99 executions, 12 edges, at most 27 MB, clean"));
        assert_eq!(summary("#99\tDONE   cov: 12 ft: 12\n"), None);
        assert_eq!(summary(&log.replace("99\n", "0\n")), None);
    }
}
