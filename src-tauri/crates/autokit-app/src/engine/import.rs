//! Cards of others on their way in: what would happen, and what happens.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use autokit_bundle::plan::{Ours, Standing, compare};
use autokit_bundle::{Entry, Provenance};
use autokit_library::{
    Arrival, ArrivedRevision, CardRecord, ForeignState, Intake, PackedVectors, Replica, TakenIn,
};
use autokit_toolcard::{
    Arrived, Author, CardId, Draft, Named, Operation, Origin, Problem, ProposedField, RevisionId, Toolcard,
    diff_cards, fields,
};
use serde_json::{Map, Value};

use crate::api::{
    ExistingCards, FieldConflict, ImportItem, ImportNote, ImportPreview, ImportPreviewRequest, ImportRef,
    ImportRequest, ImportSource, ImportView, ItemChoice, ItemStatus, JobKind, JobRef, JobTally, Landing,
    Nothing, SourceInfo, Trust, UndoOutcome,
};
use crate::commands::{Context, Handle, ListImports, LoadStarter, PreviewImport, StartImport, UndoImport};
use crate::error::{ApiError, ErrorCode, Result};
use crate::jobs::{Outcome, Progress};

use super::background::in_background;
use super::catalogue::PAGE_ROWS;
use super::incoming::Incoming;
use super::keys::Seen;
use super::{Core, Engine};

/// Cards embedded between two looks at the stop button.
pub const BATCH: usize = 100;
/// Cards of the bundle whose vectors are made anew to see whether the others are true.
const SAMPLED: usize = 8;
/// Cosine between a vector that came and the one made here below which those that came are not used.
const TRUE_ENOUGH: f32 = 0.999;
/// How likely what somebody else keeps is true, unseen.
const CONFIDENCE: f32 = 0.5;
/// Names shown of cards that may be the same tool.
const SIMILAR: usize = 3;

/// How a source stands to the library, as of one state of it.
#[derive(Debug)]
pub(crate) struct Plan {
    incoming: Arc<Incoming>,
    /// Position in the journal it was made at.
    cursor: u64,
    planned: Vec<Planned>,
}

/// How one card of a source stands to the library.
#[derive(Debug)]
struct Planned {
    status: ItemStatus,
    ours: Option<Arc<CardRecord>>,
    standing: Option<Standing>,
    similar: Vec<Arc<CardRecord>>,
    problem: Option<Problem>,
}

impl Planned {
    fn behind(&self) -> bool {
        self.standing == Some(Standing::Behind)
    }
}

/// The plan made last, so that scrolling through a preview does not make it again.
#[derive(Debug, Default)]
pub(crate) struct PlanCache(Option<Arc<Plan>>);

impl Core {
    /// Holds a source against the library.
    async fn plan(self: &Arc<Self>, incoming: Arc<Incoming>) -> Result<Arc<Plan>> {
        let cursor = self.library.read(Replica::cursor);
        if let Some(plan) = &self.plans.lock().expect("no holder panics").0
            && plan.cursor == cursor
            && Arc::ptr_eq(&plan.incoming, &incoming)
        {
            return Ok(Arc::clone(plan));
        }
        let found: Vec<Option<Arc<CardRecord>>> = self
            .library
            .read(|replica| incoming.entries.iter().map(|entry| card_of(replica, entry).cloned()).collect());
        // Only of cards that differ is it asked how they came to.
        let differing: Vec<CardId> = incoming
            .entries
            .iter()
            .zip(&found)
            .filter_map(|(entry, ours)| ours.as_ref().filter(|ours| *ours.body != *entry.card.to_json()))
            .map(|ours| ours.id.clone())
            .collect();
        let lineages = self.library.lineages(&differing).await?;
        let foreign = self.foreign_states_of(&incoming.entries, &found, &lineages).await?;
        let core = Arc::clone(self);
        let plan = in_background(move || {
            let planned = core.library.read(|replica| {
                let tools = Tools::of(replica);
                let each = incoming.entries.iter().zip(found);
                let stand = |(entry, ours)| {
                    stand(replica, entry, ours, &lineages, &foreign, &tools, incoming.bundled)
                };
                each.map(stand).collect()
            });
            Ok(Arc::new(Plan { incoming, cursor, planned }))
        })
        .await?;
        self.plans.lock().expect("no holder panics").0 = Some(Arc::clone(&plan));
        Ok(plan)
    }

    /// States of other libraries that cards of ours were merged with, as far as these cards go back to
    /// them.
    async fn foreign_states_of(
        &self,
        entries: &[Entry],
        found: &[Option<Arc<CardRecord>>],
        lineages: &HashMap<CardId, Vec<Named>>,
    ) -> Result<HashMap<RevisionId, String>> {
        let mut wanted = HashSet::new();
        for (entry, ours) in entries.iter().zip(found) {
            let Some(lineage) = ours.as_ref().and_then(|ours| lineages.get(&ours.id)) else { continue };
            let merged: HashSet<&RevisionId> =
                lineage.iter().flat_map(|named| &named.revision.merged).collect();
            wanted.extend(entry.before().filter(|id| merged.contains(*id)).cloned());
        }
        let wanted: Vec<RevisionId> = wanted.into_iter().collect();
        let states = self.library.foreign_states(&wanted).await?;
        Ok(states.into_iter().map(|(id, state)| (id, state.body)).collect())
    }
}

/// The card of the library that a card of a source is: by its id, else by provider and name.
fn card_of<'a>(replica: &'a Replica, entry: &Entry) -> Option<&'a Arc<CardRecord>> {
    replica.get(&entry.id).or_else(|| replica.by_key(&entry.card.key()))
}

/// Cards of the library by what tells that two are one tool under two names.
struct Tools(HashMap<String, Vec<Arc<CardRecord>>>);

impl Tools {
    fn of(replica: &Replica) -> Tools {
        let mut tools: HashMap<String, Vec<Arc<CardRecord>>> = HashMap::new();
        for record in replica.iter() {
            for sign in signs(&record.card()) {
                tools.entry(sign).or_default().push(Arc::clone(record));
            }
        }
        Tools(tools)
    }

    fn like(&self, card: &Toolcard) -> Vec<Arc<CardRecord>> {
        let mut like: Vec<Arc<CardRecord>> = Vec::new();
        for record in signs(card).iter().filter_map(|sign| self.0.get(sign)).flatten() {
            if !like.iter().any(|other| other.id == record.id) {
                like.push(Arc::clone(record));
            }
        }
        like.sort_by(|a, b| a.id.cmp(&b.id));
        like
    }
}

/// What two cards of one tool share although their names differ: the name but for its spelling, or the
/// import.
fn signs(card: &Toolcard) -> Vec<String> {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let mut signs = vec![format!("name {} {}", plain(&card.key().provider), plain(card.name()))];
    if let (Some(module), Some(class)) = (card.text(fields::MODULE), card.text(fields::CLASS))
        && !class.is_empty()
    {
        signs.push(format!("import {module} {class}"));
    }
    signs
}

fn stand(
    replica: &Replica,
    entry: &Entry,
    ours: Option<Arc<CardRecord>>,
    lineages: &HashMap<CardId, Vec<Named>>,
    foreign: &HashMap<RevisionId, String>,
    tools: &Tools,
    bundled: bool,
) -> Planned {
    let Some(ours) = ours else {
        let similar = tools.like(&entry.card);
        let status = if similar.is_empty() { ItemStatus::New } else { ItemStatus::Similar };
        return Planned { status, ours: None, standing: None, similar, problem: None };
    };
    let card = ours.card();
    let lineage = lineages.get(&ours.id).map_or(&[][..], Vec::as_slice);
    let standing = if *ours.body == *entry.card.to_json() {
        Standing::Identical
    } else {
        compare(entry, Ours { card: card.object(), lineage, foreign })
    };
    let key = entry.card.key();
    let taken = replica.by_key(&key).filter(|other| other.id != ours.id);
    let problem = taken.map(|other| {
        Problem::error(fields::NAME, format!("is that of another card of this library: {}", other.id))
    });
    let status = match (&standing, &problem) {
        (_, Some(_)) => ItemStatus::Invalid,
        // A file without a history of its own says what it says; there is nothing it could be behind.
        (Standing::Behind, _) if !bundled => ItemStatus::Changed,
        (Standing::Identical | Standing::Behind, _) => ItemStatus::Identical,
        (Standing::Ahead { .. }, _) => ItemStatus::Changed,
        (Standing::Apart { merged, .. }, _) if merged.conflicts.is_empty() => ItemStatus::Changed,
        (Standing::Apart { .. }, _) if !bundled => ItemStatus::Changed,
        (Standing::Apart { .. }, _) => ItemStatus::Conflicting,
    };
    Planned { status, ours: Some(ours), standing: Some(standing), similar: Vec::new(), problem }
}

/// What a plan is asked for when it is carried out.
pub(super) struct Wishes {
    pub(super) existing: ExistingCards,
    pub(super) landing: Landing,
    pub(super) choices: HashMap<u32, ItemChoice>,
    pub(super) reason: String,
    pub(super) by: Author,
    pub(super) at: String,
}

/// What carrying out a plan comes to, before vectors.
#[derive(Default)]
struct Work {
    arrivals: Vec<Arrival>,
    /// Of each arrival, which entry it is.
    from: Vec<usize>,
    drafts: Vec<Draft>,
    foreign: Vec<ForeignState>,
    unchanged: u32,
}

impl Plan {
    fn work(&self, wishes: &Wishes, library: &autokit_library::Library) -> Result<Work> {
        let mut work = Work::default();
        for (at, (entry, planned)) in self.incoming.entries.iter().zip(&self.planned).enumerate() {
            let choice = wishes.choices.get(&(entry.position as u32));
            if choice.is_some_and(|choice| !choice.take) || planned.status == ItemStatus::Invalid {
                work.unchanged += u32::from(planned.status != ItemStatus::Invalid);
                continue;
            }
            let same_as = choice.and_then(|choice| choice.same_as.as_deref());
            let adopted = same_as.map(|id| library.card(&CardId::new(id))).transpose()?;
            let (ours, standing) = match adopted {
                Some(ours) => {
                    let merged =
                        autokit_bundle::merge::merge(None, ours.card().object(), entry.card.object());
                    (Some(ours), Some(Standing::Apart { common: false, merged }))
                }
                None => (planned.ours.clone(), planned.standing.clone()),
            };
            let before = work.arrivals.len() + work.drafts.len();
            match (ours, standing) {
                (Some(ours), Some(standing)) => {
                    self.known(entry, at, &ours, &standing, wishes, choice, &mut work);
                }
                _ => self.unknown(entry, at, planned, wishes, choice, &mut work),
            }
            work.unchanged += u32::from(work.arrivals.len() + work.drafts.len() == before);
        }
        Ok(work)
    }

    /// A card the library does not have.
    fn unknown(
        &self,
        entry: &Entry,
        at: usize,
        planned: &Planned,
        wishes: &Wishes,
        choice: Option<&ItemChoice>,
        work: &mut Work,
    ) {
        let chosen = |field: &str| {
            let named = choice.and_then(|choice| choice.fields.as_ref());
            named.is_none_or(|named| field == fields::NAME || named.iter().any(|name| name == field))
        };
        let card: Map<String, Value> = entry
            .card
            .object()
            .iter()
            .filter(|(field, _)| chosen(field))
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect();
        if wishes.landing == Landing::Review {
            let mut draft = draft(entry, wishes, &card.into_iter().collect::<Vec<_>>());
            draft.similar = planned.similar.iter().map(|record| record.id.clone()).collect();
            work.drafts.push(draft);
            work.foreign.push(foreign_state(entry, &entry.id));
            return;
        }
        let whole = card.len() == entry.card.object().len();
        let revisions = if whole {
            self.revisions(entry, 0, wishes)
        } else {
            let body = Value::Object(card).to_string();
            vec![merging(entry, body, wishes, self.incoming.bundled)]
        };
        work.from.push(at);
        work.arrivals.push(Arrival {
            id: entry.id.clone(),
            expected: None,
            revisions,
            provenance: self.incoming.bundled.then(|| told(&self.provenance(entry))),
            vectors: None,
        });
    }

    /// A card the library has.
    #[allow(clippy::too_many_arguments, reason = "one step of one loop, split off to be read")]
    fn known(
        &self,
        entry: &Entry,
        at: usize,
        ours: &Arc<CardRecord>,
        standing: &Standing,
        wishes: &Wishes,
        choice: Option<&ItemChoice>,
        work: &mut Work,
    ) {
        if wishes.existing == ExistingCards::Keep || *standing == Standing::Identical {
            return;
        }
        if wishes.existing == ExistingCards::Replace && choice.is_none() && wishes.landing == Landing::Library
        {
            work.from.push(at);
            work.arrivals.push(Arrival {
                id: ours.id.clone(),
                expected: Some(ours.number),
                revisions: vec![merging(entry, entry.card.to_json(), wishes, self.incoming.bundled)],
                provenance: None,
                vectors: None,
            });
            return;
        }
        let now = ours.card().into_object();
        let rewound;
        let merged = match standing.merged() {
            Some(merged) => merged,
            // Behind by what both know; a file that only says what it says is held against it plainly.
            None if self.incoming.bundled => return,
            None => {
                rewound = autokit_bundle::merge::merge(None, &now, entry.card.object());
                &rewound
            }
        };
        let named = choice.and_then(|choice| choice.fields.as_ref());
        let is_named = |field: &str| named.is_some_and(|named| named.iter().any(|name| name == field));
        let clean: Vec<&String> =
            merged.taken.iter().filter(|field| named.is_none() || is_named(field)).collect();
        let decided: Vec<&str> = merged
            .conflicts
            .iter()
            .map(|conflict| conflict.field.as_str())
            .filter(|field| is_named(field))
            .collect();
        let disputed: Vec<&str> = merged
            .conflicts
            .iter()
            .map(|conflict| conflict.field.as_str())
            .filter(|field| named.is_none() && !is_named(field))
            .collect();
        let theirs = |field: &str| entry.card.object().get(field).cloned();
        let mut values: Vec<(String, Option<Value>)> =
            clean.iter().map(|field| ((*field).clone(), merged.card.get(*field).cloned())).collect();
        values.extend(decided.iter().map(|field| ((*field).to_owned(), theirs(field))));
        let mut number = ours.number;
        if wishes.landing == Landing::Library && !(values.is_empty() && named.is_none()) {
            let ahead = matches!(standing, Standing::Ahead { .. })
                && decided.is_empty()
                && clean.len() == merged.taken.len();
            let revisions = match standing {
                Standing::Ahead { from, .. } if ahead => self.revisions(entry, *from, wishes),
                _ => {
                    let mut card = now.clone();
                    for (field, value) in &values {
                        match value {
                            Some(value) => card.insert(field.clone(), value.clone()),
                            None => card.shift_remove(field),
                        };
                    }
                    vec![merging(entry, Value::Object(card).to_string(), wishes, self.incoming.bundled)]
                }
            };
            number += revisions.len() as u32;
            work.from.push(at);
            work.arrivals.push(Arrival {
                id: ours.id.clone(),
                expected: Some(ours.number),
                revisions,
                provenance: None,
                vectors: None,
            });
            work.foreign.push(foreign_state(entry, &ours.id));
            values.clear();
        }
        let conflicts: Vec<String> = disputed.iter().map(|field| (*field).to_owned()).collect();
        values.extend(disputed.iter().map(|field| ((*field).to_owned(), theirs(field))));
        if values.is_empty() {
            return;
        }
        let mut draft = draft(entry, wishes, &[]);
        draft.card = Some(ours.id.clone());
        draft.base = Some(number);
        draft.fields = values.into_iter().map(|(field, value)| proposed(field, value)).collect();
        if let Some(arrived) = &mut draft.arrived {
            arrived.conflicts = conflicts;
        }
        work.drafts.push(draft);
        if !work.foreign.iter().any(|state| state.id == entry.step.id) {
            work.foreign.push(foreign_state(entry, &ours.id));
        }
    }

    /// Their revisions from one of their states on, as they are.
    fn revisions(&self, entry: &Entry, from: usize, wishes: &Wishes) -> Vec<ArrivedRevision> {
        if !self.incoming.bundled {
            return vec![merging(entry, entry.card.to_json(), wishes, self.incoming.bundled)];
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

    /// Where a card came from, with the licence it came under.
    fn provenance(&self, entry: &Entry) -> Provenance {
        let mut provenance = entry.provenance.clone();
        if provenance.licence.is_none() {
            provenance.licence.clone_from(&self.incoming.about.licence);
        }
        provenance
    }
}

fn draft(entry: &Entry, wishes: &Wishes, values: &[(String, Value)]) -> Draft {
    let proposed = values.iter().map(|(field, value)| proposed(field.clone(), Some(value.clone()))).collect();
    let arrived = Arrived {
        // Known when it is written.
        import: String::new(),
        card: entry.id.clone(),
        revision: entry.step.id.clone(),
        conflicts: Vec::new(),
    };
    Draft { arrived: Some(arrived), ..Draft::new(Origin::Import, wishes.reason.clone(), proposed) }
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

/// A revision that brings theirs together with ours.
fn merging(entry: &Entry, body: String, wishes: &Wishes, bundled: bool) -> ArrivedRevision {
    ArrivedRevision {
        operation: Operation::Import,
        author: wishes.by.clone(),
        reason: wishes.reason.clone(),
        at: wishes.at.clone(),
        body,
        id: None,
        // What has no library of its own has no revisions either.
        merged: std::iter::once(&entry.step.id).chain(entry.before()).filter(|_| bundled).cloned().collect(),
    }
}

impl Core {
    pub(crate) fn start_starter(self: &Arc<Self>) -> JobRef {
        let core = Arc::clone(self);
        self.jobs.start(JobKind::Starter, "Loading the starter cards", "cards", |progress| async move {
            let at = core.options.clock.stamp();
            let wishes = Wishes {
                existing: ExistingCards::Keep,
                landing: Landing::Library,
                choices: HashMap::new(),
                reason: "Loaded the starter cards".to_owned(),
                by: Author::autokit(),
                at: at.clone(),
            };
            let read = in_background(crate::starter::cards).await?;
            let incoming = Arc::new(Incoming::starter(read, &wishes.by, &at));
            core.bring_in(incoming, wishes, None, &progress).await
        })
    }

    /// Carries out what was planned, all or nothing.
    pub(super) async fn bring_in(
        self: &Arc<Self>,
        incoming: Arc<Incoming>,
        wishes: Wishes,
        request: Option<String>,
        progress: &Progress,
    ) -> Result<Outcome> {
        // Without this, cards imported while the model loads would have to be embedded later.
        self.model_settled().await;
        let began = Instant::now();
        let plan = self.plan(Arc::clone(&incoming)).await?;
        tracing::debug!(ms = began.elapsed().as_millis() as u64, "planned");
        let (core, planned, wishes) = (Arc::clone(self), Arc::clone(&plan), Arc::new(wishes));
        let wanted = Arc::clone(&wishes);
        let mut work = in_background(move || planned.work(&wanted, &core.library)).await?;
        progress.at(0, work.arrivals.len() as u64);
        self.give_vectors(&incoming, &mut work, progress).await?;
        tracing::debug!(ms = began.elapsed().as_millis() as u64, "vectors are there");
        // What was looked at is not looked at again; a large source is not kept in memory beside what is
        // made of it.
        self.sources.lock().expect("no holder panics").forget();
        self.plans.lock().expect("no holder panics").0 = None;
        drop(plan);
        let count = (work.arrivals.len() + work.drafts.len()) as u32;
        let note = ImportNote {
            source: incoming.source.clone(),
            name: incoming.about.name.clone(),
            author: incoming.about.author.clone(),
            digest: incoming.digest.clone(),
            fingerprint: incoming.signature.as_ref().map_or_else(String::new, |s| s.key.fingerprint()),
            at: wishes.at.clone(),
            by: wishes.by.0.clone(),
            cards: count,
        };
        let (rejected, seen) = (incoming.rejected.len() as u32, Seen::of(&incoming));
        drop(incoming);
        let intake = Intake {
            note: serde_json::to_string(&note).map_err(|error| ApiError::internal(error.to_string()))?,
            reason: wishes.reason.clone(),
            arrivals: work.arrivals,
            drafts: work.drafts,
            foreign: work.foreign,
            request,
        };
        let taken = {
            let _turn = self.writing.lock().await;
            let watch = |_| !progress.cancelled();
            let taken = self.library.take_in(intake, &wishes.by, &watch).await?;
            tracing::debug!(ms = began.elapsed().as_millis() as u64, "written");
            let touched = [taken.added.as_slice(), taken.changed.as_slice()].concat();
            for batch in touched.chunks(BATCH) {
                self.index_cards(batch).await?;
            }
            tracing::debug!(ms = began.elapsed().as_millis() as u64, "indexed");
            taken
        };
        if taken.import.is_some() {
            self.tell_library();
            self.tell_proposals().await?;
            self.remember_key(&seen).await?;
        }
        let tally = JobTally {
            added: taken.added.len() as u32,
            changed: taken.changed.len() as u32,
            unchanged: work.unchanged,
            rejected,
            change: taken.import.clone(),
        };
        Ok(Outcome { summary: summary(&tally, &taken), tally: Some(tally) })
    }

    /// Gives what is written its vectors: those that came, where they are of the present model and true,
    /// else made here.
    async fn give_vectors(
        self: &Arc<Self>,
        incoming: &Incoming,
        work: &mut Work,
        progress: &Progress,
    ) -> Result<()> {
        let came = self.vectors_that_came(incoming, work).await?;
        let total = work.arrivals.len() as u64;
        let mut done = 0;
        for (batch, from) in work.arrivals.chunks_mut(BATCH).zip(work.from.chunks(BATCH)) {
            progress.check()?;
            let mut missing = Vec::new();
            for (arrival, at) in batch.iter_mut().zip(from) {
                let entry = &incoming.entries[*at];
                let newest = arrival.revisions.last().map(|revision| revision.body.as_str());
                let is_theirs = newest == Some(entry.card.to_json().as_str());
                match (&came, &entry.vectors) {
                    (Some((model, dim)), Some(values)) if is_theirs => {
                        arrival.vectors =
                            Some(PackedVectors { model: model.clone(), dim: *dim, values: values.clone() });
                    }
                    _ => missing.push(arrival),
                }
            }
            let cards: Vec<Toolcard> = missing
                .iter()
                .filter_map(|arrival| Toolcard::from_json(&arrival.revisions.last()?.body).ok())
                .collect();
            if cards.len() == missing.len() {
                for (arrival, vectors) in missing.into_iter().zip(self.embed_cards(&cards).await?) {
                    arrival.vectors = vectors;
                }
            }
            done += batch.len() as u64;
            progress.at(done, total);
        }
        Ok(())
    }

    /// The model and length of the vectors that came, if they can be used: whoever made them could have
    /// made a card answer every question. A few are made again and compared.
    async fn vectors_that_came(&self, incoming: &Incoming, work: &Work) -> Result<Option<(String, usize)>> {
        let Some(embedder) = self.embedder() else { return Ok(None) };
        let Some(told) = incoming.vectors.as_ref().filter(|told| told.model == embedder.id()) else {
            return Ok(None);
        };
        let dim = told.dim as usize;
        let with: Vec<usize> =
            work.from.iter().copied().filter(|at| incoming.entries[*at].vectors.is_some()).collect();
        let mut sample: Vec<usize> = Vec::new();
        for _ in 0..SAMPLED.min(with.len()) {
            // Nobody can know beforehand which ones are looked at.
            let number = u64::from_str_radix(&crate::token(7), 16).unwrap_or_default();
            sample.push(with[(number % with.len() as u64) as usize]);
        }
        let cards: Vec<Toolcard> = sample.iter().map(|at| incoming.entries[*at].card.clone()).collect();
        let own = self.embed_cards(&cards).await?;
        let fits = incoming
            .entries
            .iter()
            .filter_map(|entry| entry.vectors.as_ref())
            .all(|values| dim > 0 && values.len().is_multiple_of(dim) && values.chunks(dim).all(is_unit));
        let same = sample.iter().zip(&own).all(|(at, own)| {
            let came = incoming.entries[*at].vectors.as_deref().unwrap_or_default();
            own.as_ref().is_some_and(|own| {
                own.values.len() == came.len()
                    && own
                        .values
                        .chunks(dim)
                        .zip(came.chunks(dim))
                        .all(|(a, b)| autokit_retrieve::dot(a, b) >= TRUE_ENOUGH)
            })
        });
        if !(fits && same) {
            tracing::warn!(source = %incoming.source, "vectors of a bundle are not those of its cards");
            return Ok(None);
        }
        Ok(Some((told.model.clone(), dim)))
    }
}

/// Vectors are stored with length one; a longer one would outrank all others.
fn is_unit(vector: &[f32]) -> bool {
    (autokit_retrieve::dot(vector, vector) - 1.0).abs() < 1e-2
}

fn summary(tally: &JobTally, taken: &TakenIn) -> String {
    let parts: Vec<String> = [
        (tally.added, "added"),
        (tally.changed, "changed"),
        (taken.proposed, "to decide in Review"),
        (tally.unchanged, "unchanged"),
        (tally.rejected, "rejected"),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    if parts.is_empty() { "No cards".to_owned() } else { parts.join(", ") }
}

impl Handle<PreviewImport> for Engine {
    async fn handle(&self, context: &Context, request: ImportPreviewRequest) -> Result<ImportPreview> {
        if request.limit > PAGE_ROWS {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{} items were asked for; one answer holds at most {PAGE_ROWS}", request.limit),
                "Ask for the next window with `offset`.",
            ));
        }
        let incoming = self.core.read_source(request.source, &context.author).await?;
        let plan = self.core.plan(incoming).await?;
        let signature = self.core.signature_view(&plan.incoming).await?;
        in_background(move || Ok(plan.preview(request.status, request.offset, request.limit, signature)))
            .await
    }
}

impl Plan {
    fn preview(
        &self,
        only: Option<ItemStatus>,
        offset: u32,
        limit: u32,
        signature: crate::api::SignatureView,
    ) -> ImportPreview {
        let incoming = &self.incoming;
        let mut preview = ImportPreview {
            about: SourceInfo {
                format: incoming.format,
                name: incoming.about.name.clone(),
                author: incoming.about.author.clone(),
                created_at: incoming.about.created_at.clone(),
                licence: incoming.about.licence.clone(),
                note: incoming.about.note.clone(),
                history: incoming.history,
                vectors: incoming.vectors.clone(),
                digest: incoming.digest.clone(),
                signature,
            },
            new: 0,
            changed: 0,
            conflicting: 0,
            similar: 0,
            identical: 0,
            invalid: 0,
            total: 0,
            items: Vec::new(),
        };
        let window = offset..offset.saturating_add(limit);
        // In the order of the source, with what cannot be taken where it stands.
        let mut rejected = incoming.rejected.iter().peekable();
        let place = |preview: &mut ImportPreview, status: ItemStatus, item: &dyn Fn() -> ImportItem| {
            *match status {
                ItemStatus::New => &mut preview.new,
                ItemStatus::Changed => &mut preview.changed,
                ItemStatus::Conflicting => &mut preview.conflicting,
                ItemStatus::Similar => &mut preview.similar,
                ItemStatus::Identical => &mut preview.identical,
                ItemStatus::Invalid => &mut preview.invalid,
            } += 1;
            if only.is_none_or(|only| only == status) {
                if window.contains(&preview.total) {
                    preview.items.push(item());
                }
                preview.total += 1;
            }
        };
        for (entry, planned) in incoming.entries.iter().zip(&self.planned) {
            while let Some(bad) = rejected.next_if(|bad| bad.position < entry.position) {
                place(&mut preview, ItemStatus::Invalid, &|| refused(bad));
            }
            place(&mut preview, planned.status, &|| self.item(entry, planned));
        }
        for bad in rejected {
            place(&mut preview, ItemStatus::Invalid, &|| refused(bad));
        }
        preview
    }

    fn item(&self, entry: &Entry, planned: &Planned) -> ImportItem {
        let (mut diff, mut conflicts) = (Vec::new(), Vec::new());
        if let Some(ours) = planned.ours.as_ref().filter(|_| planned.status != ItemStatus::Identical) {
            let now = ours.card().into_object();
            let mut after = entry.card.object().clone();
            if let Some(merged) = planned.standing.as_ref().and_then(Standing::merged)
                && self.incoming.bundled
            {
                after.clone_from(&merged.card);
                for conflict in &merged.conflicts {
                    match &conflict.theirs {
                        Some(value) => after.insert(conflict.field.clone(), value.clone()),
                        None => after.shift_remove(&conflict.field),
                    };
                }
                conflicts = merged
                    .conflicts
                    .iter()
                    .cloned()
                    .map(|conflict| FieldConflict {
                        field: conflict.field,
                        base: conflict.base,
                        ours: conflict.ours,
                        theirs: conflict.theirs,
                    })
                    .collect();
            }
            diff = diff_cards(&now, &after);
        }
        let mut problems = entry.warnings.clone();
        problems.extend(planned.problem.clone());
        let similar = planned.similar.iter().take(SIMILAR);
        ImportItem {
            position: entry.position as u32,
            name: entry.card.name().to_owned(),
            provider: entry.card.key().provider,
            status: planned.status,
            card: planned.ours.as_ref().map(|ours| ours.id.clone()),
            problems,
            diff,
            conflicts,
            similar: similar.map(|record| (record.id.to_string(), record.key.name.clone())).collect(),
            by: if self.incoming.bundled { entry.step.author.0.clone() } else { String::new() },
            at: if self.incoming.bundled { entry.step.at.clone() } else { String::new() },
            licence: self.provenance(entry).licence,
            behind: planned.status == ItemStatus::Identical && planned.behind(),
        }
    }
}

fn refused(bad: &autokit_toolcard::Rejected) -> ImportItem {
    ImportItem {
        position: bad.position as u32,
        name: bad.name.clone().unwrap_or_default(),
        provider: String::new(),
        status: ItemStatus::Invalid,
        card: None,
        problems: bad.problems.clone(),
        diff: Vec::new(),
        conflicts: Vec::new(),
        similar: Vec::new(),
        by: String::new(),
        at: String::new(),
        licence: None,
        behind: false,
    }
}

/// What a source is called in a title.
fn called(source: &ImportSource, incoming: &Incoming) -> String {
    let named = Some(&incoming.about.name).filter(|name| !name.trim().is_empty());
    match (source, named) {
        (_, Some(name)) => name.clone(),
        (ImportSource::Path(path) | ImportSource::Url(path), None) => {
            let end = path.trim_end_matches('/').rsplit(['/', '\\']).next();
            end.filter(|name| !name.is_empty()).unwrap_or(path).to_owned()
        }
        (ImportSource::Text(_), None) => "pasted text".to_owned(),
    }
}

impl Handle<StartImport> for Engine {
    async fn handle(&self, context: &Context, request: ImportRequest) -> Result<JobRef> {
        let incoming = self.core.read_source(request.source.clone(), &context.author).await?;
        if let Some(digest) = request.digest.as_ref().filter(|digest| **digest != incoming.digest) {
            tracing::info!(%digest, found = %incoming.digest, "a source changed after it was looked at");
            return Err(ApiError::new(
                ErrorCode::Conflict,
                "the source is not the one that was looked at any more",
                "Look at the preview again, then import.",
            ));
        }
        let signature = self.core.signature_view(&incoming).await?;
        if request.landing == Landing::Library && matches!(signature.trust, Trust::Stripped | Trust::OtherKey)
        {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                "earlier bundles of this author were signed with another key",
                "Ask the author. Imported for review it changes nothing by itself.",
            ));
        }
        let from = called(&request.source, &incoming);
        let by = Some(incoming.about.author.trim()).filter(|author| !author.is_empty());
        let reason = match (request.reason.trim(), by) {
            ("", Some(author)) => format!("Imported {from} by {author}"),
            ("", None) => format!("Imported {from}"),
            (reason, _) => reason.to_owned(),
        };
        let wishes = Wishes {
            existing: request.existing,
            landing: request.landing,
            choices: request.choices.into_iter().map(|choice| (choice.position, choice)).collect(),
            reason,
            by: Author(context.author.clone()),
            at: self.core.options.clock.stamp(),
        };
        let (core, key) = (Arc::clone(&self.core), context.request.clone());
        let title = format!("Importing {from}");
        Ok(self.core.jobs.start(JobKind::Import, &title, "cards", |progress| async move {
            core.bring_in(incoming, wishes, key, &progress).await
        }))
    }
}

impl Handle<LoadStarter> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<JobRef> {
        Ok(self.core.start_starter())
    }
}

impl Handle<ListImports> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<ImportView>> {
        let made = self.core.library.imports().await?;
        made.into_iter()
            .map(|made| {
                let note = serde_json::from_str(&made.note)
                    .map_err(|error| ApiError::internal(format!("import {}: {error}", made.import)))?;
                Ok(ImportView { import: made.import, undone: made.undone, note })
            })
            .collect()
    }
}

impl Handle<UndoImport> for Engine {
    async fn handle(&self, context: &Context, request: ImportRef) -> Result<UndoOutcome> {
        self.core.undo_change(Some(&request.import), context).await
    }
}
