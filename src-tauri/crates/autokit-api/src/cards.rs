//! Cards in lists, in detail, and their changes.

use autokit_toolcard::CardState;
use autokit_toolcard::{FieldDiff, Kind, Operation, Problem, Stub};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

/// A row of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct CardSummary {
    /// Id.
    pub id: String,
    /// Tool name.
    pub name: String,
    /// Provider, or an empty string.
    pub provider: String,
    /// What sort of tool.
    pub kind: Kind,
    /// Programming language, if any.
    pub language: Option<String>,
    /// Start of the description.
    pub description: String,
    /// Documentation address as written on the card.
    pub documentation: Option<String>,
    /// Whether FUEL has proved the card against its page.
    pub verified: bool,
    /// What the newest check of the card against its page found; none when it was never checked.
    #[serde(default)]
    pub health: Option<CardState>,
    /// When that was, RFC 3339 in UTC.
    #[serde(default)]
    pub checked_at: Option<String>,
    /// It was changed since: what that check found is about another revision.
    #[serde(default)]
    pub changed: bool,
    /// Labels.
    pub tags: Vec<String>,
    /// Newest revision.
    pub number: u32,
    /// When it last changed, RFC 3339.
    pub updated_at: String,
}

/// Everything about one card.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardDetail {
    /// The row.
    pub summary: CardSummary,
    /// Every field as stored.
    pub fields: Map<String, Value>,
    /// What a person should look at.
    pub warnings: Vec<Problem>,
    /// Import-and-call lines.
    pub stub: Option<Stub>,
    /// When it was added, RFC 3339.
    pub created_at: String,
}

/// Names a card, by id or by its exact name when only one card has it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardRef {
    /// Id or name.
    pub card: String,
}

/// Order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// By name.
    #[default]
    Name,
    /// By provider, then name.
    Provider,
    /// By kind, then name.
    Kind,
    /// Latest change first.
    Updated,
    /// What needs a person first: broken, stale, not reached, changed since, never checked,
    /// verified; then by name.
    Health,
}

/// What the newest check of a card found, to filter by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HealthFilter {
    /// Its page says what it says.
    Verified,
    /// Its page says something else.
    Stale,
    /// Its link leads nowhere.
    Broken,
    /// Its page could not be asked for.
    Unreachable,
    /// It was changed since somebody looked.
    Changed,
    /// Nobody looked yet.
    Never,
}

impl HealthFilter {
    /// All of them, what needs a person first.
    pub const ALL: [HealthFilter; 6] = [
        HealthFilter::Broken,
        HealthFilter::Stale,
        HealthFilter::Unreachable,
        HealthFilter::Changed,
        HealthFilter::Never,
        HealthFilter::Verified,
    ];

    /// What a card whose newest check found this is filtered by; `changed` says that it is another card
    /// since.
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

    /// The word on the wire.
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

/// Which cards to list. Every filter given has to match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct CardsQuery {
    /// Text that name, provider or description contains, whatever the case.
    pub text: Option<String>,
    /// Kind.
    pub kind: Option<Kind>,
    /// Programming language.
    pub language: Option<String>,
    /// Provider.
    pub provider: Option<String>,
    /// Label.
    pub tag: Option<String>,
    /// Verified or not.
    pub verified: Option<bool>,
    /// With or without a documentation address.
    pub documented: Option<bool>,
    /// What the newest check found.
    pub health: Option<HealthFilter>,
    /// Order.
    pub sort: Sort,
    /// Turn the order round.
    pub descending: bool,
}

/// A window into a list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct CardList {
    /// Which cards.
    pub query: CardsQuery,
    /// Rows to skip.
    pub offset: u32,
    /// Rows to return; at most 1,000 in one answer.
    pub limit: u32,
}

/// Rows of a list.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardsPage {
    /// Cards that match in all.
    pub total: u32,
    /// Rows skipped before these.
    pub offset: u32,
    /// The rows.
    pub rows: Vec<CardSummary>,
}

/// A value of a filter with how many cards have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Facet {
    /// The value.
    pub value: String,
    /// Cards.
    pub count: u32,
}

/// What can be filtered by, most frequent first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Facets {
    /// Kinds.
    pub kinds: Vec<Facet>,
    /// Languages.
    pub languages: Vec<Facet>,
    /// Providers.
    pub providers: Vec<Facet>,
    /// Labels.
    pub tags: Vec<Facet>,
    /// What the newest checks found.
    pub health: Vec<Facet>,
    /// Cards verified.
    pub verified: u32,
    /// Cards with a documentation address.
    pub documented: u32,
    /// All cards.
    pub total: u32,
}

/// Fields to be checked as a card.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardCheck {
    /// The fields.
    pub fields: Map<String, Value>,
}

/// Adds a card.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardCreate {
    /// The fields.
    pub fields: Map<String, Value>,
    /// Why, in the person's words.
    #[serde(default)]
    pub reason: String,
    /// Whether it is saved although texts in it are flagged, as hidden text or orders to a model.
    #[serde(default)]
    pub flagged_too: bool,
}

/// Replaces the fields of a card.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardUpdate {
    /// Id or name.
    pub card: String,
    /// Revision the edit was made on; `null` overwrites whatever is there.
    pub expected: Option<u32>,
    /// All fields after the edit.
    pub fields: Map<String, Value>,
    /// Why, in the person's words.
    #[serde(default)]
    pub reason: String,
    /// Whether it is saved although texts that the edit adds are flagged, as hidden text or orders to a model.
    #[serde(default)]
    pub flagged_too: bool,
}

/// Removes cards in one undoable change.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardsDelete {
    /// Ids or names.
    pub cards: Vec<String>,
    /// Why, in the person's words.
    #[serde(default)]
    pub reason: String,
}

/// Brings a revision back.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardRestore {
    /// Id or name.
    pub card: String,
    /// Number of the revision.
    pub number: u32,
}

/// Cards touched by a change.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardChange {
    /// The change, to be undone; `null` when nothing differed.
    pub change: Option<String>,
    /// Ids of the cards.
    pub cards: Vec<String>,
}

/// An entry of a card's history.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RevisionView {
    /// Number, from 1.
    pub number: u32,
    /// What was done.
    pub operation: Operation,
    /// By whom.
    pub author: String,
    /// Why.
    pub reason: String,
    /// When, RFC 3339.
    pub at: String,
    /// The fields after it; `null` when it deleted the card.
    pub fields: Option<Map<String, Value>>,
    /// What differs from the revision before.
    pub diff: Vec<FieldDiff>,
}

/// What an undo did.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct UndoOutcome {
    /// What was undone, in words.
    pub reason: String,
    /// Cards put back.
    pub cards: Vec<String>,
    /// Cards left alone because they changed again afterwards.
    pub kept: Vec<String>,
}
