//! Snapshots of what was read from the store, so that opening a large library need not read every card.
//!
//! Only a process that read everything from the store and changed nothing of it writes them, when it closes the library:
//! what it has in memory is what the store has. They are removed before the first change to anything they were made of,
//! and are those of one clean close: once a process has opened the library without closing it, of whatever version, they
//! are ignored. They never decide anything: without one, the store is read.

use autokit_commit_log::{Head, HeadFile, StoreState};
use autokit_replica::snapshot::{self, Content};
use autokit_replica::{REPLICA_FORMAT, Replica, Snapshots};
use autokit_store::DataDir;
use tokio::sync::MutexGuard;

use crate::error::{LibraryError, Result};
use crate::migrate::SCHEMA_VERSION;
use crate::store::{Library, NewestRevision};

/// Name of their folder in the data directory.
const FOLDER: &str = "snapshots";
/// Name of the snapshot of the cards.
const CARDS: &str = "cards";
/// Fewest cards of a library that is worth a snapshot; fewer are read about as fast.
const FEWEST: usize = 1_000;

impl Library {
    /// Finds the snapshots. `head` is the head as it was before this process opened the library.
    pub(crate) fn find_snapshots(&self, head: Option<&Head>) {
        if let Some(dir) = self.dir.as_ref().filter(|_| self.read_only().is_none()) {
            let closed = head.filter(|head| head.state == StoreState::Closed).map(|head| head.generation);
            self.snapshots.get_or_init(|| Snapshots::new(dir.root().join(FOLDER), closed));
        }
    }

    /// Notes that the snapshots are of the state in which the library was just closed.
    pub(crate) fn keep_snapshots(&self) {
        let (Some(dir), Some(snapshots)) = (&self.dir, self.snapshots.get()) else { return };
        let head = HeadFile::peek(&dir.head_file()).filter(|head| head.state == StoreState::Closed);
        if let Some(Err(error)) = head.map(|head| snapshots.keep(head.generation)) {
            tracing::warn!(%error, "failed to keep snapshots");
        }
    }

    /// Returns the replica from its snapshot, if there is one of this state.
    pub(crate) fn stored_replica(&self, newest: &NewestRevision) -> Option<Replica> {
        let snapshots = self.snapshots.get()?;
        let content = snapshots.read(CARDS, &key(newest, REPLICA_FORMAT))?;
        let replica = Replica::decode(&content)
            .inspect_err(|error| tracing::warn!(%error, "ignoring a snapshot of the cards"));
        let replica = replica.ok().filter(|replica| replica.cursor() == newest.seq)?;
        snapshots.set_current();
        Some(replica)
    }

    /// Whether there is something to gain by writing snapshots now. `others` says whether there are current ones of what
    /// else was made of the cards.
    pub fn needs_snapshots(&self, others: bool) -> bool {
        self.snapshots
            .get()
            .is_some_and(|snapshots| !(snapshots.is_changed() || snapshots.is_current() && others))
            && self.read(Replica::len) >= FEWEST
    }

    /// Returns a snapshot of something that was made of the cards in their current state; `made_with` names what
    /// else it depends on. `None` if there is none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn read_snapshot(&self, name: &str, made_with: &str) -> Result<Option<Content>> {
        let Some(snapshots) = self.snapshots.get() else { return Ok(None) };
        Ok(snapshots.read(name, &key(&self.newest_revision().await?, made_with)))
    }

    /// Holds back changes of cards, so that what was made of them can be stored. A change that is being made is completed
    /// first, its observer included.
    pub async fn hold_changes(&self) -> HeldChanges<'_> {
        HeldChanges { library: self, _writer: self.writer.lock().await }
    }

    /// Removes the snapshots before something changes that they were made of: cards, vectors, pages, names or synonyms.
    pub(crate) fn remove_snapshots(&self) -> Result<()> {
        let (Some(dir), Some(snapshots)) = (&self.dir, self.snapshots.get()) else { return Ok(()) };
        snapshots.remove().map_err(|error| LibraryError::io(&dir.root().join(FOLDER), error))
    }
}

/// While it lives, no card changes.
#[derive(Debug)]
pub struct HeldChanges<'a> {
    library: &'a Library,
    _writer: MutexGuard<'a, ()>,
}

impl HeldChanges<'_> {
    /// Stores a snapshot of the cards, and the content under these names, each with the key of what else it depends on,
    /// of whatever was made of them. Does nothing if this process changed something.
    ///
    /// # Errors
    /// When the database or a file cannot be read or written, or there is too little space.
    pub async fn write_snapshots(&self, others: &[(&str, &str, Vec<u8>)]) -> Result<()> {
        let library = self.library;
        let (Some(dir), Some(snapshots)) = (&library.dir, library.snapshots.get()) else { return Ok(()) };
        let newest = library.newest_revision().await?;
        if snapshots.is_changed()
            || library.is_redo_uncertain()
            || library.read(Replica::cursor) != newest.seq
        {
            return Ok(());
        }
        let cards = library.read(Replica::encode).map_err(LibraryError::malformed)?;
        let bytes: usize = others.iter().map(|(_, _, content)| content.len()).sum();
        // What is left of a disk is for what people write.
        library.database.check_space(cards.len() + bytes)?;
        let others = others.iter().map(|(name, made_with, content)| (*name, *made_with, &content[..]));
        let files: Vec<(&str, String, &[u8])> = std::iter::once((CARDS, REPLICA_FORMAT, &cards[..]))
            .chain(others)
            .map(|(name, made_with, content)| (name, key(&newest, made_with), content))
            .collect();
        snapshots.write(&files).map_err(|error| LibraryError::io(&dir.root().join(FOLDER), error))
    }
}

/// Names the state of the cards that a snapshot was made of, and what else it was made with.
fn key(newest: &NewestRevision, made_with: &str) -> String {
    let change = newest.change.replace(char::is_whitespace, "_");
    format!("{SCHEMA_VERSION}-{}-{change}-{made_with}", newest.seq)
}

/// Removes the snapshots in a data directory.
pub(crate) fn remove_snapshots_of(dir: &DataDir) -> Result<()> {
    let folder = dir.root().join(FOLDER);
    snapshot::remove_all(&folder).map_err(|error| LibraryError::io(&folder, error))
}
