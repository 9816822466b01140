//! Opening a library: in memory, in a directory this process owns, or as a read-only copy.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Instant;

use autokit_commit_log::{Head, HeadFile};
use autokit_store::{DataDir, Database, Ownership, ReadOnlyReason, StoreError};
use autokit_toolcard::Clock;

use crate::error::{LibraryError, Result};
use crate::migrate;
use crate::restore::finish_restore;
use crate::store::{Library, Storage};

impl Library {
    /// Opens a library, migrating an older one, and loads its cards into memory.
    ///
    /// # Errors
    /// [`LibraryError::NewerSchema`] for a store of a later version, which is left untouched;
    /// [`LibraryError::Store`] when the directory
    /// cannot be used.
    pub async fn open(storage: Storage, clock: Clock) -> Result<Library> {
        let root = storage.root().map(Path::to_owned);
        // The database panics on some kinds of damage.
        match tokio::spawn(Library::open_storage(storage, clock)).await {
            Ok(opened) => opened,
            Err(broken) => Err(StoreError::Damaged {
                path: root.unwrap_or_default(),
                reason: format!("the database failed while opening: {broken}"),
            }
            .into()),
        }
    }

    async fn open_storage(storage: Storage, clock: Clock) -> Result<Library> {
        match storage {
            Storage::Memory => {
                let database = Database::in_memory().await?;
                Library::start(database, None, None, clock, None).await
            }
            Storage::Disk(owned) => {
                let dir = owned.dir().clone();
                finish_restore(&dir)?;
                let on_disk = migrate::version_on_disk(&dir)?;
                let migrated_from = migrate::back_up_before_migration(&dir, on_disk, clock.stamp())?;
                let (mut head, head_found) = HeadFile::open(&dir.head_file())?;
                // A library from before the head existed has no head to miss.
                let head_missing =
                    !head_found && on_disk.is_some_and(|version| version >= migrate::WITH_HEAD);
                let known = head_found.then(|| head.get().clone());
                if head_missing {
                    head.update(|head| head.missing_since = Some(clock.stamp()))?;
                }
                let database = Database::on_disk(&dir, head).await?;
                let opened = async {
                    let library = Library::start(database, Some(owned), known, clock, migrated_from);
                    let library = Box::pin(library).await?;
                    migrate::write_version(&dir)?;
                    Ok(library)
                };
                opened.await.map_err(|error| match error {
                    LibraryError::Store(StoreError::Database(reason)) => {
                        StoreError::Damaged { path: dir.root().to_owned(), reason }.into()
                    }
                    sorted => sorted,
                })
            }
        }
    }

    /// Opens a copy of a library whose directory cannot be written. Everything can be read, nothing changed.
    /// The caller makes sure that no process owns the store.
    ///
    /// # Errors
    /// As [`Library::open`].
    pub async fn open_read_only(dir: &DataDir, full: bool, clock: Clock) -> Result<Library> {
        migrate::version_on_disk(dir)?;
        let known = HeadFile::peek(&dir.head_file());
        let database = Database::copy_of(dir).await?;
        let mut library = Box::pin(Library::start(database, None, known, clock, None)).await?;
        library.dir = Some(dir.clone());
        library.database.refuse_writes(ReadOnlyReason { root: dir.root().to_owned(), full });
        Ok(library)
    }

    /// Opens a library over a database that already holds one.
    pub(crate) async fn from_database(database: Database, clock: Clock) -> Result<Library> {
        Box::pin(Library::start(database, None, None, clock, None)).await
    }

    async fn start(
        database: Database,
        ownership: Option<Ownership>,
        head: Option<Head>,
        clock: Clock,
        migrated_from: Option<PathBuf>,
    ) -> Result<Library> {
        let dir = ownership.as_ref().map(|owned| owned.dir().clone());
        let path = dir.as_ref().map_or(Path::new("memory"), DataDir::root).to_owned();
        let library = Library {
            database,
            dir,
            ownership: Mutex::new(ownership),
            clock,
            replica: Arc::default(),
            writer: tokio::sync::Mutex::default(),
            tip: Mutex::default(),
            snapshots: OnceLock::new(),
            queue: RwLock::default(),
            queue_stale: AtomicBool::new(false),
            cards_behind: AtomicBool::new(false),
            redo_uncertain: AtomicBool::new(false),
            event_count: AtomicU32::new(0),
            checks: tokio::sync::RwLock::default(),
            checks_version: AtomicU64::new(0),
            problems: Mutex::default(),
            check_duration: Mutex::default(),
            verified: Mutex::default(),
            migrated_from,
            observer: OnceLock::new(),
        };
        match library.read_store(&path, head.as_ref()).await {
            Ok(()) => Ok(library),
            Err(error) => {
                if let Err(cleanup) = library.close().await {
                    tracing::warn!(error = %cleanup, "failed to close a library that failed to open");
                }
                Err(error)
            }
        }
    }

    /// Brings the store up to date and loads it into memory.
    async fn read_store(&self, path: &Path, head: Option<&Head>) -> Result<()> {
        self.find_snapshots(head);
        let db = self.db().await?;
        migrate::migrate(&db, path).await?;
        drop(db);
        self.finish_redo().await?;
        self.delete_staged().await?;
        self.load().await?;
        let started = Instant::now();
        let found = self.check_head(head).await?;
        *self.check_duration.lock().expect("no holder panics") = started.elapsed();
        *self.problems.lock().expect("no holder panics") = found;
        // Boxed, because opening is part of many larger futures.
        Box::pin(self.load_queue()).await
    }
}
