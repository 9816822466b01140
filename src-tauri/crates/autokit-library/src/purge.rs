//! Forgetting cards that whoever has the library may not see any more.
//!
//! Unlike a deletion, nothing that a card said stays in the store: not its history, proposals, vectors or checks, nor
//! sessions, feedback and records of agents that name it. Its revisions keep their place in the journal, empty, and
//! belong to no card.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use autokit_commit_log::RowChange;
use autokit_toolcard::{CardId, Operation, Proposal, ProposalId};
use surrealdb::types::{Object, RecordId, object};

use crate::error::Result;
use crate::proposals::{self, shared as shared_proposals};
use crate::rows::{RevisionRow, key_text};
use crate::step::Step;
use crate::store::Library;

/// What the revisions of purged cards are of.
pub(crate) const NO_CARD: &str = "";
/// The reason of every change that touched a purged card.
const REASON: &str = "Changed cards that are not shown any more";

/// Tables whose rows have the card's id, and those with a column for it.
const BY_ID: [&str; 5] = ["tombstone", "provenance", "verification", "page", "shared"];
const BY_COLUMN: [&str; 4] = ["vector", "page_vector", "feedback", "foreign"];
/// Tables with texts in which a card may be named, and their columns.
const MENTIONING: [(&str, &str); 4] =
    [("session", "body"), ("activity", "done"), ("agent", "record"), ("request", "outcome")];

impl Library {
    /// Forgets cards, and these proposals. When this returns, neither the store nor the search index has anything of them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn purge(&self, cards: &[CardId], proposals: &[ProposalId]) -> Result<()> {
        if cards.is_empty() && proposals.is_empty() {
            return Ok(());
        }
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        let purged: HashSet<&CardId> = cards.iter().collect();
        let names: Vec<String> = cards.iter().map(|card| card.as_str().to_owned()).collect();
        let mut steps = self.emptied_history(&names).await?;
        let mut dropped: Vec<RecordId> =
            cards.iter().flat_map(|card| BY_ID.map(|table| RecordId::new(table, card.as_str()))).collect();
        let live = self
            .read(|replica| cards.iter().filter(|card| replica.contains(card)).cloned().collect::<Vec<_>>());
        dropped.extend(live.iter().map(|card| RecordId::new("card", card.as_str())));
        let by_column = BY_COLUMN.map(|table| format!("SELECT VALUE id FROM {table} WHERE card IN $cards"));
        let mentioning = MENTIONING.map(|(table, column)| {
            format!(
                "SELECT VALUE id FROM {table} WHERE array::any($cards, |$card| string::contains({column}, $card))"
            )
        });
        for query in by_column.iter().chain(&mentioning) {
            let rows: Vec<RecordId> = self.select(query, object! { cards: names.clone() }).await?;
            dropped.extend(rows);
        }

        let is_about = |proposal: &Proposal| {
            let subject = proposal.draft.subject();
            proposals.contains(&proposal.id)
                || proposal.draft.card.iter().chain([&subject]).any(|card| purged.contains(card))
        };
        let (about, others): (Vec<Proposal>, Vec<Proposal>) =
            self.proposals(None).await?.into_iter().partition(is_about);
        let mut kept = Vec::new();
        for mut proposal in others {
            let similar = proposal.draft.similar.len();
            proposal.draft.similar.retain(|card| !purged.contains(card));
            if proposal.draft.similar.len() < similar {
                let change = self.change_of_proposal(proposal.id).await?;
                steps.push(Step::Put(vec![proposals::row(&proposal, change.as_deref())?]));
                kept.push(proposal);
            }
        }
        let numbers: Vec<i64> = about.iter().map(|proposal| i64::from(proposal.id.number())).collect();
        let mut logged: Vec<RecordId> = about.iter().map(|proposal| proposals::record(proposal.id)).collect();
        for table in ["proposal_event", "rejection"] {
            let query = format!("SELECT VALUE id FROM {table} WHERE proposal IN $numbers");
            let rows: Vec<RecordId> = self.select(&query, object! { numbers: numbers.clone() }).await?;
            logged.extend(rows);
        }
        dropped.extend(about.iter().map(|proposal| shared_proposals::record(proposal.id)));
        let changes =
            logged.iter().map(|id| RowChange::Purged { row: autokit_commit_log::row_name(id) }).collect();
        dropped.extend(logged);
        steps.push(Step::Drop(dropped));

        self.queue_stale.store(true, Ordering::Release);
        self.apply_change(steps, changes, "Forget cards that are not shown any more").await?;
        {
            let mut replica = self.replica.write().expect("no reader panics");
            for card in cards {
                replica.purge(card);
            }
        }
        {
            let mut queue = self.queue.write().expect("no reader panics");
            for proposal in about {
                queue.remove(proposal.id);
            }
            for proposal in kept {
                queue.put(proposal);
            }
        }
        self.queue_stale.store(false, Ordering::Release);
        if let Some(checks) = self.checks.write().await.as_mut() {
            for card in cards {
                checks.remove(card);
            }
        }
        self.checks_version.fetch_add(1, Ordering::Relaxed);
        if let Some(observer) = self.observer.get() {
            observer.on_change(self, cards).await;
        }
        Ok(())
    }

    /// Returns the steps that empty the revisions of cards, and the reasons of the changes that made them.
    async fn emptied_history(&self, cards: &[String]) -> Result<Vec<Step>> {
        let query = "SELECT * FROM revision WHERE card IN $cards";
        let revisions: Vec<RevisionRow> = self.select(query, object! { cards: cards.to_owned() }).await?;
        let changes: HashSet<&str> = revisions.iter().map(|row| row.change.as_str()).collect();
        let ids: Vec<RecordId> = changes.into_iter().map(|change| RecordId::new("change", change)).collect();
        let mut rows: Vec<Object> = self.select("SELECT * FROM $ids", object! { ids: ids }).await?;
        for row in &mut rows {
            row.insert("reason", REASON);
            row.remove("decisions");
        }
        rows.extend(revisions.iter().map(|row| {
            object! {
                id: row.id.clone(),
                card: NO_CARD,
                number: key_text(&row.id).parse::<i64>().unwrap_or_default(),
                change: row.change.clone(),
                operation: Operation::Delete.as_str(),
                author: String::new(),
                reason: String::new(),
                at: row.at.clone(),
            }
        }));
        Ok(vec![Step::Put(rows)])
    }
}
