//! The commands, and which libraries take part.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use autokit_api::commands::{
    Ask, Context, GetStatus, Handle, ListLibraries, SearchLibraries, SetLibrarySearched,
};
use autokit_api::{
    AskRequest, LibrariesFound, LibrariesQuery, LibraryEntry, LibraryHit, LibraryKind, LibraryOutcome,
    LibrarySet, MarketKind, MarketSource, Nothing, Setting, Verdict,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_features::market::Market;
use autokit_membership::folder;
use autokit_membership::others::OtherLibraries;
use autokit_search::{Scored, merge};
use autokit_workspace::elapsed::ms_since;
use autokit_workspace::search::Search;
use autokit_workspace::workspace::{CachedSetting, Workspace};
use futures_util::future::join_all;
use tokio::sync::Mutex;

use crate::answers::{Answered, of_library, of_market};
use crate::gather::{Question, gather};

/// How long others than the open library are waited for.
const WAIT: Duration = Duration::from_millis(300);
/// How long opening the libraries on this machine may take.
const OPENING: Duration = Duration::from_secs(10);
/// Longest that a caller can wait for them.
const MAX_WAIT: Duration = Duration::from_secs(30);
const DEFAULT_RESULTS: u32 = 10;
const MAX_RESULTS: u32 = 50;
const PERSONAL: &str = "personal";

/// Whether searches of all libraries include a library, by its id, where a person said so.
type Choices = BTreeMap<String, bool>;

/// Searches several libraries at once. Clones share state.
#[derive(Clone, Debug)]
pub struct Federation {
    workspace: Workspace,
    search: Search,
    market: Market,
    others: Arc<dyn OtherLibraries>,
    choices: Arc<CachedSetting<Choices>>,
    /// Serializes writes to the choices.
    writing: Arc<Mutex<()>>,
}

/// A library that can take part.
#[derive(Debug)]
struct Library {
    entry: LibraryEntry,
    place: Place,
}

/// Where a library is.
#[derive(Debug)]
enum Place {
    /// It is the one that is open.
    Here,
    Folder(PathBuf),
    /// What says which team a folder belongs to cannot be read.
    Damaged(ApiError),
    Web(MarketSource),
}

impl Federation {
    /// Searches the open library with `search`, others on this machine with `others`, and the sources of `market`.
    pub fn new(
        workspace: Workspace,
        search: Search,
        market: Market,
        others: Arc<dyn OtherLibraries>,
    ) -> Federation {
        let choices = Arc::new(CachedSetting::new(Setting::Libraries));
        Federation { workspace, search, market, others, choices, writing: Arc::default() }
    }

    /// Closes the other libraries that this process has open.
    pub async fn close(&self) {
        self.others.close_all().await;
    }

    /// Returns the libraries that can take part, the open one first.
    async fn libraries(&self) -> Result<Vec<Library>> {
        let choices = self.choices.read(&self.workspace).await?;
        let mut libraries = Vec::new();
        let mut add = |id: String, kind: LibraryKind, name: String, place: Place| {
            let open = matches!(place, Place::Here);
            // What is on the web is asked only once a person said so.
            let by_default = matches!(kind, LibraryKind::Personal | LibraryKind::Team);
            let searched = open || choices.get(&id).copied().unwrap_or(by_default);
            libraries.push(Library { entry: LibraryEntry { id, kind, name, open, searched }, place });
        };
        let root = self.workspace.library.dir().map(|dir| dir.root().to_owned());
        let place = |folder: &Path| match &root {
            Some(root) if root == folder => Place::Here,
            _ => Place::Folder(folder.to_owned()),
        };
        match &root {
            Some(root) => {
                let personal = folder::personal(root);
                // One that was never opened has no cards, and still is to be offered the starter cards.
                if personal == root.as_path() || folder::has_library(personal) {
                    add(PERSONAL.to_owned(), LibraryKind::Personal, String::new(), place(personal));
                }
                for (id, team) in folder::list(root)? {
                    let (name, place) = match team {
                        Ok(team) => (team.name, place(&folder::of_team(root, &id))),
                        Err(error) => (id.clone(), Place::Damaged(error)),
                    };
                    add(format!("team:{id}"), LibraryKind::Team, name, place);
                }
            }
            None => add(PERSONAL.to_owned(), LibraryKind::Personal, String::new(), Place::Here),
        }
        for source in self.market.sources().await? {
            let kind = match source.kind {
                MarketKind::Bundle => LibraryKind::Bundle,
                MarketKind::Registry => LibraryKind::Registry,
            };
            add(format!("market:{}", source.id), kind, source.url.clone(), Place::Web(source));
        }
        libraries.sort_by_key(|library| !library.entry.open);
        Ok(libraries)
    }

    async fn entries(&self) -> Result<Vec<LibraryEntry>> {
        Ok(self.libraries().await?.into_iter().map(|library| library.entry).collect())
    }

    fn question<'a>(
        &'a self,
        context: &'a Context,
        library: &'a Library,
        request: AskRequest,
        wait: Duration,
    ) -> Question<'a, Answered> {
        let id = library.entry.id.as_str();
        Box::pin(async move {
            Ok(match &library.place {
                Place::Here => of_library(id, Handle::<Ask>::handle(&self.search, context, request).await?),
                Place::Folder(folder) => {
                    let library = self.others.open(folder).await?;
                    if let Some(damage) = library.call::<GetStatus>(Nothing {}).await?.damage {
                        let remedy = "Open this library, and restore its newest good backup.";
                        return Err(ApiError::new(
                            ErrorCode::Damaged,
                            format!("it is damaged: {damage}"),
                            remedy,
                        ));
                    }
                    of_library(id, library.call::<Ask>(request).await?)
                }
                Place::Damaged(error) => return Err(error.clone()),
                Place::Web(source) => {
                    let limit = request.limit.unwrap_or(DEFAULT_RESULTS) as usize;
                    of_market(
                        id,
                        self.market.offers_scored_as_cards(source, &request.question, wait, limit).await?,
                    )
                }
            })
        })
    }
}

/// Compares hits by the share of the query that they match where none was compared by meaning: what a word is worth differs
/// from library to library.
fn compare_by_words(answers: &mut [Vec<Scored<LibraryHit>>]) {
    let is_by_meaning =
        |hit: &Scored<LibraryHit>| hit.item.parts.as_ref().is_some_and(|parts| parts.cosine.is_some());
    if answers.iter().flatten().any(is_by_meaning) {
        return;
    }
    for hit in answers.iter_mut().flatten() {
        if let Some(parts) = &hit.item.parts {
            hit.score = parts.coverage + parts.name;
        }
    }
}

fn with_remedy(error: &ApiError) -> String {
    let remedy = error.remedy.trim();
    if remedy.is_empty() { error.message.clone() } else { format!("{}. {remedy}", error.message) }
}

fn bad_request(message: String, remedy: &str) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, message, remedy)
}

#[async_trait]
impl Handle<ListLibraries> for Federation {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<LibraryEntry>> {
        self.entries().await
    }
}

#[async_trait]
impl Handle<SetLibrarySearched> for Federation {
    async fn handle(&self, _: &Context, request: LibrarySet) -> Result<Vec<LibraryEntry>> {
        let _writing = self.writing.lock().await;
        let entries = self.entries().await?;
        // As the list of teams or registries has it.
        let ending = format!(":{}", request.id);
        let is_meant = |entry: &&LibraryEntry| entry.id == request.id || entry.id.ends_with(&ending);
        let Some(entry) = entries.iter().find(is_meant) else {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                format!("library {:?} not found", request.id),
                "Check the list of libraries.",
            ));
        };
        if entry.open && !request.searched {
            let message = "the open library is always searched".to_owned();
            return Err(bad_request(message, "Open another library to leave this one out."));
        }
        let mut choices = Choices::clone(&*self.choices.read(&self.workspace).await?);
        // Of libraries that are gone, nothing is kept.
        choices.retain(|id, _| entries.iter().any(|entry| entry.id == *id));
        choices.insert(entry.id.clone(), request.searched);
        self.choices.write(&self.workspace, choices).await?;
        self.entries().await
    }
}

#[async_trait]
impl Handle<SearchLibraries> for Federation {
    async fn handle(&self, context: &Context, request: LibrariesQuery) -> Result<LibrariesFound> {
        let began = Instant::now();
        let limit = request.limit.unwrap_or(DEFAULT_RESULTS);
        if !(1..=MAX_RESULTS).contains(&limit) {
            let message = format!("{limit} results requested, but a search returns 1 to {MAX_RESULTS}");
            return Err(bad_request(message, "Request fewer."));
        }
        let wait = request.wait_ms.map_or(WAIT, |wait| Duration::from_millis(u64::from(wait)));
        if wait > MAX_WAIT {
            let message = format!(
                "a wait of {} ms, but at most {} s are allowed",
                wait.as_millis(),
                MAX_WAIT.as_secs()
            );
            return Err(bad_request(message, "Wait for less."));
        }
        let local = request.local.unwrap_or_default();
        let mut libraries = self.libraries().await?;
        libraries.retain(|library| {
            library.entry.searched && !(local && library.entry.kind == LibraryKind::Registry)
        });
        if request.wait_until_open.unwrap_or_default() {
            // Those of other processes answer as fast as they can.
            let opening = libraries.iter().filter_map(|library| match &library.place {
                Place::Folder(folder) if !self.others.is_open(folder) => Some(self.others.open(folder)),
                _ => None,
            });
            // Whatever is in the way is told with the answer.
            let _ = tokio::time::timeout(OPENING, join_all(opening)).await;
        }
        let ask = AskRequest { question: request.query.clone(), limit: Some(limit), exclude: Vec::new() };
        let mut questions: Vec<_> =
            libraries.iter().map(|library| self.question(context, library, ask.clone(), wait)).collect();
        if questions.is_empty() {
            return Err(ApiError::internal("the open library is always searched"));
        }
        let open = questions.remove(0);
        let gathered = gather(open, questions, Box::pin(tokio::time::sleep(wait))).await;
        let (mut answers, mut outcomes, mut verdicts) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (library, gathered) in libraries.iter().zip(gathered) {
            // As for a search of this library alone, such as of an empty query.
            if let (true, Some(error)) = (library.entry.open, &gathered.error) {
                return Err(error.clone());
            }
            let answer = gathered.answer.unwrap_or(Answered { hits: Vec::new(), verdict: Verdict::Nothing });
            outcomes.push(LibraryOutcome {
                library: library.entry.clone(),
                state: gathered.state,
                error: gathered.error.map(|error| with_remedy(&error)),
                found: answer.hits.len() as u32,
                took_ms: gathered.took.as_secs_f64() * 1_000.0,
            });
            verdicts.insert(library.entry.id.as_str(), answer.verdict);
            answers.push(answer.hits);
        }
        compare_by_words(&mut answers);
        let results = merge(answers, limit as usize);
        let verdict = results.first().and_then(|first| verdicts.get(first.library.as_str()).copied());
        Ok(LibrariesFound {
            query: request.query,
            verdict: verdict.unwrap_or(Verdict::Nothing),
            results,
            libraries: outcomes,
            took_ms: ms_since(began),
        })
    }
}
