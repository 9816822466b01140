//! Comparison of a source with the library: what is new in it, and what both sides changed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use autokit_api::ItemStatus;
use autokit_bundle::BundleCard;
use autokit_bundle::compare::{LocalCard, MergeState, compare, compare_plain};
use autokit_error::Result;
use autokit_library::{CardRecord, Replica};
use autokit_toolcard::{CardId, LineageEntry, MatchKey, Problem, RevisionId, fields};
use autokit_workspace::background::in_background;

use super::Imports;
use crate::duplicates::MatchKeyIndex;
use crate::flagged::{has_new_code, has_new_flagged_text};
use crate::incoming::SourceContents;

/// How a source compares with the library at one point of its journal.
#[derive(Debug)]
pub(crate) struct ImportPlan {
    pub(super) incoming: Arc<SourceContents>,
    /// Version of the library for which the plan was made.
    version: u64,
    pub(super) planned: Vec<PlannedCard>,
}

/// How one card of a source compares with the library.
#[derive(Debug)]
pub(super) struct PlannedCard {
    pub(super) status: ItemStatus,
    pub(super) ours: Option<Arc<CardRecord>>,
    pub(super) merge_state: Option<MergeState>,
    pub(super) similar: Vec<Arc<CardRecord>>,
    pub(super) problem: Option<Problem>,
    /// Whether the card brings a flagged text that is new here; computed on first use.
    flagged: OnceLock<bool>,
}

impl PlannedCard {
    pub(super) fn is_behind(&self) -> bool {
        self.merge_state == Some(MergeState::Behind)
    }

    /// Returns whether replacing the library's card undoes edits that the source does not have.
    pub(super) fn reverts(&self) -> bool {
        let merged = self.merge_state.as_ref().and_then(MergeState::merged);
        self.status == ItemStatus::Changed && merged.is_some_and(|merged| !merged.conflicts.is_empty())
    }

    /// Returns whether the card has a flagged text that the library's card does not have.
    pub(super) fn is_flagged(&self, entry: &BundleCard) -> bool {
        // Also checked for a card that is behind: where cards are replaced, the old text comes back.
        let read = self.merge_state != Some(MergeState::Identical) && self.status != ItemStatus::Invalid;
        read && *self.flagged.get_or_init(|| has_new_flagged_text(&entry.card, self.ours.as_deref()))
    }

    /// Returns whether a person has to look at the card: it has a flagged text or code that the library's card does not have.
    pub(super) fn is_suspect(&self, entry: &BundleCard) -> bool {
        self.is_flagged(entry) || has_new_code(&entry.card, self.ours.as_deref())
    }

    /// Returns whether importing the card would bring in a flagged text.
    pub(super) fn introduces_flagged_text(&self, entry: &BundleCard) -> bool {
        self.status != ItemStatus::Identical && self.is_flagged(entry)
    }
}

/// The last plan, so that scrolling through a preview does not compute it again.
#[derive(Debug, Default)]
pub(crate) struct PlanCache(Option<Arc<ImportPlan>>);

impl PlanCache {
    /// Drops the cached plan.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }
}

impl Imports {
    /// Compares a source with the library.
    pub(super) async fn plan(&self, incoming: Arc<SourceContents>) -> Result<Arc<ImportPlan>> {
        let version = self.workspace.library_version();
        if let Some(plan) = &self.plans.lock().expect("no holder panics").0
            && plan.version == version
            && Arc::ptr_eq(&plan.incoming, &incoming)
        {
            return Ok(Arc::clone(plan));
        }
        let found: Vec<Option<Arc<CardRecord>>> = self
            .workspace
            .library
            .read(|replica| incoming.entries.iter().map(|entry| card_of(replica, entry).cloned()).collect());
        // The history is only needed for cards that differ.
        let differing: Vec<CardId> = incoming
            .entries
            .iter()
            .zip(&found)
            .filter_map(|(entry, ours)| ours.as_ref().filter(|ours| *ours.body != *entry.card.to_json()))
            .map(|ours| ours.id.clone())
            .collect();
        let lineages = self.workspace.library.lineages(&differing).await?;
        let foreign = self.foreign_states_of(&incoming.entries, &found, &lineages).await?;
        let library = Arc::clone(&self.workspace.library);
        let plan = in_background(move || {
            let planned = library.read(|replica| {
                let index = MatchKeyIndex::new(replica);
                let keys = identifying_keys(&incoming.entries);
                let each = incoming.entries.iter().zip(found).zip(&keys);
                let plan = |((entry, ours), keys): ((&BundleCard, _), &Vec<MatchKey>)| {
                    let similar = || index.similar(&entry.card, keys);
                    plan_card(replica, entry, ours, &lineages, &foreign, similar, incoming.bundled)
                };
                each.map(plan).collect()
            });
            Ok(Arc::new(ImportPlan { incoming, version, planned }))
        })
        .await?;
        self.plans.lock().expect("no holder panics").0 = Some(Arc::clone(&plan));
        Ok(plan)
    }

    /// Returns the states of other libraries that our cards were merged with and that these entries descend
    /// from.
    async fn foreign_states_of(
        &self,
        entries: &[BundleCard],
        found: &[Option<Arc<CardRecord>>],
        lineages: &HashMap<CardId, Vec<LineageEntry>>,
    ) -> Result<HashMap<RevisionId, String>> {
        let mut ids = HashSet::new();
        for (entry, ours) in entries.iter().zip(found) {
            let Some(lineage) = ours.as_ref().and_then(|ours| lineages.get(&ours.id)) else { continue };
            let merged: HashSet<&RevisionId> =
                lineage.iter().flat_map(|entry| &entry.revision.merged).collect();
            let theirs = std::iter::once(&entry.revision.id).chain(entry.ancestor_ids());
            ids.extend(theirs.filter(|id| merged.contains(*id)).cloned());
        }
        let ids: Vec<RevisionId> = ids.into_iter().collect();
        let states = self.workspace.library.foreign_states(&ids).await?;
        Ok(states.into_iter().map(|(id, state)| (id, state.body)).collect())
    }
}

/// Returns the library's card that a source's card corresponds to: by id, or else by provider and name.
fn card_of<'a>(replica: &'a Replica, entry: &BundleCard) -> Option<&'a Arc<CardRecord>> {
    replica.get(&entry.id).or_else(|| replica.by_key(&entry.card.key()))
}

/// Returns the match keys that identify the tool of each entry. A page named by several entries identifies
/// none.
fn identifying_keys(entries: &[BundleCard]) -> Vec<Vec<MatchKey>> {
    let mut all: Vec<Vec<MatchKey>> = entries.iter().map(|entry| entry.card.match_keys()).collect();
    let is_page = |key: &&MatchKey| matches!(key, MatchKey::Page(_));
    let mut count: HashMap<MatchKey, usize> = HashMap::new();
    for page in all.iter().flatten().filter(is_page) {
        *count.entry(page.clone()).or_default() += 1;
    }
    for keys in &mut all {
        keys.retain(|key| count.get(key).is_none_or(|count| *count == 1));
    }
    all
}

fn plan_card(
    replica: &Replica,
    entry: &BundleCard,
    ours: Option<Arc<CardRecord>>,
    lineages: &HashMap<CardId, Vec<LineageEntry>>,
    foreign: &HashMap<RevisionId, String>,
    find_similar: impl FnOnce() -> Vec<Arc<CardRecord>>,
    bundled: bool,
) -> PlannedCard {
    let Some(ours) = ours else {
        let similar = find_similar();
        let status = if similar.is_empty() { ItemStatus::New } else { ItemStatus::Similar };
        return PlannedCard {
            status,
            ours: None,
            merge_state: None,
            similar,
            problem: None,
            flagged: OnceLock::new(),
        };
    };
    let card = ours.card();
    let lineage = lineages.get(&ours.id).map_or(&[][..], Vec::as_slice);
    let merge_state = if *ours.body == *entry.card.to_json() {
        MergeState::Identical
    } else {
        let local = LocalCard { card: card.object(), lineage, foreign };
        if bundled { compare(entry, local) } else { compare_plain(entry.card.object(), local) }
    };
    let key = entry.card.key();
    let taken = replica.by_key(&key).filter(|other| other.id != ours.id);
    let problem = taken.map(|other| {
        Problem::error(fields::NAME, format!("is already used by another card in this library: {}", other.id))
    });
    let status = match (&merge_state, &problem) {
        (_, Some(_)) => ItemStatus::Invalid,
        (MergeState::Identical | MergeState::Behind, _) => ItemStatus::Identical,
        (MergeState::Ahead { .. }, _) => ItemStatus::Changed,
        (MergeState::Diverged { merged, .. }, _) if merged.conflicts.is_empty() => ItemStatus::Changed,
        (MergeState::Diverged { .. }, _) if !bundled => ItemStatus::Changed,
        (MergeState::Diverged { .. }, _) => ItemStatus::Conflicting,
    };
    PlannedCard {
        status,
        ours: Some(ours),
        merge_state: Some(merge_state),
        similar: Vec::new(),
        problem,
        flagged: OnceLock::new(),
    }
}
