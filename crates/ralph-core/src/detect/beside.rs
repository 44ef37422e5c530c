//! Files that take part in what a recipe runs and stand outside of its own file.

use super::recipe::{Kind, base, taken};
use crate::prelude::*;

/// Files that take part in what the places in `source` run and are no part of its recipe: what a Makefile or justfile
/// includes, and the settings of npm, which name a shell. `*` stands for what nobody can tell.
pub fn beside(source: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut files: Vec<String> = vec![];
    for (file, _) in source.split("; ").filter_map(|place| place.rsplit_once(", ")) {
        let file = taken(file, &read);
        let folder = &file[..file.len() - base(&file).len()];
        match Kind::of(base(&file)) {
            Some(Kind::Scripts) if base(&file) == "package.json" => files.push(format!("{folder}.npmrc")),
            Some(Kind::Blocks) => {
                let mut from = vec![file.clone()];
                while let Some(file) = from.pop() {
                    let text = read(&file).unwrap_or_default();
                    let named = included(&text).into_iter().map(|name| format!("{folder}{name}"));
                    let new: Vec<String> = named.filter(|name| !files.contains(name)).collect();
                    from.extend(new.iter().cloned());
                    files.extend(new);
                    if files.len() > MOST_INCLUDED {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    files
}

/// Whoever includes more is not followed any further.
const MOST_INCLUDED: usize = 200;

/// `include common.mk`, `-include $(wildcard mk/*.mk)`, `import? 'more.just'`.
fn included(text: &str) -> Vec<String> {
    let words = |line: &'_ str| -> Option<Vec<String>> {
        let (word, rest) = line.trim().split_once(char::is_whitespace)?;
        let includes = matches!(word, "include" | "-include" | "sinclude" | "import" | "import?");
        let rest = rest.split('#').next().unwrap_or_default().replace("$(wildcard ", "");
        let name = |word: &str| unknown_as_star(word.trim_matches(['"', '\'']).trim_start_matches("./"));
        includes.then(|| rest.split_whitespace().map(name).collect())
    };
    let names = text.lines().filter_map(words).flatten();
    // `$(DEPS)` alone may be any file, and says nothing of one.
    let tells = |name: &String| name.contains(char::is_alphanumeric);
    names.filter(|name| tells(name) && !name.starts_with('/') && !name.starts_with("..")).collect()
}

/// `$(TOP)/common.mk` as `*common.mk`.
fn unknown_as_star(word: &str) -> String {
    let mut name = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('$') {
        name.push_str(before);
        name.push('*');
        rest = match after.find([')', '}']) {
            Some(end) if after.starts_with(['(', '{']) => after[end + 1..].trim_start_matches('/'),
            _ => after.get(1..).unwrap_or_default(),
        };
    }
    name.push_str(rest.trim_end_matches(')'));
    name
}

/// Whether a path is one of those that [`beside`] told.
pub fn is_beside(pattern: &str, path: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_recipe_takes_along_from_other_files_is_told() {
        let make = "include common.mk more.mk # all\n-include $(wildcard mk/*.mk)\ninclude $(TOP)/top.mk\ninclude /etc/x.mk ../y.mk $(DEPS:.o=.d)\n";
        let there = [("web/Makefile", make), ("web/common.mk", "include deep.mk\n"), ("package.json", "{}")];
        let files =
            |asked: &str| there.iter().find(|(name, _)| *name == asked).map(|(_, text)| (*text).to_owned());
        let told = beside("web/Makefile, test; package.json, scripts.test", files);
        let has = |path: &str| told.iter().any(|pattern| is_beside(pattern, path));
        for path in [
            "web/common.mk", "web/more.mk", "web/mk/a.mk", "web/top.mk", "web/a/top.mk", "web/deep.mk",
            ".npmrc",
        ] {
            assert!(has(path), "{path} {told:?}");
        }
        for path in
            ["common.mk", "web/mk/a.txt", "web/.npmrc", "web/Makefile", "web/common.mk.txt", "web/a.c"]
        {
            assert!(!has(path), "{path} {told:?}");
        }
    }
}
