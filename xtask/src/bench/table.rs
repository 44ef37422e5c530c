//! The table that a bench run ends with.

/// A quantity with its unit.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    Millis(f64),
    Megabytes(f64),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Millis(millis) => write!(f, "{millis:.2} ms"),
            Value::Megabytes(megabytes) => write!(f, "{megabytes:.2} MB"),
        }
    }
}

/// The ratio that is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    /// The word, and whether this ratio is as wanted.
    fn judge(self, ratio: f64) -> String {
        match self {
            Target::AtMost(most) if ratio <= most => format!("<= {most:.1}x ok"),
            Target::AtMost(most) => format!("<= {most:.1}x over"),
            Target::AtLeast(least) if ratio >= least => format!(">= {least:.1}x ok"),
            Target::AtLeast(least) => format!(">= {least:.1}x under"),
        }
    }
}

/// One thing that was measured against another.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) what: String,
    pub(super) measured: Value,
    pub(super) baseline: Value,
    /// What the baseline is.
    pub(super) against: &'static str,
    pub(super) ratio: f64,
    /// None for what is only told.
    pub(super) target: Option<Target>,
    pub(super) runs: usize,
    pub(super) spread: Option<(f64, f64)>,
}

const HEAD: [&str; 8] = ["what", "measured", "baseline", "against", "ratio", "target", "runs", "spread"];

pub(super) fn render(rows: &[Row]) -> String {
    let lines: Vec<Vec<String>> =
        std::iter::once(HEAD.map(String::from).to_vec()).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn cells(row: &Row) -> Vec<String> {
    let target = row.target.map_or_else(|| "-".into(), |target| target.judge(row.ratio));
    let spread = row.spread.map_or_else(|| "-".into(), |(low, high)| format!("{low:.2} to {high:.2}"));
    vec![
        row.what.clone(),
        row.measured.to_string(),
        row.baseline.to_string(),
        row.against.into(),
        format!("{:.2}x", row.ratio),
        target,
        row.runs.to_string(),
        spread,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ratio: f64, target: Option<Target>) -> Row {
        let (measured, baseline) = (Value::Millis(ratio), Value::Millis(1.0));
        Row { what: "it".into(), measured, baseline, against: "one", ratio, target, runs: 3, spread: None }
    }

    #[test]
    fn a_row_says_whether_the_target_is_met() {
        let (most, least) = (Some(Target::AtMost(2.0)), Some(Target::AtLeast(2.0)));
        let rows = [row(2.0, most), row(2.1, most), row(9.0, None), row(2.0, least), row(1.9, least)];
        let text = render(&rows);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].contains("2.00x  <= 2.0x ok "), "{text}");
        assert!(lines[2].contains("2.10x  <= 2.0x over"), "{text}");
        assert!(!lines[3].contains("ok") && !lines[3].contains("over"), "{text}");
        assert!(lines[4].contains("2.00x  >= 2.0x ok "), "{text}");
        assert!(lines[5].contains("1.90x  >= 2.0x under"), "{text}");
    }
}
