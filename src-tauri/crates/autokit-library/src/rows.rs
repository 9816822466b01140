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
