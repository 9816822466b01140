//! Disk space: checked before anything is written, and held in reserve for writes that must succeed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};

/// Bytes on disk per byte of a row: it is written with its keys and indexes to the store's log, and again,
/// compressed, when the log is compacted into tables.
const BYTES_ON_DISK: u64 = 3;
/// Bytes that always stay free.
const MARGIN: u64 = 1 << 20;
/// Bytes held in reserve. Opening a store and reverting an interrupted change also write.
const RESERVE: u64 = 8 << 20;

/// The disk that holds a library.
#[derive(Debug)]
pub(crate) struct Space {
    root: PathBuf,
}

impl Space {
    pub(crate) fn new(root: &Path) -> Space {
        Space { root: root.to_owned() }
    }

    /// Refuses a write for which there is not enough space, before any of it is written.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`].
    pub(crate) fn check(&self, bytes: u64) -> Result<()> {
        // Tests fill the disk in the middle of a write, as another program might.
        if cfg!(debug_assertions) && std::env::var_os("AUTOKIT_NO_SPACE_CHECK").is_some() {
            return Ok(());
        }
        if self.fits(bytes, 0) { Ok(()) } else { Err(StoreError::DiskFull { path: self.root.clone() }) }
    }

    /// Whether there is space for a write in addition to the reserve.
    pub(crate) fn fits_with_reserve(&self, bytes: u64) -> bool {
        self.fits(bytes, RESERVE)
    }

    fn fits(&self, bytes: u64, reserve: u64) -> bool {
        let needed = bytes.saturating_mul(BYTES_ON_DISK).saturating_add(MARGIN).saturating_add(reserve);
        available(&self.root).is_none_or(|free| free >= needed)
    }

    fn reserve_file(&self) -> PathBuf {
        self.root.join("reserve")
    }

    /// Reserves disk space if there is plenty; a nearly full disk is left alone.
    pub(crate) fn hold_reserve(&self) {
        let path = self.reserve_file();
        if path.exists() || available(&self.root).is_none_or(|free| free < 4 * RESERVE) {
            return;
        }
        // Zeros are actually written: a sparse file would reserve nothing.
        let hold = || -> io::Result<()> {
            let mut file = File::create(&path)?;
            let zeros = vec![0; 1 << 20];
            for _ in 0..RESERVE >> 20 {
                file.write_all(&zeros)?;
            }
            Ok(())
        };
        if let Err(error) = hold() {
            tracing::debug!(%error, "failed to reserve disk space");
            self.release_reserve();
        }
    }

    /// Releases the reserve.
    pub(crate) fn release_reserve(&self) {
        if let Err(error) = fs::remove_file(self.reserve_file())
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "failed to release the reserved disk space");
        }
    }
}

/// Returns the bytes an ordinary user can still write; `None` where the system does not tell.
#[cfg(unix)]
fn available(path: &Path) -> Option<u64> {
    let stats = rustix::fs::statvfs(path).ok()?;
    Some(stats.f_bavail.saturating_mul(stats.f_frsize))
}

/// Returns the bytes an ordinary user can still write; `None` where the system does not tell.
#[cfg(not(unix))]
fn available(_: &Path) -> Option<u64> {
    None
}
