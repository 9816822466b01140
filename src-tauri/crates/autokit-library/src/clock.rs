//! Where the time comes from.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// Where the time comes from, so that tests decide it.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The system's clock.
    pub fn system() -> Clock {
        Clock(Arc::new(Timestamp::now))
    }

    /// A clock that always says what `now` says.
    pub fn from_fn(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    /// The present moment.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }

    /// The present moment as RFC 3339 in UTC, to the millisecond.
    pub fn stamp(&self) -> String {
        stamp(self.now())
    }
}

/// A moment as RFC 3339 in UTC, to the millisecond.
pub fn stamp(at: Timestamp) -> String {
    // Always three digits: stamps are compared as text.
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
