use super::*;

fn named(names: &[&str]) -> AgentWishes {
    AgentWishes { names: names.iter().map(|name| (*name).to_owned()).collect(), ..AgentWishes::default() }
}

fn table(name: &str, command: &str) -> Table {
    Table { name: name.into(), command: Some(command.into()), ..Table::default() }
}

fn of(agent: &str, value: &str) -> For<String> {
    For { agent: Some(agent.into()), value: value.into() }
}

/// Without asking whether a program is there.
fn draft<'a>(name: &'a str, wishes: &AgentWishes) -> Draft<'a> {
    let (name, role) = role_of(name).expect("a role");
    Draft { name, role, same: None, kind: kind(wishes, name, None).expect("known") }
}

fn refused(wishes: &AgentWishes) -> String {
    let drafts: Vec<Draft<'_>> = wishes.names.iter().map(|name| draft(name, wishes)).collect();
    refuse_what_fits_nobody(wishes, &drafts).map_or_else(|error| error.to_string(), |()| String::new())
}

#[test]
fn a_table_with_a_command_is_an_agent_with_its_title_format_and_role() {
    let mine = Table {
        format: Some(Format::Codex),
        title: Some("Mine".into()),
        cost: Some(false),
        ..table("mine", "./mine.sh")
    };
    let file = FileAgents { pool: vec!["mine:review".into()], tables: vec![mine], ..FileAgents::default() };
    let (agents, remark) = settle(&AgentWishes::default().over(file), None).expect("settled");
    let [agent] = &agents[..] else { panic!("{agents:?}") };
    assert_eq!((agent.name.as_str(), agent.command.as_deref()), ("mine", Some("./mine.sh")));
    assert_eq!((agent.format, agent.role, agent.permissions), (Format::Codex, Role::Review, None));
    assert_eq!((agent::title(agent, false), agent::may_tell_cost(agent), remark), ("Mine", false, None));
}

#[test]
fn the_command_line_replaces_the_file_s_pool_and_may_name_its_tables() {
    let file = || FileAgents {
        pool: vec!["a".into()],
        tables: vec![table("a", "./a"), table("b", "./b")],
        ..FileAgents::default()
    };
    let settled = |wishes: &AgentWishes, earlier: Option<&[AgentInfo]>| {
        let (agents, _) = settle(&wishes.over(file()), earlier).expect("settled");
        agents.into_iter().filter_map(|agent| agent.command).collect::<Vec<_>>()
    };
    assert_eq!(settled(&named(&[]), None), ["./a"]);
    assert_eq!(settled(&named(&["b", "a"]), None), ["./b", "./a"]);
    let commands = AgentWishes { commands: vec!["./c".into()], ..AgentWishes::default() };
    assert_eq!(settled(&commands, None), ["./c"]);
    let old = AgentInfo { name: "a".into(), ..agent::custom("./old".into(), Format::Auto) };
    let (kept, _) = settle(&AgentWishes::default(), Some(std::slice::from_ref(&old))).expect("settled");
    assert_eq!(kept, std::slice::from_ref(&old), "a run that goes on keeps what it has");
    assert_eq!(settled(&named(&["a"]), Some(&[old])), ["./a"], "and whoever is named is read again");
}

#[test]
fn an_unknown_name_is_compared_with_the_file_s_names_too() {
    let file = FileAgents { tables: vec![table("helper", "./h")], ..FileAgents::default() };
    let error = settle(&named(&["helpr"]).over(file), None).expect_err("unknown").to_string();
    assert!(error.contains("--agents helper") && error.contains("gemini, helper"), "{error}");
    let error = settle(&named(&["banana"]), None).expect_err("unknown").to_string();
    assert!(error.contains("--agent-cmd") && error.contains("[agents.banana]"), "{error}");
}

#[test]
fn a_model_for_several_says_for_whom() {
    let pool = |models: Vec<For<String>>| AgentWishes { models, ..named(&["claude", "codex:review"]) };
    assert!(refused(&pool(vec![For::all("opus".into())])).contains("--model claude=opus"));
    assert_eq!(refused(&pool(vec![of("claude", "opus"), of("codex", "o9")])), "");
    assert!(refused(&pool(vec![of("cluade", "opus")])).contains("--model claude=opus"));
    assert!(refused(&pool(vec![of("gemini", "x")])).contains("no agent of this run is called gemini"));
    let one = AgentWishes { models: vec![For::all("opus".into())], ..named(&["claude"]) };
    assert_eq!(refused(&one), "");
    assert_eq!(pick(&[For::all("a".to_owned()), of("x", "b")], "x").map(String::as_str), Some("b"));
    assert_eq!(pick(&[of("x", "b"), For::all("a".to_owned())], "y").map(String::as_str), Some("a"));
}

#[test]
fn arguments_for_the_agent_need_one_agent() {
    let with = |names: &[&str]| AgentWishes { args: vec!["--fast".into()], ..named(names) };
    assert_eq!(refused(&with(&["codex"])), "");
    assert!(refused(&with(&["codex", "claude"])).contains("[agents.codex] and args = [\"--fast\"]"));
}

#[test]
fn a_command_takes_neither_model_nor_permissions_but_may_stand_beside_one_that_does() {
    let file = FileAgents { tables: vec![table("mine", "./m")], ..FileAgents::default() };
    let full = vec![For::all(Permissions::Full)];
    let alone = AgentWishes { permissions: full.clone(), ..named(&["mine"]).over(file.clone()) };
    assert!(refused(&alone).contains("takes neither"));
    let beside = AgentWishes { permissions: full, ..named(&["mine", "claude"]).over(file.clone()) };
    assert_eq!(refused(&beside), "");
    let named = AgentWishes { models: vec![of("mine", "x")], ..named(&["mine", "claude"]).over(file) };
    assert!(refused(&named).contains("takes neither"));
}
