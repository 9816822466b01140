//! A local service that replies as scripted by the test.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autokit_llm::{Ledger, Limits, Model, ModelConfig, Protocol, Retry};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A request as it was received.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

type Script = Arc<Mutex<VecDeque<Response>>>;

#[derive(Clone)]
struct Service {
    script: Script,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// The service and the requests it received.
pub(crate) struct Fake {
    pub(crate) base: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Fake {
    /// Sends these replies in order; an additional request gets status 418.
    pub(crate) async fn saying(answers: impl IntoIterator<Item = Response>) -> Fake {
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let service = Service {
            script: Arc::new(Mutex::new(answers.into_iter().collect())),
            asked: Arc::clone(&asked),
        };
        let app = Router::new()
            .fallback(|State(service): State<Service>, request: Request| async move {
                let (parts, body) = request.into_parts();
                let bytes = axum::body::to_bytes(body, 1 << 24).await.unwrap_or_default();
                let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
                service.asked.lock().unwrap().push(Asked {
                    path: parts.uri.path().to_owned(),
                    headers: parts.headers,
                    body,
                });
                let answer = service.script.lock().unwrap().pop_front();
                answer.unwrap_or_else(|| StatusCode::IM_A_TEAPOT.into_response())
            })
            .with_state(service);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Fake { base, asked }
    }

    pub(crate) fn requests(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn config(&self, protocol: Protocol) -> ModelConfig {
        ModelConfig {
            key: Some("planted-key".into()),
            // Only so that a failing test does not hang; tests of silence set their own limits.
            limits: Limits {
                connect: Duration::from_mins(1),
                idle: Duration::from_mins(1),
                total: Duration::from_mins(1),
                ..Limits::default()
            },
            retry: Retry { attempts: 3, pause: Duration::from_millis(1) },
            ..ModelConfig::new(protocol, self.base.clone(), "small-1")
        }
    }

    pub(crate) fn model(&self, protocol: Protocol) -> Model {
        Model::new(self.config(protocol), Ledger::default()).unwrap()
    }
}

/// A stream of events.
pub(crate) fn events(events: &[Value]) -> Response {
    let mut list: Vec<String> = events.iter().map(|event| format!("data: {event}")).collect();
    list.push("data: [DONE]\n\n".into());
    let text = list.join("\n\n");
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}

/// A text streamed in OpenAI's format, in pieces of a few characters.
pub(crate) fn words(text: &str) -> Response {
    let chars: Vec<char> = text.chars().collect();
    let mut list: Vec<Value> = chars
        .chunks(7)
        .map(|piece| json!({"choices": [{"index": 0, "delta": {"content": piece.iter().collect::<String>()}}]}))
        .collect();
    list.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
    list.push(json!({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 5}}));
    events(&list)
}

/// A tool call streamed in OpenAI's format.
pub(crate) fn call(name: &str, arguments: &str) -> Response {
    let (first, rest) = arguments.split_at(arguments.len() / 2);
    events(&[
        json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "type": "function",
            "function": {"name": name, "arguments": ""}}]}}]}),
        json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": first}}]}}]}),
        json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": rest}}]}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
    ])
}

/// An error in the format of the services.
pub(crate) fn failure(status: u16, message: &str) -> Response {
    let body = json!({"error": {"message": message, "type": "some_error"}}).to_string();
    (StatusCode::from_u16(status).unwrap(), [(header::CONTENT_TYPE, "application/json")], body)
        .into_response()
}

/// A streaming response with this body.
pub(crate) fn streamed(body: Body) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}
