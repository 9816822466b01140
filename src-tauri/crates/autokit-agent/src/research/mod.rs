//! Researches a question in several rounds (Elyra, multi-shot researcher): the library, documents and code on this
//! machine first, then the web; the pages found are read, their links followed, and the search repeated in other
//! words while too little was found.
//!
//! The summary consists of sentences as they are in the sources, so there is none without a source. Without a
//! language model they are chosen by [`score`]; a model chooses among the same sentences by number and suggests
//! further searches, but writes no text of its own.

mod links;
mod model;
mod passages;
mod question;
mod score;

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use autokit_llm::prompts::Prompts;
use autokit_llm::{Model, Usage};
use autokit_pages::{FusedHits, HITS, Page, PagePart, PageReader, run_blocking, without_fragment};
use autokit_toolcard::CardId;
use autokit_web::Fetched;
use autokit_web::search::Provider;
use futures_util::future::{BoxFuture, join_all};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::discover::{Trace, fetch_failure};
use crate::error::{Error, Result};

use passages::Candidate;
use question::ResearchQuestion;

/// Rounds of searching unless a person chooses otherwise.
pub const DEFAULT_ROUNDS: u32 = 3;
/// Most rounds.
pub const MAX_ROUNDS: u32 = 10;
/// Pages opened from the results of one round.
const PAGES: usize = 6;
/// Links followed in one round.
const LINKS: usize = 4;
/// Passages kept, best first.
const MAX_PASSAGES: usize = 40;
/// Most sentences of a summary.
const MAX_SENTENCES: usize = 5;
/// Most sentences of a summary from one source.
const MAX_PER_SOURCE: usize = 3;
/// Results taken from each source on this machine.
const LOCAL_HITS: usize = 5;

/// What kind of source a passage is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// A card of the library.
    Library,
    /// A document that a person added.
    Documents,
    /// Code that a person added.
    Code,
    /// A page on the web.
    Web,
}

impl SourceKind {
    /// The sources on this machine, in the order in which they are searched.
    const LOCAL: [SourceKind; 3] = [SourceKind::Library, SourceKind::Documents, SourceKind::Code];

    /// Whether what it says may be sent to services.
    pub(crate) fn is_public(self) -> bool {
        matches!(self, SourceKind::Library | SourceKind::Web)
    }

    fn title(self) -> &'static str {
        match self {
            SourceKind::Library => "the library",
            SourceKind::Documents => "documents",
            SourceKind::Code => "code",
            SourceKind::Web => "the web",
        }
    }
}

/// Where a passage is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ResearchSource {
    /// Kind of source.
    pub kind: SourceKind,
    /// Title of the page or document; name of the tool or function.
    pub title: String,
    /// Address of the page; citation of a document or function.
    pub location: String,
    /// The card, for a source in the library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub card: Option<CardId>,
}

/// A sentence, table row or code block as it is in its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ResearchPassage {
    /// The text.
    pub text: String,
    /// Index of its source in [`Research::sources`].
    pub source: u32,
    /// Headings above it, from the title down.
    pub heading: Vec<String>,
    /// Whether it is code.
    pub code: bool,
    /// Whether its page says that it is outdated.
    pub outdated: bool,
    /// How well it fits the question, 0 to 1.
    pub score: f32,
}

/// The state of a research: what was searched and found so far. Rounds continue from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Research {
    /// Whether the sources answer the question.
    pub answered: bool,
    /// The summary: indexes into `passages`, in the order in which they are read.
    pub summary: Vec<u32>,
    /// The best passages, best first.
    pub passages: Vec<ResearchPassage>,
    /// The sources of the passages.
    pub sources: Vec<ResearchSource>,
    /// Queries sent to the web.
    pub queries: Vec<String>,
    /// Addresses of pages opened, including those that could not be read.
    pub visited: Vec<String>,
    /// Number of pages read.
    pub read: u32,
    /// Number of rounds on the web.
    pub rounds: u32,
    /// Whether it ran to its end; otherwise it can be resumed.
    pub complete: bool,
    /// Language model that chose the passages; `null` if rules did.
    pub model: Option<String>,
    /// What limits the result, e.g. that no search service is configured.
    pub notes: Vec<String>,
}

impl Research {
    /// Describes the result in one line, for the trace.
    pub fn outcome(&self) -> String {
        let pages = match self.read {
            1 => "1 page".to_owned(),
            many => format!("{many} pages"),
        };
        match self.summary.len() {
            _ if !self.answered => format!("No answer found; {pages} read"),
            1 => format!("1 passage found; {pages} read"),
            many => format!("{many} passages found; {pages} read"),
        }
    }
}

/// A passage of a source on this machine.
#[derive(Clone, Debug)]
pub struct LocalPassage {
    /// Its source.
    pub source: ResearchSource,
    /// Headings above it.
    pub heading: Vec<String>,
    /// Its text.
    pub text: String,
    /// Code that goes with the text, such as the signature of a function.
    pub code: Option<String>,
}

/// The sources on this machine.
#[async_trait]
pub trait LocalSources: Send + Sync {
    /// Searches one of them, best first; nothing if it is empty or may not be searched.
    ///
    /// # Errors
    /// [`Error::Library`] when it cannot be searched.
    async fn search(&self, kind: SourceKind, query: &str, limit: usize) -> Result<Vec<LocalPassage>>;
}

/// Receives every step as it happens.
pub type OnTrace<'a> = &'a mut (dyn FnMut(Trace) + Send);

/// Researches one question.
#[derive(Debug)]
pub struct Researcher {
    providers: Vec<Provider>,
    reader: PageReader,
    model: Option<(Model, Prompts)>,
    rounds: u32,
    question: Arc<ResearchQuestion>,
    /// What was read in this process; passages of earlier ones are in the state.
    found: Vec<Candidate>,
    pages: Vec<Arc<Page>>,
    hits: FusedHits,
    /// Searches that the model suggested for the next round.
    suggested: Vec<String>,
    /// Tokens used by the model.
    pub usage: Usage,
}

impl Researcher {
    /// Creates a researcher that has read nothing yet. Without `providers` the web is not used; a model chooses among
    /// passages, and `rounds` is the number of rounds on the web at which the research ends.
    ///
    /// # Errors
    /// [`Error::Embedding`] when the question cannot be embedded.
    pub async fn new(
        question: &str,
        reader: PageReader,
        providers: Vec<Provider>,
        model: Option<(Model, Prompts)>,
        rounds: u32,
    ) -> Result<Researcher> {
        let embedder = reader.embedder.clone();
        let text = question.to_owned();
        let question = run_blocking(move || ResearchQuestion::of(&text, embedder.as_deref())).await?;
        Ok(Researcher {
            providers,
            reader,
            model,
            rounds,
            question: Arc::new(question),
            found: Vec::new(),
            pages: Vec::new(),
            hits: FusedHits::default(),
            suggested: Vec::new(),
            usage: Usage::default(),
        })
    }

    /// Runs the next step: the sources on this machine, then one round on the web at a time. Returns whether there is
    /// more to do; the state can be stored in between.
    ///
    /// # Errors
    /// When every search service fails before anything was found, or the embedding model fails.
    pub fn step<'a>(
        &'a mut self,
        state: &'a mut Research,
        local: &'a dyn LocalSources,
        on: OnTrace<'a>,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            if self.found.is_empty() && !state.passages.is_empty() {
                self.found = Candidate::restore(state);
            }
            if state.rounds == 0 && state.queries.is_empty() && self.found.is_empty() {
                self.search_local(local, on).await?;
                self.judge(state, on).await?;
                if state.complete || self.providers.is_empty() {
                    state.complete = true;
                    return Ok(false);
                }
                if self.found.is_empty() {
                    on(Trace::thought("Nothing on this machine bears on it; searching the web."));
                }
            }
            if self.providers.is_empty() || state.rounds >= self.rounds {
                state.complete = true;
                return Ok(false);
            }
            if !self.round(state, on).await? {
                // Not an answer, and nothing to go on with now: it can be resumed when the services respond.
                return Ok(false);
            }
            state.rounds += 1;
            if state.rounds >= self.rounds {
                state.complete = true;
            }
            Ok(!state.complete)
        })
    }

    async fn search_local(&mut self, local: &dyn LocalSources, on: OnTrace<'_>) -> Result<()> {
        for kind in SourceKind::LOCAL {
            on(Trace::action(format!("Search {}", kind.title())));
            match local.search(kind, &self.question.text, LOCAL_HITS).await {
                Ok(hits) => {
                    on(Trace::found(hits.iter().map(|hit| hit.source.title.as_str())));
                    for hit in hits {
                        self.found.extend(Candidate::of_local(&hit));
                    }
                }
                // One of several sources; the others are still searched.
                Err(error) => on(Trace::failure(error.to_string())),
            }
        }
        Ok(())
    }

    /// Searches the web, reads what was found, and follows links if that is not enough. Returns whether any service
    /// answered.
    async fn round(&mut self, state: &mut Research, on: OnTrace<'_>) -> Result<bool> {
        let queries = self.next_queries(state);
        if let Some(error) = self.search_web(&queries, state, on).await {
            if state.read == 0 && self.found.is_empty() {
                return Err(error);
            }
            state.notes.push(format!("The web search failed: {error}."));
            return Ok(false);
        }
        let unread: Vec<(String, String)> = {
            let visited: HashSet<&str> = state.visited.iter().map(String::as_str).collect();
            let unread = self.hits.best().into_iter().filter(|hit| !visited.contains(hit.url.as_str()));
            unread.take(PAGES).map(|hit| (hit.url.clone(), String::new())).collect()
        };
        self.open(&unread, state, on).await?;
        self.judge(state, on).await?;
        if state.complete {
            return Ok(true);
        }
        let question = Arc::clone(&self.question);
        let links =
            links::best(&question, &self.reader, &self.pages, &self.found, &state.visited, LINKS).await?;
        if links.is_empty() {
            return Ok(true);
        }
        on(Trace::thought("The pages do not answer it; following their links."));
        let links: Vec<(String, String)> = links.into_iter().map(|link| (link.url, link.via)).collect();
        self.open(&links, state, on).await?;
        self.judge(state, on).await?;
        Ok(true)
    }

    /// Returns the queries of this round: those of the model if it suggested any; otherwise the question and its content
    /// words, and later the words that the closest passages use.
    fn next_queries(&mut self, state: &Research) -> Vec<String> {
        let mut queries = std::mem::take(&mut self.suggested);
        if queries.is_empty() {
            queries = if state.rounds == 0 {
                self.question.first_queries()
            } else {
                self.question.other_queries(&self.found, state.rounds)
            };
        }
        let mut seen: HashSet<String> = state.queries.iter().map(|query| query.to_lowercase()).collect();
        queries.retain(|query| !query.trim().is_empty() && seen.insert(query.to_lowercase()));
        queries
    }

    /// Sends queries to all services. Returns the error of the first one if none answered.
    async fn search_web(
        &mut self,
        queries: &[String],
        state: &mut Research,
        on: OnTrace<'_>,
    ) -> Option<Error> {
        let mut failure = None;
        let mut answered = queries.is_empty();
        for query in queries {
            let all = join_all(self.providers.iter().map(|provider| provider.search(query, HITS))).await;
            let mut query_answered = false;
            for (provider, answer) in self.providers.iter().zip(all) {
                on(Trace::action(format!("Search {} for {query:?}", provider.service().title())));
                match answer {
                    Ok(hits) => {
                        query_answered = true;
                        on(Trace::found(hits.iter().map(|hit| hit.title.as_str())));
                        self.hits.add(hits);
                    }
                    Err(error) => {
                        on(Trace::failure(error.to_string()));
                        failure = failure.or(Some(error));
                    }
                }
            }
            // One that failed is sent again when the research is resumed.
            if query_answered {
                state.queries.push(query.clone());
            }
            answered |= query_answered;
        }
        failure.filter(|_| !answered).map(Error::from)
    }

    /// Opens pages, each with what the page that led to it says of it, and adds their passages. A page that cannot be read
    /// is part of the trace.
    async fn open(
        &mut self,
        pages: &[(String, String)],
        state: &mut Research,
        on: OnTrace<'_>,
    ) -> Result<()> {
        if pages.is_empty() {
            return Ok(());
        }
        let urls: Vec<&str> = pages.iter().map(|(url, _)| url.as_str()).collect();
        on(Trace::action(format!("Open {}", urls.join(", "))));
        let answers = join_all(urls.iter().map(|url| self.reader.fetcher.get(url))).await;
        let (mut fetched, mut via) = (Vec::new(), Vec::new());
        for ((url, says), answer) in pages.iter().zip(answers) {
            state.visited.push(url.clone());
            match answer {
                Ok(page) if page.is_success() => {
                    let landed = without_fragment(&page.url);
                    // Two addresses of the same page count once.
                    let known = self.pages.iter().any(|known| known.fetched.url == page.url)
                        || fetched.iter().any(|known: &Fetched| known.url == page.url);
                    if landed != *url && !state.visited.contains(&landed) {
                        state.visited.push(landed);
                    }
                    if !known {
                        fetched.push(page);
                        via.push(says);
                    }
                }
                Ok(page) => on(Trace::failure(format!("{url}: {}", page.status))),
                Err(error) => on(Trace::failure(fetch_failure(&error))),
            }
        }
        let pages = self.reader.read(fetched, PagePart::Opening).await?;
        state.read += pages.len() as u32;
        for (page, says) in pages.into_iter().zip(via) {
            let (candidates, flagged) = Candidate::of_page(&page, says);
            if flagged > 0 {
                on(Trace::failure(format!(
                    "{}: {flagged} {} addressed to AI assistants; skipped",
                    page.fetched.url,
                    if flagged == 1 { "passage is" } else { "passages are" },
                )));
            }
            self.found.extend(candidates);
            self.pages.push(page);
        }
        Ok(())
    }

    /// Ranks what was found and decides whether it is enough; fills the state.
    async fn judge(&mut self, state: &mut Research, on: OnTrace<'_>) -> Result<()> {
        let (question, embedder) = (Arc::clone(&self.question), self.reader.embedder.clone());
        let mut found = std::mem::take(&mut self.found);
        let ranked = move || score::rank(&question, &mut found, embedder.as_deref()).map(|()| found);
        self.found = run_blocking(ranked).await?;
        store(&self.found, state);
        let mut complete = score::is_enough(&self.found);
        state.summary = if score::is_answer(&self.found) { summary(state) } else { Vec::new() };
        state.answered = !state.summary.is_empty();
        state.model = None;
        let own = self.found.first().is_some_and(|best| !best.is_public());
        // A person's documents and code are not shown to a model; where they answer the question, none is needed.
        if let Some((model, prompts)) = &self.model
            && self.found.iter().any(Candidate::is_public)
            && !(own && state.answered)
        {
            match model::choose(model, prompts, &self.question.text, state).await {
                Ok((choice, usage)) => {
                    self.usage += usage;
                    state.model = Some(model.config().model.clone());
                    state.summary = choice.passages;
                    state.answered = choice.complete && !state.summary.is_empty();
                    complete = state.answered;
                    self.suggested = choice.queries;
                }
                Err(error) => on(Trace::failure(format!("{error}. Passages are chosen by rules."))),
            }
        }
        state.complete = complete;
        if let Some(best) = state.passages.first() {
            let text: String = best.text.chars().take(160).collect();
            on(Trace::thought(format!("{} {text}", if complete { "Found:" } else { "Closest so far:" })));
        }
        Ok(())
    }
}

/// Stores the best passages with their sources.
fn store(found: &[Candidate], state: &mut Research) {
    state.passages.clear();
    state.sources.clear();
    for candidate in found.iter().take(MAX_PASSAGES) {
        let at = state.sources.iter().position(|source| *source == *candidate.source);
        let at = at.unwrap_or_else(|| {
            state.sources.push((*candidate.source).clone());
            state.sources.len() - 1
        });
        state.passages.push(ResearchPassage {
            text: candidate.text.clone(),
            source: at as u32,
            heading: candidate.heading.clone(),
            code: candidate.code,
            outdated: candidate.outdated,
            score: candidate.score,
        });
    }
}

/// Chooses the sentences of the summary by rules: the best, and others nearly as good that say something else.
fn summary(state: &Research) -> Vec<u32> {
    let mut chosen: Vec<u32> = Vec::new();
    let Some(best) = state.passages.first() else { return chosen };
    for (at, passage) in state.passages.iter().enumerate() {
        if chosen.len() == MAX_SENTENCES || passage.score < best.score - score::SUMMARY_MARGIN {
            break;
        }
        let same_source =
            chosen.iter().filter(|&&one| state.passages[one as usize].source == passage.source).count();
        let repeats =
            chosen.iter().any(|&one| score::repeats(&state.passages[one as usize].text, &passage.text));
        if same_source < MAX_PER_SOURCE && !repeats {
            chosen.push(at as u32);
        }
    }
    chosen
}
