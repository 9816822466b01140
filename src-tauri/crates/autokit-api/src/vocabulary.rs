//! Names of products and synonyms that search knows.

use autokit_toolcard::Timestamp;
pub use autokit_vocabulary::EntryKind;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Which entries to list.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct VocabularyQuery {
    /// The list.
    pub kind: EntryKind,
    /// Only entries that contain all of these words; empty for all.
    #[serde(default)]
    pub text: String,
    /// Leave out the shipped entries.
    #[serde(default)]
    pub added_only: bool,
    /// Most entries to return. Default: 100.
    #[serde(default)]
    #[ts(optional)]
    pub limit: Option<u32>,
}

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct VocabularyItem {
    /// Its text: `name, other name = what it is`; `word, same word`; or `phrase | phrase -> word`.
    pub text: String,
    /// Who added it; absent for a shipped entry, which cannot be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub added: Option<AddedEntry>,
}

/// What is known of an entry that was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AddedEntry {
    /// Its id.
    pub id: String,
    /// Name of the bundle it came with; absent if it was added here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub bundle: Option<String>,
    /// Who added it.
    pub by: String,
    /// When it was added.
    pub at: Timestamp,
}

/// Entries of a list: those added here first, then those of bundles, then shipped ones.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct VocabularyList {
    /// The first ones, up to the limit.
    pub entries: Vec<VocabularyItem>,
    /// Number of entries that match.
    pub total: u32,
    /// Number of entries that were added, whether or not they match.
    pub added: u32,
}

/// An entry to add.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct VocabularySet {
    /// The list.
    pub kind: EntryKind,
    /// Its text, see [`VocabularyItem::text`].
    pub text: String,
    /// Id of the added entry that it replaces.
    #[serde(default)]
    #[ts(optional)]
    pub replaces: Option<String>,
}

/// An entry that was added.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct VocabularyChanged {
    /// The entry.
    pub entry: VocabularyItem,
    /// For a name: number of cards it applies to.
    pub cards: u32,
}

/// Added entries to remove.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct VocabularyRemove {
    /// Their ids.
    #[serde(default)]
    pub ids: Vec<String>,
    /// Also all that came with the bundle of this name.
    #[serde(default)]
    #[ts(optional)]
    pub bundle: Option<String>,
}

/// Entries that were removed.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct VocabularyRemoved {
    /// The entries, as they were.
    pub removed: Vec<VocabularyItem>,
}
