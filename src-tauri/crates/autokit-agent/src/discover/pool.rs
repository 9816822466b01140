//! What discovery has found so far: search hits and the pages read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use autokit_error::ApiError;
use autokit_pages::{FusedHits, Page, without_fragment};
use autokit_search::dot;
use autokit_toolcard::{Timestamp, is_web_address};
use autokit_web::search::{Hit, Repository};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Number of pages whose titles make up the query of the second round.
const CLOSEST_PAGES: usize = 3;

/// A page that was read, and the hit that led to it.
pub(super) struct Candidate {
    pub(super) page: Arc<Page>,
    pub(super) hit: Hit,
    pub(super) fetched_at: Timestamp,
    /// The GitHub repository, if the page was found there.
    pub(super) repository: Option<Repository>,
}

impl std::ops::Deref for Candidate {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl Candidate {
    /// URL of the page, after redirects.
    pub(super) fn url(&self) -> &str {
        &self.page.fetched.url
    }
}

/// Pages that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct UnreadPages {
    /// Number of pages.
    pub pages: u32,
    /// Number of them with the most frequent error.
    pub with_error: u32,
    /// That error.
    pub error: ApiError,
}

/// What discovery has found so far.
#[derive(Default)]
pub(super) struct CandidatePool {
    pub(super) found: FusedHits,
    /// URLs already requested.
    pub(super) requested: HashSet<String>,
    pub(super) pages: Vec<Candidate>,
    /// Repositories by the URL at which their page is read.
    repositories: HashMap<String, Repository>,
    /// Why pages could not be read, one error for each.
    failures: Vec<ApiError>,
}

impl CandidatePool {
    /// Adds a page that could not be read.
    pub(super) fn add_failure(&mut self, error: ApiError) {
        self.failures.push(error);
    }

    /// Returns how many pages could not be read, and the error that most of them had in common.
    pub(super) fn unread_pages(&self) -> Option<UnreadPages> {
        // The messages of one code name the page or host they are about.
        let same = |error: &ApiError| {
            let is_same = |other: &&ApiError| (other.code, &other.remedy) == (error.code, &error.remedy);
            self.failures.iter().filter(is_same).count()
        };
        // Of equally frequent errors, the first.
        let error = self.failures.iter().rev().max_by_key(|error| same(error))?;
        Some(UnreadPages {
            pages: self.failures.len() as u32,
            with_error: same(error) as u32,
            error: error.clone(),
        })
    }

    /// Creates a pool of hits with no page read yet.
    pub(super) fn with_hits(found: FusedHits) -> CandidatePool {
        CandidatePool { found, ..CandidatePool::default() }
    }

    /// Adds repositories, best first: each at its homepage if it has one, else at its GitHub page.
    pub(super) fn add_repositories(&mut self, found: Vec<Repository>) {
        let mut hits = Vec::new();
        for repository in found.into_iter().filter(|repository| !repository.archived) {
            let homepage = repository.homepage.as_deref().filter(|url| is_web_address(url));
            let url = without_fragment(homepage.unwrap_or(&repository.html_url));
            hits.push(Hit {
                title: repository.full_name.clone(),
                url: url.clone(),
                snippet: repository.description.clone().unwrap_or_default(),
            });
            self.repositories.insert(url, repository);
        }
        self.found.add(hits);
    }

    /// Adds a page that was read, unless it is already in the pool.
    pub(super) fn add_page(&mut self, hit: Hit, fetched_at: Timestamp, page: Arc<Page>) {
        self.requested.insert(hit.url.clone());
        if !self.has_page(&page.fetched.url) {
            let repository = self.repositories.get(&hit.url).cloned();
            self.pages.push(Candidate { page, hit, fetched_at, repository });
        }
    }

    /// Whether the page at a URL, after redirects, was read.
    pub(super) fn has_page(&self, url: &str) -> bool {
        self.pages.iter().any(|page| page.url() == url)
    }

    /// Whether a page is part of a source: its address, its title or the package it imports names it, in as many words or
    /// as one.
    pub(super) fn is_from(&self, url: &str, source: &str) -> bool {
        let words = |text: &str| -> Vec<String> {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_lowercase).collect()
        };
        let source = words(source);
        let joined = source.concat();
        !joined.is_empty()
            && self.pages.iter().filter(|page| page.url() == url).any(|page| {
                let package = page.facts.import.as_ref().map_or("", |import| import.value.0.as_str());
                [page.url(), page.document.page_title.as_str(), package].iter().any(|text| {
                    let own = words(text);
                    own.contains(&joined) || own.windows(source.len()).any(|run| run == source)
                })
            })
    }

    /// Whether a page shows how to use a tool: it has code.
    pub(super) fn documents_tool(&self, url: &str) -> bool {
        self.pages.iter().any(|page| page.url() == url && page.document.code().next().is_some())
    }

    /// Returns hits not requested yet; those that more queries agree on come first.
    pub(super) fn unread(&self, most: usize) -> Vec<Hit> {
        let unread = self.found.best().into_iter().filter(|hit| !self.requested.contains(&hit.url));
        unread.take(most.saturating_sub(self.requested.len())).cloned().collect()
    }

    /// Returns the names of the pages with the chunks closest to the need.
    pub(super) fn closest_titles(&self, need: &[f32]) -> Vec<&str> {
        let closest = |page: &Candidate| {
            page.piece_vectors().iter().map(|v| dot(v, need)).fold(f32::NEG_INFINITY, f32::max)
        };
        let mut pages: Vec<(f32, &Candidate)> = self.pages.iter().map(|page| (closest(page), page)).collect();
        pages.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.url().cmp(b.1.url())));
        pages.into_iter().take(CLOSEST_PAGES).map(|(_, page)| page.facts.name.as_str()).collect()
    }
}
