//! GitHub as a source: repositories by description, and facts about a repository (REST API 2022-11-28).

use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::{ServiceCall, ask, encoded, header_map, parse};
use crate::error::{Error, Result};
use crate::fetch::Fetcher;

/// Name used in messages.
const NAME: &str = "GitHub";

/// Default base URL.
const HOME: &str = "https://api.github.com";

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

/// GitHub's search, with or without a token (60 requests an hour without one).
#[derive(Clone)]
pub struct GitHub {
    fetcher: Fetcher,
    base: String,
    token: Option<String>,
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
        GitHub { fetcher, base: base.trim_end_matches('/').to_owned(), token }
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

    /// Returns facts about a repository, or `None` if it does not exist.
    ///
    /// # Errors
    /// As [`super::Provider::search`].
    pub async fn repository(&self, full_name: &str) -> Result<Option<Repository>> {
        let plain = |part: &str| {
            !part.is_empty()
                && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
                && part != "."
                && part != ".."
        };
        if !matches!(full_name.split_once('/'), Some((owner, name)) if plain(owner) && plain(name)) {
            return Err(Error::BadUrl { url: full_name.into(), reason: "it must be owner/name".into() });
        }
        match self.get(&format!("/repos/{full_name}")).await {
            Ok(repository) => Ok(Some(repository)),
            Err(Error::WrongAddress { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T> {
        let url = format!("{}{path}", self.base);
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let mut headers =
            vec![("accept", "application/vnd.github+json"), ("x-github-api-version", "2022-11-28")];
        headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
        let headers = header_map(NAME, &headers)?;
        let call = ServiceCall { method: Method::GET, url: &url, headers, json: None };
        let token = self.token.as_deref();
        let answer = ask(&self.fetcher, NAME, call, token).await;
        answer.and_then(|answer| parse(NAME, &url, &answer)).map_err(|error| error.without(token))
    }
}
