//! What the SDK leaves to its HTTP endpoint: errors that name their request, batches of revision
//! 2025-03-26, the status of a deleted session, and a limit on sessions.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Json, Response};
use futures_util::future::join_all;
use futures_util::stream::{BoxStream, StreamExt as _, once, select_all};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::Value;

use crate::messages::MESSAGE_BYTES;
use crate::messages::{BATCH_VERSION, INVALID_REQUEST, ParsedBody, SERVER_BUSY, error, parse, parse_one};

/// Most sessions at a time. Unused ones end after five minutes.
const MAX_SESSIONS: usize = 256;

/// Header with the protocol revision; clients of 2025-03-26 do not send it.
const VERSION_HEADER: &str = "mcp-protocol-version";

/// The server-sent events of a stream, each in one chunk.
type Events = BoxStream<'static, Result<Bytes, axum::Error>>;

/// Middleware in front of the SDK's endpoint.
pub async fn validate_messages(
    State(sessions): State<Arc<LocalSessionManager>>,
    request: Request,
    next: Next,
) -> Response {
    let method = request.method().clone();
    if method != Method::POST {
        let answer = next.run(request).await;
        // The session is deleted already, so "accepted" would be wrong.
        let ended = method == Method::DELETE && answer.status() == StatusCode::ACCEPTED;
        return if ended { StatusCode::NO_CONTENT.into_response() } else { answer };
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MESSAGE_BYTES).await else {
        let message = format!("a message can have at most {MESSAGE_BYTES} bytes");
        return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
    };
    let invalid = match parse(&body) {
        Ok(ParsedBody::Single(message)) => {
            let is_initialize = message.method() == "initialize" && message.is_request();
            if is_initialize && sessions.sessions.read().await.len() >= MAX_SESSIONS {
                let id = message.id().unwrap_or(&Value::Null);
                let full = error(id, SERVER_BUSY, "too many sessions; end one or try again later");
                return (StatusCode::SERVICE_UNAVAILABLE, Json(full)).into_response();
            }
            message.validation_error()
        }
        Ok(ParsedBody::Batch(messages)) => match batch_error(&parts.headers, &messages) {
            None => return batch(&parts, &messages, &next).await,
            fault => fault,
        },
        Err(fault) => Some(fault),
    };
    match invalid {
        Some(fault) => (StatusCode::BAD_REQUEST, Json(fault)).into_response(),
        None => next.run(Request::from_parts(parts, Body::from(body))).await,
    }
}

/// Returns the error of a batch as a whole, if it is invalid.
fn batch_error(headers: &HeaderMap, messages: &[&str]) -> Option<Value> {
    let wrong = |message: &str| Some(error(&Value::Null, INVALID_REQUEST, message));
    let version = headers.get(VERSION_HEADER).map(HeaderValue::as_bytes);
    if version.is_some_and(|version| version != BATCH_VERSION.as_bytes()) {
        return wrong("this protocol version does not support batches");
    }
    if messages.is_empty() {
        return wrong("a batch must contain at least one message");
    }
    let is_initialize = |text: &&str| parse_one(text).is_ok_and(|message| message.method() == "initialize");
    if messages.iter().any(is_initialize) {
        return wrong("`initialize` cannot be part of a batch");
    }
    None
}

/// Handles each message of a batch separately and merges all responses into one stream.
async fn batch(parts: &Parts, messages: &[&str], next: &Next) -> Response {
    let responses = messages.iter().map(|text| serve_one(parts, text, next));
    let streams: Vec<Events> = join_all(responses).await.into_iter().flatten().collect();
    if streams.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    let mut answer = Response::new(Body::from_stream(select_all(streams)));
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

/// Returns the events that answer one message; `None` if it expects no response.
async fn serve_one(parts: &Parts, text: &str, next: &Next) -> Option<Events> {
    let message = match parse_one(text) {
        Ok(message) => message,
        Err(fault) => return Some(event(&fault)),
    };
    if let Some(fault) = message.validation_error() {
        return Some(event(&fault));
    }
    let mut parts = parts.clone();
    parts.headers.remove(header::CONTENT_LENGTH);
    let request = Request::from_parts(parts, Body::from(text.to_owned()));
    let answer = next.clone().run(request).await;
    let (status, streams) = (answer.status(), is_stream(answer.headers()));
    if !message.is_request() && status.is_success() {
        return None;
    }
    if status == StatusCode::OK && streams {
        return Some(answer.into_body().into_data_stream().boxed());
    }
    // An error before a stream was opened.
    let body = to_bytes(answer.into_body(), MESSAGE_BYTES).await.unwrap_or_default();
    let reply = serde_json::from_slice::<Value>(&body).ok().filter(|reply| reply.get("jsonrpc").is_some());
    let text = || String::from_utf8_lossy(&body).into_owned();
    let reply =
        reply.unwrap_or_else(|| error(message.id().unwrap_or(&Value::Null), INVALID_REQUEST, &text()));
    Some(event(&reply))
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

fn event(message: &Value) -> Events {
    let event = Bytes::from(format!("data: {message}\n\n"));
    once(async move { Ok(event) }).boxed()
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::post;
    use rmcp::transport::streamable_http_server::SessionManager as _;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use crate::listen::HttpListener;

    use super::*;

    #[tokio::test]
    async fn sessions_are_limited_and_existing_ones_continue() {
        let sessions = Arc::new(LocalSessionManager::default());
        let app = Router::new().route("/", post(|| async { "passed" }));
        let app = app.layer(from_fn_with_state(Arc::clone(&sessions), validate_messages));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let server = HttpListener::start(listener, app, CancellationToken::new());
        let client = reqwest::Client::new();
        let send = async |method: &str| {
            let body = json!({"jsonrpc": "2.0", "id": 7, "method": method}).to_string();
            let answer = client.post(&url).body(body).send().await.expect("an answer");
            (answer.status().as_u16(), answer.text().await.expect("a text"))
        };
        assert_eq!(send("initialize").await, (200, "passed".to_owned()));
        let mut open = Vec::new();
        for _ in 0..MAX_SESSIONS {
            open.push(sessions.create_session().await.expect("a session"));
        }
        let (status, text) = send("initialize").await;
        assert!(status == 503 && text.contains("\"id\":7"), "{status} {text}");
        assert_eq!(send("tools/list").await.0, 200);
        sessions.close_session(&open[0].0).await.expect("it ends");
        assert_eq!(send("initialize").await.0, 200);
        server.shut_down().await;
    }
}
