//! What the program reads out of one recording.

use ralph_core::report::{Builder, IterationReport};
use ralph_core::transcript::{Decoder, Format, Item};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) format: Format,
    pub(crate) report: IterationReport,
    /// Each tool it used, with what it was about.
    pub(crate) tools: Vec<String>,
    /// What each tool that failed said.
    pub(crate) tool_failures: Vec<String>,
}

impl Reading {
    pub(crate) fn of(bytes: &[u8], chunk: usize) -> Self {
        let mut decoder = Decoder::new(Format::Auto);
        let mut builder = Builder::default();
        let (mut tools, mut tool_failures) = (Vec::new(), Vec::new());
        let mut add = |item: Item| {
            match &item {
                Item::Tool { name, target: Some(target) } => tools.push(format!("{name} {target}")),
                Item::Tool { name, target: None } => tools.push(name.clone()),
                Item::ToolFailed(why) => tool_failures.push(why.clone()),
                _ => {}
            }
            builder.add(item);
        };
        for chunk in bytes.chunks(chunk) {
            decoder.feed(chunk, &mut add);
        }
        decoder.finish(&mut add);
        Self { format: decoder.format(), report: builder.finish(), tools, tool_failures }
    }
}
