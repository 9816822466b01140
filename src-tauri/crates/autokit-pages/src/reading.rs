//! Pages taken apart, and those kept.

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

/// Characters at the start of a page that stand for it.
const OPENING: usize = 600;
/// Characters of a page that are searched for words.
const PROSE: usize = 40_000;
/// Pieces of a page that are embedded; the start of a page says what it is about.
const PIECES: usize = 16;
/// Pages kept.
const KEPT: NonZeroUsize = NonZeroUsize::new(1024).expect("not zero");

/// What was read from the text of a page. Vectors are there once they were asked for, all of one model.
#[derive(Debug)]
pub struct Reading {
    /// The main text, in blocks.
    pub document: Document,
    /// What it shows.
    pub facts: Facts,
    /// The main text, whole.
    pub text: String,
    /// SHA-256 of the main text, in hex.
    pub hash: String,
    words: OnceLock<HashSet<String>>,
    pieces: OnceLock<Vec<String>>,
    model: Option<Weak<dyn QueryEmbedder>>,
    opening: OnceLock<Vec<f32>>,
    piece_vectors: OnceLock<Vec<Vec<f32>>>,
}

/// How much of a page is embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its opening.
    Opening,
    /// Its opening and its first pieces.
    Pieces,
}

impl Reading {
    /// Takes the text of a page apart.
    pub(crate) fn of(
        source: &str,
        content_type: Option<&str>,
        url: &str,
        embedder: Option<&Arc<dyn QueryEmbedder>>,
    ) -> Reading {
        let document = extract(source, content_type, url);
        let facts = Facts::of(&document);
        let text = document.text();
        let hash = hex::encode(Sha256::digest(text.as_bytes()));
        Reading {
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

    /// Content words of the text.
    pub fn words(&self) -> &HashSet<String> {
        self.words.get_or_init(|| content_words(&self.text.chars().take(PROSE).collect::<String>()))
    }

    /// The first pieces of the text, each with the headings above it.
    pub fn pieces(&self) -> &[String] {
        self.pieces.get_or_init(|| {
            let all = chunks(&self.document, ChunkOptions::default());
            all.into_iter().take(PIECES).map(|chunk| chunk.passage()).collect()
        })
    }

    /// Vector of the opening; none without a model.
    pub fn opening(&self) -> Option<&[f32]> {
        self.opening.get().map(Vec::as_slice)
    }

    /// Vectors of the pieces; none without a model.
    pub fn piece_vectors(&self) -> &[Vec<f32>] {
        self.piece_vectors.get().map_or(&[], Vec::as_slice)
    }

    /// Whether words stand on the page, white space aside. A word or two stand on any page.
    pub fn holds(&self, quote: &str) -> bool {
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let quote = squeeze(quote);
        quote.chars().count() >= 8 && squeeze(&self.text).contains(&quote)
    }

    /// Whether its vectors are, or would be, of this model.
    fn is_of(&self, embedder: Option<&Arc<dyn QueryEmbedder>>) -> bool {
        // A model that is gone keeps its place in memory as long as somebody remembers it: no other gets it.
        let place = |model: *const dyn QueryEmbedder| model.cast::<()>();
        match (&self.model, embedder) {
            (None, None) => true,
            (Some(known), Some(now)) => place(known.as_ptr()) == place(Arc::as_ptr(now)),
            _ => false,
        }
    }
}

/// Embeds what is missing of some readings, in one go.
///
/// # Errors
/// What the model said.
pub(crate) fn embed(
    readings: &[Arc<Reading>],
    part: Part,
    embedder: &dyn QueryEmbedder,
) -> std::result::Result<(), String> {
    let mut texts = Vec::new();
    let mut missing: Vec<(&Reading, Part, usize)> = Vec::new();
    for reading in readings {
        if reading.opening.get().is_none() {
            texts.push(format!("{}: {}", reading.facts.name, opening(&reading.document, OPENING)));
            missing.push((reading, Part::Opening, 1));
        }
        if part == Part::Pieces && reading.piece_vectors.get().is_none() {
            texts.extend(reading.pieces().iter().cloned());
            missing.push((reading, Part::Pieces, reading.pieces().len()));
        }
    }
    if texts.is_empty() {
        return Ok(());
    }
    let mut vectors = embedder.passages(&texts)?.into_iter();
    for (reading, part, count) in missing {
        let mut own: Vec<Vec<f32>> = vectors.by_ref().take(count).collect();
        // Somebody else may have been quicker; theirs are the same.
        let _ = match part {
            Part::Opening => own.pop().map_or(Ok(()), |vector| reading.opening.set(vector)).is_ok(),
            Part::Pieces => reading.piece_vectors.set(own).is_ok(),
        };
    }
    Ok(())
}

/// Pages taken apart lately, by address and text: what takes most of the time of reading is done once,
/// whoever reads. The least recently used go first.
#[derive(Clone, Debug)]
pub struct Readings(Arc<Mutex<LruCache<Key, Arc<Reading>>>>);

/// Address of a page, and a hash of its source.
type Key = (String, u64);

impl Default for Readings {
    fn default() -> Readings {
        Readings(Arc::new(Mutex::new(LruCache::new(KEPT))))
    }
}

impl Readings {
    /// The reading of a source, kept or new.
    pub(crate) fn of(
        &self,
        source: &str,
        content_type: Option<&str>,
        url: &str,
        embedder: Option<&Arc<dyn QueryEmbedder>>,
    ) -> Arc<Reading> {
        let mut hash = FxHasher::default();
        (source, content_type).hash(&mut hash);
        let key = (url.to_owned(), hash.finish());
        let kept = self.lock().get(&key).filter(|kept| kept.is_of(embedder)).cloned();
        // Taken apart without the lock: a long page takes a while.
        kept.unwrap_or_else(|| {
            let new = Arc::new(Reading::of(source, content_type, url, embedder));
            self.lock().put(key, Arc::clone(&new));
            new
        })
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Key, Arc<Reading>>> {
        self.0.lock().expect("no holder panics")
    }
}
