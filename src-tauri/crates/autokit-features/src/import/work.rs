//! What carrying out a plan comes to: cards to write, proposals to make.

use autokit_api::{ExistingCards, ItemChoice, ItemStatus, Landing};
use autokit_bundle::merge::merge;
use autokit_bundle::plan::Standing;
use autokit_bundle::{Entry, Provenance};
use autokit_error::Result;
use autokit_library::{Arrival, ArrivedRevision, CardRecord, ForeignState, Library};
use autokit_toolcard::{Arrived, CardId, Draft, Operation, Origin, ProposedField, RevisionId, fields};
use serde_json::{Map, Value};

use super::plan::{Plan, Planned};
use super::wishes::Wishes;
use crate::flagged::has_new_flagged_text;

/// How likely what somebody else keeps is true, unseen.
const CONFIDENCE: f32 = 0.5;

/// What carrying out a plan comes to, before vectors.
#[derive(Default)]
pub(super) struct Work {
    pub(super) arrivals: Vec<Arrival>,
    /// Of each arrival, which entry it is.
    pub(super) from: Vec<usize>,
    pub(super) drafts: Vec<Draft>,
    pub(super) foreign: Vec<ForeignState>,
    pub(super) unchanged: u32,
}

impl Work {
    fn arrive(
        &mut self,
        at: usize,
        ours: Option<&CardRecord>,
        id: &CardId,
        revisions: Vec<ArrivedRevision>,
        told: Option<String>,
    ) {
        self.from.push(at);
        self.arrivals.push(Arrival {
            id: id.clone(),
            expected: ours.map(|ours| ours.number),
            revisions,
            provenance: told,
            vectors: None,
        });
    }
}

/// One card of a source, with what was chosen for it.
struct Item<'a> {
    at: usize,
    entry: &'a Entry,
    choice: Option<&'a ItemChoice>,
}

impl Item<'_> {
    /// The fields a person chose, if they chose fields.
    fn named(&self) -> Option<&[String]> {
        self.choice?.fields.as_deref()
    }

    /// Whether a person said that this field is taken.
    fn is_named(&self, field: &str) -> bool {
        self.named().is_some_and(|named| named.iter().any(|name| name == field))
    }

    /// Whether what both changed in this field is decided in Review: where nothing was chosen, or that.
    fn is_left_open(&self, field: &str) -> bool {
        let later = self.choice.is_some_and(|choice| choice.later.iter().any(|name| name == field));
        later || self.named().is_none()
    }

    fn theirs(&self, field: &str) -> Option<Value> {
        self.entry.card.object().get(field).cloned()
    }
}

impl Plan {
    pub(super) fn work(&self, wishes: &Wishes, library: &Library) -> Result<Work> {
        let mut work = Work::default();
        for (at, (entry, planned)) in self.incoming.entries.iter().zip(&self.planned).enumerate() {
            let item = Item { at, entry, choice: wishes.choices.get(&(entry.position as u32)) };
            if planned.status == ItemStatus::Invalid {
                continue;
            }
            let before = work.arrivals.len() + work.drafts.len();
            if item.choice.is_none_or(|choice| choice.take) {
                let same_as = item.choice.and_then(|choice| choice.same_as.as_deref());
                match same_as.map(|id| library.card(&CardId::new(id))).transpose()? {
                    // Under another name here: nothing tells which of the two is newer.
                    Some(ours) => {
                        let merged = merge(None, ours.card().object(), entry.card.object());
                        let standing = Standing::Apart { common: false, merged };
                        let suspect = || has_new_flagged_text(&entry.card, Some(&ours));
                        self.known(&item, &ours, (&standing, suspect), wishes, &mut work);
                    }
                    None => match (&planned.ours, &planned.standing) {
                        (Some(ours), Some(standing)) => {
                            self.known(
                                &item,
                                ours,
                                (standing, || planned.is_suspect(entry)),
                                wishes,
                                &mut work,
                            );
                        }
                        _ => self.unknown(&item, planned, wishes, &mut work),
                    },
                }
            }
            work.unchanged += u32::from(work.arrivals.len() + work.drafts.len() == before);
        }
        Ok(work)
    }

    /// A card the library does not have.
    fn unknown(&self, item: &Item<'_>, planned: &Planned, wishes: &Wishes, work: &mut Work) {
        let entry = item.entry;
        // Without its name it would be none.
        let chosen = |field: &str| item.named().is_none() || field == fields::NAME || item.is_named(field);
        let all = entry.card.object();
        let card: Map<String, Value> = all
            .iter()
            .filter(|(field, _)| chosen(field))
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect();
        if wishes.landing_of(|| planned.is_suspect(entry)) == Landing::Review {
            let values = card.into_iter().map(|(field, value)| proposed(field, Some(value))).collect();
            let mut draft = draft(entry, wishes, values);
            draft.similar = planned.similar.iter().map(|record| record.id.clone()).collect();
            work.drafts.push(draft);
            work.foreign.push(foreign_state(entry, &entry.id));
            return;
        }
        let revisions = if card.len() == all.len() {
            self.revisions(entry, 0, wishes)
        } else {
            vec![self.merging(entry, Value::Object(card).to_string(), wishes)]
        };
        let told = self.incoming.bundled.then(|| told(&self.provenance(entry)));
        work.arrive(item.at, None, &entry.id, revisions, told);
    }

    /// A card the library has.
    fn known(
        &self,
        item: &Item<'_>,
        ours: &CardRecord,
        (standing, suspect): (&Standing, impl FnOnce() -> bool),
        wishes: &Wishes,
        work: &mut Work,
    ) {
        let entry = item.entry;
        if wishes.existing == ExistingCards::Keep || *standing == Standing::Identical {
            return;
        }
        let landing = wishes.landing_of(suspect);
        if wishes.existing == ExistingCards::Replace && item.choice.is_none() && landing == Landing::Library {
            let revision = self.merging(entry, entry.card.to_json(), wishes);
            work.arrive(item.at, Some(ours), &ours.id, vec![revision], None);
            return;
        }
        let now = ours.card().into_object();
        let merged = match standing.merged() {
            Some(merged) => merged.clone(),
            None if self.incoming.bundled => return,
            // A file that only says what it says is held against the card plainly.
            None => merge(None, &now, entry.card.object()),
        };
        // What is taken over: what only they changed, and what a person decided for them.
        let mut values: Vec<(String, Option<Value>)> = merged
            .taken
            .iter()
            .filter(|field| item.named().is_none() || item.is_named(field))
            .map(|field| (field.clone(), merged.card.get(field).cloned()))
            .collect();
        let (mut decided, mut open) = (false, Vec::new());
        for conflict in &merged.conflicts {
            if item.is_named(&conflict.field) {
                decided = true;
                values.push((conflict.field.clone(), item.theirs(&conflict.field)));
            } else if item.is_left_open(&conflict.field) {
                open.push(conflict.field.clone());
            }
        }
        let mut number = ours.number;
        // With a choice their state counts as seen, even if nothing of it was taken.
        if landing == Landing::Library && !(values.is_empty() && item.named().is_none()) {
            let revisions = match standing {
                Standing::Ahead { from, .. } if !decided && values.len() == merged.taken.len() => {
                    self.revisions(entry, *from, wishes)
                }
                _ => {
                    let mut card = now;
                    for (field, value) in values.drain(..) {
                        match value {
                            Some(value) => card.insert(field, value),
                            None => card.shift_remove(&field),
                        };
                    }
                    vec![self.merging(entry, Value::Object(card).to_string(), wishes)]
                }
            };
            values.clear();
            number += revisions.len() as u32;
            work.arrive(item.at, Some(ours), &ours.id, revisions, None);
            work.foreign.push(foreign_state(entry, &ours.id));
        }
        values.extend(open.iter().map(|field| (field.clone(), item.theirs(field))));
        if values.is_empty() {
            return;
        }
        let values = values.into_iter().map(|(field, value)| proposed(field, value)).collect();
        let mut draft = draft(entry, wishes, values);
        draft.card = Some(ours.id.clone());
        draft.base = Some(number);
        if let Some(arrived) = &mut draft.arrived {
            arrived.conflicts = open;
        }
        work.drafts.push(draft);
        if work.foreign.last().is_none_or(|state| state.id != entry.step.id) {
            work.foreign.push(foreign_state(entry, &ours.id));
        }
    }

    /// Their revisions from one of their states on, as they are.
    fn revisions(&self, entry: &Entry, from: usize, wishes: &Wishes) -> Vec<ArrivedRevision> {
        if !self.incoming.bundled {
            return vec![self.merging(entry, entry.card.to_json(), wishes)];
        }
        let arrived = |step: &autokit_bundle::Step, body: String, merged: Vec<RevisionId>| ArrivedRevision {
            operation: step.operation,
            author: step.author.clone(),
            reason: step.reason.clone(),
            at: step.at.clone(),
            body,
            id: Some(step.id.clone()),
            merged,
        };
        let past = entry.history.iter().skip(from);
        let mut revisions: Vec<ArrivedRevision> =
            past.map(|past| arrived(&past.step, past.body.clone(), past.step.merged.clone())).collect();
        // States that did not come along are known by name.
        let merged = entry.step.merged.iter().chain(&entry.ancestors).cloned().collect();
        revisions.push(arrived(&entry.step, entry.card.to_json(), merged));
        revisions
    }

    /// A revision that brings theirs together with ours.
    fn merging(&self, entry: &Entry, body: String, wishes: &Wishes) -> ArrivedRevision {
        // What has no library of its own has no revisions either.
        let theirs = std::iter::once(&entry.step.id).chain(entry.before()).filter(|_| self.incoming.bundled);
        ArrivedRevision {
            operation: Operation::Import,
            author: wishes.by.clone(),
            reason: wishes.reason.clone(),
            at: wishes.at.clone(),
            body,
            id: None,
            merged: theirs.cloned().collect(),
        }
    }

    /// Where a card came from, with the licence it came under.
    pub(super) fn provenance(&self, entry: &Entry) -> Provenance {
        let mut provenance = entry.provenance.clone();
        if provenance.licence.is_none() {
            provenance.licence.clone_from(&self.incoming.about.licence);
        }
        provenance
    }
}

fn draft(entry: &Entry, wishes: &Wishes, values: Vec<ProposedField>) -> Draft {
    let arrived = Arrived {
        // Known when it is written.
        import: String::new(),
        card: entry.id.clone(),
        revision: entry.step.id.clone(),
        conflicts: Vec::new(),
    };
    Draft { arrived: Some(arrived), ..Draft::new(Origin::Import, wishes.reason.clone(), values) }
}

fn told(provenance: &Provenance) -> String {
    serde_json::to_string(provenance).expect("strings are JSON")
}

fn proposed(field: String, value: Option<Value>) -> ProposedField {
    ProposedField { field, value, evidence: Vec::new(), confidence: CONFIDENCE }
}

fn foreign_state(entry: &Entry, card: &CardId) -> ForeignState {
    ForeignState {
        id: entry.step.id.clone(),
        card: card.clone(),
        body: entry.card.to_json(),
        before: entry.before().cloned().collect(),
    }
}
