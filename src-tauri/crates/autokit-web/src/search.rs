//! Web search with one result type: Tavily, Brave, SearXNG, DuckDuckGo, and GitHub as a source.
//!
//! Each service is requested at its usual URL or at one the user sets, so that a proxy, a self-hosted
//! instance or a test server can take its place. A configured service may be on this machine; the pages it
//! finds are subject to the general rules.

mod brave;
mod duckduckgo;
mod github;
mod searxng;
mod tavily;

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::body::one_line;
use crate::error::{Error, Result, without_key};
use crate::fetch::{Fetcher, ServiceAnswer, ServiceCall};

pub use github::{CodeFile, GitHub, Release, Repository, RepositoryFacts};

/// A search service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// tavily.com; needs a key.
    Tavily,
    /// Brave Search API; needs a key.
    Brave,
    /// A SearXNG instance with JSON output enabled.
    Searxng,
    /// DuckDuckGo's page for browsers without JavaScript; needs no key.
    Duckduckgo,
}

impl Service {
    /// All services.
    pub const ALL: [Service; 4] = [Service::Tavily, Service::Brave, Service::Searxng, Service::Duckduckgo];

    /// Returns the name for people.
    pub fn title(self) -> &'static str {
        match self {
            Service::Tavily => "Tavily",
            Service::Brave => "Brave Search",
            Service::Searxng => "SearXNG",
            Service::Duckduckgo => "DuckDuckGo",
        }
    }

    /// Returns the base URL used if the user sets none. SearXNG has no default.
    pub fn default_base_url(self) -> Option<&'static str> {
        match self {
            Service::Tavily => Some("https://api.tavily.com"),
            Service::Brave => Some("https://api.search.brave.com"),
            Service::Searxng => None,
            Service::Duckduckgo => Some("https://html.duckduckgo.com"),
        }
    }

    /// Whether it requires a key.
    pub fn needs_key(self) -> bool {
        matches!(self, Service::Tavily | Service::Brave)
    }
}

/// A search result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Its title, without markup.
    pub title: String,
    /// Its URL.
    pub url: String,
    /// A short extract, without markup.
    pub snippet: String,
}

/// One result, with the field names that the services use.
#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default, alias = "description")]
    content: Option<String>,
}

/// A list of results; services omit it if there are none.
#[derive(Default, Deserialize)]
struct Results {
    #[serde(default, deserialize_with = "skip_invalid")]
    results: Vec<Item>,
}

/// Deserializes the results that can be read; one that cannot is skipped without affecting the others.
fn skip_invalid<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<Item>, D::Error> {
    let all = Vec::<serde_json::Value>::deserialize(deserializer)?;
    Ok(all.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect())
}

/// Whether a URL may be shown to a person: a web page, without a user name in the URL.
fn is_page(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.has_host() && url.username().is_empty()
    })
}

impl Results {
    fn hits(self) -> Vec<Hit> {
        let hit = |item: Item| Hit {
            title: plain(&item.title),
            url: item.url,
            snippet: plain(&item.content.unwrap_or_default()),
        };
        self.results.into_iter().map(hit).collect()
    }
}

/// A configured search service.
#[derive(Clone)]
pub struct Provider {
    fetcher: Fetcher,
    service: Service,
    base: String,
    key: Option<String>,
}

impl std::fmt::Debug for Provider {
    // The key must not appear in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider")
            .field("service", &self.service)
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

impl Provider {
    /// Creates a service at its default URL or at `base`.
    ///
    /// # Errors
    /// [`Error::WrongAddress`] when there is no default and no `base`, or `base` is not valid;
    /// [`Error::WrongKey`] when it requires a key and there is none.
    pub fn new(
        fetcher: Fetcher,
        service: Service,
        base: Option<&str>,
        key: Option<String>,
    ) -> Result<Provider> {
        let base = base.map(str::trim).filter(|base| !base.is_empty()).or(service.default_base_url());
        let Some(base) = base else {
            return Err(Error::WrongAddress {
                provider: service.title().into(),
                url: "an empty URL".into(),
                reason: "enter the URL of your instance".into(),
            });
        };
        let wrong = |reason: String| Error::WrongAddress {
            provider: service.title().into(),
            url: base.into(),
            reason,
        };
        let url = url::Url::parse(base).map_err(|error| wrong(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(wrong("it must start with http:// or https:// and include a host".into()));
        }
        let key = key.filter(|key| !key.trim().is_empty());
        if service.needs_key() && key.is_none() {
            return Err(Error::WrongKey { provider: service.title().into() });
        }
        Ok(Provider { fetcher, service, base: base.trim_end_matches('/').to_owned(), key })
    }

    /// Returns which service it is.
    pub fn service(&self) -> Service {
        self.service
    }

    /// Searches for at most `limit` hits, best first, each URL once.
    ///
    /// # Errors
    /// Mapped to [`crate::Code::WrongKey`], `WrongAddress`, `RateLimited`, `Provider` or one of the network codes.
    pub async fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>> {
        let hits = match self.service {
            Service::Tavily => tavily::search(self, query, limit).await,
            Service::Brave => brave::search(self, query, limit).await,
            Service::Searxng => searxng::search(self, query).await,
            Service::Duckduckgo => duckduckgo::search(self, query).await,
        };
        let hits = hits.map_err(|error| error.without(self.key.as_deref()))?;
        let mut seen = std::collections::HashSet::new();
        Ok(hits
            .into_iter()
            .filter(|hit| is_page(&hit.url) && seen.insert(hit.url.clone()))
            .take(limit)
            .collect())
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        json: Option<&serde_json::Value>,
    ) -> Result<ServiceAnswer> {
        let (url, provider) = (format!("{}{path}", self.base), self.service.title());
        let call = ServiceCall { method, url: &url, headers: header_map(provider, headers)?, json };
        ask(&self.fetcher, provider, call, self.key.as_deref()).await
    }

    fn parse<T: DeserializeOwned>(&self, answer: &ServiceAnswer) -> Result<T> {
        parse(self.service.title(), &self.base, &answer.text)
    }
}

/// Builds the headers of a request. None of their values is logged.
fn header_map(provider: &str, headers: &[(&'static str, &str)]) -> Result<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let mut value =
            HeaderValue::from_str(value).map_err(|_| Error::WrongKey { provider: provider.to_owned() })?;
        value.set_sensitive(true);
        map.insert(HeaderName::from_static(name), value);
    }
    Ok(map)
}

/// Makes a request to a service and maps the errors that are common to all services. `key` is taken out of
/// what the service says about an error.
async fn ask(
    fetcher: &Fetcher,
    provider: &str,
    call: ServiceCall<'_>,
    key: Option<&str>,
) -> Result<ServiceAnswer> {
    let url = call.url;
    let answer = fetcher.call(call).await?;
    let wrong_address =
        |reason: String| Error::WrongAddress { provider: provider.into(), url: url.into(), reason };
    match answer.status {
        status if status.is_success() => Ok(answer),
        // Only sent to those who asked with the tag of what they have.
        StatusCode::NOT_MODIFIED => Ok(answer),
        StatusCode::UNAUTHORIZED | StatusCode::PAYMENT_REQUIRED => {
            Err(Error::WrongKey { provider: provider.into() })
        }
        // Brave answers a malformed key with 422, GitHub an exhausted rate limit with 403.
        StatusCode::UNPROCESSABLE_ENTITY if answer.text.contains("SUBSCRIPTION_TOKEN") => {
            Err(Error::WrongKey { provider: provider.into() })
        }
        status if is_rate_limit(status, &answer.headers) => {
            let retry_after = answer.retry_after().or_else(|| until_reset(&answer.headers));
            Err(Error::RateLimited { provider: provider.into(), retry_after })
        }
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
            Err(wrong_address(answer.status.to_string()))
        }
        status if status.is_redirection() => Err(wrong_address(format!("it returned {status}"))),
        status => {
            // Some services echo what they were sent. The key is taken out before the text is shortened, or
            // the beginning of a key at the cut would stay.
            let text = without_key(&answer.text, key);
            Err(Error::Provider { provider: provider.into(), reason: provider_message(status, &text) })
        }
    }
}

fn parse<T: DeserializeOwned>(provider: &str, url: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        // A web page instead of an API response means a wrong URL, not a fault of the service.
        if text.trim_start().starts_with('<') {
            Error::WrongAddress {
                provider: provider.into(),
                url: url.into(),
                reason: "it returned a web page".into(),
            }
        } else {
            Error::Provider { provider: provider.into(), reason: format!("invalid response: {error}") }
        }
    })
}

/// Whether an answer says that there were too many requests. GitHub says so with 403 too, for its main limit with nothing
/// remaining and for others with a time to wait.
fn is_rate_limit(status: StatusCode, headers: &HeaderMap) -> bool {
    let exhausted = || headers.get("x-ratelimit-remaining").is_some_and(|left| left == "0");
    status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::FORBIDDEN && (exhausted() || headers.contains_key("retry-after"))
}

/// Returns how long a rate limit lasts, from the time at which it ends and the time of the answer.
fn until_reset(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let reset: i64 = text("x-ratelimit-reset")?.parse().ok()?;
    let answered = jiff::fmt::rfc2822::parse(text("date")?).ok()?.timestamp().as_second();
    u64::try_from(reset - answered).ok().map(Duration::from_secs)
}

/// Formats a status with the start of the response, without markup.
fn provider_message(status: StatusCode, text: &str) -> String {
    let text = plain(text);
    let start: String = text.chars().take(200).collect();
    if start.is_empty() { status.to_string() } else { format!("{status}: {start}") }
}

/// Returns text without tags and entities, on one line.
fn plain(html: &str) -> String {
    let text = if html.contains(['<', '&']) {
        dom_query::Document::fragment(html).text().to_string()
    } else {
        html.to_owned()
    };
    one_line(&text)
}

/// Encodes `text` as a query parameter.
fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
