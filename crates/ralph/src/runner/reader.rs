//! Decoder and report in one: what an agent prints, chunk by chunk.

use ralph_core::redact::Secrets;
use ralph_core::report::{Builder, IterationReport};
use ralph_core::text;
use ralph_core::transcript::{Decoder, Format, Item, Usage};

/// So much of a text is looked at for a line on the screen, which shows far less.
const MOST: usize = 16 << 10;

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

    /// `each` sees tools and words as they may be shown.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&Item)) {
        let Self { decoder, builder, secrets } = self;
        let shown = |text: &str, most| text::one_line(&secrets.hide(&text::head(text, MOST)), most);
        // Hidden before anybody cuts a line out of them: half a secret is not known for one.
        let words = |text: &str| secrets.hide(text::tail(text, MOST)).into_owned();
        decoder.feed(bytes, |item| {
            match &item {
                Item::Tool { name, target } => each(&Item::Tool {
                    name: shown(name, 100),
                    target: target.as_deref().map(|target| shown(target, 200)),
                }),
                Item::Words(text) => each(&Item::Words(words(text))),
                Item::MoreWords(text) => each(&Item::MoreWords(words(text))),
                other => each(other),
            }
            builder.add(item);
        });
    }

    /// Tokens and money by now.
    pub(crate) fn spent(&self) -> (Usage, Option<u64>) {
        self.builder.spent()
    }

    /// Whether the agent has said that it is at its end.
    pub(super) fn is_finished(&self) -> bool {
        self.builder.is_finished()
    }

    pub(super) fn finish(mut self) -> (Format, IterationReport) {
        let Self { decoder, builder, .. } = &mut self;
        decoder.finish(|item| builder.add(item));
        (decoder.format(), self.builder.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shown_without_their_secrets_and_not_cut_before() {
        let secrets = Secrets::new([], [("STRIPE".to_owned(), "zyx987wvu654tsr".to_owned())]);
        let stream = concat!(
            r#"{"type":"system","subtype":"init","session_id":"s"}"#,
            "\n",
            r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"With zyx987wvu654tsr"}]}}"#,
            "\n"
        );
        for (format, bytes) in [(Format::Text, "With zyx987wvu654tsr\n"), (Format::Auto, stream)] {
            let mut shown = Vec::new();
            let mut reader = Reader::new(format, "", &secrets);
            reader.feed(bytes.as_bytes(), |item| match item {
                Item::Words(text) | Item::MoreWords(text) => shown.push(text.trim().to_owned()),
                _ => {}
            });
            assert_eq!(shown, ["With [redacted:STRIPE]"], "{format:?}");
        }
    }
}
