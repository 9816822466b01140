//! Pending proposals in memory, so that thousands of them can be listed and searched without the database,
//! which remains the only source of truth.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use autokit_toolcard::{CardId, Proposal, ProposalId, ProposalState};

/// The pending proposals, by number and by card.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    pub(crate) pending: BTreeMap<ProposalId, Arc<Proposal>>,
    pub(crate) by_subject: HashMap<CardId, BTreeSet<ProposalId>>,
    /// The highest number ever assigned.
    pub(crate) newest: ProposalId,
}

impl Queue {
    /// Inserts or replaces a proposal; one that is no longer pending is removed.
    pub(crate) fn put(&mut self, proposal: Proposal) {
        self.newest = self.newest.max(proposal.id);
        self.remove(proposal.id);
        if proposal.state == ProposalState::Pending {
            self.by_subject.entry(proposal.draft.subject()).or_default().insert(proposal.id);
            self.pending.insert(proposal.id, Arc::new(proposal));
        }
    }

    pub(crate) fn remove(&mut self, id: ProposalId) {
        let Some(old) = self.pending.remove(&id) else { return };
        let subject = old.draft.subject();
        if let Some(ids) = self.by_subject.get_mut(&subject) {
            ids.remove(&id);
            if ids.is_empty() {
                self.by_subject.remove(&subject);
            }
        }
    }

    pub(crate) fn get(&self, id: ProposalId) -> Option<&Arc<Proposal>> {
        self.pending.get(&id)
    }

    /// Returns the pending proposals about a card, oldest first.
    pub(crate) fn for_card(&self, card: &CardId) -> Vec<Arc<Proposal>> {
        let ids = self.by_subject.get(card);
        ids.into_iter().flatten().filter_map(|id| self.pending.get(id).cloned()).collect()
    }

    /// Returns all pending proposals, oldest first.
    pub(crate) fn pending(&self) -> Vec<Arc<Proposal>> {
        self.pending.values().cloned().collect()
    }

    /// Returns the next number to assign.
    pub(crate) fn next(&self) -> ProposalId {
        self.newest.successor()
    }
}
