//! What can be wrong with a data directory or the database in it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use autokit_commit_log::HeadError;

/// Result of the store's operations.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory cannot be written.
    #[error("the data directory {} cannot be written: {source}", path.display())]
    ReadOnly {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// No disk space is left.
    #[error("the disk that holds {} is full; the last change was not saved", path.display())]
    DiskFull {
        /// A directory on the full disk.
        path: PathBuf,
    },
    /// Another process has the lock.
    #[error("the library in {} is in use by another process", path.display())]
    Owned {
        /// The directory.
        path: PathBuf,
    },
    /// The database cannot be opened.
    #[error("the library in {} cannot be read: {reason}", path.display())]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The database failed.
    #[error("database error: {0}")]
    Database(String),
}

impl From<HeadError> for StoreError {
    fn from(error: HeadError) -> StoreError {
        StoreError::io(&error.path, error.source)
    }
}

impl StoreError {
    /// Maps an I/O error in the data directory.
    pub fn io(path: &Path, source: io::Error) -> StoreError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                StoreError::DiskFull { path: path.to_owned() }
            }
            _ => StoreError::ReadOnly { path: path.to_owned(), source },
        }
    }

    /// Maps a database error. Only its text distinguishes I/O failures.
    pub fn database(path: Option<&Path>, error: &dyn fmt::Display) -> StoreError {
        let text = error.to_string();
        let says = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
        match path.map(Path::to_owned) {
            Some(path) if says(&["No space left", "os error 28"]) => StoreError::DiskFull { path },
            Some(path) if says(&["Read-only file system", "Permission denied", "os error 30"]) => {
                StoreError::ReadOnly { path, source: io::Error::other(text) }
            }
            _ => StoreError::Database(text),
        }
    }
}
