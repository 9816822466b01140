//! The result of applying a person's choices to a plan: cards to write and proposals to make.

use autokit_api::{ExistingCards, ItemChoice, ItemStatus, Landing};
use autokit_bundle::compare::MergeState;
use autokit_bundle::merge::merge;
use autokit_bundle::{BundleCard, Provenance, RevisionMeta};
use autokit_error::Result;
use autokit_library::{CardRecord, ForeignState, ImportedCard, ImportedRevision, Library};
use autokit_toolcard::{CardId, Draft, ImportOrigin, Operation, Origin, ProposedField, RevisionId, fields};
use serde_json::{Map, Value};

use super::options::ImportOptions;
use super::plan::{ImportPlan, PlannedCard};
use crate::flagged::{has_new_code, has_new_flagged_text};

/// Confidence of values from other libraries, which nobody has checked here.
const CONFIDENCE: f32 = 0.5;

/// What an import writes, before embeddings.
#[derive(Default)]
pub(super) struct ImportBatch {
    pub(super) arrivals: Vec<ImportedCard>,
    /// The index of each arrival's entry in the source.
    pub(super) from: Vec<usize>,
    pub(super) drafts: Vec<Draft>,
    /// For each draft, whether there is also an arrival for its entry.
    pub(super) beside_arrival: Vec<bool>,
    pub(super) foreign: Vec<ForeignState>,
    pub(super) unchanged: u32,
    /// Cards that cannot be imported, because another card has their name.
    pub(super) invalid: u32,
}

impl ImportBatch {
    fn add_card(
        &mut self,
        at: usize,
        ours: Option<&CardRecord>,
        id: &CardId,
        revisions: Vec<ImportedRevision>,
        provenance: Option<String>,
    ) {
        self.from.push(at);
        self.arrivals.push(ImportedCard {
            id: id.clone(),
            expected: ours.map(|ours| ours.number),
            revisions,
            provenance,
            vectors: None,
        });
    }
}

/// One card of a source, with the person's choice for it.
struct Item<'a> {
    at: usize,
    entry: &'a BundleCard,
    choice: Option<&'a ItemChoice>,
}

impl Item<'_> {
    /// Returns the fields the person chose, if they chose any.
    fn chosen_fields(&self) -> Option<&[String]> {
        self.choice?.fields.as_deref()
    }

    /// Returns whether the person chose to take this field.
    fn is_chosen(&self, field: &str) -> bool {
        self.chosen_fields().is_some_and(|chosen| chosen.iter().any(|name| name == field))
    }

    /// Returns whether a conflict in this field goes to Review: if the person made no choice of fields, or
    /// deferred this one.
    fn is_deferred(&self, field: &str) -> bool {
        let later = self.choice.is_some_and(|choice| choice.later.iter().any(|name| name == field));
        later || self.chosen_fields().is_none()
    }

    fn source_value(&self, field: &str) -> Option<Value> {
        self.entry.card.object().get(field).cloned()
    }
}

impl ImportPlan {
    pub(super) fn batch(&self, options: &ImportOptions, library: &Library) -> Result<ImportBatch> {
        let mut batch = ImportBatch::default();
        for (at, (entry, planned)) in self.incoming.entries.iter().zip(&self.planned).enumerate() {
            let item = Item { at, entry, choice: options.choices.get(&(entry.position as u32)) };
            if planned.status == ItemStatus::Invalid {
                batch.invalid += 1;
                continue;
            }
            let (arrivals, drafts) = (batch.arrivals.len(), batch.drafts.len());
            if item.choice.is_none_or(|choice| choice.take) {
                let same_as = item.choice.and_then(|choice| choice.same_as.as_ref());
                match same_as.map(|id| library.card(id)).transpose()? {
                    // The person matched it to a card of another name, so nothing tells which of the two is
                    // newer.
                    Some(ours) => {
                        let merged = merge(None, ours.card().object(), entry.card.object());
                        let merge_state = MergeState::Diverged { common: false, merged };
                        let flagged = || {
                            has_new_flagged_text(&entry.card, Some(&ours))
                                || has_new_code(&entry.card, Some(&ours))
                        };
                        self.merge_existing(&item, &ours, (&merge_state, flagged), options, &mut batch);
                    }
                    None => match (&planned.ours, &planned.merge_state) {
                        (Some(ours), Some(merge_state)) => {
                            self.merge_existing(
                                &item,
                                ours,
                                (merge_state, || planned.is_suspect(entry)),
                                options,
                                &mut batch,
                            );
                        }
                        _ => self.add_new(&item, planned, options, &mut batch),
                    },
                }
            }
            let arrives = batch.arrivals.len() > arrivals;
            let proposed = batch.drafts.len() > drafts;
            batch.unchanged += u32::from(!arrives && !proposed);
            if proposed {
                batch.beside_arrival.push(arrives);
            }
        }
        Ok(batch)
    }

    /// Imports a card the library does not have.
    fn add_new(
        &self,
        item: &Item<'_>,
        planned: &PlannedCard,
        options: &ImportOptions,
        batch: &mut ImportBatch,
    ) {
        let entry = item.entry;
        // A card must have a name, so the name is always taken.
        let chosen =
            |field: &str| item.chosen_fields().is_none() || field == fields::NAME || item.is_chosen(field);
        let all = entry.card.object();
        let card: Map<String, Value> = all
            .iter()
            .filter(|(field, _)| chosen(field))
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect();
        if options.resolve_landing(|| planned.is_suspect(entry)) == Landing::Review {
            let values = card.into_iter().map(|(field, value)| proposed(field, Some(value))).collect();
            let mut draft = draft(entry, options, values);
            draft.similar = planned.similar.iter().map(|record| record.id.clone()).collect();
            batch.drafts.push(draft);
            batch.foreign.push(foreign_state(entry, &entry.id));
            return;
        }
        let revisions = if card.len() == all.len() {
            self.revisions(entry, 0, options)
        } else {
            vec![self.merge_revision(entry, Value::Object(card).to_string(), options)]
        };
        let provenance = self.incoming.bundled.then(|| provenance_json(&self.provenance(entry)));
        batch.add_card(item.at, None, &entry.id, revisions, provenance);
    }

    /// Imports a card the library has.
    fn merge_existing(
        &self,
        item: &Item<'_>,
        ours: &CardRecord,
        (merge_state, flagged): (&MergeState, impl FnOnce() -> bool),
        options: &ImportOptions,
        batch: &mut ImportBatch,
    ) {
        let entry = item.entry;
        if options.existing == ExistingCards::Keep || *merge_state == MergeState::Identical {
            return;
        }
        let landing = options.resolve_landing(flagged);
        if options.existing == ExistingCards::Replace && item.choice.is_none() && landing == Landing::Library
        {
            let revision = self.merge_revision(entry, entry.card.to_json(), options);
            batch.add_card(item.at, Some(ours), &ours.id, vec![revision], None);
            return;
        }
        let now = ours.card().into_object();
        let Some(merged) = merge_state.merged().cloned() else { return };
        // The values to write: what only the source changed, and what the person chose from it.
        let mut values: Vec<(String, Option<Value>)> = merged
            .taken
            .iter()
            .filter(|field| item.chosen_fields().is_none() || item.is_chosen(field))
            .map(|field| (field.clone(), merged.card.get(field).cloned()))
            .collect();
        let (mut decided, mut deferred) = (false, Vec::new());
        for conflict in &merged.conflicts {
            if item.is_chosen(&conflict.field) {
                decided = true;
                values.push((conflict.field.clone(), item.source_value(&conflict.field)));
            } else if item.is_deferred(&conflict.field) {
                deferred.push(conflict.field.clone());
            }
        }
        let mut number = ours.number;
        // Once the person chose, the source's state counts as merged, even if no value was taken.
        if landing == Landing::Library && !(values.is_empty() && item.chosen_fields().is_none()) {
            let revisions = match merge_state {
                MergeState::Ahead { from, .. } if !decided && values.len() == merged.taken.len() => {
                    self.revisions(entry, *from, options)
                }
                _ => {
                    let mut card = now;
                    for (field, value) in values.drain(..) {
                        match value {
                            Some(value) => card.insert(field, value),
                            None => card.shift_remove(&field),
                        };
                    }
                    vec![self.merge_revision(entry, Value::Object(card).to_string(), options)]
                }
            };
            values.clear();
            number += revisions.len() as u32;
            batch.add_card(item.at, Some(ours), &ours.id, revisions, None);
            batch.foreign.push(foreign_state(entry, &ours.id));
        }
        values.extend(deferred.iter().map(|field| (field.clone(), item.source_value(field))));
        if values.is_empty() {
            return;
        }
        let values = values.into_iter().map(|(field, value)| proposed(field, value)).collect();
        let mut draft = draft(entry, options, values);
        draft.card = Some(ours.id.clone());
        draft.base = Some(number);
        if let Some(arrived) = &mut draft.arrived {
            arrived.conflicts = deferred;
        }
        batch.drafts.push(draft);
        if batch.foreign.last().is_none_or(|state| state.id != entry.revision.id) {
            batch.foreign.push(foreign_state(entry, &ours.id));
        }
    }

    /// Returns the source's revisions, unchanged, starting at index `from` of the entry's history.
    fn revisions(&self, entry: &BundleCard, from: usize, options: &ImportOptions) -> Vec<ImportedRevision> {
        if !self.incoming.bundled {
            return vec![self.merge_revision(entry, entry.card.to_json(), options)];
        }
        let arrived = |step: &RevisionMeta, body: String, merged: Vec<RevisionId>| ImportedRevision {
            operation: step.operation,
            author: step.author.clone(),
            reason: step.reason.clone(),
            at: step.at,
            body,
            id: Some(step.id.clone()),
            merged,
        };
        let past = entry.history.iter().skip(from);
        let mut revisions: Vec<ImportedRevision> = past
            .map(|past| arrived(&past.revision, past.body.clone(), past.revision.merged.clone()))
            .collect();
        // Revisions that did not come with the bundle are known by id only.
        let merged = entry.revision.merged.iter().chain(&entry.ancestors).cloned().collect();
        revisions.push(arrived(&entry.revision, entry.card.to_json(), merged));
        revisions
    }

    /// Returns a revision that merges the source's card into ours.
    fn merge_revision(&self, entry: &BundleCard, body: String, options: &ImportOptions) -> ImportedRevision {
        // A source without a library of its own has no revisions to record as merged.
        let theirs =
            std::iter::once(&entry.revision.id).chain(entry.ancestor_ids()).filter(|_| self.incoming.bundled);
        ImportedRevision {
            operation: Operation::Import,
            author: options.by.clone(),
            reason: options.reason.clone(),
            at: options.at,
            body,
            id: None,
            merged: theirs.cloned().collect(),
        }
    }

    /// Returns where a card came from, with the licence it came under.
    pub(super) fn provenance(&self, entry: &BundleCard) -> Provenance {
        let mut provenance = entry.provenance.clone();
        if provenance.licence.is_none() {
            provenance.licence.clone_from(&self.incoming.about.licence);
        }
        provenance
    }
}

fn draft(entry: &BundleCard, options: &ImportOptions, values: Vec<ProposedField>) -> Draft {
    let arrived = ImportOrigin {
        // Set when the import is written.
        import: String::new(),
        card: entry.id.clone(),
        revision: entry.revision.id.clone(),
        conflicts: Vec::new(),
    };
    Draft { arrived: Some(arrived), ..Draft::new(Origin::Import, options.reason.clone(), values) }
}

fn provenance_json(provenance: &Provenance) -> String {
    serde_json::to_string(provenance).expect("strings serialize to JSON")
}

fn proposed(field: String, value: Option<Value>) -> ProposedField {
    ProposedField { field, value, evidence: Vec::new(), confidence: CONFIDENCE }
}

fn foreign_state(entry: &BundleCard, card: &CardId) -> ForeignState {
    ForeignState {
        id: entry.revision.id.clone(),
        card: card.clone(),
        body: entry.card.to_json(),
        ancestors: entry.ancestor_ids().cloned().collect(),
    }
}
