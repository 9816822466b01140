//! Notifies clients when tools of their sessions are removed or changed.
//!
//! Whenever the toolbox reports that tools may have changed (a card was deleted, a rule added, a server
//! disconnected), every connected session is refreshed and its client is sent
//! `notifications/tools/list_changed`. Clients of the stateless protocol are notified on their open
//! subscriptions (`subscriptions/listen`); without one, their next request sees the change.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionContext};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::gateway::Gateway;
use crate::session::{McpSessionId, Session};

/// The sessions whose clients are notified over one connection, until this is dropped.
#[derive(Debug)]
pub(crate) struct Subscribers {
    sessions: Mutex<HashSet<McpSessionId>>,
    ended: CancellationToken,
    _end_on_drop: DropGuard,
}

impl Default for Subscribers {
    fn default() -> Subscribers {
        let ended = CancellationToken::new();
        Subscribers { sessions: Mutex::default(), ended: ended.clone(), _end_on_drop: ended.drop_guard() }
    }
}

impl Subscribers {
    /// Notifies a client of changes to the tools of its session, as long as the connection lives. Then the
    /// session is released from memory.
    pub(crate) fn subscribe(&self, gateway: &Gateway, session: &Arc<Session>, peer: &Peer<RoleServer>) {
        let id = session.lock().id.clone();
        if !self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(id) {
            return;
        }
        let (gateway, session, peer) = (gateway.clone(), Arc::clone(session), peer.clone());
        let ended = self.ended.clone();
        let mut changes = gateway.toolbox().changes();
        tokio::spawn(async move {
            let state = || (session.changed(), gateway.own_tool_names_in(&session));
            let mut notified = state();
            let notifying = async {
                while changes.changed().await.is_ok() {
                    gateway.refresh(&session).await;
                    let now = state();
                    if now == notified {
                        continue;
                    }
                    notified = now;
                    if let Err(error) = peer.notify_tool_list_changed().await {
                        tracing::debug!(%error, "failed to notify a client of changed tools");
                        return;
                    }
                }
            };
            tokio::select! {
                () = notifying => ended.cancelled().await,
                () = ended.cancelled() => {}
            }
            gateway.release(&session);
        });
    }
}

impl Gateway {
    /// Notifies an open subscription whenever a tool is removed from a context of its profile, or changed.
    pub(crate) async fn notify_subscription(&self, profile: &str, subscription: &SubscriptionContext) {
        let mut changes = self.toolbox().changes();
        let state = || (self.changed_tools(profile), self.own_tool_names(profile));
        let mut notified = state();
        loop {
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = subscription.cancelled() => return,
            }
            self.refresh_sessions(profile).await;
            let now = state();
            if now == notified {
                continue;
            }
            notified = now;
            if let Err(error) = subscription.sink().notify_tool_list_changed().await {
                tracing::debug!(%error, "failed to notify a subscription of changed tools");
                return;
            }
        }
    }
}
