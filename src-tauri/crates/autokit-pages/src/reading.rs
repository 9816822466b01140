//! Parsed pages and their cache.

use std::collections::HashSet;
use std::hash::{Hash as _, Hasher as _};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use autokit_facts::{Facts, opening};
use autokit_search::QueryEmbedder;
use autokit_web::{ChunkOptions, Document, chunks, extract};
use lru::LruCache;
use rustc_hash::FxHasher;
use sha2::{Digest, Sha256};

use crate::words::content_words;

/// Characters at the start of a page that represent it.
const OPENING: usize = 600;
/// Most characters of a page that are searched for words.
const PROSE: usize = 40_000;
/// Most chunks of a page that are embedded; the start of a page says what it is about.
const PIECES: usize = 16;
/// Most parsed pages kept.
const CACHE_SIZE: NonZeroUsize = NonZeroUsize::new(1024).expect("not zero");

/// The parsed text of a page. Vectors are computed on request, all with the same model.
#[derive(Debug)]
pub struct ParsedPage {
    /// The main text, in blocks.
    pub document: Document,
    /// The facts extracted from it.
    pub facts: Facts,
    /// The main text as one string.
    pub text: String,
    /// SHA-256 of the main text, in hex.
    pub hash: String,
    words: OnceLock<HashSet<String>>,
    pieces: OnceLock<Vec<String>>,
    model: Option<Weak<dyn QueryEmbedder>>,
    opening: OnceLock<Vec<f32>>,
    piece_vectors: OnceLock<Vec<Vec<f32>>>,
}

/// How much of a page to embed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PagePart {
    /// The opening.
    Opening,
    /// The opening and the first chunks.
    Pieces,
}

impl ParsedPage {
    /// Parses the text of a page.
    pub(crate) fn of(
        source: &str,
        content_type: Option<&str>,
        url: &str,
        embedder: Option<&Arc<dyn QueryEmbedder>>,
    ) -> ParsedPage {
        let document = extract(source, content_type, url);
        let facts = Facts::of(&document);
        let text = document.text();
        let hash = hex::encode(Sha256::digest(text.as_bytes()));
        ParsedPage {
            document,
            facts,
            text,
            hash,
            words: OnceLock::new(),
            pieces: OnceLock::new(),
            model: embedder.map(Arc::downgrade),
            opening: OnceLock::new(),
            piece_vectors: OnceLock::new(),
        }
    }

    /// Returns the content words of the text.
    pub fn words(&self) -> &HashSet<String> {
        self.words.get_or_init(|| content_words(&self.text.chars().take(PROSE).collect::<String>()))
    }

    /// Returns the first chunks of the text, each with the headings above it.
    pub fn pieces(&self) -> &[String] {
        self.pieces.get_or_init(|| {
            let all = chunks(&self.document, ChunkOptions::default());
            all.into_iter().take(PIECES).map(|chunk| chunk.passage()).collect()
        })
    }

    /// Returns the vector of the opening, if it was embedded.
    pub fn opening(&self) -> Option<&[f32]> {
        self.opening.get().map(Vec::as_slice)
    }

    /// Returns the vectors of the chunks; empty if they were not embedded.
    pub fn piece_vectors(&self) -> &[Vec<f32>] {
        self.piece_vectors.get().map_or(&[], Vec::as_slice)
    }

    /// Whether a quote occurs on the page, ignoring differences in white space. Quotes of fewer than eight
    /// characters never count, since a word or two occur on any page.
    pub fn contains_quote(&self, quote: &str) -> bool {
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let quote = squeeze(quote);
        quote.chars().count() >= 8 && squeeze(&self.text).contains(&quote)
    }

    /// Whether its vectors are, or would be, from this model.
    fn is_for_embedder(&self, embedder: Option<&Arc<dyn QueryEmbedder>>) -> bool {
        // The weak reference keeps a dropped model's address allocated, so no other model can have it.
        let address = |model: *const dyn QueryEmbedder| model.cast::<()>();
        match (&self.model, embedder) {
            (None, None) => true,
            (Some(known), Some(now)) => address(known.as_ptr()) == address(Arc::as_ptr(now)),
            _ => false,
        }
    }
}

/// Computes the missing vectors of several pages in one batch.
///
/// # Errors
/// Returns the error of the model.
pub(crate) fn embed(
    pages: &[Arc<ParsedPage>],
    part: PagePart,
    embedder: &dyn QueryEmbedder,
) -> std::result::Result<(), String> {
    let mut texts = Vec::new();
    let mut missing: Vec<(&ParsedPage, PagePart, usize)> = Vec::new();
    for page in pages {
        if page.opening.get().is_none() {
            texts.push(format!("{}: {}", page.facts.name, opening(&page.document, OPENING)));
            missing.push((page, PagePart::Opening, 1));
        }
        if part == PagePart::Pieces && page.piece_vectors.get().is_none() {
            texts.extend(page.pieces().iter().cloned());
            missing.push((page, PagePart::Pieces, page.pieces().len()));
        }
    }
    if texts.is_empty() {
        return Ok(());
    }
    let mut vectors = embedder.passages(&texts)?.into_iter();
    for (page, part, count) in missing {
        let mut own: Vec<Vec<f32>> = vectors.by_ref().take(count).collect();
        // Another task may have set the vectors first; its values are the same.
        let _ = match part {
            PagePart::Opening => own.pop().map_or(Ok(()), |vector| page.opening.set(vector)).is_ok(),
            PagePart::Pieces => page.piece_vectors.set(own).is_ok(),
        };
    }
    Ok(())
}

/// A cache of parsed pages by URL and text, so that the slowest part of reading is done once for all readers.
/// The least recently used are evicted first.
#[derive(Clone, Debug)]
pub struct PageCache(Arc<Mutex<LruCache<Key, Arc<ParsedPage>>>>);

/// URL of a page, and a hash of its source and content type.
type Key = (String, u64);

impl Default for PageCache {
    fn default() -> PageCache {
        PageCache(Arc::new(Mutex::new(LruCache::new(CACHE_SIZE))))
    }
}

impl PageCache {
    /// Returns the parsed page of a source, from the cache if it is there.
    pub(crate) fn get_or_parse(
        &self,
        source: &str,
        content_type: Option<&str>,
        url: &str,
        embedder: Option<&Arc<dyn QueryEmbedder>>,
    ) -> Arc<ParsedPage> {
        let mut hash = FxHasher::default();
        (source, content_type).hash(&mut hash);
        let key = (url.to_owned(), hash.finish());
        let cached = self.lock().get(&key).filter(|cached| cached.is_for_embedder(embedder)).cloned();
        // Parsed without holding the lock, because a long page takes a while.
        cached.unwrap_or_else(|| {
            let new = Arc::new(ParsedPage::of(source, content_type, url, embedder));
            self.lock().put(key, Arc::clone(&new));
            new
        })
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Key, Arc<ParsedPage>>> {
        self.0.lock().expect("no holder panics")
    }
}
