//! Changing the library in atomic batches.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use autokit_replica::Replica;
use autokit_toolcard::{Author, CardId, CardKey, Operation, ProposalId, RevisionId, Timestamp, Toolcard};
use serde::{Deserialize, Serialize};
use surrealdb::types::{Object, RecordId, RecordIdKey, RecordIdKeyRange, Value, object};

use crate::error::{LibraryError, Result};
use crate::rows::{RevisionRow, key_text, proposal_number, seq_text, timestamp};
use crate::shared::{Attribution, ReceivedCard};
use crate::step::Step;
use crate::store::Library;
use crate::vectors::PackedVectors;

/// Who changes the library, how and why.
#[derive(Clone, Debug)]
pub struct Meta {
    /// The operation.
    pub operation: Operation,
    /// Its author.
    pub author: Author,
    /// Its reason.
    pub reason: String,
    /// The change this batch continues, if one action takes several batches.
    pub change: Option<String>,
    /// Key of the request. A second commit with the same key returns the first one's result and changes
    /// nothing, so that a client can retry after losing the connection.
    pub request: Option<String>,
}

/// What to do if the card already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutMode {
    /// Fail: the card is meant to be new.
    Create,
    /// Replace the card with this provider and name, or add it.
    Upsert,
}

/// One write of a batch.
#[derive(Clone, Debug)]
pub enum Write {
    /// Adds or replaces a card, identified by its provider and name.
    Put {
        /// The card.
        card: Box<Toolcard>,
        /// What to do when it exists.
        mode: PutMode,
        /// Its vectors, if it could be embedded.
        vectors: Option<PackedVectors>,
    },
    /// Adds a card that has this id in another library; if a card here has that id, a new id is assigned.
    Import {
        /// Its id there.
        id: CardId,
        /// The card.
        card: Box<Toolcard>,
        /// Its vectors, if it could be embedded.
        vectors: Option<PackedVectors>,
    },
    /// Changes the card with this id, which may rename it.
    Edit {
        /// The card to change.
        id: CardId,
        /// Revision the edit is based on; `None` overwrites any revision.
        expected: Option<u32>,
        /// The card after the edit.
        card: Box<Toolcard>,
        /// Its vectors, if it could be embedded.
        vectors: Option<PackedVectors>,
    },
    /// Restores a card, which may have been deleted.
    Restore {
        /// The card.
        id: CardId,
        /// Its new content.
        card: Box<Toolcard>,
        /// Its vectors, if it could be embedded.
        vectors: Option<PackedVectors>,
    },
    /// Removes a card; its history stays.
    Delete {
        /// The card.
        id: CardId,
    },
    /// Brings a card to the state it has in a team's library.
    Receive(Box<ReceivedCard>),
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Committed {
    /// Id of the change, for undoing it; `None` when nothing differed.
    pub change: Option<String>,
    /// Cards added.
    pub added: Vec<CardId>,
    /// Cards changed.
    pub changed: Vec<CardId>,
    /// Cards that already had the requested content.
    pub unchanged: Vec<CardId>,
    /// Cards removed.
    pub deleted: Vec<CardId>,
}

/// What an undo or redo did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// The change that was undone or redone.
    pub change: String,
    /// Its reason, to tell the person what it was.
    pub reason: String,
    /// Cards returned to their previous state.
    pub cards: Vec<CardId>,
    /// Cards left alone because they changed again since.
    pub kept: Vec<CardId>,
    /// The change that did it, by which an undo can be redone; none if no card changed, or for an import.
    pub by: Option<String>,
}

/// The state of a card while a batch is computed.
#[derive(Clone)]
enum Staged {
    Live { key: CardKey, number: u32, body: Arc<str>, created_at: Timestamp, revision: u64 },
    Deleted { number: u32, created_at: Timestamp },
}

/// A batch being computed against the replica.
struct Batch<'a> {
    replica: &'a Replica,
    cards: HashMap<CardId, Staged>,
    keys: HashMap<CardKey, Option<CardId>>,
    revisions: Vec<Object>,
    vectors: Vec<Object>,
    outcome: Committed,
    next: u64,
    now: Timestamp,
    change: String,
    meta: &'a Meta,
    /// Revisions of other libraries merged into what is written.
    merged: Vec<String>,
    /// Who made what is written and when, if not whoever commits.
    made: Option<&'a Attribution>,
    /// Rows of shared states.
    shared: Vec<Object>,
}

impl<'a> Batch<'a> {
    fn staged(&self, id: &CardId) -> Option<Staged> {
        if let Some(staged) = self.cards.get(id) {
            return Some(staged.clone());
        }
        if let Some(record) = self.replica.get(id) {
            return Some(Staged::Live {
                key: record.key.clone(),
                number: record.number,
                body: Arc::from(&*record.body),
                created_at: record.created_at,
                // Only cards written by this batch refer to one of its revisions.
                revision: 0,
            });
        }
        let (number, created_at) = self.replica.deleted.get(id)?;
        Some(Staged::Deleted { number: *number, created_at: *created_at })
    }

    fn id_of_key(&self, key: &CardKey) -> Option<CardId> {
        match self.keys.get(key) {
            Some(staged) => staged.clone(),
            None => self.replica.id_of(key).cloned(),
        }
    }

    /// Returns the id for a new card: the key's own id, unless a renamed card still has it.
    fn free_id(&self, key: &CardKey) -> CardId {
        let own = key.id();
        let taken = |id: &CardId| matches!(self.staged(id), Some(Staged::Live { .. }));
        if !taken(&own) {
            return own;
        }
        // Each existing card can hold one alternative id, so one more than their number is free.
        let most = u32::try_from(self.replica.len() + self.cards.len()).unwrap_or(u32::MAX).saturating_add(2);
        (2..=most).map(|n| own.alternative(n)).find(|id| !taken(id)).unwrap_or(own)
    }

    fn write(&mut self, write: &'a Write) -> Result<()> {
        match write {
            Write::Receive(received) => self.receive(received),
            Write::Put { card, mode, vectors } => {
                let key = card.key();
                match (self.id_of_key(&key), mode) {
                    (Some(existing), PutMode::Create) => {
                        Err(LibraryError::Duplicate { key: key.to_string(), existing: existing.clone() })
                    }
                    (Some(existing), PutMode::Upsert) => self.put(existing, card, vectors.as_ref()),
                    (None, _) => {
                        let id = self.free_id(&key);
                        self.put(id, card, vectors.as_ref())
                    }
                }
            }
            Write::Import { id, card, vectors } => {
                let key = card.key();
                if let Some(existing) = self.id_of_key(&key) {
                    return Err(LibraryError::Duplicate { key: key.to_string(), existing: existing.clone() });
                }
                let taken = matches!(self.staged(id), Some(Staged::Live { .. }));
                let id = if taken { self.free_id(&key) } else { id.clone() };
                self.put(id, card, vectors.as_ref())
            }
            Write::Edit { id, expected, card, vectors } => {
                let Some(Staged::Live { number, .. }) = self.staged(id) else {
                    return Err(LibraryError::NoCard(id.clone()));
                };
                if let Some(expected) = expected.filter(|expected| *expected != number) {
                    return Err(LibraryError::Conflict { card: id.clone(), expected, current: number });
                }
                self.put(id.clone(), card, vectors.as_ref())
            }
            Write::Restore { id, card, vectors } => {
                if self.staged(id).is_none() {
                    return Err(LibraryError::NoCard(id.clone()));
                }
                self.put(id.clone(), card, vectors.as_ref())
            }
            Write::Delete { id } => match self.staged(id) {
                Some(Staged::Live { key, number, created_at, .. }) => {
                    self.delete(id, key, number, created_at);
                    Ok(())
                }
                _ => Err(LibraryError::NoCard(id.clone())),
            },
        }
    }

    fn delete(&mut self, id: &CardId, key: CardKey, number: u32, created_at: Timestamp) {
        self.keys.insert(key, None);
        self.cards.insert(id.clone(), Staged::Deleted { number: number + 1, created_at });
        self.push_revision(id, number + 1, None);
        self.outcome.deleted.push(id.clone());
    }

    fn receive(&mut self, received: &'a ReceivedCard) -> Result<()> {
        let id = match (&received.id, &received.card) {
            (Some(id), _) => id.clone(),
            (None, Some(card)) => self.free_id(&card.key()),
            // It was deleted before it was ever here.
            (None, None) => return Ok(()),
        };
        let number = |staged: Option<Staged>| match staged {
            Some(Staged::Live { number, .. } | Staged::Deleted { number, .. }) => number,
            None => 0,
        };
        let current = number(self.staged(&id));
        // The id of a card that was never here may be one that was deleted.
        if received.id.is_some() && received.expected != current {
            return Err(LibraryError::Conflict { card: id, expected: received.expected, current });
        }
        self.made = Some(&received.made);
        match (&received.card, self.staged(&id)) {
            (Some(card), _) => {
                let named = self.with_free_name(&id, card);
                let vectors = received.vectors.as_ref().filter(|_| matches!(named, Cow::Borrowed(_)));
                self.put(id.clone(), &named, vectors)?;
            }
            (None, Some(Staged::Live { key, number, created_at, .. })) => {
                self.delete(&id, key, number, created_at);
            }
            (None, _) => {}
        }
        self.shared.push(received.row(&id, number(self.staged(&id))));
        if let Some((card, made)) = &received.merged {
            self.made = Some(made);
            self.put(id.clone(), &self.with_free_name(&id, card), None)?;
        }
        self.made = None;
        Ok(())
    }

    /// Returns the card, with a number added to its name if another card has it: in a team's library several may, since one
    /// that somebody does not see must not show in what they can call theirs.
    fn with_free_name<'c>(&self, id: &CardId, card: &'c Toolcard) -> Cow<'c, Toolcard> {
        let is_free = |card: &Toolcard| self.id_of_key(&card.key()).is_none_or(|holder| holder == *id);
        if is_free(card) {
            return Cow::Borrowed(card);
        }
        let numbered = (2_u32..).map(|number| card.renamed(&format!("{} ({number})", card.name())));
        numbered.into_iter().find(is_free).map_or(Cow::Borrowed(card), Cow::Owned)
    }

    fn put(&mut self, id: CardId, card: &Toolcard, vectors: Option<&PackedVectors>) -> Result<()> {
        let key = card.key();
        if let Some(existing) = self.id_of_key(&key).filter(|existing| *existing != id) {
            return Err(LibraryError::Duplicate { key: key.to_string(), existing: existing.clone() });
        }
        let text = card.to_json();
        let (number, created_at, known) = match self.staged(&id) {
            Some(Staged::Live { body, .. }) if *body == *text => {
                self.outcome.unchanged.push(id);
                return Ok(());
            }
            Some(Staged::Live { key: old, number, created_at, .. }) => {
                if old != key {
                    self.keys.insert(old, None);
                }
                (number + 1, created_at, true)
            }
            Some(Staged::Deleted { number, created_at }) => (number + 1, created_at, false),
            None => (1, self.now, false),
        };
        let revision = self.next;
        self.push_revision(&id, number, Some(&text));
        if let Some(vectors) = vectors {
            self.vectors.push(vectors.row(&id, number));
        }
        self.keys.insert(key.clone(), Some(id.clone()));
        self.cards
            .insert(id.clone(), Staged::Live { key, number, body: Arc::from(text), created_at, revision });
        if known {
            self.outcome.changed.push(id);
        } else {
            self.outcome.added.push(id);
        }
        Ok(())
    }

    fn push_revision(&mut self, card: &CardId, number: u32, body: Option<&str>) {
        let (operation, author, reason, at) = match self.made {
            Some(made) => (made.operation, &made.author, &made.reason, made.at),
            None => (self.meta.operation, &self.meta.author, &self.meta.reason, self.now),
        };
        self.revisions.push(object! {
            id: RecordId::new("revision", seq_text(self.next)),
            card: card.as_str().to_owned(),
            number: i64::from(number),
            change: self.change.clone(),
            operation: operation.as_str().to_owned(),
            author: author.0.clone(),
            reason: reason.clone(),
            at: at.to_string(),
            body: body.map(str::to_owned),
            merged: (!self.merged.is_empty()).then(|| self.merged.clone()),
        });
        self.next += 1;
    }

    /// Returns the rows of cards after the batch: new and changed ones, and tombstones.
    fn card_rows(&self) -> (Vec<Object>, Vec<Object>) {
        let (mut live, mut tombstones) = (Vec::new(), Vec::new());
        for (id, staged) in &self.cards {
            match staged {
                Staged::Live { key, number, created_at, revision, .. } => live.push(object! {
                    id: RecordId::new("card", id.as_str()),
                    provider: key.provider.clone(),
                    name: key.name.clone(),
                    number: i64::from(*number),
                    revision: RecordId::new("revision", seq_text(*revision)),
                    created_at: created_at.to_string(),
                    updated_at: self.now.to_string(),
                }),
                Staged::Deleted { number, created_at } => tombstones.push(object! {
                    id: RecordId::new("tombstone", id.as_str()),
                    number: i64::from(*number),
                    created_at: created_at.to_string(),
                }),
            }
        }
        (live, tombstones)
    }
}

/// Creates rows of other tables, given the id of the change they belong to, or refuses the commit. There is
/// no change if no card differs.
pub(crate) type RowsOfChange<'a> = &'a (dyn Fn(Option<&str>) -> Result<Vec<Object>> + Sync);

/// The change to undo.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UndoTarget<'a> {
    /// Its id.
    pub(crate) change: &'a str,
    /// Whether all of it is undone, so that it counts as undone.
    pub(crate) mark_undone: bool,
    /// Proposals it decided, whose rejections are deleted with it.
    pub(crate) proposals: &'a [ProposalId],
    /// The decisions on them, if the undo can be redone: JSON.
    pub(crate) decisions: Option<&'a str>,
}

/// The undo to take back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RedoTarget<'a> {
    /// Id of the undo.
    pub(crate) undo: &'a str,
    /// The change it undid.
    pub(crate) change: &'a str,
}

/// Parts of a commit other than its cards.
#[derive(Clone, Copy, Default)]
pub(crate) struct CommitExtras<'a> {
    /// The change this one undoes.
    pub(crate) undoes: Option<UndoTarget<'a>>,
    /// The undo this one takes back.
    pub(crate) redoes: Option<RedoTarget<'a>>,
    /// Rows of other tables.
    pub(crate) rows: Option<RowsOfChange<'a>>,
    /// Revisions of other libraries merged into what is written.
    pub(crate) merged: &'a [RevisionId],
    /// The import this change belongs to; undoing the import undoes this change too.
    pub(crate) part_of: Option<&'a str>,
}

/// Returns the record id of the proposal if the row is a proposal.
fn proposal_of(row: &Object) -> Option<RecordId> {
    match row.get("id") {
        Some(Value::RecordId(id)) if id.table.as_str() == "proposal" => Some(id.clone()),
        _ => None,
    }
}

impl Library {
    /// Commits a batch, all or nothing: cards, revisions, vectors, the change record, and the result under
    /// the request key.
    ///
    /// # Errors
    /// The first write that cannot be done fails the whole batch; nothing is stored.
    pub async fn commit(&self, meta: &Meta, writes: &[Write]) -> Result<Committed> {
        self.commit_with(meta, writes, CommitExtras::default()).await
    }

    /// As [`Library::commit`], with the parts that are not cards.
    pub(crate) async fn commit_with(
        &self,
        meta: &Meta,
        writes: &[Write],
        extras: CommitExtras<'_>,
    ) -> Result<Committed> {
        let CommitExtras { undoes, redoes, rows, merged, part_of } = extras;
        let redoable = undoes.and_then(|undoes| undoes.decisions.map(|_| undoes.change));
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        if let Some(outcome) = self.outcome_of(meta.request.as_deref()).await? {
            return Ok(outcome);
        }
        let (steps, outcome, decided) = self.read(|replica| {
            let next = replica.cursor + 1;
            let mut batch = Batch {
                replica,
                cards: HashMap::new(),
                keys: HashMap::new(),
                revisions: Vec::new(),
                vectors: Vec::new(),
                outcome: Committed {
                    change: None,
                    added: Vec::new(),
                    changed: Vec::new(),
                    unchanged: Vec::new(),
                    deleted: Vec::new(),
                },
                next,
                now: self.clock.stamp(),
                change: meta.change.clone().unwrap_or_else(|| seq_text(next)),
                meta,
                merged: merged.iter().map(ToString::to_string).collect(),
                made: None,
                shared: Vec::new(),
            };
            writes.iter().try_for_each(|write| batch.write(write))?;
            if !batch.revisions.is_empty() {
                batch.outcome.change = Some(batch.change.clone());
            } else if meta.request.is_none() && undoes.is_none() && rows.is_none() && batch.shared.is_empty()
            {
                return Ok((None, batch.outcome, Vec::new()));
            }
            let other_rows =
                rows.map_or_else(|| Ok(Vec::new()), |rows| rows(batch.outcome.change.as_deref()))?;
            let decided: Vec<RecordId> = other_rows.iter().filter_map(proposal_of).collect();
            let (live, tombstones) = batch.card_rows();
            let ids = |table: &str, cards: &[&CardId]| -> Vec<RecordId> {
                cards.iter().map(|id| RecordId::new(table, id.as_str())).collect()
            };
            let touched: Vec<&CardId> = batch.cards.keys().collect();
            let moved: Vec<&CardId> = touched.iter().copied().filter(|id| replica.contains(id)).collect();
            let revived: Vec<&CardId> = touched
                .iter()
                .copied()
                .filter(|id| {
                    replica.deleted.contains_key(id) && matches!(batch.cards[*id], Staged::Live { .. })
                })
                .collect();
            let outcome_text = serde_json::to_string(&batch.outcome).unwrap_or_default();
            let close = object! {
                change: (!batch.revisions.is_empty())
                    .then(|| RecordId::new("change", batch.change.as_str())),
                operation: meta.operation.as_str().to_owned(),
                reason: meta.reason.clone(),
                undoes: undoes
                    .filter(|undoes| undoes.mark_undone)
                    .map(|undoes| RecordId::new("change", undoes.change)),
                undone: undoes.map(|undoes| undoes.change.to_owned()),
                redoes: redoes.map(|redoes| RecordId::new("change", redoes.undo)),
                target: redoes.map(|redoes| redoes.change).or(redoable).map(str::to_owned),
                decisions: undoes.and_then(|undoes| undoes.decisions).map(str::to_owned),
                part_of: part_of.map(str::to_owned),
                forgiven: undoes.map_or_else(Vec::new, |undoes| {
                    undoes.proposals.iter().copied().map(proposal_number).collect()
                }),
                request: meta.request.as_deref().map(|key| RecordId::new("request", key)),
                outcome: outcome_text,
                at: batch.now.to_string(),
            };
            let mut dropped = ids("card", &moved);
            dropped.extend(ids("tombstone", &revived));
            // Removed cards come first, so that a key freed in this batch can be reused in it; for the same
            // reason existing rows are deleted before the new ones are written.
            let steps = vec![
                Step::Put(tombstones),
                Step::Drop(dropped),
                Step::Revisions(batch.revisions),
                Step::Cards(live),
                Step::Put(batch.vectors),
                Step::Put(batch.shared),
                Step::Put(other_rows),
                Step::Close(close),
            ];
            Ok::<_, LibraryError>((Some(steps), batch.outcome, decided))
        })?;
        if let Some(steps) = steps {
            self.queue_stale.store(!decided.is_empty(), Ordering::Release);
            self.cards_behind.store(true, Ordering::Release);
            self.apply_change(steps, Vec::new(), &meta.reason).await?;
            self.catch_up().await?;
            if !decided.is_empty() {
                self.requeue(decided).await?;
                self.queue_stale.store(false, Ordering::Release);
            }
            for touched in [&outcome.added, &outcome.changed, &outcome.deleted] {
                self.rebase(touched).await?;
            }
        }
        Ok(outcome)
    }

    /// Returns the result of the commit made under this request key, if any.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn outcome_of(&self, request: Option<&str>) -> Result<Option<Committed>> {
        let text = self.outcome_text(request).await?;
        text.map(|text| serde_json::from_str(&text).map_err(LibraryError::malformed)).transpose()
    }

    pub(crate) async fn outcome_text(&self, request: Option<&str>) -> Result<Option<String>> {
        let Some(key) = request else { return Ok(None) };
        let mut response = self
            .db()
            .await?
            .query("SELECT VALUE outcome FROM ONLY type::record('request', $key)")
            .bind(("key", key.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        response.take(0).map_err(|error| self.failed(&error))
    }

    /// Brings the replica up to the newest revision in the database. The replica follows the journal, not the
    /// writer's memory.
    pub(crate) async fn catch_up(&self) -> Result<()> {
        /// Revisions read at a time, so that a large import is not held in memory twice.
        const WINDOW: u64 = 1_000;
        let newest = self.newest_revision().await?.seq;
        let mut next = self.read(Replica::cursor) + 1;
        while next <= newest {
            let touched = self.apply_revisions(self.journal(next..next + WINDOW).await?)?;
            if let Some(observer) = self.observer.get() {
                observer.on_change(self, &touched).await;
            }
            next += WINDOW;
        }
        self.cards_behind.store(false, Ordering::Release);
        Ok(())
    }

    /// Returns the revisions with these sequence numbers, in order.
    pub(crate) async fn journal(&self, range: std::ops::Range<u64>) -> Result<Vec<RevisionRow>> {
        let range = RecordIdKeyRange::from(seq_text(range.start)..seq_text(range.end));
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM $journal")
            .bind(("journal", RecordId::new("revision", RecordIdKey::from(range))))
            .await
            .map_err(|error| self.failed(&error))?;
        response.take(0).map_err(|error| self.failed(&error))
    }

    /// Applies these revisions to the replica; returns the cards they touched, each once.
    fn apply_revisions(&self, rows: Vec<RevisionRow>) -> Result<Vec<CardId>> {
        // Of several revisions of one card, only the last is parsed.
        let newest: HashMap<String, i64> = rows.iter().map(|row| (row.card.clone(), row.number)).collect();
        let touched = newest.keys().map(CardId::new).collect();
        let mut replica = self.replica.write().expect("no reader panics");
        for row in rows {
            let superseded = newest.get(&row.card).is_some_and(|number| *number != row.number);
            let known = replica.contains(&CardId::new(row.card.clone()));
            if superseded && known && row.body.is_some() {
                replica.cursor = key_text(&row.id).parse().unwrap_or(replica.cursor);
                continue;
            }
            let id = CardId::new(row.card);
            let number = row.number as u32;
            match row.body {
                None => replica.remove(&id, number),
                Some(body) => {
                    let updated_at = timestamp(&row.at)?;
                    let created_at = match (replica.get(&id), replica.deleted.get(&id)) {
                        (Some(record), _) => record.created_at,
                        (None, Some((_, created_at))) => *created_at,
                        (None, None) => updated_at,
                    };
                    replica.put(self.record(id, body, number, created_at, updated_at)?);
                }
            }
            replica.cursor = key_text(&row.id).parse().unwrap_or(replica.cursor);
        }
        Ok(touched)
    }
}
