//! Documentation pages of cards: fetched in the background, split into chunks, embedded and cited (FUEL,
//! document loader).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autokit_api::commands::{Context, FetchPages, GetPage, Handle};
use autokit_api::{CardPage, CardRef, JobKind, JobRef, PagePiece, PageView, PagesFetch};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{CardRecord, Page, PageChunk};
use autokit_toolcard::{CardId, Timestamp, fields};
use autokit_web::{ChunkOptions, Validators, chunks, extract};
use autokit_workspace::background::in_background;
use autokit_workspace::indexing::set_chunks;
use autokit_workspace::jobs::{Outcome, Progress};
use autokit_workspace::models::Models;
use autokit_workspace::page_vectors::{chunks_hash, embed_page};
use autokit_workspace::providers::Providers;
use autokit_workspace::workspace::Workspace;
use futures_util::StreamExt;

/// Pages fetched concurrently; the HTTP client allows two requests per host.
const MAX_CONCURRENT: usize = 8;
/// Most chunks of one page. A longer page, such as a manual of a thousand pages in one file, is truncated
/// and a warning is logged.
const MAX_CHUNKS: usize = 400;
/// A page fetched within this time is not fetched again unless requested.
const REFETCH_AFTER: Duration = Duration::from_hours(24);

/// The outcome of fetching one page.
#[derive(Clone, Debug)]
enum FetchOutcome {
    New,
    Same,
    Failed(ApiError),
}

/// Documentation pages of cards. Clones share state.
#[derive(Clone, Debug)]
pub struct Pages {
    workspace: Workspace,
    models: Models,
    providers: Providers,
}

impl Pages {
    /// Fetches pages for the cards of this library.
    pub fn new(workspace: Workspace, models: Models, providers: Providers) -> Pages {
        Pages { workspace, models, providers }
    }

    /// Starts fetching the pages of some cards, or of all if `cards` is empty.
    pub fn start(&self, cards: Vec<CardId>, again: bool) -> JobRef {
        let pages = self.clone();
        let title = match cards.as_slice() {
            [one] => {
                let name = self
                    .workspace
                    .library
                    .card(one)
                    .map_or_else(|_| one.to_string(), |record| record.key.to_string());
                format!("Reading the documentation of {name}")
            }
            _ => "Reading documentation pages".to_owned(),
        };
        self.workspace.jobs.start(JobKind::Pages, &title, "pages", |progress| async move {
            pages.read_pages(&cards, again, &progress).await
        })
    }

    /// Fetches the pages of some cards though nobody requested that. Does nothing until the person chose a service.
    pub(crate) fn start_unrequested(&self, cards: Vec<CardId>) {
        if self.providers.services().any_chosen() {
            self.start(cards, false);
        }
    }

    async fn read_pages(&self, cards: &[CardId], again: bool, progress: &Progress) -> Result<Outcome> {
        let records: Vec<Arc<CardRecord>> = self.workspace.library.read(|replica| {
            let documented = |record: &&Arc<CardRecord>| record.documented;
            if cards.is_empty() {
                replica.iter().filter(documented).cloned().collect()
            } else {
                cards.iter().filter_map(|id| replica.get(id)).filter(documented).cloned().collect()
            }
        });
        let total = records.len() as u64;
        let (mut done, mut new, mut same, mut failed) = (0, 0, 0, 0);
        let mut first_failure = None;
        let each = records.into_iter().map(|record| async move { self.read_page(&record, again).await });
        let mut reading = futures_util::stream::iter(each).buffer_unordered(MAX_CONCURRENT);
        progress.set_done(0, total);
        loop {
            let next = tokio::select! {
                next = reading.next() => next,
                () = progress.wait_until_cancelled() => return Err(ApiError::cancelled()),
            };
            match next {
                None => break,
                Some(Ok(FetchOutcome::New)) => new += 1,
                Some(Ok(FetchOutcome::Same)) => same += 1,
                Some(Ok(FetchOutcome::Failed(why))) => {
                    failed += 1;
                    first_failure.get_or_insert(why);
                }
                Some(Err(error)) => return Err(error),
            }
            done += 1;
            progress.set_done(done, total);
        }
        let failures = match &first_failure {
            // If every page failed, the job fails too.
            Some(why) if new + same == 0 && failed > 1 => {
                let message = format!("all {failed} pages failed; the first error: {}", why.message);
                return Err(ApiError::new(why.code, message, why.remedy.clone()));
            }
            Some(why) if new + same == 0 => return Err(why.clone()),
            Some(why) => format!(", {failed} failed (first error: {})", why.message),
            None => String::new(),
        };
        let pages = if new == 1 { "page" } else { "pages" };
        let summary = format!("{new} {pages} read, {same} unchanged{failures}");
        Ok(Outcome { summary, tally: None })
    }

    /// Fetches the page of one card. A page that cannot be read is stored as failed; only errors of the
    /// library end the job.
    async fn read_page(&self, record: &CardRecord, again: bool) -> Result<FetchOutcome> {
        let card = record.card();
        let Some(url) = card.text(fields::DOCUMENTATION).filter(|url| !url.is_empty()) else {
            return Ok(FetchOutcome::Failed(unreadable("the card has no documentation link".to_owned())));
        };
        let before = self.workspace.library.page(&record.id).await?.filter(|page| page.url == url);
        if let Some(page) = &before
            && !again
            && page.failed.is_none()
            && is_recent(page.fetched_at, self.workspace.clock.now())
        {
            self.index_page(page).await?;
            return Ok(FetchOutcome::Same);
        }
        let validators = before
            .as_ref()
            .map(|page| Validators { etag: page.etag.clone(), last_modified: page.last_modified.clone() });
        let fetcher = self.providers.services().fetcher.clone();
        let answer = fetcher.get_if_changed(url, &validators.unwrap_or_default()).await;
        let now = self.workspace.clock.stamp();
        let answer = match answer {
            Ok(fetched) if fetched.is_success() || fetched.unchanged => Ok(fetched),
            Ok(fetched) => Err(unreadable(format!("the site returned {}", fetched.status))),
            Err(error) => Err(error.into()),
        };
        let empty = || Page {
            card: record.id.clone(),
            url: url.to_owned(),
            found: url.to_owned(),
            title: String::new(),
            hash: String::new(),
            etag: None,
            last_modified: None,
            fetched_at: now,
            failed: None,
            chunks: Vec::new(),
        };
        let fetched = match answer {
            Ok(fetched) => fetched,
            Err(error) => {
                let failed = Some(error.message.clone());
                let page = Page { fetched_at: now, failed, ..before.unwrap_or_else(empty) };
                self.workspace.library.put_page(&page, None).await?;
                return Ok(FetchOutcome::Failed(error));
            }
        };
        if fetched.unchanged
            && let Some(before) = before
        {
            let page = Page { fetched_at: now, failed: None, ..before };
            self.workspace.library.put_page(&page, None).await?;
            self.index_page(&page).await?;
            return Ok(FetchOutcome::Same);
        }
        let (found, content_type, text) = (fetched.url.clone(), fetched.content_type.clone(), fetched.text);
        let (title, pieces) = in_background(move || {
            let document = extract(&text, content_type.as_deref(), &found);
            let mut pieces: Vec<PageChunk> = chunks(&document, ChunkOptions::default())
                .into_iter()
                .map(|chunk| PageChunk { path: chunk.path, anchor: chunk.anchor, text: chunk.text })
                .collect();
            if pieces.len() > MAX_CHUNKS {
                tracing::warn!(url = %found, chunks = pieces.len(), kept = MAX_CHUNKS, "page truncated");
                pieces.truncate(MAX_CHUNKS);
            }
            Ok((document.title, pieces))
        })
        .await?;
        let hash = chunks_hash(&pieces);
        let same = before.as_ref().is_some_and(|page| page.hash == hash);
        let page = Page {
            found: fetched.url,
            title,
            hash,
            etag: fetched.validators.etag,
            last_modified: fetched.validators.last_modified,
            chunks: pieces,
            ..empty()
        };
        if same {
            self.workspace.library.put_page(&page, None).await?;
        } else {
            self.embed_page(&page).await?;
        }
        self.index_page(&page).await?;
        Ok(if same { FetchOutcome::Same } else { FetchOutcome::New })
    }

    /// Stores a page with the embeddings of its chunks.
    async fn embed_page(&self, page: &Page) -> Result<()> {
        let vectors = match self.models.embedder() {
            Some(embedder) if !page.chunks.is_empty() => {
                let (url, pieces) = (page.url.clone(), page.chunks.clone());
                Some(in_background(move || embed_page(&embedder, &url, &pieces)).await?)
            }
            _ => None,
        };
        self.workspace.library.put_page(page, vectors.as_ref()).await?;
        Ok(())
    }

    /// Updates the index with a page, embedding its chunks first if the current model has not done so.
    async fn index_page(&self, page: &Page) -> Result<()> {
        let Some(embedder) = self.models.embedder() else { return Ok(()) };
        let stored = self.workspace.library.page_vectors_of(embedder.id(), &page.card).await?;
        let values = match stored.filter(|vectors| vectors.hash == page.hash) {
            Some(vectors) => vectors.values,
            None if page.chunks.is_empty() => Vec::new(),
            None => {
                let (url, pieces) = (page.url.clone(), page.chunks.clone());
                let model = Arc::clone(&embedder);
                let vectors = in_background(move || embed_page(&model, &url, &pieces)).await?;
                self.workspace.library.put_page(page, Some(&vectors)).await?;
                vectors.values
            }
        };
        set_chunks(&self.models.searcher().index(), &page.card, &values, embedder.dim())
    }
}

fn unreadable(message: String) -> ApiError {
    ApiError::new(ErrorCode::Provider, message, "Check the URL of the page.")
}

fn is_recent(at: Timestamp, now: jiff::Timestamp) -> bool {
    now.duration_since(at.instant()).unsigned_abs() < REFETCH_AFTER
}

#[async_trait]
impl Handle<FetchPages> for Pages {
    async fn handle(&self, _: &Context, request: PagesFetch) -> Result<JobRef> {
        let cards = request
            .cards
            .iter()
            .map(|text| Ok(self.workspace.find_card(text)?.id.clone()))
            .collect::<Result<Vec<CardId>>>()?;
        let documented = |id: &CardId| {
            self.workspace.library.read(|replica| replica.get(id).is_some_and(|record| record.documented))
        };
        if !cards.is_empty() && !cards.iter().any(documented) {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                "the card has no documentation link",
                "Add its documentation link in the Library.",
            ));
        }
        Ok(self.start(cards, request.again))
    }
}

#[async_trait]
impl Handle<GetPage> for Pages {
    async fn handle(&self, _: &Context, request: CardRef) -> Result<CardPage> {
        let id = self.workspace.find_card(&request.card)?.id.clone();
        let page = self.workspace.library.page(&id).await?.map(|page| PageView {
            pieces: page.chunks.iter().map(|chunk| piece(&page.found, chunk)).collect(),
            url: page.found,
            title: page.title,
            fetched_at: page.fetched_at,
            failed: page.failed,
        });
        Ok(CardPage { page })
    }
}

/// Converts a chunk of the page at `url`.
pub(crate) fn piece(url: &str, chunk: &PageChunk) -> PagePiece {
    let url = match &chunk.anchor {
        Some(anchor) => format!("{url}#{anchor}"),
        None => url.to_owned(),
    };
    PagePiece { path: chunk.path.clone(), url, text: chunk.text.clone() }
}
