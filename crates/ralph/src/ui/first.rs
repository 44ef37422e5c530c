//! The screen before the first run in a project: all that is about to happen, and one question.

use super::boxes::wrap_whole;
use super::{Tone, Ui};

const LABEL: usize = 10;

/// What somebody should know before saying yes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Introduction {
    pub(crate) title: String,
    /// Label and value; a label that repeats is shown once.
    pub(crate) rows: Vec<(&'static str, String)>,
}

impl Introduction {
    pub(crate) fn row(&mut self, label: &'static str, value: impl Into<String>) {
        self.rows.push((label, value.into()));
    }

    fn lines(&self, columns: usize) -> Vec<String> {
        let room = columns.saturating_sub(LABEL + 3).max(20);
        let mut lines = Vec::new();
        let mut last = "";
        for (label, value) in &self.rows {
            for (at, part) in wrap_whole(value, room).iter().enumerate() {
                let label = if at > 0 || *label == last { "" } else { label };
                lines.push(format!("  {label:<LABEL$}{part}").trim_end().to_owned());
            }
            last = label;
        }
        lines
    }
}

impl Ui {
    /// Shows it, however quiet the run is to be: a question needs to be understood.
    pub(crate) fn introduce(&mut self, introduction: &Introduction) {
        self.line(Tone::Plain, &format!("  {}", introduction.title));
        self.line(Tone::Plain, "");
        let columns = self.stream.columns();
        for line in self.without_secrets(introduction).lines(columns) {
            self.line(Tone::Plain, &line);
        }
        self.line(Tone::Plain, "");
    }
}

impl Ui {
    pub(crate) fn without_secrets(&self, introduction: &Introduction) -> Introduction {
        let mut shown = introduction.clone();
        shown.rows.iter_mut().for_each(|(_, value)| *value = self.hidden(value).into_owned());
        shown
    }

    /// The same as data, where nothing is asked.
    pub(crate) fn show_introduction(&self, introduction: &Introduction) {
        self.data_line(&format!("  {}\n", introduction.title));
        self.without_secrets(introduction).lines(120).iter().for_each(|line| self.data_line(line));
        self.data_line("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_once_and_long_values_stay_in_their_column() {
        let mut shown = Introduction::default();
        shown.row("folder", "/project");
        shown.row("checks", "test: make test, with a great many words behind it");
        shown.row("checks", "lint: make lint");
        assert_eq!(
            shown.lines(40),
            [
                "  folder    /project",
                "  checks    test: make test, with a",
                "            great many words behind it",
                "            lint: make lint",
            ]
        );
    }
}
