//! Makes backups: on request, and once a day while there are changes. Compares them with the library, and prepares
//! restoring one.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autokit_api::commands::{
    AcceptMissingChanges, Context, CreateBackup, Handle, InspectBackup, ListBackups, RestoreBackup,
};
use autokit_api::{Backup, BackupContents, BackupRef, CardNames, Nothing};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{CardRecord, DataDir, Library, Staged, open_backup, stage_backup};
use autokit_toolcard::CardId;
use autokit_workspace::workspace::Workspace;
use jiff::SignedDuration;
use tokio::sync::{Mutex, watch};

use crate::backups::{list, to_api};

/// Time until everything is compared with the change log; opening a library checks only its newest changes.
const VERIFY_DELAY: Duration = Duration::from_mins(2);
/// Time until the first check whether a backup is due.
const FIRST_CHECK_DELAY: Duration = Duration::from_mins(10);
/// Time between checks whether a backup is due.
const CHECK_INTERVAL: Duration = Duration::from_hours(1);
/// Age of the newest backup at which another one is due.
const MAX_BACKUP_AGE: SignedDuration = SignedDuration::from_hours(24);

/// Most names of cards that a comparison lists.
const NAMES_LISTED: usize = 100;

/// Makes backups, and verifies the library against its change log.
#[derive(Clone, Debug)]
pub(super) struct Backups {
    workspace: Workspace,
    /// The backup that is to replace the library.
    staged: Arc<Mutex<Option<Staged>>>,
    /// Whether there is one, or was.
    is_staged: Arc<watch::Sender<bool>>,
}

impl Backups {
    pub(super) fn new(workspace: Workspace) -> Backups {
        Backups { workspace, staged: Arc::default(), is_staged: Arc::new(watch::Sender::new(false)) }
    }

    /// Returns a future that is true once a backup is to replace the library, and false when this is dropped.
    pub(super) fn restore_request(&self) -> impl Future<Output = bool> + use<> {
        let mut is_staged = self.is_staged.subscribe();
        async move { is_staged.wait_for(|staged| *staged).await.is_ok() }
    }

    /// Returns the backup that is to replace the library, once.
    pub(super) async fn take_staged(&self) -> Option<Staged> {
        self.staged.lock().await.take()
    }

    fn dir(&self) -> Result<&DataDir> {
        self.workspace.library.dir().ok_or_else(|| {
            ApiError::new(
                ErrorCode::NotFound,
                "a library in memory has no backups",
                "Use a library with a data directory.",
            )
        })
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
        let unchanged =
            newest.as_ref().map_or(0, |backup| backup.commit) == self.workspace.library.last_commit();
        if !due || unchanged {
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

#[async_trait]
impl Handle<InspectBackup> for Backups {
    async fn handle(&self, _: &Context, request: BackupRef) -> Result<BackupContents> {
        let dir = self.dir()?;
        let (backup, opened) = open_backup(dir, &request.name, self.workspace.clock.clone()).await?;
        let contents = self.compare(to_api(backup), &opened).await;
        opened.close().await?;
        contents
    }
}

impl Backups {
    async fn compare(&self, backup: Backup, opened: &Library) -> Result<BackupContents> {
        let library = &self.workspace.library;
        // Copies of the lists, because writers wait while they are read.
        let records = |library: &Library| -> Vec<Arc<CardRecord>> {
            library.read(|replica| replica.iter().cloned().collect())
        };
        let (ours, theirs) = (records(library), records(opened));
        let own: HashMap<&CardId, &Arc<CardRecord>> = ours.iter().map(|own| (&own.id, own)).collect();
        let (mut added, mut changed) = (Vec::new(), Vec::new());
        for record in &theirs {
            match own.get(&record.id) {
                None => added.push(record.key.to_string()),
                Some(own) if own.card() != record.card() => changed.push(record.key.to_string()),
                Some(_) => {}
            }
        }
        let kept: HashSet<&CardId> = theirs.iter().map(|record| &record.id).collect();
        let removed = ours.iter().filter(|own| !kept.contains(&own.id)).map(|own| own.key.to_string());
        let verified = opened.verify().await?;
        let later_changes = library.last_commit().saturating_sub(backup.commit);
        Ok(BackupContents {
            backup,
            problems: verified.problems.iter().map(ToString::to_string).collect(),
            added: card_names(added),
            removed: card_names(removed.collect()),
            changed: card_names(changed),
            proposals: opened.pending().await?.len() as u32,
            later_changes,
        })
    }
}

fn card_names(mut names: Vec<String>) -> CardNames {
    let count = names.len() as u32;
    names.sort_by_key(|name| name.to_lowercase());
    names.truncate(NAMES_LISTED);
    CardNames { count, first: names }
}

#[async_trait]
impl Handle<RestoreBackup> for Backups {
    async fn handle(&self, _: &Context, request: BackupRef) -> Result<Backup> {
        let dir = self.dir()?;
        self.workspace.library.ensure_writable()?;
        let mut staged = self.staged.lock().await;
        if *self.is_staged.borrow() {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                "a backup is being restored",
                "Wait until it is restored.",
            ));
        }
        let ready = stage_backup(dir, &request.name, self.workspace.clock.clone()).await?;
        let backup = to_api(ready.backup.clone());
        *staged = Some(ready);
        self.is_staged.send_replace(true);
        Ok(backup)
    }
}
