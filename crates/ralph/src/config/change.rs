//! Setting a key in a file: the bytes of its value change, or a line comes to it, and nothing else does. Unsetting takes that
//! line out. The changed text is read again and must say what was meant and everything it said before.

use ralph_core::edit::{Edit, splice};
use ralph_core::profile::{self, Policy};
use toml_edit::{Item, TableLike};

use super::{AGENTS, File, NAME, POOL, agents, document, keys, leaves, parse};
use crate::error::{Error, Result};
use crate::settings::pool::{self, Table};
use crate::settings::{self, Value};
use crate::suggest;

/// The text with that key set. `name` is what the file is called in messages, `agents` those that the settings make of
/// commands, in whatever file, if they are known: only they and the built-in ones can be in a pool.
pub fn change(text: &str, name: &str, key: &str, value: &str, agents: Option<&[Table]>) -> Result<String> {
    let key = whole(key)?;
    let before = parse(text, name)?;
    let written = written(&key, value)?;
    let made = splice(text, &[edit(File { name, text }, &key.name, &written)?])
        .ok_or_else(|| by_hand(name, &key.name))?;
    // The file says nothing wrong, so what is wrong now stands nowhere.
    let not_set = |error| without_place(error, name, &format!("{} = {value} was not set", key.name));
    let after = parse(&made, name).map_err(not_set)?;
    settings::set(&mut Policy::default(), &after.values)?;
    if !says(&before.said, &after.said, &key.name, 1) {
        return Err(by_hand(name, &key.name));
    }
    if let Some(agents) = agents.filter(|_| key.name == POOL) {
        pool::refuse_strangers(&after.agents.pool, agents, name != NAME)?;
    }
    Ok(made)
}

/// The text without that key and its line; `None` where it does not say it. A file that says something wrong elsewhere, or
/// just there, may get rid of it like this.
pub fn unset(text: &str, name: &str, key: &str) -> Result<Option<String>> {
    let key = whole(key)?.name;
    let file = File { name, text };
    let before = said(file)?;
    if before.iter().all(|said| said.key != key) {
        return Ok(None);
    }
    let edits = lines_of(file, &key)?.ok_or_else(|| by_hand(name, &key))?;
    let made = splice(text, &edits).ok_or_else(|| by_hand(name, &key))?;
    if parse(text, name).is_ok() {
        let not_unset = |error| without_place(error, name, &format!("{key} was not unset"));
        parse(&made, name).map_err(not_unset)?;
    }
    let after = said(File { name, text: &made })?;
    if !says(&before, &after, &key, 0) {
        return Err(by_hand(name, &key));
    }
    Ok(Some(made))
}

fn said(file: File<'_>) -> Result<Vec<Value>> {
    let mut said = vec![];
    leaves(document(file)?.as_table(), "", file, &mut said);
    Ok(said)
}

/// The key's line with its end, or lines where its value has several; where it is all that makes an agent, the line of its
/// table too. `None` where it shares its line with others.
fn lines_of(file: File<'_>, key: &str) -> Result<Option<Vec<Edit>>> {
    let document = document(file)?;
    let parts: Vec<&str> = key.split('.').collect();
    let (last, tables) = parts.split_last().unwrap_or((&"", &[]));
    let owner = tables.iter().try_fold(document.as_item(), |item, part| item.get(part));
    let Some(owner) = owner.and_then(Item::as_table) else { return Ok(None) };
    let starts = owner.key(last).and_then(toml_edit::Key::span);
    let Some((starts, ends)) = starts.zip(owner.get(last).and_then(Item::span)) else { return Ok(None) };
    let line = |start: usize, end: usize| {
        let start = file.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = file.text[end..].find('\n').map_or(file.text.len(), |at| end + at + 1);
        Edit::replace(start..end, "")
    };
    let mut edits = vec![line(starts.start, ends.end)];
    let header = owner.span().filter(|_| !owner.is_implicit() && !owner.is_dotted());
    if let (Some(header), [AGENTS, _], 1) = (header, tables, owner.len()) {
        edits.push(line(header.start, header.end));
    }
    Ok(Some(edits))
}

/// An error about a text that is not written: it has no line in the file.
fn without_place(error: Error, name: &str, instead: &str) -> Error {
    let told = error.what.strip_prefix(name).and_then(|rest| rest.strip_prefix(':')?.split_once(": "));
    let what = match told {
        Some((_, told)) => format!("{instead}: {told}"),
        None => format!("{instead}: {}", error.what),
    };
    Error { what, ..error }
}

/// The key that is meant: keys of the policy need not say so.
pub fn whole(key: &str) -> Result<keys::Key> {
    let policy = format!("policy.{key}");
    let name = if profile::key(key).is_some() { policy } else { key.to_owned() };
    if let Some(known) = keys::find(&name) {
        return Ok(keys::Key { name, ..known });
    }
    // A key of an agent is looked for with the agent's own name.
    let agent = name.strip_prefix("agents.").and_then(|rest| rest.split_once('.')).map(|(agent, _)| agent);
    let own = |key: keys::Key| match agent.filter(|agent| !agent.is_empty()) {
        Some(agent) => key.name.replace(".NAME.", &format!(".{agent}.")),
        None => key.name,
    };
    let all: Vec<String> = keys::all().into_iter().map(own).collect();
    let names = all.iter().flat_map(|name| [name.as_str(), name.strip_prefix("policy.").unwrap_or(name)]);
    let error = Error::usage(format!("there is no key '{key}'"));
    Err(match suggest::nearest(key, names) {
        Some(near) => error.hint(suggest::instead(near, key)),
        None => error.hint("ralph config show lists the keys"),
    })
}

/// The value as TOML, if it is one of the key's.
fn written(key: &keys::Key, value: &str) -> Result<String> {
    if let Some(of) = key.name.strip_prefix("policy.") {
        let value = Value { key: of.into(), value: value.into(), origin: format!("{of} = {value}") };
        settings::set(&mut Policy::default(), std::slice::from_ref(&value))?;
        return Ok(keys::literal(&value.value));
    }
    if key.list {
        return Ok(keys::list(&items(&key.name, value)?));
    }
    match (key.takes.as_str(), value) {
        (keys::TRUTH, "true" | "false") => Ok(value.into()),
        (keys::TRUTH, _) => Err(Error::usage(format!("{}: '{value}' is not {}", key.name, keys::TRUTH))
            .hint(format!("ralph config set {} true", key.name))),
        _ => Ok(keys::quoted(value)),
    }
}

/// With commas between them; or as TOML, for those that have commas in them.
fn items(key: &str, value: &str) -> Result<Vec<String>> {
    if !value.trim_start().starts_with('[') {
        return Ok(value.split(',').map(|item| item.trim().to_owned()).collect());
    }
    let wrong = || {
        Error::usage(format!("{key}: this is no list of texts: {value}"))
            .because("what begins with [ is read as TOML")
            .hint(format!("ralph config set {key} '[\"one\", \"two, three\"]'"))
    };
    let text = format!("list = {value}");
    let document = document(File { name: key, text: &text }).map_err(|_| wrong())?;
    match (document.get("list").and_then(agents::texts), document.len()) {
        (Some(items), 1) => Ok(items),
        _ => Err(wrong()),
    }
}

fn edit(file: File<'_>, key: &str, value: &str) -> Result<Edit> {
    let document = document(file)?;
    let parts: Vec<&str> = key.split('.').collect();
    let (last, tables) = parts.split_last().unwrap_or((&"", &[]));
    let end = if file.text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut table: &dyn TableLike = document.as_table();
    for (depth, part) in tables.iter().enumerate() {
        let Some(item) = table.get(part) else {
            let header = tables.join(".");
            // A table that is begun in one line is ended there too.
            if depth > 0 && item_is_inline(&document, &tables[..depth]) {
                return Err(by_hand(file.name, key));
            }
            let gap = if file.text.is_empty() { "" } else { end };
            let broken = if file.text.is_empty() || file.text.ends_with('\n') { "" } else { end };
            return Ok(Edit::insert(
                file.text.len(),
                format!("{broken}{gap}[{header}]{end}{last} = {value}{end}"),
            ));
        };
        table = item.as_table_like().ok_or_else(|| by_hand(file.name, key))?;
    }
    if let Some(span) = table.get(last).and_then(Item::span) {
        return Ok(Edit::replace(span, value));
    }
    let owner = tables.iter().try_fold(document.as_item(), |item, part| item.get(part));
    let owner = owner.and_then(Item::as_table);
    let Some(owner) = owner else { return Err(by_hand(file.name, key)) };
    // Behind its last value; else behind its own line; else at the top of the file, below what is said there.
    let own = owner.iter().filter(|(_, item)| item.is_value()).filter_map(|(_, item)| item.span());
    let (after, prefix) = match own.map(|span| span.end).max() {
        Some(at) => (Some(at), String::new()),
        None if tables.is_empty() => (None, String::new()),
        // A table that only its sub-tables, or dotted keys, make has no line of its own.
        None => match owner.span().filter(|_| !owner.is_implicit() && !owner.is_dotted()) {
            Some(span) => (Some(span.end), String::new()),
            None => return Err(by_hand(file.name, key)),
        },
    };
    let prefix = if owner.is_dotted() { format!("{}.", tables.join(".")) } else { prefix };
    let line = format!("{prefix}{last} = {value}{end}");
    if let Some(at) = below_its_comment(file.text, tables, last) {
        return Ok(Edit::insert(at, line));
    }
    let Some(after) = after else { return Ok(Edit::insert(below_the_opening(file.text), line)) };
    match file.text[after..].find('\n') {
        Some(at) => Ok(Edit::insert(after + at + 1, line)),
        None => Ok(Edit::insert(file.text.len(), format!("{end}{line}"))),
    }
}

fn item_is_inline(document: &toml_edit::Document<&str>, tables: &[&str]) -> bool {
    let item = tables.iter().try_fold(document.as_item(), |item, part| item.get(part));
    item.is_some_and(Item::is_inline_table)
}

/// Below the line of its table where the key stands as a comment, as in the file that `init` writes.
fn below_its_comment(text: &str, tables: &[&str], key: &str) -> Option<usize> {
    let header = format!("[{}]", tables.join("."));
    let (mut at, mut inside) = (0, tables.is_empty());
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.starts_with('[') {
            inside = line.trim_end() == header;
        } else if inside && line.ends_with('\n') && line.starts_with(&format!("# {key} = ")) {
            return Some(at);
        }
    }
    None
}

/// Below the comment that a file begins with, if an empty line ends it.
fn below_the_opening(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        if plain.is_empty() {
            return at + line.len();
        }
        if !plain.starts_with('#') {
            return 0;
        }
        at += line.len();
    }
    // Nothing but comments; the last may lack its end.
    if text.ends_with('\n') { at } else { 0 }
}

/// Whether all is as it was but for the one key, which is there as often as it should.
fn says(before: &[Value], after: &[Value], key: &str, times: usize) -> bool {
    let others = |said: &[Value]| -> Vec<(String, String)> {
        let others = said.iter().filter(|said| said.key != key);
        let mut others: Vec<_> = others.map(|said| (said.key.clone(), said.value.clone())).collect();
        others.sort();
        others
    };
    others(before) == others(after) && after.iter().filter(|said| said.key == key).count() == times
}

fn by_hand(name: &str, key: &str) -> Error {
    Error::new(format!("{key} cannot be changed in {name} without changing more than that"))
        .because("the file is written in a way that ralph does not edit")
        .hint("make this change by hand")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mine() -> [Table; 1] {
        [Table { name: "mine".into(), command: Some("./m".into()), ..Table::default() }]
    }

    fn set(text: &str, key: &str, value: &str) -> String {
        change(text, "f", key, value, Some(&mine())).unwrap_or_else(|error| panic!("{text}\n{error}"))
    }

    #[test]
    fn only_the_value_changes() {
        let text =
            "# mine\r\nprofile='strict'   # why\r\n\r\n[ policy ]\r\nreviews  =  2 # two\r\ngate = \"dual\"";
        assert_eq!(set(text, "reviews", "3"), text.replace("  2 #", "  3 #"));
        assert_eq!(set(text, "policy.gate", "explicit"), text.replace("dual", "explicit"));
        assert_eq!(set(text, "profile", "dual"), text.replace("'strict'", "\"dual\""));
        assert_eq!(set(text, "reviews", "1/3"), text.replace("  2 #", "  \"1/3\" #"));
    }

    #[test]
    fn a_new_key_gets_a_line_of_its_own_where_it_belongs() {
        assert_eq!(set("", "gate", "dual"), "[policy]\ngate = \"dual\"\n");
        assert_eq!(set("", "profile", "dual"), "profile = \"dual\"\n");
        assert_eq!(set("pool = ['a']", "profile", "dual"), "pool = ['a']\nprofile = \"dual\"\n");
        assert_eq!(
            set("# top\n\n[policy]\ngate = 'dual' # x\n\n[checks]\n", "reviews", "2"),
            "# top\n\n[policy]\ngate = 'dual' # x\nreviews = 2\n\n[checks]\n"
        );
        assert_eq!(set("# top\n\n[checks]\n", "profile", "dual"), "# top\n\nprofile = \"dual\"\n[checks]\n");
        assert_eq!(
            set("[checks]\n# none\n", "checks.test", "a \"b\""),
            "[checks]\ntest = 'a \"b\"'\n# none\n"
        );
        assert_eq!(
            set("[checks]\ntest = 'x'", "agents.mine.command", "./a"),
            "[checks]\ntest = 'x'\n\n[agents.mine]\ncommand = \"./a\"\n"
        );
        assert_eq!(
            set("[agents.a]\ncommand = 'x'\n", "agents.a.cost", "false"),
            "[agents.a]\ncommand = 'x'\ncost = false\n"
        );
        assert_eq!(
            set("policy.gate = 'dual'\n", "reviews", "2"),
            "policy.gate = 'dual'\npolicy.reviews = 2\n"
        );
        assert_eq!(set("", "pool", "claude, codex:review"), "pool = [\"claude\", \"codex:review\"]\n");
    }

    #[test]
    fn a_list_can_be_given_as_toml_so_that_its_texts_may_have_commas() {
        for (value, written) in [
            ("--a,b", r#"["--a", "b"]"#),
            (r#"["--tools", "Read,Edit"]"#, r#"["--tools", "Read,Edit"]"#),
            (" ['a, b' , ] ", r#"["a, b"]"#),
            ("[]", "[]"),
        ] {
            let made = set("", "agents.claude.args", value);
            assert_eq!(made, format!("[agents.claude]\nargs = {written}\n"));
        }
        for wrong in ["[1]", "['a'", "['a']\nb = 1", "[['a']]", "[a]"] {
            let error = change("", "f", "agents.claude.args", wrong, None).expect_err(wrong).to_string();
            assert!(error.contains("no list of texts"), "{wrong}: {error}");
        }
    }

    #[test]
    fn in_the_file_of_init_a_key_stands_below_its_own_comment() {
        let text = crate::config::reference::template(&[], &[]);
        for (key, line, comment) in [
            ("gate", "gate = \"dual\"\n", "# gate = \"explicit\"\n"),
            ("profile", "profile = \"dual\"\n", "# profile = \"default\"\n"),
            (
                "notify.command",
                "command = \"dual\"\n",
                "# command = 'notify-send \"$RALPH_NOTIFY_TITLE\" \"$RALPH_NOTIFY_TEXT\"'\n",
            ),
        ] {
            assert_eq!(set(&text, key, "dual"), text.replace(comment, &format!("{comment}{line}")), "{key}");
        }
    }

    #[test]
    fn unsetting_takes_out_the_line_that_setting_put_there() {
        let init = crate::config::reference::template(&[], &[]);
        let tall =
            "# mine\r\npool = [ # who\r\n  'a', # first\r\n  'b'\r\n]\r\n\r\n[policy]\r\ngate = 'dual'";
        for text in ["", "# top\n\n[checks]\n# none\n", "[policy]\nreviews = 2 # two\n", &init] {
            for (key, value) in [("profile", "dual"), ("policy.gate", "dual"), ("checks.test", "make test")] {
                let with = set(text, key, value);
                let without = unset(&with, "f", key).unwrap_or_else(|error| panic!("{with}\n{error}"));
                let table = format!("[{}]", key.split('.').next().unwrap_or_default());
                // A table that came with its first key stays, and says nothing.
                if !with.contains(&table) || text.lines().any(|line| line == table) {
                    assert_eq!(without.as_deref(), Some(text), "{key}");
                }
                assert_eq!(unset(&without.expect("changed"), "f", key).expect("read"), None, "{key}");
            }
        }
        let unset = |text: &str, key: &str| unset(text, "f", key).expect("unset").expect("changed");
        assert_eq!(unset(tall, "pool"), "# mine\r\n\r\n[policy]\r\ngate = 'dual'");
        assert_eq!(unset(tall, "gate"), tall.replace("gate = 'dual'", ""));
        assert_eq!(unset("policy.gate = 'dual'\npolicy.reviews = 2\n", "gate"), "policy.reviews = 2\n");
        assert_eq!(unset("a = 1\npermissions = 'all'\n", "permissions"), "a = 1\n", "a wrong one too");
    }

    #[test]
    fn an_agent_goes_with_its_last_key_and_not_without_its_command() {
        let text =
            "pool = ['mine']\n\n[agents.mine]\n# ours\ncommand = './a' # mine\n\n[checks]\ntest = 'x'\n";
        let without = unset(text, "f", "agents.mine.command").expect("unset").expect("changed");
        assert_eq!(without, "pool = ['mine']\n\n# ours\n\n[checks]\ntest = 'x'\n");
        let text = "[agents.mine]\ncommand = './a'\ntitle = 'A'\n";
        let error = unset(text, "f", "agents.mine.command").expect_err("a table without a command");
        assert_eq!(error.what, "agents.mine.command was not unset: mine has no command");
        for shared in ["policy = { gate = 'dual' }\n", "agents = { mine = { command = 'x' } }\n"] {
            let key = if shared.contains("gate") { "gate" } else { "agents.mine.command" };
            let error = unset(shared, "f", key).expect_err(shared).to_string();
            assert!(error.contains("by hand"), "{error}");
        }
        let error = unset("", "f", "gat").expect_err("no key").to_string();
        assert!(error.contains("try: write gate instead of gat"), "{error}");
    }

    #[test]
    fn a_value_that_was_not_written_has_no_line() {
        let error = change("profile = 'dual'\n", "f", "permissions", "all", None).expect_err("none");
        assert_eq!(error.what, "permissions = all was not set: 'all' is none of full, edits, inherit");
    }

    #[test]
    fn no_value_that_a_key_does_not_take_is_told_to_be_a_fault_of_the_file() {
        let odd = [
            "maybe", "", " ", "-1", "1.5", "TRUE", "[", "[]", "]", "'", "\"", "#", "a\nb", "x = 1", "\0", "<",
        ];
        for key in keys::all() {
            let name = match key.name.strip_prefix("agents.NAME.") {
                Some(of) if agents::OF_COMMANDS.contains(&of) => key.name.replace("NAME", "mine"),
                _ => key.name.replace("NAME", "claude"),
            };
            for value in odd {
                if let Err(error) = change("agents.mine.command = 'x'\n", "f", &name, value, None) {
                    assert_eq!(error.exit, crate::error::Exit::Usage, "{name} = {value}: {error}");
                    assert!(!error.what.contains("not TOML"), "{name} = {value}: {error}");
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_a_reason() {
        for (text, key, value, told) in [
            ("", "gat", "dual", "try: write gate instead of gat"),
            ("", "policy.gat", "dual", "try: write policy.gate instead of policy.gat"),
            ("", "colour", "red", "ralph config show lists the keys"),
            ("", "gate", "half", "one of dual, explicit, evidence"),
            ("", "profile", "strickt", "there is no profile"),
            ("", "permissions", "all", "none of full, edits, inherit"),
            ("", "agents.cluade.model", "x", "has no command"),
            ("", "checks.detect", "maybe", "checks.detect: 'maybe' is not true or false"),
            ("", "checks.detect", "true\nprofile = 'dual'", "is not true or false"),
            ("", "agents.mine.cost", "", "agents.mine.cost: '' is not true or false"),
            ("", "pool", "mien:review,codex", "pool was not set: unknown agent 'mien'"),
            ("", "pool", "mien:review,codex", "try: ralph config set --user pool mine:review,codex"),
            ("", "pool", "banana", "first: ralph config set --user agents.banana.command CMD"),
            ("policy = { gate = 'dual' }\n", "reviews", "2", "by hand"),
            ("colour = 1\n", "gate", "dual", "f:1: there is no key 'colour'"),
            ("gate = \n", "gate", "dual", "f:1: this is not TOML"),
        ] {
            let error = change(text, "f", key, value, Some(&mine())).expect_err(key);
            assert!(!error.hints.is_empty(), "{key} {value}: it does not say what to do: {error}");
            let error = error.to_string();
            assert!(error.contains(told), "{key} {value}: {error}");
        }
    }
}
