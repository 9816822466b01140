//! State of a card after it was checked against its page.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How a card stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CardState {
    /// Its page is alive and about it, nothing is contradicted, the essentials are supported.
    Verified,
    /// Its page is alive and about it, but says something else or does not say enough.
    Stale,
    /// It has no page, a dead one, or another tool's.
    Broken,
    /// Its page could not be had; only time can tell.
    Unreachable,
}

impl CardState {
    const ALL: [CardState; 4] =
        [CardState::Verified, CardState::Stale, CardState::Broken, CardState::Unreachable];

    /// Returns the name used in files and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            CardState::Verified => "verified",
            CardState::Stale => "stale",
            CardState::Broken => "broken",
            CardState::Unreachable => "unreachable",
        }
    }

    /// Parses the name used in files and in the store.
    pub fn parse(text: &str) -> Option<CardState> {
        CardState::ALL.into_iter().find(|state| state.as_str() == text)
    }
}
