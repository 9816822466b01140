//! GitHub as a source: repositories by description, and facts about one (REST API 2022-11-28).

use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::{ask, encoded, parse};
use crate::error::{Error, Result};
use crate::fetch::Fetcher;

/// Name in messages.
const NAME: &str = "GitHub";

/// Where it is.
const HOME: &str = "https://api.github.com";

/// What GitHub says about a repository; evidence about a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// `owner/name`.
    pub full_name: String,
    /// Its page.
    pub html_url: String,
    /// One line.
    #[serde(default)]
    pub description: Option<String>,
    /// The project's own site.
    #[serde(default)]
    pub homepage: Option<String>,
    /// Most used language.
    #[serde(default)]
    pub language: Option<String>,
    /// Stars.
    #[serde(default, rename = "stargazers_count")]
    pub stars: u64,
    /// SPDX identifier, where GitHub recognises one.
    #[serde(default, deserialize_with = "spdx")]
    pub license: Option<String>,
    /// Time of the last push, RFC 3339.
    #[serde(default)]
    pub pushed_at: Option<String>,
    /// Read-only, kept for the record.
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

/// A file in which words were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeFile {
    /// Where it lies in its repository.
    pub path: String,
    /// Its page.
    pub html_url: String,
    /// The repository, as far as GitHub tells here: its name and page, not its stars.
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
    /// At its home or, for GitHub Enterprise, at `base`.
    pub fn new(fetcher: Fetcher, base: Option<&str>, token: Option<String>) -> GitHub {
        let base = base.map(str::trim).filter(|base| !base.is_empty()).unwrap_or(HOME);
        let token = token.filter(|token| !token.trim().is_empty());
        GitHub { fetcher, base: base.trim_end_matches('/').to_owned(), token }
    }

    /// Repositories for a request, best first.
    ///
    /// # Errors
    /// As [`super::Provider::search`].
    pub async fn repositories(&self, query: &str, limit: usize) -> Result<Vec<Repository>> {
        let path = format!("/search/repositories?q={}&per_page={}", encoded(query), limit.clamp(1, 100));
        let found: Found = self.get(&path).await?;
        Ok(found.items)
    }

    /// Whether code can be searched: GitHub wants a token for that.
    pub fn searches_code(&self) -> bool {
        self.token.is_some()
    }

    /// Files with these words in them, best first.
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

    /// Facts about one repository, or none when there is no such.
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
            return Err(Error::BadUrl { url: full_name.into(), reason: "a repository is owner/name".into() });
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
        let answer = ask(&self.fetcher, NAME, Method::GET, &url, &headers, None).await?;
        parse(NAME, &url, &answer)
    }
}
