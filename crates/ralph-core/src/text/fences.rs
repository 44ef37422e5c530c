//! Which lines of a text stand in a code fence.

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Outside,
    /// The line that opens a fence, or closes it.
    Edge,
    Inside,
}

/// Follows a text line by line.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    open: Option<(char, usize)>,
}

impl Fences {
    /// Where the next line stands. A fence is closed by a line of its own marks, at least as many as opened it.
    pub(crate) fn line(&mut self, line: &str) -> Place {
        let bare = line.trim();
        let edge = match self.open {
            Some((mark, len)) => bare.chars().count() >= len && bare.chars().all(|c| c == mark),
            None => opens_fence(bare).is_some(),
        };
        if edge {
            self.open = if self.open.is_some() { None } else { opens_fence(bare) };
            Place::Edge
        } else if self.open.is_some() {
            Place::Inside
        } else {
            Place::Outside
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }
}

/// The mark of a fence that this line opens where none is open, and how many of them.
pub(crate) fn opens_fence(line: &str) -> Option<(char, usize)> {
    let bare = line.trim();
    let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let len = bare.chars().take_while(|c| *c == mark).count();
    // With another backtick on the line it is inline code.
    (len >= 3 && !(mark == '`' && bare[len..].contains('`'))).then_some((mark, len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    fn places(text: &str) -> String {
        let mut fences = Fences::default();
        text.lines()
            .map(|line| match fences.line(line) {
                Place::Outside => '-',
                Place::Edge => '|',
                Place::Inside => 'i',
            })
            .collect()
    }

    #[test]
    fn a_fence_is_closed_by_its_own_marks_only() {
        assert_eq!(places("a\n```rust\nb\n```\nc"), "-|i|-");
        assert_eq!(places("````\n```\na\n```\n````\nb"), "|iii|-");
        assert_eq!(places("~~~\n```\na\n~~~~\nb"), "|ii|-");
        assert_eq!(places("```\n``` rust\n  ```  \nb"), "|i|-");
        assert_eq!(places("``` a `b` ```\n``\nc"), "---");
        assert_eq!(places("```\nnever closed"), "|i");
    }
}
