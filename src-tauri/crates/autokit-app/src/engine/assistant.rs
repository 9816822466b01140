//! The features for people, as the tools of agents use them.

use std::time::Duration;

use async_trait::async_trait;
use autokit_agent::ask::Citation;
use autokit_agent::rerank::{Candidate, NotReranked, Reranker};
use autokit_api::{MemoryFound, MemoryHit, MemoryKind, MemoryQuery, Turn};
use autokit_error::{ApiError, Result};
use autokit_features::agent::{AddedSources, Agent};
use autokit_features::library_retriever::AgentCaller;
use autokit_features::market::Market;
use autokit_features::review::Proposals;
use autokit_features::sessions::running;
use autokit_gateway::{Search, SearchResults};
use autokit_memory::Memory;
use autokit_serving::assistant::{Assistant, TurnRequest};
use autokit_toolcard::{Author, CardId, Draft, ProposalId};
use autokit_workspace::providers::Providers;
use tokio_util::sync::CancellationToken;

/// The documents and code that people added, as the agent reads them.
#[derive(Debug)]
pub(super) struct AddedMemory(pub(super) Memory);

#[async_trait]
impl AddedSources for AddedMemory {
    async fn cite(&self, question: &str) -> Result<Vec<MemoryHit>> {
        self.0.cite(question).await
    }

    async fn search(&self, kind: MemoryKind, query: &str, limit: usize) -> Result<Vec<MemoryHit>> {
        let query = MemoryQuery { kind, query: query.to_owned(), limit: Some(limit as u32) };
        Ok(self.0.search(query).await?.hits)
    }
}

/// The agent, the review queue, the registries and the language model.
#[derive(Debug)]
pub(super) struct Features {
    pub(super) agent: Agent,
    pub(super) memory: Memory,
    pub(super) proposals: Proposals,
    pub(super) market: Market,
    pub(super) providers: Providers,
    pub(super) reranker: Reranker,
}

#[async_trait]
impl Assistant for Features {
    async fn run_turn(&self, request: TurnRequest, cancel: &CancellationToken) -> Result<Turn> {
        let TurnRequest { kind, query, feedback_profile, allowed, web, documents, code } = request;
        let (entry, at) = self.agent.start_turn_in(None, kind, &query, None).await?;
        let caller =
            AgentCaller { feedback_profile, allowed, web, documents, code, candidates: None, rounds: None };
        self.agent.sessions.spawn(self.agent.clone().run_turn(entry.clone(), at, caller));
        let mut watch = entry.state.subscribe();
        tokio::select! {
            finished = watch.wait_for(|session| !running(session)) => {
                drop(finished.map_err(|_| ApiError::cancelled())?);
            }
            () = cancel.cancelled() => {
                entry.cancel.cancel();
                return Err(ApiError::cancelled());
            }
        }
        let turn = entry.state.borrow().turns[at].clone();
        Ok(turn)
    }

    async fn cite(&self, card: &CardId, chunk: u32) -> Result<Option<Citation>> {
        self.agent.cite(card, chunk).await
    }

    async fn search_memory(&self, query: MemoryQuery) -> Result<MemoryFound> {
        self.memory.search(query).await
    }

    async fn add_document(&self, location: &str, cancel: &CancellationToken) -> Result<String> {
        self.memory.add_document(location, cancel).await
    }

    async fn draft(&self, description: &str) -> Result<Draft> {
        self.proposals.draft_from_description(description).await
    }

    async fn propose(&self, draft: Draft, by: &Author) -> Result<ProposalId> {
        Ok(self.proposals.propose(draft, by, None).await?.proposal.id)
    }

    async fn rerank(
        &self,
        query: &str,
        candidates: &[Candidate],
        budget: Duration,
    ) -> Option<std::result::Result<Vec<usize>, NotReranked>> {
        let services = self.providers.services();
        let small = services.small.as_ref()?;
        Some(self.reranker.order(small, &services.prompts, query, candidates, budget).await)
    }

    async fn add_offers(&self, search: &Search, found: &mut SearchResults) {
        self.market.add_offers(search, found).await;
    }
}
