//! A cache of pages, so that a site is only asked whether they have changed.

use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use tokio::time::Instant;

use crate::body::Text;
use crate::validators::Validators;

/// Most bytes of text kept.
const CACHE_BYTES: usize = 32 << 20;

/// A page as it was received.
#[derive(Clone, Debug)]
pub(crate) struct CachedPage {
    pub(crate) text: Arc<Text>,
    pub(crate) validators: Validators,
    pub(crate) at: Instant,
}

#[derive(Debug)]
struct Inner {
    pages: LruCache<String, CachedPage>,
    bytes: usize,
}

/// Pages by URL; the least recently used are evicted first.
#[derive(Debug)]
pub(crate) struct PageCache(Mutex<Inner>);

impl Default for PageCache {
    fn default() -> PageCache {
        PageCache(Mutex::new(Inner { pages: LruCache::unbounded(), bytes: 0 }))
    }
}

impl PageCache {
    pub(crate) fn get(&self, url: &str) -> Option<CachedPage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pages.get(url).cloned()
    }

    pub(crate) fn put(&self, url: &str, page: CachedPage) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.bytes += page.text.text.len();
        if let Some((_, old)) = inner.pages.push(url.to_owned(), page) {
            inner.bytes -= old.text.text.len();
        }
        while inner.bytes > CACHE_BYTES {
            let Some((_, old)) = inner.pages.pop_lru() else { break };
            inner.bytes -= old.text.text.len();
        }
    }
}
