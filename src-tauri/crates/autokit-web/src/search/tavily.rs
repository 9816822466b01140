//! Tavily's `POST /search` (docs.tavily.com, API reference).

use reqwest::Method;
use serde_json::json;

use super::{Hit, Provider, Results};
use crate::error::Result;

/// Most results per request.
const MAX_RESULTS: usize = 20;

pub(super) async fn search(provider: &Provider, query: &str, limit: usize) -> Result<Vec<Hit>> {
    let body = json!({ "query": query, "max_results": limit.clamp(1, MAX_RESULTS), "search_depth": "basic" });
    let bearer = format!("Bearer {}", provider.key.as_deref().unwrap_or_default());
    let answer = provider.ask(Method::POST, "/search", &[("authorization", &bearer)], Some(&body)).await?;
    Ok(provider.parse::<Results>(&answer)?.hits())
}
