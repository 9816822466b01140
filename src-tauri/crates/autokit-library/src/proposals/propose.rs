//! Adding a draft: new values become pending, pending ones are merged, rejected ones stay rejected.

use std::collections::HashMap;

use autokit_toolcard::{Author, Draft, Proposal, ProposalEventKind, ProposalId, ProposalState, fields};
use surrealdb::types::{Object, RecordId, SurrealValue};

use super::ProposalUpdate;
use crate::error::Result;
use crate::rows::key_text;
use crate::store::Library;

/// What became of a draft, field by field.
#[derive(Clone, Debug)]
pub struct Proposed {
    /// The proposal that now holds the draft: a new one, a pending one it was merged into, or the one in
    /// which all of it was rejected.
    pub proposal: Proposal,
    /// Fields in the new proposal `proposal`.
    pub kept: Vec<String>,
    /// Fields merged into pending proposals.
    pub merged: Vec<String>,
    /// Fields rejected earlier on the basis of the same page; they are not proposed again.
    pub suppressed: Vec<String>,
}

/// What proposing several drafts would write.
pub(crate) struct PlannedProposals {
    /// New or changed proposals.
    pub(crate) proposals: Vec<Proposal>,
    /// Event rows.
    pub(crate) events: Vec<Object>,
    /// Indexes of drafts that change nothing: they are pending already, or were rejected.
    pub(crate) ignored: Vec<u32>,
}

/// A rejected value.
#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct RejectionRow {
    id: RecordId,
    proposal: i64,
    field: String,
}

impl Library {
    /// Stores what is new in a draft as a proposal.
    ///
    /// * A rejected value is left out while its page is the same. For a new card, a rejected name rejects the
    ///   whole draft.
    /// * A value that is already pending gets the evidence of both.
    /// * A newer value from the same origin replaces the pending one, which is recorded as an event.
    ///
    /// A second call with the same request key returns the proposal of the first one.
    ///
    /// # Errors
    /// [`crate::LibraryError::NoCard`] when the card to change was deleted.
    pub async fn propose(&self, draft: Draft, by: &Author, request: Option<&str>) -> Result<Proposed> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        if let Some(id) = self.proposal_of_request(request).await? {
            let proposal = self.proposal(id).await?;
            return Ok(Proposed { proposal, kept: Vec::new(), merged: Vec::new(), suppressed: Vec::new() });
        }
        let mut draft = draft;
        self.aim_at_card(&mut draft);
        let reason = draft.reason.clone();
        let rejected = self.rejected_fields(std::slice::from_ref(&draft)).await?.remove(0);
        let mut update = ProposalUpdate::default();
        let next = self.read_queue(crate::queue::Queue::next);
        let proposed = self.plan_draft(draft, rejected, next, by, &mut update).await?;
        update.outcome = proposed.proposal.id.to_string();
        self.write_update(update, request, &reason).await?;
        Ok(proposed)
    }

    /// Computes what proposing these drafts would write. The caller holds the `writer` lock.
    pub(crate) async fn plan_proposals(
        &self,
        mut drafts: Vec<Draft>,
        by: &Author,
    ) -> Result<PlannedProposals> {
        for draft in &mut drafts {
            self.aim_at_card(draft);
        }
        let rejected = self.rejected_fields(&drafts).await?;
        let mut update = ProposalUpdate::default();
        let mut ignored = Vec::new();
        let mut next = self.read_queue(crate::queue::Queue::next);
        for (at, (draft, rejected)) in drafts.into_iter().zip(rejected).enumerate() {
            let before = update.changed.len();
            let events = update.events.len();
            self.plan_draft(draft, rejected, next, by, &mut update).await?;
            // A repeated identical draft changes nothing and does not justify an import.
            let changed = update.changed[before..].iter().any(|proposal| self.is_changed(proposal));
            if changed {
                if update.changed[before..].iter().any(|proposal| proposal.id == next) {
                    next = next.successor();
                }
            } else {
                update.changed.truncate(before);
                update.events.truncate(events);
                ignored.push(at as u32);
            }
        }
        Ok(PlannedProposals { proposals: update.changed, events: update.events, ignored })
    }

    /// Turns a draft of a new card into a change of the card of its name, unless that has all its values.
    pub(super) fn aim_at_card(&self, draft: &mut Draft) {
        let record = if draft.card.is_none() { self.card_of(draft) } else { None };
        if let Some(record) = record {
            let card = record.card().into_object();
            if !draft.is_applied_to(&card) {
                draft.set_card(record.id.clone(), &card, record.number);
            }
        }
    }

    /// Whether a proposal is new or differs from its pending version.
    fn is_changed(&self, proposal: &Proposal) -> bool {
        self.read_queue(|queue| match queue.get(proposal.id) {
            None => proposal.state == ProposalState::Pending,
            Some(pending) => {
                let mut same = Proposal::clone(pending);
                same.draft.arrived.clone_from(&proposal.draft.arrived);
                same != *proposal
            }
        })
    }

    /// Decides for each field of a draft whether it is proposed, merged or suppressed; adds the result to
    /// `update`.
    async fn plan_draft(
        &self,
        mut draft: Draft,
        rejected: Vec<(String, ProposalId)>,
        next: ProposalId,
        by: &Author,
        update: &mut ProposalUpdate,
    ) -> Result<Proposed> {
        if let Some(card) = &draft.card {
            let number = self.card(card)?.number;
            draft.base.get_or_insert(number);
        }
        let suppressed: Vec<String> = rejected.iter().map(|(field, _)| field.clone()).collect();
        draft.fields.retain(|field| !suppressed.contains(&field.field));
        if let (true, Some((_, first))) = (draft.fields.is_empty(), rejected.first()) {
            let proposal = self.proposal(*first).await?;
            return Ok(Proposed { proposal, kept: Vec::new(), merged: Vec::new(), suppressed });
        }

        let at = self.clock.stamp();
        let mut merged = Vec::new();
        let mut target: Option<Proposal> = None;
        // A card keeps its id when it is renamed, so a new card may share its subject with changes of another one.
        let mut pending = self.read_queue(|queue| queue.for_card(&draft.subject()));
        pending.retain(|pending| pending.draft.card == draft.card);
        for pending in pending {
            let mut now = Proposal::clone(&pending);
            let Some(absorbed) = now.absorb(&mut draft) else { continue };
            update
                .events
                .extend(absorbed.events.iter().map(|(kind, why)| self.event(now.id, at, &by.0, *kind, why)));
            update.events.extend(self.rebase_proposal(&mut now).await?);
            merged.extend(absorbed.fields);
            target.get_or_insert_with(|| now.clone());
            update.changed.push(now);
        }
        let kept: Vec<String> = draft.fields.iter().map(|field| field.field.clone()).collect();
        if !kept.is_empty() || target.is_none() {
            let mut proposal = super::pending(next, draft, &by.0, at);
            update.events.push(self.event(
                proposal.id,
                at,
                &by.0,
                ProposalEventKind::Proposed,
                &proposal.draft.reason,
            ));
            let compared: Vec<Object> = self.rebase_proposal(&mut proposal).await?;
            update.events.extend(compared);
            target = Some(proposal.clone());
            update.changed.push(proposal);
        }
        let proposal = target.expect("the draft was merged or became a proposal");
        Ok(Proposed { proposal, kept, merged, suppressed })
    }

    /// Returns, for each draft, its rejected fields, with the number of the proposal they were rejected in.
    async fn rejected_fields(&self, drafts: &[Draft]) -> Result<Vec<Vec<(String, ProposalId)>>> {
        /// Drafts queried at a time.
        const WINDOW: usize = 200;
        let mut all = Vec::with_capacity(drafts.len());
        for window in drafts.chunks(WINDOW) {
            let marks = |draft: &Draft| -> Vec<String> {
                draft.fields.iter().map(|field| draft.rejection_key(field)).collect()
            };
            let marks: Vec<Vec<String>> = window.iter().map(marks).collect();
            let ids: Vec<RecordId> =
                marks.iter().flatten().map(|mark| RecordId::new("rejection", mark.as_str())).collect();
            let mut response = self
                .db()
                .await?
                .query("SELECT id, proposal, field FROM $marks")
                .bind(("marks", ids))
                .await
                .map_err(|error| self.failed(&error))?;
            let rows: Vec<RejectionRow> = response.take(0).map_err(|error| self.failed(&error))?;
            let found: HashMap<String, RejectionRow> =
                rows.into_iter().map(|row| (key_text(&row.id), row)).collect();
            for (draft, marks) in window.iter().zip(marks) {
                let rejected = marks.iter().filter_map(|mark| found.get(mark));
                let rejected: Vec<(String, ProposalId)> =
                    rejected.map(|row| (row.field.clone(), ProposalId::new(row.proposal as u32))).collect();
                all.push(if draft.card.is_some() {
                    rejected
                } else {
                    reject_unnamed_draft(draft, &rejected)
                });
            }
        }
        Ok(all)
    }
}

/// A new card needs its name: if the name was rejected, so is the whole draft.
fn reject_unnamed_draft(draft: &Draft, rejected: &[(String, ProposalId)]) -> Vec<(String, ProposalId)> {
    let name_rejected_in =
        rejected.iter().find(|(field, _)| field == fields::NAME).map(|(_, proposal)| *proposal);
    let all = |proposal| draft.fields.iter().map(move |field| (field.field.clone(), proposal));
    name_rejected_in.into_iter().flat_map(all).collect()
}
