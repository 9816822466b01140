//! How many bytes rows take before they are written, and parts of them that are small enough.

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
fn value_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::RecordId(id) => id_bytes(id),
        Value::Array(values) => values.iter().map(value_bytes).sum(),
        Value::Object(row) => bytes_of(row),
        _ => 8,
    }
}

/// Splits rows, in their order, into as few parts as possible of at most `most` rows and `bytes` bytes each. A row that is
/// larger alone is a part of its own.
pub fn parts<T>(rows: Vec<T>, most: usize, bytes: usize, size: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let mut all: Vec<Vec<T>> = Vec::new();
    let mut room = 0;
    for row in rows {
        let size = size(&row);
        match all.last_mut() {
            Some(part) if part.len() < most && size <= room => {
                room -= size;
                part.push(row);
            }
            _ => {
                room = bytes.saturating_sub(size);
                all.push(vec![row]);
            }
        }
    }
    all
}
