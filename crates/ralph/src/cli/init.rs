//! `ralph init`: what a project needs to say for itself, found out as far as it can be.

use std::process::ExitCode;

use clap::Args;
use ralph_core::text;

use super::which;
use crate::config::{self, Layers};
use crate::detected;
use crate::error::Result;
use crate::git::Repo;
use crate::project::Project;
use crate::setup::{self, Fitting, Found};
use crate::store::{self, Placed};
use crate::suggest;
use crate::ui::{self, Ui};
use crate::work;

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Ask nothing: what cannot be found out is left open
    #[arg(long)]
    yes: bool,
    /// Have settings, prompt, backlog and guardrails committed; everything else in .ralph/ stays out
    #[arg(long)]
    share: bool,
    /// Write settings, prompt and guardrails anew; a copy of each stays beside it
    #[arg(long)]
    force: bool,
}

pub(super) fn main(args: &InitArgs, ui: &mut Ui) -> Result<ExitCode> {
    let project = Project::find()?;
    store::nobody_is_at_work(&project.truth, "its files in .ralph/ are put back as they were")?;
    let choices = if args.yes { vec![] } else { work::choices(&project.root) };
    let chosen = which::pick(&project.root, &choices);
    let found = setup::look(&project.root, chosen)?;
    tell(&project, &found, ui);
    let may_write = |name: &str| args.force || !project.ralph_dir.join(name).exists();
    if let Some(prompt) = found.prompt.as_ref().filter(|_| may_write("prompt.md")) {
        ui.say(&format!("prompt  {prompt} is pointed to"));
    }
    let writes = may_write("config.toml");
    let fitting = fitting(&project, &found, writes)?;
    if let Some(fitting) = fitting {
        tell_profile(fitting, &found, writes, ui);
    }
    let (mut known, mut typed) = (Vec::new(), None);
    if writes {
        if let Some(backlog) = found.backlog.as_ref().filter(|backlog| backlog.must_be_named) {
            known.extend(accepted("backlog", &backlog.path, ui));
        }
        if let Some(fitting) = &fitting {
            known.extend(accepted("profile", fitting.profile, ui));
        }
        for (key, value) in found.plugin.iter().flat_map(setup::Plugin::settings) {
            let taken = accepted(&key, &value, ui);
            if taken.is_some() {
                ui.say(&format!("taken   {key} = {value}, from {}", setup::PLUGIN));
            }
            known.extend(taken);
        }
        let proved = found.checks.settled || !found.checks.lines.is_empty();
        if !args.yes && !proved {
            typed = test_command().and_then(|command| accepted("checks.test", &command, ui));
            known.extend(typed.clone());
        }
    }
    setup::keep_earlier(&project, ui)?;
    let wanted = setup::files(&found, &known, &detected::checks(&project.root));
    let share = args.share.then(|| setup::shared_ignore(&found));
    let done = setup::write(&project.ralph_dir, &wanted, share.as_deref(), args.force)?;
    let mut wrote = false;
    for (name, placed) in &done {
        wrote |= *placed != Placed::Kept;
        match placed {
            Placed::Wrote => ui.say(&format!("wrote   .ralph/{name}")),
            Placed::Kept if name == ".gitignore" && !args.share => {}
            Placed::Kept => ui.say(&format!("kept    .ralph/{name}, which was there")),
            Placed::Replaced { copy } => ui.say(&format!("wrote   .ralph/{name}; as it was: .ralph/{copy}")),
        }
    }
    if let Some(name) = setup::write_schema(&project.root, &found)? {
        wrote = true;
        ui.say(&format!("wrote   {name}, the schema of its PRDs"));
    }
    if !wrote {
        ui.say("nothing to do: all of it was there");
    }
    match &share {
        Some(share) => say_how_to_share(&project, share, &found, wrote, ui),
        None if is_ignored(&project) => ui.say(
            "        git ignores these; to commit settings, prompt, backlog and guardrails: ralph init --share",
        ),
        None => {}
    }
    if let Some((_, command)) = typed {
        ui.say(&format!(
            "check   {command}: the first run shows it and asks once; without a terminal it wants --yes"
        ));
    }
    ui.say(&format!("next:   {}", next(&found)));
    if !found.agents.is_empty() && is_empty(&found) {
        ui.say("or:     ralph backlog add \"what is to be done\", then ralph run");
    }
    super::fine()
}

/// The profile that fits the task file, unless the settings name one; those that are written anew name none.
fn fitting<'f>(project: &Project, found: &'f Found, writes: bool) -> Result<Option<&'f Fitting>> {
    let named = !writes && Layers::read(&project.ralph_dir)?.merged().profile.is_some();
    Ok(found.backlog.as_ref().filter(|_| !named).and_then(|backlog| backlog.profile.as_ref()))
}

fn tell_profile(fitting: &Fitting, found: &Found, writes: bool, ui: &mut Ui) {
    let file = found.backlog.as_ref().map_or("", |backlog| &backlog.path);
    let Fitting { profile, why, .. } = fitting;
    let how = match writes {
        true => "another: ralph config set profile NAME".to_owned(),
        false => format!("to use it: ralph config set profile {profile}"),
    };
    ui.say(&format!("profile {profile} fits {file}: {why}; {how}"));
}

/// A setting for the new file, if ralph would read it there.
fn accepted(key: &str, value: &str, ui: &mut Ui) -> Option<(String, String)> {
    match config::change("", config::NAME, key, value, None) {
        Ok(_) => Some((key.to_owned(), value.to_owned())),
        Err(error) => {
            let said = format!("{} = {value}: ", key.trim_start_matches("policy."));
            let what = error.what.strip_prefix(&said).unwrap_or(&error.what);
            let what = what.replace(value, &text::one_line(value, 100));
            ui.warn(&format!("{key} is not taken over: {}", text::one_line(&what, 300)));
            None
        }
    }
}

fn tell(project: &Project, found: &Found, ui: &mut Ui) {
    ui.say(&format!("project {}", project.root.display()));
    match found.agents.is_empty() {
        false => ui.say(&format!("agents  {}", found.agents.join(", "))),
        true => {
            ui.warn("no agent is installed; ralph doctor says how to get one, --agent-cmd names any command");
        }
    }
    for stack in &found.stacks {
        ui.say(&format!("stack   {}", stack.described()));
    }
    for check in &found.checks.lines {
        ui.say(&format!("checks  {check}"));
    }
    for missing in &found.checks.missing {
        ui.warn(missing);
    }
    if let Some(backlog) = &found.backlog {
        let path = &backlog.path;
        match &backlog.items {
            Ok(counted) => ui.say(&format!("backlog {path}: {}", counted.told())),
            Err(why) => ui.warn(&format!("{path} is there and cannot be read as a backlog: {why}")),
        }
    }
    if let Some(first) = found.undecided.first() {
        let names: Vec<String> =
            found.undecided.iter().map(|path| work::below(&project.root, path)).collect();
        ui.warn(&format!(
            "several task files have open items: {}; to name one: ralph config set backlog {}",
            names.join(", "),
            suggest::quoted(&work::below(&project.root, first))
        ));
    }
    for remark in &found.remarks {
        ui.say(&format!("found   {remark}"));
    }
}

/// The one thing that nobody but the user can say.
fn test_command() -> Option<String> {
    let question = "Which command proves that the work is right, such as `make test`? (Enter: none) ";
    ui::ask(question).filter(|answer| !answer.is_empty())
}

/// Whether others get the settings with a clone, once they are committed.
fn is_ignored(project: &Project) -> bool {
    let rule = |repo: &Repo| repo.ignored_by(config::NAME);
    project.repo.as_ref().is_some_and(|repo| matches!(rule(repo), Ok(Some(_))))
}

/// A rule above may take away what the folder's own file gives.
fn say_how_to_share(project: &Project, share: &str, found: &Found, wrote: bool, ui: &mut Ui) {
    let Some(repo) = &project.repo else {
        return ui.warn("this folder is no git repository: there is nothing to share it with yet");
    };
    if std::fs::read(project.ralph_dir.join(".gitignore")).is_ok_and(|there| there != share.as_bytes()) {
        ui.say("        .ralph/.gitignore is yours: see that it lets through what you want to share");
    }
    let mut ignored = false;
    for name in ["config.toml"].into_iter().chain(found.in_the_folder()) {
        let path = format!(".ralph/{name}");
        if let Ok(Some(rule)) = repo.ignored_by(&path) {
            ui.warn(&format!("git ignores {path} all the same: {rule}"));
            ignored = true;
        }
    }
    if wrote && !ignored {
        ui.say("        to share them: git add .ralph && git commit -m \"ralph's settings\" -- .ralph");
    }
}

/// There is a backlog that works and has no items: the one that was just made, or another.
fn is_empty(found: &Found) -> bool {
    let is_empty = |backlog: &setup::FoundBacklog| backlog.items.as_ref().is_ok_and(|items| items.is_empty());
    found.undecided.is_empty() && found.backlog.as_ref().is_none_or(is_empty)
}

fn next(found: &Found) -> String {
    let open = |backlog: &setup::FoundBacklog| backlog.items.as_ref().is_ok_and(|items| items.open > 0);
    let plugin = found.plugin.as_ref().and_then(setup::Plugin::next);
    match &found.backlog {
        None if !found.undecided.is_empty() => "ralph config set backlog FILE, then ralph run".into(),
        _ if found.agents.is_empty() => "ralph doctor".into(),
        Some(backlog) if open(backlog) => "ralph run, which works through the backlog".into(),
        _ => plugin.unwrap_or_else(|| "ralph run \"what is to be reached\"".into()),
    }
}
