//! Brave's `GET /res/v1/web/search` (Brave Search API documentation).

use reqwest::Method;
use serde::Deserialize;

use super::{Hit, Provider, encoded, plain};
use crate::error::Result;

/// Most results it gives on one page.
const MOST: usize = 20;

/// Longest query it takes, in characters and words.
const QUERY: (usize, usize) = (400, 50);

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    web: Option<Web>,
}

#[derive(Deserialize)]
struct Web {
    #[serde(default)]
    results: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    description: String,
}

pub(super) async fn search(provider: &Provider, query: &str, limit: usize) -> Result<Vec<Hit>> {
    let words = query.split_whitespace().take(QUERY.1).collect::<Vec<_>>().join(" ");
    let query: String = words.chars().take(QUERY.0).collect();
    let path = format!("/res/v1/web/search?q={}&count={}", encoded(&query), limit.clamp(1, MOST));
    let key = provider.key.as_deref().unwrap_or_default();
    let headers = [("x-subscription-token", key), ("accept", "application/json")];
    let answer = provider.ask(Method::GET, &path, &headers, None).await?;
    let answer: Answer = provider.parse(&answer)?;
    Ok(answer
        .web
        .map(|web| web.results)
        .unwrap_or_default()
        .into_iter()
        .map(|item| Hit { title: plain(&item.title), url: item.url, snippet: plain(&item.description) })
        .collect())
}
