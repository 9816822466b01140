//! What agents did, and the sessions they can go on with after a restart.

use serde::{Deserialize, Serialize};
use surrealdb::types::{Object, RecordId, object};

use crate::error::{LibraryError, Result};
use crate::rows::ActivityRow;
use crate::store::Library;

/// A session of an agent, as JSON of whoever keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSession {
    /// Names it.
    pub id: String,
    /// When anything was last asked in it, RFC 3339 in UTC.
    pub used: String,
    /// All that is kept of it.
    pub record: String,
}

/// One thing an agent did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// The session it happened in.
    pub session: String,
    /// What, as JSON of whoever recorded it.
    pub event: String,
}

impl Library {
    /// Writes down what agents did and how their sessions stand, all or nothing. What was done goes into
    /// one row under `key`, which no other may have and which orders the rows: a row for each would take
    /// the database several times the room of what it says.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn record_activity(
        &self,
        key: &str,
        sessions: &[AgentSession],
        done: &[Activity],
    ) -> Result<()> {
        let sessions: Vec<Object> = sessions
            .iter()
            .map(|session| {
                object! {
                    id: RecordId::new("agent", session.id.as_str()),
                    used: session.used.clone(),
                    record: session.record.clone(),
                }
            })
            .collect();
        let rows: Vec<Object> = match done.last() {
            None => Vec::new(),
            Some(last) => {
                let text =
                    serde_json::to_string(done).map_err(|error| LibraryError::Database(error.to_string()))?;
                vec![object! { id: RecordId::new("activity", key), at: last.at.clone(), done: text }]
            }
        };
        if sessions.is_empty() && rows.is_empty() {
            return Ok(());
        }
        self.execute(
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

    /// A session that was kept.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn agent_session(&self, id: &str) -> Result<Option<String>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT VALUE record FROM ONLY type::record('agent', $id)")
            .bind(("id", id.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        response.take(0).map_err(|error| self.failed(&error))
    }

    /// Forgets a session.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn forget_agent_session(&self, id: &str) -> Result<()> {
        self.execute("DELETE type::record('agent', $id) RETURN NONE;", object! { id: id.to_owned() }).await
    }

    /// What was done since a time (RFC 3339 in UTC), oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn activity_since(&self, at: &str) -> Result<Vec<Activity>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT id, done FROM activity WHERE at >= $at ORDER BY id")
            .bind(("at", at.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<ActivityRow> = response.take(0).map_err(|error| self.failed(&error))?;
        let mut all = Vec::new();
        for row in rows {
            let done: Vec<Activity> =
                serde_json::from_str(&row.done).map_err(|error| LibraryError::Database(error.to_string()))?;
            // A row is of the time of its last one.
            all.extend(done.into_iter().filter(|done| done.at.as_str() >= at));
        }
        Ok(all)
    }

    /// Forgets sessions that were not used since one time, and what was done before another.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn forget_activity(&self, unused_since: &str, done_before: &str) -> Result<()> {
        self.execute(
            "DELETE agent WHERE used < $unused RETURN NONE; DELETE activity WHERE at < $before RETURN NONE;",
            object! { unused: unused_since.to_owned(), before: done_before.to_owned() },
        )
        .await
    }
}
