//! Cards: lists, details and edits.

use autokit_toolcard::{CardId, CardState, FieldDiff, Kind, Operation, Problem, Stub, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

/// Card as shown in lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct CardSummary {
    /// Card id.
    pub id: CardId,
    /// Name of the tool.
    pub name: String,
    /// Provider, or an empty string.
    pub provider: String,
    /// Kind of tool.
    pub kind: Kind,
    /// Programming language, if any.
    pub language: Option<String>,
    /// Beginning of the description.
    pub description: String,
    /// Documentation address as stored in the card.
    pub documentation: Option<String>,
    /// Whether a check (FUEL) has confirmed the card against its page.
    pub verified: bool,
    /// Result of the last check; `null` if the card was never checked.
    #[serde(default)]
    pub health: Option<CardState>,
    /// Time of the last check.
    #[serde(default)]
    pub checked_at: Option<Timestamp>,
    /// Whether the card changed after its last check, so that the result is about an earlier revision.
    #[serde(default)]
    pub changed: bool,
    /// Whether the card stores a call, so that AutoKit can make it: a request, a tool of an MCP server, a macro or a
    /// function. Otherwise it is a reference, for use in code.
    #[serde(default)]
    pub callable: bool,
    /// Tags.
    pub tags: Vec<String>,
    /// Number of the latest revision.
    pub number: u32,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Card with all its fields.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardDetail {
    /// The card as shown in lists.
    pub summary: CardSummary,
    /// All fields as stored.
    pub fields: Map<String, Value>,
    /// Problems found by validation.
    pub warnings: Vec<Problem>,
    /// Import and call of the tool.
    pub stub: Option<Stub>,
    /// Time the card was added.
    pub created_at: Timestamp,
    /// Id of the change that the command made, for undo; `null` if it changed nothing.
    #[serde(default)]
    pub change: Option<String>,
}

/// Reference to a card.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardRef {
    /// Card id, or the card's exact name if no other card has it.
    pub card: String,
}

/// Sort order of a list of cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// Alphabetical by name.
    #[default]
    Name,
    /// By provider, then name.
    Provider,
    /// By kind, then name.
    Kind,
    /// Most recently changed first.
    Updated,
    /// Those that need attention first (broken, stale, unreachable, changed, never checked, verified), then
    /// by name.
    Health,
}

/// Result of a card's last check, as a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HealthFilter {
    /// The page confirms the card.
    Verified,
    /// The page contradicts the card.
    Stale,
    /// The link is dead.
    Broken,
    /// The page could not be fetched.
    Unreachable,
    /// The card changed after its last check.
    Changed,
    /// The card was never checked.
    Never,
}

impl HealthFilter {
    /// All values, those that need attention first.
    pub const ALL: [HealthFilter; 6] = [
        HealthFilter::Broken,
        HealthFilter::Stale,
        HealthFilter::Unreachable,
        HealthFilter::Changed,
        HealthFilter::Never,
        HealthFilter::Verified,
    ];

    /// Returns the filter that matches a card with this check result. `changed`: whether the card changed
    /// after the check.
    pub fn of(state: Option<CardState>, changed: bool) -> HealthFilter {
        match state {
            Some(_) if changed => HealthFilter::Changed,
            None => HealthFilter::Never,
            Some(CardState::Verified) => HealthFilter::Verified,
            Some(CardState::Stale) => HealthFilter::Stale,
            Some(CardState::Broken) => HealthFilter::Broken,
            Some(CardState::Unreachable) => HealthFilter::Unreachable,
        }
    }

    /// Returns the serialized name.
    pub fn as_str(self) -> &'static str {
        match self {
            HealthFilter::Verified => "verified",
            HealthFilter::Stale => "stale",
            HealthFilter::Broken => "broken",
            HealthFilter::Unreachable => "unreachable",
            HealthFilter::Changed => "changed",
            HealthFilter::Never => "never",
        }
    }
}

/// Filters and order of a list of cards. All given filters must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct CardsQuery {
    /// Text contained in name, provider or description, ignoring case.
    pub text: Option<String>,
    /// Kind of tool.
    pub kind: Option<Kind>,
    /// Programming language.
    pub language: Option<String>,
    /// Provider.
    pub provider: Option<String>,
    /// Tag.
    pub tag: Option<String>,
    /// Collection, by its name.
    pub collection: Option<String>,
    /// Whether the card is verified.
    pub verified: Option<bool>,
    /// Whether the card has a documentation address.
    pub documented: Option<bool>,
    /// Result of the last check.
    pub health: Option<HealthFilter>,
    /// Sort order.
    pub sort: Sort,
    /// Whether to reverse the sort order.
    pub descending: bool,
}

/// Request for a page of a list of cards.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct CardList {
    /// Filters and order.
    pub query: CardsQuery,
    /// Number of rows to skip.
    pub offset: u32,
    /// Maximum number of rows, up to 1,000.
    pub limit: u32,
}

/// Page of a list of cards.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardsPage {
    /// Total number of matching cards.
    pub total: u32,
    /// Number of rows skipped.
    pub offset: u32,
    /// Rows of the page.
    pub rows: Vec<CardSummary>,
}

/// Value of a filter, with the number of matching cards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Facet {
    /// Filter value.
    pub value: String,
    /// Number of cards that have it.
    pub count: u32,
}

/// Available filter values with their counts, most frequent first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Facets {
    /// Kinds of tool.
    pub kinds: Vec<Facet>,
    /// Programming languages.
    pub languages: Vec<Facet>,
    /// Providers.
    pub providers: Vec<Facet>,
    /// Tags.
    pub tags: Vec<Facet>,
    /// Results of the last checks, as in [`HealthFilter`].
    pub health: Vec<Facet>,
    /// Number of verified cards.
    pub verified: u32,
    /// Number of cards with a documentation address.
    pub documented: u32,
    /// Total number of cards.
    pub total: u32,
}

/// Request to validate fields without saving them.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardCheck {
    /// Fields of the card.
    pub fields: Map<String, Value>,
}

/// Request to add a card.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardCreate {
    /// Fields of the card.
    pub fields: Map<String, Value>,
    /// Reason for the change, written by the person.
    #[serde(default)]
    pub reason: String,
    /// Whether to save the card although some of its texts are flagged as hidden text or instructions to a
    /// model.
    #[serde(default)]
    pub flagged_too: bool,
}

/// Request to replace the fields of a card.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardUpdate {
    /// Card id or name.
    pub card: String,
    /// Revision the edit is based on; `null` overwrites any revision.
    pub expected: Option<u32>,
    /// All fields after the edit.
    pub fields: Map<String, Value>,
    /// Reason for the change, written by the person.
    #[serde(default)]
    pub reason: String,
    /// Whether to save the card although texts added by the edit are flagged as hidden text or instructions
    /// to a model.
    #[serde(default)]
    pub flagged_too: bool,
}

/// Request to edit several cards in one change, which can be undone.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardsEdit {
    /// Card ids or names.
    pub cards: Vec<String>,
    /// Fields to set on all of them; `null` removes a field. The name cannot be set.
    #[serde(default)]
    pub fields: Map<String, Value>,
    /// Tags to add.
    #[serde(default)]
    pub add_tags: Vec<String>,
    /// Tags to remove.
    #[serde(default)]
    pub remove_tags: Vec<String>,
    /// Reason for the change, written by the person.
    #[serde(default)]
    pub reason: String,
    /// Whether to save the cards although texts added by the edit are flagged as hidden text or instructions to a
    /// model.
    #[serde(default)]
    pub flagged_too: bool,
}

/// Request to delete cards in one change, which can be undone.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardsDelete {
    /// Card ids or names.
    pub cards: Vec<String>,
    /// Reason for the change, written by the person.
    #[serde(default)]
    pub reason: String,
}

/// Request to restore an earlier revision.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardRestore {
    /// Card id or name.
    pub card: String,
    /// Revision number.
    pub number: u32,
}

/// Result of a change to several cards.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardChange {
    /// Id of the change, for undo; `null` if nothing differed.
    pub change: Option<String>,
    /// Ids of the affected cards.
    pub cards: Vec<CardId>,
}

/// Revision in the history of a card.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RevisionView {
    /// Revision number, starting at 1.
    pub number: u32,
    /// Operation that created the revision.
    pub operation: Operation,
    /// Author of the change.
    pub author: String,
    /// Reason given for the change.
    pub reason: String,
    /// Time of the change.
    pub at: Timestamp,
    /// Fields after the change; `null` if it deleted the card.
    pub fields: Option<Map<String, Value>>,
    /// Differences from the previous revision.
    pub diff: Vec<FieldDiff>,
}

/// Request to undo a change.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct UndoRequest {
    /// Id of the change; without it, the newest one that is not an import.
    #[serde(default)]
    #[ts(optional)]
    pub change: Option<String>,
}

/// Request to redo a change.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct RedoRequest {
    /// Id of the undo to take back; without it, the newest one.
    #[serde(default)]
    #[ts(optional)]
    pub undo: Option<String>,
}

/// Result of an undo or a redo.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct UndoOutcome {
    /// Id of the change that was undone or redone.
    pub change: String,
    /// Id of the undo, for redo; `null` for an import, and for a redo.
    pub undo: Option<String>,
    /// Description of the change that was undone or redone.
    pub reason: String,
    /// Ids of the cards that were restored.
    pub cards: Vec<CardId>,
    /// Ids of the cards that were left as they are because they changed again later.
    pub kept: Vec<CardId>,
}
