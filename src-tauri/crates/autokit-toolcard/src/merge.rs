//! Merging a draft into a pending proposal, and turning a draft of a new card into a change of one.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::decision::ProposalEventKind;
use crate::identity::CardId;
use crate::proposal::{Draft, Evidence, Origin, Proposal, ProposedField};

/// What a pending proposal absorbed from a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absorbed {
    /// The fields.
    pub fields: Vec<String>,
    /// Events to record: kind and description.
    pub events: Vec<(ProposalEventKind, String)>,
}

impl Draft {
    /// Turns a draft of a new card into a change of the card `id`, which has these fields in its revision `number`:
    /// fields in which they agree are set apart. Values of another library that disagree are conflicts, because nothing
    /// tells which of the two is newer.
    pub fn set_card(&mut self, id: CardId, card: &Map<String, Value>, number: u32) {
        self.card = Some(id);
        self.base = Some(number);
        let agrees = |field: &ProposedField| card.get(&field.field) == field.value.as_ref();
        let (agreed, fields) = self.fields.drain(..).partition(agrees);
        (self.agreed, self.fields) = (agreed, fields);
        if let Some(arrived) = &mut self.arrived {
            let disputed = self.fields.iter().filter(|field| card.contains_key(&field.field));
            arrived.conflicts = disputed.map(|field| field.field.clone()).collect();
        }
    }
}

impl Draft {
    /// Takes back [`Draft::set_card`] once there is no such card; returns whether this was a draft of a new card.
    pub fn unset_card(&mut self) -> bool {
        if self.agreed.is_empty() {
            return false;
        }
        self.agreed.append(&mut self.fields);
        self.fields = std::mem::take(&mut self.agreed);
        (self.card, self.base) = (None, None);
        if let Some(arrived) = &mut self.arrived {
            arrived.conflicts.clear();
        }
        true
    }

    /// Returns a hash of the proposed values, in hexadecimal.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for field in &self.fields {
            for part in
                [field.field.as_str(), &field.value.as_ref().map(Value::to_string).unwrap_or_default()]
            {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part.as_bytes());
            }
        }
        hex::encode(hash.finalize())
    }
}

impl Proposal {
    /// Moves the fields of `draft` that belong to this pending proposal into it.
    pub fn absorb(&mut self, draft: &mut Draft) -> Option<Absorbed> {
        let new_card = draft.card.is_none();
        // Of two people's edits, none is the newer version of the other.
        let same_origin = self.draft.origin == draft.origin && draft.origin != Origin::Conflict;
        let has_other_value = |field: &ProposedField| {
            self.draft.fields.iter().any(|other| other.field == field.field && other.value != field.value)
        };
        // A new card is a unit: it is merged whole or not at all.
        if new_card && !same_origin && draft.fields.iter().any(has_other_value) {
            return None;
        }
        let (mut combined, mut replaced, mut merged_fields) = (Vec::new(), Vec::new(), Vec::new());
        let proposed = &mut self.draft.fields;
        draft.fields.retain(|field| {
            match proposed.iter_mut().find(|other| other.field == field.field) {
                Some(other) if other.value == field.value => {
                    if merge_evidence(other, field) {
                        combined.push(field.field.clone());
                    }
                }
                Some(other) if same_origin => {
                    replaced.push(format!(
                        "{}: {} → {}",
                        field.field,
                        display_value(other),
                        display_value(field)
                    ));
                    *other = field.clone();
                }
                None if new_card => {
                    combined.push(field.field.clone());
                    proposed.push(field.clone());
                }
                _ => return true,
            }
            merged_fields.push(field.field.clone());
            false
        });
        if merged_fields.is_empty() {
            return None;
        }
        // The absorbed fields are based on the draft's revision, whatever the rest is based on.
        if let Some(base) = draft.base.filter(|base| Some(*base) != self.draft.base) {
            self.rebased.extend(merged_fields.iter().map(|field| (field.clone(), base)));
        }
        if draft.arrived.is_some() && same_origin {
            self.draft.arrived.clone_from(&draft.arrived);
        }
        if draft.basis.is_some() {
            self.draft.basis.clone_from(&draft.basis);
        }
        for card in &draft.similar {
            if !self.draft.similar.contains(card) {
                self.draft.similar.push(card.clone());
            }
        }
        let mut events = Vec::new();
        if !combined.is_empty() {
            events.push((ProposalEventKind::Merged, format!("{}: {}", combined.join(", "), draft.reason)));
        }
        if !replaced.is_empty() {
            self.draft.reason.clone_from(&draft.reason);
            self.draft.candidates.clone_from(&draft.candidates);
            events.push((ProposalEventKind::Replaced, replaced.join("; ")));
        }
        Some(Absorbed { fields: merged_fields, events })
    }
}

/// Adds the evidence of `newer` to `field` and returns whether any of it was new.
fn merge_evidence(field: &mut ProposedField, newer: &ProposedField) -> bool {
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

/// Formats a value for an event, truncating long ones.
fn display_value(field: &ProposedField) -> String {
    const MAX_CHARS: usize = 80;
    let text = field.value.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
