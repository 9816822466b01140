//! What agents did, and how their sessions stand: kept in memory at once, written down beside their work.
//!
//! What happened is written within moments, many things at a time, so that a search does not wait for
//! the disk. Of a process that is killed, the last moments are lost, and nothing else.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use autokit_error::{ApiError, Result};
use autokit_gateway::{Audit, Event, SessionRecord};
use autokit_library::{Activity, AgentSession, Clock, Library, stamp};
use tokio::sync::Notify;

/// What waits to be written.
#[derive(Debug, Default)]
struct Waiting {
    sessions: HashMap<String, SessionRecord>,
    /// Those of which only the figures changed: many calls are written as one.
    resting: HashMap<String, SessionRecord>,
    done: Vec<Activity>,
}

/// The journal of agents.
#[derive(Debug, Default)]
pub(in crate::engine) struct Journal {
    waiting: Mutex<Waiting>,
    /// Calls that are not over, by number: written down also when the process ends before they do.
    under_way: Mutex<HashMap<u64, (String, Audit)>>,
    numbers: AtomicU64,
    news: Arc<Notify>,
    /// One writer at a time, so that an older state of a session never follows a newer one; whether it may
    /// still write.
    writing: tokio::sync::Mutex<Closed>,
}

/// Whether the library was given up.
#[derive(Debug, Default)]
struct Closed(bool);

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
        let done = Activity { at: stamp(clock.now()), session: session.to_owned(), event };
        self.waiting.lock().expect("no holder panics").done.push(done);
        self.news.notify_one();
    }

    /// Notes that a call has begun; gives the number by which it ends.
    pub(super) fn begin(&self, session: &str, audit: &Audit) -> u64 {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let begun = (session.to_owned(), audit.clone());
        self.under_way.lock().expect("no holder panics").insert(number, begun);
        number
    }

    /// Notes how a call ended, if nothing was noted before.
    pub(super) fn end(&self, number: u64, session: &str, audit: &Audit, clock: &Clock) {
        if self.under_way.lock().expect("no holder panics").remove(&number).is_some() {
            self.note(session, &Event::Audited(Box::new(audit.clone())), clock);
        }
    }

    /// Keeps a session as it stands; written soon, or with the next that is, or after a while.
    pub(super) fn keep(&self, session: SessionRecord, soon: bool) {
        let mut waiting = self.waiting.lock().expect("no holder panics");
        let id = session.id.clone();
        if soon || waiting.sessions.contains_key(&id) {
            waiting.resting.remove(&id);
            waiting.sessions.insert(id, session);
            drop(waiting);
            self.news.notify_one();
        } else {
            waiting.resting.insert(id, session);
        }
    }

    /// Lets those that rest be written as well.
    pub(in crate::engine) fn hurry(&self) {
        let mut waiting = self.waiting.lock().expect("no holder panics");
        let resting = std::mem::take(&mut waiting.resting);
        waiting.sessions.extend(resting);
    }

    /// A session that waits to be written.
    pub(super) fn kept(&self, id: &str) -> Option<SessionRecord> {
        let waiting = self.waiting.lock().expect("no holder panics");
        waiting.resting.get(id).or_else(|| waiting.sessions.get(id)).cloned()
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
        let closed = self.writing.lock().await;
        if closed.0 { Ok(()) } else { self.write_all(library).await }
    }

    /// Writes down what waits, for the last time.
    ///
    /// # Errors
    /// When the database fails.
    pub(in crate::engine) async fn close(&self, library: &Library, clock: &Clock) -> Result<()> {
        let mut closed = self.writing.lock().await;
        closed.0 = true;
        let broken_off = std::mem::take(&mut *self.under_way.lock().expect("no holder panics"));
        for (session, mut audit) in broken_off.into_values() {
            "AutoKit ended before it was answered".clone_into(&mut audit.why);
            self.note(&session, &Event::Audited(Box::new(audit)), clock);
        }
        self.hurry();
        self.write_all(library).await
    }

    /// Forgets sessions not used since one time, and what was done before another (RFC 3339 in UTC).
    ///
    /// # Errors
    /// When the database fails.
    pub(in crate::engine) async fn tidy(&self, library: &Library, unused: &str, before: &str) -> Result<()> {
        let closed = self.writing.lock().await;
        if closed.0 { Ok(()) } else { Ok(library.forget_activity(unused, before).await?) }
    }

    async fn write_all(&self, library: &Library) -> Result<()> {
        let waiting = {
            let mut waiting = self.waiting.lock().expect("no holder panics");
            let resting = std::mem::take(&mut waiting.resting);
            std::mem::replace(&mut *waiting, Waiting { resting, ..Waiting::default() })
        };
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
        // Rows in their order; a part by chance, for two processes may write within one instant.
        let first = waiting.done.first().map_or_else(String::new, |done| done.at.clone());
        let key = format!("{first}-{}", crate::token(4));
        let written = library.record_activity(&key, &sessions, &waiting.done).await;
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

#[cfg(test)]
mod tests {
    use autokit_library::Place;
    use serde_json::Value;

    use super::*;

    fn audit(name: &str) -> Audit {
        Audit {
            id: name.to_owned(),
            name: name.to_owned(),
            provider: String::new(),
            profile: String::new(),
            client: String::new(),
            arguments: Value::Null,
            needed: Vec::new(),
            decided: "rules".to_owned(),
            outcome: "cancelled".to_owned(),
            why: String::new(),
            took_ms: 0.0,
        }
    }

    #[tokio::test]
    async fn calls_under_way_are_written_down_when_the_process_ends() {
        let clock = Clock::system();
        let library = Library::open(Place::Memory, clock.clone()).await.unwrap();
        let journal = Journal::default();
        let (done, broken_off) = (journal.begin("s", &audit("done")), journal.begin("s", &audit("slow")));
        journal.end(done, "s", &Audit { outcome: "done".to_owned(), ..audit("done") }, &clock);
        journal.close(&library, &clock).await.unwrap();
        // Too late: it has been told.
        journal.end(broken_off, "s", &audit("slow"), &clock);
        let rows = library.activity_since("").await.unwrap();
        let told: Vec<(String, String, String)> = rows
            .iter()
            .filter_map(|row| match serde_json::from_str(&row.event) {
                Ok(Event::Audited(audit)) => Some((audit.name, audit.outcome, audit.why)),
                _ => None,
            })
            .collect();
        let say =
            |name: &str, outcome: &str, why: &str| (name.to_owned(), outcome.to_owned(), why.to_owned());
        assert_eq!(
            told,
            [say("done", "done", ""), say("slow", "cancelled", "AutoKit ended before it was answered")]
        );
    }
}
