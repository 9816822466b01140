//! Snapshots of what was read from the store, so that opening a large library need not read every card.
//!
//! They are removed before the first change to anything they were made of, and written again when the library is
//! closed. They never decide anything: without one, or with one of another state, the store is read.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use autokit_replica::snapshot::Content;
use autokit_replica::{REPLICA_FORMAT, Replica, snapshot};
use surrealdb::types::{RecordId, SurrealValue};
use tokio::sync::MutexGuard;

use crate::data_dir::DataDir;
use crate::error::{LibraryError, Result};
use crate::migrate::SCHEMA_VERSION;
use crate::rows::key_text;
use crate::store::{Library, Snapshots};

/// Name of their folder in the data directory.
const FOLDER: &str = "snapshots";

/// Name of the snapshot of the cards.
const CARDS: &str = "cards";

/// Fewest cards of a library that is worth a snapshot; fewer are read about as fast.
const FEWEST: usize = 1_000;

impl Library {
    /// Returns the folder of the snapshots; `None` for a library that is in memory or cannot be changed.
    pub fn snapshots(&self) -> Option<PathBuf> {
        let dir = self.dir.as_ref().filter(|_| self.read_only().is_none())?;
        Some(dir.root().join(FOLDER))
    }

    /// Names the state of the cards, to be found in the snapshots made of them: the newest revision.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn state_of_cards(&self) -> Result<String> {
        #[derive(SurrealValue)]
        #[surreal(crate = "surrealdb::types")]
        struct Newest {
            id: RecordId,
            change: String,
        }
        let query = "SELECT id, change FROM revision ORDER BY id DESC LIMIT 1";
        let response = self.db().await?.query(query).await;
        let mut response = response.map_err(|error| self.failed(&error))?;
        let newest: Vec<Newest> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(newest.first().map_or_else(
            || "empty".to_owned(),
            |row| {
                let change = row.change.replace(|c: char| c.is_whitespace(), "_");
                format!("{SCHEMA_VERSION}-{}-{change}", key_text(&row.id))
            },
        ))
    }

    /// Returns the replica from its snapshot, if there is one of this state.
    pub(crate) async fn stored_replica(&self, newest: u64) -> Result<Option<Replica>> {
        let Some(folder) = self.snapshots() else { return Ok(None) };
        let Some(content) = snapshot::read(&folder.join(CARDS), &replica_key(&self.state_of_cards().await?))
        else {
            return Ok(None);
        };
        let replica = Replica::decode(&content)
            .inspect_err(|error| tracing::warn!(%error, "ignoring a snapshot of the cards"));
        let replica = replica.ok().filter(|replica| replica.cursor == newest);
        if replica.is_some() {
            *self.snapshots.lock().expect("no holder panics") = Snapshots::Current;
        }
        Ok(replica)
    }

    /// Whether there is something to gain by writing snapshots now. `others` says whether there are current ones of what
    /// else was made of the cards.
    pub fn needs_snapshots(&self, others: bool) -> bool {
        let is_current = *self.snapshots.lock().expect("no holder panics") == Snapshots::Current;
        !(is_current && others) && self.snapshots().is_some() && self.read(Replica::len) >= FEWEST
    }

    /// Returns a snapshot of something that was made of the cards in their current state; `key` names what else it
    /// depends on. `None` if there is none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn read_snapshot(&self, name: &str, key: &str) -> Result<Option<Content>> {
        let Some(folder) = self.snapshots() else { return Ok(None) };
        if self.read(Replica::len) < FEWEST {
            return Ok(None);
        }
        let state = self.state_of_cards().await?;
        Ok(snapshot::read(&folder.join(name), &format!("{state}-{key}")))
    }

    /// Holds back changes of cards, so that what was made of them can be stored. A change that is being made is completed
    /// first, its observer included.
    pub async fn hold_changes(&self) -> HeldChanges<'_> {
        let writer = self.writer.lock().await;
        HeldChanges {
            library: self,
            removals: self.snapshot_removals.load(Ordering::Acquire),
            _writer: writer,
        }
    }

    /// Removes the snapshots before something changes that they were made of: cards, vectors, pages, names or synonyms.
    pub(crate) fn remove_snapshots(&self) -> Result<()> {
        self.snapshot_removals.fetch_add(1, Ordering::AcqRel);
        let mut snapshots = self.snapshots.lock().expect("no holder panics");
        if *snapshots != Snapshots::Removed
            && let Some(dir) = &self.dir
        {
            remove_snapshots_of(dir)?;
            *snapshots = Snapshots::Removed;
        }
        Ok(())
    }
}

/// While it lives, no card changes.
#[derive(Debug)]
pub struct HeldChanges<'a> {
    library: &'a Library,
    /// [`Library::remove_snapshots`] calls until it was made.
    removals: u64,
    _writer: MutexGuard<'a, ()>,
}

impl HeldChanges<'_> {
    /// Stores a snapshot of the cards, and the content under these names, each with the key of what else it depends on,
    /// of whatever was made of them since this was called. Vectors and pages can change meanwhile: no snapshot is left
    /// then.
    ///
    /// # Errors
    /// When the database or a file cannot be read or written, or there is too little space.
    pub async fn write_snapshots(&self, others: &[(&str, &str, Vec<u8>)]) -> Result<()> {
        let library = self.library;
        let Some(folder) = library.snapshots() else { return Ok(()) };
        let state = library.state_of_cards().await?;
        let cards =
            library.read(Replica::encode).map_err(|error| LibraryError::Database(error.to_string()))?;
        let others_bytes: usize = others.iter().map(|(_, _, content)| content.len()).sum();
        // What is left of a disk is for what people write.
        library.database.check_space(cards.len() + others_bytes)?;
        let failed = |error| LibraryError::io(&folder, error);
        snapshot::write(&folder.join(CARDS), &replica_key(&state), &cards).map_err(failed)?;
        for (name, key, content) in others {
            snapshot::write(&folder.join(name), &format!("{state}-{key}"), content).map_err(failed)?;
        }
        let mut snapshots = library.snapshots.lock().expect("no holder panics");
        if library.snapshot_removals.load(Ordering::Acquire) == self.removals {
            *snapshots = Snapshots::Current;
            return Ok(());
        }
        *snapshots = Snapshots::Removed;
        snapshot::remove_all(&folder).map_err(failed)
    }
}

fn replica_key(state: &str) -> String {
    format!("{state}-{REPLICA_FORMAT}")
}

/// Removes the snapshots in a data directory.
pub(crate) fn remove_snapshots_of(dir: &DataDir) -> Result<()> {
    let folder = dir.root().join(FOLDER);
    snapshot::remove_all(&folder).map_err(|error| LibraryError::io(&folder, error))
}
