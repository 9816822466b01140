//! A small web site on this machine: documentation pages, and a search over them that answers as
//! SearXNG does.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::web::IndexedPage;

/// A page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    title: String,
    /// Headings, paragraphs and code, in order.
    html: String,
    /// What is searched.
    text: String,
}

impl Page {
    /// A page with a title and no content yet.
    pub fn new(title: &str) -> Page {
        Page { title: title.to_owned(), text: title.to_owned(), html: String::new() }
    }

    fn with(mut self, html: &str, text: &str) -> Page {
        self.html.push_str(html);
        self.text.push(' ');
        self.text.push_str(text);
        self
    }

    /// Adds a section's heading.
    #[must_use]
    pub fn heading(self, text: &str) -> Page {
        let id = text.to_lowercase().replace(' ', "-");
        self.with(&format!("<h2 id=\"{id}\">{}</h2>", escaped(text)), text)
    }

    /// Adds a paragraph.
    #[must_use]
    pub fn paragraph(self, text: &str) -> Page {
        self.with(&format!("<p>{}</p>", escaped(text)), text)
    }

    /// Adds code.
    #[must_use]
    pub fn code(self, language: &str, code: &str) -> Page {
        let html = format!("<pre><code class=\"language-{language}\">{}</code></pre>", escaped(code));
        self.with(&html, code)
    }

    fn document(&self) -> String {
        format!(
            "<!doctype html><html lang=\"en\"><head><title>{title}</title></head><body><main><article>\
             <h1>{title}</h1>{}</article></main></body></html>",
            self.html,
            title = escaped(&self.title),
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// What is answered for a path.
#[derive(Clone, Debug)]
enum Answer {
    Page(Page),
    Status(u16),
    /// A text as it is, of this type, with status 200.
    Text(&'static str, String),
    Redirect(String),
    /// Bytes that are no page.
    Download(&'static str, usize),
    /// A page that comes when the gate lets it.
    Held(Page, Arc<Semaphore>),
}

/// One request: the path with its query, and the status it got.
pub type Hit = (String, u16);

#[derive(Debug)]
struct Shared {
    base: String,
    pages: Mutex<BTreeMap<String, Answer>>,
    requests: Mutex<Vec<Hit>>,
    /// Pages found by a search that ranks; without them, pages that share words are listed.
    indexed: Mutex<Vec<IndexedPage>>,
}

/// The site, and what it was asked.
#[derive(Debug)]
pub struct Site {
    /// Its address, which is also that of its search.
    pub base: String,
    shared: Arc<Shared>,
}

impl Site {
    /// Serves these pages, by path.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn serve<'a>(pages: impl IntoIterator<Item = (&'a str, Page)>) -> Result<Site> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base = format!("http://{}", listener.local_addr()?);
        let pages = pages.into_iter().map(|(path, page)| (path.to_owned(), Answer::Page(page)));
        let shared = Arc::new(Shared {
            base: base.clone(),
            pages: Mutex::new(pages.collect()),
            requests: Mutex::default(),
            indexed: Mutex::default(),
        });
        let app = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(Site { base, shared })
    }

    /// The address of a page.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Host and port, for the list of allowed hosts.
    pub fn host(&self) -> String {
        self.base.trim_start_matches("http://").to_owned()
    }

    /// Puts a page there, in place of what was.
    pub fn put(&self, path: &str, page: Page) {
        self.pages().insert(path.to_owned(), Answer::Page(page));
    }

    /// From now on a path answers with a failure.
    pub fn fail(&self, path: &str, status: u16) {
        self.pages().insert(path.to_owned(), Answer::Status(status));
    }

    /// From now on a path answers with this HTML.
    pub fn html(&self, path: &str, html: &str) {
        self.text(path, "text/html; charset=utf-8", html);
    }

    /// Lets the search rank these pages.
    pub(crate) fn index(&self, pages: Vec<IndexedPage>) {
        *self.shared.indexed.lock().expect("no holder panics") = pages;
    }

    /// From now on a path answers with this text of this type.
    pub fn text(&self, path: &str, kind: &'static str, text: &str) {
        self.pages().insert(path.to_owned(), Answer::Text(kind, text.to_owned()));
    }

    /// From now on a path leads elsewhere.
    pub fn redirect(&self, path: &str, to: &str) {
        self.pages().insert(path.to_owned(), Answer::Redirect(to.to_owned()));
    }

    /// From now on a path is a download of this many bytes.
    pub fn download(&self, path: &str, kind: &'static str, bytes: usize) {
        self.pages().insert(path.to_owned(), Answer::Download(kind, bytes));
    }

    /// From now on a page comes only when the gate has a permit for it.
    pub fn hold(&self, path: &str, page: Page, gate: &Arc<Semaphore>) {
        self.pages().insert(path.to_owned(), Answer::Held(page, Arc::clone(gate)));
    }

    /// Takes a page away: nothing is there, and no search finds it.
    pub fn remove(&self, path: &str) {
        self.pages().remove(path);
    }

    /// Requests for a path, in order: their statuses.
    pub fn statuses(&self, path: &str) -> Vec<u16> {
        let requests = self.shared.requests.lock().expect("no holder panics");
        requests.iter().filter(|(requested, _)| requested == path).map(|(_, status)| *status).collect()
    }

    /// How many searches there were.
    pub fn searches(&self) -> usize {
        let requests = self.shared.requests.lock().expect("no holder panics");
        requests.iter().filter(|(path, _)| path.starts_with("/search?")).count()
    }

    fn pages(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Answer>> {
        self.shared.pages.lock().expect("no holder panics")
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let uri = request.uri();
    // A search that is told to fail does.
    let fails = shared.pages.lock().expect("no holder panics").contains_key(uri.path());
    let response = if uri.path() == "/search" && !fails {
        Json(json!({ "results": results(&shared, uri.query().unwrap_or_default()) })).into_response()
    } else {
        let known = request.headers().get(header::IF_NONE_MATCH).and_then(|tag| tag.to_str().ok());
        let waiting_gate = match shared.pages.lock().expect("no holder panics").get(uri.path()) {
            Some(Answer::Held(_, gate)) => Some(Arc::clone(gate)),
            _ => None,
        };
        if let Some(gate) = waiting_gate {
            // Closed gates are opened by nobody: the page is let through then.
            if let Ok(permit) = gate.acquire().await {
                permit.forget();
            }
        }
        page(&shared, uri.path(), known)
    };
    let path = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    shared.requests.lock().expect("no holder panics").push((path, response.status().as_u16()));
    response
}

fn page(shared: &Shared, path: &str, known: Option<&str>) -> Response {
    let found = shared.pages.lock().expect("no holder panics").get(path).cloned();
    match found {
        None => StatusCode::NOT_FOUND.into_response(),
        Some(Answer::Status(status)) => {
            StatusCode::from_u16(status).unwrap_or(StatusCode::IM_A_TEAPOT).into_response()
        }
        Some(Answer::Text(kind, text)) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        Some(Answer::Redirect(to)) => {
            (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, to)]).into_response()
        }
        Some(Answer::Download(kind, bytes)) => {
            ([(header::CONTENT_TYPE, kind)], vec![0u8; bytes]).into_response()
        }
        Some(Answer::Page(page) | Answer::Held(page, _)) => {
            let document = page.document();
            let mut hash = DefaultHasher::new();
            document.hash(&mut hash);
            let tag = format!("\"{:x}\"", hash.finish());
            if known == Some(tag.as_str()) {
                return (StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response();
            }
            let headers =
                [(header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()), (header::ETAG, tag)];
            (headers, document).into_response()
        }
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 3);
    words.map(str::to_lowercase).collect()
}

/// The pages that share words with the query, those that share more first.
fn results(shared: &Shared, query: &str) -> Vec<Value> {
    let address = reqwest::Url::parse(&format!("{}/search?{query}", shared.base)).expect("a valid address");
    let query = address.query_pairs().find(|(name, _)| name == "q");
    let query = query.map(|(_, text)| text.into_owned()).unwrap_or_default();
    let indexed = shared.indexed.lock().expect("no holder panics");
    if !indexed.is_empty() {
        return crate::web::search(&indexed, &shared.base, &query);
    }
    let mut query_words = words(&query);
    query_words.sort_unstable();
    query_words.dedup();
    let pages = shared.pages.lock().expect("no holder panics");
    let mut found: Vec<(usize, Value)> = pages
        .iter()
        .filter_map(|(path, answer)| {
            let (Answer::Page(page) | Answer::Held(page, _)) = answer else { return None };
            let own = words(&page.text);
            let shares = query_words.iter().filter(|word| own.contains(word)).count();
            let snippet: String = page.text.chars().take(160).collect();
            let url = format!("{}{path}", shared.base);
            (shares > 0).then(|| (shares, json!({ "title": page.title, "url": url, "content": snippet })))
        })
        .collect();
    found.sort_by_key(|(shares, _)| std::cmp::Reverse(*shares));
    found.into_iter().take(10).map(|(_, result)| result).collect()
}
