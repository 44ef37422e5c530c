//! The only clock, and the zone it hangs in.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};
use ralph_core::limit::Reset;
use ralph_core::time::Time;

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn now() -> Time {
    Time::from_millis(Timestamp::now().as_millisecond())
}

/// When a provider's limit ends, by the clock and the zone of this machine.
pub fn reset_at(reset: &Reset, now: Time) -> Option<Time> {
    in_zone(reset, now, &TimeZone::system())
}

fn in_zone(reset: &Reset, now: Time, local: &TimeZone) -> Option<Time> {
    match reset {
        Reset::At { time } => Some(*time),
        Reset::After { ms } => Some(now.plus(*ms)),
        Reset::Clock { hour, minute, zone } => {
            let zone = match zone {
                Some(name) => TimeZone::get(name).ok()?,
                None => local.clone(),
            };
            let now = Timestamp::from_millisecond(now.millis()).ok()?.to_zoned(zone);
            let today = on_day(&now, *hour, *minute)?;
            let next =
                if today > now { today } else { on_day(&now.checked_add(1.day()).ok()?, *hour, *minute)? };
            Some(Time::from_millis(next.timestamp().as_millisecond()))
        }
    }
}

fn on_day(day: &Zoned, hour: u8, minute: u8) -> Option<Zoned> {
    let (hour, minute) = (i8::try_from(hour).ok()?, i8::try_from(minute).ok()?);
    let time = jiff::civil::Time::new(hour, minute, 0, 0).ok()?;
    day.date().to_datetime(time).to_zoned(day.time_zone().clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        Time::parse(text).expect("a time")
    }

    #[test]
    fn a_clock_time_is_the_next_one_in_its_zone() {
        let now = time("2026-11-16T20:30:00Z");
        let at = |hour, minute, zone: Option<&str>| {
            let reset = Reset::Clock { hour, minute, zone: zone.map(Into::into) };
            in_zone(&reset, now, &TimeZone::UTC)
        };
        assert_eq!(at(21, 0, None), Some(time("2026-11-16T21:00:00Z")));
        assert_eq!(at(20, 30, None), Some(time("2026-11-17T20:30:00Z")), "this minute is over");
        assert_eq!(at(3, 0, None), Some(time("2026-11-17T03:00:00Z")));
        assert_eq!(at(3, 0, Some("UTC")), Some(time("2026-11-17T03:00:00Z")));
        assert_eq!(at(3, 0, Some("Middle/Earth")), None);
        assert_eq!(at(25, 0, None), None);
    }

    #[test]
    fn a_wait_counts_from_now_and_a_moment_is_itself() {
        let now = time("2026-11-16T20:30:00Z");
        let after = Reset::After { ms: 60_000 };
        assert_eq!(in_zone(&after, now, &TimeZone::UTC), Some(time("2026-11-16T20:31:00Z")));
        let there = time("2027-01-01T00:00:00Z");
        assert_eq!(in_zone(&Reset::At { time: there }, now, &TimeZone::UTC), Some(there));
    }
}
