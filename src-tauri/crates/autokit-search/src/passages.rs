//! Searching passages: pieces of documents, and functions of repositories.
//!
//! A passage is found by the words it has and by the window of its text that is closest to the question. What is only
//! true of tools (names of products, conditions, directions) does not apply.

use std::cmp::Ordering;
use std::sync::Arc;

use autokit_vocabulary::Vocabulary;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::analysis::AnalyzedTexts;
use crate::bitset::BitSet;
use crate::chunks::ChunkIndex;
use crate::document::{Document, Parameter};
use crate::error::RetrieveError;
use crate::fusion;
use crate::keyword::KeywordIndex;
use crate::query::QueryPlan;
use crate::vector::{Exactness, check_vector};

/// A text to be found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passage<'a> {
    /// Id, unique in an index.
    pub id: &'a str,
    /// Headings above it, or the name of a function.
    pub title: &'a str,
    /// Its text, or the comment and signature of a function.
    pub text: &'a str,
    /// Further text that counts less: the file's name, what a function calls.
    pub keywords: Vec<&'a str>,
    /// What counts as little as the keywords and is longer: the body of a function.
    pub body: &'a str,
}

/// A passage that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageHit {
    /// Id of the passage.
    pub id: String,
    /// Between 0 and 1. Comparable between questions, as long as both or neither were ordered by late interaction.
    pub score: f32,
    /// Contribution of its words, in units of cosine.
    pub keyword: f32,
    /// Cosine of its closest window; absent if it has no vectors yet.
    pub cosine: Option<f32>,
    /// Its closest window, counted from 0.
    pub window: Option<u32>,
}

impl PassageHit {
    /// Adds late interaction to the score, `weight` times as much as the rest of it counts. The scale stays.
    pub fn add_interaction(&mut self, interaction: f32, weight: f32) {
        let rest = self.keyword + self.cosine.unwrap_or(0.0);
        self.score = fusion::to_score((rest + weight * interaction) / (1.0 + weight));
    }

    /// Compares by score, best first, ties by id.
    pub fn best_first(&self, other: &PassageHit) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.id.cmp(&other.id))
    }
}

/// An in-memory index of passages. Changes are visible to the next search.
#[derive(Debug)]
pub struct PassageIndex {
    vocabulary: Arc<Vocabulary>,
    slots: FxHashMap<Box<str>, u32>,
    ids: Vec<Box<str>>,
    free: Vec<u32>,
    keyword: KeywordIndex,
    windows: ChunkIndex,
}

/// How the parts of a score are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassageWeights {
    /// Factor of what words contribute.
    pub keyword: f32,
    /// Share of the mean vector that is subtracted from the question's, see [`fusion`].
    pub mean: f32,
    /// Whether a single word counts less, see [`fusion`].
    pub discount: bool,
}

impl Default for PassageWeights {
    fn default() -> PassageWeights {
        PassageWeights { keyword: 1.0, mean: 0.5, discount: true }
    }
}

/// Passages analyzed at a time by one thread.
const CHUNK: usize = 512;

impl Default for PassageIndex {
    fn default() -> PassageIndex {
        PassageIndex::new(Arc::clone(Vocabulary::shipped()))
    }
}

impl PassageIndex {
    /// Creates an empty index that knows these names and synonyms.
    pub fn new(vocabulary: Arc<Vocabulary>) -> PassageIndex {
        PassageIndex {
            vocabulary,
            slots: FxHashMap::default(),
            ids: Vec::new(),
            free: Vec::new(),
            keyword: KeywordIndex::default(),
            windows: ChunkIndex::default(),
        }
    }

    /// Returns the number of passages.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether the index is empty.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether a passage has vectors.
    pub fn has_windows(&self, id: &str) -> bool {
        self.slots.get(id).is_some_and(|&slot| self.windows.contains(slot))
    }

    /// Adds passages, each replacing one with the same id, without vectors.
    pub fn upsert_all(&mut self, passages: &[Passage<'_>]) {
        let documents: Vec<Document<'_>> = passages
            .iter()
            .map(|passage| Document {
                id: passage.id,
                name: passage.title,
                description: passage.text,
                keywords: passage.keywords.clone(),
                parameters: vec![Parameter { name: "", description: passage.body }],
                ..Document::default()
            })
            .collect();
        let analyzed: Vec<AnalyzedTexts> = documents
            .par_chunks(CHUNK)
            .map(|documents| AnalyzedTexts::new(documents, &self.vocabulary))
            .collect();
        for (documents, texts) in documents.chunks(CHUNK).zip(analyzed) {
            let mut keyword = std::mem::take(&mut self.keyword);
            keyword.insert_all(texts, |keyword, at| {
                let slot = self.slot_for(keyword, documents[at].id);
                self.windows.remove(slot);
                slot
            });
            self.keyword = keyword;
        }
    }

    fn slot_for(&mut self, keyword: &mut KeywordIndex, id: &str) -> u32 {
        if let Some(&slot) = self.slots.get(id) {
            keyword.remove(slot);
            return slot;
        }
        let slot = self.free.pop().unwrap_or(self.ids.len() as u32);
        if slot as usize == self.ids.len() {
            self.ids.push(id.into());
        } else {
            self.ids[slot as usize] = id.into();
        }
        self.slots.insert(id.into(), slot);
        slot
    }

    /// Sets the vectors of a passage's windows, concatenated; an empty slice removes them. Returns whether the
    /// passage exists.
    ///
    /// # Errors
    /// When a vector has another dimension, is not finite or is all zeros; the index is then unchanged.
    pub fn set_windows(&mut self, id: &str, values: &[f32], dimension: usize) -> Result<bool, RetrieveError> {
        let Some(&slot) = self.slots.get(id) else { return Ok(false) };
        let known = Some(self.windows.dimension()).filter(|known| *known > 0).unwrap_or(dimension);
        for window in values.chunks(dimension.max(1)) {
            check_vector(&format!("“{id}”"), window, Some(known))?;
        }
        self.windows.set(slot, values.chunks_exact(dimension.max(1)))?;
        Ok(true)
    }

    /// Removes a passage. Returns whether it existed.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(slot) = self.slots.remove(id) else { return false };
        self.keyword.remove(slot);
        self.windows.remove(slot);
        self.ids[slot as usize] = Box::default();
        self.free.push(slot);
        true
    }

    /// Returns the passages that fit a question best, best first, ties by id. Without a vector they are ranked by words.
    ///
    /// # Errors
    /// When the vector has another dimension than those of the passages, or is not finite.
    pub fn search(
        &self,
        question: &str,
        vector: Option<&[f32]>,
        limit: usize,
        filter: Option<&(dyn Fn(&str) -> bool + Sync)>,
        weights: PassageWeights,
    ) -> Result<Vec<PassageHit>, RetrieveError> {
        if limit == 0 || self.is_empty() {
            return Ok(Vec::new());
        }
        let vector = vector.filter(|_| !self.windows.is_empty());
        if let Some(vector) = vector {
            check_vector(&format!("the question “{question}”"), vector, Some(self.windows.dimension()))?;
        }
        let allowed: Option<BitSet> = filter
            .map(|filter| self.slots.iter().filter(|(id, _)| filter(id)).map(|(_, slot)| *slot).collect());
        let allowed = allowed.as_ref();
        let plan = QueryPlan::parse(question, &self.vocabulary, |_, _| false);
        let words = self.keyword.resolve(&plan.terms, &[], &plan.concepts);
        let scores = self.keyword.score(&words, allowed).swap_remove(0);
        let bm25: Vec<f32> = scores.bm25().collect();
        let closest = vector.map(|vector| {
            let shift: Vec<f32> = self.windows.mean().into_iter().map(|x| x * weights.mean).collect();
            self.windows.closest(&[vector], &shift, allowed, Exactness::Exact)
        });
        let mut hits: Vec<PassageHit> = self
            .slots
            .iter()
            .filter(|(_, slot)| allowed.is_none_or(|set| set.contains(**slot)))
            .filter_map(|(id, &slot)| {
                let keyword = weights.keyword
                    * if weights.discount {
                        scores.evidence(slot)
                    } else {
                        fusion::bm25_to_cosine(bm25[slot as usize])
                    };
                let window = closest.as_ref().and_then(|closest| closest.of(slot)).map(|chunks| chunks[0]);
                let cosine = window.map(|window| window.cosine);
                if keyword <= 0.0 && cosine.is_none() {
                    return None;
                }
                let score = fusion::to_score(keyword + cosine.unwrap_or(0.0));
                Some(PassageHit { id: id.to_string(), score, keyword, cosine, window: window.map(|w| w.at) })
            })
            .collect();
        if hits.len() > limit {
            hits.select_nth_unstable_by(limit - 1, PassageHit::best_first);
            hits.truncate(limit);
        }
        hits.sort_unstable_by(PassageHit::best_first);
        Ok(hits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> PassageIndex {
        let mut index = PassageIndex::default();
        index.upsert_all(&[
            Passage { id: "a", title: "Travel > Hotels", text: "Book a room early.", ..Passage::default() },
            Passage {
                id: "b",
                title: "Travel > Trains",
                text: "Tickets are paid by us.",
                ..Passage::default()
            },
        ]);
        index
    }

    fn ids(hits: &[PassageHit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.id.as_str()).collect()
    }

    fn search(index: &PassageIndex, question: &str, vector: Option<&[f32]>) -> Vec<PassageHit> {
        index.search(question, vector, 5, None, PassageWeights::default()).unwrap()
    }

    #[test]
    fn words_find_passages_without_vectors() {
        assert_eq!(ids(&search(&index(), "hotel", None)), ["a"]);
        assert_eq!(ids(&search(&index(), "who pays train tickets", None))[0], "b");
        assert!(search(&index(), "weather", None).is_empty());
    }

    #[test]
    fn the_closest_window_counts() {
        let mut index = index();
        index.set_windows("a", &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0], 3).unwrap();
        index.set_windows("b", &[0.6, 0.0, 0.8], 3).unwrap();
        let hits = search(&index, "", Some(&[0.0, 1.0, 0.0]));
        assert_eq!(ids(&hits)[0], "a");
        assert_eq!(hits[0].window, Some(1));
        assert!(index.search("x", Some(&[1.0, 0.0]), 5, None, PassageWeights::default()).is_err());
    }

    #[test]
    fn removed_and_replaced_passages_are_not_found() {
        let mut index = index();
        index.set_windows("a", &[1.0, 0.0], 2).unwrap();
        assert!(index.remove("a") && !index.remove("a"));
        assert!(search(&index, "hotel", Some(&[1.0, 0.0])).is_empty());
        index.upsert_all(&[Passage { id: "b", title: "", text: "Ferries.", ..Passage::default() }]);
        assert!(search(&index, "tickets", None).is_empty());
        assert_eq!(ids(&search(&index, "ferry", None)), ["b"]);
        assert_eq!(index.len(), 1);
    }

    #[test]
    fn interaction_changes_the_order_and_not_the_scale() {
        let hit = |id: &str, cosine: f32| PassageHit {
            id: id.to_owned(),
            score: fusion::to_score(cosine),
            keyword: 0.0,
            cosine: Some(cosine),
            window: None,
        };
        let mut hits = [hit("a", 0.5), hit("b", 0.4), hit("c", 0.4)];
        for (hit, interaction) in hits.iter_mut().zip([0.5, 0.9, 0.9]) {
            hit.add_interaction(interaction, 1.0);
        }
        assert!((hits[0].score - fusion::to_score(0.5)).abs() < 1e-6);
        hits.sort_by(PassageHit::best_first);
        assert_eq!(ids(&hits), ["b", "c", "a"]);
    }

    #[test]
    fn a_filter_leaves_passages_out() {
        let only = |id: &str| id == "b";
        let hits = index().search("travel", None, 5, Some(&only), PassageWeights::default()).unwrap();
        assert_eq!(ids(&hits), ["b"]);
    }
}
