//! Hearing of changes as they happen.

use futures_util::FutureExt as _;
use futures_util::stream::{Stream, StreamExt as _, select_all};
use surrealdb::Notification;
use surrealdb::types::Value;

use crate::error::{Result, TeamError};
use crate::session::{Session, retried};

/// What changed, as far as a member may see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Cards: [`Session::changes`] returns them.
    Cards,
    /// Cards that this member may see no longer: [`Session::hidden`] returns them.
    Hidden,
    /// Proposals, or comments on them.
    Proposals,
    /// Members, oneself among them: [`crate::MemberAccess::narrowed`] says whether there is less to see.
    Members,
}

/// The tables that are watched.
const WATCHED: [(&str, Changed); 5] = [
    ("card", Changed::Cards),
    ("revocation", Changed::Hidden),
    ("proposal", Changed::Proposals),
    ("comment", Changed::Proposals),
    ("member", Changed::Members),
];

impl Session {
    /// Reports changes until the connection is lost. The database tells a member of what they see only. Once
    /// their role or groups change ([`crate::MemberAccess::narrowed`]), it tells nothing of what they see since, until it is
    /// called again.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn watch(&self) -> Result<impl Stream<Item = Result<Changed>> + Send + 'static> {
        let mut streams = Vec::with_capacity(WATCHED.len());
        for (table, changed) in WATCHED {
            // The statement keeps the audiences because it names them.
            let statement = format!("LIVE SELECT id FROM {table} WHERE $audiences != NONE");
            // Whoever begins to listen at the same time writes the same definition.
            let listen = retried(|| {
                let asked = self.reading(statement.clone());
                async { asked.await?.stream::<Notification<Value>>(1) }.boxed()
            });
            let stream = self.client.answer(listen).await?;
            streams.push(stream.map(move |told| told.map(|_| changed).map_err(TeamError::from)).boxed());
        }
        Ok(select_all(streams))
    }
}
