//! The marketplace: tools that can be installed, from registries of MCP servers and published bundles. They
//! are queried when a person searches there, or when the library has too few results for an agent (Kaman,
//! section 10).
//!
//! | module | contents |
//! |---|---|
//! | [`query`] | queries to all sources at once, with a deadline and a cache of the answers |
//! | [`shared`] | the cards of a published bundle |
//! | [`agents`] | what an agent is told when the library has too few results |
//! | [`install`] | what installing would do, for a person to confirm |
//!
//! No source is configured by default, and without one nothing is queried.

mod agents;
mod install;
mod query;
mod shared;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autokit_api::commands::{
    AddMarketSource, Context, Handle, ListMarketSources, RemoveMarketSource, SearchMarket,
};
use autokit_api::{
    MarketFound, MarketKind, MarketQuery, MarketSource, MarketSourceAdd, MarketSourceRef, Nothing, Setting,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_mcp_client::market::Registry;
use autokit_workspace::models::Models;
use autokit_workspace::options::EngineOptions;
use autokit_workspace::providers::Providers;
use autokit_workspace::workspace::Workspace;
use tokio::sync::Mutex;

use autokit_upstream::servers::KnownServers;
use query::AnswerCache;

/// Most sources: every search queries each of them.
const MAX_SOURCES: usize = 10;
/// How long a person's search waits for the sources.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(10);
/// Default number of results.
const DEFAULT_RESULTS: u32 = 20;
/// Most results.
const MAX_RESULTS: u32 = 100;

/// Sources of tools that can be installed. Clones share state.
#[derive(Clone, Debug)]
pub struct Market {
    workspace: Workspace,
    models: Models,
    providers: Providers,
    servers: KnownServers,
    /// How long an agent's search waits for the sources.
    deadline: Duration,
    answers: Arc<AnswerCache>,
    /// Serializes writes to the list of sources.
    writing: Arc<Mutex<()>>,
}

impl Market {
    /// Searches the sources of this library. Searches of agents use the deadline in `options`.
    pub fn new(
        workspace: Workspace,
        models: Models,
        providers: Providers,
        servers: KnownServers,
        options: &EngineOptions,
    ) -> Market {
        let (answers, writing) = (Arc::default(), Arc::default());
        Market { workspace, models, providers, servers, deadline: options.market_timeout, answers, writing }
    }

    /// Returns the sources.
    ///
    /// # Errors
    /// If the setting cannot be read.
    pub async fn sources(&self) -> Result<Vec<MarketSource>> {
        Ok(self.workspace.load_setting(Setting::MarketSources).await?.unwrap_or_default())
    }

    async fn change(
        &self,
        change: impl FnOnce(&mut Vec<MarketSource>) -> Result<()>,
    ) -> Result<Vec<MarketSource>> {
        let _writing = self.writing.lock().await;
        let mut sources = self.sources().await?;
        change(&mut sources)?;
        self.workspace.save_setting(Setting::MarketSources, &sources).await?;
        Ok(sources)
    }

    async fn source(&self, id: &str) -> Result<MarketSource> {
        self.sources().await?.into_iter().find(|source| source.id == id).ok_or_else(|| no_source(id))
    }
}

fn no_source(id: &str) -> ApiError {
    ApiError::new(ErrorCode::NotFound, format!("registry {id:?} not found"), "Check the list of registries.")
}

#[async_trait]
impl Handle<ListMarketSources> for Market {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<MarketSource>> {
        self.sources().await
    }
}

#[async_trait]
impl Handle<AddMarketSource> for Market {
    async fn handle(&self, _: &Context, request: MarketSourceAdd) -> Result<Vec<MarketSource>> {
        let url = request.url.trim();
        let is_bundle = || url.split(['?', '#']).next().is_some_and(|path| path.ends_with(".toolcards"));
        let guessed = if is_bundle() { MarketKind::Bundle } else { MarketKind::Registry };
        let kind = request.kind.unwrap_or(guessed);
        // Also validates the address of a bundle: both kinds need a web address.
        let registry = Registry::new(self.providers.services().fetcher.clone(), url)?;
        let url = if kind == MarketKind::Registry { registry.address().to_owned() } else { url.to_owned() };
        let source = MarketSource { id: autokit_workspace::token(3), kind, url };
        let add = |sources: &mut Vec<MarketSource>| {
            if sources.iter().any(|other| other.url == source.url) {
                return Err(ApiError::new(
                    ErrorCode::Duplicate,
                    format!("{} is already added", source.url),
                    "Nothing to do.",
                ));
            }
            if sources.len() >= MAX_SOURCES {
                return Err(ApiError::new(
                    ErrorCode::Invalid,
                    format!("there are already {MAX_SOURCES} registries, the maximum"),
                    "Remove one first.",
                ));
            }
            sources.push(source);
            Ok(())
        };
        self.change(add).await
    }
}

#[async_trait]
impl Handle<RemoveMarketSource> for Market {
    async fn handle(&self, _: &Context, request: MarketSourceRef) -> Result<Vec<MarketSource>> {
        let remove = |sources: &mut Vec<MarketSource>| {
            let before = sources.len();
            sources.retain(|source| source.id != request.id);
            if sources.len() == before { Err(no_source(&request.id)) } else { Ok(()) }
        };
        self.change(remove).await
    }
}

#[async_trait]
impl Handle<SearchMarket> for Market {
    async fn handle(&self, _: &Context, request: MarketQuery) -> Result<MarketFound> {
        if request.query.trim().is_empty() {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "the query is empty",
                "Describe what you need.",
            ));
        }
        let limit = request.limit.unwrap_or(DEFAULT_RESULTS).clamp(1, MAX_RESULTS) as usize;
        let sources = self.sources().await?;
        if sources.is_empty() {
            let note = "No registry is configured.".to_owned();
            return Ok(MarketFound { offers: Vec::new(), notes: vec![note] });
        }
        let mut found = self.query(&sources, &request.query, SEARCH_TIMEOUT, true).await?;
        found.offers.truncate(limit);
        Ok(found)
    }
}
