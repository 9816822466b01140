//! Replacing a library with a backup.
//!
//! The backup is first loaded into a folder next to the store. Then a journal file records the renames to be
//! made; if the process ends midway, the next owner of the directory completes them ([`finish_restore`]). The
//! library is therefore always either the old or the new one, and never empty.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use autokit_commit_log::{HeadFile, StoreState};
use autokit_store::{DataDir, Ownership, connect, crash};
use autokit_toolcard::Clock;
use serde::{Deserialize, Serialize};

use crate::backup::{Backup, Header, backup_file, describe, file_stamp, load, verify_file};
use crate::error::{LibraryError, Result};
use crate::migrate;
use crate::stored_replica::remove_snapshots_of;

/// The result of a restore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// The backup that was restored.
    pub backup: Backup,
    /// The folder that now holds the previous library.
    pub replaced: PathBuf,
}

/// A backup that was verified and loaded into a folder next to the store, ready to replace the library.
#[derive(Debug)]
pub struct Staged {
    /// The backup.
    pub backup: Backup,
    header: Header,
}

/// The renames in progress, and the values for the head afterwards.
#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    /// Destination of the old library.
    replaced: PathBuf,
    commit: u64,
    hash: String,
    cards: u64,
    schema: u32,
}

fn staging_dir(dir: &DataDir) -> PathBuf {
    dir.root().join("restoring")
}

fn journal_file(dir: &DataDir) -> PathBuf {
    dir.root().join("restore.json")
}

/// Verifies a backup and loads it into a folder next to the store. The library is not touched, and may be
/// open; the caller makes sure that its directory is owned, and stages one backup at a time. What is staged
/// and not placed is deleted by the next owner.
///
/// # Errors
/// As [`crate::verify_backup`]; [`LibraryError::BadBackup`] when the backup has problems; any I/O error
/// that keeps the files from being written.
pub async fn stage_backup(dir: &DataDir, name: &str, clock: Clock) -> Result<Staged> {
    let file = backup_file(dir, name)?;
    let bad = |reason: &str| LibraryError::BadBackup { path: file.clone(), reason: reason.to_owned() };
    let backup = describe(&file).ok_or_else(|| bad("it cannot be read"))?;
    let verified = verify_file(&file, clock).await?;
    if let Some(problem) = verified.problems.first() {
        return Err(bad(&problem.to_string()));
    }
    let failed = |error| LibraryError::io(dir.root(), error);
    let staging = staging_dir(dir);
    remove_staged(dir)?;
    fs::create_dir_all(&staging).map_err(failed)?;
    let address = std::path::absolute(&staging).map_err(failed)?;
    let instance =
        connect(&format!("surrealkv://{}?sync=every", address.display()), Some(dir.root())).await?;
    let header = load(&file, instance.db()).await?;
    instance.close(Some(dir.root())).await?;
    // Dropping it would close it again after its folder was renamed.
    std::mem::forget(instance);
    Ok(Staged { backup, header })
}

/// Replaces the library, which is closed, with a staged backup; the old library is moved to the folder of
/// backups.
///
/// # Errors
/// When the files cannot be written or renamed.
pub fn place_backup(owned: &Ownership, staged: Staged, clock: &Clock) -> Result<Restored> {
    let dir = owned.dir();
    let Staged { backup, header } = staged;
    let replaced = dir.backups().join(format!("replaced-{}", file_stamp(clock.stamp())));
    let journal = Journal {
        replaced: replaced.clone(),
        commit: header.commit,
        hash: header.hash,
        cards: header.cards,
        schema: header.schema,
    };
    let journal = serde_json::to_vec(&journal).expect("a journal serializes to JSON");
    write_synced(&journal_file(dir), &journal).map_err(|error| LibraryError::io(dir.root(), error))?;
    crash::point("restore.noted");
    finish_restore(dir)?;
    Ok(Restored { backup, replaced })
}

/// Replaces the library, which is closed, with a backup. Nothing is replaced before the backup was verified
/// and loaded.
///
/// # Errors
/// As [`stage_backup`] and [`place_backup`].
pub async fn restore_backup(owned: &Ownership, name: &str, clock: Clock) -> Result<Restored> {
    finish_restore(owned.dir())?;
    let staged = stage_backup(owned.dir(), name, clock.clone()).await?;
    place_backup(owned, staged, &clock)
}

/// Completes a restore whose journal was written, and deletes what is left of one that did not get so far.
///
/// # Errors
/// When the files cannot be renamed.
pub(crate) fn finish_restore(dir: &DataDir) -> Result<()> {
    let failed = |error| LibraryError::io(dir.root(), error);
    let (staging, file) = (staging_dir(dir), journal_file(dir));
    let journal: Journal = match fs::read(&file) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| failed(error.into()))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return remove_staged(dir);
        }
        Err(error) => return Err(failed(error)),
    };
    remove_snapshots_of(dir)?;
    if staging.exists() {
        fs::create_dir_all(&journal.replaced).map_err(failed)?;
        for entry in fs::read_dir(dir.root()).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == "store" || name.starts_with("store.") || name == "head" || name == "schema.json" {
                fs::rename(entry.path(), journal.replaced.join(&name)).map_err(failed)?;
                crash::point("restore.moved");
            }
        }
        fs::rename(&staging, dir.store()).map_err(failed)?;
        crash::point("restore.placed");
    }
    let (mut head, _) = HeadFile::open(&dir.head_file())?;
    head.update(|head| {
        head.seq = journal.commit;
        head.hash.clone_from(&journal.hash);
        head.cards = journal.cards;
        head.closed_at = journal.commit;
        head.state = StoreState::Closed;
    })?;
    drop(head);
    migrate::write_version_of(dir, journal.schema)?;
    fs::remove_file(&file).map_err(failed)
}

fn remove_staged(dir: &DataDir) -> Result<()> {
    match fs::remove_dir_all(staging_dir(dir)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(LibraryError::io(dir.root(), error)),
        _ => Ok(()),
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
