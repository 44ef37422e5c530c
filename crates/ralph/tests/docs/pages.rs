//! Pages of Markdown: fenced blocks, headings, links.

use std::fs;
use std::path::{Path, PathBuf};

/// A page by its path from the top of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A fenced block: ```` ```LANGUAGE file=PATH ````
#[derive(Debug)]
pub(crate) struct Fence<'a> {
    /// Of its first line within.
    pub(crate) line: usize,
    pub(crate) language: &'a str,
    /// The file of the project that it stands for.
    pub(crate) file: Option<&'a str>,
    pub(crate) body: Vec<&'a str>,
}

impl Fence<'_> {
    pub(crate) fn text(&self) -> String {
        self.body.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) path: String,
    pub(crate) anchor: Option<String>,
}

pub(crate) fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
    PathBuf::from(manifest).join("../..")
}

#[track_caller]
pub(crate) fn page(path: &str) -> Page {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    Page { path: path.into(), text }
}

/// Every page at the top and below docs/.
pub(crate) fn all() -> Vec<Page> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/concepts"] {
        for entry in fs::read_dir(root().join(folder)).expect("a folder of pages").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                found.push(page(Path::new(folder).join(name).to_str().expect("UTF-8")));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 20, "pages have moved: {found:?}");
    found
}

impl Page {
    pub(crate) fn fences(&self) -> Vec<Fence<'_>> {
        let mut fences: Vec<Fence<'_>> = Vec::new();
        let mut open = false;
        for (number, line) in self.text.lines().enumerate() {
            match line.strip_prefix("```") {
                Some("") if open => open = false,
                Some(info) if !open => {
                    let mut words = info.split(' ');
                    let language = words.next().unwrap_or_default();
                    let file = words.find_map(|word| word.strip_prefix("file="));
                    fences.push(Fence { line: number + 2, language, file, body: Vec::new() });
                    open = true;
                }
                _ if open => fences.last_mut().expect("an open one").body.push(line),
                _ => {}
            }
        }
        assert!(!open, "{}: a fence is never closed", self.path);
        fences
    }

    pub(crate) fn has_examples(&self) -> bool {
        self.fences().iter().any(|fence| fence.language == "console")
    }

    /// The numbered lines outside of fences.
    pub(crate) fn prose(&self) -> Vec<(usize, &str)> {
        let mut open = false;
        let outside = |(_, line): &(usize, &str)| {
            let fence = line.starts_with("```");
            open ^= fence;
            !open && !fence
        };
        self.text.lines().enumerate().map(|(number, line)| (number + 1, line)).filter(outside).collect()
    }

    /// The names by which headings can be linked to.
    fn anchors(&self) -> Vec<String> {
        let headings = self.prose().into_iter().filter(|(_, line)| line.starts_with('#'));
        headings.map(|(_, line)| anchor(line.trim_start_matches('#').trim())).collect()
    }

    /// Links to other places here, by their line.
    pub(crate) fn links(&self) -> Vec<(usize, Target)> {
        let folder = Path::new(&self.path).parent().unwrap_or(Path::new(""));
        let mut links = Vec::new();
        for (number, line) in self.prose() {
            for rest in without_code(line).split("](").skip(1) {
                let Some((target, _)) = rest.split_once(')') else { continue };
                if target.contains("://") {
                    continue;
                }
                let (path, anchor) = match target.split_once('#') {
                    Some((path, anchor)) => (path, Some(anchor.to_owned())),
                    None => (target, None),
                };
                let path = if path.is_empty() { self.path.clone() } else { normal(&folder.join(path)) };
                links.push((number, Target { path, anchor }));
            }
        }
        links
    }

    pub(crate) fn broken_links(&self) -> Vec<String> {
        let broken = self.links().into_iter().filter(|(_, target)| !target.exists());
        broken.map(|(line, target)| format!("{}:{line}: {target:?} is not there", self.path)).collect()
    }
}

impl Target {
    fn exists(&self) -> bool {
        match &self.anchor {
            None => root().join(&self.path).exists(),
            Some(anchor) => {
                fs::read_to_string(root().join(&self.path)).is_ok()
                    && page(&self.path).anchors().contains(anchor)
            }
        }
    }
}

/// As the places where people read such pages make them.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// The path without `..` and `.`.
fn normal(path: &Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.to_str().expect("UTF-8").split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn blocks_headings_and_links_are_found() {
    let text = "# A page: `one`\n\n```sh file=a/b.sh\n# no heading [x](y)\n```\n[to](../x.md#a-page-one) `[not](z)`\n";
    let page = Page { path: "docs/a/b.md".into(), text: text.into() };
    let fences = page.fences();
    assert_eq!((fences[0].language, fences[0].file, fences[0].line), ("sh", Some("a/b.sh"), 4));
    assert_eq!(fences[0].text(), "# no heading [x](y)\n");
    assert_eq!(page.anchors(), ["a-page-one"]);
    let target = Target { path: "docs/x.md".into(), anchor: Some("a-page-one".into()) };
    assert_eq!(page.links(), [(6, target)]);
    assert_eq!(page.broken_links().len(), 1);
}
