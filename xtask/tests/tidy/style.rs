//! Small files, nothing unfinished, nothing that is true on one machine only.

use crate::sources::Source;

/// Past this a file is two things.
const LINES: usize = 800;

pub(crate) fn too_long(sources: &[Source]) -> Vec<String> {
    let long =
        sources.iter().map(|file| (file, file.text.lines().count())).filter(|(_, lines)| *lines > LINES);
    long.map(|(file, lines)| format!("{}: {lines} lines, more than {LINES}: split it in two", file.path))
        .collect()
}

/// Written in two pieces, so that this file does not find itself.
const UNFINISHED: [&str; 4] =
    [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("dbg", "!("), concat!("#[", "ignore")];

pub(crate) fn unfinished(sources: &[Source]) -> Vec<String> {
    each_line(sources, |line| UNFINISHED.into_iter().find(|word| line.contains(word)))
        .map(|(at, word)| format!("{at}: {word}: finish it or take it out"))
        .collect()
}

/// Recorded from real programs, with the paths they printed.
const RECORDED: [&str; 2] =
    ["crates/ralph-core/tests/transcripts/", "crates/ralph-testkit/src/claude/init.pattern"];

/// Where people's and machines' own folders are; in two pieces again.
const HOMES: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/")];

/// Nobody's: what recordings have in the place of the home folder they were made in.
const NOBODYS: &str = concat!("/ho", "me/dev");

pub(crate) fn machine_paths(files: &[Source]) -> Vec<String> {
    let ours: Vec<Source> = files
        .iter()
        .filter(|file| !RECORDED.iter().any(|recorded| file.path.starts_with(recorded)))
        .cloned()
        .collect();
    each_line(&ours, |line| HOMES.into_iter().find(|home| has_absolute(&line.replace(NOBODYS, ""), home)))
        .map(|(at, home)| {
            format!("{at}: a path under {home}, which only one machine has: make it relative, or /project")
        })
        .collect()
}

/// Whether a path begins with `home` here, and goes on with a name.
fn has_absolute(line: &str, home: &str) -> bool {
    line.match_indices(home).any(|(at, _)| {
        let longer = line[..at].ends_with(|c: char| c.is_alphanumeric() || "_-.~})$*".contains(c));
        !longer && line[at + home.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.')
    })
}

fn each_line<'a>(
    files: &'a [Source],
    find: impl Fn(&str) -> Option<&'static str> + 'a,
) -> impl Iterator<Item = (String, &'static str)> + 'a {
    let lines = files.iter().flat_map(|file| file.text.lines().enumerate().map(move |line| (file, line)));
    lines.filter_map(move |(file, (number, line))| {
        Some((format!("{}:{}", file.path, number + 1), find(line)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::source;

    #[test]
    fn a_long_file_is_told_with_its_length() {
        assert!(too_long(&[source("a.rs", &"\n".repeat(800))]).is_empty());
        assert!(too_long(&[source("a.rs", &"\n".repeat(801))])[0].starts_with("a.rs: 801 lines"));
    }

    #[test]
    fn each_unfinished_word_is_told() {
        for word in UNFINISHED {
            assert_eq!(unfinished(&[source("a.rs", &format!("fn a() {{\n    {word}\n"))]).len(), 1, "{word}");
        }
        assert!(unfinished(&[source("a.rs", "#[test]\nfn ignores() {}\n")]).is_empty());
    }

    #[test]
    fn the_home_folder_of_nobody_may_be_named() {
        assert!(machine_paths(&[source("a.md", &format!("becomes `{NOBODYS}`"))]).is_empty());
    }

    #[test]
    fn each_machine_path_is_told() {
        for home in HOMES {
            assert_eq!(machine_paths(&[source("a.md", &format!("see {home}me/x"))]).len(), 1, "{home}");
            assert_eq!(machine_paths(&[source("a.md", &format!("see some{home}me/x"))]).len(), 0, "{home}");
            assert_eq!(
                machine_paths(&[source(&format!("{}x.jsonl", RECORDED[0]), &format!("{home}me"))]).len(),
                0
            );
        }
    }
}
