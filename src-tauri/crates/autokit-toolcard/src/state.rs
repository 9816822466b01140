//! State of a card after it was checked against its page.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// State of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CardState {
    /// Its page exists and is about it; nothing is contradicted and the essential fields are supported.
    Verified,
    /// Its page exists and is about it, but contradicts the card or does not support enough of it.
    Stale,
    /// It has no page, a dead one, or one about another tool.
    Broken,
    /// Its page could not be fetched, so the card could not be judged.
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
