//! The pages for users, which are part of the program, so that it can show them wherever it is installed.

use super::{fold, stops};

pub(super) struct Page {
    /// From docs/ on, without its ending.
    path: &'static str,
    /// What the list says about it; docs/concepts.md has it of a concept.
    about: Option<&'static str>,
    text: &'static str,
}

macro_rules! page {
    ($path:literal, $about:expr) => {
        Page { path: $path, about: $about, text: include_str!(concat!("../../../../../docs/", $path, ".md")) }
    };
    ($path:literal) => {
        page!($path, None)
    };
}

/// In the order in which they are listed. A name is there once: docs/hook-mode.md says what docs/concepts/hook-mode.md does, and more.
pub(super) const PAGES: &[Page] = &[
    page!("running", Some("the first run, checks, what you see, what is kept")),
    page!("agents", Some("what each agent needs, and what it may do")),
    page!("backlogs", Some("task files: items, when one is done, commits, evidence")),
    page!("hook-mode", Some("holding a session that you started yourself")),
    page!("config", Some("settings: every key, and where values come from")),
    page!("tuning", Some("trying other rules on recorded runs")),
    page!("security", Some("what is trusted, guarded and not defended")),
    page!("troubleshooting", Some("every reason to stop, and what to do")),
    page!("concepts", Some("the pages below, in groups")),
    page!("concepts/iteration"),
    page!("concepts/fresh-context"),
    page!("concepts/handoff"),
    page!("concepts/profiles"),
    page!("concepts/reports"),
    page!("concepts/signals"),
    page!("concepts/exit-gate"),
    page!("concepts/evidence"),
    page!("concepts/reviews"),
    page!("concepts/circuit-breaker"),
    page!("concepts/saturation"),
    page!("concepts/limits"),
    page!("concepts/pools"),
    page!("concepts/backlog"),
    page!("concepts/worker"),
    page!("concepts/phases"),
    page!("concepts/snapshots"),
    page!("concepts/custody"),
    page!("concepts/record-and-replay"),
];

impl Page {
    pub(super) fn name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    pub(super) fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// As it was written.
    pub(super) fn text(&self) -> &'static str {
        self.text
    }

    /// The part below a heading of the second level, with the heading.
    pub(super) fn section(&self, name: &str) -> Option<String> {
        let mut sections = self.text.split("\n## ").skip(1);
        let section = sections.find(|section| section.lines().next() == Some(name))?;
        let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        Some(fold::folded(&format!("## {section}"), &|target| told(target, folder)))
    }

    pub(super) fn shown(&self) -> String {
        let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        fold::folded(self.text, &|target| told(target, folder))
    }

    /// A line of the list.
    pub(super) fn line(&self) -> String {
        let about = self.about.or_else(|| in_a_sentence(self.path)).unwrap_or(self.title());
        fold::wrapped(&format!("  {:<19}", self.name()), &about.replace('`', ""))
    }
}

pub(super) fn named(name: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.name() == name)
}

/// Those whose names have a part in common; where none has, by their headings.
pub(super) fn with(part: &str) -> Vec<&'static Page> {
    let those = |has: &dyn Fn(&Page) -> bool| PAGES.iter().filter(|page| has(page)).collect::<Vec<_>>();
    let by_name = those(&|page| page.name().contains(part));
    if !by_name.is_empty() {
        return by_name;
    }
    let part = part.replace('-', " ");
    those(&|page| page.title().to_lowercase().contains(&part))
}

/// `` | [Pools](concepts/pools.md) | several agents that share the work | ``
fn in_a_sentence(path: &str) -> Option<&'static str> {
    let (_, row) = named("concepts")?.text.split_once(&format!("]({path}.md) | "))?;
    Some(row.split_once(" |")?.0)
}

/// Where a link of a page in a folder below docs/ leads: by what shows it, or by its file.
pub(super) fn told(target: &str, folder: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    if path.is_empty() {
        return None;
    }
    let mut parts = vec!["docs"];
    for part in folder.split('/').chain(path.split('/')).filter(|part| !part.is_empty()) {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let file = parts.join("/");
    let reason = anchor.strip_prefix("exit-").unwrap_or(anchor);
    if file == "docs/troubleshooting.md" && !stops::sections(reason).is_empty() {
        return Some(format!("ralph explain {reason}"));
    }
    let page = file.strip_suffix(".md").and_then(|file| {
        let below = file.strip_prefix("docs/")?;
        named(below.strip_prefix("concepts/").unwrap_or(below)).filter(|_| below.matches('/').count() < 2)
    });
    Some(page.map_or(file, |page| format!("ralph explain {}", page.name())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    const FOR_USERS: [&str; 8] =
        ["agents", "backlogs", "config", "hook-mode", "running", "security", "tuning", "troubleshooting"];

    fn docs() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs")
    }

    #[test]
    fn every_page_for_users_is_there_under_its_name_and_has_its_line() {
        let concepts = fs::read_dir(docs().join("concepts")).expect("a folder");
        let files = concepts.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8"));
        let names: Vec<String> =
            files.filter_map(|file| Some(file.strip_suffix(".md")?.to_owned())).collect();
        assert!(names.len() > 15, "{names:?}");
        for name in names.iter().map(String::as_str).chain(FOR_USERS) {
            let page = named(name).unwrap_or_else(|| panic!("{name} is not part of the program"));
            let larger = docs().join(format!("{name}.md"));
            let file =
                if larger.exists() { larger } else { docs().join("concepts").join(format!("{name}.md")) };
            assert_eq!(page.text, fs::read_to_string(&file).expect("there"), "{name}");
            assert!(page.about.or(in_a_sentence(page.path)).is_some(), "nothing says what {name} is about");
        }
        for page in PAGES {
            assert_eq!(PAGES.iter().filter(|other| other.name() == page.name()).count(), 1, "{}", page.path);
        }
    }

    #[test]
    fn links_to_what_is_part_of_the_program_name_the_command() {
        for (target, folder, shown) in [
            ("#which-file", "", None),
            ("pools.md", "concepts", Some("ralph explain pools")),
            ("../backlogs.md#evidence", "concepts", Some("ralph explain backlogs")),
            ("concepts/hook-mode.md", "", Some("ralph explain hook-mode")),
            ("../troubleshooting.md#agents_exhausted", "concepts", Some("ralph explain agents_exhausted")),
            ("troubleshooting.md#exit-2", "", Some("ralph explain 2")),
            ("troubleshooting.md", "", Some("ralph explain troubleshooting")),
            ("formats.md", "", Some("docs/formats.md")),
            ("../formats.md", "concepts", Some("docs/formats.md")),
            ("../SECURITY.md", "", Some("SECURITY.md")),
            ("examples/greet", "", Some("docs/examples/greet")),
        ] {
            assert_eq!(told(target, folder).as_deref(), shown, "{target}");
        }
    }

    #[test]
    fn a_page_is_found_by_a_part_of_its_name_or_else_of_its_heading() {
        let names = |part: &str| with(part).iter().map(|page| page.name()).collect::<Vec<_>>();
        assert_eq!(names("breaker"), ["circuit-breaker"]);
        assert_eq!(names("rep"), ["reports", "record-and-replay"]);
        assert_eq!(names("undo"), ["snapshots"]);
        assert_eq!(names("security-model"), ["security"]);
        assert!(names("elephant").is_empty());
    }

    #[test]
    fn nothing_but_code_is_wider_than_a_terminal() {
        for page in PAGES {
            // Code is as wide as it is.
            let code: Vec<&str> = page.text.split("```").skip(1).step_by(2).flat_map(str::lines).collect();
            for line in page.shown().lines() {
                let fits = line.chars().count() <= fold::COLUMNS;
                assert!(fits || code.contains(&line) || !line.trim().contains(' '), "{}: {line}", page.path);
            }
        }
    }
}
