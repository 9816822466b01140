//! Bringing the search index up to the library.

use std::collections::HashMap;
use std::sync::Arc;

use autokit_embed::Embedder;
use autokit_error::{ApiError, Result};
use autokit_library::{CardRecord, Cards, Library, PageVectors, StoredVectors};
use autokit_search::{CardEntry, CardIndex, Passages, passage_of, vector_recipe};
use autokit_toolcard::{CardId, fields};

use super::Core;

/// The texts of the library's cards.
#[derive(Debug)]
pub(super) struct LibraryPassages(pub(super) Cards);

impl Passages for LibraryPassages {
    fn passage(&self, id: &str) -> Option<String> {
        self.0.get(&CardId::new(id)).map(|record| passage_of(record.card().object()))
    }
}

/// What a library has for an index of its cards.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Vectors made from the present revisions.
    pub(super) vectors: Vec<StoredVectors>,
    /// Vectors an earlier version made of other texts of them.
    pub(super) earlier: Vec<StoredVectors>,
    /// Vectors of pieces of pages.
    pub(super) pages: Vec<PageVectors>,
}

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
pub(super) fn build_index(
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
pub(super) fn set_pieces(index: &CardIndex, card: &CardId, vectors: &[f32], dim: usize) -> Result<()> {
    index.set_pieces(card.as_str(), vectors, dim).map_err(|error| ApiError::internal(error.to_string()))
}

/// Cards of the library whose present revision has no vector in the index, by id.
pub(super) fn without_vector(index: &CardIndex, library: &Library) -> Vec<CardId> {
    let mut missing: Vec<CardId> = library.read(|replica| {
        let cards = replica.iter().map(|record| (record.id.as_str(), record.number));
        index.without_vector(cards).into_iter().map(CardId::new).collect()
    });
    missing.sort();
    missing
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
        let index = self.searcher.index();
        let vectors = match index.embedder() {
            Some(embedder) => self.library.vectors_of(&vector_recipe(embedder), ids).await?,
            None => Vec::new(),
        };
        let vectors = by_card(vectors);
        for id in ids {
            match self.library.read(|replica| replica.get(id).cloned()) {
                Some(record) => put(&index, &record, vectors.get(id), None)?,
                None => index.remove(id.as_str()),
            }
        }
        for id in ids.iter().filter(|id| index.has_pieces(id.as_str())) {
            // A page of another address says nothing about the card any more.
            let names = self
                .library
                .card(id)
                .ok()
                .and_then(|record| record.card().text(fields::DOCUMENTATION).map(str::to_owned));
            if self.library.page(id).await?.map(|page| page.url) != names {
                set_pieces(&index, id, &[], 0)?;
            }
        }
        Ok(())
    }
}
