//! Results of verifying cards against their documentation pages.

use std::collections::HashMap;

use autokit_toolcard::{CardId, CardState, Timestamp};
use serde_json::Value;

/// The newest check of a card.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// The card.
    pub card: CardId,
    /// The verdict.
    pub state: CardState,
    /// When the card was checked.
    pub checked_at: Timestamp,
    /// Number of consecutive checks that could not be completed.
    pub attempts: u32,
    /// When to check again.
    pub next_at: Option<Timestamp>,
    /// The revision of the card that was checked; `None` for checks from before this was recorded.
    pub revision: Option<u32>,
    /// What was compared, as recorded by the checker; `null` where the report was not read.
    pub report: Value,
}

impl Verification {
    /// Whether the card changed since the check: its current revision `number` is not the one that was
    /// checked.
    pub fn is_outdated(&self, number: u32) -> bool {
        self.revision.is_some_and(|revision| revision != number)
    }
}

/// How many cards are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HealthCounts {
    /// The page confirms the card.
    pub verified: u32,
    /// The page contradicts the card.
    pub stale: u32,
    /// The documentation link is dead.
    pub broken: u32,
    /// The page could not be fetched.
    pub unreachable: u32,
    /// The card changed since its last check, so the verdict no longer applies.
    pub changed: u32,
    /// The card was never checked.
    pub never_checked: u32,
}

/// The counts at the end of one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthDay {
    /// `YYYY-MM-DD`, in UTC.
    pub day: String,
    /// How many cards were in each state.
    pub counts: HealthCounts,
}

/// The verdict of a card's newest check, without the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCheck {
    /// The verdict.
    pub state: CardState,
    /// When the card was checked.
    pub checked_at: Timestamp,
    /// The revision that was checked, where recorded.
    pub revision: Option<u32>,
}

impl LastCheck {
    /// Whether the card changed since the check: its current revision `number` is not the one that was
    /// checked.
    pub fn is_outdated(&self, number: u32) -> bool {
        self.revision.is_some_and(|revision| revision != number)
    }
}

/// The newest check of every checked card, in memory, so that lists of 100,000 rows can be filtered and
/// sorted by it.
#[derive(Debug, Default)]
pub struct Checks(HashMap<CardId, LastCheck>);

impl Checks {
    /// Returns the newest check of a card; `None` when it was never checked.
    pub fn get(&self, card: &CardId) -> Option<&LastCheck> {
        self.0.get(card)
    }

    /// Takes a check as the newest of its card.
    pub fn insert(&mut self, verification: &Verification) {
        let last = LastCheck {
            state: verification.state,
            checked_at: verification.checked_at,
            revision: verification.revision,
        };
        self.0.insert(verification.card.clone(), last);
    }

    /// Forgets a card.
    pub fn remove(&mut self, card: &CardId) {
        self.0.remove(card);
    }
}
