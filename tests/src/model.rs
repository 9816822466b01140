//! A language model on this machine that says what a test tells it to, by OpenAI's protocol and by
//! Anthropic's.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::sockets::{Count, CountingListener};

/// Requests remembered; the memory of a long test is measured in this process.
const MAX_REQUESTS: usize = 64;

/// What a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// Scores for candidates.
    Scores,
    /// An answer.
    Answer,
    /// Whether an answer serves.
    Grade,
    /// Other words.
    Rewrite,
    /// Starter code.
    Starter,
    /// A card held against its page.
    Claims,
    /// A better description.
    Description,
    /// The next step of looking on the web.
    Web,
    /// Words, to see whether it answers.
    Text,
}

/// One request. The key it came with is not kept.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The path.
    pub path: String,
    /// The body.
    pub body: Value,
}

impl ModelRequest {
    /// What is wanted.
    pub fn kind(&self) -> RequestKind {
        let chosen = self.body.pointer("/tool_choice/name").and_then(Value::as_str);
        match self.schema_name().or(chosen) {
            Some("scores") => RequestKind::Scores,
            Some("answer") => RequestKind::Answer,
            Some("grade") => RequestKind::Grade,
            Some("query") => RequestKind::Rewrite,
            Some("starter") => RequestKind::Starter,
            Some("claims") => RequestKind::Claims,
            Some("description") => RequestKind::Description,
            _ if self.body.get("tools").is_some() => RequestKind::Web,
            _ => RequestKind::Text,
        }
    }

    /// Name of the schema that the answer is to follow, in OpenAI's protocol.
    pub fn schema_name(&self) -> Option<&str> {
        self.body.pointer("/response_format/json_schema/name").and_then(Value::as_str)
    }

    fn messages(&self) -> impl Iterator<Item = &Value> {
        self.body["messages"].as_array().into_iter().flatten()
    }

    /// What the person said first.
    pub fn prompt(&self) -> String {
        let first = self.messages().find(|message| message["role"] == "user");
        first.map(|message| text_of(&message["content"])).unwrap_or_default()
    }

    /// What the tools said so far.
    pub fn observations(&self) -> Vec<String> {
        let by_role = |message: &Value| match message["role"].as_str() {
            Some("tool") => vec![text_of(&message["content"])],
            _ => message["content"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|part| part["type"] == "tool_result")
                .map(|part| text_of(&part["content"]))
                .collect(),
        };
        self.messages().flat_map(by_role).collect()
    }

    /// The JSON the prompt ends with: candidates to score, or the facts to answer from.
    pub fn facts(&self) -> Vec<Value> {
        let prompt = self.prompt();
        let at = prompt.rfind("as JSON:\n").map_or(prompt.len(), |at| at + "as JSON:\n".len());
        serde_json::from_str(&prompt[at..]).unwrap_or_default()
    }

    /// The id of the fact whose card or candidate has this name.
    pub fn id_of(&self, name: &str) -> Option<String> {
        let named = |fact: &&Value| {
            fact["name"] == name
                || serde_json::from_str::<Value>(fact["card"].as_str().unwrap_or_default())
                    .is_ok_and(|card| card["name"] == name)
        };
        Some(self.facts().iter().find(named)?["id"].as_str()?.to_owned())
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// What the model does.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Words.
    Text(String),
    /// JSON after the schema that was asked for.
    Json(Value),
    /// A tool is called, with arguments as they are written.
    Call(String, String),
    /// A failure, with the seconds to wait.
    Status(u16, String, Option<u64>),
    /// Words of this many bytes.
    Long(usize),
    /// An event that is no JSON.
    Broken,
    /// A web page where an API should be.
    WebPage,
    /// Another reply after a while.
    After(Duration, Box<Reply>),
    /// Nothing, for as long as somebody waits.
    Never,
    /// The headers of a streamed answer, and then nothing.
    Stall,
    /// Words for as long as somebody listens, often enough not to be taken for silence.
    Endless,
}

impl Reply {
    /// A call with fitting arguments.
    #[allow(clippy::needless_pass_by_value, reason = "reads like json!")]
    pub fn call(name: &str, arguments: Value) -> Reply {
        Reply::Call(name.to_owned(), arguments.to_string())
    }

    /// A failure without a pause.
    pub fn status(code: u16, message: &str) -> Reply {
        Reply::Status(code, message.to_owned(), None)
    }

    /// Scores: 0.9 for the card of this name, 0.1 for the others.
    pub fn scores(request: &ModelRequest, best: &str) -> Reply {
        Reply::scores_by(request, |_, fact| if fact["name"] == best { 0.9 } else { 0.1 })
    }

    /// Scores by position and candidate, with justifications if they are asked for.
    pub fn scores_by(request: &ModelRequest, score: impl Fn(usize, &Value) -> f64) -> Reply {
        let justified = request.body.to_string().contains("justification");
        let scores = request.facts().into_iter().enumerate().map(|(at, fact)| {
            let mut one = json!({ "id": fact["id"], "score": score(at, &fact) });
            if justified {
                one["justification"] = json!("by its description");
            }
            one
        });
        Reply::Json(json!({ "scores": scores.collect::<Vec<_>>() }))
    }

    /// An answer that recommends a tool by its id.
    pub fn answer(tool: Option<&str>, sentence: &str, why: &str, code: &str) -> Reply {
        Reply::Json(json!({ "tool": tool, "sentence": sentence, "why": why, "code": code }))
    }

    /// A grade.
    pub fn grade(answers: bool, reason: &str) -> Reply {
        Reply::Json(json!({ "answers": answers, "reason": reason }))
    }

    /// Other words for a question.
    pub fn query(text: &str) -> Reply {
        Reply::Json(json!({ "query": text }))
    }

    /// A pause that has not ended when the test has.
    #[must_use]
    pub fn after(self, pause: Duration) -> Reply {
        Reply::After(pause, Box::new(self))
    }
}

type Script = dyn Fn(&ModelRequest) -> Reply + Send + Sync;

struct Shared {
    script: Box<Script>,
    key: Option<String>,
    requests: Mutex<VecDeque<ModelRequest>>,
    /// Requests that came with the right key.
    authorized: Count,
    in_flight: Count,
}

/// The model, and what it was asked.
pub struct ScriptedModel {
    /// Its address, for Settings.
    pub base: String,
    /// Requests that are being answered.
    pub in_flight: Count,
    /// Connections.
    pub sockets: Count,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedModel").field("base", &self.base).finish_non_exhaustive()
    }
}

impl ScriptedModel {
    /// Answers by a script.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn with_script(
        script: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static,
    ) -> Result<ScriptedModel> {
        ScriptedModel::start(None, Box::new(script)).await
    }

    /// Answers those who bring a key, and 401 to others.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn with_key(
        key: &str,
        script: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static,
    ) -> Result<ScriptedModel> {
        ScriptedModel::start(Some(key.to_owned()), Box::new(script)).await
    }

    async fn start(key: Option<String>, script: Box<Script>) -> Result<ScriptedModel> {
        let (in_flight, sockets) = (Count::default(), Count::default());
        let shared = Arc::new(Shared {
            script,
            key,
            requests: Mutex::default(),
            authorized: Count::default(),
            in_flight: in_flight.clone(),
        });
        let (listener, address) = CountingListener::bind(sockets.clone()).await?;
        let app = Router::new().fallback(reply).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(ScriptedModel { base: format!("http://{address}/v1"), in_flight, sockets, shared })
    }

    /// The last requests, oldest first.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.requests.lock().expect("no holder panics").iter().cloned().collect()
    }

    /// What was wanted, in order.
    pub fn kinds(&self) -> Vec<RequestKind> {
        self.requests().iter().map(ModelRequest::kind).collect()
    }

    /// Requests that came with the right key.
    pub fn authorized_requests(&self) -> usize {
        self.shared.authorized.current()
    }
}

async fn reply(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    // Given back when the answer is out, or when the other side left.
    let _in_flight = shared.in_flight.increment();
    let (parts, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, 1 << 24).await.unwrap_or_default();
    let request = ModelRequest {
        path: parts.uri.path().to_owned(),
        body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
    };
    {
        let mut all = shared.requests.lock().expect("no holder panics");
        all.push_back(request.clone());
        if all.len() > MAX_REQUESTS {
            all.pop_front();
        }
    }
    if let Some(key) = &shared.key {
        if !has_key(&parts.headers, key) {
            return failure(401, "that key is not known", None);
        }
        // Never given back: they are counted over all time.
        std::mem::forget(shared.authorized.increment());
    }
    if request.path != "/v1/chat/completions" && request.path != "/v1/messages" {
        return failure(404, "nothing is here", None);
    }
    let mut reply = (shared.script)(&request);
    while let Reply::After(pause, next) = reply {
        tokio::time::sleep(pause).await;
        reply = *next;
    }
    if matches!(reply, Reply::Never) {
        std::future::pending::<()>().await;
    }
    if matches!(reply, Reply::Stall) {
        return stalled(&shared);
    }
    if matches!(reply, Reply::Endless) {
        return endless(&shared);
    }
    if request.path == "/v1/messages" { anthropic(&request, &reply) } else { openai(&request, &reply) }
}

/// The headers of a stream, whose first event never comes.
fn stalled(shared: &Shared) -> Response {
    let waiting = shared.in_flight.increment();
    let silence = futures_util::stream::once(async move {
        let _waiting = waiting;
        std::future::pending::<std::result::Result<Bytes, std::convert::Infallible>>().await
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(silence)).into_response()
}

/// A stream by OpenAI's protocol that goes on until the other side leaves.
fn endless(shared: &Shared) -> Response {
    let talking = shared.in_flight.increment();
    let event = json!({ "choices": [{ "index": 0, "delta": { "content": "and " } }] });
    let event = Bytes::from(format!("data: {event}\n\n"));
    let words = futures_util::stream::unfold((true, talking), move |(first, talking)| {
        let event = event.clone();
        async move {
            if !first {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Some((Ok::<_, std::convert::Infallible>(event), (false, talking)))
        }
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(words)).into_response()
}

fn has_key(headers: &HeaderMap, key: &str) -> bool {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    value("authorization").and_then(|text| text.strip_prefix("Bearer ")) == Some(key)
        || value("x-api-key") == Some(key)
}

fn failure(status: u16, message: &str, pause: Option<u64>) -> Response {
    let kind = if message.contains("model") { "model_not_found" } else { "failure" };
    let body = json!({ "error": { "message": message, "type": kind, "code": kind } }).to_string();
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::IM_A_TEAPOT);
    let mut response = (status, [(header::CONTENT_TYPE, "application/json")], body).into_response();
    if let Some(seconds) = pause {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// What both protocols say alike; what is left is words or a call.
fn common(reply: &Reply) -> Option<Response> {
    match reply {
        Reply::Status(code, message, pause) => Some(failure(*code, message, *pause)),
        Reply::Broken => Some(streamed("data: {\"choices\": [\n\n".into())),
        Reply::WebPage => {
            Some(([(header::CONTENT_TYPE, "text/html")], "<html>Welcome</html>").into_response())
        }
        _ => None,
    }
}

fn reply_text(reply: &Reply) -> String {
    match reply {
        Reply::Text(text) => text.clone(),
        Reply::Json(value) => value.to_string(),
        Reply::Long(bytes) => "long ".repeat(bytes / 5),
        _ => String::new(),
    }
}

fn openai(request: &ModelRequest, reply: &Reply) -> Response {
    if let Some(response) = common(reply) {
        return response;
    }
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10 });
    let calls = |name: &str, arguments: &str| {
        json!([{ "index": 0, "id": "call-1", "type": "function",
            "function": { "name": name, "arguments": arguments } }])
    };
    if request.body["stream"] != true {
        let message = match reply {
            Reply::Call(name, arguments) => json!({ "content": null, "tool_calls": calls(name, arguments) }),
            other => json!({ "content": reply_text(other) }),
        };
        let body = json!({ "choices": [{ "message": message, "finish_reason": "stop" }], "usage": usage });
        return axum::Json(body).into_response();
    }
    let mut events = Vec::new();
    let delta = |delta: &Value, reason: Option<&str>| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] });
    if let Reply::Call(name, arguments) = reply {
        events.push(delta(&json!({ "tool_calls": calls(name, arguments) }), None));
        events.push(delta(&json!({}), Some("tool_calls")));
    } else {
        events.extend(pieces(&reply_text(reply)).map(|piece| delta(&json!({ "content": piece }), None)));
        events.push(delta(&json!({}), Some("stop")));
    }
    events.push(json!({ "choices": [], "usage": usage }));
    events.push(Value::Null);
    streamed(lines(&events).replace("data: null", "data: [DONE]"))
}

fn anthropic(request: &ModelRequest, reply: &Reply) -> Response {
    if let Some(response) = common(reply) {
        return response;
    }
    let mut events =
        vec![json!({ "type": "message_start", "message": { "usage": { "input_tokens": 100 } } })];
    // JSON is asked for as a call of the one tool.
    let call = match (reply, request.body.pointer("/tool_choice/name").and_then(Value::as_str)) {
        (Reply::Call(name, arguments), _) => Some((name.clone(), arguments.clone())),
        (Reply::Json(value), Some(name)) => Some((name.to_owned(), value.to_string())),
        _ => None,
    };
    let block = |block: &Value| json!({ "type": "content_block_start", "index": 0, "content_block": block });
    let delta = |delta: &Value| json!({ "type": "content_block_delta", "index": 0, "delta": delta });
    let reason = if let Some((name, arguments)) = call {
        events.push(block(&json!({ "type": "tool_use", "id": "call-1", "name": name, "input": {} })));
        events.push(delta(&json!({ "type": "input_json_delta", "partial_json": arguments })));
        "tool_use"
    } else {
        events.push(block(&json!({ "type": "text", "text": "" })));
        let words = reply_text(reply);
        events.extend(pieces(&words).map(|piece| delta(&json!({ "type": "text_delta", "text": piece }))));
        "end_turn"
    };
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": reason },
        "usage": { "output_tokens": 10 } }));
    events.push(json!({ "type": "message_stop" }));
    streamed(lines(&events))
}

fn lines(events: &[Value]) -> String {
    let lines: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    lines.concat()
}

/// A text in pieces, as models send it; long ones in long pieces.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let size = (text.len() / 16).max(12);
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut at = size.min(rest.len());
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let (piece, after) = rest.split_at(at);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn streamed(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from(Bytes::from(text))).into_response()
}
