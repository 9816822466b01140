//! Changes of any size, all or nothing.
//!
//! SurrealKV keeps a transaction in one memtable until it is written, and refuses what does not fit. So a
//! change that is larger than [`ROWS`] or [`BYTES`] is first written down, step by step, where nobody
//! looks (write-ahead, as in any redo log); one small transaction says that all of it is there, and from
//! then on the change is made: each step is carried out and struck off in one transaction of its own. A
//! library that opens with a change in between finishes it, or forgets it when it was never wholly written
//! down.

use std::sync::atomic::Ordering;

use surrealdb::types::{Object, RecordId, SurrealValue, Value, object};

use crate::commit_log::{CommitRecord, RowChange, Tip};
use crate::crash;
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
    /// Makes a change, whatever its size, and records it in the log of commits: all of it or nothing. The
    /// caller holds the writers' turn. `staged` is what was written for it before.
    ///
    /// # Errors
    /// When the database fails. Whether the change was made is then known, and it was not, unless
    /// [`Library::is_redo_in_doubt`]: then it is settled before anybody writes again.
    pub(crate) async fn make(
        &self,
        mut steps: Vec<Step>,
        mut staged: Vec<RowChange>,
        reason: &str,
    ) -> Result<()> {
        staged.extend(steps.iter().flat_map(Step::row_changes));
        let before = self.tip().await?;
        let added: i64 = steps.iter().map(Step::cards_added).sum();
        let cards = before.cards.saturating_add_signed(added);
        let seq = self.next_commit(&before);
        let record = CommitRecord::after(&before, seq, &self.clock.stamp(), reason, cards, &staged);
        let after = record.tip();
        let last = steps.pop();
        steps.push(Step::Record(record.into_row()));
        steps.extend(last);
        // Who asked for the change may go away while it is made: until it is known, the store tells.
        *self.tip.lock().expect("no holder panics") = None;
        crash::point("commit.begun");
        self.make_steps(steps).await?;
        crash::point("commit.made");
        self.acknowledge(after)
    }

    async fn make_steps(&self, steps: Vec<Step>) -> Result<()> {
        let (rows, bytes) = steps.iter().map(Step::size).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        // Large changes are written twice: down, and then out.
        let twice = if rows <= ROWS && bytes <= BYTES { 1 } else { 2 };
        self.database.check_space(bytes.saturating_mul(twice))?;
        if twice == 1 {
            return self.make_at_once(steps).await;
        }
        self.redo_in_doubt.store(true, Ordering::Release);
        let Err(error) = self.make_by_steps(steps).await else {
            self.redo_in_doubt.store(false, Ordering::Release);
            return Ok(());
        };
        // What comes of it is told by what was written down. While that cannot be read, it stays in doubt.
        if self.settle_redo().await? { Ok(()) } else { Err(error) }
    }

    async fn make_at_once(&self, steps: Vec<Step>) -> Result<()> {
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

    async fn make_by_steps(&self, steps: Vec<Step>) -> Result<()> {
        let mut written = Vec::new();
        for (number, step) in steps.into_iter().flat_map(Step::parts).enumerate() {
            let row = object! { id: redo_id(number), kind: step.kind(), rows: step.clone().into_value() };
            self.execute("INSERT INTO redo $row RETURN NONE", object! { row: row }).await?;
            crash::point("redo.written");
            written.push(step);
        }
        // From here on the change is made.
        self.execute("CREATE redo_whole:now RETURN NONE", Object::new()).await?;
        crash::point("redo.whole");
        for (number, step) in written.into_iter().enumerate() {
            self.carry_out(redo_id(number), step.kind(), step.into_value()).await?;
            crash::point("redo.carried_out");
        }
        self.execute("DELETE redo_whole RETURN NONE", Object::new()).await
    }

    /// The newest record of the log of commits.
    async fn tip(&self) -> Result<Tip> {
        let known = self.tip.lock().expect("no holder panics").clone();
        match known {
            Some(tip) => Ok(tip),
            None => Ok(self.newest_commit().await?.map_or_else(Tip::default, |record| record.tip())),
        }
    }

    /// The number of the commit after `tip`. Numbers of commits that were lost are not given again.
    fn next_commit(&self, tip: &Tip) -> u64 {
        let head =
            self.database.head.as_ref().map_or(0, |head| head.lock().expect("no holder panics").get().seq);
        tip.seq.max(head) + 1
    }

    /// Notes a commit as acknowledged, apart from the store.
    pub(crate) fn acknowledge(&self, tip: Tip) -> Result<()> {
        if let Some(head) = &self.database.head {
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

    /// Carries a step out and strikes it off.
    async fn carry_out(&self, id: RecordId, kind: &str, rows: Value) -> Result<()> {
        let statement = Step::statement(kind, "rows")
            .ok_or_else(|| LibraryError::Database(format!("a change has the unknown step `{kind}`")))?;
        let query = format!("BEGIN; {statement} DELETE $id RETURN NONE; COMMIT;");
        let mut variables = object! { id: id };
        variables.insert("rows", rows);
        self.execute(&query, variables).await
    }

    /// Whether a change may be half made.
    pub(crate) fn is_redo_in_doubt(&self) -> bool {
        self.redo_in_doubt.load(Ordering::Acquire)
    }

    /// Finishes a change that was wholly written down, or forgets it; says whether it was finished.
    pub(crate) async fn settle_redo(&self) -> Result<bool> {
        let mut response = self
            .db()
            .await?
            .query("SELECT VALUE id FROM redo; SELECT VALUE id FROM redo_whole;")
            .await
            .map_err(|error| self.failed(&error))?;
        let mut left: Vec<RecordId> = response.take(0).map_err(|error| self.failed(&error))?;
        let whole: Vec<RecordId> = response.take(1).map_err(|error| self.failed(&error))?;
        left.sort_by_key(key_text);
        for id in left {
            if whole.is_empty() {
                self.execute("DELETE $id RETURN NONE", object! { id: id }).await?;
                continue;
            }
            for row in self.rows_by_id::<RedoRow>(vec![id]).await? {
                self.carry_out(row.id, &row.kind, row.rows).await?;
            }
        }
        self.execute("DELETE redo_whole RETURN NONE", Object::new()).await?;
        self.redo_in_doubt.store(false, Ordering::Release);
        Ok(!whole.is_empty())
    }
}
