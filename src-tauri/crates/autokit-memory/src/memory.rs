//! Sources: adding, reading and removing them.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard};
use std::time::Duration;

use async_trait::async_trait;
use autokit_api::commands::{
    AddMemory, Context, Handle, ListMemory, RefreshMemory, RemoveMemory, SearchMemory,
};
use autokit_api::{
    JobId, JobKind, JobRef, JobState, MemoryAdd, MemoryFound, MemoryKind, MemoryListQuery, MemoryProblem,
    MemoryQuery, MemorySource, MemorySourceRef, MemorySources, Nothing,
};
use autokit_documents::Reader;
use autokit_embed::Embedder;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_workspace::background::in_background;
use autokit_workspace::jobs::Outcome;
use autokit_workspace::models::Models;
use autokit_workspace::providers::Providers;
use autokit_workspace::workspace::Workspace;
use futures_util::StreamExt;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use crate::files::{self, FileRead};
use crate::follower::Follower;
use crate::index::{MemoryIndex, windows_of};
use crate::rows::{self, Source, StoredFile, StoredVectors};
use crate::watch::Watcher;

/// Files read at a time.
const CONCURRENT: usize = 2;
/// Files stored in one transaction.
const BATCH: usize = 64;
/// Files whose texts are embedded together, and fewest texts worth a call of the model.
const EMBED_FILES: usize = 64;
const EMBED_TEXTS: usize = 128;
/// How long a wait for news of a job takes before it is asked again.
const JOB_POLL: Duration = Duration::from_secs(20);

/// Documents and code that people added. Clones share state.
#[derive(Clone)]
pub struct Memory(Arc<Inner>);

struct Inner {
    workspace: Workspace,
    models: Models,
    providers: Providers,
    reader: Reader,
    /// What the indexes hold; `None` until they are needed.
    loaded: tokio::sync::Mutex<Option<Loaded>>,
    documents: RwLock<MemoryIndex>,
    code: RwLock<MemoryIndex>,
    /// Held while sources are read or removed, one after another.
    reading: tokio::sync::Mutex<()>,
    watcher: Mutex<Option<Watcher>>,
    /// The latest job of each source.
    jobs: Mutex<HashMap<String, JobId>>,
    /// Stops reading a source again.
    again: Mutex<HashMap<String, CancellationToken>>,
}

/// The id of the model whose vectors the indexes hold.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Loaded(Option<String>);

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

impl Memory {
    /// Creates the memory of a library. `reader` reads documents.
    pub fn new(workspace: Workspace, models: Models, providers: Providers, reader: Reader) -> Memory {
        Memory(Arc::new(Inner {
            workspace,
            models,
            providers,
            reader,
            loaded: tokio::sync::Mutex::default(),
            documents: RwLock::default(),
            code: RwLock::default(),
            reading: tokio::sync::Mutex::default(),
            watcher: Mutex::default(),
            jobs: Mutex::default(),
            again: Mutex::default(),
        }))
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.0.workspace
    }

    pub(crate) fn models(&self) -> &Models {
        &self.0.models
    }

    pub(crate) fn lock(&self, kind: MemoryKind) -> &RwLock<MemoryIndex> {
        match kind {
            MemoryKind::Documents => &self.0.documents,
            MemoryKind::Code => &self.0.code,
        }
    }

    fn index(&self, kind: MemoryKind) -> RwLockReadGuard<'_, MemoryIndex> {
        self.lock(kind).read().expect("no holder panics")
    }

    fn change<T>(&self, kind: MemoryKind, change: impl FnOnce(&mut MemoryIndex) -> T) -> T {
        change(&mut self.lock(kind).write().expect("no holder panics"))
    }

    /// Keeps the sources up to date in a process that lives long: reads again what changed meanwhile, and watches for
    /// changes. Does nothing without sources.
    pub async fn refresh_and_watch(&self) {
        if let Err(error) = self.start_watching().await {
            tracing::error!(%error, "failed to watch documents and code");
        }
    }

    async fn start_watching(&self) -> Result<()> {
        let sources = self.sources().await?;
        if sources.is_empty() || self.0.workspace.library.read_only().is_some() {
            return Ok(());
        }
        for source in sources {
            self.watch(&source);
            self.read_again(source.id).await;
        }
        Ok(())
    }

    /// Reads a source again without a job, as after a change of one of its files. Stops when the source is removed and
    /// when the process ends.
    pub(crate) async fn read_again(&self, source: String) {
        let stop = {
            let mut again = self.0.again.lock().expect("no holder panics");
            let new = || self.0.workspace.stopping().child_token();
            again.entry(source.clone()).or_insert_with(new).clone()
        };
        let read = async {
            let Some(source) = self.sources().await?.into_iter().find(|known| known.id == source) else {
                return Ok(());
            };
            self.read_source(source, Follower::Nobody(&stop)).await.map(drop)
        };
        match read.await {
            Err(error) if error.code != ErrorCode::Cancelled => {
                tracing::warn!(%error, "failed to read documents or code again");
            }
            _ => {}
        }
    }

    fn watch(&self, source: &Source) {
        if files::is_address(&source.location) {
            return;
        }
        let mut watcher = self.0.watcher.lock().expect("no holder panics");
        if watcher.is_none() {
            match Watcher::new(&self.0, |inner, source| {
                let memory = Memory(inner);
                tokio::spawn(async move { memory.read_again(source).await });
            }) {
                Ok(new) => *watcher = Some(new),
                Err(error) => {
                    tracing::warn!(%error, "files cannot be watched");
                    return;
                }
            }
        }
        if let Some(watcher) = watcher.as_mut()
            && let Err(error) = watcher.watch(&source.id, &source.location)
        {
            tracing::warn!(%error, location = source.location, "not watched");
        }
    }

    pub(crate) async fn sources(&self) -> Result<Vec<Source>> {
        rows::sources(&self.0.workspace.library).await
    }

    async fn find_source(&self, text: &str) -> Result<Source> {
        let sources = self.sources().await?;
        let found = sources.iter().find(|source| source.id == text || source.location == text.trim());
        found.cloned().ok_or_else(|| {
            let message = format!("{text} is not a source");
            ApiError::new(ErrorCode::NotFound, message, "List the sources to see their locations.")
        })
    }

    /// Loads what is stored, with the vectors of the current model.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn load(&self) -> Result<()> {
        // Right after the start, vectors would be missing otherwise, although they are stored.
        self.0.models.wait_until_ready().await;
        let model = self.0.models.embedder();
        let wanted = Loaded(model.as_ref().map(|model| model.id().to_owned()));
        let mut loaded = self.0.loaded.lock().await;
        if loaded.as_ref() == Some(&wanted) {
            return Ok(());
        }
        let library = &self.0.workspace.library;
        let kinds: HashMap<String, MemoryKind> =
            self.sources().await?.into_iter().map(|source| (source.id, source.kind)).collect();
        let files = if kinds.is_empty() { Vec::new() } else { rows::files(library).await? };
        let vectors = match &wanted.0 {
            Some(model) if !files.is_empty() => rows::vectors(library, model).await?,
            _ => Vec::new(),
        };
        let built = in_background(move || {
            let mut both = [MemoryIndex::default(), MemoryIndex::default()];
            let vectors: HashMap<&str, &StoredVectors> =
                vectors.iter().map(|vectors| (vectors.file.as_str(), vectors)).collect();
            let (code, documents): (Vec<StoredFile>, Vec<StoredFile>) =
                files.into_iter().partition(|file| kinds.get(&file.source) == Some(&MemoryKind::Code));
            for (index, files) in both.iter_mut().zip([documents, code]) {
                index.put(&files);
                for file in &files {
                    if let Some(vectors) = vectors.get(file.id.as_str()) {
                        index.set_vectors(vectors, &windows_of(file))?;
                    }
                }
            }
            Ok(both)
        });
        let [documents, code] = built.await?;
        self.change(MemoryKind::Documents, |index| *index = documents);
        self.change(MemoryKind::Code, |index| *index = code);
        let had_another = loaded.as_ref().is_some_and(|loaded| loaded.0.is_some());
        *loaded = Some(wanted);
        let is_missing = |kind| !self.index(kind).without_vectors().is_empty();
        if had_another
            && model.is_some()
            && library.read_only().is_none()
            && (is_missing(MemoryKind::Documents) || is_missing(MemoryKind::Code))
        {
            self.start_embedding();
        }
        Ok(())
    }

    fn start(&self, source: Source) -> JobRef {
        let memory = self.clone();
        let (id, title) = (source.id.clone(), format!("Reading {}", source.location));
        let started = self.0.workspace.jobs.start(JobKind::Memory, &title, "files", |progress| async move {
            let summary = memory.read_source(source, Follower::Job(&progress)).await?;
            Ok(Outcome { summary, tally: None })
        });
        self.0.jobs.lock().expect("no holder panics").insert(id, started.job.clone());
        started
    }

    /// Embeds what has no vectors of the current model, as after another one was chosen.
    fn start_embedding(&self) {
        let memory = self.clone();
        let title = "Embedding documents and code";
        self.0.workspace.jobs.start(JobKind::Memory, title, "files", |progress| async move {
            let follower = Follower::Job(&progress);
            let _reading = follower.wait_for_turn(|| memory.0.reading.lock()).await?;
            for kind in [MemoryKind::Documents, MemoryKind::Code] {
                memory.embed(kind, follower).await?;
            }
            Ok(Outcome { summary: "Documents and code are found by meaning again".to_owned(), tally: None })
        });
    }

    /// Reads the files of a source that are new or changed, and forgets those that are gone; then embeds what was read.
    /// Returns what was done, in words.
    async fn read_source(&self, mut source: Source, follower: Follower<'_>) -> Result<String> {
        self.0.models.wait_until_ready().await;
        self.load().await?;
        let _reading = follower.wait_for_turn(|| self.0.reading.lock()).await?;
        let library = &self.0.workspace.library;
        let listed = {
            let source = source.clone();
            in_background(move || files::files_of(&source)).await
        };
        let paths = match listed {
            Ok(paths) => paths,
            Err(error) => {
                source.problem = Some(error.message.clone());
                rows::put_source(library, &source).await?;
                return Err(error);
            }
        };
        let read = self.read_files(&source, paths, follower).await?;
        self.embed(source.kind, follower).await?;
        source.read_at = Some(self.0.workspace.clock.stamp());
        source.problem = None;
        // It may have been removed meanwhile.
        if self.sources().await?.iter().any(|known| known.id == source.id) {
            rows::put_source(library, &source).await?;
        }
        match (read.failed, read.first_failure) {
            (failed, Some(reason)) if failed == read.total && failed == 1 => Err(ApiError::new(
                ErrorCode::UnreadableFile,
                reason,
                "Remove the source, or replace the file.",
            )),
            (0, _) | (_, None) => {
                Ok(format!("{} read, {} unchanged", count(read.new, "file"), read.unchanged))
            }
            (failed, Some(reason)) => Ok(format!(
                "{} read, {} unchanged, {failed} not readable (first: {reason})",
                count(read.new, "file"),
                read.unchanged
            )),
        }
    }

    async fn read_files(
        &self,
        source: &Source,
        paths: Vec<String>,
        follower: Follower<'_>,
    ) -> Result<ReadFiles> {
        let library = &self.0.workspace.library;
        // By path, what is known: id, hash, why it was not readable.
        let mut known: HashMap<String, KnownFile> = self
            .index(source.kind)
            .files
            .iter()
            .filter(|(_, entry)| entry.source == source.id)
            .map(|(id, entry)| (entry.path.clone(), (id.clone(), entry.hash.clone(), entry.problem.clone())))
            .collect();
        let total = paths.len() as u64;
        let mut counts = ReadFiles { total, ..ReadFiles::default() };
        follower.set_done(0, total);
        let fetcher = self.0.providers.services().fetcher.clone();
        let each = paths.into_iter().map(|path| {
            let before = known.remove(&path);
            let fetcher = fetcher.clone();
            async move {
                let (hash, problem) = before.map(|(_, hash, problem)| (hash, problem)).unzip();
                let read = files::read(source, path.clone(), hash, &self.0.reader, &fetcher).await;
                (path, problem.flatten(), read)
            }
        });
        let each: Vec<_> = each.collect();
        let gone: Vec<String> = known.into_values().map(|(id, ..)| id).collect();
        let mut reading = futures_util::stream::iter(each).buffer_unordered(CONCURRENT);
        let mut batch: Vec<StoredFile> = Vec::new();
        loop {
            let next = tokio::select! {
                next = reading.next() => next,
                () = follower.stopped() => return Err(ApiError::cancelled()),
            };
            let is_last = next.is_none();
            if let Some((path, problem, read)) = next {
                counts.done += 1;
                follower.set_done(counts.done, total);
                let file = match read {
                    FileRead::Unchanged => {
                        match problem {
                            Some(reason) => counts.add_failure(&path, &reason),
                            None => counts.unchanged += 1,
                        }
                        continue;
                    }
                    FileRead::Read { hash, title, content } => {
                        counts.new += 1;
                        StoredFile {
                            id: file_id(&source.id, &path),
                            source: source.id.clone(),
                            path,
                            hash,
                            title,
                            problem: None,
                            content,
                        }
                    }
                    FileRead::Failed { hash, reason } => {
                        counts.add_failure(&path, &reason);
                        StoredFile {
                            id: file_id(&source.id, &path),
                            source: source.id.clone(),
                            path,
                            hash,
                            title: String::new(),
                            problem: Some(reason),
                            content: crate::content::Content::Pieces(Vec::new()),
                        }
                    }
                };
                batch.push(file);
            }
            if batch.len() >= BATCH || is_last {
                let removed: &[String] = if is_last { &gone } else { &[] };
                if !(batch.is_empty() && removed.is_empty()) {
                    rows::put_files(library, &batch, removed).await?;
                    let files = std::mem::take(&mut batch);
                    let (memory, kind, removed) = (self.clone(), source.kind, removed.to_vec());
                    in_background(move || {
                        memory.change(kind, |index| {
                            index.put(&files);
                            for file in &removed {
                                index.remove(file);
                            }
                        });
                        Ok(())
                    })
                    .await?;
                }
            }
            if is_last {
                return Ok(counts);
            }
        }
    }

    /// Embeds all files of a kind that have no vectors of the current model. Without a model it does nothing: words are
    /// searched all the same.
    async fn embed(&self, kind: MemoryKind, follower: Follower<'_>) -> Result<()> {
        let Some(embedder) = self.0.models.embedder() else { return Ok(()) };
        let missing = self.index(kind).without_vectors();
        let total = missing.len() as u64;
        let mut done = 0;
        if total > 0 {
            follower.set_note("Embedding");
            follower.set_done(0, total);
        }
        let mut pending: Vec<StoredFile> = Vec::new();
        let chunks: Vec<&[String]> = missing.chunks(EMBED_FILES).collect();
        for (at, ids) in chunks.iter().enumerate() {
            pending.extend(rows::files_by_id(&self.0.workspace.library, ids).await?);
            let texts: usize = pending.iter().map(|file| file.content.len()).sum();
            if texts < EMBED_TEXTS && at + 1 < chunks.len() {
                continue;
            }
            // A file of many pieces is embedded alone, so that a stop loses little.
            while !pending.is_empty() {
                let mut taken = 0;
                let take = pending.iter().take_while(|file| {
                    let fits = taken == 0 || taken + file.content.len() <= 2 * EMBED_TEXTS;
                    taken += file.content.len();
                    fits
                });
                let take = take.count();
                let files: Vec<StoredFile> = pending.drain(..take).collect();
                done += files.len() as u64;
                self.embed_files(kind, &embedder, files).await?;
                follower.set_done(done, total);
                follower.check_stopped()?;
            }
        }
        Ok(())
    }

    async fn embed_files(
        &self,
        kind: MemoryKind,
        embedder: &Arc<Embedder>,
        files: Vec<StoredFile>,
    ) -> Result<()> {
        let model = Arc::clone(embedder);
        let made = in_background(move || {
            let texts: Vec<_> = files.iter().map(|file| file.content.texts(&file.id, &file.path)).collect();
            let windows: Vec<&str> = texts.iter().flatten().flat_map(|text| text.windows()).collect();
            let mut vectors = model.embed_passages(&windows)?.into_iter();
            let mut made = Vec::new();
            for (file, texts) in files.iter().zip(&texts) {
                let counts: Vec<usize> = texts.iter().map(|text| text.windows().len()).collect();
                let values = vectors.by_ref().take(counts.iter().sum()).flatten().collect();
                let (id, hash) = (file.id.clone(), file.hash.clone());
                let stored = StoredVectors { file: id, hash, dim: model.dim(), values };
                made.push((file.source.clone(), stored, counts));
            }
            Ok(made)
        });
        let made = made.await?;
        let stored: Vec<(String, StoredVectors)> =
            made.iter().map(|(source, vectors, _)| (source.clone(), vectors.clone())).collect();
        rows::put_vectors(&self.0.workspace.library, embedder.id(), &stored).await?;
        self.change(kind, |index| {
            made.iter().try_for_each(|(_, vectors, windows)| index.set_vectors(vectors, windows))
        })
    }

    async fn list(&self, query: MemoryListQuery) -> Result<MemorySources> {
        self.load().await?;
        let sources = self.sources().await?.into_iter();
        let sources = sources.filter(|source| query.kind.is_none_or(|kind| kind == source.kind));
        let sources = sources.map(|source| {
            let index = self.index(source.kind);
            let mut found = MemorySource {
                files: 0,
                passages: 0,
                embedded: 0,
                problems: Vec::new(),
                id: source.id,
                kind: source.kind,
                location: source.location,
                added_at: source.added_at,
                read_at: source.read_at,
                problem: source.problem,
            };
            for entry in index.files.values().filter(|entry| entry.source == found.id) {
                match &entry.problem {
                    Some(reason) => found
                        .problems
                        .push(MemoryProblem { file: entry.path.clone(), reason: reason.clone() }),
                    None => found.files += 1,
                }
                found.passages += entry.passages as u32;
                found.embedded += if entry.embedded { entry.passages as u32 } else { 0 };
            }
            found.problems.sort_by(|a, b| a.file.cmp(&b.file));
            found
        });
        Ok(MemorySources { sources: sources.collect() })
    }
}

/// What reading files gave.
#[derive(Debug, Default)]
struct ReadFiles {
    total: u64,
    done: u64,
    new: u64,
    unchanged: u64,
    failed: u64,
    first_failure: Option<String>,
}

impl ReadFiles {
    fn add_failure(&mut self, path: &str, reason: &str) {
        self.failed += 1;
        self.first_failure.get_or_insert_with(|| format!("{path}: {reason}"));
    }
}

/// What is known of a file: its id, its hash, and why it was not readable.
type KnownFile = (String, String, Option<String>);

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn short_hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hex::encode(&hash.finalize()[..10])
}

fn file_id(source: &str, path: &str) -> String {
    short_hash(&[source, path])
}

impl Memory {
    /// Adds documents and waits until they are read. Returns in words what was read; `cancel` stops reading.
    ///
    /// # Errors
    /// As [`AddMemory`], and when nothing could be read.
    pub async fn add_document(&self, location: &str, cancel: &CancellationToken) -> Result<String> {
        let request = MemoryAdd { kind: MemoryKind::Documents, location: location.to_owned() };
        let JobRef { job } = self.add(request).await?;
        let jobs = &self.0.workspace.jobs;
        let mut seen = 0;
        loop {
            let state = tokio::select! {
                state = jobs.wait(&job, seen, JOB_POLL) => state?,
                () = cancel.cancelled() => {
                    jobs.cancel(&job)?;
                    return Err(ApiError::cancelled());
                }
            };
            seen = state.version;
            match state.state {
                JobState::Running => {}
                JobState::Done => return Ok(state.summary.unwrap_or_default()),
                JobState::Failed | JobState::Cancelled => {
                    return Err(state.error.unwrap_or_else(ApiError::cancelled));
                }
            }
        }
    }

    async fn add(&self, request: MemoryAdd) -> Result<JobRef> {
        self.0.workspace.library.ensure_writable()?;
        let kind = request.kind;
        let location = in_background(move || files::checked_location(kind, &request.location)).await?;
        let known = self.sources().await?;
        let known = known.into_iter().find(|known| known.kind == kind && known.location == location);
        let source = if let Some(known) = known {
            known
        } else {
            let source = Source {
                id: short_hash(&[&format!("{kind:?}"), &location]),
                kind,
                location,
                added_at: self.0.workspace.clock.stamp(),
                read_at: None,
                problem: None,
            };
            rows::put_source(&self.0.workspace.library, &source).await?;
            source
        };
        self.watch(&source);
        Ok(self.start(source))
    }
}

#[async_trait]
impl Handle<AddMemory> for Memory {
    async fn handle(&self, _: &Context, request: MemoryAdd) -> Result<JobRef> {
        self.add(request).await
    }
}

#[async_trait]
impl Handle<RefreshMemory> for Memory {
    async fn handle(&self, _: &Context, request: MemorySourceRef) -> Result<JobRef> {
        self.0.workspace.library.ensure_writable()?;
        Ok(self.start(self.find_source(&request.source).await?))
    }
}

#[async_trait]
impl Handle<RemoveMemory> for Memory {
    async fn handle(&self, _: &Context, request: MemorySourceRef) -> Result<Nothing> {
        let source = self.find_source(&request.source).await?;
        if let Some(watcher) = self.0.watcher.lock().expect("no holder panics").as_mut() {
            watcher.stop(&source.id);
        }
        if let Some(job) = self.0.jobs.lock().expect("no holder panics").remove(&source.id)
            && let Err(error) = self.0.workspace.jobs.cancel(&job)
        {
            // It ended long ago.
            tracing::debug!(%error, "no job to stop");
        }
        if let Some(again) = self.0.again.lock().expect("no holder panics").remove(&source.id) {
            again.cancel();
        }
        let _reading = self.0.reading.lock().await;
        rows::remove_source(&self.0.workspace.library, &source.id).await?;
        self.change(source.kind, |index| index.remove_source(&source.id));
        Ok(Nothing {})
    }
}

#[async_trait]
impl Handle<ListMemory> for Memory {
    async fn handle(&self, _: &Context, request: MemoryListQuery) -> Result<MemorySources> {
        self.list(request).await
    }
}

#[async_trait]
impl Handle<SearchMemory> for Memory {
    async fn handle(&self, _: &Context, request: MemoryQuery) -> Result<MemoryFound> {
        self.search(request).await
    }
}
