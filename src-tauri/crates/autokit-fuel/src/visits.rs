//! Visits of one run: many cards name one page, and candidates are weighed for card after card.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autokit_pages::{PageReader, Result, Visit};
use lru::LruCache;

/// Visits kept while cards are looked at.
const KEPT: NonZeroUsize = NonZeroUsize::new(512).expect("not zero");

/// What visits came to lately, failures included, by the address asked for.
#[derive(Clone, Debug)]
pub struct Visits(Arc<Mutex<LruCache<String, Visit>>>);

impl Default for Visits {
    fn default() -> Visits {
        Visits(Arc::new(Mutex::new(LruCache::new(KEPT))))
    }
}

impl Visits {
    /// Visits an address, unless that was done lately.
    ///
    /// # Errors
    /// When the embedding model fails; what the site does is part of the [`Visit`].
    pub(crate) async fn visit(&self, reader: &PageReader, url: &str, patience: Duration) -> Result<Visit> {
        if let Some(kept) = self.0.lock().expect("no holder panics").get(url) {
            return Ok(kept.clone());
        }
        let visit = reader.visit(url, patience).await?;
        self.0.lock().expect("no holder panics").put(url.to_owned(), visit.clone());
        Ok(visit)
    }
}
