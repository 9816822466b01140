//! How healthy the library is.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How many cards were in which state at the end of a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HealthPoint {
    /// `YYYY-MM-DD`, in UTC.
    pub day: String,
    /// Their page says what they say.
    pub verified: u32,
    /// Their page says something else.
    pub stale: u32,
    /// Their link leads nowhere.
    pub broken: u32,
    /// Their page could not be asked for.
    pub unreachable: u32,
    /// Nobody looked yet.
    pub never_checked: u32,
}

/// How many cards are in which state, now and over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LibraryHealth {
    /// All cards.
    pub total: u32,
    /// Their page says what they say.
    pub verified: u32,
    /// Their page says something else.
    pub stale: u32,
    /// Their link leads nowhere.
    pub broken: u32,
    /// Their page could not be asked for.
    pub unreachable: u32,
    /// Changed since somebody looked.
    pub changed: u32,
    /// Nobody looked yet.
    pub never_checked: u32,
    /// The days that were recorded, oldest first.
    pub trend: Vec<HealthPoint>,
}
