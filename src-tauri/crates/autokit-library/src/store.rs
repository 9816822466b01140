//! Opening and closing the store, and reading it into the replica.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, RwLock};

use autokit_toolcard::{CardId, Toolcard};
use jiff::Timestamp;
use surrealdb::Surreal;
use surrealdb::engine::local::Db;
use surrealdb::types::{RecordId, SurrealValue, object};
use surrealdb_cnf::ConfigMap;
use surrealdb_engine_local::Datastore;

use crate::data_dir::{DataDir, Ownership};
use crate::error::{LibraryError, Result};
use crate::health::Checks;
use crate::migrate;
use crate::proposals::Queue;
use crate::replica::{CardRecord, Replica};
use crate::rows::{CardRow, TombstoneRow, key_text};

/// Where the time comes from, so that tests decide it.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The system's clock.
    pub fn system() -> Clock {
        Clock(Arc::new(Timestamp::now))
    }

    /// A clock that always says what `now` says.
    pub fn from_fn(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    /// The present moment.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }

    /// The present moment as RFC 3339 in UTC, to the millisecond.
    pub fn stamp(&self) -> String {
        stamp(self.now())
    }
}

/// A moment as RFC 3339 in UTC, to the millisecond.
pub fn stamp(at: Timestamp) -> String {
    // Always three digits: stamps are compared as text.
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// Where a library lives.
#[derive(Debug)]
pub enum Place {
    /// In memory, gone when dropped.
    Memory,
    /// In a data directory this process owns.
    Disk(Ownership),
}

/// An open library.
pub struct Library {
    db: Surreal<Db>,
    datastore: Arc<Datastore>,
    dir: Option<DataDir>,
    /// Held until the store is closed.
    ownership: Mutex<Option<Ownership>>,
    pub(crate) clock: Clock,
    pub(crate) replica: RwLock<Replica>,
    /// Writers take turns; readers use the replica and never wait for one.
    pub(crate) writer: tokio::sync::Mutex<()>,
    /// Transactions take turns.
    executing: tokio::sync::Mutex<()>,
    /// The proposals that wait.
    pub(crate) queue: RwLock<Queue>,
    /// Whether the queue may have fallen behind the store.
    pub(crate) queue_in_doubt: AtomicBool,
    /// Whether a large change may be half made.
    pub(crate) redo_in_doubt: AtomicBool,
    /// Steps told of proposals since the store was opened.
    pub(crate) steps: AtomicU32,
    /// What checking each card found, once somebody asked.
    pub(crate) checks: tokio::sync::RwLock<Option<Checks>>,
    pub(crate) checks_version: AtomicU64,
    migrated_from: Option<PathBuf>,
    /// An import was cut off and is forgotten.
    cut_off: bool,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl Library {
    /// Opens a library, migrating it if it is older, and reads the cards into memory.
    ///
    /// # Errors
    /// [`LibraryError::NewerSchema`] for a store of a later version, which is left untouched;
    /// [`LibraryError::ReadOnly`], [`LibraryError::DiskFull`] or [`LibraryError::Damaged`] when the
    /// directory does not serve.
    pub async fn open(place: Place, clock: Clock) -> Result<Library> {
        let mut migrated_from = None;
        let address = match &place {
            Place::Memory => "memory".to_owned(),
            Place::Disk(owned) => {
                let dir = owned.dir();
                let on_disk = migrate::version_on_disk(dir)?;
                migrated_from = migrate::back_up_before_migration(dir, on_disk, &clock.stamp())?;
                let store =
                    std::path::absolute(dir.store()).map_err(|error| LibraryError::io(dir.root(), error))?;
                std::fs::create_dir_all(&store).map_err(|error| LibraryError::io(dir.root(), error))?;
                check_writable(&store)?;
                let Some(store) = store.to_str().filter(|text| !text.contains('?')) else {
                    return Err(LibraryError::Damaged {
                        path: dir.root().to_owned(),
                        reason: "the database cannot use a path with `?` or bytes that are not UTF-8"
                            .to_owned(),
                    });
                };
                // Every commit is synced: an acknowledged change survives a power cut.
                format!("surrealkv://{store}?sync=every")
            }
        };
        let path = place.root().map(Path::to_owned);
        let damaged = |error: &dyn fmt::Display| match LibraryError::database(path.as_deref(), error) {
            LibraryError::Database(reason) => {
                LibraryError::Damaged { path: path.clone().unwrap_or_default(), reason }
            }
            sorted => sorted,
        };
        let (datastore, db) = connect(&address).await.map_err(|error| damaged(&error))?;
        migrate::migrate(&db, path.as_deref().unwrap_or(Path::new("memory"))).await?;
        if let Place::Disk(owned) = &place {
            migrate::write_version(owned.dir())?;
        }
        let (dir, ownership) = match place {
            Place::Memory => (None, None),
            Place::Disk(owned) => (Some(owned.dir().clone()), Some(owned)),
        };
        let mut library = Library {
            db,
            datastore,
            dir,
            ownership: Mutex::new(ownership),
            clock,
            replica: RwLock::default(),
            writer: tokio::sync::Mutex::default(),
            executing: tokio::sync::Mutex::default(),
            queue: RwLock::default(),
            queue_in_doubt: AtomicBool::new(false),
            redo_in_doubt: AtomicBool::new(false),
            steps: AtomicU32::new(0),
            checks: tokio::sync::RwLock::default(),
            checks_version: AtomicU64::new(0),
            migrated_from,
            cut_off: false,
        };
        library.settle_redo().await?;
        library.cut_off = library.forget_staged().await?;
        library.load().await?;
        // On the heap: opening is a part of much that waits for other things.
        Box::pin(library.load_queue()).await?;
        Ok(library)
    }

    /// The backup made before this opening migrated the store, if it did.
    pub fn migrated_from(&self) -> Option<&Path> {
        self.migrated_from.as_deref()
    }

    /// Whether an import was cut off before this opening, and forgotten by it.
    pub fn cut_off(&self) -> bool {
        self.cut_off
    }

    /// The data directory; `None` in memory.
    pub fn dir(&self) -> Option<&DataDir> {
        self.dir.as_ref()
    }

    /// Looks at the cards in memory. Writers wait while `look` runs, so keep it short.
    ///
    /// # Panics
    /// When an earlier holder of the lock panicked.
    pub fn read<T>(&self, look: impl FnOnce(&Replica) -> T) -> T {
        look(&self.replica.read().expect("no reader panics"))
    }

    /// The card with this id.
    ///
    /// # Errors
    /// [`LibraryError::NoCard`].
    pub fn card(&self, id: &CardId) -> Result<Arc<CardRecord>> {
        self.read(|replica| replica.get(id).cloned()).ok_or_else(|| LibraryError::NoCard(id.to_string()))
    }

    /// Closes the store: everything is flushed and another process may open it when this returns.
    /// Nothing can be read from the database or written afterwards.
    ///
    /// # Errors
    /// When the database cannot be flushed; it is given up all the same.
    pub async fn close(&self) -> Result<()> {
        let flushed = self.datastore.shutdown().await;
        self.ownership.lock().expect("no holder panics").take();
        flushed.map_err(|error| LibraryError::Database(error.to_string()))
    }

    pub(crate) fn db(&self) -> &Surreal<Db> {
        &self.db
    }

    fn root(&self) -> Option<&Path> {
        self.dir.as_ref().map(DataDir::root)
    }

    pub(crate) fn failed(&self, error: &dyn fmt::Display) -> LibraryError {
        LibraryError::database(self.root(), error)
    }

    /// Runs statements that give nothing back, one such call after the other: the database is
    /// optimistic, and of two transactions that write one row at a time it would fail one.
    pub(crate) async fn execute(&self, query: &str, variables: surrealdb::types::Object) -> Result<()> {
        let _turn = self.executing.lock().await;
        let response = self.db.query(query).bind(variables).await;
        let mut response = response.map_err(|error| self.failed(&error))?;
        let errors = response.take_errors();
        // When a transaction fails, every statement of it says only that; one says why.
        let told: Vec<String> = errors.into_values().map(|error| error.to_string()).collect();
        let echo =
            |text: &&String| !text.contains("failed transaction") && !text.contains("due to a prior error");
        let why = told.iter().find(echo).or(told.first());
        why.map_or(Ok(()), |why| Err(self.failed(why)))
    }

    /// The rows with these ids, as far as they are there.
    pub(crate) async fn rows_by_id<T: SurrealValue>(&self, ids: Vec<RecordId>) -> Result<Vec<T>> {
        let response = self.db.query("SELECT * FROM $ids").bind(("ids", ids)).await;
        let mut response = response.map_err(|error| self.failed(&error))?;
        response.take(0).map_err(|error| self.failed(&error))
    }

    /// A setting kept in the library.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn setting(&self, name: &str) -> Result<Option<String>> {
        let mut response = self
            .db
            .query("SELECT VALUE value FROM ONLY type::record('setting', $name)")
            .bind(("name", name.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        response.take(0).map_err(|error| self.failed(&error))
    }

    /// Keeps a setting.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_setting(&self, name: &str, value: &str) -> Result<()> {
        self.execute(
            "UPSERT type::record('setting', $name) SET value = $value RETURN NONE",
            object! { name: name.to_owned(), value: value.to_owned() },
        )
        .await
    }

    async fn load(&self) -> Result<()> {
        let mut response = self
            .db
            .query("SELECT * FROM card; SELECT * FROM tombstone;")
            .await
            .map_err(|error| self.failed(&error))?;
        let cards: Vec<CardRow> = response.take(0).map_err(|error| self.failed(&error))?;
        let tombstones: Vec<TombstoneRow> = response.take(1).map_err(|error| self.failed(&error))?;
        let newest = self.newest_revision().await?;
        let mut replica = Replica::default();
        replica.cards.reserve(cards.len());
        replica.by_key.reserve(cards.len());
        for row in cards {
            replica.put(self.record(row)?);
        }
        for row in tombstones {
            replica.deleted.insert(CardId::new(key_text(&row.id)), (row.number as u32, row.created_at));
        }
        replica.cursor = newest;
        *self.replica.write().expect("no reader panics") = replica;
        Ok(())
    }

    /// The sequence number of the newest revision; 0 when there is none.
    pub(crate) async fn newest_revision(&self) -> Result<u64> {
        #[derive(SurrealValue)]
        #[surreal(crate = "surrealdb::types")]
        struct Newest {
            id: RecordId,
        }
        let mut response = self
            .db
            .query("SELECT id FROM revision ORDER BY id DESC LIMIT 1")
            .await
            .map_err(|error| self.failed(&error))?;
        let newest: Vec<Newest> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(newest.first().and_then(|row| key_text(&row.id).parse().ok()).unwrap_or(0))
    }

    pub(crate) fn record(&self, row: CardRow) -> Result<CardRecord> {
        let id = CardId::new(key_text(&row.id));
        let card = Toolcard::from_json(&row.body).map_err(|problems| LibraryError::Damaged {
            path: self.root().map(Path::to_owned).unwrap_or_default(),
            reason: format!("card {id}: {}", problems.first().map(ToString::to_string).unwrap_or_default()),
        })?;
        Ok(CardRecord::new(id, &card, row.body, row.number as u32, row.created_at, row.updated_at))
    }
}

impl Place {
    fn root(&self) -> Option<&Path> {
        match self {
            Place::Memory => None,
            Place::Disk(owned) => Some(owned.dir().root()),
        }
    }
}

/// The store at an address, and the handle to ask it by.
pub(crate) async fn connect(address: &str) -> std::result::Result<(Arc<Datastore>, Surreal<Db>), String> {
    let datastore = open_datastore(address).await?;
    let db = Surreal::<Db>::unstable_from_datastore(Arc::clone(&datastore), None)
        .await
        .map_err(|error| error.to_string())?;
    db.use_ns("autokit").use_db("library").await.map_err(|error| error.to_string())?;
    Ok((datastore, db))
}

/// The steps the SDK itself takes to open an embedded store, done here because only the
/// datastore, not the SDK's handle, can be closed and waited for.
async fn open_datastore(address: &str) -> std::result::Result<Arc<Datastore>, String> {
    let config = ConfigMap::empty()
        // Cards are small and live in the replica: the database needs no half of the memory.
        .with_key_value("surrealkv_block_cache_capacity", (32 << 20).to_string())
        .with_key_value("surrealkv_max_memtable_size", (64 << 20).to_string());
    let datastore = Datastore::builder()
        .with_config(config)
        .with_auth(false)
        .without_maintenance_tasks()
        .build_with_path(address)
        .await
        .map_err(|error| error.to_string())?;
    datastore.check_version().await.map_err(|error| error.to_string())?;
    datastore.bootstrap().await.map_err(|error| error.to_string())?;
    datastore.start_maintenance_tasks();
    Ok(datastore)
}

/// The database reports an unwritable directory late and vaguely; this asks first.
fn check_writable(store: &Path) -> Result<()> {
    let probe = store.join(".writable");
    std::fs::write(&probe, b"autokit")
        .and_then(|()| std::fs::remove_file(&probe))
        .map_err(|error| LibraryError::io(store, error))
}
