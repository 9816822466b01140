//! The one HTTP client.

pub(crate) mod download;
mod robots;
pub(crate) mod send;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use futures_util::StreamExt;
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LOCATION, RETRY_AFTER,
};
use reqwest::{Client, Method, Response, StatusCode, redirect};
use tokio::time::Instant;
use url::Url;

use crate::body::{Text, decode, not_text};
use crate::cache::{CachedPage, PageCache};
use crate::error::{Error, Result};
use crate::guard::{GuardedNames, chain, explain};
use crate::hop::Hop;
use crate::hosts::Hosts;
use crate::policy::NetworkPolicy;
use crate::robots::RobotsCache;
use crate::validators::{Validators, header};

/// Who is asking, with a page that says what for.
const USER_AGENT: &str = concat!(
    "AutoKit/",
    env!("CARGO_PKG_VERSION"),
    " (+",
    env!("CARGO_PKG_REPOSITORY"),
    "; checks tool documentation)"
);

/// What a page should be.
const WANTED: &str =
    "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,application/json;q=0.7,*/*;q=0.1";

/// Bytes read of an answer that reports a failure.
const FAILURE_BYTES: u64 = 256 << 10;

/// A page read this recently is not asked for again.
const FRESH: Duration = Duration::from_mins(1);

/// Bounds of one request.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the first byte sent to the last byte read, redirects included; waiting for a place in
    /// the queue is not counted.
    pub total: Duration,
    /// Until a connection stands.
    pub connect: Duration,
    /// Bytes after decompression.
    pub bytes: u64,
    /// Redirects followed.
    pub redirects: usize,
    /// Requests to one host at a time.
    pub per_host: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            total: Duration::from_secs(20),
            connect: Duration::from_secs(5),
            bytes: 5 << 20,
            redirects: 10,
            per_host: 2,
        }
    }
}

/// An answer: any status, a text body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Where the page was found, after redirects.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// Every request made, the last one included.
    pub hops: Vec<Hop>,
    /// Its media type, as declared.
    pub content_type: Option<String>,
    /// The body. Empty for a failure whose body is no text, and when nothing changed.
    pub text: String,
    /// For asking again.
    pub validators: Validators,
    /// The given validators still hold: the page has not changed.
    pub unchanged: bool,
    /// Seconds to wait before asking again, where the site says so.
    pub retry_after: Option<u64>,
    /// Milliseconds from the first request to the last byte.
    pub ms: u64,
}

impl Fetched {
    /// Whether the page was delivered.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

#[derive(Debug)]
struct State {
    policy: NetworkPolicy,
    /// Pages: guarded names, redirects followed by hand.
    pages: Client,
    /// Services the person configured: wherever they are, no redirects.
    services: Client,
}

#[derive(Debug)]
struct Inner {
    limits: Limits,
    state: ArcSwap<State>,
    hosts: Hosts,
    robots: RobotsCache,
    cache: PageCache,
    /// When some host last answered.
    answered: ArcSwapOption<Instant>,
}

/// The polite client. Clones share everything.
#[derive(Clone, Debug)]
pub struct Fetcher(Arc<Inner>);

impl Fetcher {
    /// A client for these settings.
    ///
    /// # Errors
    /// When the proxy is not an address, or the system offers no certificates.
    pub fn new(policy: NetworkPolicy, limits: Limits) -> Result<Fetcher> {
        let state = ArcSwap::from_pointee(State::new(policy, &limits)?);
        Ok(Fetcher(Arc::new(Inner {
            limits,
            state,
            hosts: Hosts::new(limits.per_host),
            robots: RobotsCache::default(),
            cache: PageCache::default(),
            answered: ArcSwapOption::empty(),
        })))
    }

    /// Takes new settings; connections made under the old ones are not used again.
    ///
    /// # Errors
    /// As [`Fetcher::new`]; the old settings stay then.
    pub fn set_policy(&self, policy: NetworkPolicy) -> Result<()> {
        self.0.state.store(Arc::new(State::new(policy, &self.0.limits)?));
        Ok(())
    }

    /// Reads a page.
    ///
    /// # Errors
    /// Everything but [`crate::Code::WrongKey`] and the like; a status such as 404 is an answer, not
    /// an error.
    pub async fn get(&self, url: &str) -> Result<Fetched> {
        self.get_if_changed(url, &Validators::default()).await
    }

    /// Reads a page unless it is still the one the validators came with.
    ///
    /// # Errors
    /// As [`Fetcher::get`].
    pub async fn get_if_changed(&self, url: &str, validators: &Validators) -> Result<Fetched> {
        self.follow(
            Method::GET,
            url,
            validators,
            FetchOptions { total: self.0.limits.total, anew: false, open: None },
        )
        .await
    }

    /// Reads a page with less patience than [`Limits::total`], asking the site even if the page was read a
    /// moment ago: for those who want to know how it is now.
    ///
    /// # Errors
    /// As [`Fetcher::get`].
    pub async fn get_within(&self, url: &str, patience: Duration) -> Result<Fetched> {
        let options = FetchOptions { total: patience.min(self.0.limits.total), anew: true, open: None };
        self.follow(Method::GET, url, &Validators::default(), options).await
    }

    /// Reads a page for somebody to whom not every host is open: each address on the way is asked about
    /// before it is.
    ///
    /// # Errors
    /// As [`Fetcher::get`], and [`Error::Closed`] for a host that is not open.
    pub async fn get_where(&self, url: &str, open: &(dyn Fn(&Url) -> bool + Send + Sync)) -> Result<Fetched> {
        let options = FetchOptions { total: self.0.limits.total, anew: false, open: Some(open) };
        self.follow(Method::GET, url, &Validators::default(), options).await
    }

    /// Whether any host answered this recently: what fails now fails at its own end, not at ours.
    pub fn answered_within(&self, time: Duration) -> bool {
        self.0.answered.load().as_ref().is_some_and(|at| at.elapsed() < time)
    }

    /// Asks for a page's status alone, reading it only where a site refuses that question.
    ///
    /// # Errors
    /// As [`Fetcher::get`].
    pub async fn head(&self, url: &str) -> Result<Fetched> {
        let answer = self
            .follow(
                Method::HEAD,
                url,
                &Validators::default(),
                FetchOptions { total: self.0.limits.total, anew: true, open: None },
            )
            .await?;
        // Some sites refuse HEAD or answer it wrongly; only a read tells then.
        if answer.is_success() { Ok(answer) } else { self.get(url).await }
    }

    /// A request to a service the person configured: no robots.txt, no redirects, any host.
    /// Gives status, headers and at most [`Limits::bytes`] of body.
    pub(crate) async fn call(&self, request: ServiceCall<'_>) -> Result<ServiceAnswer> {
        let url = parse(request.url)?;
        let host = host_of(&url);
        let place = self.0.hosts.enter(&host, None).await;
        let work = async {
            let mut builder =
                self.0.state.load().services.request(request.method, url.clone()).headers(request.headers);
            if let Some(body) = request.json {
                builder = builder.json(body);
            }
            let response = builder.send().await.map_err(|error| explain(&url, &error))?;
            self.0.answered.store(Some(Arc::new(Instant::now())));
            let status = response.status();
            let headers = response.headers().clone();
            let body = self.read(response, &url, self.0.limits.bytes).await?;
            Ok(ServiceAnswer {
                status,
                text: decode(&body, header(&headers, &CONTENT_TYPE).as_deref()),
                headers,
            })
        };
        let answer = self.within(&url, work).await;
        if answer.is_ok() {
            place.leave();
        }
        answer
    }

    async fn within<T>(&self, url: &Url, work: impl Future<Output = Result<T>>) -> Result<T> {
        let after = self.0.limits.total;
        tokio::time::timeout(after, work)
            .await
            .unwrap_or_else(|_| Err(Error::Timeout { url: url.to_string(), after }))
    }

    /// From address to address until an answer is no redirect.
    async fn follow(
        &self,
        method: Method,
        given: &str,
        validators: &Validators,
        options: FetchOptions<'_>,
    ) -> Result<Fetched> {
        let total = options.total;
        let mut url = parse(given)?;
        url.set_fragment(None);
        let mut hops: Vec<Hop> = Vec::new();
        let mut spent = Duration::ZERO;
        loop {
            self.0.state.load().policy.check(&url)?;
            if options.open.is_some_and(|open| !open(&url)) {
                return Err(Error::Closed { host: url.host_str().unwrap_or_default().to_owned() });
            }
            let rules = self.rules(&url, options.open).await;
            if let Some(reason) = rules.refusal(url.as_str()) {
                return Err(Error::Robots { url: url.to_string(), reason });
            }
            if method == Method::GET
                && !options.anew
                && let Some(kept) = self.0.cache.get(url.as_str())
                && kept.at.elapsed() < FRESH
            {
                hops.push(Hop { url: url.to_string(), status: 200 });
                return Ok(delivered(&url, hops, &kept, validators, spent));
            }
            // Left before the next hop is taken: a place held while waiting for another host's
            // could close a circle of waiting requests.
            let place = self.0.hosts.enter(&host_of(&url), rules.pause()).await;
            let began = Instant::now();
            let left = total.saturating_sub(spent);
            let step = tokio::time::timeout(left, self.step(&method, &url, validators)).await;
            spent += began.elapsed();
            match &step {
                Ok(Ok(_)) => place.leave(),
                _ => drop(place),
            }
            let step =
                step.unwrap_or_else(|_| Err(Error::Timeout { url: given.to_owned(), after: total }))?;
            match step {
                Step::Redirect { status, to } => {
                    hops.push(Hop { url: url.to_string(), status });
                    if hops.iter().any(|hop| hop.url == to.as_str()) {
                        return Err(Error::Redirects { hops, circle: true });
                    }
                    if hops.len() > self.0.limits.redirects {
                        return Err(Error::Redirects { hops, circle: false });
                    }
                    url = to;
                }
                Step::CachedPage(kept) => {
                    hops.push(Hop { url: url.to_string(), status: 304 });
                    return Ok(delivered(&url, hops, &kept, validators, spent));
                }
                Step::Answer(mut answer) => {
                    hops.push(Hop { url: url.to_string(), status: answer.status });
                    answer.hops = hops;
                    answer.ms = spent.as_millis() as u64;
                    return Ok(answer);
                }
            }
        }
    }

    /// One request.
    async fn step(&self, method: &Method, url: &Url, validators: &Validators) -> Result<Step> {
        let kept = (*method == Method::GET).then(|| self.0.cache.get(url.as_str())).flatten();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(WANTED));
        // What is kept here is newer than what the caller has.
        let known = kept.as_ref().map_or(validators, |kept| &kept.validators);
        for (name, value) in [(IF_NONE_MATCH, &known.etag), (IF_MODIFIED_SINCE, &known.last_modified)] {
            if let Some(value) = value.as_deref().and_then(|v| HeaderValue::from_str(v).ok()) {
                headers.insert(name, value);
            }
        }
        let client = self.0.state.load().pages.clone();
        let response = client
            .request(method.clone(), url.clone())
            .headers(headers)
            .send()
            .await
            .map_err(|error| explain(url, &error))?;
        self.0.answered.store(Some(Arc::new(Instant::now())));
        let status = response.status();
        if let Some(to) = redirected(&response, url)? {
            return Ok(Step::Redirect { status: status.as_u16(), to });
        }
        let found = Validators::of(response.headers());
        let mut answer = Fetched {
            url: url.to_string(),
            status: status.as_u16(),
            hops: Vec::new(),
            content_type: header(response.headers(), &CONTENT_TYPE),
            text: String::new(),
            validators: found.clone(),
            unchanged: false,
            retry_after: retry_after(response.headers()),
            ms: 0,
        };
        if status == StatusCode::NOT_MODIFIED {
            if let Some(mut kept) = kept {
                kept.at = Instant::now();
                self.0.cache.put(url.as_str(), kept.clone());
                return Ok(Step::CachedPage(kept));
            }
            answer.unchanged = true;
            if answer.validators.is_empty() {
                answer.validators = validators.clone();
            }
            return Ok(Step::Answer(answer));
        }
        if *method == Method::HEAD {
            return Ok(Step::Answer(answer));
        }
        let content_type = answer.content_type.clone();
        if !status.is_success() {
            let body = self.read(response, url, FAILURE_BYTES).await.unwrap_or_default();
            if not_text(content_type.as_deref(), &body).is_none() {
                answer.text = decode(&body, content_type.as_deref());
            }
            return Ok(Step::Answer(answer));
        }
        // Refused by its label before a byte of it is read.
        if let Some(kind) = not_text(content_type.as_deref(), b"") {
            return Err(Error::NotText { url: url.to_string(), content_type: kind });
        }
        let body = self.read(response, url, self.0.limits.bytes).await?;
        if let Some(kind) = not_text(content_type.as_deref(), &body) {
            return Err(Error::NotText { url: url.to_string(), content_type: kind });
        }
        answer.text = decode(&body, content_type.as_deref());
        if !found.is_empty() {
            let text = Arc::new(Text { text: answer.text.clone(), content_type });
            self.0.cache.put(url.as_str(), CachedPage { text, validators: found, at: Instant::now() });
        }
        Ok(Step::Answer(answer))
    }

    /// Reads a body up to a limit; more is an error, not a cut.
    async fn read(&self, response: Response, url: &Url, limit: u64) -> Result<Vec<u8>> {
        let too_large = || Error::TooLarge { url: url.to_string(), limit };
        if response.content_length().is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        let mut stream = response.bytes_stream();
        while let Some(part) = stream.next().await {
            let part = part.map_err(|error| explain(url, &error))?;
            if (body.len() + part.len()) as u64 > limit {
                return Err(too_large());
            }
            body.extend_from_slice(&part);
        }
        Ok(body)
    }
}

/// Says which addresses are open to whoever asks.
type Open<'a> = &'a (dyn Fn(&Url) -> bool + Send + Sync);

/// How a page is asked for.
#[derive(Clone, Copy)]
struct FetchOptions<'a> {
    /// For everything.
    total: Duration,
    /// The site is asked even if the page was read a moment ago.
    anew: bool,
    /// Says which addresses are open, if not all are.
    open: Option<Open<'a>>,
}

enum Step {
    Redirect { status: u16, to: Url },
    CachedPage(CachedPage),
    Answer(Fetched),
}

/// A request to a configured service.
pub(crate) struct ServiceCall<'a> {
    pub(crate) method: Method,
    pub(crate) url: &'a str,
    pub(crate) headers: HeaderMap,
    pub(crate) json: Option<&'a serde_json::Value>,
}

/// What a configured service answered.
pub(crate) struct ServiceAnswer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl ServiceAnswer {
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.headers).map(Duration::from_secs)
    }
}

impl State {
    fn new(policy: NetworkPolicy, limits: &Limits) -> Result<State> {
        let builder = || {
            let builder = Client::builder()
                .user_agent(USER_AGENT)
                .connect_timeout(limits.connect)
                .redirect(redirect::Policy::none())
                .referer(false);
            Ok(match &policy.proxy {
                Some(proxy) => builder.proxy(reqwest::Proxy::all(proxy).map_err(|error| Error::BadUrl {
                    url: proxy.clone(),
                    reason: format!("it is no proxy: {error}"),
                })?),
                None => builder.no_proxy(),
            })
        };
        let failed =
            |error: reqwest::Error| Error::NoConnection { host: "anything".into(), reason: chain(&error) };
        Ok(State {
            pages: builder()?.dns_resolver(Arc::new(GuardedNames(policy.clone()))).build().map_err(failed)?,
            services: builder()?.build().map_err(failed)?,
            policy,
        })
    }
}

fn parse(url: &str) -> Result<Url> {
    Url::parse(url.trim()).map_err(|error| Error::BadUrl { url: url.to_owned(), reason: error.to_string() })
}

fn host_of(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default())
}

/// Seconds of a `Retry-After` header; its form as a date is read too.
fn retry_after(headers: &HeaderMap) -> Option<u64> {
    let value = header(headers, &RETRY_AFTER)?;
    value.trim().parse().ok().or_else(|| {
        let until = jiff::fmt::rfc2822::parse(value.trim()).ok()?.timestamp();
        u64::try_from(until.duration_since(jiff::Timestamp::now()).as_secs()).ok()
    })
}

fn redirected(response: &Response, url: &Url) -> Result<Option<Url>> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else { return Ok(None) };
    // Browsers take bytes beyond ASCII for UTF-8.
    let location = String::from_utf8_lossy(location.as_bytes());
    let mut to = url.join(location.trim()).map_err(|error| Error::BadUrl {
        url: location.to_string(),
        reason: format!("a redirect there: {error}"),
    })?;
    to.set_fragment(None);
    Ok(Some(to))
}

/// A page out of the cache, for a caller with these validators.
fn delivered(url: &Url, hops: Vec<Hop>, kept: &CachedPage, theirs: &Validators, spent: Duration) -> Fetched {
    let unchanged = !theirs.is_empty() && *theirs == kept.validators;
    Fetched {
        url: url.to_string(),
        status: if unchanged { 304 } else { 200 },
        hops,
        content_type: kept.text.content_type.clone(),
        text: if unchanged { String::new() } else { kept.text.text.clone() },
        validators: kept.validators.clone(),
        unchanged,
        retry_after: None,
        ms: spent.as_millis() as u64,
    }
}
