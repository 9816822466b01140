//! Keeps the search index in sync with the library.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;
use autokit_embed::Embedder;
use autokit_error::{ApiError, Result};
use autokit_library::{CardRecord, ChangeObserver, Library, PageVectors, StoredVectors};
use autokit_search::{
    CardEntry, CardIndex, CardVectors, INDEX_FORMAT, Searcher, Vocabulary, vector_recipe, vector_recipe_of,
};
use autokit_toolcard::{CardId, fields};

use crate::background::in_background;

/// The stored vectors an index is built from.
#[derive(Debug, Default)]
struct StoredIndexData {
    /// Vectors of the current revisions.
    vectors: Vec<StoredVectors>,
    /// Vectors that an earlier version of AutoKit computed from different texts of the same cards.
    earlier: Vec<StoredVectors>,
    /// Vectors of the chunks of pages.
    pages: Vec<PageVectors>,
}

/// The search index, kept in sync with the library: a write is not acknowledged before the index has it.
#[derive(Debug)]
pub struct Indexing {
    searcher: Arc<Searcher>,
    /// Names and synonyms of the next index that is built.
    vocabulary: ArcSwap<Vocabulary>,
    /// Cards that may be out of date in the index. The lock also makes updates happen in the order of
    /// changes.
    pending: tokio::sync::Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    /// Cards whose update failed; retried with the next change.
    failed: HashSet<CardId>,
    /// Whether the index came from a snapshot; `None` before there is one.
    stored: Option<bool>,
    /// For each index that was built and is not in use yet, the cards changed since.
    since_builds: Vec<Weak<ChangedCards>>,
}

/// Cards changed since an index was built.
type ChangedCards = std::sync::Mutex<HashSet<CardId>>;

/// An index that is not in use yet.
#[derive(Debug)]
pub struct BuiltIndex {
    index: CardIndex,
    changed: Arc<ChangedCards>,
    /// Whether it came from a snapshot.
    stored: bool,
}

/// An index that is being read from its snapshot.
#[derive(Debug)]
pub struct StoredIndex {
    key: String,
    changed: Arc<ChangedCards>,
    reading: tokio::task::JoinHandle<Option<CardIndex>>,
}

impl Pending {
    /// Collects the cards that change from now on, for an index that is built or read meanwhile.
    fn track_changes(&mut self) -> Arc<ChangedCards> {
        let changed = Arc::new(ChangedCards::default());
        self.since_builds.retain(|since| since.strong_count() > 0);
        self.since_builds.push(Arc::downgrade(&changed));
        changed
    }
}

impl Deref for BuiltIndex {
    type Target = CardIndex;

    fn deref(&self) -> &CardIndex {
        &self.index
    }
}

impl Default for Indexing {
    /// An empty index; [`Indexing::build`] builds one over the library's cards.
    fn default() -> Indexing {
        Indexing {
            searcher: Arc::new(Searcher::new(CardIndex::new(None))),
            vocabulary: ArcSwap::new(Arc::clone(Vocabulary::shipped())),
            pending: tokio::sync::Mutex::default(),
        }
    }
}

impl Indexing {
    /// Returns the only searcher, which uses the index kept here.
    pub fn searcher(&self) -> &Arc<Searcher> {
        &self.searcher
    }

    /// Returns the names and synonyms of the next index that is built.
    pub fn vocabulary(&self) -> Arc<Vocabulary> {
        self.vocabulary.load_full()
    }

    /// Reads the names and synonyms for the next index that is built.
    pub async fn load_vocabulary(&self, library: &Library) -> Result<()> {
        let added = library.vocabulary().await?;
        self.vocabulary.store(Vocabulary::with(added.iter().map(|added| &added.entry)));
        Ok(())
    }

    /// Builds an index over all cards, with the vectors stored for this model; or takes it from its snapshot, which
    /// [`Indexing::read_stored`] may have begun to read.
    pub async fn build(
        &self,
        library: &Library,
        embedder: Option<Arc<Embedder>>,
        stored: Option<StoredIndex>,
    ) -> Result<BuiltIndex> {
        let model = embedder.as_ref().map(|embedder| embedder.id().to_owned());
        let stored =
            match stored.filter(|stored| stored.key == snapshot_key(model.as_deref(), &self.vocabulary())) {
                Some(stored) => Some(stored),
                None => self.read_stored(library, model.as_deref()).await?,
            };
        if let Some(StoredIndex { reading, changed, .. }) = stored
            && let Some(index) = reading.await.unwrap_or_else(|error| {
                tracing::error!(%error, "failed to read a snapshot of the index");
                None
            })
        {
            let index = keeping_large(index.with_embedder(embedder), library);
            return Ok(BuiltIndex { index, changed, stored: true });
        }
        let mut pending = self.pending.lock().await;
        let changed = pending.track_changes();
        let records: Vec<Arc<CardRecord>> = library.read(|replica| replica.iter().cloned().collect());
        let stored = match &embedder {
            Some(embedder) => {
                let vectors = library.vectors(&vector_recipe(embedder)).await?;
                let earlier = if vectors.len() < records.len() {
                    library.vectors_of_other_recipes(embedder.id(), &vector_recipe(embedder)).await?
                } else {
                    Vec::new()
                };
                StoredIndexData { vectors, earlier, pages: library.page_vectors(embedder.id()).await? }
            }
            None => StoredIndexData::default(),
        };
        let index = CardIndex::with_vocabulary(embedder, self.vocabulary());
        let index = keeping_large(index, library);
        let index = in_background(move || build_index(index, &records, stored)).await?;
        Ok(BuiltIndex { index, changed, stored: false })
    }

    /// Begins to read the index of the model with this id from its snapshot, which takes about as long as loading the
    /// model. `None` if there is none of the current state, model and vocabulary.
    pub async fn read_stored(&self, library: &Library, model: Option<&str>) -> Result<Option<StoredIndex>> {
        let changed = self.pending.lock().await.track_changes();
        let vocabulary = self.vocabulary();
        let key = snapshot_key(model, &vocabulary);
        let Some(content) = library.read_snapshot(snapshot_name(model), &key).await? else { return Ok(None) };
        let reading = tokio::task::spawn_blocking(move || {
            let index = CardIndex::decode(&content, vocabulary)
                .inspect_err(|error| tracing::warn!(%error, "ignoring a snapshot of the index"));
            index.ok()
        });
        Ok(Some(StoredIndex { key, changed, reading }))
    }

    /// Stores snapshots of the cards and the index if there are none of the current state.
    pub async fn write_snapshots(&self, library: &Library) -> Result<()> {
        // In this order, as a change does: it holds others back, and then has the index follow.
        let held = library.hold_changes().await;
        let pending = self.pending.lock().await;
        let Some(stored) = pending.stored.filter(|_| pending.failed.is_empty()) else { return Ok(()) };
        if !library.needs_snapshots(stored) {
            return Ok(());
        }
        let index = self.searcher.index();
        let model = index.embedder().map(|embedder| embedder.id().to_owned());
        let key = snapshot_key(model.as_deref(), index.vocabulary());
        let content =
            in_background(move || index.encode().map_err(|error| ApiError::internal(error.to_string())));
        held.write_snapshots(&[(snapshot_name(model.as_deref()), &key, content.await?)]).await?;
        Ok(())
    }

    /// Replaces the index, adding the cards that changed since it was built.
    pub async fn replace(&self, library: &Library, built: BuiltIndex) {
        let mut pending = self.pending.lock().await;
        self.searcher.replace_index(built.index);
        pending.stored = Some(built.stored);
        pending.failed.extend(built.changed.lock().expect("no holder panics").drain());
        self.update_pending(library, &mut pending).await;
    }

    /// Updates the index for some cards.
    pub async fn index_cards(&self, library: &Library, cards: &[CardId]) -> Result<()> {
        let _pending = self.pending.lock().await;
        self.update_cards(library, cards).await.why.map_or(Ok(()), Err)
    }

    /// Updates the index for all pending cards.
    async fn update_pending(&self, library: &Library, pending: &mut Pending) {
        let cards: Vec<CardId> = pending.failed.drain().collect();
        let IndexFailures { cards, why } = self.update_cards(library, &cards).await;
        if let Some(error) = why {
            tracing::error!(%error, cards = cards.len(), "failed to index changed cards");
        }
        pending.failed.extend(cards);
    }

    /// Updates cards in the index. A card that fails does not affect the others.
    async fn update_cards(&self, library: &Library, cards: &[CardId]) -> IndexFailures {
        let index = self.searcher.index();
        let mut failed = IndexFailures::default();
        // In batches, so that the vectors of a large import are not in memory twice.
        for cards in cards.chunks(BATCH) {
            let vectors = match index.embedder() {
                Some(embedder) => library.vectors_of(&vector_recipe(embedder), cards).await,
                None => Ok(Vec::new()),
            };
            let vectors = match vectors {
                Ok(vectors) => by_card(vectors),
                Err(error) => {
                    failed.add(cards, error.into());
                    continue;
                }
            };
            for id in cards {
                if let Err(error) = update_card(library, &index, id, vectors.get(id)).await {
                    failed.add(std::slice::from_ref(id), error);
                }
            }
        }
        failed
    }
}

/// Cards that could not be indexed, and the first error.
#[derive(Debug, Default)]
struct IndexFailures {
    cards: Vec<CardId>,
    why: Option<ApiError>,
}

impl IndexFailures {
    fn add(&mut self, cards: &[CardId], why: ApiError) {
        self.cards.extend_from_slice(cards);
        self.why.get_or_insert(why);
    }
}

impl ChangeObserver for Indexing {
    fn on_change<'a>(
        &'a self,
        library: &'a Library,
        touched: &'a [CardId],
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let mut pending = self.pending.lock().await;
            for changed in pending.since_builds.iter().filter_map(Weak::upgrade) {
                changed.lock().expect("no holder panics").extend(touched.iter().cloned());
            }
            pending.failed.extend(touched.iter().cloned());
            self.update_pending(library, &mut pending).await;
        })
    }
}

/// Cards read from the database at a time.
const BATCH: usize = 100;

fn by_card(vectors: Vec<StoredVectors>) -> HashMap<CardId, StoredVectors> {
    vectors.into_iter().map(|vectors| (vectors.card.clone(), vectors)).collect()
}

/// Updates one card in the index.
async fn update_card(
    library: &Library,
    index: &CardIndex,
    id: &CardId,
    vectors: Option<&StoredVectors>,
) -> Result<()> {
    let Some(record) = library.read(|replica| replica.get(id).cloned()) else {
        index.remove(id.as_str());
        return Ok(());
    };
    put_entry(index, &record, vectors, None)?;
    if index.has_chunks(id.as_str()) {
        // The card names another page now, so the chunks of the old one are dropped.
        let names = record.card().text(fields::DOCUMENTATION).map(str::to_owned);
        if library.page(id).await?.map(|page| page.url) != names {
            set_chunks(index, id, &[], 0)?;
        }
    }
    Ok(())
}

fn put_entry(
    index: &CardIndex,
    record: &CardRecord,
    vectors: Option<&StoredVectors>,
    earlier: Option<&StoredVectors>,
) -> Result<()> {
    // Vectors of an earlier revision were computed from another text.
    let is_current = |stored: &&StoredVectors| stored.number == record.number;
    let card = record.card();
    let entry = CardEntry {
        id: record.id.as_str(),
        revision: record.number,
        card: card.object(),
        vectors: vectors
            .filter(is_current)
            .map(|vectors| CardVectors { values: &vectors.values, names: vectors.names.as_deref() }),
        stale_vectors: earlier.filter(is_current).map(|vectors| vectors.values.as_slice()),
    };
    index.put(&entry).map_err(|error| ApiError::internal(error.to_string()))
}

/// Returns the name of the snapshot of an index. Those of keywords alone have another one, so that commands with and
/// without a model do not replace each other's.
fn snapshot_name(model: Option<&str>) -> &'static str {
    if model.is_some() { "index" } else { "keyword-index" }
}

/// Names what an index depends on besides the cards and their vectors.
fn snapshot_key(model: Option<&str>, vocabulary: &Vocabulary) -> String {
    let recipe = model.map_or_else(|| "keywords".to_owned(), vector_recipe_of);
    format!("{INDEX_FORMAT}-{recipe}-{}", vocabulary.id())
}

/// Has the vectors of a large library in a file instead of memory.
fn keeping_large(index: CardIndex, library: &Library) -> CardIndex {
    match library.dir() {
        Some(dir) if library.read_only().is_none() => index.keeping_large_in(dir.root()),
        _ => index,
    }
}

/// Adds `records` to an empty index.
fn build_index(index: CardIndex, records: &[Arc<CardRecord>], stored: StoredIndexData) -> Result<CardIndex> {
    let [vectors, earlier] = [stored.vectors, stored.earlier].map(by_card);
    for record in records {
        put_entry(&index, record, vectors.get(&record.id), earlier.get(&record.id))?;
    }
    for page in &stored.pages {
        // Includes pages of deleted cards, in case those are restored.
        set_chunks(&index, &page.card, &page.values, page.dim)?;
    }
    Ok(index)
}

/// Sets the vectors of the chunks of a card's page.
pub fn set_chunks(index: &CardIndex, card: &CardId, vectors: &[f32], dim: usize) -> Result<()> {
    index.set_chunks(card.as_str(), vectors, dim).map_err(|error| ApiError::internal(error.to_string()))
}

/// Returns the cards whose current revision has no vector in the index, sorted by id.
pub fn without_vector(index: &CardIndex, library: &Library) -> Vec<CardId> {
    let mut missing: Vec<CardId> = library.read(|replica| {
        let cards = replica.iter().map(|record| (record.id.as_str(), record.number));
        index.without_vector(cards).into_iter().map(CardId::new).collect()
    });
    missing.sort();
    missing
}

#[cfg(test)]
mod tests {
    use autokit_library::{Clock, Meta, PackedVectors, PutMode, Storage, Write};
    use autokit_toolcard::{Author, CardKey, Operation, Toolcard};

    use super::*;

    const WIDTH: usize = 8;

    /// Writes a card, or another revision of it, with a vector of length `dim`.
    async fn put(library: &Library, embedder: &Embedder, name: &str, text: &str, dim: usize) -> CardId {
        let card = format!(r#"{{"name": "{name}", "description": "{text}"}}"#);
        let card = Toolcard::from_json(&card).expect("a card");
        let vectors =
            PackedVectors { model: vector_recipe(embedder), names: None, dim, values: vec![1.0; dim] };
        let meta = Meta {
            operation: Operation::Edit,
            author: Author("test".to_owned()),
            reason: "a test".to_owned(),
            change: None,
            request: None,
        };
        let write = Write::Put { card: Box::new(card), mode: PutMode::Upsert, vectors: Some(vectors) };
        library.commit(&meta, &[write]).await.expect("committed");
        CardKey::new("", name).id()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_card_that_cannot_be_indexed_is_retried_and_does_not_block_others() {
        let library = Library::open(Storage::Memory, Clock::system()).await.expect("opens");
        let indexing = Arc::new(Indexing::default());
        let embedder = Arc::new(Embedder::stand_in(WIDTH));
        let index = indexing.build(&library, Some(Arc::clone(&embedder)), None).await.expect("built");
        indexing.replace(&library, index).await;
        library.set_observer(Arc::clone(&indexing) as Arc<dyn ChangeObserver>);
        let missing = || without_vector(&indexing.searcher().index(), &library);

        put(&library, &embedder, "first", "one", WIDTH).await;
        let invalid = put(&library, &embedder, "odd", "vectors of another length", WIDTH - 1).await;
        assert_eq!(missing(), std::slice::from_ref(&invalid));
        // The others are indexed.
        for name in ["second", "third", "fourth"] {
            put(&library, &embedder, name, "more", WIDTH).await;
            assert_eq!(missing(), std::slice::from_ref(&invalid), "{name}");
        }
        // With vectors that fit it is indexed.
        put(&library, &embedder, "odd", "vectors of the right length", WIDTH).await;
        assert!(missing().is_empty());
        assert!(indexing.pending.lock().await.failed.is_empty());
    }
}
