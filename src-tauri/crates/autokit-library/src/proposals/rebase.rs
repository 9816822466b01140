//! Updating pending proposals when their card changes: a field nobody changed moves to the card's new
//! revision, a changed field becomes a conflict, a proposal of a new card becomes a change once a card has its name,
//! and a proposal of the verifier or of an import is closed once the card has all its values.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use autokit_replica::CardRecord;
use autokit_toolcard::{CardId, Draft, ImportOrigin, Proposal, ProposalEventKind, ProposalId};
use serde_json::{Map, Value};
use surrealdb::types::Object;

use super::ProposalUpdate;
use crate::error::{LibraryError, Result};
use crate::store::Library;

/// Author of the events that AutoKit causes by itself.
pub(super) const SYSTEM_AUTHOR: &str = "AutoKit";

impl Library {
    /// Compares the pending proposals about these cards with the cards as they are now. The caller holds the
    /// `writer` lock.
    pub(crate) async fn rebase(&self, cards: &[CardId]) -> Result<()> {
        let mut update = ProposalUpdate::default();
        for card in cards {
            let mut proposals = self.read_queue(|queue| queue.for_card(card));
            // A card that was renamed has an id that does not follow from its name, unlike proposals of new cards.
            let named = self.read(|replica| replica.get(card).map(|record| record.key.id()));
            if let Some(named) = named.filter(|named| named != card) {
                proposals.extend(self.read_queue(|queue| queue.for_card(&named)));
            }
            for proposal in proposals {
                let mut now = Proposal::clone(&proposal);
                let mut events = self.rebase_proposal(&mut now).await?;
                events.extend(self.close_if_applied(&mut now).await?);
                if now != *proposal {
                    update.changed.push(now);
                    update.events.extend(events);
                }
            }
        }
        if update.changed.is_empty() {
            Ok(())
        } else {
            self.write_update(update, None, "Compare proposals with their cards").await
        }
    }

    /// Compares a reopened proposal with its card, and records which fields the card keeps although the
    /// acceptance was undone: `kept` names fields changed since.
    ///
    /// # Errors
    /// [`LibraryError::NoProposal`].
    pub async fn rebase_reopened(&self, id: ProposalId, kept: &[String]) -> Result<()> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        let mut proposal = self.proposal(id).await?;
        let mut events = Vec::new();
        if !kept.is_empty() {
            let why = format!("the card changed in the meantime and keeps its values: {}", kept.join(", "));
            events.push(self.event(id, self.clock.stamp(), SYSTEM_AUTHOR, ProposalEventKind::Kept, &why));
        }
        events.extend(self.rebase_proposal(&mut proposal).await?);
        let update = ProposalUpdate { changed: vec![proposal], events, ..ProposalUpdate::default() };
        self.write_update(update, None, "Compare a proposal with its card").await
    }

    /// Updates a proposal to the current state of its card; returns the event rows to record.
    pub(super) async fn rebase_proposal(&self, proposal: &mut Proposal) -> Result<Vec<Object>> {
        let mut events = Vec::new();
        if proposal.draft.card.is_none()
            && let Some(record) = self.card_of(&proposal.draft)
        {
            let card = record.card().into_object();
            if proposal.draft.is_applied_to(&card) {
                return Ok(vec![self.withdraw_applied(proposal)]);
            }
            proposal.draft.set_card(record.id.clone(), &card, record.number);
            // Whoever approved a new card did not see what it would overwrite.
            proposal.approvals.clear();
            let (at, why) = (self.clock.stamp(), "a card has this name now; the proposal changes it");
            events.push(self.event(proposal.id, at, SYSTEM_AUTHOR, ProposalEventKind::Rebased, why));
        }
        let Some(id) = proposal.draft.card.clone() else {
            proposal.risk = proposal.draft.risk(&Map::new());
            return Ok(Vec::new());
        };
        if self.card(&id).is_err() && proposal.draft.unset_card() {
            proposal.rebased.clear();
            proposal.conflicts.clear();
            proposal.risk = proposal.draft.risk(&Map::new());
            let (at, why) = (self.clock.stamp(), "the card of this name was removed; the proposal adds it");
            events.push(self.event(proposal.id, at, SYSTEM_AUTHOR, ProposalEventKind::Rebased, why));
            return Ok(events);
        }
        let names = || proposal.draft.fields.iter().map(|field| field.field.clone());
        let (now, number) = match self.card(&id) {
            Ok(record) => (record.card().into_object(), record.number),
            Err(_) => (Map::new(), 0),
        };
        let conflicts = match number {
            0 => names().collect(),
            _ => self.conflicts(proposal, &now, number, &names().collect::<Vec<_>>()).await?,
        };
        proposal.risk = proposal.draft.risk(&now);
        let at = self.clock.stamp();
        let new_conflicts: Vec<&str> = conflicts
            .iter()
            .filter(|field| !proposal.conflicts.contains(field))
            .map(String::as_str)
            .collect();
        if !new_conflicts.is_empty() {
            let why = if number == 0 { "the card was removed".to_owned() } else { new_conflicts.join(", ") };
            events.push(self.event(proposal.id, at, SYSTEM_AUTHOR, ProposalEventKind::Conflicting, &why));
        }
        if conflicts.is_empty() && proposal.draft.base != Some(number) {
            proposal.draft.base = Some(number);
            proposal.rebased.clear();
            let why = format!("on revision {number} of the card");
            events.push(self.event(proposal.id, at, SYSTEM_AUTHOR, ProposalEventKind::Rebased, &why));
        } else if number > 0 && !conflicts.is_empty() {
            let rebased: Vec<String> = names().filter(|field| !conflicts.contains(field)).collect();
            proposal.rebased.extend(rebased.into_iter().map(|field| (field, number)));
        }
        proposal.conflicts = conflicts;
        Ok(events)
    }

    /// Returns the card that has the name and provider of a draft of a new card, or its id in another library.
    pub(super) fn card_of(&self, draft: &Draft) -> Option<Arc<CardRecord>> {
        self.read(|replica| {
            let named = draft.key().and_then(|key| replica.by_key(&key));
            let imported = || draft.arrived.as_ref().and_then(|arrived| replica.get(&arrived.card));
            named.or_else(imported).cloned()
        })
    }

    /// Returns the fields whose value in the card is neither the value they had when proposed nor the
    /// proposed value.
    pub(super) async fn conflicts(
        &self,
        proposal: &Proposal,
        now: &Map<String, Value>,
        number: u32,
        fields: &[String],
    ) -> Result<Vec<String>> {
        let id = proposal.draft.subject();
        let mut earlier: HashMap<u32, Map<String, Value>> = HashMap::new();
        let mut conflicts = Vec::new();
        for proposed in proposal.draft.fields.iter().filter(|proposed| fields.contains(&proposed.field)) {
            // Two libraries disagree, and nothing tells which value is newer.
            let disputed = |arrived: &ImportOrigin| arrived.conflicts.contains(&proposed.field);
            if proposal.draft.arrived.as_ref().is_some_and(disputed) {
                if now.get(&proposed.field) != proposed.value.as_ref() {
                    conflicts.push(proposed.field.clone());
                }
                continue;
            }
            let base = proposal.base_of(&proposed.field);
            if base == Some(number) {
                continue;
            }
            let current = now.get(&proposed.field);
            let is_conflict =
                |before: Option<&Value>| current != before && current != proposed.value.as_ref();
            let Some(base) = base else {
                // Proposed on another machine, whose revisions are not here.
                let before = proposal.draft.before.as_ref().map(|before| before.get(&proposed.field));
                if before.is_some_and(is_conflict) {
                    conflicts.push(proposed.field.clone());
                }
                continue;
            };
            let base_fields = match earlier.entry(base) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(entry) => {
                    let body = self.revision(&id, base).await?.body.unwrap_or_else(|| "{}".to_owned());
                    entry.insert(serde_json::from_str(&body).map_err(|error| {
                        LibraryError::malformed(format!("revision {base} of {id} cannot be read: {error}"))
                    })?)
                }
            };
            if is_conflict(base_fields.get(&proposed.field)) {
                conflicts.push(proposed.field.clone());
            }
        }
        Ok(conflicts)
    }
}
