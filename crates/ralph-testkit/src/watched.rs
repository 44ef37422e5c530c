//! A value that other threads change and one waits for, with a time limit.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) struct Watched<T> {
    value: Mutex<T>,
    changed: Condvar,
}

impl<T> Watched<T> {
    pub(crate) fn new(value: T) -> Self {
        Watched { value: Mutex::new(value), changed: Condvar::new() }
    }

    pub(crate) fn read<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        look(&self.lock())
    }

    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let outcome = change(&mut self.lock());
        self.changed.notify_all();
        outcome
    }

    /// Looks at the value now and after every change, until `look` has an answer. `None` when the limit passed.
    pub(crate) fn wait<R>(&self, limit: Duration, mut look: impl FnMut(&T) -> Option<R>) -> Option<R> {
        let end = Instant::now() + limit;
        let mut value = self.lock();
        loop {
            if let Some(answer) = look(&value) {
                return Some(answer);
            }
            let left = end.checked_duration_since(Instant::now())?;
            value = self.changed.wait_timeout(value, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A test that panicked elsewhere must not turn the clean-up into a second panic.
    fn lock(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
