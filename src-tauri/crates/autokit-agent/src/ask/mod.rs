//! Asking: from a question to one recommended tool with what supports it (FUEL, sections on answering
//! and control), by the graph in [`graph`].
//!
//! Every step that a language model would do but rephrasing the question has a counterpart by rules, which also takes
//! over when the model fails or is silent for too long; what ran where is told with every step.

mod answer;
mod draft;
pub mod graph;
pub mod ground;
mod local;
mod model;
mod plain;
mod run;

use std::future::Future;
use std::time::Duration;

use autokit_llm::{Limits, Model};
use autokit_toolcard::Stub;

use crate::discover::{Discovery, Finding};
use crate::error::Result;
use autokit_llm::prompts::Prompts;
use ground::Sources;

pub use answer::{AgentAnswer, Citation, Phase, Ranked, Retrieval, Retrieved, StepEvent};
pub use autokit_search::Verdict;
pub use run::CANDIDATES as MOST_CANDIDATES;

/// The library as the agent sees it.
pub trait Retriever: Send + Sync {
    /// Cards that `query` finds, without those excluded by id, scored against `question` and best first by it.
    /// The two are the same unless a model rephrased the question. A card that has nothing of the question has
    /// the score 0.
    fn search(
        &self,
        query: &str,
        question: &str,
        exclude: &[String],
        limit: usize,
    ) -> impl Future<Output = Result<Retrieval>> + Send;

    /// Why cards are ranked by words alone, if they are.
    fn words_alone(&self) -> Option<String>;

    /// Whether a lower-case word is part of the language, as far as is known here.
    fn is_word(&self, word: &str) -> bool;
}

/// What the agent works with.
#[derive(Clone, Debug)]
pub struct AgentDeps {
    /// Grades, reranks and rewrites.
    pub small: Option<Model>,
    /// Writes answers and looks on the web.
    pub large: Option<Model>,
    /// The web, if a search service is chosen.
    pub web: Option<Discovery>,
    /// What models are told.
    pub prompts: Prompts,
    /// Longest silence of a model before rules take over; [`LONGEST_SILENCE`] where somebody is waiting.
    pub patience: Duration,
    /// Longest time for one question.
    pub deadline: Duration,
}

/// A question with what came before.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Cards that are not wanted again.
    pub exclude: Vec<String>,
    /// Tools of the web that are not wanted again.
    pub turned_down: Vec<Finding>,
    /// Why an earlier answer was not helpful.
    pub refinement: Option<String>,
    /// How many candidates are handed over with the answer, up to [`MOST_CANDIDATES`]; 5 when not given.
    pub candidates: Option<usize>,
}

impl Question {
    /// The question with the reason folded in.
    fn whole(&self) -> String {
        match &self.refinement {
            Some(reason) if !reason.trim().is_empty() => format!("{} ({})", self.text.trim(), reason.trim()),
            _ => self.text.trim().to_owned(),
        }
    }
}

/// How long a model may be silent, before its first words and between two pieces of them, while somebody is
/// waiting for the answer.
pub const LONGEST_SILENCE: Duration = Duration::from_secs(5);

/// A model that is given up when it is silent for so long.
pub fn with_patience(model: &Model, patience: Duration) -> Model {
    let limits = model.config().limits;
    model.with_limits(Limits { idle: limits.idle.min(patience), ..limits })
}

/// Told every step as it happens.
pub type OnStep<'a> = &'a mut (dyn FnMut(StepEvent) + Send);

/// Characters of documentation a model sees when it writes starter code.
const DOCUMENTATION: usize = 8000;

/// Starter code for a use case, written by a model from a card and pieces of its page; lines nothing
/// supports are left out and returned beside it.
///
/// # Errors
/// When the model cannot be asked.
pub async fn starter(
    model: &Model,
    prompts: &Prompts,
    use_case: &str,
    card: &str,
    stub: Option<&Stub>,
    passages: &[String],
) -> Result<(Stub, Vec<String>)> {
    let documentation: String = passages.join("\n\n").chars().take(DOCUMENTATION).collect();
    let model = with_patience(model, LONGEST_SILENCE);
    let (written, _) = model::starter(&model, prompts, use_case, card, &documentation).await?;
    let own = stub.map(|stub| stub.code.as_str());
    let sources = Sources::new([card].into_iter().chain(own)).with_page([documentation.as_str()]);
    let (code, removed) = sources.supported_code(&local::unfenced(&written.code));
    let language: String =
        written.language.chars().filter(|c| c.is_alphanumeric()).take(20).collect::<String>().to_lowercase();
    Ok((Stub { language, code }, removed))
}
