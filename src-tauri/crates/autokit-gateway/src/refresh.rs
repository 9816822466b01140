//! Updates the tools of a session to what its profile may call now.

use std::sync::{Arc, PoisonError};

use crate::context::{Definition, EvictionReason};
use crate::gateway::Gateway;
use crate::session::Session;
use crate::toolbox::Event;

impl Gateway {
    /// Removes the tools of a session that can no longer be called, and updates the definitions of those
    /// that changed. Returns whether anything changed.
    pub async fn refresh(&self, session: &Session) -> bool {
        let (id, profile, bound) = {
            let record = session.lock();
            let bound: Vec<(String, Definition)> = record
                .tools
                .iter()
                .map(|(name, bound)| (name.to_owned(), bound.definition.clone()))
                .collect();
            (record.id.clone(), record.profile.clone(), bound)
        };
        let mut changed = Vec::new();
        for (name, before) in bound {
            // A profile that no longer exists has no tools at all.
            let now = self.inner.toolbox.resolve(&before, &profile).await.unwrap_or_default();
            if now.as_ref() != Some(&before) {
                changed.push((name, before, now));
            }
        }
        if changed.is_empty() {
            return false;
        }
        let (revoked, record) = {
            let mut record = session.lock();
            let mut revoked = Vec::new();
            let mut count = 0;
            for (name, before, now) in changed {
                // Another tool may have taken the name since.
                if record.tools.get(&name).is_none_or(|bound| bound.definition.id != before.id) {
                    continue;
                }
                let updated = if let Some(now) = now {
                    record.tools.update_definition(&name, now)
                } else {
                    revoked.push(before.id);
                    record.tools.revoke(&name)
                };
                count += u64::from(updated);
            }
            if count == 0 {
                return false;
            }
            // Counted while the lock is held, so that no observer sees the new tools with the old count.
            session.count_changed(count);
            *self.changed().entry(profile).or_default() += count;
            (revoked, record.clone())
        };
        for tool in revoked {
            self.inner.toolbox.record_event(&id, Event::Gone { tool, why: EvictionReason::Revoked });
        }
        self.inner.toolbox.save_session(record, true);
        true
    }

    /// Refreshes all sessions of a profile that are in memory.
    pub(crate) async fn refresh_sessions(&self, profile: &str) {
        for session in self.inner.sessions.of_profile(profile) {
            self.refresh(&session).await;
        }
    }

    /// Returns how many tools of a profile's sessions were removed or changed.
    pub(crate) fn changed_tools(&self, profile: &str) -> u64 {
        self.changed().get(profile).copied().unwrap_or_default()
    }

    fn changed(&self) -> std::sync::MutexGuard<'_, std::collections::HashMap<String, u64>> {
        self.inner.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the names of AutoKit's own tools that a profile may use.
    pub(crate) fn own_tool_names(&self, profile: &str) -> Vec<String> {
        self.inner.toolbox.own_tools(profile).into_iter().map(|tool| tool.name).collect()
    }

    /// As [`Gateway::own_tool_names`], for the profile of a session.
    pub(crate) fn own_tool_names_in(&self, session: &Session) -> Vec<String> {
        let profile = session.lock().profile.clone();
        self.own_tool_names(&profile)
    }

    /// Releases a session without a connection from memory; it continues from where it was saved.
    pub(crate) fn release(&self, session: &Arc<Session>) {
        self.inner.sessions.release(session);
    }
}
