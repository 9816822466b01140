//! What checking cards found.

use std::collections::HashMap;

use autokit_toolcard::{CardId, CardState};
use serde_json::Value;

/// The newest check of a card.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// The card.
    pub card: CardId,
    /// What was found.
    pub state: CardState,
    /// When, RFC 3339 in UTC.
    pub checked_at: String,
    /// Checks in a row that could not be finished.
    pub attempts: u32,
    /// When to check again, RFC 3339 in UTC.
    pub next_at: Option<String>,
    /// The revision of the card that was looked at; unknown of checks from before this was kept.
    pub revision: Option<u32>,
    /// What was compared, as whoever checked wrote it down; `null` where it was not read.
    pub report: Value,
}

impl Verification {
    /// Whether the card, at revision `number` now, is another than the one that was looked at.
    pub fn is_outdated(&self, number: u32) -> bool {
        self.revision.is_some_and(|revision| revision != number)
    }
}

/// How many cards are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HealthCounts {
    /// Their page says what they say.
    pub verified: u32,
    /// Their page says something else.
    pub stale: u32,
    /// Their link leads nowhere.
    pub broken: u32,
    /// Their page could not be asked for.
    pub unreachable: u32,
    /// Changed since they were looked at: what was found then is about another card.
    pub changed: u32,
    /// Nobody looked yet.
    pub never_checked: u32,
}

/// The counts at the end of a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthDay {
    /// `YYYY-MM-DD`, in UTC.
    pub day: String,
    /// How many cards were in which state.
    pub counts: HealthCounts,
}

/// What the newest check of a card came to, without the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCheck {
    /// What was found.
    pub state: CardState,
    /// When, RFC 3339 in UTC.
    pub checked_at: Box<str>,
    /// The revision that was looked at, where it was kept.
    pub revision: Option<u32>,
}

impl LastCheck {
    /// Whether the card, at revision `number` now, is another than the one that was looked at.
    pub fn is_outdated(&self, number: u32) -> bool {
        self.revision.is_some_and(|revision| revision != number)
    }
}

/// The newest check of every card that was checked, in memory: lists of 100,000 rows are filtered and
/// ordered by it.
#[derive(Debug, Default)]
pub struct Checks(pub(crate) HashMap<CardId, LastCheck>);

impl Checks {
    /// The newest check of a card; `None` when it was never checked.
    pub fn get(&self, card: &CardId) -> Option<&LastCheck> {
        self.0.get(card)
    }

    pub(crate) fn keep(&mut self, found: &Verification) {
        let last = LastCheck {
            state: found.state,
            checked_at: found.checked_at.as_str().into(),
            revision: found.revision,
        };
        self.0.insert(found.card.clone(), last);
    }
}
