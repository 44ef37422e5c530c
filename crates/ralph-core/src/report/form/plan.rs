//! The items of a Markdown checklist, such as IMPLEMENTATION_PLAN.md.

use crate::backlog::{State, checklist};
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
    for found in checklist::read(text).boxes {
        match found.state {
            State::Done => plan.done += 1,
            _ => plan.open.push(text::one_line(found.words, 80)),
        }
    }
    plan
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
