//! Accepting a proposal: computed first, then written with its card and revision in one transaction.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use autokit_toolcard::{
    Approval, CardId, FieldDecision, FieldVerdict, Operation, Proposal, ProposalEventKind, ProposalState,
    RevisionId, Toolcard,
};
use serde_json::{Map, Value};
use surrealdb::types::Object;

use super::{ProposalUpdate, rejections, row};
use crate::error::{LibraryError, Result};
use crate::store::Library;
use crate::vectors::PackedVectors;
use crate::write::{CommitExtras, Committed, Meta, PutMode, Write};

/// A reviewer's selection of a proposal's fields.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Fields to accept; if `None`, all that are not rejected.
    pub fields: Option<Vec<String>>,
    /// Values that replace proposed ones.
    pub edits: Map<String, Value>,
    /// Fields to reject, which is remembered. Fields in neither list are left out.
    pub rejected: Vec<String>,
    /// The revision of the card the reviewer saw. If the card is still at this revision, a conflicting field
    /// can be accepted with the reviewer's own value.
    pub seen: Option<u32>,
}

/// What accepting a proposal would write.
#[derive(Clone, Debug)]
pub struct Acceptance {
    /// The resulting card.
    pub card: Toolcard,
    /// The accepted fields.
    pub fields: Vec<String>,
    /// The accepted fields with the reviewer's value.
    pub edited: Vec<String>,
    /// The rejected fields.
    pub rejected: Vec<String>,
    values: BTreeMap<String, String>,
    write: Target,
}

#[derive(Clone, Debug)]
enum Target {
    New,
    Change { id: CardId, expected: u32 },
}

/// The result of accepting.
#[derive(Clone, Debug)]
pub enum Accepted {
    /// The card was written.
    Written(Committed),
    /// The approval was recorded; more approvals are needed.
    Approved(Box<Proposal>),
}

impl Library {
    /// Computes what accepting a proposal would write.
    ///
    /// If the card changed since the proposal was made, fields that did not change can be accepted; the
    /// others are a conflict and are never overwritten unseen.
    ///
    /// # Errors
    /// [`LibraryError::Decided`], [`LibraryError::Invalid`] when the result is not a valid card or no field
    /// was chosen, [`LibraryError::NoCard`] when the card was deleted, [`LibraryError::Conflict`].
    pub async fn acceptance(&self, proposal: &Proposal, selection: &Selection) -> Result<Acceptance> {
        if proposal.state != ProposalState::Pending {
            return Err(LibraryError::Decided { proposal: proposal.id, state: proposal.state.as_str() });
        }
        let Selection { fields, edits, rejected, seen } = selection;
        let mut draft = proposal.draft.clone();
        let has = |field: &str| proposal.draft.fields.iter().any(|proposed| proposed.field == field);
        let mut named = fields.iter().flatten().chain(edits.keys()).chain(rejected);
        if let Some(unknown) = named.find(|field| !has(field)) {
            return Err(LibraryError::Invalid(format!("the proposal has no field {unknown:?}")));
        }
        if let Some(both) = fields.iter().flatten().find(|field| rejected.contains(field)) {
            return Err(LibraryError::Invalid(format!("{both:?} is both accepted and rejected")));
        }
        let chosen = |field: &str| match fields {
            Some(fields) => fields.iter().any(|chosen| chosen == field),
            None => !rejected.iter().any(|rejected| rejected == field),
        };
        let (mut selected, mut edited, mut values) = (Vec::new(), Vec::new(), BTreeMap::new());
        for field in draft.fields.iter_mut().filter(|field| chosen(&field.field)) {
            if let Some(value) = edits.get(&field.field).filter(|value| field.value.as_ref() != Some(value)) {
                field.value = Some(value.clone());
                edited.push(field.field.clone());
            }
            values
                .insert(field.field.clone(), field.value.as_ref().map(Value::to_string).unwrap_or_default());
            selected.push(field.field.clone());
        }
        if selected.is_empty() {
            return Err(LibraryError::Invalid("no field was selected".to_owned()));
        }
        let (before, write) = match &draft.card {
            None => (Map::new(), Target::New),
            Some(id) => {
                let record = self.card(id)?;
                let now = record.card().into_object();
                let unseen: Vec<String> = selected
                    .iter()
                    .filter(|field| !(edits.contains_key(*field) && *seen == Some(record.number)))
                    .cloned()
                    .collect();
                if !self.conflicts(proposal, &now, record.number, &unseen).await?.is_empty() {
                    return Err(LibraryError::Conflict {
                        card: id.clone(),
                        expected: draft.base.unwrap_or_default(),
                        current: record.number,
                    });
                }
                (now, Target::Change { id: id.clone(), expected: record.number })
            }
        };
        let card = Toolcard::new(draft.apply_to(&before, chosen)).map_err(|problems| {
            LibraryError::Invalid(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })?;
        Ok(Acceptance { card, fields: selected, edited, rejected: rejected.clone(), values, write })
    }

    /// Writes an acceptance: card, revision and decision in one transaction. If `approvals` reviewers have to
    /// agree, each approval but the last is only recorded; an approval counts if its values agree with this
    /// acceptance.
    ///
    /// # Errors
    /// As [`Library::commit`]; [`LibraryError::Duplicate`] when a new card's name is taken;
    /// [`LibraryError::Decided`] or [`LibraryError::ProposalChanged`] when somebody else decided or changed
    /// it first.
    pub async fn accept(
        &self,
        proposal: &Proposal,
        acceptance: Acceptance,
        vectors: Option<PackedVectors>,
        meta: &Meta,
        approvals: u32,
    ) -> Result<Accepted> {
        if let Some(pending) = self.approve(proposal, &acceptance, meta, approvals).await? {
            return Ok(Accepted::Approved(Box::new(pending)));
        }
        let at = self.clock.stamp();
        let by = &meta.author.0;
        let decision = |field: &String, verdict: FieldVerdict| FieldDecision {
            field: field.clone(),
            verdict,
            value: (verdict == FieldVerdict::Edited)
                .then(|| acceptance.card.object().get(field).cloned())
                .flatten(),
            by: by.clone(),
            at,
        };
        let verdict = |field: &String| {
            if acceptance.edited.contains(field) { FieldVerdict::Edited } else { FieldVerdict::Accepted }
        };
        let rows = |change: Option<&str>| -> Result<Vec<Object>> {
            // The caller holds the `writer` lock, so nothing changes between this check and the write.
            self.ensure_pending(proposal)?;
            let mut now = proposal.clone();
            now.state = ProposalState::Accepted;
            now.decided_at = Some(at);
            now.decided_by = Some(by.clone());
            now.decision = Some(meta.reason.clone());
            now.accepted.clone_from(&acceptance.fields);
            now.decisions = acceptance
                .fields
                .iter()
                .map(|field| decision(field, verdict(field)))
                .chain(acceptance.rejected.iter().map(|field| decision(field, FieldVerdict::Rejected)))
                .collect();
            now.conflicts.clear();
            let event = self.event(
                now.id,
                at,
                by,
                ProposalEventKind::Accepted,
                &decision_summary(proposal, &acceptance),
            );
            let mut rows = vec![row(&now, change)?, event];
            rows.extend(rejections(proposal, &acceptance.rejected, by, at));
            Ok(rows)
        };
        let card = Box::new(acceptance.card.clone());
        let write = match &acceptance.write {
            Target::New => match &proposal.draft.arrived {
                Some(arrived) => Write::Import { id: arrived.card.clone(), card, vectors },
                None => Write::Put { card, mode: PutMode::Create, vectors },
            },
            Target::Change { id, expected } => {
                Write::Edit { id: id.clone(), expected: Some(*expected), card, vectors }
            }
        };
        let meta = Meta { operation: Operation::Accept, ..meta.clone() };
        // With the decision, the other library's revision becomes an ancestor, however much of it was
        // accepted.
        let arrived = proposal.draft.arrived.as_ref();
        let mut merged: Vec<RevisionId> =
            arrived.map(|arrived| arrived.revision.clone()).into_iter().collect();
        for state in self.foreign_states(&merged).await?.into_values() {
            merged.extend(state.ancestors);
        }
        let part_of = arrived.map(|arrived| arrived.import.as_str());
        let extras = CommitExtras { rows: Some(&rows), merged: &merged, part_of, ..CommitExtras::default() };
        Ok(Accepted::Written(self.commit_with(&meta, &[write], extras).await?))
    }

    /// Records an approval that is not the last one needed.
    async fn approve(
        &self,
        proposal: &Proposal,
        acceptance: &Acceptance,
        meta: &Meta,
        needed: u32,
    ) -> Result<Option<Proposal>> {
        if needed <= 1 {
            return Ok(None);
        }
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        self.ensure_pending(proposal)?;
        let by = &meta.author.0;
        let mut now = proposal.clone();
        let agrees = |approval: &&Approval| approval.covers(&acceptance.values);
        let others =
            now.approvals.iter().filter(agrees).filter(|approval| !same_name(&approval.by, by)).count();
        if others as u32 + 1 >= needed {
            return Ok(None);
        }
        if now
            .approvals
            .iter()
            .any(|approval| same_name(&approval.by, by) && approval.values == acceptance.values)
        {
            return Ok(Some(now));
        }
        let at = self.clock.stamp();
        now.approvals.retain(|approval| !same_name(&approval.by, by));
        let values = acceptance.values.clone();
        now.approvals.push(Approval { by: by.clone(), at, values });
        let why = format!("{}; {} of {needed}", decision_summary(proposal, acceptance), others + 1);
        let events = vec![self.event(now.id, at, by, ProposalEventKind::Approved, &why)];
        let update = ProposalUpdate {
            changed: vec![now.clone()],
            events,
            outcome: now.id.to_string(),
            ..ProposalUpdate::default()
        };
        self.write_update(update, None, &meta.reason).await?;
        Ok(Some(now))
    }

    /// Checks that a proposal is still pending and unchanged since it was read.
    fn ensure_pending(&self, proposal: &Proposal) -> Result<()> {
        self.read_queue(|queue| match queue.get(proposal.id) {
            None => Err(LibraryError::Decided { proposal: proposal.id, state: "decided" }),
            Some(now) if **now != *proposal => Err(LibraryError::ProposalChanged(proposal.id)),
            Some(_) => Ok(()),
        })
    }
}

/// Whether two names denote the same person, ignoring case and surrounding whitespace.
fn same_name(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

/// Describes which fields were accepted, rejected and left out.
fn decision_summary(proposal: &Proposal, acceptance: &Acceptance) -> String {
    let taken = acceptance.fields.iter().map(|field| {
        if acceptance.edited.contains(field) { format!("{field} (edited)") } else { field.clone() }
    });
    let mut summary = taken.collect::<Vec<_>>().join(", ");
    let names = proposal.draft.fields.iter().map(|field| &field.field);
    let not_selected: Vec<&str> = names
        .filter(|field| !acceptance.fields.contains(field) && !acceptance.rejected.contains(field))
        .map(String::as_str)
        .collect();
    for (what, fields) in
        [("rejected", acceptance.rejected.join(", ")), ("not selected", not_selected.join(", "))]
    {
        if !fields.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(summary, "; {what}: {fields}");
        }
    }
    summary
}
