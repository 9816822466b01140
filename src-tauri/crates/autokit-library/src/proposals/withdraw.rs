//! Withdrawing proposals: the verifier withdraws what a later check contradicts, and its proposals are closed
//! once the card has their values. Proposals of a source that is no longer followed are withdrawn as well.
//! This applies only to what nobody else proposed too; suggestions of people or other libraries are left for
//! a person to decide.

use std::collections::HashSet;

use autokit_toolcard::{
    Author, CardId, Draft, Origin, Proposal, ProposalEventKind, ProposalId, ProposalState, ProposedField,
    Timestamp, fields,
};
use surrealdb::types::Object;

use super::ProposalUpdate;
use super::rebase::SYSTEM_AUTHOR;
use crate::error::Result;
use crate::queue::Queue;
use crate::rows::{proposal_id, proposal_number};
use crate::store::Library;

/// Proposals closed in one transaction.
const BATCH: usize = 500;

/// Whether a pending field still follows from a newer check of the card, which produced `draft`.
fn still_follows(origin: Origin, pending: &ProposedField, draft: Option<&Draft>) -> bool {
    let drafted = draft.and_then(|draft| draft.fields.iter().find(|field| field.field == pending.field));
    match drafted {
        // From another origin, the value is proposed anew with its new reason.
        Some(drafted) if drafted.value == pending.value => {
            origin == Origin::Improvement || draft.is_some_and(|draft| draft.origin == origin)
        }
        // A newer value of the same origin replaces it when the draft is added, which is recorded there.
        Some(_) => draft.is_some_and(|draft| draft.origin == origin),
        // Improvements are proposed only on request, so their absence now means nothing. Whether a card
        // counts as verified is part of every check.
        None => origin == Origin::Improvement && pending.field != fields::VERIFIED,
    }
}

impl Library {
    /// Withdraws what `by` proposed for a card and what no longer follows from its newest check, which
    /// produced `draft` or nothing. Returns the number of proposals closed.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn withdraw(
        &self,
        card: &CardId,
        draft: Option<&Draft>,
        by: &Author,
        why: &str,
    ) -> Result<u32> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        let at = self.clock.stamp();
        let mut update = ProposalUpdate::default();
        let mut closed = 0;
        for pending in self.read_queue(|queue| queue.for_card(card)) {
            if pending.proposed_by != by.0 {
                continue;
            }
            let origin = pending.draft.origin;
            let (kept, outdated): (Vec<ProposedField>, Vec<ProposedField>) =
                pending.draft.fields.iter().cloned().partition(|field| still_follows(origin, field, draft));
            if outdated.is_empty() || !self.only_by(pending.id, by).await? {
                continue;
            }
            let mut now = Proposal::clone(&pending);
            if kept.is_empty() {
                set_withdrawn(&mut now, at, by, why);
                closed += 1;
                update.events.push(self.event(now.id, at, &by.0, ProposalEventKind::Withdrawn, why));
            } else {
                now.draft.fields = kept;
                let names: Vec<&str> = outdated.iter().map(|field| field.field.as_str()).collect();
                let reason = format!("{}: {why}", names.join(", "));
                now.rebased.retain(|field, _| !names.contains(&field.as_str()));
                update.events.push(self.event(now.id, at, &by.0, ProposalEventKind::Withdrawn, &reason));
                update.events.extend(self.rebase_proposal(&mut now).await?);
            }
            update.changed.push(now);
        }
        if !update.changed.is_empty() {
            self.write_update(update, None, why).await?;
        }
        Ok(closed)
    }

    /// Withdraws every pending proposal that only `by` proposed, in several transactions: after an error,
    /// each proposal is either closed or still pending. Returns the number of proposals closed.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn withdraw_all(&self, by: &Author, why: &str) -> Result<u32> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        let mut own = self.read_queue(Queue::pending);
        own.retain(|pending| pending.proposed_by == by.0);
        if own.is_empty() {
            return Ok(0);
        }
        let others = self.proposed_by_others(by).await?;
        own.retain(|pending| !others.contains(&pending.id));
        for batch in own.chunks(BATCH) {
            let at = self.clock.stamp();
            let mut update = ProposalUpdate::default();
            for pending in batch {
                let mut now = Proposal::clone(pending);
                set_withdrawn(&mut now, at, by, why);
                update.events.push(self.event(now.id, at, &by.0, ProposalEventKind::Withdrawn, why));
                update.changed.push(now);
            }
            self.write_update(update, None, why).await?;
        }
        Ok(own.len() as u32)
    }

    /// Returns the proposals, including decided ones, to which authors other than `by` contributed.
    async fn proposed_by_others(&self, by: &Author) -> Result<HashSet<ProposalId>> {
        let mut response = self
            .db()
            .await?
            .query(
                "SELECT VALUE proposal FROM proposal_event
                 WHERE by != $by AND what IN ['proposed', 'merged', 'replaced']",
            )
            .bind(("by", by.0.clone()))
            .await
            .map_err(|error| self.failed(&error))?;
        let ids: Vec<i64> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(ids.into_iter().filter_map(proposal_id).collect())
    }

    /// Closes a proposal of the verifier or of an import if the card already has all its values; returns the
    /// event rows to record.
    pub(super) async fn close_if_applied(&self, proposal: &mut Proposal) -> Result<Vec<Object>> {
        let by = Author::verifier();
        let imported = proposal.draft.arrived.is_some();
        if !(imported || proposal.proposed_by == by.0) || proposal.state != ProposalState::Pending {
            return Ok(Vec::new());
        }
        let card = proposal.draft.card.as_ref().and_then(|card| self.card(card).ok());
        let Some(card) = card else { return Ok(Vec::new()) };
        let now = card.card().into_object();
        if !proposal.draft.is_applied_to(&now) || !(imported || self.only_by(proposal.id, &by).await?) {
            return Ok(Vec::new());
        }
        Ok(vec![self.withdraw_applied(proposal)])
    }

    /// Closes a proposal whose values the card already has; returns the row of the event.
    pub(super) fn withdraw_applied(&self, proposal: &mut Proposal) -> Object {
        let (at, why) = (self.clock.stamp(), "the card already has these values");
        set_withdrawn(proposal, at, &Author(SYSTEM_AUTHOR.to_owned()), why);
        self.event(proposal.id, at, SYSTEM_AUTHOR, ProposalEventKind::Withdrawn, why)
    }

    /// Whether nobody else contributed to the proposal; the same value from another origin is merged into a
    /// pending proposal.
    async fn only_by(&self, id: ProposalId, by: &Author) -> Result<bool> {
        let mut response = self
            .db()
            .await?
            .query(
                "SELECT VALUE by FROM proposal_event
                 WHERE proposal = $id AND what IN ['proposed', 'merged', 'replaced']",
            )
            .bind(("id", proposal_number(id)))
            .await
            .map_err(|error| self.failed(&error))?;
        let names: Vec<String> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(names.iter().all(|name| *name == by.0))
    }
}

fn set_withdrawn(proposal: &mut Proposal, at: Timestamp, by: &Author, why: &str) {
    proposal.state = ProposalState::Withdrawn;
    proposal.decided_at = Some(at);
    proposal.decided_by = Some(by.0.clone());
    proposal.decision = Some(why.to_owned());
    proposal.approvals.clear();
    proposal.conflicts.clear();
}
