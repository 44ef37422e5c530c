//! Boxes to tick in Markdown: `- [ ]`, `* [/]`, `1. [x]`, `### - [ ]`. What stands in a code fence is an example, and what
//! stands in a comment is not there.

use alloc::borrow::Cow;
use core::ops::Range;

use super::fields::priority_of;
use super::model::{Slip, State};
use crate::prelude::*;
use crate::text::{Fences, Place};

/// A line with a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tick<'a> {
    pub(crate) state: State,
    /// The words after the box.
    pub(crate) words: &'a str,
    /// The whole line, without its end.
    pub(crate) line: Range<usize>,
    /// The character in the box.
    pub(crate) mark: usize,
    /// Indentation, marker and space before the box.
    pub(crate) lead: Range<usize>,
    pub(crate) priority: i64,
    /// The heading that it stands under.
    pub(crate) heading: Option<&'a str>,
    /// Which heading of the file that is.
    pub(crate) section: usize,
    /// Lines below it that are indented and are no boxes themselves.
    details: Vec<&'a str>,
}

impl Tick<'_> {
    /// What is written below it, as far to the left as it goes.
    pub(crate) fn description(&self) -> Option<String> {
        let deep = |line: &&str| line.len() - line.trim_start().len();
        let least = self.details.iter().filter(|line| !line.is_empty()).map(deep).min()?;
        let lines = self.details.iter().map(|line| line.get(least..).unwrap_or(line.trim_start()));
        Some(lines.collect::<Vec<_>>().join("\n"))
    }
}

/// One item: a box of its own, or a task whose steps are the boxes below its heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) title: &'a str,
    /// The line that names it.
    pub(crate) line: Range<usize>,
    /// Which boxes are its; a task may have none.
    pub(crate) boxes: Range<usize>,
    /// Of a task: all that stands below its heading.
    pub(crate) section: Option<Range<usize>>,
}

/// All boxes, and the commands that a plan lists under `Validation Commands`.
#[derive(Debug, Default)]
pub(crate) struct Checklist<'a> {
    pub(crate) boxes: Vec<Tick<'a>>,
    pub(crate) entries: Vec<Entry<'a>>,
    pub(crate) commands: Vec<Cow<'a, str>>,
    /// Lines that look like a box and are none, or are one of nothing: where each begins, and what is wrong.
    pub(crate) slips: Vec<(usize, Slip)>,
    /// Headings that stand for a priority, with where their lines end.
    pub(crate) headings: Vec<(i64, usize)>,
}

/// A task whose section goes on.
#[derive(Debug)]
struct Task<'a> {
    level: usize,
    title: &'a str,
    line: Range<usize>,
    /// Where its section begins.
    body: usize,
    /// Which item it is, once it has a box.
    entry: Option<usize>,
}

impl<'a> Checklist<'a> {
    /// The box that was found last is an item, or a step of the task that it stands in.
    fn entered(&mut self, task: Option<&mut Task<'a>>) {
        let Some((nth, found)) = self.boxes.iter().enumerate().next_back() else { return };
        let Some(task) = task else {
            let (title, line) = (found.words, found.line.clone());
            return self.entries.push(Entry { title, line, boxes: nth..nth + 1, section: None });
        };
        match task.entry {
            Some(entry) => self.entries[entry].boxes.end = nth + 1,
            None => {
                task.entry = Some(self.entries.len());
                let (title, line) = (task.title, task.line.clone());
                let section = Some(task.body..task.body);
                self.entries.push(Entry { title, line, boxes: nth..nth + 1, section });
            }
        }
    }

    /// The section of a task ends here. One without a box is there all the same: it is not done.
    fn closed(&mut self, task: Task<'a>, end: usize) {
        let section = Some(task.body..end.max(task.body));
        match task.entry {
            Some(entry) => self.entries[entry].section = section,
            None => {
                let boxes = self.boxes.len()..self.boxes.len();
                self.entries.push(Entry { title: task.title, line: task.line, boxes, section });
            }
        }
    }

    /// One more line of a fence with commands, or of the command before; tells whether it goes on in the next one. As a
    /// shell has it: a backslash at the end is taken out together with the line break.
    fn command(&mut self, line: &'a str, goes_on: bool) -> bool {
        if !goes_on && !is_command(line) {
            return false;
        }
        let more = line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        let line = if more { &line[..line.len() - 1] } else { line };
        match self.commands.last_mut().filter(|_| goes_on) {
            // The space before a backslash keeps the words apart.
            Some(begun) => begun.to_mut().push_str(if more { line } else { line.trim_end() }),
            None => self.commands.push(Cow::Borrowed(if more { line.trim_start() } else { line.trim() })),
        }
        more
    }
}

/// Whose details the lines are that follow.
#[derive(Debug, Default)]
struct Below {
    /// Boxes, each deeper than the one before: which one, and how deep.
    open: Vec<(usize, usize)>,
    /// A line without anything belongs to the details only where more of them follow.
    gap: bool,
    fenced: bool,
}

impl Below {
    fn began(&mut self, nth: usize, deep: usize) {
        self.open.retain(|(_, above)| *above < deep);
        self.open.push((nth, deep));
        self.gap = false;
    }

    /// `fenced`: after this line a code fence is open.
    fn line<'a>(&mut self, line: &'a str, fenced: bool, boxes: &mut [Tick<'a>]) {
        let within = core::mem::replace(&mut self.fenced, fenced);
        if line.trim().is_empty() && !within {
            self.gap = true;
            return;
        }
        if !within {
            self.open.retain(|(_, above)| *above < deep(line));
        }
        let Some((nth, _)) = self.open.last() else { return };
        let details = &mut boxes[*nth].details;
        if core::mem::take(&mut self.gap) && !details.is_empty() {
            details.push("");
        }
        details.push(line.trim_end());
    }
}

/// A comment that begins a line, up to the line with its end. One that is named in the middle of a line may be code.
#[derive(Debug, Default)]
struct Comment {
    open: bool,
}

impl Comment {
    fn hides(&mut self, line: &str, fenced: bool) -> bool {
        let begins = !self.open && !fenced && line.trim_start().starts_with("<!--");
        if !self.open && !begins {
            return false;
        }
        // `<!-->` does not end what it begins.
        let rest = if begins { &line.trim_start()[4..] } else { line };
        self.open = !rest.contains("-->");
        true
    }
}

/// What a heading says, at its level.
#[derive(Debug, Clone, Copy)]
struct Heading<'a> {
    level: usize,
    words: &'a str,
    priority: Option<i64>,
}

/// Items under no heading that tells are of medium priority.
const MEDIUM: i64 = 2;

pub(crate) fn read(text: &str) -> Checklist<'_> {
    let mut list = Checklist::default();
    let mut fences = Fences::default();
    let mut headings: Vec<Heading<'_>> = Vec::new();
    let mut below = Below::default();
    let mut comment = Comment::default();
    let mut section = 0;
    // The last line of a fence ended with a backslash: the command goes on.
    let mut unended = false;
    let mut task: Option<Task<'_>> = None;
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    for whole in text[at..].split_inclusive('\n') {
        let start = at;
        at += whole.len();
        let line = whole.trim_end_matches(['\n', '\r']);
        if comment.hides(line, fences.is_open()) {
            below.line(line, false, &mut list.boxes);
            continue;
        }
        let place = fences.line(line);
        let commands = headings.last().is_some_and(|heading| is_commands(heading.words));
        if place != Place::Outside {
            // A fenced block of commands is as good as a list of them.
            let inside = place == Place::Inside && commands;
            unended = inside && list.command(line, unended);
            below.line(line, fences.is_open(), &mut list.boxes);
            continue;
        }
        if let Some((mark, words)) = boxed(line) {
            let Some(state) = state_of(line[mark..].chars().next()) else {
                list.slips.extend(other_mark(line, mark).map(|slip| (start, slip)));
                below.line(line, fences.is_open(), &mut list.boxes);
                continue;
            };
            if words.trim().is_empty() {
                list.slips.push((start, Slip::NoWords));
            }
            below.began(list.boxes.len(), deep(line));
            let priority = headings.iter().rev().find_map(|heading| heading.priority).unwrap_or(MEDIUM);
            list.boxes.push(Tick {
                state,
                words: words.trim(),
                line: start..start + line.len(),
                mark: start + mark,
                lead: start..start + mark - 1,
                priority,
                heading: headings.last().map(|heading| heading.words),
                section,
                details: Vec::new(),
            });
            list.entered(task.as_mut());
        } else if let Some(heading) = heading(line) {
            if let Some(over) = task.take_if(|task| heading.level <= task.level) {
                list.closed(over, start);
            }
            // What has no boxes of its own, and tasks below it, is a heading over these.
            if is_task(heading.words) && task.as_ref().is_none_or(|task| task.entry.is_none()) {
                let line = start..start + line.len();
                task = Some(Task { level: heading.level, title: heading.words, line, body: at, entry: None });
            }
            headings.retain(|above| above.level < heading.level);
            headings.push(heading);
            list.headings.extend(heading.priority.map(|priority| (priority, start + line.len())));
            (section, below) = (section + 1, Below::default());
        } else {
            list.slips.extend(almost_boxed(line).map(|slip| (start, slip)));
            list.commands.extend(listed(line).filter(|_| commands).map(Cow::Borrowed));
            below.line(line, fences.is_open(), &mut list.boxes);
        }
    }
    if let Some(last) = task {
        list.closed(last, text.len());
    }
    list
}

/// `Task 3: words`
fn is_task(heading: &str) -> bool {
    task_number(heading).is_some()
}

/// What stands before the colon.
pub(crate) fn task_number(heading: &str) -> Option<&str> {
    let (word, rest) = heading.split_at_checked(4)?;
    let (number, _) = rest.split_once(':').filter(|_| word.eq_ignore_ascii_case("task"))?;
    let bare = number.trim();
    (bare.len() < number.len() && bare.starts_with(|c: char| c.is_ascii_digit())).then_some(bare)
}

/// How far a line is indented.
fn deep(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn state_of(mark: Option<char>) -> Option<State> {
    match mark? {
        ' ' => Some(State::Open),
        '/' => Some(State::InProgress),
        'x' | 'X' => Some(State::Done),
        _ => None,
    }
}

/// Where in a line the character in its box is, and the words after the box. Some plans make a heading of each item.
pub(crate) fn boxed(line: &str) -> Option<(usize, &str)> {
    let rest = behind_marker(line)?;
    let inside = rest.trim_start();
    if inside.len() == rest.len() {
        return None;
    }
    let mut chars = inside.strip_prefix('[')?.chars();
    chars.next()?;
    let words = chars.as_str().strip_prefix(']')?;
    let mark = line.len() - inside.len() + 1;
    (words.is_empty() || words.starts_with(char::is_whitespace)).then_some((mark, words))
}

/// What follows on the marker of a list.
fn behind_marker(line: &str) -> Option<&str> {
    let bare = line.trim_start().trim_start_matches('#').trim_start();
    if let Some(rest) = bare.strip_prefix(['-', '*', '+']) {
        return Some(rest);
    }
    let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    // A dot alone is no marker: there is a number before it.
    digits.strip_prefix(['.', ')']).filter(|_| digits.len() < bare.len())
}

/// A box that somebody meant and nobody reads as one. Links, and what else stands in brackets, are none.
fn almost_boxed(line: &str) -> Option<Slip> {
    let rest = behind_marker(line)?;
    let bare = rest.trim_start();
    let (inside, words) = bare.strip_prefix('[')?.split_once(']')?;
    let spaced = words.is_empty() || words.starts_with(char::is_whitespace);
    if !matches!(inside.trim(), "" | "x" | "X" | "/") {
        return None;
    }
    if bare.len() == rest.len() {
        return spaced.then_some(Slip::NoSpaceBefore);
    }
    if inside.chars().count() != 1 {
        return spaced.then_some(Slip::Inside);
    }
    let begins = words.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '*' | '_' | '`' | '"'));
    begins.then_some(Slip::NoSpaceAfter)
}

/// A mark that means nothing here. `[-]` is how many strike an item out, and `[1]` is a reference.
fn other_mark(line: &str, at: usize) -> Option<Slip> {
    let mark = line[at..].chars().next()?;
    (!mark.is_alphanumeric() && mark != '-').then_some(Slip::Mark(mark))
}

fn heading(line: &str) -> Option<Heading<'_>> {
    let bare = line.trim_start();
    let words = bare.trim_start_matches('#');
    let level = bare.len() - words.len();
    if !(1..=6).contains(&level) || !words.starts_with([' ', '\t']) {
        return None;
    }
    let words = words.trim().trim_end_matches('#').trim_end();
    let priority = words.split(|c: char| !c.is_alphanumeric()).find_map(|word| {
        // A number in a heading is a chapter's, not a priority.
        if word.chars().all(|c| c.is_ascii_digit()) { None } else { priority_of(word) }
    });
    Some(Heading { level, words, priority })
}

fn is_commands(heading: &str) -> bool {
    heading.to_ascii_lowercase().contains("validation commands")
}

fn is_command(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

/// The command in `- \`cargo test\``: what stands in backticks, or else the whole words.
fn listed(line: &str) -> Option<&str> {
    let words = line.trim_start().strip_prefix(['-', '*', '+'])?.strip_prefix(' ')?.trim();
    let quoted = words.split('`').nth(1).filter(|quoted| !quoted.trim().is_empty());
    Some(quoted.unwrap_or(words)).filter(|command| is_command(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(text: &str) -> Vec<(State, &str, i64)> {
        read(text).boxes.iter().map(|found| (found.state, found.words, found.priority)).collect()
    }

    #[test]
    fn any_marker_and_indentation_counts() {
        let text = "- [ ] a\n* [/] b\n+ [x] c\n1. [X] d\n2) [ ] e\n  - [ ] f\n### - [ ] g\n- [ ]\n";
        let found = boxes(text);
        let words: Vec<&str> = found.iter().map(|(_, words, _)| *words).collect();
        assert_eq!(words, ["a", "b", "c", "d", "e", "f", "g", ""]);
        let marks: String =
            read(text).boxes.iter().map(|found| text[found.mark..].chars().next().unwrap()).collect();
        assert_eq!(marks, " /xX    ", "the place is that of the mark");
        assert_eq!((found[1].0, found[3].0), (State::InProgress, State::Done));
    }

    #[test]
    fn the_heading_above_gives_the_priority() {
        let text = "- [ ] none\n# Plan\n## High Priority\n- [ ] h\n### 3. Detail\n- [ ] hh\n## Low\n- [ ] l\n\
                    # Other\n- [ ] m\n## Critical!\n- [ ] c\n";
        let priorities: Vec<i64> = boxes(text).iter().map(|(_, _, priority)| *priority).collect();
        assert_eq!(priorities, [2, 1, 1, 3, 2, 0]);
        assert_eq!(read(text).boxes[2].heading, Some("3. Detail"));
    }

    #[test]
    fn the_boxes_below_a_task_are_its_steps() {
        let text = "- [ ] a\n## Task 1: Rows\nwords\n- [x] b\n  - [ ] c\n### Detail\n- [ ] d\n## Later\n- [ ] e\n\
                    ### TASK 2.1: Columns\n- [ ] f\n### Task three: no number\n- [ ] g\n### Task 4 no colon\n- [ ] h\n\
                    ## Task 5: a heading over others\n### Task 5.1: Sums\n- [ ] i\n### Task 6: nothing to tick\nwords\n";
        let list = read(text);
        let found: Vec<_> = list.entries.iter().map(|entry| (entry.title, entry.boxes.clone())).collect();
        let wanted = [
            ("a", 0..1),
            ("Task 1: Rows", 1..4),
            ("e", 4..5),
            ("TASK 2.1: Columns", 5..6),
            ("g", 6..7),
            ("h", 7..8),
            ("Task 5.1: Sums", 8..9),
            ("Task 6: nothing to tick", 9..9),
        ];
        assert_eq!(found, wanted);
        let section = |nth: usize| list.entries[nth].section.clone().map(|range| &text[range]);
        assert_eq!(section(1), Some("words\n- [x] b\n  - [ ] c\n### Detail\n- [ ] d\n"));
        assert_eq!((section(0), section(3)), (None, Some("- [ ] f\n")));
        assert_eq!(section(7), Some("words\n"));
        assert_eq!(task_number("Task 12: x"), Some("12"));
    }

    #[test]
    fn examples_in_fences_and_other_brackets_are_no_items() {
        let text = "```\n- [ ] x\n```\n- [-] dropped\n- [](a)\n- [ ](a)\n[ ] x\n-[ ] x\n> - [ ] x\n. [ ] x\n";
        assert_eq!(boxes(text), []);
    }

    #[test]
    fn what_stands_in_a_comment_is_not_there() {
        let text = "- [ ] a\n<!-- later:\n- [ ] x\n## High\n```\n-->\n- [ ] b\n  <!-- - [ ] x -->\n\
                    - [ ] `<!--` is code\n```\n<!--\n```\n- [ ] c\n<!--\n- [ ] never closed\n";
        assert_eq!(
            boxes(text).iter().map(|(_, words, _)| *words).collect::<Vec<_>>(),
            ["a", "b", "`<!--` is code", "c"]
        );
        assert!(boxes(text).iter().all(|(.., priority)| *priority == MEDIUM), "headings neither");
    }

    #[test]
    fn what_is_indented_below_a_box_belongs_to_it() {
        let text = "- [ ] a\n  first\n    deeper\n\n  ```sh\nx\n\n  ```\n  - [ ] b\n\tof b\n  - [-] dropped\n\n  of a\n\n\
                    text\n  lost\n## High\n- [ ] c\n- [ ] d\n\n  of d\n\n## Low\n  none\n";
        let list = read(text);
        let details: Vec<Option<String>> = list.boxes.iter().map(Tick::description).collect();
        let of = |text: &str| Some(text.to_owned());
        assert_eq!(details[0], of("  first\n    deeper\n\n  ```sh\nx\n\n  ```\n  - [-] dropped\n\n  of a"));
        assert_eq!(details[1..], [of("of b"), None, of("of d")]);
        assert_eq!(list.headings.iter().map(|(priority, _)| *priority).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn validation_commands_are_read_from_a_list_or_a_fence() {
        let text = "# Plan\n## Validation Commands\n- `cargo test`\n* run `npm test` twice\n- make check\n\
                    ```sh\n# all of them\n./verify\n```\n## Tasks\n- `not this`\n";
        assert_eq!(read(text).commands, ["cargo test", "npm test", "make check", "./verify"]);
    }

    #[test]
    fn a_command_that_goes_on_in_the_next_line_is_one_command() {
        let text = "## Validation Commands\n```sh\ncargo test \\\n  --all \\\n--locked\n# a comment \\\nmake check\\\nall\n\
                    printf 'a\\\\'\necho \\\\\n./last \\\n```\n- `npm test`\n";
        let wanted = [
            "cargo test   --all --locked",
            "make checkall",
            "printf 'a\\\\'",
            "echo \\\\",
            "./last ",
            "npm test",
        ];
        assert_eq!(read(text).commands, wanted);
        let windows = text.replace('\n', "\r\n");
        assert_eq!(read(&windows).commands, wanted, "other line ends");
    }

    #[test]
    fn what_was_meant_for_a_box_is_told_and_other_brackets_are_not() {
        let slips = |text: &str| read(text).slips.into_iter().map(|(_, slip)| slip).collect::<Vec<_>>();
        let text = "-[ ] a\n*[x] b\n1.[ ] c\n- [x]d\n- [ ]**e**\n- [] f\n- [  ] g\n- [x ] h\n- [ ]\n- [~] i\n- [✓] j\n";
        use Slip::{Inside, Mark, NoSpaceAfter, NoSpaceBefore, NoWords};
        assert_eq!(
            slips(text),
            [
                NoSpaceBefore,
                NoSpaceBefore,
                NoSpaceBefore,
                NoSpaceAfter,
                NoSpaceAfter,
                Inside,
                Inside,
                Inside,
                NoWords,
                Mark('~'),
                Mark('✓')
            ]
        );
        let fine = "- [ ] a\n- [-] b\n- [1] c\n- [x](y)\n- [x][y]\n- [x]: y\n- [a b] c\n-[a](b)\n- [](a)\n- [x].\n\
                    ```\n-[ ] x\n```\n<!-- -[ ] x -->\n";
        assert_eq!(slips(fine), []);
    }

    #[test]
    fn line_ends_of_windows_and_a_mark_at_the_start_do_not_matter() {
        let text = "\u{feff}- [ ] a\r\n- [x] b";
        let list = read(text);
        assert_eq!((&text[list.boxes[0].line.clone()], list.boxes[1].words), ("- [ ] a", "b"));
        assert_eq!(&text[list.boxes[1].lead.clone()], "- ");
    }
}
