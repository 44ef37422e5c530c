//! The ledger as a document that reads well in a pull request.

use super::document::Ledger;
use super::{claimed, custody, decided, measured, proof, result, short, subject};
use crate::evidence::Held;
use crate::ledger::{Attempted, Record};
use crate::prelude::*;
use crate::text::{count, one_line};
use crate::time;

/// Everything that was proved or refused, newest last.
pub fn markdown(ledger: &Ledger, attempts: &[Attempted]) -> String {
    let mut text = String::from("# Evidence\n\n");
    text.push_str(match attempts {
        [] => "Nothing is recorded.\n",
        some if some.iter().any(|one| one.record.is_claimed()) => {
            "Measured by ralph, but for what is called claimed below: that rests on an agent's word.\n"
        }
        _ => "Measured by ralph, not claimed by an agent.\n",
    });
    for attempted in attempts {
        text.push_str(&section(attempted));
    }
    text.push_str("\n## Ledger\n\n");
    let head = ledger.head.as_deref().map_or_else(|| "none".into(), code);
    text.push_str(&format!("- head: {head}, {}\n", count(ledger.records as u64, "record")));
    match ledger.faults.as_slice() {
        [] => text.push_str("- chain: whole\n"),
        faults => faults.iter().for_each(|fault| text.push_str(&format!("- **{}**\n", plain(&fault.what)))),
    }
    if attempts.iter().any(|attempted| attempted.commit().is_some()) {
        text.push_str("- to run the checks again: `ralph evidence verify`\n");
    }
    text
}

fn section(attempted: &Attempted) -> String {
    let record = &attempted.record;
    let mut text = format!("\n## {}: {}\n\n", plain(&subject(record)), plain(&result(record)));
    let mut row = |name: &str, value: &str| text.push_str(&format!("- {name}: {value}\n"));
    row("claimed", &plain(&claimed(record)));
    row("measured", &plain(&measured(record)));
    row(decided(record, "proof"), &plain(&proof(record)));
    record.weak.iter().for_each(|weak| row("but", &plain(weak)));
    row("commit", &attempted.commit().map_or_else(|| "none".into(), code));
    if let Some(criteria) = &record.criteria {
        row("criteria", &format!("{} (BLAKE3, when the work began)", code(criteria)));
    }
    row("record", &format!("{} of attempt {}, {}", code(&record.digest), code(&record.attempt), record.at));
    custody(record).iter().for_each(|told| row("custody", &plain(told)));
    text.push_str(&checks(record));
    text.push_str(&conditions(record));
    text
}

fn checks(record: &Record) -> String {
    if record.checks.is_empty() {
        return "\nNo check ran.\n".into();
    }
    let mut text =
        "\n| check | command | result | failing | time | output |\n|---|---|---|---|---|---|\n".to_owned();
    for check in &record.checks {
        let output = check.output_digest.as_deref().map(|digest| code(short(digest)));
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            plain(&check.name),
            code(check.command()),
            plain(&check.end),
            plain(&check.failing.join(", ")),
            time::duration(check.duration_ms),
            output.unwrap_or_default(),
        ));
    }
    text
}

fn conditions(record: &Record) -> String {
    let Some(conditions) = record.conditions.as_ref().filter(|conditions| !conditions.is_empty()) else {
        return String::new();
    };
    let mut text = "\n| condition | | fact |\n|---|---|---|\n".to_owned();
    for condition in conditions {
        let held = match condition.held {
            Held::Held => "held",
            Held::Failed => "**failed**",
            Held::NotApplicable => "not applicable",
        };
        text.push_str(&format!("| {} | {held} | {} |\n", plain(&condition.name), plain(&condition.fact)));
    }
    text
}

/// A line of text that is nothing else in Markdown, within a table too.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in one_line(text, 500).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '@') {
            plain.push('\\');
        }
        plain.push(c);
    }
    plain
}

/// Code within a line; a fence longer than any in it.
fn code(text: &str) -> String {
    let line = one_line(text, 500).replace('|', "\\|");
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{line}{space}{fence}")
}
