//! Reads pages: fetches them, takes them apart, embeds them.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use autokit_search::QueryEmbedder;
use autokit_web::{Fetched, Fetcher};

use crate::error::{Result, aside};
use crate::reading::{Part, Reading, Readings, embed};

/// A page: how it was reached, and what was read from it.
#[derive(Clone, Debug)]
pub struct Page {
    /// The answer: address, status, way there. Its text has gone into the reading.
    pub fetched: Fetched,
    /// What was read.
    pub reading: Arc<Reading>,
}

impl Page {
    /// A page that was fetched, taken apart at once and kept nowhere; without vectors.
    pub fn of(mut fetched: Fetched) -> Page {
        let source = std::mem::take(&mut fetched.text);
        let reading = Reading::of(&source, fetched.content_type.as_deref(), &fetched.url, None);
        Page { fetched, reading: Arc::new(reading) }
    }
}

impl Deref for Page {
    type Target = Reading;

    fn deref(&self) -> &Reading {
        &self.reading
    }
}

/// What a visit to an address came to.
pub type Visit = std::result::Result<Arc<Page>, autokit_web::Error>;

/// What reading pages needs.
#[derive(Clone, Debug)]
pub struct PageReader {
    /// Fetches them.
    pub fetcher: Fetcher,
    /// Vectors, if there is a model.
    pub embedder: Option<Arc<dyn QueryEmbedder>>,
    /// Pages taken apart lately.
    pub readings: Readings,
}

impl PageReader {
    /// Asks for a page as it is now, for at most `patience`, and reads what comes. The opening of a page
    /// that was delivered is embedded.
    ///
    /// # Errors
    /// [`crate::Error::Embedding`]; what the site does is part of the [`Visit`].
    pub async fn visit(&self, url: &str, patience: Duration) -> Result<Visit> {
        Ok(match self.fetcher.get_within(url, patience).await {
            Ok(fetched) => Ok(self.read(vec![fetched], Part::Opening).await?.remove(0)),
            Err(error) => Err(error),
        })
    }

    /// Reads pages that were fetched, in their order; those that were delivered are embedded.
    ///
    /// # Errors
    /// [`crate::Error::Embedding`].
    pub async fn read(&self, pages: Vec<Fetched>, part: Part) -> Result<Vec<Arc<Page>>> {
        let (readings, embedder) = (self.readings.clone(), self.embedder.clone());
        aside(move || {
            let pages: Vec<Arc<Page>> = pages
                .into_iter()
                .map(|mut fetched| {
                    let source = std::mem::take(&mut fetched.text);
                    let kind = fetched.content_type.as_deref();
                    let reading = readings.of(&source, kind, &fetched.url, embedder.as_ref());
                    Arc::new(Page { fetched, reading })
                })
                .collect();
            if let Some(embedder) = embedder {
                let delivered = pages.iter().filter(|page| page.fetched.is_success());
                let delivered: Vec<_> = delivered.map(|page| Arc::clone(&page.reading)).collect();
                embed(&delivered, part, &*embedder)?;
            }
            Ok(pages)
        })
        .await
    }

    /// Embeds what is missing of pages that were read.
    ///
    /// # Errors
    /// [`crate::Error::Embedding`].
    pub async fn embed(&self, pages: &[Arc<Page>], part: Part) -> Result<()> {
        let Some(embedder) = self.embedder.clone() else { return Ok(()) };
        let readings: Vec<_> = pages.iter().map(|page| Arc::clone(&page.reading)).collect();
        aside(move || embed(&readings, part, &*embedder)).await
    }
}
