//! Backups of a library that is not open, because even one that cannot be opened has backups.

use std::path::Path;

use autokit_api::{Backup, Check, CheckState, Doctor};
use autokit_error::{ApiError, Result};
use autokit_library::{Clock, DataDir, list_backups, verify_backup};

pub use autokit_library::Verified;

/// Lists the backups of the library in a data directory, newest first.
pub fn list(data_dir: &Path) -> Vec<Backup> {
    list_backups(&DataDir::new(data_dir)).into_iter().map(to_api).collect()
}

/// Converts a backup to the form commands return.
pub fn to_api(backup: autokit_library::Backup) -> Backup {
    let autokit_library::Backup { name, created_at, cards, commit, bytes } = backup;
    Backup { name, created_at, cards, commit, bytes }
}

/// Loads a backup into memory and compares everything in it with its own change log.
///
/// # Errors
/// `not_found`, `damaged`.
pub async fn verify(data_dir: &Path, name: &str) -> Result<Verified> {
    Ok(verify_backup(&DataDir::new(data_dir), name, Clock::system()).await?)
}

/// Returns the newest complete backup.
pub async fn newest_complete(data_dir: &Path) -> Option<Backup> {
    for backup in list(data_dir) {
        if verify(data_dir, &backup.name).await.is_ok_and(|verified| verified.is_ok()) {
            return Some(backup);
        }
    }
    None
}

/// Returns advice on a damaged library: to restore the newest complete backup, if there is one.
pub async fn remedy(data_dir: &Path) -> String {
    match newest_complete(data_dir).await {
        Some(backup) => format!(
            "Restore the newest good backup: {} ({} cards, made {}).",
            backup.name, backup.cards, backup.created_at
        ),
        None => "No good backup found. Start with another data directory, or import an export.".to_owned(),
    }
}

/// Returns the diagnostics of a library that cannot be opened.
pub async fn diagnose_unopened(data_dir: &Path, error: &ApiError) -> Doctor {
    let check =
        |name: &str, state, detail: String, remedy| Check { name: name.to_owned(), state, detail, remedy };
    let remedy = Some(remedy(data_dir).await);
    Doctor {
        checks: vec![
            check("AutoKit", CheckState::Good, crate::VERSION.to_owned(), None),
            check("Library", CheckState::Bad, error.message.clone(), remedy),
            backups_check(data_dir),
        ],
        can_accept_losses: false,
    }
}

/// Checks whether there are backups, and how recent they are.
pub(crate) fn backups_check(data_dir: &Path) -> Check {
    let backups = list(data_dir);
    let name = "Backups".to_owned();
    match backups.first() {
        None => Check {
            name,
            state: CheckState::Warning,
            detail: "none yet".to_owned(),
            remedy: Some("Create a backup now.".to_owned()),
        },
        Some(newest) => Check {
            name,
            state: CheckState::Good,
            detail: format!("{}, newest from {}", backups.len(), newest.created_at),
            remedy: None,
        },
    }
}
