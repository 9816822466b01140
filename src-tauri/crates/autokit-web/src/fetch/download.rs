//! Downloads of files that a person named, as bytes. They are guarded like pages, but robots.txt is not
//! consulted, because it is for programs that crawl on their own.

use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::header::{HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use reqwest::{Method, StatusCode};

use super::{Fetcher, host_of, parse, redirected};
use crate::error::{Error, Result};
use crate::guard::explain;
use crate::hop::Hop;
use crate::validators::Validators;

/// Time limit of a download.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_mins(5);

/// A downloaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Download {
    /// Its URL, after redirects.
    pub url: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Validators for a conditional request later.
    pub validators: Validators,
}

impl Fetcher {
    /// Downloads a file of at most `limit` bytes; returns `None` if the validators still match it.
    ///
    /// # Errors
    /// As [`Fetcher::get`], and [`Error::Status`] for any status that is not a success.
    pub async fn download(&self, given: &str, known: &Validators, limit: u64) -> Result<Option<Download>> {
        let late = |_| Err(Error::Timeout { url: given.to_owned(), after: DOWNLOAD_TIMEOUT });
        tokio::time::timeout(DOWNLOAD_TIMEOUT, self.fetch_file(given, known, limit))
            .await
            .unwrap_or_else(late)
    }

    fn fetch_file<'a>(
        &'a self,
        given: &'a str,
        known: &'a Validators,
        limit: u64,
    ) -> BoxFuture<'a, Result<Option<Download>>> {
        Box::pin(async move {
            let mut url = parse(given)?;
            url.set_fragment(None);
            let mut headers = HeaderMap::new();
            for (name, value) in [(IF_NONE_MATCH, &known.etag), (IF_MODIFIED_SINCE, &known.last_modified)] {
                if let Some(value) = value.as_deref().and_then(|value| HeaderValue::from_str(value).ok()) {
                    headers.insert(name, value);
                }
            }
            let mut hops: Vec<Hop> = Vec::new();
            loop {
                self.0.state.load().policy.check(&url)?;
                let permit = self.0.hosts.acquire(&host_of(&url), None).await;
                let client = self.0.state.load().pages.get()?;
                let asked = client
                    .request(Method::GET, url.clone())
                    .headers(headers.clone())
                    .timeout(DOWNLOAD_TIMEOUT)
                    .send()
                    .await;
                let response = asked.map_err(|error| explain(&url, &error))?;
                let status = response.status();
                if let Some(to) = redirected(&response, &url)? {
                    hops.push(Hop { url: url.to_string(), status: status.as_u16() });
                    if hops.iter().any(|hop| hop.url == to.as_str()) {
                        return Err(Error::Redirects { hops, circle: true });
                    }
                    if hops.len() > self.0.limits.redirects {
                        return Err(Error::Redirects { hops, circle: false });
                    }
                    permit.release();
                    url = to;
                    continue;
                }
                if status == StatusCode::NOT_MODIFIED {
                    permit.release();
                    return Ok(None);
                }
                if !status.is_success() {
                    return Err(Error::Status { url: url.to_string(), status: status.as_u16() });
                }
                let validators = Validators::of(response.headers());
                let bytes = self.read(response, &url, limit).await?;
                permit.release();
                return Ok(Some(Download { url: url.to_string(), bytes, validators }));
            }
        })
    }
}
