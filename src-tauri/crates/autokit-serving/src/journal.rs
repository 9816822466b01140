//! What agents did, and how their sessions stand: kept in memory at once, written down beside their work.
//!
//! What happened is written within moments, many things at a time, so that a search does not wait for
//! the disk. Of a process that is killed, the last moments are lost, and nothing else.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autokit_error::{ApiError, Result};
use autokit_gateway::{Audit, Event, SessionRecord};
use autokit_library::{Activity, AgentSession, stamp};
use autokit_workspace::workspace::Workspace;
use jiff::SignedDuration;
use tokio::sync::Notify;

use crate::profiles::AgentProfiles;

/// Days what agents did is kept: a quarter shows a trend.
pub(crate) const KEPT_DAYS: i64 = 92;
/// How long what happens is gathered before it is written.
const GATHER: Duration = Duration::from_millis(20);
/// How long a session of which only the figures changed may wait to be written.
const REST: Duration = Duration::from_secs(30);
/// How long a process is there before it forgets what is old.
const TIDY_AFTER: Duration = Duration::from_mins(5);
/// How often what is old is forgotten.
const TIDY_EVERY: Duration = Duration::from_hours(6);

/// What waits to be written.
#[derive(Debug, Default)]
struct Waiting {
    sessions: HashMap<String, SessionRecord>,
    /// Those of which only the figures changed: many calls are written as one.
    resting: HashMap<String, SessionRecord>,
    done: Vec<Activity>,
}

/// The journal of agents; clones share it.
#[derive(Clone, Debug)]
pub struct Journal {
    workspace: Workspace,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: Mutex<Waiting>,
    /// Calls that are not over, by number: written down also when the process ends before they do.
    under_way: Mutex<HashMap<u64, (String, Audit)>>,
    numbers: AtomicU64,
    news: Notify,
    /// One writer at a time, so that an older state of a session never follows a newer one; whether it may
    /// still write.
    writing: tokio::sync::Mutex<Closed>,
}

/// Whether the library was given up.
#[derive(Debug, Default)]
struct Closed(bool);

impl Journal {
    /// Nothing waits to be written yet.
    pub fn new(workspace: Workspace) -> Journal {
        Journal { workspace, state: Arc::default() }
    }

    /// Notes what happened.
    pub(crate) fn note(&self, session: &str, event: &Event) {
        let event = match serde_json::to_string(event) {
            Ok(event) => event,
            Err(error) => {
                tracing::error!(%error, "what an agent did cannot be written down");
                return;
            }
        };
        let done = Activity { at: self.workspace.clock.stamp(), session: session.to_owned(), event };
        self.state.waiting.lock().expect("no holder panics").done.push(done);
        self.state.news.notify_one();
    }

    /// Notes that a call has begun; gives the number by which it ends.
    pub(crate) fn begin(&self, session: &str, audit: &Audit) -> u64 {
        let number = self.state.numbers.fetch_add(1, Ordering::Relaxed);
        let begun = (session.to_owned(), audit.clone());
        self.state.under_way.lock().expect("no holder panics").insert(number, begun);
        number
    }

    /// Notes how a call ended, if nothing was noted before.
    pub(crate) fn end(&self, number: u64, session: &str, audit: &Audit) {
        if self.state.under_way.lock().expect("no holder panics").remove(&number).is_some() {
            self.note(session, &Event::Audited(Box::new(audit.clone())));
        }
    }

    /// Keeps a session as it stands; written soon, or with the next that is, or after a while.
    pub(crate) fn keep(&self, session: SessionRecord, soon: bool) {
        let mut waiting = self.state.waiting.lock().expect("no holder panics");
        let id = session.id.clone();
        if soon || waiting.sessions.contains_key(&id) {
            waiting.resting.remove(&id);
            waiting.sessions.insert(id, session);
            drop(waiting);
            self.state.news.notify_one();
        } else {
            waiting.resting.insert(id, session);
        }
    }

    /// Lets those that rest be written as well.
    fn hurry(&self) {
        let mut waiting = self.state.waiting.lock().expect("no holder panics");
        let resting = std::mem::take(&mut waiting.resting);
        waiting.sessions.extend(resting);
    }

    /// A session that waits to be written.
    pub(crate) fn kept(&self, id: &str) -> Option<SessionRecord> {
        let waiting = self.state.waiting.lock().expect("no holder panics");
        waiting.resting.get(id).or_else(|| waiting.sessions.get(id)).cloned()
    }

    /// Writes the journal as long as this process lives, and forgets what is old.
    pub fn keep_writing(&self, profiles: AgentProfiles) {
        if self.workspace.library.read_only().is_some() {
            return;
        }
        let journal = self.clone();
        tokio::spawn(async move {
            // Not at once: a process that ends soon leaves it to one that stays.
            let first = tokio::time::Instant::now() + TIDY_AFTER;
            let mut resting = tokio::time::interval(REST);
            let mut tidying = tokio::time::interval_at(first, TIDY_EVERY);
            loop {
                let tidy = tokio::select! {
                    () = journal.state.news.notified() => false,
                    _ = resting.tick() => {
                        journal.hurry();
                        false
                    }
                    _ = tidying.tick() => true,
                    () = journal.workspace.given_up() => return,
                };
                // What happens together is written together.
                tokio::time::sleep(GATHER).await;
                let done = if tidy {
                    journal.forget_old(profiles.session_settings("", "").session_secs).await
                } else {
                    journal.write().await
                };
                if let Err(error) = done {
                    tracing::error!(%error, "the journal of agents could not be kept");
                }
            }
        });
    }

    /// Forgets what agents did long ago, and sessions that were not used for so many seconds.
    async fn forget_old(&self, session_secs: u64) -> Result<()> {
        let now = self.workspace.clock.now();
        let before = |hours: i64| {
            now.checked_sub(SignedDuration::from_hours(hours)).map_or_else(|_| String::new(), stamp)
        };
        self.tidy(&before(session_secs as i64 / 3600), &before(KEPT_DAYS * 24)).await
    }

    /// Writes down what waits.
    ///
    /// # Errors
    /// When the database fails; then it still waits.
    pub(crate) async fn write(&self) -> Result<()> {
        let closed = self.state.writing.lock().await;
        if closed.0 { Ok(()) } else { self.write_all().await }
    }

    /// Writes down what waits, for the last time.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn close(&self) -> Result<()> {
        let mut closed = self.state.writing.lock().await;
        closed.0 = true;
        let broken_off = std::mem::take(&mut *self.state.under_way.lock().expect("no holder panics"));
        for (session, mut audit) in broken_off.into_values() {
            "AutoKit ended before it was answered".clone_into(&mut audit.why);
            self.note(&session, &Event::Audited(Box::new(audit)));
        }
        self.hurry();
        self.write_all().await
    }

    /// Forgets sessions not used since one time, and what was done before another (RFC 3339 in UTC).
    ///
    /// # Errors
    /// When the database fails.
    async fn tidy(&self, unused: &str, before: &str) -> Result<()> {
        let closed = self.state.writing.lock().await;
        if closed.0 { Ok(()) } else { Ok(self.workspace.library.forget_activity(unused, before).await?) }
    }

    async fn write_all(&self) -> Result<()> {
        let waiting = {
            let mut waiting = self.state.waiting.lock().expect("no holder panics");
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
        let key = format!("{first}-{}", autokit_workspace::token(4));
        let written = self.workspace.library.record_activity(&key, &sessions, &waiting.done).await;
        if let Err(error) = written {
            let mut now = self.state.waiting.lock().expect("no holder panics");
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
    use autokit_gateway::{CallOutcome, DecidedBy};
    use autokit_library::{Clock, Library, Place};
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
            decided: DecidedBy::Rules,
            outcome: CallOutcome::Cancelled,
            why: String::new(),
            took_ms: 0.0,
        }
    }

    #[tokio::test]
    async fn calls_under_way_are_written_down_when_the_process_ends() {
        let clock = Clock::system();
        let library = Library::open(Place::Memory, clock.clone()).await.unwrap();
        let workspace = Workspace::new(library, clock, tokio::sync::broadcast::channel(1).0, false);
        let journal = Journal::new(workspace.clone());
        let (done, broken_off) = (journal.begin("s", &audit("done")), journal.begin("s", &audit("slow")));
        journal.end(done, "s", &Audit { outcome: CallOutcome::Done, ..audit("done") });
        journal.close().await.unwrap();
        // Too late: it has been told.
        journal.end(broken_off, "s", &audit("slow"));
        let rows = workspace.library.activity_since("").await.unwrap();
        let told: Vec<(String, CallOutcome, String)> = rows
            .iter()
            .filter_map(|row| match serde_json::from_str(&row.event) {
                Ok(Event::Audited(audit)) => Some((audit.name, audit.outcome, audit.why)),
                _ => None,
            })
            .collect();
        let say = |name: &str, outcome, why: &str| (name.to_owned(), outcome, why.to_owned());
        assert_eq!(
            told,
            [
                say("done", CallOutcome::Done, ""),
                say("slow", CallOutcome::Cancelled, "AutoKit ended before it was answered"),
            ]
        );
    }
}
