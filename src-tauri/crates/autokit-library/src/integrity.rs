//! Whether the store holds everything that was acknowledged.
//!
//! Opening compares the newest commit with the separately stored head, counts the cards, and checks the rows
//! written since the library was last closed. [`Library::verify`] checks everything.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use autokit_commit_log::{
    CommitRecord, Expected, Head, LOGGED, MissingCommits, PROTECTED, RowChange, RowDigest, Tip, digest,
    row_name,
};
use autokit_replica::CardRecord;
use autokit_store::StoreError;
use autokit_toolcard::{CardId, Timestamp};
use sha2::{Digest as _, Sha256};
use surrealdb::types::{Number, Object, RecordId, SurrealValue, Value};

use crate::error::{LibraryError, Result};
use crate::problems::{Problem, Verified};
use crate::rows::key_text;
use crate::snapshot::Snapshot;
use crate::store::Library;

/// Rows checked when a library opens; the rest is left to [`Library::verify`].
const ROWS_AT_OPENING: usize = 200;

impl Library {
    /// Returns what was found missing or altered when the library was opened or later verified, and losses
    /// that nobody has accepted yet.
    pub fn known_problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = self.losses().into_iter().map(Problem::from).collect();
        if self.head_was_missing() {
            problems.push(Problem::HeadMissing);
        }
        for problem in self.problems.lock().expect("no holder panics").iter() {
            if !problems.contains(problem) {
                problems.push(problem.clone());
            }
        }
        problems
    }

    /// Losses that were noticed and not yet accepted.
    fn losses(&self) -> Vec<MissingCommits> {
        let head = self.database.head();
        head.map_or_else(Vec::new, |head| head.lock().expect("no holder panics").get().losses.clone())
    }

    /// When the library was last fully verified since it was opened, and the result.
    pub fn last_verified(&self) -> Option<(Timestamp, Verified)> {
        self.verified.lock().expect("no holder panics").clone()
    }

    /// Whether acknowledged changes are, or may be, missing and [`Library::accept_missing_changes`] was not
    /// called yet.
    pub fn has_losses(&self) -> bool {
        !self.losses().is_empty() || self.head_was_missing()
    }

    fn head_was_missing(&self) -> bool {
        let head = self.database.head();
        head.is_some_and(|head| head.lock().expect("no holder panics").get().missing_since.is_some())
    }

    /// Accepts that acknowledged changes are missing: they are no longer reported.
    ///
    /// # Errors
    /// When the store or the head cannot be written.
    pub async fn accept_missing_changes(&self) -> Result<()> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        if !self.has_losses() {
            return Ok(());
        }
        // The log continues after the gap.
        self.apply_change(Vec::new(), Vec::new(), "Continue without missing changes").await?;
        let Some(head) = self.database.head() else { return Ok(()) };
        head.lock().expect("no holder panics").update(|head| {
            head.losses.clear();
            head.missing_since = None;
        })?;
        let is_loss =
            |problem: &Problem| matches!(problem, Problem::CommitsMissing { .. } | Problem::HeadMissing);
        self.problems.lock().expect("no holder panics").retain(|problem| !is_loss(problem));
        Ok(())
    }

    /// Returns the newest record of the commit log.
    pub(crate) async fn newest_commit(&self) -> Result<Option<CommitRecord>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM commit_log ORDER BY id DESC LIMIT 1")
            .await
            .map_err(|error| self.failed(&error))?;
        let newest: Vec<CommitRecord> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(newest.into_iter().next())
    }

    /// Compares the store with the head and returns what is missing or altered. Advances the head if a change
    /// was completed but not acknowledged.
    pub(crate) async fn check_head(&self, head: Option<&Head>) -> Result<Vec<Problem>> {
        let Some(newest) = self.newest_commit().await? else {
            return match head.filter(|head| head.seq > 0) {
                Some(head) => self.record_loss(head, &Tip::default(), None),
                None => self.begin_log().await,
            };
        };
        let mut problems = Vec::new();
        let tip = newest.tip();
        let cards = self.read(|replica| replica.len() as u64);
        if cards != tip.cards {
            problems.push(Problem::CardCount { expected: tip.cards, found: cards });
        }
        *self.tip.lock().expect("no holder panics") = Some(tip.clone());
        let Some(head) = head else {
            self.acknowledge_if_writable(tip)?;
            return Ok(problems);
        };
        if tip.seq < head.seq {
            problems.extend(self.record_loss(head, &tip, newest.at())?);
        } else {
            problems.extend(self.check_tail(head, &tip).await?);
            if tip.seq > head.seq {
                tracing::info!(commit = tip.seq, "a change completed without being acknowledged");
                self.acknowledge_if_writable(tip)?;
            }
        }
        Ok(problems)
    }

    fn acknowledge_if_writable(&self, tip: Tip) -> Result<()> {
        if self.database.head().is_some() { self.acknowledge(tip) } else { Ok(()) }
    }

    /// Checks the commits made since the library was last closed: whether they form a chain that matches the
    /// head, and whether their rows are there.
    async fn check_tail(&self, head: &Head, tip: &Tip) -> Result<Vec<Problem>> {
        let mut tail = Vec::new();
        let first = head.closed_at.min(head.seq).max(1);
        let snapshot = self.snapshot().await?;
        let read = snapshot.each_commit(first, tip.seq, |record| tail.push(record)).await;
        snapshot.end().await;
        read?;
        let mut problems = Vec::new();
        for (before, after) in tail.iter().zip(tail.iter().skip(1)) {
            if !after.follows(&before.tip()) {
                problems.push(Problem::LogBroken { commit: after.seq() });
            }
        }
        let acknowledged = tail.iter().find(|record| record.seq() == head.seq);
        if head.seq > 0 && acknowledged.is_none_or(|record| record.hash != head.hash) {
            problems.push(Problem::LogBroken { commit: head.seq });
        }
        let mut expected = Expected::default();
        for record in tail.iter().filter(|record| record.seq() > head.closed_at) {
            expected.apply(record);
        }
        let mut names: Vec<&String> = expected.rows.keys().collect();
        names.sort_by_key(|name| std::cmp::Reverse(expected.rows[*name].1));
        names.truncate(ROWS_AT_OPENING);
        let ids = names.iter().filter_map(|name| record_id(name)).collect();
        let rows: Vec<Value> = self.rows_by_id(ids).await?;
        let found: HashMap<String, RowDigest> = rows.iter().filter_map(named_digest).collect();
        for name in names {
            let (digest, seq) = expected.rows[name];
            let written_at = || tail.iter().find(|record| record.seq() == seq).and_then(CommitRecord::at);
            match found.get(name) {
                None => problems.push(Problem::RowMissing { row: name.clone(), written_at: written_at() }),
                Some(is) if *is != digest => {
                    problems.push(Problem::RowAltered { row: name.clone(), written_at: written_at() });
                }
                Some(_) => {}
            }
        }
        Ok(problems)
    }

    /// Records that acknowledged commits are missing, so that the loss is reported until somebody accepts it.
    fn record_loss(&self, head: &Head, tip: &Tip, since: Option<Timestamp>) -> Result<Vec<Problem>> {
        let loss =
            MissingCommits { first: tip.seq + 1, last: head.seq, since, noticed_at: self.clock.stamp() };
        tracing::warn!(?loss, "acknowledged changes are missing from the store");
        let known = head.losses.iter().any(|known| known.first == loss.first && known.last == loss.last);
        if let Some(file) = self.database.head().filter(|_| !known) {
            file.lock().expect("no holder panics").update(|head| head.losses.push(loss.clone()))?;
        }
        Ok(vec![Problem::from(loss)])
    }

    /// Starts the commit log of a library that has none, with one record of its current rows.
    async fn begin_log(&self) -> Result<Vec<Problem>> {
        let mut changes = Vec::new();
        let snapshot = self.snapshot().await?;
        for table in PROTECTED {
            snapshot.each_row(table, |row| changes.extend(RowChange::of(row))).await?;
        }
        snapshot.end().await;
        if changes.is_empty() {
            *self.tip.lock().expect("no holder panics") = Some(Tip::default());
            return Ok(Vec::new());
        }
        let cards = self.read(|replica| replica.len() as u64);
        let reason = "Begin the log of changes";
        let record = CommitRecord::after(&Tip::default(), 1, self.clock.stamp(), reason, cards, &changes);
        let tip = record.tip();
        let mut variables = Object::new();
        variables.insert("record", Value::Object(record.into_row()));
        self.execute("INSERT INTO commit_log $record RETURN NONE", variables).await?;
        self.acknowledge(tip)?;
        Ok(Vec::new())
    }

    /// Compares everything in the store with what was acknowledged.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] while a failed write could not be recovered from. Unreadable data is a
    /// problem in the report, not an error.
    pub async fn verify(&self) -> Result<Verified> {
        let (snapshot, cards) = {
            let _guard = self.writer.lock().await;
            self.recover_state().await?;
            let snapshot = self.snapshot().await?;
            (snapshot, self.read(|replica| replica.iter().cloned().collect::<Vec<_>>()))
        };
        let mut report = Verified::default();
        // Other problems are found again if they still exist.
        let only_at_opening = |problem: &Problem| {
            matches!(
                problem,
                Problem::CommitsMissing { .. } | Problem::CardCount { .. } | Problem::HeadMissing
            )
        };
        for problem in self.known_problems().into_iter().filter(only_at_opening) {
            report.add(problem);
        }
        let compared = compare_all(&snapshot, &cards, &mut report).await;
        snapshot.end().await;
        match compared {
            Err(LibraryError::Store(StoreError::Database(reason))) => {
                report.add(Problem::Unreadable { reason });
            }
            other => other?,
        }
        self.problems.lock().expect("no holder panics").clone_from(&report.problems);
        *self.verified.lock().expect("no holder panics") = Some((self.clock.stamp(), report.clone()));
        Ok(report)
    }
}

/// Compares the log with the head and with every protected row, and the cards with their revisions.
async fn compare_all(
    snapshot: &Snapshot<'_>,
    cards: &[Arc<CardRecord>],
    report: &mut Verified,
) -> Result<()> {
    let mut expected = Expected::default();
    let mut times: HashMap<u64, Timestamp> = HashMap::new();
    let mut before = Tip::default();
    let newest = snapshot.newest_commit().await?;
    let each = |record: CommitRecord| {
        if !record.follows(&before) {
            report.add(Problem::LogBroken { commit: record.seq() });
        }
        expected.apply(&record);
        before = record.tip();
        report.commits += 1;
        times.extend(record.at().map(|at| (record.seq(), at)));
    };
    snapshot.each_commit(1, newest.seq, each).await?;
    if let Some(head) = snapshot.head.as_ref().filter(|head| head.seq > 0 && head.losses.is_empty())
        && (head.seq != before.seq || head.hash != before.hash)
    {
        report.add(Problem::LogBroken { commit: head.seq });
    }
    let mut newest_bodies: HashMap<String, (i64, Option<BodyHash>)> = HashMap::new();
    for table in PROTECTED.into_iter().chain(LOGGED) {
        for id in snapshot.rows_without_lookup(table).await? {
            let row = row_name(&id);
            let written_at = expected.rows.get(&row).and_then(|(_, seq)| times.get(seq)).copied();
            report.add(Problem::RowMissing { row, written_at });
        }
        let mut unknown = Vec::new();
        let each = |row: &Object| {
            report.rows += 1;
            let Some(Value::RecordId(id)) = row.get("id") else { return };
            if table == "revision" {
                keep_newest(row, &mut newest_bodies);
            }
            let name = row_name(id);
            match expected.rows.remove(&name) {
                None => unknown.push(name),
                Some((stored, _)) if stored == digest(row) => {}
                Some((_, seq)) => {
                    let written_at = times.get(&seq).copied();
                    report.add(Problem::RowAltered { row: name, written_at });
                }
            }
        };
        snapshot.each_row(table, each).await?;
        // Settings written before they were logged belong to no commit.
        for row in unknown.into_iter().filter(|_| !LOGGED.contains(&table)) {
            report.add(Problem::RowUnknown { row });
        }
    }
    let mut missing: Vec<(String, u64)> =
        expected.rows.into_iter().map(|(row, (_, seq))| (row, seq)).collect();
    missing.sort();
    for (row, seq) in missing {
        report.add(Problem::RowMissing { row, written_at: times.get(&seq).copied() });
    }
    compare_cards(snapshot, cards, newest_bodies, report).await
}

/// Compares every card, in the store and in memory, with its newest revision.
async fn compare_cards(
    snapshot: &Snapshot<'_>,
    cards: &[Arc<CardRecord>],
    newest: HashMap<String, (i64, Option<BodyHash>)>,
    report: &mut Verified,
) -> Result<()> {
    let mut seen: HashSet<String> = HashSet::new();
    let mut differing: Vec<String> = Vec::new();
    let each = |row: &Object| {
        report.cards += 1;
        let Some(Value::RecordId(id)) = row.get("id") else { return };
        let card = key_text(id);
        let same = newest.get(&card).is_some_and(|(number, body)| {
            row.get("number") == Some(&number.into_value())
                && matches!((row.get("body"), body), (Some(Value::String(is)), Some(stored)) if hash_of(is) == *stored)
        });
        if !same {
            differing.push(card.clone());
        }
        seen.insert(card);
    };
    snapshot.each_row("card", each).await?;
    differing.extend(snapshot.rows_without_lookup("card").await?.iter().map(key_text));
    let gone = newest.iter().filter(|(card, (_, body))| body.is_some() && !seen.contains(*card));
    differing.extend(gone.map(|(card, _)| card.clone()));
    for record in cards {
        let stored = newest.get(record.id.as_str()).and_then(|(_, body)| *body);
        if stored != Some(hash_of(&record.body)) {
            differing.push(record.id.to_string());
        }
    }
    differing.sort();
    differing.dedup();
    for card in differing {
        report.add(Problem::CardDiffers { card: CardId::new(card) });
    }
    Ok(())
}

/// SHA-256 of a card's JSON text.
type BodyHash = [u8; 32];

fn hash_of(body: &str) -> BodyHash {
    Sha256::digest(body).into()
}

fn keep_newest(row: &Object, newest: &mut HashMap<String, (i64, Option<BodyHash>)>) {
    let Some(Value::String(card)) = row.get("card") else { return };
    let Some(Value::Number(Number::Int(number))) = row.get("number") else { return };
    let body = match row.get("body") {
        Some(Value::String(body)) => Some(hash_of(body)),
        _ => None,
    };
    let known = newest.entry(card.clone()).or_insert((0, None));
    if *number > known.0 {
        *known = (*number, body);
    }
}

fn record_id(name: &str) -> Option<RecordId> {
    let (table, key) = name.split_once(':')?;
    Some(RecordId::new(table, key))
}

fn named_digest(row: &Value) -> Option<(String, RowDigest)> {
    let Value::Object(row) = row else { return None };
    match row.get("id") {
        Some(Value::RecordId(id)) => Some((row_name(id), digest(row))),
        _ => None,
    }
}
