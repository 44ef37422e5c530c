//! The keys as a page for people, and as the commented file that `init` writes. Both are made, so neither can drift.

use std::fmt::Write;

use ralph_core::check::CheckSpec;

use super::environment::variable;
use super::keys;

const OPENING: &str = "# How ralph works in this project. Every key is optional: a line that is commented out shows\n\
                       # the default, or an example where there is none.\n\
                       # `ralph config show` tells what holds and why; `ralph config set KEY VALUE` changes a line.\n";

const PAGE: &str = "# Settings\n\n\
<!-- Made from the program's own list; `RALPH_BLESS=1 cargo test -p ralph --test setup` writes it anew. -->\n\n\
A value comes from the highest of these that says anything:\n\n\
1. the command line (`--set KEY=VALUE`, and the flags of `ralph run`)\n\
2. the environment: `RALPH_MAX_ITERATIONS=20`\n\
3. the project's file, `.ralph/config.toml`\n\
4. the user's file, `~/.config/ralph/config.toml` (`$XDG_CONFIG_HOME/ralph/config.toml`)\n\
5. the profile\n\
6. the default\n\n\
`ralph config show` tells every value and where it comes from, `ralph config get KEY` one of them; `ralph config set KEY VALUE`\n\
changes the project's file, with `--user` the user's, and nothing in it but that value; `ralph config unset KEY` takes the line\n\
out again. A key that does not exist is an error with its line. Variables\n\
that ralph does not know are passed over, and an empty one says nothing.\n\n\
All of it is for new runs: a run that is continued keeps its plan, and only the command line changes it. `[notify]` is read\n\
anew each time. What the project's file brings (`[checks]`, `agents.NAME.command`, `notify.command`, `notify.url`) is used only\n\
after you agreed to it; what your own file and the command line say is yours.\n";

/// docs/config.md
pub fn page() -> String {
    let mut page = PAGE.to_owned();
    let mut table = String::new();
    for key in keys::all() {
        let (of, _) = split(&key.name);
        if of != table || key.name == "profile" {
            let title = match of {
                "" => "At the top of the file".to_owned(),
                of => format!("`[{of}]`"),
            };
            let _ = write!(
                page,
                "\n## {title}\n\n| key | means | takes | default | variable |\n|---|---|---|---|---|\n"
            );
            of.clone_into(&mut table);
        }
        let (_, name) = split(&key.name);
        let variable = variable(&key.name).map_or_else(String::new, |name| format!("`{name}`"));
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            page,
            "| `{name}` | {} | {} | {} | {variable} |",
            cell(key.about),
            cell(&key.takes),
            cell(&key.default)
        );
    }
    page
}

/// The file that `init` writes: everything is there, and nothing is said, but for the lines that are known. Of checks, those that
/// the project's files stand for are the example.
pub fn template(known: &[(String, String)], found: &[CheckSpec]) -> String {
    let mut file = OPENING.to_owned();
    let mut table = String::new();
    for key in keys::all() {
        let (of, name) = split(&key.name);
        if of != table {
            let mark = if of.contains("NAME") { "# " } else { "" };
            let _ = write!(file, "\n{mark}[{of}]\n");
            of.clone_into(&mut table);
        } else if of.is_empty() {
            file.push('\n');
        }
        let _ = writeln!(file, "# {} ({})", key.about, key.takes);
        let said = known.iter().find(|(known, _)| *known == key.name);
        let _ = match said {
            Some((_, value)) if of == "policy" => writeln!(file, "{name} = {}", keys::literal(value)),
            Some((_, value)) => writeln!(file, "{name} = {}", keys::quoted(value)),
            None => match found.iter().find(|check| of == "checks" && check.name == name) {
                Some(check) => writeln!(file, "# {name} = {}", keys::quoted(&check.command)),
                None => writeln!(file, "# {name} = {}", key.example),
            },
        };
    }
    file
}

fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("", name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, NAME, parse};

    #[test]
    fn the_file_of_init_says_nothing_and_every_line_of_it_would_be_right() {
        let text = template(&[], &[]);
        assert_eq!(parse(&text, NAME).expect("right"), Config::default());
        for key in keys::all() {
            let (_, name) = split(&key.name);
            assert!(text.contains(&format!("\n# {name} = ")), "{}", key.name);
        }
        assert!(text.lines().all(|line| line.chars().count() <= 150), "lines that fit a window");
    }

    #[test]
    fn what_is_known_stands_in_it() {
        let known =
            [("checks.test".to_owned(), "make \"all\"".to_owned()), ("backlog".into(), "plan.md".into())];
        let config = parse(&template(&known, &[]), NAME).expect("right");
        assert_eq!(config.checks[0].value, "make \"all\"");
        assert_eq!(config.backlog.expect("named").value, "plan.md");
        assert_eq!(config.said.len(), 2);
    }
}
