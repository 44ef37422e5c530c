//! A model that never answers, and a CLI that waits for an hour without a word because it was told to: a time-out ends
//! both. All of them at the same time, for they do nothing but wait.

use std::thread;
use std::time::Duration;

use ralph_testkit::Turn;

use crate::common::outcomes;
use crate::stage::{Cli, command, stage};
use crate::trouble::FULL;

/// A busy machine may take long to start a CLI, so a time that was too short for it is made longer.
fn ends_in_time(cli: Cli, script: &[Turn], limit: &str, told: &str) {
    for seconds in [15, 45, 120] {
        let (sandbox, actor) = stage(cli, |_| script.to_vec());
        let timeout = format!("{seconds}s");
        let args = [&FULL[..], &[limit, &timeout, "--max-iterations", "1"]].concat();
        let finished = command(&sandbox, cli.name(), &[&actor], &args).limit(Duration::from_secs(200)).run();
        finished.assert_code(3).assert_stderr_has(told);
        assert_eq!(outcomes(&sandbox), [(1, "failed".to_owned())]);
        sandbox.assert_no_processes();
        let asked = actor.server.main_requests().len();
        if asked > 0 {
            actor.assert_asked(asked);
            return;
        }
    }
    panic!("{cli:?} never asked its model");
}

#[test]
fn whoever_waits_for_an_answer_for_ever_is_ended_in_time_with_all_it_started() {
    let never = || vec![Turn::hang(); 3];
    let in_an_hour = || vec![Cli::Opencode.refuses(429).header("retry-after", "3600")];
    let (long, silent) = (("--timeout", "timed out"), ("--idle-timeout", "said nothing for"));
    let cases = [
        (Cli::Claude, never(), long),
        (Cli::Codex, never(), long),
        (Cli::Codex, never(), silent),
        (Cli::Gemini, never(), long),
        (Cli::Opencode, never(), long),
        (Cli::Opencode, in_an_hour(), long),
    ];
    thread::scope(|scope| {
        for (cli, script, (limit, told)) in cases {
            scope.spawn(move || ends_in_time(cli, &script, limit, told));
        }
    });
}
