//! Names of products and synonyms that people add to the shipped ones.

use autokit_toolcard::{Author, Timestamp};
use autokit_vocabulary::{Entry, EntryKind};
use sha2::{Digest as _, Sha256};
use surrealdb::types::{Object, RecordId, object};

use crate::error::Result;
use crate::rows::{VocabularyRow, timestamp};
use crate::store::Library;

/// An entry that somebody added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VocabularyEntry {
    /// The entry.
    pub entry: Entry,
    /// Name of the bundle it came with; `None` if it was added here.
    pub bundle: Option<String>,
    /// Who added it.
    pub added_by: Author,
    /// When it was added.
    pub added_at: Timestamp,
}

/// Returns the id of an entry, which depends on its text alone: the same entry is stored once.
pub fn entry_id(entry: &Entry) -> String {
    let hash = Sha256::digest(format!("{}:{entry}", entry.kind().as_str()));
    format!("{hash:x}")[..12].to_owned()
}

fn record_id(id: &str) -> RecordId {
    RecordId::new("vocabulary", id)
}

fn row(added: &VocabularyEntry) -> Object {
    object! {
        id: record_id(&entry_id(&added.entry)),
        kind: added.entry.kind().as_str().to_owned(),
        text: added.entry.to_string(),
        bundle: added.bundle.clone(),
        added_by: added.added_by.0.clone(),
        added_at: added.added_at.to_string(),
    }
}

impl Library {
    /// Returns the entries that were added, those of bundles first, then by time. Entries that this version cannot
    /// read are left out and logged.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn vocabulary(&self) -> Result<Vec<VocabularyEntry>> {
        let query = "SELECT *, bundle = NONE AS own FROM vocabulary ORDER BY own, added_at, text";
        let rows: Vec<VocabularyRow> = self.select(query, Object::new()).await?;
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            let kind =
                [EntryKind::Name, EntryKind::Synonym].into_iter().find(|kind| kind.as_str() == row.kind);
            let parsed = kind.and_then(|kind| Entry::parse(kind, &row.text).ok());
            let Some(entry) = parsed else {
                tracing::error!(kind = row.kind, text = row.text, "an added name or synonym cannot be read");
                continue;
            };
            entries.push(VocabularyEntry {
                entry,
                bundle: row.bundle,
                added_by: Author(row.added_by),
                added_at: timestamp(&row.added_at)?,
            });
        }
        Ok(entries)
    }

    /// Removes entries by id and adds others, at once. An entry of a bundle does not replace the same one added
    /// here, but the other way round.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn change_vocabulary(&self, remove: &[String], add: &[VocabularyEntry]) -> Result<()> {
        let own = add.iter().filter(|added| added.bundle.is_none()).map(|added| entry_id(&added.entry));
        let removed: Vec<RecordId> = remove.iter().cloned().chain(own).map(|id| record_id(&id)).collect();
        let added: Vec<Object> = add.iter().map(row).collect();
        self.remove_snapshots()?;
        self.execute(
            "BEGIN;
             DELETE $removed RETURN NONE;
             INSERT IGNORE INTO vocabulary $added RETURN NONE;
             COMMIT;",
            object! { removed: removed, added: added },
        )
        .await
    }
}
