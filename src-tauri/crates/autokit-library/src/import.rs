//! Importing cards from another library, all or nothing, so that the import can be undone in one step.
//!
//! A large import does not fit into one transaction. So rows that nobody sees yet (revisions and vectors) are
//! written first, in batches, under a staging marker; then one change writes the cards, the proposals and the
//! import record, and removes the marker. A library that opens with the marker still present was interrupted,
//! and deletes the staged rows. Until that final change, everybody sees the cards as they were.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

use autokit_commit_log::RowChange;
use autokit_store::{bytes_of, crash};
use autokit_toolcard::{
    Author, CardId, CardKey, Draft, LineageEntry, Operation, RevisionId, Timestamp, lineage,
};
use serde::{Deserialize, Serialize};
use surrealdb::types::{Object, RecordId, SurrealValue, object};

use crate::error::{LibraryError, Result};
use crate::history::{MANY, revision_ids};
use crate::proposals::PlannedProposals;
use crate::rows::{RevisionRow, key_text, seq_text};
use crate::step::{Step, parts};
use crate::store::Library;
use crate::vectors::PackedVectors;

/// Cards staged in one transaction.
const BATCH: usize = 250;

/// A revision from another library, or one that merges such a revision with ours.
#[derive(Clone, Debug)]
pub struct ImportedRevision {
    /// The operation.
    pub operation: Operation,
    /// Its author.
    pub author: Author,
    /// Its reason.
    pub reason: String,
    /// When it was made.
    pub at: Timestamp,
    /// The card's JSON text after it.
    pub body: String,
    /// Its id, if another library assigned one.
    pub id: Option<RevisionId>,
    /// Revisions merged into it, besides its predecessor.
    pub merged: Vec<RevisionId>,
}

/// A card to import.
#[derive(Clone, Debug)]
pub struct ImportedCard {
    /// Its id in this library.
    pub id: CardId,
    /// The revision of the local card that its revisions follow; none for a card that is new here.
    pub expected: Option<u32>,
    /// Its revisions, oldest first.
    pub revisions: Vec<ImportedRevision>,
    /// Where it came from, as JSON.
    pub provenance: Option<String>,
    /// Vectors of its newest revision.
    pub vectors: Option<PackedVectors>,
}

/// A revision of a card in another library, stored so that a later import can find the common ancestor.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignState {
    /// The revision's id.
    pub id: RevisionId,
    /// The card.
    pub card: CardId,
    /// The card's JSON text.
    pub body: String,
    /// Its ancestors.
    pub ancestors: Vec<RevisionId>,
}

/// Everything one import brings in.
#[derive(Debug, Default)]
pub struct LibraryImport {
    /// A record of the import, as JSON.
    pub note: String,
    /// The reason for the change, as a sentence.
    pub reason: String,
    /// Cards to write.
    pub cards: Vec<ImportedCard>,
    /// Drafts that become proposals.
    pub drafts: Vec<Draft>,
    /// Revisions of other libraries that the drafts and merges are based on.
    pub foreign: Vec<ForeignState>,
    /// The request key, as in [`crate::Meta`].
    pub request: Option<String>,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportResult {
    /// The change that undoes all of it; none when there was nothing to import.
    pub import: Option<String>,
    /// Cards that were added.
    pub added: Vec<CardId>,
    /// Cards that changed.
    pub changed: Vec<CardId>,
    /// Number of new or changed pending proposals.
    pub proposed: u32,
    /// Indexes of the drafts that change nothing: they are pending already, or were rejected.
    #[serde(default)]
    pub ignored: Vec<u32>,
}

/// A past import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportRecord {
    /// The change that undoes it.
    pub import: String,
    /// The record of the import, as JSON.
    pub note: String,
    /// Whether it was undone.
    pub undone: bool,
}

/// A progress callback: takes the number of staged cards and returns whether to continue.
pub type OnProgress<'a> = &'a (dyn Fn(usize) -> bool + Sync);

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct ImportRow {
    id: RecordId,
    note: String,
    undone: bool,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct ForeignRow {
    id: RecordId,
    card: String,
    body: String,
    before: Vec<String>,
}

/// The id of a row and of the card it belongs to.
#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct CardRowId {
    id: RecordId,
    card: String,
}

impl ForeignRow {
    fn into_foreign(self) -> Result<ForeignState> {
        Ok(ForeignState {
            id: RevisionId::try_from(key_text(&self.id)).map_err(LibraryError::malformed)?,
            card: CardId::new(self.card),
            body: self.body,
            ancestors: revision_ids(self.before)?,
        })
    }
}

/// The rows of a batch, computed before anything is written.
#[derive(Default)]
struct Rows {
    revisions: Vec<Object>,
    vectors: Vec<Object>,
    cards: Vec<Object>,
    provenance: Vec<Object>,
}

/// What remains to be written after staging.
#[derive(Default)]
struct Staged {
    /// Card rows.
    cards: Vec<Object>,
    /// Provenance rows.
    provenance: Vec<Object>,
    /// Changes to protected rows.
    changes: Vec<RowChange>,
}

/// Returns the provider and name in a card's JSON text, which was validated when it was read.
fn key_of(body: &str) -> Result<CardKey> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow, default)]
        provider: Option<Cow<'a, str>>,
    }
    let named: Named<'_> =
        serde_json::from_str(body).map_err(|error| LibraryError::Invalid(format!("not a card: {error}")))?;
    Ok(CardKey::new(named.provider.as_deref().unwrap_or_default(), &named.name))
}

impl Library {
    /// Imports cards and proposals of another library, all or nothing. `on_progress` is called with the
    /// number of staged cards; when it returns false, the import is cancelled.
    ///
    /// # Errors
    /// [`LibraryError::Conflict`] when a card is no longer at the revision it was merged with,
    /// [`LibraryError::Duplicate`] when another card has its name, [`LibraryError::Stopped`] when cancelled.
    /// Whatever the error, nothing of the import remains.
    pub async fn import_cards(
        &self,
        input: LibraryImport,
        by: &Author,
        on_progress: OnProgress<'_>,
    ) -> Result<ImportResult> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        let request = input.request.as_deref().map(|key| format!("import {key}"));
        if let Some(text) = self.outcome_text(request.as_deref()).await? {
            return serde_json::from_str(&text).map_err(LibraryError::malformed);
        }
        let PlannedProposals { proposals, events, ignored } = self.plan_proposals(input.drafts, by).await?;
        if input.cards.is_empty() && proposals.is_empty() {
            return Ok(ImportResult { ignored, ..ImportResult::default() });
        }
        self.check_import(&input.cards)?;
        // Each text is written twice: with its revision and with its card.
        let bytes = |card: &ImportedCard| {
            let texts: usize = card.revisions.iter().map(|revision| revision.body.len()).sum();
            2 * texts + card.vectors.as_ref().map_or(0, |vectors| 4 * vectors.values.len())
        };
        self.database.check_space(input.cards.iter().map(bytes).sum())?;
        let import = self.next_import().await?;
        let outcome = self.read(|replica| {
            let known = |card: &&ImportedCard| replica.get(&card.id).is_some();
            let ids = |is_known| {
                let matching = input.cards.iter().filter(|card| known(card) == is_known);
                matching.map(|card| card.id.clone()).collect::<Vec<_>>()
            };
            ImportResult {
                import: Some(import.clone()),
                added: ids(false),
                changed: ids(true),
                proposed: proposals.len() as u32,
                ignored: ignored.clone(),
            }
        });
        self.remove_snapshots()?;
        self.execute(
            "UPSERT staging:now SET change = $change RETURN NONE",
            object! { change: import.clone() },
        )
        .await?;
        let written = async {
            let Staged { cards, provenance, changes } = self.stage(&import, input.cards, on_progress).await?;
            let mut rows = Vec::new();
            rows.extend(input.foreign.iter().map(|state| foreign_row(state, &import)));
            rows.push(object! {
                id: RecordId::new("import", import.as_str()),
                note: input.note.clone(),
                undone: false,
            });
            for proposal in &proposals {
                let mut proposal = proposal.clone();
                if let Some(arrived) = &mut proposal.draft.arrived {
                    arrived.import.clone_from(&import);
                }
                rows.push(crate::proposals::row(&proposal, None)?);
            }
            let touched = |table: &'static str, ids: &[CardId]| -> Vec<RecordId> {
                ids.iter().map(|id| RecordId::new(table, id.as_str())).collect()
            };
            self.queue_stale.store(true, Ordering::Release);
            let mut dropped = touched("card", &outcome.changed);
            dropped.extend(touched("tombstone", &outcome.added));
            let close = object! {
                change: RecordId::new("change", import.as_str()),
                operation: Operation::Import.as_str().to_owned(),
                reason: input.reason.clone(),
                forgiven: Vec::<i64>::new(),
                request: request.map(|key| RecordId::new("request", key)),
                outcome: serde_json::to_string(&outcome).unwrap_or_default(),
                at: self.clock.stamp().to_string(),
                staged: true,
            };
            let steps = vec![
                Step::Drop(dropped),
                Step::Cards(cards),
                Step::Put(provenance),
                Step::Put(rows),
                Step::Events(events),
                Step::Close(close),
            ];
            self.apply_change(steps, changes, &input.reason).await
        };
        if let Err(error) = written.await {
            // The first error is the one to report; leftovers are cleared when the library next opens.
            if !self.is_redo_uncertain()
                && let Err(cleanup) = self.delete_staged().await
            {
                tracing::warn!(error = %cleanup, "failed to delete the staged rows of an import");
            }
            return Err(error);
        }
        self.catch_up().await?;
        let ids: Vec<RecordId> =
            proposals.iter().map(|proposal| crate::proposals::record(proposal.id)).collect();
        self.requeue(ids).await?;
        self.queue_stale.store(false, Ordering::Release);
        for touched in [&outcome.added, &outcome.changed] {
            self.rebase(touched).await?;
        }
        Ok(outcome)
    }

    /// Checks that the cards are still at the expected revisions and no name is taken.
    fn check_import(&self, cards: &[ImportedCard]) -> Result<()> {
        let mut keys: HashMap<CardKey, &CardId> = HashMap::new();
        let ids: HashSet<&CardId> = cards.iter().map(|card| &card.id).collect();
        if ids.len() != cards.len() {
            return Err(LibraryError::Invalid("the import contains a card twice".to_owned()));
        }
        self.read(|replica| {
            for card in cards {
                let current = replica.get(&card.id).map(|record| record.number);
                if current != card.expected {
                    return Err(LibraryError::Conflict {
                        card: card.id.clone(),
                        expected: card.expected.unwrap_or_default(),
                        current: current.unwrap_or_default(),
                    });
                }
                let Some(newest) = card.revisions.last() else {
                    return Err(LibraryError::Invalid(format!("{} has no revision", card.id)));
                };
                let key = key_of(&newest.body)?;
                let existing = replica.id_of(&key).filter(|id| !ids.contains(id));
                if let Some(other) = existing.or(keys.get(&key).copied()) {
                    return Err(LibraryError::Duplicate { key: key.to_string(), existing: other.clone() });
                }
                keys.insert(key, &card.id);
            }
            Ok(())
        })
    }

    /// Creates an id for an import that sorts after all changes made so far and before all later ones.
    async fn next_import(&self) -> Result<String> {
        let mut response = self
            .db()
            .await?
            .query("SELECT VALUE record::id(id) FROM import")
            .await
            .map_err(|error| self.failed(&error))?;
        let ids: Vec<String> = response.take(0).map_err(|error| self.failed(&error))?;
        let numbers = ids.iter().filter_map(|id| id.rsplit('.').next()?.parse::<u64>().ok());
        let next = numbers.max().unwrap_or(0) + 1;
        Ok(format!("{}.{next:06}", seq_text(self.read(crate::Replica::cursor))))
    }

    /// Writes revisions and vectors in batches, where nobody reads them yet.
    async fn stage(
        &self,
        import: &str,
        cards: Vec<ImportedCard>,
        on_progress: OnProgress<'_>,
    ) -> Result<Staged> {
        let mut seq = self.read(crate::Replica::cursor) + 1;
        let mut staged = Staged { cards: Vec::with_capacity(cards.len()), ..Staged::default() };
        let mut cards = cards.into_iter();
        loop {
            let batch: Vec<ImportedCard> = cards.by_ref().take(BATCH).collect();
            if !on_progress(staged.cards.len()) {
                return Err(LibraryError::Stopped);
            }
            if batch.is_empty() {
                return Ok(staged);
            }
            let rows = self.rows_of(import, batch, &mut seq)?;
            staged.changes.extend(rows.revisions.iter().filter_map(RowChange::of));
            for revisions in parts(rows.revisions, bytes_of) {
                self.execute("INSERT INTO revision $revisions RETURN NONE", object! { revisions: revisions })
                    .await?;
            }
            self.execute(
                "BEGIN;
                 DELETE $vectors.id RETURN NONE;
                 INSERT INTO vector $vectors RETURN NONE;
                 COMMIT;",
                object! { vectors: rows.vectors },
            )
            .await?;
            staged.cards.extend(rows.cards);
            staged.provenance.extend(rows.provenance);
            crash::point("import.staged");
        }
    }

    fn rows_of(&self, import: &str, batch: Vec<ImportedCard>, seq: &mut u64) -> Result<Rows> {
        let mut rows = Rows::default();
        for card in batch {
            let (mut number, created_at) = self.read(|replica| {
                let existing = replica.get(&card.id).map(|record| (record.number, record.created_at));
                existing
                    .or_else(|| replica.deleted.get(&card.id).copied())
                    .unwrap_or_else(|| (0, card.revisions[0].at))
            });
            let newest = &card.revisions[card.revisions.len() - 1];
            let key = key_of(&newest.body)?;
            let updated_at = newest.at;
            for revision in card.revisions {
                number += 1;
                rows.revisions.push(object! {
                    id: RecordId::new("revision", seq_text(*seq)),
                    card: card.id.as_str().to_owned(),
                    number: i64::from(number),
                    change: import.to_owned(),
                    operation: revision.operation.as_str().to_owned(),
                    author: revision.author.0,
                    reason: revision.reason,
                    at: revision.at.to_string(),
                    body: revision.body,
                    uid: revision.id.as_ref().map(ToString::to_string),
                    merged: (!revision.merged.is_empty())
                        .then(|| revision.merged.iter().map(ToString::to_string).collect::<Vec<_>>()),
                });
                *seq += 1;
            }
            rows.cards.push(object! {
                id: RecordId::new("card", card.id.as_str()),
                provider: key.provider,
                name: key.name,
                number: i64::from(number),
                revision: RecordId::new("revision", seq_text(*seq - 1)),
                created_at: created_at.to_string(),
                updated_at: updated_at.to_string(),
            });
            if let Some(provenance) = card.provenance {
                rows.provenance.push(object! {
                    id: RecordId::new("provenance", card.id.as_str()),
                    told: provenance,
                });
            }
            if let Some(vectors) = &card.vectors {
                rows.vectors.push(vectors.row(&card.id, number));
            }
        }
        Ok(rows)
    }

    /// Deletes what an interrupted import staged.
    pub(crate) async fn delete_staged(&self) -> Result<()> {
        /// Rows deleted at a time.
        const WINDOW: usize = 1_000;
        let mut response = self
            .db()
            .await?
            .query("SELECT VALUE change FROM staging")
            .await
            .map_err(|error| self.failed(&error))?;
        let changes: Vec<String> = response.take(0).map_err(|error| self.failed(&error))?;
        for change in changes {
            tracing::info!(%change, "discarding an interrupted import");
            // The rows are read once and deleted by id: deleted rows slow down every later scan of the same
            // range.
            let mut response = self
                .db()
                .await?
                .query("SELECT id, card FROM revision WHERE change = $change; SELECT id, card FROM vector;")
                .bind(("change", change.clone()))
                .await
                .map_err(|error| self.failed(&error))?;
            let revisions: Vec<CardRowId> = response.take(0).map_err(|error| self.failed(&error))?;
            let mut vectors: Vec<CardRowId> = response.take(1).map_err(|error| self.failed(&error))?;
            let cards: HashSet<&str> = revisions.iter().map(|row| row.card.as_str()).collect();
            vectors.retain(|row| cards.contains(row.card.as_str()));
            // The revisions are deleted last, since they tell which cards' vectors were staged.
            for window in vectors.chunks(WINDOW).chain(revisions.chunks(WINDOW)) {
                let ids: Vec<RecordId> = window.iter().map(|row| row.id.clone()).collect();
                self.execute("DELETE $ids RETURN NONE", object! { ids: ids }).await?;
            }
            self.execute("DELETE staging WHERE change = $change RETURN NONE", object! { change: change })
                .await?;
        }
        Ok(())
    }

    /// Lists the imports, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn imports(&self) -> Result<Vec<ImportRecord>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM import ORDER BY id DESC")
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<ImportRow> = response.take(0).map_err(|error| self.failed(&error))?;
        let record =
            |row: ImportRow| ImportRecord { import: key_text(&row.id), note: row.note, undone: row.undone };
        Ok(rows.into_iter().map(record).collect())
    }

    /// Returns the history of cards in the form other libraries need it; see [`lineage`]. Cards without
    /// revisions are left out.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn lineages(&self, cards: &[CardId]) -> Result<HashMap<CardId, Vec<LineageEntry>>> {
        let mut revisions_of: HashMap<CardId, Vec<_>> = HashMap::with_capacity(cards.len());
        revisions_of.extend(cards.iter().map(|card| (card.clone(), Vec::new())));
        let mut add = |rows: Vec<RevisionRow>| -> Result<()> {
            for row in rows {
                if let Some(revisions) = revisions_of.get_mut(&CardId::new(row.card.as_str())) {
                    revisions.push(row.into_revision()?);
                }
            }
            Ok(())
        };
        if cards.len() > MANY {
            self.for_each_window(add).await?;
        } else {
            for card in cards {
                let mut response = self
                    .db()
                    .await?
                    .query("SELECT * FROM revision WHERE card = $card ORDER BY number")
                    .bind(("card", card.as_str().to_owned()))
                    .await
                    .map_err(|error| self.failed(&error))?;
                add(response.take(0).map_err(|error| self.failed(&error))?)?;
            }
        }
        Ok(revisions_of
            .into_iter()
            .filter(|(_, revisions)| !revisions.is_empty())
            .map(|(card, revisions)| (card, lineage(revisions)))
            .collect())
    }

    /// Returns the provenance of cards as recorded when they were imported, as JSON.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn provenances(&self, cards: &[CardId]) -> Result<HashMap<CardId, String>> {
        #[derive(SurrealValue)]
        #[surreal(crate = "surrealdb::types")]
        struct Row {
            id: RecordId,
            told: String,
        }
        let ids: Vec<RecordId> =
            cards.iter().map(|card| RecordId::new("provenance", card.as_str())).collect();
        let rows: Vec<Row> = self.rows_by_id(ids).await?;
        Ok(rows.into_iter().map(|row| (CardId::new(key_text(&row.id)), row.told)).collect())
    }

    /// Returns the stored revisions of other libraries with these ids; unknown ids are left out.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn foreign_states(
        &self,
        revisions: &[RevisionId],
    ) -> Result<HashMap<RevisionId, ForeignState>> {
        let ids: Vec<RecordId> =
            revisions.iter().map(|revision| RecordId::new("foreign", revision.as_str())).collect();
        let rows: Vec<ForeignRow> = self.rows_by_id(ids).await?;
        rows.into_iter().map(|row| row.into_foreign().map(|state| (state.id.clone(), state))).collect()
    }
}

fn foreign_row(state: &ForeignState, import: &str) -> Object {
    object! {
        id: RecordId::new("foreign", state.id.as_str()),
        card: state.card.to_string(),
        import: import.to_owned(),
        body: state.body.clone(),
        before: state.ancestors.iter().map(ToString::to_string).collect::<Vec<_>>(),
    }
}
