//! A command line as a shell would part it, as far as the pages need it.

/// The words of the first command of a line: up to a comment, a pipe, a redirection or another command.
pub(crate) fn of_command(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '#') if word.is_none() => break,
            (None, '|' | ';' | '>' | '&') => break,
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[test]
fn words_end_at_spaces_outside_of_quotes() {
    let line = "ralph run \"fix it\" --test-cmd 'make #1'  -- --x # why";
    assert_eq!(of_command(line), ["ralph", "run", "fix it", "--test-cmd", "make #1", "--", "--x"]);
    assert_eq!(of_command("ralph man run | man -l -"), ["ralph", "man", "run"]);
    assert_eq!(of_command("ralph completions bash > file"), ["ralph", "completions", "bash"]);
    assert_eq!(of_command("ralph note \"\""), ["ralph", "note", ""]);
}
