//! The model and the index over the cards it embedded: what is switched when the model is.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use autokit_embed::Embedder;
use autokit_library::{CardRecord, Library, PageVectors, StoredVectors};
use autokit_retrieve::eval::ToolText;
use autokit_retrieve::{Document, SearchIndex};
use autokit_toolcard::{CardId, Toolcard, fields};

use crate::error::{ApiError, Result};

use super::Core;

/// An index with the model its vectors come from.
#[derive(Debug)]
pub(crate) struct Finder {
    pub(crate) embedder: Option<Arc<Embedder>>,
    index: RwLock<Indexed>,
}

#[derive(Debug)]
struct Indexed {
    search: SearchIndex,
    /// Revision each card's vector was made from.
    embedded: HashMap<CardId, u32>,
}

/// What vectors of cards are made with: a model, and the text of a card that it reads. Vectors made with
/// anything else are made anew.
pub(crate) fn made_with(embedder: &Embedder) -> String {
    format!("{}+{}", embedder.id(), Document::DENSE_TEXT)
}

/// The text of a card that is embedded.
pub(crate) fn dense_text(card: &Toolcard) -> String {
    ToolText::from_card(String::new(), card.object()).document(None).dense_text()
}

fn by_card(vectors: Vec<StoredVectors>) -> HashMap<CardId, StoredVectors> {
    vectors.into_iter().map(|vectors| (vectors.card.clone(), vectors)).collect()
}

impl Indexed {
    /// `earlier` are vectors an earlier version made of another text of the same card: better than none
    /// until it has others.
    fn put(
        &mut self,
        record: &CardRecord,
        vectors: Option<&StoredVectors>,
        earlier: Option<&StoredVectors>,
    ) -> Result<()> {
        // Vectors of an earlier revision describe another text.
        let fresh = |made: &&StoredVectors| made.number == record.number;
        let (vectors, earlier) = (vectors.filter(fresh), earlier.filter(fresh));
        let text = ToolText::from_card(record.id.to_string(), record.card().object());
        let document = text.document(vectors.or(earlier).map(|vectors| vectors.values.as_slice()));
        self.search.upsert(&document).map_err(|error| ApiError::internal(error.to_string()))?;
        match vectors {
            Some(_) => self.embedded.insert(record.id.clone(), record.number),
            None => self.embedded.remove(&record.id),
        };
        Ok(())
    }
}

impl Finder {
    /// An empty index that knows keywords alone.
    pub(crate) fn without_model() -> Finder {
        Finder {
            embedder: None,
            index: RwLock::new(Indexed { search: SearchIndex::new(), embedded: HashMap::new() }),
        }
    }

    /// An index over `records`, with the vectors made from their present revisions, or those an earlier
    /// version made.
    pub(crate) fn build(
        embedder: Option<Arc<Embedder>>,
        records: &[Arc<CardRecord>],
        vectors: Vec<StoredVectors>,
        earlier: Vec<StoredVectors>,
        pages: &[PageVectors],
    ) -> Result<Finder> {
        let mut indexed =
            Indexed { search: SearchIndex::new(), embedded: HashMap::with_capacity(vectors.len()) };
        let [vectors, earlier] = [vectors, earlier].map(by_card);
        for record in records {
            indexed.put(record, vectors.get(&record.id), earlier.get(&record.id))?;
        }
        for page in pages {
            // Pages of cards that are gone stay for the day they come back.
            let set = indexed.search.set_chunks(page.card.as_str(), &page.values, page.dim);
            set.map_err(|error| ApiError::internal(error.to_string()))?;
        }
        Ok(Finder { embedder, index: RwLock::new(indexed) })
    }

    /// Gives a card the vectors of its page's pieces.
    pub(crate) fn set_chunks(&self, card: &CardId, pieces: &[f32], dim: usize) -> Result<()> {
        let mut indexed = self.index.write().expect("no holder panics");
        indexed
            .search
            .set_chunks(card.as_str(), pieces, dim)
            .map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(())
    }

    /// Whether pieces of a card's page count in ranking.
    fn has_chunks(&self, card: &CardId) -> bool {
        self.index.read().expect("no holder panics").search.has_chunks(card.as_str())
    }

    /// Looks at the index.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&SearchIndex) -> T) -> T {
        look(&self.index.read().expect("no holder panics").search)
    }

    /// Cards with a vector.
    pub(crate) fn embedded(&self) -> usize {
        self.index.read().expect("no holder panics").embedded.len()
    }

    /// Cards of the library whose present revision has no vector here.
    pub(crate) fn missing(&self, library: &Library) -> Vec<CardId> {
        let indexed = self.index.read().expect("no holder panics");
        let mut missing: Vec<CardId> = library.read(|replica| {
            replica
                .iter()
                .filter(|record| indexed.embedded.get(&record.id) != Some(&record.number))
                .map(|record| record.id.clone())
                .collect()
        });
        missing.sort();
        missing
    }

    /// Brings the index up to the library for some cards.
    fn apply(&self, library: &Library, ids: &[CardId], vectors: Vec<StoredVectors>) -> Result<()> {
        let vectors = by_card(vectors);
        let mut indexed = self.index.write().expect("no holder panics");
        for id in ids {
            if let Some(record) = library.read(|replica| replica.get(id).cloned()) {
                indexed.put(&record, vectors.get(id), None)?;
            } else {
                indexed.search.remove(id.as_str());
                indexed.embedded.remove(id);
            }
        }
        Ok(())
    }
}

impl Core {
    /// Commits a batch and brings the index up to it: a card is found as soon as it is there.
    pub(crate) async fn commit(
        &self,
        meta: &autokit_library::Meta,
        writes: &[autokit_library::Write],
    ) -> Result<autokit_library::Committed> {
        let committed = {
            let _turn = self.writing.lock().await;
            let committed = self.library.commit(meta, writes).await?;
            let touched =
                [committed.added.as_slice(), committed.changed.as_slice(), committed.deleted.as_slice()]
                    .concat();
            self.index_cards(&touched).await?;
            committed
        };
        if committed.change.is_some() {
            self.tell_library();
        }
        Ok(committed)
    }

    /// Brings the index up to the library for some cards. The caller holds `writing`.
    pub(crate) async fn index_cards(&self, ids: &[CardId]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let finder = self.finder.load_full();
        let vectors = match &finder.embedder {
            Some(embedder) => self.library.vectors_of(&made_with(embedder), ids).await?,
            None => Vec::new(),
        };
        finder.apply(&self.library, ids, vectors)?;
        for id in ids.iter().filter(|id| finder.has_chunks(id)) {
            // A page of another address says nothing about the card any more.
            let names = self
                .library
                .card(id)
                .ok()
                .and_then(|record| record.card().text(fields::DOCUMENTATION).map(str::to_owned));
            if self.library.page(id).await?.map(|page| page.url) != names {
                finder.set_chunks(id, &[], 0)?;
            }
        }
        Ok(())
    }
}
