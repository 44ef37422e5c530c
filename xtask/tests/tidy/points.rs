//! Every effect on the disk and every new process of crate ralph stands in a function that passes a point
//! (`crates/ralph/src/point.rs`), so that the crash sweep reaches it.

use crate::sources::{Source, names, shipped};

/// What changes the disk or starts something, however it is reached. Writing into what is open is none of it: most of that are
/// pipes and digests, and whoever makes a file to write to passes a point for it.
const EFFECTS: [&str; 16] = [
    "fs::write",
    "fs::rename",
    "fs::remove_file",
    "fs::create_dir_all",
    "fs::create_dir",
    "DirBuilder::new",
    "File::create",
    "create(true)",
    "create_new(true)",
    "set_len",
    "sync_all",
    "sync_data",
    ".spawn()",
    "fs::remove_dir",
    "fs::remove_dir_all",
    "fs::copy",
];

/// The points themselves.
const POINTS: &str = "crates/ralph/src/point/";

pub(crate) fn missing(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in sources.iter().filter(|file| !file.path.starts_with(POINTS)) {
        for function in functions(&shipped(file)) {
            let effect = |(_, line): &(usize, &str)| EFFECTS.iter().any(|effect| names(line, effect));
            // Before it, on an earlier line or on the same one.
            let passed = function.iter().position(|(_, line)| line.contains("point::"));
            let before = |at: usize| passed.is_some_and(|passed| passed <= at);
            let found = function.iter().enumerate().find(|(at, line)| effect(line) && !before(*at));
            if let Some((_, (number, line))) = found {
                complaints.push(format!(
                    "{}:{number}: an effect in a function that passes no point: put a `point::` before it, or use a \
                     helper of the owner that has one\n    {}",
                    file.path,
                    line.trim()
                ));
            }
        }
    }
    complaints
}

/// The lines of each function, from `fn` to the `}` at its own indentation; rustfmt is trusted.
fn functions<'a>(lines: &[(usize, &'a str)]) -> Vec<Vec<(usize, &'a str)>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, Vec<(usize, &str)>)> = None;
    for &(number, line) in lines {
        let indented = line.len() - line.trim_start().len();
        let (_, function) = match &mut open {
            Some(open) => open,
            None if is_head(line) => open.insert((indented, Vec::new())),
            None => continue,
        };
        function.push((number, line));
        let own = open.as_ref().is_some_and(|(indent, _)| *indent == indented);
        if own && line.trim_end().ends_with('}') {
            found.extend(open.take().map(|(_, function)| function));
        }
    }
    found
}

fn is_head(line: &str) -> bool {
    let line = line.trim_start();
    let line =
        line.strip_prefix("pub").map_or(line, |rest| rest.split_once(' ').map_or(rest, |(_, rest)| rest));
    line.starts_with("fn ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::source;

    #[test]
    fn an_effect_without_a_point_in_its_function_is_told() {
        let good = "pub(super) fn a(path: &Path) -> io::Result<()> {\n    point::file(\"write\", path)?;\n    \
                    std::fs::write(path, text)\n}\n";
        let bad = "impl A {\n    fn b(&self) -> io::Result<()> {\n        if true {\n            \
                   self.file.sync_all()\n        }\n    }\n}\n";
        let file = |text: &str| [source("crates/ralph/src/store/a.rs", text)];
        assert!(missing(&file(good)).is_empty());
        let late = "fn c(path: &Path) -> io::Result<()> {\n    std::fs::remove_dir(path)?;\n    \
                    point::file(\"remove\", path)\n}\n";
        assert_eq!(missing(&file(late)).len(), 1, "the point comes after it");
        let told = missing(&file(&format!("{good}{bad}")));
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("crates/ralph/src/store/a.rs:8: an effect"), "{told:?}");
    }
}
