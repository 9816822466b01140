//! Everyday questions over cards.

use std::path::Path;

use autokit_embed::Embedder;
use autokit_retrieve::eval::{self as retrieve, AskReport, AskSet, Embedder as Embeddings, evaluate_ask};
use autokit_retrieve::{Mode, Query, QueryPlan, SearchIndex};
use autokit_web::{Chunk, ChunkOptions, chunks, extract};
use serde::Serialize;

use super::{embedder, fetcher_for, unreadable};
use crate::engine::Vectors;
use crate::engine::rerank::{REACH, Tokens};
use crate::error::{ApiError, ErrorCode, Result};

/// hit@1, hit@3 and hit@5 of one way to rank.
#[derive(Clone, Debug, Serialize)]
pub struct AskRow {
    /// What ran.
    pub name: String,
    /// Share of questions with a right card first.
    pub hit1: f64,
    /// Share with one among three.
    pub hit3: f64,
    /// Share with one among five.
    pub hit5: f64,
}

/// What `autokit eval ask` prints: the three rankings, and what later stages make of the hybrid one.
#[derive(Clone, Debug, Serialize)]
pub struct AskEvaluation {
    /// The rankings of the index.
    #[serde(flatten)]
    pub report: AskReport,
    /// The local reranker, documentation pages, both.
    pub stages: Vec<AskRow>,
    /// Cards whose page was read.
    pub pages: u32,
}

/// Measures questions over cards. With `site`, the documentation pages of the cards are read from
/// there (addresses on cards are taken relative to it) and count in the ranking.
///
/// # Errors
/// When a file cannot be read, there is no model, or the site does not answer.
pub async fn ask(
    cards: &Path,
    questions: &Path,
    vectors: &Vectors,
    site: Option<&str>,
) -> Result<AskEvaluation> {
    let set = AskSet::load(cards, questions).map_err(|error| unreadable(&error))?;
    let objects = retrieve::card_objects(cards).map_err(|error| unreadable(&error))?;
    let embedder = embedder(vectors)?;
    let passages = |texts: &[String]| embedder.embed_passages(texts);
    let queries = |texts: &[String]| texts.iter().map(|text| embedder.embed_query(text)).collect();
    let embeddings = Embeddings { passages: &passages, queries: &queries };
    let failed = |error: autokit_retrieve::EvalError| unreadable(&error);
    let (report, mut index) = tokio::task::block_in_place(|| {
        Ok::<_, ApiError>((
            evaluate_ask(&set, &embeddings).map_err(failed)?,
            retrieve::build_index(&set.cards, &embeddings).map_err(failed)?,
        ))
    })?;
    let mut stages = vec![stage("hybrid, reranked here", &set, &index, &embedder, true)?];
    let mut pages = 0;
    if let Some(site) = site {
        pages = read_pages(&set, &objects, site, &embedder, &mut index).await?;
        stages.push(stage("hybrid with pages", &set, &index, &embedder, false)?);
        stages.push(stage("hybrid with pages, reranked", &set, &index, &embedder, true)?);
    }
    Ok(AskEvaluation { report, stages, pages })
}

fn stage(
    name: &str,
    set: &AskSet,
    index: &SearchIndex,
    embedder: &Embedder,
    reranked: bool,
) -> Result<AskRow> {
    let failed = |error: autokit_retrieve::RetrieveError| ApiError::internal(error.to_string());
    let by_id = |id: &str| set.cards.iter().find(|card| card.id == id);
    let tokens = Tokens::default();
    let mut hits_at = [0usize; 3];
    for question in &set.questions {
        let plan = QueryPlan::new(&question.text);
        let vectors = plan
            .texts_to_embed()
            .iter()
            .map(|text| Ok(embedder.embed_query(text)?))
            .collect::<Result<Vec<_>>>()?;
        let query = Query { plan: &plan, vectors: &vectors, mode: Mode::Hybrid, limit: REACH, filter: None };
        let mut hits = index.search(&query).map_err(failed)?;
        if reranked {
            let texts: Vec<Option<String>> =
                hits.iter().map(|hit| by_id(&hit.id).map(|card| card.document(None).dense_text())).collect();
            tokio::task::block_in_place(|| tokens.rerank(embedder, &question.text, &mut hits, &texts))?;
        }
        let right =
            hits.iter().position(|hit| by_id(&hit.id).is_some_and(|card| question.gold.contains(&card.name)));
        for (count, depth) in hits_at.iter_mut().zip([1, 3, 5]) {
            *count += usize::from(right.is_some_and(|at| at < depth));
        }
    }
    let share = |count: usize| count as f64 / set.questions.len().max(1) as f64;
    let [hit1, hit3, hit5] = hits_at.map(share);
    Ok(AskRow { name: name.to_owned(), hit1, hit3, hit5 })
}

/// Reads the documentation pages of cards from a site into the index; gives how many were read.
async fn read_pages(
    set: &AskSet,
    cards: &[serde_json::Map<String, serde_json::Value>],
    site: &str,
    embedder: &Embedder,
    index: &mut SearchIndex,
) -> Result<u32> {
    let bad = |reason: String| {
        ApiError::new(
            ErrorCode::BadRequest,
            reason,
            "Name the address of a site, e.g. http://127.0.0.1:8765.",
        )
    };
    let base = url::Url::parse(site).map_err(|error| bad(error.to_string()))?;
    let fetcher = fetcher_for(&base)?;
    let mut read = 0;
    for (card, object) in set.cards.iter().zip(cards) {
        let Some(url) =
            object.get("documentation").and_then(|url| url.as_str()).and_then(|url| base.join(url).ok())
        else {
            continue;
        };
        let page = fetcher.get(url.as_str()).await?;
        if !page.is_success() {
            continue;
        }
        let document = extract(&page.text, page.content_type.as_deref(), &page.url);
        let texts: Vec<String> =
            chunks(&document, ChunkOptions::default()).iter().map(Chunk::passage).collect();
        let vectors = tokio::task::block_in_place(|| embedder.embed_passages(&texts))?.concat();
        let set = index.set_chunks(&card.id, &vectors, embedder.dim());
        set.map_err(|error| ApiError::internal(error.to_string()))?;
        read += 1;
    }
    Ok(read)
}
