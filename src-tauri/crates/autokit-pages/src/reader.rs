//! Reads pages: fetches, parses and embeds them.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use autokit_search::QueryEmbedder;
use autokit_web::{Fetched, Fetcher};

use crate::error::{Result, run_blocking};
use crate::reading::{PageCache, PagePart, ParsedPage, embed};

/// A page: the response it came in, and what was read from it.
#[derive(Clone, Debug)]
pub struct Page {
    /// The response: URL, status, redirects. Its text was moved out to be parsed.
    pub fetched: Fetched,
    /// What was read from it.
    pub parsed: Arc<ParsedPage>,
}

impl Page {
    /// Parses a fetched page right away, without caching it or computing vectors.
    pub fn of(mut fetched: Fetched) -> Page {
        let source = std::mem::take(&mut fetched.text);
        let parsed = ParsedPage::of(&source, fetched.content_type.as_deref(), &fetched.url, None);
        Page { fetched, parsed: Arc::new(parsed) }
    }
}

impl Deref for Page {
    type Target = ParsedPage;

    fn deref(&self) -> &ParsedPage {
        &self.parsed
    }
}

/// Result of a visit to a URL.
pub type Visit = std::result::Result<Arc<Page>, autokit_web::Error>;

/// A page reader and its dependencies.
#[derive(Clone, Debug)]
pub struct PageReader {
    /// Fetches pages.
    pub fetcher: Fetcher,
    /// Computes vectors, if there is a model.
    pub embedder: Option<Arc<dyn QueryEmbedder>>,
    /// Cache of parsed pages.
    pub page_cache: PageCache,
}

impl PageReader {
    /// Fetches a page anew, for at most `timeout`, and reads it. If the page was delivered, its opening is
    /// embedded.
    ///
    /// # Errors
    /// [`crate::Error::Embedding`]; failures of the site are part of the [`Visit`].
    pub async fn visit(&self, url: &str, timeout: Duration) -> Result<Visit> {
        Ok(match self.fetcher.get_within(url, timeout).await {
            Ok(fetched) => Ok(self.read(vec![fetched], PagePart::Opening).await?.remove(0)),
            Err(error) => Err(error),
        })
    }

    /// Reads fetched pages, in order, and embeds those with a success status.
    ///
    /// # Errors
    /// [`crate::Error::Embedding`].
    pub async fn read(&self, pages: Vec<Fetched>, part: PagePart) -> Result<Vec<Arc<Page>>> {
        let (page_cache, embedder) = (self.page_cache.clone(), self.embedder.clone());
        run_blocking(move || {
            let pages: Vec<Arc<Page>> = pages
                .into_iter()
                .map(|mut fetched| {
                    let source = std::mem::take(&mut fetched.text);
                    let kind = fetched.content_type.as_deref();
                    let parsed = page_cache.get_or_parse(&source, kind, &fetched.url, embedder.as_ref());
                    Arc::new(Page { fetched, parsed })
                })
                .collect();
            if let Some(embedder) = embedder {
                let delivered = pages.iter().filter(|page| page.fetched.is_success());
                let delivered: Vec<_> = delivered.map(|page| Arc::clone(&page.parsed)).collect();
                embed(&delivered, part, &*embedder)?;
            }
            Ok(pages)
        })
        .await
    }

    /// Computes the missing vectors of pages already read.
    ///
    /// # Errors
    /// [`crate::Error::Embedding`].
    pub async fn embed(&self, pages: &[Arc<Page>], part: PagePart) -> Result<()> {
        let Some(embedder) = self.embedder.clone() else { return Ok(()) };
        let parsed: Vec<_> = pages.iter().map(|page| Arc::clone(&page.parsed)).collect();
        run_blocking(move || embed(&parsed, part, &*embedder)).await
    }
}
