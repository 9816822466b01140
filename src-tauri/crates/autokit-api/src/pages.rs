//! Documentation pages of cards.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Which pages to read.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct PagesFetch {
    /// Ids or names of cards; all when empty.
    #[serde(default)]
    pub cards: Vec<String>,
    /// Also those read lately.
    #[serde(default)]
    pub again: bool,
}

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PagePiece {
    /// Headings above it, from the title down.
    pub path: Vec<String>,
    /// The page with the place in it.
    pub url: String,
    /// The text; code between fences.
    pub text: String,
}

/// A card's page as last read.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PageView {
    /// Where it was found.
    pub url: String,
    /// Its title.
    pub title: String,
    /// When it was last asked for.
    pub fetched_at: String,
    /// Why the last attempt failed.
    pub failed: Option<String>,
    /// Its pieces, in reading order.
    pub pieces: Vec<PagePiece>,
}

/// A card's page, if it was read.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardPage {
    /// The page.
    pub page: Option<PageView>,
}
