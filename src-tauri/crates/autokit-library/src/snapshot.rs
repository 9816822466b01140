//! A snapshot of the library, for long reads while changes continue.

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;

use autokit_commit_log::{CommitRecord, Head, Tip, row_name};
use autokit_store::Instance;
use surrealdb::engine::local::Db;
use surrealdb::method::Transaction;
use surrealdb::types::{Object, RecordId, RecordIdKey, RecordIdKeyRange, SurrealValue, Value};

use crate::error::Result;
use crate::rows::seq_text;
use crate::store::Library;

/// Rows read at a time.
const WINDOW: u64 = 1_000;

/// The store and the head as of the same commit.
pub(crate) struct Snapshot<'a> {
    library: &'a Library,
    /// A read-only transaction that sees what was committed before it began, and nothing later.
    transaction: Transaction<Db>,
    /// The instance it runs on, which may be abandoned in the meantime.
    _instance: Arc<Instance>,
    /// None for an in-memory or read-only library.
    pub(crate) head: Option<Head>,
}

impl Library {
    /// Takes a snapshot. The caller holds the `writer` lock until this returns, so that no change is in the
    /// store but not yet in memory.
    ///
    /// # Errors
    /// [`autokit_store::StoreError::DiskFull`] while a failed write could not be recovered from.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot<'_>> {
        let instance = self.database.ready(|| self.mark_stale()).await?;
        let transaction = instance.db().clone().begin().await.map_err(|error| self.failed(&error))?;
        Ok(Snapshot {
            library: self,
            transaction,
            _instance: instance,
            head: self.database.head().map(|head| head.lock().expect("no holder panics").get().clone()),
        })
    }
}

impl Snapshot<'_> {
    /// Returns the newest record of the commit log.
    pub(crate) async fn newest_commit(&self) -> Result<Tip> {
        let response = self.transaction.query("SELECT * FROM commit_log ORDER BY id DESC LIMIT 1").await;
        let mut response = response.map_err(|error| self.library.failed(&error))?;
        let newest: Vec<CommitRecord> = response.take(0).map_err(|error| self.library.failed(&error))?;
        Ok(newest.first().map_or_else(Tip::default, CommitRecord::tip))
    }

    /// Calls `visit` with every record of the log from `first` to `last`, in order.
    pub(crate) async fn each_commit(
        &self,
        first: u64,
        last: u64,
        mut visit: impl FnMut(CommitRecord) + Send,
    ) -> Result<()> {
        let mut next = first;
        while next <= last {
            let window = RecordIdKeyRange::from(seq_text(next)..seq_text(next.saturating_add(WINDOW)));
            let records: Vec<CommitRecord> = self.rows("commit_log", window).await?;
            records.into_iter().for_each(&mut visit);
            next += WINDOW;
        }
        Ok(())
    }

    /// Calls `visit` with every row of a table, in key order.
    pub(crate) async fn each_row(&self, table: &str, mut visit: impl FnMut(&Object) + Send) -> Result<()> {
        // Ids are read first: for a range without an end the database reads everything, whatever the limit.
        let ids = self.ids(table).await?;
        for window in ids.chunks(WINDOW as usize) {
            let bound =
                |id: Option<&RecordId>| id.map_or(Bound::Unbounded, |id| Bound::Included(id.key.clone()));
            let window = RecordIdKeyRange { start: bound(window.first()), end: bound(window.last()) };
            let rows: Vec<Value> = self.rows(table, window).await?;
            for row in &rows {
                if let Value::Object(row) = row {
                    visit(row);
                }
            }
        }
        Ok(())
    }

    /// Returns the ids of rows that exist but cannot be looked up by their id. Before a lookup, the store asks
    /// filters that have no checksum: a damaged one denies rows that a scan finds.
    pub(crate) async fn rows_without_lookup(&self, table: &str) -> Result<Vec<RecordId>> {
        let mut missing = Vec::new();
        for ids in self.ids(table).await?.chunks(WINDOW as usize) {
            let query = self.transaction.query("SELECT * FROM $ids").bind(("ids", ids.to_vec())).await;
            let mut response = query.map_err(|error| self.library.failed(&error))?;
            let rows: Vec<Value> = response.take(0).map_err(|error| self.library.failed(&error))?;
            let found: HashSet<String> = rows
                .iter()
                .filter_map(|row| match row {
                    Value::Object(row) => row.get("id"),
                    _ => None,
                })
                .filter_map(|id| match id {
                    Value::RecordId(id) => Some(row_name(id)),
                    _ => None,
                })
                .collect();
            missing.extend(ids.iter().filter(|id| !found.contains(&row_name(id))).cloned());
        }
        Ok(missing)
    }

    /// Returns the ids of all rows of a table, in key order.
    async fn ids(&self, table: &str) -> Result<Vec<RecordId>> {
        let query = format!("SELECT VALUE id FROM {table}");
        let response = self.transaction.query(query).await;
        let mut response = response.map_err(|error| self.library.failed(&error))?;
        response.take(0).map_err(|error| self.library.failed(&error))
    }

    /// Returns the rows of a table whose keys are in a range, in key order.
    async fn rows<T: SurrealValue>(&self, table: &str, keys: RecordIdKeyRange) -> Result<Vec<T>> {
        let range = RecordId::new(table, RecordIdKey::from(keys));
        let response = self.transaction.query("SELECT * FROM $range").bind(("range", range)).await;
        let mut response = response.map_err(|error| self.library.failed(&error))?;
        response.take(0).map_err(|error| self.library.failed(&error))
    }

    /// Ends the snapshot. Until then the store keeps the data that later changes replaced.
    pub(crate) async fn end(self) {
        if let Err(error) = self.transaction.cancel().await {
            tracing::warn!(%error, "failed to end a snapshot");
        }
    }
}
