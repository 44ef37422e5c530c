//! A moment, as core knows it: milliseconds since the Unix epoch, handed in from outside.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::prelude::*;

/// A moment in UTC. Written as RFC 3339 with milliseconds wherever it is stored or shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(i64);

/// 0000-01-01T00:00:00.000Z: RFC 3339 has no years before.
const FIRST: i64 = -62_167_219_200_000;
/// 9999-12-30T22:00:00.000Z: jiff knows no later one in milliseconds.
const LAST: i64 = 253_402_207_200_000;

impl Time {
    /// A moment that cannot be written down becomes the nearest that can: what is read back must be what was decided
    /// about.
    pub const fn from_millis(millis: i64) -> Self {
        match millis {
            ..FIRST => Self(FIRST),
            LAST.. => Self(LAST),
            _ => Self(millis),
        }
    }

    /// Reads RFC 3339, with any offset.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|stamp| Self::from_millis(stamp.as_millisecond()))
    }

    pub const fn millis(self) -> i64 {
        self.0
    }

    #[must_use]
    pub fn plus(self, millis: u64) -> Self {
        Self::from_millis(self.0.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)))
    }

    /// Milliseconds from `earlier` to here; 0 when the clock was set back in between.
    pub fn since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stamp = jiff::Timestamp::from_millisecond(self.0).unwrap_or_default();
        write!(f, "{stamp:.3}")
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a time in RFC 3339"))
    }
}

/// Reads a length of time with its unit: `250ms`, `90s`, `30m`, `2h`, `1d`.
pub fn parse_span(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    let unit = UNITS.iter().find(|(name, _)| *name == &text[digits..])?.1;
    number.checked_mul(unit)
}

/// The same, written: in the largest unit that says it exactly.
pub fn span(millis: u64) -> String {
    let unit = UNITS.iter().find(|(_, unit)| millis > 0 && millis.is_multiple_of(*unit));
    let (name, unit) = unit.unwrap_or(&("ms", 1));
    format!("{}{name}", millis / unit)
}

/// Longest first.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// A length of time for people: `40ms`, `1.4s`, `12s`, `3m 05s`, `2h 14m`.
pub fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis}ms"),
        1..=9 => format!("{seconds}.{}s", millis % 1000 / 100),
        10..=59 => format!("{seconds}s"),
        60..=3599 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A length of time that is counted, as a clock shows it: `0:07`, `2:13`, `1:02:03`.
pub fn counted(millis: u64) -> String {
    let seconds = millis / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_looks_like_a_clock() {
        for (millis, text) in [
            (0, "0:00"),
            (7_999, "0:07"),
            (133_000, "2:13"),
            (3_723_000, "1:02:03"),
            (90_000_000, "25:00:00"),
        ] {
            assert_eq!(counted(millis), text);
        }
    }

    #[test]
    fn lengths_of_time_are_read_and_written_with_their_unit() {
        for (text, millis) in
            [("250ms", 250), ("90s", 90_000), ("30m", 1_800_000), ("2h", 7_200_000), ("1d", 86_400_000)]
        {
            assert_eq!(parse_span(text), Some(millis));
            assert_eq!(span(millis), text);
        }
        for wrong in ["", "90", "m", "-1s", "1w", "99999999999999999999h"] {
            assert_eq!(parse_span(wrong), None, "{wrong}");
        }
        assert_eq!(span(0), "0ms");
    }

    #[test]
    fn a_time_is_written_with_milliseconds_and_read_back() {
        let time = Time::from_millis(1_794_789_159_120);
        assert_eq!(time.to_string(), "2026-11-16T00:32:39.120Z");
        let json = serde_json::to_string(&time).expect("a string");
        assert_eq!(serde_json::from_str::<Time>(&json).expect("the same string"), time);
    }

    #[test]
    fn times_out_of_range_do_not_panic() {
        assert!(!Time::from_millis(i64::MAX).to_string().is_empty());
        assert!(!Time::from_millis(i64::MIN).to_string().is_empty());
        assert_eq!(Time::from_millis(5).since(Time::from_millis(9)), 0);
    }

    #[test]
    fn a_time_out_of_range_is_read_back_as_what_it_was_taken_for() {
        let far = Time::from_millis(0).plus(u64::MAX);
        for time in [Time::from_millis(i64::MAX), Time::from_millis(i64::MIN), far] {
            assert_eq!(Time::parse(&time.to_string()), Some(time));
        }
    }

    #[test]
    fn durations_read_naturally() {
        for (millis, text) in
            [(430, "430ms"), (9_990, "9.9s"), (12_000, "12s"), (185_000, "3m 05s"), (8_040_000, "2h 14m")]
        {
            assert_eq!(duration(millis), text);
        }
    }
}
