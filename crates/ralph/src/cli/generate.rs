//! What is made from the command line itself: completions, man pages, and docs/commands.md.

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Args, Command, CommandFactory};

use super::args::Cli;
use crate::error::{Error, Result};
use crate::suggest;
use crate::ui::Ui;

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// For which shell
    shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// A command, such as run or backlog next [default: ralph itself]
    command: Vec<String>,
}

pub(super) fn completions(args: &CompletionsArgs, ui: &Ui) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut public(), "ralph", &mut script);
    ui.data(&script);
    super::fine()
}

pub(super) fn man(args: &ManArgs, ui: &Ui) -> Result<ExitCode> {
    let mut command = public();
    command.build();
    // Pages are called ralph-backlog-next elsewhere, and so may be asked for.
    let named: Vec<String> = match args.command.as_slice() {
        [word] if command.find_subcommand(word).is_none() => path(&command, word),
        words => words.to_vec(),
    };
    for word in &named {
        let below: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let near = suggest::nearest(word, below).map(str::to_owned);
        let Some(next) = command.find_subcommand(word) else {
            let name = command.get_bin_name().unwrap_or("ralph");
            let above = name.strip_prefix("ralph").unwrap_or_default();
            return Err(Error::usage(format!("{name} has no command '{word}'")).hint(match near {
                Some(near) => format!("ralph man{above} {near}"),
                None => format!("{name} --help lists the commands"),
            }));
        };
        command = next.clone();
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .source(concat!("ralph ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)
        .map_err(|error| Error::new("the page cannot be made").because(error))?;
    ui.data(&page);
    super::fine()
}

/// The command that `backlog-next` or `ralph-backlog-next` names; else the word itself, alone.
fn path(command: &Command, word: &str) -> Vec<String> {
    let parts: Vec<String> = word.strip_prefix("ralph-").unwrap_or(word).split('-').map(Into::into).collect();
    let found = parts.iter().try_fold(command, |command, part| command.find_subcommand(part));
    if found.is_some() { parts } else { vec![word.to_owned()] }
}

/// The command line without what is ralph's own business.
fn public() -> Command {
    let whole = Cli::command();
    let shown: Vec<Command> =
        whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let about = whole.get_about().cloned().unwrap_or_default();
    Command::default()
        .name("ralph")
        .version(env!("CARGO_PKG_VERSION"))
        .about(about)
        .subcommand_required(true)
        .subcommands(shown)
}

const OPENING: &str = "# Commands\n\n\
<!-- Made from the program's own help; `RALPH_BLESS=1 cargo test -p ralph --test setup` writes it anew. -->\n\n\
`ralph COMMAND -h` says the same. Exit codes of `ralph run` are in [troubleshooting.md](troubleshooting.md);\n\
`ralph completions SHELL` writes completions, `ralph man [COMMAND]` a man page.\n";

/// docs/commands.md
pub fn commands_page() -> String {
    let mut page = OPENING.to_owned();
    let mut command = public().term_width(100);
    command.build();
    describe(&mut command, &mut page);
    page
}

fn describe(command: &mut Command, page: &mut String) {
    let name = command.get_bin_name().unwrap_or("ralph").to_owned();
    let help = command.render_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
    let names: Vec<String> = shown.map(|below| below.get_name().to_owned()).collect();
    for below in names.iter().filter(|name| *name != "help") {
        if let Some(below) = command.find_subcommand_mut(below) {
            *below = std::mem::take(below).term_width(100);
            describe(below, page);
        }
    }
}
