//! What was found so far: hits of the search services, the pages that were read.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use autokit_facts::Facts;
use autokit_search::dot;
use autokit_toolcard::is_web_address;
use autokit_web::Document;
use autokit_web::search::{Hit, Repository};
use lru::LruCache;

/// Pages read lately that are kept.
const KEPT: NonZeroUsize = NonZeroUsize::new(1024).expect("not zero");
/// Pages whose titles make the query of the second round.
const LEADERS: usize = 3;

/// A page with what was read from it. Reading costs most of the time, so that pages read lately are
/// kept for the next need.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) document: Document,
    pub(super) facts: Facts,
    pub(super) opening: Option<Vec<f32>>,
    pub(super) pieces: Vec<String>,
    pub(super) vectors: Vec<Vec<f32>>,
}

/// Pages read lately, by address and text.
#[derive(Clone, Debug)]
pub struct Readings(pub(super) Arc<Mutex<Kept>>);

/// By address and a hash of the text.
pub(super) type Kept = LruCache<(String, u64), Arc<Reading>>;

impl Default for Readings {
    fn default() -> Readings {
        Readings(Arc::new(Mutex::new(LruCache::new(KEPT))))
    }
}

/// A page in the pool.
pub(super) struct Page {
    pub(super) url: String,
    pub(super) hit: Hit,
    pub(super) fetched_at: String,
    /// Sum over queries of 1 / (10 + rank).
    pub(super) reciprocal: f32,
    /// What GitHub says about the project, where the page was found there.
    pub(super) repository: Option<Repository>,
    pub(super) reading: Arc<Reading>,
}

impl std::ops::Deref for Page {
    type Target = Reading;

    fn deref(&self) -> &Reading {
        &self.reading
    }
}

/// What was found so far.
#[derive(Default)]
pub(super) struct Pool {
    /// Hits in the order they came, by address.
    pub(super) order: Vec<String>,
    pub(super) hits: HashMap<String, Hit>,
    pub(super) reciprocal: HashMap<String, f32>,
    pub(super) asked: HashSet<String>,
    pub(super) pages: Vec<Page>,
    /// Projects by the address their pages were looked for at.
    repositories: HashMap<String, Repository>,
}

impl Pool {
    pub(super) fn add(&mut self, hits: Vec<Hit>) {
        for (rank, mut hit) in hits.into_iter().enumerate() {
            if let Some(at) = hit.url.find('#') {
                hit.url.truncate(at);
            }
            *self.reciprocal.entry(hit.url.clone()).or_default() += 1.0 / (10.0 + rank as f32);
            if !self.hits.contains_key(&hit.url) {
                self.order.push(hit.url.clone());
                self.hits.insert(hit.url.clone(), hit);
            }
        }
    }

    /// Takes projects in, best first: their own site where they have one, else their page at GitHub.
    pub(super) fn add_repositories(&mut self, found: Vec<Repository>) {
        let mut hits = Vec::new();
        for repository in found.into_iter().filter(|repository| !repository.archived) {
            let own = repository.homepage.as_deref().filter(|url| is_web_address(url));
            let url = own.unwrap_or(&repository.html_url).to_owned();
            hits.push(Hit {
                title: repository.full_name.clone(),
                url: url.clone(),
                snippet: repository.description.clone().unwrap_or_default(),
            });
            self.repositories.insert(url, repository);
        }
        self.add(hits);
    }

    /// Takes a page in that was read.
    pub(super) fn put(&mut self, url: String, hit: Hit, fetched_at: String, reading: Arc<Reading>) {
        self.asked.insert(hit.url.clone());
        if !self.pages.iter().any(|page| page.url == url) {
            let repository = self.repositories.get(&hit.url).cloned();
            self.pages.push(Page { url, hit, fetched_at, reciprocal: 0.0, repository, reading });
        }
    }

    /// Hits not asked for yet, those that more queries agree on first.
    pub(super) fn waiting(&self, most: usize) -> Vec<(String, Hit)> {
        let mut waiting: Vec<&String> = self.order.iter().filter(|url| !self.asked.contains(*url)).collect();
        waiting.sort_by(|a, b| self.reciprocal[*b].total_cmp(&self.reciprocal[*a]));
        let room = most.saturating_sub(self.asked.len());
        waiting.into_iter().take(room).map(|url| (url.clone(), self.hits[url].clone())).collect()
    }

    /// Names of the pages with a piece closest to the need.
    pub(super) fn leaders(&self, need: &[f32]) -> Vec<&str> {
        let closest =
            |page: &Page| page.vectors.iter().map(|v| dot(v, need)).fold(f32::NEG_INFINITY, f32::max);
        let mut pages: Vec<(f32, &Page)> = self.pages.iter().map(|page| (closest(page), page)).collect();
        pages.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.url.cmp(&b.1.url)));
        pages.into_iter().take(LEADERS).map(|(_, page)| page.facts.name.as_str()).collect()
    }
}
