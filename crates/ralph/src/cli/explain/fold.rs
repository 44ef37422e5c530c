//! A page or a part of one for a terminal: paragraphs and lists folded, tables row by row, code as it is.

use crate::ui;

/// No line is longer, as far as words go.
pub(super) const COLUMNS: usize = 80;

/// What is told in parentheses behind the name of a link, by its target; nothing where the name says it all.
pub(super) type Told<'a> = &'a dyn Fn(&str) -> Option<String>;

pub(super) fn folded(text: &str, told: Told<'_>) -> String {
    let shown = blocks(text).into_iter().filter_map(|block| match block {
        Block::Code(lines) => Some(lines.iter().map(|line| format!("{line}\n")).collect()),
        Block::Prose(lines) => prose(&lines, told),
    });
    shown.collect::<Vec<String>>().join("\n")
}

/// In lines that fit, the first with a mark and the others below it.
pub(super) fn wrapped(mark: &str, text: &str) -> String {
    hanging(mark, mark.chars().count(), text)
}

/// The same, the other lines so far from the left.
fn hanging(mark: &str, indent: usize, text: &str) -> String {
    let room = COLUMNS - indent;
    let indent = " ".repeat(indent);
    let line = |(nth, line): (usize, &String)| format!("{}{line}\n", if nth == 0 { mark } else { &indent });
    ui::wrapped(text, room).iter().enumerate().map(line).collect()
}

enum Block<'a> {
    /// What stands between two fences.
    Code(Vec<&'a str>),
    /// Lines without an empty one between them: a heading, a table, a paragraph or a list.
    Prose(Vec<&'a str>),
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = vec![];
    let (mut lines, mut fenced) = (vec![], false);
    for line in text.lines() {
        let fence = line.starts_with("```");
        let heading = !fenced && line.starts_with('#');
        let over = fence || heading || !fenced && line.trim().is_empty();
        if over && !lines.is_empty() {
            let lines = std::mem::take(&mut lines);
            blocks.push(if fenced { Block::Code(lines) } else { Block::Prose(lines) });
        }
        fenced ^= fence;
        match over {
            true if heading => blocks.push(Block::Prose(vec![line])),
            true => {}
            false => lines.push(line),
        }
    }
    if !lines.is_empty() {
        blocks.push(Block::Prose(lines));
    }
    blocks
}

fn prose(lines: &[&str], told: Told<'_>) -> Option<String> {
    let first = lines.first()?;
    Some(match () {
        () if first.starts_with('#') => heading(first),
        () if first.starts_with("<!--") => return None,
        () if first.starts_with('|') => table(lines, told),
        () => items(lines, told),
    })
}

/// The two highest are underlined.
fn heading(line: &str) -> String {
    let title = line.trim_start_matches('#').trim();
    let under = |c: &str| format!("{title}\n{}\n", c.repeat(title.chars().count()));
    match line.len() - line.trim_start_matches('#').len() {
        1 => under("="),
        2 => under("-"),
        _ => format!("{title}\n"),
    }
}

fn items(lines: &[&str], told: Told<'_>) -> String {
    let mut items: Vec<String> = vec![];
    for line in lines {
        match items.last_mut() {
            Some(last) if mark(line) == 0 => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => items.push((*line).to_owned()),
        }
    }
    let folded = items.iter().map(|item| {
        let (mark, rest) = item.split_at(mark(item));
        wrapped(mark, &inline(rest, told))
    });
    folded.collect()
}

/// How long the mark of a list's item is: `- ` or `2. `.
fn mark(line: &str) -> usize {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match &line[digits..] {
        rest if digits == 0 && rest.starts_with("- ") => 2,
        rest if digits > 0 && rest.starts_with(". ") => digits + 2,
        _ => 0,
    }
}

/// What the columns are, then each row: its first cell, and the others below it, with their names where there are several.
fn table(lines: &[&str], told: Told<'_>) -> String {
    let mut rows = lines.iter().filter(|line| !line.starts_with("|--")).map(|line| cells(line, told));
    let names = rows.next().unwrap_or_default();
    let named = names.len() > 2;
    let heads = names.iter().take(if named { 1 } else { 2 }).filter(|name| !name.is_empty());
    let mut text = match heads.map(String::as_str).collect::<Vec<_>>()[..] {
        [] => String::new(),
        [head] => wrapped("", &format!("{head}:")),
        ref heads => wrapped("", &heads.join(": ")),
    };
    for row in rows {
        for (nth, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            match names.get(nth).filter(|name| named && !name.is_empty()) {
                _ if nth == 0 => text.push_str(&wrapped("  ", cell)),
                Some(name) => text.push_str(&hanging("    ", 6, &format!("{name}: {cell}"))),
                None => text.push_str(&wrapped("    ", cell)),
            }
        }
    }
    text
}

fn cells(line: &str, told: Told<'_>) -> Vec<String> {
    let line = line.trim().replace("\\|", "\0");
    let inner = line.strip_prefix('|').unwrap_or(&line);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    inner.split('|').map(|cell| inline(&cell.trim().replace('\0', "|"), told)).collect()
}

/// Without what a terminal does not show: `[exit 7](#exit-7)` leads nowhere there, and nothing is bold.
fn inline(text: &str, told: Told<'_>) -> String {
    let text = unlinked(text, told);
    let parts = text.split('`').enumerate();
    let plain = parts.map(|(nth, part)| if nth % 2 == 0 { part.replace("**", "") } else { part.to_owned() });
    plain.collect::<Vec<_>>().join("`")
}

fn unlinked(text: &str, told: Told<'_>) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let named = link.split_once("](").filter(|(name, _)| !name.contains(']'));
        let target = named.and_then(|(name, rest)| Some((name, rest.split_once(')')?)));
        plain.push_str(before);
        let Some((name, (target, after))) = target else {
            plain.push('[');
            rest = link;
            continue;
        };
        plain.push_str(name);
        if let Some(told) = told(target) {
            plain.push_str(&format!(" ({told})"));
        }
        rest = after;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        folded(text, &|target| (!target.starts_with('#')).then(|| format!("at {target}")))
    }

    #[test]
    fn links_are_told_by_their_names() {
        let text = "see [exit 7](#exit-7), a[0] and [b](c.md#d).";
        assert_eq!(shown(text), "see exit 7, a[0] and b (at c.md#d).\n");
    }

    #[test]
    fn code_is_shown_line_by_line_without_its_fences() {
        let page = "### a\n\nb\nc\n\n```console\n# d [e](f)\n  g\n\n- h\n```\n\ni\nj\n";
        assert_eq!(shown(page), "a\n\nb c\n\n# d [e](f)\n  g\n\n- h\n\ni j\n");
    }

    #[test]
    fn headings_paragraphs_and_lists_are_folded() {
        assert_eq!(shown("# A b\nc\n\n<!-- d\ne -->\n\n## `f`\n"), "A b\n===\n\nc\n\n`f`\n---\n");
        assert_eq!(shown("b\nc\n\n- d\n  e\n- f\n"), "b c\n\n- d e\n- f\n");
        assert_eq!(shown("9. **d**:\n   `**e`\n10. f 3.\n"), "9. d: `**e`\n10. f 3.\n");
        let long = shown(&format!("10. {}", "word ".repeat(40).trim()));
        assert!(long.lines().skip(1).all(|line| line.starts_with("    word")), "{long}");
        assert!(long.lines().all(|line| line.len() <= COLUMNS), "{long}");
    }

    #[test]
    fn tables_are_told_row_by_row() {
        let two = "| `gate` | done when |\n|---|---|\n| `dual` | [a](#b) \\| c |\n| d | |\n";
        assert_eq!(shown(two), "`gate`: done when\n  `dual`\n    a | c\n  d\n");
        assert_eq!(shown("| option | |\n|---|---|\n| a | b |\n"), "option:\n  a\n    b\n");
        let three = "| key | by default | |\n|---|---|---|\n| `a` | 3 | **b** |\n";
        assert_eq!(shown(three), "key:\n  `a`\n    by default: 3\n    b\n");
        assert_eq!(shown("| | x | y |\n|---|---|---|\n| a | b | c |\n"), "  a\n    x: b\n    y: c\n");
    }
}
