//! Files in and out: preview, import in batches, export.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use autokit_library::{CardRecord, Meta, PutMode, Replica, Write};
use autokit_toolcard::{
    Author, Operation, ReadCards, ReadItem, Toolcard, diff_cards, read_cards, write_cards,
};

use crate::api::{
    ExistingCards, ExportOutcome, ExportRequest, ImportItem, ImportPreview, ImportPreviewRequest,
    ImportRequest, ImportSource, ItemStatus, JobKind, JobRef, JobTally, Nothing,
};
use crate::commands::{Context, Export, Handle, LoadStarter, PreviewImport, StartImport};
use crate::error::{ApiError, ErrorCode, Result};
use crate::jobs::{Outcome, Progress};

use super::catalogue::PAGE_ROWS;
use super::{Core, Engine};

/// Cards in one transaction: what a crash can lose of an import at most, and what is embedded
/// between two looks at the stop button.
pub const BATCH: usize = 100;

/// The source looked at last, so that scrolling through a preview does not read it again.
#[derive(Debug, Default)]
pub(crate) struct PreviewCache {
    key: Option<SourceKey>,
    read: Option<Arc<ReadCards>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct SourceKey {
    source: ImportSource,
    modified: Option<std::time::SystemTime>,
    bytes: u64,
}

impl SourceKey {
    fn of(source: &ImportSource) -> Result<SourceKey> {
        let (modified, bytes) = match source {
            ImportSource::Path(path) => {
                let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
                (metadata.modified().ok(), metadata.len())
            }
            ImportSource::Text(text) => (None, text.len() as u64),
        };
        Ok(SourceKey { source: source.clone(), modified, bytes })
    }
}

fn unreadable(path: &str, error: &dyn std::fmt::Display) -> ApiError {
    ApiError::new(
        ErrorCode::UnreadableFile,
        format!("{path}: {error}"),
        "Check the path and that the file is an AutoKit JSON array of cards.",
    )
}

fn read_source(source: &ImportSource) -> Result<ReadCards> {
    match source {
        ImportSource::Text(text) => {
            read_cards(text.as_bytes()).map_err(|error| unreadable("the pasted text", &error))
        }
        ImportSource::Path(path) => {
            let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
            if metadata.is_dir() {
                return Err(unreadable(path, &"is a folder"));
            }
            // Known before a byte is read: a huge file is refused at once.
            if metadata.len() > autokit_toolcard::MAX_FILE_BYTES {
                return Err(unreadable(path, &autokit_toolcard::ReadError::TooLarge));
            }
            let file = File::open(path).map_err(|error| unreadable(path, &error))?;
            read_cards(file).map_err(|error| unreadable(path, &error))
        }
    }
}

impl Core {
    async fn read_source(self: &Arc<Self>, source: ImportSource) -> Result<Arc<ReadCards>> {
        let core = Arc::clone(self);
        in_background(move || {
            let key = SourceKey::of(&source)?;
            {
                let cache = core.preview.lock().expect("no holder panics");
                if let (Some(known), Some(read)) = (&cache.key, &cache.read)
                    && *known == key
                {
                    return Ok(Arc::clone(read));
                }
            }
            let read = Arc::new(read_source(&source)?);
            *core.preview.lock().expect("no holder panics") =
                PreviewCache { key: Some(key), read: Some(Arc::clone(&read)) };
            Ok(read)
        })
        .await
    }

    pub(crate) fn start_starter(self: &Arc<Self>) -> JobRef {
        let core = Arc::clone(self);
        let meta = Meta {
            operation: Operation::Import,
            author: Author::autokit(),
            reason: "Loaded the starter cards".to_owned(),
            change: None,
            request: None,
        };
        self.jobs.start(JobKind::Starter, "Loading the starter cards", "cards", |progress| async move {
            let read = in_background(|| Ok(Arc::new(crate::starter::cards()?))).await?;
            core.import(read, ExistingCards::Keep, meta, progress).await
        })
    }

    /// Embeds and commits the cards batch after batch, all as one change.
    async fn import(
        self: &Arc<Self>,
        read: Arc<ReadCards>,
        existing: ExistingCards,
        mut meta: Meta,
        progress: Progress,
    ) -> Result<Outcome> {
        // Without this, cards imported while the model loads would have to be embedded later.
        self.model_settled().await;
        let total = read.cards.len();
        let mut tally = JobTally { rejected: read.rejected.len() as u32, ..JobTally::default() };
        let request = meta.request.take();
        progress.at(0, total as u64);
        for (index, batch) in read.cards.chunks(BATCH).enumerate() {
            progress.check()?;
            let todo: Vec<&ReadItem> = batch
                .iter()
                .filter(|item| self.library.read(|replica| !same_or_kept(replica, &item.card, existing)))
                .collect();
            tally.unchanged += (batch.len() - todo.len()) as u32;
            let cards: Vec<Toolcard> = todo.iter().map(|item| item.card.clone()).collect();
            let vectors = self.embed_cards(&cards).await?;
            let writes: Vec<Write> = cards
                .into_iter()
                .zip(vectors)
                .map(|(card, vectors)| Write::Put { card: Box::new(card), mode: PutMode::Upsert, vectors })
                .collect();
            meta.request = request.as_ref().map(|request| format!("{request}-{index}"));
            let committed = self.commit(&meta, &writes).await?;
            meta.change = meta.change.or(committed.change);
            tally.added += committed.added.len() as u32;
            tally.changed += committed.changed.len() as u32;
            tally.unchanged += committed.unchanged.len() as u32;
            progress.at(((index + 1) * BATCH).min(total) as u64, total as u64);
        }
        tally.change = meta.change;
        Ok(Outcome { summary: told(&tally), tally: Some(tally) })
    }
}

/// Whether a card of a file needs no write.
fn same_or_kept(replica: &Replica, card: &Toolcard, existing: ExistingCards) -> bool {
    replica
        .by_key(&card.key())
        .is_some_and(|record| existing == ExistingCards::Keep || *record.body == *card.to_json())
}

fn told(tally: &JobTally) -> String {
    let mut parts = Vec::new();
    for (count, what) in [
        (tally.added, "added"),
        (tally.changed, "changed"),
        (tally.unchanged, "unchanged"),
        (tally.rejected, "rejected"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    if parts.is_empty() { "No cards".to_owned() } else { parts.join(", ") }
}

impl Handle<PreviewImport> for Engine {
    async fn handle(&self, _: &Context, request: ImportPreviewRequest) -> Result<ImportPreview> {
        if request.limit > PAGE_ROWS {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{} items were asked for; one answer holds at most {PAGE_ROWS}", request.limit),
                "Ask for the next window with `offset`.",
            ));
        }
        let read = self.core.read_source(request.source).await?;
        let core = Arc::clone(&self.core);
        in_background(move || {
            let mut preview =
                ImportPreview { new: 0, changed: 0, identical: 0, invalid: 0, total: 0, items: Vec::new() };
            let wanted = |status: ItemStatus| request.status.is_none_or(|only| only == status);
            let window = request.offset..request.offset.saturating_add(request.limit);
            for entry in in_file_order(&read) {
                let (status, known) = core.library.read(|replica| status_of(replica, &entry));
                match status {
                    ItemStatus::New => preview.new += 1,
                    ItemStatus::Changed => preview.changed += 1,
                    ItemStatus::Identical => preview.identical += 1,
                    ItemStatus::Invalid => preview.invalid += 1,
                }
                if wanted(status) {
                    if window.contains(&preview.total) {
                        preview.items.push(item(&entry, status, known.as_deref()));
                    }
                    preview.total += 1;
                }
            }
            Ok(preview)
        })
        .await
    }
}

enum Entry<'a> {
    Card(&'a ReadItem),
    Rejected(&'a autokit_toolcard::Rejected),
}

fn in_file_order(read: &ReadCards) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = read.cards.iter().map(Entry::Card).collect();
    entries.extend(read.rejected.iter().map(Entry::Rejected));
    entries.sort_by_key(|entry| match entry {
        Entry::Card(item) => item.position,
        Entry::Rejected(rejected) => rejected.position,
    });
    entries
}

fn status_of(replica: &Replica, entry: &Entry<'_>) -> (ItemStatus, Option<Arc<CardRecord>>) {
    let Entry::Card(item) = entry else { return (ItemStatus::Invalid, None) };
    match replica.by_key(&item.card.key()) {
        None => (ItemStatus::New, None),
        Some(record) if *record.body == *item.card.to_json() => (ItemStatus::Identical, None),
        Some(record) => (ItemStatus::Changed, Some(Arc::clone(record))),
    }
}

fn item(entry: &Entry<'_>, status: ItemStatus, known: Option<&CardRecord>) -> ImportItem {
    match entry {
        Entry::Card(item) => ImportItem {
            position: item.position as u32,
            name: item.card.name().to_owned(),
            provider: item.card.key().provider,
            status,
            problems: item.warnings.clone(),
            diff: known
                .map(|record| diff_cards(record.card().object(), item.card.object()))
                .unwrap_or_default(),
        },
        Entry::Rejected(rejected) => ImportItem {
            position: rejected.position as u32,
            name: rejected.name.clone().unwrap_or_default(),
            provider: String::new(),
            status,
            problems: rejected.problems.clone(),
            diff: Vec::new(),
        },
    }
}

impl Handle<StartImport> for Engine {
    async fn handle(&self, context: &Context, request: ImportRequest) -> Result<JobRef> {
        let from = match &request.source {
            ImportSource::Path(path) => {
                Path::new(path).file_name().map_or(path.clone(), |name| name.to_string_lossy().into_owned())
            }
            ImportSource::Text(_) => "pasted text".to_owned(),
        };
        let read = self.core.read_source(request.source).await?;
        let reason =
            if request.reason.trim().is_empty() { format!("Imported {from}") } else { request.reason };
        let meta = Meta {
            operation: Operation::Import,
            author: Author(context.author.clone()),
            reason,
            change: None,
            request: context.request.clone(),
        };
        let core = Arc::clone(&self.core);
        let existing = request.existing;
        let title = format!("Importing {from}");
        Ok(self.core.jobs.start(JobKind::Import, &title, "cards", |progress| async move {
            core.import(read, existing, meta, progress).await
        }))
    }
}

impl Handle<LoadStarter> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<JobRef> {
        Ok(self.core.start_starter())
    }
}

impl Handle<Export> for Engine {
    async fn handle(&self, _: &Context, request: ExportRequest) -> Result<ExportOutcome> {
        let records: Vec<Arc<CardRecord>> = match &request.cards {
            Some(cards) => cards.iter().map(|card| self.core.find(card)).collect::<Result<_>>()?,
            None => self.core.select(&request.query).to_vec(),
        };
        in_background(move || {
            let cards: Vec<Toolcard> = records.iter().map(|record| record.card()).collect();
            let count = cards.len() as u32;
            let Some(path) = request.path else {
                let mut text = Vec::new();
                write_cards(&mut text, &cards).map_err(|error| ApiError::internal(error.to_string()))?;
                let text = String::from_utf8(text).map_err(|error| ApiError::internal(error.to_string()))?;
                return Ok(ExportOutcome { cards: count, path: None, text: Some(text) });
            };
            write_file(Path::new(&path), &cards)?;
            Ok(ExportOutcome { cards: count, path: Some(path), text: None })
        })
        .await
    }
}

/// Writes next to the target first, so that a failure leaves an older export as it was.
fn write_file(path: &Path, cards: &[Toolcard]) -> Result<()> {
    let failed = |error: std::io::Error| {
        let code = match error.kind() {
            std::io::ErrorKind::StorageFull => ErrorCode::DiskFull,
            // Nothing is wrong with the library: the place was named by the person.
            _ => ErrorCode::BadRequest,
        };
        ApiError::new(code, format!("{}: {error}", path.display()), "Choose another place to write to.")
    };
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = Path::new(&partial);
    let written = File::create(partial).and_then(|file| {
        let mut out = BufWriter::new(file);
        write_cards(&mut out, cards)?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
    });
    match written.and_then(|()| fs::rename(partial, path)) {
        Ok(()) => Ok(()),
        Err(error) => {
            // The error that matters is the first one.
            let _ = fs::remove_file(partial);
            Err(failed(error))
        }
    }
}

/// Runs what blocks or computes on a thread for that.
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(broken) => Err(ApiError::internal(format!("the work broke off: {broken}"))),
    }
}
