//! SearXNG's `GET /search?format=json` (docs.searxng.org, search API).

use reqwest::Method;

use super::{Hit, Provider, Results, encoded};
use crate::error::{Error, Result};

pub(super) async fn search(provider: &Provider, query: &str) -> Result<Vec<Hit>> {
    let path = format!("/search?q={}&format=json", encoded(query));
    let answer = match provider.ask(Method::GET, &path, &[("accept", "application/json")], None).await {
        // An instance with JSON disabled answers 403; its operator has to enable it.
        Err(Error::Provider { provider, reason }) if reason.starts_with("403") => {
            return Err(Error::WrongAddress {
                provider,
                url: path,
                reason:
                    "the instance does not return JSON; allow `json` under search.formats in its settings"
                        .into(),
            });
        }
        other => other?,
    };
    Ok(provider.parse::<Results>(&answer)?.hits())
}
