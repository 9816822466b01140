//! What the tools of agents ask of the rest of the engine.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autokit_agent::ask::Citation;
use autokit_agent::rerank::{Candidate, NotReranked};
use autokit_api::{MemoryFound, MemoryQuery, Turn, TurnKind};
use autokit_error::Result;
use autokit_gateway::{Search, SearchResults};
use autokit_toolcard::{Author, CardId, Draft, ProposalId};
use tokio_util::sync::CancellationToken;

/// A turn of the agent on behalf of an agent outside.
#[derive(Clone, Debug)]
pub struct TurnRequest {
    /// Whether to answer from the library, to search the web, or to research.
    pub kind: TurnKind,
    /// The question or need.
    pub query: String,
    /// The profile whose feedback counts.
    pub feedback_profile: String,
    /// The cards that may be found; all if not given.
    pub allowed: Option<Arc<HashSet<String>>>,
    /// Whether the web may be used.
    pub web: bool,
    /// Whether the user's documents may be read.
    pub documents: bool,
    /// Whether the user's code may be read.
    pub code: bool,
}

/// The features for people that agents reach as well. The engine implements it, so that a change of a feature does not
/// compile this crate again.
#[async_trait]
pub trait Assistant: fmt::Debug + Send + Sync {
    /// Runs a turn in a session of its own and returns it once it has ended. `cancel` ends it.
    async fn run_turn(&self, request: TurnRequest, cancel: &CancellationToken) -> Result<Turn>;
    /// Quotes a chunk of a card's documentation page; `None` if there is none.
    async fn cite(&self, card: &CardId, chunk: u32) -> Result<Option<Citation>>;
    /// Searches the documents or the code that the user added.
    async fn search_memory(&self, query: MemoryQuery) -> Result<MemoryFound>;
    /// Adds a document, and returns in words what was read once it has been.
    async fn add_document(&self, location: &str, cancel: &CancellationToken) -> Result<String>;
    /// Drafts a card from a description in words.
    async fn draft(&self, description: &str) -> Result<Draft>;
    /// Adds a proposal to Review.
    async fn propose(&self, draft: Draft, by: &Author) -> Result<ProposalId>;
    /// Returns the order in which the language model puts candidates for a query, best first; `None` if no model is chosen.
    ///
    /// # Errors
    /// When the model fails, takes longer than the budget, or turns the order upside down.
    async fn rerank(
        &self,
        query: &str,
        candidates: &[Candidate],
        budget: Duration,
    ) -> Option<Result<Vec<usize>, NotReranked>>;
    /// Adds tools that could be installed to what a search found.
    async fn add_offers(&self, search: &Search, found: &mut SearchResults);
}
