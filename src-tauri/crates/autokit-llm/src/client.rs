//! Client for a chat model.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use eventsource_stream::Eventsource;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::error::{Error, Result};
use crate::ledger::{Ledger, Price};
use crate::message::{Reply, Request, ResponseFormat, StopReason, ToolCall, Usage};
use crate::{anthropic, openai};

/// The protocol of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Anthropic's Messages API.
    Anthropic,
    /// The chat completions API of OpenAI, which many services provide.
    Openai,
}

/// Approximate number of characters per token in English text and JSON.
const CHARS_PER_TOKEN: usize = 4;

/// An attempt to get a reply. If it ends before the service reports its usage, because it is dropped, times
/// out or breaks off, an estimate is recorded: text that was generated has to be paid for.
struct Attempt<'a> {
    model: &'a Model,
    sent: usize,
    /// Characters of the reply received so far.
    received: usize,
    /// Whether the service reported the usage.
    recorded: bool,
}

impl<'a> Attempt<'a> {
    fn new(model: &'a Model, body: &Value) -> Attempt<'a> {
        Attempt { model, sent: body.to_string().chars().count(), received: 0, recorded: false }
    }

    fn receive(&mut self, text: &str) {
        self.received += text.chars().count();
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.recorded && self.received > 0 {
            self.model.record_estimate(self.sent, self.received);
        }
    }
}

impl Protocol {
    /// The base URL used when none is configured.
    pub fn default_base_url(self) -> &'static str {
        match self {
            Protocol::Anthropic => "https://api.anthropic.com",
            Protocol::Openai => "https://api.openai.com/v1",
        }
    }
}

/// Limits of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Timeout for establishing a connection.
    pub connect: Duration,
    /// Timeout until the first part of a reply, including all attempts and pauses, and from each part to the
    /// next.
    pub idle: Duration,
    /// Timeout for the whole reply, including retries and pauses.
    pub total: Duration,
    /// Maximum size of a reply on the wire, in bytes.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connect: Duration::from_secs(5),
            idle: Duration::from_mins(1),
            total: Duration::from_mins(3),
            bytes: 2 << 20,
        }
    }
}

/// How failed requests are retried: after 429, 5xx and broken connections, as long as no part of a reply has
/// arrived. Pauses double; a pause requested by the service takes precedence. There is no jitter, because a
/// single user's program does not cause a stampede.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Maximum number of requests.
    pub attempts: u32,
    /// Length of the first pause.
    pub pause: Duration,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry { attempts: 3, pause: Duration::from_millis(500) }
    }
}

/// If a service asks for a longer pause than this, the request fails instead: someone is waiting for the
/// answer, and there are other ways to get one.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Maximum number of characters of a service's message that are shown.
const QUOTED: usize = 300;

/// Timeout for checking whether a service is available, however long a reply may take.
pub(crate) const PROBE: Duration = Duration::from_mins(1);

/// A model as configured by the user.
#[derive(Clone)]
pub struct ModelConfig {
    /// Protocol of the service.
    pub protocol: Protocol,
    /// Base URL of the service; empty for [`Protocol::home`].
    pub base: String,
    /// API key, if the service requires one.
    pub key: Option<String>,
    /// Name of the model.
    pub model: String,
    /// Whether the model supports tool calls; otherwise tools are called through a text protocol.
    pub tools: bool,
    /// Token prices.
    pub price: Price,
    /// Limits of a reply.
    pub limits: Limits,
    /// How failed requests are retried.
    pub retry: Retry,
}

impl ModelConfig {
    /// A model with defaults for everything else.
    pub fn new(protocol: Protocol, base: impl Into<String>, model: impl Into<String>) -> ModelConfig {
        ModelConfig {
            protocol,
            base: base.into(),
            key: None,
            model: model.into(),
            tools: true,
            price: Price::default(),
            limits: Limits::default(),
            retry: Retry::default(),
        }
    }
}

impl std::fmt::Debug for ModelConfig {
    // The key must not be logged.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelConfig")
            .field("protocol", &self.protocol)
            .field("base", &self.base)
            .field("model", &self.model)
            .field("key", &self.key.as_ref().map(|_| "…"))
            .finish_non_exhaustive()
    }
}

/// Begins requests. A trait object, so that the compiler does not go through the fields of an HTTP client for
/// each `async fn` above that holds a [`Model`].
pub(crate) trait BeginRequest: std::fmt::Debug + Send + Sync {
    fn get(&self, url: &str) -> RequestBuilder;
    fn post(&self, url: &str) -> RequestBuilder;
}

impl BeginRequest for Client {
    fn get(&self, url: &str) -> RequestBuilder {
        Client::get(self, url)
    }

    fn post(&self, url: &str) -> RequestBuilder {
        Client::post(self, url)
    }
}

/// A model that can be queried. Clones share connections.
#[derive(Clone, Debug)]
pub struct Model {
    config: ModelConfig,
    pub(crate) base: String,
    host: String,
    pub(crate) http: Arc<dyn BeginRequest>,
    ledger: Ledger,
}

/// Receives each part of a reply as it arrives.
pub(crate) type OnText<'a> = &'a mut (dyn FnMut(&str) + Send);

impl Model {
    /// Prepares the client; nothing is sent.
    ///
    /// # Errors
    /// [`Error::WrongAddress`] when the URL is invalid, [`Error::WrongKey`] when the key cannot be sent in a
    /// header.
    pub fn new(config: ModelConfig, ledger: Ledger) -> Result<Model> {
        let base = config.base.trim().trim_end_matches('/');
        let base = if base.is_empty() { config.protocol.default_base_url() } else { base }.to_owned();
        let wrong = |reason: String| Error::WrongAddress { url: base.clone(), reason };
        let url = reqwest::Url::parse(&base).map_err(|error| wrong(error.to_string()))?;
        let host = url.host_str().ok_or_else(|| wrong("it has no host".into()))?.to_owned();
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("it must start with http:// or https://".into()));
        }
        let mut headers = HeaderMap::new();
        if let Some(key) = config.key.as_deref().map(str::trim).filter(|key| !key.is_empty()) {
            let (name, text) = match config.protocol {
                Protocol::Anthropic => ("x-api-key", key.to_owned()),
                Protocol::Openai => ("authorization", format!("Bearer {key}")),
            };
            let mut value =
                HeaderValue::from_str(&text).map_err(|_| Error::WrongKey { host: host.clone() })?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        if config.protocol == Protocol::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static(anthropic::VERSION));
        }
        let http = Client::builder()
            .default_headers(headers)
            .connect_timeout(config.limits.connect)
            // A redirect would send the key to another host.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Error::NoConnection { host: host.clone(), reason: error.to_string() })?;
        Ok(Model { config, base, host, http: Arc::new(http), ledger })
    }

    /// The configuration.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The same model with other limits. Connections are shared, so the `connect` timeout does not change.
    #[must_use]
    pub fn with_limits(&self, limits: Limits) -> Model {
        let mut model = self.clone();
        model.config.limits = Limits { connect: self.config.limits.connect, ..limits };
        model
    }

    /// The ledger in which usage is recorded.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Sends a request and passes on the text as it arrives. Dropping the future cancels the request.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn chat(&self, request: &Request, on_text: OnText<'_>) -> Result<Reply> {
        self.ledger.check()?;
        let began = Instant::now();
        let total = self.config.limits.total;
        let work = self.send_with_retry(request, on_text, began);
        let mut reply = tokio::time::timeout(total, work)
            .await
            .unwrap_or_else(|_| Err(Error::Timeout { host: self.host.clone(), after: total }))?;
        reply.ms = began.elapsed().as_millis() as u64;
        self.ledger.record(&self.config.model, reply.usage, self.config.price);
        Ok(reply)
    }

    /// Sends a minimal request, once, to check address, key and model.
    ///
    /// # Errors
    /// See [`Error`]; each kind of misconfiguration has its own code and remedy.
    pub async fn probe(&self) -> Result<Reply> {
        let request = Request { max_tokens: 16, ..Request::new("Answer with one word.", "Are you there?") };
        // A problem is to be reported now, not after it has passed.
        let mut once = self.clone();
        once.config.retry.attempts = 1;
        once.config.limits.total = once.config.limits.total.min(PROBE);
        once.chat(&request, &mut |_| {}).await
    }

    fn send_with_retry<'a>(
        &'a self,
        request: &'a Request,
        on_text: OnText<'a>,
        began: Instant,
    ) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(async move {
            let mut body = self.body(request);
            let mut pause = self.config.retry.pause;
            let first_deadline = began + self.config.limits.idle;
            let mut attempt = 1;
            loop {
                let mut attempted = Attempt::new(self, &body);
                let mut received = |text: &str| {
                    attempted.receive(text);
                    on_text(text);
                };
                let error = match self.send_once(&body, first_deadline, &mut received).await {
                    Ok(reply) => {
                        attempted.recorded = true;
                        return Ok(reply);
                    }
                    Err(error) => error,
                };
                let has_text = attempted.received > 0;
                drop(attempted);
                // Servers without schema support say so; the prompt asks for JSON anyway.
                if let (Error::BadRequest { reason, .. }, Some(_)) = (&error, body.get("response_format"))
                    && (reason.contains("response_format") || reason.contains("json_schema"))
                {
                    body.as_object_mut().map(|body| body.remove("response_format"));
                    continue;
                }
                if has_text || attempt >= self.config.retry.attempts || !error.is_transient() {
                    return Err(error);
                }
                let wait = error.retry_after().unwrap_or(pause);
                // Waiting until the timeout would only hide the actual error.
                let again = Instant::now() + wait;
                if wait > LONGEST_PAUSE
                    || again >= first_deadline
                    || again >= began + self.config.limits.total
                {
                    return Err(error);
                }
                tracing::debug!(%error, attempt, ?wait, "retrying a request");
                tokio::time::sleep(wait).await;
                pause *= 2;
                attempt += 1;
            }
        })
    }

    /// Records the estimated usage of an attempt for which the service reported none.
    fn record_estimate(&self, sent: usize, received: usize) {
        let tokens = |chars: usize| chars.div_ceil(CHARS_PER_TOKEN) as u64;
        let usage = Usage { input: tokens(sent), output: tokens(received) };
        self.ledger.record(&self.config.model, usage, self.config.price);
    }

    fn body(&self, request: &Request) -> Value {
        let mut request = request.clone();
        if let ResponseFormat::Json { schema, .. } = &request.response_format {
            request.system.push_str("\n\nAnswer with one JSON object after this schema and nothing else:\n");
            request.system.push_str(&schema.to_string());
        }
        match self.config.protocol {
            Protocol::Anthropic => anthropic::body(&self.config.model, &request),
            Protocol::Openai => openai::body(&self.config.model, &request),
        }
    }

    pub(crate) fn timeout_error(&self) -> Error {
        Error::Timeout { host: self.host.clone(), after: self.config.limits.idle }
    }

    /// A single attempt, whose first part has to arrive by `first_deadline`.
    async fn send_once(&self, body: &Value, first_deadline: Instant, on_text: OnText<'_>) -> Result<Reply> {
        let path = match self.config.protocol {
            Protocol::Anthropic => anthropic::PATH,
            Protocol::Openai => openai::PATH,
        };
        let url = format!("{}{path}", self.base);
        let sent = timeout_at(first_deadline, self.http.post(&url).json(body).send()).await;
        let response =
            sent.map_err(|_| self.timeout_error())?.map_err(|error| self.connection_error(&error))?;
        if !response.status().is_success() {
            return Err(self.status_error(&url, response, first_deadline).await);
        }
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("").to_owned();
        if kind.starts_with("text/event-stream") {
            return self.stream(response, first_deadline, on_text).await;
        }
        let text = self.read(response, self.config.limits.bytes, first_deadline).await?;
        if text.trim_start().starts_with('<') {
            return Err(Error::WrongAddress { url, reason: "it returned a web page".into() });
        }
        let json: Value = serde_json::from_str(&text).map_err(|error| self.unreadable(&error.to_string()))?;
        let reply = match self.config.protocol {
            Protocol::Anthropic => anthropic::parse_reply(&json),
            Protocol::Openai => openai::parse_reply(&json),
        }
        .map_err(|reason| self.unreadable(&reason))?;
        if !reply.text.is_empty() {
            on_text(&reply.text);
        }
        Ok(reply)
    }

    async fn stream(
        &self,
        response: Response,
        first_deadline: Instant,
        on_text: OnText<'_>,
    ) -> Result<Reply> {
        let limit = self.config.limits.bytes;
        let read = AtomicUsize::new(0);
        // Limited here, before an endless line accumulates in memory.
        let bytes = response.bytes_stream().take_while(|part| {
            let Ok(part) = part else { return std::future::ready(true) };
            let so_far = read.fetch_add(part.len(), Ordering::Relaxed) + part.len();
            std::future::ready(so_far <= limit)
        });
        let mut events = std::pin::pin!(bytes.eventsource());
        let read_event: ReadEvent = match self.config.protocol {
            Protocol::Anthropic => anthropic::parse_event,
            Protocol::Openai => openai::parse_event,
        };
        let mut draft = Draft::default();
        let mut next_deadline = first_deadline;
        loop {
            let event = timeout_at(next_deadline, events.next()).await.map_err(|_| self.timeout_error())?;
            let Some(event) = event else { break };
            next_deadline = Instant::now() + self.config.limits.idle;
            let event = event.map_err(|error| Error::NoConnection {
                host: self.host.clone(),
                reason: error.to_string(),
            })?;
            match read_event(&mut draft, &event.data, on_text) {
                Ok(Progress::More) => {}
                Ok(Progress::Done) => return Ok(draft.finish()),
                Err(StreamError::Unreadable(reason)) => return Err(self.unreadable(&reason)),
                Err(StreamError::Reported(reason)) => {
                    let reason = self.quoted(&reason);
                    return Err(Error::Provider { host: self.host.clone(), reason, retry_after: None });
                }
            }
        }
        if read.load(Ordering::Relaxed) > limit {
            return Err(Error::TooLong { host: self.host.clone(), limit });
        }
        Err(Error::NoConnection { host: self.host.clone(), reason: "the response is incomplete".into() })
    }

    /// Reads a body up to a limit.
    pub(crate) async fn read(
        &self,
        response: Response,
        limit: usize,
        first_deadline: Instant,
    ) -> Result<String> {
        let mut body = Vec::new();
        let mut stream = response.bytes_stream();
        let mut next_deadline = first_deadline;
        while let Some(part) =
            timeout_at(next_deadline, stream.next()).await.map_err(|_| self.timeout_error())?
        {
            next_deadline = Instant::now() + self.config.limits.idle;
            let part = part.map_err(|error| self.connection_error(&error))?;
            if body.len() + part.len() > limit {
                return Err(Error::TooLong { host: self.host.clone(), limit });
            }
            body.extend_from_slice(&part);
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    pub(crate) fn connection_error(&self, error: &reqwest::Error) -> Error {
        let mut reason = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            reason = error.to_string();
            cause = error.source();
        }
        Error::NoConnection { host: self.host.clone(), reason }
    }

    pub(crate) fn unreadable(&self, reason: &str) -> Error {
        Error::BadReply { host: self.host.clone(), reason: self.quoted(reason) }
    }

    /// A message of the service for display and storage: shortened, on one line, without terminal control
    /// characters and without the key, which some services repeat when they refuse it.
    fn quoted(&self, text: &str) -> String {
        let key = self.config.key.as_deref().map(str::trim).filter(|key| !key.is_empty());
        let text = key.map_or_else(|| text.to_owned(), |key| text.replace(key, "…"));
        let turns = |c: &char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let shown = text.chars().filter(|c| !turns(c)).map(|c| if c.is_control() { ' ' } else { c });
        shown.take(QUOTED).collect()
    }

    /// Classifies a failure by what the user has to fix.
    pub(crate) async fn status_error(&self, url: &str, response: Response, first_deadline: Instant) -> Error {
        let host = self.host.clone();
        let status = response.status();
        let retry_after = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| seconds(value.to_str().ok()?.trim()))
            .map(Duration::from_secs);
        // If the message cannot be read, the status is enough.
        let text = self.read(response, 64 << 10, first_deadline).await.unwrap_or_default();
        let json = serde_json::from_str::<Value>(&text).ok();
        let field = |name: &str| {
            json.as_ref().and_then(|v| v.pointer(name)).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let message = [field("/error/message"), field("/message"), field("/error")]
            .into_iter()
            .find(|message| !message.is_empty())
            .unwrap_or(text);
        let kind = format!("{} {}", field("/error/type"), field("/error/code"));
        let reason = self.quoted(&format!("{status}: {message}"));
        let names_model = message.to_lowercase().contains("model") || kind.contains("model");
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Error::WrongKey { host },
            StatusCode::NOT_FOUND if names_model => {
                Error::WrongModel { host, model: self.config.model.clone() }
            }
            StatusCode::BAD_REQUEST if kind.contains("model_not_found") => {
                Error::WrongModel { host, model: self.config.model.clone() }
            }
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
                Error::WrongAddress { url: url.to_owned(), reason }
            }
            StatusCode::TOO_MANY_REQUESTS => Error::RateLimited { host, retry_after },
            status if status.is_server_error() => Error::Provider { host, reason, retry_after },
            status if status.is_redirection() => Error::WrongAddress { url: url.to_owned(), reason },
            _ => Error::BadRequest { host, reason },
        }
    }
}

/// Whether more of a reply follows.
pub(crate) enum Progress {
    More,
    Done,
}

/// Why a streamed reply cannot be continued.
pub(crate) enum StreamError {
    /// The data violates the protocol.
    Unreadable(String),
    /// The service reports an error in the middle of a reply.
    Reported(String),
}

/// A reply that is being assembled, with its tool calls by index.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) text: String,
    pub(crate) calls: BTreeMap<u64, ToolCall>,
    pub(crate) usage: Usage,
    pub(crate) stop: StopReason,
}

impl Draft {
    /// Appends text and passes it on.
    pub(crate) fn push_text(&mut self, text: &str, on_text: OnText<'_>) {
        on_text(text);
        self.text.push_str(text);
    }

    fn finish(self) -> Reply {
        let mut calls: Vec<ToolCall> = self.calls.into_values().collect();
        for call in &mut calls {
            // A tool call without arguments arrives without any JSON.
            if call.arguments.trim().is_empty() {
                "{}".clone_into(&mut call.arguments);
            }
        }
        // Some servers end with "stop" although the model calls a tool.
        let stop = if calls.is_empty() { self.stop } else { StopReason::Tools };
        Reply { text: self.text, calls, usage: self.usage, stop, ms: 0 }
    }
}

/// Processes an event of a streamed reply.
pub(crate) type ReadEvent = fn(&mut Draft, &str, OnText<'_>) -> std::result::Result<Progress, StreamError>;

/// The seconds of a `Retry-After` header, which may also be a date.
fn seconds(value: &str) -> Option<u64> {
    value.parse().ok().or_else(|| {
        let until = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
        u64::try_from(until.duration_since(jiff::Timestamp::now()).as_secs()).ok()
    })
}
