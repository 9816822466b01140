//! Agent activity, and the MCP sessions that agents can resume after a restart.

use autokit_library::{Library, LibraryError};
use autokit_toolcard::Timestamp;
use serde::{Deserialize, Serialize};
use surrealdb::types::{Object, RecordId, SurrealValue, object};

/// Result of reading and writing rows.
type Result<T> = std::result::Result<T, LibraryError>;

/// An MCP session of an agent, serialized as JSON by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSession {
    /// The key it is stored under: the session's id, or one derived from it.
    pub id: String,
    /// When the session last received a request.
    pub used: Timestamp,
    /// The whole session, as JSON.
    pub record: String,
}

/// One action of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// When it happened.
    pub at: Timestamp,
    /// The session it happened in.
    pub session: String,
    /// What happened, serialized as JSON by the caller.
    pub event: String,
}

/// The activity between two writes, as JSON.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct Row {
    done: String,
}

/// Stores agent activity and the current state of agent sessions in one transaction. The activity goes
/// into a single row under `key`, which must be unique and determines the order of the rows: one row per
/// event would make the database use several times the space of the data.
///
/// # Errors
/// Returns an error when the database fails.
pub async fn record_activity(
    library: &Library,
    key: &str,
    sessions: &[AgentSession],
    done: &[Activity],
) -> Result<()> {
    let sessions: Vec<Object> = sessions
        .iter()
        .map(|session| {
            object! {
                id: RecordId::new("agent", session.id.as_str()),
                used: session.used.to_string(),
                record: session.record.clone(),
            }
        })
        .collect();
    let rows: Vec<Object> = match done.last() {
        None => Vec::new(),
        Some(last) => {
            let text = serde_json::to_string(done).map_err(LibraryError::malformed)?;
            vec![object! { id: RecordId::new("activity", key), at: last.at.to_string(), done: text }]
        }
    };
    if sessions.is_empty() && rows.is_empty() {
        return Ok(());
    }
    library
        .execute(
            "BEGIN;
         FOR $session IN $sessions {
             UPSERT $session.id CONTENT { used: $session.used, record: $session.record } RETURN NONE;
         };
         INSERT INTO activity $rows RETURN NONE;
         COMMIT;",
            object! { sessions: sessions, rows: rows },
        )
        .await
}

/// Returns the stored JSON of an agent session.
///
/// # Errors
/// When the database fails.
pub(crate) async fn agent_session(library: &Library, id: &str) -> Result<Option<String>> {
    let query = "SELECT VALUE record FROM type::record('agent', $id)";
    Ok(library.select::<String>(query, object! { id: id.to_owned() }).await?.pop())
}

/// Deletes an agent session.
///
/// # Errors
/// When the database fails.
pub(crate) async fn delete_agent_session(library: &Library, id: &str) -> Result<()> {
    library.execute("DELETE type::record('agent', $id) RETURN NONE;", object! { id: id.to_owned() }).await
}

/// Returns the activity since a time, oldest first.
///
/// # Errors
/// When the database fails.
pub async fn activity_since(library: &Library, at: Timestamp) -> Result<Vec<Activity>> {
    let query = "SELECT id, done FROM activity WHERE at >= $at ORDER BY id";
    let rows: Vec<Row> = library.select(query, object! { at: at.to_string() }).await?;
    let mut all = Vec::new();
    for row in rows {
        let done: Vec<Activity> = serde_json::from_str(&row.done).map_err(LibraryError::malformed)?;
        // A row carries the time of its last event, so earlier events in it are filtered out here.
        all.extend(done.into_iter().filter(|done| done.at >= at));
    }
    Ok(all)
}

/// Deletes sessions not used since one time, and activity rows older than another.
///
/// # Errors
/// When the database fails.
pub(crate) async fn delete_activity(
    library: &Library,
    unused_since: Timestamp,
    done_before: Timestamp,
) -> Result<()> {
    library
        .execute(
            "DELETE agent WHERE used < $unused RETURN NONE; DELETE activity WHERE at < $before RETURN NONE;",
            object! { unused: unused_since.to_string(), before: done_before.to_string() },
        )
        .await
}
