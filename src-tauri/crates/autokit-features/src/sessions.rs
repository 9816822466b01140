//! Agent sessions, in memory and in the library: started, changed, stored and loaded.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use async_trait::async_trait;
use autokit_api::commands::{Context, DeleteSessions, Handle, ListSessions};
use autokit_api::{Event, Nothing, Session, SessionNote, SessionsDelete, Turn, TurnKind, TurnState};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::SessionNote as StoredNote;
use autokit_toolcard::SessionId;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::agent::Agent;

/// Most sessions in memory; older ones are loaded from the library.
const MAX_IN_MEMORY: usize = 50;
/// Most sessions in a list; older ones are found by their id.
const MAX_LISTED: u32 = 200;

/// The sessions of this process.
#[derive(Debug, Default)]
pub struct Sessions {
    all: Mutex<HashMap<SessionId, SessionHandle>>,
    saving: tokio::sync::Mutex<()>,
    /// Sessions that were deleted: a turn that has just ended must not store its session again.
    deleted: Mutex<HashSet<SessionId>>,
    /// Running turns, including storing their sessions at the end.
    tasks: Mutex<tokio::task::JoinSet<()>>,
}

impl Sessions {
    /// Runs a turn in the background. The engine waits for it on shutdown.
    pub fn spawn(&self, turn: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().expect("no holder panics");
        // Reaps finished tasks; nothing else joins them.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(turn);
    }

    /// Forgets the named sessions, or all without a running turn. Returns those forgotten, and which of the stored
    /// sessions to delete: these or, if `kept`, all but these.
    fn forget(&self, named: Option<Vec<SessionId>>) -> Result<(Vec<SessionId>, Vec<SessionId>, bool)> {
        let mut all = self.all.lock().expect("no holder panics");
        // One without turns is about to start its first one.
        let in_progress: Vec<SessionId> = all
            .iter()
            .filter(|(_, entry)| running(&entry.state.borrow()) || entry.state.borrow().turns.is_empty())
            .map(|(id, _)| id.clone())
            .collect();
        let (ids, kept) = match named {
            Some(ids) if ids.iter().any(|id| in_progress.contains(id)) => {
                return Err(ApiError::new(
                    ErrorCode::Conflict,
                    "a session is still running",
                    "Wait for it, or stop it first.",
                ));
            }
            Some(ids) => (ids, false),
            None => (in_progress, true),
        };
        let is_deleted = |id: &SessionId, _: &mut SessionHandle| ids.contains(id) != kept;
        let mut forgotten: Vec<SessionId> = all.extract_if(is_deleted).map(|(id, _)| id).collect();
        if !kept {
            // One that is being loaded from the library is not in memory yet.
            forgotten.extend(ids.iter().cloned());
        }
        self.deleted.lock().expect("no holder panics").extend(forgotten.iter().cloned());
        Ok((forgotten, ids, kept))
    }

    /// Cancels all turns and waits until each is stored as cancelled.
    pub async fn stop_all(&self) {
        for entry in self.all.lock().expect("no holder panics").values() {
            entry.cancel.cancel();
        }
        let mut tasks = std::mem::take(&mut *self.tasks.lock().expect("no holder panics"));
        while tasks.join_next().await.is_some() {}
    }
}

/// A handle to a session in memory.
#[derive(Clone, Debug)]
pub struct SessionHandle {
    /// The current state; waiting commands subscribe to it.
    pub state: watch::Sender<Session>,
    /// Cancels the running turn.
    pub cancel: CancellationToken,
}

impl Agent {
    fn cached_session(&self, id: &SessionId) -> Option<SessionHandle> {
        self.sessions.all.lock().expect("no holder panics").get(id).cloned()
    }

    /// Returns a session in memory, loading a past one from the library.
    pub async fn session(&self, id: &SessionId) -> Result<SessionHandle> {
        if let Some(entry) = self.cached_session(id) {
            return Ok(entry);
        }
        let body = self.workspace.library.session(id).await?.ok_or_else(|| no_session(id))?;
        let session: Session = serde_json::from_str(&body)
            .map_err(|error| ApiError::internal(format!("session {id}: {error}")))?;
        Ok(self.cache_session(session))
    }

    fn cache_session(&self, session: Session) -> SessionHandle {
        let mut all = self.sessions.all.lock().expect("no holder panics");
        while all.len() >= MAX_IN_MEMORY {
            // Evicts the oldest session without a running turn; it is in the library. A session without
            // turns is not, so it stays.
            let is_evictable = |entry: &SessionHandle| {
                let session = entry.state.borrow();
                !session.turns.is_empty() && !running(&session)
            };
            let oldest = all
                .iter()
                .filter(|(_, entry)| is_evictable(entry))
                .map(|(id, entry)| (entry.state.borrow().at, id.clone()))
                .min();
            let Some((_, id)) = oldest else { break };
            all.remove(&id);
        }
        let id = session.id.clone();
        let entry = SessionHandle { state: watch::Sender::new(session), cancel: CancellationToken::new() };
        all.entry(id).or_insert(entry).clone()
    }

    /// Changes a session and notifies listeners.
    pub fn change(&self, entry: &SessionHandle, edit: impl FnOnce(&mut Session)) {
        let mut event = None;
        entry.state.send_modify(|session| {
            edit(session);
            session.version += 1;
            event = Some(Event::Session { session: session.id.clone(), version: session.version });
        });
        // Always there: the closure above runs exactly once.
        if let Some(event) = event {
            self.workspace.publish(event);
        }
    }

    /// Stores a session.
    pub async fn save_session(&self, entry: &SessionHandle) -> Result<()> {
        // One at a time, reading the state inside the lock: feedback on an answer must not be overwritten
        // by the end of the turn it is about.
        let _saving = self.sessions.saving.lock().await;
        let session = entry.state.borrow().clone();
        if self.sessions.deleted.lock().expect("no holder panics").contains(&session.id) {
            return Ok(());
        }
        let note = StoredNote {
            id: session.id.clone(),
            at: session.at,
            question: session.turns.first().map(|turn| turn.asked.clone()).unwrap_or_default(),
        };
        let body = serde_json::to_string(&session).map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(self.workspace.library.put_session(&note, &body).await?)
    }

    /// Starts a turn in a new session, or in an existing one without a running turn.
    pub async fn start_turn_in(
        &self,
        session: Option<&SessionId>,
        kind: TurnKind,
        query: &str,
        by: Option<&str>,
    ) -> Result<(SessionHandle, usize)> {
        if query.trim().is_empty() {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "the question is empty",
                "Describe what you need.",
            ));
        }
        let entry = match session {
            Some(id) => self.session(id).await?,
            None => self.cache_session(Session {
                id: SessionId::new(autokit_workspace::token(8)),
                at: self.workspace.clock.stamp(),
                version: 0,
                turns: Vec::new(),
            }),
        };
        let turn = Turn {
            kind,
            asked: query.trim().to_owned(),
            by: by.map(str::to_owned),
            at: Some(self.workspace.clock.stamp()),
            state: TurnState::Running,
            events: Vec::new(),
            answer: None,
            documents: Vec::new(),
            discovered: None,
            research: None,
            said: None,
            error: None,
            ms: 0,
        };
        let id = entry.state.borrow().id.clone();
        // A cancelled token stays cancelled, so each turn gets its own. Checked and inserted under the
        // lock: of two concurrent questions one is rejected.
        let (entry, at) = {
            let mut all = self.sessions.all.lock().expect("no holder panics");
            if self.sessions.deleted.lock().expect("no holder panics").contains(&id) {
                return Err(no_session(&id));
            }
            // If the session was loaded from the library twice concurrently, the first copy is the one
            // others watch.
            let state = all.get(&id).map_or_else(|| entry.state.clone(), |known| known.state.clone());
            if running(&state.borrow()) {
                return Err(ApiError::new(
                    ErrorCode::Conflict,
                    "this session is still running",
                    "Wait for it, or stop it first.",
                ));
            }
            let entry = SessionHandle { state, cancel: CancellationToken::new() };
            all.insert(id, entry.clone());
            let mut at = 0;
            self.change(&entry, |session| {
                session.turns.push(turn);
                at = session.turns.len() - 1;
            });
            (entry, at)
        };
        Ok((entry, at))
    }
}

#[async_trait]
impl Handle<ListSessions> for Agent {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<SessionNote>> {
        let notes = self.workspace.library.sessions(MAX_LISTED).await?;
        let note = |note: StoredNote| SessionNote { id: note.id, at: note.at, question: note.question };
        Ok(notes.into_iter().map(note).collect())
    }
}

#[async_trait]
impl Handle<DeleteSessions> for Agent {
    async fn handle(&self, context: &Context, request: SessionsDelete) -> Result<Vec<SessionNote>> {
        {
            let _saving = self.sessions.saving.lock().await;
            let newest = self.workspace.library.sessions(1).await?.pop();
            // In memory first, so that no turn starts in a session that is being deleted.
            let (forgotten, ids, kept) = self.sessions.forget(request.sessions)?;
            if let Err(error) = self.workspace.library.delete_sessions(&ids, kept).await {
                let mut deleted = self.sessions.deleted.lock().expect("no holder panics");
                deleted.retain(|id| !forgotten.contains(id));
                return Err(error.into());
            }
            // One is enough: whoever hears it reads the list again.
            if let Some(newest) = newest {
                self.workspace.publish(Event::Session { session: newest.id, version: 0 });
            }
        }
        Handle::<ListSessions>::handle(self, context, Nothing {}).await
    }
}

fn no_session(id: &SessionId) -> ApiError {
    let what = format!("session {:?} not found", id.as_str());
    ApiError::new(ErrorCode::NotFound, what, "Check your previous questions.")
}

/// Returns whether a turn of the session is running.
pub fn running(session: &Session) -> bool {
    session.turns.last().is_some_and(|turn| turn.state == TurnState::Running)
}
