//! Requests as a server parses them.

use autokit_policy::Secret;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, Method, Uri};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use url::Url;

use super::{call, object, send};
use crate::call::{ParamLocation, Style};
use crate::{Call, Credential, Credentials, read_openapi};

/// A request as it arrived at the server.
#[derive(Debug)]
struct Arrived {
    method: Method,
    path: String,
    query: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

async fn server() -> (String, mpsc::UnboundedReceiver<Arrived>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let handler = |State(sender): State<mpsc::UnboundedSender<Arrived>>,
                   method: Method,
                   uri: Uri,
                   RawQuery(query): RawQuery,
                   headers: HeaderMap,
                   body: Bytes| async move {
        let (path, query) = (uri.path().to_owned(), query.unwrap_or_default());
        sender.send(Arrived { method, path, query, headers, body: body.to_vec() }).expect("awaited");
    };
    let app = Router::new().fallback(handler).with_state(sender);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, app).await.expect("served") });
    (address, receiver)
}

#[tokio::test]
async fn a_server_receives_what_was_passed() {
    let (address, mut arrived) = server().await;
    let document = json!({"openapi": "3.1.0", "info": {"title": "T"}, "servers": [{"url": format!("{address}/base")}],
        "paths": {"/things/{id}/{kind}": {"post": {"operationId": "x", "security": [{"key": [], "token": []}],
            "parameters": [
                {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
                {"name": "kind", "in": "path", "required": true, "style": "matrix", "explode": true, "schema": {"type": "array"}},
                {"name": "q", "in": "query", "schema": {"type": "string"}},
                {"name": "list", "in": "query", "style": "pipeDelimited", "schema": {"type": "array"}},
                {"name": "deep", "in": "query", "style": "deepObject", "schema": {"type": "object"}},
                {"name": "filter", "in": "query", "content": {"application/json": {}}},
                {"name": "X-Note", "in": "header", "schema": {"type": "string"}},
                {"name": "session", "in": "cookie", "schema": {"type": "string"}}],
            "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}}}},
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "cookie", "name": "k"}, "token": {"type": "http", "scheme": "bearer"}}}});
    let imported = read_openapi(document.to_string().as_bytes(), None).expect("a document");
    let call = Call::from_card(&imported.read.cards[0].card).expect("valid").expect("there");
    let credentials = Credentials::from([
        ("key".to_owned(), Credential::ApiKey(Secret::new("s;1"))),
        ("token".to_owned(), Credential::Token(Secret::new("t-2"))),
    ]);
    let arguments = json!({"id": "a/../b?c#d ü%2F", "kind": ["x y", "z;w"], "q": "1+1=2&x", "list": ["a|b", "c"],
        "deep": {"k 1": "v"}, "filter": {"a": [1, "ü"]}, "X-Note": "grüß dich, ja", "session": "a; b=c",
        "body": {"text": "né\n", "n": [1.5, null]}});
    let request = call.request(&object(&arguments), &credentials, None).expect("a request");

    let method = reqwest::Method::from_bytes(request.method.as_bytes()).expect("a method");
    let mut outgoing =
        reqwest::Client::builder().no_proxy().build().expect("a client").request(method, &request.url);
    for (name, value) in &request.headers {
        outgoing = outgoing
            .header(name, reqwest::header::HeaderValue::from_bytes(value.as_bytes()).expect("a value"));
    }
    let answer = outgoing.body(request.body.expect("one")).send().await.expect("sent");
    assert!(answer.status().is_success());

    let got = arrived.recv().await.expect("a request");
    assert_eq!(got.method, Method::POST);
    let decode =
        |text: &str| percent_encoding::percent_decode_str(text).decode_utf8().expect("UTF-8").into_owned();
    let segments: Vec<String> = got.path.split('/').map(decode).collect();
    assert_eq!(segments, ["", "base", "things", "a/../b?c#d ü%2F", ";kind=x y;kind=z;w"]);
    assert!(got.path.ends_with(";kind=x%20y;kind=z%3Bw"));
    let pairs: Vec<(String, String)> =
        url::form_urlencoded::parse(got.query.as_bytes()).into_owned().collect();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        pairs,
        [
            pair("q", "1+1=2&x"),
            pair("list", "a|b|c"),
            pair("deep[k 1]", "v"),
            pair("filter", r#"{"a":[1,"ü"]}"#)
        ]
    );
    assert_eq!(got.headers["x-note"].as_bytes(), "grüß dich, ja".as_bytes());
    assert_eq!(got.headers["authorization"], "Bearer t-2");
    assert_eq!(got.headers["content-type"], "application/json");
    let cookies: Vec<String> =
        got.headers["cookie"].to_str().expect("ASCII").split("; ").map(decode).collect();
    assert_eq!(cookies, ["session=a; b=c", "k=s;1"]);
    assert_eq!(serde_json::from_slice::<Value>(&got.body).expect("JSON"), arguments["body"]);
}

proptest! {
    #[test]
    fn any_text_survives_in_a_path_and_stays_in_its_segment(text in ".*") {
        let call = call(ParamLocation::Path, Style::Simple, false);
        match send(&call, &json!({"color": text})) {
            Err(_) => prop_assert!(["", ".", ".."].contains(&text.as_str())),
            Ok(request) => {
                let url = Url::parse(&request.url).expect("an address");
                let segments: Vec<&str> = url.path_segments().expect("some").collect();
                prop_assert_eq!(segments.len(), 4);
                prop_assert_eq!((segments[0], segments[1], segments[3]), ("v1", "a", "z"));
                let back = percent_encoding::percent_decode_str(segments[2]).decode_utf8().expect("UTF-8");
                prop_assert_eq!(back.as_ref(), text.as_str());
                prop_assert!(url.query().is_none() && url.fragment().is_none());
                prop_assert_eq!(url.host_str(), Some("h.example"));
            }
        }
    }

    #[test]
    fn any_text_survives_in_a_query(texts in prop::collection::vec(".*", 1..4), key in ".+") {
        let mut call = call(ParamLocation::Query, Style::Form, true);
        call.parameters[0].wire_name.clone_from(&key);
        let url = Url::parse(&send(&call, &json!({"color": texts})).expect("sent").url).expect("an address");
        let back: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let given: Vec<(String, String)> = texts.into_iter().map(|text| (key.clone(), text)).collect();
        prop_assert_eq!(back, given);
        prop_assert!(url.path() == "/v1/a" && url.fragment().is_none());
    }

    #[test]
    fn no_text_gets_out_of_a_reserved_query(text in ".*") {
        let mut call = call(ParamLocation::Query, Style::Form, true);
        call.parameters[0].allow_reserved = true;
        let url = Url::parse(&send(&call, &json!({"color": text})).expect("sent").url).expect("an address");
        prop_assert_eq!(url.query_pairs().count(), 1);
        prop_assert!(url.path() == "/v1/a" && url.fragment().is_none());
    }

    #[test]
    fn no_value_breaks_out_of_a_path(value in prop::collection::vec("[./\\\\%a-c ]{0,3}", 0..3), explode: bool, style in 0..3usize) {
        let style = [Style::Simple, Style::Label, Style::Matrix][style];
        if let Ok(request) = send(&call(ParamLocation::Path, style, explode), &json!({"color": value})) {
            let url = Url::parse(&request.url).expect("an address");
            let segments: Vec<&str> = url.path_segments().expect("some").collect();
            prop_assert_eq!(segments.len(), 4);
            prop_assert!(!segments[2].is_empty());
        }
    }
}
