//! What agents did, and how their sessions stand: kept in memory at once, written down beside their work.
//!
//! What happened is written within moments, many things at a time, so that a search does not wait for
//! the disk. Of a process that is killed, the last moments are lost, and nothing else.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use autokit_gateway::{Event, SessionRecord};
use autokit_library::{Activity, AgentSession, Clock, Library, stamp};
use tokio::sync::Notify;

use crate::error::{ApiError, Result};

/// What waits to be written.
#[derive(Debug, Default)]
struct Waiting {
    sessions: HashMap<String, SessionRecord>,
    done: Vec<Activity>,
}

/// The journal of agents.
#[derive(Debug, Default)]
pub(in crate::engine) struct Journal {
    waiting: Mutex<Waiting>,
    news: Arc<Notify>,
    /// Tells apart what happened within one microsecond.
    count: AtomicU64,
    /// One writer at a time, so that an older state of a session never follows a newer one.
    writing: tokio::sync::Mutex<()>,
}

impl Journal {
    /// Notes what happened.
    pub(super) fn note(&self, session: &str, event: &Event, clock: &Clock) {
        let event = match serde_json::to_string(event) {
            Ok(event) => event,
            Err(error) => {
                tracing::error!(%error, "what an agent did cannot be written down");
                return;
            }
        };
        let now = clock.now();
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let done = Activity {
            key: format!("{:020}-{:010}", now.as_microsecond(), count % 10_000_000_000),
            at: stamp(now),
            session: session.to_owned(),
            event,
        };
        self.waiting.lock().expect("no holder panics").done.push(done);
        self.news.notify_one();
    }

    /// Keeps a session as it stands.
    pub(super) fn keep(&self, session: SessionRecord) {
        self.waiting.lock().expect("no holder panics").sessions.insert(session.id.clone(), session);
        self.news.notify_one();
    }

    /// A session that waits to be written.
    pub(super) fn kept(&self, id: &str) -> Option<SessionRecord> {
        self.waiting.lock().expect("no holder panics").sessions.get(id).cloned()
    }

    /// Comes when there is something to write.
    pub(in crate::engine) fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.news)
    }

    /// Writes down what waits.
    ///
    /// # Errors
    /// When the database fails; then it still waits.
    pub(in crate::engine) async fn write(&self, library: &Library) -> Result<()> {
        let _turn = self.writing.lock().await;
        let waiting = std::mem::take(&mut *self.waiting.lock().expect("no holder panics"));
        let sessions = waiting
            .sessions
            .values()
            .map(|session| {
                Ok(AgentSession {
                    id: session.id.clone(),
                    used: stamp(session.used),
                    record: serde_json::to_string(session)
                        .map_err(|error| ApiError::internal(error.to_string()))?,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let written = library.record_activity(&sessions, &waiting.done).await;
        if let Err(error) = written {
            let mut now = self.waiting.lock().expect("no holder panics");
            for (id, session) in waiting.sessions {
                // One that changed meanwhile is newer.
                now.sessions.entry(id).or_insert(session);
            }
            let newer = std::mem::replace(&mut now.done, waiting.done);
            now.done.extend(newer);
            return Err(error.into());
        }
        Ok(())
    }
}
