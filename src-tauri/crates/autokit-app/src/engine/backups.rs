//! Makes backups: on request, and once a day while there are changes.

use std::time::Duration;

use async_trait::async_trait;
use autokit_api::commands::{AcceptMissingChanges, Context, CreateBackup, Handle, ListBackups};
use autokit_api::{Backup, Nothing};
use autokit_error::Result;
use autokit_workspace::workspace::Workspace;
use jiff::SignedDuration;

use crate::backups::{list, to_api};

/// Time until everything is compared with the change log; opening a library checks only its newest changes.
const VERIFY_DELAY: Duration = Duration::from_mins(2);
/// Time until the first check whether a backup is due.
const FIRST_CHECK_DELAY: Duration = Duration::from_mins(10);
/// Time between checks whether a backup is due.
const CHECK_INTERVAL: Duration = Duration::from_hours(1);
/// Age of the newest backup at which another one is due.
const MAX_BACKUP_AGE: SignedDuration = SignedDuration::from_hours(24);

/// Makes backups, and verifies the library against its change log.
#[derive(Clone, Debug)]
pub(super) struct Backups {
    workspace: Workspace,
}

impl Backups {
    pub(super) fn new(workspace: Workspace) -> Backups {
        Backups { workspace }
    }

    /// Makes a backup if the newest one is a day old and the library has changed since.
    async fn back_up_if_due(&self) -> Result<Option<Backup>> {
        if self.workspace.library.dir().is_none() || self.workspace.library.read_only().is_some() {
            return Ok(None);
        }
        let now = self.workspace.clock.now();
        let newest = self.workspace.library.newest_backup();
        let age = newest.as_ref().map(|backup| now.duration_since(backup.created_at.instant()));
        let due = age.is_none_or(|age| age >= MAX_BACKUP_AGE);
        if !due || !self.workspace.library.changed_since(newest.as_ref()) {
            return Ok(None);
        }
        Ok(Some(to_api(self.workspace.library.back_up().await?)))
    }

    /// Compares everything in the library with the change log, once.
    pub(super) fn verify_later(&self) {
        let workspace = self.workspace.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(VERIFY_DELAY) => {}
                () = workspace.wait_for_shutdown() => return,
            }
            match workspace.library.verify().await {
                Ok(found) if found.is_ok() => {}
                Ok(found) => tracing::error!(problems = found.problem_count, "the library is damaged"),
                Err(error) => tracing::warn!(%error, "failed to verify the library"),
            }
            workspace.notify_library_changed();
        });
    }

    /// Makes a backup every day on which there are changes, as long as this process owns the library.
    pub(super) fn start_daily_backups(&self) {
        let backups = self.clone();
        tokio::spawn(async move {
            // Not at once, because whoever just started the program waits for other things.
            let first = tokio::time::Instant::now() + FIRST_CHECK_DELAY;
            let mut interval = tokio::time::interval_at(first, CHECK_INTERVAL);
            loop {
                tokio::select! {
                    _ = interval.tick() => {}
                    () = backups.workspace.wait_for_shutdown() => return,
                }
                match backups.back_up_if_due().await {
                    Ok(Some(backup)) => tracing::info!(name = backup.name, "created a backup"),
                    Ok(None) => {}
                    Err(error) => tracing::warn!(%error, "failed to create a backup"),
                }
            }
        });
    }
}

#[async_trait]
impl Handle<CreateBackup> for Backups {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Backup> {
        Ok(to_api(self.workspace.library.back_up().await?))
    }
}

#[async_trait]
impl Handle<AcceptMissingChanges> for Backups {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Nothing> {
        self.workspace.library.accept_missing_changes().await?;
        Ok(Nothing {})
    }
}

#[async_trait]
impl Handle<ListBackups> for Backups {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<Backup>> {
        Ok(self.workspace.library.dir().map(|dir| list(dir.root())).unwrap_or_default())
    }
}
