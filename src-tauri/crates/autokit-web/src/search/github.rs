//! GitHub as a source: repositories by description, facts about a repository, and code (REST API 2022-11-28).
//!
//! Answers are kept with their tags, so that asking again costs nothing of the rate limit while nothing changed; and
//! while the limit is exhausted, nothing is sent.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lru::LruCache;
use reqwest::{Method, StatusCode};
use serde::{Deserialize, Serialize};

use tokio::time::Instant;

use super::{ServiceCall, ask, encoded, header_map, parse};
use crate::error::{Error, Result};
use crate::fetch::{Fetcher, ServiceAnswer};

/// Name used in messages.
const NAME: &str = "GitHub";

/// Default base URL.
const HOME: &str = "https://api.github.com";

/// Answers kept.
const CACHED: NonZeroUsize = NonZeroUsize::new(256).expect("not zero");

/// Longest answer kept, in bytes.
const MAX_CACHED: usize = 256 << 10;

/// Longest start of a README that is part of the facts, in characters.
const README: usize = 4000;

/// Pause when GitHub does not say how long a limit lasts, as its documentation asks.
const PAUSE: Duration = Duration::from_mins(1);

/// Longest pause that is kept to when a limit is exhausted; GitHub's windows are an hour.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

const JSON: &str = "application/vnd.github+json";
const RAW: &str = "application/vnd.github.raw+json";

/// Facts about a repository, used as evidence about a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// `owner/name`.
    pub full_name: String,
    /// Its page.
    pub html_url: String,
    /// Description in one line.
    #[serde(default)]
    pub description: Option<String>,
    /// Homepage of the project.
    #[serde(default)]
    pub homepage: Option<String>,
    /// Main programming language.
    #[serde(default)]
    pub language: Option<String>,
    /// Number of stars.
    #[serde(default, rename = "stargazers_count")]
    pub stars: u64,
    /// SPDX identifier of the license, if GitHub recognises it.
    #[serde(default, deserialize_with = "spdx")]
    pub license: Option<String>,
    /// Time of the last push, RFC 3339.
    #[serde(default)]
    pub pushed_at: Option<String>,
    /// Whether it is archived, and thus read-only.
    #[serde(default)]
    pub archived: bool,
    /// Topics that its owner chose.
    #[serde(default)]
    pub topics: Vec<String>,
}

/// A release of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// Its tag.
    pub tag_name: String,
    /// Its page.
    pub html_url: String,
    /// When it was published, RFC 3339.
    #[serde(default)]
    pub published_at: Option<String>,
}

/// What GitHub knows about a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryFacts {
    /// The repository.
    pub repository: Repository,
    /// Its newest release; `None` if there is none.
    pub latest_release: Option<Release>,
    /// The start of its README; `None` if there is none.
    pub readme: Option<String>,
}

/// Returns `owner/name` of a repository from the address of one of its pages on a host; `None` for other addresses.
fn repository_of(url: &str, host: &str) -> Option<String> {
    let url = url::Url::parse(url).ok()?;
    if url.host_str()?.trim_start_matches("www.") != host {
        return None;
    }
    let mut segments = url.path_segments()?;
    let (owner, name) = (segments.next()?, segments.next()?);
    let name = name.strip_suffix(".git").unwrap_or(name);
    let full_name = format!("{owner}/{name}");
    // Pages of GitHub itself, such as github.com/topics/x.
    let own = [
        "topics",
        "orgs",
        "features",
        "marketplace",
        "sponsors",
        "collections",
        "settings",
        "search",
        "about",
    ];
    (is_full_name(&full_name) && !own.contains(&owner)).then_some(full_name)
}

/// Whether a text is `owner/name`.
fn is_full_name(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
            && part != "."
            && part != ".."
    };
    matches!(text.split_once('/'), Some((owner, name)) if plain(owner) && plain(name))
}

fn spdx<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum License {
        Object { spdx_id: Option<String> },
        Text(String),
    }
    let license = Option::<License>::deserialize(deserializer)?;
    Ok(license
        .and_then(|license| match license {
            License::Object { spdx_id } => spdx_id,
            License::Text(text) => Some(text),
        })
        .filter(|id| id != "NOASSERTION"))
}

/// GitHub's API, with or without a token (60 requests an hour without one). Clones share what they keep.
#[derive(Clone)]
pub struct GitHub {
    fetcher: Fetcher,
    base: String,
    token: Option<String>,
    /// Answers by path and media type, with their tags.
    answers: Arc<Mutex<LruCache<(String, &'static str), Tagged>>>,
    /// Until when nothing is sent: searches, whose limit is of its own, and everything else.
    paused_until: Arc<Mutex<[Option<Instant>; 2]>>,
}

/// An answer and the tag by which GitHub tells whether it is still right.
#[derive(Clone)]
struct Tagged {
    tag: String,
    text: String,
}

impl std::fmt::Debug for GitHub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitHub").field("base", &self.base).finish_non_exhaustive()
    }
}

/// A file found by code search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeFile {
    /// Path in the repository.
    pub path: String,
    /// Its page.
    pub html_url: String,
    /// The repository as far as GitHub includes it here: name and page, but not the stars.
    pub repository: Repository,
}

#[derive(Deserialize)]
struct FoundCode {
    #[serde(default)]
    items: Vec<CodeFile>,
}

#[derive(Deserialize)]
struct Found {
    #[serde(default)]
    items: Vec<Repository>,
}

impl GitHub {
    /// Creates a client for GitHub or, for GitHub Enterprise, for `base`.
    pub fn new(fetcher: Fetcher, base: Option<&str>, token: Option<String>) -> GitHub {
        let base = base.map(str::trim).filter(|base| !base.is_empty()).unwrap_or(HOME);
        let token = token.filter(|token| !token.trim().is_empty());
        let base = base.trim_end_matches('/').to_owned();
        let answers = Arc::new(Mutex::new(LruCache::new(CACHED)));
        GitHub { fetcher, base, token, answers, paused_until: Arc::default() }
    }

    /// Returns `owner/name` of a repository from the address of one of its pages; `None` for addresses elsewhere.
    pub fn repository_of(&self, url: &str) -> Option<String> {
        let base = url::Url::parse(&self.base).ok()?;
        // GitHub's API is at api.github.com, that of GitHub Enterprise below its own address.
        repository_of(url, base.host_str()?.trim_start_matches("api."))
    }

    /// Searches for repositories, best first.
    ///
    /// # Errors
    /// As [`super::Provider::search`].
    pub async fn repositories(&self, query: &str, limit: usize) -> Result<Vec<Repository>> {
        let path = format!("/search/repositories?q={}&per_page={}", encoded(query), limit.clamp(1, 100));
        let found: Found = self.get(&path).await?;
        Ok(found.items)
    }

    /// Whether code can be searched, for which GitHub requires a token.
    pub fn searches_code(&self) -> bool {
        self.token.is_some()
    }

    /// Searches for files that contain these words, best first.
    ///
    /// # Errors
    /// As [`super::Provider::search`]; [`crate::Code::WrongKey`] without a token.
    pub async fn code(&self, query: &str, limit: usize) -> Result<Vec<CodeFile>> {
        if !self.searches_code() {
            return Err(Error::WrongKey { provider: NAME.into() });
        }
        let path = format!("/search/code?q={}&per_page={}", encoded(query), limit.clamp(1, 100));
        let found: FoundCode = self.get(&path).await?;
        Ok(found.items)
    }

    /// Returns the text of a file of a repository, or `None` if it does not exist.
    ///
    /// # Errors
    /// As [`super::Provider::search`].
    pub async fn file(&self, full_name: &str, path: &str) -> Result<Option<String>> {
        if !is_full_name(full_name) {
            return Err(Error::BadUrl { url: full_name.into(), reason: "it must be owner/name".into() });
        }
        // Outside of a query a plus is a plus.
        let path: Vec<String> = path.split('/').map(|part| encoded(part).replace('+', "%20")).collect();
        existing(self.text(&format!("/repos/{full_name}/contents/{}", path.join("/")), RAW).await)
    }

    /// Returns facts about a repository, or `None` if it does not exist.
    ///
    /// # Errors
    /// As [`super::Provider::search`].
    pub async fn repository(&self, full_name: &str) -> Result<Option<Repository>> {
        if !is_full_name(full_name) {
            return Err(Error::BadUrl { url: full_name.into(), reason: "it must be owner/name".into() });
        }
        existing(self.get(&format!("/repos/{full_name}")).await)
    }

    /// Returns what GitHub knows about a repository, with its newest release and, if wanted, the start of its README; or
    /// `None` if it does not exist. What cannot be had besides the repository itself is left out.
    ///
    /// # Errors
    /// As [`super::Provider::search`].
    pub async fn facts(&self, full_name: &str, readme: bool) -> Result<Option<RepositoryFacts>> {
        let Some(repository) = self.repository(full_name).await? else { return Ok(None) };
        let release = existing(self.get(&format!("/repos/{full_name}/releases/latest")).await);
        let latest_release = or_left_out(release, full_name);
        let readme = if readme {
            let text = existing(self.text(&format!("/repos/{full_name}/readme"), RAW).await);
            or_left_out(text, full_name).map(|text| text.chars().take(README).collect())
        } else {
            None
        };
        Ok(Some(RepositoryFacts { repository, latest_release, readme }))
    }

    async fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T> {
        let text = self.text(path, JSON).await?;
        // What it returned may repeat the token.
        let read = parse(NAME, &format!("{}{path}", self.base), &text);
        read.map_err(|error| error.without(self.token.as_deref()))
    }

    /// Returns an answer, or the one kept if GitHub says that it is still right.
    async fn text(&self, path: &str, media_type: &'static str) -> Result<String> {
        let limit = usize::from(path.starts_with("/search/"));
        if let Some(pause) = self.pause(limit) {
            return Err(Error::RateLimited { provider: NAME.into(), retry_after: Some(pause) });
        }
        let key = (path.to_owned(), media_type);
        let known = self.answers.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let url = format!("{}{path}", self.base);
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let mut headers = vec![("accept", media_type), ("x-github-api-version", "2022-11-28")];
        headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
        headers.extend(known.as_ref().map(|known| ("if-none-match", known.tag.as_str())));
        let headers = header_map(NAME, &headers)?;
        let call = ServiceCall { method: Method::GET, url: &url, headers, json: None };
        let token = self.token.as_deref();
        let answer = match ask(&self.fetcher, NAME, call, token).await {
            Ok(answer) => answer,
            Err(error) => {
                if let Error::RateLimited { retry_after, .. } = &error {
                    let until = Instant::now() + retry_after.unwrap_or(PAUSE).min(LONGEST_PAUSE);
                    self.paused_until.lock().unwrap_or_else(PoisonError::into_inner)[limit] = Some(until);
                }
                return Err(error.without(token));
            }
        };
        match known {
            Some(known) if answer.status == StatusCode::NOT_MODIFIED => Ok(known.text),
            _ => {
                self.keep(key, &answer);
                Ok(answer.text)
            }
        }
    }

    /// Returns how long nothing may be sent.
    fn pause(&self, limit: usize) -> Option<Duration> {
        let until = self.paused_until.lock().unwrap_or_else(PoisonError::into_inner)[limit]?;
        until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    fn keep(&self, key: (String, &'static str), answer: &ServiceAnswer) {
        let tag = answer.headers.get("etag").and_then(|tag| tag.to_str().ok());
        if let Some(tag) = tag.filter(|_| answer.text.len() <= MAX_CACHED) {
            let kept = Tagged { tag: tag.to_owned(), text: answer.text.clone() };
            self.answers.lock().unwrap_or_else(PoisonError::into_inner).put(key, kept);
        }
    }
}

/// Turns "not found" into `None`.
fn existing<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(Error::WrongAddress { reason, .. }) if reason.starts_with("404") => Ok(None),
        Err(error) => Err(error),
    }
}

/// Leaves out what cannot be had, and logs why.
fn or_left_out<T>(answer: Result<Option<T>>, repository: &str) -> Option<T> {
    answer.unwrap_or_else(|error| {
        tracing::info!(%error, repository, "left out of the facts about a repository");
        None
    })
}
