//! Checks of cards against their documentation pages.

use autokit_fuel::Report;
use autokit_toolcard::{CardState, ProposalId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::cards::CardsQuery;

/// Cards to check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum VerifyScope {
    /// Named cards.
    Cards {
        /// Card ids or names.
        cards: Vec<String>,
    },
    /// All cards.
    All,
    /// Cards that match a query.
    Matching {
        /// The query.
        query: CardsQuery,
    },
    /// Cards last checked at least this long ago, and cards never checked.
    Older {
        /// Number of days.
        days: u32,
    },
    /// Cards whose unreachable page is due for another attempt.
    Due,
}

/// Request to start a run of checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct VerifyStart {
    /// Cards to check.
    pub scope: VerifyScope,
    /// Whether to also propose better descriptions and values for empty fields.
    #[serde(default)]
    pub improve: bool,
    /// Whether to start over even if the same run was interrupted less than a day ago.
    #[serde(default)]
    pub anew: bool,
}

/// Last check of a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct LatestCheck {
    /// Result of the check.
    pub state: CardState,
    /// Time of the check.
    pub checked_at: Timestamp,
    /// Time of the next attempt, if the page was unreachable.
    pub next_at: Option<Timestamp>,
    /// Whether the card changed after the check, so that the result is about an earlier revision.
    #[serde(default)]
    pub changed: bool,
    /// Findings per field.
    pub report: Report,
}

/// Last check of a card, and the proposals that wait because of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct CardVerification {
    /// The check; `null` if the card was never checked.
    pub checked: Option<LatestCheck>,
    /// Number of the card's newest proposal that waits in Review.
    #[serde(default)]
    pub proposal: Option<ProposalId>,
    /// Number of the card's proposals that wait in Review.
    #[serde(default)]
    pub waiting: u32,
}

/// Settings of automatic checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct CheckSettings {
    /// Days after which a card is checked again; 0 for never.
    pub every_days: u32,
    /// Whether accepted, imported, added or changed cards are checked soon afterwards.
    pub new_cards: bool,
}

impl Default for CheckSettings {
    fn default() -> CheckSettings {
        CheckSettings { every_days: 30, new_cards: true }
    }
}
