//! What tokens cost, for agents that do not report money.

use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::transcript::Usage;

/// Micro-dollars for a million tokens of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prices {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// ralph's own upper bound: it only charges an agent that ended before it reported its cost.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub assumed: bool,
}

impl Prices {
    /// Reads dollars for a million tokens, `INPUT/OUTPUT[/CACHE_READ[/CACHE_WRITE]]`: `1.25/10/0.125`. Cached tokens cost
    /// as much as others where nothing else is said.
    pub fn parse(text: &str) -> Option<Self> {
        let prices: Vec<u64> = text.split('/').map(|part| micro_usd(part.trim())).collect::<Option<_>>()?;
        let (input, output) = (*prices.first()?, *prices.get(1)?);
        let cached = |nth: usize| prices.get(nth).copied().unwrap_or(input);
        (prices.len() <= 4).then(|| Self {
            input,
            output,
            cache_read: cached(2),
            cache_write: cached(3),
            assumed: false,
        })
    }

    /// Micro-dollars, rounded up.
    pub fn cost(&self, usage: Usage) -> u64 {
        let each = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
        ];
        let sum: u128 = each.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// `1.25` dollars, with at most six digits behind the point.
pub fn micro_usd(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 6 || !is_number(whole) || !is_number(part) {
        return None;
    }
    format!("{whole}{part:0<6}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_dollars_for_a_million_tokens_and_cached_ones_cost_as_much_unless_told() {
        let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 2_000_000, cache_write: 1 };
        let cost = |prices: &str| Prices::parse(prices).map(|prices| prices.cost(usage));
        assert_eq!(cost("1.25/10/0.125/0"), Some(1_250_000 + 1_000_000 + 250_000));
        assert_eq!(cost("1/10"), Some(1_000_000 + 1_000_000 + 2_000_000 + 1));
        for wrong in ["", "1", "1/", "1/2/3/4/5", "1/-2", "1e3/2", "$1/$2", "1/0.1234567", "one/two"] {
            assert_eq!(cost(wrong), None, "{wrong}");
        }
        let dearest = Usage { input: u64::MAX, output: u64::MAX, ..usage };
        assert_eq!(Prices::parse("9999999/9999999").map(|prices| prices.cost(dearest)), Some(u64::MAX));
    }
}
