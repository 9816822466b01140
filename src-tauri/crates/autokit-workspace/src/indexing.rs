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
        self.put_cards(library, cards).await.why.map_or(Ok(()), Err)
    }

    /// Brings those into the index that are not in it yet.
    async fn settle(&self, library: &Library, pending: &mut Pending) {
        let cards: Vec<CardId> = pending.failed.drain().collect();
        let Failed { cards, why } = self.put_cards(library, &cards).await;
        if let Some(error) = why {
            tracing::error!(%error, cards = cards.len(), "changed cards are not in the index yet");
        }
        pending.failed.extend(cards);
    }

    /// Brings cards up to date in the index; one that cannot be keeps no other out.
    async fn put_cards(&self, library: &Library, cards: &[CardId]) -> Failed {
        let index = self.searcher.index();
        let mut failed = Failed::default();
        // A large import must not be in memory twice over.
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
                if let Err(error) = put_card(library, &index, id, vectors.get(id)).await {
                    failed.add(std::slice::from_ref(id), error);
                }
            }
        }
        failed
    }
}

/// Cards that could not be brought into the index, and why the first of them could not.
#[derive(Debug, Default)]
struct Failed {
    cards: Vec<CardId>,
    why: Option<ApiError>,
}

impl Failed {
    fn add(&mut self, cards: &[CardId], why: ApiError) {
        self.cards.extend_from_slice(cards);
        self.why.get_or_insert(why);
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

/// Brings one card up to date in the index.
async fn put_card(
    library: &Library,
    index: &CardIndex,
    id: &CardId,
    vectors: Option<&StoredVectors>,
) -> Result<()> {
    let Some(record) = library.read(|replica| replica.get(id).cloned()) else {
        index.remove(id.as_str());
        return Ok(());
    };
    put(index, &record, vectors, None)?;
    if index.has_pieces(id.as_str()) {
        // A page of another address says nothing about the card any more.
        let names = record.card().text(fields::DOCUMENTATION).map(str::to_owned);
        if library.page(id).await?.map(|page| page.url) != names {
            set_pieces(index, id, &[], 0)?;
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use autokit_library::{Clock, Meta, PackedVectors, Place, PutMode, Write};
    use autokit_toolcard::{Author, CardKey, Operation, Toolcard};

    use super::*;

    const WIDTH: usize = 8;

    /// Adds a card, or another revision of it, with a vector of this length.
    async fn put(library: &Library, embedder: &Embedder, name: &str, text: &str, dim: usize) -> CardId {
        let card = format!(r#"{{"name": "{name}", "description": "{text}"}}"#);
        let card = Toolcard::from_json(&card).expect("a card");
        let vectors = PackedVectors { model: vector_recipe(embedder), dim, values: vec![1.0; dim] };
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
    async fn a_card_that_cannot_be_indexed_keeps_no_other_out_and_is_tried_again() {
        let library = Library::open(Place::Memory, Clock::system()).await.expect("opens");
        let indexing = Arc::new(Indexing::new(&library));
        let embedder = Arc::new(Embedder::stand_in(WIDTH));
        let index = indexing.build(&library, Some(Arc::clone(&embedder))).await.expect("built");
        indexing.replace(&library, index).await;
        library.be_followed_by(Arc::clone(&indexing) as Arc<dyn Follower>);
        let missing = || without_vector(&indexing.searcher().index(), &library);

        put(&library, &embedder, "first", "one", WIDTH).await;
        let odd = put(&library, &embedder, "odd", "vectors of another length", WIDTH - 1).await;
        assert_eq!(missing(), std::slice::from_ref(&odd));
        // The others are not in its way.
        for name in ["second", "third", "fourth"] {
            put(&library, &embedder, name, "more", WIDTH).await;
            assert_eq!(missing(), std::slice::from_ref(&odd), "{name}");
        }
        // With vectors that fit it comes in.
        put(&library, &embedder, "odd", "vectors of the right length", WIDTH).await;
        assert!(missing().is_empty());
        assert!(indexing.pending.lock().await.failed.is_empty());
    }
}
