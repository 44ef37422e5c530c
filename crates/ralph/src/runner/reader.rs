//! Decoder and report in one: what an agent prints, chunk by chunk.

use ralph_core::report::{Builder, IterationReport};
use ralph_core::transcript::{Decoder, Format, Item};

#[derive(Debug)]
pub(crate) struct Reader {
    decoder: Decoder,
    builder: Builder,
}

impl Reader {
    /// For an agent that was given this prompt.
    pub(crate) fn new(format: Format, prompt: &str) -> Self {
        Self { decoder: Decoder::new(format), builder: Builder::new(prompt) }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&Item)) {
        let Self { decoder, builder } = self;
        decoder.feed(bytes, |item| {
            each(&item);
            builder.add(item);
        });
    }

    /// Tokens and money by now.
    pub(crate) fn spent(&self) -> (u64, Option<u64>) {
        self.builder.spent()
    }

    pub(super) fn finish(mut self) -> (Format, IterationReport) {
        let Self { decoder, builder } = &mut self;
        decoder.finish(|item| builder.add(item));
        (decoder.format(), self.builder.finish())
    }
}
