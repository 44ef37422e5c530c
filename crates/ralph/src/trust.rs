//! The trust decision. Commands that come from the repository, and not from the command line, run only in projects
//! that somebody trusts; what was trusted is kept outside of the repository, word for word, and other words are asked
//! about again.

use ralph_core::event::Permissions;
use ralph_core::text;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::project::Project;
use crate::store::TrustFile;
use crate::ui::{self, Introduction, Ui};

/// A command that the repository brings, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// `.ralph/config.toml, checks.test`: the same as long as the command means the same.
    pub source: String,
    pub command: String,
}

impl Command {
    /// Whole, for whoever agrees to it must have seen it; on one line, and harmless to a terminal.
    pub(crate) fn shown(&self) -> String {
        shown(&self.command)
    }

    /// Whether it was found in the project's files, so that not looking leaves it out: neither settings, nor the record,
    /// nor an item, nor the boot ritual name it.
    fn was_found(&self) -> bool {
        let of_item = self.source.rsplit(", ").next().is_some_and(|last| last.starts_with("command "));
        ![".ralph/", ".beads/"].iter().any(|own| self.source.starts_with(own))
            && !self.source.contains("/.beads/")
            && !of_item
            && !self.source.ends_with("init.sh")
    }

    /// Whether it says what an agent may do: nobody but the user chooses that, one by one.
    pub fn permits(&self) -> bool {
        self.source.ends_with("permissions") || self.source.ends_with("args")
    }
}

/// A command that is to be agreed to, as it is shown.
pub(crate) fn shown(command: &str) -> String {
    text::visible(command.trim_end())
}

/// All that would be run. Whoever adds a way for the repository to bring one adds it here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commands(Vec<Command>);

impl Commands {
    pub fn add(&mut self, source: impl Into<String>, command: impl Into<String>) {
        self.0.push(Command { source: source.into(), command: command.into() });
    }

    pub fn extend(&mut self, others: Commands) {
        self.0.extend(others.0);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Command> {
        self.0.iter()
    }

    /// Those that nobody said yes to, in these words.
    fn unknown_to(&self, trusted: &[Command]) -> Vec<&Command> {
        self.0.iter().filter(|command| !trusted.contains(command)).collect()
    }
}

/// How the user consents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// By an answer.
    Ask,
    /// By `--yes`.
    Given,
}

/// What is to be decided about.
#[derive(Debug)]
pub struct Matter<'a> {
    pub project: &'a Project,
    pub commands: &'a Commands,
    /// Nothing was ever run here.
    pub first: bool,
    pub consent: Consent,
    /// An agent whose permissions are still to be chosen: the choice is the answer.
    pub unchosen: Option<&'a str>,
}

/// Returns if the run may begin, with the permissions if they were part of the question; what was agreed to is
/// remembered.
pub(crate) fn decide(
    matter: &Matter<'_>,
    introduction: impl FnOnce() -> Introduction,
    ui: &mut Ui,
) -> Result<Option<Permissions>> {
    let file = TrustFile::of(&matter.project.root);
    let trusted = file.as_ref().and_then(TrustFile::read);
    let known = trusted.as_deref().unwrap_or_default();
    let unknown = matter.commands.unknown_to(known);
    let new_here = trusted.is_none() && matter.first;
    // A record that nobody here is known to have made may have come with the folder.
    let handed_over = trusted.is_none() && !matter.first && matter.project.keeps_truth_in_tree();
    let asks_first = new_here && (ui::can_ask() || matter.consent == Consent::Given);
    if unknown.is_empty() && !asks_first && !handed_over {
        return Ok(None);
    }
    if matter.consent == Consent::Given
        && let Some(power) = unknown.iter().find(|command| command.permits())
    {
        return Err(not_by_yes(power));
    }
    let mut chosen = None;
    if matter.consent == Consent::Ask {
        if !ui::can_ask() {
            return Err(nobody_to_ask(&unknown, matter.unchosen));
        }
        let mut shown = introduction();
        if trusted.is_some() {
            let changed =
                unknown.iter().any(|command| known.iter().any(|known| known.source == command.source));
            shown.title = match changed {
                true => "Commands of this project have changed since you trusted it".into(),
                false => "New commands of this project, since you trusted it".into(),
            };
        }
        for command in &unknown {
            let was = known.iter().find(|known| known.source == command.source);
            let words = format!("{} ({})", command.shown(), command.source);
            if trusted.is_some() || !shown.rows.iter().any(|(_, value)| value.contains(&words)) {
                shown.row(if command.permits() { "allows" } else { "runs" }, words);
            }
            if let Some(was) = was {
                shown.row("", format!("was: {}", was.shown()));
            }
        }
        ui.introduce(&shown);
        chosen = agreed(matter.unchosen, !unknown.is_empty())?;
        ui.say("");
    }
    remember(file.as_ref(), known, matter.commands, ui);
    Ok(chosen)
}

/// Whether somebody here agreed to a command of these words, wherever it stood.
pub(crate) fn knows_words(project: &Project, words: &str) -> bool {
    let trusted = TrustFile::of(&project.root).and_then(|file| file.read()).unwrap_or_default();
    trusted.iter().any(|known| known.command == words)
}

/// Those that nobody has agreed to yet.
pub(crate) fn unknown<'a>(project: &Project, commands: &'a Commands) -> Vec<&'a Command> {
    let trusted = TrustFile::of(&project.root).and_then(|file| file.read()).unwrap_or_default();
    commands.unknown_to(&trusted)
}

/// How often an answer that is none is asked about again.
const AGAIN: usize = 2;

/// The one question. Anything but a clear yes is a no; where the yes is a choice, a word that is none is asked about again.
fn agreed(unchosen: Option<&str>, brings_commands: bool) -> Result<Option<Permissions>> {
    let begin = match brings_commands {
        true => "Begin, and run the commands that come with this project?",
        false => "Begin?",
    };
    let refused = || Error::no("not begun: you did not say yes; nothing was run or written");
    let heard = |question: &str| ui::ask(question).unwrap_or_default().to_lowercase();
    let Some(agent) = unchosen else {
        let answer = heard(&format!("  {begin} [y/N] "));
        return if matches!(answer.as_str(), "y" | "yes") { Ok(None) } else { Err(refused()) };
    };
    let mut answer = heard(&format!(
        "  {begin}\n  If so, say what {agent} may do in this folder without asking:\n    \
         full     everything, commands too\n    edits    edit files\n    inherit  what its own settings say\n  \
         [full/edits/inherit/N] "
    ));
    for _ in 0..AGAIN {
        if Permissions::named(&answer).is_some() || matches!(answer.as_str(), "" | "n" | "no") {
            break;
        }
        answer = heard("  To begin, say full, edits or inherit; n does not begin. [full/edits/inherit/N] ");
    }
    Permissions::named(&answer).map(Some).ok_or_else(refused)
}

/// Whether the user said yes to all of them.
pub(crate) fn knows(project: &Project, commands: &Commands) -> bool {
    let known = TrustFile::of(&project.root).as_ref().and_then(TrustFile::read).unwrap_or_default();
    commands.unknown_to(&known).is_empty()
}

/// The user's own commands, where the record of a run lies in a folder that others could hand over: that they come from
/// the user is known only now.
pub(crate) fn vouch(project: &Project, commands: &Commands, ui: &mut Ui) {
    let file = TrustFile::of(&project.root);
    let known = file.as_ref().and_then(TrustFile::read).unwrap_or_default();
    if !commands.unknown_to(&known).is_empty() {
        remember(file.as_ref(), &known, commands, ui);
    }
}

fn remember(file: Option<&TrustFile>, known: &[Command], commands: &Commands, ui: &mut Ui) {
    let replaced = |old: &&Command| commands.iter().all(|new| new.source != old.source);
    let all: Vec<Command> = known.iter().filter(replaced).chain(commands.iter()).cloned().collect();
    let failure = match file {
        None => Some("neither XDG_STATE_HOME nor HOME names a folder".to_owned()),
        Some(file) => file.write(&all).err().map(|error| error.to_string()),
    };
    if let Some(why) = failure {
        ui.warn(&format!("that you trust this project cannot be remembered: {why}"));
    }
}

/// What an agent may do is nothing that `--yes` agrees to.
const SAY_IT: &str = "say it yourself: --permissions full, edits or inherit; arguments behind --";

fn not_by_yes(power: &Command) -> Error {
    Error::usage("this project's files choose what an agent may do, and --yes does not agree to that")
        .because(format!("{} ({})", power.shown(), power.source))
        .hint(SAY_IT)
        .hint("or agree to it once on a terminal, without --yes")
}

fn nobody_to_ask(unknown: &[&Command], unchosen: Option<&str>) -> Error {
    if unknown.is_empty() {
        return Error::usage(
            "the record of runs came with this folder, and nobody here has agreed to go on with it",
        )
        .because("there is no terminal to ask on")
        .hint("look at it: ralph history; then add --yes");
    }
    let listed: Vec<String> =
        unknown.iter().map(|command| format!("{} ({})", command.shown(), command.source)).collect();
    let permits = unknown.iter().any(|command| command.permits());
    let found = unknown.iter().any(|command| command.was_found());
    let mut error = Error::usage("this project brings commands of its own that nobody has agreed to run")
        .because(format!("there is no terminal to ask on: {}", listed.join("; ")))
        .hint(if permits { SAY_IT } else { "read them, then add --yes" });
    if found {
        error = error.hint("--no-detect leaves out those that were found and that nobody named");
    }
    match unchosen {
        Some(agent) => error.hint(format!(
            "also say what {agent} may do without asking: --permissions full, edits or inherit"
        )),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(list: &[(&str, &str)]) -> Commands {
        let mut commands = Commands::default();
        list.iter().for_each(|(source, command)| commands.add(*source, *command));
        commands
    }

    #[test]
    fn only_the_very_same_command_from_the_same_place_is_known() {
        let trusted = commands(&[("a", "make test"), ("b", "make lint")]).0;
        let unknown = |list: &[(&str, &str)]| commands(list).unknown_to(&trusted).len();
        assert_eq!(unknown(&[("a", "make test")]), 0, "fewer is no change");
        assert_eq!(unknown(&[("a", "make test "), ("b", "make lint")]), 1);
        assert_eq!(unknown(&[("b", "make test")]), 1);
        assert_eq!(unknown(&[]), 0);
    }
}
