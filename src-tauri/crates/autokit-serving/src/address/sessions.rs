//! HTTP sessions that survive a restart, so that clients can continue theirs.
//!
//! The gateway stores what a session found under the same id. This module stores the client's `initialize`
//! request, with which the session is restored when its id reaches a process that does not know it.

use std::future::Future;
use std::pin::Pin;

use autokit_workspace::workspace::Workspace;
use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};

use crate::activity_rows::{AgentSession, agent_session, delete_agent_session, record_activity};

/// Stores `initialize` requests in the library, beside the sessions they started.
pub(super) struct SavedSessions {
    workspace: Workspace,
}

/// A future of the SDK's trait, which is written for `async_trait`.
type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, SessionStoreError>> + Send + 'a>>;

fn row_id(session: &str) -> String {
    format!("greeting_{session}")
}

impl SavedSessions {
    pub(crate) fn new(workspace: Workspace) -> SavedSessions {
        SavedSessions { workspace }
    }

    async fn save(&self, session: &str, record: String) -> Result<(), SessionStoreError> {
        let row = AgentSession { id: row_id(session), used: self.workspace.clock.stamp(), record };
        Ok(record_activity(&self.workspace.library, "", &[row], &[]).await?)
    }
}

impl SessionStore for SavedSessions {
    fn load<'a, 'b, 'c>(&'a self, session: &'b str) -> StoreFuture<'c, Option<SessionState>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(async move {
            let Some(record) = agent_session(&self.workspace.library, &row_id(session)).await? else {
                return Ok(None);
            };
            let state = serde_json::from_str(&record)?;
            // Stored again to update its time of use, because unused sessions are deleted after a while.
            self.save(session, record).await?;
            Ok(Some(state))
        })
    }

    fn store<'a, 'b, 'd, 'c>(&'a self, session: &'b str, state: &'d SessionState) -> StoreFuture<'c, ()>
    where
        'a: 'c,
        'b: 'c,
        'd: 'c,
        Self: 'c,
    {
        Box::pin(async move { self.save(session, serde_json::to_string(state)?).await })
    }

    fn delete<'a, 'b, 'c>(&'a self, session: &'b str) -> StoreFuture<'c, ()>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(async move { Ok(delete_agent_session(&self.workspace.library, &row_id(session)).await?) })
    }
}
