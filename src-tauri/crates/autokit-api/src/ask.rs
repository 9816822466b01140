//! Questions to the library, and plain search.

pub use autokit_search::Verdict;
use autokit_search::{Constraint, Mode, ScoreParts};
use autokit_toolcard::{CardId, Stub};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::cards::CardSummary;

/// Request for the tools that best match a question.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct AskRequest {
    /// The question, e.g. "I want a tool that can integrate with my calendar".
    pub question: String,
    /// Maximum number of candidates. Default: 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
    /// Ids of cards that are not to be in the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<CardId>>")]
    pub exclude: Vec<CardId>,
}

/// Answer of the library to a question.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Answer {
    /// The question as received.
    pub question: String,
    /// Whether the first candidate answers the question.
    pub verdict: Verdict,
    /// Probability that the first candidate is right, 0 to 1. `null` if there is none, or that was not measured for
    /// such scores.
    pub confidence: Option<f32>,
    /// Candidates, best first. The first is the recommendation unless the verdict is `nothing`.
    pub candidates: Vec<Candidate>,
    /// Messages for the person about ranking stages that ran or were skipped.
    pub notes: Vec<String>,
    /// Number of cards searched.
    pub searched: u32,
    /// Duration in milliseconds.
    pub took_ms: f64,
}

/// Card that matches a question, with the reasons.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Candidate {
    /// The card.
    pub card: CardSummary,
    /// Score between 0 and 1.
    pub score: f32,
    /// Components of the score.
    pub parts: ScoreParts,
    /// One sentence that says what the tool is.
    pub sentence: String,
    /// Sentences of its description that limit what it does and that the card's shortened description does not contain.
    #[serde(default)]
    pub limits: Vec<String>,
    /// Import and call of the tool, if the card contains enough to generate them.
    pub stub: Option<Stub>,
}

/// Request for a ranked list of cards.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct SearchRequest {
    /// Search terms.
    pub query: String,
    /// Ranking method. Default: hybrid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mode: Option<Mode>,
    /// Maximum number of results. Default: 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
}

/// Ranked list of cards.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SearchResponse {
    /// The query as received.
    pub query: String,
    /// Ranking method used: keyword if no embedding model is available.
    pub mode: Mode,
    /// Whether the first result answers the query.
    pub verdict: Verdict,
    /// Probability that the first result is right, 0 to 1. `null` if there is none, or that was not measured for
    /// such scores.
    pub confidence: Option<f32>,
    /// Results, best first. May exceed the limit, up to 50, by cards whose exact name is in the query.
    pub results: Vec<SearchHit>,
    /// Names of further cards whose exact name is in the query.
    pub also_named: Vec<String>,
    /// What was understood that the query demands of a tool besides what it is to do.
    pub constraints: Vec<Constraint>,
    /// Duration in milliseconds.
    pub took_ms: f64,
}

/// Search result.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SearchHit {
    /// Card id.
    pub id: CardId,
    /// Name of the tool.
    pub name: String,
    /// Provider, or an empty string.
    pub provider: String,
    /// Score between 0 and 1.
    pub score: f32,
    /// Components of the score.
    pub parts: ScoreParts,
    /// Beginning of the description.
    pub description: String,
}
