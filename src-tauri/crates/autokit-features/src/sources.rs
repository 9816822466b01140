//! Reads sources of cards: files, folders, web addresses and pasted text.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use autokit_api::ImportSource;
use autokit_error::{Result, file_problem};
use autokit_toolcard::Author;
use autokit_workspace::background::in_background;
use autokit_workspace::providers::Providers;
use autokit_workspace::workspace::Workspace;

use crate::incoming::{SourceContents, from_bytes, from_path, unreadable};
use crate::keys::BundleKeys;

/// The last source that was read, so that scrolling through a preview does not read it again.
#[derive(Debug, Default)]
struct SourceCache(Option<CachedSource>);

impl SourceCache {
    /// Drops the cached source.
    fn clear(&mut self) {
        self.0 = None;
    }
}

#[derive(Debug)]
struct CachedSource {
    key: SourceKey,
    at: Instant,
    incoming: Arc<SourceContents>,
}

/// How long a downloaded source is used before it is downloaded again.
const CACHE_TTL: Duration = Duration::from_mins(10);

#[derive(Clone, Debug, PartialEq, Eq)]
struct SourceKey {
    source: ImportSource,
    modified: Option<SystemTime>,
    bytes: u64,
}

impl SourceKey {
    fn of(source: &ImportSource) -> Result<SourceKey> {
        let (modified, bytes) = match source {
            ImportSource::Path(path) => {
                file_state(Path::new(path)).map_err(|error| unreadable(path, &file_problem(&error)))?
            }
            ImportSource::Text(text) => (None, text.len() as u64),
            // A download stays cached until another source is read or `CACHE_TTL` has passed.
            ImportSource::Url(_) => (None, 0),
        };
        Ok(SourceKey { source: source.clone(), modified, bytes })
    }
}

/// Returns when a file or anything in a folder last changed, and its size in bytes.
fn file_state(path: &Path) -> std::io::Result<(Option<SystemTime>, u64)> {
    let metadata = fs::metadata(path)?;
    let (mut modified, mut bytes) = (metadata.modified().ok(), metadata.len());
    if metadata.is_dir() {
        for folder in [path.to_owned(), path.join("cards"), path.join("history")] {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for entry in entries {
                let metadata = entry?.metadata()?;
                modified = modified.max(metadata.modified().ok());
                bytes = bytes.wrapping_add(metadata.len()).wrapping_add(1);
            }
        }
    }
    Ok((modified, bytes))
}

/// Reads sources of cards, and knows whose signatures are trusted. Clones share state.
#[derive(Clone, Debug)]
pub struct Sources {
    workspace: Workspace,
    providers: Providers,
    pub(crate) keys: BundleKeys,
    cache: Arc<Mutex<SourceCache>>,
}

impl Sources {
    /// Reads files and web addresses; their signatures are checked against `keys`.
    pub fn new(workspace: Workspace, providers: Providers, keys: BundleKeys) -> Sources {
        Sources { workspace, providers, keys, cache: Arc::default() }
    }

    /// Drops the cached source.
    pub(crate) fn clear(&self) {
        self.cache.lock().expect("no holder panics").clear();
    }

    /// Reads a source, or returns the cached one if it is still the same.
    pub(crate) async fn read(&self, source: ImportSource, by: &str) -> Result<Arc<SourceContents>> {
        let fetched = match &source {
            ImportSource::Url(url) if !self.is_cached(&source)? => Some(self.fetch_source(url).await?),
            _ => None,
        };
        let (cache, by, at) = (Arc::clone(&self.cache), Author(by.to_owned()), self.workspace.clock.stamp());
        in_background(move || {
            let key = SourceKey::of(&source)?;
            if fetched.is_none()
                && let Some(read) = &cache.lock().expect("no holder panics").0
                && read.key == key
            {
                return Ok(Arc::clone(&read.incoming));
            }
            let read = Arc::new(match &source {
                ImportSource::Text(text) => from_bytes(text.as_bytes(), "the pasted text", &by, at)?,
                ImportSource::Path(path) => from_path(path, &by, at)?,
                ImportSource::Url(url) => from_bytes(fetched.as_deref().unwrap_or_default(), url, &by, at)?,
            });
            cache.lock().expect("no holder panics").0 =
                Some(CachedSource { key, at: Instant::now(), incoming: Arc::clone(&read) });
            Ok(read)
        })
        .await
    }

    async fn fetch_source(&self, url: &str) -> Result<Vec<u8>> {
        let fetcher = self.providers.services().fetcher.clone();
        let limit = autokit_bundle::limits::FILE_BYTES;
        let file = fetcher.download(url, &autokit_web::Validators::default(), limit).await?;
        Ok(file.map(|file| file.bytes).unwrap_or_default())
    }

    /// Reads a source without using the cache.
    pub(crate) async fn read_uncached(&self, source: ImportSource, by: &str) -> Result<Arc<SourceContents>> {
        self.clear();
        self.read(source, by).await
    }

    fn is_cached(&self, source: &ImportSource) -> Result<bool> {
        let key = SourceKey::of(source)?;
        let cache = self.cache.lock().expect("no holder panics");
        Ok(cache.0.as_ref().is_some_and(|read| read.key == key && read.at.elapsed() < CACHE_TTL))
    }
}
