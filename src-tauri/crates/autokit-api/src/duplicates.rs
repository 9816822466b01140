//! Duplicates in the library, and merging them.

use autokit_toolcard::{CardId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::CardDetail;

/// Why two cards may describe the same tool, the most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DuplicateReason {
    /// They have the same name and provider but for spelling.
    Name,
    /// They import the same class of the same module.
    Import,
    /// They have the same documentation page, which no other card has.
    Page,
    /// They have the same description but for their names.
    Description,
    /// Their texts mean nearly the same.
    Meaning,
}

/// Card of a pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DuplicateCard {
    /// Its id.
    pub id: CardId,
    /// Its name.
    pub name: String,
    /// Its provider; may be empty.
    pub provider: String,
    /// Its description.
    pub description: String,
}

/// Two cards that may describe the same tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct DuplicatePair {
    /// The cards.
    pub cards: [DuplicateCard; 2],
    /// Why they were matched.
    pub reason: DuplicateReason,
    /// Cosine of their embeddings (−1 to 1), if they were matched by meaning.
    pub cosine: Option<f32>,
}

/// Outcome of the newest search for duplicates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Duplicates {
    /// Time the search ended; `null` if there was none since the library was opened.
    pub searched_at: Option<Timestamp>,
    /// Whether cards were compared by meaning as well, which takes an embedding model.
    pub by_meaning: bool,
    /// The pairs, most certain first. Removed cards and dismissed pairs are left out.
    pub pairs: Vec<DuplicatePair>,
}

/// Request to dismiss a pair.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PairRef {
    /// Ids or names of the cards.
    pub cards: [String; 2],
    /// Whether they are different tools; `false` takes that back.
    pub dismissed: bool,
}

/// Request to preview a merge.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct MergeQuery {
    /// Id or name of the card to keep.
    pub keep: String,
    /// Id or name of the card to remove.
    pub remove: String,
}

/// What merging two cards would save.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct MergePreview {
    /// The card to keep.
    pub keep: CardDetail,
    /// The card to remove.
    pub remove: CardDetail,
    /// The merged fields: those of the kept card, what only the other one has, and the entries of lists of both.
    pub fields: Map<String, Value>,
}

/// Request to merge two cards in one change, which can be undone.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardsMerge {
    /// Id or name of the card to keep.
    pub keep: String,
    /// Id or name of the card to remove.
    pub remove: String,
    /// All fields of the kept card after the merge; `null` merges them as the preview shows.
    #[serde(default)]
    pub fields: Option<Map<String, Value>>,
    /// Revisions of both cards that were looked at, that of the kept one first; `null` merges any.
    #[serde(default)]
    pub expected: Option<(u32, u32)>,
    /// Reason for the change, written by the person.
    #[serde(default)]
    pub reason: String,
    /// Whether to save the card although texts of the other one are flagged as hidden text or instructions to a model.
    #[serde(default)]
    pub flagged_too: bool,
}
