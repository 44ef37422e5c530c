//! The command line: one file a command.

mod analyze;
mod args;
mod ask;
mod backlog;
mod circuit;
mod config;
mod demo;
mod doctor;
mod evidence;
mod explain;
mod generate;
mod history;
mod hook;
mod init;
mod introduction;
mod notify;
mod profile;
mod refused;
mod replay;
mod report;
mod reset;
mod run;
mod simulate;
mod status;
mod summary;
mod undo;
mod which;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::error::{Error, Exit, Result};
use crate::ui::Ui;
use crate::{runner, suggest};
use args::{Cli, Command};
pub use generate::commands_page;

pub fn main() -> ExitCode {
    // Asked for by scripts, again and again: answered before the parser is built.
    let mut args = std::env::args_os().skip(1);
    if let (Some("--version" | "-V"), None) = (args.next().as_ref().and_then(|arg| arg.to_str()), args.next())
    {
        let ui = Ui::new(true);
        ui.data_line(concat!("ralph ", env!("CARGO_PKG_VERSION")));
        return ui.ending(ExitCode::SUCCESS);
    }
    // Asked at every stop of every session, the same.
    let mut args = std::env::args_os().skip(1);
    let (first, second, third) = (args.next(), args.next(), args.next());
    if let (Some("hook"), Some(event), None) =
        (first.as_ref().and_then(|a| a.to_str()), second.as_ref().and_then(|a| a.to_str()), third)
        && let Some(event) = hook::Fired::named(event)
    {
        return event.answer();
    }
    runner::heed();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&mut Ui::new(false).with_events(wants_events()), error),
    };
    let mut ui = match &cli.command {
        Command::Run(args) => Ui::new(args.quiet).with_events(args.json),
        _ => Ui::new(false),
    };
    let done = match cli.command {
        Command::Run(args) => run::main(&args, &mut ui),
        Command::Status(args) => status::main(&args, &mut ui),
        Command::History(args) => history::main(&args, &ui),
        Command::Summary(args) => summary::main(&args, &mut ui),
        Command::Stop => ask::stop(&mut ui),
        Command::Note(args) => ask::note(&args, &mut ui),
        Command::Backlog(command) => backlog::main(&command, &mut ui),
        Command::Evidence(command) => evidence::main(&command, &mut ui),
        Command::Circuit(command) => circuit::main(&command, &mut ui),
        Command::Reset => reset::main(&mut ui),
        Command::Undo(args) => undo::main(&args, &mut ui),
        Command::Profile(command) => profile::main(&command, &ui),
        Command::Config(command) => config::main(&command, &mut ui),
        Command::Notify(command) => notify::main(&command, &mut ui),
        Command::Replay(args) => replay::main(&args, &ui),
        Command::Report(command) => report::main(&command, &mut ui),
        Command::Analyze(args) => analyze::main(&args, &ui),
        Command::Init(args) => init::main(&args, &mut ui),
        Command::Doctor(args) => doctor::main(&args, &mut ui),
        Command::Explain(args) => explain::main(&args, &ui),
        Command::Completions(args) => generate::completions(&args, &ui),
        Command::Man(args) => generate::man(&args, &ui),
        Command::Hook(command) => hook::main(*command, &mut ui),
        Command::Demo(args) => demo::main(args, &mut ui),
        Command::Util(command) => simulate::main(&command, &ui),
        Command::DemoAgent { slowly } => crate::demo::agent(&ui, slowly),
    };
    let code = done.unwrap_or_else(|error| {
        ui.error(&error);
        error.exit_code()
    });
    ui.ending(code)
}

/// Wrong usage is 64, for 2 means blocked here. Help and version are data.
fn refuse(ui: &mut Ui, mut error: clap::Error) -> ExitCode {
    // The parser offers to have a value put behind --, where only the agent's arguments are.
    let behind = is_run() && error.remove(ContextKind::Suggested).is_some();
    // And it finds words similar that have little in common, where something else is meant.
    if behind && !is_slip(&error, ContextKind::InvalidArg, ContextKind::SuggestedArg) {
        error.remove(ContextKind::SuggestedArg);
    }
    if !is_slip(&error, ContextKind::InvalidValue, ContextKind::SuggestedValue) {
        error.remove(ContextKind::SuggestedValue);
    }
    if run_by_another_name(&error).is_some() {
        error.remove(ContextKind::SuggestedSubcommand);
    }
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            ui.data(text.as_bytes());
            ui.ending(ExitCode::SUCCESS)
        }
        _ => {
            ui.talk(&text);
            let tip = tip(&error, behind);
            if let Some(tip) = &tip {
                ui.talk(&format!("  tip: {tip}\n"));
            }
            // What is wrong stands above how it is used.
            let what = text.split("\n\n").next().unwrap_or_default();
            let what = ralph_core::text::one_line(what.trim_start_matches("error: "), 600);
            let hint = tip.or_else(|| suggested(&error));
            ui.tell_failure(&hint.into_iter().fold(Error::usage(what), Error::hint));
            ui.ending(ExitCode::from(Exit::Usage as u8))
        }
    }
}

/// Whether events are asked for, by words that could not be parsed.
fn wants_events() -> bool {
    is_run() && std::env::args_os().skip(2).take_while(|word| word != "--").any(|word| word == "--json")
}

fn is_run() -> bool {
    std::env::args_os().nth(1).is_some_and(|command| command == "run")
}

/// Where the parser says itself what was probably meant.
const SUGGESTED: [ContextKind; 2] = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand];

fn is_slip(error: &clap::Error, wrong: ContextKind, suggested: ContextKind) -> bool {
    match (error.get(wrong), error.get(suggested)) {
        (Some(ContextValue::String(word)), Some(ContextValue::String(near))) => {
            suggest::nearest(word, [near.as_str()]).is_some()
        }
        _ => false,
    }
}

/// What it says there, for those who read only data.
fn suggested(error: &clap::Error) -> Option<String> {
    match SUGGESTED.iter().find_map(|kind| error.get(*kind))? {
        ContextValue::String(word) => Some(word.clone()),
        ContextValue::Strings(words) => Some(words.join(", ")),
        _ => None,
    }
}

/// What was probably meant, where the parser has no idea; `behind`: it may be meant for the agent.
fn tip(error: &clap::Error, behind: bool) -> Option<String> {
    if SUGGESTED.iter().any(|kind| error.get(*kind).is_some()) {
        return None;
    }
    if let Some(why) = refused::tip(error) {
        return Some(why);
    }
    let wrong = error.get(ContextKind::InvalidArg);
    if let (true, Some(ContextValue::String(word))) = (behind, wrong)
        && word.trim_start_matches('-').starts_with(|c: char| !c.is_ascii_digit())
    {
        return Some(format!("what is meant for the agent stands at the end, behind --: -- {word}"));
    }
    if let Some(ContextValue::String(word)) = wrong {
        let goal = is_run() && error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-');
        return goal.then(|| "a goal of several words is put in quotes: ralph run \"fix the login\"".into());
    }
    if let Some(meant) = run_by_another_name(error) {
        return Some(meant.into());
    }
    let ContextValue::String(word) = error.get(ContextKind::InvalidSubcommand)? else { return None };
    if word.contains(' ') {
        return Some(format!("to work on a goal: ralph run \"{}\"", ralph_core::text::one_line(word, 100)));
    }
    // Of the commands where the word stood: below `config` nobody means `ralph reset`.
    let mut command = &Cli::command();
    let mut path = String::from("ralph");
    for word in std::env::args_os().skip(1) {
        let Some(below) = word.to_str().and_then(|word| command.find_subcommand(word)) else { break };
        path.push_str(&format!(" {}", below.get_name()));
        command = below;
    }
    let names: Vec<&str> = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(clap::Command::get_name)
        .collect();
    suggest::nearest(word, names).map(|name| format!("a similar command exists: '{path} {name}'"))
}

/// What to type for a command that other tools have and that is `run` here.
fn run_by_another_name(error: &clap::Error) -> Option<&'static str> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidSubcommand)? else { return None };
    let first = std::env::args_os().nth(1).is_some_and(|first| first == word.as_str());
    match word.as_str() {
        _ if !first => None,
        "resume" | "continue" | "restart" | "retry" => Some("to continue the last run: ralph run"),
        "start" | "go" | "begin" | "loop" | "work" | "exec" => {
            Some("to start a run, or to continue the last one: ralph run")
        }
        _ => None,
    }
}

/// Whether these words, the program's name first, are a command line: for pages that show some.
pub fn parsed(words: &[String]) -> std::result::Result<(), clap::Error> {
    Cli::try_parse_from(words).map(drop)
}

/// Success of a command that has no other outcome.
fn fine() -> Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
