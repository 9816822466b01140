//! Files in and out.

use autokit_toolcard::{FieldDiff, Problem};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::cards::CardsQuery;

/// Where cards come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ImportSource {
    /// A file on this machine.
    Path(String),
    /// Pasted text.
    Text(String),
}

/// What an import would do to one card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// The library has no such card.
    New,
    /// The library's card differs.
    Changed,
    /// The library's card is the same.
    Identical,
    /// It cannot be taken.
    Invalid,
}

/// Asks what an import would do.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportPreviewRequest {
    /// The source.
    pub source: ImportSource,
    /// Only items of this status.
    #[serde(default)]
    pub status: Option<ItemStatus>,
    /// Items to skip.
    #[serde(default)]
    pub offset: u32,
    /// Items to return; at most 1,000 in one answer.
    pub limit: u32,
}

/// One card of a source.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportItem {
    /// Position in the source, from 1.
    pub position: u32,
    /// Name, as far as it has one.
    pub name: String,
    /// Provider, or an empty string.
    pub provider: String,
    /// What would happen.
    pub status: ItemStatus,
    /// Why it cannot be taken, or what to look at.
    pub problems: Vec<Problem>,
    /// What would change.
    pub diff: Vec<FieldDiff>,
}

/// What an import would do.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportPreview {
    /// Cards the library does not have.
    pub new: u32,
    /// Cards that differ.
    pub changed: u32,
    /// Cards that are the same.
    pub identical: u32,
    /// Cards that cannot be taken.
    pub invalid: u32,
    /// Items of the status asked for, in all.
    pub total: u32,
    /// The items asked for.
    pub items: Vec<ImportItem>,
}

/// What happens to cards the library has already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExistingCards {
    /// The file's version becomes a new revision.
    #[default]
    Replace,
    /// The library's version stays.
    Keep,
}

/// Imports cards in one undoable change.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportRequest {
    /// The source.
    pub source: ImportSource,
    /// What to do with cards the library has.
    #[serde(default)]
    pub existing: ExistingCards,
    /// Why, in the person's words.
    #[serde(default)]
    pub reason: String,
}

/// Writes cards as AutoKit JSON.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExportRequest {
    /// Which cards.
    #[serde(default)]
    pub query: CardsQuery,
    /// Only these ids, when given.
    #[serde(default)]
    pub cards: Option<Vec<String>>,
    /// The file to write; the text is returned when not given.
    #[serde(default)]
    pub path: Option<String>,
}

/// What was exported.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExportOutcome {
    /// Cards written.
    pub cards: u32,
    /// The file, if one was written.
    pub path: Option<String>,
    /// The text, if not.
    pub text: Option<String>,
}
