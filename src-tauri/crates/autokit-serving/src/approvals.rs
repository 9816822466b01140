//! Agents' calls that wait for a person's approval.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use autokit_api::commands::{AnswerApproval, Context, Handle, WaitApprovals};
use autokit_api::{ApprovalAnswer, ApprovalDecision, ApprovalRequest, ApprovalRequests, ApprovalsWait};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::McpSessionId;
use autokit_policy::{Need, Permission};
use autokit_workspace::workspace::Workspace;
use lru::LruCache;
use tokio::sync::{oneshot, watch};

use crate::profiles::AgentProfiles;

/// How long a call waits for approval. Agents give up after a minute or two themselves.
pub(crate) const APPROVAL_TIMEOUT: Duration = Duration::from_mins(2);
/// How long `approvals_wait` waits for a change before it returns.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// How long a client still counts as watching after its last request.
const WATCHER_GRACE: Duration = Duration::from_secs(5);
/// Most calls that wait at a time. Nobody reads more than that, and whoever has to answer hundreds of calls
/// stops reading them.
const MAX_WAITING: usize = 20;
/// Most calls of one session that wait at a time, so that one agent does not block the others.
const MAX_WAITING_PER_SESSION: usize = 3;
/// Most sessions whose approvals are remembered; the least recently used one is evicted.
const SESSIONS: NonZeroUsize = NonZeroUsize::new(1_000).expect("not zero");

struct WaitingCall {
    request: ApprovalRequest,
    answer: oneshot::Sender<ApprovalDecision>,
}

/// The clients that watch for waiting calls.
#[derive(Debug, Default)]
struct Watchers {
    now: usize,
    last: Option<Instant>,
}

/// The calls that wait for approval, and what was approved for whole sessions.
pub(crate) struct PendingApprovals {
    waiting: Mutex<Vec<WaitingCall>>,
    /// Incremented whenever `waiting` changes.
    version: watch::Sender<u64>,
    watchers: Mutex<Watchers>,
    granted: Mutex<LruCache<McpSessionId, HashSet<Need>>>,
}

impl std::fmt::Debug for PendingApprovals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingApprovals").finish_non_exhaustive()
    }
}

impl Default for PendingApprovals {
    fn default() -> PendingApprovals {
        PendingApprovals {
            waiting: Mutex::default(),
            version: watch::Sender::new(1),
            watchers: Mutex::default(),
            granted: Mutex::new(LruCache::new(SESSIONS)),
        }
    }
}

/// Counts as a watching client until it is dropped.
struct Watcher<'a>(&'a PendingApprovals);

impl<'a> Watcher<'a> {
    fn new(pending: &'a PendingApprovals) -> Watcher<'a> {
        pending.watchers.lock().expect("no holder panics").now += 1;
        Watcher(pending)
    }
}

impl Drop for Watcher<'_> {
    fn drop(&mut self) {
        let mut watchers = self.0.watchers.lock().expect("no holder panics");
        watchers.now -= 1;
        watchers.last = Some(Instant::now());
    }
}

/// A call that waits for approval, until this is dropped.
pub(crate) struct PendingApproval<'a> {
    pending: &'a PendingApprovals,
    id: String,
    answer: oneshot::Receiver<ApprovalDecision>,
}

impl PendingApproval<'_> {
    /// Waits for the person's answer; `None` if there is none in time.
    pub(crate) async fn answer(&mut self) -> Option<ApprovalDecision> {
        match tokio::time::timeout(APPROVAL_TIMEOUT, &mut self.answer).await {
            Ok(Ok(reply)) => Some(reply),
            Ok(Err(_)) | Err(_) => None,
        }
    }
}

impl Drop for PendingApproval<'_> {
    fn drop(&mut self) {
        self.pending.remove(&self.id);
    }
}

impl PendingApprovals {
    /// Returns whether somebody would see a waiting call.
    pub(crate) fn has_watchers(&self) -> bool {
        let watchers = self.watchers.lock().expect("no holder panics");
        watchers.now > 0 || watchers.last.is_some_and(|last| last.elapsed() < WATCHER_GRACE)
    }

    /// Queues a call for approval; `None` if too many calls wait.
    pub(crate) fn enqueue(&self, request: ApprovalRequest) -> Option<PendingApproval<'_>> {
        let (answer, receiver) = oneshot::channel();
        let id = request.id.clone();
        let mut waiting = self.waiting.lock().expect("no holder panics");
        let of_session = waiting.iter().filter(|other| other.request.session == request.session).count();
        if waiting.len() >= MAX_WAITING || of_session >= MAX_WAITING_PER_SESSION {
            return None;
        }
        waiting.push(WaitingCall { request, answer });
        drop(waiting);
        self.version.send_modify(|version| *version += 1);
        Some(PendingApproval { pending: self, id, answer: receiver })
    }

    /// Removes a call from those that wait.
    fn remove(&self, id: &str) -> Option<WaitingCall> {
        let mut waiting = self.waiting.lock().expect("no holder panics");
        let at = waiting.iter().position(|waiting| waiting.request.id == id)?;
        let removed = waiting.remove(at);
        drop(waiting);
        self.version.send_modify(|version| *version += 1);
        Some(removed)
    }

    /// Returns whether all of this was approved for a session.
    pub(crate) fn is_granted(&self, session: &McpSessionId, needs: &[Need]) -> bool {
        let mut granted = self.granted.lock().expect("no holder panics");
        granted.get(session).is_some_and(|granted| needs.iter().all(|need| granted.contains(need)))
    }

    fn grant(&self, session: &McpSessionId, needs: &[Need]) {
        let mut granted = self.granted.lock().expect("no holder panics");
        granted.get_or_insert_mut(session.clone(), HashSet::new).extend(needs.iter().cloned());
    }

    fn list(&self) -> ApprovalRequests {
        let version = *self.version.borrow();
        let waiting = self.waiting.lock().expect("no holder panics");
        ApprovalRequests { version, asks: waiting.iter().map(|waiting| waiting.request.clone()).collect() }
    }
}

/// Decides on calls by the rules of profiles and by people's approvals. Clones share the waiting calls.
#[derive(Clone, Debug)]
pub struct Approvals {
    pub(crate) workspace: Workspace,
    pub(crate) profiles: AgentProfiles,
    pub(crate) pending: Arc<PendingApprovals>,
}

impl Approvals {
    /// Creates the approvals, without waiting calls.
    pub fn new(workspace: Workspace, profiles: AgentProfiles) -> Approvals {
        Approvals { workspace, profiles, pending: Arc::default() }
    }

    async fn answer_request(&self, answer: &ApprovalAnswer) -> Result<()> {
        let not_waiting = || {
            ApiError::new(
                ErrorCode::NotFound,
                "this call is no longer waiting for approval",
                "The agent may have cancelled it; it can try again.",
            )
        };
        let request = self
            .pending
            .list()
            .asks
            .into_iter()
            .find(|request| request.id == answer.id)
            .ok_or_else(not_waiting)?;
        // Saved first: the agent must not continue on an approval that could not be saved.
        match answer.reply {
            ApprovalDecision::Always if request.can_always => {
                self.profiles.set_permission(&request.profile, &request.needs, Permission::Allow).await?;
            }
            ApprovalDecision::Always => {
                return Err(ApiError::new(
                    ErrorCode::Invalid,
                    "a rule for everyone requires approval every time",
                    "Allow it once or for the session, or let profiles override that rule in Settings, Permissions.",
                ));
            }
            ApprovalDecision::Never => {
                self.profiles.set_permission(&request.profile, &request.needs, Permission::Deny).await?;
            }
            ApprovalDecision::Session => self.pending.grant(&request.session, &request.needs),
            ApprovalDecision::Once | ApprovalDecision::No => {}
        }
        let waiting = self.pending.remove(&answer.id).ok_or_else(not_waiting)?;
        let sent = waiting.answer.send(answer.reply).map_err(|_| not_waiting());
        self.answer_decided();
        sent
    }

    /// Answers waiting calls that the rules or a session's approvals decide by now.
    fn answer_decided(&self) {
        for request in self.pending.list().asks {
            let Some(policy) = self.profiles.policy(&request.profile) else { continue };
            let reply = match policy.decide(&request.needs).permission {
                Permission::Allow => ApprovalDecision::Once,
                Permission::Deny => ApprovalDecision::No,
                Permission::Ask if self.pending.is_granted(&request.session, &request.needs) => {
                    ApprovalDecision::Once
                }
                Permission::Ask => continue,
            };
            if let Some(waiting) = self.pending.remove(&request.id) {
                // The agent may have disconnected.
                let _ = waiting.answer.send(reply);
            }
        }
    }
}

#[async_trait]
impl Handle<WaitApprovals> for Approvals {
    async fn handle(&self, _: &Context, request: ApprovalsWait) -> Result<ApprovalRequests> {
        let pending = &self.pending;
        let _watching = Watcher::new(pending);
        let mut version = pending.version.subscribe();
        let changed = version.wait_for(|version| *version != request.after);
        // The sender lives as long as the engine. A timeout is not an error.
        tokio::select! {
            _ = tokio::time::timeout(MAX_WAIT, changed) => {}
            () = self.workspace.stopping().cancelled() => {}
        }
        Ok(pending.list())
    }
}

#[async_trait]
impl Handle<AnswerApproval> for Approvals {
    async fn handle(&self, _: &Context, request: ApprovalAnswer) -> Result<ApprovalRequests> {
        self.answer_request(&request).await?;
        Ok(self.pending.list())
    }
}
