use std::prelude::v1::*;
use std::{format, vec};

use proptest::prelude::*;

use super::*;

/// Made up here, so that no scanner of repositories takes them for real ones.
fn keys() -> Vec<String> {
    let random = "A1b2C3d4E5f6G7h8J9k0L1m2N3p4Q5r6S7t8U9v0";
    let upper = "A1B2C3D4E5F6G7H8";
    let base = |text: &str, length: usize| text.chars().cycle().take(length).collect::<String>();
    vec![
        format!("sk-ant-api03-{random}-{random}AA"),
        format!("sk-proj-{random}"),
        format!("sk-{random}"),
        format!("ghp_{}", &random[..36]),
        format!("gho_{}", &random[..36]),
        format!("github_pat_{}_{random}", &random[..22]),
        format!("AKIA{upper}"),
        format!("ASIA{upper}"),
        format!("xoxb-1234567890-{random}"),
        format!("AIza{}", base(random, 35)),
        format!("glpat-{}", &random[..20]),
        format!("npm_{}", &random[..36]),
        format!("hf_{}", &random[..34]),
        format!("sk_live_{}", &random[..24]),
        format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{random}"),
        format!("SG.{}.{}", &random[..22], base(random, 43)),
        format!("SK{}", base("0a1b2c3d4e5f", 32)),
        format!("dapi{}", base("0a1b2c3d4e5f", 32)),
        format!("dop_v1_{}", base("0a1b2c3d4e5f", 64)),
        format!("glrt-{}", &random[..20]),
        format!("GOCSPX-{}", &random[..28]),
        format!("hvs.{random}"),
        format!("gsk_{}", base(random, 52)),
        format!("whsec_{}", &random[..32]),
        format!("rk_test_{}", &random[..24]),
        format!("dckr_pat_{}", &random[..27]),
        format!("pypi-AgEIcHlwaS5vcmc{random}"),
        format!("shpss_{}", base("0a1b2c3d4e5f", 32)),
        format!("xapp-1-A0123-456-{random}"),
    ]
}

#[test]
fn keys_of_known_shapes_are_hidden_wherever_they_stand() {
    for key in keys() {
        for text in [
            key.clone(),
            format!("the key is {key}."),
            format!("{{\"key\":\"{key}\"}}"),
            format!("first\\n{key}\\nlast"),
            format!("({key})"),
            format!("ü{key}ü"),
            format!("export X={key}; echo"),
        ] {
            let hidden = shapes(&text);
            assert!(!hidden.contains(&key) && hidden.contains("[redacted]"), "{text} -> {hidden}");
        }
        assert_eq!(shapes(&format!("the key is {key}.")), "the key is [redacted].");
    }
}

#[test]
fn what_is_named_a_secret_is_hidden() {
    for (text, hidden) in [
        ("password=hunter2x", "password=[redacted]"),
        ("DB_PASSWORD: 'correct horse'", "DB_PASSWORD: 'correct horse'"),
        ("db_password = \"correcthorse\"", "db_password = \"[redacted]\""),
        (r#"{\"api_key\": \"abc123def456\"}"#, r#"{\"api_key\": \"[redacted]\"}"#),
        ("\"clientSecret\":\"a1b2c3d4e5\",", "\"clientSecret\":\"[redacted]\","),
        ("x-api-key: 0123456789abcdef", "x-api-key: [redacted]"),
        ("GET /?token=abc123def456&page=2", "GET /?token=[redacted]&page=2"),
        ("Authorization: Bearer abcdef0123456789xyz", "Authorization: Bearer [redacted]"),
        ("authorization: Basic dXNlcjpwYXNz1234==", "authorization: Basic [redacted]"),
        ("curl -H 'Bearer abcdef0123456789xyz'", "curl -H 'Bearer [redacted]'"),
        ("postgres://app:s3cr3t@db/x", "postgres://app:[redacted]@db/x"),
        ("redis://:p%40ss@127.0.0.1:6379", "redis://:[redacted]@127.0.0.1:6379"),
        ("https://a1b2c3d4e5f6a7b8c9d0@git.example/x.git", "https://[redacted]@git.example/x.git"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = [redacted]"),
        ("SECRET_KEY_BASE=0a1b2c3d4e5f", "SECRET_KEY_BASE=[redacted]"),
        ("export STRIPE_KEY='live-a1b2c3'", "export STRIPE_KEY='[redacted]'"),
        ("STRIPE_KEY: a1b2c3d4e5f6g7", "STRIPE_KEY: [redacted]"),
        (r#"{"stripeKey":"a1b2c3d4e5f6g7"}"#, r#"{"stripeKey":"[redacted]"}"#),
        ("TOKEN_GITHUB=abc-123-def", "TOKEN_GITHUB=[redacted]"),
        ("PASSWORD_STAGING=correct!horse", "PASSWORD_STAGING=[redacted]"),
        ("DB_PWD=s3cr3t DB_PASS=s3cr3t99", "DB_PWD=[redacted] DB_PASS=[redacted]"),
        ("MY_TOKEN2=abc-123-def", "MY_TOKEN2=[redacted]"),
        ("CREDENTIAL_FOR_CI=abc-123-def", "CREDENTIAL_FOR_CI=[redacted]"),
        ("Server=db;Uid=sa;Pwd=hunter2x;", "Server=db;Uid=sa;Pwd=[redacted];"),
        ("AccountName=me;AccountKey=a1b2c3d4/+e5==;X=1", "AccountName=me;AccountKey=[redacted];X=1"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted]"),
        ("['authorization', 'Basic dXNlcjpwYXNz']", "['authorization', 'Basic [redacted]']"),
        ("curl -u me:hunter2 https://x", "curl -u me:[redacted] https://x"),
        ("curl -s --user 'me:päss; word' x", "curl -s --user 'me:[redacted]' x"),
        ("curl --user=me:12345678 x", "curl --user=me:[redacted] x"),
        ("curl -U me:hunter2 https://x", "curl -U me:[redacted] https://x"),
        ("BEARER abcdef0123456789xyz", "BEARER [redacted]"),
        ("bearer abcdef0123456789xyz", "bearer [redacted]"),
        ("Basic dXNlcjpwYXNz", "Basic [redacted]"),
        ("BASIC dXNlcjpwYXNz, basic dXNlcjpwYXNz", "BASIC [redacted], basic [redacted]"),
        (r#"["curl","-u","me:hunter2"]"#, r#"["curl","-u","me:[redacted]"]"#),
        ("curl -ume:hunter2 -x p --proxy-user a:b", "curl -ume:[redacted] -x p --proxy-user a:[redacted]"),
        (
            "https://hooks.slack.com/services/T0001/B0002/abcdefghijklmnop",
            "https://hooks.slack.com/services/[redacted]",
        ),
        ("/bot123456789:AAabcdefghijklmnopqrstuvwxyz0123456/getMe", "/bot123456789:[redacted]/getMe"),
    ] {
        assert_eq!(shapes(text), hidden);
    }
}

#[test]
fn a_private_key_is_hidden_also_where_one_of_its_lines_is_cut_off() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\nAgEAAoIBAQC7VJTUt9Us8cKj\n";
    let whole = format!("key:\n-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\nbye");
    let expected = "key:\n-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nbye";
    assert_eq!(shapes(&whole), expected);
    let cut = format!("-----BEGIN PRIVATE KEY-----\n{body}");
    assert_eq!(shapes(&cut), "-----BEGIN PRIVATE KEY-----[redacted]");
    let rest = format!("some words\n{body}-----END PRIVATE KEY-----\n");
    assert_eq!(shapes(&rest), "some words\n[redacted]-----END PRIVATE KEY-----\n");
    let public = "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBg\n-----END CERTIFICATE-----";
    assert_eq!(shapes(public), public);
}

#[test]
fn ordinary_text_is_left_alone() {
    for text in [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "session 0192f0c1-7b1e-7c3a-9d5f-2a1b3c4d5e6f",
        "error[E0308]: mismatched types --> src/token.rs:12:5",
        "unexpected token: `identifier`",
        "error: unexpected token = expected one of `!` or `::`",
        "test auth::token::refresh_is_refused_2 ... FAILED",
        "tokens: 123456, max_tokens=4096",
        "let password = read_password();",
        "password: String, token: CancellationToken",
        "secret = config.secret_value",
        "TOKEN=$GITHUB_TOKEN password=${DB_PASSWORD} api_key=<your key> token=********",
        "api_key: your-api-key-123 token=/run/secrets/token1",
        "if token == expected_token {",
        "sk-learn-feature-extraction-pipeline-v2 is a task-1234567890123456789012",
        "https://docs.rs/serde/1.0.200/serde/index.html and git@github.com:a/b.git",
        "http://localhost:3000/a@b?x=1 user@example.com",
        "node_modules/npm_config_cache/hf_hub/glpat-/ghp_/AKIA/eyJ",
        "the bearer of good news and the Bearer token",
        "[redacted] [redacted:API_KEY] token=[redacted:API_KEY]",
        "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "-----BEGIN-----",
        "Password must have 8 characters: letters and digits",
        "KEYBOARD_LAYOUT=us-intl-104 MONKEY=banana-12345 TOKENS_USED=12k-of-200k MAX_TOKENS=8192tokens",
        "PUBLIC_KEY=a1b2c3d4e5f6g7h8 publicKey: a1b2c3d4e5f6g7h8 AWS_KEY_ID=key-1234-5678",
        "CACHE_KEY=deps-3f786850e387550f PRIMARY_KEY=users_2024_id SECRET_NAME=db-login-1 TOKEN_TTL=3600seconds",
        "const STORAGE_KEY = \"todo-items-v2\"; const SESSION_KEY = 'user-session-1';",
        "<li key=\"item-12345678\"> sort_key=created_at_2 cache_key: 3f786850e387550fdab836ed",
        "token_kind: Identifier1, key_handler = on_press_42, secret_santa: round-2-pairs",
        "PWD=/project/part1 OLDPWD=/project pwd",
        "SSH_KEY=$DEPLOY_KEY STRIPE_KEY=your-key-123 STRIPE_KEY=<key-12345> STRIPE_KEY=...",
        "docker run -u 1000:1000 --user node:node image; curl x | docker run -u me:users1 image",
        "curl -u $USER:$PASS x; curl -u me: x; curl -u me x; curl --user-agent a:b x; curl -U x",
        "Basic authentication, Basic knowledge; Authorization: Basic credentials",
        "https://hooks.slack.com/services/ https://discord.com/api/webhooks/",
        "at 12345678:AA and 2024-01-01T10:20:30 1234567890:1234567890",
        "SG.Module.method SKETCH SKIP dapify glrt- hvs.get(x) pul-request r8_1 xai-grok tskey-",
    ] {
        assert_eq!(shapes(text), text);
    }
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn values_that_are_told_to_be_secret_are_hidden_by_name() {
    let environment = pairs(&[
        ("MY_API_KEY", "swordfish-and-chips"),
        ("PATH", "/usr/bin:/bin-with-something"),
        ("EDITOR_TOKEN_FILE", "/project/token"),
        ("LESSKEY", "nothing-here"),
        ("SHORT_TOKEN", "abc"),
        ("DB_PWD", "mellon-and-friend"),
        ("PWD", "nowhere-special"),
        ("TOKEN_TTL", "86400000"),
        ("SECRET_MODE", "production"),
        ("HOSTNAME", "a1b2c3d4e5f6"),
    ]);
    let filed = dotenv(
        "# settings\nexport STRIPE='zyx987wvu654'\nAPP_NAME=my-application\nNODE_ENV=production\n\
         URL=http://localhost:3000\nMODEL=claude-sonnet-4-5\nREGION=eu-central-1\nHOST=db.internal:5432\n\
         DATABASE_URL=postgres://app:Tr0ub4dor@db/app # main\nLOGIN_PASSWORD=correcthorse\nbroken line\n=x\n\
         HOOK=https://hooks.example/services/T0001/B0002/abcdef1234567890abcd\nDEBUG=true\nVERSION=10.20.30\n",
    );
    let secrets = Secrets::new(environment, filed);
    for (text, hidden) in [
        ("got swordfish-and-chips!", "got [redacted:MY_API_KEY]!"),
        ("zyx987wvu654", "[redacted:STRIPE]"),
        ("mellon-and-friend", "[redacted:DB_PWD]"),
        ("xzyx987wvu654x", "x[redacted:STRIPE]x"),
        ("postgres://app:Tr0ub4dor@db/app", "[redacted:DATABASE_URL]"),
        ("the password Tr0ub4dor is wrong", "the password [redacted:DATABASE_URL] is wrong"),
        ("correcthorse", "[redacted:LOGIN_PASSWORD]"),
        ("https://hooks.example/services/T0001/B0002/abcdef1234567890abcd", "[redacted:HOOK]"),
    ] {
        assert_eq!(secrets.hide(text), hidden);
    }
    for text in [
        "/usr/bin:/bin-with-something",
        "/project/token",
        "nothing-here",
        "nowhere-special",
        "86400000",
        "production",
        "a1b2c3d4e5f6",
        "my-application",
        "http://localhost:3000",
        "claude-sonnet-4-5",
        "eu-central-1",
        "db.internal:5432",
        "10.20.30",
    ] {
        assert_eq!(secrets.hide(text), text);
    }
    assert_eq!(format!("{secrets:?}"), "Secrets(7)", "not even a debug line tells them");
}

#[test]
fn a_value_that_every_mark_contains_is_let_be() {
    let secrets = Secrets::new(pairs(&[("A_TOKEN", "redacted:A"), ("B_KEY", "redacted")]), []);
    assert_eq!(secrets.hide("redacted:A"), "redacted:A");
}

#[test]
fn no_text_of_an_event_keeps_a_secret() {
    use crate::event::{AgentEnded, Event};
    let key = &keys()[0];
    // Every text of a full event is a key; what cannot be one (ids, tags, names of tests' enums) is put right after.
    let ended: AgentEnded = serde_json::from_value(serde_json::json!({
        "end": {"how": "not_started", "error": key}, "duration_ms": 1, "leftovers": 0, "stderr": key,
        "report": {
            "block": {"verbatim": key, "recommendation": key, "odd_signal": key, "problems": [key]},
            "sayings": [{"dialect": "promise", "vote": {"vote": "blocked", "why": key}, "quote": key, "problems": [key]}],
            "indicators": {"count": 1, "phrases": [key], "cancelled_by": key},
            "errors": {"errors": [key]}, "last_words": key, "denied": [key], "files": [key],
            "limit": {"kind": "usage", "status": null, "reset": null, "text": key},
            "error": key, "session": key, "model": key, "agent_version": key, "problems": [key],
        },
    }))
    .expect("an event");
    let hidden = Secrets::default().hide_event(Event::AgentEnded(std::boxed::Box::new(ended)));
    let text = serde_json::to_string(&hidden).expect("JSON");
    assert!(!text.contains(key.as_str()), "{text}");
    assert_eq!(text.matches("[redacted]").count(), 21);
}

/// Values that are also words of a record, beside one that stands in a command.
fn with_words() -> (Secrets, &'static str) {
    let secret = "zyx987wvu654tsr";
    let words = [
        ("X_AUTH", "opencode"),
        ("AUTH_MODE", "round_robin"),
        ("A_KEY", "check_ended"),
        ("B_KEY", "agent_ended"),
        ("C_KEY", "not_started"),
    ];
    (Secrets::new(pairs(&[("DB_PASS", secret)]).into_iter().chain(pairs(&words)), []), secret)
}

#[test]
fn a_known_value_that_is_also_a_word_of_the_state_keeps_no_secret_in_view() {
    use crate::machine::tests::{Sim, agent, plan};
    let (secrets, secret) = with_words();
    let mut plan = plan(&[&format!("PGPASSWORD={secret} opencode test")]);
    plan.policy.order = crate::profile::Order::RoundRobin;
    plan.agents = vec![agent("opencode"), agent("custom")];
    plan.agents[0].format = crate::transcript::Format::Opencode;
    plan.agents[1].args = vec!["--token".into(), secret.into()];
    let state = Sim::new(plan).state.clone();
    let shown = secrets.shown_state(&state);
    let text = serde_json::to_string(&*shown).expect("JSON");
    assert!(!text.contains(secret), "{text}");
    let (given, plan) = (&state.run.as_ref().expect("a run").plan, &shown.run.as_ref().expect("a run").plan);
    assert_eq!(plan.checks[0].command, "PGPASSWORD=[redacted:DB_PASS] [redacted:X_AUTH] test");
    assert_eq!(plan.agents[1].args, ["--token", "[redacted:DB_PASS]"]);
    assert_eq!((&plan.policy, plan.agents[0].format), (&given.policy, given.agents[0].format));
}

#[test]
fn a_record_whose_very_kind_is_a_known_value_is_shown_as_what_it_is() {
    use crate::event::{End, Event};
    use crate::journal::{Body, Record};
    use crate::machine::tests::{Sim, plan};
    let (secrets, secret) = with_words();
    let command = format!("test -n {secret}");
    let sim = Sim::new(plan(&[&command]));
    let event: Event = serde_json::from_value(serde_json::json!({
        "type": "check_ended", "name": "test", "command": command, "end": {"how": "not_started", "error": "x"},
        "failing": [], "duration_ms": 1, "output_tail": "",
    }))
    .expect("an event");
    let body = Body::Step { event, decision: sim.last.clone().expect("a decision") };
    let record = Record { seq: 2, at: sim.now, body };
    let shown = secrets.shown_record(&sim.state, &record);
    let check = match &shown.body {
        Body::Step { event: Event::CheckEnded(check), .. } => Some((check.command.as_str(), &check.end)),
        _ => None,
    };
    assert_eq!(check, Some(("test -n [redacted:DB_PASS]", &End::NotStarted { error: "x".into() })));
}

/// Would hardly end if each place looked through all that follows.
#[test]
fn a_long_text_of_almost_secrets_is_gone_through_once() {
    for almost in [
        "eyJ",
        "eyJ.",
        "eyJabcdefgh.",
        "sk-",
        "xoxb-",
        "token=",
        "password=",
        "token=your1",
        "token=$1",
        "authorization:",
        "Bearer ",
        "Basic ",
        "Basic dXNl",
        "curl -u a:",
        "curl -u a:b ",
        " -u a:b",
        "'-u'",
        "STRIPE_KEY=",
        "A_KEY_B=a-1-",
        "12345678:AA",
        "SG.",
        "hvs.",
        "https://hooks.slack.com/services/",
        "https://",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
    ] {
        let text = almost.repeat((1 << 17) / almost.len());
        assert!(!shapes(&text).is_empty(), "{almost}");
    }
}

#[test]
fn a_key_is_found_though_one_of_its_kind_was_not_just_before() {
    for key in keys() {
        for before in ["eyJ eyJ-sk-abc ", "sk-sk-sk- xoxb-xoxb- ", "token=token=your1 "] {
            assert!(!shapes(&format!("{before}{key}")).contains(key.as_str()), "{before}{key}");
        }
    }
}

#[test]
fn a_value_that_is_longer_than_any_is_hidden_whole() {
    let value = format!("a1{}ä", "b2ä".repeat(5_000));
    assert_eq!(shapes(&format!("token={value} and more")), "token=[redacted] and more");
}

#[test]
fn secrets_add_up() {
    let of = |name: &str, value: &str| Secrets::new([], pairs(&[(name, value)]));
    let mut secrets = of("OLD", "zyx987wvu654tsr");
    secrets.also(of("NEW", "abc123def456ghi"));
    secrets.also(Secrets::default());
    assert_eq!(secrets.hide("zyx987wvu654tsr abc123def456ghi"), "[redacted:OLD] [redacted:NEW]");
}

#[test]
fn where_values_overlap_no_part_of_any_is_left() {
    let secrets = Secrets::new(
        [],
        pairs(&[
            ("A", "abc123def456"),
            ("B", "def456ghi789jkl0"),
            ("C", "abc123def456xyz987"),
            ("D", "abc123def456xyz987-and-more1"),
        ]),
    );
    for (text, hidden) in [
        ("an abc123def456.", "an [redacted:A]."),
        ("abc123def456ghi789jkl0", "[redacted:B]"),
        ("abc123def456xyz98", "[redacted:A]xyz98"),
        ("abc123def456xyz987", "[redacted:C]"),
        ("abc123def456xyz987-and-mor", "[redacted:C]-and-mor"),
        ("abc123def456xyz987-and-more1", "[redacted:D]"),
        ("äabc123def456äabc123def456", "ä[redacted:A]ä[redacted:A]"),
        ("abc123def45", "abc123def45"),
        ("abc", "abc"),
        ("", ""),
    ] {
        assert_eq!(secrets.hide(text), hidden);
    }
}

/// Would hardly end if each value were held against each other one, or against each text.
#[test]
fn a_file_with_a_great_many_values_costs_little_and_those_with_telling_names_are_kept() {
    let value = |n: usize| (format!("V{n}"), format!("zyx{n}wvu98765"));
    let many = (0..20_000).map(value).chain(pairs(&[("LAST_TOKEN", "swordfish-1")]));
    let mut secrets = Secrets::new(pairs(&[("MY_API_KEY", "swordfish-2")]), many);
    assert_eq!(secrets.left_out(), 20_002 - MOST);
    let text = "swordfish-1 swordfish-2 zyx7wvu98765 zyx19999wvu98765 ".repeat(5_000);
    let hidden = secrets.hide(&text).into_owned();
    assert!(hidden.starts_with(
        "[redacted:LAST_TOKEN] [redacted:MY_API_KEY] [redacted:V7] zyx19999wvu98765 [redacted:LAST_TOKEN]"
    ));
    // What is known stays, whatever comes.
    for n in 0..5 {
        secrets.also(Secrets::new([], (0..2_000).map(|m| value(1_000_000 * n + m))));
    }
    secrets.also(Secrets::new(pairs(&[("NEW_TOKEN", "swordfish-3")]), []));
    assert_eq!(format!("{secrets:?}"), format!("Secrets({MOST})"));
    assert_eq!(secrets.hide("zyx7wvu98765 swordfish-1"), "[redacted:V7] [redacted:LAST_TOKEN]");
    assert_eq!(Secrets::new([], pairs(&[("A", "abc123def456")])).left_out(), 0);
}

proptest! {
    /// The slow way: every place that any value covers is gone, and nothing else.
    #[test]
    fn exactly_what_values_cover_is_hidden(
        values in prop::collection::vec("[ab1]{8,14}", 1..12),
        text in "[ab1 ]{0,80}",
        placed in prop::collection::vec(0usize..12, 0..4),
    ) {
        let secrets = Secrets::new([], values.iter().map(|value| ("N".to_owned(), value.clone())));
        let known: Vec<&String> = values.iter().filter(|value| values::filed("N", value)).collect();
        let text = placed.iter().filter_map(|n| values.get(*n)).fold(text, |text, value| text + value);
        let covered: Vec<bool> = (0..text.len())
            .map(|at| {
                let covers = |value: &&&String| (at.saturating_sub(value.len() - 1)..=at)
                    .any(|begin| text[begin..].starts_with(value.as_str()));
                known.iter().any(|value| covers(&value))
            })
            .collect();
        let mut slow = String::new();
        for (at, c) in text.char_indices() {
            match covered[at] {
                false => slow.push(c),
                true if at == 0 || !covered[at - 1] => slow.push('#'),
                true => {}
            }
        }
        let hidden = secrets.exact.hide(&text).unwrap_or(text.clone()).replace("[redacted:N]", "#");
        // Two that only touch are two.
        prop_assert_eq!(hidden.replace("##", "#").replace("##", "#"), slow);
    }

    #[test]
    fn any_text_is_taken_and_twice_is_once(text in "\\PC{0,200}", parts in prop::collection::vec(0usize..60, 0..12)) {
        let pieces = [
            "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "password=", "token: ", "\"", "://",
            "user:pa55@", "Bearer ", "sk-", "ghp_", "[redacted", "]", "\n", "\\n", "ä", "eyJ", ".", "Authorization: ",
            "curl ", " -u me:", "STRIPE_KEY=", "Basic dXNlcjpwYXNz", "https://hooks.slack.com/services/", "123456789:AA",
        ];
        let keys = keys();
        let piece = |n: &usize| pieces.get(*n).map_or_else(|| keys[n % keys.len()].clone(), |piece| (*piece).to_owned());
        let mixed: String = parts.iter().map(piece).collect::<String>() + &text;
        let secrets = Secrets::new(pairs(&[("MY_TOKEN", "swordfish-1")]), []);
        let once = secrets.hide(&mixed).into_owned();
        prop_assert_eq!(secrets.hide(&once), once.as_str());
    }

    #[test]
    fn a_key_survives_nowhere(before in "[ -~\n]{0,60}", after in "[ \n\"'.,;)][ -~\n]{0,60}", nth in 0usize..29) {
        let key = keys()[nth].clone();
        // Where a letter stands before it, it is part of a longer word.
        let text = format!("{before} {key}{after}");
        prop_assert!(!shapes(&text).contains(&key), "{}", text);
    }
}
