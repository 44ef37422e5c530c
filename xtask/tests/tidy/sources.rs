//! The workspace's files, and what of a source file is code that ships.

use std::fs;
use std::path::{Path, PathBuf};

/// A file by its path from the workspace's root.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The workspace's folder: of the checkout that is tested, which need not be the one that was compiled when two
/// share a target folder.
pub(crate) fn root() -> PathBuf {
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&manifest).parent().expect("xtask is in the workspace").to_path_buf()
}

/// The Rust files under a path from the root; all of them under "".
pub(crate) fn rust(under: &str) -> Vec<Source> {
    let all = all_text().into_iter();
    let found: Vec<Source> =
        all.filter(|file| file.path.starts_with(under) && file.path.ends_with(".rs")).collect();
    assert!(!found.is_empty(), "no Rust file under {under:?}: has it moved? Then change the tidy test");
    found
}

/// One file's text; none if it is not there, which the check then complains about.
pub(crate) fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// Every text file of the workspace, sorted.
pub(crate) fn all_text() -> Vec<Source> {
    let mut files = Vec::new();
    walk(&root(), "", &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Not the project's own text: what builds, git and ralph make. In a second working tree `.git` is a file.
const SKIPPED: [&str; 3] = ["target", ".git", ".ralph"];

fn walk(dir: &Path, prefix: &str, files: &mut Vec<Source>) {
    for entry in fs::read_dir(dir).expect("a folder that can be read").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().expect("a kind of file");
        if SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if kind.is_dir() {
            walk(&entry.path(), &format!("{path}/"), files);
        } else if kind.is_file()
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            files.push(Source { path, text });
        }
    }
}

/// The numbered lines of a source file that ship: no comments, nothing under `#[cfg(test)]`, nothing of a
/// `tests` module in a file of its own. It trusts rustfmt: an item ends with a `}` at its own indentation.
pub(crate) fn shipped(file: &Source) -> Vec<(usize, &str)> {
    if file.path.ends_with("/tests.rs") || file.path.contains("/tests/") {
        return Vec::new();
    }
    let mut shipped = Vec::new();
    let mut lines = file.text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if is_for_tests(line) {
            skip_item(indentation(line), &mut lines);
            continue;
        }
        let code = without_comment(line);
        if !code.trim().is_empty() {
            shipped.push((number + 1, code));
        }
    }
    shipped
}

/// Whether what follows is compiled for tests only, wherever or on one system alone.
fn is_for_tests(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test,")
}

fn skip_item<'a>(indented: usize, lines: &mut impl Iterator<Item = (usize, &'a str)>) {
    for (_, line) in lines {
        let end = line.trim_end();
        let own = indentation(line) == indented && !end.is_empty();
        let attribute = line.trim_start().starts_with("#[");
        if own && !attribute && (end.ends_with('}') || end.ends_with(';') || end.ends_with(',')) {
            return;
        }
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The line up to a `//` that is outside of string literals.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '/' if !quoted && line[at..].starts_with("//") => return &line[..at],
            _ => {}
        }
    }
    line
}

/// Whether `pattern` is in `line` as a whole word: no letter, digit or underscore goes on where it ends.
pub(crate) fn names(line: &str, pattern: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(pattern).any(|(at, _)| {
        let before = !pattern.starts_with(word) || !line[..at].ends_with(word);
        let after = !pattern.ends_with(word) || !line[at + pattern.len()..].starts_with(word);
        before && after
    })
}

#[cfg(test)]
pub(crate) fn source(path: &str, text: &str) -> Source {
    Source { path: path.into(), text: text.into() }
}

#[test]
fn test_code_and_comments_do_not_ship() {
    let text = "//! fs::write\nfn a() {\n    b(\"//\"); // fs::write\n}\n#[cfg(test)]\nuse x::{\n    y,\n};\n\
                #[cfg(test)]\nmod tests {\n    fn c() {}\n}\nfn d() {}\n\
                #[cfg(all(test, unix))]\nmod more {\n    fn e() {}\n}\n";
    let file = source("crates/ralph/src/a.rs", text);
    let lines: Vec<(usize, &str)> = shipped(&file);
    assert_eq!(lines, [(2, "fn a() {"), (3, "    b(\"//\"); "), (4, "}"), (13, "fn d() {}")]);
    assert!(shipped(&source("crates/ralph/src/a/tests.rs", "fn a() {}\n")).is_empty());
}

#[test]
fn a_name_is_a_whole_word() {
    assert!(names("let f = File::create(path)", "File::create"));
    assert!(!names("let f = JournalFile::create(path)", "File::create"));
    assert!(!names("File::create_new(path)", "File::create"));
}
