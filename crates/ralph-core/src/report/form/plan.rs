//! The items of a Markdown checklist, such as IMPLEMENTATION_PLAN.md.

use crate::prelude::*;
use crate::text;

/// What a checklist says about the work.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The words of each item that is not ticked: `[ ]`, or begun: `[/]`.
    pub open: Vec<String>,
    /// How many are ticked.
    pub done: u64,
}

/// Reads the list items with a box, whatever their marker and indentation. What stands in a code fence is an example.
pub fn read_plan(text: &str) -> Plan {
    let mut plan = Plan::default();
    let mut fence: Option<&str> = None;
    for line in text.lines().map(str::trim_start) {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (None, None) => match item(line) {
                Some((' ' | '/', words)) => plan.open.push(text::one_line(words, 80)),
                Some(('x' | 'X', _)) => plan.done += 1,
                _ => {}
            },
            (Some(_), _) => {}
        }
    }
    plan
}

/// What is in the box of a list item, and the words after it. Some plans make a heading of each item: `### - [ ] x`.
fn item(line: &str) -> Option<(char, &str)> {
    let line = line.trim_start_matches('#').trim_start();
    let rest = match line.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            line.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['.', ')']).filter(|_| {
                // A dot alone is no marker: there is a number before it.
                line.starts_with(|c: char| c.is_ascii_digit())
            })?
        }
    };
    let boxed = rest.trim_start();
    if boxed.len() == rest.len() {
        return None;
    }
    let mut inside = boxed.strip_prefix('[')?.chars();
    let state = inside.next()?;
    let words = inside.as_str().strip_prefix(']')?;
    (words.is_empty() || words.starts_with(char::is_whitespace)).then_some((state, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_marker_counts_and_a_begun_item_is_open() {
        let plan = read_plan(
            "# Plan\n## High\n- [ ] first\n* [/] begun\n+ [x] done\n1. [ ] numbered\n2) [X] done too\n  - [ ] inner\n\t- [ ]\n### - [ ] headed\n## * [x] done as well\n",
        );
        assert_eq!(plan.open, ["first", "begun", "numbered", "inner", "", "headed"]);
        assert_eq!(plan.done, 3);
    }

    #[test]
    fn what_is_no_item_is_not_counted() {
        for line in [
            "see - [ ] here",
            "[ ] no marker",
            "- [](link)",
            "- [ ](link)",
            "- [-] dropped",
            "-[ ] no space",
            ". [ ] no number",
            "- plain",
            "### [ ] a heading",
            "> - [ ] quoted",
            "```\n- [ ] an example\n```",
            "~~~md\n- [ ] an example\n```\n- [ ] still one\n~~~",
            "",
        ] {
            assert_eq!(read_plan(line), Plan::default(), "{line}");
        }
        assert_eq!(read_plan("```\nx\n```\n- [ ] after the fence").open, ["after the fence"]);
    }
}
