//! Where a value comes from, and changing it.

use ralph_testkit::{Sandbox, Schema, Terminal};
use serde_json::Value;

use crate::common::{GOAL, one_call, ralph, repository, run, says_done, says_more, status};

const PROJECT: &str = ".ralph/config.toml";
const USER: &str = "../home/.config/ralph/config.toml";

fn value(sandbox: &Sandbox, key: &str, variables: &[(&str, &str)]) -> (String, String, String) {
    let shown = ralph(sandbox).args(["config", "show", "--json"]).envs(variables.iter().copied()).run();
    shown.assert_code(0);
    let document = shown.json();
    Schema::published("ralph.config/1").assert(&document);
    let values = document["values"].as_array().expect("a list");
    let row = values.iter().find(|row| row["key"] == key).unwrap_or_else(|| panic!("no {key}"));
    let text = |name: &str| row[name].as_str().expect(name).to_owned();
    (text("value"), text("from"), text("place"))
}

fn told(value: &(String, String, String)) -> (&str, &str, &str) {
    (&value.0, &value.1, &value.2)
}

#[test]
fn every_value_stands_in_its_column_in_a_window_of_80_columns() {
    let sandbox = repository();
    let long = "cargo test --workspace --all-features --no-fail-fast";
    ralph(&sandbox).args(["config", "set", "checks.test", long]).run().assert_code(0);
    let command = ralph(&sandbox).args(["config", "show"]).into_command();
    let mut terminal = Terminal::builder(&command).size(80, 80).start();
    assert_eq!(terminal.wait(), 0);
    let screen = terminal.screen();
    let has = |line: &str| assert!(screen.lines().any(|shown| shown.trim_end() == line), "{line}\n{screen}");
    has("pool                          the first that is installed default");
    has("policy.gate                   explicit                    default");
    has("                              from .ralph/config.toml:2");
    let piped = ralph(&sandbox).args(["config", "show"]).run();
    piped.assert_stdout_has(&format!("checks.test                   {long} .ralph/config.toml:2\n"));
}

#[test]
fn each_layer_wins_over_the_one_below_and_the_place_is_told() {
    let sandbox = repository();
    let key = "policy.max_iterations";
    assert_eq!(told(&value(&sandbox, key, &[])), ("50", "default", "default"));
    sandbox.write(USER, "profile = 'rotations'\n");
    assert_eq!(told(&value(&sandbox, key, &[])), ("20", "profile", "profile rotations"));
    sandbox.write(USER, "profile = 'rotations'\n[policy]\nmax_iterations = 3\n");
    assert_eq!(told(&value(&sandbox, key, &[])), ("3", "user", "~/.config/ralph/config.toml:3"));
    sandbox.write(PROJECT, "[policy]\nmax_iterations = 2\n");
    assert_eq!(told(&value(&sandbox, key, &[])), ("2", "project", ".ralph/config.toml:2"));
    let variable = [("RALPH_MAX_ITERATIONS", "1")];
    assert_eq!(told(&value(&sandbox, key, &variable)), ("1", "environment", "RALPH_MAX_ITERATIONS"));
}

#[test]
fn a_run_goes_by_the_highest_layer_and_flags_are_above_all() {
    let used = |sandbox: &Sandbox| status(sandbox)["max_iterations"].as_u64().expect("a number");
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    sandbox.write(USER, "[policy]\nmax_iterations = 4\nno_progress = 'off'\n");
    run(&sandbox, &agent).arg("--fresh").run().assert_code(3);
    assert_eq!(used(&sandbox), 4, "the user's file");
    sandbox.write(PROJECT, "[policy]\nmax_iterations = 3\n");
    run(&sandbox, &agent).arg("--fresh").run().assert_code(3);
    assert_eq!(used(&sandbox), 3, "the project's file");
    run(&sandbox, &agent).arg("--fresh").env("RALPH_MAX_ITERATIONS", "2").run().assert_code(3);
    assert_eq!(used(&sandbox), 2, "the environment");
    let flagged = run(&sandbox, &agent).args(["--fresh", "--max-iterations", "1"]);
    flagged.env("RALPH_MAX_ITERATIONS", "2").run().assert_code(3);
    assert_eq!(used(&sandbox), 1, "the command line");
}

#[test]
fn the_user_s_own_commands_need_nobody_s_consent_and_the_project_s_do() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let asking =
        || ralph(&sandbox).args(["run", GOAL, "--fresh", "--reviews", "0", "--agent-cmd"]).arg(agent.path());
    sandbox.write(USER, "[checks]\ntest = 'test -e README.md'\n");
    asking().run().assert_code(0).assert_stderr_has("proof: checks: test -e README.md exit 0");
    sandbox.write(PROJECT, "[checks]\ntest = 'touch ran'\n");
    asking().run().assert_code(64).assert_stderr_has("touch ran (.ralph/config.toml, checks.test)");
    assert!(!sandbox.exists("ran"));
}

#[test]
fn a_wrong_setting_is_an_error_wherever_it_stands() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    sandbox.write(USER, "\n[polcy]\ngate = 'dual'\n");
    let refused = run(&sandbox, &agent).run();
    refused.assert_code(64).assert_stderr_has("~/.config/ralph/config.toml:2: there is no key 'polcy'");
    refused.assert_stderr_has("try: write policy instead of ");
    sandbox.write(USER, "");
    let refused = run(&sandbox, &agent).env("RALPH_GATE", "half").run();
    refused.assert_code(64).assert_stderr_has("RALPH_GATE: 'half' is no value for gate");
    run(&sandbox, &agent).env("RALPH_GAT", "half").run().assert_code(0);
}

#[test]
fn agents_see_their_variables_though_settings_have_some_too() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done().shell("printf %s \"$RALPH_ITERATION $RALPH_GATE\" > seen"));
    run(&sandbox, &agent)
        .args(["--reviews", "0"])
        .env("RALPH_ITERATION", "wrong")
        .env("RALPH_GATE", "explicit")
        .run()
        .assert_code(0);
    let seen = sandbox.read("seen");
    assert!(seen.ends_with(" explicit") && !seen.starts_with("wrong"), "{seen}");
}

#[test]
fn a_text_of_a_list_may_have_commas_and_is_shown_as_it_can_be_set() {
    let sandbox = repository();
    let key = "agents.claude.args";
    for list in [r#"["--allowed-tools", "Read,Edit"]"#, "--max-turns,50"] {
        ralph(&sandbox).args(["config", "set", key, list]).run().assert_code(0);
        assert_eq!(value(&sandbox, key, &[]).0, list);
    }
    assert!(sandbox.read(PROJECT).ends_with("args = [\"--max-turns\", \"50\"]\n"));
}

#[test]
fn setting_a_key_changes_that_line_alone() {
    let sandbox = repository();
    let set = |args: &[&str]| ralph(&sandbox).args(["config", "set"]).args(args).run();
    let text = "# ours\r\nprofile = 'strict' # because\r\n\r\n[policy]\r\nreviews  = 2\r\n";
    sandbox.write(PROJECT, text);
    set(&["reviews", "4"]).assert_code(0);
    assert_eq!(sandbox.read(PROJECT), text.replace("= 2", "= 4"));
    set(&["checks.test", "make test"]).assert_code(0);
    assert!(sandbox.read(PROJECT).ends_with("reviews  = 4\r\n\r\n[checks]\r\ntest = \"make test\"\r\n"));
    let before = sandbox.read(PROJECT);
    set(&["reviewss", "4"]).assert_code(64).assert_stderr_has("try: write reviews instead of reviewss");
    set(&["gate", "half"]).assert_code(64).assert_stderr_has("one of dual, explicit, evidence");
    sandbox.write(PROJECT, "profil = 1\n");
    set(&["gate", "dual"])
        .assert_code(64)
        .assert_stderr_has(".ralph/config.toml:1: there is no key 'profil'");
    assert_eq!(sandbox.read(PROJECT), "profil = 1\n");
    sandbox.write(PROJECT, before);
    set(&["--user", "notify.terminal", "bell"]).assert_code(0);
    assert_eq!(sandbox.read(USER), "[notify]\nterminal = \"bell\"\n");
}

#[test]
fn unsetting_a_key_takes_its_line_out_and_says_what_holds_then() {
    let sandbox = repository();
    let config = |args: &[&str]| ralph(&sandbox).arg("config").args(args).run();
    let text = "# ours\r\npool = ['claude'] # for now\r\n\r\n[policy]\r\nreviews  = 2\r\n";
    sandbox.write(PROJECT, text);
    sandbox.write(USER, "pool = ['codex']\n");
    let unset = config(&["unset", "pool"]);
    unset
        .assert_code(0)
        .assert_stderr_has("pool is not set any more; it is: codex (~/.config/ralph/config.toml:1)");
    assert_eq!(sandbox.read(PROJECT), text.replace("pool = ['claude'] # for now\r\n", ""));
    let before = sandbox.read(PROJECT);
    config(&["unset", "pool"])
        .assert_code(0)
        .assert_stderr_has("does not set pool, so nothing was changed; it is: codex");
    config(&["unset", "pol"]).assert_code(64).assert_stderr_has("try: write pool instead of pol");
    assert_eq!(sandbox.read(PROJECT), before);
    config(&["unset", "--user", "pool"])
        .assert_code(0)
        .assert_stderr_has("the first that is installed (default)");
    assert_eq!(sandbox.read(USER), "");
    sandbox.write(PROJECT, "permissions = 'all'\n");
    config(&["unset", "permissions"]).assert_code(0);
    assert_eq!(sandbox.read(PROJECT), "", "what is wrong can be taken out");
}

#[test]
fn one_value_is_written_alone() {
    let sandbox = repository();
    let get = |key: &str| ralph(&sandbox).args(["config", "get", key]).run();
    sandbox.write(PROJECT, "[policy]\nreviews = 2\n[checks]\ntest = 'make  test'\n");
    for (key, value) in [
        ("reviews", "2"),
        ("policy.reviews", "2"),
        ("checks.test", "make  test"),
        ("profile", "default"),
        ("agents.claude.model", "its own"),
    ] {
        let got = get(key);
        got.assert_code(0);
        assert_eq!((got.stdout.as_str(), got.stderr.as_str()), (format!("{value}\n").as_str(), ""), "{key}");
    }
    let found = get("checks.lint");
    found.assert_code(1).assert_stderr_has(
        "checks.lint has no value of its own: another check is named, so that no run looks for it",
    );
    assert_eq!(found.stdout, "", "words are no command");
    get("reviewss").assert_code(64).assert_stderr_has("try: write reviews instead of reviewss");
}

#[test]
fn a_pool_of_strangers_is_not_set_and_is_told_with_its_place() {
    let sandbox = repository();
    let set = |args: &[&str]| ralph(&sandbox).args(["config", "set"]).args(args).run();
    set(&["agents.mine.command", "./m"]).assert_code(0);
    let before = sandbox.read(PROJECT);
    let refused = set(&["pool", "mien"]);
    refused.assert_code(64).assert_stderr_has("pool was not set: unknown agent 'mien'");
    refused.assert_stderr_has("try: ralph config set pool mine\n");
    set(&["permissions", "all"]).assert_code(64).assert_stderr_has("permissions = all was not set");
    assert_eq!(sandbox.read(PROJECT), before);
    set(&["--user", "pool", "mine"]).assert_code(0);
    sandbox.write(PROJECT, format!("pool = ['mien', 'codex:review']\n{before}"));
    let run = ralph(&sandbox).args(["run", GOAL, "--yes"]).run();
    run.assert_code(64).assert_stderr_has(".ralph/config.toml:1: unknown agent 'mien'");
    run.assert_stderr_has("try: ralph config set pool mine,codex:review\n");
    let doctor = ralph(&sandbox).arg("doctor").run();
    doctor.assert_code(1).assert_stdout_has("nobody knows it (.ralph/config.toml:1)");
    sandbox.write(PROJECT, before);
    let run = ralph(&sandbox).args(["run", GOAL, "--yes"]).env("RALPH_AGENTS", "mien").run();
    run.assert_code(64).assert_stderr_has("RALPH_AGENTS: unknown agent 'mien'");
    run.assert_stderr_has("try: RALPH_AGENTS=mine\n");
}

#[test]
fn a_file_is_made_where_there_is_none_and_is_kept_out_of_commits() {
    let sandbox = repository();
    ralph(&sandbox).args(["config", "set", "profile", "strict"]).run().assert_code(0);
    assert_eq!(sandbox.read(PROJECT), "profile = \"strict\"\n");
    assert_eq!(sandbox.git(&["status", "--short"]), "");
    let row = value(&sandbox, "policy.gate", &[]);
    assert_eq!(told(&row), ("dual", "profile", "profile strict"));
}

#[test]
fn setting_a_command_says_that_the_next_run_asks_about_it_and_agrees_to_nothing() {
    let sandbox = repository();
    let asks = "the next run asks";
    let set = |key: &str, value: &str| ralph(&sandbox).args(["config", "set", key, value]).run();
    set("checks.test", "test -e README.md")
        .assert_code(0)
        .assert_stderr_has("without a terminal it wants --yes");
    set("notify.command", "true").assert_code(0).assert_stderr_has("it wants --yes");
    set("agents.claude.permissions", "full").assert_code(0).assert_stderr_has("said on the command line");
    set("max_iterations", "3").assert_code(0).assert_stderr_lacks(asks);
    set("checks.lint", "none").assert_code(0).assert_stderr_lacks(asks);
    let own = ralph(&sandbox).args(["config", "set", "--user", "checks.build", "true"]).run();
    own.assert_code(0).assert_stderr_lacks(asks);
    let agent = one_call(&sandbox, says_done());
    let next = || ralph(&sandbox).args(["run", GOAL, "--reviews", "0", "--agent-cmd"]).arg(agent.path());
    next().run().assert_code(64).assert_stderr_has("nobody has agreed to run");
    next().arg("--yes").run().assert_code(0);
    set("checks.test", "test -e README.md").assert_code(0).assert_stderr_lacks(asks);
    set("checks.test", "test -e green").assert_code(0).assert_stderr_has(asks);
}

#[test]
fn the_settings_may_name_the_backlog() {
    let sandbox = repository();
    sandbox.write("plans/next.md", "- [ ] Write it\n- [x] Think\n");
    sandbox.write("prd.json", "not the one");
    ralph(&sandbox).args(["config", "set", "backlog", "plans/next.md"]).run().assert_code(0);
    ralph(&sandbox).args(["backlog", "list"]).run().assert_code(0).assert_stdout_has("Write it");
    ralph(&sandbox).args(["config", "set", "backlog", "gone.md"]).run().assert_code(0);
    let gone = ralph(&sandbox).args(["backlog", "list"]).run();
    gone.assert_code(65).assert_stderr_has(".ralph/config.toml:1: the backlog gone.md is not there");
}

#[test]
fn an_agent_of_the_project_s_file_needs_consent_also_in_a_run_that_goes_on() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    sandbox.write(PROJECT, "[agents.mine]\ncommand = 'touch ran'\n");
    let again = || ralph(&sandbox).args(["run", "--resume", "--agents", "mine", "--max-iterations", "2"]);
    again().run().assert_code(64).assert_stderr_has("touch ran (.ralph/config.toml, agents.mine.command)");
    assert!(!sandbox.exists("ran"));
    let agreed = again().arg("--yes").run();
    assert!(sandbox.exists("ran"), "{agreed}");
}

#[test]
fn the_schema_lists_the_keys_that_there_are() {
    let sandbox = Sandbox::new();
    let shown = ralph(&sandbox).args(["config", "show", "--json"]).run().json();
    let keys: Vec<&Value> =
        shown["values"].as_array().expect("a list").iter().map(|row| &row["key"]).collect();
    crate::reference::holds_keys(&keys);
}

#[test]
fn checks_that_nobody_names_are_told_to_be_looked_for() {
    let sandbox = repository();
    let shown = || ralph(&sandbox).args(["config", "show"]).run();
    let row = |shown: &str| shown.lines().find(|line| line.starts_with("checks.test")).map(str::to_owned);
    assert!(row(&shown().stdout).is_some_and(|row| row.contains("found when a run starts")));
    let in_json = || {
        let document = ralph(&sandbox).args(["config", "show", "--json"]).run().json();
        Schema::published("ralph.config/1").assert(&document);
        let rows = document["values"].as_array().expect("a list");
        let row = rows.iter().find(|row| row["key"] == "checks.test").expect("a row");
        (row["value"].clone(), row["found_by_run"].clone())
    };
    assert_eq!(in_json(), (Value::Null, true.into()));
    sandbox.write(".ralph/config.toml", "[checks]\ndetect = false\n");
    assert!(row(&shown().stdout).is_some_and(|row| row.contains(" none ")));
    assert_eq!(in_json(), ("none".into(), false.into()));
}

#[test]
fn checks_that_no_run_would_look_for_are_not_said_to_be_found() {
    let sandbox = repository();
    let show = || ralph(&sandbox).args(["config", "show"]).run().stdout;
    assert_eq!(show().matches("found when a run starts").count(), 3, "{}", show());
    ralph(&sandbox).args(["config", "set", "checks.test", "sh test.sh"]).run().assert_code(0);
    assert_eq!(show().matches("none: another check is named").count(), 2, "{}", show());
    assert!(!show().contains("found when a run starts"), "{}", show());
    let unset = ralph(&sandbox).args(["config", "unset", "checks.test"]).run();
    unset.assert_code(0);
    let found = ralph(&sandbox).args(["config", "get", "checks.lint"]).run();
    found.assert_code(1).assert_stderr_has("has no value of its own: its command is found when a run starts");
}
