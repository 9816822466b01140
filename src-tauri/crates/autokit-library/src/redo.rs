//! Atomic changes of any size.
//!
//! SurrealKV keeps a transaction in one memtable until it is written, and refuses one that does not fit. So a
//! change larger than [`ROWS`] or [`BYTES`] is first written, step by step, to a redo log that nobody reads
//! (write-ahead). One small transaction then marks the log as complete, which makes the change: each step is
//! applied and removed from the log in a transaction of its own. A library that opens with an unfinished
//! change completes it, or discards it if its log was never completed.

use std::sync::atomic::Ordering;

use autokit_commit_log::{CommitRecord, RowChange, Tip};
use autokit_store::crash;
use surrealdb::types::{Object, RecordId, SurrealValue, Value, object};

use crate::error::{LibraryError, Result};
use crate::rows::{key_text, seq_text};
use crate::step::{BYTES, ROWS, Step};
use crate::store::Library;

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct RedoRow {
    id: RecordId,
    kind: String,
    rows: Value,
}

fn redo_id(number: usize) -> RecordId {
    RecordId::new("redo", seq_text(number as u64))
}

impl Library {
    /// Applies a change of any size, all or nothing, and records it in the commit log. The caller holds the
    /// `writer` lock. `staged` are the changes to protected rows that were written for it beforehand.
    ///
    /// # Errors
    /// Returns an error when the database fails. The change was then not applied, unless
    /// [`Library::is_redo_uncertain`]: it is then completed or discarded before the next write.
    pub(crate) async fn apply_change(
        &self,
        mut steps: Vec<Step>,
        mut staged: Vec<RowChange>,
        reason: &str,
    ) -> Result<()> {
        if steps.iter().any(Step::changes_memory) {
            self.remove_snapshots()?;
        }
        staged.extend(steps.iter().flat_map(Step::row_changes));
        let before = self.tip().await?;
        let added: i64 = steps.iter().map(Step::cards_added).sum();
        let cards = before.cards.saturating_add_signed(added);
        let seq = self.next_commit(&before);
        let record = CommitRecord::after(&before, seq, self.clock.stamp(), reason, cards, &staged);
        let after = record.tip();
        let last = steps.pop();
        steps.push(Step::Record(record.into_row()));
        steps.extend(last);
        // The caller may be dropped while the change is applied; until the outcome is known, the tip has to
        // be read from the store.
        *self.tip.lock().expect("no holder panics") = None;
        crash::point("commit.begun");
        self.apply_steps(steps).await?;
        crash::point("commit.made");
        self.acknowledge(after)
    }

    async fn apply_steps(&self, steps: Vec<Step>) -> Result<()> {
        let (rows, bytes) = steps.iter().map(Step::size).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        // Large changes are written twice: to the redo log and then to the tables.
        let twice = if rows <= ROWS && bytes <= BYTES { 1 } else { 2 };
        self.database.check_space(bytes.saturating_mul(twice))?;
        if twice == 1 {
            return self.apply_in_one_transaction(steps).await;
        }
        self.redo_uncertain.store(true, Ordering::Release);
        let Err(error) = self.apply_by_steps(steps).await else {
            self.redo_uncertain.store(false, Ordering::Release);
            return Ok(());
        };
        // The redo log tells the outcome. While it cannot be read, the outcome stays unknown.
        if self.finish_redo().await? { Ok(()) } else { Err(error) }
    }

    async fn apply_in_one_transaction(&self, steps: Vec<Step>) -> Result<()> {
        let mut query = "BEGIN;".to_owned();
        let mut variables = Object::new();
        for (number, step) in steps.into_iter().enumerate() {
            let name = format!("step{number}");
            query.extend(Step::statement(step.kind(), &name));
            variables.insert(name, step.into_value());
        }
        query.push_str("COMMIT;");
        self.execute(&query, variables).await
    }

    async fn apply_by_steps(&self, steps: Vec<Step>) -> Result<()> {
        let mut written = Vec::new();
        for (number, step) in steps.into_iter().flat_map(Step::parts).enumerate() {
            let row = object! { id: redo_id(number), kind: step.kind(), rows: step.clone().into_value() };
            self.execute("INSERT INTO redo $row RETURN NONE", object! { row: row }).await?;
            crash::point("redo.written");
            written.push(step);
        }
        // From here on the change counts as made.
        self.execute("CREATE redo_whole:now RETURN NONE", Object::new()).await?;
        crash::point("redo.whole");
        for (number, step) in written.into_iter().enumerate() {
            self.apply_step(redo_id(number), step.kind(), step.into_value()).await?;
            crash::point("redo.carried_out");
        }
        self.execute("DELETE redo_whole RETURN NONE", Object::new()).await
    }

    /// Returns the newest record of the commit log.
    async fn tip(&self) -> Result<Tip> {
        if let Some(tip) = self.tip.lock().expect("no holder panics").clone() {
            return Ok(tip);
        }
        Ok(self.newest_commit().await?.map_or_else(Tip::default, |record| record.tip()))
    }

    /// Returns the number of the commit after `tip`. Numbers of lost commits are not reused.
    fn next_commit(&self, tip: &Tip) -> u64 {
        let head = self.database.head().map_or(0, |head| head.lock().expect("no holder panics").get().seq);
        tip.seq.max(head) + 1
    }

    /// Records a commit as acknowledged in the head.
    pub(crate) fn acknowledge(&self, tip: Tip) -> Result<()> {
        if let Some(head) = self.database.head() {
            head.lock().expect("no holder panics").update(|head| {
                head.seq = tip.seq;
                head.hash.clone_from(&tip.hash);
                head.cards = tip.cards;
            })?;
            crash::point("commit.acknowledged");
        }
        *self.tip.lock().expect("no holder panics") = Some(tip);
        Ok(())
    }

    /// Applies a step and removes it from the redo log.
    async fn apply_step(&self, id: RecordId, kind: &str, rows: Value) -> Result<()> {
        let statement = Step::statement(kind, "rows")
            .ok_or_else(|| LibraryError::malformed(format!("a change contains the unknown step `{kind}`")))?;
        let query = format!("BEGIN; {statement} DELETE $id RETURN NONE; COMMIT;");
        let mut variables = object! { id: id };
        variables.insert("rows", rows);
        self.execute(&query, variables).await
    }

    /// Whether a change may be half made.
    pub(crate) fn is_redo_uncertain(&self) -> bool {
        self.redo_uncertain.load(Ordering::Acquire)
    }

    /// Completes a fully logged change, or discards a partly logged one; returns whether it was completed.
    pub(crate) async fn finish_redo(&self) -> Result<bool> {
        let mut response = self
            .db()
            .await?
            .query("SELECT VALUE id FROM redo; SELECT VALUE id FROM redo_whole;")
            .await
            .map_err(|error| self.failed(&error))?;
        let mut pending: Vec<RecordId> = response.take(0).map_err(|error| self.failed(&error))?;
        let complete: Vec<RecordId> = response.take(1).map_err(|error| self.failed(&error))?;
        pending.sort_by_key(key_text);
        if !pending.is_empty() {
            self.remove_snapshots()?;
        }
        for id in pending {
            if complete.is_empty() {
                self.execute("DELETE $id RETURN NONE", object! { id: id }).await?;
                continue;
            }
            for row in self.rows_by_id::<RedoRow>(vec![id]).await? {
                self.apply_step(row.id, &row.kind, row.rows).await?;
            }
        }
        self.execute("DELETE redo_whole RETURN NONE", Object::new()).await?;
        self.redo_uncertain.store(false, Ordering::Release);
        Ok(!complete.is_empty())
    }
}
