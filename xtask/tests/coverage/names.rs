//! The names of the tests that the compiler sees: modules are followed from each crate's roots, so that a file that no
//! `mod` names has no tests. It trusts rustfmt: an item ends with a `}` at its own indentation.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// `package::module::test` for tests in `src/`, `package::file::module::test` for those in `tests/`.
pub(crate) fn of_workspace(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let crates = fs::read_dir(root.join("crates")).expect("the crates are there").flatten();
    for package in crates.map(|entry| entry.path()).filter(|path| path.join("Cargo.toml").exists()) {
        let name = stem(&package);
        for file in ["src/lib.rs", "src/main.rs"] {
            follow(&package.join(file), &package.join("src"), &name, &mut found);
        }
        for entry in fs::read_dir(package.join("tests")).into_iter().flatten().flatten() {
            let path = entry.path();
            let prefix = format!("{name}::{}", stem(&path));
            if path.is_dir() {
                follow(&path.join("main.rs"), &path, &prefix, &mut found);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                follow(&path, &package.join("tests"), &prefix, &mut found);
            }
        }
    }
    found
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Adds the tests of a file and of the modules it names, whose files are in `dir`.
fn follow(file: &Path, dir: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    let Ok(text) = fs::read_to_string(file) else { return };
    for item in items(&text) {
        match item {
            Item::Test(path) => {
                found.insert(format!("{prefix}::{path}"));
            }
            Item::Module(path) => {
                let below: PathBuf = path.split("::").fold(dir.to_owned(), |dir, name| dir.join(name));
                let prefix = format!("{prefix}::{path}");
                follow(&below.with_extension("rs"), &below, &prefix, found);
                follow(&below.join("mod.rs"), &below, &prefix, found);
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Item {
    /// A test, by its path within the file.
    Test(String),
    /// `mod name;`, by its path within the file.
    Module(String),
}

fn items(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    // Modules that are open here, each with its indentation.
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut is_test = false;
    for line in text.lines() {
        let code = line.trim_start();
        let indented = line.len() - code.len();
        let path =
            |name: &str| open.iter().map(|(_, name)| *name).chain([name]).collect::<Vec<_>>().join("::");
        if let Some(name) = word_after(code, "fn ").filter(|_| is_test) {
            items.push(Item::Test(path(name)));
            is_test = false;
        } else if code == "#[test]" {
            is_test = true;
        } else if let Some(name) = word_after(code, "mod ") {
            match code.trim_end().chars().last() {
                Some(';') => items.push(Item::Module(path(name))),
                Some('{') => open.push((indented, name)),
                _ => {}
            }
        } else if code.trim_end() == "}" && open.last().is_some_and(|(at, _)| *at == indented) {
            open.pop();
        } else if !code.starts_with("#[") && !code.starts_with("//") {
            is_test = false;
        }
    }
    items
}

/// The name after a keyword that an item begins with, whoever may see it.
fn word_after<'a>(code: &'a str, keyword: &str) -> Option<&'a str> {
    let code = ["pub(crate) ", "pub(super) ", "pub "]
        .iter()
        .find_map(|seen| code.strip_prefix(seen))
        .unwrap_or(code);
    let rest = code.strip_prefix(keyword)?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_in_modules_and_macros_and_only_tests() {
        let text = "pub mod a;\nfn helper() {\n}\n#[test]\nfn first() {\n}\n#[cfg(test)]\nmod tests {\n    mod deep;\n\n    \
            #[cfg(unix)]\n    #[test]\n    // why\n    #[should_panic]\n    fn second() {\n    }\n\n    fn third() {\n    }\n}\n\
            proptest::proptest! {\n    #[test]\n    fn fourth(x in 0..3) {\n    }\n}\n// #[test]\nfn fifth() {\n}\n";
        let test = |path: &str| Item::Test(path.into());
        let module = |path: &str| Item::Module(path.into());
        let expected =
            [module("a"), test("first"), module("tests::deep"), test("tests::second"), test("fourth")];
        assert_eq!(items(text), expected);
    }

    #[test]
    fn this_workspace_s_tests_are_found_in_sources_files_and_folders() {
        let found = of_workspace(&crate::root());
        for name in [
            "ralph-core::gate::tests::no_block_is_silence",
            "ralph-core::signature::tests::shapes::rust_errors_are_seen",
            "ralph-core::seeds_reading::seed_001::idle_is_no_signal_yet",
            "ralph::run::quiet_says_only_how_it_ended",
        ] {
            assert!(found.contains(name), "{name}");
        }
        assert!(found.iter().all(|name| !name.contains("::common::")));
    }
}
