//! The embedded database: opening it, writing to it, and what happens when a write fails.
//!
//! A failed write leaves the store's log with a torn record in its middle. Whatever the same instance writes
//! behind it is lost when the log is replayed, and what the instance still holds in memory is what was
//! refused. So after a failed write the instance is abandoned: it is never asked again and never closed, for
//! closing flushes what was refused. Its folder is renamed away under it, the log is cut where it was when the
//! last write was acknowledged, and a new instance opens what is left. The place of the cut is noted in the
//! head first, so that a process that ends in between leaves the same to the next one.
//!
//! The database's own maintenance is not started: it writes by itself, and an abandoned instance must not.
//! It looks after clusters, change feeds and indexes being built, of which there are none here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use surrealdb::Surreal;
use surrealdb::engine::local::Db;
use surrealdb::types::Object;
use surrealdb_cnf::ConfigMap;
use surrealdb_engine_local::Datastore;
use tempfile::TempDir;

use crate::crash;
use crate::data_dir::DataDir;
use crate::error::{LibraryError, Result};
use crate::head::{HeadFile, LogPosition, StoreState};
use crate::space::Space;
use crate::step::bytes_of;
use crate::store_files::{
    copy_aside, cut_log, detach, end_of_log, folders, next_folder, settle_folder, unlock,
};

/// How long a write may take, and a second more for each MiB.
const LONGEST_WRITE: Duration = Duration::from_secs(30);

/// An instance of the database, and the handle to ask it by.
pub(crate) struct Instance {
    datastore: Arc<Datastore>,
    pub(crate) db: Surreal<Db>,
}

impl Instance {
    /// Flushes everything and closes the store.
    pub(crate) async fn close(&self) -> std::result::Result<(), String> {
        self.datastore.shutdown().await.map_err(|error| error.to_string())
    }
}

/// The files of a database on a disk.
struct Files {
    dir: DataDir,
    space: Space,
    /// The folder of the instance that is open.
    folder: Mutex<PathBuf>,
    /// The end of the store's log after the last write that was acknowledged.
    position: Mutex<LogPosition>,
}

/// The database of one library.
pub(crate) struct Database {
    /// None while a failed write could not be recovered from, and once it was closed.
    instance: ArcSwapOption<Instance>,
    /// Nothing is opened again.
    closed: AtomicBool,
    /// None in memory.
    files: Option<Files>,
    pub(crate) head: Option<Mutex<HeadFile>>,
    /// Writes take turns: the database is optimistic, and of two transactions that write one row at a time
    /// it would fail one.
    writing: tokio::sync::Mutex<()>,
    /// How long a small write may take.
    longest_write: Duration,
    /// Why nothing may be written.
    read_only: Option<Refusal>,
    /// The copy that is read where the store itself cannot be opened.
    _copy: Option<TempDir>,
}

/// Why a library takes no changes.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) root: PathBuf,
    pub(crate) full: bool,
}

impl Refusal {
    fn error(&self) -> LibraryError {
        if self.full {
            LibraryError::DiskFull { path: self.root.clone() }
        } else {
            LibraryError::ReadOnly {
                path: self.root.clone(),
                source: io::Error::from(io::ErrorKind::ReadOnlyFilesystem),
            }
        }
    }
}

impl Database {
    /// A database in memory.
    pub(crate) async fn in_memory() -> std::result::Result<Database, String> {
        Ok(Database::over(connect("memory").await?))
    }

    /// A database without files or head of its own.
    fn over(instance: Instance) -> Database {
        Database {
            instance: ArcSwapOption::from_pointee(instance),
            closed: AtomicBool::new(false),
            files: None,
            head: None,
            writing: tokio::sync::Mutex::default(),
            longest_write: LONGEST_WRITE,
            read_only: None,
            _copy: None,
        }
    }

    /// A copy of the database in a data directory, to be read where the directory cannot be written. The
    /// caller sees to it that no process owns the store.
    ///
    /// # Errors
    /// [`LibraryError::Damaged`] when it cannot be opened, [`LibraryError::DiskFull`] when there is no room
    /// for a copy anywhere.
    pub(crate) async fn copy_of(dir: &DataDir) -> Result<Database> {
        let store = folders(dir).ok().and_then(|found| found.into_iter().max());
        let Some((_, store)) = store else {
            return Err(LibraryError::Damaged {
                path: dir.root().to_owned(),
                reason: "there is no store in it".to_owned(),
            });
        };
        let copy = copy_aside(&store).map_err(|error| LibraryError::io(dir.root(), error))?;
        let folder = copy.path().join("store");
        if let Some(StoreState::Failed(position)) = HeadFile::peek(&dir.head_file()).map(|head| head.state) {
            cut_log(&folder, position).map_err(|error| LibraryError::io(dir.root(), error))?;
        }
        Ok(Database { _copy: Some(copy), ..Database::over(open_folder(dir, &folder).await?) })
    }

    /// The database in a data directory this process owns. What an earlier process could not recover from is
    /// recovered first.
    ///
    /// # Errors
    /// What kept the store from opening, sorted.
    pub(crate) async fn on_disk(dir: &DataDir, mut head: HeadFile) -> Result<Database> {
        let failed = |error| LibraryError::io(dir.root(), error);
        let space = Space::new(dir.root());
        let mut folder = settle_folder(dir).map_err(failed)?;
        if let StoreState::Failed(position) = head.get().state {
            space.release_reserve();
            cut_log(&folder, position).map_err(failed)?;
        }
        let instance = match open_folder(dir, &folder).await {
            Err(LibraryError::DiskFull { .. }) => {
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
        Ok(Database { files: Some(files), head: Some(Mutex::new(head)), ..Database::over(instance) })
    }

    /// Refuses all writes from now on.
    pub(crate) fn refuse_writes(&mut self, refusal: Refusal) {
        self.read_only = Some(refusal);
    }

    /// Whether, and why, nothing may be written.
    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        self.read_only.as_ref()
    }

    /// The instance to ask, opened anew if a failed write could not be recovered from before. Then
    /// `recovered` is called.
    ///
    /// # Errors
    /// [`LibraryError::DiskFull`] while it cannot be.
    pub(crate) async fn ready(&self, recovered: impl Fn() + Send + Sync) -> Result<Arc<Instance>> {
        if let Some(instance) = self.instance.load_full() {
            return Ok(instance);
        }
        // On the heap: everything that reads would carry it.
        Box::pin(async {
            let _turn = self.writing.lock().await;
            self.ready_in_turn(&recovered).await
        })
        .await
    }

    /// As [`Database::ready`], for who holds the turn.
    async fn ready_in_turn(&self, recovered: &(impl Fn() + Send + Sync)) -> Result<Arc<Instance>> {
        if let Some(instance) = self.instance.load_full() {
            return Ok(instance);
        }
        if self.closed.load(Ordering::Acquire) {
            return Err(self.unrecovered());
        }
        // On the heap: every read and write would carry what opening a store takes.
        let instance = Box::pin(self.reopen()).await?;
        recovered();
        Ok(instance)
    }

    fn unrecovered(&self) -> LibraryError {
        if self.closed.load(Ordering::Acquire) {
            return LibraryError::Database("the library was closed".to_owned());
        }
        let path = self.files.as_ref().map(|files| files.dir.root().to_owned()).unwrap_or_default();
        LibraryError::DiskFull { path }
    }

    /// Refuses a change for which there is not enough room, before any of it is written.
    ///
    /// # Errors
    /// [`LibraryError::DiskFull`], or why nothing may be written.
    pub(crate) fn check_space(&self, bytes: usize) -> Result<()> {
        if let Some(refusal) = &self.read_only {
            return Err(refusal.error());
        }
        self.files.as_ref().map_or(Ok(()), |files| files.space.check(bytes as u64))
    }

    /// Runs statements that give nothing back, one such call after the other. `recovered` is called when
    /// the write failed and another instance took the place of this one: what is in memory may be ahead.
    ///
    /// # Errors
    /// [`LibraryError::DiskFull`] before anything is written, or what failed: then nothing of it stays.
    pub(crate) async fn execute(
        &self,
        query: &str,
        variables: Object,
        recovered: impl Fn() + Send + Sync,
    ) -> Result<()> {
        let _turn = self.writing.lock().await;
        let bytes = bytes_of(&variables);
        self.check_space(bytes)?;
        let again = self.files.as_ref().map(|files| (&files.space, variables.clone()));
        match (self.execute_once(query, variables, &recovered).await, again) {
            // The store folds its log into tables by itself. Where that failed on a full disk it refuses
            // every write since, with the same error, also when there is room by now.
            (Err(LibraryError::DiskFull { .. }), Some((space, variables)))
                if space.fits_beside_reserve(bytes as u64) =>
            {
                self.execute_once(query, variables, &recovered).await
            }
            (outcome, _) => outcome,
        }
    }

    /// The caller holds the turn, and has looked for room.
    async fn execute_once(
        &self,
        query: &str,
        variables: Object,
        recovered: &(impl Fn() + Send + Sync),
    ) -> Result<()> {
        let instance = self.ready_in_turn(recovered).await?;
        let limit = self.longest_write + Duration::from_secs((bytes_of(&variables) >> 20) as u64);
        // The database tries some of its own writes again and again for minutes when the disk is full.
        let outcome = tokio::time::timeout(limit, run(&instance.db, query, variables)).await;
        let outcome = outcome.unwrap_or_else(|_| {
            let why = format!("nothing came of it within {} seconds", limit.as_secs());
            Err(Failure { why, of_statement: false })
        });
        let Err(failure) = outcome else {
            if let Some(files) = &self.files {
                let folder = files.folder.lock().expect("no holder panics").clone();
                *files.position.lock().expect("no holder panics") = end_of_log(&folder);
                files.space.hold_reserve();
            }
            return Ok(());
        };
        let root = self.files.as_ref().map(|files| files.dir.root());
        let error = LibraryError::database(root, &failure.why);
        if !failure.of_statement && self.files.is_some() {
            drop(instance);
            tracing::warn!(%error, why = failure.why, "a write failed; the store is opened anew without it");
            self.abandon();
            crash::point("recover.noted");
            if let Err(error) = Box::pin(self.reopen()).await {
                tracing::error!(%error, "the store cannot be opened yet; the next write tries again");
            }
            recovered();
        }
        Err(error)
    }

    /// Gives the instance up without closing it.
    fn abandon(&self) {
        // Dropping the last reference would close the store, and flush what was refused.
        std::mem::forget(self.instance.swap(None));
        let (Some(files), Some(head)) = (&self.files, &self.head) else { return };
        let position = *files.position.lock().expect("no holder panics");
        let mut head = head.lock().expect("no holder panics");
        if let Err(error) = head.update(|head| head.state = StoreState::Failed(position)) {
            tracing::error!(%error, "the failed write could not be noted");
        }
    }

    /// Opens the store anew after an instance was given up.
    async fn reopen(&self) -> Result<Arc<Instance>> {
        let (Some(files), Some(head)) = (&self.files, &self.head) else { return Err(self.unrecovered()) };
        let failed = |error| LibraryError::io(files.dir.root(), error);
        files.space.release_reserve();
        let position = *files.position.lock().expect("no holder panics");
        let old = files.folder.lock().expect("no holder panics").clone();
        let folder = next_folder(&files.dir).map_err(failed)?;
        fs::rename(&old, &folder).map_err(failed)?;
        // What follows needs room and may fail: the next try begins where the store lies by then.
        files.folder.lock().expect("no holder panics").clone_from(&folder);
        detach(&folder).map_err(failed)?;
        crash::point("recover.moved");
        cut_log(&folder, position).map_err(failed)?;
        crash::point("recover.cut");
        let instance = Arc::new(open_folder(&files.dir, &folder).await?);
        let position = end_of_log(&folder);
        *files.position.lock().expect("no holder panics") = position;
        head.lock().expect("no holder panics").update(|head| head.state = StoreState::Open)?;
        self.instance.store(Some(Arc::clone(&instance)));
        tracing::info!("the store was opened anew after a failed write");
        Ok(instance)
    }

    /// Gives the instance up, which is closed by what is returned; nothing can be asked or written any more.
    pub(crate) fn give_up(&self) -> Option<impl Future<Output = ()> + Send + 'static> {
        self.closed.store(true, Ordering::Release);
        let instance = self.instance.swap(None)?;
        let folder = self.files.as_ref().map(|files| files.folder.lock().expect("no holder panics").clone());
        Some(async move {
            if let Err(error) = close_instance(instance, folder.as_deref()).await {
                tracing::warn!(error, "the store was not flushed; its log has what was acknowledged");
            }
        })
    }

    /// Flushes the store and gives it up.
    ///
    /// # Errors
    /// When it could not be flushed; what was acknowledged is in its log all the same.
    pub(crate) async fn close(&self) -> Result<()> {
        let _turn = self.writing.lock().await;
        self.closed.store(true, Ordering::Release);
        let Some(instance) = self.instance.swap(None) else { return Ok(()) };
        let root = self.files.as_ref().map(|files| files.dir.root());
        let folder = self.files.as_ref().map(|files| files.folder.lock().expect("no holder panics").clone());
        let closed = close_instance(instance, folder.as_deref()).await;
        closed.map_err(|error| LibraryError::database(root, &error))?;
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
                tracing::warn!(%error, "the store keeps its other name until it is opened again");
            }
        }
        Ok(())
    }
}

/// Closes an instance, after which its folder can be opened again, whether it was flushed or not.
async fn close_instance(instance: Arc<Instance>, folder: Option<&Path>) -> std::result::Result<(), String> {
    let closed = instance.close().await;
    // Dropping it would close the store a second time, in the background, when another instance may have
    // opened it already.
    std::mem::forget(instance);
    // One that could not flush writes nothing any more, and keeps its lock as long as this process lives.
    if let Some(folder) = folder
        && let Err(error) = unlock(folder)
    {
        tracing::warn!(%error, "the store stays locked until this process ends");
    }
    closed
}

/// Why statements did not run.
struct Failure {
    why: String,
    /// The statements themselves are at fault; the store is well.
    of_statement: bool,
}

async fn run(db: &Surreal<Db>, query: &str, variables: Object) -> std::result::Result<(), Failure> {
    let of_statement = |error: &surrealdb::Error| {
        error.is_already_exists()
            || error.is_validation()
            || error.is_not_found()
            || error.is_not_allowed()
            || error.is_serialization()
            || error.is_thrown()
            || error.to_string().contains("conflict")
    };
    let response = db.query(query).bind(variables).await;
    let mut response =
        response.map_err(|error| Failure { why: error.to_string(), of_statement: of_statement(&error) })?;
    let errors = response.take_errors();
    // When a transaction fails, every statement of it says only that; one says why.
    let echo = |error: &&surrealdb::Error| {
        let text = error.to_string();
        !text.contains("failed transaction") && !text.contains("due to a prior error")
    };
    let why = errors.values().find(echo).or_else(|| errors.values().next());
    why.map_or(Ok(()), |error| Err(Failure { why: error.to_string(), of_statement: of_statement(error) }))
}

async fn open_folder(dir: &DataDir, folder: &Path) -> Result<Instance> {
    let Some(text) = folder.to_str().filter(|text| !text.contains('?')) else {
        return Err(LibraryError::Damaged {
            path: dir.root().to_owned(),
            reason: "the database cannot use a path with `?` or bytes that are not UTF-8".to_owned(),
        });
    };
    // Every commit is synced: an acknowledged change survives a power cut.
    let opened = connect(&format!("surrealkv://{text}?sync=every")).await;
    opened.map_err(|error| match LibraryError::database(Some(dir.root()), &error) {
        LibraryError::Database(reason) => LibraryError::Damaged { path: dir.root().to_owned(), reason },
        sorted => sorted,
    })
}

/// The database at an address.
pub(crate) async fn connect(address: &str) -> std::result::Result<Instance, String> {
    let datastore = open_datastore(address).await?;
    let db = Surreal::<Db>::unstable_from_datastore(Arc::clone(&datastore), None)
        .await
        .map_err(|error| error.to_string())?;
    db.use_ns("autokit").use_db("library").await.map_err(|error| error.to_string())?;
    Ok(Instance { datastore, db })
}

/// The steps the SDK itself takes to open an embedded store, done here because only the datastore, not the
/// SDK's handle, can be closed and waited for.
async fn open_datastore(address: &str) -> std::result::Result<Arc<Datastore>, String> {
    // The database looks at the machine's processes, and would keep a file open for each of them. False
    // where no files are kept open for it anyway.
    let _ = sysinfo::set_open_files_limit(0);
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
    let begun = async {
        // What follows tries again for two minutes, as a cluster may want. A store that is damaged says so
        // at once.
        datastore.get_version().await?;
        datastore.check_version().await?;
        datastore.bootstrap().await
    };
    if let Err(error) = begun.await {
        // Dropping it would close the store in the background, when the next try may have opened it.
        std::mem::forget(Arc::clone(&datastore));
        return Err(error.to_string());
    }
    Ok(datastore)
}

#[cfg(test)]
mod tests;
