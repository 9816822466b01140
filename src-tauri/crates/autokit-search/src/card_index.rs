//! The search index of a library's cards: a [`SearchIndex`] with the model of its vectors.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, RwLock};

use autokit_embed::Embedder;
use autokit_vocabulary::Vocabulary;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::calibration::Calibrations;
use crate::document::Vectors;
use crate::error::RetrieveError;
use crate::index::SearchIndex;
use crate::keyword::KeywordIndex;
use crate::level;
use crate::tool_text::ToolText;
use crate::vector::VectorIndex;

/// Names the form of a stored index, see [`CardIndex::encode`].
pub const INDEX_FORMAT: &str = env!("INDEX_FORMAT");

/// A card to be indexed.
#[derive(Clone, Copy, Debug)]
pub struct CardEntry<'a> {
    /// Its id.
    pub id: &'a str,
    /// Number of its current revision.
    pub revision: u32,
    /// The card.
    pub card: &'a Map<String, Value>,
    /// The embeddings of [`passages_of`] this revision.
    pub vectors: Option<CardVectors<'a>>,
    /// Embeddings that an earlier version made from other texts of this revision, concatenated; they are used until
    /// there are `vectors`.
    pub stale_vectors: Option<&'a [f32]>,
}

/// Embeddings of a card's texts.
#[derive(Clone, Copy, Debug)]
pub struct CardVectors<'a> {
    /// The vectors, concatenated.
    pub values: &'a [f32],
    /// [`CardPassages::names`] of the texts. Where the index knows something else about the names, the vectors are
    /// used until there are others.
    pub names: Option<&'a str>,
}

/// The texts of a card that are embedded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardPassages {
    /// See [`ToolText::passages`].
    pub texts: Vec<String>,
    /// Identifies what people added about the card's names, if the texts have any of it:
    /// [`Vocabulary::added_to`].
    pub names: Option<String>,
}

/// Returns the texts of a card that are embedded.
pub fn passages_of(card: &Map<String, Value>, vocabulary: &Vocabulary) -> CardPassages {
    let tool = ToolText::from_card(String::new(), card);
    let names = vocabulary.added_to(&tool.name, &tool.provider, &tool.description);
    CardPassages { texts: tool.passages(vocabulary), names }
}

/// Embeds the passages of each card, all at once so that those of similar length are embedded together. Returns the
/// vectors of each card one after another.
///
/// # Errors
/// Those of `embed`.
pub fn embed_by_card<E>(
    passages: &[Vec<String>],
    embed: impl FnOnce(&[String]) -> Result<Vec<Vec<f32>>, E>,
) -> Result<Vec<Vec<f32>>, E> {
    let mut vectors = embed(&passages.concat())?.into_iter();
    Ok(passages.iter().map(|texts| vectors.by_ref().take(texts.len()).flatten().collect()).collect())
}

/// Identifies how vectors of cards are made: with which model, delta included, and from which text of a card.
/// Vectors with any other recipe have to be recomputed.
pub fn vector_recipe(embedder: &Embedder) -> String {
    vector_recipe_of(embedder.id())
}

/// As [`vector_recipe`], for the model with this [`Embedder::id`].
pub fn vector_recipe_of(model: &str) -> String {
    format!("{model}+{}", text_recipe())
}

/// Identifies how the texts to embed are made of a card: a hash of what is made of examples, and of the lists of
/// names used, so that no version has to be raised by hand.
pub fn text_recipe() -> &'static str {
    static RECIPE: LazyLock<String> = LazyLock::new(|| {
        let mut hash = Sha256::new_with_prefix(Vocabulary::shipped_names());
        let long = "word ".repeat(2000);
        let examples = [
            ("", "", ""),
            ("", "send_Message2All", "Sends it."),
            ("Acme", "GET /a/{b}", ""),
            ("A", "b", &long),
        ];
        for (provider, name, description) in examples {
            let tool = ToolText {
                id: "1".into(),
                provider: provider.into(),
                name: name.into(),
                description: description.into(),
                aliases: vec!["Alias".into()],
                parameters: vec![("first".into(), "The first.".into())],
                keywords: vec!["module.path".into(), "tag".into()],
                asks_for: vec!["a first wish".into(), "another one?".into()],
                pricing: "free".into(),
                language: "python".into(),
            };
            for text in tool.passages(Vocabulary::shipped()) {
                hash.update(text);
                hash.update([0]);
            }
        }
        hex::encode(&hash.finalize()[..8])
    });
    &RECIPE
}

/// An index with the model of its vectors. It can be searched while it changes.
#[derive(Debug)]
pub struct CardIndex {
    embedder: Option<Arc<Embedder>>,
    vocabulary: Arc<Vocabulary>,
    state: RwLock<State>,
    /// Never taken while `state` is held.
    level: Mutex<Option<MeasuredLevel>>,
    /// Cards put and removed; wraps around.
    changes: AtomicU32,
}

/// The level of the index, see [`mod@crate::level`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct MeasuredLevel {
    /// `None` where there is none.
    level: Option<f32>,
    /// [`CardIndex::changes`] when it was measured.
    after: u32,
    /// Changes after which it is measured again.
    good_for: u32,
}

/// Splits off the part that its length follows.
fn split_last_part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, length) = bytes.split_last_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    rest.split_at_checked(rest.len().checked_sub(length)?)
}

/// A level is measured again after changes to one card in this many.
const LEVEL_SHARE: u32 = 64;

#[derive(Debug, Serialize, Deserialize)]
struct State {
    search: SearchIndex,
    /// The revision each card's vector was made from.
    embedded: FxHashMap<Box<str>, u32>,
}

impl CardIndex {
    /// Creates an empty index; without a model it only ranks by keyword.
    pub fn new(embedder: Option<Arc<Embedder>>) -> CardIndex {
        CardIndex::with_vocabulary(embedder, Arc::clone(Vocabulary::shipped()))
    }

    /// As [`CardIndex::new`], with further names and synonyms.
    pub fn with_vocabulary(embedder: Option<Arc<Embedder>>, vocabulary: Arc<Vocabulary>) -> CardIndex {
        let search = SearchIndex::with_vocabulary(Arc::clone(&vocabulary));
        let state = State { search, embedded: FxHashMap::default() };
        CardIndex::of(embedder, vocabulary, state, None)
    }

    fn of(
        embedder: Option<Arc<Embedder>>,
        vocabulary: Arc<Vocabulary>,
        state: State,
        level: Option<MeasuredLevel>,
    ) -> CardIndex {
        let changes = AtomicU32::new(level.map_or(0, |level| level.after));
        CardIndex { embedder, vocabulary, state: RwLock::new(state), level: Mutex::new(level), changes }
    }

    /// Returns the names and synonyms that the index knows.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Returns the model, if there is one.
    pub fn embedder(&self) -> Option<&Arc<Embedder>> {
        self.embedder.as_ref()
    }

    /// Serializes the index with its level and without its model.
    ///
    /// # Errors
    /// Never for an index that was built by this type.
    pub fn encode(&self) -> Result<Vec<u8>, postcard::Error> {
        // Whoever reads the index then need not measure it.
        self.level();
        let level = *self.level.lock().expect("no holder panics");
        let state = self.state.read().expect("no holder panics");
        let mut bytes = postcard::to_allocvec(&(&*state, level))?;
        for part in
            [postcard::to_allocvec(&state.search.keyword)?, postcard::to_allocvec(&state.search.vectors)?]
        {
            bytes.extend_from_slice(&part);
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        }
        Ok(bytes)
    }

    /// Restores an index that was serialized by the same version of this program, over the same vectors and
    /// vocabulary; it has no model yet, see [`CardIndex::with_embedder`].
    ///
    /// # Errors
    /// When the bytes are not an index.
    pub fn decode(bytes: &[u8], vocabulary: Arc<Vocabulary>) -> Result<CardIndex, postcard::Error> {
        let (bytes, vectors) = split_last_part(bytes).ok_or(postcard::Error::DeserializeUnexpectedEnd)?;
        let (state, keyword) = split_last_part(bytes).ok_or(postcard::Error::DeserializeUnexpectedEnd)?;
        let (vectors, (keyword, state)) = rayon::join(
            || postcard::from_bytes::<VectorIndex>(vectors),
            || rayon::join(|| KeywordIndex::decode(keyword), || postcard::from_bytes(state)),
        );
        let (State { search, embedded }, level) = state?;
        let search = search.restored(Arc::clone(&vocabulary), keyword?, vectors?);
        Ok(CardIndex::of(None, vocabulary, State { search, embedded }, level))
    }

    /// Gives a restored index the model of its vectors.
    #[must_use]
    pub fn with_embedder(self, embedder: Option<Arc<Embedder>>) -> CardIndex {
        CardIndex { embedder, ..self }
    }

    /// Keeps vectors in files in this folder where they are many.
    #[must_use]
    pub fn keeping_large_in(self, folder: &Path) -> CardIndex {
        self.state.write().expect("no holder panics").search.keep_large_in(folder);
        self
    }

    /// Adds a card or replaces the one with the same id.
    ///
    /// # Errors
    /// When a vector has another length than those in the index, is not finite or is all zeros; the index is
    /// then unchanged.
    pub fn put(&self, entry: &CardEntry<'_>) -> Result<(), RetrieveError> {
        let text = ToolText::from_card(entry.id.to_owned(), entry.card);
        let names = self.vocabulary.added_to(&text.name, &text.provider, &text.description);
        let is_current = entry.vectors.is_some_and(|vectors| vectors.names == names.as_deref());
        let vectors = entry.vectors.map(|vectors| vectors.values).or(entry.stale_vectors);
        let vectors = self.embedder.as_ref().zip(vectors);
        let vectors = vectors.map(|(embedder, values)| Vectors::split(values, embedder.dim()));
        let mut state = self.state.write().expect("no holder panics");
        state.search.upsert(&text.document(vectors))?;
        if is_current {
            state.embedded.insert(entry.id.into(), entry.revision);
        } else {
            state.embedded.remove(entry.id);
        }
        self.changes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Removes a card.
    pub fn remove(&self, id: &str) {
        let mut state = self.state.write().expect("no holder panics");
        state.search.remove(id);
        state.embedded.remove(id);
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the level of the library, as it was no more than one change in 64 cards ago: how high the first hits of
    /// requests score that no tool serves. `None` with another model than thresholds were measured with, and where there
    /// are too few cards. To measure it takes as long as 160 searches, in a large library as 40.
    pub(crate) fn level(&self) -> Option<f32> {
        let embedder = self.embedder.as_ref()?;
        if embedder.id() != Calibrations::shipped().model {
            return None;
        }
        let mut known = self.level.lock().expect("no holder panics");
        let changes = self.changes.load(Ordering::Relaxed);
        if let Some(known) = known.filter(|known| changes.wrapping_sub(known.after) <= known.good_for) {
            return known.level;
        }
        let (level, cards) =
            self.read(|search| (embedder.on_its_threads(|| level::measure(search)), search.len()));
        *known = Some(MeasuredLevel { level, after: changes, good_for: cards as u32 / LEVEL_SHARE });
        level
    }

    /// Returns the level by these vectors of [`crate::unservable_requests`], for measuring thresholds with another model.
    pub fn level_by(&self, vectors: &[Vec<f32>]) -> Option<f32> {
        self.read(|search| level::measure_with(search, vectors))
    }

    /// Sets the vectors of the chunks of a card's page, concatenated, replacing previous ones; an empty slice
    /// removes them. Does nothing if the card is not in the index.
    ///
    /// # Errors
    /// As [`CardIndex::put`].
    pub fn set_chunks(&self, id: &str, vectors: &[f32], dimension: usize) -> Result<(), RetrieveError> {
        self.state.write().expect("no holder panics").search.set_chunks(id, vectors, dimension)?;
        Ok(())
    }

    /// Whether chunks of a card's page count in ranking.
    pub fn has_chunks(&self, id: &str) -> bool {
        self.read(|search| search.has_chunks(id))
    }

    /// Returns the number of cards that have a vector of their current revision.
    pub fn embedded_count(&self) -> usize {
        self.state.read().expect("no holder panics").embedded.len()
    }

    /// Returns those of the given cards (id and current revision number) without a vector of that revision.
    pub fn without_vector<'a>(&self, cards: impl Iterator<Item = (&'a str, u32)>) -> Vec<&'a str> {
        let state = self.state.read().expect("no holder panics");
        cards.filter(|(id, revision)| state.embedded.get(*id) != Some(revision)).map(|(id, _)| id).collect()
    }

    /// Runs `read` on the search index. Changes wait meanwhile.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&SearchIndex) -> T) -> T {
        read(&self.state.read().expect("no holder panics").search)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restored_index_need_not_measure_its_level_again() {
        let index = CardIndex::new(None);
        let known = MeasuredLevel { level: Some(0.25), after: 7, good_for: 3 };
        *index.level.lock().unwrap() = Some(known);
        let restored = CardIndex::decode(&index.encode().unwrap(), Arc::clone(index.vocabulary())).unwrap();
        let level = restored.level.lock().unwrap().expect("restored");
        assert_eq!((level.level, level.good_for), (known.level, known.good_for));
        assert_eq!(restored.changes.load(Ordering::Relaxed), known.after, "no change since then");
    }

    #[test]
    fn there_is_no_level_for_vectors_of_another_model() {
        assert_eq!(CardIndex::new(Some(Arc::new(Embedder::stand_in(8)))).level(), None);
        assert_eq!(CardIndex::new(None).level(), None);
    }
}
