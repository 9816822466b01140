//! Undoing changes, and redoing what was undone.
//!
//! Both make a new change: nothing is taken out of the journal. The record of an undo names the change it undid and
//! holds the decisions on proposals that it took back, so that a redo restores those too. An import is undone by its id
//! only and cannot be redone, because what it brought can be imported again.

use std::collections::{HashMap, HashSet};

use autokit_toolcard::{Author, CardId, Operation, ProposalId, Revision};
use surrealdb::types::RecordId;

use crate::error::{LibraryError, Result};
use crate::history::{MANY, stored};
use crate::rows::{ChangeRow, key_text};
use crate::store::Library;
use crate::write::{CommitExtras, Meta, RedoTarget, UndoTarget, Undone, Write};

/// Precede the reason of a change in that of its undo and its redo.
const UNDO: &str = "Undo: ";
const REDO: &str = "Redo: ";

/// The writes that return cards to their state before some revisions.
struct Reversal {
    writes: Vec<Write>,
    /// Cards they return.
    cards: Vec<CardId>,
    /// Cards left alone because they changed again since.
    kept: Vec<CardId>,
}

impl Library {
    /// Returns the id and reason of the newest change that can be undone without naming it: not an import, whose cards
    /// may be all there are.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn undoable(&self) -> Result<Option<(String, String)>> {
        let newest =
            "undone = false AND target = NONE AND operation NOT IN ['undo', 'import'] ORDER BY id DESC";
        let newest = self.newest_change(newest, "").await?;
        Ok(newest.map(|row| (key_text(&row.id), row.reason)))
    }

    /// Returns the id of the newest undo and the reason of what it undid, unless another change was made since.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn redoable(&self) -> Result<Option<(String, String)>> {
        let newest = "undone = false AND target != NONE AND operation = 'undo' ORDER BY id DESC";
        let Some(undo) = self.newest_change(newest, "").await? else { return Ok(None) };
        let id = key_text(&undo.id);
        let since =
            "id > type::record('change', $id) AND target = NONE AND operation NOT IN ['undo', 'import']";
        if self.newest_change(since, &id).await?.is_some() {
            return Ok(None);
        }
        Ok(Some((id, reason_of(&undo).to_owned())))
    }

    /// Returns the id of the change that an undo or a redo is about, and its reason; none for an import.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn target_of(&self, change: &str) -> Result<Option<(String, String)>> {
        let row = self.change(change).await?;
        Ok(row.and_then(|row| {
            let reason = reason_of(&row).to_owned();
            row.target.map(|target| (target, reason))
        }))
    }

    /// Returns the first change for which a condition holds, which may contain an order and `$id`.
    async fn newest_change(&self, condition: &str, id: &str) -> Result<Option<ChangeRow>> {
        let mut response = self
            .db()
            .await?
            .query(format!("SELECT * FROM change WHERE {condition} LIMIT 1"))
            .bind(("id", id.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<ChangeRow> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(rows.into_iter().next())
    }

    async fn change(&self, change: &str) -> Result<Option<ChangeRow>> {
        let rows: Vec<ChangeRow> = self.rows_by_id(vec![RecordId::new("change", change)]).await?;
        Ok(rows.into_iter().next())
    }

    /// Undoes a change by making a new one: every card it touched returns to its previous state, except cards
    /// that changed again afterwards, which are kept and reported.
    ///
    /// # Errors
    /// [`LibraryError::NothingToUndo`]; [`LibraryError::ChangedSince`] when every card would be kept;
    /// otherwise as [`Library::commit`].
    pub async fn undo(&self, change: &str, author: Author, request: Option<String>) -> Result<Undone> {
        self.undo_revisions(change, None, false, author, request).await
    }

    /// Undoes the acceptance of a proposal, which becomes pending again. If the change accepted several
    /// proposals at once, the others stay accepted.
    ///
    /// # Errors
    /// [`LibraryError::NothingToUndo`] when the proposal was not accepted; otherwise as [`Library::commit`].
    pub async fn undo_acceptance(
        &self,
        id: ProposalId,
        author: Author,
        request: Option<String>,
    ) -> Result<Undone> {
        let change = self.change_of_proposal(id).await?.ok_or(LibraryError::NothingToUndo)?;
        let proposal = self.proposal(id).await?;
        let others = self.revisions_of_change(&change).await?;
        let card = proposal.draft.subject();
        let only = others.iter().any(|revision| revision.card != card).then_some(&card);
        // A new card may have been accepted under another name; then it is the only card of its change.
        let only = only.filter(|card| others.iter().any(|revision| revision.card == **card));
        // The proposal becomes pending again even if its card has changed since and stays as it is.
        self.undo_revisions(&change, only, true, author, request).await
    }

    /// Undoes an undo: every card returns to its state before it, except cards that changed again afterwards, which are
    /// kept and reported. Proposals that became pending are accepted again, unless they were decided meanwhile.
    ///
    /// # Errors
    /// [`LibraryError::NothingToRedo`] when this is not an undo, or one of an import; [`LibraryError::ChangedSince`]
    /// when every card would be kept; otherwise as [`Library::commit`].
    pub async fn redo(&self, undo: &str, author: Author, request: Option<String>) -> Result<Undone> {
        let row = self.change(undo).await?;
        let Some(row) = row.filter(|row| !row.undone && row.operation == Operation::Undo.as_str()) else {
            return Err(LibraryError::NothingToRedo);
        };
        let Some(target) = &row.target else { return Err(LibraryError::NothingToRedo) };
        let revisions = self.revisions_of_change(undo).await?;
        let Reversal { writes, cards, kept } = self.reversal(&revisions).await?;
        if cards.is_empty() {
            return Err(LibraryError::ChangedSince { cards: kept.len() });
        }
        let reason = reason_of(&row).to_owned();
        let meta = Meta {
            operation: Operation::Restore,
            author,
            reason: format!("{REDO}{reason}"),
            change: None,
            request,
        };
        let decided = row.decisions.as_deref().unwrap_or("[]");
        let rows = |_: Option<&str>| self.rows_to_decide_again(decided, target, &kept, &meta.author);
        // The revisions of other libraries that one card took in count as its ancestors again.
        let merged = match cards.as_slice() {
            [_] => self.revisions_of_change(target).await?.into_iter().flat_map(|made| made.merged).collect(),
            _ => Vec::new(),
        };
        let redoes = Some(RedoTarget { undo, change: target });
        let extras = CommitExtras { redoes, rows: Some(&rows), merged: &merged, ..CommitExtras::default() };
        let made = self.commit_with(&meta, &writes, extras).await?;
        Ok(Undone { change: target.clone(), reason, cards, kept, by: made.change })
    }

    /// Undoes a change, or only its effect on one card, in which case the change still counts as made.
    /// `reopens_proposal` is set when a proposal becomes pending again: that alone is something to undo, even
    /// if every card changed since and is kept.
    async fn undo_revisions(
        &self,
        change: &str,
        only: Option<&CardId>,
        reopens_proposal: bool,
        author: Author,
        request: Option<String>,
    ) -> Result<Undone> {
        let mut revisions = self.revisions_of_change(change).await?;
        revisions.retain(|revision| only.is_none_or(|only| *only == revision.card));
        // An undo is taken back by a redo, which also restores what it marked.
        let is_undo = |row: &ChangeRow| row.operation == Operation::Undo.as_str() || row.target.is_some();
        let Some(undone) = self.change(change).await?.filter(|row| !row.undone && !is_undo(row)) else {
            return Err(LibraryError::NothingToUndo);
        };
        let is_import = undone.operation == Operation::Import.as_str();
        // An import may have made proposals only.
        if revisions.is_empty() && !(only.is_none() && is_import) {
            return Err(LibraryError::NothingToUndo);
        }
        let reason = undone.reason;
        let Reversal { writes, cards, kept } = self.reversal(&revisions).await?;
        if cards.is_empty() && !kept.is_empty() && !reopens_proposal {
            return Err(LibraryError::ChangedSince { cards: kept.len() });
        }
        let meta = Meta {
            operation: Operation::Undo,
            author,
            reason: format!("{UNDO}{reason}"),
            change: None,
            request,
        };
        let reopened = self.rows_to_reopen(change, only, &meta.author).await?;
        // Kept cards can still be undone once the later changes to them are.
        let undoes = UndoTarget {
            change,
            mark_undone: only.is_none() && (reopens_proposal || kept.is_empty()),
            proposals: &reopened.proposals,
            decisions: (!is_import).then_some(reopened.decisions.as_str()),
        };
        let rows = |_: Option<&str>| Ok(reopened.rows.clone());
        let extras = CommitExtras { undoes: Some(undoes), rows: Some(&rows), ..CommitExtras::default() };
        let made = self.commit_with(&meta, &writes, extras).await?;
        let by = made.change.filter(|_| !is_import);
        Ok(Undone { change: change.to_owned(), reason, cards, kept, by })
    }

    /// Returns the writes that return the cards of these revisions, oldest first, to their state before them.
    async fn reversal(&self, revisions: &[Revision]) -> Result<Reversal> {
        let mut reversal = Reversal { writes: Vec::new(), cards: Vec::new(), kept: Vec::new() };
        let last: HashMap<&CardId, u32> =
            revisions.iter().map(|revision| (&revision.card, revision.number)).collect();
        let mut seen = HashSet::new();
        let first_revisions: Vec<&Revision> =
            revisions.iter().filter(|revision| seen.insert(&revision.card)).collect();
        let mut before = self.bodies_before(&first_revisions).await?;
        for first in first_revisions {
            let now = self.read(|replica| {
                replica
                    .get(&first.card)
                    .map(|record| record.number)
                    .or_else(|| replica.deleted.get(&first.card).map(|(number, _)| *number))
            });
            let last = last.get(&first.card).copied().unwrap_or(first.number);
            let body = self.read(|replica| replica.get(&first.card).map(|record| record.body.to_string()));
            let earlier = before.remove(&first.card).flatten();
            if body == earlier {
                // Something else returned it already.
                reversal.cards.push(first.card.clone());
                continue;
            }
            if now != Some(last) && self.revision(&first.card, last).await?.body != body {
                reversal.kept.push(first.card.clone());
                continue;
            }
            let exists = body.is_some();
            match earlier {
                Some(body) => reversal.writes.push(Write::Restore {
                    id: first.card.clone(),
                    card: Box::new(stored(&body)?),
                    vectors: None,
                }),
                None if exists => reversal.writes.push(Write::Delete { id: first.card.clone() }),
                None => {}
            }
            reversal.cards.push(first.card.clone());
        }
        Ok(reversal)
    }

    /// Returns the bodies of cards before these revisions; `None` where a card did not exist.
    async fn bodies_before(&self, revisions: &[&Revision]) -> Result<HashMap<CardId, Option<String>>> {
        let mut bodies = HashMap::with_capacity(revisions.len());
        let changed = revisions.iter().filter(|revision| revision.number > 1);
        if changed.clone().count() <= MANY {
            for after in changed {
                let before = self.revision(&after.card, after.number - 1).await?;
                bodies.insert(before.card, before.body);
            }
            return Ok(bodies);
        }
        let previous: HashSet<(&str, i64)> =
            changed.map(|after| (after.card.as_str(), i64::from(after.number) - 1)).collect();
        self.for_each_window(|rows| {
            for row in rows.into_iter().filter(|row| previous.contains(&(row.card.as_str(), row.number))) {
                bodies.insert(CardId::new(row.card), row.body);
            }
            Ok(())
        })
        .await?;
        Ok(bodies)
    }
}

/// Returns the reason of the change that an undo or a redo is about.
fn reason_of(row: &ChangeRow) -> &str {
    row.reason.strip_prefix(UNDO).or_else(|| row.reason.strip_prefix(REDO)).unwrap_or(&row.reason)
}
