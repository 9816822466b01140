//! The open library: loading the store into the replica, and closing it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Duration;

use autokit_commit_log::Tip;
use autokit_replica::{CardRecord, Checks, Replica, Snapshots};
use autokit_store::{DataDir, Database, Instance, Ownership, StoreError};
use autokit_toolcard::{CardId, Clock, Timestamp, Toolcard};
use surrealdb::Surreal;
use surrealdb::engine::local::Db;
use surrealdb::types::{Object, RecordId, SurrealValue, object};

use crate::error::{Code, LibraryError, Result};
use crate::problems::{Problem, Verified};
use crate::queue::Queue;
use crate::rows::{CardRow, TombstoneRow, key_text, timestamp};
use crate::step::Step;

/// Where a library is stored.
#[derive(Debug)]
pub enum Storage {
    /// In memory; gone when dropped.
    Memory,
    /// In a data directory this process owns.
    Disk(Ownership),
}

/// An observer that must be up to date before a change is acknowledged, such as the search index.
pub trait ChangeObserver: Send + Sync {
    /// Called with the cards a change touched, in the order of changes. The change is already stored and
    /// readable; no other change is made, and this one is not acknowledged, until the future completes. It
    /// must not change the library.
    fn on_change<'a>(
        &'a self,
        library: &'a Library,
        touched: &'a [CardId],
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

/// An open library.
pub struct Library {
    pub(crate) database: Database,
    pub(crate) dir: Option<DataDir>,
    /// Held until the store is closed.
    pub(crate) ownership: Mutex<Option<Ownership>>,
    pub(crate) clock: Clock,
    pub(crate) replica: Arc<RwLock<Replica>>,
    /// Serializes writers; readers use the replica and never wait for a writer.
    pub(crate) writer: tokio::sync::Mutex<()>,
    /// The newest record of the commit log; `None` while it may be out of date.
    pub(crate) tip: Mutex<Option<Tip>>,
    /// Unset for a library that is in memory or cannot be changed.
    pub(crate) snapshots: OnceLock<Snapshots>,
    /// The pending proposals.
    pub(crate) queue: RwLock<Queue>,
    /// Whether the queue may be out of date.
    pub(crate) queue_stale: AtomicBool,
    /// Whether the cards in memory may be behind a commit whose caller was dropped.
    pub(crate) cards_behind: AtomicBool,
    /// Whether a large change may be half made.
    pub(crate) redo_uncertain: AtomicBool,
    /// Number of proposal events since the store was opened.
    pub(crate) event_count: AtomicU32,
    /// The newest check of each card, once loaded.
    pub(crate) checks: tokio::sync::RwLock<Option<Checks>>,
    pub(crate) checks_version: AtomicU64,
    /// What opening or a later verification found missing or altered.
    pub(crate) problems: Mutex<Vec<Problem>>,
    /// How long opening took to compare the newest changes with the head.
    pub(crate) check_duration: Mutex<Duration>,
    /// When the library was last fully verified, and the result.
    pub(crate) verified: Mutex<Option<(Timestamp, Verified)>>,
    pub(crate) migrated_from: Option<PathBuf>,
    pub(crate) observer: OnceLock<Arc<dyn ChangeObserver>>,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl Drop for Library {
    /// Closes a store that nobody closed. This takes a while and continues in the background; ownership is
    /// released only when it ends, since the next owner would otherwise find the store locked.
    fn drop(&mut self) {
        let Some(ownership) = self.ownership.get_mut().ok().and_then(Option::take) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let Some(closing) = self.database.release_instance() else { return };
        runtime.spawn(async move {
            closing.await;
            drop(ownership);
        });
    }
}

impl Library {
    /// Registers `observer` to be called with every later change. Only the first registration takes effect.
    pub fn set_observer(&self, observer: Arc<dyn ChangeObserver>) {
        if self.observer.set(observer).is_err() {
            tracing::error!("the library already has an observer; ignoring another");
        }
    }

    /// Returns the clock by which changes are dated.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Number of the newest commit, where it is known: while it stays the same, so does what the library says.
    pub fn commit_number(&self) -> Option<u64> {
        self.tip.lock().expect("no holder panics").as_ref().map(|tip| tip.seq)
    }

    /// How long opening took to compare the newest changes and the number of cards with the head.
    pub fn check_duration(&self) -> Duration {
        *self.check_duration.lock().expect("no holder panics")
    }

    /// Whether the library is read-only, and why.
    pub fn read_only(&self) -> Option<Code> {
        let refusal = self.database.refusal()?;
        Some(if refusal.full { Code::DiskFull } else { Code::ReadOnly })
    }

    /// Checks that a change, however small, would not be refused now.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] or [`StoreError::ReadOnly`].
    pub fn ensure_writable(&self) -> Result<()> {
        Ok(self.database.check_space(0)?)
    }

    /// The backup made before opening migrated the store, if it did.
    pub fn migrated_from(&self) -> Option<&Path> {
        self.migrated_from.as_deref()
    }

    /// The data directory; `None` in memory.
    pub fn dir(&self) -> Option<&DataDir> {
        self.dir.as_ref()
    }

    /// Runs `read` on the cards in memory. Writers wait meanwhile, so keep it short.
    ///
    /// # Panics
    /// When an earlier holder of the lock panicked.
    pub fn read<T>(&self, read: impl FnOnce(&Replica) -> T) -> T {
        read(&self.replica.read().expect("no reader panics"))
    }

    /// Returns the card with this id.
    ///
    /// # Errors
    /// [`LibraryError::NoCard`].
    pub fn card(&self, id: &CardId) -> Result<Arc<CardRecord>> {
        self.read(|replica| replica.get(id).cloned()).ok_or_else(|| LibraryError::NoCard(id.clone()))
    }

    /// Closes the store. When this returns, everything is flushed, and another process may open the store as soon
    /// as the ownership is dropped. Afterwards nothing can be read from the database or written.
    ///
    /// # Errors
    /// Returns an error when the database cannot be flushed; it is released all the same.
    pub async fn close(&self) -> Result<Option<Ownership>> {
        let flushed = self.database.close().await;
        self.keep_snapshots();
        let ownership = self.ownership.lock().expect("no holder panics").take();
        flushed?;
        Ok(ownership)
    }

    /// Returns the database to query.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] while a failed write could not be recovered from.
    pub(crate) async fn db(&self) -> Result<DbHandle> {
        Ok(DbHandle(self.database.ready(|| self.mark_stale()).await?))
    }

    /// Marks state in memory as possibly ahead of a store that was reopened.
    pub(crate) fn mark_stale(&self) {
        self.redo_uncertain.store(true, Ordering::Release);
        *self.tip.lock().expect("no holder panics") = None;
    }

    fn root(&self) -> Option<&Path> {
        self.dir.as_ref().map(DataDir::root)
    }

    pub(crate) fn failed(&self, error: &dyn fmt::Display) -> LibraryError {
        LibraryError::database(self.root(), error)
    }

    /// Runs statements that return nothing; calls are serialized. Cards and what belongs to them change by
    /// [`Library::commit`] only: this is for the tables of others.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] when there is not enough space, or the failure, in which case nothing of
    /// the write remains.
    pub async fn execute(&self, query: &str, variables: Object) -> Result<()> {
        Ok(self.database.execute(query, variables, || self.mark_stale()).await?)
    }

    /// Returns the rows that a statement selects.
    ///
    /// # Errors
    /// When the database fails, or a row has another shape.
    pub async fn select<T: SurrealValue>(&self, query: &str, variables: Object) -> Result<Vec<T>> {
        let response = self.db().await?.query(query).bind(variables).await;
        let mut response = response.map_err(|error| self.failed(&error))?;
        response.take(0).map_err(|error| self.failed(&error))
    }

    /// Returns the rows with these ids; missing ones are left out.
    pub(crate) async fn rows_by_id<T: SurrealValue>(&self, ids: Vec<RecordId>) -> Result<Vec<T>> {
        let response = self.db().await?.query("SELECT * FROM $ids").bind(("ids", ids)).await;
        let mut response = response.map_err(|error| self.failed(&error))?;
        response.take(0).map_err(|error| self.failed(&error))
    }

    /// Returns a setting stored in the library.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn setting(&self, name: &str) -> Result<Option<String>> {
        let id = RecordId::new("setting", name);
        let values: Vec<String> = self.select("SELECT VALUE value FROM $id", object! { id: id }).await?;
        Ok(values.into_iter().next())
    }

    /// Stores a setting.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_setting(&self, name: &str, value: &str) -> Result<()> {
        let row = object! { id: RecordId::new("setting", name), value: value.to_owned() };
        // Boxed, because settings are changed from within large futures.
        Box::pin(async {
            let _guard = self.writer.lock().await;
            self.recover_state().await?;
            self.apply_change(vec![Step::Put(vec![row])], Vec::new(), "Change a setting").await
        })
        .await
    }

    /// Loads the cards into memory, from a snapshot of this state if there is one.
    pub(crate) async fn load(&self) -> Result<()> {
        let newest = self.newest_revision().await?;
        if let Some(stored) = self.stored_replica(&newest) {
            *self.replica.write().expect("no reader panics") = stored;
            return Ok(());
        }
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM card; SELECT * FROM tombstone;")
            .await
            .map_err(|error| self.failed(&error))?;
        let cards: Vec<CardRow> = response.take(0).map_err(|error| self.failed(&error))?;
        let tombstones: Vec<TombstoneRow> = response.take(1).map_err(|error| self.failed(&error))?;
        let mut replica = Replica::with_capacity(cards.len());
        for row in cards {
            let id = CardId::new(key_text(&row.id));
            let time = |text: &str| timestamp(text).map_err(|error| self.damaged(&id, &error));
            let (created_at, updated_at) = (time(&row.created_at)?, time(&row.updated_at)?);
            replica.put(self.record(id, row.body, row.number as u32, created_at, updated_at)?);
        }
        for row in tombstones {
            let id = CardId::new(key_text(&row.id));
            let created_at = timestamp(&row.created_at).map_err(|error| self.damaged(&id, &error))?;
            replica.deleted.insert(id, (row.number as u32, created_at));
        }
        replica.cursor = newest.seq;
        *self.replica.write().expect("no reader panics") = replica;
        Ok(())
    }

    /// Returns the newest revision.
    pub(crate) async fn newest_revision(&self) -> Result<NewestRevision> {
        #[derive(SurrealValue)]
        #[surreal(crate = "surrealdb::types")]
        struct Newest {
            id: RecordId,
            change: String,
        }
        let mut response = self
            .db()
            .await?
            .query("SELECT id, change FROM revision ORDER BY id DESC LIMIT 1")
            .await
            .map_err(|error| self.failed(&error))?;
        let newest: Vec<Newest> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(newest.into_iter().next().map_or_else(NewestRevision::default, |row| NewestRevision {
            seq: key_text(&row.id).parse().unwrap_or(0),
            change: row.change,
        }))
    }

    pub(crate) fn record(
        &self,
        id: CardId,
        body: String,
        number: u32,
        created_at: Timestamp,
        updated_at: Timestamp,
    ) -> Result<CardRecord> {
        let card = Toolcard::from_stored(&body).map_err(|problem| self.damaged(&id, &problem))?;
        Ok(CardRecord::new(id, &card, body, number, created_at, updated_at))
    }

    fn damaged(&self, card: &CardId, reason: &dyn fmt::Display) -> LibraryError {
        let path = self.root().map(Path::to_owned).unwrap_or_default();
        StoreError::Damaged { path, reason: format!("card {card}: {reason}") }.into()
    }
}

impl Storage {
    pub(crate) fn root(&self) -> Option<&Path> {
        match self {
            Storage::Memory => None,
            Storage::Disk(owned) => Some(owned.dir().root()),
        }
    }
}

/// The newest entry of the journal.
#[derive(Debug, Default)]
pub(crate) struct NewestRevision {
    /// Its sequence number; 0 if there is none.
    pub(crate) seq: u64,
    /// The change it belongs to.
    pub(crate) change: String,
}

/// A database instance in use by a query.
pub(crate) struct DbHandle(Arc<Instance>);

impl std::ops::Deref for DbHandle {
    type Target = Surreal<Db>;

    fn deref(&self) -> &Surreal<Db> {
        self.0.db()
    }
}

#[cfg(test)]
mod tests {
    use autokit_toolcard::fields;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_card_refused_by_a_newer_rule_is_still_read() {
        let library = Library::open(Storage::Memory, Clock::system()).await.expect("opens");
        let body = r#"{"name":"Kettle","verified":"yes"}"#;
        assert!(Toolcard::from_json(body).is_err());
        let row = object! {
            id: RecordId::new("card", "kettle"),
            provider: "",
            name: "Kettle",
            number: 1_i64,
            body: body,
            created_at: "2026-01-01T08:00:00.000Z",
            updated_at: "2026-01-01T08:00:00.000Z",
        };
        library.execute("INSERT INTO card $row RETURN NONE", object! { row: row }).await.expect("written");
        library.load().await.expect("read");
        let record = library.card(&CardId::new("kettle")).expect("exists");
        assert_eq!(record.card().text(fields::NAME), Some("Kettle"));
    }
}
