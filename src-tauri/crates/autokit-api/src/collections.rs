//! Collections: named sets of cards.

use autokit_toolcard::CardId;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Name of the collection of favorite cards, which always exists and keeps its name.
pub const FAVORITES: &str = "Favorites";

/// Named set of cards. It belongs to this library: exports and bundles do not contain it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Collection {
    /// Name, unique ignoring case.
    pub name: String,
    /// Ids of its cards that are in the library, sorted.
    pub cards: Vec<CardId>,
}

/// Reference to a collection.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CollectionRef {
    /// Its name, ignoring case.
    pub collection: String,
}

/// Request to add cards to a collection, or to take them out of it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CollectionChange {
    /// Name of the collection; cards can be added to a new one.
    pub collection: String,
    /// Card ids or names.
    pub cards: Vec<String>,
    /// Whether the cards are to be in the collection.
    pub included: bool,
}

/// Request to rename a collection.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CollectionRename {
    /// Its name, ignoring case.
    pub collection: String,
    /// New name.
    pub name: String,
}
