//! The search index: documents in, explained results out.

use std::path::Path;
use std::sync::Arc;

use autokit_vocabulary::Vocabulary;
use autokit_vocabulary::synonyms::MARK;
use autokit_vocabulary::text::Analyzer;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::analysis::AnalyzedTexts;
use crate::bitset::BitSet;
use crate::candidates::{Candidate, ConstraintShifts};
use crate::chunks::ChunkIndex;
use crate::constraints::{self, Constraint};
use crate::directions::Directions;
use crate::document::{Document, Field, Vectors};
use crate::error::RetrieveError;
use crate::fusion;
use crate::keyword::KeywordIndex;
use crate::lookups::LookupIndex;
use crate::names::{NameIndex, NameMatch};
use crate::query::QueryPlan;
use crate::traits::Traits;
use crate::vector::{Exactness, VectorIndex, check_vector};

/// Ranking mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// BM25F, with exact and near names first.
    Keyword,
    /// Cosine of the whole request with the cards only.
    Vector,
    /// Both, see [`crate::fusion`], with exact and near names first.
    #[default]
    Hybrid,
}

/// A search.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// What to search for.
    pub plan: &'a QueryPlan,
    /// Embeddings of [`QueryPlan::texts_to_embed`] in order, or of the whole request only, or none; without
    /// any, [`Mode::Hybrid`] ranks by keyword and [`Mode::Vector`] finds nothing.
    pub vectors: &'a [Vec<f32>],
    /// Ranking mode.
    pub mode: Mode,
    /// Most results to return.
    pub limit: usize,
    /// Which ids may be found; others are left out before scoring.
    pub filter: Option<&'a (dyn Fn(&str) -> bool + Sync)>,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Hit {
    /// Id of the document.
    pub id: String,
    /// Between 0 and 1; 0.9 and more for a name match. Comparable between queries.
    pub score: f32,
    /// Components of the score.
    pub parts: ScoreParts,
}

impl ScoreParts {
    /// Returns what keywords contributed, in units of cosine.
    pub fn keyword_evidence(&self) -> f32 {
        fusion::keyword_of_parts(self.keyword, self.vector)
    }
}

/// Why a card was found. The score is `keyword + vector + constraints + lookup + direction + name + feedback`, up to
/// rounding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ScoreParts {
    /// Contribution of keywords to the score.
    pub keyword: f32,
    /// Contribution of the vector to the score; negative if the card is less similar to the request than the
    /// average card.
    pub vector: f32,
    /// Change of the score by what the request demands of a tool besides what it is to do.
    #[serde(default)]
    pub constraints: f32,
    /// Contribution of a name match to the score.
    pub name: f32,
    /// Contribution of finding an identifier that a better card takes.
    #[serde(default)]
    pub lookup: f32,
    /// Change of the score by whether the card turns the same into the same as the request, or the other way round.
    #[serde(default)]
    pub direction: f32,
    /// Change of the score by feedback on the card for similar requests.
    #[serde(default)]
    pub feedback: f32,
    /// How the request names the card, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name_match: Option<NameMatch>,
    /// The word for what the card finds the identifiers of, if a better card takes one: `person` for a `person_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub finds: Option<String>,
    /// Cosine of the whole request with the card; absent if one of them has no vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cosine: Option<f32>,
    /// The phrase of `asks_for` that is closest to the request, counted from 0; absent if the
    /// card has none in the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub ask: Option<u32>,
    /// The chunk of the card's page that is closest to the request, counted from 0; absent if the card has no
    /// page in the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub chunk: Option<u32>,
    /// BM25F score of the whole request.
    pub bm25: f32,
    /// Share of the information content of the request's words that the card matches, 0 to 1.
    pub coverage: f32,
    /// The clause of a long request that the card matches best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub clause: Option<String>,
    /// Words of the request found in the card, with the field.
    pub matched_terms: Vec<MatchedTerm>,
}

/// A word of the request found in a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MatchedTerm {
    /// The word as typed.
    pub word: String,
    /// The field in which it was found.
    pub field: Field,
    /// The index term it matched.
    pub term: String,
    /// The concept it stands for, if the card uses another name for it: "speech to text" for "dictate".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub meaning: Option<String>,
}

/// Size of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct IndexSize {
    /// Number of documents.
    pub documents: u32,
    /// Number of documents with a vector.
    pub vectors: u32,
    /// Number of page chunks.
    pub chunks: u32,
    /// Length of the vectors; 0 while there are none.
    pub dimension: u32,
    /// Number of distinct terms.
    pub terms: u32,
    /// Memory in bytes, up to allocator rounding.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// An in-memory index of searchable documents.
///
/// Changes are visible to the next search. Results depend only on the documents, not on the order in which
/// they were added or on what the index contained before.
#[derive(Debug, Serialize, Deserialize)]
pub struct SearchIndex {
    #[serde(skip, default = "shipped")]
    vocabulary: Arc<Vocabulary>,
    pub(crate) slots: FxHashMap<Box<str>, u32>,
    pub(crate) ids: Vec<Box<str>>,
    free: Vec<u32>,
    /// Serialized apart, as the vectors are: they are most of an index.
    #[serde(skip)]
    pub(crate) keyword: KeywordIndex,
    #[serde(skip)]
    pub(crate) vectors: VectorIndex,
    pub(crate) chunks: ChunkIndex,
    /// Vectors of the phrases of `asks_for`.
    pub(crate) asks: ChunkIndex,
    names: NameIndex,
    pub(crate) lookups: LookupIndex,
    /// By slot.
    traits: Vec<Traits>,
    /// By slot.
    pub(crate) directions: Vec<Directions>,
}

fn shipped() -> Arc<Vocabulary> {
    Arc::clone(Vocabulary::shipped())
}

/// Documents analyzed at a time by one thread.
const CHUNK: usize = 1024;

impl Default for SearchIndex {
    fn default() -> SearchIndex {
        SearchIndex::with_vocabulary(shipped())
    }
}

impl SearchIndex {
    /// Creates an empty index. The first vector sets the dimension.
    pub fn new() -> SearchIndex {
        SearchIndex::default()
    }

    /// Creates an empty index that knows further names and synonyms.
    pub fn with_vocabulary(vocabulary: Arc<Vocabulary>) -> SearchIndex {
        SearchIndex {
            vocabulary,
            slots: FxHashMap::default(),
            ids: Vec::new(),
            free: Vec::new(),
            keyword: KeywordIndex::default(),
            vectors: VectorIndex::default(),
            chunks: ChunkIndex::default(),
            asks: ChunkIndex::default(),
            names: NameIndex::default(),
            lookups: LookupIndex::default(),
            traits: Vec::new(),
            directions: Vec::new(),
        }
    }

    /// Completes an index that was deserialized with what is serialized apart. The names and synonyms are those it was
    /// built with.
    pub(crate) fn restored(
        self,
        vocabulary: Arc<Vocabulary>,
        keyword: KeywordIndex,
        vectors: VectorIndex,
    ) -> SearchIndex {
        SearchIndex { vocabulary, keyword, vectors, ..self }
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether the index is empty.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether a document with this id is in the index.
    pub fn contains(&self, id: &str) -> bool {
        self.slots.contains_key(id)
    }

    /// Whether the document with this id has a vector.
    pub fn has_vector(&self, id: &str) -> bool {
        self.slots.get(id).is_some_and(|&slot| self.vectors.contains(slot))
    }

    /// Returns the vector of the document with this id, normalized to unit length.
    pub fn vector(&self, id: &str) -> Option<Vec<f32>> {
        self.vectors.get(*self.slots.get(id)?)
    }

    /// Whether the document with this id has page chunks.
    pub fn has_chunks(&self, id: &str) -> bool {
        self.slots.get(id).is_some_and(|&slot| self.chunks.contains(slot))
    }

    /// Returns the size of the index.
    pub fn size(&self) -> IndexSize {
        let ids: usize = self.ids.iter().map(|id| 2 * (size_of::<Box<str>>() + id.len()) + 8).sum();
        let bytes = ids
            + self.keyword.memory()
            + self.vectors.memory()
            + self.chunks.memory()
            + self.asks.memory()
            + self.names.memory()
            + self.lookups.memory()
            + self.traits.capacity() * size_of::<Traits>()
            + self.directions.iter().map(|one| size_of::<Directions>() + one.memory()).sum::<usize>();
        IndexSize {
            documents: self.len() as u32,
            vectors: self.vectors.len() as u32,
            chunks: self.chunks.len() as u32,
            dimension: self.vectors.dimension() as u32,
            terms: self.keyword.vocabulary() as u32,
            bytes: bytes as u64,
        }
    }

    /// Adds a document or replaces the one with the same id.
    ///
    /// # Errors
    /// When a vector has another dimension, is not finite or is all zeros; the index is then unchanged.
    pub fn upsert(&mut self, document: &Document<'_>) -> Result<(), RetrieveError> {
        self.upsert_all(std::slice::from_ref(document))
    }

    /// Adds documents, each replacing one with the same id; if several have the same id, the last one wins.
    /// Texts are analyzed on all cores.
    ///
    /// # Errors
    /// As [`SearchIndex::upsert`], for any of them; the index is then unchanged.
    pub fn upsert_all(&mut self, documents: &[Document<'_>]) -> Result<(), RetrieveError> {
        let mut dimension = (self.vectors.dimension() > 0).then(|| self.vectors.dimension());
        for document in documents {
            if let Some(Vectors { tool, asks_for }) = document.vectors {
                check_vector(&format!("“{}”", document.id), tool, dimension)?;
                for ask in asks_for.chunks(tool.len()) {
                    check_vector(&format!("what is asked of “{}”", document.id), ask, Some(tool.len()))?;
                }
                dimension = Some(tool.len());
            }
        }
        if let Some(dimension) = dimension {
            self.vectors.reserve(documents.iter().filter(|d| d.vectors.is_some()).count(), dimension);
        }
        let analyzed: Vec<AnalyzedTexts> = if documents.len() <= CHUNK {
            vec![AnalyzedTexts::new(documents, &self.vocabulary)]
        } else {
            {
                let analyze = |documents| AnalyzedTexts::new(documents, &self.vocabulary);
                documents.par_chunks(CHUNK).map(analyze).collect()
            }
        };
        let mut analyzer = Analyzer::new();
        for (documents, mut texts) in documents.chunks(CHUNK).zip(analyzed) {
            let directions: Vec<Directions> =
                texts.documents.iter_mut().map(|text| std::mem::take(&mut text.directions)).collect();
            let mut keyword = std::mem::take(&mut self.keyword);
            let mut slots = Vec::with_capacity(documents.len());
            keyword.insert_all(texts, |keyword, at| {
                let slot = self.slot_for(keyword, documents[at].id);
                slots.push(slot);
                slot
            });
            self.keyword = keyword;
            for ((document, slot), directions) in documents.iter().zip(slots).zip(directions) {
                // Documents with the same id share a slot: the later one overwrites the earlier.
                self.names.remove(slot);
                self.names.insert(slot, document.provider, document.name, &document.aliases);
                self.lookups.insert(slot, document, &mut analyzer);
                if self.traits.len() <= slot as usize {
                    self.traits.resize(slot as usize + 1, Traits::default());
                    self.directions.resize(slot as usize + 1, Directions::default());
                }
                self.traits[slot as usize] = document.traits();
                self.directions[slot as usize] = directions;
                if let Some(Vectors { tool, asks_for }) = document.vectors {
                    self.vectors.upsert(slot, tool)?;
                    self.asks.set(slot, asks_for.chunks_exact(tool.len()))?;
                } else {
                    self.vectors.remove(slot);
                    self.asks.remove(slot);
                }
            }
        }
        Ok(())
    }

    /// Returns the slot for a document: that of the one with the same id, whose keywords are removed, or a
    /// free one.
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

    /// Sets the vector of a document. Returns whether the document exists.
    ///
    /// # Errors
    /// As [`SearchIndex::upsert`].
    pub fn set_vector(&mut self, id: &str, vector: &[f32]) -> Result<bool, RetrieveError> {
        let Some(&slot) = self.slots.get(id) else { return Ok(false) };
        self.vectors.check(&format!("“{id}”"), vector)?;
        self.vectors.upsert(slot, vector)?;
        Ok(true)
    }

    /// Sets the chunks of a document's page, given as concatenated embeddings, replacing previous ones; an
    /// empty slice removes them. Returns whether the document exists.
    ///
    /// Chunks count in hybrid ranking only.
    ///
    /// # Errors
    /// As [`SearchIndex::upsert`], for any of them; the index is then unchanged.
    pub fn set_chunks(&mut self, id: &str, pieces: &[f32], dimension: usize) -> Result<bool, RetrieveError> {
        let Some(&slot) = self.slots.get(id) else { return Ok(false) };
        let known = [self.vectors.dimension(), self.chunks.dimension()].into_iter().find(|&known| known > 0);
        for piece in pieces.chunks(dimension.max(1)) {
            check_vector(&format!("the page of “{id}”"), piece, Some(known.unwrap_or(dimension)))?;
        }
        self.chunks.set(slot, pieces.chunks_exact(dimension.max(1)))?;
        Ok(true)
    }

    /// Keeps vectors in files in this folder where they are many. Where that is not possible they stay in memory.
    pub fn keep_large_in(&mut self, folder: &Path) {
        self.vectors.keep_large_in(folder);
        self.chunks.keep_large_in(folder);
        self.asks.keep_large_in(folder);
    }

    /// Removes a document. Returns whether it existed.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(slot) = self.slots.remove(id) else { return false };
        self.keyword.remove(slot);
        self.names.remove(slot);
        self.lookups.remove(slot);
        self.vectors.remove(slot);
        self.chunks.remove(slot);
        self.asks.remove(slot);
        self.ids[slot as usize] = Box::default();
        self.free.push(slot);
        true
    }

    /// Returns the ids of the documents that a request names exactly, sorted.
    pub fn named(&self, request: &str) -> Vec<String> {
        let named = self.names.matches(request, |_| true);
        let exact = named.into_iter().filter(|(_, how)| *how == NameMatch::Exact);
        let mut ids: Vec<String> = exact.map(|(slot, _)| self.ids[slot as usize].to_string()).collect();
        ids.sort_unstable();
        ids
    }

    /// Parses a request, knowing the names of vendors and products in the index.
    pub fn plan(&self, request: &str) -> QueryPlan {
        QueryPlan::parse(request, &self.vocabulary, |name, replacing| {
            constraints::is_company(name)
                || self.names.is_provider(name)
                || (replacing && self.names.is_card(name))
        })
    }

    /// Searches the index. Results are sorted best first, ties by id.
    ///
    /// # Errors
    /// When query vectors have another dimension, are not finite or are all zeros, or when their number does
    /// not fit the plan.
    pub fn search(&self, query: &Query<'_>) -> Result<Vec<Hit>, RetrieveError> {
        Ok(self.search_with_background(query)?.0)
    }

    /// As [`SearchIndex::search`], and returns the background of the scores, see [`crate::verdict`]; `None` if only words
    /// or only vectors are compared, or in a small library.
    pub(crate) fn search_with_background(
        &self,
        query: &Query<'_>,
    ) -> Result<(Vec<Hit>, Option<f32>), RetrieveError> {
        let plan = query.plan;
        let texts = plan.texts().count();
        if !matches!(query.vectors.len(), 0 | 1) && query.vectors.len() != texts {
            return Err(RetrieveError::VectorCount { expected: texts, found: query.vectors.len() });
        }
        let dimension = (self.vectors.dimension() > 0).then(|| self.vectors.dimension());
        for vector in query.vectors {
            check_vector(&format!("the query “{}”", plan.text()), vector, dimension)?;
        }
        if query.limit == 0 || self.is_empty() {
            return Ok((Vec::new(), None));
        }
        let allowed: Option<BitSet> = query.filter.map(|filter| {
            let mut set = BitSet::with_len(self.ids.len());
            for (id, &slot) in &self.slots {
                if filter(id) {
                    set.insert(slot);
                }
            }
            set
        });
        let allowed = allowed.as_ref();
        let (candidates, background) = match query.mode {
            Mode::Vector => (self.nearest_candidates(query, allowed), None),
            Mode::Keyword | Mode::Hybrid => self.best_candidates(query, allowed),
        };
        Ok((self.explain(query, candidates), background))
    }

    /// Returns by how much a request's constraints move cards.
    pub(crate) fn constraint_shifts<'a>(&'a self, demands: &'a [Constraint]) -> ConstraintShifts<'a> {
        let mut excluded = BitSet::default();
        let mut analyzer = Analyzer::new();
        for demand in demands {
            let Constraint::Excluding(name) = demand else { continue };
            let name = autokit_vocabulary::text::fold(name);
            for alias in constraints::aliases(&name) {
                let terms: Vec<String> = autokit_vocabulary::text::parts(alias)
                    .iter()
                    .filter_map(|word| analyzer.term(word).map(str::to_owned))
                    .collect();
                for slot in self.keyword.slots_named(&terms) {
                    excluded.insert(slot);
                }
            }
        }
        ConstraintShifts { demands, traits: &self.traits, excluded }
    }

    /// Returns the cards in `allowed` that a request names.
    pub(crate) fn names_in(&self, plan: &QueryPlan, allowed: Option<&BitSet>) -> FxHashMap<u32, NameMatch> {
        let mut analyzer = Analyzer::new();
        let mut terms: FxHashMap<String, bool> = FxHashMap::default();
        for word in autokit_vocabulary::text::words(plan.text()) {
            if let Some(term) = analyzer.term(&word.folded) {
                let known = self.keyword.contains_term(term);
                terms.insert(word.folded, known);
            }
        }
        let mut named = self.names.matches(plan.text(), |word| terms.get(word).copied().unwrap_or(true));
        named.retain(|slot, _| allowed.is_none_or(|set| set.contains(*slot)));
        named
    }

    fn explain(&self, query: &Query<'_>, candidates: Vec<Candidate>) -> Vec<Hit> {
        let plan = query.plan;
        let chosen: BitSet = candidates.iter().map(|candidate| candidate.slot).collect();
        let resolved = self.keyword.resolve(&plan.terms, &[], &plan.concepts);
        let mut cosines: FxHashMap<u32, f32> = FxHashMap::default();
        if let Some(whole) = query.vectors.first() {
            let found = self.vectors.scan(&[whole], &[], Some(&chosen), Exactness::Exact);
            cosines.extend(found.keys.into_iter().zip(found.cosines));
        }
        candidates
            .into_iter()
            .map(|candidate| {
                let at = candidate.slot as usize;
                let words = self.keyword.explain(candidate.slot, &resolved);
                let (score, parts) = match query.mode {
                    Mode::Vector => {
                        let score = candidate.vector.clamp(0.0, 1.0);
                        (score, [0.0, score, 0.0, 0.0, 0.0, 0.0])
                    }
                    Mode::Keyword | Mode::Hybrid => fusion::score_parts(
                        candidate.keyword,
                        candidate.vector,
                        candidate.constraints,
                        candidate.lookup.map_or(0.0, |lookup| lookup.by),
                        candidate.direction,
                        candidate.name,
                    ),
                };
                let finds = candidate
                    .lookup
                    .and_then(|lookup| self.lookups.produced_identifier(candidate.slot, lookup.needed_by))
                    .map(str::to_owned);
                Hit {
                    id: self.ids[at].to_string(),
                    score,
                    parts: ScoreParts {
                        keyword: parts[0],
                        vector: parts[1],
                        constraints: parts[2],
                        lookup: parts[3],
                        direction: parts[4],
                        name: parts[5],
                        finds,
                        feedback: 0.0,
                        name_match: candidate.name,
                        cosine: cosines.get(&candidate.slot).copied(),
                        chunk: candidate.chunk,
                        ask: candidate.ask,
                        bm25: words.bm25,
                        coverage: words.coverage,
                        clause: candidate.clause.map(|clause| plan.clauses()[clause].clone()),
                        matched_terms: words
                            .matches
                            .into_iter()
                            .map(|found| MatchedTerm {
                                word: plan.terms[found.query_term].word.clone(),
                                field: found.field,
                                meaning: found.term.strip_prefix(MARK).map(str::to_owned),
                                term: found.term.to_string(),
                            })
                            .collect(),
                    },
                }
            })
            .collect()
    }
}
