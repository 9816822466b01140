//! Result of an ask: the answer, the evidence for it, and the trace of how it was found.

use autokit_search::{Constraint, ScoreParts, Thresholds, Verdict};
use autokit_toolcard::{CardId, Stub};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::graph::{Outcome, Step};
use crate::discover::{Finding, Trace};

/// A card retrieved from the library.
#[derive(Clone, Debug, PartialEq)]
pub struct Retrieved {
    /// Its id.
    pub id: CardId,
    /// Tool name.
    pub name: String,
    /// Description.
    pub description: String,
    /// The card as JSON.
    pub body: String,
    /// Import-and-call code generated from the card alone.
    pub stub: Option<Stub>,
    /// Whether the card stores a call, so that AutoKit can make it.
    pub callable: bool,
    /// Ranking score, 0 to 1.
    pub score: f32,
    /// Components of the score.
    pub parts: ScoreParts,
    /// The chunk of its documentation page that is closest to the question.
    pub cited: Option<Citation>,
}

/// A passage that supports a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Citation {
    /// Id of the card whose page is cited.
    pub card: CardId,
    /// Headings above the passage.
    pub title: String,
    /// The page's URL, with a fragment where there is an anchor.
    pub url: String,
    /// Text of the passage.
    pub text: String,
}

/// A candidate after reranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Ranked {
    /// Card id.
    pub id: CardId,
    /// Tool name.
    pub name: String,
    /// Description, shortened.
    pub description: String,
    /// Whether the card stores a call, so that AutoKit can make it.
    #[serde(default)]
    pub callable: bool,
    /// Ranking score, 0 to 1.
    pub score: f32,
    /// Components of that score.
    pub parts: ScoreParts,
    /// Score given by the reranker, 0 to 1.
    pub judged: Option<f32>,
    /// The reranker's justification.
    pub justification: Option<String>,
}

/// The cards a search found, and what their scores mean.
#[derive(Clone, Debug)]
pub struct Retrieval {
    /// The cards, best first.
    pub cards: Vec<Retrieved>,
    /// Score thresholds that decide whether the first card is an answer.
    pub thresholds: Thresholds,
    /// Probability that the first card is right, 0 to 1; `None` if that was not measured for its score.
    pub confidence: Option<f32>,
    /// What was understood that the question demands of a tool besides what it is to do.
    pub constraints: Vec<Constraint>,
}

/// An answer. Name, sentence, code and citations all come from the same card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AgentAnswer {
    /// Whether the tool answers the question.
    pub verdict: Verdict,
    /// Probability that the recommended tool is right, 0 to 1. `null` if there is none, it is not the first of the
    /// ranking, a model wrote the answer, or that was not measured for such scores.
    #[serde(default)]
    pub confidence: Option<f32>,
    /// Id of the recommended card.
    pub tool: Option<CardId>,
    /// Its name.
    pub name: Option<String>,
    /// One sentence that describes the tool.
    pub sentence: String,
    /// Sentences of its card that limit what it does and that are not part of `sentence`.
    #[serde(default)]
    pub limits: Vec<String>,
    /// Why it answers the question.
    pub why: String,
    /// Import-and-call code.
    pub stub: Option<Stub>,
    /// Code lines written by a model that no source supports; they are not part of the stub.
    pub removed: Vec<String>,
    /// Passages that support the answer.
    pub citations: Vec<Citation>,
    /// The candidates: the recommended one first, then by rank.
    pub candidates: Vec<Ranked>,
    /// Tools found on the web.
    pub findings: Vec<Finding>,
    /// If neither the library nor the web has a suitable tool: one that may be used in its place.
    #[serde(default)]
    pub substitute: Option<Box<Finding>>,
    /// What ran and what did not, as messages for the person.
    pub notes: Vec<String>,
}

/// An event of the trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct StepEvent {
    /// The step.
    pub step: Step,
    /// What happened in the step.
    pub phase: Phase,
    /// A description for people.
    pub text: String,
    /// The model that ran the step; `None` if it was rule-based.
    pub model: Option<String>,
    /// Input and output tokens of the model.
    pub tokens: (u32, u32),
    /// Duration of the step in milliseconds, at its end.
    pub ms: u32,
}

/// What an event reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Phase {
    /// The step started.
    Start,
    /// The step ended.
    Result {
        /// How it ended.
        outcome: Outcome,
    },
    /// Progress within the step.
    Trace {
        /// The progress.
        trace: Trace,
    },
}
