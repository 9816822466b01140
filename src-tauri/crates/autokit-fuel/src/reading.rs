//! Pages as they are read: fetched once for many cards, taken apart once.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autokit_facts::{Facts, opening};
use autokit_search::QueryEmbedder;
use autokit_web::{Document, Fetched, Fetcher, extract};
use lru::LruCache;
use sha2::{Digest, Sha256};

use crate::error::{Result, aside};
use crate::subject::content_words;

/// Characters at the start of a page that stand for it.
const OPENING: usize = 600;
/// Characters of a page that are searched for words.
const PROSE: usize = 40_000;
/// Pages kept while cards are looked at.
const KEPT: NonZeroUsize = NonZeroUsize::new(512).expect("not zero");

/// A page with everything that was read from it.
#[derive(Debug)]
pub struct Reading {
    /// The answer: address, status, way there.
    pub fetched: Fetched,
    /// The main text.
    pub document: Document,
    /// What it shows.
    pub facts: Facts,
    /// SHA-256 of the main text.
    pub hash: String,
    /// The main text, whole.
    pub text: String,
    /// Vector of the opening, with a model.
    pub opening: Option<Vec<f32>>,
    /// Content words of the text.
    pub(crate) words: HashSet<String>,
}

impl Reading {
    /// Takes a page apart.
    pub(crate) fn of(mut fetched: Fetched) -> Reading {
        let source = std::mem::take(&mut fetched.text);
        let document = extract(&source, fetched.content_type.as_deref(), &fetched.url);
        let facts = Facts::of(&document);
        let text = document.text();
        let hash = hex::encode(Sha256::digest(text.as_bytes()));
        let prose: String = text.chars().take(PROSE).collect();
        let words = content_words(&prose);
        Reading { fetched, document, facts, hash, text, opening: None, words }
    }

    /// What is embedded of it.
    fn passage(&self) -> String {
        format!("{}: {}", self.facts.name, opening(&self.document, OPENING))
    }
}

/// What a visit to an address came to.
pub type Visit = std::result::Result<Arc<Reading>, autokit_web::Error>;

/// Pages seen lately, by the address asked for.
#[derive(Clone, Debug)]
pub struct Pages(Arc<Mutex<LruCache<String, Visit>>>);

impl Default for Pages {
    fn default() -> Pages {
        Pages(Arc::new(Mutex::new(LruCache::new(KEPT))))
    }
}

impl Pages {
    /// Visits an address, unless that was done lately.
    ///
    /// # Errors
    /// [`Error::Embedding`]; what the site does is part of the [`Visit`].
    pub(crate) async fn visit(
        &self,
        fetcher: &Fetcher,
        embedder: Option<&Arc<dyn QueryEmbedder>>,
        url: &str,
        patience: Duration,
    ) -> Result<Visit> {
        if let Some(kept) = self.0.lock().expect("no holder panics").get(url) {
            return Ok(kept.clone());
        }
        let visit = read(fetcher, embedder, url, patience).await?;
        self.0.lock().expect("no holder panics").put(url.to_owned(), visit.clone());
        Ok(visit)
    }
}

/// Visits an address now.
///
/// # Errors
/// [`Error::Embedding`].
pub(crate) async fn read(
    fetcher: &Fetcher,
    embedder: Option<&Arc<dyn QueryEmbedder>>,
    url: &str,
    patience: Duration,
) -> Result<Visit> {
    let fetched = match fetcher.get_within(url, patience).await {
        Ok(fetched) => fetched,
        Err(error) => return Ok(Err(error)),
    };
    let embedder = embedder.cloned();
    let reading = aside(move || {
        let mut reading = Reading::of(fetched);
        if let Some(embedder) = embedder.filter(|_| reading.fetched.is_success()) {
            let passage = reading.passage();
            reading.opening = embedder.passages(&[passage])?.into_iter().next();
        }
        Ok(reading)
    })
    .await?;
    Ok(Ok(Arc::new(reading)))
}
