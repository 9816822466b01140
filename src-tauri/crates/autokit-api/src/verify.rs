//! Cards against their pages.

use autokit_fuel::Report;
use autokit_toolcard::CardState;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::cards::CardsQuery;

/// Which cards are checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum VerifyScope {
    /// These, by id or name.
    Cards {
        /// Ids or names.
        cards: Vec<String>,
    },
    /// All.
    All,
    /// Those a list shows.
    Matching {
        /// Which.
        query: CardsQuery,
    },
    /// Those whose last check is this long ago, and those never checked.
    Older {
        /// Days.
        days: u32,
    },
    /// Those whose page is to be tried again by now.
    Due,
}

/// Starts a run of checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct VerifyStart {
    /// Which cards.
    pub scope: VerifyScope,
    /// Propose better descriptions and what the cards leave out as well.
    #[serde(default)]
    pub improve: bool,
    /// Begin from the beginning, also where the same run was broken off less than a day ago.
    #[serde(default)]
    pub anew: bool,
}

/// The newest check of a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Checked {
    /// How the card stands.
    pub state: CardState,
    /// When it was checked, RFC 3339 in UTC.
    pub checked_at: String,
    /// When it is checked again, if its page could not be had.
    pub next_at: Option<String>,
    /// The card was changed since: what was found is about an earlier revision.
    #[serde(default)]
    pub changed: bool,
    /// What was found, field by field.
    pub report: Report,
}

/// The newest check of a card, if there was one, and what waits for a person because of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct CardVerification {
    /// The check.
    pub checked: Option<Checked>,
    /// Number of the newest proposal for this card that waits in Review.
    #[serde(default)]
    pub proposal: Option<u32>,
    /// How many wait.
    #[serde(default)]
    pub waiting: u32,
}

/// When cards are checked without being asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct CheckSettings {
    /// Cards are checked again after this many days; 0 for never.
    pub every_days: u32,
    /// Cards that were accepted, imported or added are checked soon after.
    pub new_cards: bool,
}

impl Default for CheckSettings {
    fn default() -> CheckSettings {
        CheckSettings { every_days: 30, new_cards: true }
    }
}
