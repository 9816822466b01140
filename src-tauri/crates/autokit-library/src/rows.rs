//! Rows as the database holds them.

use surrealdb::types::{Bytes, RecordId, RecordIdKey, SurrealValue};

/// A card that exists.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct CardRow {
    pub id: RecordId,
    pub provider: String,
    pub name: String,
    pub number: i64,
    pub body: String,
    pub created_at: String,
    pub updated_at: String,
}

/// A card that was deleted: its id and the number its history continues from.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct TombstoneRow {
    pub id: RecordId,
    pub number: i64,
    pub created_at: String,
}

/// One entry of the journal. The id is the zero-padded sequence number, so that the journal is
/// read in order by a range of ids.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct RevisionRow {
    pub id: RecordId,
    pub card: String,
    pub number: i64,
    pub change: String,
    pub operation: String,
    pub author: String,
    pub reason: String,
    pub at: String,
    pub body: Option<String>,
    pub uid: Option<String>,
    pub merged: Option<Vec<String>>,
}

/// One action of a person or job, over one or many cards.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct ChangeRow {
    pub id: RecordId,
    pub operation: String,
    pub reason: String,
    pub undone: bool,
}

/// The vectors of one card under one model, packed.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct VectorRow {
    pub id: RecordId,
    pub card: String,
    pub model: String,
    pub number: i64,
    pub dim: i64,
    pub data: Bytes,
}

/// A documentation page, with its pieces as JSON.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct PageRow {
    pub id: RecordId,
    pub url: String,
    pub found: String,
    pub title: String,
    pub hash: String,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub fetched_at: String,
    pub failed: Option<String>,
    pub chunks: String,
}

/// Which text a page has.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct PageHash {
    pub id: RecordId,
    pub hash: String,
}

/// Which text a page's vectors were made from.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct VectorHash {
    pub card: String,
    pub hash: String,
}

/// The vectors of a page's pieces under one model, packed.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct PageVectorRow {
    pub card: String,
    pub hash: String,
    pub dim: i64,
    pub data: Bytes,
}

/// A proposal with its decision; the draft as JSON.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct ProposalRow {
    pub id: RecordId,
    pub draft: String,
    pub proposed_by: String,
    pub created_at: String,
    pub state: String,
    pub decided_at: Option<String>,
    pub decided_by: Option<String>,
    pub decision: Option<String>,
    pub accepted: Vec<String>,
    pub review: Option<String>,
}

/// A step in the life of a proposal.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct ProposalEventRow {
    pub at: String,
    pub by: String,
    pub what: String,
    pub why: String,
}

/// What checking a card found; the report as JSON, where it was asked for.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct VerificationRow {
    pub id: RecordId,
    pub state: String,
    pub checked_at: String,
    pub attempts: i64,
    pub next_at: Option<String>,
    pub report: Option<String>,
    pub revision: Option<i64>,
}

/// The counts of a day, which is the id.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct HealthRow {
    pub id: RecordId,
    pub verified: i64,
    pub stale: i64,
    pub broken: i64,
    pub unreachable: i64,
    pub never_checked: i64,
}

/// What a person said about an answer.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct FeedbackRow {
    pub at: String,
    pub profile: String,
    pub question: String,
    pub card: String,
    pub helpful: bool,
    pub said: String,
}

/// A past ask, as JSON of whoever recorded it.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct SessionRow {
    pub id: RecordId,
    pub at: String,
    pub question: String,
}

/// What agents did between two writings, as JSON.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct ActivityRow {
    pub done: String,
}

/// The text of a string record id.
pub(crate) fn key_text(id: &RecordId) -> String {
    match &id.key {
        RecordIdKey::String(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

/// Zero-padded, so that text order is number order.
pub(crate) fn seq_text(seq: u64) -> String {
    format!("{seq:020}")
}
