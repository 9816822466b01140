//! Sessions: the state AutoKit keeps for each agent, and their limits (Kaman, section 6.4).

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::context::ToolContext;
use crate::guard::Guard;
use crate::searches::RecentSearches;
use crate::settings::Settings;

/// Seconds without a request after which a saved session is released from memory.
const RESTING_SECS: i64 = 15 * 60;

/// Id of an agent's session: the handle of a context, or the id of a connection together with the profile.
/// It is another kind of session than the one in which a person asks questions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(transparent)]
pub struct McpSessionId(String);

impl McpSessionId {
    /// Wraps an id, as sent by a client or as stored.
    pub fn new(text: impl Into<String>) -> McpSessionId {
        McpSessionId(text.into())
    }

    /// Returns the id of the session that a profile has on a connection.
    pub(crate) fn of_connection(connection: &str, profile: &str) -> McpSessionId {
        if profile.is_empty() {
            McpSessionId::new(connection)
        } else {
            McpSessionId(format!("{connection}@{profile}"))
        }
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The state of one agent's session. It can be saved and resumed in another process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Its id.
    pub id: McpSessionId,
    /// Profile of the agent; empty for everybody's.
    pub profile: String,
    /// The client program's own name.
    pub client: String,
    /// When it began.
    pub began: Timestamp,
    /// When it was last used.
    pub used: Timestamp,
    /// Its tools.
    pub tools: ToolContext,
    /// Detects loops.
    pub guard: Guard,
    /// What its latest searches found.
    pub searches: RecentSearches,
    /// Ids of all tools its searches bound.
    pub discovered: BTreeSet<String>,
    /// Of these, the ones it called.
    pub called: BTreeSet<String>,
    /// Tokens of the results of its calls.
    #[serde(default)]
    pub result_tokens: u64,
}

impl SessionRecord {
    /// Creates a session without any activity.
    pub fn new(id: McpSessionId, profile: String, client: String, now: Timestamp) -> SessionRecord {
        SessionRecord {
            id,
            profile,
            client,
            began: now,
            used: now,
            tools: ToolContext::default(),
            guard: Guard::default(),
            searches: RecentSearches::default(),
            discovered: BTreeSet::new(),
            called: BTreeSet::new(),
            result_tokens: 0,
        }
    }

    /// Returns the share of discovered tools that were called (equation 4); `None` if none were discovered.
    pub fn accuracy(&self) -> Option<f64> {
        (!self.discovered.is_empty()).then(|| self.called.len() as f64 / self.discovered.len() as f64)
    }
}

/// A session, shared by concurrent calls.
#[derive(Debug)]
pub struct Session {
    record: Mutex<SessionRecord>,
    /// How many of its tools were removed or changed without a request of the agent.
    changed: AtomicU64,
}

impl Session {
    /// Locks the session. The guard must not be held across an await.
    pub fn lock(&self) -> MutexGuard<'_, SessionRecord> {
        // After a panic while the lock was held, the session is still usable.
        self.record.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Session {
    fn new(record: SessionRecord) -> Session {
        Session { record: Mutex::new(record), changed: AtomicU64::new(0) }
    }

    /// Returns how many of its tools were removed or changed so far.
    pub(crate) fn changed(&self) -> u64 {
        self.changed.load(Ordering::SeqCst)
    }

    /// Counts tools that were removed or changed.
    pub(crate) fn count_changed(&self, tools: u64) {
        self.changed.fetch_add(tools, Ordering::SeqCst);
    }
}

/// The sessions of a process, limited in number and age by the settings.
#[derive(Debug, Default)]
pub struct Sessions {
    by_id: Mutex<HashMap<McpSessionId, Arc<Session>>>,
}

impl Sessions {
    /// Returns the session of this id unless it has expired, and marks it as used.
    pub fn get(&self, settings: &Settings, id: &McpSessionId, now: Timestamp) -> Option<Arc<Session>> {
        let sessions = self.lock();
        let session = sessions.get(id)?;
        let mut record = session.lock();
        if is_expired(settings, &record, now) {
            return None;
        }
        record.used = record.used.max(now);
        drop(record);
        Some(Arc::clone(session))
    }

    /// Adds a session and returns it, or returns the existing one of its id. Expired sessions are evicted
    /// and then, while there are too many, the one idle longest.
    pub fn insert(&self, settings: &Settings, record: SessionRecord, now: Timestamp) -> Arc<Session> {
        let mut sessions = self.lock();
        sessions.retain(|_, session| {
            let record = session.lock();
            // A session without a connection or a running call continues from where it was saved.
            let resting = Arc::strong_count(session) == 1 && idle_secs(&record, now) > RESTING_SECS;
            !resting && !is_expired(settings, &record, now)
        });
        if let Some(existing) = sessions.get(&record.id) {
            return Arc::clone(existing);
        }
        while sessions.len() >= settings.sessions.max(1) {
            let oldest =
                sessions.iter().min_by_key(|(_, session)| session.lock().used).map(|(id, _)| id.clone());
            let Some(oldest) = oldest else { break };
            sessions.remove(&oldest);
        }
        let id = record.id.clone();
        let session = Arc::new(Session::new(record));
        sessions.insert(id, Arc::clone(&session));
        session
    }

    /// Returns the sessions of a profile.
    pub(crate) fn of_profile(&self, profile: &str) -> Vec<Arc<Session>> {
        let sessions = self.lock();
        sessions.values().filter(|session| session.lock().profile == profile).cloned().collect()
    }

    /// Releases a session from memory, unless another one has taken its id.
    pub(crate) fn release(&self, session: &Arc<Session>) {
        let id = session.lock().id.clone();
        let mut sessions = self.lock();
        if sessions.get(&id).is_some_and(|existing| Arc::ptr_eq(existing, session)) {
            sessions.remove(&id);
        }
    }

    /// Returns the number of sessions.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns whether there are no sessions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns copies of all sessions, most recently used first.
    pub fn records(&self) -> Vec<SessionRecord> {
        let mut records: Vec<SessionRecord> =
            self.lock().values().map(|session| session.lock().clone()).collect();
        records.sort_by_key(|record| std::cmp::Reverse(record.used));
        records
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<McpSessionId, Arc<Session>>> {
        self.by_id.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Returns whether a session has expired.
pub fn is_expired(settings: &Settings, record: &SessionRecord, now: Timestamp) -> bool {
    idle_secs(record, now) > settings.session_secs as i64
}

/// Returns the seconds since the last request.
fn idle_secs(record: &SessionRecord, now: Timestamp) -> i64 {
    now.as_second() - record.used.as_second()
}

/// Creates an unguessable handle for a new context. Whoever knows it may use the context's tools.
///
/// # Errors
/// If the system cannot provide random bytes.
pub fn new_handle() -> Result<McpSessionId, getrandom::Error> {
    random_name("ctx").map(McpSessionId)
}

/// Returns a name nobody can guess, after a prefix that says what it names.
///
/// # Errors
/// If the system cannot provide random bytes.
pub(crate) fn random_name(prefix: &str) -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{prefix}_{}", hex::encode(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).expect("a time")
    }

    #[test]
    fn sessions_are_bounded_in_number_and_age() {
        let settings = Settings { sessions: 3, session_secs: 100, ..Settings::default() };
        let sessions = Sessions::default();
        let new = |id: &str, second| {
            sessions.insert(
                &settings,
                SessionRecord::new(McpSessionId::new(id), String::new(), String::new(), at(second)),
                at(second),
            )
        };
        let get = |id: &str, second| sessions.get(&settings, &McpSessionId::new(id), at(second));
        for (second, id) in [(0, "a"), (1, "b"), (2, "c")] {
            new(id, second);
        }
        assert!(get("a", 10).is_some());
        // "b" was idle longest.
        new("d", 11);
        assert_eq!(
            sessions.records().iter().map(|record| record.id.as_str()).collect::<Vec<_>>(),
            ["d", "a", "c"]
        );
        assert!(get("b", 12).is_none());
        // Expired but still in memory; evicted with the next insertion.
        assert!(get("c", 103).is_none());
        assert!(get("a", 103).is_some());
        new("e", 150);
        assert_eq!(
            sessions.records().iter().map(|record| record.id.as_str()).collect::<Vec<_>>(),
            ["e", "a"]
        );
        // An existing session is not replaced.
        new("a", 160).lock().client = "changed".to_owned();
        assert_eq!(get("a", 161).map(|session| session.lock().client.clone()).as_deref(), Some("changed"));
    }

    #[test]
    fn handles_are_long_and_unique() {
        let all: BTreeSet<McpSessionId> = (0..100).map(|_| new_handle().expect("random")).collect();
        assert!(all.len() == 100 && all.iter().all(|handle| handle.as_str().len() == 36));
    }
}
