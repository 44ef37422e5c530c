//! A model that never answers, and a CLI that asks again for ever without a word: the time-out ends both. All of them
//! at the same time, for they do nothing but wait.

use std::thread;

use ralph_testkit::Turn;

use crate::common::outcomes;
use crate::stage::{Cli, run, stage};
use crate::trouble::FULL;

#[test]
fn whoever_waits_for_an_answer_for_ever_is_ended_in_time_with_all_it_started() {
    let never = || vec![Turn::hang(); 3];
    let again = |status| {
        let refusal = Cli::Opencode.refuses(status).header("retry-after-ms", "200");
        vec![refusal; 500]
    };
    let cases = [
        (Cli::Claude, never()),
        (Cli::Codex, never()),
        (Cli::Gemini, never()),
        (Cli::Opencode, never()),
        (Cli::Opencode, again(429)),
        (Cli::Opencode, again(529)),
    ];
    thread::scope(|scope| {
        for (cli, script) in cases {
            scope.spawn(move || {
                let (sandbox, actor) = stage(cli, |_| script);
                let args = [&FULL[..], &["--timeout", "20s", "--max-iterations", "1"]].concat();
                let finished = run(&sandbox, &actor, &args);
                finished.assert_code(3).assert_stderr_has("timed out");
                assert_eq!(outcomes(&sandbox), [(1, "failed".to_owned())]);
                assert!(!actor.server.main_requests().is_empty(), "{cli:?} asked\n{finished}");
                sandbox.assert_no_processes();
            });
        }
    });
}
