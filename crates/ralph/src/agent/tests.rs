use ralph_core::event::Permissions;

use super::*;

fn agent(name: &str, permissions: Permissions) -> AgentInfo {
    AgentInfo {
        name: name.into(),
        command: None,
        permissions: Some(permissions),
        ..custom(String::new(), adapter(name).map_or(Format::Auto, |adapter| adapter.format))
    }
}

fn line(agent: &AgentInfo, in_git: bool) -> String {
    arguments(agent, in_git, None).join(" ")
}

const CLAUDE_FULL: &str = "-p --output-format stream-json --verbose --dangerously-skip-permissions --permission-mode bypassPermissions";

#[test]
fn every_permission_is_a_flag_of_the_cli_or_none_at_all() {
    use Permissions::{Edits, Full, Inherit};
    for (name, permissions, expected) in [
        ("claude", Full, CLAUDE_FULL),
        ("claude", Edits, "-p --output-format stream-json --verbose --permission-mode acceptEdits"),
        ("claude", Inherit, "-p --output-format stream-json --verbose"),
        ("codex", Full, "exec --json --dangerously-bypass-approvals-and-sandbox"),
        ("codex", Edits, "exec --json --sandbox workspace-write"),
        ("codex", Inherit, "exec --json"),
        ("opencode", Full, "run --format json --auto"),
        ("opencode", Inherit, "run --format json"),
        ("gemini", Full, "--output-format stream-json --approval-mode yolo --skip-trust"),
        ("gemini", Edits, "--output-format stream-json --approval-mode auto_edit --skip-trust"),
        ("gemini", Inherit, "--output-format stream-json"),
    ] {
        assert_eq!(line(&agent(name, permissions), true), expected, "{name} {permissions:?}");
    }
    assert_eq!(adapter("opencode").and_then(|adapter| adapter.may(Edits)), None);
}

#[test]
fn a_model_and_the_user_s_own_arguments_come_last() {
    let args = vec!["-c".into(), "x=1".into()];
    let codex = AgentInfo { model: Some("o9".into()), args, ..agent("codex", Permissions::Inherit) };
    assert_eq!(line(&codex, false), "exec --json --skip-git-repo-check --model o9 -c x=1");
}

#[test]
fn claude_is_given_what_is_left_of_the_money_unless_the_user_allows_it_less() {
    let last = |own: &str, left: Option<u64>| {
        let args = own.split_whitespace().map(str::to_owned).collect();
        let claude = AgentInfo { args, ..agent("claude", Permissions::Inherit) };
        let line = arguments(&claude, true, left).join(" ");
        line.split_once("--verbose").map(|(_, last)| last.trim().to_owned()).expect("its own flags")
    };
    assert_eq!(last("", None), "");
    assert_eq!(last("", Some(1_234_567)), "--max-budget-usd 1.234567");
    assert_eq!(last("--max-budget-usd 9", Some(500_000)), "--max-budget-usd 9 --max-budget-usd 0.500000");
    assert_eq!(last("--max-budget-usd=0.25", Some(500_000)), "--max-budget-usd=0.25");
    assert_eq!(arguments(&agent("codex", Permissions::Inherit), true, Some(1)).join(" "), "exec --json");
}

#[test]
fn one_iteration_may_overshoot_where_nothing_tells_what_it_uses_before_its_end() {
    let (money, tokens) =
        (Budget { micro_usd: 1, ..Budget::default() }, Budget { tokens: 1, ..Budget::default() });
    let both = |agent: &AgentInfo| (may_overshoot(agent, &money), may_overshoot(agent, &tokens));
    assert_eq!(both(&agent("claude", Permissions::Full)), (false, false));
    assert_eq!(both(&agent("opencode", Permissions::Full)), (false, false));
    assert_eq!(both(&agent("codex", Permissions::Full)), (true, true));
    assert_eq!(both(&custom("./x".into(), Format::Auto)), (true, true));
    let claude_like = custom("./x".into(), Format::Claude);
    assert_eq!(both(&claude_like), (true, false), "its money comes last");
    let prices = Prices::parse("1/2");
    assert_eq!(both(&AgentInfo { prices, ..claude_like }), (false, false));
    assert_eq!(both(&AgentInfo { prices, ..agent("gemini", Permissions::Full) }), (true, true));
    assert!(!may_overshoot(&agent("codex", Permissions::Full), &Budget::default()));
}

#[test]
fn a_knowledge_file_is_sent_to_whoever_does_not_read_one() {
    let sandbox = ralph_testkit::Sandbox::new();
    let root = sandbox.project();
    let sent = |agent: &AgentInfo| unread_knowledge(agent, &root);
    let (claude, codex) = (agent("claude", Permissions::Full), agent("codex", Permissions::Full));
    let (gemini, opencode) = (agent("gemini", Permissions::Full), agent("opencode", Permissions::Full));
    let command = custom("./x".into(), Format::Auto);
    assert_eq!(sent(&command), None);
    sandbox.write("AGENTS.md", "x");
    let all = [&claude, &codex, &opencode, &gemini, &command].map(sent);
    assert_eq!(all, [Some("AGENTS.md"), None, None, Some("AGENTS.md"), Some("AGENTS.md")]);
    sandbox.write("CLAUDE.md", "x");
    assert_eq!([&claude, &codex, &command].map(sent), [None, None, Some("CLAUDE.md")]);
    sandbox.write("GEMINI.md", "x");
    assert_eq!(sent(&gemini), None);
}

#[test]
fn a_command_with_the_name_of_a_cli_is_still_a_command() {
    let command = AgentInfo { name: "codex".into(), ..custom("./codex".into(), Format::Auto) };
    assert_eq!((title(&command, false), may_tell_cost(&command)), ("Agent", true));
    assert_eq!(title(&command, true), "codex", "in a pool it matters which one");
    assert!(!may_tell_cost(&AgentInfo { tells_cost: Some(false), ..command.clone() }));
    assert!(remedy(&command, LimitKind::Auth).is_some_and(|words| !words.contains("codex login")));
}

#[test]
fn whoever_can_be_helped_is() {
    let codex = agent("codex", Permissions::Full);
    assert_eq!(remedy(&codex, LimitKind::Auth).as_deref(), Some("to log codex in: codex login"));
    assert!(remedy(&codex, LimitKind::Credit).is_some_and(|words| words.contains("billing")));
    assert_eq!(remedy(&codex, LimitKind::Rate), None);
}

#[test]
fn a_command_is_called_as_its_program_is_and_like_no_other_agent() {
    let mut pool: Vec<AgentInfo> = vec![];
    let secret = format!("ghp_{}", "a1".repeat(18));
    for (command, name) in [
        ("./my-agent.sh --fast", "my-agent.sh"),
        ("other/my-agent.sh", "my-agent.sh-2"),
        ("claude -p", "custom-claude"),
        ("$AGENT", "custom"),
        ("$OTHER", "custom-2"),
        (&format!("./{secret}"), "custom-3"),
    ] {
        let agent = AgentInfo { name: name_of(command, &pool), ..custom(command.into(), Format::Auto) };
        assert_eq!(agent.name, name, "{command}");
        assert_eq!(given(&agent), Some(command), "{name}");
        pool.push(agent);
    }
    for old in ["custom", "custom-2"] {
        let agent = AgentInfo { name: old.into(), ..custom("./a.sh".into(), Format::Auto) };
        assert_eq!(given(&agent), Some("./a.sh"), "{old}");
    }
    let of_a_table = AgentInfo { name: "mine".into(), ..custom("./a.sh".into(), Format::Auto) };
    assert_eq!(given(&of_a_table), None);
    assert_eq!(given(&agent("claude", Permissions::Full)), None);
}
