//! Visits of one run: many cards share a page, and candidates are scored for card after card.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autokit_pages::{PageReader, Result, Visit};
use lru::LruCache;

/// Most visits kept.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(512).expect("not zero");

/// Results of recent visits, including failures, by requested URL.
#[derive(Clone, Debug)]
pub struct Visits(Arc<Mutex<LruCache<String, Visit>>>);

impl Default for Visits {
    fn default() -> Visits {
        Visits(Arc::new(Mutex::new(LruCache::new(CAPACITY))))
    }
}

impl Visits {
    /// Visits a URL, unless it was visited recently.
    ///
    /// # Errors
    /// Returns an error when the embedding model fails; failures of the site are part of the [`Visit`].
    pub(crate) async fn visit(
        &self,
        reader: &PageReader,
        url: &str,
        page_timeout: Duration,
    ) -> Result<Visit> {
        if let Some(cached) = self.0.lock().expect("no holder panics").get(url) {
            return Ok(cached.clone());
        }
        let visit = reader.visit(url, page_timeout).await?;
        self.0.lock().expect("no holder panics").put(url.to_owned(), visit.clone());
        Ok(visit)
    }
}
