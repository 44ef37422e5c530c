//! The only clock.

use ralph_core::time::Time;

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn now() -> Time {
    Time::from_millis(jiff::Timestamp::now().as_millisecond())
}
