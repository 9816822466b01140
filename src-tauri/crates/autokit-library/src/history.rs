//! Reading and reverting history: revisions, restore, undo.

use std::collections::{HashMap, HashSet};

use autokit_toolcard::{Author, CardId, Operation, ProposalId, Revision, RevisionId, Toolcard};

use surrealdb::types::RecordId;

use crate::error::{LibraryError, Result};
use crate::rows::{ChangeRow, EditRow, RevisionRow, key_text, timestamp};
use crate::store::Library;
use crate::write::{CommitExtras, Committed, Meta, UndoTarget, Undone, Write};

/// Above this many cards, reading the whole journal is faster than querying each card.
pub(crate) const MANY: usize = 500;

/// Parses stored revision ids.
pub(crate) fn revision_ids(texts: Vec<String>) -> Result<Vec<RevisionId>> {
    texts.into_iter().map(|text| RevisionId::try_from(text).map_err(LibraryError::Database)).collect()
}

/// A card before and after an edit, as JSON texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedCard {
    /// The card.
    pub card: CardId,
    /// Its text before.
    pub before: String,
    /// Its text after.
    pub after: String,
}

impl RevisionRow {
    pub(crate) fn into_revision(self) -> Result<Revision> {
        let unreadable =
            |what: &str| LibraryError::Database(format!("revision {} has no {what}", key_text(&self.id)));
        Ok(Revision {
            seq: key_text(&self.id).parse().map_err(|_| unreadable("sequence number"))?,
            operation: Operation::parse(&self.operation).ok_or_else(|| unreadable("known operation"))?,
            card: CardId::new(self.card),
            number: self.number as u32,
            change: self.change,
            author: Author(self.author),
            reason: self.reason,
            at: timestamp(&self.at).map_err(|_| unreadable("readable time"))?,
            body: self.body,
            id: self.uid.map(RevisionId::try_from).transpose().map_err(LibraryError::Database)?,
            merged: revision_ids(self.merged.unwrap_or_default())?,
        })
    }
}

impl Library {
    /// Returns the revisions of a card, newest first. Deleted cards keep theirs.
    ///
    /// # Errors
    /// [`LibraryError::NoCard`] when there never was such a card.
    pub async fn history(&self, card: &CardId) -> Result<Vec<Revision>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM revision WHERE card = $card ORDER BY number DESC")
            .bind(("card", card.as_str().to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<RevisionRow> = response.take(0).map_err(|error| self.failed(&error))?;
        if rows.is_empty() {
            return Err(LibraryError::NoCard(card.clone()));
        }
        rows.into_iter().map(RevisionRow::into_revision).collect()
    }

    /// Returns one revision of a card.
    ///
    /// # Errors
    /// [`LibraryError::NoRevision`].
    pub async fn revision(&self, card: &CardId, number: u32) -> Result<Revision> {
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM revision WHERE card = $card AND number = $number")
            .bind(("card", card.as_str().to_owned()))
            .bind(("number", i64::from(number)))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<RevisionRow> = response.take(0).map_err(|error| self.failed(&error))?;
        match rows.into_iter().next() {
            Some(row) => row.into_revision(),
            None => Err(LibraryError::NoRevision { card: card.clone(), number }),
        }
    }

    /// Returns the newest edits that people made by hand, newest first: each card's text before and after. Edits of other
    /// libraries that came with an import are not among them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn recent_edits(&self, limit: u32) -> Result<Vec<EditedCard>> {
        let mut response = self
            .db()
            .await?
            .query(
                "SELECT card, body AS after, (SELECT VALUE body FROM revision
                     WHERE card = $parent.card AND number = $parent.number - 1)[0] AS before, id
                 FROM revision WHERE operation = 'edit' AND body != NONE
                     AND type::record('change', change).operation = 'edit'
                 ORDER BY id DESC LIMIT $limit",
            )
            .bind(("limit", i64::from(limit)))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<EditRow> = response.take(0).map_err(|error| self.failed(&error))?;
        let edited = |row: EditRow| {
            Some(EditedCard { card: CardId::new(row.card), before: row.before?, after: row.after? })
        };
        Ok(rows.into_iter().filter_map(edited).collect())
    }

    /// Returns the id and reason of the newest change that can be undone.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn undoable(&self) -> Result<Option<(String, String)>> {
        let mut response = self
            .db()
            .await?
            .query(
                "SELECT * FROM change WHERE undone = false AND operation != 'undo' ORDER BY id DESC LIMIT 1",
            )
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<ChangeRow> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(rows.into_iter().next().map(|row| (key_text(&row.id), row.reason)))
    }

    async fn change(&self, change: &str) -> Result<Option<ChangeRow>> {
        let rows: Vec<ChangeRow> = self.rows_by_id(vec![RecordId::new("change", change)]).await?;
        Ok(rows.into_iter().next())
    }

    /// Returns the revisions a change made, oldest first, without card bodies. For an import, this includes
    /// the revisions of later decisions on its proposals.
    async fn revisions_of_change(&self, change: &str) -> Result<Vec<Revision>> {
        let mut response = self
            .db().await?
            .query(
                "LET $changes = array::add((SELECT VALUE record::id(id) FROM change WHERE part_of = $change), $change);
                 SELECT * OMIT body FROM revision WHERE change IN $changes ORDER BY id;",
            )
            .bind(("change", change.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<RevisionRow> = response.take(1).map_err(|error| self.failed(&error))?;
        rows.into_iter().map(RevisionRow::into_revision).collect()
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

    /// Whether a card equals its revision `number`: any later changes were undone.
    async fn is_unchanged_since(&self, card: &CardId, number: u32) -> Result<bool> {
        let body = self.revision(card, number).await?.body;
        Ok(self.read(|replica| replica.get(card).map(|record| record.body.to_string())) == body)
    }

    /// Reads the whole journal, oldest first, one window at a time.
    pub(crate) async fn for_each_window(
        &self,
        mut visit: impl FnMut(Vec<RevisionRow>) -> Result<()>,
    ) -> Result<()> {
        /// Revisions read at a time.
        const WINDOW: u64 = 2_000;
        let newest = self.read(crate::Replica::cursor);
        let mut next = 1;
        while next <= newest {
            visit(self.journal(next..next + WINDOW).await?)?;
            next += WINDOW;
        }
        Ok(())
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
        // An import may have made proposals only.
        let Some(undone) = self.change(change).await?.filter(|row| !row.undone) else {
            return Err(LibraryError::NothingToUndo);
        };
        if revisions.is_empty() && !(only.is_none() && undone.operation == Operation::Import.as_str()) {
            return Err(LibraryError::NothingToUndo);
        }
        let reason = undone.reason;
        let (mut writes, mut cards, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        let last: HashMap<&CardId, u32> =
            revisions.iter().map(|revision| (&revision.card, revision.number)).collect();
        let mut first_revisions: Vec<&Revision> = Vec::new();
        let mut seen = HashSet::new();
        first_revisions.extend(revisions.iter().filter(|revision| seen.insert(&revision.card)));
        let mut before = self.bodies_before(&first_revisions).await?;
        for first in first_revisions {
            let now = self.read(|replica| {
                replica
                    .get(&first.card)
                    .map(|record| record.number)
                    .or_else(|| replica.deleted.get(&first.card).map(|(number, _)| *number))
            });
            let last = last.get(&first.card).copied().unwrap_or(first.number);
            if now != Some(last) && !self.is_unchanged_since(&first.card, last).await? {
                kept.push(first.card.clone());
                continue;
            }
            let exists = self.read(|replica| replica.get(&first.card).is_some());
            match before.remove(&first.card).flatten() {
                Some(body) => writes.push(Write::Restore {
                    id: first.card.clone(),
                    card: Box::new(stored(&body)?),
                    vectors: None,
                }),
                None if exists => writes.push(Write::Delete { id: first.card.clone() }),
                None => {}
            }
            cards.push(first.card.clone());
        }
        if cards.is_empty() && !kept.is_empty() && !reopens_proposal {
            return Err(LibraryError::ChangedSince { cards: kept.len() });
        }
        let meta = Meta {
            operation: Operation::Undo,
            author,
            reason: format!("Undo: {reason}"),
            change: None,
            request,
        };
        let (rows, proposals) = self.rows_to_reopen(change, only, &meta.author).await?;
        // Kept cards can still be undone once the later changes to them are.
        let undoes = UndoTarget {
            change,
            mark_undone: only.is_none() && (reopens_proposal || kept.is_empty()),
            proposals: &proposals,
        };
        let rows = |_: Option<&str>| Ok(rows.clone());
        let extras = CommitExtras { undoes: Some(undoes), rows: Some(&rows), ..CommitExtras::default() };
        self.commit_with(&meta, &writes, extras).await?;
        Ok(Undone { change: change.to_owned(), reason, cards, kept })
    }

    /// Restores a revision of a card as a new revision; a deleted card is brought back.
    ///
    /// # Errors
    /// [`LibraryError::NoRevision`] when the revision does not exist or is a deletion;
    /// [`LibraryError::Duplicate`] when another card has taken its name since.
    pub async fn restore(
        &self,
        card: &CardId,
        number: u32,
        author: Author,
        request: Option<String>,
    ) -> Result<Committed> {
        let revision = self.revision(card, number).await?;
        let Some(body) = revision.body else {
            return Err(LibraryError::NoRevision { card: card.clone(), number });
        };
        let meta = Meta {
            operation: Operation::Restore,
            author,
            reason: format!("Restored revision {number}"),
            change: None,
            request,
        };
        let write = Write::Restore { id: card.clone(), card: Box::new(stored(&body)?), vectors: None };
        self.commit(&meta, &[write]).await
    }
}

fn stored(body: &str) -> Result<Toolcard> {
    Toolcard::from_stored(body).map_err(|problem| LibraryError::Invalid(problem.to_string()))
}
