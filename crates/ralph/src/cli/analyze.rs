//! `ralph analyze`: what an agent's output says, without a run. It judges words only and exits 0 whatever they say.

use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use ralph_core::analysis::{self, Question};
use ralph_core::report::{Builder, IterationReport};
use ralph_core::transcript::{Decoder, Format};
use serde_json::Value;

use super::args::AnalyzeArgs;
use crate::error::{self, Result};
use crate::ui::Ui;
use crate::{clock, settings, store};

pub(super) fn main(args: &AnalyzeArgs, ui: &Ui) -> Result<ExitCode> {
    let policy = settings::profile(&args.profile)?.policy();
    let asked = args.format.map_or(Format::Auto, Into::into);
    if args.file == Path::new("-") {
        ui.reads_standard_input();
    }
    let (format, report) = read(&args.file, asked)?;
    let previous = args
        .previous
        .iter()
        .map(|file| Ok(read(file, asked)?.1))
        .collect::<Result<Vec<IterationReport>>>()?;
    let iteration = args.iteration.unwrap_or(previous.len() as u64 + 1);
    let question = Question { policy: &policy, format, iteration, at: clock::now() };
    let analysis = analysis::analyse(&report, &previous, question);
    if args.explain {
        for line in explain(&analysis) {
            ui.data_line(&line);
        }
    } else {
        ui.json(&analysis);
    }
    super::fine()
}

/// Reads a file, or standard input for `-`, in pieces: it may be larger than memory. What is packed is unpacked.
fn read(file: &Path, format: Format) -> Result<(Format, IterationReport)> {
    let source = match file == Path::new("-") {
        true => store::unpacked(io::stdin().lock()),
        false => store::open_kept(file),
    };
    let mut source = source.map_err(error::named("cannot read", file))?;
    let mut decoder = Decoder::new(format);
    let mut builder = Builder::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => decoder.feed(&buffer[..read], |item| builder.add(item)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error::named("cannot read", file)(error)),
        }
    }
    decoder.finish(|item| builder.add(item));
    let format = if decoder.format() == Format::Auto { Format::Text } else { decoder.format() };
    Ok((format, builder.finish()))
}

/// The same for people, quoting what counted.
fn explain(analysis: &Value) -> Vec<String> {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    let mut lines = vec![format!(
        "{} (profile {}, read as {})",
        word(&analysis["exit_decision"]),
        word(&analysis["profile"]),
        word(&analysis["format"])
    )];
    let list = |key: &str| analysis[key].as_array().cloned().unwrap_or_default();
    for reason in list("reasons") {
        // That there is no saturation speaks neither for being done nor against it.
        let mark = match reason["held"] == true {
            true => "✓",
            false if reason["condition"] == "test_saturation" => "-",
            false => "✗",
        };
        lines.push(format!("  {mark} {}: {}", word(&reason["condition"]), word(&reason["words"])));
    }
    let block = &analysis["ralph_status"];
    let fields =
        [("STATUS", "status"), ("TESTS_STATUS", "tests_status"), ("RECOMMENDATION", "recommendation")];
    for (name, key) in fields.into_iter().filter(|(_, key)| !block[key].is_null()) {
        lines.push(format!("  {name}: {}", word(&block[key])));
    }
    for saying in list("dialects") {
        lines.push(format!("  heard {}: {}", word(&saying["dialect"]), word(&saying["quote"])));
    }
    for (name, key) in [("error", "errors"), ("problem", "problems")] {
        lines.extend(list(key).iter().map(|value| format!("  {name}: {}", word(value))));
    }
    for limit in list("limits") {
        lines.push(format!("  limit: {} ({})", word(&limit["kind"]), word(&limit["text"])));
    }
    if analysis["stuck_loop_detected"] == true {
        lines.push("  the last three outputs have the same errors".into());
    }
    if analysis["circuit_breaker_state"] != "CLOSED" {
        lines.push(format!("  circuit breaker: {}", word(&analysis["circuit_breaker_state"])));
    }
    lines
}
