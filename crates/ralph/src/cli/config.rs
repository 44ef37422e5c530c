//! `ralph config`: what is settled and where it comes from; setting a key, and taking it out again.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::config::{self, Layers, Origin, Shown};
use crate::error::{Error, Result};
use crate::notify;
use crate::project::Project;
use crate::settings::Wishes;
use crate::ui::Ui;
use crate::{brought, store, trust};

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Show every value that a new run would have, and where it comes from
    Show(ShowArgs),
    /// Write the value of one key that a new run would have, alone
    Get(GetArgs),
    /// Set a key in the project's file; nothing else in it changes
    Set(SetArgs),
    /// Take a key out of the project's file, with its line; nothing else in it changes
    Unset(UnsetArgs),
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// As JSON (schema ralph.config/1)
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct GetArgs {
    /// Such as profile, gate, checks.test or agents.claude.model; `ralph config show` names them
    key: String,
}

#[derive(Debug, Args)]
pub(super) struct UnsetArgs {
    /// Such as profile, gate, checks.test or agents.claude.model; `ralph config show` names them
    key: String,
    /// Out of the user's own file instead
    #[arg(long)]
    user: bool,
}

#[derive(Debug, Args)]
pub(super) struct SetArgs {
    /// Such as profile, gate, checks.test or agents.claude.model; `ralph config show` names them
    key: String,
    /// Lists with commas: claude,codex:review; or as TOML, where a text has commas: '["--tools", "Read,Edit"]'
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// In the user's own file instead, for all projects
    #[arg(long)]
    user: bool,
}

pub(super) fn main(command: &ConfigCommand, ui: &mut Ui) -> Result<ExitCode> {
    match command {
        ConfigCommand::Show(args) => show(args, ui)?,
        ConfigCommand::Get(args) => get(args, ui)?,
        ConfigCommand::Set(args) => set(args, ui)?,
        ConfigCommand::Unset(args) => unset(args, ui)?,
    }
    super::fine()
}

fn show(args: &ShowArgs, ui: &mut Ui) -> Result<()> {
    let project = Project::look()?;
    let mut rows = Layers::read(&project.ralph_dir)?.shown()?;
    // A list of settings is pasted into reports; `config get` has the whole address.
    for row in rows.iter_mut().filter(|row| row.key.name == "notify.url" && row.value != row.key.default) {
        row.value = notify::masked(&row.value);
    }
    let files = files(&project);
    if args.json {
        let values: Vec<_> = rows
            .iter()
            .map(|row| {
                // As `config get` has it: there is no value that a script could use.
                let found = settled(row, &rows) == FOUND;
                let value = (!found).then_some(&row.value);
                json!({
                    "key": row.key.name, "value": value, "found_by_run": found, "from": row.origin.word(), "place": row.place,
                    "default": row.key.default, "takes": row.key.takes, "about": row.key.about,
                })
            })
            .collect();
        let files: Vec<_> = files
            .iter()
            .map(|(from, path, _)| json!({"from": from, "path": path.display().to_string(), "exists": path.is_file()}))
            .collect();
        ui.json(&json!({"schema": "ralph.config/1", "files": files, "values": values}));
        return Ok(());
    }
    let of_runs = |row: &Shown| matches!(row.key.name.as_str(), "profile" | "policy.reviews");
    let misleads =
        rows.iter().any(|row| of_runs(row) && !matches!(row.origin, Origin::Default | Origin::Profile));
    for row in &rows {
        let value = ralph_core::text::visible(settled(row, &rows));
        let line = format!("{:<29} {value:<27} {}", row.key.name, row.place);
        if ui.fits(&line) {
            ui.exact_line(&line);
        } else {
            ui.data_row(30, &format!("{:<29} {value}", row.key.name));
            ui.data_row(35, &format!("{:<29} from {}", "", row.place));
        }
    }
    if misleads {
        ui.say("profile and reviews are for ralph run; those of a held session go with ralph hook arm");
    }
    Ok(())
}

/// Where a run would look for a command.
const FOUND: &str = "found when a run starts";

/// Where it would not, because of another one.
const NOT_FOUND: &str = "none: another check is named";

/// The value of a row, in words where a run would look for it.
fn settled<'a>(row: &'a Shown, rows: &[Shown]) -> &'a str {
    match (is_unnamed(row, rows), rows.iter().any(is_named)) {
        (true, false) => FOUND,
        (true, true) => NOT_FOUND,
        (false, _) => &row.value,
    }
}

fn is_named(row: &Shown) -> bool {
    is_check(row) && row.value != row.key.default
}

fn is_check(row: &Shown) -> bool {
    row.key.name.starts_with("checks.") && row.key.name != "checks.detect"
}

/// A check without a command, where commands are looked for unless one is named.
fn is_unnamed(row: &Shown, rows: &[Shown]) -> bool {
    let is = |name: &str, value: &str| rows.iter().any(|row| row.key.name == name && row.value == value);
    let looked_for = is("checks.detect", "true") && is("policy.evidence", "required");
    looked_for && is_check(row) && !is_named(row)
}

fn get(args: &GetArgs, ui: &Ui) -> Result<()> {
    let key = config::whole(&args.key)?;
    let rows = Layers::read(&Project::look()?.ralph_dir)?.shown()?;
    let row = rows.iter().find(|row| row.key.name == key.name);
    // Words are no value that a script could use.
    if let Some(row) = row.filter(|row| is_unnamed(row, &rows)) {
        let why = match settled(row, &rows) {
            FOUND => format!("its command is {FOUND}"),
            _ => "another check is named, so that no run looks for it".into(),
        };
        return Err(Error::no(format!("{} has no value of its own: {why}", key.name))
            .hint("what would be run: ralph run --dry-run GOAL")
            .hint(format!("ralph config set {} COMMAND", key.name)));
    }
    ui.exact_line(row.map_or(key.default.as_str(), |row| &row.value));
    Ok(())
}

/// The files that are read, lowest first: whose, where, and how messages call it.
fn files(project: &Project) -> Vec<(&'static str, PathBuf, String)> {
    let user = config::user_file().map(|(path, name)| ("user", path, name));
    let own = ("project", config::project_file(&project.ralph_dir), config::NAME.to_owned());
    user.into_iter().chain([own]).collect()
}

/// The file that is to be changed, how messages call it, and where the settings of the project are, if this is one.
fn meant(user: bool) -> Result<(PathBuf, String, Option<PathBuf>)> {
    if user {
        let (path, name) = config::user_file().ok_or_else(|| {
            Error::new("there is no place for the user's file")
                .because("neither XDG_CONFIG_HOME nor HOME names a folder")
        })?;
        return Ok((path, name, Project::look().ok().map(|project| project.ralph_dir)));
    }
    let project = Project::find()?;
    store::nobody_is_at_work(&project.truth, "the settings of a run stand, and its files are put back")?;
    Ok((config::project_file(&project.ralph_dir), config::NAME.to_owned(), Some(project.ralph_dir)))
}

fn set(args: &SetArgs, ui: &mut Ui) -> Result<()> {
    let (path, name, ralph_dir) = meant(args.user)?;
    write(&path, &name, args, ralph_dir.as_deref())?;
    ui.say(&format!("{name}: {} = {}", config::whole(&args.key)?.name, args.value));
    if !args.user
        && let Some(asked) = asked_next(args)
    {
        ui.say(asked);
    }
    Ok(())
}

/// Whoever writes into the project's file may be anybody, so that nobody has agreed to it by that.
fn asked_next(args: &SetArgs) -> Option<&'static str> {
    let project = Project::look().ok()?;
    let source = config::source(&config::whole(&args.key).ok()?.name);
    let brought = brought::by_settings(&Layers::read(&project.ralph_dir).ok()?.project, &Wishes::default());
    let unknown = trust::unknown(&project, &brought);
    unknown.iter().find(|command| command.source == source).map(|command| match command.permits() {
        true => {
            "the next run asks about it once on a terminal; without one it has to be said on the command line"
        }
        false => "the next run asks once whether this may be run; without a terminal it wants --yes",
    })
}

fn write(path: &Path, name: &str, args: &SetArgs, ralph_dir: Option<&Path>) -> Result<()> {
    // What another file says wrong keeps nobody from changing this one.
    let layers = ralph_dir.and_then(|dir| Layers::read(dir).ok());
    let known = layers.map(|layers| layers.merged().agents.tables);
    let change = |text: &str| config::change(text, name, &args.key, &args.value, known.as_deref());
    if path.exists() {
        return store::edit(path, |bytes| Ok((Some(change(text(bytes, name)?)?.into_bytes()), ())));
    }
    store::write_settings(path, change("")?.as_bytes(), !args.user)
}

fn text<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|_| Error::data(format!("{name}: this is not UTF-8")))
}

fn unset(args: &UnsetArgs, ui: &mut Ui) -> Result<()> {
    let (path, name, ralph_dir) = meant(args.user)?;
    let key = config::whole(&args.key)?.name;
    let was_set = path.exists()
        && store::edit(&path, |bytes| {
            let changed = config::unset(text(bytes, &name)?, &name, &key)?;
            let was_set = changed.is_some();
            Ok((changed.map(String::into_bytes), was_set))
        })?;
    // Settings that are wrong elsewhere are told by whoever needs them.
    let shown = ralph_dir.and_then(|dir| Layers::read(&dir).and_then(|layers| layers.shown()).ok());
    let rows = shown.unwrap_or_default();
    let row = rows.iter().find(|row| row.key.name == key);
    let now = row.map(|row| format!("; it is: {} ({})", settled(row, &rows), row.place)).unwrap_or_default();
    ui.say(&match was_set {
        true => format!("{name}: {key} is not set any more{now}"),
        false => format!("{name} does not set {key}, so nothing was changed{now}"),
    });
    Ok(())
}
