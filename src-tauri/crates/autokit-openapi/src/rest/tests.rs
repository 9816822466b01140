//! Calls operations on a local server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use autokit_web::{Fetcher, Limits, NetworkPolicy};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get, post};
use serde_json::json;
use tokio::net::TcpListener;

use super::*;

#[derive(Clone, Default)]
struct Api {
    tokens: Arc<AtomicUsize>,
    revoked: Arc<AtomicUsize>,
}

/// Reverses a text, so that tests can still see what is redacted from responses.
fn backwards(text: &str) -> String {
    text.chars().rev().collect()
}

/// Returns what it was sent.
async fn echo(request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap_or_default();
    let named = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
    axum::Json(json!({
        "method": parts.method.as_str(), "uri": parts.uri.to_string(), "key": named("x-key"),
        "authorization": backwards(named("authorization")), "plainly": named("authorization"), "body": String::from_utf8_lossy(&body),
    }))
    .into_response()
}

async fn token(State(api): State<Api>, headers: HeaderMap, form: String) -> Response {
    // `client:s/ecret`, with each part encoded (RFC 6749 section 2.3.1).
    let known =
        headers.get(header::AUTHORIZATION).is_some_and(|given| given == "Basic Y2xpZW50OnMlMkZlY3JldA==");
    let form: BTreeMap<String, String> = url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
    if !known || form.get("grant_type").is_none_or(|grant| grant != "client_credentials") {
        let said = json!({"error": "invalid_client", "error_description": "who are you?"});
        return (StatusCode::UNAUTHORIZED, axum::Json(said)).into_response();
    }
    let number = api.tokens.fetch_add(1, Ordering::SeqCst) + 1;
    let scope = form.get("scope").cloned().unwrap_or_default();
    axum::Json(json!({"access_token": format!("t{number} {scope}").trim(), "token_type": "Bearer", "expires_in": 3600}))
        .into_response()
}

async fn guarded(State(api): State<Api>, headers: HeaderMap) -> Response {
    let given =
        headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned();
    let revoked = api.revoked.load(Ordering::SeqCst);
    let number: Option<usize> =
        given.strip_prefix("Bearer t").and_then(|rest| rest.split(' ').next()?.parse().ok());
    if number.is_some_and(|number| number > revoked) {
        backwards(&given).into_response()
    } else {
        StatusCode::UNAUTHORIZED.into_response()
    }
}

async fn serve() -> (SocketAddr, Api) {
    let api = Api::default();
    let app = Router::new()
        .route("/echo/{*rest}", any(echo))
        .route("/token", post(token))
        .route("/guarded", get(guarded))
        .route("/moved", get(|| async { Redirect::permanent("/echo/moved") }))
        .route("/away", get(|| async { Redirect::temporary("http://localhost:1/echo/away?secret=1") }))
        .route("/silent", get(|| async { std::future::pending::<Response>().await }))
        .route(
            "/endless",
            get(|| async {
                Body::from_stream(futures_util::stream::repeat_with(|| {
                    Ok::<_, std::io::Error>("x".repeat(65_536))
                }))
            }),
        )
        .with_state(api.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let at = listener.local_addr().expect("its address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    (at, api)
}

fn fetcher(at: SocketAddr) -> Fetcher {
    Fetcher::new(NetworkPolicy::default().allowing(at.to_string()), Limits::default()).expect("a client")
}

fn operation(server: &str, method: &str, path: &str, security: &Value) -> Call {
    let call = json!({
        "version": 1, "method": method, "servers": [{"url": server}], "path": path, "security": security,
        "parameters": [{"name": "q", "wire_name": "q", "in": "query", "style": "form", "explode": true}],
        "body": {"argument": "body", "media_type": "application/json"},
    });
    serde_json::from_value(call).expect("a call")
}

async fn called(at: SocketAddr, call: &Call, keys: &Keys) -> Result<ApiAnswer, RestError> {
    let arguments = json!({"q": "a b", "body": {"n": 1}}).as_object().cloned().unwrap_or_default();
    RestClient::default().call(&fetcher(at), call, &arguments, keys, &CancellationToken::new()).await
}

fn key(name: &str, credential: Credential) -> Keys {
    Keys::from([(name.to_owned(), Key::Ready(credential))])
}

fn said(answer: &ApiAnswer) -> Value {
    serde_json::from_slice(&answer.body).expect("JSON")
}

#[tokio::test]
async fn each_sort_of_key_is_sent_where_the_card_says() {
    let (at, _) = serve().await;
    let server = format!("http://{at}");
    let secret = || Secret::new("s3");
    let header = json!([[{"key": "k", "type": "api_key", "in": "header", "name": "X-Key"}]]);
    let query = json!([[{"key": "k", "type": "api_key", "in": "query", "name": "token"}]]);
    let basic = json!([[{"key": "k", "type": "basic"}]]);
    let bearer = json!([[{"key": "k", "type": "bearer"}]]);
    let password = Credential::Basic { user: "me".to_owned(), password: secret() };
    for (security, credential, field, value) in [
        (&header, Credential::ApiKey(secret()), "key", "s3"),
        (&query, Credential::ApiKey(secret()), "uri", "/echo/x?q=a%20b&token=s3"),
        (&basic, password, "authorization", "=Mzc6UWb cisaB"),
        (&bearer, Credential::Token(secret()), "authorization", "3s reraeB"),
    ] {
        let call = operation(&server, "POST", "/echo/x", security);
        let keys = key("k", credential);
        let answer = called(at, &call, &keys).await.expect("an answer");
        assert_eq!((answer.status, said(&answer)[field].as_str()), (200, Some(value)), "{security}");
        assert_eq!(
            (said(&answer)["method"].as_str(), said(&answer)["body"].as_str()),
            (Some("POST"), Some("{\"n\":1}"))
        );
        assert!(!format!("{answer:?}").contains("s3\"") || field == "key", "{answer:?}");
        let host = Need::Host { host: at.to_string() };
        assert_eq!(needs(&call, &keys), [host.clone(), Need::Secret { of: server.clone() }]);
        assert_eq!(needs(&call, &Keys::new()), [host]);
        let without = called(at, &call, &Keys::new()).await.expect_err("no key");
        assert!(matches!(without, RestError::Call(CallError::MissingCredentials { .. })), "{without}");
    }
}

#[tokio::test]
async fn an_answer_gives_no_key_away() {
    let (at, _) = serve().await;
    let server = format!("http://{at}");
    let secret = || Secret::new("long-secret");
    let password = Credential::Basic { user: "me".to_owned(), password: secret() };
    for (kind, credential) in [("basic", password), ("bearer", Credential::Token(secret()))] {
        let call = operation(&server, "GET", "/echo/x", &json!([[{"key": "k", "type": kind}]]));
        let answer = called(at, &call, &key("k", credential)).await.expect("an answer");
        let plainly = said(&answer)["plainly"].as_str().unwrap_or_default().to_lowercase();
        assert_eq!(plainly, format!("{kind} {REDACTED}"));
    }
}

#[tokio::test]
async fn tokens_are_fetched_once_and_again_when_they_are_refused() {
    let (at, api) = serve().await;
    let server = format!("http://{at}");
    let security = json!([[{"key": "o", "type": "oauth2", "token_url": "https://elsewhere.example/token", "scopes": ["read"]}]]);
    let call = operation(&server, "GET", "/guarded", &security);
    let client = |secret: &str| {
        let (token_url, id) = (format!("{server}/token"), "client".to_owned());
        Keys::from([("o".to_owned(), Key::Client { token_url, id, secret: Secret::new(secret) })])
    };
    let (rest, fetcher, going) = (RestClient::default(), fetcher(at), CancellationToken::new());
    let arguments = Map::new();
    let text = async |keys: &Keys| {
        let answer = rest.call(&fetcher, &call, &arguments, keys, &going).await.expect("an answer");
        (answer.status, backwards(&answer.text().unwrap_or_default()))
    };
    let keys = client("s/ecret");
    assert_eq!(text(&keys).await, (200, "Bearer t1 read".to_owned()));
    assert_eq!(text(&keys).await, (200, "Bearer t1 read".to_owned()));
    api.revoked.store(1, Ordering::SeqCst);
    assert_eq!(text(&keys).await, (200, "Bearer t2 read".to_owned()));
    assert_eq!(api.tokens.load(Ordering::SeqCst), 2);
    // Refused for good: a new token is fetched once, then the refusal is returned.
    api.revoked.store(99, Ordering::SeqCst);
    assert_eq!(text(&keys).await.0, 401);
    assert_eq!(api.tokens.load(Ordering::SeqCst), 3);
    // Another secret must not use the token of the first.
    let wrong = rest.call(&fetcher, &call, &arguments, &client("wrong"), &going).await.expect_err("refused");
    assert!(
        matches!(&wrong, RestError::NoToken { reason, .. } if reason.contains("who are you?")),
        "{wrong}"
    );
    assert!(!format!("{wrong} {wrong:?} {rest:?}").contains("ecret"));
}

#[tokio::test]
async fn keys_stay_at_their_origin_and_off_unencrypted_connections() {
    let (at, _) = serve().await;
    let server = format!("http://{at}");
    let security = json!([[{"key": "k", "type": "api_key", "in": "query", "name": "token"}], []]);
    let keys = key("k", Credential::ApiKey(Secret::new("s3")));
    let moved = called(at, &operation(&server, "GET", "/moved", &security), &keys).await.expect("an answer");
    assert_eq!((moved.status, moved.url), (200, format!("{server}/echo/moved")));
    let away = called(at, &operation(&server, "GET", "/away", &security), &keys).await.expect("an answer");
    assert_eq!((away.status, away.redirected_to.as_deref()), (307, Some("http://localhost:1/echo/away")));
    let open = operation("http://api.example.org", "GET", "/x", &security);
    let refused = called(at, &open, &keys).await.expect_err("an open line");
    assert!(matches!(refused, RestError::Unencrypted { .. }), "{refused}");
    // This machine is not reachable unless a person allowed it.
    let closed = Fetcher::new(NetworkPolicy::default(), Limits::default()).expect("a client");
    let call = operation(&server, "GET", "/echo/x", &security);
    let refused =
        RestClient::default().call(&closed, &call, &Map::new(), &keys, &CancellationToken::new()).await;
    let refused = refused.expect_err("a private address");
    assert!(
        refused.to_string().contains("private network") && !refused.to_string().contains("s3"),
        "{refused}"
    );
    assert_eq!(origin_of(&call), Some(server));
}

#[tokio::test]
async fn a_call_can_be_cancelled_and_reads_at_most_its_limit() {
    let (at, _) = serve().await;
    let server = format!("http://{at}");
    let endless = called(at, &operation(&server, "GET", "/endless", &json!([])), &Keys::new()).await;
    let endless = endless.expect("an answer");
    assert!(endless.cut && endless.body.len() == MAX_RESPONSE_BYTES);
    let silent = operation(&server, "GET", "/silent", &json!([]));
    let cancel = CancellationToken::new();
    let rest = RestClient::default();
    let (fetcher, arguments, keys) = (fetcher(at), Map::new(), Keys::new());
    let calling = rest.call(&fetcher, &silent, &arguments, &keys, &cancel);
    let (ended, ()) = tokio::join!(calling, async { cancel.cancel() });
    assert!(matches!(ended, Err(RestError::Cancelled)));
}
