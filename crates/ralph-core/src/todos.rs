//! TODO and FIXME comments, `todo!` and `unimplemented!` that were added: work that somebody put off.

use alloc::borrow::Cow;

use crate::event::is_progress;
use crate::evidence::AddedTodos;
use crate::prelude::*;
use crate::saturation::is_document;
use crate::text;

const SAMPLES: usize = 3;
const LONGEST_LINE: usize = 120;

/// The TODO and FIXME comments that a diff adds (`diff -p -U0`). One that only moved within its file is not new, and
/// prose about the project is not its code.
pub fn added(diff: &[u8]) -> AddedTodos {
    let mut todos = AddedTodos::default();
    let mut file = File::default();
    for line in diff.split(|byte| *byte == b'\n') {
        match line {
            _ if line.starts_with(b"diff --git ") => core::mem::take(&mut file).hand_in(&mut todos),
            _ if line.starts_with(b"@@ ") => file.in_hunk = true,
            [b'+', rest @ ..] if file.in_hunk && mentions(rest) => {
                file.added.push(String::from_utf8_lossy(rest).trim().into());
            }
            [b'-', rest @ ..] if file.in_hunk && mentions(rest) => {
                file.removed.push(String::from_utf8_lossy(rest).trim().into());
            }
            _ if !file.in_hunk && line.starts_with(b"+++ ") => file.path = path(&line[4..]).into_owned(),
            _ => {}
        }
    }
    file.hand_in(&mut todos);
    todos
}

/// The same between two contents of a file; `old` is empty where it is new.
pub fn added_between(path: &str, old: &[u8], new: &[u8]) -> AddedTodos {
    let marked = |text: &[u8]| {
        let lines = text.split(|byte| *byte == b'\n').filter(|line| mentions(line));
        lines.map(|line| String::from_utf8_lossy(line).trim().into()).collect()
    };
    let mut todos = AddedTodos::default();
    File { path: path.into(), in_hunk: true, added: marked(new), removed: marked(old) }.hand_in(&mut todos);
    todos
}

/// `2 lines with TODO, FIXME or unimplemented! added: a.rs: // TODO: mend`
pub fn told(added: &AddedTodos) -> String {
    let lines = if added.total == 1 { "line" } else { "lines" };
    format!("{} {lines} with TODO, FIXME or unimplemented! added: {}", added.total, added.samples.join("; "))
}

#[derive(Default)]
struct File {
    path: String,
    in_hunk: bool,
    added: Vec<String>,
    removed: Vec<String>,
}

impl File {
    fn hand_in(mut self, todos: &mut AddedTodos) {
        if self.path.is_empty() || is_document(&self.path) || !is_progress(self.path.as_bytes()) {
            return;
        }
        for line in self.added {
            if let Some(moved) = self.removed.iter().position(|removed| *removed == line) {
                self.removed.swap_remove(moved);
                continue;
            }
            todos.total += 1;
            if todos.samples.len() < SAMPLES {
                todos.samples.push(format!("{}: {}", self.path, text::one_line(&line, LONGEST_LINE)));
            }
        }
    }
}

fn path(field: &[u8]) -> Cow<'_, str> {
    let name = String::from_utf8_lossy(field);
    match name.trim_end_matches('\t').trim_matches('"').strip_prefix("b/") {
        Some(path) => path.to_owned().into(),
        None => Cow::Borrowed(""),
    }
}

/// Whether a line has one of the words as a word of its own.
fn mentions(line: &[u8]) -> bool {
    let letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    [&b"TODO"[..], b"FIXME", b"todo!", b"unimplemented!"].iter().any(|word| {
        memchr::memmem::find_iter(line, word).any(|at| {
            !letter(at.checked_sub(1).and_then(|at| line.get(at))) && !letter(line.get(at + word.len()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(path: &str, lines: &str) -> String {
        format!(
            "diff --git a/{path} b/{path}\nindex 1..2 100644\n--- a/{path}\n+++ b/{path}\n@@ -1,0 +2,2 @@\n{lines}\n"
        )
    }

    #[test]
    fn what_was_added_is_counted_and_named() {
        let text = diff("src/a.rs", "+    // TODO: mend this\n+let x = 1; // FIXME\n+fn todo() {}")
            + &diff("b.py", "+# TODO(ann): later\n-# TODO: old");
        let todos = added(text.as_bytes());
        assert_eq!(todos.total, 3);
        assert_eq!(
            todos.samples,
            ["src/a.rs: // TODO: mend this", "src/a.rs: let x = 1; // FIXME", "b.py: # TODO(ann): later"]
        );
    }

    #[test]
    fn moved_lines_other_words_documents_and_notes_are_left_out() {
        let text = diff("a.rs", "-// TODO: mend\n+  // TODO: mend\n+const TODO_LIST: u8 = 1; // METODO")
            + &diff("README.md", "+TODO: write this")
            + &diff(".ralph/scratchpad.md", "+TODO")
            + &diff(".claude/harness/x.json", "+\"TODO\"");
        assert_eq!(added(text.as_bytes()), AddedTodos::default());
    }

    #[test]
    fn a_line_that_looks_like_a_header_is_a_line() {
        let text = diff("a.rs", "+++ b/other.rs TODO\n+// TODO");
        assert_eq!(added(text.as_bytes()).samples, ["a.rs: ++ b/other.rs TODO", "a.rs: // TODO"]);
    }

    #[test]
    fn macros_that_stand_for_missing_code_count_and_two_contents_compare_like_a_diff() {
        let (old, new) =
            ("// TODO: a\nfn f() {}\n", "fn f() {\n    unimplemented!{}\n}\n  // TODO: a\ntodo![];\n");
        let todos = added_between("src/a.rs", old.as_bytes(), new.as_bytes());
        assert_eq!(todos.samples, ["src/a.rs: unimplemented!{}", "src/a.rs: todo![];"]);
        assert_eq!(added_between("README.md", b"", b"TODO").total, 0);
        assert_eq!(added_between("a.rs", b"", b"let my_todo = 1; // unimplemented").total, 0);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            let todos = added(&bytes);
            assert!(todos.samples.len() as u64 <= todos.total);
        }
    }
}
