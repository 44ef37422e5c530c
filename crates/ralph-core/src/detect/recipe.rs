//! What a command stands for: the recipe, target or script that it runs, with everything in the same file that takes part
//! in it. An agent that writes `true` there has not passed the tests.

use alloc::collections::BTreeSet;

use serde_json::Value;

use super::runs::{self, FIRST, Place};
use super::{node, written};
use crate::prelude::*;
use crate::text;

/// Where the recipe of a command line stands (`Makefile, test; web/package.json, scripts.test`), and a digest of it. None,
/// where no recipe of it is there by `read`: whoever writes it then does what nobody has done before.
pub fn recorded(command: &str, read: impl Fn(&str) -> Option<String>) -> Option<(String, String)> {
    let mut places: Vec<String> = vec![];
    for Place { file, name } in runs::places(command) {
        let file = taken(&file, &read);
        let has = |text: String| Kind::of(base(&file)).is_some_and(|kind| kind.has(&text, &name));
        let place = format!("{file}, {name}");
        if !places.contains(&place) && read(&file).is_some_and(has) {
            places.push(place);
        }
    }
    let source = places.join("; ");
    let digest = recipe(&source, read)?;
    Some((source, digest))
}

/// The files that [`recorded`] may ask for.
pub fn files(command: &str) -> Vec<String> {
    let mut files: Vec<String> =
        runs::places(command).iter().flat_map(|place| variants(&place.file)).collect();
    files.sort();
    files.dedup();
    files
}

pub(super) fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// The names that a file may have, in the order in which its program takes the first that is there.
fn variants(file: &str) -> Vec<String> {
    const ORDERS: [[&str; 3]; 2] = [MAKEFILES, JUSTFILES];
    let base = base(file);
    let folder = &file[..file.len() - base.len()];
    match ORDERS.iter().find(|names| names.contains(&base)) {
        Some(names) => names.iter().map(|name| format!("{folder}{name}")).collect(),
        None => vec![file.into()],
    }
}

/// The one that is taken.
pub(super) fn taken(file: &str, read: impl Fn(&str) -> Option<String>) -> String {
    variants(file).into_iter().find(|name| read(name).is_some()).unwrap_or_else(|| file.into())
}

/// A digest of what the places in `source` hold (`Makefile, test; web/package.json, scripts.test`), by `read`; none where no
/// place of it is a recipe. A file or recipe that is gone has a digest too.
pub fn recipe(source: &str, read: impl Fn(&str) -> Option<String>) -> Option<String> {
    let parts = source.split("; ").filter_map(|place| {
        let (file, name) = place.rsplit_once(", ")?;
        let kind = Kind::of(base(file))?;
        // Another file may have come before the one that was taken.
        let text = read(&taken(file, &read)).unwrap_or_default();
        Some(format!("{place}\n{}", kind.of_name(&text, name)))
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("{:016x}", text::hash(&parts.join("\n"))))
}

/// In make's own order.
pub(super) const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
pub(super) const JUSTFILES: [&str; 3] = ["justfile", "Justfile", ".justfile"];

pub(super) enum Kind {
    /// Rules and recipes with lines below them.
    Blocks,
    /// `scripts` of a manifest.
    Scripts,
    /// A program, of which any line may take part.
    Whole,
}

impl Kind {
    pub(super) fn of(file: &str) -> Option<Self> {
        match file {
            "package.json" | "composer.json" => Some(Self::Scripts),
            "Rakefile" => Some(Self::Whole),
            _ if MAKEFILES.contains(&file) || JUSTFILES.contains(&file) => Some(Self::Blocks),
            // Named by `-f`.
            _ if file.ends_with(".mk") || file.starts_with("Makefile.") => Some(Self::Blocks),
            _ => None,
        }
    }

    /// Whether there is anything of that name.
    fn has(&self, text: &str, name: &str) -> bool {
        match self {
            Self::Blocks if name == FIRST => first(text).is_some(),
            Self::Blocks => {
                let stands_for = |known: &&str| match known.split_once('%') {
                    Some((start, end)) => name.starts_with(start) && name.ends_with(end),
                    None => *known == name,
                };
                split(text).iter().any(|block| block.names.iter().any(stands_for))
            }
            Self::Scripts => {
                let said = scripts(text, name.strip_prefix("scripts.").unwrap_or(name));
                !said.is_empty() && !node::is_placeholder(&said)
            }
            Self::Whole => true,
        }
    }

    fn of_name(&self, text: &str, name: &str) -> String {
        match self {
            Self::Blocks if name == FIRST => {
                let first = first(text).unwrap_or_default();
                format!("{first}\n{}", blocks(text, first))
            }
            Self::Blocks => blocks(text, name),
            Self::Scripts => scripts(text, name.strip_prefix("scripts.").unwrap_or(name)),
            Self::Whole => text.into(),
        }
    }
}

/// What is run where no target is named.
fn first(text: &str) -> Option<&str> {
    let said = text.lines().find_map(|line| line.strip_prefix(".DEFAULT_GOAL"));
    let said = said.map(|rest| rest.trim_start_matches([' ', ':', '?', '=']).trim());
    let rules = || written::rules(text).into_iter().map(|name| name.trim_start_matches('@'));
    said.or_else(|| rules().find(|name| !name.contains('%')))
}

/// The lines of the rule, of the rules and variables that it names, of those that these name, and what holds for all.
fn blocks(text: &str, name: &str) -> String {
    let blocks = split(text);
    let mut wanted: BTreeSet<usize> = BTreeSet::new();
    let mut words: BTreeSet<&str> = BTreeSet::from([name]);
    loop {
        let more: Vec<usize> =
            (0..blocks.len()).filter(|at| !wanted.contains(at) && blocks[*at].takes_part(&words)).collect();
        if more.is_empty() {
            break;
        }
        for at in more {
            wanted.insert(at);
            words.extend(blocks[at].lines.iter().flat_map(|line| names_in(line)));
        }
    }
    let lines = wanted.into_iter().flat_map(|at| blocks[at].lines.iter().map(|line| line.trim_end()));
    lines.collect::<Vec<_>>().join("\n")
}

/// A rule with its recipe, a definition, or a line that stands for itself.
struct Block<'a> {
    /// What it defines; nothing, where it holds for all.
    names: Vec<&'a str>,
    lines: Vec<&'a str>,
}

impl Block<'_> {
    fn takes_part(&self, words: &BTreeSet<&str>) -> bool {
        const FOR_ALL: [&str; 5] = ["SHELL", ".SHELLFLAGS", "MAKEFLAGS", ".ONESHELL", ".IGNORE"];
        let any = |name: &&str| words.contains(*name) || FOR_ALL.contains(name) || name.contains('%');
        self.names.is_empty() || self.names.iter().any(any)
    }
}

fn split(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let below = line.starts_with(['\t', ' ']) || goes_on;
        goes_on = line.trim_end().ends_with('\\');
        let bare = line.trim();
        if !below && (bare.is_empty() || bare.starts_with('#')) {
            continue;
        }
        match blocks.last_mut().filter(|_| below) {
            Some(block) => block.lines.push(line),
            None => blocks.push(Block { names: defined(bare), lines: vec![line] }),
        }
    }
    blocks
}

/// The names that a line defines: `test check: unit`, `FLAGS := -q`, `@test *args:`. What every command sees in its environment
/// holds for all, and so does what nobody can tell: `export X=1`, `$(eval …)`.
fn defined(line: &str) -> Vec<&str> {
    let line = line.strip_prefix("override ").unwrap_or(line);
    if line.starts_with(['$', '-'])
        || ["export", "unexport"].contains(&line.split([' ', '\t']).next().unwrap_or_default())
    {
        return vec![];
    }
    let (head, assigned) = match line.find([':', '=', '?', '+', '!']) {
        Some(at) => {
            let rest = line[at..].trim_start_matches([':', '?', '+', '!']);
            (&line[..at], rest.starts_with('='))
        }
        // `include x`, `set shell := …` and the like hold for all.
        None => return vec![],
    };
    let words = || head.split_whitespace();
    match words().next() {
        Some(
            "include" | "-include" | "sinclude" | "set" | "import" | "ifeq" | "ifneq" | "ifdef" | "define",
        ) => vec![],
        Some(_) if assigned => words().take(1).collect(),
        // `.PHONY: test` says nothing of what is run.
        Some(_) => words().map(|word| word.trim_start_matches('@')).collect(),
        None => vec![],
    }
}

/// Words that may be names of rules or variables.
fn names_in(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || "_-./%".contains(c))).filter(|word| !word.is_empty())
}

/// The script, what runs before and after it, and the scripts that these name.
fn scripts(text: &str, name: &str) -> String {
    let manifest: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let Some(scripts) = manifest["scripts"].as_object() else { return String::new() };
    let mut wanted: BTreeSet<&str> = BTreeSet::new();
    let around = |name: &str| [format!("pre{name}"), name.to_owned(), format!("post{name}")];
    let mut words: BTreeSet<String> = around(name).into_iter().into_set();
    loop {
        let more: Vec<&String> =
            scripts.keys().filter(|key| words.contains(*key) && !wanted.contains(key.as_str())).collect();
        if more.is_empty() {
            break;
        }
        for key in more {
            wanted.insert(key);
            let said = scripts[key].to_string();
            let named = said.split(|c: char| c.is_whitespace() || "\"'@;&|,[]".contains(c));
            words.extend(named.filter(|word| !word.is_empty()).flat_map(around));
        }
    }
    wanted.into_iter().map(|key| format!("{key}: {}", scripts[key])).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(file: &str, name: &str, before: &str, after: &str) -> bool {
        let source = format!("{file}, {name}");
        let of =
            |text: &str| recipe(&source, |asked| (asked == file).then(|| text.to_owned())).expect("a recipe");
        of(before) == of(after)
    }

    const MAKE: &str = "FLAGS := -q\nOTHER = 1\n\nbuild:\n\tcc a.c\n\n.PHONY: test unit\ntest: unit\n\t./run $(FLAGS)\n\nunit:\n\t./unit\n";

    #[test]
    fn what_a_target_runs_is_another_when_its_recipe_its_parts_or_its_variables_are() {
        for (from, to) in [
            ("\t./run $(FLAGS)", "\ttrue"),
            ("test: unit", "test:"),
            ("\t./unit", "\t@echo ok"),
            ("-q", "--no-run"),
            ("FLAGS := -q", "SHELL = /bin/true\nFLAGS := -q"),
            ("unit:\n", "include other.mk\nunit:\n"),
            ("unit:\n", "test:\n\ttrue\nunit:\n"),
        ] {
            assert!(MAKE.contains(from), "{from}");
            assert!(!same("Makefile", "test", MAKE, &MAKE.replacen(from, to, 1)), "{to}");
        }
        assert!(!same("Makefile", "test", MAKE, ""), "gone");
    }

    #[test]
    fn other_targets_and_comments_are_nobody_s_business() {
        for (from, to) in [
            ("cc a.c", "cc a.c b.c"),
            ("OTHER = 1", "OTHER = 2"),
            ("build:\n", "# builds\nbuild:\n"),
            ("build:\n", "doc:\n\tmandoc\n\nbuild:\n"),
            ("./unit\n", "./unit   \n"),
        ] {
            assert!(same("Makefile", "test", MAKE, &MAKE.replacen(from, to, 1)), "{to}");
        }
    }

    #[test]
    fn a_justfile_and_manifests_are_read_too() {
        let just = "flags := '-q'\nset shell := ['bash', '-c']\n\n@test *args: unit\n  ./run {{flags}}\n\nunit:\n  ./unit\n\nserve:\n  ./serve\n";
        for (from, to) in [("./run", "true"), ("./unit", "true"), ("'-q'", "'-x'"), ("'bash'", "'true'")] {
            assert!(!same("justfile", "test", just, &just.replacen(from, to, 1)), "{to}");
        }
        assert!(same("justfile", "test", just, &just.replacen("./serve", "./serve -p 1", 1)));
        let npm = r#"{"scripts": {"test": "npm run unit && vitest", "unit": "node unit.js", "pretest": "tsc", "start": "x"},
            "dependencies": {"a": "1"}}"#;
        for (from, to) in [
            ("vitest", "true"),
            ("node unit.js", "true"),
            ("\"tsc\"", "\"true\""),
            ("unit.js\",", "unit.js\", \"posttest\": \"exit 0\","),
        ] {
            assert!(!same("package.json", "scripts.test", npm, &npm.replacen(from, to, 1)), "{to}");
        }
        assert!(same("package.json", "scripts.test", npm, &npm.replacen("\"a\": \"1\"", "\"b\": \"2\"", 1)));
        assert!(!same("Rakefile", "test", "task :test", "task :test # easier"));
    }

    /// A project with these files.
    fn files<'a>(files: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |asked| files.iter().find(|(name, _)| *name == asked).map(|(_, text)| (*text).to_owned())
    }

    #[test]
    fn make_takes_the_first_of_its_names_whatever_was_there_before() {
        let one = [("Makefile", MAKE)];
        let (source, digest) = recorded("make test", files(&one)).expect("a recipe");
        assert_eq!(source, "Makefile, test");
        assert_eq!(Some(&digest), recipe(&source, files(&one)).as_ref());
        for other in ["GNUmakefile", "makefile"] {
            let both = [("Makefile", MAKE), (other, "test:\n\ttrue\n")];
            assert_ne!(Some(&digest), recipe(&source, files(&both)).as_ref(), "{other}");
            let (source, _) = recorded("make test", files(&both)).expect("a recipe");
            assert_eq!(source, format!("{other}, test"));
        }
        assert_eq!(super::files("make test"), ["GNUmakefile", "Makefile", "makefile"]);
    }

    #[test]
    fn what_nobody_has_written_yet_has_no_recipe() {
        let there = [
            ("Makefile", MAKE),
            ("package.json", r#"{"scripts": {"test": "vitest"}}"#),
            ("ci.mk", "t-%:\n\ta\n"),
        ];
        let source = |command| recorded(command, files(&there)).map(|(source, _)| source);
        assert_eq!(source("make new test new"), Some("Makefile, test".into()));
        assert_eq!(source("make new; npm run new; cargo test"), None);
        assert_eq!(
            source("npm test && make -f ci.mk t-1"),
            Some("package.json, scripts.test; ci.mk, t-1".into())
        );
        assert_eq!(source("make -C web test; just test"), None);
        let init = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        assert_eq!(recorded("npm test", files(&[("package.json", init)])), None, "as npm init leaves it");
        let (source, digest) = recorded("make", files(&there)).expect("a recipe");
        assert_eq!(source, "Makefile, the first target");
        for other in [
            format!("none:\n\ttrue\n{MAKE}"),
            format!(".DEFAULT_GOAL := unit\n{MAKE}"),
            MAKE.replace("cc a.c", "true"),
            format!("export SKIP_TESTS=1\n{MAKE}"),
            format!("export PATH := b:$(PATH)\n{MAKE}"),
            format!("{MAKE}\n$(eval SHELL=/bin/true)\n"),
        ] {
            assert_ne!(recipe(&source, files(&[("Makefile", &other)])), Some(digest.clone()), "{other}");
        }
    }

    #[test]
    fn a_manifest_that_names_no_script_has_no_recipe() {
        assert_eq!(recipe("Cargo.toml", |_| Some("x".into())), None);
        assert_eq!(recipe("prd.json, qualityGates 1", |_| Some("x".into())), None);
        let both = |text: &str| {
            recipe("Cargo.toml; web/Makefile, test", |file| (file == "web/Makefile").then(|| text.into()))
        };
        assert_ne!(both("test:\n\ta\n"), both("test:\n\tb\n"), "in a folder, and beside others");
    }
}
