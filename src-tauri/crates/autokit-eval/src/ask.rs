//! Measures answers to everyday questions over cards.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autokit_app::engine::Vectors;
use autokit_app::starter;
use autokit_embed::Embedder;
use autokit_embed::encoder::Precision;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_metrics::measures::{Interval, auroc};
use autokit_metrics::{self as retrieve, AskReport, AskSet, Embedder as Embeddings, evaluate_ask};
use autokit_search::{
    Calibration, Calibrations, CardEntry, CardIndex, CardVectors, JudgedHit, SearchRequest, Searcher,
    ToolText, Verdict, Vocabulary, calibration_error, embed_by_card, encode_unservable, unservable_requests,
};
use autokit_web::{Chunk, ChunkOptions, chunks, extract};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::inputs::{embedder, fetcher_for, unreadable};

/// Number of results that are judged.
const RESULTS: usize = 5;

/// Results of one way to rank.
#[derive(Clone, Debug, Serialize)]
pub struct AskRow {
    /// What was measured.
    pub name: String,
    /// Hit@1: share of the answerable questions whose first hit is right.
    pub hit1: f64,
    /// Hit@3: share with a right card among the first three hits.
    pub hit3: f64,
    /// Hit@5: share with a right card among the first five hits.
    pub hit5: f64,
    /// Number of questions that no card answers.
    pub unanswerable: u32,
    /// Share of the unanswerable questions for which the search reports that nothing fits.
    pub refused: f64,
    /// Share of the unanswerable questions that are answered without reservation.
    pub wrongly_answered: f64,
    /// Share of the answerable questions for which the search reports that nothing fits.
    pub wrongly_refused: f64,
    /// Area under the ROC curve of the first hit's score as it is judged, answerable against unanswerable questions, with its 95 %
    /// interval; `None` unless there are both.
    pub auroc: Option<Interval>,
    /// Expected calibration error of the stated confidence over all questions, 0 to 1.
    pub calibration_error: f64,
}

/// The result of the search for a question.
#[derive(Clone, Debug, Serialize)]
pub struct AskAnswer {
    /// The question.
    pub question: String,
    /// Name of the first hit, if there is one.
    pub first: Option<String>,
    /// Score of the first hit as it is judged; 0 if there is none.
    pub score: f32,
    /// Stated probability that it is right; 0 if there is none.
    pub confidence: f32,
    /// Whether the card of the first hit says what people ask for when they need it.
    pub asks_for: bool,
    /// Whether the first hit is right.
    pub right: bool,
    /// The verdict derived from the score.
    pub verdict: Verdict,
}

/// The output of `autokit eval ask`: the three rankings of the index, and the search of the product.
#[derive(Clone, Debug, Serialize)]
pub struct AskEvaluation {
    /// The rankings of the index alone.
    #[serde(flatten)]
    pub report: AskReport,
    /// The product's search, and again with documentation pages if there is a site.
    pub stages: Vec<AskRow>,
    /// Number of cards whose page was read.
    pub pages: u32,
    /// The result for each question, without pages.
    pub answers: Vec<AskAnswer>,
}

/// Measures questions over the given cards, or over the starter cards. With `site`, the cards' documentation
/// pages are read from there (relative URLs on cards are resolved against it) and included in the ranking. `precision` as
/// in [`crate::retrieval`].
///
/// # Errors
/// When a file cannot be read, there is no model, or the site does not respond.
pub async fn ask(
    cards: Option<&Path>,
    questions: &[PathBuf],
    vectors: &Vectors,
    precision: Option<Precision>,
    site: Option<&str>,
) -> Result<AskEvaluation> {
    let (set, objects) = set_of(cards, questions)?;
    let embedder = Arc::new(embedder(vectors, precision)?);
    let passages = |texts: &[String]| embedder.embed_passages(texts);
    let queries = |texts: &[String]| texts.iter().map(|text| embedder.embed_query(text)).collect();
    let embeddings = Embeddings { passages: &passages, queries: &queries };
    let failed = |error: autokit_metrics::EvalError| unreadable(&error);
    let (report, searcher) = tokio::task::block_in_place(|| {
        let report = evaluate_ask(&set.answerable(), &embeddings).map_err(failed)?;
        Ok::<_, ApiError>((report, searcher_over(&set, &objects, &embedder)?))
    })?;
    let (fused, answers) = stage("fused", &set, &searcher)?;
    let mut stages = vec![fused];
    let mut pages = 0;
    if let Some(site) = site {
        pages = read_pages(&set, &objects, site, &embedder, &searcher.index()).await?;
        stages.push(stage("fused with pages", &set, &searcher)?.0);
    }
    Ok(AskEvaluation { report, stages, pages, answers })
}

/// Measures thresholds for the scores of first hits, on cards with and without `asks_for`.
/// Questions without right cards count as unanswerable. A kind of card that too few first hits are of keeps the
/// thresholds AutoKit ships with, if they were measured with the same model. Also returns the serialized vectors of
/// [`unservable_requests`], which thresholds are shipped with.
///
/// # Errors
/// When a file cannot be read, there is no model, or there are too few answerable or unanswerable questions.
pub fn calibrate(
    cards: Option<&Path>,
    questions: &[PathBuf],
    vectors: &Vectors,
) -> Result<(Calibrations, Vec<u8>)> {
    let (set, objects) = set_of(cards, questions)?;
    let embedder = Arc::new(embedder(vectors, None)?);
    let model = embedder.id().to_owned();
    let searcher = tokio::task::block_in_place(|| searcher_over(&set, &objects, &embedder))?;
    let shipped = Some(Calibrations::shipped()).filter(|shipped| shipped.model == model);
    let (_, answers) = stage("fused", &set, &searcher)?;
    let hits: Vec<JudgedHit> = set
        .questions
        .iter()
        .zip(&answers)
        .map(|(question, answer)| JudgedHit {
            score: answer.score,
            right: answer.right,
            answerable: !question.gold.is_empty(),
            asks_for: answer.asks_for,
        })
        .collect();
    let texts: Vec<String> = unservable_requests().map(str::to_owned).collect();
    let unservable = tokio::task::block_in_place(|| embedder.embed_queries(&texts))?;
    let level = searcher.index().level_by(&unservable);
    let mut calibrations = Vec::new();
    let mut measured_any = false;
    for asks_for in [false, true] {
        let measured = Calibration::measure(asks_for, level, &hits);
        measured_any |= measured.is_some();
        calibrations.extend(measured.or_else(|| shipped?.of(asks_for).cloned()));
    }
    if !measured_any {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            "too few questions to measure thresholds",
            "Provide at least 20 questions that a card answers, and 20 without `gold` that no card answers.",
        ));
    }
    Ok((Calibrations { model, calibrations }, encode_unservable(&unservable)))
}

/// The cards of a file, or the starter cards, with the questions of the given files.
fn set_of(cards: Option<&Path>, questions: &[PathBuf]) -> Result<(AskSet, Vec<Map<String, Value>>)> {
    let objects = match cards {
        Some(file) => retrieve::card_objects(file).map_err(|error| unreadable(&error))?,
        None => starter::cards()?.cards.iter().map(|item| item.card.object().clone()).collect(),
    };
    let set = AskSet::of(&objects, questions).map_err(|error| unreadable(&error))?;
    Ok((set, objects))
}

/// Builds a searcher over the cards of a set, as a library would search them.
pub(crate) fn searcher_over(
    set: &AskSet,
    objects: &[Map<String, Value>],
    embedder: &Arc<Embedder>,
) -> Result<Searcher> {
    let index = CardIndex::new(Some(Arc::clone(embedder)));
    let texts: Vec<Vec<String>> =
        set.cards.iter().map(|tool: &ToolText| tool.passages(Vocabulary::shipped())).collect();
    let vectors = embed_by_card(&texts, |texts| embedder.embed_passages(texts))?;
    for ((tool, card), vectors) in set.cards.iter().zip(objects).zip(&vectors) {
        let vectors = CardVectors { values: vectors, names: None };
        let entry =
            CardEntry { id: &tool.id, revision: 1, card, vectors: Some(vectors), stale_vectors: None };
        index.put(&entry).map_err(|error| ApiError::internal(error.to_string()))?;
    }
    Ok(Searcher::new(index))
}

fn stage(name: &str, set: &AskSet, searcher: &Searcher) -> Result<(AskRow, Vec<AskAnswer>)> {
    let names: HashMap<&str, &str> =
        set.cards.iter().map(|card| (card.id.as_str(), card.name.as_str())).collect();
    let mut hits_at = [0usize; 3];
    let (mut unanswerable, mut refused, mut wrongly_answered, mut wrongly_refused) = (0usize, 0, 0, 0);
    let mut answers = Vec::with_capacity(set.questions.len());
    for question in &set.questions {
        let request =
            SearchRequest { query: question.text.clone(), limit: RESULTS, ..SearchRequest::default() };
        let ranking = tokio::task::block_in_place(|| searcher.search(&request));
        let ranking = ranking.map_err(|error| ApiError::internal(error.to_string()))?;
        let found: Vec<&str> =
            ranking.hits.iter().filter_map(|hit| names.get(hit.id.as_str()).copied()).collect();
        let right = found.iter().position(|name| question.gold.iter().any(|gold| gold == name));
        for (count, first) in hits_at.iter_mut().zip([1, 3, 5]) {
            *count += usize::from(right.is_some_and(|at| at < first));
        }
        match (question.gold.is_empty(), ranking.verdict) {
            (true, verdict) => {
                unanswerable += 1;
                refused += usize::from(verdict == Verdict::Nothing);
                wrongly_answered += usize::from(verdict == Verdict::Answered);
            }
            (false, verdict) => wrongly_refused += usize::from(verdict == Verdict::Nothing),
        }
        answers.push(AskAnswer {
            question: question.text.clone(),
            first: found.first().map(|name| (*name).to_owned()),
            score: ranking.judged_score,
            confidence: ranking.confidence.unwrap_or_default(),
            asks_for: ranking.hits.first().is_some_and(|hit| hit.parts.ask.is_some()),
            right: right == Some(0),
            verdict: ranking.verdict,
        });
    }
    let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
    let answerable = set.questions.len() - unanswerable;
    let [hit1, hit3, hit5] = hits_at.map(|count| share(count, answerable));
    let judged: Vec<(f32, bool)> = answers.iter().map(|answer| (answer.confidence, answer.right)).collect();
    let scores = |answerable: bool| -> Vec<f32> {
        let of_kind =
            set.questions.iter().zip(&answers).filter(|(question, _)| question.gold.is_empty() != answerable);
        of_kind.map(|(_, answer)| answer.score).collect()
    };
    let row = AskRow {
        name: name.to_owned(),
        hit1,
        hit3,
        hit5,
        unanswerable: unanswerable as u32,
        refused: share(refused, unanswerable),
        wrongly_answered: share(wrongly_answered, unanswerable),
        wrongly_refused: share(wrongly_refused, answerable),
        auroc: auroc(&scores(true), &scores(false)),
        calibration_error: calibration_error(&judged),
    };
    Ok((row, answers))
}

/// Reads the cards' documentation pages from a site into the index and returns how many were read.
async fn read_pages(
    set: &AskSet,
    cards: &[Map<String, Value>],
    site: &str,
    embedder: &Embedder,
    index: &CardIndex,
) -> Result<u32> {
    let bad = |reason: String| {
        ApiError::new(ErrorCode::BadRequest, reason, "Enter the URL of a site, e.g. http://127.0.0.1:8765.")
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
