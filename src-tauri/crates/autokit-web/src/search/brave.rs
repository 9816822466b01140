//! Brave's `GET /res/v1/web/search` (Brave Search API documentation).

use reqwest::Method;
use serde::Deserialize;

use super::{Hit, Provider, Results, encoded};
use crate::error::Result;

/// Most results per page.
const MAX_RESULTS: usize = 20;

/// Limits of a query, in characters and words.
const QUERY: (usize, usize) = (400, 50);

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    web: Option<Results>,
}

pub(super) async fn search(provider: &Provider, query: &str, limit: usize) -> Result<Vec<Hit>> {
    let words = query.split_whitespace().take(QUERY.1).collect::<Vec<_>>().join(" ");
    let query: String = words.chars().take(QUERY.0).collect();
    let path = format!("/res/v1/web/search?q={}&count={}", encoded(&query), limit.clamp(1, MAX_RESULTS));
    let key = provider.key.as_deref().unwrap_or_default();
    let headers = [("x-subscription-token", key), ("accept", "application/json")];
    let answer = provider.ask(Method::GET, &path, &headers, None).await?;
    Ok(provider.parse::<Answer>(&answer)?.web.unwrap_or_default().hits())
}
