//! Proposals: stored until a person decides, with a log of every event.
//!
//! | module | contents |
//! |---|---|
//! | [`queue`](crate::queue) | pending proposals in memory, in sync with the store |
//! | [`propose`] | adding a draft: what is new, what is already pending, what was rejected |
//! | [`rebase`] | updating pending proposals when their card changes |
//! | [`accept`] | computing and writing an acceptance; approvals |
//! | [`decide`] | rejecting, reopening, commenting |
//! | [`shared`] | proposals of a team: received, and which are which there |
//! | [`withdraw`] | withdrawals by the proposal's own author after a later check |

mod accept;
mod decide;
mod load;
mod propose;
mod rebase;
pub(crate) mod shared;
mod withdraw;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use autokit_toolcard::{
    Approval, Draft, FieldDecision, Proposal, ProposalEvent, ProposalEventKind, ProposalId, ProposalState,
    Risk, Timestamp,
};
use serde::{Deserialize, Serialize};
use surrealdb::types::{Object, RecordId, object};

use crate::error::{LibraryError, Result};
use crate::rows::{ProposalEventRow, ProposalRow, key_text, proposal_number, timestamp};
use crate::step::Step;
use crate::store::Library;

pub use accept::{Acceptance, Accepted, Selection};
pub(crate) use propose::PlannedProposals;
pub use propose::Proposed;

/// The parts of a review that have no column of their own, stored as JSON.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Review {
    decisions: Vec<FieldDecision>,
    approvals: Vec<Approval>,
    rebased: BTreeMap<String, u32>,
    conflicts: Vec<String>,
    risk: Option<Risk>,
    assigned_to: Option<String>,
}

impl ProposalRow {
    fn into_proposal(self) -> Result<Proposal> {
        let unreadable = |what: &dyn std::fmt::Display| {
            LibraryError::malformed(format!("proposal {} cannot be read: {what}", key_text(&self.id)))
        };
        let review: Review = match &self.review {
            None => Review::default(),
            Some(text) => serde_json::from_str(text).map_err(|error| unreadable(&error))?,
        };
        Ok(Proposal {
            id: key_text(&self.id).parse().map_err(|error| unreadable(&error))?,
            draft: serde_json::from_str(&self.draft).map_err(|error| unreadable(&error))?,
            state: ProposalState::parse(&self.state).ok_or_else(|| unreadable(&self.state))?,
            proposed_by: self.proposed_by,
            created_at: timestamp(&self.created_at).map_err(|error| unreadable(&error))?,
            decided_at: self
                .decided_at
                .as_deref()
                .map(timestamp)
                .transpose()
                .map_err(|error| unreadable(&error))?,
            decided_by: self.decided_by,
            decision: self.decision,
            accepted: self.accepted,
            decisions: review.decisions,
            approvals: review.approvals,
            rebased: review.rebased,
            conflicts: review.conflicts,
            // Proposals from before risks were stored: medium until compared with their card.
            risk: review.risk.unwrap_or(Risk::Medium),
            assigned_to: review.assigned_to,
        })
    }
}

pub(crate) fn record(id: ProposalId) -> RecordId {
    // Zero-padded, so that text order is numeric order.
    RecordId::new("proposal", format!("{id:010}"))
}

/// Creates the row of a proposal; `change` is the change that accepting it made.
pub(crate) fn row(proposal: &Proposal, change: Option<&str>) -> Result<Object> {
    let text = |json: serde_json::Result<String>| json.map_err(LibraryError::malformed);
    let review = Review {
        decisions: proposal.decisions.clone(),
        approvals: proposal.approvals.clone(),
        rebased: proposal.rebased.clone(),
        conflicts: proposal.conflicts.clone(),
        risk: Some(proposal.risk),
        assigned_to: proposal.assigned_to.clone(),
    };
    Ok(object! {
        id: record(proposal.id),
        draft: text(serde_json::to_string(&proposal.draft))?,
        proposed_by: proposal.proposed_by.clone(),
        created_at: proposal.created_at.to_string(),
        state: proposal.state.as_str().to_owned(),
        decided_at: proposal.decided_at.map(|at| at.to_string()),
        decided_by: proposal.decided_by.clone(),
        decision: proposal.decision.clone(),
        accepted: proposal.accepted.clone(),
        change: change.map(str::to_owned),
        review: text(serde_json::to_string(&review))?,
        import: proposal.draft.arrived.as_ref().map(|arrived| arrived.import.clone()),
    })
}

/// A proposal that nobody decided on yet; its risk is known once it is compared with its card.
fn pending(id: ProposalId, draft: Draft, by: &str, created_at: Timestamp) -> Proposal {
    Proposal {
        id,
        draft,
        proposed_by: by.to_owned(),
        created_at,
        state: ProposalState::Pending,
        decided_at: None,
        decided_by: None,
        decision: None,
        accepted: Vec::new(),
        decisions: Vec::new(),
        approvals: Vec::new(),
        rebased: BTreeMap::new(),
        conflicts: Vec::new(),
        risk: Risk::Low,
        assigned_to: None,
    }
}

/// What is written about proposals in one transaction.
#[derive(Default)]
struct ProposalUpdate {
    changed: Vec<Proposal>,
    events: Vec<Object>,
    /// Rows of rejected values.
    rejections: Vec<Object>,
    /// Proposals whose rejections are deleted.
    reopened: Vec<ProposalId>,
    /// Rows of other tables.
    rows: Vec<Object>,
    /// The result to return when the same request is repeated.
    outcome: String,
}

impl Library {
    /// Returns the proposals in this state, or all of them, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn proposals(&self, state: Option<ProposalState>) -> Result<Vec<Proposal>> {
        if state == Some(ProposalState::Pending) {
            let pending = self.pending().await?;
            return Ok(pending.iter().map(|proposal| Proposal::clone(proposal)).collect());
        }
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM proposal WHERE $state = NONE OR state = $state ORDER BY id")
            .bind(("state", state.map(|state| state.as_str().to_owned())))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<ProposalRow> = response.take(0).map_err(|error| self.failed(&error))?;
        rows.into_iter().map(ProposalRow::into_proposal).collect()
    }

    /// Returns one proposal.
    ///
    /// # Errors
    /// [`LibraryError::NoProposal`].
    pub async fn proposal(&self, id: ProposalId) -> Result<Proposal> {
        let found = self.proposals_by_id(vec![record(id)]).await?;
        found.into_iter().next().ok_or(LibraryError::NoProposal(id))
    }

    async fn proposals_by_id(&self, ids: Vec<RecordId>) -> Result<Vec<Proposal>> {
        let rows: Vec<ProposalRow> = self.rows_by_id(ids).await?;
        rows.into_iter().map(ProposalRow::into_proposal).collect()
    }

    /// Returns the events of a proposal, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn proposal_events(&self, id: ProposalId) -> Result<Vec<ProposalEvent>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT id, at, by, what, why FROM proposal_event WHERE proposal = $id ORDER BY at, id")
            .bind(("id", proposal_number(id)))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<ProposalEventRow> = response.take(0).map_err(|error| self.failed(&error))?;
        let event = |row: ProposalEventRow| -> Result<ProposalEvent> {
            let kind = ProposalEventKind::parse(&row.what)
                .ok_or_else(|| LibraryError::malformed(format!("{:?} is not an event", row.what)))?;
            Ok(ProposalEvent { at: timestamp(&row.at)?, by: row.by, kind, why: row.why })
        };
        rows.into_iter().map(event).collect()
    }

    /// Returns the change that accepting a proposal made, if it was accepted.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn change_of_proposal(&self, id: ProposalId) -> Result<Option<String>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT VALUE change FROM $id")
            .bind(("id", record(id)))
            .await
            .map_err(|error| self.failed(&error))?;
        let change: Vec<Option<String>> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(change.into_iter().next().flatten())
    }

    /// Writes changes to proposals that are not accepted, and updates the queue. The caller holds the
    /// `writer` lock.
    async fn write_update(&self, update: ProposalUpdate, request: Option<&str>, reason: &str) -> Result<()> {
        let rows = update.changed.iter().map(|proposal| row(proposal, None)).collect::<Result<Vec<_>>>()?;
        let close = object! {
            forgiven: update.reopened.into_iter().map(proposal_number).collect::<Vec<_>>(),
            request: request.map(|key| RecordId::new("request", key)),
            outcome: update.outcome,
            at: self.clock.stamp().to_string(),
        };
        self.queue_stale.store(true, Ordering::Release);
        let steps = vec![
            Step::Put(rows),
            Step::Events(update.events),
            Step::Put(update.rejections),
            Step::Put(update.rows),
            Step::Close(close),
        ];
        self.apply_change(steps, Vec::new(), reason).await?;
        let mut queue = self.queue.write().expect("no reader panics");
        for proposal in update.changed {
            queue.put(proposal);
        }
        drop(queue);
        self.queue_stale.store(false, Ordering::Release);
        Ok(())
    }

    /// Returns the proposal that an earlier call with this request key was about.
    async fn proposal_of_request(&self, request: Option<&str>) -> Result<Option<ProposalId>> {
        let Some(text) = self.outcome_text(request).await? else { return Ok(None) };
        let id = text
            .parse()
            .map_err(|_| LibraryError::Invalid("this request key belongs to another request".to_owned()))?;
        Ok(Some(id))
    }

    /// Creates the row of an event. Its id keeps events with the same timestamp in order.
    fn event(&self, id: ProposalId, at: Timestamp, by: &str, kind: ProposalEventKind, why: &str) -> Object {
        let step = self.event_count.fetch_add(1, Ordering::Relaxed);
        object! {
            id: RecordId::new("proposal_event", format!("{id:010}|{at}|{step:010}")),
            proposal: proposal_number(id),
            at: at.to_string(),
            by: by.to_owned(),
            what: kind.as_str().to_owned(),
            why: why.to_owned(),
        }
    }
}

/// Creates the rows that record the rejection of these fields.
fn rejections(proposal: &Proposal, fields: &[String], by: &str, at: Timestamp) -> Vec<Object> {
    let draft: &Draft = &proposal.draft;
    let rejected = draft.fields.iter().filter(|field| fields.contains(&field.field));
    rejected
        .map(|field| {
            object! {
                id: RecordId::new("rejection", draft.rejection_key(field)),
                proposal: proposal_number(proposal.id),
                subject: draft.subject().to_string(),
                field: field.field.clone(),
                value: field.value.as_ref().map(ToString::to_string),
                basis: draft.basis.clone(),
                by: by.to_owned(),
                at: at.to_string(),
            }
        })
        .collect()
}
