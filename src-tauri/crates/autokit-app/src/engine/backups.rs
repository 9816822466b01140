//! Makes backups: when a person asks for one, and once a day while there are changes.

use std::time::Duration;

use autokit_api::commands::{AcceptMissingChanges, Context, CreateBackup, Handle, ListBackups};
use autokit_api::{Backup, Nothing};
use autokit_error::Result;
use autokit_library::LibraryError;
use jiff::{SignedDuration, Timestamp};

use super::{Core, Engine};
use crate::backups::{list, shown, summary};

/// When everything is compared with the log of changes, of which opening looked at the newest alone.
const VERIFIED_AFTER: Duration = Duration::from_mins(2);
/// When it is first looked whether a backup is due.
const FIRST_LOOK: Duration = Duration::from_mins(10);
/// How long between looks at whether a backup is due.
const LOOK_EVERY: Duration = Duration::from_hours(1);
/// How old the newest backup is when another one is due.
const DUE_AFTER: SignedDuration = SignedDuration::from_hours(24);

impl Core {
    /// What is known to be missing or altered, in a sentence.
    pub(crate) fn damage(&self) -> Option<String> {
        let problems = self.workspace.library.known_problems();
        (!problems.is_empty()).then(|| summary(&problems, problems.len() as u64))
    }

    /// Why nothing can be changed now, in a sentence: also while the disk of a library that is open has no
    /// room for the smallest change.
    pub(crate) fn why_read_only(&self) -> Option<&'static str> {
        match self.workspace.library.writable() {
            Ok(()) => None,
            Err(LibraryError::DiskFull { .. }) => Some("the disk is full: nothing can be changed"),
            Err(_) => Some("it cannot be written: nothing can be changed"),
        }
    }

    /// Makes a backup if the newest one is a day old and there were changes since.
    async fn back_up_if_due(&self) -> Result<Option<Backup>> {
        if self.workspace.library.dir().is_none() || self.workspace.library.read_only().is_some() {
            return Ok(None);
        }
        let now = self.workspace.clock.now();
        let newest = self.workspace.library.newest_backup();
        let made_at = newest.as_ref().and_then(|backup| backup.created_at.parse::<Timestamp>().ok());
        let due = made_at.is_none_or(|made| now.duration_since(made) >= DUE_AFTER);
        if !due || !self.workspace.library.changed_since(newest.as_ref()) {
            return Ok(None);
        }
        Ok(Some(shown(self.workspace.library.back_up().await?)))
    }
}

impl Engine {
    /// Why a change would be refused now, however small it is.
    ///
    /// # Errors
    /// `disk_full` or `read_only`.
    pub fn writable(&self) -> Result<()> {
        Ok(self.core.workspace.library.writable()?)
    }

    /// Compares everything in the library with the log of changes, once.
    pub fn verify_later(&self) {
        let core = std::sync::Arc::downgrade(&self.core);
        tokio::spawn(async move {
            tokio::time::sleep(VERIFIED_AFTER).await;
            let Some(core) = core.upgrade() else { return };
            match core.workspace.library.verify().await {
                Ok(found) if found.is_well() => {}
                Ok(found) => tracing::error!(problems = found.problem_count, "the library is damaged"),
                Err(error) => tracing::warn!(%error, "the library could not be verified"),
            }
            core.workspace.tell_library();
        });
    }

    /// Makes a backup a day, while there are changes, for as long as this process owns the library.
    pub fn keep_backups(&self) {
        let core = std::sync::Arc::downgrade(&self.core);
        tokio::spawn(async move {
            // Not at once: who has just started the program waits for other things.
            let first = tokio::time::Instant::now() + FIRST_LOOK;
            let mut pause = tokio::time::interval_at(first, LOOK_EVERY);
            loop {
                pause.tick().await;
                let Some(core) = core.upgrade() else { return };
                match core.back_up_if_due().await {
                    Ok(Some(backup)) => tracing::info!(name = backup.name, "made a backup"),
                    Ok(None) => {}
                    Err(error) => tracing::warn!(%error, "no backup could be made"),
                }
            }
        });
    }
}

impl Handle<CreateBackup> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Backup> {
        Ok(shown(self.core.workspace.library.back_up().await?))
    }
}

impl Handle<AcceptMissingChanges> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Nothing> {
        self.core.workspace.library.accept_missing_changes().await?;
        Ok(Nothing {})
    }
}

impl Handle<ListBackups> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<Backup>> {
        Ok(self.core.workspace.library.dir().map(|dir| list(dir.root())).unwrap_or_default())
    }
}
