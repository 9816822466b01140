//! Asking and searching.

pub use autokit_search::{Depth, Verdict};
use autokit_search::{Mode, ScoreParts};
use autokit_toolcard::Stub;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::cards::CardSummary;

/// A request in words.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct AskRequest {
    /// The question, e.g. "I want a tool that can integrate with my calendar".
    pub question: String,
    /// How many candidates to return; 5 when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
    /// How far the ranking goes; reranked when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub depth: Option<Depth>,
}

/// What the library says to a question.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Answer {
    /// The question as asked.
    pub question: String,
    /// How sure the answer is.
    pub verdict: Verdict,
    /// Candidates, best first; the first is the recommendation unless the verdict is `nothing`.
    pub candidates: Vec<Candidate>,
    /// What ran and what did not, in words for the person.
    pub notes: Vec<String>,
    /// Cards searched.
    pub searched: u32,
    /// Time taken, in milliseconds.
    pub took_ms: f64,
}

/// A card with why it was chosen.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Candidate {
    /// The card.
    pub card: CardSummary,
    /// Score between 0 and 1.
    pub score: f32,
    /// What the score is made of.
    pub parts: ScoreParts,
    /// One sentence on what the tool is.
    pub sentence: String,
    /// Import-and-call lines, when the card holds enough for true ones.
    pub stub: Option<Stub>,
}

/// A plain search.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct SearchRequest {
    /// Words to search for.
    pub query: String,
    /// Which ranking; hybrid when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mode: Option<Mode>,
    /// How many results; 10 when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
    /// How far the ranking goes; reranked when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub depth: Option<Depth>,
}

/// Ranked results.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SearchResponse {
    /// The query as given.
    pub query: String,
    /// The ranking that ran: keyword when no embedding model is there.
    pub mode: Mode,
    /// How far the ranking went.
    pub depth: Depth,
    /// Whether the first result answers the query.
    pub verdict: Verdict,
    /// Results, best first. Cards the query names exactly are among them beyond the limit, up to 50.
    pub results: Vec<SearchHit>,
    /// Names of further cards the query names exactly.
    pub also_named: Vec<String>,
    /// Time taken, in milliseconds.
    pub took_ms: f64,
}

/// One result.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SearchHit {
    /// Card id.
    pub id: String,
    /// Tool name.
    pub name: String,
    /// Provider, or an empty string.
    pub provider: String,
    /// Score between 0 and 1.
    pub score: f32,
    /// What the score is made of.
    pub parts: ScoreParts,
    /// Start of the description.
    pub description: String,
}
