//! Documentation pages of cards.

use autokit_toolcard::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Request to fetch documentation pages.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct PagesFetch {
    /// Card ids or names; empty for all cards.
    #[serde(default)]
    pub cards: Vec<String>,
    /// Whether to also fetch pages that were fetched recently.
    #[serde(default)]
    pub again: bool,
}

/// Section of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PagePiece {
    /// Headings above the section, starting with the page title.
    pub path: Vec<String>,
    /// Address of the page, with the anchor of the section if there is one.
    pub url: String,
    /// Text of the section; code is fenced.
    pub text: String,
}

/// Documentation page of a card, as last fetched.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PageView {
    /// Address after redirects.
    pub url: String,
    /// Page title.
    pub title: String,
    /// Time of the last attempt.
    pub fetched_at: Timestamp,
    /// Why the last attempt failed; `null` if it succeeded.
    pub failed: Option<String>,
    /// Sections in reading order.
    pub pieces: Vec<PagePiece>,
}

/// Result of a request for the page of a card.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardPage {
    /// The page; `null` if it was never fetched.
    pub page: Option<PageView>,
}
