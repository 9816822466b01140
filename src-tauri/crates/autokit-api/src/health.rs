//! Health of the library: check results over all cards.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Number of cards per check result at the end of a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HealthPoint {
    /// Date, `YYYY-MM-DD` in UTC.
    pub day: String,
    /// Number of cards confirmed by their page.
    pub verified: u32,
    /// Number of cards contradicted by their page.
    pub stale: u32,
    /// Number of cards whose link is dead.
    pub broken: u32,
    /// Number of cards whose page could not be fetched.
    pub unreachable: u32,
    /// Number of cards that were never checked.
    pub never_checked: u32,
}

/// Number of cards per check result, now and over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LibraryHealth {
    /// Total number of cards.
    pub total: u32,
    /// Number of cards confirmed by their page.
    pub verified: u32,
    /// Number of cards contradicted by their page.
    pub stale: u32,
    /// Number of cards whose link is dead.
    pub broken: u32,
    /// Number of cards whose page could not be fetched.
    pub unreachable: u32,
    /// Number of cards that changed after their last check.
    pub changed: u32,
    /// Number of cards that were never checked.
    pub never_checked: u32,
    /// Recorded days, oldest first.
    pub trend: Vec<HealthPoint>,
}
