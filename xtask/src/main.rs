//! The project's own chores. `cargo xtask` lists them; nothing but Rust and git has to be installed.

mod agents;
mod bench;
mod deny;
mod fuzz;
mod lossless;
mod mutants;
mod newcomer;
mod record;
mod simulate;
mod step;
mod sweep;
mod targets;
mod test;
mod workspace;

use std::process::ExitCode;

/// Why a chore did not come to its end, in words for the terminal.
type Result<T> = std::result::Result<T, String>;

/// `PARTS` stands for the parts of the bench.
const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [ARGS...]    everything a change must pass; ARGS go to the test runner
  agents            install the pinned agent CLIs that the tests run
  record [DIR [PREFIX]]
                    record what the agent CLIs print against the stand-ins into DIR (default: the
                    recordings in the repository); with PREFIX only those whose name begins so
  bench [PART...] [--large]
                    measure speed and size against the targets; --large adds 50,000 files and 1 GB;
                    parts: PARTS
  fuzz [TARGET] [--seconds N] [--again FILE]
                    feed the readers bent bytes, 60 s each; --again tries one finding again
  mutants [ARGS...] change the rules in small ways and see that a test fails each time (an hour);
                    ARGS go to cargo-mutants
  simulate [--runs N]
                    play N runs with hostile agents for each profile, 100,000 if left out
  sweep             kill ralph, and fail its disk, at every point of two runs (docs/testing.md)
  lossless [--files N]
                    edit N made-up task files of each format by chance, 20,000 if left out
  newcomer [--gate] clone this repository, run the README's commands there, install, and hold what was
                    installed against a newcomer's screens; with --gate also `cargo xtask test` there
  deny              check dependencies: licences, bans, sources

environment:
  RALPH_REQUIRE_AGENTS=1   test fails, instead of skipping, when the agent CLIs cannot be installed
  RALPH_AGENT_CACHE=DIR    where the agent CLIs are kept (default: agents in the target folder)
";

/// Wrong usage, as in ralph itself.
const EXIT_USAGE: u8 = 64;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["test", rest @ ..] => test::main(rest),
        ["agents"] => agents::main(),
        ["record"] => record::main(None, ""),
        ["record", folder] => record::main(Some(folder), ""),
        ["record", folder, prefix] => record::main(Some(folder), prefix),
        ["bench", rest @ ..] => bench::main(rest),
        ["fuzz", rest @ ..] => match fuzz::main(rest) {
            Some(done) => done,
            None => return wrong_usage(),
        },
        ["mutants", rest @ ..] => mutants::main(rest),
        ["simulate"] => simulate::main("100000"),
        ["simulate", "--runs", runs] if runs.parse::<u64>().is_ok_and(|runs| runs > 0) => {
            simulate::main(runs)
        }
        ["sweep"] => sweep::main(),
        ["newcomer"] => newcomer::main(false),
        ["newcomer", "--gate"] => newcomer::main(true),
        ["lossless"] => lossless::main("20000"),
        ["lossless", "--files", files] if files.parse::<u64>().is_ok_and(|files| files > 0) => {
            lossless::main(files)
        }
        ["deny"] => deny::main(),
        ["help" | "--help" | "-h"] => {
            print!("{}", usage());
            return ExitCode::SUCCESS;
        }
        _ => return wrong_usage(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("failed: {why}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    USAGE.replace("PARTS", &bench::PARTS.join(", "))
}

fn wrong_usage() -> ExitCode {
    eprint!("{}", usage());
    ExitCode::from(EXIT_USAGE)
}

#[test]
fn the_usage_names_every_part_of_the_bench() {
    let usage = usage();
    assert!(
        usage.contains("parts: start, iterations, analyse, deciding, custody, backlog, hook\n"),
        "{usage}"
    );
}
