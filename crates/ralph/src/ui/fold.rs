//! Lines for people, broken between words where the window ends.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

/// A value that starts further to the right than this has no room below itself.
const DEEPEST: usize = 40;

/// What a line that says what to type begins with.
const TO_TYPE: [&str; 2] = ["try: ", "next: "];

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Breaks lines that are wider than the window. What goes on stands below what it belongs to: the value of a table, or the
/// text behind its indent. A word that has no room is left whole, and a line that says what to type stays one line: somebody
/// may want to copy them.
pub(super) fn fold(text: &str, columns: usize) -> Cow<'_, str> {
    fold_at(text, columns, |line| hanging(line).min(columns / 2))
}

/// The same for a table, whose last column begins there whatever stands in the others.
pub(super) fn fold_row(text: &str, columns: usize, last: usize) -> Cow<'_, str> {
    fold_at(text, columns, |_| last.min(columns * 3 / 4))
}

fn fold_at(text: &str, columns: usize, hang: impl Fn(&str) -> usize) -> Cow<'_, str> {
    if text.lines().all(|line| line.width() <= columns) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len() + 64);
    for piece in text.split_inclusive('\n') {
        let line = piece.trim_end_matches('\n');
        let to_type = TO_TYPE.iter().any(|mark| line.trim_start().starts_with(mark));
        match line.width() <= columns {
            true => folded.push_str(line),
            false if to_type => fold_line(line, columns, hang(line), fill, &mut folded),
            false => fold_line(line, columns, hang(line), break_off, &mut folded),
        }
        folded.push_str(&piece[line.len()..]);
    }
    Cow::Owned(folded)
}

/// A line with a command in it: one line for whoever copies it, and yet no word of it is cut by the window's edge.
pub(super) fn fold_whole(line: &str, columns: usize) -> Cow<'_, str> {
    if line.width() <= columns {
        return Cow::Borrowed(line);
    }
    let mut folded = String::with_capacity(line.len() + 64);
    fold_line(line, columns, hanging(line).min(columns / 2), fill, &mut folded);
    Cow::Owned(folded)
}

/// Goes on in the next row by ending the line.
fn break_off(_: usize, _: usize, folded: &mut String) {
    folded.push('\n');
}

/// Goes on in the next row by spaces up to the window's edge, where the terminal itself begins another one: it knows then
/// that both are one line, and to a shell some spaces more are the same command.
fn fill(wide: usize, columns: usize, folded: &mut String) {
    folded.extend(std::iter::repeat_n(' ', wide.next_multiple_of(columns) - wide));
}

fn fold_line(
    line: &str,
    columns: usize,
    hang: usize,
    mut next_row: fn(usize, usize, &mut String),
    folded: &mut String,
) {
    let columns = columns.max(1);
    let indent = line.len() - line.trim_start_matches(' ').len();
    let (mut wide, mut words, mut ends_with_colon) = (indent, 0, false);
    folded.push_str(&line[..indent]);
    // Gaps stay as they are within a line, so that a table stays one.
    let mut rest = &line[indent..];
    while !rest.is_empty() {
        let gap = rest.len() - rest.trim_start_matches(' ').len();
        let end = rest[gap..].find(' ').map_or(rest.len(), |end| gap + end);
        let word = rest[gap..end].width();
        let command = if ends_with_colon { command(&rest[gap..]).width() } else { 0 };
        ends_with_colon = rest[gap..end].ends_with(':');
        let splits = wide + gap + command > columns && hang + command <= columns;
        if hang + command > columns {
            // It has no row of its own, and must stay one line for whoever copies it.
            next_row = fill;
        }
        if words > 0 && (wide + gap + word > columns || splits) {
            next_row(wide, columns, folded);
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

/// The command of ralph's or git's that a text begins with, behind a colon: it ends with its part of the sentence.
fn command(text: &str) -> &str {
    if !["ralph ", "git "].iter().any(|program| text.starts_with(program)) {
        return "";
    }
    let end = ["; ", ", ", ") "].iter().filter_map(|end| Some(text.find(end)? + 1)).min();
    &text[..end.unwrap_or(text.len())]
}

/// Behind the last gap of two spaces or more near the line's start: the last column of a table. Else behind the indent.
fn hanging(line: &str) -> usize {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let after_gap = |(at, c): &(usize, char)| *at >= indent && *c != ' ' && line[indent..*at].ends_with("  ");
    let mut columns = line.char_indices().filter(after_gap).map(|(at, _)| line[..at].width());
    columns.rfind(|at| *at <= DEEPEST).unwrap_or(indent + 2)
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
    fn it_does_so_whatever_the_width_of_its_gaps() {
        check("goal:   a   b c", 12, "goal:   a\n      b c");
        check("goal:     a b c", 13, "goal:     a b\n      c");
        assert_eq!(fold_row("* a key of one gap: one two", 20, 8), "* a key of one gap:\n        one two");
    }

    #[test]
    fn a_word_that_has_no_room_stays_whole() {
        check("see /a/very/long/path here", 10, "see\n  /a/very/long/path\n  here");
    }

    #[test]
    fn a_command_to_be_typed_stays_one_line_and_no_word_of_it_is_cut() {
        let text = "why not so\n  try: ralph run --fresh\n";
        check(text, 15, "why not so\n  try: ralph       run --fresh\n");
        check("next:  to go on: ralph run", 16, "next:  to go on:       ralph run");
        // A word that is wider than the window ends somewhere in a row of its own.
        check("try: see /a/long/path now", 10, "try: see    /a/long/path        now");
        assert_eq!(fold_whole("a step: ralph run", 10), "a step:     ralph     run");
    }

    #[test]
    fn a_command_within_a_sentence_is_not_torn_where_a_row_has_room_for_it() {
        check("let go: ralph hook disarm", 20, "let go:\n  ralph hook disarm");
        check("go on: ralph hook disarm; it stays", 21, "go on:\n  ralph hook disarm;\n  it stays");
        // One that has no row of its own stays one line.
        check("go on: ralph run --x y z", 12, "go on: ralph  run --x y   z");
        check("so that ralph run it", 14, "so that ralph\n  run it");
    }

    #[test]
    fn wide_letters_count_twice() {
        check("日本 日本 日本", 9, "日本 日本\n  日本");
    }
}
