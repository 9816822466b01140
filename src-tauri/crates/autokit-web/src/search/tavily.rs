//! Tavily's `POST /search` (docs.tavily.com, API reference).

use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use super::{Hit, Provider, plain};
use crate::error::Result;

/// Most results it gives.
const MOST: usize = 20;

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    results: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    content: String,
}

pub(super) async fn search(provider: &Provider, query: &str, limit: usize) -> Result<Vec<Hit>> {
    let body = json!({ "query": query, "max_results": limit.clamp(1, MOST), "search_depth": "basic" });
    let bearer = format!("Bearer {}", provider.key.as_deref().unwrap_or_default());
    let answer = provider.ask(Method::POST, "/search", &[("authorization", &bearer)], Some(&body)).await?;
    let answer: Answer = provider.parse(&answer)?;
    Ok(answer
        .results
        .into_iter()
        .map(|item| Hit { title: plain(&item.title), url: item.url, snippet: plain(&item.content) })
        .collect())
}
