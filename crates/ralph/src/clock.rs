//! The only clock, the zone it hangs in, and its alarm.

mod alarm;

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use jiff::civil::{self, Date};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};
use ralph_core::limit::Reset;
use ralph_core::time::Time;

pub use alarm::{Alarm, Naps};

/// The time. It never runs backwards in this process: a clock that is set back delays no deadline. A leap forward,
/// as after a suspend, counts.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn now() -> Time {
    static STEADY: Mutex<Option<Steady>> = Mutex::new(None);
    let (wall, at) = (Time::from_millis(Timestamp::now().as_millisecond()), Instant::now());
    let mut steady = STEADY.lock().unwrap_or_else(PoisonError::into_inner);
    steady.get_or_insert(Steady { time: wall, at }).now(wall, at)
}

/// A time that the clock said, and when that was by a clock that nobody can set.
#[derive(Debug)]
struct Steady {
    time: Time,
    at: Instant,
}

impl Steady {
    /// What the wall clock says, but no less than what has passed.
    fn now(&mut self, wall: Time, at: Instant) -> Time {
        let passed = at.saturating_duration_since(self.at).as_millis();
        let least = self.time.plus(u64::try_from(passed).unwrap_or(u64::MAX));
        if wall > least {
            *self = Self { time: wall, at };
        }
        wall.max(least)
    }
}

/// A moment on the clock at the wall: with its day, unless that is today, and its year, unless it is this one.
pub fn local(time: Time, now: Time) -> String {
    on_wall(time, now, &zone())
}

/// A moment with its day and zone, for what is read later or elsewhere: `2026-11-18 03:12:05 +01:00`.
pub fn with_zone(time: Time) -> String {
    stamped(time, &zone())
}

fn stamped(time: Time, zone: &TimeZone) -> String {
    let zoned = Timestamp::from_millisecond(time.millis()).ok().map(|time| time.to_zoned(zone.clone()));
    zoned.map_or_else(|| time.to_string(), |time| time.strftime("%Y-%m-%d %H:%M:%S %:z").to_string())
}

/// A text with every moment in it that ralph wrote down (RFC 3339 with milliseconds, in UTC) as people read it.
pub fn for_people(text: &str) -> String {
    readable(text, now(), &zone())
}

/// The zone of this machine. Its file says all that is asked here; to find it by its name, every folder of zones is read.
fn zone() -> TimeZone {
    let named = std::env::var_os("TZ").is_some();
    let file = if named { None } else { zone_in("/etc/localtime") };
    file.unwrap_or_else(TimeZone::system)
}

fn zone_in(file: &str) -> Option<TimeZone> {
    TimeZone::tzif("local", &std::fs::read(file).ok()?).ok()
}

fn readable(text: &str, now: Time, zone: &TimeZone) -> String {
    /// `2026-11-17T03:00:02.000Z`
    const LONG: usize = 24;
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let moment = word.get(..LONG).filter(|moment| moment.ends_with('Z')).and_then(Time::parse);
        words.push(match moment {
            Some(moment) => format!("{}{}", on_wall(moment, now, zone), &word[LONG..]),
            None => word.to_owned(),
        });
    }
    words.join(" ")
}

fn on_wall(time: Time, now: Time, zone: &TimeZone) -> String {
    let zoned = |time: Time| Some(Timestamp::from_millisecond(time.millis()).ok()?.to_zoned(zone.clone()));
    match (zoned(time), zoned(now)) {
        (Some(time), Some(now)) if time.date() == now.date() => time.strftime("%H:%M:%S").to_string(),
        (Some(time), Some(now)) if time.year() == now.year() => time.strftime("%a %d %b %H:%M").to_string(),
        (Some(time), _) => time.strftime("%a %d %b %Y %H:%M").to_string(),
        _ => time.to_string(),
    }
}

/// A moment as people write it: `07:00`, which is the next one, today or tomorrow; `2026-11-19T07:00`, by the clock at the wall
/// unless it names an offset.
pub fn coming(text: &str, now: Time) -> Option<Time> {
    coming_in(text.trim(), now, &zone())
}

fn coming_in(text: &str, now: Time, zone: &TimeZone) -> Option<Time> {
    let moment = |moment: Zoned| Time::from_millis(moment.timestamp().as_millisecond());
    if let Ok(time) = civil::Time::strptime("%H:%M", text) {
        let today = Timestamp::from_millisecond(now.millis()).ok()?.to_zoned(zone.clone());
        let days = [today.date(), today.date().tomorrow().ok()?];
        let on = |day: Date| day.to_datetime(time).to_zoned(zone.clone()).ok().map(moment);
        return days.into_iter().filter_map(on).find(|moment| *moment > now);
    }
    // A date alone is midnight, which is not what anybody means.
    if !text.contains(':') {
        return None;
    }
    let civil = || text.parse::<civil::DateTime>().ok()?.to_zoned(zone.clone()).ok().map(moment);
    Time::parse(text).or_else(civil)
}

const MINUTE_MS: u64 = 60_000;
/// A clock without seconds names the whole minute, and some time passes until the agent that was told it has ended: within
/// so long, it is the minute that is over and not the one of the next day.
const JUST_SAID_MS: u64 = 5 * MINUTE_MS;

/// When a provider's limit ends, by the clock and the zone of this machine.
pub fn reset_at(reset: &Reset, now: Time) -> Option<Time> {
    in_zone(reset, now, &zone())
}

fn in_zone(reset: &Reset, now: Time, local: &TimeZone) -> Option<Time> {
    match reset {
        Reset::At { time } => Some(*time),
        Reset::After { ms } => Some(now.plus(*ms)),
        Reset::Clock { hour, minute, zone } => {
            let zone = zone_of(zone.as_deref(), local)?;
            let day = Timestamp::from_millisecond(now.millis()).ok()?.to_zoned(zone);
            let on = |day: Zoned| -> Option<Time> {
                let moment = clock_at(day.date(), *hour, *minute, day.time_zone().clone())?;
                Some(Time::from_millis(moment.timestamp().as_millisecond()))
            };
            let days = [day.checked_sub(1.day()).ok()?, day.clone(), day.checked_add(1.day()).ok()?];
            let begins = days.into_iter().filter_map(on).find(|begins| begins.plus(JUST_SAID_MS) > now)?;
            Some(if begins > now { begins } else { begins.plus(MINUTE_MS) })
        }
        Reset::Day { year, month, day, hour, minute, zone } => {
            let number = |n: u8| i8::try_from(n).ok();
            let date = Date::new(*year, number(*month)?, number(*day)?).ok()?;
            let zone = zone_of(zone.as_deref(), local)?;
            let moment = clock_at(date, *hour, *minute, zone)?;
            Some(Time::from_millis(moment.timestamp().as_millisecond()))
        }
    }
}

fn zone_of(name: Option<&str>, local: &TimeZone) -> Option<TimeZone> {
    name.map_or_else(|| Some(local.clone()), |name| TimeZone::get(name).ok())
}

fn clock_at(date: Date, hour: u8, minute: u8, zone: TimeZone) -> Option<Zoned> {
    let (hour, minute) = (i8::try_from(hour).ok()?, i8::try_from(minute).ok()?);
    date.to_datetime(civil::Time::new(hour, minute, 0, 0).ok()?).to_zoned(zone).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn time(text: &str) -> Time {
        Time::parse(text).expect("a time")
    }

    #[test]
    fn an_hour_is_the_next_one_and_a_date_with_it_is_by_the_clock_at_the_wall_unless_it_says_otherwise() {
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let coming =
            |text: &str| coming_in(text, time("2026-11-18T20:30:00Z"), &zone).map(|at| at.to_string());
        let at = |text: &str| Some(time(text).to_string());
        assert_eq!(coming("21:31"), at("2026-11-18T20:31:00Z"));
        assert_eq!(coming("21:30"), at("2026-11-19T20:30:00Z"), "just now is over");
        assert_eq!(coming("07:00"), at("2026-11-19T06:00:00Z"));
        assert_eq!(coming("7:00"), at("2026-11-19T06:00:00Z"));
        assert_eq!(coming("2026-11-19T07:00"), at("2026-11-19T06:00:00Z"));
        assert_eq!(coming("2026-11-19 07:00"), at("2026-11-19T06:00:00Z"));
        assert_eq!(coming("2026-11-19T07:00+03:00"), at("2026-11-19T04:00:00Z"));
        assert_eq!(coming("2026-11-19T07:00Z"), at("2026-11-19T07:00:00Z"));
        assert_eq!(coming("2001-01-01T07:00"), at("2001-01-01T06:00:00Z"), "who asks sees that it is past");
        for wrong in ["", "7", "24:00", "07:60", "2026-11-19", "2026-02-30T07:00", "tomorrow", "07:00 pm"] {
            assert_eq!(coming(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn moments_in_a_text_become_those_of_the_clock_at_the_wall() {
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let read = |text: &str| readable(text, time("2026-11-16T20:30:00Z"), &zone);
        assert_eq!(
            read("one is out until 2026-11-17T02:00:02.000Z: used up; from 2026-11-16T20:40:00.000Z on"),
            "one is out until Tue 17 Nov 03:00: used up; from 21:40:00 on"
        );
        assert_eq!(read("until 2040-01-01T00:00:00.000Z"), "until Sun 01 Jan 2040 01:00");
        for text in
            ["", "no moment", "2026-11-17", "9999-99-99T99:99:99.999Z", "日本語の長い文章です、ここには何も"]
        {
            assert_eq!(read(text), text);
        }
    }

    #[test]
    fn a_zone_is_read_from_its_file_and_knows_summer_and_winter() {
        const BERLIN: &str = "/usr/share/zoneinfo/Europe/Berlin";
        if !std::path::Path::new(BERLIN).exists() {
            assert!(zone_in(BERLIN).is_none(), "no zones are installed here, or elsewhere");
            return;
        }
        let zone = zone_in(BERLIN).expect("a zone");
        let shown = |text| on_wall(time(text), time(text), &zone);
        assert_eq!(shown("2026-01-17T12:00:00Z"), "13:00:00");
        assert_eq!(shown("2026-07-17T12:00:00Z"), "14:00:00");
        assert_eq!(shown("2060-07-17T12:00:00Z"), "14:00:00", "after the last change that is written down");
    }

    #[test]
    fn a_clock_that_is_set_back_goes_on_and_a_leap_forward_counts() {
        let (start, begun) = (time("2026-11-16T20:30:00Z"), Instant::now());
        let mut steady = Steady { time: start, at: begun };
        let mut now = |wall: &str, ms| steady.now(time(wall), begun + Duration::from_millis(ms));
        assert_eq!(now("2026-11-16T20:30:01Z", 1_000), time("2026-11-16T20:30:01Z"));
        assert_eq!(now("2026-11-16T08:00:00Z", 61_000), time("2026-11-16T20:31:01Z"), "set back");
        assert_eq!(now("2026-11-16T08:01:00Z", 121_000), time("2026-11-16T20:32:01Z"), "and going on");
        assert_eq!(now("2026-11-16T23:00:00Z", 122_000), time("2026-11-16T23:00:00Z"), "a suspend");
        assert_eq!(now("2026-11-16T20:33:00Z", 123_000), time("2026-11-16T23:00:01Z"));
        assert_eq!(
            now("2026-11-16T20:33:00Z", 122_000),
            time("2026-11-16T23:00:00Z"),
            "asked at once by two"
        );
    }

    #[test]
    fn however_often_it_is_asked_no_time_is_lost() {
        let (start, begun) = (time("2026-11-16T20:30:00Z"), Instant::now());
        let mut steady = Steady { time: start, at: begun };
        for micros in (0..10_000).step_by(300) {
            let now = steady.now(time("2026-11-16T08:00:00Z"), begun + Duration::from_micros(micros));
            assert_eq!(now, start.plus(micros / 1_000));
        }
    }

    #[test]
    fn a_moment_is_shown_as_on_the_clock_at_the_wall() {
        let now = time("2026-11-16T20:30:00Z");
        let shown = |text, zone: &TimeZone| on_wall(time(text), now, zone);
        assert_eq!(shown("2026-11-16T21:05:09Z", &TimeZone::UTC), "21:05:09");
        assert_eq!(shown("2026-11-17T03:00:00Z", &TimeZone::UTC), "Tue 17 Nov 03:00");
        let east = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(shown("2026-11-16T21:05:09Z", &east), "23:05:09");
    }

    #[test]
    fn a_moment_that_is_read_later_has_its_day_and_its_zone() {
        let stamp = |text, zone: &TimeZone| stamped(time(text), zone);
        assert_eq!(stamp("2026-11-16T23:05:09.7Z", &TimeZone::UTC), "2026-11-16 23:05:09 +00:00");
        let east = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(stamp("2026-11-16T23:05:09Z", &east), "2026-11-17 01:05:09 +02:00");
    }

    #[test]
    fn a_clock_time_is_the_next_one_in_its_zone() {
        let now = time("2026-11-16T20:30:00Z");
        let at = |hour, minute, zone: Option<&str>| {
            let reset = Reset::Clock { hour, minute, zone: zone.map(Into::into) };
            in_zone(&reset, now, &TimeZone::UTC)
        };
        assert_eq!(at(21, 0, None), Some(time("2026-11-16T21:00:00Z")));
        assert_eq!(at(20, 25, None), Some(time("2026-11-17T20:25:00Z")));
        assert_eq!(at(3, 0, None), Some(time("2026-11-17T03:00:00Z")));
        assert_eq!(at(3, 0, Some("UTC")), Some(time("2026-11-17T03:00:00Z")));
        assert_eq!(at(3, 0, Some("Middle/Earth")), None);
        assert_eq!(at(25, 0, None), None);
    }

    #[test]
    fn a_minute_that_began_or_is_just_over_is_not_that_of_tomorrow() {
        let reset = |hour, minute| Reset::Clock { hour, minute, zone: None };
        let at = |hour, minute, now| in_zone(&reset(hour, minute), time(now), &TimeZone::UTC);
        let over = Some(time("2026-11-16T20:31:00Z"));
        assert_eq!(at(20, 30, "2026-11-16T20:30:00Z"), over);
        assert_eq!(at(20, 30, "2026-11-16T20:30:59Z"), over);
        assert_eq!(at(20, 30, "2026-11-16T20:34:59Z"), over, "told before the agent ended");
        assert_eq!(at(20, 30, "2026-11-16T20:35:00Z"), Some(time("2026-11-17T20:30:00Z")));
        assert_eq!(at(23, 59, "2026-11-17T00:00:30Z"), Some(time("2026-11-17T00:00:00Z")), "at midnight");
    }

    #[test]
    fn a_day_is_that_day() {
        let reset = |day| Reset::Day { year: 2030, month: 1, day, hour: 0, minute: 0, zone: None };
        let now = time("2026-11-16T20:30:00Z");
        assert_eq!(in_zone(&reset(1), now, &TimeZone::UTC), Some(time("2030-01-01T00:00:00Z")));
        assert_eq!(in_zone(&reset(32), now, &TimeZone::UTC), None);
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
