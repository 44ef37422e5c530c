//! Lines for people, broken between words where the window ends.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

/// A value that starts further to the right than this has no room below itself.
const DEEPEST: usize = 40;

/// Breaks lines that are wider than the window. What goes on stands below what it belongs to: the value of a table, or the
/// text behind its indent. A word that has no room is left whole, and so is a line that says what to type: somebody may
/// want to copy them.
pub(super) fn fold(text: &str, columns: usize) -> Cow<'_, str> {
    if text.lines().all(|line| line.width() <= columns) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len() + 64);
    for piece in text.split_inclusive('\n') {
        let line = piece.trim_end_matches('\n');
        if line.width() <= columns || line.trim_start().starts_with("try: ") {
            folded.push_str(line);
        } else {
            fold_line(line, columns, &mut folded);
        }
        folded.push_str(&piece[line.len()..]);
    }
    Cow::Owned(folded)
}

fn fold_line(line: &str, columns: usize, folded: &mut String) {
    let hang = hanging(line).min(columns / 2);
    let indent = line.len() - line.trim_start_matches(' ').len();
    let (mut wide, mut words) = (indent, 0);
    folded.push_str(&line[..indent]);
    // Gaps stay as they are within a line, so that a table stays one.
    let mut rest = &line[indent..];
    while !rest.is_empty() {
        let gap = rest.len() - rest.trim_start_matches(' ').len();
        let end = rest[gap..].find(' ').map_or(rest.len(), |end| gap + end);
        let word = rest[gap..end].width();
        if words > 0 && wide + gap + word > columns {
            folded.push('\n');
            folded.extend(std::iter::repeat_n(' ', hang));
            folded.push_str(&rest[gap..end]);
            wide = hang + word;
        } else {
            folded.push_str(&rest[..end]);
            wide += gap + word;
        }
        words += 1;
        rest = &rest[end..];
    }
}

/// Behind the last gap of two spaces or more near the line's start: the last column of a table. Else behind the indent.
fn hanging(line: &str) -> usize {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let gaps = line[indent..].match_indices("  ").map(|(at, _)| indent + at + 2);
    let columns = gaps.filter(|at| line[*at..].starts_with(|c| c != ' ')).map(|at| line[..at].width());
    columns.filter(|at| *at <= DEEPEST).last().unwrap_or(indent + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, columns: usize, expected: &str) {
        assert_eq!(fold(text, columns), expected);
    }

    #[test]
    fn a_line_that_fits_is_left_alone() {
        check("one two", 7, "one two");
        check("  │  a box │\n\n", 12, "  │  a box │\n\n");
    }

    #[test]
    fn lines_break_between_words_and_hang_below_their_text() {
        check("  why: it is too long", 12, "  why: it is\n    too long");
        check("one two three\nfour\n", 9, "one two\n  three\nfour\n");
    }

    #[test]
    fn the_last_column_of_a_table_keeps_its_place() {
        check("ok  disk  there is room enough", 20, "ok  disk  there is\n          room\n          enough");
    }

    #[test]
    fn a_word_that_has_no_room_stays_whole() {
        check("see /a/very/long/path here", 10, "see\n  /a/very/long/path\n  here");
    }

    #[test]
    fn a_command_to_be_typed_stays_whole() {
        check("why not so\n  try: ralph run --fresh\n", 9, "why not\n  so\n  try: ralph run --fresh\n");
    }

    #[test]
    fn wide_letters_count_twice() {
        check("日本 日本 日本", 9, "日本 日本\n  日本");
    }
}
