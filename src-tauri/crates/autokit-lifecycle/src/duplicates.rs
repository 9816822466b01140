//! Duplicates in the library: cards that may describe one tool, found by what they share and by their meaning, and merged
//! when a person says so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autokit_api::commands::{
    Context, DismissDuplicates, FindDuplicates, Handle, ListDuplicates, MergeCards, PreviewMerge,
};
use autokit_api::{
    CardChange, CardsMerge, DuplicateCard, DuplicatePair, DuplicateReason, Duplicates, JobKind, JobRef,
    MergePreview, MergeQuery, Nothing, PairRef, Setting,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_features::duplicates::{MatchKeyIndex, SAME_TOOL, are_of_one_provider};
use autokit_features::edit::{card_from, check_texts};
use autokit_library::{CardRecord, Meta, Write};
use autokit_toolcard::{Author, CardId, MatchKey, Operation, Timestamp, Toolcard};
use autokit_upstream::servers::KnownServers;
use autokit_workspace::background::in_background;
use autokit_workspace::cards::detail;
use autokit_workspace::collections::Collections;
use autokit_workspace::jobs::{Outcome, Progress};
use autokit_workspace::models::Models;
use autokit_workspace::workspace::{CachedSetting, Workspace};
use serde_json::{Map, Value};

/// Nearest cards that are compared with each card.
const NEAREST: usize = 5;
/// Cards compared between two reports of progress.
const BATCH: usize = 64;

/// Ids of two cards, the smaller one first.
type Pair = (CardId, CardId);

/// Why the cards of a pair may describe one tool; the cosine if they were matched by meaning.
type Found = BTreeMap<Pair, (DuplicateReason, Option<f32>)>;

/// The outcome of the newest search.
#[derive(Debug)]
struct Searched {
    at: Timestamp,
    by_meaning: bool,
    found: Found,
}

/// Finds and merges duplicates. Clones share state.
#[derive(Clone, Debug)]
pub struct LibraryDuplicates {
    workspace: Workspace,
    models: Models,
    servers: KnownServers,
    collections: Collections,
    searched: Arc<Mutex<Option<Searched>>>,
    /// Pairs that a person said are different tools.
    dismissed: Arc<CachedSetting<BTreeSet<Pair>>>,
    /// Serializes changes of that.
    dismissing: Arc<tokio::sync::Mutex<()>>,
}

impl LibraryDuplicates {
    /// Works on the cards of this library.
    pub fn new(
        workspace: Workspace,
        models: Models,
        servers: KnownServers,
        collections: Collections,
    ) -> LibraryDuplicates {
        LibraryDuplicates {
            workspace,
            models,
            servers,
            collections,
            searched: Arc::default(),
            dismissed: Arc::new(CachedSetting::new(Setting::Duplicates)),
            dismissing: Arc::default(),
        }
    }

    async fn search(&self, progress: &Progress) -> Result<usize> {
        self.models.wait_until_ready().await;
        let records: Vec<Arc<CardRecord>> =
            self.workspace.library.read(|replica| replica.iter().cloned().collect());
        let (by_meaning, total) = (self.models.embedder().is_some(), records.len());
        let (duplicates, progress) = (self.clone(), progress.clone());
        let found = in_background(move || {
            // Cards are read outside of the replica, because writers wait for whoever reads it.
            let index = duplicates.workspace.library.read(MatchKeyIndex::new);
            let mut found = with_shared_keys(&index, &records);
            for (batch, some) in records.chunks(BATCH).enumerate().filter(|_| by_meaning) {
                progress.check_cancelled()?;
                progress.set_done((batch * BATCH) as u64, total as u64);
                for record in some {
                    duplicates.add_nearest(record, &mut found)?;
                }
            }
            Ok(found)
        });
        let found = found.await?;
        let count = found.len();
        let at = self.workspace.clock.stamp();
        *self.searched.lock().expect("no holder panics") = Some(Searched { at, by_meaning, found });
        Ok(count)
    }

    /// Adds the cards whose vectors are those of one tool.
    fn add_nearest(&self, record: &CardRecord, found: &mut Found) -> Result<()> {
        let near = self.models.searcher().nearest_to(record.id.as_str(), NEAREST);
        for (id, cosine) in near.map_err(|error| ApiError::internal(error.to_string()))? {
            if cosine < SAME_TOOL {
                break;
            }
            let other = self.workspace.library.read(|replica| replica.get(&CardId::new(&id)).cloned());
            let Some(other) = other.filter(|other| other.id != record.id) else { continue };
            if !are_of_one_provider(record.kind, &record.key.provider, &other) {
                let reason = (DuplicateReason::Meaning, Some(cosine));
                found.entry(pair(&record.id, &other.id)).or_insert(reason);
            }
        }
        Ok(())
    }

    /// Returns both cards of a merge.
    fn both(&self, keep: &str, remove: &str) -> Result<(Arc<CardRecord>, Arc<CardRecord>)> {
        let (keep, remove) = (self.workspace.find_card(keep)?, self.workspace.find_card(remove)?);
        if keep.id == remove.id {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "a card cannot be merged with itself",
                "Choose two cards.",
            ));
        }
        Ok((keep, remove))
    }
}

fn pair(a: &CardId, b: &CardId) -> Pair {
    if a < b { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) }
}

/// Returns the pairs of cards that share a key, with the most telling one.
fn with_shared_keys(index: &MatchKeyIndex, records: &[Arc<CardRecord>]) -> Found {
    let mut found = Found::new();
    for record in records {
        let card = record.card();
        for key in card.match_keys() {
            let reason = match key {
                MatchKey::Name(_) => DuplicateReason::Name,
                MatchKey::Import(_) => DuplicateReason::Import,
                MatchKey::Page(_) => DuplicateReason::Page,
                MatchKey::Description(_) => DuplicateReason::Description,
            };
            // The card itself is one of those with its page.
            for other in index.similar_in_library(&card, &key) {
                if other.id != record.id {
                    found.entry(pair(&record.id, &other.id)).or_insert((reason, None));
                }
            }
        }
    }
    found
}

/// Returns the fields of two cards as one: those of the first, what only the second has, and the entries of lists of both.
fn merged(keep: &Map<String, Value>, remove: &Map<String, Value>) -> Map<String, Value> {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(all) => all.is_empty(),
        Value::Object(all) => all.is_empty(),
        _ => false,
    };
    let mut fields = keep.clone();
    for (field, theirs) in remove.iter().filter(|(_, value)| !is_empty(value)) {
        match (fields.get_mut(field), theirs) {
            (Some(Value::Array(ours)), Value::Array(theirs))
                if ours.iter().chain(theirs).all(Value::is_string) =>
            {
                let more: Vec<Value> = theirs.iter().filter(|entry| !ours.contains(entry)).cloned().collect();
                ours.extend(more);
            }
            (Some(ours), _) if !is_empty(ours) => {}
            _ => {
                fields.insert(field.clone(), theirs.clone());
            }
        }
    }
    fields
}

fn shown(record: &CardRecord) -> DuplicateCard {
    DuplicateCard {
        id: record.id.clone(),
        name: record.key.name.clone(),
        provider: record.key.provider.clone(),
        description: record.card().description().to_owned(),
    }
}

#[async_trait]
impl Handle<FindDuplicates> for LibraryDuplicates {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<JobRef> {
        let duplicates = self.clone();
        Ok(self.workspace.jobs.start(
            JobKind::Duplicates,
            "Look for duplicates",
            "cards",
            move |progress| async move {
                let count = duplicates.search(&progress).await?;
                let summary = match count {
                    0 => "No duplicates found".to_owned(),
                    1 => "Found 1 possible duplicate".to_owned(),
                    some => format!("Found {some} possible duplicates"),
                };
                Ok(Outcome { summary, tally: None })
            },
        ))
    }
}

#[async_trait]
impl Handle<ListDuplicates> for LibraryDuplicates {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Duplicates> {
        let dismissed = self.dismissed.read(&self.workspace).await?;
        let searched = self.searched.lock().expect("no holder panics");
        let Some(searched) = &*searched else {
            return Ok(Duplicates { searched_at: None, by_meaning: false, pairs: Vec::new() });
        };
        let mut pairs: Vec<DuplicatePair> = self.workspace.library.read(|replica| {
            let listed = searched.found.iter().filter(|(pair, _)| !dismissed.contains(pair));
            listed
                .filter_map(|((a, b), (reason, cosine))| {
                    let cards = [shown(replica.get(a)?), shown(replica.get(b)?)];
                    Some(DuplicatePair { cards, reason: *reason, cosine: *cosine })
                })
                .collect()
        });
        // The most certain first.
        pairs.sort_by(|a, b| {
            let by_cosine = || b.cosine.unwrap_or(1.0).total_cmp(&a.cosine.unwrap_or(1.0));
            a.reason.cmp(&b.reason).then_with(by_cosine).then_with(|| a.cards[0].name.cmp(&b.cards[0].name))
        });
        Ok(Duplicates { searched_at: Some(searched.at), by_meaning: searched.by_meaning, pairs })
    }
}

#[async_trait]
impl Handle<DismissDuplicates> for LibraryDuplicates {
    async fn handle(&self, _: &Context, request: PairRef) -> Result<Nothing> {
        let [a, b] = &request.cards;
        let (a, b) = self.both(a, b)?;
        let _dismissing = self.dismissing.lock().await;
        let mut dismissed = BTreeSet::clone(&*self.dismissed.read(&self.workspace).await?);
        let changed = if request.dismissed {
            dismissed.insert(pair(&a.id, &b.id))
        } else {
            dismissed.remove(&pair(&a.id, &b.id))
        };
        if changed {
            self.dismissed.write(&self.workspace, dismissed).await?;
        }
        Ok(Nothing {})
    }
}

#[async_trait]
impl Handle<PreviewMerge> for LibraryDuplicates {
    async fn handle(&self, _: &Context, request: MergeQuery) -> Result<MergePreview> {
        let (keep, remove) = self.both(&request.keep, &request.remove)?;
        let checks = self.workspace.library.checks().await?;
        let fields = merged(keep.card().object(), remove.card().object());
        Ok(MergePreview { keep: detail(&keep, &checks), remove: detail(&remove, &checks), fields })
    }
}

#[async_trait]
impl Handle<MergeCards> for LibraryDuplicates {
    async fn handle(&self, context: &Context, request: CardsMerge) -> Result<CardChange> {
        // A retry after a lost response: one of the cards is deleted by now.
        if let Some(outcome) = self.workspace.library.outcome_of(context.request.as_deref()).await? {
            return Ok(CardChange { change: outcome.change, cards: outcome.changed });
        }
        let (keep, remove) = self.both(&request.keep, &request.remove)?;
        if request.expected.is_some_and(|expected| expected != (keep.number, remove.number)) {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                "one of the cards was changed in the meantime",
                "Look at both cards again, then merge them.",
            ));
        }
        let fields = request.fields.unwrap_or_else(|| merged(keep.card().object(), remove.card().object()));
        let card: Toolcard = card_from(fields)?;
        if !request.flagged_too {
            check_texts(&card, Some(&keep))?;
        }
        let vectors = self.models.embed_card(&card).await?;
        let reason = match request.reason.trim() {
            "" => format!("Merged {} into {}", remove.key, keep.key),
            reason => reason.to_owned(),
        };
        let meta = Meta {
            operation: Operation::Edit,
            author: Author(context.author.clone()),
            reason,
            change: None,
            request: context.request.clone(),
        };
        // Deleted first, so that the card that is kept may get its name.
        let delete = Write::Delete { id: remove.id.clone() };
        let edit =
            Write::Edit { id: keep.id.clone(), expected: Some(keep.number), card: Box::new(card), vectors };
        let committed = self.workspace.commit(&meta, &[delete, edit]).await?;
        self.servers.unbind_removed(std::slice::from_ref(&remove)).await?;
        self.collections.add_to_same_collections(&remove.id, &keep.id).await?;
        Ok(CardChange { change: committed.change, cards: vec![keep.id.clone()] })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_only_one_card_says_is_kept_and_lists_are_joined() {
        let fields = |value: Value| value.as_object().cloned().expect("an object");
        let keep =
            fields(json!({ "name": "A", "class": "", "tags": ["mail"], "arguments": [{ "name": "to" }] }));
        let remove = fields(json!({
            "name": "B", "class": "Mail", "tags": ["mail", "send"], "arguments": [{ "name": "from" }], "module": "m"
        }));
        let expected = fields(json!({
            "name": "A", "class": "Mail", "tags": ["mail", "send"], "arguments": [{ "name": "to" }], "module": "m"
        }));
        assert_eq!(merged(&keep, &remove), expected);
    }
}
