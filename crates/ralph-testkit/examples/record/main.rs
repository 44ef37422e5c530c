//! Records what the four real agent CLIs print, for the tests of those who read it.
//!
//! `cargo xtask record [OUTDIR [PREFIX]]` runs it with the pinned CLIs. Writes `AGENT-CASE-FORM.EXT` with standard
//! output, `AGENT-CASE-FORM.stderr` where there was any, and `exit-codes.txt`. With PREFIX only the recordings whose
//! name begins so, and then no `exit-codes.txt`.
//!
//! Nothing is edited but places: the sandbox's folders become `/project`, `/home/dev` and `/tmp`, the port 8080,
//! the folder the agent is installed in `/usr/lib`.

mod agents;
mod cases;
mod places;

use agents::{Agent, Form};
use cases::Case;
use ralph_testkit::{Finished, Running, Sandbox, Signal};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

/// Some never give up while the API refuses: what they print in so long a time is their recording. It begins when
/// they first ask, because a busy machine takes long to start them.
const SECONDS: u64 = 25;
/// Between asking them to end and ending them.
const GRACE: Duration = Duration::from_secs(5);
/// Their exit code then, as `timeout` has it.
const ENDED: i32 = 124;

fn main() {
    let mut args = env::args().skip(1);
    let folder = args.next().expect("the folder to write to");
    let prefix = args.next().unwrap_or_default();
    fs::create_dir_all(&folder).expect("make the folder");
    let folder = Path::new(&folder).canonicalize().expect("the folder's real path");
    let mut codes = String::new();
    for (agent, case, form) in everything() {
        let name = format!("{}-{}-{}", agent.name(), case.name(), form.name);
        if !name.starts_with(&prefix) {
            continue;
        }
        let start = Instant::now();
        let (finished, requests) = record(agent, case, form);
        eprintln!(
            "{name}: exit {}, {requests} requests, {:.1} s",
            finished.code,
            start.elapsed().as_secs_f32()
        );
        codes.push_str(&line(&name, finished.code));
        fs::write(folder.join(format!("{name}.{}", form.extension)), finished.stdout).expect("write");
        let stderr = folder.join(format!("{name}.stderr"));
        if !finished.stderr.is_empty() {
            fs::write(stderr, finished.stderr).expect("write");
        } else if stderr.exists() {
            fs::remove_file(stderr).expect("remove what an earlier version said");
        }
    }
    if prefix.is_empty() {
        fs::write(folder.join("exit-codes.txt"), codes).expect("write");
    }
}

fn everything() -> Vec<(Agent, Case, Form)> {
    let mut all = Vec::new();
    for agent in Agent::ALL {
        for case in Case::ALL.into_iter().filter(|case| agent.knows(*case)) {
            all.extend(agent.forms().iter().map(|form| (agent, case, *form)));
        }
    }
    all
}

/// The agent's output, with places made the same everywhere, and how often it asked the model.
fn record(agent: Agent, case: Case, form: Form) -> (Finished, usize) {
    let sandbox = Sandbox::new();
    sandbox.init_git();
    sandbox.write("README.md", "A project.\n");
    sandbox.commit_all("first");
    let (server, variables) = agent.prepare(&sandbox, case);
    let command = sandbox.ralph(&agent.program()).args(agent.args(case, form)).arg("Write a greeting.");
    let running = command.envs(variables).spawn();
    server.wait_for_main_requests(1);
    let mut finished = end(running);
    assert_eq!(server.calls_outside(), [""; 0], "{finished}");
    for text in [&mut finished.stdout, &mut finished.stderr] {
        *text = places::same_everywhere(text, &sandbox, &server.url(), &agent.program());
    }
    (finished, server.main_requests().len())
}

fn end(running: Running) -> Finished {
    if running.ends_within(Duration::from_secs(SECONDS)) {
        return running.wait();
    }
    running.signal(Signal::TERM);
    if !running.ends_within(GRACE) {
        running.kill9();
    }
    Finished { code: ENDED, ..running.wait() }
}

fn line(name: &str, code: i32) -> String {
    let note = if code == ENDED { format!(" (still trying after {SECONDS} s)") } else { String::new() };
    format!("{name} {code}{note}\n")
}
