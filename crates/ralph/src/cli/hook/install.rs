//! Putting hooks, commands and a skill into an agent's folder, and taking them out again. What ralph puts there is written
//! down beside it first, so that exactly that goes.

mod place;
mod there;

use std::path::Path;
use std::process::ExitCode;

use ralph_core::session::settings::{self, Installed, Put, Wanted};

use super::{Agent, InstallArgs, arm};
use crate::cli::run;
use crate::error::{self, Error, Result};
use crate::project::Project;
use crate::store::{self, Own};
use crate::ui::Ui;
use crate::{digest, process};
use place::{Place, Record};
pub(in crate::cli) use there::Hooks;

/// A file that a held session leaves beside the agent's, if it is there and ralph's.
pub(super) fn tell_of_the_view(root: &Path, ui: &mut Ui) {
    if store::has_session_view(root) {
        ui.say(&format!(
            "{}, which shows how the last held session stood, stays; delete it as you like",
            store::SESSION_VIEW
        ));
    }
}

pub(super) fn install(args: &InstallArgs, ui: &mut Ui) -> Result<ExitCode> {
    let place = Place::meant(args)?;
    let ralph = command()?;
    let mut record = place.record()?.unwrap_or_else(|| Record {
        folder_made: !place.dir.exists(),
        settings_made: !place.settings.exists(),
        ..Record::default()
    });
    record.schema = "ralph.installed/1".into();
    if record.mark.is_empty() {
        record.mark = format!("{:016x}", run::seed());
    }
    let mut said = Vec::new();
    let mut texts = Vec::new();
    let before = std::fs::read_to_string(&place.settings).ok();
    let mut there_already = before.is_some();
    for (name, text) in place.files() {
        let (own, text) = (
            Own { path: place.dir.join(name) },
            text.replace("@RALPH@", &ralph).replace("@MARK@", &record.mark),
        );
        let new = digest::of(text.as_bytes());
        match std::fs::read(&own.path).ok().map(|bytes| digest::of(&bytes)) {
            Some(there) if !record.wrote(name, &there) => {
                let same = there == new;
                said.extend(
                    (!same).then(|| format!("{} is somebody's own and was left alone", own.path.display())),
                );
                continue;
            }
            Some(there) if there != new => {
                there_already = false;
                record.replaced.insert((*name).to_owned(), there);
            }
            Some(_) => {}
            None => there_already = false,
        }
        record.files.insert((*name).to_owned(), new);
        texts.push((own, text));
    }
    let halfway = |error: Error| error.hint("ralph hook uninstall, which takes out what was put there");
    let Installed { put, remarks, text } = put_into_settings(&place, &ralph, &record)?;
    there_already &= before.as_ref() == Some(&text);
    said.extend(remarks);
    let mut files = vec![of_settings(&place, &put)];
    for (own, text) in texts {
        files.push(own.path.display().to_string());
        own.write(&text).map_err(halfway)?;
    }
    files.push(format!("{}, the list of all this", place.record_file().path.display()));
    place.write_down(&Record { settings: put, replaced: Default::default(), ..record }).map_err(halfway)?;
    for remark in said {
        ui.warn(&remark);
    }
    ui.say(&match there_already {
        true => format!("it was there already, in {}", place.dir.display()),
        false => format!("installed in {}", place.dir.display()),
    });
    files.iter().for_each(|file| ui.say(&format!("  {file}")));
    ui.say(match place.agent {
        Agent::Claude => "in a session: /ralph GOAL, /ralph-loop N GOAL (or /ralph-loop for the next item of the backlog), /ralph-run [TASK], /ralph-status, /ralph-cancel; sessions that are open load them when they start again",
        Agent::Codex => "Codex asks once whether it may run these hooks: type /hooks in it; then: ralph hook arm \"GOAL\"",
    });
    crate::cli::fine()
}

/// What of the settings is ralph's: `.claude/settings.json: hooks Stop, SessionStart; env …`
fn of_settings(place: &Place, put: &Put) -> String {
    let hooks: Vec<&str> = put.hooks.iter().map(|hook| hook.event.as_str()).collect();
    let hooks = (!hooks.is_empty()).then(|| format!("hooks {}", hooks.join(", ")));
    let env = put.env.as_ref().map(|env| format!("env {} = {}", env.name, env.value));
    let parts: Vec<String> = hooks.into_iter().chain(env).collect();
    let parts = if parts.is_empty() { "nothing of ralph's".to_owned() } else { parts.join("; ") };
    format!("{}: {parts}", place.settings.display())
}

/// The hooks and the variable, written down before they are there.
fn put_into_settings(place: &Place, ralph: &str, record: &Record) -> Result<Installed> {
    let wanted = place.wanted(ralph);
    let plan = |text: &str| {
        let installed = settings::install(text, &wanted, &record.settings).map_err(|why| {
            refuse(&place.settings, why).hint(format!("put this in by hand: {}", alone(&wanted)))
        })?;
        let settings = installed.put.clone().and(&record.settings);
        place.write_down(&Record { settings, ..record.clone() })?;
        Ok(installed)
    };
    if !place.settings.exists() {
        let installed = plan("{}")?;
        let value: serde_json::Value = serde_json::from_str(&installed.text).unwrap_or_default();
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        Own { path: place.settings.clone() }.write(&format!("{text}\n"))?;
        return Ok(installed);
    }
    store::edit(&place.settings, |bytes| {
        let installed = plan(text(&place.settings, bytes)?)?;
        Ok((Some(installed.text.clone().into_bytes()), installed))
    })
}

/// What is wanted, as settings that hold nothing else.
fn alone(wanted: &Wanted) -> String {
    let alone = settings::install("{}", wanted, &Put::default()).map(|installed| installed.text);
    let value: serde_json::Value = serde_json::from_str(&alone.unwrap_or_default()).unwrap_or_default();
    value.to_string()
}

fn refuse(settings: &Path, why: String) -> Error {
    Error::data(format!("{} cannot be edited without loss", settings.display())).because(why)
}

fn text<'a>(settings: &Path, bytes: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|error| refuse(settings, error.to_string()))
}

pub(super) fn uninstall(args: &InstallArgs, ui: &mut Ui) -> Result<ExitCode> {
    let place = Place::meant(args)?;
    let settings = Own { path: place.settings.clone() };
    settings.sweep()?;
    let Some(record) = place.record()? else {
        place.record_file().sweep()?;
        ui.say(&format!("ralph put nothing into {}", place.dir.display()));
        warn_of_others(&place, ui);
        return crate::cli::fine();
    };
    let top = if record.folder_made { place.dir.parent().unwrap_or(&place.dir) } else { &place.dir };
    if place.settings.exists() {
        let left = store::edit(&place.settings, |bytes| {
            let after =
                settings::uninstall(text(&place.settings, bytes)?, &record.settings).map_err(|why| {
                    refuse(&place.settings, why).hint("take the hooks that run ralph out by hand")
                })?;
            Ok((Some(after.clone().into_bytes()), after))
        })?;
        let empty = left.split_whitespace().collect::<String>() == "{}";
        if record.settings_made && empty {
            settings.remove(top)?;
        }
    }
    for name in record.files.keys() {
        let own = Own { path: place.dir.join(name) };
        match std::fs::read(&own.path) {
            Ok(bytes) if record.wrote(name, &digest::of(&bytes)) => own.remove(top)?,
            Ok(_) => ui.warn(&format!("{} was changed since and stays", own.path.display())),
            Err(_) => own.sweep()?,
        }
    }
    place.record_file().remove(top)?;
    ui.say(&format!("taken out of {}", place.dir.display()));
    if let Ok(project) = Project::look() {
        if !args.user {
            tell_of_the_view(&project.root, ui);
        }
        arm::warn_of_armed(&project, ui);
    }
    warn_of_others(&place, ui);
    crate::cli::fine()
}

fn warn_of_others(place: &Place, ui: &mut Ui) {
    if place.runs().contains(&true) {
        let settings = place.settings.display();
        ui.warn(&format!("{settings} has hooks that run ralph and that somebody else put there; they stay"));
    }
}

/// How the hooks call this program: by its name where that leads here, else by its path.
pub(super) fn command() -> Result<String> {
    let own =
        std::env::current_exe().map_err(|error| Error::new("this program cannot be found").because(error))?;
    let own = own.canonicalize().map_err(error::io("cannot find", &own))?;
    let found = process::find_program("ralph").and_then(|path| path.canonicalize().ok());
    if found.as_deref() == Some(&own) {
        return Ok("ralph".into());
    }
    let path = own
        .to_str()
        .ok_or_else(|| Error::new("this program's path is no text").hint("put ralph on the PATH"))?;
    let plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+".contains(c));
    Ok(if plain { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) })
}
