//! The cards of a library as they are searched: a [`SearchIndex`] with the model its vectors come from.

use std::sync::{Arc, RwLock};

use autokit_embed::Embedder;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::RetrieveError;
use crate::eval::ToolText;
use crate::index::SearchIndex;

/// A card as it goes into the index.
#[derive(Clone, Copy, Debug)]
pub struct CardEntry<'a> {
    /// Its id.
    pub id: &'a str,
    /// Number of its revision.
    pub revision: u32,
    /// The card.
    pub card: &'a Map<String, Value>,
    /// The vector of [`passage_of`] this revision.
    pub vector: Option<&'a [f32]>,
    /// A vector an earlier version made of another text of this revision; it serves until there is a `vector`.
    pub earlier: Option<&'a [f32]>,
}

/// The text of a card that is embedded.
pub fn passage_of(card: &Map<String, Value>) -> String {
    ToolText::from_card(String::new(), card).document(None).dense_text()
}

/// What vectors of cards are made with: a model, and the text of a card that it reads. Vectors made with
/// anything else are made anew.
pub fn vector_recipe(embedder: &Embedder) -> String {
    format!("{}+{}", embedder.id(), Document::DENSE_TEXT)
}

/// An index with the model its vectors come from. It is searched while it changes.
#[derive(Debug)]
pub struct CardIndex {
    embedder: Option<Arc<Embedder>>,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    search: SearchIndex,
    /// The revision each card's vector was made from.
    embedded: FxHashMap<Box<str>, u32>,
}

impl CardIndex {
    /// An empty index; without a model it knows keywords alone.
    pub fn new(embedder: Option<Arc<Embedder>>) -> CardIndex {
        CardIndex { embedder, state: RwLock::default() }
    }

    /// The model, if there is one.
    pub fn embedder(&self) -> Option<&Arc<Embedder>> {
        self.embedder.as_ref()
    }

    /// Puts a card in, in place of one with the same id.
    ///
    /// # Errors
    /// A vector of another length than those in the index, not finite or all zeros. Nothing is changed then.
    pub fn put(&self, entry: &CardEntry<'_>) -> Result<(), RetrieveError> {
        let text = ToolText::from_card(entry.id.to_owned(), entry.card);
        let mut state = self.state.write().expect("no holder panics");
        state.search.upsert(&text.document(entry.vector.or(entry.earlier)))?;
        if entry.vector.is_some() {
            state.embedded.insert(entry.id.into(), entry.revision);
        } else {
            state.embedded.remove(entry.id);
        }
        Ok(())
    }

    /// Takes a card out.
    pub fn remove(&self, id: &str) {
        let mut state = self.state.write().expect("no holder panics");
        state.search.remove(id);
        state.embedded.remove(id);
    }

    /// Gives a card the vectors of the pieces of its page, row after row, in place of those it had; none takes
    /// them away. A card that is not in the index is left out.
    ///
    /// # Errors
    /// As [`CardIndex::put`].
    pub fn set_pieces(&self, id: &str, vectors: &[f32], dimension: usize) -> Result<(), RetrieveError> {
        self.state.write().expect("no holder panics").search.set_chunks(id, vectors, dimension)?;
        Ok(())
    }

    /// Whether pieces of a card's page count in ranking.
    pub fn has_pieces(&self, id: &str) -> bool {
        self.read(|search| search.has_chunks(id))
    }

    /// Number of cards that have a vector of their present revision.
    pub fn embedded(&self) -> usize {
        self.state.read().expect("no holder panics").embedded.len()
    }

    /// Those of some cards whose present revision, given by its number, has no vector here.
    pub fn without_vector<'a>(&self, cards: impl Iterator<Item = (&'a str, u32)>) -> Vec<&'a str> {
        let state = self.state.read().expect("no holder panics");
        cards.filter(|(id, revision)| state.embedded.get(*id) != Some(revision)).map(|(id, _)| id).collect()
    }

    /// Looks at what is searched. Changes wait while `look` runs.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&SearchIndex) -> T) -> T {
        look(&self.state.read().expect("no holder panics").search)
    }
}
