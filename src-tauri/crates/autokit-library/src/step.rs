//! The steps of a large change, each small enough for one transaction.

use autokit_commit_log::RowChange;
use autokit_store::{bytes_of, id_bytes};
use surrealdb::types::{Number, Object, RecordId, SurrealValue, Value};

use crate::rows::proposal_id;

/// Most rows in one transaction.
pub(crate) const ROWS: usize = 1_000;
/// Most bytes in one transaction, as estimated beforehand: far below the size of a memtable, because every
/// row is written with its keys and indexes.
pub(crate) const BYTES: usize = 4 << 20;

/// A step of a change.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Deletes these rows, whether or not they exist.
    Drop(Vec<RecordId>),
    /// Writes journal entries.
    Revisions(Vec<Object>),
    /// Inserts cards that do not exist; each names the revision that holds its body.
    Cards(Vec<Object>),
    /// Inserts proposal events.
    Events(Vec<Object>),
    /// Inserts or replaces rows.
    Put(Vec<Object>),
    /// Adds a record to the commit log.
    Record(Object),
    /// Completes the change: its record, what it undoes or redoes, and the result stored under its request key.
    Close(Object),
}

impl Step {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Step::Drop(_) => "drop",
            Step::Revisions(_) => "revisions",
            Step::Cards(_) => "cards",
            Step::Events(_) => "events",
            Step::Put(_) => "put",
            Step::Record(_) => "record",
            Step::Close(_) => "close",
        }
    }

    /// Returns the statement that applies a step of this kind, with its rows in `$name`.
    pub(crate) fn statement(kind: &str, name: &str) -> Option<String> {
        Some(match kind {
            "drop" => format!("DELETE ${name} RETURN NONE;"),
            "revisions" => format!("INSERT INTO revision ${name} RETURN NONE;"),
            "cards" => format!(
                "INSERT INTO card (SELECT id, provider, name, number, created_at, updated_at,
                     revision.body AS body FROM ${name}) RETURN NONE;"
            ),
            "events" => format!("INSERT INTO proposal_event ${name} RETURN NONE;"),
            "put" => format!("FOR $row IN ${name} {{ UPSERT $row.id CONTENT $row RETURN NONE }};"),
            "record" => format!("INSERT INTO commit_log ${name} RETURN NONE;"),
            "close" => format!(
                "IF ${name}.change != NONE {{
                     UPSERT ${name}.change SET operation = ${name}.operation, reason = ${name}.reason,
                         undone = false, part_of = ${name}.part_of, target = ${name}.target,
                         decisions = ${name}.decisions RETURN NONE
                 }};
                 IF ${name}.undoes != NONE {{
                     UPDATE ${name}.undoes SET undone = true RETURN NONE;
                     UPDATE change SET undone = true WHERE part_of = ${name}.undone RETURN NONE;
                     UPDATE type::record('import', ${name}.undone) SET undone = true RETURN NONE;
                     DELETE foreign WHERE import = ${name}.undone RETURN NONE
                 }};
                 IF ${name}.redoes != NONE {{
                     UPDATE ${name}.redoes SET undone = true RETURN NONE;
                     UPDATE type::record('change', ${name}.target) SET undone = false RETURN NONE
                 }};
                 IF ${name}.forgiven != [] {{
                     DELETE rejection WHERE proposal IN ${name}.forgiven RETURN NONE
                 }};
                 IF ${name}.request != NONE {{
                     CREATE ${name}.request CONTENT {{ outcome: ${name}.outcome, at: ${name}.at }} RETURN NONE
                 }};
                 IF ${name}.staged = true {{ DELETE staging RETURN NONE }};"
            ),
            _ => return None,
        })
    }

    /// Whether it changes anything that is in memory besides proposals and settings.
    pub(crate) fn changes_memory(&self) -> bool {
        let is_in_memory = |id: &RecordId| {
            ["card", "tombstone", "vector", "page", "page_vector", "vocabulary"].contains(&id.table.as_str())
        };
        match self {
            Step::Revisions(_) | Step::Cards(_) => true,
            Step::Drop(ids) => ids.iter().any(is_in_memory),
            Step::Put(rows) => {
                rows.iter().any(|row| matches!(row.get("id"), Some(Value::RecordId(id)) if is_in_memory(id)))
            }
            Step::Events(_) | Step::Record(_) | Step::Close(_) => false,
        }
    }

    pub(crate) fn into_value(self) -> Value {
        match self {
            Step::Drop(ids) => ids.into_value(),
            Step::Revisions(rows) | Step::Cards(rows) | Step::Events(rows) | Step::Put(rows) => {
                rows.into_value()
            }
            Step::Record(row) | Step::Close(row) => Value::Object(row),
        }
    }

    /// Estimates the rows and bytes it writes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let size_of = |rows: &[Object]| (rows.len(), rows.iter().map(bytes_of).sum());
        match self {
            Step::Drop(ids) => (ids.len(), ids.iter().map(id_bytes).sum()),
            Step::Revisions(rows) | Step::Cards(rows) | Step::Events(rows) | Step::Put(rows) => size_of(rows),
            Step::Record(row) | Step::Close(row) => (1, bytes_of(row)),
        }
    }

    /// Splits the step into steps that each fit into one transaction.
    pub(crate) fn parts(self) -> Vec<Step> {
        match self {
            Step::Drop(ids) => parts(ids, id_bytes).into_iter().map(Step::Drop).collect(),
            Step::Revisions(rows) => parts(rows, bytes_of).into_iter().map(Step::Revisions).collect(),
            Step::Cards(rows) => parts(rows, bytes_of).into_iter().map(Step::Cards).collect(),
            Step::Events(rows) => parts(rows, bytes_of).into_iter().map(Step::Events).collect(),
            Step::Put(rows) => parts(rows, bytes_of).into_iter().map(Step::Put).collect(),
            whole @ (Step::Record(_) | Step::Close(_)) => vec![whole],
        }
    }

    /// Returns its changes to protected rows.
    pub(crate) fn row_changes(&self) -> Vec<RowChange> {
        match self {
            Step::Revisions(rows) | Step::Events(rows) | Step::Put(rows) => {
                rows.iter().filter_map(RowChange::of).collect()
            }
            Step::Close(row) => match row.get("forgiven") {
                Some(Value::Array(proposals)) => {
                    let id = |value: &Value| match value {
                        Value::Number(Number::Int(number)) => proposal_id(*number),
                        _ => None,
                    };
                    let reopened = proposals.iter().filter_map(id);
                    reopened.map(|proposal| RowChange::RejectionsDeleted { proposal }).collect()
                }
                _ => Vec::new(),
            },
            Step::Drop(_) | Step::Cards(_) | Step::Record(_) => Vec::new(),
        }
    }

    /// Returns by how much it changes the number of cards.
    pub(crate) fn cards_added(&self) -> i64 {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        match self {
            Step::Cards(rows) => count(rows.len()),
            Step::Drop(ids) => -count(ids.iter().filter(|id| id.table.as_str() == "card").count()),
            _ => 0,
        }
    }
}

/// Splits rows into as few parts as possible that each fit into one transaction.
pub(crate) fn parts<T>(rows: Vec<T>, bytes: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    autokit_store::parts(rows, ROWS, BYTES, bytes)
}
