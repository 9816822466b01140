//! The time source.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// A time source that tests can replace.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The system's clock.
    pub fn system() -> Clock {
        Clock(Arc::new(Timestamp::now))
    }

    /// A clock that returns what `now` returns.
    pub fn from_fn(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }

    /// Returns the current time as RFC 3339 in UTC, to the millisecond.
    pub fn stamp(&self) -> String {
        stamp(self.now())
    }
}

/// Formats a timestamp as RFC 3339 in UTC, to the millisecond.
pub fn stamp(at: Timestamp) -> String {
    // Always three digits: stamps are compared as text.
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
