//! Measures the one ranking of several libraries against that of one library with all their cards.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autokit_app::engine::Vectors;
use autokit_embed::Embedder;
use autokit_error::{ApiError, Result};
use autokit_metrics::measures::{Interval, bootstrap};
use autokit_metrics::{AskSet, card_objects};
use autokit_search::{Scored, SearchRequest, Searcher, merge};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::ask::searcher_over;
use crate::inputs::{embedder, unreadable};

/// Number of results that are judged.
const RESULTS: usize = 5;
const RESAMPLES: usize = 2_000;
const SEED: u64 = 1;

/// Shares of questions with a right card among the first hits.
#[derive(Clone, Debug, Serialize)]
pub struct LibrariesRow {
    /// What was ranked.
    pub name: String,
    /// Hit@1.
    pub hit1: f64,
    /// Hit@3.
    pub hit3: f64,
    /// Hit@5.
    pub hit5: f64,
}

/// The output of `autokit eval libraries`.
#[derive(Clone, Debug, Serialize)]
pub struct LibrariesEvaluation {
    /// Number of cards of each library.
    pub cards: Vec<u32>,
    /// Number of questions.
    pub questions: u32,
    /// One library with all cards, then the libraries in one ranking.
    pub rows: Vec<LibrariesRow>,
    /// Hit@1 of the libraries less that of the one library, with its 95 % interval (paired bootstrap).
    pub difference: Interval,
}

/// Measures questions over the libraries whose cards are in these files, each split into `parts`. A card that several files
/// have is in each of their libraries, and in the one library once.
///
/// # Errors
/// When a file cannot be read, there is no model, or there are no questions that a card answers.
pub fn libraries(
    files: &[PathBuf],
    questions: &[PathBuf],
    parts: usize,
    vectors: &Vectors,
) -> Result<LibrariesEvaluation> {
    let embedder = Arc::new(embedder(vectors, None)?);
    let mut libraries = Vec::new();
    for file in files {
        libraries.extend(split(read(file)?, parts));
    }
    let mut names = HashSet::new();
    let all: Vec<Map<String, Value>> =
        libraries.concat().into_iter().filter(|card| names.insert(name_of(card))).collect();
    let set = AskSet::of(&all, questions).map_err(|error| unreadable(&error))?;
    let asked: Vec<(&str, &[String])> = set
        .questions
        .iter()
        .filter(|question| !question.gold.is_empty())
        .map(|question| (question.text.as_str(), question.gold.as_slice()))
        .collect();
    let together = Named::new(&all, &embedder)?;
    let apart: Vec<Named> =
        libraries.iter().map(|cards| Named::new(cards, &embedder)).collect::<Result<_>>()?;
    let (mut one, mut several) = (Vec::new(), Vec::new());
    for (question, gold) in asked {
        let rank_of = |names: &[String]| names.iter().position(|name| gold.contains(name));
        one.push(rank_of(&merge(vec![together.search(question)?], RESULTS)));
        let answers = apart.iter().map(|library| library.search(question)).collect::<Result<Vec<_>>>()?;
        several.push(rank_of(&merge(answers, RESULTS)));
    }
    let first = |rank: &Option<usize>| f64::from(u8::from(*rank == Some(0)));
    let differences: Vec<f64> =
        one.iter().zip(&several).map(|(one, several)| first(several) - first(one)).collect();
    Ok(LibrariesEvaluation {
        cards: apart.iter().map(|library| library.names.len() as u32).collect(),
        questions: one.len() as u32,
        rows: vec![row("one library", &one), row("one ranking of all", &several)],
        difference: bootstrap(&differences, RESAMPLES, SEED),
    })
}

fn read(file: &Path) -> Result<Vec<Map<String, Value>>> {
    card_objects(file).map_err(|error| unreadable(&error))
}

fn name_of(card: &Map<String, Value>) -> String {
    card.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Deals cards out to libraries in turn.
fn split(cards: Vec<Map<String, Value>>, parts: usize) -> Vec<Vec<Map<String, Value>>> {
    let mut libraries = vec![Vec::new(); parts.max(1)];
    for (at, card) in cards.into_iter().enumerate() {
        libraries[at % parts.max(1)].push(card);
    }
    libraries
}

fn row(name: &str, ranks: &[Option<usize>]) -> LibrariesRow {
    let within = |first: usize| {
        ranks.iter().filter(|rank| rank.is_some_and(|rank| rank < first)).count() as f64
            / ranks.len().max(1) as f64
    };
    LibrariesRow { name: name.to_owned(), hit1: within(1), hit3: within(3), hit5: within(5) }
}

/// A library whose hits are the names of its cards.
struct Named {
    searcher: Searcher,
    /// By id.
    names: HashMap<String, String>,
}

impl Named {
    fn new(cards: &[Map<String, Value>], embedder: &Arc<Embedder>) -> Result<Named> {
        let set = AskSet::of(cards, &[]).map_err(|error| unreadable(&error))?;
        let names = set.cards.iter().map(|card| (card.id.clone(), card.name.clone())).collect();
        Ok(Named { searcher: searcher_over(&set, cards, embedder)?, names })
    }

    fn search(&self, question: &str) -> Result<Vec<Scored<String>>> {
        let request =
            SearchRequest { query: question.to_owned(), limit: RESULTS, ..SearchRequest::default() };
        let ranking = tokio::task::block_in_place(|| self.searcher.search(&request));
        let ranking = ranking.map_err(|error| ApiError::internal(error.to_string()))?;
        let hit = |hit: autokit_search::Hit| {
            Some(Scored { score: hit.score, item: self.names.get(&hit.id)?.clone() })
        };
        Ok(ranking.hits.into_iter().filter_map(hit).collect())
    }
}
