//! The hooks in an agent's settings: JSON that is the user's, changed by the bytes of the change alone, and put back by
//! the same bytes. What cannot be is refused.

use core::ops::Range;

use serde_json::Value;

use crate::backlog::json::{Field, Value as Place, Walk};
use crate::backlog::write::json as write;
use crate::backlog::write::{Step, Written};
use crate::edit::{Edit, line_of, splice};
use crate::prelude::*;

/// One hook: for which event, what it runs, and how long that may take, in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    pub event: &'static str,
    pub command: String,
    pub timeout: i64,
}

/// What is to be in the settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    pub hooks: Vec<Hook>,
    /// A variable of the agent's environment.
    pub env: Option<(&'static str, &'static str)>,
}

/// The settings with what was wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub text: String,
    /// The objects and lists that were made for it, outermost first: `hooks`, `hooks.Stop`. They go with it.
    pub made: Vec<String>,
    /// What was there already with another meaning, and was left.
    pub remarks: Vec<String>,
}

const HOOKS: &str = "hooks";
const ENV: &str = "env";
const DEPTH: usize = 100;

/// Adds what is missing. What is there already stays as it is, so that doing it twice changes nothing.
pub fn install(text: &str, wanted: &Wanted) -> Result<Installed, String> {
    let mut now = if text.trim().is_empty() { "{}\n".to_owned() } else { text.to_owned() };
    let mut expected = root(&now)?.1;
    let (mut made, mut remarks) = (Vec::new(), Vec::new());
    for hook in &wanted.hooks {
        if commands(&now, hook.event)?.iter().any(|(_, command)| *command == hook.command) {
            continue;
        }
        if let Some((span, _)) = commands(&now, hook.event)?.iter().find(|(_, old)| same(old, &hook.command))
        {
            // The program moved.
            now = apply(&now, &Edit::replace(span.clone(), quoted(&hook.command)))?;
            expected = root(&now)?.1;
            continue;
        }
        made_on_the_way(&root(&now)?.0, &[HOOKS, hook.event], &mut made);
        let entry = entry(hook);
        let step = match root(&now)?.0.get(HOOKS) {
            Some(hooks) if hooks.first() == b'{' => {
                let step = Step::Push(hook.event, entry);
                let edit = write::edit(&now, hooks, &step)?;
                step.expect(&mut expected[HOOKS]);
                now = apply(&now, &edit)?;
                continue;
            }
            Some(_) => return Err(format!("{HOOKS} is no object")),
            None => Written::map([(hook.event, Written::List(vec![entry]))]),
        };
        now = set(&now, &mut expected, &[HOOKS], step)?;
    }
    if let Some((name, value)) = wanted.env {
        let known = root(&now)?.0.get(ENV).and_then(|env| env.get(name));
        match known.map(|known| known.str().map(|text| text.into_owned()).unwrap_or_default()) {
            Some(known) if known != value => {
                remarks.push(format!("{name} is {known} there, and was left so"));
            }
            Some(_) => {}
            None => {
                made_on_the_way(&root(&now)?.0, &[ENV], &mut made);
                now = match name {
                    CAP => set(&now, &mut expected, &[ENV, CAP], Written::Text(value.into()))?,
                    other => return Err(format!("nobody sets {other}")),
                };
            }
        }
    }
    match root(&now)?.1 == expected {
        true => Ok(Installed { text: now, made, remarks }),
        false => Err("the edited settings would not read as they should".into()),
    }
}

/// How many blocks in a row Claude Code allows.
pub const CAP: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";

/// Takes out what [`install`] put in: hooks with these commands, the variable if it still has that value, and what was
/// made for them if nothing else is in it now.
pub fn uninstall(text: &str, wanted: &Wanted, made: &[String]) -> Result<String, String> {
    let mut now = text.to_owned();
    for hook in wanted.hooks.iter().rev() {
        while let Some(span) = group_of(&now, hook)? {
            now = apply(&now, &Edit::replace(span, ""))?;
        }
    }
    if let Some((name, value)) = wanted.env
        && let Some(env) = root(&now)?.0.get(ENV)
        && env.get(name).and_then(|known| known.str()).is_some_and(|known| known == value)
    {
        let span = field_with_comma(&env.fields(), name);
        now = apply(&now, &Edit::replace(span.unwrap_or(0..0), ""))?;
    }
    for path in made.iter().rev() {
        let (outer, name) = path.rsplit_once('.').map_or((None, path.as_str()), |(a, b)| (Some(a), b));
        let place = root(&now)?.0;
        let Some(object) = outer.map_or(Some(place), |outer| place.get(outer)) else { continue };
        let Some(inner) = object.get(name) else { continue };
        if inner.fields().is_empty() && inner.elements().is_empty() {
            let span = field_with_comma(&object.fields(), name).unwrap_or(0..0);
            now = apply(&now, &Edit::replace(span, ""))?;
        }
    }
    root(&now)?;
    Ok(now)
}

/// Whether all of it is there.
pub fn is_installed(text: &str, wanted: &Wanted) -> bool {
    wanted.hooks.iter().all(|hook| {
        commands(text, hook.event)
            .is_ok_and(|known| known.iter().any(|(_, command)| same(command, &hook.command)))
    })
}

fn entry(hook: &Hook) -> Written {
    let command = Written::map([
        ("type", Written::Text("command".into())),
        ("command", Written::Text(hook.command.clone())),
        ("timeout", Written::Number(hook.timeout)),
    ]);
    Written::map([(HOOKS, Written::List(vec![command]))])
}

/// The same program's same command, wherever the program is: `/a/ralph hook stop` and `ralph hook stop`.
fn same(one: &str, other: &str) -> bool {
    let words = |command: &str| {
        let words: Vec<String> =
            command.split_whitespace().map(|word| word.replace(['\'', '"'], "")).collect();
        let at = words.iter().position(|word| word == "hook")?;
        let program = words.get(at.checked_sub(1)?)?.rsplit('/').next()?.to_owned();
        Some((program, words[at..].to_vec()))
    };
    words(one).is_some_and(|one| Some(one) == words(other))
}

fn root(text: &str) -> Result<(Place<'_>, Value), String> {
    let mut walk = Walk::new(text);
    let fault = |at: usize, why: &str| format!("line {}: {why}", line_of(text, at));
    let value = walk.value(DEPTH).map_err(|f| fault(f.at, f.why))?;
    walk.end().map_err(|f| fault(f.at, f.why))?;
    if value.first() != b'{' {
        return Err("it is no object".into());
    }
    let read = serde_json::from_str(value.raw()).map_err(|error| error.to_string())?;
    Ok((value, read))
}

fn apply(text: &str, edit: &Edit) -> Result<String, String> {
    splice(text, core::slice::from_ref(edit)).ok_or_else(|| "the edit does not fit".into())
}

fn set(
    text: &str,
    expected: &mut Value,
    path: &'static [&'static str],
    written: Written,
) -> Result<String, String> {
    let step = Step::Set(path, written);
    let edit = write::edit(text, root(text)?.0, &step)?;
    step.expect(expected);
    apply(text, &edit)
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn made_on_the_way(root: &Place<'_>, path: &[&str], made: &mut Vec<String>) {
    let mut place = Some(*root);
    let mut name = String::new();
    for part in path {
        name = if name.is_empty() { (*part).into() } else { format!("{name}.{part}") };
        place = place.and_then(|place| place.get(part));
        if place.is_none() {
            made.push(name.clone());
        }
    }
}

/// The groups of hooks for an event.
fn groups<'a>(text: &'a str, event: &str) -> Result<Vec<Place<'a>>, String> {
    let list = root(text)?.0.get(HOOKS).and_then(|hooks| hooks.get(event));
    Ok(list.map_or(vec![], |list| list.elements()))
}

/// Every command for an event, and where it stands.
fn commands(text: &str, event: &str) -> Result<Vec<(Range<usize>, String)>, String> {
    let hooks =
        groups(text, event)?.into_iter().filter_map(|group| group.get(HOOKS)).flat_map(|h| h.elements());
    let command = |hook: Place<'_>| {
        let command = hook.get("command")?;
        Some((command.span(), command.str()?.into_owned()))
    };
    Ok(hooks.filter_map(command).collect())
}

/// The bytes of a group that holds this hook alone, or of the hook in a group that holds others.
fn group_of(text: &str, wanted: &Hook) -> Result<Option<Range<usize>>, String> {
    let is_it = |hook: &Place<'_>| {
        hook.get("command").and_then(|command| command.str()).is_some_and(|c| same(&c, &wanted.command))
    };
    let groups = groups(text, wanted.event)?;
    for (nth, group) in groups.iter().enumerate() {
        let hooks = group.get(HOOKS).map_or(vec![], |hooks| hooks.elements());
        let Some(at) = hooks.iter().position(is_it) else { continue };
        let span = match (hooks.len(), groups.len()) {
            (1, 1) => whole_list(text, wanted.event)?,
            (1, _) => with_comma(&groups, nth),
            _ => with_comma(&hooks, at),
        };
        return Ok(Some(span));
    }
    Ok(None)
}

/// What stands between the brackets of the event's list.
fn whole_list(text: &str, event: &str) -> Result<Range<usize>, String> {
    let list = root(text)?.0.get(HOOKS).and_then(|hooks| hooks.get(event));
    let span = list.map(|list| list.span()).ok_or("the list is gone")?;
    Ok(span.start + 1..span.end - 1)
}

/// An element with the comma that it brought.
fn with_comma(all: &[Place<'_>], nth: usize) -> Range<usize> {
    match nth.checked_sub(1) {
        Some(before) => all[before].span().end..all[nth].span().end,
        None => all[nth].span().start..all.get(1).map_or(all[nth].span().end, |next| next.span().start),
    }
}

fn field_with_comma(fields: &[Field<'_>], name: &str) -> Option<Range<usize>> {
    let nth = fields.iter().rposition(|field| field.name == name)?;
    let end = fields[nth].value.span().end;
    Some(match nth.checked_sub(1) {
        Some(before) => fields[before].value.span().end..end,
        None => fields[nth].key.start..fields.get(1).map_or(end, |next| next.key.start),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> Wanted {
        let hook = |event, command: &str| Hook { event, command: command.into(), timeout: 60 };
        Wanted {
            hooks: vec![hook("Stop", "/x/ralph hook stop"), hook("SessionStart", "/x/ralph hook session")],
            env: Some((CAP, "1000000")),
        }
    }

    const SETTINGS: [&str; 11] = [
        "{}",
        "{}\n",
        "{ }",
        "{\n}\n",
        "{\"a\":1}",
        "{\n  \"model\": \"x\",\n  \"permissions\": {\n    \"allow\": [\"Bash\"]\n  }\n}\n",
        "{\r\n\t\"hooks\": {},\r\n\t\"env\": {}\r\n}\r\n",
        "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\"type\": \"command\", \"command\": \"say done\"}\n        ]\n      }\n    ],\n    \"PreToolUse\": []\n  },\n  \"env\": {\"A\": \"b\"}\n}\n",
        "{ \"env\" : { \"A\" : \"\\u00e4\" } , \"hooks\" : { \"SessionStart\" : [] } }",
        "{\"hooks\":{\"Stop\":[{\"matcher\":\"\",\"hooks\":[]}]},\"z\":[1 , 2]}",
    ];

    #[test]
    fn what_is_put_in_is_there_once_and_goes_to_the_byte() {
        for before in SETTINGS {
            let installed = install(before, &wanted()).unwrap_or_else(|why| panic!("{before}: {why}"));
            let value: Value = serde_json::from_str(&installed.text).expect("JSON");
            assert!(is_installed(&installed.text, &wanted()), "{}", installed.text);
            assert_eq!(value["env"][CAP], "1000000");
            let again = install(&installed.text, &wanted()).expect("installed");
            assert_eq!(
                (again.text.as_str(), again.made.len()),
                (installed.text.as_str(), 0),
                "twice is once"
            );
            let after = uninstall(&installed.text, &wanted(), &installed.made).expect("taken out");
            assert_eq!(after, before, "installed: {}", installed.text);
        }
    }

    #[test]
    fn what_the_user_wrote_meanwhile_stays() {
        let installed = install("{\n  \"a\": 1\n}\n", &wanted()).expect("installed");
        let mut value: Value = serde_json::from_str(&installed.text).expect("JSON");
        let own = serde_json::json!({"hooks": [{"type": "command", "command": "say done"}]});
        value["hooks"]["Stop"].as_array_mut().expect("a list").push(own.clone());
        value["env"]["B"] = "c".into();
        let edited = serde_json::to_string_pretty(&value).expect("JSON");
        let after = uninstall(&edited, &wanted(), &installed.made).expect("taken out");
        let after: Value = serde_json::from_str(&after).expect("JSON");
        assert_eq!(after, serde_json::json!({"a": 1, "hooks": {"Stop": [own]}, "env": {"B": "c"}}));
    }

    #[test]
    fn a_program_that_moved_is_named_anew_and_a_cap_of_the_user_s_is_left() {
        let before = format!("{{\"env\": {{\"{CAP}\": \"20\"}}}}");
        let installed = install(&before, &wanted()).expect("installed");
        assert_eq!(installed.remarks, [format!("{CAP} is 20 there, and was left so")]);
        let mut moved = wanted();
        moved.hooks[0].command = "'/new place/ralph' hook stop".into();
        let again = install(&installed.text, &moved).expect("installed").text;
        assert_eq!(again.matches("hook stop").count(), 1, "{again}");
        assert!(again.contains("/new place/ralph"), "{again}");
        assert_eq!(uninstall(&again, &wanted(), &installed.made).expect("taken out"), before);
    }

    #[test]
    fn what_cannot_be_edited_without_loss_is_refused() {
        for (text, why) in [
            ("{\n // mine\n}", "line 2"),
            ("[]", "no object"),
            ("{\"hooks\": 1}", "hooks is no object"),
            ("{\"hooks\": {\"Stop\": 1}}", "Stop is no list"),
            ("{\"env\": 1}", "env is no object"),
            ("{", "line 1"),
        ] {
            let error = install(text, &wanted()).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
