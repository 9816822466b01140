//! Proposals: kept until a person decides, with an account of every step.

use std::collections::HashSet;

use autokit_toolcard::{Author, CardId, Draft, Operation, Proposal, ProposalState, Toolcard};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use surrealdb::types::{Object, RecordId, object};
use ts_rs::TS;

use crate::error::{LibraryError, Result};
use crate::rows::{ProposalEventRow, ProposalRow, key_text};
use crate::store::Library;
use crate::vectors::PackedVectors;
use crate::write::{Committed, Meta, PutMode, Write};

/// A step in the life of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProposalEvent {
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// By whom.
    pub by: String,
    /// `proposed`, `accepted`, `rejected`, `undone`.
    pub what: String,
    /// In words.
    pub why: String,
}

/// What became of a draft, field by field.
#[derive(Clone, Debug)]
pub struct Proposed {
    /// The proposal that holds it now: a new one, one that waited already and took its fields in, or
    /// the one by which all of it had been turned down.
    pub proposal: Proposal,
    /// Fields that wait in a new proposal, `proposal`.
    pub kept: Vec<String>,
    /// Fields that went into proposals that waited already.
    pub merged: Vec<String>,
    /// Fields a reviewer turned down before, resting on the same page; not proposed again.
    pub suppressed: Vec<String>,
}

/// What accepting a proposal would write.
#[derive(Clone, Debug)]
pub struct Acceptance {
    /// The card after it.
    pub card: Toolcard,
    /// The fields taken over.
    pub fields: Vec<String>,
    write: Target,
}

#[derive(Clone, Debug)]
enum Target {
    New,
    Change { id: CardId, expected: u32 },
}

impl ProposalRow {
    fn into_proposal(self) -> Result<Proposal> {
        let unreadable = |what: &dyn std::fmt::Display| {
            LibraryError::Database(format!("proposal {} cannot be read: {what}", key_text(&self.id)))
        };
        Ok(Proposal {
            id: key_text(&self.id).parse().map_err(|error| unreadable(&error))?,
            draft: serde_json::from_str(&self.draft).map_err(|error| unreadable(&error))?,
            state: ProposalState::parse(&self.state).ok_or_else(|| unreadable(&self.state))?,
            proposed_by: self.proposed_by,
            created_at: self.created_at,
            decided_at: self.decided_at,
            decided_by: self.decided_by,
            decision: self.decision,
            accepted: self.accepted,
        })
    }
}

fn record(id: u32) -> RecordId {
    // Zero-padded, so that text order is number order.
    RecordId::new("proposal", format!("{id:010}"))
}

impl Library {
    /// Keeps a proposal. One that waits already and proposes the same takes it in.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn propose(&self, draft: Draft, by: &Author) -> Result<Proposed> {
        let _turn = self.writer.lock().await;
        let all = self.proposals(None).await?;
        if let Some(waiting) =
            all.iter().find(|p| p.state == ProposalState::Pending && p.draft.same_as(&draft))
        {
            let merged = draft.fields.into_iter().map(|field| field.field).collect();
            let proposal = waiting.clone();
            return Ok(Proposed { proposal, kept: Vec::new(), merged, suppressed: Vec::new() });
        }
        let id = all.iter().map(|proposal| proposal.id).max().unwrap_or(0) + 1;
        let at = self.clock.stamp();
        let text =
            serde_json::to_string(&draft).map_err(|error| LibraryError::Database(error.to_string()))?;
        self.execute(
            "BEGIN; CREATE $id CONTENT $row RETURN NONE; CREATE proposal_event CONTENT $event RETURN NONE; COMMIT;",
            object! {
                id: record(id),
                row: object! {
                    draft: text,
                    proposed_by: by.0.clone(),
                    created_at: at.clone(),
                    state: ProposalState::Pending.as_str().to_owned(),
                    accepted: Vec::<String>::new(),
                },
                event: event(id, &at, by, "proposed", &draft.reason),
            },
        )
        .await?;
        let kept = draft.fields.into_iter().map(|field| field.field).collect();
        let proposal = self.proposal(id).await?;
        Ok(Proposed { proposal, kept, merged: Vec::new(), suppressed: Vec::new() })
    }

    /// The proposals in this state, or all, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn proposals(&self, state: Option<ProposalState>) -> Result<Vec<Proposal>> {
        let mut response = self
            .db()
            .query("SELECT * FROM proposal WHERE $state = NONE OR state = $state ORDER BY id")
            .bind(("state", state.map(|state| state.as_str().to_owned())))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<ProposalRow> = response.take(0).map_err(|error| self.failed(&error))?;
        rows.into_iter().map(ProposalRow::into_proposal).collect()
    }

    /// One proposal.
    ///
    /// # Errors
    /// [`LibraryError::NoProposal`].
    pub async fn proposal(&self, id: u32) -> Result<Proposal> {
        let mut response = self
            .db()
            .query("SELECT * FROM $id")
            .bind(("id", record(id)))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<ProposalRow> = response.take(0).map_err(|error| self.failed(&error))?;
        rows.into_iter().next().ok_or(LibraryError::NoProposal(id))?.into_proposal()
    }

    /// What happened to a proposal, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn proposal_events(&self, id: u32) -> Result<Vec<ProposalEvent>> {
        let mut response = self
            .db()
            .query("SELECT at, by, what, why FROM proposal_event WHERE proposal = $id ORDER BY at")
            .bind(("id", i64::from(id)))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<ProposalEventRow> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(rows
            .into_iter()
            .map(|row| ProposalEvent { at: row.at, by: row.by, what: row.what, why: row.why })
            .collect())
    }

    /// Works out what accepting `fields` (all when `None`) with some values edited would write.
    ///
    /// A card that changed since the proposal was made takes the fields that did not; the others are
    /// a conflict, never overwritten.
    ///
    /// # Errors
    /// [`LibraryError::Decided`], [`LibraryError::Invalid`] when the result is no card or nothing was
    /// chosen, [`LibraryError::NoCard`] when the card is gone, [`LibraryError::Conflict`].
    pub async fn acceptance(
        &self,
        proposal: &Proposal,
        fields: Option<&[String]>,
        edits: &Map<String, Value>,
    ) -> Result<Acceptance> {
        if proposal.state != ProposalState::Pending {
            return Err(LibraryError::Decided { proposal: proposal.id, state: proposal.state.as_str() });
        }
        let mut draft = proposal.draft.clone();
        let known: HashSet<&str> = proposal.draft.fields.iter().map(|f| f.field.as_str()).collect();
        if let Some(unknown) =
            fields.unwrap_or_default().iter().chain(edits.keys()).find(|f| !known.contains(f.as_str()))
        {
            return Err(LibraryError::Invalid(format!("the proposal has no field {unknown:?}")));
        }
        for field in &mut draft.fields {
            if let Some(value) = edits.get(&field.field) {
                field.value = Some(value.clone());
            }
        }
        let chosen = |field: &str| fields.is_none_or(|fields| fields.iter().any(|f| f == field));
        let taken: Vec<String> =
            draft.fields.iter().map(|f| f.field.clone()).filter(|field| chosen(field)).collect();
        if taken.is_empty() {
            return Err(LibraryError::Invalid("no field was chosen".to_owned()));
        }
        let (before, write) = match &draft.card {
            None => (Map::new(), Target::New),
            Some(id) => {
                let record = self.card(id)?;
                let now = record.card().into_object();
                if let Some(base) = draft.base.filter(|base| *base != record.number) {
                    let then = self.revision(id, base).await?.body.unwrap_or_default();
                    let then: Map<String, Value> = serde_json::from_str(&then).unwrap_or_default();
                    if taken.iter().any(|field| now.get(field) != then.get(field)) {
                        return Err(LibraryError::Conflict {
                            card: id.to_string(),
                            expected: base,
                            current: record.number,
                        });
                    }
                }
                (now, Target::Change { id: id.clone(), expected: record.number })
            }
        };
        let card = Toolcard::new(draft.applied(&before, chosen)).map_err(|problems| {
            LibraryError::Invalid(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })?;
        Ok(Acceptance { card, fields: taken, write })
    }

    /// Writes an acceptance: card, revision and decision in one transaction.
    ///
    /// # Errors
    /// As [`Library::commit`]; [`LibraryError::Duplicate`] when a new card's name is taken.
    pub async fn accept(
        &self,
        proposal: &Proposal,
        acceptance: Acceptance,
        vectors: Option<PackedVectors>,
        meta: &Meta,
    ) -> Result<Committed> {
        let at = self.clock.stamp();
        let decision = |change: &str| -> Vec<Object> {
            vec![
                object! {
                    id: record(proposal.id),
                    state: ProposalState::Accepted.as_str().to_owned(),
                    decided_at: at.clone(),
                    decided_by: meta.author.0.clone(),
                    decision: meta.reason.clone(),
                    accepted: acceptance.fields.clone(),
                    change: change.to_owned(),
                },
                with_id(
                    proposal.id,
                    &at,
                    event(proposal.id, &at, &meta.author, "accepted", &acceptance.fields.join(", ")),
                ),
            ]
        };
        let card = Box::new(acceptance.card.clone());
        let write = match &acceptance.write {
            Target::New => Write::Put { card, mode: PutMode::Create, vectors },
            Target::Change { id, expected } => {
                Write::Edit { id: id.clone(), expected: Some(*expected), card, vectors }
            }
        };
        let meta = Meta { operation: Operation::Accept, ..meta.clone() };
        self.commit_with(&meta, &[write], None, Some(&decision)).await
    }

    /// Turns a proposal down.
    ///
    /// # Errors
    /// [`LibraryError::NoProposal`], [`LibraryError::Decided`].
    pub async fn reject(&self, id: u32, by: &Author, why: &str) -> Result<Proposal> {
        let _turn = self.writer.lock().await;
        let proposal = self.proposal(id).await?;
        if proposal.state != ProposalState::Pending {
            return Err(LibraryError::Decided { proposal: id, state: proposal.state.as_str() });
        }
        self.settle(id, ProposalState::Rejected, by, why).await
    }

    /// Lets a rejected proposal wait again. An accepted one is taken back by undoing its change.
    ///
    /// # Errors
    /// [`LibraryError::NoProposal`], [`LibraryError::NothingToUndo`] when it is not rejected.
    pub async fn reopen(&self, id: u32, by: &Author) -> Result<Proposal> {
        let _turn = self.writer.lock().await;
        if self.proposal(id).await?.state != ProposalState::Rejected {
            return Err(LibraryError::NothingToUndo);
        }
        self.settle(id, ProposalState::Pending, by, "").await
    }

    /// The change that accepting a proposal made, if it was accepted.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn change_of_proposal(&self, id: u32) -> Result<Option<String>> {
        let mut response = self
            .db()
            .query("SELECT VALUE change FROM $id")
            .bind(("id", record(id)))
            .await
            .map_err(|error| self.failed(&error))?;
        let change: Vec<Option<String>> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(change.into_iter().next().flatten())
    }

    async fn settle(&self, id: u32, state: ProposalState, by: &Author, why: &str) -> Result<Proposal> {
        let at = self.clock.stamp();
        let decided = (state != ProposalState::Pending).then(|| at.clone());
        let what = if decided.is_some() { state.as_str() } else { "undone" };
        self.execute(
            "BEGIN;
             UPDATE $id SET state = $state, decided_at = $at, decided_by = $by, decision = $why RETURN NONE;
             CREATE proposal_event CONTENT $event RETURN NONE;
             COMMIT;",
            object! {
                id: record(id),
                state: state.as_str().to_owned(),
                by: decided.as_ref().map(|_| by.0.clone()),
                why: decided.as_ref().map(|_| why.to_owned()),
                at: decided,
                event: event(id, &at, by, what, why),
            },
        )
        .await?;
        self.proposal(id).await
    }
}

fn event(id: u32, at: &str, by: &Author, what: &str, why: &str) -> Object {
    object! {
        proposal: i64::from(id),
        at: at.to_owned(),
        by: by.0.clone(),
        what: what.to_owned(),
        why: why.to_owned(),
    }
}

/// An event's row with a name of its own, for a statement that asks for one.
fn with_id(id: u32, at: &str, mut event: Object) -> Object {
    event.insert("id", RecordId::new("proposal_event", format!("{id:010}|{at}|accepted")));
    event
}
