//! Changes of any size, all or nothing.
//!
//! SurrealKV keeps a transaction in one memtable until it is written, and refuses what does not fit. So a
//! change that is larger than [`ROWS`] or [`BYTES`] is first written down, step by step, where nobody
//! looks (write-ahead, as in any redo log); one small transaction says that all of it is there, and from
//! then on the change is made: each step is carried out and struck off in one transaction of its own. A
//! library that opens with a change in between finishes it, or forgets it when it was never wholly written
//! down.

use std::sync::atomic::Ordering;

use surrealdb::types::{Number, Object, RecordId, SurrealValue, Value, object};

use crate::commit_log::{CommitRecord, RowChange, Tip};
use crate::crash;
use crate::error::{LibraryError, Result};
use crate::rows::{key_text, seq_text};
use crate::store::Library;

/// Rows of one transaction.
const ROWS: usize = 1_000;
/// Bytes of one transaction, as far as they can be told beforehand: far below what a memtable holds,
/// because every row is written with its keys and indexes.
const BYTES: usize = 4 << 20;

/// A part of a change.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Drops these rows, whether they are there or not.
    Drop(Vec<RecordId>),
    /// Writes journal entries.
    Revisions(Vec<Object>),
    /// Writes cards that are not there; each names the revision its text is taken from.
    Cards(Vec<Object>),
    /// Writes steps in the life of proposals.
    Events(Vec<Object>),
    /// Writes rows over what is there.
    Put(Vec<Object>),
    /// Adds a record to the log of commits.
    Record(Object),
    /// What makes it a change: its note, what it takes back, the outcome under its request's key.
    Close(Object),
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct RedoRow {
    id: RecordId,
    kind: String,
    rows: Value,
}

impl Step {
    fn kind(&self) -> &'static str {
        match self {
            Step::Drop(_) => "drop",
            Step::Revisions(_) => "revisions",
            Step::Cards(_) => "cards",
            Step::Events(_) => "events",
            Step::Put(_) => "put",
            Step::Record(_) => "record",
            Step::Close(_) => "close",
        }
    }

    /// What carries a step of this kind out, with its rows in `$name`.
    fn statement(kind: &str, name: &str) -> Option<String> {
        Some(match kind {
            "drop" => format!("DELETE ${name} RETURN NONE;"),
            "revisions" => format!("INSERT INTO revision ${name} RETURN NONE;"),
            "cards" => format!(
                "INSERT INTO card (SELECT id, provider, name, number, created_at, updated_at,
                     revision.body AS body FROM ${name}) RETURN NONE;"
            ),
            "events" => format!("INSERT INTO proposal_event ${name} RETURN NONE;"),
            "put" => format!("FOR $row IN ${name} {{ UPSERT $row.id CONTENT $row RETURN NONE }};"),
            "record" => format!("INSERT INTO commit_log ${name} RETURN NONE;"),
            "close" => format!(
                "IF ${name}.change != NONE {{
                     UPSERT ${name}.change SET operation = ${name}.operation, reason = ${name}.reason,
                         undone = false, part_of = ${name}.part_of RETURN NONE
                 }};
                 IF ${name}.undoes != NONE {{
                     UPDATE ${name}.undoes SET undone = true RETURN NONE;
                     UPDATE change SET undone = true WHERE part_of = ${name}.undone RETURN NONE;
                     UPDATE type::record('import', ${name}.undone) SET undone = true RETURN NONE;
                     DELETE foreign WHERE import = ${name}.undone RETURN NONE
                 }};
                 IF ${name}.forgiven != [] {{
                     DELETE rejection WHERE proposal IN ${name}.forgiven RETURN NONE
                 }};
                 IF ${name}.request != NONE {{
                     CREATE ${name}.request CONTENT {{ outcome: ${name}.outcome, at: ${name}.at }} RETURN NONE
                 }};
                 IF ${name}.staged = true {{ DELETE staging RETURN NONE }};"
            ),
            _ => return None,
        })
    }

    fn into_value(self) -> Value {
        match self {
            Step::Drop(ids) => ids.into_value(),
            Step::Revisions(rows) | Step::Cards(rows) | Step::Events(rows) | Step::Put(rows) => {
                rows.into_value()
            }
            Step::Record(row) | Step::Close(row) => Value::Object(row),
        }
    }

    /// The rows and bytes it writes, roughly.
    fn size(&self) -> (usize, usize) {
        let of = |rows: &[Object]| (rows.len(), rows.iter().map(bytes_of).sum());
        match self {
            Step::Drop(ids) => (ids.len(), ids.iter().map(id_bytes).sum()),
            Step::Revisions(rows) | Step::Cards(rows) | Step::Events(rows) | Step::Put(rows) => of(rows),
            Step::Record(row) | Step::Close(row) => (1, bytes_of(row)),
        }
    }

    /// The same in parts of which each fits into one transaction.
    fn parts(self) -> Vec<Step> {
        match self {
            Step::Drop(ids) => parts(ids, id_bytes).into_iter().map(Step::Drop).collect(),
            Step::Revisions(rows) => parts(rows, bytes_of).into_iter().map(Step::Revisions).collect(),
            Step::Cards(rows) => parts(rows, bytes_of).into_iter().map(Step::Cards).collect(),
            Step::Events(rows) => parts(rows, bytes_of).into_iter().map(Step::Events).collect(),
            Step::Put(rows) => parts(rows, bytes_of).into_iter().map(Step::Put).collect(),
            whole @ (Step::Record(_) | Step::Close(_)) => vec![whole],
        }
    }

    /// What it does to protected rows.
    fn row_changes(&self) -> Vec<RowChange> {
        match self {
            Step::Revisions(rows) | Step::Events(rows) | Step::Put(rows) => {
                rows.iter().filter_map(RowChange::of).collect()
            }
            Step::Close(row) => match row.get("forgiven") {
                Some(Value::Array(proposals)) => {
                    let number = |value: &Value| match value {
                        Value::Number(Number::Int(number)) => u32::try_from(*number).ok(),
                        _ => None,
                    };
                    let forgiven = proposals.iter().filter_map(number);
                    forgiven.map(|proposal| RowChange::Forgiven { proposal }).collect()
                }
                _ => Vec::new(),
            },
            Step::Drop(_) | Step::Cards(_) | Step::Record(_) => Vec::new(),
        }
    }

    /// How many cards there are more after it.
    fn cards_added(&self) -> i64 {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        match self {
            Step::Cards(rows) => count(rows.len()),
            Step::Drop(ids) => -count(ids.iter().filter(|id| id.table.as_str() == "card").count()),
            _ => 0,
        }
    }
}

/// Rows in as few pieces as fit into a transaction each.
pub(crate) fn parts<T>(rows: Vec<T>, bytes: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let mut all: Vec<Vec<T>> = Vec::new();
    let mut room = 0;
    for row in rows {
        let size = bytes(&row);
        match all.last_mut() {
            Some(part) if part.len() < ROWS && size <= room => {
                room -= size;
                part.push(row);
            }
            _ => {
                room = BYTES.saturating_sub(size);
                all.push(vec![row]);
            }
        }
    }
    all
}

fn id_bytes(id: &RecordId) -> usize {
    id.table.as_str().len() + key_text(id).len()
}

/// The bytes of a row, roughly.
pub(crate) fn bytes_of(row: &Object) -> usize {
    row.iter().map(|(name, value)| name.len() + value_bytes(value)).sum()
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::RecordId(id) => id_bytes(id),
        Value::Array(values) => values.iter().map(value_bytes).sum(),
        Value::Object(row) => bytes_of(row),
        _ => 8,
    }
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
