//! Tokens, in the spellings of many CLIs and services.
//!
//! Two things differ behind the names. Anthropic counts cached input apart from `input_tokens`, the others within their
//! input. Reasoning is part of the output, except where OpenCode and Gemini name it apart; the total tells.

use super::json::number;
use super::value::Value;
use crate::transcript::Usage;

#[derive(Default)]
struct Counts {
    input: u64,
    output: u64,
    /// Apart from the input.
    cache_read: u64,
    cache_write: u64,
    /// Within the input.
    cached: u64,
    cached_now: u64,
    /// Apart from the output.
    thoughts: u64,
    /// Apart from the output, if the total has room for it.
    reasoning: u64,
    total: u64,
}

/// What an object says about tokens; `None` if it is none.
pub(super) fn usage(value: &Value<'_>) -> Option<Usage> {
    if !value.is_object() {
        return None;
    }
    let totals = &value["total_token_usage"];
    let value = if totals.is_object() { totals } else { value };
    let mut counts = Counts::default();
    value.pairs().for_each(|(name, value)| counts.take(name, value));
    Some(counts.settle())
}

impl Counts {
    fn take(&mut self, name: &str, value: &Value<'_>) {
        let count = match name {
            "input_tokens" | "inputTokens" | "input" | "prompt_tokens" | "promptTokens" | "prompt"
            | "promptTokenCount" | "tokens_in" => &mut self.input,
            "output_tokens"
            | "outputTokens"
            | "output"
            | "completion_tokens"
            | "completionTokens"
            | "candidates"
            | "candidatesTokenCount"
            | "tokens_out" => &mut self.output,
            "cache_read_input_tokens"
            | "cacheReadInputTokens"
            | "cache_read_tokens"
            | "cacheReadTokens"
            | "cache_read"
            | "cacheRead" => &mut self.cache_read,
            "cache_creation_input_tokens"
            | "cacheCreationInputTokens"
            | "cache_write_tokens"
            | "cacheWriteTokens"
            | "cache_write"
            | "cacheWrite" => &mut self.cache_write,
            "cached_input_tokens"
            | "cachedInputTokens"
            | "cached_tokens"
            | "cachedTokens"
            | "cached"
            | "cachedContentTokenCount" => &mut self.cached,
            "cache_write_input_tokens" | "cacheWriteInputTokens" => &mut self.cached_now,
            "thoughts" | "thoughtsTokenCount" => &mut self.thoughts,
            "reasoning" => &mut self.reasoning,
            "total_tokens" | "totalTokens" | "total" | "totalTokenCount" => &mut self.total,
            "cache" => {
                self.cache_read = self.cache_read.max(number(&value["read"]));
                self.cache_write = self.cache_write.max(number(&value["write"]));
                return;
            }
            "prompt_tokens_details"
            | "input_tokens_details"
            | "promptTokensDetails"
            | "inputTokenDetails" => {
                let cached = number(&value["cached_tokens"]).max(number(&value["cachedTokens"]));
                self.cached = self.cached.max(cached);
                return;
            }
            _ => return,
        };
        // Of two spellings of one thing, the larger is the whole of it.
        *count = (*count).max(number(if value.is_object() { &value["total"] } else { value }));
    }

    fn settle(self) -> Usage {
        let mut usage = Usage {
            input: self.input.saturating_sub(self.cached).saturating_sub(self.cached_now),
            output: self.output.saturating_add(self.thoughts),
            cache_read: self.cache_read.saturating_add(self.cached),
            cache_write: self.cache_write.saturating_add(self.cached_now),
        };
        if self.total == 0 || self.total > usage.total() {
            usage.output = usage.output.saturating_add(self.reasoning);
        }
        let unnamed = self.total.saturating_sub(usage.total());
        let parts_are_named = self.input > 0 || self.output > 0;
        let kind = if parts_are_named { &mut usage.output } else { &mut usage.input };
        *kind = kind.saturating_add(unnamed);
        usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Usage {
        usage(&serde_json::from_str(json).expect("JSON")).expect("an object")
    }

    #[test]
    fn cached_tokens_are_not_counted_twice() {
        let within = read(r#"{"input_tokens":300,"cached_input_tokens":120,"output_tokens":50}"#);
        assert_eq!((within.input, within.cache_read, within.total()), (180, 120, 350));
        let apart = read(r#"{"input_tokens":300,"cache_read_input_tokens":120,"output_tokens":50}"#);
        assert_eq!((apart.input, apart.cache_read, apart.total()), (300, 120, 470));
        assert_eq!(read(r#"{"input_tokens":10,"cached_input_tokens":20}"#).input, 0);
    }

    #[test]
    fn what_is_no_number_counts_nothing() {
        let odd =
            r#"{"input_tokens":-5,"output_tokens":null,"cache_read_input_tokens":"many","total":{"n":1}}"#;
        assert_eq!(read(odd), Usage::default());
        assert_eq!(usage(&Value::Null), None);
    }
}
