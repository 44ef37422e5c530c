//! Waking up at a time of day, though the machine slept meanwhile or somebody set its clock.
//!
//! The time-out of a channel counts by a clock that stands still while the machine sleeps, so a wait of five hours that
//! a night comes into would end a night late. Here the kernel's timer counts by the time of day, and also wakes whoever
//! waits when that leaps: after a sleep, or when the clock was set.

use std::time::Duration;

/// Wakes the loop. On systems without such timers there is none.
#[derive(Debug)]
pub struct Alarm(system::Timer);

impl Alarm {
    /// `ring` is called from a thread of its own: at the time that was set, and when the clock leaps. It says whether
    /// anybody still listens.
    pub fn new(ring: impl Fn() -> bool + Send + 'static) -> Option<Alarm> {
        system::Timer::new(ring).map(Alarm)
    }

    /// To ring once, so much later by the time of day; an earlier wish is forgotten. False if it cannot.
    #[must_use]
    pub fn set(&self, later: Duration) -> bool {
        self.0.set(later)
    }
}

/// Finds out how long the machine slept.
#[derive(Debug)]
pub struct Naps {
    /// All its sleep so far.
    slept: Duration,
}

/// Less is the difference between two looks at two clocks.
const SHORTEST: Duration = Duration::from_secs(1);

impl Naps {
    pub fn from_now() -> Naps {
        Naps { slept: system::slept() }
    }

    /// How long it slept since this was asked last, if it did; in milliseconds.
    pub fn since_last(&mut self) -> Option<u64> {
        self.next(system::slept())
    }

    fn next(&mut self, slept: Duration) -> Option<u64> {
        let more = slept.checked_sub(self.slept).filter(|more| *more >= SHORTEST)?;
        self.slept = slept;
        u64::try_from(more.as_millis()).ok()
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::os::fd::OwnedFd;
    use std::sync::Arc;
    use std::time::Duration;

    use rustix::io::{Errno, read};
    use rustix::time::{
        ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
        timerfd_create, timerfd_settime,
    };

    #[derive(Debug)]
    pub(super) struct Timer(Arc<OwnedFd>);

    impl Timer {
        pub(super) fn new(ring: impl Fn() -> bool + Send + 'static) -> Option<Timer> {
            let timer = Arc::new(timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::CLOEXEC).ok()?);
            let waited_for = Arc::clone(&timer);
            let wait = move || {
                let mut count = [0; 8];
                loop {
                    match read(&waited_for, &mut count) {
                        // The latter means that the clock was changed.
                        Ok(_) | Err(Errno::CANCELED) if ring() => {}
                        Err(Errno::INTR) => {}
                        _ => return,
                    }
                }
            };
            std::thread::Builder::new().name("alarm".into()).spawn(wait).ok()?;
            Some(Timer(timer))
        }

        pub(super) fn set(&self, later: Duration) -> bool {
            let now = clock_gettime(ClockId::Realtime);
            let then = Timespec::try_from(later).ok().and_then(|later| now.checked_add(later));
            let Some(then) = then else { return false };
            let once = Itimerspec { it_interval: Timespec::default(), it_value: then };
            let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
            timerfd_settime(&self.0, flags, &once).is_ok()
        }
    }

    /// One of these clocks stands still while the machine sleeps.
    pub(super) fn slept() -> Duration {
        let by = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
        let awake = by(ClockId::Monotonic);
        by(ClockId::Boottime).saturating_sub(awake)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::Duration;

    #[derive(Debug)]
    pub(super) struct Timer;

    impl Timer {
        pub(super) fn new(_: impl Fn() -> bool + Send + 'static) -> Option<Timer> {
            None
        }

        pub(super) fn set(&self, _: Duration) -> bool {
            false
        }
    }

    /// Nobody tells.
    pub(super) fn slept() -> Duration {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Instant;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn it_rings_once_at_the_last_time_that_was_set_and_not_before() {
        let (bell, heard) = mpsc::channel();
        let alarm = Alarm::new(move || bell.send(()).is_ok()).expect("this system has timers");
        let begun = Instant::now();
        assert!(alarm.set(Duration::from_secs(3600)));
        assert!(alarm.set(Duration::from_millis(30)));
        heard.recv().expect("it rings");
        assert!(begun.elapsed() >= Duration::from_millis(29));
        assert!(heard.try_recv().is_err(), "once");
        assert!(alarm.set(Duration::ZERO), "now is a time too");
        heard.recv().expect("it rings");
    }

    #[test]
    fn only_what_was_slept_since_is_told_and_every_second_of_it() {
        let mut naps = Naps { slept: Duration::from_secs(100) };
        let mut at = |millis| naps.next(Duration::from_millis(millis));
        assert_eq!(at(100_000), None);
        assert_eq!(at(100_900), None, "too short to tell");
        assert_eq!(at(101_800), Some(1_800), "but not forgotten");
        assert_eq!(at(101_800), None);
        assert_eq!(at(90_000), None);
        assert_eq!(at(8 * 3_600_000), Some(8 * 3_600_000 - 101_800));
    }
}
