//! Result of an ask: the answer, the evidence for it, and the trace of how it was found.

use autokit_search::{ScoreParts, Thresholds, Verdict};
use autokit_toolcard::Stub;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::graph::{Outcome, Step};
use crate::discover::{Finding, Trace};

/// A card retrieved from the library.
#[derive(Clone, Debug, PartialEq)]
pub struct Retrieved {
    /// Its id.
    pub id: String,
    /// Tool name.
    pub name: String,
    /// Description.
    pub description: String,
    /// The card as JSON.
    pub body: String,
    /// Import-and-call code generated from the card alone.
    pub stub: Option<Stub>,
    /// Ranking score, 0 to 1.
    pub score: f32,
    /// Components of the score.
    pub parts: ScoreParts,
    /// The chunk of its documentation page that is closest to the question.
    pub cited: Option<Citation>,
}

/// Where a statement stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Citation {
    /// Id of the card whose page it is.
    pub card: String,
    /// Headings down to the piece.
    pub title: String,
    /// The page, with the place in it where it has one.
    pub url: String,
    /// The piece.
    pub text: String,
}

/// A candidate after reranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Ranked {
    /// Card id.
    pub id: String,
    /// Tool name.
    pub name: String,
    /// What it does, shortened.
    pub description: String,
    /// Score of the ranking, 0 to 1.
    pub score: f32,
    /// What that score is made of.
    pub parts: ScoreParts,
    /// What the reranker gave it, 0 to 1.
    pub judged: Option<f32>,
    /// Why, in the reranker's words.
    pub justification: Option<String>,
}

/// The cards a search found, and the thresholds for their scores.
#[derive(Clone, Debug)]
pub struct Retrieval {
    /// The cards, best first.
    pub cards: Vec<Retrieved>,
    /// Score thresholds that decide whether the first card is an answer.
    pub thresholds: Thresholds,
}

/// An answer. Name, sentence, code and citations are those of one card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AgentAnswer {
    /// How sure it is.
    pub verdict: Verdict,
    /// Id of the recommended card.
    pub tool: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// One sentence on what it is.
    pub sentence: String,
    /// Why it serves the question.
    pub why: String,
    /// Import-and-call lines.
    pub stub: Option<Stub>,
    /// Lines a model wrote that nothing supports; not part of the stub.
    pub removed: Vec<String>,
    /// What the answer rests on.
    pub citations: Vec<Citation>,
    /// The candidates: the recommended one first, then best first.
    pub candidates: Vec<Ranked>,
    /// Tools found on the web.
    pub findings: Vec<Finding>,
    /// What ran and what did not, in words for the person.
    pub notes: Vec<String>,
}

/// A piece of the trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct StepEvent {
    /// The step.
    pub step: Step,
    /// What happens.
    pub phase: Phase,
    /// In words.
    pub text: String,
    /// The model that did it; none when it ran on this machine by rules.
    pub model: Option<String>,
    /// Tokens read and written by the model.
    pub tokens: (u32, u32),
    /// Milliseconds the step took, at its end.
    pub ms: u32,
}

/// What an event tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Phase {
    /// The step begins.
    Start,
    /// The step ended.
    Result {
        /// How.
        outcome: Outcome,
    },
    /// News from within the step.
    Trace {
        /// What.
        trace: Trace,
    },
}
