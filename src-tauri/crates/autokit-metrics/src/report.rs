//! Reports of an evaluation.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use autokit_search::Mode;

use crate::measures::Interval;

/// Means over the queries of a set, each between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Measures {
    /// NDCG of the first result.
    pub ndcg1: f64,
    /// NDCG of the first five.
    pub ndcg5: f64,
    /// NDCG of the first ten.
    pub ndcg10: f64,
    /// Recall of the first result.
    pub recall1: f64,
    /// Recall of the first five.
    pub recall5: f64,
    /// Recall of the first ten.
    pub recall10: f64,
    /// Mean reciprocal rank of the first relevant tool.
    pub mrr: f64,
}

impl Measures {
    pub(super) fn from_array([ndcg1, ndcg5, ndcg10, recall1, recall5, recall10, mrr]: [f64; 7]) -> Measures {
        Measures { ndcg1, ndcg5, ndcg10, recall1, recall5, recall10, mrr }
    }
}

/// Results of the rankings on a retrieval set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct RetrievalReport {
    /// Name of the set, which is that of its folder.
    pub name: String,
    /// Tools in the set.
    pub tools: u32,
    /// Queries in the set.
    pub queries: u32,
    /// Number of tools left out because of a duplicate id.
    pub repeated_tools: u32,
    /// Number of relevant ids that no tool has; they count as not found.
    pub unknown_relevant: u32,
    /// Keyword ranking.
    pub keyword: Measures,
    /// Vector ranking.
    pub vector: Measures,
    /// Hybrid ranking.
    pub hybrid: Measures,
    /// NDCG@10 of the hybrid ranking with its 95 % interval.
    pub hybrid_ndcg10: Interval,
    /// The better of keyword and vector ranking by NDCG@10.
    pub best_single: Mode,
    /// NDCG@10 of the hybrid ranking minus that of the better single ranking, paired by query, with its 95 %
    /// interval.
    pub hybrid_minus_best: Interval,
    /// Correct path rate: share of queries whose relevant tools, in their order, are among the calls of a scripted agent
    /// that calls the first ten tools of the hybrid ranking (DRAFT, §3.1).
    pub path_rate: f64,
}

/// Means over the questions of a set, each between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AskMeasures {
    /// Share of questions whose first card answers it.
    pub hit1: f64,
    /// Share of questions with an answer among the first three cards.
    pub hit3: f64,
    /// Share of questions with an answer among the first five cards.
    pub hit5: f64,
    /// Mean reciprocal rank of the first answer.
    pub mrr: f64,
}

impl AskMeasures {
    pub(super) fn from_array([hit1, hit3, hit5, mrr]: [f64; 4]) -> AskMeasures {
        AskMeasures { hit1, hit3, hit5, mrr }
    }
}

/// Result for one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AskOutcome {
    /// The question.
    pub question: String,
    /// Names of the cards that answer it.
    pub gold: Vec<String>,
    /// Rank of the first answer by keyword, if found.
    pub keyword: Option<u32>,
    /// Rank of the first answer by vector, if found.
    pub vector: Option<u32>,
    /// Rank of the first answer by both, if found.
    pub hybrid: Option<u32>,
    /// Names of the first three cards by both.
    pub first: Vec<String>,
}

/// Results of the rankings on an ask set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AskReport {
    /// Cards in the set.
    pub cards: u32,
    /// Questions in the set.
    pub questions: u32,
    /// Number of gold names that no card has; they count as not found.
    pub unknown_gold: u32,
    /// Keyword ranking.
    pub keyword: AskMeasures,
    /// Vector ranking.
    pub vector: AskMeasures,
    /// Hybrid ranking.
    pub hybrid: AskMeasures,
    /// hit@1 of the hybrid ranking with its 95 % interval.
    pub hybrid_hit1: Interval,
    /// Results for every question.
    pub outcomes: Vec<AskOutcome>,
}
