//! OpenCode.

use ralph_testkit::{Sandbox, Turn};
use serde_json::{Value, json};

use crate::common::{history, outcomes, status};
use crate::stage::{Cli, change, more, run, stage};
use crate::trouble::{self, FULL};

const OPENCODE: Cli = Cli::Opencode;

#[test]
fn opencode_lies_is_refused_fixes_is_reviewed_and_completes() {
    let (sandbox, _) = trouble::lies_fixes_and_is_reviewed(OPENCODE, "AGENTS.md");
    let status = status(&sandbox);
    assert_eq!(status["cost"]["tokens"], 600, "{status}");
    assert!(status["cost"]["micro_usd"].as_u64().is_some_and(|cost| cost > 0), "{status}");
}

/// It asks five times more before it says that it is limited, each time after the wait that the service wants.
#[test]
fn opencode_stops_at_each_limit_and_says_what_to_do() {
    let again = |status| OPENCODE.refuses(status).header("retry-after-ms", "1");
    let credit = OPENCODE.no_credit().header("retry-after-ms", "1");
    trouble::is_limited(
        OPENCODE,
        &[
            (OPENCODE.refuses(401), 1, &["Not a valid API key", "to log opencode in: opencode auth login"]),
            (
                credit,
                6,
                &["exceeded your current quota", "to give opencode credit: see its provider's billing page"],
            ),
            (again(429), 6, &["Too many requests", "opencode is out until"]),
            (again(529), 6, &["Overloaded", "opencode is out until"]),
        ],
    );
}

/// At its last step it only asks the model to sum up: the iteration is like any other.
#[test]
fn opencode_that_reaches_its_last_step_reports_and_its_work_is_kept() {
    let (sandbox, actor) =
        stage(OPENCODE, |sandbox| vec![OPENCODE.writes(sandbox, "green"), more("That was my last step.")]);
    change(&sandbox, ".config/opencode/opencode.json", "agent", json!({"build": {"steps": 2}}));
    run(&sandbox, &actor, &[&FULL[..], &["--max-iterations", "1"]].concat()).assert_code(3);
    actor.assert_asked(2);
    let told = actor
        .server
        .main_requests()
        .iter()
        .map(|request| request.mentions("MAXIMUM STEPS"))
        .collect::<Vec<_>>();
    assert_eq!(told, [false, true]);
    let last = &history(&sandbox)[0];
    assert_eq!((&last["outcome"], &last["files_changed"]), (&json!("more"), &json!(1)), "{last}");
}

/// It asks again by itself when an answer is cut off, within the same iteration.
#[test]
fn opencode_goes_on_after_a_lost_connection_and_a_kill() {
    let (sandbox, ..) = trouble::loses_its_connection_and_is_killed(OPENCODE, vec![Turn::cut()]);
    let outcomes: Vec<String> = outcomes(&sandbox).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(outcomes, ["failed", "accepted"]);
}

#[test]
fn opencode_with_rules_of_its_own_writes_nothing_and_what_it_wanted_is_told() {
    let rules = |rules: Value| {
        move |sandbox: &Sandbox| change(sandbox, ".config/opencode/opencode.json", "permission", rules)
    };
    // A refusal where it would have asked ends its session; one by a rule does not.
    let once = |sandbox: &Sandbox| vec![OPENCODE.writes(sandbox, "green")];
    trouble::is_denied(OPENCODE, "write", rules(json!({"edit": "ask"})), once);
    let once = |_: &Sandbox| vec![OPENCODE.shell("touch by-command"), more("It is in place.")];
    let no_touch = json!({"bash": {"*": "allow", "touch *": "deny"}});
    trouble::is_denied(OPENCODE, "bash", rules(no_touch), once);
}
