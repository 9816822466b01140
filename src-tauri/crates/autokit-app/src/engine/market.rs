//! Tools that are not here yet: registries of MCP servers and published bundles, asked when a person
//! searches there or the library has too little for an agent (Kaman, section 10).
//!
//! | module | what it holds |
//! |---|---|
//! | [`asking`] | sources asked at once, with a deadline, and what they said remembered for a while |
//! | [`shared`] | the cards of a bundle somebody published |
//! | [`agents`] | what an agent is told when the library has too little |
//! | [`install`] | what installing would do, for a person to confirm |
//!
//! No source is set up to begin with, and without one nothing is asked.

mod agents;
mod asking;
mod install;
mod shared;
#[cfg(test)]
mod tests;

use std::time::Duration;

use autokit_api::commands::{
    AddMarketSource, Context, Handle, ListMarketSources, RemoveMarketSource, SearchMarket,
};
use autokit_api::{
    MarketFound, MarketKind, MarketQuery, MarketSource, MarketSourceAdd, MarketSourceRef, Nothing, Setting,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_mcp_client::market::Registry;

use super::{Core, Engine};
pub(crate) use asking::Market;

/// Sources at most: each of them is asked by every search.
const MOST_SOURCES: usize = 10;
/// How long a person waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Results when nobody says how many.
const RESULTS: u32 = 20;
/// Results at most.
const MOST_RESULTS: u32 = 100;

impl Core {
    pub(super) async fn market_sources(&self) -> Result<Vec<MarketSource>> {
        Ok(self.workspace.saved(Setting::MarketSources).await?.unwrap_or_default())
    }

    async fn change_market_sources(
        &self,
        change: impl FnOnce(&mut Vec<MarketSource>) -> Result<()>,
    ) -> Result<Vec<MarketSource>> {
        let _turn = self.market.writing.lock().await;
        let mut sources = self.market_sources().await?;
        change(&mut sources)?;
        self.workspace.save(Setting::MarketSources, &sources).await?;
        Ok(sources)
    }

    pub(super) async fn market_source(&self, id: &str) -> Result<MarketSource> {
        self.market_sources().await?.into_iter().find(|source| source.id == id).ok_or_else(|| no_source(id))
    }
}

fn no_source(id: &str) -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        format!("there is no source {id:?}"),
        "See which there are in the list of sources.",
    )
}

impl Handle<ListMarketSources> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<MarketSource>> {
        self.core.market_sources().await
    }
}

impl Handle<AddMarketSource> for Engine {
    async fn handle(&self, _: &Context, request: MarketSourceAdd) -> Result<Vec<MarketSource>> {
        let url = request.url.trim();
        let is_bundle = || url.split(['?', '#']).next().is_some_and(|path| path.ends_with(".toolcards"));
        let told = if is_bundle() { MarketKind::Bundle } else { MarketKind::Registry };
        let kind = request.kind.unwrap_or(told);
        // Of either sort it has to be an address of the web.
        let registry = Registry::at(self.core.providers.services().fetcher.clone(), url)?;
        let url = if kind == MarketKind::Registry { registry.address().to_owned() } else { url.to_owned() };
        let source = MarketSource { id: crate::token(3), kind, url };
        let add = |sources: &mut Vec<MarketSource>| {
            if sources.iter().any(|other| other.url == source.url) {
                return Err(ApiError::new(
                    ErrorCode::Duplicate,
                    format!("{} is a source already", source.url),
                    "There is nothing to do.",
                ));
            }
            if sources.len() >= MOST_SOURCES {
                return Err(ApiError::new(
                    ErrorCode::Invalid,
                    format!("there are {MOST_SOURCES} sources already, and every search asks each of them"),
                    "Remove one first.",
                ));
            }
            sources.push(source);
            Ok(())
        };
        self.core.change_market_sources(add).await
    }
}

impl Handle<RemoveMarketSource> for Engine {
    async fn handle(&self, _: &Context, request: MarketSourceRef) -> Result<Vec<MarketSource>> {
        let remove = |sources: &mut Vec<MarketSource>| {
            let were = sources.len();
            sources.retain(|source| source.id != request.id);
            if sources.len() == were { Err(no_source(&request.id)) } else { Ok(()) }
        };
        self.core.change_market_sources(remove).await
    }
}

impl Handle<SearchMarket> for Engine {
    async fn handle(&self, _: &Context, request: MarketQuery) -> Result<MarketFound> {
        if request.query.trim().is_empty() {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "the query is empty",
                "Say in words what you look for.",
            ));
        }
        let limit = request.limit.unwrap_or(RESULTS).clamp(1, MOST_RESULTS) as usize;
        let sources = self.core.market_sources().await?;
        if sources.is_empty() {
            let note = "No source of tools is set up.".to_owned();
            return Ok(MarketFound { offers: Vec::new(), notes: vec![note] });
        }
        let mut found = self.core.ask_market(&sources, &request.query, PATIENCE, true).await?;
        found.offers.truncate(limit);
        Ok(found)
    }
}
