//! Rejecting and reopening proposals, and commenting on them.

use autokit_toolcard::{
    Author, CardId, Decision, FieldDecision, FieldVerdict, Proposal, ProposalEventKind, ProposalId,
    ProposalState,
};
use surrealdb::types::Object;

use super::{ProposalUpdate, rejections, row};
use crate::error::{LibraryError, Result};
use crate::rows::ProposalRow;
use crate::store::Library;

impl Library {
    /// Rejects a proposal. Its values are not proposed again while its page stays the same.
    ///
    /// A second call with the same request key changes nothing.
    ///
    /// # Errors
    /// [`LibraryError::NoProposal`], [`LibraryError::Decided`].
    pub async fn reject(
        &self,
        id: ProposalId,
        by: &Author,
        why: &str,
        request: Option<&str>,
    ) -> Result<Proposal> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        if self.outcome_text(request).await?.is_some() {
            return self.proposal(id).await;
        }
        let mut proposal = self.proposal(id).await?;
        if proposal.state != ProposalState::Pending {
            return Err(LibraryError::Decided { proposal: id, state: proposal.state.as_str() });
        }
        let at = self.clock.stamp();
        let fields: Vec<String> = proposal.draft.fields.iter().map(|field| field.field.clone()).collect();
        let rejected = |field: &String| FieldDecision {
            field: field.clone(),
            verdict: FieldVerdict::Rejected,
            value: None,
            by: by.0.clone(),
            at,
        };
        let rejections = rejections(&proposal, &fields, &by.0, at);
        proposal.decisions = fields.iter().map(rejected).collect();
        proposal.state = ProposalState::Rejected;
        proposal.decided_at = Some(at);
        proposal.decided_by = Some(by.0.clone());
        proposal.decision = Some(why.to_owned());
        let events = vec![self.event(id, at, &by.0, ProposalEventKind::Rejected, why)];
        let changed = vec![proposal.clone()];
        let update = ProposalUpdate {
            changed,
            events,
            rejections,
            outcome: id.to_string(),
            ..ProposalUpdate::default()
        };
        self.write_update(update, request, why).await?;
        Ok(proposal)
    }

    /// Makes a rejected proposal pending again, or one whose acceptance changed nothing. Any other acceptance
    /// is undone by [`Library::undo_acceptance`].
    ///
    /// A second call with the same request key changes nothing.
    ///
    /// # Errors
    /// [`LibraryError::NoProposal`], [`LibraryError::NothingToUndo`] when it is already pending.
    pub async fn reopen(&self, id: ProposalId, by: &Author, request: Option<&str>) -> Result<Proposal> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        if self.outcome_text(request).await?.is_some() {
            return self.proposal(id).await;
        }
        let mut proposal = self.proposal(id).await?;
        if proposal.state == ProposalState::Pending {
            return Err(LibraryError::NothingToUndo);
        }
        proposal.set_pending();
        let mut events = vec![self.event(id, self.clock.stamp(), &by.0, ProposalEventKind::Undone, "")];
        events.extend(self.rebase_proposal(&mut proposal).await?);
        let changed = vec![proposal.clone()];
        let update = ProposalUpdate {
            changed,
            events,
            reopened: vec![id],
            outcome: id.to_string(),
            ..ProposalUpdate::default()
        };
        self.write_update(update, request, "Reopen a proposal").await?;
        Ok(proposal)
    }

    /// Adds a reviewer's comment to a proposal without deciding it.
    ///
    /// A second call with the same request key changes nothing.
    ///
    /// # Errors
    /// [`LibraryError::NoProposal`], [`LibraryError::Invalid`] for an empty comment.
    pub async fn comment(
        &self,
        id: ProposalId,
        by: &Author,
        text: &str,
        request: Option<&str>,
    ) -> Result<()> {
        let text = text.trim();
        if text.is_empty() {
            return Err(LibraryError::Invalid("the comment is empty".to_owned()));
        }
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        self.proposal(id).await?;
        if self.outcome_text(request).await?.is_some() {
            return Ok(());
        }
        let events = vec![self.event(id, self.clock.stamp(), &by.0, ProposalEventKind::Commented, text)];
        let update = ProposalUpdate { events, outcome: id.to_string(), ..ProposalUpdate::default() };
        self.write_update(update, request, "Comment on a proposal").await
    }

    /// Says who reviews a proposal now: a member of the team, or nobody.
    ///
    /// A second call with the same request key changes nothing.
    ///
    /// # Errors
    /// [`LibraryError::NoProposal`], [`LibraryError::Decided`].
    pub async fn assign(
        &self,
        id: ProposalId,
        to: Option<&str>,
        by: &Author,
        request: Option<&str>,
    ) -> Result<()> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        let mut proposal = self.proposal(id).await?;
        if self.outcome_text(request).await?.is_some() || proposal.assigned_to.as_deref() == to {
            return Ok(());
        }
        if proposal.state != ProposalState::Pending {
            return Err(LibraryError::Decided { proposal: id, state: proposal.state.as_str() });
        }
        proposal.assigned_to = to.map(str::to_owned);
        let kind = ProposalEventKind::Assigned;
        let events = vec![self.event(id, self.clock.stamp(), &by.0, kind, to.unwrap_or_default())];
        let changed = vec![proposal];
        let update = ProposalUpdate { changed, events, outcome: id.to_string(), ..ProposalUpdate::default() };
        self.write_update(update, request, "Assign a proposal").await
    }

    /// Finds the proposals that a change decided or imported, or only those about `only`, and returns the rows that make
    /// them pending again, or withdraw those it imported.
    pub(crate) async fn rows_to_reopen(
        &self,
        change: &str,
        only: Option<&CardId>,
        by: &Author,
    ) -> Result<Reopened> {
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM proposal WHERE change = $change OR import = $change")
            .bind(("change", change.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        let found: Vec<ProposalRow> = response.take(0).map_err(|error| self.failed(&error))?;
        let at = self.clock.stamp();
        let (mut reopened, mut decisions) = (Reopened::default(), Vec::new());
        for found in found {
            let mut proposal = found.into_proposal()?;
            if only.is_some_and(|only| *only != proposal.draft.subject()) {
                continue;
            }
            let arrived = proposal.draft.arrived.as_ref().is_some_and(|arrived| arrived.import == change);
            decisions.push(proposal.decision());
            proposal.set_pending();
            if arrived {
                // Proposals of an import are withdrawn with it, whatever was decided about them.
                proposal.state = ProposalState::Withdrawn;
                proposal.decided_at = Some(at);
                proposal.decided_by = Some(by.0.clone());
                proposal.decision = Some("The import was undone".to_owned());
            }
            let kind = if arrived { ProposalEventKind::Withdrawn } else { ProposalEventKind::Undone };
            reopened.rows.push(row(&proposal, None)?);
            reopened.rows.push(self.event(proposal.id, at, &by.0, kind, ""));
            reopened.proposals.push(proposal.id);
        }
        reopened.decisions = serde_json::to_string(&decisions).map_err(LibraryError::malformed)?;
        Ok(reopened)
    }

    /// Returns the rows that restore [`Reopened::decisions`], made by the change `change`, on proposals that are still
    /// pending with the same values and not about a card in `except`. The caller holds the `writer` lock.
    pub(crate) fn rows_to_decide_again(
        &self,
        decisions: &str,
        change: &str,
        except: &[CardId],
        by: &Author,
    ) -> Result<Vec<Object>> {
        let decisions: Vec<Decision> = serde_json::from_str(decisions).map_err(LibraryError::malformed)?;
        let at = self.clock.stamp();
        let mut rows = Vec::new();
        for decision in decisions {
            let Some(pending) = self.read_queue(|queue| queue.get(decision.proposal).cloned()) else {
                continue;
            };
            if pending.draft.digest() != decision.digest || except.contains(&pending.draft.subject()) {
                continue;
            }
            let mut proposal = Proposal::clone(&pending);
            let rejected = decision.rejected();
            proposal.decide(decision);
            proposal.conflicts.clear();
            rows.push(row(&proposal, Some(change))?);
            rows.push(self.event(proposal.id, at, &by.0, ProposalEventKind::Accepted, "redone"));
            rows.extend(rejections(&proposal, &rejected, &by.0, at));
        }
        Ok(rows)
    }
}

/// Proposals that become pending again.
#[derive(Default)]
pub(crate) struct Reopened {
    /// Rows to write.
    pub(crate) rows: Vec<Object>,
    /// Their numbers.
    pub(crate) proposals: Vec<ProposalId>,
    /// The decisions on them, as JSON.
    pub(crate) decisions: String,
}
