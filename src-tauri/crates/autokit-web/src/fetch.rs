//! The only HTTP client for the web.

pub(crate) mod download;
mod robots;
pub(crate) mod send;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use autokit_error::{ApiError, ErrorCode};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LOCATION, RETRY_AFTER,
};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, redirect};
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

/// The user agent, with a page that explains the requests.
const USER_AGENT: &str = concat!(
    "AutoKit/",
    env!("CARGO_PKG_VERSION"),
    " (+",
    env!("CARGO_PKG_REPOSITORY"),
    "; checks tool documentation)"
);

/// The `Accept` header of page requests.
const ACCEPT_TYPES: &str =
    "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,application/json;q=0.7,*/*;q=0.1";

/// Most bytes read of a response with an error status.
const FAILURE_BYTES: u64 = 256 << 10;

/// A page fetched within this time is not requested again.
const CACHE_MAX_AGE: Duration = Duration::from_mins(1);

/// Limits of one request.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time from the first byte sent to the last byte read, including redirects but not the time spent in the
    /// queue.
    pub total: Duration,
    /// Time until a connection is established.
    pub connect: Duration,
    /// Most bytes after decompression.
    pub bytes: u64,
    /// Most redirects followed.
    pub redirects: usize,
    /// Most concurrent requests to one host.
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

/// A response with any status and a text body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The URL of the page, after redirects.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// Every request made, including the last one.
    pub hops: Vec<Hop>,
    /// The declared media type.
    pub content_type: Option<String>,
    /// The body. Empty if the status is an error and the body is not text, or if the page is unchanged.
    pub text: String,
    /// Validators for a conditional request later.
    pub validators: Validators,
    /// Whether the given validators still match: the page has not changed.
    pub unchanged: bool,
    /// Seconds to wait before asking again, if the site says so.
    pub retry_after: Option<u64>,
    /// Milliseconds from the first request to the last byte.
    pub ms: u64,
}

impl Fetched {
    /// Whether the status is a success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the error of a page that was not delivered.
    pub fn status_error(&self) -> ApiError {
        let (code, remedy) = match self.status {
            401 | 403 | 451 => {
                (ErrorCode::Refused, "Open the page in a browser; the site blocks automated access.")
            }
            404 | 410 => (ErrorCode::NotFound, "Find the page's new URL."),
            429 => (ErrorCode::RateLimited, "Wait, or use other pages."),
            _ => (ErrorCode::Provider, "Try again later."),
        };
        ApiError::new(code, format!("{} responded {}", self.url, self.status), remedy)
    }
}

/// Begins requests. A trait object, so that the compiler does not go through the fields of an HTTP client for
/// each `async fn` above that holds a [`Fetcher`].
trait BeginRequest: fmt::Debug + Send + Sync {
    fn request(&self, method: Method, url: Url) -> RequestBuilder;
}

impl BeginRequest for Client {
    fn request(&self, method: Method, url: Url) -> RequestBuilder {
        Client::request(self, method, url)
    }
}

/// A client that is made for the first request: reading the system's certificates takes longer than most commands that
/// need no network.
struct LazyClient {
    make: Box<dyn Fn() -> Result<Client> + Send + Sync>,
    client: OnceLock<Arc<dyn BeginRequest>>,
}

impl LazyClient {
    fn new(make: impl Fn() -> Result<Client> + Send + Sync + 'static) -> LazyClient {
        LazyClient { make: Box::new(make), client: OnceLock::new() }
    }

    fn get(&self) -> Result<Arc<dyn BeginRequest>> {
        if let Some(client) = self.client.get() {
            return Ok(Arc::clone(client));
        }
        let client = (self.make)()?;
        Ok(Arc::clone(self.client.get_or_init(|| Arc::new(client))))
    }
}

impl fmt::Debug for LazyClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.client.fmt(f)
    }
}

#[derive(Debug)]
struct State {
    policy: NetworkPolicy,
    /// Client for pages: checks resolved addresses; redirects are followed by this module.
    pages: LazyClient,
    /// Client for services the user configured: any address, no redirects.
    services: LazyClient,
}

#[derive(Debug)]
struct Inner {
    limits: Limits,
    state: ArcSwap<State>,
    hosts: Hosts,
    robots: RobotsCache,
    cache: PageCache,
    /// When any host last responded.
    answered: ArcSwapOption<Instant>,
}

/// The HTTP client. Clones share everything.
#[derive(Clone, Debug)]
pub struct Fetcher(Arc<Inner>);

impl Fetcher {
    /// Creates a client with these settings.
    ///
    /// # Errors
    /// When the proxy is not a valid URL.
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

    /// Replaces the settings; connections made under the old ones are not reused.
    ///
    /// # Errors
    /// As [`Fetcher::new`]; the old settings then stay.
    pub fn set_policy(&self, policy: NetworkPolicy) -> Result<()> {
        self.0.state.store(Arc::new(State::new(policy, &self.0.limits)?));
        Ok(())
    }

    /// Fetches a page.
    ///
    /// # Errors
    /// Any error except those of services, such as [`crate::Code::WrongKey`]. A status such as 404 is a
    /// response, not an error.
    pub async fn get(&self, url: &str) -> Result<Fetched> {
        self.get_if_changed(url, &Validators::default()).await
    }

    /// Fetches a page unless the validators still match it.
    ///
    /// # Errors
    /// As [`Fetcher::get`].
    pub async fn get_if_changed(&self, url: &str, validators: &Validators) -> Result<Fetched> {
        self.follow(
            Method::GET,
            url,
            validators,
            FetchOptions { total: self.0.limits.total, bypass_cache: false, open: None },
        )
        .await
    }

    /// Fetches a page within `timeout`, if that is shorter than [`Limits::total`], requesting it from the
    /// site even if it was fetched a moment ago: for callers that need its current state.
    ///
    /// # Errors
    /// As [`Fetcher::get`].
    pub async fn get_within(&self, url: &str, timeout: Duration) -> Result<Fetched> {
        let options =
            FetchOptions { total: timeout.min(self.0.limits.total), bypass_cache: true, open: None };
        self.follow(Method::GET, url, &Validators::default(), options).await
    }

    /// Fetches a page for a caller that may not reach every host: `open` is asked about each URL before it is
    /// requested.
    ///
    /// # Errors
    /// As [`Fetcher::get`], and [`Error::Closed`] for a host that `open` refuses.
    pub async fn get_if(&self, url: &str, open: &(dyn Fn(&Url) -> bool + Send + Sync)) -> Result<Fetched> {
        let options = FetchOptions { total: self.0.limits.total, bypass_cache: false, open: Some(open) };
        self.follow(Method::GET, url, &Validators::default(), options).await
    }

    /// Whether any host responded this recently, in which case a failure now is the site's and not the
    /// network's.
    pub fn responded_within(&self, time: Duration) -> bool {
        self.0.answered.load().as_ref().is_some_and(|at| at.elapsed() < time)
    }

    /// Requests only a page's status, fetching the page if the HEAD request does not succeed.
    ///
    /// # Errors
    /// As [`Fetcher::get`].
    pub async fn head(&self, url: &str) -> Result<Fetched> {
        let answer = self
            .follow(
                Method::HEAD,
                url,
                &Validators::default(),
                FetchOptions { total: self.0.limits.total, bypass_cache: true, open: None },
            )
            .await?;
        // Some sites refuse HEAD or answer it wrongly, so the page has to be fetched.
        if answer.is_success() { Ok(answer) } else { self.get(url).await }
    }

    /// Makes a request to a service the user configured: no robots.txt, no redirects, any host. Returns
    /// status, headers and a body of at most [`Limits::bytes`].
    pub(crate) fn call<'a>(&'a self, request: ServiceCall<'a>) -> BoxFuture<'a, Result<ServiceAnswer>> {
        Box::pin(async move {
            let url = parse(request.url)?;
            let host = host_of(&url);
            let permit = self.0.hosts.acquire(&host, None).await;
            let work = async {
                let client = self.0.state.load().services.get()?;
                let mut builder = client.request(request.method, url.clone()).headers(request.headers);
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
                permit.release();
            }
            answer
        })
    }

    async fn within<T>(&self, url: &Url, work: impl Future<Output = Result<T>>) -> Result<T> {
        let after = self.0.limits.total;
        tokio::time::timeout(after, work)
            .await
            .unwrap_or_else(|_| Err(Error::Timeout { url: url.to_string(), after }))
    }

    /// Makes requests until a response is not a redirect.
    fn follow<'a>(
        &'a self,
        method: Method,
        given: &'a str,
        validators: &'a Validators,
        options: FetchOptions<'a>,
    ) -> BoxFuture<'a, Result<Fetched>> {
        Box::pin(async move {
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
                    && !options.bypass_cache
                    && let Some(cached) = self.0.cache.get(url.as_str())
                    && cached.at.elapsed() < CACHE_MAX_AGE
                {
                    hops.push(Hop { url: url.to_string(), status: 200 });
                    return Ok(from_cache(&url, hops, &cached, validators, spent));
                }
                // The permit is released before the next hop is taken: holding it while waiting for another
                // host's permit could deadlock.
                let permit = self.0.hosts.acquire(&host_of(&url), rules.pause()).await;
                let began = Instant::now();
                let remaining = total.saturating_sub(spent);
                let step = tokio::time::timeout(remaining, self.step(&method, &url, validators)).await;
                spent += began.elapsed();
                match &step {
                    Ok(Ok(_)) => permit.release(),
                    _ => drop(permit),
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
                    Step::CachedPage(cached) => {
                        hops.push(Hop { url: url.to_string(), status: 304 });
                        return Ok(from_cache(&url, hops, &cached, validators, spent));
                    }
                    Step::Answer(mut answer) => {
                        hops.push(Hop { url: url.to_string(), status: answer.status });
                        answer.hops = hops;
                        answer.ms = spent.as_millis() as u64;
                        return Ok(answer);
                    }
                }
            }
        })
    }

    /// Makes one request.
    async fn step(&self, method: &Method, url: &Url, validators: &Validators) -> Result<Step> {
        let cached = (*method == Method::GET).then(|| self.0.cache.get(url.as_str())).flatten();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(ACCEPT_TYPES));
        // The cached page is newer than the caller's.
        let known = cached.as_ref().map_or(validators, |cached| &cached.validators);
        for (name, value) in [(IF_NONE_MATCH, &known.etag), (IF_MODIFIED_SINCE, &known.last_modified)] {
            if let Some(value) = value.as_deref().and_then(|v| HeaderValue::from_str(v).ok()) {
                headers.insert(name, value);
            }
        }
        let client = self.0.state.load().pages.get()?;
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
            if let Some(mut cached) = cached {
                cached.at = Instant::now();
                self.0.cache.put(url.as_str(), cached.clone());
                return Ok(Step::CachedPage(cached));
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
        // Refused by its media type before any of it is read.
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

    /// Reads a body up to a limit; a longer body is an error and is not truncated.
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

/// A callback that tells which URLs the caller may reach.
type Open<'a> = &'a (dyn Fn(&Url) -> bool + Send + Sync);

/// Options of a page request.
#[derive(Clone, Copy)]
struct FetchOptions<'a> {
    /// Time limit of the whole request.
    total: Duration,
    /// Whether to request the page even if it was fetched a moment ago.
    bypass_cache: bool,
    /// Tells which URLs may be requested, if not all may.
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

/// The response of a configured service.
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
        // A wrong one is refused now, and not when something is fetched.
        proxied(Client::builder(), &policy).map(drop)?;
        let connect = limits.connect;
        let make = move |policy: &NetworkPolicy, guarded: bool| {
            let builder = Client::builder()
                .user_agent(USER_AGENT)
                .connect_timeout(connect)
                .redirect(redirect::Policy::none())
                .referer(false);
            let mut builder = proxied(builder, policy)?;
            if guarded {
                builder = builder.dns_resolver(Arc::new(GuardedNames(policy.clone())));
            }
            builder.build().map_err(|error| Error::NoClient { reason: chain(&error) })
        };
        let (for_pages, for_services) = (policy.clone(), policy.clone());
        Ok(State {
            policy,
            pages: LazyClient::new(move || make(&for_pages, true)),
            services: LazyClient::new(move || make(&for_services, false)),
        })
    }
}

/// Sets the proxy of a policy.
fn proxied(builder: reqwest::ClientBuilder, policy: &NetworkPolicy) -> Result<reqwest::ClientBuilder> {
    let Some(proxy) = &policy.proxy else { return Ok(builder.no_proxy()) };
    let proxy = reqwest::Proxy::all(proxy).map_err(|error| Error::BadUrl {
        url: proxy.clone(),
        reason: format!("not a valid proxy: {error}"),
    })?;
    Ok(builder.proxy(proxy))
}

fn parse(url: &str) -> Result<Url> {
    Url::parse(url.trim()).map_err(|error| Error::BadUrl { url: url.to_owned(), reason: error.to_string() })
}

fn host_of(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default())
}

/// Returns the seconds of a `Retry-After` header, which may also be a date.
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
    // Browsers interpret non-ASCII bytes as UTF-8.
    let location = String::from_utf8_lossy(location.as_bytes());
    let mut to = url.join(location.trim()).map_err(|error| Error::BadUrl {
        url: location.to_string(),
        reason: format!("a redirect there: {error}"),
    })?;
    to.set_fragment(None);
    Ok(Some(to))
}

/// Returns a page from the cache to a caller with these validators.
fn from_cache(
    url: &Url,
    hops: Vec<Hop>,
    cached: &CachedPage,
    theirs: &Validators,
    spent: Duration,
) -> Fetched {
    let unchanged = !theirs.is_empty() && *theirs == cached.validators;
    Fetched {
        url: url.to_string(),
        status: if unchanged { 304 } else { 200 },
        hops,
        content_type: cached.text.content_type.clone(),
        text: if unchanged { String::new() } else { cached.text.text.clone() },
        validators: cached.validators.clone(),
        unchanged,
        retry_after: None,
        ms: spent.as_millis() as u64,
    }
}
