//! Hearing of changes as they happen.

use futures_util::FutureExt as _;
use futures_util::stream::{Stream, StreamExt as _, select_all};
use surrealdb::types::Value;

use crate::error::{Result, TeamError};
use crate::session::{Session, retried};

/// What changed, as far as a member may see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Cards: [`Session::changes`] returns them.
    Cards,
    /// Proposals, or comments on them.
    Proposals,
    /// Members, oneself among them: [`crate::Standing::narrowed`] says whether there is less to see.
    Members,
}

/// The tables that are watched.
const WATCHED: [(&str, Changed); 4] = [
    ("card", Changed::Cards),
    ("proposal", Changed::Proposals),
    ("comment", Changed::Proposals),
    ("member", Changed::Members),
];

impl Session {
    /// Reports changes until the connection is lost. The database tells a member of what they see only, and nothing of a
    /// card that they can see no longer: that changes [`crate::Standing::narrowed`].
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn watch(&self) -> Result<impl Stream<Item = Result<Changed>> + Send + 'static> {
        let mut streams = Vec::with_capacity(WATCHED.len());
        for (table, changed) in WATCHED {
            // Whoever begins to listen at the same time writes the same definition.
            let listen = retried(|| async { self.db().select::<Vec<Value>>(table).live().await }.boxed());
            let stream = self.client.answer(listen).await?;
            streams.push(stream.map(move |told| told.map(|_| changed).map_err(TeamError::from)).boxed());
        }
        Ok(select_all(streams))
    }
}
