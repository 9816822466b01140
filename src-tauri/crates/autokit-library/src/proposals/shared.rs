//! Proposals of a team: which of them are which in its library, and how they stand there.

use std::collections::HashMap;

use autokit_toolcard::{
    Approval, Author, Draft, FieldDecision, FieldVerdict, Proposal, ProposalEvent, ProposalEventKind,
    ProposalId, ProposalState, Timestamp,
};
use surrealdb::types::{Object, RecordId, SurrealValue, object};

use super::rebase::SYSTEM_AUTHOR;
use super::{ProposalUpdate, rejections};
use crate::error::{LibraryError, Result};
use crate::queue::Queue;
use crate::rows::{key_text, proposal_id, timestamp};
use crate::step::Step;
use crate::store::Library;

/// Which proposal of a team's library a proposal here is, and what of it was the same at both when they were compared
/// last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalLink {
    /// Its key there; `None` until it is known that it arrived.
    pub key: Option<String>,
    /// The same for equal proposals.
    pub fingerprint: String,
    /// Its state.
    pub state: ProposalState,
    /// Who reviews it.
    pub assigned_to: Option<String>,
    /// The values that the member accepted while more reviewers have to, each as text with its field.
    pub approved: Vec<String>,
    /// Number of comments.
    pub comments: u32,
}

/// A comment on a proposal, made on another machine.
#[derive(Clone, Debug)]
pub struct ReceivedComment {
    /// Who wrote it.
    pub by: Author,
    /// When.
    pub at: Timestamp,
    /// The comment.
    pub text: String,
}

/// A proposal as it is in a team's library.
#[derive(Clone, Debug)]
pub struct ReceivedProposal {
    /// The proposal here; `None` for one that was never here.
    pub id: Option<ProposalId>,
    /// What is proposed, if it is new here: what is here stays as it is.
    pub draft: Option<Draft>,
    /// Who proposed it.
    pub proposed_by: Author,
    /// When.
    pub created_at: Timestamp,
    /// Who accepted it so far.
    pub approvals: Vec<Approval>,
    /// When it was decided.
    pub decided_at: Option<Timestamp>,
    /// Who decided it.
    pub decided_by: Option<String>,
    /// The reason, in the reviewer's words.
    pub decision: Option<String>,
    /// The accepted fields.
    pub accepted: Vec<String>,
    /// Decisions on each field.
    pub decisions: Vec<FieldDecision>,
    /// Its comments, as far as they may be new here.
    pub comments: Vec<ReceivedComment>,
    /// Which it is, its state and who reviews it.
    pub link: ProposalLink,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct LinkRow {
    id: RecordId,
    key: Option<String>,
    fingerprint: String,
    state: String,
    assigned_to: Option<String>,
    approved: Vec<String>,
    comments: i64,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct CommentRow {
    proposal: i64,
    at: String,
    by: String,
    why: String,
}

pub(crate) fn record(id: ProposalId) -> RecordId {
    RecordId::new("shared_proposal", format!("{id:010}"))
}

impl ProposalLink {
    fn row(&self, id: ProposalId) -> Object {
        object! {
            id: record(id),
            key: self.key.clone(),
            fingerprint: self.fingerprint.clone(),
            state: self.state.as_str().to_owned(),
            assigned_to: self.assigned_to.clone(),
            approved: self.approved.clone(),
            comments: i64::from(self.comments),
        }
    }
}

impl Library {
    /// Returns which proposals here are which in the team's library.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn proposal_links(&self) -> Result<HashMap<ProposalId, ProposalLink>> {
        let rows: Vec<LinkRow> = self.select("SELECT * FROM shared_proposal", Object::new()).await?;
        let link = |row: LinkRow| {
            let unreadable = || LibraryError::malformed(format!("{:?} cannot be read", row.id));
            let id = key_text(&row.id).parse().map_err(|_| unreadable())?;
            let link = ProposalLink {
                state: ProposalState::parse(&row.state).ok_or_else(unreadable)?,
                key: row.key,
                fingerprint: row.fingerprint,
                assigned_to: row.assigned_to,
                approved: row.approved,
                comments: row.comments as u32,
            };
            Ok((id, link))
        };
        rows.into_iter().map(link).collect()
    }

    /// Notes which proposals here are which in the team's library.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_proposal_links(&self, links: &[(ProposalId, ProposalLink)]) -> Result<()> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        let rows = links.iter().map(|(id, link)| link.row(*id)).collect();
        self.apply_change(vec![Step::Put(rows)], Vec::new(), "Share proposals").await
    }

    /// Writes proposals as they are in a team's library, and notes up to where it was read. What was decided here and not
    /// there is given up. Returns their numbers.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn receive_proposals(
        &self,
        received: &[ReceivedProposal],
        position: &str,
    ) -> Result<Vec<ProposalId>> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        let mut update = ProposalUpdate::default();
        let mut next = self.read_queue(Queue::next);
        let mut ids = Vec::with_capacity(received.len());
        for received in received {
            let proposal = match (received.id, &received.draft) {
                (None, Some(draft)) => {
                    let mut draft = draft.clone();
                    self.aim_at_card(&mut draft);
                    let id = next;
                    next = next.successor();
                    super::pending(id, draft, &received.proposed_by.0, received.created_at)
                }
                (id, _) => self.proposal(id.unwrap_or_default()).await?,
            };
            ids.push(proposal.id);
            self.receive_proposal(proposal, received, &mut update).await?;
        }
        update.rows.push(object! { id: RecordId::new("sync", "now"), position: position.to_owned() });
        self.write_update(update, None, "Receive the team's proposals").await?;
        Ok(ids)
    }

    async fn receive_proposal(
        &self,
        mut proposal: Proposal,
        received: &ReceivedProposal,
        update: &mut ProposalUpdate,
    ) -> Result<()> {
        let (id, state) = (proposal.id, received.link.state);
        let mut happened = Vec::new();
        if received.id.is_none() {
            let why = proposal.draft.reason.clone();
            happened.push((received.created_at, &received.proposed_by.0, ProposalEventKind::Proposed, why));
        }
        for approval in &received.approvals {
            let is_known =
                proposal.approvals.iter().any(|known| known.by == approval.by && known.at == approval.at);
            if !is_known && state == ProposalState::Pending {
                let fields = approval.values.keys().cloned().collect::<Vec<_>>().join(", ");
                happened.push((approval.at, &approval.by, ProposalEventKind::Approved, fields));
            }
        }
        let known = match received.id {
            Some(id) if !received.comments.is_empty() => self.proposal_events(id).await?,
            _ => Vec::new(),
        };
        let is_known = |comment: &&ReceivedComment| {
            known.iter().any(|event| {
                event.kind == ProposalEventKind::Commented
                    && event.at == comment.at
                    && event.why == comment.text
            })
        };
        for comment in received.comments.iter().filter(|comment| !is_known(comment)) {
            happened.push((comment.at, &comment.by.0, ProposalEventKind::Commented, comment.text.clone()));
        }
        let system = SYSTEM_AUTHOR.to_owned();
        if proposal.state != state {
            let kind = match state {
                ProposalState::Pending => ProposalEventKind::Undone,
                ProposalState::Accepted => ProposalEventKind::Accepted,
                ProposalState::Rejected => ProposalEventKind::Rejected,
                ProposalState::Withdrawn => ProposalEventKind::Withdrawn,
            };
            let why = match state {
                ProposalState::Accepted => received.accepted.join(", "),
                _ => received.decision.clone().unwrap_or_default(),
            };
            let at = received.decided_at.unwrap_or_else(|| self.clock.stamp());
            happened.push((at, received.decided_by.as_ref().unwrap_or(&system), kind, why));
            if state == ProposalState::Pending {
                update.reopened.push(id);
            }
        }
        if proposal.assigned_to != received.link.assigned_to {
            let to = received.link.assigned_to.clone().unwrap_or_default();
            happened.push((self.clock.stamp(), &system, ProposalEventKind::Assigned, to));
        }
        happened.sort_by_key(|(at, ..)| *at);
        update.events.extend(happened.iter().map(|(at, by, kind, why)| self.event(id, *at, by, *kind, why)));

        proposal.set_pending();
        proposal.state = state;
        proposal.decided_at = received.decided_at;
        proposal.decided_by.clone_from(&received.decided_by);
        proposal.decision.clone_from(&received.decision);
        proposal.accepted.clone_from(&received.accepted);
        proposal.decisions.clone_from(&received.decisions);
        proposal.approvals.clone_from(&received.approvals);
        proposal.assigned_to.clone_from(&received.link.assigned_to);
        if state == ProposalState::Pending {
            // That it is based on what the card says here is no news.
            self.rebase_proposal(&mut proposal).await?;
        }
        let rejected =
            proposal.decisions.iter().filter(|decision| decision.verdict == FieldVerdict::Rejected);
        let rejected: Vec<String> = rejected.map(|decision| decision.field.clone()).collect();
        if let (Some(by), Some(at)) = (&proposal.decided_by, proposal.decided_at) {
            update.rejections.extend(rejections(&proposal, &rejected, by, at));
        }
        update.rows.push(received.link.row(id));
        update.changed.push(proposal);
        Ok(())
    }

    /// Returns comments that this person made after a time, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn comments_after(
        &self,
        by: &str,
        after: Option<Timestamp>,
    ) -> Result<Vec<(ProposalId, ProposalEvent)>> {
        let query = "SELECT proposal, at, by, why FROM proposal_event
             WHERE what = $what AND by = $by AND at > $after ORDER BY at";
        let variables = object! {
            what: ProposalEventKind::Commented.as_str(),
            by: by.to_owned(),
            after: after.map(|at| at.to_string()).unwrap_or_default(),
        };
        let rows: Vec<CommentRow> = self.select(query, variables).await?;
        let comment = |row: CommentRow| {
            let kind = ProposalEventKind::Commented;
            let event = ProposalEvent { at: timestamp(&row.at)?, by: row.by, kind, why: row.why };
            Ok(proposal_id(row.proposal).map(|id| (id, event)))
        };
        rows.into_iter().filter_map(|row| comment(row).transpose()).collect()
    }
}
