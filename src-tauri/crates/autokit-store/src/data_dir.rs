//! The layout of a data directory, and which process owns it.
//!
//! ```text
//! DIR/lock            locked (flock) by the process that owns the store; the system releases it
//!                     when that process ends for whatever reason
//! DIR/endpoint.json   how to reach the owner (written by the owner's host)
//! DIR/schema.json     schema version, so that a newer store is refused before it is opened
//! DIR/store/          SurrealKV; `store.N` after a failed write, until the library is closed
//! DIR/head            the newest acknowledged commit, to compare the store with
//! DIR/reserve         disk space held for recovering from a failed write
//! DIR/backups/        backups, and a copy of the store from before each migration
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};

/// The layout of one data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    root: PathBuf,
}

/// Exclusive ownership of the store: while this value lives, no other process can take it.
#[derive(Debug)]
pub struct Ownership {
    dir: DataDir,
    // The lock belongs to the open file; dropping the file releases it.
    _lock: File,
}

impl DataDir {
    /// Describes a directory, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> DataDir {
        DataDir { root: root.into() }
    }

    /// The root directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file in which the owner says how to reach it.
    pub fn endpoint_file(&self) -> PathBuf {
        self.root.join("endpoint.json")
    }

    /// The file with the version of the schema.
    pub fn schema_file(&self) -> PathBuf {
        self.root.join("schema.json")
    }

    /// The file of the newest acknowledged commit.
    pub fn head_file(&self) -> PathBuf {
        self.root.join("head")
    }

    /// The database's folder.
    pub fn store(&self) -> PathBuf {
        self.root.join("store")
    }

    /// The folder of backups and of copies of the store from before each migration.
    pub fn backups(&self) -> PathBuf {
        self.root.join("backups")
    }

    fn open_lock(&self) -> Result<File> {
        let failed = |source| StoreError::io(&self.root, source);
        create(&self.root).map_err(failed)?;
        OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(self.root.join("lock"))
            .map_err(failed)
    }

    /// Takes ownership of the store unless another process has it.
    ///
    /// # Errors
    /// [`StoreError::Owned`] when another process owns it, [`StoreError::ReadOnly`] when the directory
    /// cannot be created or written.
    pub fn try_own(&self) -> Result<Ownership> {
        let lock = self.open_lock()?;
        match lock.try_lock() {
            Ok(()) => Ok(Ownership { dir: self.clone(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Owned { path: self.root.clone() }),
            Err(TryLockError::Error(error)) => Err(StoreError::io(&self.root, error)),
        }
    }

    /// Whether a process owns the store, as far as can be determined without writing.
    pub fn is_owned(&self) -> bool {
        let lock = File::open(self.root.join("lock"));
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Waits until the current owner ends, then takes ownership of the store. Blocks the thread.
    ///
    /// # Errors
    /// As [`DataDir::try_own`], except `Owned`.
    pub fn wait_to_own(&self) -> Result<Ownership> {
        let lock = self.open_lock()?;
        lock.lock().map_err(|error| StoreError::io(&self.root, error))?;
        Ok(Ownership { dir: self.clone(), _lock: lock })
    }
}

impl Ownership {
    /// The owned directory.
    pub fn dir(&self) -> &DataDir {
        &self.dir
    }
}

/// Creates the directory, accessible only to the user; an existing one keeps its permissions.
fn create(root: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(root)
}
