//! `ralph doctor`: each thing that runs need, how it stands, and what to do.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::doctor::{self, Outcome};
use crate::error::{Error, Exit, Result};
use crate::ui::Ui;

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Run the checks too, as far as you agreed to them
    #[arg(long)]
    run_checks: bool,
    /// As JSON (schema ralph.doctor/1)
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &DoctorArgs, ui: &mut Ui) -> Result<ExitCode> {
    let cwd = std::env::current_dir()
        .map_err(|error| Error::new("the current folder cannot be found").because(error))?;
    let findings = doctor::examine(&cwd, args.run_checks);
    let failed = findings.iter().any(|finding| finding.outcome == Outcome::Failed);
    if args.json {
        let list: Vec<_> = findings
            .iter()
            .map(|finding| {
                json!({
                    "about": finding.about, "outcome": finding.outcome.word(), "text": finding.text,
                    "remedy": finding.remedy,
                })
            })
            .collect();
        ui.json(&json!({"schema": "ralph.doctor/1", "ok": !failed, "findings": list}));
    } else {
        for finding in &findings {
            let word = if finding.outcome == Outcome::Held { "ok" } else { finding.outcome.word() };
            ui.data_row(23, &format!("{word:<7} {:<14} {}", finding.about, finding.text));
            if let Some(remedy) = &finding.remedy {
                ui.data_row(28, &format!("{:<22} try: {remedy}", ""));
            }
        }
    }
    Ok(if failed { ExitCode::from(Exit::Error as u8) } else { ExitCode::SUCCESS })
}
