//! Collects pages that may document a card: web search, variants of the old URL, the site's own lists.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use autokit_facts::words;
use autokit_pages::{
    FusedHits, HITS, Page, PageFeatures, Result, Subject, agreement, distinctive_words, run_blocking,
    without_fragment,
};
use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use url::Url;

use crate::fuel::Fuel;

/// Most pages found by searching that are read for one card.
const PAGES: usize = 24;
/// Most pages found on the site itself that are read for one card.
const MAX_RELATED: usize = 8;
/// Time limit of the search services for one card, all queries together.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(20);
/// The error when no service responded in that time.
const SEARCH_TIMED_OUT: &str = "no search service responded within 20 seconds";
/// Most words of a description used in a query.
const WORDS: usize = 12;

/// A page that may be the right one.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) page: Arc<Page>,
    pub(crate) marks: PageFeatures,
    /// Log-odds that it is the right page, against no page being right.
    pub(crate) logit: f32,
    /// Probability that it is the right page, 0 to 1: on its own, or among the others after [`rank`].
    pub(crate) score: f32,
}

/// Result of searching.
#[derive(Debug)]
pub(crate) struct SearchResult {
    /// URLs of the pages; those that more queries agree on come first.
    pub(crate) urls: Vec<String>,
    /// Whether, and why, no service responded at all.
    pub(crate) status: SearchStatus,
}

/// Why the absence of search results proves nothing.
#[derive(Debug)]
pub(crate) enum SearchStatus {
    /// Some service responded, so what it did not find is hard to find.
    Answered,
    /// No service is chosen.
    NoService,
    /// All services failed; the error of one.
    Failed(String),
}

/// Builds search queries for a card, most specific first.
pub(crate) fn queries(subject: &Subject) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |parts: &[&str]| {
        let query = parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ");
        if !query.is_empty() && !all.contains(&query) {
            all.push(query);
        }
    };
    let class = subject.classes.first().map_or("", String::as_str);
    let class_words = words(class).join(" ");
    let module = subject.module.as_deref().unwrap_or("");
    // The package of a module is usually named after its vendor or framework.
    let package = words(module.split(['.', '/']).find(|part| part.len() > 1).unwrap_or("")).join(" ");
    let leaf = words(module.rsplit(['.', '/']).next().unwrap_or("")).join(" ");
    add(&[&subject.name]);
    add(&[&subject.name, &package]);
    add(&[class, module]);
    add(&[&class_words, &leaf]);
    let words_of_description: Vec<String> = distinctive_words(&subject.description)
        .into_iter()
        .filter(|word| word.len() > 2)
        .take(WORDS)
        .collect();
    add(&[&subject.name_words.join(" "), &words_of_description.join(" ")]);
    if let Some(old) = subject.documentation.as_deref().and_then(|url| Url::parse(url).ok()) {
        let last = old.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty()).map(words));
        add(&[&last.unwrap_or_default().join(" ")]);
    }
    all
}

impl Fuel {
    /// Searches for pages for a card; results that do not arrive in time are ignored.
    pub(crate) async fn search_web(&self, subject: &Subject) -> SearchResult {
        // Waits for a permit first, so that waiting behind other cards' searches does not use up the time
        // limit.
        let _permit = self.search_permits.acquire().await;
        let queries = queries(subject);
        let mut requests: FuturesUnordered<_> = queries
            .iter()
            .enumerate()
            .flat_map(|(at, query)| {
                self.providers
                    .iter()
                    .map(move |provider| async move { (at, provider.search(query, HITS).await) })
            })
            .collect();
        let mut status = if requests.is_empty() {
            SearchStatus::NoService
        } else {
            SearchStatus::Failed(SEARCH_TIMED_OUT.to_owned())
        };
        let mut answers = Vec::new();
        let all = async {
            while let Some((at, answer)) = requests.next().await {
                match answer {
                    Ok(hits) => {
                        status = SearchStatus::Answered;
                        answers.push((at, hits));
                    }
                    Err(error) => {
                        tracing::info!(%error, "web search failed");
                        if !matches!(status, SearchStatus::Answered) {
                            status = SearchStatus::Failed(error.to_string());
                        }
                    }
                }
            }
        };
        if tokio::time::timeout(SEARCH_TIMEOUT, all).await.is_err() {
            tracing::info!("web searches timed out; continuing with partial results");
        }
        // In the order of the queries, whichever response came first.
        answers.sort_by_key(|(at, _)| *at);
        let mut found = FusedHits::default();
        for (_, hits) in answers {
            found.add(hits);
        }
        let urls = found.best().into_iter().take(PAGES).map(|hit| hit.url.clone()).collect();
        SearchResult { urls, status }
    }

    /// Finds pages through the site itself: variants of the old URL, and entries of its lists that match the
    /// card's name.
    pub(crate) async fn related_urls(&self, subject: &Subject) -> Result<Vec<String>> {
        let Some(old) = subject.documentation.as_deref().and_then(|url| Url::parse(url).ok()) else {
            return Ok(Vec::new());
        };
        let mut found = url_variants(&old);
        let mut lists = Vec::new();
        let mut above = old.clone();
        // The folder of the page and its parent usually list their pages.
        for _ in 0..2 {
            let Ok(mut parts) = above.path_segments_mut() else { break };
            parts.pop_if_empty().pop();
            drop(parts);
            above.set_query(None);
            if above.path() != "/" {
                lists.push(above.to_string());
            }
        }
        let mut named: Vec<(f32, String)> = Vec::new();
        for list in &lists {
            if let Ok(page) = self.visit(list).await?
                && page.fetched.is_success()
            {
                named.extend(page.document.links.iter().filter_map(|link| {
                    let likeness = link_likeness(subject, &link.text, &link.url);
                    (likeness >= 0.5).then(|| (likeness, without_fragment(&link.url)))
                }));
            }
        }
        named.extend(self.sitemap_matches(subject, &old).await);
        named.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut seen: HashSet<String> = HashSet::new();
        found.retain(|url| seen.insert(url.clone()));
        let room = MAX_RELATED;
        found.extend(named.into_iter().map(|(_, url)| url).filter(|url| seen.insert(url.clone())).take(room));
        Ok(found)
    }

    /// Returns the entries of the site's sitemap that match the card's name.
    async fn sitemap_matches(&self, subject: &Subject, old: &Url) -> Vec<(f32, String)> {
        let Ok(map) = old.join("/sitemap.xml") else { return Vec::new() };
        let Ok(answer) = self.reader.fetcher.get_within(map.as_str(), self.page_timeout).await else {
            return Vec::new();
        };
        if !answer.is_success() {
            return Vec::new();
        }
        answer
            .text
            .split("<loc>")
            .skip(1)
            .filter_map(|entry| entry.split("</loc>").next())
            .map(|entry| entry.trim().replace("&amp;", "&"))
            .filter_map(|entry| {
                let likeness = link_likeness(subject, "", &entry);
                (likeness >= 0.5).then_some((likeness, entry))
            })
            .collect()
    }

    /// Fetches pages and scores them against a card. Failed fetches are left out, as are pages already scored
    /// under another URL.
    pub(crate) async fn score_urls(
        &self,
        subject: &Subject,
        vector: Option<&[f32]>,
        urls: &[String],
        into: &mut Vec<Candidate>,
    ) -> Result<()> {
        let mut pages = Vec::new();
        for visit in join_all(urls.iter().map(|url| self.visit(url))).await {
            pages.extend(visit?);
        }
        self.score_pages(subject, vector, pages, into).await
    }

    /// As [`Fuel::score_urls`], for pages already read.
    pub(crate) async fn score_pages(
        &self,
        subject: &Subject,
        vector: Option<&[f32]>,
        pages: Vec<Arc<Page>>,
        into: &mut Vec<Candidate>,
    ) -> Result<()> {
        for page in pages {
            let seen = into.iter().any(|other| other.page.fetched.url == page.fetched.url);
            if page.fetched.is_success() && !seen {
                into.push(Candidate::of(subject, vector, page).await?);
            }
        }
        Ok(())
    }
}

impl Candidate {
    /// Scores a page. Runs on a blocking thread, because a page with very many imports takes a while.
    pub(crate) async fn of(subject: &Subject, vector: Option<&[f32]>, page: Arc<Page>) -> Result<Candidate> {
        let (subject, vector, read) = (subject.clone(), vector.map(<[f32]>::to_vec), Arc::clone(&page));
        let marks =
            run_blocking(move || Ok(PageFeatures::of_card(&subject, vector.as_deref(), &read))).await?;
        let logit = marks.logit_for_card();
        Ok(Candidate { page, marks, logit, score: 1.0 / (1.0 + (-logit).exp()) })
    }
}

/// Sets every score to the probability that this page is the right one, given the others and the possibility
/// that none is, and sorts by it. A page similar to the right one thus lowers the probability of both.
pub(crate) fn rank(pages: &mut [Candidate]) {
    let highest = pages.iter().map(|page| page.logit).fold(0.0, f32::max);
    let weight = |logit: f32| (logit - highest).exp();
    let sum = weight(0.0) + pages.iter().map(|page| weight(page.logit)).sum::<f32>();
    for page in pages.iter_mut() {
        page.score = weight(page.logit) / sum;
    }
    pages.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| a.page.fetched.url.cmp(&b.page.fetched.url))
    });
}

/// Returns how well a link matches the card's name, 0 to 1.
fn link_likeness(subject: &Subject, text: &str, url: &str) -> f32 {
    let path = url.split(['#', '?']).next().unwrap_or(url).trim_end_matches('/');
    let last = words(path.rsplit('/').next().unwrap_or(""));
    agreement(&subject.name_words, &distinctive_words(text))
        .max(agreement(&subject.name_words, &distinctive_words(&last.join(" "))))
}

/// Returns variants of a URL: with or without its extension, and without trailing characters that were copied
/// along.
fn url_variants(old: &Url) -> Vec<String> {
    let path = old.path();
    let mut paths = Vec::new();
    let trimmed = path.trim_end_matches(|c: char| !c.is_alphanumeric());
    paths.push(trimmed.to_owned());
    if let Some((stem, _)) = trimmed.rsplit_once('.').filter(|(_, ending)| !ending.contains('/')) {
        paths.push(stem.to_owned());
    } else {
        paths.push(format!("{trimmed}.html"));
    }
    paths
        .into_iter()
        .filter(|other| other != path && !other.is_empty())
        .map(|path| {
            let mut url = old.clone();
            url.set_path(&path);
            url.set_query(None);
            url.set_fragment(None);
            url.to_string()
        })
        .collect()
}
