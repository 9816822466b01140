//! Taking a draft in: what is new waits, what waits already is united, what was turned down stays so.

use autokit_toolcard::{Author, Draft, Evidence, Proposal, ProposalState, ProposedField, Risk, fields};
use surrealdb::types::{Object, RecordId, SurrealValue};

use super::Note;
use crate::error::Result;
use crate::store::Library;

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

/// A value that was turned down.
#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct TurnedDown {
    proposal: i64,
    field: String,
}

impl Library {
    /// Keeps a draft as a proposal, as far as it says something new.
    ///
    /// * A value that a reviewer turned down is left out while its page is the same. Of a new card the
    ///   name decides for the whole.
    /// * A value that waits already gets the evidence of both.
    /// * A newer value from the same origin takes the place of the one that waits, which is told.
    ///
    /// # Errors
    /// [`crate::LibraryError::NoCard`] when the card to change is gone.
    pub async fn propose(&self, mut draft: Draft, by: &Author) -> Result<Proposed> {
        let _turn = self.writer.lock().await;
        self.settle_doubt().await?;
        if let Some(card) = &draft.card {
            let number = self.card(card)?.number;
            draft.base.get_or_insert(number);
        }
        let turned_down = self.turned_down(&draft).await?;
        let suppressed: Vec<String> = turned_down.iter().map(|(field, _)| field.clone()).collect();
        draft.fields.retain(|field| !suppressed.contains(&field.field));
        if let (true, Some((_, first))) = (draft.fields.is_empty(), turned_down.first()) {
            let proposal = self.proposal(*first).await?;
            return Ok(Proposed { proposal, kept: Vec::new(), merged: Vec::new(), suppressed });
        }

        let at = self.clock.stamp();
        let mut note = Note::default();
        let mut merged = Vec::new();
        let mut home: Option<Proposal> = None;
        for waiting in self.look_at_queue(|queue| queue.about(&draft.subject())) {
            let mut now = Proposal::clone(&waiting);
            let Some(taken) = take_in(&mut now, &mut draft) else { continue };
            note.events
                .extend(taken.told.iter().map(|(what, why)| self.event(now.id, &at, &by.0, what, why)));
            note.events.extend(self.compare(&mut now).await?);
            merged.extend(taken.fields);
            home.get_or_insert_with(|| now.clone());
            note.changed.push(now);
        }
        let kept: Vec<String> = draft.fields.iter().map(|field| field.field.clone()).collect();
        if !kept.is_empty() || home.is_none() {
            let mut proposal = Proposal {
                id: self.look_at_queue(super::Queue::next),
                proposed_by: by.0.clone(),
                created_at: at.clone(),
                state: ProposalState::Pending,
                decided_at: None,
                decided_by: None,
                decision: None,
                accepted: Vec::new(),
                decisions: Vec::new(),
                approvals: Vec::new(),
                rebased: std::collections::BTreeMap::new(),
                conflicts: Vec::new(),
                risk: Risk::Low,
                draft,
            };
            note.events.push(self.event(proposal.id, &at, &by.0, "proposed", &proposal.draft.reason));
            let compared: Vec<Object> = self.compare(&mut proposal).await?;
            note.events.extend(compared);
            home = Some(proposal.clone());
            note.changed.push(proposal);
        }
        self.note(note).await?;
        let proposal = home.expect("kept or taken in");
        Ok(Proposed { proposal, kept, merged, suppressed })
    }

    /// The fields of a draft that were turned down, with the number of the proposal they were in.
    async fn turned_down(&self, draft: &Draft) -> Result<Vec<(String, u32)>> {
        let marks: Vec<RecordId> =
            draft.fields.iter().map(|field| RecordId::new("rejection", draft.mark(field))).collect();
        let mut response = self
            .db()
            .query("SELECT proposal, field FROM $marks")
            .bind(("marks", marks))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<TurnedDown> = response.take(0).map_err(|error| self.failed(&error))?;
        let found: Vec<(String, u32)> =
            rows.into_iter().map(|row| (row.field, row.proposal as u32)).collect();
        if draft.card.is_some() {
            return Ok(found);
        }
        // A card without its name is none: with the name all of it was turned down.
        let whole = found.iter().find(|(field, _)| field == fields::NAME).map(|(_, proposal)| *proposal);
        Ok(match whole {
            Some(proposal) => draft.fields.iter().map(|field| (field.field.clone(), proposal)).collect(),
            None => Vec::new(),
        })
    }
}

/// What a waiting proposal took in.
struct Taken {
    fields: Vec<String>,
    /// Steps to tell: what, and in words.
    told: Vec<(&'static str, String)>,
}

/// Moves the fields of `draft` that belong into a waiting proposal there.
fn take_in(waiting: &mut Proposal, draft: &mut Draft) -> Option<Taken> {
    let new_card = draft.card.is_none();
    let same_origin = waiting.draft.origin == draft.origin;
    let told_otherwise = |field: &ProposedField| {
        waiting.draft.fields.iter().any(|other| other.field == field.field && other.value != field.value)
    };
    // A new card is one thing: it is taken in whole or not at all.
    if new_card && !same_origin && draft.fields.iter().any(told_otherwise) {
        return None;
    }
    let (mut united, mut replaced, mut taken) = (Vec::new(), Vec::new(), Vec::new());
    let proposed = &mut waiting.draft.fields;
    draft.fields.retain(|field| {
        match proposed.iter_mut().find(|other| other.field == field.field) {
            Some(other) if other.value == field.value => {
                if unite(other, field) {
                    united.push(field.field.clone());
                }
            }
            Some(other) if same_origin => {
                replaced.push(format!("{}: {} → {}", field.field, shown(other), shown(field)));
                *other = field.clone();
            }
            None if new_card => {
                united.push(field.field.clone());
                proposed.push(field.clone());
            }
            _ => return true,
        }
        taken.push(field.field.clone());
        false
    });
    if taken.is_empty() {
        return None;
    }
    // What was taken in was proposed on the draft's revision, whatever the rest rests on.
    if let Some(base) = draft.base.filter(|base| Some(*base) != waiting.draft.base) {
        waiting.rebased.extend(taken.iter().map(|field| (field.clone(), base)));
    }
    if draft.basis.is_some() {
        waiting.draft.basis.clone_from(&draft.basis);
    }
    for card in &draft.similar {
        if !waiting.draft.similar.contains(card) {
            waiting.draft.similar.push(card.clone());
        }
    }
    let mut told = Vec::new();
    if !united.is_empty() {
        told.push(("merged", format!("{}: {}", united.join(", "), draft.reason)));
    }
    if !replaced.is_empty() {
        waiting.draft.reason.clone_from(&draft.reason);
        waiting.draft.candidates.clone_from(&draft.candidates);
        told.push(("replaced", replaced.join("; ")));
    }
    Some(Taken { fields: taken, told })
}

/// Adds the evidence of `newer` to `field`; whether there was any that is new.
fn unite(field: &mut ProposedField, newer: &ProposedField) -> bool {
    let same = |a: &Evidence, b: &Evidence| a.url == b.url && a.quote == b.quote;
    let mut new = false;
    for evidence in &newer.evidence {
        if let Some(known) = field.evidence.iter_mut().find(|known| same(known, evidence)) {
            known.clone_from(evidence);
        } else {
            field.evidence.push(evidence.clone());
            new = true;
        }
    }
    field.confidence = field.confidence.max(newer.confidence);
    new
}

/// A value in the account of what happened: long ones by their beginning.
fn shown(field: &ProposedField) -> String {
    const SHOWN: usize = 80;
    let text = field.value.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
