//! Finds tools on the web for a need (FUEL, web fallback; Elyra, chained research).
//!
//! Without a language model: run several queries, read and chunk the pages they find, run a second round of
//! queries built from the titles of the closest pages, rank everything as the library ranks its cards, and
//! decide whether the best page really documents a tool for this need. Each finding becomes a draft card
//! whose every field carries the supporting text of the page.

mod draft;
mod judge;
mod pool;
mod queries;
mod react;

use std::sync::Arc;

use autokit_facts::{distinctive, opening};
use autokit_pages::{HITS, PageFeature, PageFeatures, PagePart, PageReader, ParsedRequest};
use autokit_search::{
    Document as IndexDocument, Mode, Query, QueryEmbedder, QueryPlan, SearchIndex, ToolText, Vectors,
};
use autokit_toolcard::{CardId, Draft, Timestamp, fields};
use autokit_web::Fetched;
use autokit_web::search::{GitHub, Hit, Provider};
use futures_util::future::{BoxFuture, join_all};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::error::{Error, Result};

use draft::{draft, normalized_url};
pub use pool::UnreadPages;
use pool::{Candidate, CandidatePool};
pub use queries::Vocabulary;
pub(crate) use queries::content;
pub use react::WebSearchOutcome;

/// Titles of results that the trace shows.
const SHOWN_TITLES: usize = 3;
/// Projects taken from GitHub per search.
const REPOSITORIES: usize = 5;
/// Most pages read for one need.
const MAX_PAGES: usize = 32;
/// Pages read at each preferred source.
const PREFERRED_PAGES: usize = 8;
/// Further pages read to find a substitute.
const SUBSTITUTE_PAGES: usize = 8;
/// Characters of a page that are indexed for keyword search.
const MAX_BODY: usize = 3000;
/// Most findings returned.
const CANDIDATES: usize = 5;

/// Web discovery and its dependencies.
#[derive(Clone, Debug)]
pub struct Discovery {
    /// Search services, preferred one first.
    pub providers: Vec<Provider>,
    /// GitHub client, if GitHub is to be searched.
    pub github: Option<GitHub>,
    /// Reads pages.
    pub reader: PageReader,
    /// Words about tools, with vectors of the same embedding model.
    pub vocabulary: Arc<Vocabulary>,
    /// Cards of the library: they show what is known already and provide term statistics.
    pub known: Arc<Vec<KnownCard>>,
    /// Sources that are searched before any other, in this order, e.g. `LangChain`.
    pub preferred: Vec<String>,
    /// Findings the person rejected; they are not returned again.
    pub rejected: Vec<Finding>,
}

/// A card of the library.
#[derive(Clone, Debug)]
pub struct KnownCard {
    /// Its text.
    pub text: ToolText,
    /// Its documentation page, if it has one.
    pub documentation: Option<String>,
}

/// Progress of discovery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Trace {
    /// A thought.
    Thought {
        /// The thought.
        text: String,
    },
    /// An action.
    Action {
        /// The action.
        text: String,
    },
    /// The result of an action.
    Observation {
        /// The result.
        text: String,
        /// Whether the action failed.
        failed: bool,
    },
}

impl Trace {
    pub(crate) fn thought(text: impl Into<String>) -> Trace {
        Trace::Thought { text: text.into() }
    }

    pub(crate) fn action(text: impl Into<String>) -> Trace {
        Trace::Action { text: text.into() }
    }

    pub(crate) fn observation(text: impl Into<String>) -> Trace {
        Trace::Observation { text: text.into(), failed: false }
    }

    pub(crate) fn failure(text: impl Into<String>) -> Trace {
        Trace::Observation { text: text.into(), failed: true }
    }

    /// Says how much a search found, with the first titles.
    pub(crate) fn found<'a>(titles: impl ExactSizeIterator<Item = &'a str>) -> Trace {
        let count = titles.len();
        let first: Vec<&str> = titles.take(SHOWN_TITLES).collect();
        Trace::observation(match first.as_slice() {
            [] => "Nothing found".to_owned(),
            titles => format!("{count} found: {} …", titles.join(", ")),
        })
    }
}

/// A tool found on the web.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Finding {
    /// Its documentation page, after redirects.
    pub url: String,
    /// Its name on the page.
    pub name: String,
    /// Its description on the page.
    pub description: String,
    /// Confidence that this is a tool for the need, 0 to 1.
    pub score: f32,
    /// The page features behind the score.
    pub marks: PageFeatures,
    /// The passage of the page that matches the need best.
    pub excerpt: String,
    /// Ids of library cards that may be the same tool.
    pub similar: Vec<CardId>,
    /// The draft card, with evidence.
    pub draft: Draft,
}

impl Finding {
    /// Whether both are the same tool: the same page, or another URL of a page with the same name and the
    /// same import. The name alone is not enough, since one service has tools for several languages.
    fn is_same(&self, other: &Finding) -> bool {
        let import = |finding: &Finding| {
            let value =
                |name: &str| finding.draft.fields.iter().find(|field| field.field == name)?.value.clone();
            value(fields::MODULE).zip(value(fields::CLASS))
        };
        normalized_url(&self.url) == normalized_url(&other.url)
            || (self.name == other.name && import(self).is_some() && import(self) == import(other))
    }
}

/// Result of a discovery.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Discovered {
    /// Findings, best first; empty if nothing is suitable.
    pub findings: Vec<Finding>,
    /// The best of the findings that were not good enough, for a person who wants to see them.
    pub dismissed: Vec<Finding>,
    /// Number of pages read.
    pub read: u32,
    /// The pages that could not be read, if there are any.
    #[serde(default)]
    pub unread: Option<UnreadPages>,
    /// The preferred source that has the findings; `null` if they are from any.
    #[serde(default)]
    pub preferred: Option<String>,
    /// If nothing is suitable: a tool that was not made for the need, but may be used in its place.
    #[serde(default)]
    pub substitute: Option<Box<Finding>>,
}

impl Discovered {
    /// Returns the unread pages if they are why nothing was found: most pages could not be read.
    pub fn failed(&self) -> Option<&UnreadPages> {
        let nothing = self.findings.is_empty() && self.substitute.is_none();
        self.unread.as_ref().filter(|unread| nothing && unread.pages > self.read)
    }

    /// Returns the finding of this address, whether it was suitable or not.
    pub fn finding(&self, url: &str) -> Option<&Finding> {
        let all = self.findings.iter().chain(&self.dismissed);
        all.chain(self.substitute.as_deref()).find(|finding| finding.url == url)
    }

    /// Summarizes the result in one line, for the trace.
    pub fn summary(&self) -> String {
        if let Some(unread) = self.failed() {
            return format!(
                "{} of {} pages could not be read: {}",
                unread.pages,
                unread.pages + self.read,
                unread.error.message
            );
        }
        match self.findings.first().or(self.substitute.as_deref()) {
            Some(best) if self.findings.is_empty() => {
                format!("No suitable tool; {} may be used in its place: {}", best.name, best.url)
            }
            Some(best) => format!("{}: {}", best.name, best.url),
            None if self.read == 1 => "No suitable tool on 1 page".to_owned(),
            None => format!("No suitable tool on {} pages", self.read),
        }
    }
}

/// Says why a page could not be fetched. A rule that the user can change comes with how; other failures are up to the site.
pub(crate) fn fetch_failure(error: &autokit_web::Error) -> String {
    match error.code() {
        autokit_web::Code::PrivateAddress => format!("{error}. {}", error.remedy()),
        _ => error.to_string(),
    }
}

/// Separates the findings that are good enough from the best of the others.
fn judged(mut all: Discovered) -> Discovered {
    let good = judge::good_enough(&all.findings);
    all.dismissed = all.findings.split_off(good).into_iter().take(CANDIDATES).collect();
    all.findings.truncate(CANDIDATES);
    all
}

impl Discovery {
    /// Searches for tools for a need: the preferred sources in their order first, then any, and where nothing is
    /// suitable, for something that may be used in its place (FUEL, web fallback).
    ///
    /// # Errors
    /// [`Error::NoSearch`]; when every service fails, the error of the first.
    pub fn run<'a>(
        &'a self,
        need: &'a str,
        now: &'a (dyn Fn() -> Timestamp + Send + Sync),
        on: &'a mut (dyn FnMut(Trace) + Send),
    ) -> BoxFuture<'a, Result<Discovered>> {
        Box::pin(async move {
            if self.providers.is_empty() {
                return Err(Error::NoSearch);
            }
            let vector = self.queries(vec![need.to_owned()]).await?.into_iter().next();
            let related = vector.as_ref().map(|vector| self.vocabulary.nearest(vector)).unwrap_or_default();
            let mut pool = CandidatePool::default();
            let parts = ParsedRequest::of(need, self.reader.embedder.as_deref());
            on(Trace::thought(format!(
                "Nothing in the library fits. Looking for a page that documents a tool for {need:?}."
            )));
            for source in &self.preferred {
                on(Trace::thought(format!("Looking at a preferred source: {source}.")));
                if self.search(&[queries::at_source(need, source)], &mut pool, on).await.is_err() {
                    // In the trace; the search for any API says whether the services answer at all.
                    continue;
                }
                let most = pool.requested.len() + PREFERRED_PAGES;
                self.read(&mut pool, most, now, on).await?;
                let ranked = self.rank(&parts, vector.as_deref(), &pool)?;
                let mut all = judged(ranked);
                if let Some(at) = all.findings.iter().position(|finding| pool.is_from(&finding.url, source)) {
                    all.findings[..=at].rotate_right(1);
                    let best = &all.findings[0];
                    on(Trace::thought(format!(
                        "{} of {source} documents a tool for this: {}",
                        best.name, best.url
                    )));
                    return Ok(Discovered { preferred: Some(source.clone()), ..all });
                }
            }
            if !self.preferred.is_empty() {
                on(Trace::thought("The preferred sources have none; looking for any API.".to_owned()));
            }
            let first = queries::first_round(need, &parts.names, &related);
            self.search(&first, &mut pool, on).await?;
            self.search_github(need, &mut pool, on).await;
            // What preferred sources had is not part of the limit.
            let most = pool.requested.len() + MAX_PAGES;
            self.read(&mut pool, most, now, on).await?;
            if let Some(vector) = &vector {
                let titles = pool.closest_titles(vector);
                if !titles.is_empty() {
                    on(Trace::thought("Searching again with the titles of the closest pages.".to_owned()));
                    self.search(&[titles.join(" ")], &mut pool, on).await?;
                    self.read(&mut pool, most, now, on).await?;
                }
            }
            let all = judged(self.rank(&parts, vector.as_deref(), &pool)?);
            if let Some(best) = all.findings.first() {
                on(Trace::thought(format!("{} documents a tool for this: {}", best.name, best.url)));
                return Ok(all);
            }
            on(Trace::thought(
                "None of these pages documents a tool for this; looking for one to use in its place."
                    .to_owned(),
            ));
            self.search(&queries::substitutes(need, &related), &mut pool, on).await?;
            let most = pool.requested.len() + SUBSTITUTE_PAGES;
            self.read(&mut pool, most, now, on).await?;
            let mut all = judged(self.rank(&parts, vector.as_deref(), &pool)?);
            if all.findings.is_empty() {
                let usable =
                    |finding: &Finding| pool.documents_tool(&finding.url) && judge::may_substitute(finding);
                if let Some(at) = all.dismissed.iter().position(usable) {
                    all.substitute = Some(Box::new(all.dismissed.remove(at)));
                }
            }
            on(Trace::thought(match (all.findings.first(), &all.substitute) {
                (Some(best), _) => format!("{} documents a tool for this: {}", best.name, best.url),
                (None, Some(other)) => {
                    format!(
                        "{} was not made for this, but may be used in its place: {}",
                        other.name, other.url
                    )
                }
                (None, None) => "Nothing can be used in its place.".to_owned(),
            }));
            Ok(all)
        })
    }

    async fn queries(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        self.embed(texts, |embedder, texts| embedder.queries(texts)).await
    }

    async fn embed(
        &self,
        texts: Vec<String>,
        how: impl FnOnce(&dyn QueryEmbedder, &[String]) -> std::result::Result<Vec<Vec<f32>>, String>
        + Send
        + 'static,
    ) -> Result<Vec<Vec<f32>>> {
        let Some(embedder) = self.reader.embedder.clone() else { return Ok(Vec::new()) };
        tokio::task::spawn_blocking(move || how(&*embedder, &texts))
            .await
            .map_err(|error| Error::Embedding(format!("the model failed: {error}")))?
            .map_err(Error::Embedding)
    }

    /// Sends every query to every service and adds the results to the pool.
    async fn search(
        &self,
        queries: &[String],
        pool: &mut CandidatePool,
        on: &mut (dyn FnMut(Trace) + Send),
    ) -> Result<()> {
        let mut first_error = None;
        let mut answered = false;
        for query in queries {
            let all = join_all(self.providers.iter().map(|provider| provider.search(query, HITS))).await;
            for (provider, answer) in self.providers.iter().zip(all) {
                on(Trace::action(format!("Search {} for {query:?}", provider.service().title())));
                match answer {
                    Ok(hits) => {
                        answered = true;
                        on(Trace::found(hits.iter().map(|hit| hit.title.as_str())));
                        pool.found.add(hits);
                    }
                    Err(error) => {
                        on(Trace::failure(error.to_string()));
                        first_error = first_error.or(Some(error));
                    }
                }
            }
        }
        match first_error {
            Some(error) if !answered && pool.found.is_empty() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Searches GitHub for projects, if configured. GitHub is one source of several, so discovery goes on if
    /// it fails.
    async fn search_github(&self, need: &str, pool: &mut CandidatePool, on: &mut (dyn FnMut(Trace) + Send)) {
        let Some(github) = &self.github else { return };
        let query = queries::content(need);
        on(Trace::action(format!("Search GitHub for {query:?}")));
        match github.repositories(&query, REPOSITORIES).await {
            Ok(found) => {
                on(Trace::found(found.iter().map(|one| one.full_name.as_str())));
                pool.add_repositories(found);
            }
            Err(error) => on(Trace::failure(error.to_string())),
        }
        if !github.searches_code() {
            return;
        }
        // A README is documentation too, and often the only one a small tool has.
        let query = format!("{query} filename:README.md");
        on(Trace::action(format!("Search code on GitHub for {query:?}")));
        match github.code(&query, REPOSITORIES).await {
            Ok(found) => {
                on(Trace::found(found.iter().map(|one| one.repository.full_name.as_str())));
                pool.found.add(
                    found
                        .into_iter()
                        .map(|one| Hit {
                            title: one.repository.full_name,
                            url: one.html_url,
                            snippet: one.path,
                        })
                        .collect(),
                );
            }
            Err(error) => on(Trace::failure(error.to_string())),
        }
    }

    /// Reads the pages of the pool that were not read yet, best first, until `most` were requested in all.
    async fn read(
        &self,
        pool: &mut CandidatePool,
        most: usize,
        now: &(dyn Fn() -> Timestamp + Send + Sync),
        on: &mut (dyn FnMut(Trace) + Send),
    ) -> Result<()> {
        let unread = pool.unread(most);
        if unread.is_empty() {
            return Ok(());
        }
        on(Trace::action(match unread.len() {
            1 => "Open 1 page".to_owned(),
            many => format!("Open {many} pages"),
        }));
        let answers = join_all(unread.iter().map(|hit| self.reader.fetcher.get(&hit.url))).await;
        let (mut read, mut failed) = (0, Vec::new());
        let (mut new_pages, mut hits) = (Vec::<Fetched>::new(), Vec::<Hit>::new());
        for (hit, answer) in unread.into_iter().zip(answers) {
            pool.requested.insert(hit.url.clone());
            let fetched = match answer {
                Ok(fetched) if fetched.is_success() => fetched,
                Ok(fetched) => {
                    failed.push(format!("{}: {}", hit.url, fetched.status));
                    pool.add_failure(fetched.status_error());
                    continue;
                }
                Err(error) => {
                    failed.push(fetch_failure(&error));
                    pool.add_failure(error.into());
                    continue;
                }
            };
            read += 1;
            // Two URLs that lead to the same page count once.
            if pool.has_page(&fetched.url) || new_pages.iter().any(|page| page.url == fetched.url) {
                continue;
            }
            new_pages.push(fetched);
            hits.push(hit);
        }
        for (page, hit) in self.reader.read(new_pages, PagePart::Pieces).await?.into_iter().zip(hits) {
            pool.add_page(hit, now(), page);
        }
        on(Trace::observation(format!("Read {read} {}", if read == 1 { "page" } else { "pages" })));
        for failure in failed {
            on(Trace::failure(failure));
        }
        Ok(())
    }

    /// Ranks all pages read and returns them as findings, best first.
    fn rank(&self, need: &ParsedRequest, vector: Option<&[f32]>, pool: &CandidatePool) -> Result<Discovered> {
        let bodies: Vec<String> = pool.pages.iter().map(|page| opening(&page.document, MAX_BODY)).collect();
        let mut index = SearchIndex::new();
        let known: Vec<IndexDocument<'_>> = self.known.iter().map(|card| card.text.document(None)).collect();
        index.upsert_all(&known)?;
        let ids: Vec<String> = (0..pool.pages.len()).map(|at| format!("page {at}")).collect();
        for ((page, id), body) in pool.pages.iter().zip(&ids).zip(&bodies) {
            index.upsert(&IndexDocument {
                id,
                name: &page.facts.name,
                description: body,
                vectors: page.opening().map(|tool| Vectors { tool, asks_for: &[] }),
                ..IndexDocument::default()
            })?;
            if let Some(dimension) = page.piece_vectors().first().map(Vec::len) {
                index.set_chunks(id, &page.piece_vectors().concat(), dimension)?;
            }
        }
        let plan = QueryPlan::new(&need.text);
        let vectors: Vec<Vec<f32>> = vector.map(<[f32]>::to_vec).into_iter().collect();
        let is_page = |id: &str| id.starts_with("page ");
        let hits = index.search(&Query {
            plan: &plan,
            vectors: &vectors,
            mode: Mode::Hybrid,
            limit: pool.pages.len(),
            filter: Some(&is_page),
        })?;
        let mut findings: Vec<Finding> = Vec::with_capacity(hits.len());
        for hit in hits {
            let Some(page) = hit
                .id
                .strip_prefix("page ")
                .and_then(|at| at.parse::<usize>().ok())
                .and_then(|at| pool.pages.get(at))
            else {
                continue;
            };
            let mut marks = PageFeatures::of_request(need, page, pool.found.rrf_score(&page.hit.url), &hit);
            marks.flag(PageFeature::Known, self.is_known_page(page));
            let finding = self.finding(page, marks, hit.parts.chunk);
            if !self.rejected.iter().any(|other| other.is_same(&finding)) {
                findings.push(finding);
            }
        }
        findings.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.url.cmp(&b.url)));
        // Tools the library already has are not discoveries and come last.
        findings.sort_by_key(|finding| finding.marks.has(PageFeature::Known));
        let read = pool.pages.len() as u32;
        Ok(Discovered { findings, read, unread: pool.unread_pages(), ..Discovered::default() })
    }

    fn finding(&self, page: &Candidate, marks: PageFeatures, chunk: Option<u32>) -> Finding {
        let similar = self.similar(page);
        // The search service's snippet is not a quotation from the page.
        let best = chunk.and_then(|at| page.pieces().get(at as usize)).or(page.pieces().first());
        let excerpt: String = best.map_or("", String::as_str).chars().take(300).collect();
        let score = marks.score_for_request();
        Finding {
            url: page.url().to_owned(),
            name: page.facts.name.clone(),
            description: page.facts.description.as_ref().map(|fact| fact.value.clone()).unwrap_or_default(),
            score,
            draft: draft(page, score, &similar),
            marks,
            excerpt,
            similar,
        }
    }

    /// Whether a card of the library names this page as its documentation.
    fn is_known_page(&self, page: &Candidate) -> bool {
        let same = |url: &str| {
            normalized_url(url) == normalized_url(page.url())
                || normalized_url(url) == normalized_url(&page.hit.url)
        };
        self.known.iter().any(|card| card.documentation.as_deref().is_some_and(same))
    }

    /// Returns the ids of cards that may be the same tool, by page, name or imported class.
    fn similar(&self, page: &Candidate) -> Vec<CardId> {
        let name = distinctive(&page.facts.name);
        let class = page.facts.import.as_ref().map(|import| import.value.1.as_str());
        self.known
            .iter()
            .filter(|card| {
                let same_page = card
                    .documentation
                    .as_deref()
                    .is_some_and(|url| normalized_url(url) == normalized_url(page.url()));
                let same_name = !name.is_empty() && distinctive(&card.text.name) == name;
                let same_class =
                    class.is_some_and(|class| card.text.aliases.iter().any(|alias| alias == class));
                same_page || same_name || same_class
            })
            .map(|card| CardId::new(&card.text.id))
            .collect()
    }
}
