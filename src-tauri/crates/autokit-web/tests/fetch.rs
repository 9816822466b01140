//! Tests of the client against a local server that misbehaves in every way seen in practice.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use autokit_web::{Code, Fetcher, Limits, NetworkPolicy};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

#[derive(Clone)]
struct Site {
    robots: Arc<(StatusCode, &'static str)>,
    inside: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    robots_asked: Arc<AtomicUsize>,
    /// Lets requests to `/slow-room` complete.
    door: Arc<Semaphore>,
}

async fn serve(robots: (StatusCode, &'static str)) -> (SocketAddr, Site) {
    let site = Site {
        robots: Arc::new(robots),
        inside: Arc::default(),
        most: Arc::default(),
        robots_asked: Arc::default(),
        door: Arc::new(Semaphore::new(0)),
    };
    let html = |body: &'static str| ([(header::CONTENT_TYPE, "text/html")], body);
    let app = Router::new()
        .route(
            "/robots.txt",
            get(|State(site): State<Site>| async move {
                site.robots_asked.fetch_add(1, Ordering::SeqCst);
                (site.robots.0, site.robots.1)
            }),
        )
        .route("/page", get(move || async move { html("<h1>Page</h1>") }))
        .route("/private/page", get(move || async move { html("secret") }))
        .route("/one", get(|| async { Redirect::permanent("/two#part") }))
        .route("/two", get(|| async { Redirect::temporary("page") }))
        .route("/circle", get(|| async { Redirect::temporary("/circle-2") }))
        .route("/circle-2", get(|| async { Redirect::temporary("/circle") }))
        .route(
            "/ever/{n}",
            get(|axum::extract::Path(n): axum::extract::Path<u32>| async move {
                Redirect::temporary(&format!("/ever/{}", n + 1))
            }),
        )
        .route("/inside", get(|| async { Redirect::temporary("http://169.254.169.254/latest/meta-data") }))
        .route("/file", get(|| async { Redirect::temporary("file:///etc/passwd") }))
        .route("/drip", get(drip))
        .route("/silent", get(|| async { std::future::pending::<Response>().await }))
        .route("/endless", get(endless))
        .route("/bomb", get(bomb))
        .route(
            "/long",
            get(|| async { ([(header::CONTENT_TYPE, "text/plain")], vec![b'x'; 3 << 20]).into_response() }),
        )
        .route("/pdf", get(|| async { ([(header::CONTENT_TYPE, "application/pdf")], "%PDF-1.7") }))
        .route(
            "/disguised",
            get(|| async { ([(header::CONTENT_TYPE, "text/html")], &b"\x7fELF\0\0\0\0"[..]) }),
        )
        .route(
            "/latin",
            get(|| async { ([(header::CONTENT_TYPE, "text/html; charset=ISO-8859-1")], &b"caf\xe9"[..]) }),
        )
        .route("/gone", get(|| async { (StatusCode::GONE, "no more") }))
        .route(
            "/busy",
            get(|| async { (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "7")], "later") }),
        )
        .route("/tagged", get(tagged))
        .route("/no-head", any(no_head))
        .route("/slow-room", get(slow_room))
        .with_state(site.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (address, site)
}

async fn drip() -> Response {
    let drops = futures_util::stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Some((Ok::<_, std::io::Error>(Bytes::from_static(b"x")), ()))
    });
    ([(header::CONTENT_TYPE, "text/html")], Body::from_stream(drops)).into_response()
}

async fn endless() -> Response {
    let parts = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 65536])));
    ([(header::CONTENT_TYPE, "text/html")], Body::from_stream(parts)).into_response()
}

/// 64 MiB of repeated bytes in 64 KiB of gzip, encoded here bit by bit.
async fn bomb() -> Response {
    // One deflate block with fixed Huffman codes: a literal, then copies of 258 bytes at distance 1.
    let mut bits: Vec<bool> = vec![true, true, false];
    let mut code = |value: u32, length: u32| (0..length).rev().for_each(|i| bits.push(value >> i & 1 == 1));
    code(0x30 + u32::from(b'x'), 8);
    for _ in 0..260_000 {
        // Length 258 is code 285, 11000101 in fixed Huffman; distance 1 is five zero bits.
        code(0b1100_0101, 8);
        code(0, 5);
    }
    code(0, 7);
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    bytes.extend(
        bits.chunks(8).map(|eight| eight.iter().enumerate().fold(0u8, |b, (i, &on)| b | u8::from(on) << i)),
    );
    ([(header::CONTENT_TYPE, "text/html"), (header::CONTENT_ENCODING, "gzip")], bytes).into_response()
}

async fn tagged(headers: HeaderMap) -> Response {
    if headers.get(header::IF_NONE_MATCH).is_some_and(|tag| tag == "\"v1\"") {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, "\"v1\"")]).into_response();
    }
    ([(header::ETAG, "\"v1\""), (header::CONTENT_TYPE, "text/html")], "first words").into_response()
}

async fn no_head(method: Method) -> Response {
    if method == Method::HEAD {
        StatusCode::METHOD_NOT_ALLOWED.into_response()
    } else {
        "here".into_response()
    }
}

async fn slow_room(State(site): State<Site>) -> &'static str {
    let now = site.inside.fetch_add(1, Ordering::SeqCst) + 1;
    site.most.fetch_max(now, Ordering::SeqCst);
    site.door.acquire().await.unwrap().forget();
    site.inside.fetch_sub(1, Ordering::SeqCst);
    "out"
}

/// Long limits, which only keep a failing test from hanging.
fn limits() -> Limits {
    let long = Duration::from_mins(1);
    Limits { total: long, connect: long, bytes: 1 << 20, ..Limits::default() }
}

async fn client() -> (Fetcher, String, Site) {
    client_within(limits()).await
}

async fn client_within(limits: Limits) -> (Fetcher, String, Site) {
    let (address, site) =
        serve((StatusCode::OK, "User-agent: *\nDisallow: /private/\nSitemap: /sitemap.xml\n")).await;
    let policy = NetworkPolicy::default().allowing(address.to_string());
    (Fetcher::new(policy, limits).unwrap(), format!("http://{address}"), site)
}

async fn code(fetcher: &Fetcher, url: &str) -> Code {
    match fetcher.get(url).await {
        Ok(page) => panic!("{url} gave {page:?}"),
        Err(error) => {
            assert!(!error.remedy().is_empty());
            error.code()
        }
    }
}

#[tokio::test]
async fn redirects_are_followed_recorded_and_bounded() {
    let (fetcher, base, _) = client().await;
    let page = fetcher.get(&format!("{base}/one")).await.unwrap();
    let hops: Vec<_> =
        page.hops.iter().map(|hop| (hop.url.strip_prefix(&base).unwrap(), hop.status)).collect();
    assert_eq!(hops, [("/one", 308), ("/two", 307), ("/page", 200)]);
    assert_eq!((page.url, page.text.as_str()), (format!("{base}/page"), "<h1>Page</h1>"));
    assert_eq!(code(&fetcher, &format!("{base}/circle")).await, Code::Redirects);
    assert_eq!(code(&fetcher, &format!("{base}/ever/1")).await, Code::Redirects);
}

#[tokio::test]
async fn private_addresses_are_refused_at_first_and_after_a_redirect() {
    let (fetcher, base, _) = client().await;
    assert_eq!(code(&fetcher, &format!("{base}/inside")).await, Code::PrivateAddress);
    assert_eq!(code(&fetcher, &format!("{base}/file")).await, Code::BadUrl);
    assert_eq!(code(&fetcher, "http://127.0.0.1:1/").await, Code::PrivateAddress);
    // A name that resolves to this machine is refused at name resolution.
    assert_eq!(code(&fetcher, "http://localhost:1/").await, Code::PrivateAddress);
    assert_eq!(code(&fetcher, "http://nobody.invalid/").await, Code::NoSuchHost);
    // Withdrawing a permission takes effect at once.
    fetcher.set_policy(NetworkPolicy::default()).unwrap();
    assert_eq!(code(&fetcher, &format!("{base}/page")).await, Code::PrivateAddress);
}

#[tokio::test]
async fn drips_and_silence_end_in_time() {
    let (fetcher, base, _) = client_within(Limits { total: Duration::from_secs(1), ..limits() }).await;
    // Neither response ever ends, and the first is never silent for long, so only the time limit can end
    // them.
    for path in ["/drip", "/silent"] {
        assert_eq!(code(&fetcher, &format!("{base}{path}")).await, Code::Timeout, "{path}");
    }
}

#[tokio::test]
async fn too_much_is_refused_whether_announced_endless_or_packed() {
    let (fetcher, base, _) = client().await;
    for path in ["/long", "/endless", "/bomb"] {
        assert_eq!(code(&fetcher, &format!("{base}{path}")).await, Code::TooLarge, "{path}");
    }
}

#[tokio::test]
async fn what_is_no_text_is_refused_and_encodings_are_read() {
    let (fetcher, base, _) = client().await;
    assert_eq!(code(&fetcher, &format!("{base}/pdf")).await, Code::NotText);
    assert_eq!(code(&fetcher, &format!("{base}/disguised")).await, Code::NotText);
    assert_eq!(fetcher.get(&format!("{base}/latin")).await.unwrap().text, "café");
}

#[tokio::test]
async fn failures_are_answers_with_their_status() {
    let (fetcher, base, _) = client().await;
    let gone = fetcher.get(&format!("{base}/gone")).await.unwrap();
    assert_eq!((gone.status, gone.text.as_str(), gone.is_success()), (410, "no more", false));
    let busy = fetcher.get(&format!("{base}/busy")).await.unwrap();
    assert_eq!((busy.status, busy.retry_after), (429, Some(7)));
    let head = fetcher.head(&format!("{base}/no-head")).await.unwrap();
    assert_eq!((head.status, head.text.as_str()), (200, "here"));
}

#[tokio::test]
async fn robots_txt_is_kept_to_and_asked_for_once() {
    let (fetcher, base, site) = client().await;
    assert_eq!(code(&fetcher, &format!("{base}/private/page")).await, Code::Robots);
    fetcher.get(&format!("{base}/page")).await.unwrap();
    assert_eq!(site.robots_asked.load(Ordering::SeqCst), 1);
    // A site that cannot say what it allows is treated as allowing nothing for the time being.
    let (address, _) = serve((StatusCode::SERVICE_UNAVAILABLE, "")).await;
    let policy = NetworkPolicy::default().allowing(address.to_string());
    let fetcher = Fetcher::new(policy, limits()).unwrap();
    assert_eq!(code(&fetcher, &format!("http://{address}/page")).await, Code::Robots);
    // A host that does not respond at all is a missing site, not a closed one.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let fetcher = Fetcher::new(NetworkPolicy::default().allowing(free.to_string()), limits()).unwrap();
    assert_eq!(code(&fetcher, &format!("http://{free}/")).await, Code::NoConnection);
}

#[tokio::test]
async fn a_page_that_has_not_changed_is_not_read_again() {
    let (fetcher, base, _) = client().await;
    let url = format!("{base}/tagged");
    let first = fetcher.get(&url).await.unwrap();
    assert_eq!((first.text.as_str(), first.validators.etag.as_deref()), ("first words", Some("\"v1\"")));
    let again = fetcher.get_if_changed(&url, &first.validators).await.unwrap();
    assert!(again.unchanged && again.text.is_empty(), "{again:?}");
    // A new process has only the validators.
    let policy = NetworkPolicy::default().allowing(base.trim_start_matches("http://"));
    let other = Fetcher::new(policy, limits()).unwrap();
    let again = other.get_if_changed(&url, &first.validators).await.unwrap();
    assert!(again.unchanged && again.status == 304, "{again:?}");
}

#[tokio::test]
async fn at_most_two_requests_reach_a_host_at_a_time() {
    let (fetcher, base, site) = client().await;
    let visits: Vec<_> = (0..6)
        .map(|visit| {
            let (fetcher, url) = (fetcher.clone(), format!("{base}/slow-room?{visit}"));
            tokio::spawn(async move { fetcher.get(&url).await })
        })
        .collect();
    // Two requests are inside; a third would enter now, since none can leave.
    while site.inside.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    site.door.add_permits(6);
    for visit in visits {
        assert_eq!(visit.await.unwrap().unwrap().text, "out");
    }
    assert_eq!(site.most.load(Ordering::SeqCst), 2);
}
