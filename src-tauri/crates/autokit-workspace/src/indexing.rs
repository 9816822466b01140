//! Keeping the search index up with the library.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use autokit_embed::Embedder;
use autokit_error::{ApiError, Result};
use autokit_library::{CardRecord, Cards, Follower, Library, PageVectors, StoredVectors};
use autokit_search::{CardEntry, CardIndex, Passages, Searcher, passage_of, vector_recipe};
use autokit_toolcard::{CardId, fields};

use crate::background::in_background;

/// The texts of the library's cards.
#[derive(Debug)]
struct LibraryPassages(Cards);

impl Passages for LibraryPassages {
    fn passage(&self, id: &str) -> Option<String> {
        self.0.get(&CardId::new(id)).map(|record| passage_of(record.card().object()))
    }
}

/// What a library has for an index of its cards.
#[derive(Debug, Default)]
struct Stored {
    /// Vectors made from the present revisions.
    vectors: Vec<StoredVectors>,
    /// Vectors an earlier version made of other texts of them.
    earlier: Vec<StoredVectors>,
    /// Vectors of pieces of pages.
    pages: Vec<PageVectors>,
}

/// The search index, which follows the library: a change is not answered before the index has it.
#[derive(Debug)]
pub struct Indexing {
    searcher: Arc<Searcher>,
    /// Cards the index may not be up to date with: one after the other, in the order of changes.
    pending: tokio::sync::Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    /// Those that could not be brought into the index; tried again with the next change.
    failed: HashSet<CardId>,
    /// Those that changed since an index was built that is not in use yet.
    since_build: Option<HashSet<CardId>>,
}

impl Indexing {
    /// An index without cards, until one over the cards of the library is built.
    pub fn new(library: &Library) -> Indexing {
        let passages = Arc::new(LibraryPassages(library.cards()));
        Indexing {
            searcher: Arc::new(Searcher::new(CardIndex::new(None), passages)),
            pending: tokio::sync::Mutex::default(),
        }
    }

    /// The one way to rank, over the index that is kept here.
    pub fn searcher(&self) -> &Arc<Searcher> {
        &self.searcher
    }

    /// An index over all cards, with the vectors the library has for this model.
    pub async fn build(&self, library: &Library, embedder: Option<Arc<Embedder>>) -> Result<CardIndex> {
        let mut pending = self.pending.lock().await;
        pending.since_build = Some(HashSet::new());
        let records: Vec<Arc<CardRecord>> = library.read(|replica| replica.iter().cloned().collect());
        let stored = match &embedder {
            Some(embedder) => {
                let vectors = library.vectors(&vector_recipe(embedder)).await?;
                let earlier = if vectors.len() < records.len() {
                    // What the first version made has the name of the model alone.
                    library.vectors(embedder.id()).await?
                } else {
                    Vec::new()
                };
                Stored { vectors, earlier, pages: library.page_vectors(embedder.id()).await? }
            }
            None => Stored::default(),
        };
        in_background(move || build_index(embedder, &records, stored)).await
    }

    /// Searches the index that was built last from now on.
    pub async fn replace(&self, library: &Library, index: CardIndex) {
        let mut pending = self.pending.lock().await;
        self.searcher.replace_index(index);
        let since = pending.since_build.take();
        pending.failed.extend(since.into_iter().flatten());
        self.settle(library, &mut pending).await;
    }

    /// Brings the index up to the library for some cards.
    pub async fn bring_up(&self, library: &Library, cards: &[CardId]) -> Result<()> {
        let _turn = self.pending.lock().await;
        self.put_cards(library, cards).await
    }

    /// Brings those into the index that are not in it yet.
    async fn settle(&self, library: &Library, pending: &mut Pending) {
        let cards: Vec<CardId> = pending.failed.iter().cloned().collect();
        match self.put_cards(library, &cards).await {
            Ok(()) => pending.failed.clear(),
            Err(error) => {
                tracing::error!(%error, cards = cards.len(), "changed cards are not in the index yet");
            }
        }
    }

    async fn put_cards(&self, library: &Library, cards: &[CardId]) -> Result<()> {
        let index = self.searcher.index();
        // A large import must not be in memory twice over.
        for cards in cards.chunks(BATCH) {
            let vectors = match index.embedder() {
                Some(embedder) => library.vectors_of(&vector_recipe(embedder), cards).await?,
                None => Vec::new(),
            };
            let vectors = by_card(vectors);
            for id in cards {
                match library.read(|replica| replica.get(id).cloned()) {
                    Some(record) => put(&index, &record, vectors.get(id), None)?,
                    None => index.remove(id.as_str()),
                }
            }
            for id in cards.iter().filter(|id| index.has_pieces(id.as_str())) {
                // A page of another address says nothing about the card any more.
                let names = library
                    .card(id)
                    .ok()
                    .and_then(|record| record.card().text(fields::DOCUMENTATION).map(str::to_owned));
                if library.page(id).await?.map(|page| page.url) != names {
                    set_pieces(&index, id, &[], 0)?;
                }
            }
        }
        Ok(())
    }
}

impl Follower for Indexing {
    fn follow<'a>(
        &'a self,
        library: &'a Library,
        touched: &'a [CardId],
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let mut pending = self.pending.lock().await;
            if let Some(since_build) = &mut pending.since_build {
                since_build.extend(touched.iter().cloned());
            }
            pending.failed.extend(touched.iter().cloned());
            self.settle(library, &mut pending).await;
        })
    }
}

/// Cards read from the database at a time.
const BATCH: usize = 100;

fn by_card(vectors: Vec<StoredVectors>) -> HashMap<CardId, StoredVectors> {
    vectors.into_iter().map(|vectors| (vectors.card.clone(), vectors)).collect()
}

fn put(
    index: &CardIndex,
    record: &CardRecord,
    vectors: Option<&StoredVectors>,
    earlier: Option<&StoredVectors>,
) -> Result<()> {
    // Vectors of an earlier revision describe another text.
    let of_this = |made: &&StoredVectors| made.number == record.number;
    let card = record.card();
    let entry = CardEntry {
        id: record.id.as_str(),
        revision: record.number,
        card: card.object(),
        vector: vectors.filter(of_this).map(|vectors| vectors.values.as_slice()),
        earlier: earlier.filter(of_this).map(|vectors| vectors.values.as_slice()),
    };
    index.put(&entry).map_err(|error| ApiError::internal(error.to_string()))
}

/// An index over `records`.
fn build_index(
    embedder: Option<Arc<Embedder>>,
    records: &[Arc<CardRecord>],
    stored: Stored,
) -> Result<CardIndex> {
    let index = CardIndex::new(embedder);
    let [vectors, earlier] = [stored.vectors, stored.earlier].map(by_card);
    for record in records {
        put(&index, record, vectors.get(&record.id), earlier.get(&record.id))?;
    }
    for page in &stored.pages {
        // Pages of cards that are gone stay for the day they come back.
        set_pieces(&index, &page.card, &page.values, page.dim)?;
    }
    Ok(index)
}

/// Gives a card the vectors of its page's pieces.
pub fn set_pieces(index: &CardIndex, card: &CardId, vectors: &[f32], dim: usize) -> Result<()> {
    index.set_pieces(card.as_str(), vectors, dim).map_err(|error| ApiError::internal(error.to_string()))
}

/// Cards of the library whose present revision has no vector in the index, by id.
pub fn without_vector(index: &CardIndex, library: &Library) -> Vec<CardId> {
    let mut missing: Vec<CardId> = library.read(|replica| {
        let cards = replica.iter().map(|record| (record.id.as_str(), record.number));
        index.without_vector(cards).into_iter().map(CardId::new).collect()
    });
    missing.sort();
    missing
}
