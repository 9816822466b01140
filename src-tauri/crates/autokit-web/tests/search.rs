//! Tests of each search service's protocol as documented, against a local server.

use std::sync::{Arc, Mutex};

use autokit_web::search::{GitHub, Hit, Provider, Service};
use autokit_web::{Code, Error, Fetcher, Limits, NetworkPolicy};
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The recorded requests: method, path with query, relevant headers, body.
type Asked = Arc<Mutex<Vec<(String, String, String, Value)>>>;

#[derive(Clone)]
struct Fake {
    asked: Asked,
    answer: Arc<dyn Fn(&str) -> Response + Send + Sync>,
}

async fn serve(answer: impl Fn(&str) -> Response + Send + Sync + 'static) -> (String, Asked) {
    let asked = Asked::default();
    let fake = Fake { asked: Arc::clone(&asked), answer: Arc::new(answer) };
    let app = Router::new().fallback(|State(fake): State<Fake>, request: Request| async move {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        let key = ["authorization", "x-subscription-token"]
            .iter()
            .find_map(|name| parts.headers.get(*name)?.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let body: Bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap_or_default();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        fake.asked.lock().unwrap().push((parts.method.to_string(), path.clone(), key, body));
        (fake.answer)(&path)
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app.with_state(fake)).await.unwrap() });
    (base, asked)
}

fn fetcher() -> Fetcher {
    // Configured services may be on this machine without any other permission.
    Fetcher::new(NetworkPolicy::default(), Limits::default()).unwrap()
}

fn provider(service: Service, base: &str) -> Provider {
    Provider::new(fetcher(), service, Some(base), Some("planted-key".into())).unwrap()
}

fn hit(title: &str, url: &str, snippet: &str) -> Hit {
    Hit { title: title.into(), url: url.into(), snippet: snippet.into() }
}

#[tokio::test]
async fn tavily_is_asked_by_post_with_a_bearer_key() {
    let (base, asked) = serve(|_| {
        Json(json!({"query": "q", "results": [
            {"title": "A &amp; B", "url": "https://a.example/", "content": "About <b>A</b>", "score": 0.9},
            {"title": "A again", "url": "https://a.example/", "content": "", "score": 0.8},
            {"title": "bad", "url": "javascript:alert(1)", "content": ""}
        ]}))
        .into_response()
    })
    .await;
    let hits = provider(Service::Tavily, &base).search("calendar tool", 5).await.unwrap();
    assert_eq!(hits, [hit("A & B", "https://a.example/", "About A")]);
    let asked = asked.lock().unwrap();
    assert_eq!(
        (asked[0].0.as_str(), asked[0].1.as_str(), asked[0].2.as_str()),
        ("POST", "/search", "Bearer planted-key")
    );
    assert_eq!((&asked[0].3["query"], &asked[0].3["max_results"]), (&json!("calendar tool"), &json!(5)));
}

#[tokio::test]
async fn brave_is_asked_with_its_own_header() {
    let (base, asked) = serve(|_| {
        Json(json!({"type": "search", "web": {"results": [
            {"title": "<strong>Tool</strong> docs", "url": "https://b.example/x", "description": "How to &quot;use&quot; it"}
        ]}}))
        .into_response()
    })
    .await;
    let hits = provider(Service::Brave, &base).search("a b&c", 30).await.unwrap();
    assert_eq!(hits, [hit("Tool docs", "https://b.example/x", "How to \"use\" it")]);
    let asked = asked.lock().unwrap();
    assert_eq!(asked[0].1, "/res/v1/web/search?q=a+b%26c&count=20");
    assert_eq!(asked[0].2, "planted-key");
}

#[tokio::test]
async fn searxng_answers_in_json_or_says_that_it_does_not() {
    let (base, asked) = serve(|_| {
        Json(json!({"query": "q", "results": [{"url": "https://c.example/", "title": "C", "content": null}]}))
            .into_response()
    })
    .await;
    let hits = provider(Service::Searxng, &format!("{base}/")).search("q", 3).await.unwrap();
    assert_eq!(hits, [hit("C", "https://c.example/", "")]);
    assert_eq!(asked.lock().unwrap()[0].1, "/search?q=q&format=json");

    let (base, _) = serve(|_| StatusCode::FORBIDDEN.into_response()).await;
    let error = provider(Service::Searxng, &base).search("q", 3).await.unwrap_err();
    assert_eq!(error.code(), Code::WrongAddress);
    assert!(error.to_string().contains("search.formats"), "{error}");
    let none = Provider::new(fetcher(), Service::Searxng, None, None).unwrap_err();
    assert_eq!(none.code(), Code::WrongAddress);
}

#[tokio::test]
async fn duckduckgo_s_page_is_read_without_its_advertisements() {
    const PAGE: &str = r#"<html><body><form></form><div id="links" class="results">
        <div class="result results_links result--ad"><a class="result__a" href="https://ad.example/">Buy</a></div>
        <div class="result results_links web-result"><h2><a class="result__a"
            href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fd.example%2Fpage%3Fa%3Db&amp;rut=1">The <b>page</b></a></h2>
            <a class="result__snippet" href="x">Some <b>words</b>
            here</a></div></div></body></html>"#;
    let (base, asked) = serve(|_| ([(header::CONTENT_TYPE, "text/html")], PAGE).into_response()).await;
    let duck = Provider::new(fetcher(), Service::Duckduckgo, Some(&base), None).unwrap();
    let hits = duck.search("two words", 5).await.unwrap();
    assert_eq!(hits, [hit("The page", "https://d.example/page?a=b", "Some words here")]);
    assert_eq!(asked.lock().unwrap()[0].1, "/html/?q=two+words");

    let (base, _) = serve(|_| {
        let puzzle = "<div class=\"anomaly-modal__title\">Unfortunately, bots use DuckDuckGo too.</div>";
        (StatusCode::ACCEPTED, [(header::CONTENT_TYPE, "text/html")], puzzle).into_response()
    })
    .await;
    let duck = Provider::new(fetcher(), Service::Duckduckgo, Some(&base), None).unwrap();
    assert_eq!(duck.search("q", 5).await.unwrap_err().code(), Code::RateLimited);
}

#[tokio::test]
async fn what_goes_wrong_is_told_apart() {
    let code = async |status: u16, headers: &'static [(&'static str, &'static str)], body: &'static str| {
        let (base, _) = serve(move |_| {
            let mut response = (StatusCode::from_u16(status).unwrap(), body).into_response();
            for (name, value) in headers {
                response.headers_mut().insert(*name, value.parse().unwrap());
            }
            response
        })
        .await;
        provider(Service::Brave, &base).search("q", 3).await.unwrap_err()
    };
    assert_eq!(code(401, &[], "").await.code(), Code::WrongKey);
    assert_eq!(
        code(422, &[], r#"{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID"}}"#).await.code(),
        Code::WrongKey
    );
    assert_eq!(code(404, &[], "").await.code(), Code::WrongAddress);
    assert_eq!(code(302, &[("location", "https://elsewhere.example/")], "").await.code(), Code::WrongAddress);
    assert_eq!(code(200, &[], "<html>a router's page</html>").await.code(), Code::WrongAddress);
    assert_eq!(code(200, &[], "{ not json").await.code(), Code::Provider);
    let failed = code(500, &[], "<p>out of <b>order</b></p>").await;
    assert_eq!(failed.code(), Code::Provider);
    assert!(failed.to_string().contains("out of order") && failed.is_temporary(), "{failed}");
    let busy = code(429, &[("retry-after", "12")], "").await;
    assert!(
        matches!(&busy, Error::RateLimited { retry_after: Some(t), .. } if t.as_secs() == 12),
        "{busy:?}"
    );
    // Neither errors nor debug output contain the key.
    let (base, _) = serve(|_| StatusCode::UNAUTHORIZED.into_response()).await;
    let provider = provider(Service::Brave, &base);
    let error = provider.search("q", 1).await.unwrap_err();
    assert!(!format!("{provider:?} {error:?} {error}").contains("planted-key"));
    assert!(Provider::new(fetcher(), Service::Tavily, None, Some(" ".into())).is_err());
}

#[tokio::test]
async fn github_gives_repositories_and_facts() {
    let (base, asked) = serve(|path| {
        let repository = json!({
            "full_name": "acme/tool", "html_url": "https://github.com/acme/tool", "description": null,
            "homepage": "https://tool.example", "language": "Rust", "stargazers_count": 42,
            "license": {"key": "mit", "spdx_id": "MIT"}, "pushed_at": "2026-01-02T03:04:05Z", "archived": false
        });
        match path {
            _ if path.starts_with("/search/code") => Json(json!({"items": [{
                "path": "README.md", "html_url": "https://github.com/acme/tool/blob/main/README.md",
                "repository": {"full_name": "acme/tool", "html_url": "https://github.com/acme/tool"},
            }]}))
            .into_response(),
            _ if path.starts_with("/search/") => Json(json!({"total_count": 1, "items": [repository]})).into_response(),
            "/repos/acme/tool" => Json(repository).into_response(),
            "/repos/acme/tool/contents/docs/how%20to.py" => "from tool import Tool\n".into_response(),
            "/repos/acme/busy" => {
                (StatusCode::FORBIDDEN, [("x-ratelimit-remaining", "0")], "rate limit").into_response()
            }
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    })
    .await;
    let github = GitHub::new(fetcher(), Some(&base), Some("planted-key".into()));
    let found = github.repositories("calendar tool", 3).await.unwrap();
    let facts = (found[0].full_name.as_str(), found[0].stars, found[0].license.as_deref());
    assert_eq!(facts, ("acme/tool", 42, Some("MIT")));
    assert_eq!(github.repository("acme/tool").await.unwrap().as_ref(), found.first());
    assert_eq!(github.repository("acme/absent").await.unwrap(), None);
    let file = github.file("acme/tool", "docs/how to.py").await.unwrap();
    assert_eq!(file.as_deref(), Some("from tool import Tool\n"));
    assert_eq!(github.file("acme/tool", "absent.py").await.unwrap(), None);
    assert_eq!(github.repository("acme/busy").await.unwrap_err().code(), Code::RateLimited);
    let code = github.code("calendar tool filename:README.md", 3).await.unwrap();
    assert_eq!((code[0].repository.full_name.as_str(), code[0].path.as_str()), ("acme/tool", "README.md"));
    let keyless = GitHub::new(fetcher(), Some(&base), None);
    assert_eq!(keyless.code("calendar", 3).await.unwrap_err().code(), Code::WrongKey);
    assert_eq!(github.repository("../../user").await.unwrap_err().code(), Code::BadUrl);
    // Reading back yields what was written, because evidence is stored as JSON.
    let kept: autokit_web::search::Repository =
        serde_json::from_value(serde_json::to_value(&found[0]).unwrap()).unwrap();
    assert_eq!(kept, found[0]);
    let asked = asked.lock().unwrap();
    assert_eq!(asked[0].1, "/search/repositories?q=calendar+tool&per_page=3");
    assert!(asked.iter().all(|one| one.2 == "Bearer planted-key"));
}

#[tokio::test]
async fn a_service_that_repeats_the_key_does_not_get_it_shown() {
    let at_the_cut = "x".repeat(195) + " planted-key";
    let answers = [
        (StatusCode::BAD_GATEWAY, "sorry, you sent planted-key".to_owned()),
        (StatusCode::BAD_GATEWAY, at_the_cut),
        (
            StatusCode::OK,
            r#"{"results": "planted-key", "web": "planted-key", "items": "planted-key"}"#.to_owned(),
        ),
    ];
    for (status, text) in answers {
        let (base, _) = serve(move |_| (status, text.clone()).into_response()).await;
        let github = GitHub::new(fetcher(), Some(&base), Some("planted-key".into()));
        let mut errors = vec![github.repositories("calendar", 5).await.unwrap_err()];
        for service in Service::ALL.into_iter().filter(|service| service.needs_key()) {
            errors.push(provider(service, &base).search("calendar", 5).await.unwrap_err());
        }
        for error in errors {
            let all = format!("{error} {error:?}");
            assert!(!all.contains("plan"), "{all}");
        }
    }
}

#[test]
fn an_address_that_is_none_is_told_before_anything_is_asked() {
    for base in ["nowhere", "javascript:alert(1)", "file:///etc/passwd", "ftp://x.example"] {
        let made = Provider::new(fetcher(), Service::Searxng, Some(base), None);
        assert_eq!(made.unwrap_err().code(), Code::WrongAddress, "{base}");
    }
}

#[tokio::test]
async fn what_hits_say_cannot_steer_or_hide() {
    let title = "Weather\u{1b}]0;x\u{7} <b>\u{202e}API</b>\u{e0041}";
    let (base, _) = serve(move |_| {
        Json(json!({"results": [
            {"title": title, "url": "https://a.example", "content": "&#27;[31mred"},
            {"title": "x", "url": "javascript:alert(1)"},
            {"title": "x", "url": "file:///etc/passwd"},
            {"title": "x", "url": "httpx://a.example"},
            {"title": "x", "url": "http://"},
            {"title": "x", "url": "https://user:word@a.example"},
            {"title": 4, "url": null}, null, 5,
        ]}))
        .into_response()
    })
    .await;
    let hits = provider(Service::Searxng, &base).search("weather", 5).await.unwrap();
    assert_eq!(hits, [hit("Weather]0;x API", "https://a.example", "[31mred")]);
}

/// A GitHub that tags its answers, counts the requests that cost something, and is exhausted after some.
async fn tagging_github(limit: usize) -> (String, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let cost = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&cost);
    let app = axum::Router::new().fallback(move |request: axum::extract::Request| {
        let counted = Arc::clone(&counted);
        async move {
            let path = request.uri().path().to_owned();
            let tag = format!("\"{path}\"");
            if request.headers().get("if-none-match").is_some_and(|known| known == tag.as_str()) {
                return (StatusCode::NOT_MODIFIED, [("etag", tag)]).into_response();
            }
            if counted.fetch_add(1, Ordering::SeqCst) >= limit {
                let headers = [
                    ("x-ratelimit-remaining", "0"),
                    ("x-ratelimit-reset", "1800000090"),
                    ("date", "Fri, 15 Jan 2027 08:00:00 GMT"),
                ];
                return (StatusCode::FORBIDDEN, headers, "API rate limit exceeded").into_response();
            }
            let raw =
                request.headers().get("accept").is_some_and(|kind| kind == "application/vnd.github.raw+json");
            match path.as_str() {
                "/repos/acme/tool" => (
                    [("etag", tag)],
                    Json(json!({
                        "full_name": "acme/tool", "html_url": "https://github.com/acme/tool",
                        "stargazers_count": 7, "license": {"spdx_id": "MIT"}, "topics": ["pdf", "cli"],
                        "pushed_at": "2026-01-02T03:04:05Z", "archived": true,
                    })),
                )
                    .into_response(),
                "/repos/acme/tool/releases/latest" => (
                    [("etag", tag)],
                    Json(json!({
                        "tag_name": "v2.1", "html_url": "https://github.com/acme/tool/releases/tag/v2.1",
                        "published_at": "2025-12-01T00:00:00Z",
                    })),
                )
                    .into_response(),
                "/repos/acme/tool/readme" if raw => {
                    ([("etag", tag)], "# Tool\n\nJoins PDF files.").into_response()
                }
                "/repos/acme/bare" => Json(json!({
                    "full_name": "acme/bare", "html_url": "https://github.com/acme/bare",
                }))
                .into_response(),
                _ => StatusCode::NOT_FOUND.into_response(),
            }
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (base, cost)
}

#[tokio::test]
async fn facts_of_a_repository_cost_nothing_the_second_time() {
    let (base, cost) = tagging_github(100).await;
    let github = GitHub::new(fetcher(), Some(&base), None);
    let facts = github.facts("acme/tool", true).await.unwrap().unwrap();
    assert_eq!(facts.repository.topics, ["pdf", "cli"]);
    assert_eq!(facts.readme.as_deref(), Some("# Tool\n\nJoins PDF files."));
    let repository = &facts.repository;
    assert_eq!(
        (repository.full_name.as_str(), repository.stars, repository.archived),
        ("acme/tool", 7, true)
    );
    assert_eq!(repository.license.as_deref(), Some("MIT"));
    assert_eq!(repository.pushed_at.as_deref(), Some("2026-01-02T03:04:05Z"));
    let release = facts.latest_release.as_ref().unwrap();
    let released = (release.tag_name.as_str(), release.published_at.as_deref());
    assert_eq!(released, ("v2.1", Some("2025-12-01T00:00:00Z")));
    let spent = cost.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!(spent, 3);
    assert_eq!(github.clone().facts("acme/tool", true).await.unwrap(), Some(facts));
    assert_eq!(cost.load(std::sync::atomic::Ordering::SeqCst), spent, "answered by their tags");
    let bare = github.facts("acme/bare", true).await.unwrap().unwrap();
    assert_eq!((bare.latest_release, bare.readme), (None, None));
    assert_eq!(github.facts("acme/absent", true).await.unwrap(), None);
}

#[tokio::test]
async fn nothing_is_sent_while_the_limit_is_exhausted() {
    let (base, cost) = tagging_github(1).await;
    let github = GitHub::new(fetcher(), Some(&base), None);
    github.repository("acme/tool").await.unwrap();
    let error = github.repository("acme/bare").await.unwrap_err();
    assert_eq!(error.code(), Code::RateLimited);
    assert!(error.to_string().contains("90 s"), "{error}");
    let sent = cost.load(std::sync::atomic::Ordering::SeqCst);
    for _ in 0..3 {
        assert_eq!(github.repository("acme/bare").await.unwrap_err().code(), Code::RateLimited);
    }
    assert_eq!(cost.load(std::sync::atomic::Ordering::SeqCst), sent);
}

#[test]
fn addresses_of_repositories_are_recognized() {
    let github = GitHub::new(fetcher(), None, None);
    let repository_of = |url: &str| github.repository_of(url);
    let enterprise = GitHub::new(fetcher(), Some("https://git.acme.example/api/v3"), None);
    assert_eq!(enterprise.repository_of("https://git.acme.example/acme/tool").as_deref(), Some("acme/tool"));
    assert_eq!(enterprise.repository_of("https://github.com/acme/tool"), None);
    assert_eq!(repository_of("https://github.com/acme/tool/tree/main/docs").as_deref(), Some("acme/tool"));
    assert_eq!(repository_of("https://github.com/acme/tool.git").as_deref(), Some("acme/tool"));
    for other in [
        "https://github.com/acme",
        "https://github.com/topics/pdf",
        "https://evil.example/acme/tool",
        "acme/tool",
    ] {
        assert_eq!(repository_of(other), None, "{other}");
    }
}
