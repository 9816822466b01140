//! The only way to rank cards, used by the window, the terminal, the agent, MCP and evaluation.
//!
//! ```text
//! request -> plan -> [adapted vectors] -> fused ranking -> feedback -> names -> confidence, verdict
//! ```

use std::collections::HashSet;
use std::sync::Arc;

use arc_swap::ArcSwap;
use autokit_adapter::Adapter;
use autokit_embed::Embedder;

use crate::calibration::Calibrations;
use crate::card_index::CardIndex;
use crate::constraints::Constraint;
use crate::error::RetrieveError;
use crate::feedback::{Personal, QuestionVectors};
use crate::index::{Hit, Mode, Query, ScoreParts, SearchIndex};
use crate::names::NameMatch;
use crate::query::QueryPlan;
use crate::verdict::{Thresholds, Verdict, background_shift, level_shift, provider_shift};

/// Most cards named by a request that are returned beyond its limit.
pub const MAX_NAMED: usize = 50;

/// Fewest candidates that feedback may reorder, however few are returned.
const MIN_CANDIDATES: usize = 20;

/// A search request.
#[derive(Clone, Debug, Default)]
pub struct SearchRequest {
    /// The query to find cards with.
    pub query: String,
    /// The question to score cards against, if `query` is a rephrasing of it.
    pub question: Option<String>,
    /// Ranking mode.
    pub mode: Mode,
    /// Ids of the cards that may be found; all if not given.
    pub allowed: Option<Arc<HashSet<String>>>,
    /// Ids of cards to exclude.
    pub excluded: Vec<String>,
    /// What is known of the asking profile.
    pub personal: Arc<Personal>,
    /// Most results to return, not counting cards the request names: see [`MAX_NAMED`].
    pub limit: usize,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// Hits, best first.
    pub hits: Vec<Hit>,
    /// Ids of cards the request names that are not among the hits because there are too many.
    pub also_named: Vec<String>,
    /// Probability that the first hit answers the request, 0 to 1. `None` if there is no hit, or its score is not
    /// one it was measured for: of a hybrid ranking with the default model, of a card that has a vector.
    pub confidence: Option<f32>,
    /// Whether the first hit answers the request.
    pub verdict: Verdict,
    /// Thresholds for scores of these hits.
    pub thresholds: Thresholds,
    /// The score that verdict and confidence are read from in [`crate::Calibrations`], but for the level of the library:
    /// that of the first hit, corrected by how near the request is to the library as a whole. 0 if there is none.
    pub judged_score: f32,
    /// What was understood that the request demands of a tool besides what it is to do.
    pub constraints: Vec<Constraint>,
    /// The mode that was used: keyword if there is no model.
    pub mode: Mode,
}

/// Why a search was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The query is empty.
    #[error("the query is empty")]
    EmptyQuery,
    /// Vector ranking was requested, but there is no model.
    #[error("semantic search needs an embedding model, and none is installed")]
    NoModel,
    /// The model failed.
    #[error("could not embed the query: {0}")]
    Embed(#[from] autokit_embed::Error),
    /// What was learned about the profile does not fit the model.
    #[error("could not adapt the query: {0}")]
    Adapt(#[from] autokit_adapter::Error),
    /// The index refused the vectors of the request.
    #[error(transparent)]
    Index(#[from] RetrieveError),
}

/// Ranks cards. Searches are CPU-bound and should not run on async threads.
#[derive(Debug)]
pub struct Searcher {
    index: ArcSwap<CardIndex>,
    questions: QuestionVectors,
}

impl Searcher {
    /// Creates a searcher over an index.
    pub fn new(index: CardIndex) -> Searcher {
        Searcher { index: ArcSwap::from_pointee(index), questions: QuestionVectors::default() }
    }

    /// Returns the current index, for changing it.
    pub fn index(&self) -> Arc<CardIndex> {
        self.index.load_full()
    }

    /// Replaces the index, for a change of model.
    pub fn replace_index(&self, index: CardIndex) {
        self.index.store(Arc::new(index));
    }

    /// Returns the model that requests are embedded with, if there is one.
    pub fn embedder(&self) -> Option<Arc<Embedder>> {
        self.index.load().embedder().cloned()
    }

    /// Ranks cards by a request.
    ///
    /// # Errors
    /// See [`SearchError`].
    pub fn search(&self, request: &SearchRequest) -> Result<Ranking, SearchError> {
        if request.query.trim().is_empty() {
            return Err(SearchError::EmptyQuery);
        }
        let index = self.index.load_full();
        let embedder = index.embedder().filter(|_| request.mode != Mode::Keyword).cloned();
        let mode = match (&embedder, request.mode) {
            (None, Mode::Vector) => return Err(SearchError::NoModel),
            (None, _) => Mode::Keyword,
            (Some(_), mode) => mode,
        };
        // Feedback reorders these candidates, and excluded ones are removed afterwards.
        let candidates = (request.limit + request.excluded.len()).max(MIN_CANDIDATES);
        let (allowed, adapter) = (request.allowed.as_deref(), request.personal.adapter.as_ref());
        let mut scored = rank(&index, &request.query, mode, candidates, allowed, adapter)?;
        let named_topic = scored.plan.text().to_owned();
        if let Some(question) = request.question.as_deref().filter(|question| *question != request.query) {
            // Of the whole library, and not of the cards that are scored again.
            let background = scored.background;
            scored = Scored { background, ..rescore(&index, question, mode, scored.hits, adapter)? };
        }
        let Scored { mut hits, background, vector, plan } = scored;
        if let (Some(embedder), Some(vector), Mode::Hybrid) = (&embedder, &vector, mode) {
            self.questions.shift(embedder, &mut hits, vector, &request.personal.opinions)?;
        }
        hits.retain(|hit| !request.excluded.contains(&hit.id));
        let named = hits.iter().take_while(|hit| hit.parts.name_match == Some(NameMatch::Exact)).count();
        // The few cards of a profile have another level than the library; thresholds were measured with few.
        let few = allowed.is_some_and(|allowed| 2 * allowed.len() < index.read(SearchIndex::len));
        let level = if mode == Mode::Hybrid && !few { index.level() } else { None };
        let thresholds = Thresholds::for_hit(hits.first(), background, level);
        let judged_score = hits
            .first()
            .map_or(0.0, |hit| hit.score + background_shift(background) + provider_shift(Some(hit)));
        hits.truncate(request.limit.max(named.min(MAX_NAMED)));
        let mut also_named = Vec::new();
        if mode != Mode::Vector {
            let known: HashSet<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
            also_named = index.read(|search| search.named(&named_topic));
            also_named.retain(|id| {
                !known.contains(id.as_str())
                    && !request.excluded.contains(id)
                    && allowed.is_none_or(|allowed| allowed.contains(id))
            });
        }
        let verdict = hits.first().map_or(Verdict::Nothing, |hit| thresholds.verdict(hit.score));
        let confidence = match (&embedder, hits.first(), mode) {
            (Some(embedder), Some(hit), Mode::Hybrid) => {
                let measured = Calibrations::shipped().measured_for(embedder.id(), hit);
                measured.map(|measured| measured.confidence.of(judged_score - level_shift(level, measured)))
            }
            _ => None,
        };
        let constraints = plan.constraints().to_vec();
        Ok(Ranking { hits, also_named, confidence, verdict, thresholds, judged_score, constraints, mode })
    }

    /// Returns the cards closest to a vector, with their cosines, best first.
    ///
    /// # Errors
    /// When the vector has another length than those in the index.
    pub fn nearest(&self, vector: Vec<f32>, limit: usize) -> Result<Vec<(String, f32)>, RetrieveError> {
        self.index.load().read(|search| nearest(search, vector, limit))
    }

    /// Returns the cards closest to a card of the index, itself among them, with their cosines, best first. None if
    /// that card has no vector.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn nearest_to(&self, id: &str, limit: usize) -> Result<Vec<(String, f32)>, RetrieveError> {
        self.index.load().read(|search| match search.vector(id) {
            Some(vector) => nearest(search, vector, limit),
            None => Ok(Vec::new()),
        })
    }
}

fn nearest(index: &SearchIndex, vector: Vec<f32>, limit: usize) -> Result<Vec<(String, f32)>, RetrieveError> {
    let (plan, vectors) = (QueryPlan::new(""), [vector]);
    let query = Query { plan: &plan, vectors: &vectors, mode: Mode::Vector, limit, filter: None };
    let hits = index.search(&query)?;
    Ok(hits.into_iter().filter_map(|hit| Some((hit.id, hit.parts.cosine?))).collect())
}

/// A fused ranking.
struct Scored {
    hits: Vec<Hit>,
    background: Option<f32>,
    /// The vector of the whole request, not adapted.
    vector: Option<Vec<f32>>,
    plan: QueryPlan,
}

/// Returns the fused ranking of a request.
fn rank(
    index: &CardIndex,
    query: &str,
    mode: Mode,
    limit: usize,
    allowed: Option<&HashSet<String>>,
    adapter: Option<&Adapter>,
) -> Result<Scored, SearchError> {
    let plan = index.read(|search| search.plan(query));
    let mut vectors = Vec::new();
    let mut vector = None;
    let embedder = index.embedder().filter(|_| mode != Mode::Keyword);
    if let Some(embedder) = embedder {
        vectors = embedder.embed_queries(&plan.texts_to_embed())?;
        // Feedback compares questions as they are.
        vector = vectors.first().cloned();
        if let Some(adapter) = adapter.filter(|adapter| adapter.model() == embedder.id()) {
            for vector in &mut vectors {
                *vector = adapter.adapt(vector)?;
            }
        }
    }
    let candidates = allowed.map(|allowed| move |id: &str| allowed.contains(id));
    let filter = candidates.as_ref().map(|candidates| candidates as &(dyn Fn(&str) -> bool + Sync));
    let (hits, background) = index.read(|search| {
        // All cards that a request names are included, up to a bound.
        let limit = limit.max(search.named(plan.text()).len().min(MAX_NAMED + limit));
        let query = Query { plan: &plan, vectors: &vectors, mode, limit, filter };
        // Only this runs there: it takes no lock. A thread that waits for parts of its search takes up others meanwhile,
        // which would wait for a writer that waits for this one.
        let find = || search.search_with_background(&query);
        embedder.map_or_else(find, |embedder| embedder.on_its_threads(find))
    })?;
    Ok(Scored { hits, background, vector, plan })
}

/// Rescores the same cards against a question, best first. Cards with nothing in common with the question
/// come last with score 0, in their previous order.
fn rescore(
    index: &CardIndex,
    question: &str,
    mode: Mode,
    hits: Vec<Hit>,
    adapter: Option<&Adapter>,
) -> Result<Scored, SearchError> {
    let candidates: HashSet<String> = hits.iter().map(|hit| hit.id.clone()).collect();
    let mut scored = rank(index, question, mode, hits.len(), Some(&candidates), adapter)?;
    let known: HashSet<String> = scored.hits.iter().map(|hit| hit.id.clone()).collect();
    let rest = hits.into_iter().filter(|hit| !known.contains(&hit.id));
    scored.hits.extend(rest.map(|hit| Hit { score: 0.0, parts: ScoreParts::default(), ..hit }));
    Ok(scored)
}
