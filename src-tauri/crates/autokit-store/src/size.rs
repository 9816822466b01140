//! How many bytes rows take, before they are written.

use autokit_commit_log::key_text;
use surrealdb::types::{Object, RecordId, Value};

/// Estimates the bytes of an id.
pub fn id_bytes(id: &RecordId) -> usize {
    id.table.as_str().len() + key_text(id).len()
}

/// Estimates the bytes of a row.
pub fn bytes_of(row: &Object) -> usize {
    row.iter().map(|(name, value)| name.len() + value_bytes(value)).sum()
}

/// Estimates the bytes of a value.
pub fn value_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::RecordId(id) => id_bytes(id),
        Value::Array(values) => values.iter().map(value_bytes).sum(),
        Value::Object(row) => bytes_of(row),
        _ => 8,
    }
}
