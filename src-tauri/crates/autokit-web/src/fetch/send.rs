//! Requests to web APIs: any method, headers and body, to guarded addresses, with the response as bytes.
//!
//! They are made because somebody calls an operation, not by a crawler, so robots.txt does not apply, and
//! responses are not cached.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use reqwest::{Method, Response};
use url::Url;

use super::{Fetcher, header, parse, redirected, retry_after};
use crate::body::{decode, not_text};
use crate::error::{Error, Result};
use crate::guard::explain;

/// Redirects followed within one origin.
const REDIRECTS: usize = 5;
/// The user agent of requests to web APIs.
const AGENT: &str = concat!("AutoKit/", env!("CARGO_PKG_VERSION"));

/// A request to a web API.
#[derive(Clone)]
pub struct ApiRequest {
    /// The method in upper case.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// Headers, name and value.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Vec<u8>>,
    /// Time limit of the whole request.
    pub timeout: Duration,
    /// Most bytes of the response that are read; the rest is dropped.
    pub limit: usize,
}

/// Headers and query are not shown, because they may contain keys.
impl std::fmt::Debug for ApiRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let address = parse(&self.url).map_or_else(|_| String::new(), |url| bare(&url));
        f.debug_struct("ApiRequest")
            .field("method", &self.method)
            .field("url", &address)
            .finish_non_exhaustive()
    }
}

/// The response of a web API, with any status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiAnswer {
    /// HTTP status.
    pub status: u16,
    /// The URL that responded, without its query, which may contain a key.
    pub url: String,
    /// The declared media type.
    pub content_type: Option<String>,
    /// The redirect target, if it is not followed (another origin, for example), without its query.
    pub redirected_to: Option<String>,
    /// Seconds to wait before asking again, if the API says so.
    pub retry_after: Option<u64>,
    /// The body, or its first bytes.
    pub body: Vec<u8>,
    /// Whether the body was longer.
    pub cut: bool,
}

impl ApiAnswer {
    /// Returns the body as text; `None` if it is not text.
    pub fn text(&self) -> Option<String> {
        let kind = self.content_type.as_deref();
        not_text(kind, &self.body).is_none().then(|| decode(&self.body, kind))
    }
}

/// Returns the URL without parts that may be secret: user, password, query.
fn bare(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

fn bad(url: &Url, reason: &str) -> Error {
    Error::BadUrl { url: bare(url), reason: reason.to_owned() }
}

impl Fetcher {
    /// Makes a request. Redirects are followed only for `GET` and `HEAD` and within one origin, so that a key
    /// is sent nowhere else. Error messages contain no query.
    ///
    /// # Errors
    /// [`Error::BadUrl`] also for a method or header that cannot be sent; otherwise as [`Fetcher::get`],
    /// except for those of robots.txt.
    pub async fn send(&self, request: ApiRequest) -> Result<ApiAnswer> {
        let late = Error::Timeout { url: bare(&parse(&request.url)?), after: request.timeout };
        tokio::time::timeout(request.timeout, self.send_request(&request)).await.unwrap_or(Err(late))
    }

    fn send_request<'a>(&'a self, request: &'a ApiRequest) -> BoxFuture<'a, Result<ApiAnswer>> {
        Box::pin(async move {
            let mut url = parse(&request.url)?;
            url.set_fragment(None);
            let method =
                Method::from_bytes(request.method.as_bytes()).map_err(|_| bad(&url, "no such method"))?;
            let headers = headers(request, &url)?;
            let mut redirects = 0;
            loop {
                let state = self.0.state.load_full();
                // The check needs the whole URL, but the message must not contain it.
                state.policy.check(&url).map_err(|error| match error {
                    Error::BadUrl { reason, .. } => bad(&url, &reason),
                    error => error,
                })?;
                let mut sent =
                    state.pages.get()?.request(method.clone(), url.clone()).headers(headers.clone());
                if let Some(body) = &request.body {
                    sent = sent.body(body.clone());
                }
                let response = sent.send().await.map_err(|error| explain(&url, &error.without_url()))?;
                let to =
                    redirected(&response, &url).map_err(|_| bad(&url, "it redirects without a location"))?;
                let safe = matches!(method, Method::GET | Method::HEAD);
                match to {
                    Some(to) if safe && to.origin() == url.origin() && redirects < REDIRECTS => {
                        redirects += 1;
                        url = to;
                    }
                    to => return answer(response, &url, to, request.limit).await,
                }
            }
        })
    }
}

fn headers(request: &ApiRequest, url: &Url) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    for (name, value) in &request.headers {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| bad(url, &format!("{name:?} is not a valid header name")))?;
        let mut value = HeaderValue::from_bytes(value.as_bytes())
            .map_err(|_| bad(url, &format!("the header {name} has an invalid value")))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

async fn answer(response: Response, url: &Url, to: Option<Url>, limit: usize) -> Result<ApiAnswer> {
    let mut answer = ApiAnswer {
        status: response.status().as_u16(),
        url: bare(url),
        content_type: header(response.headers(), &CONTENT_TYPE),
        redirected_to: to.map(|to| bare(&to)),
        retry_after: retry_after(response.headers()),
        body: Vec::new(),
        cut: false,
    };
    let mut stream = response.bytes_stream();
    while let Some(part) = stream.next().await {
        let part = part.map_err(|error| explain(url, &error.without_url()))?;
        let room = limit - answer.body.len();
        answer.body.extend_from_slice(&part[..part.len().min(room)]);
        if part.len() > room {
            answer.cut = true;
            break;
        }
    }
    Ok(answer)
}
