//! Measures the discovery of tools on a web site for needs that the library does not cover.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use autokit_agent::discover::{Discovered, Discovery, KnownCard};
use autokit_app::engine::Vectors;
use autokit_app::starter::vocabulary;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_metrics as retrieve;
use autokit_pages::{PageCache, PageReader};
use autokit_search::ToolText;
use autokit_web::search::{Provider, Service};
use serde::{Deserialize, Serialize};

use crate::inputs::{embedder, fetcher_for, unreadable};

/// A need with the pages that satisfy it.
#[derive(Clone, Debug, Deserialize)]
pub struct Need {
    /// Id within the set.
    pub id: String,
    /// The need in plain language.
    pub need: String,
    /// Whether the need names the product.
    #[serde(default)]
    pub named: bool,
    /// URLs of right pages, absolute or relative to the site; empty if there is none.
    #[serde(default)]
    pub expected: Vec<String>,
}

/// The result of discovery for a need.
#[derive(Clone, Debug, Serialize)]
pub struct DiscoverLine {
    /// Id within the set.
    pub id: String,
    /// Proposed pages, best first; empty for "nothing suitable".
    pub candidates: Vec<String>,
    /// The full result of discovery, for tuning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighed: Option<Discovered>,
}

/// A share of needs with its absolute numbers.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Ratio {
    /// Number of needs that were considered.
    pub of: u32,
    /// Number of those that meet the criterion.
    pub good: u32,
}

impl Ratio {
    fn count(&mut self, good: bool) {
        self.of += 1;
        self.good += u32::from(good);
    }

    /// The ratio between 0 and 1; 0 if no needs were considered.
    pub fn share(self) -> f64 {
        f64::from(self.good) / f64::from(self.of.max(1))
    }
}

/// Results of one way to discover.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct DiscoverMeasures {
    /// Needs that name the product: the right page first.
    pub named_first: Ratio,
    /// Needs that name the product: the right page among the first three.
    pub named_three: Ratio,
    /// Needs that do not name the product: the right page first.
    pub unnamed_first: Ratio,
    /// Needs that do not name the product: the right page among the first three.
    pub unnamed_three: Ratio,
    /// Needs that no page satisfies, with the product named: nothing is proposed.
    pub named_nothing: Ratio,
    /// Needs that no page satisfies, without the product named: nothing is proposed.
    pub unnamed_nothing: Ratio,
}

impl DiscoverMeasures {
    fn count(&mut self, need: &Need, candidates: &[String]) {
        let right = |url: &String| need.expected.iter().any(|expected| same_page(expected, url));
        let first = candidates.first().is_some_and(right);
        let three = candidates.iter().take(3).any(right);
        match (need.expected.is_empty(), need.named) {
            (true, true) => self.named_nothing.count(candidates.is_empty()),
            (true, false) => self.unnamed_nothing.count(candidates.is_empty()),
            (false, true) => {
                self.named_first.count(first);
                self.named_three.count(three);
            }
            (false, false) => {
                self.unnamed_first.count(first);
                self.unnamed_three.count(three);
            }
        }
    }
}

/// The output of `autokit eval discover`.
#[derive(Clone, Debug, Serialize)]
pub struct DiscoverReport {
    /// One line per need.
    pub lines: Vec<DiscoverLine>,
    /// Results of discovery.
    pub discovery: DiscoverMeasures,
    /// Results of the baseline, which takes the search service's hits in their order.
    pub baseline: DiscoverMeasures,
    /// Median time per need, in milliseconds.
    pub median_ms: u64,
}

/// Whether a URL is the expected page, which is absolute or relative to the root of its site.
fn same_page(expected: &str, url: &str) -> bool {
    let trimmed = |text: &str| text.split('#').next().unwrap_or("").trim_end_matches('/').to_owned();
    let (expected, url) = (trimmed(expected), trimmed(url));
    if expected.contains("://") {
        return expected == url;
    }
    let path = url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    path == expected.trim_start_matches('/')
}

/// Discovers a tool for every need with a SearXNG-compatible search at `search_url`, and compares it with
/// taking the first hits of that search as they are. No language model is used.
///
/// # Errors
/// When a file cannot be read, there is no model, or the search does not respond.
pub async fn discover(
    cards: &Path,
    needs: &Path,
    search_url: &str,
    vectors: &Vectors,
    explain: bool,
    mut progress: impl FnMut(usize, usize),
) -> Result<DiscoverReport> {
    let known: Vec<KnownCard> = retrieve::card_objects(cards)
        .map_err(|error| unreadable(&error))?
        .iter()
        .enumerate()
        .map(|(at, card)| KnownCard {
            text: ToolText::from_card(format!("{:06}", at + 1), card),
            documentation: card.get("documentation").and_then(|url| url.as_str()).map(str::to_owned),
        })
        .collect();
    let needs: Vec<Need> = retrieve::json_lines(needs).map_err(|error| unreadable(&error))?;
    let bad = |error: &autokit_web::Error| {
        ApiError::new(
            ErrorCode::BadRequest,
            error.to_string(),
            "Set a SearXNG-compatible search with --search-url.",
        )
    };
    let base = search_url.trim_end_matches('/').trim_end_matches("/search");
    let site = url::Url::parse(base).map_err(|error| {
        ApiError::new(
            ErrorCode::BadRequest,
            error.to_string(),
            "Set a SearXNG-compatible search with --search-url.",
        )
    })?;
    let fetcher = fetcher_for(&site)?;
    let provider =
        Provider::new(fetcher.clone(), Service::Searxng, Some(base), None).map_err(|error| bad(&error))?;
    let embedder = Arc::new(embedder(vectors, None)?);
    let vocabulary = tokio::task::block_in_place(|| vocabulary(&*embedder))?;
    let discovery = Discovery {
        providers: vec![provider.clone()],
        github: None,
        reader: PageReader { fetcher, embedder: Some(embedder), page_cache: PageCache::default() },
        vocabulary: Arc::new(vocabulary),
        known: Arc::new(known),
        preferred: Vec::new(),
        rejected: Vec::new(),
    };
    let (mut lines, mut times) = (Vec::new(), Vec::new());
    let (mut measures, mut baseline) = (DiscoverMeasures::default(), DiscoverMeasures::default());
    for (at, need) in needs.iter().enumerate() {
        progress(at, needs.len());
        let began = Instant::now();
        let clock = autokit_library::Clock::system();
        let found = discovery.run(&need.need, &|| clock.stamp(), &mut |_| {}).await.map_err(|error| {
            ApiError::new(ErrorCode::BadRequest, error.to_string(), "Is the search running?")
        })?;
        times.push(began.elapsed().as_millis() as u64);
        let candidates: Vec<String> = found.findings.iter().map(|finding| finding.url.clone()).collect();
        measures.count(need, &candidates);
        let first = provider.search(&need.need, 10).await.map_err(|error| bad(&error))?;
        baseline.count(need, &first.into_iter().map(|hit| hit.url).collect::<Vec<_>>());
        lines.push(DiscoverLine { id: need.id.clone(), candidates, weighed: explain.then_some(found) });
    }
    times.sort_unstable();
    let median_ms = times.get(times.len() / 2).copied().unwrap_or(0);
    Ok(DiscoverReport { lines, discovery: measures, baseline, median_ms })
}
