//! The journal of agents: what they did, and the state of their sessions. It is updated in memory at once
//! and written to the database in the background.
//!
//! Events are written within moments and in batches, so that a search does not wait for the disk. If the
//! process is killed, only the last moments are lost.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autokit_error::{ApiError, Result};
use autokit_gateway::{Audit, Event, McpSessionId, SessionRecord};
use autokit_toolcard::Timestamp;
use autokit_workspace::workspace::Workspace;
use jiff::SignedDuration;
use tokio::sync::Notify;

use crate::activity_rows::{Activity, AgentSession, delete_activity, record_activity};
use crate::profiles::AgentProfiles;

/// Days for which activity is kept: a quarter, which is enough to show a trend.
pub(crate) const RETENTION_DAYS: i64 = 92;
/// How long events are collected before they are written as a batch.
const BATCH_DELAY: Duration = Duration::from_millis(20);
/// How long a session in which only counters changed may wait to be written.
const RESTING_INTERVAL: Duration = Duration::from_secs(30);
/// How long a process runs before it deletes old records.
const CLEANUP_DELAY: Duration = Duration::from_mins(5);
/// How often old records are deleted.
const CLEANUP_INTERVAL: Duration = Duration::from_hours(6);

/// What waits to be written.
#[derive(Debug, Default)]
struct Pending {
    sessions: HashMap<McpSessionId, SessionRecord>,
    /// Sessions in which only counters changed, so that many calls are written at once.
    resting: HashMap<McpSessionId, SessionRecord>,
    activity: Vec<Activity>,
}

/// The journal of agents. Clones share it.
#[derive(Clone, Debug)]
pub struct Journal {
    workspace: Workspace,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    pending: Mutex<Pending>,
    /// Running calls, by number; recorded as interrupted if the process ends first.
    running: Mutex<HashMap<u64, (McpSessionId, Audit)>>,
    numbers: AtomicU64,
    wakeup: Notify,
    /// Serializes writes, so that an older state of a session never overwrites a newer one. The value says
    /// whether the journal is closed.
    writing: tokio::sync::Mutex<Closed>,
}

/// Whether the journal was closed.
#[derive(Debug, Default)]
struct Closed(bool);

impl Journal {
    /// Creates a journal with nothing to write.
    pub fn new(workspace: Workspace) -> Journal {
        Journal { workspace, state: Arc::default() }
    }

    /// Records an event.
    pub(crate) fn record_event(&self, session: &McpSessionId, event: &Event) {
        let event = match serde_json::to_string(event) {
            Ok(event) => event,
            Err(error) => {
                tracing::error!(%error, "failed to serialize an agent event");
                return;
            }
        };
        let at = self.workspace.clock.stamp();
        let done = Activity { at, session: session.as_str().to_owned(), event };
        self.state.pending.lock().expect("no holder panics").activity.push(done);
        self.state.wakeup.notify_one();
    }

    /// Records that a call began; returns the number that [`Journal::end_call`] needs.
    pub(crate) fn begin_call(&self, session: &McpSessionId, audit: &Audit) -> u64 {
        let number = self.state.numbers.fetch_add(1, Ordering::Relaxed);
        let call = (session.clone(), audit.clone());
        self.state.running.lock().expect("no holder panics").insert(number, call);
        number
    }

    /// Records how a call ended, unless the journal recorded it as interrupted before.
    pub(crate) fn end_call(&self, number: u64, session: &McpSessionId, audit: &Audit) {
        if self.state.running.lock().expect("no holder panics").remove(&number).is_some() {
            self.record_event(session, &Event::Audited(Box::new(audit.clone())));
        }
    }

    /// Records the state of a session. With `soon` it is written at once, or else within
    /// [`RESTING_INTERVAL`].
    pub(crate) fn save_session(&self, session: SessionRecord, soon: bool) {
        let mut pending = self.state.pending.lock().expect("no holder panics");
        let id = session.id.clone();
        if soon || pending.sessions.contains_key(&id) {
            pending.resting.remove(&id);
            pending.sessions.insert(id, session);
            drop(pending);
            self.state.wakeup.notify_one();
        } else {
            pending.resting.insert(id, session);
        }
    }

    /// Moves the sessions in which only counters changed to those to be written now.
    fn queue_resting(&self) {
        let mut pending = self.state.pending.lock().expect("no holder panics");
        let resting = std::mem::take(&mut pending.resting);
        pending.sessions.extend(resting);
    }

    /// Returns a session that has not been written yet.
    pub(crate) fn unsaved_session(&self, id: &McpSessionId) -> Option<SessionRecord> {
        let pending = self.state.pending.lock().expect("no holder panics");
        pending.resting.get(id).or_else(|| pending.sessions.get(id)).cloned()
    }

    /// Writes the journal and deletes old records, as long as this process runs.
    pub fn start_writing(&self, profiles: AgentProfiles) {
        if self.workspace.library.read_only().is_some() {
            return;
        }
        let journal = self.clone();
        tokio::spawn(async move {
            // Not at once: a short-lived process leaves that to a long-running one.
            let first = tokio::time::Instant::now() + CLEANUP_DELAY;
            let mut resting = tokio::time::interval(RESTING_INTERVAL);
            let mut cleanup = tokio::time::interval_at(first, CLEANUP_INTERVAL);
            loop {
                let clean_up = tokio::select! {
                    () = journal.state.wakeup.notified() => false,
                    _ = resting.tick() => {
                        journal.queue_resting();
                        false
                    }
                    _ = cleanup.tick() => true,
                    () = journal.workspace.wait_for_shutdown() => return,
                };
                // Events that happen together are written together.
                tokio::time::sleep(BATCH_DELAY).await;
                let done = if clean_up {
                    journal.delete_old(profiles.session_settings("", "").session_secs).await
                } else {
                    journal.write().await
                };
                if let Err(error) = done {
                    tracing::error!(%error, "failed to update the agent journal");
                }
            }
        });
    }

    /// Deletes old activity, and sessions that have not been used for `session_secs`.
    async fn delete_old(&self, session_secs: u64) -> Result<()> {
        let now = self.workspace.clock.now();
        let before = |hours: i64| {
            now.checked_sub(SignedDuration::from_hours(hours)).map_or(Timestamp::EPOCH, Timestamp::from)
        };
        self.delete_before(before(session_secs as i64 / 3600), before(RETENTION_DAYS * 24)).await
    }

    /// Writes what is waiting.
    ///
    /// # Errors
    /// If the database fails; nothing is lost then.
    pub(crate) async fn write(&self) -> Result<()> {
        let closed = self.state.writing.lock().await;
        if closed.0 { Ok(()) } else { self.write_all().await }
    }

    /// Writes what is pending and closes the journal. Running calls are recorded as interrupted.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn close(&self) -> Result<()> {
        let mut closed = self.state.writing.lock().await;
        closed.0 = true;
        let interrupted = std::mem::take(&mut *self.state.running.lock().expect("no holder panics"));
        for (session, mut audit) in interrupted.into_values() {
            "AutoKit closed before the call finished".clone_into(&mut audit.why);
            self.record_event(&session, &Event::Audited(Box::new(audit)));
        }
        self.queue_resting();
        self.write_all().await
    }

    /// Deletes sessions last used before `unused`, and activity before `before`.
    ///
    /// # Errors
    /// If the database fails.
    async fn delete_before(&self, unused: Timestamp, before: Timestamp) -> Result<()> {
        let closed = self.state.writing.lock().await;
        if closed.0 { Ok(()) } else { Ok(delete_activity(&self.workspace.library, unused, before).await?) }
    }

    async fn write_all(&self) -> Result<()> {
        let pending = {
            let mut pending = self.state.pending.lock().expect("no holder panics");
            let resting = std::mem::take(&mut pending.resting);
            std::mem::replace(&mut *pending, Pending { resting, ..Pending::default() })
        };
        let sessions = pending
            .sessions
            .values()
            .map(|session| {
                Ok(AgentSession {
                    id: session.id.as_str().to_owned(),
                    used: session.used.into(),
                    record: serde_json::to_string(session)
                        .map_err(|error| ApiError::internal(error.to_string()))?,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        // Keys in chronological order, with a random part because two processes may write at the same
        // instant.
        let first = pending.activity.first().map_or_else(String::new, |done| done.at.to_string());
        let key = format!("{first}-{}", autokit_workspace::token(4));
        let written = record_activity(&self.workspace.library, &key, &sessions, &pending.activity).await;
        if let Err(error) = written {
            let mut now = self.state.pending.lock().expect("no holder panics");
            for (id, session) in pending.sessions {
                // A session that changed meanwhile is newer.
                now.sessions.entry(id).or_insert(session);
            }
            let newer = std::mem::replace(&mut now.activity, pending.activity);
            now.activity.extend(newer);
            return Err(error.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use autokit_gateway::{CallOutcome, DecidedBy};
    use autokit_library::{Clock, Library, Storage};
    use serde_json::Value;

    use super::*;
    use crate::activity_rows::activity_since;

    fn audit(name: &str) -> Audit {
        Audit {
            id: name.to_owned(),
            name: name.to_owned(),
            provider: String::new(),
            profile: String::new(),
            client: String::new(),
            arguments: Value::Null,
            needed: Vec::new(),
            decided: DecidedBy::Rules,
            outcome: CallOutcome::Cancelled,
            why: String::new(),
            took_ms: 0.0,
        }
    }

    #[tokio::test]
    async fn running_calls_are_recorded_when_the_journal_closes() {
        let clock = Clock::system();
        let library = Library::open(Storage::Memory, clock.clone()).await.unwrap();
        let workspace = Workspace::new(library, clock, tokio::sync::broadcast::channel(1).0, false);
        let journal = Journal::new(workspace.clone());
        let session = McpSessionId::new("s");
        let done = journal.begin_call(&session, &audit("done"));
        let interrupted = journal.begin_call(&session, &audit("slow"));
        journal.end_call(done, &session, &Audit { outcome: CallOutcome::Done, ..audit("done") });
        journal.close().await.unwrap();
        // Too late: the call has been recorded.
        journal.end_call(interrupted, &session, &audit("slow"));
        let rows = activity_since(&workspace.library, Timestamp::EPOCH).await.unwrap();
        let recorded: Vec<(String, CallOutcome, String)> = rows
            .iter()
            .filter_map(|row| match serde_json::from_str(&row.event) {
                Ok(Event::Audited(audit)) => Some((audit.name, audit.outcome, audit.why)),
                _ => None,
            })
            .collect();
        let call = |name: &str, outcome, why: &str| (name.to_owned(), outcome, why.to_owned());
        assert_eq!(
            recorded,
            [
                call("done", CallOutcome::Done, ""),
                call("slow", CallOutcome::Cancelled, "AutoKit closed before the call finished"),
            ]
        );
    }
}
