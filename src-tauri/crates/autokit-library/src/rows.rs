//! Database rows.

pub(crate) use autokit_commit_log::{key_text, proposal_id, seq_text};
use autokit_toolcard::{ProposalId, Timestamp};
use surrealdb::types::{Bytes, RecordId, SurrealValue};

use crate::error::{LibraryError, Result};

/// An existing card.
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

/// A deleted card: its id and its last revision number, from which a new card's history continues.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct TombstoneRow {
    pub id: RecordId,
    pub number: i64,
    pub created_at: String,
}

/// An entry of the journal. Its id is the zero-padded sequence number, so that a range of ids reads the
/// journal in order.
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

/// An edit of a card.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct EditRow {
    pub card: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// One action of a person or job, affecting one or more cards.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct ChangeRow {
    pub id: RecordId,
    pub operation: String,
    pub reason: String,
    pub undone: bool,
    pub target: Option<String>,
    pub decisions: Option<String>,
}

/// The vectors of one card under one model, packed.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct VectorRow {
    pub id: RecordId,
    pub card: String,
    pub model: String,
    pub names: Option<String>,
    pub number: i64,
    pub dim: i64,
    pub data: Bytes,
}

/// A documentation page, with its chunks as JSON.
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

/// The hash of a page's text.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct PageHash {
    pub id: RecordId,
    pub hash: String,
}

/// The hash of the text that a page's vectors were made from.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct VectorHash {
    pub card: String,
    pub hash: String,
}

/// The vectors of a page's chunks under one model, packed.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct PageVectorRow {
    pub card: String,
    pub hash: String,
    pub dim: i64,
    pub data: Bytes,
}

/// A proposal with its decision; the draft is JSON.
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

/// An event of a proposal.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct ProposalEventRow {
    pub at: String,
    pub by: String,
    pub what: String,
    pub why: String,
}

/// The result of checking a card; the report is JSON, if it was queried.
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

/// The counts of a day; the id is the date.
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

/// A person's feedback on an answer.
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

/// A name or synonym that somebody added.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct VocabularyRow {
    pub kind: String,
    pub text: String,
    pub bundle: Option<String>,
    pub added_by: String,
    pub added_at: String,
}

/// List entry of a past ask session.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub(crate) struct SessionRow {
    pub id: RecordId,
    pub at: String,
    pub question: String,
}

/// Parses a stored time.
pub(crate) fn timestamp(text: &str) -> Result<Timestamp> {
    text.parse().map_err(|_| LibraryError::malformed(format!("{text:?} is not a time")))
}

/// Converts a proposal's id to how columns of other tables store it.
pub(crate) fn proposal_number(id: ProposalId) -> i64 {
    i64::from(id.number())
}
