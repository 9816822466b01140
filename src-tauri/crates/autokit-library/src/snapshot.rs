//! The library as it was at one moment, to be read at length while changes go on.

use std::ops::Bound;
use std::sync::Arc;

use surrealdb::engine::local::Db;
use surrealdb::method::Transaction;
use surrealdb::types::{Object, RecordId, RecordIdKey, RecordIdKeyRange, SurrealValue, Value};

use crate::commit_log::{CommitRecord, Tip};
use crate::database::Instance;
use crate::error::Result;
use crate::head::Head;
use crate::rows::seq_text;
use crate::store::Library;

/// Rows read at a time.
const WINDOW: u64 = 1_000;

/// The store and the head as of the same commit.
pub(crate) struct Snapshot<'a> {
    library: &'a Library,
    /// Sees what was committed before it began, and nothing later. Nothing is written in it.
    transaction: Transaction<Db>,
    /// The instance it was begun on, which may be given up meanwhile.
    _instance: Arc<Instance>,
    /// None in memory, and where nothing can be written.
    pub(crate) head: Option<Head>,
}

impl Library {
    /// Begins to read the library as it is now. The caller holds the writers' turn until this returns, so
    /// that no change is between the store and the memory.
    ///
    /// # Errors
    /// [`crate::LibraryError::DiskFull`] while a failed write could not be recovered from.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot<'_>> {
        let instance = self.database.ready(|| self.doubt()).await?;
        let transaction = instance.db.clone().begin().await.map_err(|error| self.failed(&error))?;
        Ok(Snapshot {
            library: self,
            transaction,
            _instance: instance,
            head: self
                .database
                .head
                .as_ref()
                .map(|head| head.lock().expect("no holder panics").get().clone()),
        })
    }
}

impl Snapshot<'_> {
    /// The newest record of the log of commits.
    pub(crate) async fn newest_commit(&self) -> Result<Tip> {
        let response = self.transaction.query("SELECT * FROM commit_log ORDER BY id DESC LIMIT 1").await;
        let mut response = response.map_err(|error| self.library.failed(&error))?;
        let newest: Vec<CommitRecord> = response.take(0).map_err(|error| self.library.failed(&error))?;
        Ok(newest.first().map_or_else(Tip::default, CommitRecord::tip))
    }

    /// Shows every record of the log from `first` to `last` to `look`, in order.
    pub(crate) async fn each_commit(
        &self,
        first: u64,
        last: u64,
        mut look: impl FnMut(CommitRecord) + Send,
    ) -> Result<()> {
        let mut next = first;
        while next <= last {
            let window = RecordIdKeyRange::from(seq_text(next)..seq_text(next.saturating_add(WINDOW)));
            let records: Vec<CommitRecord> = self.rows("commit_log", window).await?;
            records.into_iter().for_each(&mut look);
            next += WINDOW;
        }
        Ok(())
    }

    /// Shows every row of a table to `look`, in the order of their keys.
    pub(crate) async fn each_row(&self, table: &str, mut look: impl FnMut(&Object) + Send) -> Result<()> {
        // The ids first: of a range without an end the database reads everything, whatever the limit.
        let query = format!("SELECT VALUE id FROM {table}");
        let response = self.transaction.query(query).await;
        let mut response = response.map_err(|error| self.library.failed(&error))?;
        let ids: Vec<RecordId> = response.take(0).map_err(|error| self.library.failed(&error))?;
        for window in ids.chunks(WINDOW as usize) {
            let bound =
                |id: Option<&RecordId>| id.map_or(Bound::Unbounded, |id| Bound::Included(id.key.clone()));
            let window = RecordIdKeyRange { start: bound(window.first()), end: bound(window.last()) };
            let rows: Vec<Value> = self.rows(table, window).await?;
            for row in &rows {
                if let Value::Object(row) = row {
                    look(row);
                }
            }
        }
        Ok(())
    }

    /// The rows of a table whose keys are in a range, in the order of their keys.
    async fn rows<T: SurrealValue>(&self, table: &str, keys: RecordIdKeyRange) -> Result<Vec<T>> {
        let range = RecordId::new(table, RecordIdKey::from(keys));
        let response = self.transaction.query("SELECT * FROM $range").bind(("range", range)).await;
        let mut response = response.map_err(|error| self.library.failed(&error))?;
        response.take(0).map_err(|error| self.library.failed(&error))
    }

    /// Lets go of it: until then the store keeps what later changes replaced.
    pub(crate) async fn end(self) {
        if let Err(error) = self.transaction.cancel().await {
            tracing::warn!(%error, "reading the library at one moment could not be ended");
        }
    }
}
