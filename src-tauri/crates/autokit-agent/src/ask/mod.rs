//! Asking: from a question to one recommended tool with supporting evidence (FUEL, sections on answering and
//! control), following the state graph in [`graph`].
//!
//! Every step that a language model would run, except rephrasing the question, has a rule-based counterpart,
//! which also takes over when the model fails or sends nothing for too long. Every step reports how it ran.

mod answer;
mod draft;
pub mod graph;
pub mod ground;
mod local;
pub(crate) mod model;
mod plain;
mod run;

use std::time::Duration;

use async_trait::async_trait;
use autokit_llm::prompts::Prompts;
use autokit_llm::{Limits, Model};
use autokit_toolcard::{CardId, Stub};
use futures_util::future::BoxFuture;
use ground::Sources;

use crate::discover::{Discovery, Finding};
use crate::error::Result;

pub use crate::rerank::CANDIDATES as MAX_CANDIDATES;
pub use answer::{AgentAnswer, Citation, Phase, Ranked, Retrieval, Retrieved, StepEvent};
pub use autokit_search::Verdict;

/// The library from the agent's point of view.
#[async_trait]
pub trait Retriever: Send + Sync {
    /// Returns the cards that match `query`, without the ids in `exclude`, scored against `question` and best
    /// first. The two differ only when a model rephrased the question. A card with nothing in common with the
    /// question has score 0.
    async fn search(
        &self,
        query: &str,
        question: &str,
        exclude: &[CardId],
        limit: usize,
    ) -> Result<Retrieval>;

    /// Why cards are ranked by keywords alone, if they are.
    fn keyword_only_reason(&self) -> Option<String>;

    /// Whether a lower-case word is known as a word of the language.
    fn is_word(&self, word: &str) -> bool;
}

/// Dependencies of the agent.
#[derive(Clone, Debug)]
pub struct AgentDeps {
    /// Model that grades, reranks and rewrites.
    pub small: Option<Model>,
    /// Model that writes answers and searches the web.
    pub large: Option<Model>,
    /// Web discovery, if a search service is chosen.
    pub web: Option<Discovery>,
    /// Prompts for the models.
    pub prompts: Prompts,
    /// How long a model may send nothing before rules take over; [`MODEL_IDLE_TIMEOUT`] when somebody is
    /// waiting.
    pub idle_timeout: Duration,
    /// Time limit for one question.
    pub deadline: Duration,
}

/// A question with its history.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The question's text.
    pub text: String,
    /// Ids of cards to exclude.
    pub exclude: Vec<CardId>,
    /// Web findings the person rejected.
    pub rejected: Vec<Finding>,
    /// Why an earlier answer was not helpful.
    pub refinement: Option<String>,
    /// How many candidates to return with the answer, up to [`MAX_CANDIDATES`]; 5 by default.
    pub candidates: Option<usize>,
}

impl Question {
    /// Returns the question with the refinement appended.
    pub fn full_text(&self) -> String {
        match &self.refinement {
            Some(reason) if !reason.trim().is_empty() => format!("{} ({})", self.text.trim(), reason.trim()),
            _ => self.text.trim().to_owned(),
        }
    }
}

/// How long a model may send nothing, before its first output or between two parts of it, while somebody is
/// waiting for the answer.
pub const MODEL_IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Limits how long a model may send nothing before its request fails.
pub fn with_idle_timeout(model: &Model, timeout: Duration) -> Model {
    let limits = model.config().limits;
    model.with_limits(Limits { idle: limits.idle.min(timeout), ..limits })
}

/// Callback that receives every trace event as it happens.
pub type OnStep<'a> = &'a mut (dyn FnMut(StepEvent) + Send);

/// Most characters of documentation shown to a model that writes starter code.
const MAX_DOCUMENTATION: usize = 8000;

/// Has a model write starter code for a use case from a card and chunks of its page. Lines that nothing
/// supports are left out and returned separately.
///
/// # Errors
/// Returns an error when the request to the model fails.
pub fn starter<'a>(
    model: &'a Model,
    prompts: &'a Prompts,
    use_case: &'a str,
    card: &'a str,
    stub: Option<&'a Stub>,
    passages: &'a [String],
) -> BoxFuture<'a, Result<(Stub, Vec<String>)>> {
    Box::pin(async move {
        let documentation: String = passages.join("\n\n").chars().take(MAX_DOCUMENTATION).collect();
        let model = with_idle_timeout(model, MODEL_IDLE_TIMEOUT);
        let (written, _) = model::starter(&model, prompts, use_case, card, &documentation).await?;
        let stub_code = stub.map(|stub| stub.code.as_str());
        let sources = Sources::new([card].into_iter().chain(stub_code)).with_page([documentation.as_str()]);
        let (code, removed) = sources.supported_code(&local::strip_fence(&written.code));
        let language: String = written
            .language
            .chars()
            .filter(|c| c.is_alphanumeric())
            .take(20)
            .collect::<String>()
            .to_lowercase();
        Ok((Stub { language, code }, removed))
    })
}
