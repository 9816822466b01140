//! Searching and reading, as tools of a language model that searches for a page.

use std::sync::{Arc, Mutex};

use autokit_llm::{Observation, Tool, Toolbox};
use autokit_web::search::Provider;
use serde_json::{Value, json};

use crate::found::FusedHits;
use crate::reader::{Page, PageReader};
use crate::reading::PagePart;

/// Results taken from one query to one search service.
pub const HITS: usize = 10;
/// Characters of a page shown to the model.
const MAX_PAGE_CHARS: usize = 8_000;

/// A page that a model opened.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The URL as the model gave it.
    pub requested_url: String,
    /// The page there.
    pub page: Arc<Page>,
}

/// The web tools of a model: it searches and opens pages, and everything found and opened is recorded.
#[derive(Debug)]
pub struct WebTools<'a> {
    reader: &'a PageReader,
    providers: &'a [Provider],
    found: Mutex<FusedHits>,
    opened: Mutex<Vec<Opened>>,
}

/// Creates a tool with one string argument.
pub fn text_tool(name: &str, description: &str, argument: &str, about: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: json!({
            "type": "object",
            "properties": { argument: { "type": "string", "description": about } },
            "required": [argument],
            "additionalProperties": false,
        }),
    }
}

impl Toolbox for WebTools<'_> {
    fn tools(&self) -> Vec<Tool> {
        vec![
            text_tool("search", "Searches the web.", "query", "A few words."),
            text_tool("open", "Opens a page and gives its main text with its code.", "url", "Its address."),
        ]
    }

    async fn call(&self, name: &str, arguments: Value) -> Observation {
        let text = |field: &str| arguments.get(field).and_then(Value::as_str).unwrap_or_default();
        match name {
            "search" => self.search(text("query")).await,
            "open" => self.open(text("url")).await,
            _ => Observation { text: format!("Unknown tool {name}."), failed: true },
        }
    }
}

impl<'a> WebTools<'a> {
    /// Creates the tools, with nothing found or opened yet.
    pub fn new(reader: &'a PageReader, providers: &'a [Provider]) -> WebTools<'a> {
        WebTools { reader, providers, found: Mutex::default(), opened: Mutex::default() }
    }

    /// Returns what was found and opened, in order.
    pub fn into_results(self) -> (FusedHits, Vec<Opened>) {
        (
            self.found.into_inner().expect("no holder panics"),
            self.opened.into_inner().expect("no holder panics"),
        )
    }

    async fn search(&self, query: &str) -> Observation {
        let mut lines = Vec::new();
        let mut failure = None;
        for provider in self.providers {
            match provider.search(query, HITS).await {
                Ok(hits) => {
                    lines.extend(
                        hits.iter().map(|hit| format!("{}\n{}\n{}", hit.title, hit.url, hit.snippet)),
                    );
                    self.found.lock().expect("no holder panics").add(hits);
                }
                Err(error) => failure = Some(error.to_string()),
            }
        }
        match failure {
            Some(text) if lines.is_empty() => Observation { text, failed: true },
            _ if lines.is_empty() => Observation { text: "Nothing was found.".to_owned(), failed: false },
            _ => Observation { text: lines.join("\n\n"), failed: false },
        }
    }

    async fn open(&self, url: &str) -> Observation {
        match self.page(url).await {
            Ok(page) => {
                let text = page.text.chars().take(MAX_PAGE_CHARS).collect();
                let opened = Opened { requested_url: url.to_owned(), page };
                self.opened.lock().expect("no holder panics").push(opened);
                Observation { text, failed: false }
            }
            Err(text) => Observation { text, failed: true },
        }
    }

    async fn page(&self, url: &str) -> std::result::Result<Arc<Page>, String> {
        let fetched = self.reader.fetcher.get(url).await.map_err(|error| error.to_string())?;
        if !fetched.is_success() {
            return Err(format!("{url} returned {}.", fetched.status));
        }
        let pages = self.reader.read(vec![fetched], PagePart::Opening).await;
        pages.map_err(|error| error.to_string())?.pop().ok_or_else(|| "It could not be read.".to_owned())
    }
}
