//! An open library: closing it, and reading its store into the replica.

use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Duration;

use autokit_toolcard::{CardId, Toolcard};
use jiff::Timestamp;
use surrealdb::Surreal;
use surrealdb::engine::local::Db;
use surrealdb::types::{RecordId, SurrealValue, object};

use crate::checks::Checks;
use crate::clock::Clock;
use crate::commit_log::Tip;
use crate::data_dir::{DataDir, Ownership};
use crate::database::{Database, Instance};
use crate::error::{Code, LibraryError, Result};
use crate::problems::{Problem, Verified};
use crate::queue::Queue;
use crate::replica::{CardRecord, Cards, Replica};
use crate::rows::{CardRow, TombstoneRow, key_text};
use crate::step::Step;

/// Where a library lives.
#[derive(Debug)]
pub enum Place {
    /// In memory, gone when dropped.
    Memory,
    /// In a data directory this process owns.
    Disk(Ownership),
}

/// Somebody who has to be up to date whenever a change is answered, as the search index has.
pub trait Follower: Send + Sync {
    /// Told of the cards a change touched, in the order of changes. The change is stored and can be read; no
    /// other is made, and the change is not answered, before this is done. It must not change the library.
    fn follow<'a>(
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
    /// Writers take turns; readers use the replica and never wait for one.
    pub(crate) writer: tokio::sync::Mutex<()>,
    /// The newest record of the commit log; none while it may have fallen behind the store.
    pub(crate) tip: Mutex<Option<Tip>>,
    /// The proposals that wait.
    pub(crate) queue: RwLock<Queue>,
    /// Whether the queue may have fallen behind the store.
    pub(crate) queue_in_doubt: AtomicBool,
    /// Whether a large change may be half made.
    pub(crate) redo_in_doubt: AtomicBool,
    /// Steps told of proposals since the store was opened.
    pub(crate) steps: AtomicU32,
    /// What checking each card found, once somebody asked.
    pub(crate) checks: tokio::sync::RwLock<Option<Checks>>,
    pub(crate) checks_version: AtomicU64,
    /// What opening, or verifying since, found missing or altered.
    pub(crate) found: Mutex<Vec<Problem>>,
    /// How long opening took to compare the newest changes with the head.
    pub(crate) checked_in: Mutex<Duration>,
    /// When everything was last compared, and what came of it.
    pub(crate) verified: Mutex<Option<(Timestamp, Verified)>>,
    pub(crate) migrated_from: Option<PathBuf>,
    pub(crate) follower: OnceLock<Arc<dyn Follower>>,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl Drop for Library {
    /// Closes a store that nobody closed. That takes a while, and goes on in the background: the right to open the
    /// store is given up with its end, or the next owner would find it locked.
    fn drop(&mut self) {
        let Some(ownership) = self.ownership.get_mut().ok().and_then(Option::take) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let Some(closing) = self.database.give_up() else { return };
        runtime.spawn(async move {
            closing.await;
            drop(ownership);
        });
    }
}

impl Library {
    /// Has `follower` told of every change from now on. The first who asks is it.
    pub fn be_followed_by(&self, follower: Arc<dyn Follower>) {
        if self.follower.set(follower).is_err() {
            tracing::error!("a library that is followed already was to be followed by another");
        }
    }

    /// How long opening took to compare the newest changes, and the number of cards, with the head.
    pub fn checked_in(&self) -> Duration {
        *self.checked_in.lock().expect("no holder panics")
    }

    /// Whether the library can only be read, and why.
    pub fn read_only(&self) -> Option<Code> {
        let refusal = self.database.refusal()?;
        Some(if refusal.full { Code::DiskFull } else { Code::ReadOnly })
    }

    /// Why a change would be refused now, however small it is.
    ///
    /// # Errors
    /// [`LibraryError::DiskFull`] or [`LibraryError::ReadOnly`].
    pub fn writable(&self) -> Result<()> {
        self.database.check_space(0)
    }

    /// The backup made before this opening migrated the store, if it did.
    pub fn migrated_from(&self) -> Option<&Path> {
        self.migrated_from.as_deref()
    }

    /// The data directory; `None` in memory.
    pub fn dir(&self) -> Option<&DataDir> {
        self.dir.as_ref()
    }

    /// Looks at the cards in memory. Writers wait while `look` runs, so keep it short.
    ///
    /// # Panics
    /// When an earlier holder of the lock panicked.
    pub fn read<T>(&self, look: impl FnOnce(&Replica) -> T) -> T {
        look(&self.replica.read().expect("no reader panics"))
    }

    /// The cards, for whoever only reads them.
    pub fn cards(&self) -> Cards {
        Cards(Arc::clone(&self.replica))
    }

    /// The card with this id.
    ///
    /// # Errors
    /// [`LibraryError::NoCard`].
    pub fn card(&self, id: &CardId) -> Result<Arc<CardRecord>> {
        self.read(|replica| replica.get(id).cloned()).ok_or_else(|| LibraryError::NoCard(id.to_string()))
    }

    /// Closes the store: everything is flushed and another process may open it when this returns.
    /// Nothing can be read from the database or written afterwards.
    ///
    /// # Errors
    /// When the database cannot be flushed; it is given up all the same.
    pub async fn close(&self) -> Result<()> {
        let flushed = self.database.close().await;
        self.ownership.lock().expect("no holder panics").take();
        flushed
    }

    /// The database to ask.
    ///
    /// # Errors
    /// [`LibraryError::DiskFull`] while a failed write could not be recovered from.
    pub(crate) async fn db(&self) -> Result<DbHandle> {
        self.database.ready(|| self.doubt()).await.map(DbHandle)
    }

    /// What is in memory may be ahead of a store that was opened anew.
    pub(crate) fn doubt(&self) {
        self.redo_in_doubt.store(true, Ordering::Release);
        *self.tip.lock().expect("no holder panics") = None;
    }

    fn root(&self) -> Option<&Path> {
        self.dir.as_ref().map(DataDir::root)
    }

    pub(crate) fn failed(&self, error: &dyn fmt::Display) -> LibraryError {
        LibraryError::database(self.root(), error)
    }

    /// Runs statements that give nothing back, one such call after the other.
    ///
    /// # Errors
    /// [`LibraryError::DiskFull`] when there is not enough room, or what failed: then nothing of it stays.
    pub(crate) async fn execute(&self, query: &str, variables: surrealdb::types::Object) -> Result<()> {
        self.database.execute(query, variables, || self.doubt()).await
    }

    /// The rows with these ids, as far as they are there.
    pub(crate) async fn rows_by_id<T: SurrealValue>(&self, ids: Vec<RecordId>) -> Result<Vec<T>> {
        let response = self.db().await?.query("SELECT * FROM $ids").bind(("ids", ids)).await;
        let mut response = response.map_err(|error| self.failed(&error))?;
        response.take(0).map_err(|error| self.failed(&error))
    }

    /// A setting kept in the library.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn setting(&self, name: &str) -> Result<Option<String>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT VALUE value FROM ONLY type::record('setting', $name)")
            .bind(("name", name.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        response.take(0).map_err(|error| self.failed(&error))
    }

    /// Keeps a setting.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_setting(&self, name: &str, value: &str) -> Result<()> {
        let row = object! { id: RecordId::new("setting", name), value: value.to_owned() };
        // On the heap: settings are changed in the middle of much else.
        Box::pin(async {
            let _turn = self.writer.lock().await;
            self.settle_doubt().await?;
            self.make(vec![Step::Put(vec![row])], Vec::new(), "Change a setting").await
        })
        .await
    }

    pub(crate) async fn load(&self) -> Result<()> {
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM card; SELECT * FROM tombstone;")
            .await
            .map_err(|error| self.failed(&error))?;
        let cards: Vec<CardRow> = response.take(0).map_err(|error| self.failed(&error))?;
        let tombstones: Vec<TombstoneRow> = response.take(1).map_err(|error| self.failed(&error))?;
        let newest = self.newest_revision().await?;
        let mut replica = Replica::default();
        replica.cards.reserve(cards.len());
        replica.by_key.reserve(cards.len());
        for row in cards {
            replica.put(self.record(row)?);
        }
        for row in tombstones {
            replica.deleted.insert(CardId::new(key_text(&row.id)), (row.number as u32, row.created_at));
        }
        replica.cursor = newest;
        *self.replica.write().expect("no reader panics") = replica;
        Ok(())
    }

    /// The sequence number of the newest revision; 0 when there is none.
    pub(crate) async fn newest_revision(&self) -> Result<u64> {
        #[derive(SurrealValue)]
        #[surreal(crate = "surrealdb::types")]
        struct Newest {
            id: RecordId,
        }
        let mut response = self
            .db()
            .await?
            .query("SELECT id FROM revision ORDER BY id DESC LIMIT 1")
            .await
            .map_err(|error| self.failed(&error))?;
        let newest: Vec<Newest> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(newest.first().and_then(|row| key_text(&row.id).parse().ok()).unwrap_or(0))
    }

    pub(crate) fn record(&self, row: CardRow) -> Result<CardRecord> {
        let id = CardId::new(key_text(&row.id));
        let card = Toolcard::from_json(&row.body).map_err(|problems| LibraryError::Damaged {
            path: self.root().map(Path::to_owned).unwrap_or_default(),
            reason: format!("card {id}: {}", problems.first().map(ToString::to_string).unwrap_or_default()),
        })?;
        Ok(CardRecord::new(id, &card, row.body, row.number as u32, row.created_at, row.updated_at))
    }
}

impl Place {
    pub(crate) fn root(&self) -> Option<&Path> {
        match self {
            Place::Memory => None,
            Place::Disk(owned) => Some(owned.dir().root()),
        }
    }
}

/// An instance of the database that is being asked.
pub(crate) struct DbHandle(Arc<Instance>);

impl std::ops::Deref for DbHandle {
    type Target = Surreal<Db>;

    fn deref(&self) -> &Surreal<Db> {
        &self.0.db
    }
}
