//! Registries of MCP servers that can be installed.
//!
//! A registry is queried with the API of the official one (`GET /v0.1/servers`), which others implement
//! too. It matches parts of server names only, so a query in words is searched word by word and ranked by
//! AutoKit. Responses are untrusted: their bytes, pages, entries and texts are limited, an unusable entry
//! is skipped and named, and a text that hides something or contains instructions to a model is flagged.
//!
//! Nothing is started here: a [`Listing`] says how a server would be started or reached.

mod error;
mod listing;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use autokit_web::{Fetcher, Validators};
use futures_util::future::BoxFuture;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use url::Url;

pub use autokit_bundle::formats::{LaunchInput, LaunchOption, Transport};
pub use error::MarketError;
pub use listing::{Facts, Listing};

/// Most bytes of one response.
const RESPONSE_BYTES: u64 = 2 << 20;
/// Servers requested per page.
const PAGE: usize = 30;
/// Most entries read from one response, whatever was requested.
const MAX_ENTRIES: usize = 100;
/// Most pages requested by one search.
const MAX_PAGES: usize = 3;
/// Most characters of a cursor.
const MAX_CURSOR: usize = 512;
/// Most skipped entries that are named.
const MAX_NAMED: usize = 5;

/// A registry of MCP servers.
#[derive(Clone, Debug)]
pub struct Registry {
    fetcher: Fetcher,
    base: String,
}

/// The result of a search in a registry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegistryResults {
    /// The servers, in the order of the registry and without duplicates.
    pub listings: Vec<Listing>,
    /// What was skipped, and why.
    pub notes: Vec<String>,
}

impl Registry {
    /// Creates a client of the registry at an address, which may include the path of the API.
    ///
    /// # Errors
    /// [`MarketError::Address`] if it is not a web address.
    pub fn new(fetcher: Fetcher, address: &str) -> Result<Registry, MarketError> {
        let invalid = |reason: &str| MarketError::Address {
            address: address.chars().take(200).collect(),
            reason: reason.to_owned(),
        };
        let mut url = Url::parse(address.trim()).map_err(|error| invalid(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(invalid("it must start with https:// and include a host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("it contains a user name or password"));
        }
        url.set_fragment(None);
        url.set_query(None);
        let address = url.as_str().trim_end_matches('/');
        let base = ["/v0.1/servers", "/v0/servers", "/v0.1", "/v0"]
            .iter()
            .find_map(|path| address.strip_suffix(path))
            .unwrap_or(address);
        Ok(Registry { fetcher, base: base.to_owned() })
    }

    /// Returns the registry's address without the path of the API; it identifies the registry.
    pub fn address(&self) -> &str {
        &self.base
    }

    /// Returns servers with `part` in their name: at most `limit`, from at most `MAX_PAGES` pages.
    ///
    /// # Errors
    /// If the registry does not respond, or not as a registry does.
    pub fn search<'a>(
        &'a self,
        part: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<RegistryResults, MarketError>> {
        Box::pin(async move {
            let (mut results, mut seen, mut cursors) =
                (RegistryResults::default(), HashSet::new(), HashSet::new());
            let mut left_out = Vec::new();
            let mut cursor: Option<String> = None;
            for _ in 0..MAX_PAGES {
                let mut url = format!(
                    "{}/v0.1/servers?version=latest&limit={}&search={}",
                    self.base,
                    PAGE.min(limit.max(1)),
                    utf8_percent_encode(part, NON_ALPHANUMERIC)
                );
                if let Some(cursor) = &cursor {
                    url.push_str("&cursor=");
                    url.extend(utf8_percent_encode(cursor, NON_ALPHANUMERIC));
                }
                let response = self.get(&url).await?;
                let entries = response.get("servers").map_or(Some(&[] as &[Value]), |servers| {
                    // Some registries return `null` if there are no results.
                    if servers.is_null() { Some(&[]) } else { servers.as_array().map(Vec::as_slice) }
                });
                let Some(entries) = entries.filter(|_| response.is_object()) else {
                    return Err(self.no_registry("its `servers` is not a list"));
                };
                for entry in entries.iter().take(MAX_ENTRIES) {
                    match Listing::parse(entry) {
                        Ok(Some(listing)) if seen.insert(listing.name.clone()) => {
                            results.listings.push(listing);
                        }
                        Ok(_) => {}
                        Err(why) => left_out.push(why),
                    }
                }
                if entries.len() > MAX_ENTRIES {
                    results.notes.push(format!("{} returned more results than requested", self.base));
                }
                let next =
                    response.pointer("/metadata/nextCursor").or(response.pointer("/metadata/next_cursor"));
                let next = next.and_then(Value::as_str).filter(|next| !next.is_empty());
                let Some(next) = next.filter(|_| results.listings.len() < limit && !entries.is_empty())
                else {
                    break;
                };
                if next.chars().count() > MAX_CURSOR || !cursors.insert(next.to_owned()) {
                    results.notes.push(format!("{} returned an endless list of pages", self.base));
                    break;
                }
                cursor = Some(next.to_owned());
            }
            results.listings.truncate(limit);
            let more = left_out.len().saturating_sub(MAX_NAMED);
            results.notes.extend(left_out.into_iter().take(MAX_NAMED));
            if more > 0 {
                results.notes.push(format!("{more} more entries are invalid"));
            }
            Ok(results)
        })
    }

    /// Returns the newest version of the server of this name.
    ///
    /// # Errors
    /// As [`Registry::search`], and [`MarketError::Missing`] if there is no such server.
    pub fn latest<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Listing, MarketError>> {
        Box::pin(async move {
            let missing = || MarketError::Missing {
                name: name.chars().take(200).collect(),
                registry: self.base.clone(),
            };
            if !listing::is_name(name) {
                return Err(missing());
            }
            let path = utf8_percent_encode(name, NON_ALPHANUMERIC);
            let url = format!("{}/v0.1/servers/{path}/versions/latest", self.base);
            let response = match self.get(&url).await {
                Err(MarketError::Web(autokit_web::Error::Status { status: 404 | 410, .. })) => {
                    return Err(missing());
                }
                response => response?,
            };
            match Listing::parse(&response) {
                Ok(Some(listing)) if listing.name == name => Ok(listing),
                Ok(_) => Err(missing()),
                Err(why) => Err(self.no_registry(&why)),
            }
        })
    }

    async fn get(&self, url: &str) -> Result<Value, MarketError> {
        let file = self.fetcher.download(url, &Validators::default(), RESPONSE_BYTES).await?;
        let bytes = file.map(|file| file.bytes).unwrap_or_default();
        serde_json::from_slice(&bytes).map_err(|_| self.no_registry("its response is not valid JSON"))
    }

    fn no_registry(&self, reason: &str) -> MarketError {
        MarketError::NoRegistry { address: self.base.clone(), reason: reason.to_owned() }
    }
}
