//! Reading history: revisions, edits; restoring a revision.

use autokit_toolcard::{Author, CardId, Operation, Revision, RevisionId, Toolcard};

use crate::error::{LibraryError, Result};
use crate::rows::{EditRow, RevisionRow, key_text, timestamp};
use crate::store::Library;
use crate::write::{Committed, Meta, Write};

/// Above this many cards, reading the whole journal is faster than querying each card.
pub(crate) const MANY: usize = 500;

/// Parses stored revision ids.
pub(crate) fn revision_ids(texts: Vec<String>) -> Result<Vec<RevisionId>> {
    texts.into_iter().map(|text| RevisionId::try_from(text).map_err(LibraryError::malformed)).collect()
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
            |what: &str| LibraryError::malformed(format!("revision {} has no {what}", key_text(&self.id)));
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
            id: self.uid.map(RevisionId::try_from).transpose().map_err(LibraryError::malformed)?,
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

    /// Returns the revisions a change made, oldest first, without card bodies. For an import, this includes
    /// the revisions of later decisions on its proposals.
    pub(crate) async fn revisions_of_change(&self, change: &str) -> Result<Vec<Revision>> {
        let mut response = self
            .db().await?
            .query(
                "LET $changes = array::add((SELECT VALUE record::id(id) FROM change WHERE part_of = $change), $change);
                 SELECT * OMIT body FROM revision WHERE change IN $changes AND card != '' ORDER BY id;",
            )
            .bind(("change", change.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<RevisionRow> = response.take(1).map_err(|error| self.failed(&error))?;
        rows.into_iter().map(RevisionRow::into_revision).collect()
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

pub(crate) fn stored(body: &str) -> Result<Toolcard> {
    Toolcard::from_stored(body).map_err(|problem| LibraryError::Invalid(problem.to_string()))
}
