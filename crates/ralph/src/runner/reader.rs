//! Decoder and report in one: what an agent prints, chunk by chunk.

use ralph_core::redact::Secrets;
use ralph_core::report::{Builder, IterationReport};
use ralph_core::text;
use ralph_core::transcript::{Decoder, Format, Item};

#[derive(Debug)]
pub(crate) struct Reader {
    decoder: Decoder,
    builder: Builder,
    secrets: Secrets,
}

impl Reader {
    /// For an agent that was given this prompt.
    pub(crate) fn new(format: Format, prompt: &str, secrets: &Secrets) -> Self {
        let builder = Builder::new(prompt).hiding(secrets.clone());
        Self { decoder: Decoder::new(format), builder, secrets: secrets.clone() }
    }

    /// The promise that says done.
    pub(crate) fn expecting(mut self, promise: &str) -> Self {
        self.builder = self.builder.expecting(promise);
        self
    }

    /// `each` sees a tool as it may be shown.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&Item)) {
        let Self { decoder, builder, secrets } = self;
        let shown = |text: &str, most| text::one_line(&secrets.hide(text), most);
        decoder.feed(bytes, |item| {
            match &item {
                Item::Tool { name, target } => each(&Item::Tool {
                    name: shown(name, 100),
                    target: target.as_deref().map(|target| shown(target, 200)),
                }),
                other => each(other),
            }
            builder.add(item);
        });
    }

    /// Tokens and money by now.
    pub(crate) fn spent(&self) -> (u64, Option<u64>) {
        self.builder.spent()
    }

    pub(super) fn finish(mut self) -> (Format, IterationReport) {
        let Self { decoder, builder, .. } = &mut self;
        decoder.finish(|item| builder.add(item));
        (decoder.format(), self.builder.finish())
    }
}
