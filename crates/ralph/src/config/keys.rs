//! Every key of the file with what it means. Messages, `config show`, the page docs/config.md, the schema and the file
//! that `init` writes are made from this list, and the policy's own keys from core's.

use ralph_core::profile::{KEYS, Policy};

/// One key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// `checks.test`; a part in capitals stands for a name that the user chooses.
    pub name: String,
    pub about: &'static str,
    /// Which values it takes, in words.
    pub takes: String,
    /// What holds if nobody says anything.
    pub default: String,
    /// As one would write it: the default, where that can be written.
    pub example: String,
    pub list: bool,
}

struct Own {
    name: &'static str,
    about: &'static str,
    takes: &'static str,
    default: &'static str,
    example: &'static str,
}

const fn own(
    name: &'static str,
    about: &'static str,
    takes: &'static str,
    default: &'static str,
    example: &'static str,
) -> Own {
    Own { name, about, takes, default, example }
}

const BEFORE: &[Own] = &[
    own(
        "profile",
        "The rules to start from; not for held sessions",
        "a name of `ralph profile list`",
        "default",
        "\"default\"",
    ),
    own(
        "pool",
        "Who works, in this order; with a role: claude:work, codex:review",
        "a list of agents",
        "the first that is installed",
        "[\"claude\", \"codex:review\"]",
    ),
    own(
        "permissions",
        "What agents may do without asking",
        "one of full, edits, inherit",
        "asked for",
        "\"edits\"",
    ),
    own(
        "backlog",
        "The task file of runs that are given no goal",
        "a path from the top of the project, or `beads`",
        "the first that is found",
        "\"plans/next.md\"",
    ),
    own("checks.build", "The command that builds: exit 0 means it does", COMMAND, "none", "\"make build\""),
    own(
        "checks.test",
        "The command that proves the work: exit 0 means it does",
        COMMAND,
        "none",
        "\"make test\"",
    ),
    own("checks.lint", "The command that lints: exit 0 means it is clean", COMMAND, "none", "\"make lint\""),
    own("checks.detect", "Whether checks that nobody names are looked for", TRUTH, "true", "true"),
];

const COMMAND: &str = "a command for sh";
pub(super) const TRUTH: &str = "true or false";

const AFTER: &[Own] = &[
    own(
        "notify.command",
        "Run when a run ends or waits; RALPH_NOTIFY_TITLE and RALPH_NOTIFY_TEXT hold its summary",
        COMMAND,
        "none",
        "'notify-send \"$RALPH_NOTIFY_TITLE\" \"$RALPH_NOTIFY_TEXT\"'",
    ),
    own(
        "notify.url",
        "Send the summary there when a run ends or waits: a webhook, ntfy or Slack, by curl",
        "an https or http address",
        "none",
        "\"https://ntfy.sh/my-topic\"",
    ),
    own(
        "notify.url_kind",
        "The form that the URL takes; auto tells by the name of the host",
        "one of auto, json, ntfy, slack",
        "auto",
        "\"auto\"",
    ),
    own(
        "notify.terminal",
        "What the terminal does then: bell, or a message by OSC 9",
        "one of off, bell, message",
        "off",
        "\"off\"",
    ),
    own("agents.NAME.model", "The model of a built-in agent", "a model's name", "its own", "\"opus\""),
    own(
        "agents.NAME.permissions",
        "What this built-in agent may do without asking",
        "one of full, edits, inherit",
        "as permissions",
        "\"full\"",
    ),
    own(
        "agents.NAME.args",
        "Handed on to a built-in agent as they are",
        "a list of texts",
        "none",
        "[\"--max-turns\", \"50\"]",
    ),
    own(
        "agents.NAME.command",
        "Makes a command an agent; the prompt comes on standard input",
        COMMAND,
        "none",
        "\"./my-agent.sh\"",
    ),
    own(
        "agents.NAME.format",
        "How to read what that command prints",
        "one of auto, claude, codex, opencode, gemini, text",
        "auto",
        "\"auto\"",
    ),
    own("agents.NAME.title", "How that command is called on the screen", "a text", "Agent", "\"Agent\""),
    own("agents.NAME.cost", "Whether that command tells what it costs", TRUTH, "looked for", "false"),
    own(
        "agents.NAME.prices",
        "Dollars for a million tokens, for a budget where the agent reports no cost",
        "INPUT/OUTPUT, or INPUT/OUTPUT/CACHE_READ/CACHE_WRITE",
        "none",
        "\"1.25/10/0.125\"",
    ),
];

/// All of them, in the order of the file.
pub fn all() -> Vec<Key> {
    let own = |own: &Own| Key {
        name: own.name.into(),
        about: own.about,
        takes: own.takes.into(),
        default: own.default.into(),
        example: own.example.into(),
        list: own.example.starts_with('['),
    };
    let default = Policy::default();
    let policy = KEYS.iter().map(|key| {
        let value = (key.get)(&default);
        Key {
            name: format!("policy.{}", key.name),
            about: key.about,
            takes: key.takes(),
            example: literal(&value),
            default: value,
            list: false,
        }
    });
    BEFORE.iter().map(own).chain(policy).chain(AFTER.iter().map(own)).collect()
}

/// The key of that name, or of that form: `agents.mine.model` is `agents.NAME.model`.
pub fn find(name: &str) -> Option<Key> {
    all().into_iter().find(|key| fits(&key.name, name))
}

fn fits(form: &str, name: &str) -> bool {
    let (form, name): (Vec<&str>, Vec<&str>) = (form.split('.').collect(), name.split('.').collect());
    form.len() == name.len()
        && form.iter().zip(&name).all(|(form, name)| form == name || (*form == "NAME" && !name.is_empty()))
}

/// The words at the top of the file.
pub(super) fn top() -> impl Iterator<Item = &'static str> {
    let names = BEFORE.iter().chain(AFTER).map(|own| own.name);
    let first = |name: &'static str| name.split('.').next().unwrap_or(name);
    names.map(first).chain(["policy"])
}

/// A value as TOML has it: what can be a number or a truth is one.
pub(super) fn literal(value: &str) -> String {
    let number =
        value.parse::<u64>().is_ok_and(|number| number.to_string() == value && i64::try_from(number).is_ok());
    match value {
        "true" | "false" => value.into(),
        _ if number => value.into(),
        _ => quoted(value),
    }
}

/// A text in TOML.
pub(super) fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string().trim().to_owned()
}

/// Texts as a list of TOML.
pub(super) fn list(texts: &[String]) -> String {
    let items: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", items.join(", "))
}

/// Texts as `config set` takes them: with commas between them where that is no other list.
pub(super) fn shown_list(texts: &[String]) -> String {
    let plain = |text: &String| !text.contains(',') && text.trim() == text && !text.is_empty();
    let bracket = texts.first().is_some_and(|first| first.starts_with('['));
    if texts.iter().all(plain) && !texts.is_empty() && !bracket { texts.join(",") } else { list(texts) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{NAME, agents, parse};

    #[test]
    fn every_key_is_one_that_the_file_takes_and_its_example_is_right() {
        for key in all() {
            let name = match key.name.strip_prefix("agents.NAME.") {
                Some(of) if agents::OF_COMMANDS.contains(&of) => key.name.replace("NAME", "mine"),
                _ => key.name.replace("NAME", "claude"),
            };
            let mut text = format!("{name} = {}\n", key.example);
            if name.starts_with("agents.mine") && !name.ends_with("command") {
                text.push_str("agents.mine.command = 'x'\n");
            }
            let config = parse(&text, NAME).unwrap_or_else(|error| panic!("{text}{error}"));
            assert_eq!(config.said[0].key, name);
            let mut policy = Policy::default();
            for value in &config.values {
                policy.set(&value.key, &value.value).unwrap_or_else(|error| panic!("{text}{error}"));
            }
            assert_eq!(policy, Policy::default(), "{text}an example of a policy's key is its default");
            assert!(find(&name).is_some(), "{name}");
        }
    }

    #[test]
    fn an_example_is_the_default_wherever_that_can_be_written() {
        for key in
            all().into_iter().filter(|key| !key.name.starts_with("checks.") || key.name.ends_with("detect"))
        {
            let name = key.name.replace("NAME", "mine");
            let command = if name.starts_with("agents.mine.") { "agents.mine.command = 'x'\n" } else { "" };
            let written = parse(&format!("{name} = {}\n{command}", literal(&key.default)), NAME);
            let word = !key.default.contains(' ') && key.default != "none";
            if word && written.is_ok() {
                assert_eq!(key.example, literal(&key.default), "{name}");
            }
        }
    }

    #[test]
    fn tables_of_agents_have_no_key_that_the_list_leaves_out() {
        let names: Vec<String> = all().into_iter().map(|key| key.name).collect();
        for key in agents::OF_COMMANDS.iter().chain(&agents::OF_BUILT_IN) {
            assert!(names.contains(&format!("agents.NAME.{key}")), "{key}");
        }
        for check in crate::settings::CHECKS {
            assert!(names.contains(&format!("checks.{check}")), "{check}");
        }
    }

    #[test]
    fn a_name_stands_for_itself_and_a_word_in_capitals_for_any() {
        assert!(find("agents.mine.model").is_some() && find("policy.gate").is_some());
        for none in ["agents..model", "agents.model", "gate", "checks.NAME", ""] {
            assert!(find(none).is_none(), "{none}");
        }
    }
}
