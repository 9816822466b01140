//! The time source.

use std::fmt;
use std::sync::Arc;

use crate::time::Timestamp;

/// A time source that tests can replace.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> jiff::Timestamp + Send + Sync>);

impl Clock {
    /// The system's clock.
    pub fn system() -> Clock {
        Clock(Arc::new(jiff::Timestamp::now))
    }

    /// A clock that returns what `now` returns.
    pub fn from_fn(now: impl Fn() -> jiff::Timestamp + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    /// Returns the current time.
    pub fn now(&self) -> jiff::Timestamp {
        (self.0)()
    }

    /// Returns the current time as it is stored, to the millisecond.
    pub fn stamp(&self) -> Timestamp {
        self.now().into()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
