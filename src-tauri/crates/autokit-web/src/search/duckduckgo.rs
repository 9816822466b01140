//! DuckDuckGo's page for browsers without JavaScript: `GET /html/?q=`.

use dom_query::Document;
use reqwest::Method;
use url::Url;

use super::{Hit, Provider, encoded};
use crate::body::one_line;
use crate::error::{Error, Result};

pub(super) async fn search(provider: &Provider, query: &str) -> Result<Vec<Hit>> {
    let path = format!("/html/?q={}", encoded(query));
    let answer = provider.ask(Method::GET, &path, &[("accept", "text/html")], None).await?;
    let page = Document::from(answer.text.as_str());
    let mut hits = Vec::new();
    for node in page.select(".result").nodes() {
        // Advertisements are marked up as results, but are of no use to a person looking for a tool.
        if node.has_class("result--ad") {
            continue;
        }
        let result = dom_query::Selection::from(*node);
        let link = result.select("a.result__a").first();
        let Some(url) = link.attr("href").and_then(|href| target(&href)) else { continue };
        hits.push(Hit {
            title: one_line(&link.text()),
            url,
            snippet: one_line(&result.select(".result__snippet").first().text()),
        });
    }
    // Rate-limited clients get a challenge instead of results, with an uninformative status.
    if hits.is_empty()
        && (page.select(".anomaly-modal__title, #challenge-form").exists() || answer.status == 202)
    {
        return Err(Error::RateLimited {
            provider: provider.service().title().into(),
            retry_after: answer.retry_after(),
        });
    }
    if hits.is_empty() && !page.select(".no-results, .result--no-result, #links, .results, form").exists() {
        return Err(Error::WrongAddress {
            provider: provider.service().title().into(),
            url: provider.base.clone(),
            reason: "the response is not a results page".into(),
        });
    }
    Ok(hits)
}

/// Resolves links that lead through the redirect at `/l/?uddg=` to their target.
fn target(href: &str) -> Option<String> {
    let absolute = if href.starts_with("//") { format!("https:{href}") } else { href.to_owned() };
    let url = Url::parse(&absolute)
        .or_else(|_| Url::parse("https://duckduckgo.com").and_then(|home| home.join(&absolute)))
        .ok()?;
    if url.path() == "/l/" {
        return url.query_pairs().find(|(name, _)| name == "uddg").map(|(_, value)| value.into_owned());
    }
    matches!(url.scheme(), "http" | "https").then(|| url.to_string())
}
