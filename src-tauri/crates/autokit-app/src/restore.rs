//! Restoring a backup, of a library that is closed or open.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use autokit_api::commands::RestoreBackup;
use autokit_api::{Backup, BackupRef, Event, Role};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{Clock, DataDir, LibraryError, restore_backup};
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;

use crate::backups::to_api;
use crate::node::Node;

/// The result of a restore.
#[derive(Clone, Debug, Serialize)]
pub struct Restored {
    /// The backup that was restored.
    pub backup: Backup,
    /// The folder that now holds the previous library.
    pub replaced: PathBuf,
}

/// Replaces the library with a backup. The replaced library is kept beside the backups.
///
/// # Errors
/// `conflict` while a process has the library open, `not_found`, `damaged`, `disk_full`, `read_only`.
pub async fn restore(data_dir: &Path, name: &str) -> Result<Restored> {
    let owned = DataDir::new(data_dir).try_own().map_err(|error| {
        match ApiError::from(LibraryError::from(error)) {
            error if error.code == ErrorCode::OwnerUnreachable => ApiError::new(
                ErrorCode::Conflict,
                "the library is open in another AutoKit process",
                "Restore it through that process, or close it first.",
            ),
            error => error,
        }
    })?;
    let autokit_library::Restored { backup, replaced } =
        restore_backup(&owned, name, Clock::system()).await?;
    Ok(Restored { backup: to_api(backup), replaced })
}

/// Restores a backup of a library that another process has open, by that process, and waits until it is open again.
/// `node` stands by, so that it takes over if that process ends.
///
/// # Errors
/// As [`restore`] without `conflict`; `owner_unreachable` if the other process ends meanwhile.
pub async fn restore_open(node: &Node, data_dir: &Path, name: &str) -> Result<Restored> {
    let folder = DataDir::new(data_dir).backups();
    // Whoever subscribes first hears of the last restore too, whose folder exists already.
    let replaced_before: HashSet<PathBuf> =
        std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let mut events = node.events();
    let is_client = node.role().await == Role::Client;
    let backup = node.call::<RestoreBackup>(BackupRef { name: name.to_owned() }).await?;
    loop {
        match events.recv().await {
            Ok(Event::Restored { backup: of, error: Some(error), .. }) if of.name == name => {
                return Err(error);
            }
            Ok(Event::Restored { backup: of, replaced: Some(replaced), .. })
                if of.name == name && !replaced_before.contains(Path::new(&replaced)) =>
            {
                return Ok(Restored { backup, replaced: replaced.into() });
            }
            Ok(Event::Owner { role: Role::Owner }) if is_client => return Err(ended()),
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return Err(ended()),
        }
    }
}

fn ended() -> ApiError {
    ApiError::new(
        ErrorCode::OwnerUnreachable,
        "the process that restored the backup ended before it said that it was done",
        "Look at the library: it is either restored or as it was.",
    )
}
