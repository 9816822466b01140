//! The embedded database: opening it, writing to it, and recovering from failed writes.
//!
//! A failed write leaves a torn record in the middle of the store's write-ahead log. Anything the same
//! instance appends after it is lost when the log is replayed, and the instance's memory still holds the
//! refused data. So after a failed write the instance is abandoned: it is never queried and never closed,
//! because closing would flush the refused data. Its folder is renamed, the log is truncated to its length at
//! the last acknowledged write, and a new instance opens the result. The truncation point is recorded in the
//! head first, so that if the process ends midway, the next one can finish the recovery.
//!
//! The database's own maintenance tasks are not started: they write on their own, which an abandoned instance
//! must not do. They serve clusters, change feeds and index builds, none of which are used here.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use autokit_commit_log::{HeadFile, LogPosition, StoreState};
use futures_util::future::BoxFuture;
use surrealdb::Surreal;
use surrealdb::engine::local::Db;
use surrealdb::types::Object;
use surrealdb_cnf::ConfigMap;
use surrealdb_engine_local::Datastore;
use tempfile::TempDir;

use crate::crash;
use crate::data_dir::DataDir;
use crate::error::{Result, StoreError};
use crate::files::{
    copy_to_temp, detach, end_of_log, folders, next_folder, restore_folder_name, truncate_log, unlock,
};
use crate::size::bytes_of;
use crate::space::Space;

/// Time limit of a write, plus one second for each MiB.
const LONGEST_WRITE: Duration = Duration::from_secs(30);

/// A database instance and the handle for querying it.
///
/// Behind a trait object, because the compiler would otherwise go through the fields of the database's types,
/// all the way down, for each `async fn` of this and every crate above, to prove that its future is `Send`.
pub struct Instance(Box<dyn OpenStore>);

trait OpenStore: Send + Sync {
    fn db(&self) -> &Surreal<Db>;
    fn shut_down(&self) -> BoxFuture<'_, std::result::Result<(), String>>;
}

struct EmbeddedStore {
    datastore: Arc<Datastore>,
    db: Surreal<Db>,
}

impl OpenStore for EmbeddedStore {
    fn db(&self) -> &Surreal<Db> {
        &self.db
    }

    fn shut_down(&self) -> BoxFuture<'_, std::result::Result<(), String>> {
        Box::pin(async { self.datastore.shutdown().await.map_err(|error| error.to_string()) })
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").finish_non_exhaustive()
    }
}

impl Instance {
    /// The handle for querying it.
    pub fn db(&self) -> &Surreal<Db> {
        self.0.db()
    }

    /// Flushes everything and closes the store, which is in this directory.
    ///
    /// # Errors
    /// When it cannot be flushed.
    pub async fn close(&self, root: Option<&Path>) -> Result<()> {
        self.0.shut_down().await.map_err(|error| StoreError::database(root, &error))
    }
}

/// The files of an on-disk database.
struct Files {
    dir: DataDir,
    space: Space,
    /// Folder of the open instance.
    folder: Mutex<PathBuf>,
    /// End of the store's log after the last acknowledged write.
    position: Mutex<LogPosition>,
}

/// The database of one library.
pub struct Database {
    /// None after a failed write until recovery succeeds, and once the database is closed.
    instance: ArcSwapOption<Instance>,
    /// Set once closed: the store is not reopened.
    closed: AtomicBool,
    /// None for an in-memory database.
    files: Option<Files>,
    /// None where nothing is acknowledged: in memory, and in a copy.
    head: Option<Mutex<HeadFile>>,
    /// Serializes writes: the database uses optimistic concurrency, and would fail one of two transactions
    /// that write the same row.
    writing: Arc<tokio::sync::Mutex<()>>,
    /// Time limit of a small write.
    longest_write: Duration,
    /// Set when the database is read-only, with the reason.
    read_only: Option<ReadOnlyReason>,
    /// The temporary copy that is read when the store itself cannot be opened for writing.
    _copy: Option<TempDir>,
}

/// Why a library accepts no changes.
#[derive(Clone, Debug)]
pub struct ReadOnlyReason {
    /// Its directory.
    pub root: PathBuf,
    /// Whether its disk is full.
    pub full: bool,
}

impl ReadOnlyReason {
    fn error(&self) -> StoreError {
        let kind = if self.full { io::ErrorKind::StorageFull } else { io::ErrorKind::ReadOnlyFilesystem };
        StoreError::io(&self.root, kind.into())
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dir = self.files.as_ref().map(|files| &files.dir);
        f.debug_struct("Database").field("dir", &dir).finish_non_exhaustive()
    }
}

impl Database {
    /// Opens an in-memory database.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn in_memory() -> Result<Database> {
        Ok(Database::from_instance(connect("memory", None).await?))
    }

    /// The head that says what was acknowledged; `None` in memory, and in a copy.
    pub fn head(&self) -> Option<&Mutex<HeadFile>> {
        self.head.as_ref()
    }

    /// Waits until the writes that have begun end.
    pub async fn settle(&self) {
        drop(self.writing.lock().await);
    }

    /// Wraps an instance that has no files or head.
    fn from_instance(instance: Instance) -> Database {
        Database {
            instance: ArcSwapOption::from_pointee(instance),
            closed: AtomicBool::new(false),
            files: None,
            head: None,
            writing: Arc::default(),
            longest_write: LONGEST_WRITE,
            read_only: None,
            _copy: None,
        }
    }

    /// Opens a copy of the database of a data directory that cannot be written, for reading. The caller makes
    /// sure that no process owns the store.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it cannot be opened, [`StoreError::DiskFull`] when there is no space
    /// for a copy anywhere.
    pub async fn copy_of(dir: &DataDir) -> Result<Database> {
        let store = folders(dir).ok().and_then(|found| found.into_iter().max());
        let Some((_, store)) = store else {
            return Err(StoreError::Damaged {
                path: dir.root().to_owned(),
                reason: "it does not contain a store".to_owned(),
            });
        };
        let copy = copy_to_temp(&store).map_err(|error| StoreError::io(dir.root(), error))?;
        let folder = copy.path().join("store");
        if let Some(StoreState::Failed(position)) = HeadFile::peek(&dir.head_file()).map(|head| head.state) {
            truncate_log(&folder, position).map_err(|error| StoreError::io(dir.root(), error))?;
        }
        Ok(Database { _copy: Some(copy), ..Database::from_instance(open_folder(dir, &folder).await?) })
    }

    /// Opens the database of a data directory this process owns, first finishing a recovery that an earlier
    /// process could not.
    ///
    /// # Errors
    /// Returns what kept the store from opening, mapped to a [`StoreError`].
    pub async fn on_disk(dir: &DataDir, mut head: HeadFile) -> Result<Database> {
        let failed = |error| StoreError::io(dir.root(), error);
        let space = Space::new(dir.root());
        let mut folder = restore_folder_name(dir).map_err(failed)?;
        if let StoreState::Failed(position) = head.get().state {
            space.release_reserve();
            truncate_log(&folder, position).map_err(failed)?;
        }
        let instance = match open_folder(dir, &folder).await {
            Err(StoreError::DiskFull { .. }) => {
                space.release_reserve();
                let next = next_folder(dir).map_err(failed)?;
                fs::rename(&folder, &next).map_err(failed)?;
                folder = next;
                detach(&folder).map_err(failed)?;
                open_folder(dir, &folder).await?
            }
            opened => opened?,
        };
        head.update(|head| head.state = StoreState::Open)?;
        let position = end_of_log(&folder);
        let files =
            Files { dir: dir.clone(), space, folder: Mutex::new(folder), position: Mutex::new(position) };
        Ok(Database { files: Some(files), head: Some(Mutex::new(head)), ..Database::from_instance(instance) })
    }

    /// Refuses all writes from now on.
    pub fn refuse_writes(&mut self, refusal: ReadOnlyReason) {
        self.read_only = Some(refusal);
    }

    /// Why writes are refused, if they are.
    pub fn refusal(&self) -> Option<&ReadOnlyReason> {
        self.read_only.as_ref()
    }

    /// Returns the instance to query, reopening the store first if an earlier recovery failed. Calls
    /// `recovered` after reopening.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] while the store cannot be reopened.
    pub async fn ready(&self, recovered: impl Fn() + Send + Sync) -> Result<Arc<Instance>> {
        if let Some(instance) = self.instance.load_full() {
            return Ok(instance);
        }
        // Boxed, because every read would otherwise carry this future.
        Box::pin(async {
            let _guard = self.writing.lock().await;
            self.ready_locked(&recovered).await
        })
        .await
    }

    /// As [`Database::ready`], for a caller that holds the `writing` lock.
    async fn ready_locked(&self, recovered: &(impl Fn() + Send + Sync)) -> Result<Arc<Instance>> {
        if let Some(instance) = self.instance.load_full() {
            return Ok(instance);
        }
        if self.closed.load(Ordering::Acquire) {
            return Err(self.unrecovered());
        }
        // Boxed, because every read and write would otherwise carry the future of opening a store.
        let instance = Box::pin(self.reopen()).await?;
        recovered();
        Ok(instance)
    }

    fn unrecovered(&self) -> StoreError {
        if self.closed.load(Ordering::Acquire) {
            return StoreError::Database("the library was closed".to_owned());
        }
        let path = self.files.as_ref().map(|files| files.dir.root().to_owned()).unwrap_or_default();
        StoreError::DiskFull { path }
    }

    /// Refuses a change for which there is not enough disk space, before any of it is written.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`], or the reason why the library is read-only.
    pub fn check_space(&self, bytes: usize) -> Result<()> {
        if let Some(refusal) = &self.read_only {
            return Err(refusal.error());
        }
        self.files.as_ref().map_or(Ok(()), |files| files.space.check(bytes as u64))
    }

    /// Runs statements that return nothing; calls are serialized. `recovered` is called when the write failed
    /// and a new instance replaced this one, since state in memory may then be ahead of the store.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] before anything is written, or the failure of the write, of which nothing
    /// remains.
    pub async fn execute(
        &self,
        query: &str,
        variables: Object,
        recovered: impl Fn() + Send + Sync,
    ) -> Result<()> {
        let guard = Arc::new(Arc::clone(&self.writing).lock_owned().await);
        let bytes = bytes_of(&variables);
        self.check_space(bytes)?;
        let retry = self.files.as_ref().map(|files| (&files.space, variables.clone()));
        match (self.execute_once(query, variables, &recovered, &guard).await, retry) {
            // The store compacts its log into tables by itself. Once that has failed on a full disk, it
            // refuses every later write with the same error, even when there is space again.
            (Err(StoreError::DiskFull { .. }), Some((space, variables)))
                if space.fits_with_reserve(bytes as u64) =>
            {
                self.execute_once(query, variables, &recovered, &guard).await
            }
            (outcome, _) => outcome,
        }
    }

    /// The caller holds the `writing` lock and has checked the disk space.
    async fn execute_once(
        &self,
        query: &str,
        variables: Object,
        recovered: &(impl Fn() + Send + Sync),
        guard: &Arc<tokio::sync::OwnedMutexGuard<()>>,
    ) -> Result<()> {
        let instance = self.ready_locked(recovered).await?;
        let limit = self.longest_write + Duration::from_secs((bytes_of(&variables) >> 20) as u64);
        // The database finishes what it began although the caller is dropped. No other write begins before that.
        let (held, db, query) = (Arc::clone(guard), Arc::clone(&instance), query.to_owned());
        let mut writing = tokio::spawn(async move { (run(db.db(), &query, variables).await, held).0 });
        let failed = |reason| Err(Failure { reason, is_statement_error: false });
        // With a full disk, the database retries some of its own writes for minutes.
        let outcome = if let Ok(written) = tokio::time::timeout(limit, &mut writing).await {
            written.unwrap_or_else(|error| failed(error.to_string()))
        } else {
            writing.abort();
            failed(format!("the write did not finish within {} seconds", limit.as_secs()))
        };
        let Err(failure) = outcome else {
            if let Some(files) = &self.files {
                let folder = files.folder.lock().expect("no holder panics").clone();
                *files.position.lock().expect("no holder panics") = end_of_log(&folder);
                files.space.hold_reserve();
            }
            return Ok(());
        };
        let root = self.files.as_ref().map(|files| files.dir.root());
        let error = StoreError::database(root, &failure.reason);
        if !failure.is_statement_error && self.files.is_some() {
            drop(instance);
            tracing::warn!(%error, why = failure.reason, "write failed; reopening the store without it");
            self.abandon();
            crash::point("recover.noted");
            if let Err(error) = Box::pin(self.reopen()).await {
                tracing::error!(%error, "failed to reopen the store; the next write will retry");
            }
            recovered();
        }
        Err(error)
    }

    /// Abandons the instance without closing it.
    fn abandon(&self) {
        // Dropping the last reference would close the store and flush the refused data.
        std::mem::forget(self.instance.swap(None));
        let (Some(files), Some(head)) = (&self.files, &self.head) else { return };
        let position = *files.position.lock().expect("no holder panics");
        let mut head = head.lock().expect("no holder panics");
        if let Err(error) = head.update(|head| head.state = StoreState::Failed(position)) {
            tracing::error!(%error, "failed to record a failed write");
        }
    }

    /// Reopens the store after an instance was abandoned.
    async fn reopen(&self) -> Result<Arc<Instance>> {
        let (Some(files), Some(head)) = (&self.files, &self.head) else { return Err(self.unrecovered()) };
        let failed = |error| StoreError::io(files.dir.root(), error);
        files.space.release_reserve();
        let position = *files.position.lock().expect("no holder panics");
        let old = files.folder.lock().expect("no holder panics").clone();
        let folder = next_folder(&files.dir).map_err(failed)?;
        fs::rename(&old, &folder).map_err(failed)?;
        // The rest needs disk space and may fail: the next attempt starts from the folder's new name.
        files.folder.lock().expect("no holder panics").clone_from(&folder);
        detach(&folder).map_err(failed)?;
        crash::point("recover.moved");
        truncate_log(&folder, position).map_err(failed)?;
        crash::point("recover.cut");
        let instance = Arc::new(open_folder(&files.dir, &folder).await?);
        let position = end_of_log(&folder);
        *files.position.lock().expect("no holder panics") = position;
        head.lock().expect("no holder panics").update(|head| head.state = StoreState::Open)?;
        self.instance.store(Some(Arc::clone(&instance)));
        tracing::info!("store reopened after a failed write");
        Ok(instance)
    }

    /// Releases the instance and returns a future that closes it; nothing can be read or written any more.
    pub fn release_instance(&self) -> Option<impl Future<Output = ()> + Send + 'static> {
        self.closed.store(true, Ordering::Release);
        let instance = self.instance.swap(None)?;
        let (root, folder) = self.root_and_folder().unzip();
        Some(async move {
            if let Err(error) = close_instance(instance, root.as_deref(), folder.as_deref()).await {
                tracing::warn!(%error, "failed to flush the store; acknowledged changes are still in its log");
            }
        })
    }

    /// The directory, and the folder in it of the open instance.
    fn root_and_folder(&self) -> Option<(PathBuf, PathBuf)> {
        let files = self.files.as_ref()?;
        Some((files.dir.root().to_owned(), files.folder.lock().expect("no holder panics").clone()))
    }

    /// Flushes and closes the store.
    ///
    /// # Errors
    /// When it could not be flushed; acknowledged changes are still in its log.
    pub async fn close(&self) -> Result<()> {
        let _guard = self.writing.lock().await;
        self.closed.store(true, Ordering::Release);
        let Some(instance) = self.instance.swap(None) else { return Ok(()) };
        let (root, folder) = self.root_and_folder().unzip();
        close_instance(instance, root.as_deref(), folder.as_deref()).await?;
        crash::point("close.flushed");
        if let Some(head) = &self.head {
            let mut head = head.lock().expect("no holder panics");
            head.update(|head| {
                head.state = StoreState::Closed;
                head.closed_at = head.seq;
            })?;
        }
        if let Some(files) = &self.files {
            let folder = files.folder.lock().expect("no holder panics").clone();
            if folder != files.dir.store()
                && let Err(error) = fs::rename(&folder, files.dir.store())
            {
                tracing::warn!(%error, "failed to rename the store folder; the next open will retry");
            }
        }
        Ok(())
    }
}

/// Closes an instance. Its folder can be opened again afterwards, whether or not it was flushed.
fn close_instance<'a>(
    instance: Arc<Instance>,
    root: Option<&'a Path>,
    folder: Option<&'a Path>,
) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let closed = instance.close(root).await;
        // Dropping it would close the store a second time, in the background, when another instance may already
        // have opened it.
        std::mem::forget(instance);
        // An instance that failed to flush writes nothing more, but holds its lock as long as this process lives.
        if let Some(folder) = folder
            && let Err(error) = unlock(folder)
        {
            tracing::warn!(%error, "failed to unlock the store; it stays locked until this process exits");
        }
        closed
    })
}

/// Why statements did not run.
struct Failure {
    reason: String,
    /// Whether the statements themselves are at fault, and the store is intact.
    is_statement_error: bool,
}

/// Whether the statements themselves are at fault.
fn is_statement_error(error: &surrealdb::Error) -> bool {
    error.is_already_exists()
        || error.is_validation()
        || error.is_not_found()
        || error.is_not_allowed()
        || error.is_serialization()
        || error.is_thrown()
        || error.to_string().contains("conflict")
}

async fn run(db: &Surreal<Db>, query: &str, variables: Object) -> std::result::Result<(), Failure> {
    let response = db.query(query).bind(variables).await;
    let mut response = response.map_err(|error| Failure {
        reason: error.to_string(),
        is_statement_error: is_statement_error(&error),
    })?;
    let errors = response.take_errors();
    // When a transaction fails, all its statements report that it failed; only one gives the reason.
    let is_cause = |error: &&surrealdb::Error| {
        let text = error.to_string();
        let symptoms = ["failed transaction", "cancelled transaction", "due to a prior error"];
        !symptoms.iter().any(|symptom| text.contains(symptom))
    };
    let reason = errors.values().find(is_cause).or_else(|| errors.values().next());
    reason.map_or(Ok(()), |error| {
        Err(Failure { reason: error.to_string(), is_statement_error: is_statement_error(error) })
    })
}

async fn open_folder(dir: &DataDir, folder: &Path) -> Result<Instance> {
    let Some(text) = folder.to_str().filter(|text| !text.contains('?')) else {
        return Err(StoreError::Damaged {
            path: dir.root().to_owned(),
            reason: "the database does not support paths with `?` or bytes that are not UTF-8".to_owned(),
        });
    };
    // Every commit is synced, so that an acknowledged change survives a power failure.
    let opened = connect(&format!("surrealkv://{text}?sync=every"), Some(dir.root())).await;
    opened.map_err(|error| match error {
        StoreError::Database(reason) => StoreError::Damaged { path: dir.root().to_owned(), reason },
        other => other,
    })
}

/// Connects to the embedded database at an address, which is in the directory `root` unless it is in memory.
///
/// # Errors
/// [`StoreError::DiskFull`] and [`StoreError::ReadOnly`] where the database says so; otherwise [`StoreError::Database`].
pub fn connect<'a>(address: &'a str, root: Option<&'a Path>) -> BoxFuture<'a, Result<Instance>> {
    Box::pin(async move {
        let connected = async {
            let datastore = open_datastore(address).await?;
            let db = Surreal::<Db>::unstable_from_datastore(Arc::clone(&datastore), None).await;
            let db = db.map_err(|error| error.to_string())?;
            db.use_ns("autokit").use_db("library").await.map_err(|error| error.to_string())?;
            Ok::<_, String>(Instance(Box::new(EmbeddedStore { datastore, db })))
        };
        connected.await.map_err(|error| StoreError::database(root, &error))
    })
}

/// Opens an embedded store in the same steps as the SDK. Done here because only the datastore, not the SDK's
/// handle, can be closed and awaited.
async fn open_datastore(address: &str) -> std::result::Result<Arc<Datastore>, String> {
    // The database inspects the machine's processes and would keep a file open for each. The call returns
    // false on platforms where no files are kept open anyway.
    let _ = sysinfo::set_open_files_limit(0);
    let config = ConfigMap::empty()
        // Cards are small and live in the replica, so the database need not take half of the memory.
        .with_key_value("surrealkv_block_cache_capacity", (32 << 20).to_string())
        .with_key_value("surrealkv_max_memtable_size", (64 << 20).to_string());
    let datastore = Datastore::builder()
        .with_config(config)
        .with_auth(false)
        .without_maintenance_tasks()
        .build_with_path(address)
        .await
        .map_err(|error| error.to_string())?;
    let started = async {
        // The two calls below retry for two minutes, as suits a cluster; `get_version` reports a damaged
        // store at once.
        datastore.get_version().await?;
        datastore.check_version().await?;
        datastore.bootstrap().await
    };
    if let Err(error) = started.await {
        // Dropping it would close the store in the background, when the next attempt may already have opened
        // it.
        std::mem::forget(Arc::clone(&datastore));
        return Err(error.to_string());
    }
    Ok(datastore)
}

#[cfg(test)]
mod tests;
