//! The hooks in an agent's settings: JSON that is the user's, changed by the bytes of the change alone, and put back by
//! the same bytes. What cannot be is refused.

#[cfg(test)]
mod tests;

use alloc::collections::BTreeMap;
use core::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::backlog::json::{Field, Value as Place, Walk};
use crate::backlog::write::json as write;
use crate::backlog::write::{Step, Written};
use crate::edit::{Edit, line_of, splice};
use crate::prelude::*;
use crate::text;

/// One hook: for which event, what it runs, and how long that may take, in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    pub event: &'static str,
    pub command: String,
    pub timeout: i64,
    /// A failure of the hook itself counts as a block, where the agent knows that.
    pub fails_closed: bool,
}

/// What is to be in the settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    pub hooks: Vec<Hook>,
    /// A variable of the agent's environment.
    pub env: Option<(&'static str, &'static str)>,
}

/// What [`install`] put into the settings, and how they were: by this it goes again, and nothing else does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Put {
    pub hooks: Vec<PutHook>,
    /// The variable, if it was not there.
    pub env: Option<PutVariable>,
    /// The objects and lists that were made for it, outermost first: `hooks`, `hooks.Stop`.
    pub made: Vec<String>,
    /// Those that were there and empty, as they were written: `hooks.Stop` was `[ ]`, or null.
    pub empty: BTreeMap<String, String>,
    /// The whole text, where there was nothing in it.
    pub blank: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutHook {
    pub event: String,
    pub command: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutVariable {
    pub name: String,
    pub value: String,
}

impl Put {
    fn has(&self, event: &str, command: &str) -> bool {
        self.hooks.iter().any(|hook| hook.event == event && hook.command == command)
    }

    /// Both: for whoever may be cut off between the one and the other.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        for hook in &other.hooks {
            if !self.has(&hook.event, &hook.command) {
                self.hooks.push(hook.clone());
            }
        }
        self.env = other.env.clone().or(self.env);
        self
    }
}

/// The settings with what was wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub text: String,
    /// What of it is there because of this, or of an earlier time.
    pub put: Put,
    /// What was there already with another meaning, and was left.
    pub remarks: Vec<String>,
}

const HOOKS: &str = "hooks";
const ON_FAILURE: &str = "onFailure";
const BLOCK: &str = "block";
const ENV: &str = "env";
const DEPTH: usize = 100;

/// Adds what is missing. What is there already stays as it is, so that doing it twice changes nothing; a hook that was put
/// there before (`known`) and names a program that moved is named anew. Hooks of somebody's own are never touched, and neither
/// is one that somebody made to run at other times: it gets a second one beside it.
pub fn install(text: &str, wanted: &Wanted, known: &Put) -> Result<Installed, String> {
    let mut put = Put { hooks: vec![], env: None, ..known.clone() };
    let mut now = text.to_owned();
    if text.trim().is_empty() {
        put.blank = Some(text.to_owned());
        now = "{}\n".into();
    }
    let mut expected = root(&now)?.1;
    let mut remarks = Vec::new();
    for hook in &wanted.hooks {
        let there = commands(&now, hook.event)?;
        let ours = PutHook { event: hook.event.into(), command: hook.command.clone() };
        if let Some(same) = there.iter().find(|there| there.command == hook.command && there.is_for(hook)) {
            let is_ours = known.has(hook.event, &hook.command);
            if is_ours && hook.fails_closed && !same.says_on_failure {
                // An earlier version put it there.
                now = apply(&now, &Edit::insert(same.span.end, format!(", \"{ON_FAILURE}\": \"{BLOCK}\"")))?;
                expected = root(&now)?.1;
            }
            put.hooks.extend(is_ours.then_some(ours));
            continue;
        }
        let is_ours = |there: &&Command| known.has(hook.event, &there.command) && there.is_for(hook);
        if let Some(moved) = there.iter().find(is_ours) {
            now = apply(&now, &Edit::replace(moved.span.clone(), quoted(&hook.command)))?;
            expected = root(&now)?.1;
            put.hooks.push(ours);
            continue;
        }
        if let Some(theirs) = there.iter().find(|there| there.does_as(hook)) {
            let line = text::one_line(&theirs.line, 200);
            remarks.push(format!("{} runs `{line}` there already, and was left so", hook.event));
            continue;
        }
        on_the_way(&root(&now)?.0, &[HOOKS, hook.event], &mut put);
        put.hooks.push(ours);
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
        let there = root(&now)?.0.get(ENV).and_then(|env| env.get(name));
        match there.map(|there| there.str().map_or_else(|| there.raw().into(), |text| text.into_owned())) {
            Some(there) if there != value => {
                let there = text::one_line(&there, 80);
                remarks.push(format!("{name} is {there} there, and was left so"));
            }
            Some(_) => put.env.clone_from(&known.env),
            None => {
                on_the_way(&root(&now)?.0, &[ENV], &mut put);
                put.env = Some(PutVariable { name: name.into(), value: value.into() });
                now = match name {
                    CAP => set(&now, &mut expected, &[ENV, CAP], Written::Text(value.into()))?,
                    other => return Err(format!("nobody sets {other}")),
                };
            }
        }
    }
    match root(&now)?.1 == expected {
        true => Ok(Installed { text: now, put, remarks }),
        false => Err("the edited settings would not read as they should".into()),
    }
}

/// How many blocks in a row Claude Code allows.
pub const CAP: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";

/// Takes out what [`install`] put in: each hook once, the variable if it still has that value, and what was made for them
/// if nothing else is in it now.
pub fn uninstall(text: &str, put: &Put) -> Result<String, String> {
    let mut now = text.to_owned();
    if text.trim().is_empty() {
        return Ok(now);
    }
    for hook in put.hooks.iter().rev() {
        if let Some(span) = group_of(&now, hook)? {
            now = apply(&now, &Edit::replace(span, ""))?;
        }
    }
    if let Some(PutVariable { name, value }) = &put.env
        && let Some(env) = root(&now)?.0.get(ENV)
        && env.get(name).and_then(|known| known.str()).is_some_and(|known| known == value.as_str())
    {
        let span = field_with_comma(&env.fields(), name);
        now = apply(&now, &Edit::replace(span.unwrap_or(0..0), ""))?;
    }
    for path in put.made.iter().rev() {
        let (outer, name) = path.rsplit_once('.').map_or((None, path.as_str()), |(a, b)| (Some(a), b));
        let place = root(&now)?.0;
        let Some(object) = outer.map_or(Some(place), |outer| place.get(outer)) else { continue };
        if object.get(name).is_some_and(|inner| is_empty(&inner)) {
            let span = field_with_comma(&object.fields(), name).unwrap_or(0..0);
            now = apply(&now, &Edit::replace(span, ""))?;
        }
    }
    for (path, written) in &put.empty {
        let place = path.split('.').try_fold(root(&now)?.0, |place, name| place.get(name));
        if let Some(span) = place.filter(is_empty).map(|place| place.span()) {
            now = apply(&now, &Edit::replace(span, written))?;
        }
    }
    let left = root(&now)?.0;
    match &put.blank {
        Some(blank) if is_empty(&left) => Ok(blank.clone()),
        _ => Ok(now),
    }
}

/// Whether the settings run that hook, in whatever way. Settings that cannot be read run nothing.
pub fn runs(text: &str, hook: &Hook) -> bool {
    commands(text, hook.event).is_ok_and(|there| there.iter().any(|there| there.does_as(hook)))
}

fn entry(hook: &Hook) -> Written {
    let command = [
        ("type", Written::Text("command".into())),
        ("command", Written::Text(hook.command.clone())),
        ("timeout", Written::Number(hook.timeout)),
    ];
    let on_failure = hook.fails_closed.then(|| (ON_FAILURE, Written::Text(BLOCK.into())));
    let command = Written::map(command.into_iter().chain(on_failure));
    Written::map([(HOOKS, Written::List(vec![command]))])
}

/// A command that stands in the settings.
struct Command {
    /// Where its text is, with the quotes.
    span: Range<usize>,
    command: String,
    /// The same with its arguments, where those stand apart.
    line: String,
    /// It is run for sessions that start, if it is for any.
    at_start: bool,
    /// What follows from its failure is said.
    says_on_failure: bool,
}

impl Command {
    /// Whether it is run when the hook has to be: one for sessions that are resumed says nothing of those that start.
    fn is_for(&self, hook: &Hook) -> bool {
        self.at_start || hook.event != "SessionStart"
    }

    /// Whether it calls the hook's program with the hook's words, wherever the program is and whatever is around it:
    /// `/a/ralph hook stop`, `cd b && ralph hook stop || true`, `sh -c 'ralph hook stop'`. Both would be run, so one is
    /// enough.
    fn does_as(&self, hook: &Hook) -> bool {
        let wanted = called(&hook.command);
        self.is_for(hook)
            && wanted.len() > 2
            && called(&self.line).windows(3).any(|there| there == &wanted[wanted.len() - 3..])
    }
}

/// The words of a command for a shell, without what joins and quotes them; of a path the name.
fn called(command: &str) -> Vec<&str> {
    let apart = |c: char| c.is_whitespace() || "'\"`;|&(){}<>$=\\".contains(c);
    let words = command.split(apart).filter(|word| !word.is_empty());
    words.map(|word| word.rsplit('/').next().unwrap_or(word)).collect()
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

fn is_empty(place: &Place<'_>) -> bool {
    matches!(place.first(), b'{' | b'[') && place.fields().is_empty() && place.elements().is_empty()
}

/// Notes what has to be made to get there, and what is there and holds nothing.
fn on_the_way(root: &Place<'_>, path: &[&str], put: &mut Put) {
    let mut place = Some(*root);
    let mut name = String::new();
    for part in path {
        name = if name.is_empty() { (*part).into() } else { format!("{name}.{part}") };
        place = place.and_then(|place| place.get(part));
        match place {
            None if !put.made.contains(&name) => put.made.push(name.clone()),
            Some(there) if (is_empty(&there) || there.raw() == "null") && !put.made.contains(&name) => {
                put.empty.insert(name.clone(), there.raw().into());
            }
            _ => {}
        }
    }
}

/// The groups of hooks for an event.
fn groups<'a>(text: &'a str, event: &str) -> Result<Vec<Place<'a>>, String> {
    let list = root(text)?.0.get(HOOKS).and_then(|hooks| hooks.get(event));
    Ok(list.map_or(vec![], |list| list.elements()))
}

/// Every command for an event.
fn commands(text: &str, event: &str) -> Result<Vec<Command>, String> {
    let mut commands = Vec::new();
    for group in groups(text, event)? {
        let matcher = group.get("matcher").and_then(|matcher| matcher.str()).unwrap_or_default();
        let at_start = matches!(&*matcher, "" | "*") || matcher.contains("startup");
        for hook in group.get(HOOKS).map_or(vec![], |hooks| hooks.elements()) {
            let Some(place) = hook.get("command") else { continue };
            let Some(command) = place.str() else { continue };
            let args = hook.get("args").map_or(vec![], |args| args.elements());
            let words = [command.clone()].into_iter().chain(args.iter().filter_map(|arg| arg.str()));
            let line = words.collect::<Vec<_>>().join(" ");
            commands.push(Command {
                span: place.span(),
                command: command.into_owned(),
                line,
                at_start,
                says_on_failure: hook.get(ON_FAILURE).is_some(),
            });
        }
    }
    Ok(commands)
}

/// The bytes of the last group that holds this hook alone, or of the hook in a group that holds others.
fn group_of(text: &str, wanted: &PutHook) -> Result<Option<Range<usize>>, String> {
    let is_it = |hook: &Place<'_>| {
        hook.get("command").and_then(|command| command.str()).is_some_and(|c| c == wanted.command.as_str())
    };
    let groups = groups(text, &wanted.event)?;
    for (nth, group) in groups.iter().enumerate().rev() {
        let hooks = group.get(HOOKS).map_or(vec![], |hooks| hooks.elements());
        let Some(at) = hooks.iter().rposition(is_it) else { continue };
        let span = match (hooks.len(), groups.len()) {
            (1, 1) => whole_list(text, &wanted.event)?,
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
