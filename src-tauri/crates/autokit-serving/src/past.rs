//! Past sessions of agents, as far as they tell which tools a new one will call.

use std::sync::Arc;

use autokit_error::Result;
use autokit_gateway::preload::{PastSession, past_sessions};
use autokit_gateway::{Event, McpSessionId};
use autokit_toolcard::Timestamp;
use autokit_workspace::workspace::Workspace;
use jiff::SignedDuration;

use crate::activity_rows::{Activity, activity_since};

/// How far back sessions are considered.
const DAYS: i64 = 30;
/// How long they are used before they are read again.
const FRESH: SignedDuration = SignedDuration::from_mins(10);

/// The past sessions, read when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct PastSessions {
    read: tokio::sync::Mutex<Option<(Timestamp, Arc<Vec<PastSession>>)>>,
}

impl PastSessions {
    /// Returns them in the order in which they began.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn sessions(&self, workspace: &Workspace) -> Result<Arc<Vec<PastSession>>> {
        let mut read = self.read.lock().await;
        let now = workspace.clock.stamp();
        if let Some((at, past)) = &*read
            && now.instant().duration_since(at.instant()) < FRESH
        {
            return Ok(Arc::clone(past));
        }
        let since = workspace.clock.now().checked_sub(SignedDuration::from_hours(DAYS * 24));
        let rows =
            activity_since(&workspace.library, since.map_or(Timestamp::EPOCH, Timestamp::from)).await?;
        let past = Arc::new(sessions_of(&rows));
        *read = Some((now, Arc::clone(&past)));
        Ok(past)
    }
}

/// Collects the sessions of recorded activity. Events of other versions tell nothing.
pub(crate) fn sessions_of(rows: &[Activity]) -> Vec<PastSession> {
    past_sessions(rows.iter().filter_map(|row| {
        let event = serde_json::from_str::<Event>(&row.event).ok()?;
        Some((McpSessionId::new(row.session.clone()), event))
    }))
}
