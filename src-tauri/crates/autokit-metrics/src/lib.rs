//! Measures of rankings on judged data sets: NDCG, recall, reciprocal rank, hits, and their bootstrap intervals.
//!
//! Two kinds of sets. A *retrieval set* is a folder with `tools.jsonl` (`id`, `name`,
//! `description`, `parameters`, `server`) and `queries.jsonl` (`id`, `query`, `relevant`: ids of
//! tools). An *ask set* is a file of cards (AutoKit's JSON array, or an object whose `cards` are
//! cards or hold one under `card`) and a file of questions, one JSON object per line with `q` and
//! `gold`, the names of the cards that answer it.
//!
//! Each set is ranked by keyword, by vector and by both, with vectors from an embedder that the caller
//! provides.

mod error;
mod load;
pub mod measures;
mod path;
mod report;

use std::collections::HashSet;

pub use error::EvalError;
pub use load::{AskSet, JudgedQuery, JudgedQuestion, RetrievalSet, card_objects, json_lines};
pub use report::{AskMeasures, AskOutcome, AskReport, Measures, RetrievalReport};

use autokit_search::{
    Document, Mode, Query, QueryPlan, SearchIndex, ToolText, Vectors, Vocabulary, embed_by_card,
};

use crate::measures::{bootstrap, hit, mean, ndcg, recall, reciprocal_rank};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// A function that embeds texts as unit vectors, one each, in order.
pub type EmbedFn<'a, E> = dyn Fn(&[String]) -> Result<Vec<Vec<f32>>, E> + 'a;

/// The embedder of an evaluation; some models embed passages and queries differently.
pub struct Embedder<'a, E> {
    /// Embeds cards.
    pub passages: &'a EmbedFn<'a, E>,
    /// Embeds requests and their clauses.
    pub queries: &'a EmbedFn<'a, E>,
}

/// Number of bootstrap resamples.
const RESAMPLES: usize = 10_000;
/// Seed of the bootstrap.
const SEED: u64 = 20_240_601;

const MODES: [Mode; 3] = [Mode::Keyword, Mode::Vector, Mode::Hybrid];

/// Builds the index of a set of tools.
///
/// # Errors
/// When the embedder fails or its vectors are refused.
pub fn build_index<E>(tools: &[ToolText], embedder: &Embedder<'_, E>) -> Result<SearchIndex, EvalError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let texts: Vec<Vec<String>> = tools.iter().map(|tool| tool.passages(Vocabulary::shipped())).collect();
    let mut dimension = 0;
    let vectors = embed_by_card(&texts, |texts| {
        let vectors = embed(embedder.passages, texts)?;
        dimension = vectors.first().map_or(0, Vec::len);
        Ok::<_, EvalError>(vectors)
    })?;
    let documents: Vec<Document<'_>> = tools
        .iter()
        .zip(&vectors)
        .map(|(tool, values)| tool.document(Some(Vectors::split(values, dimension))))
        .collect();
    let mut index = SearchIndex::new();
    index.upsert_all(&documents)?;
    Ok(index)
}

/// Measures keyword, vector and hybrid ranking on a retrieval set.
///
/// # Errors
/// When the embedder fails or its vectors are refused.
pub fn evaluate_retrieval<E>(
    set: &RetrievalSet,
    embedder: &Embedder<'_, E>,
) -> Result<RetrievalReport, EvalError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let index = build_index(&set.tools, embedder)?;
    let queries: Vec<&str> = set.queries.iter().map(|query| query.text.as_str()).collect();
    let ranked = rank_all(&index, &queries, embedder, set.tools.len())?;
    let mut measured: [Vec<[f64; 7]>; 3] = Default::default();
    for (query, rankings) in set.queries.iter().zip(&ranked) {
        let relevant: HashSet<&str> = query.relevant.iter().map(String::as_str).collect();
        for (measured, ids) in measured.iter_mut().zip(rankings) {
            let ranks = ranks(ids, |id| relevant.contains(id));
            let n = relevant.len();
            measured.push([
                ndcg(&ranks, n, 1),
                ndcg(&ranks, n, 5),
                ndcg(&ranks, n, 10),
                recall(&ranks, n, 1),
                recall(&ranks, n, 5),
                recall(&ranks, n, 10),
                reciprocal_rank(&ranks),
            ]);
        }
    }
    let paths: Vec<f64> = set
        .queries
        .iter()
        .zip(&ranked)
        .map(|(query, [_, _, hybrid])| f64::from(u8::from(path::is_followed(set, &query.relevant, hybrid))))
        .collect();
    let [keyword, vector, hybrid] = &measured;
    let column = |rows: &[[f64; 7]], at: usize| rows.iter().map(|row| row[at]).collect::<Vec<f64>>();
    let means = |rows: &[[f64; 7]]| Measures::from_array(std::array::from_fn(|at| mean(&column(rows, at))));
    let (keyword_ndcg, vector_ndcg) = (column(keyword, 2), column(vector, 2));
    let (best_single, single) = if mean(&keyword_ndcg) >= mean(&vector_ndcg) {
        (Mode::Keyword, keyword_ndcg)
    } else {
        (Mode::Vector, vector_ndcg)
    };
    let differences: Vec<f64> = column(hybrid, 2).iter().zip(&single).map(|(both, one)| both - one).collect();
    Ok(RetrievalReport {
        name: set.name.clone(),
        tools: set.tools.len() as u32,
        queries: set.queries.len() as u32,
        repeated_tools: set.repeated_tools,
        unknown_relevant: set.unknown_relevant,
        keyword: means(keyword),
        vector: means(vector),
        hybrid: means(hybrid),
        hybrid_ndcg10: bootstrap(&column(hybrid, 2), RESAMPLES, SEED),
        best_single,
        hybrid_minus_best: bootstrap(&differences, RESAMPLES, SEED),
        path_rate: mean(&paths),
    })
}

/// Measures keyword, vector and hybrid ranking on an ask set.
///
/// # Errors
/// When the embedder fails or its vectors are refused.
pub fn evaluate_ask<E>(set: &AskSet, embedder: &Embedder<'_, E>) -> Result<AskReport, EvalError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let index = build_index(&set.cards, embedder)?;
    let questions: Vec<&str> = set.questions.iter().map(|question| question.text.as_str()).collect();
    let ranked = rank_all(&index, &questions, embedder, set.cards.len())?;
    let names: std::collections::HashMap<&str, &str> =
        set.cards.iter().map(|card| (card.id.as_str(), card.name.as_str())).collect();
    let mut measured: [Vec<[f64; 4]>; 3] = Default::default();
    let mut outcomes = Vec::with_capacity(questions.len());
    for (question, rankings) in set.questions.iter().zip(&ranked) {
        let gold: HashSet<&str> = question.gold.iter().map(String::as_str).collect();
        let ranks = rankings.each_ref().map(|ids| ranks(ids, |id| gold.contains(names[id])));
        for (measured, ranks) in measured.iter_mut().zip(&ranks) {
            measured.push([hit(ranks, 1), hit(ranks, 3), hit(ranks, 5), reciprocal_rank(ranks)]);
        }
        let [keyword, vector, hybrid] = ranks.map(|ranks| ranks.first().map(|&rank| rank as u32));
        outcomes.push(AskOutcome {
            question: question.text.clone(),
            gold: question.gold.clone(),
            keyword,
            vector,
            hybrid,
            first: rankings[2].iter().take(3).map(|id| names[id.as_str()].to_owned()).collect(),
        });
    }
    let means = |rows: &[[f64; 4]]| {
        AskMeasures::from_array(std::array::from_fn(|at| {
            mean(&rows.iter().map(|row| row[at]).collect::<Vec<f64>>())
        }))
    };
    let hits: Vec<f64> = measured[2].iter().map(|row| row[0]).collect();
    Ok(AskReport {
        cards: set.cards.len() as u32,
        questions: set.questions.len() as u32,
        unknown_gold: set.unknown_gold,
        keyword: means(&measured[0]),
        vector: means(&measured[1]),
        hybrid: means(&measured[2]),
        hybrid_hit1: bootstrap(&hits, RESAMPLES, SEED),
        outcomes,
    })
}

/// Returns, for each text, the ids ranked by keyword, by vector and by both.
fn rank_all<E>(
    index: &SearchIndex,
    texts: &[&str],
    embedder: &Embedder<'_, E>,
    limit: usize,
) -> Result<Vec<[Vec<String>; 3]>, EvalError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let plans: Vec<QueryPlan> = texts.iter().map(|text| index.plan(text)).collect();
    let to_embed: Vec<String> = plans.iter().flat_map(QueryPlan::texts_to_embed).collect();
    let mut vectors = embed(embedder.queries, &to_embed)?.into_iter();
    let mut ranked = Vec::with_capacity(plans.len());
    for plan in &plans {
        let vectors: Vec<Vec<f32>> = vectors.by_ref().take(plan.texts_to_embed().len()).collect();
        let mut rankings: [Vec<String>; 3] = Default::default();
        for (ranking, mode) in rankings.iter_mut().zip(MODES) {
            let hits = index.search(&Query { plan, vectors: &vectors, mode, limit, filter: None })?;
            *ranking = hits.into_iter().map(|hit| hit.id).collect();
        }
        ranked.push(rankings);
    }
    Ok(ranked)
}

fn embed<E>(embed: &EmbedFn<'_, E>, texts: &[String]) -> Result<Vec<Vec<f32>>, EvalError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let vectors = embed(texts).map_err(|error| EvalError::Embed(error.into()))?;
    if vectors.len() == texts.len() {
        Ok(vectors)
    } else {
        let reason = format!("{} texts gave {} vectors", texts.len(), vectors.len());
        Err(EvalError::Embed(reason.into()))
    }
}

/// Returns the 1-based ranks of the ids that are judged relevant.
fn ranks(ids: &[String], relevant: impl Fn(&str) -> bool) -> Vec<usize> {
    ids.iter().enumerate().filter(|(_, id)| relevant(id)).map(|(at, _)| at + 1).collect()
}
