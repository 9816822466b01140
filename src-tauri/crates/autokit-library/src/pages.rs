//! Documentation pages of cards, split into chunks, with the vectors of the chunks.
//!
//! A page is stored whole in one row per card, so that it is never stored in part. Chunks are read from the
//! database when an answer cites them; only their vectors are kept in memory.

use std::collections::HashMap;

use autokit_toolcard::{CardId, Timestamp};
use serde::{Deserialize, Serialize};
use surrealdb::types::{Object, RecordId, object};

use crate::error::{LibraryError, Result};
use crate::rows::{PageHash, PageRow, PageVectorRow, VectorHash, key_text, timestamp};
use crate::store::Library;
use crate::vectors::{PackedVectors, packed, unpacked};

/// A chunk of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageChunk {
    /// Headings above it, from the title down.
    pub path: Vec<String>,
    /// `id` of the nearest heading, for linking to it.
    pub anchor: Option<String>,
    /// The text, with code in fences.
    pub text: String,
}

/// The documentation page of a card, as last fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The card.
    pub card: CardId,
    /// The URL on the card.
    pub url: String,
    /// The URL it was found at, after redirects.
    pub found: String,
    /// The page's title.
    pub title: String,
    /// SHA-256 of the chunks; changes when the text does.
    pub hash: String,
    /// `ETag` of the response.
    pub etag: Option<String>,
    /// `Last-Modified` of the response.
    pub last_modified: Option<String>,
    /// When it was last fetched.
    pub fetched_at: Timestamp,
    /// Why the last fetch failed, if it did; the chunks are then those of the last success.
    pub failed: Option<String>,
    /// The chunks, in reading order.
    pub chunks: Vec<PageChunk>,
}

/// The vectors of a page's chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct PageVectors {
    /// The card.
    pub card: CardId,
    /// Hash of the page they were made from; they are stale if it differs from the page's.
    pub hash: String,
    /// Length of one vector.
    pub dim: usize,
    /// `chunks × dim` numbers.
    pub values: Vec<f32>,
}

impl PageVectors {
    fn from_row(row: PageVectorRow) -> Result<PageVectors> {
        let dim = row.dim as usize;
        let values = unpacked(&row.card, dim, &row.data)?;
        Ok(PageVectors { card: CardId::new(row.card), hash: row.hash, dim, values })
    }
}

impl Page {
    fn from_row(row: PageRow) -> Result<Page> {
        let card = CardId::new(key_text(&row.id));
        let unreadable = |error: &dyn std::fmt::Display| {
            LibraryError::malformed(format!("the page of {card} cannot be read: {error}"))
        };
        let chunks = serde_json::from_str(&row.chunks).map_err(|error| unreadable(&error))?;
        let fetched_at = timestamp(&row.fetched_at).map_err(|error| unreadable(&error))?;
        Ok(Page {
            card,
            url: row.url,
            found: row.found,
            title: row.title,
            hash: row.hash,
            etag: row.etag,
            last_modified: row.last_modified,
            fetched_at,
            failed: row.failed,
            chunks,
        })
    }

    fn row(&self) -> Result<Object> {
        let chunks = serde_json::to_string(&self.chunks).map_err(LibraryError::malformed)?;
        Ok(object! {
            id: RecordId::new("page", self.card.as_str()),
            url: self.url.clone(),
            found: self.found.clone(),
            title: self.title.clone(),
            hash: self.hash.clone(),
            etag: self.etag.clone(),
            last_modified: self.last_modified.clone(),
            fetched_at: self.fetched_at.to_string(),
            failed: self.failed.clone(),
            chunks: chunks,
        })
    }
}

impl Library {
    /// Returns the page of a card, if it was ever fetched.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn page(&self, card: &CardId) -> Result<Option<Page>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM ONLY type::record('page', $card)")
            .bind(("card", card.as_str().to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        let row: Option<PageRow> = response.take(0).map_err(|error| self.failed(&error))?;
        row.map(Page::from_row).transpose()
    }

    /// Returns the cards whose page has no vectors of `model`, or only those of an earlier text.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn pages_without_vectors(&self, model: &str) -> Result<Vec<CardId>> {
        let mut response = self
            .db().await?
            .query("SELECT id, hash FROM page WHERE chunks != '[]'; SELECT card, hash FROM page_vector WHERE model = $model")
            .bind(("model", model.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        let pages: Vec<PageHash> = response.take(0).map_err(|error| self.failed(&error))?;
        let vectors: Vec<VectorHash> = response.take(1).map_err(|error| self.failed(&error))?;
        let vectors: HashMap<String, String> = vectors.into_iter().map(|row| (row.card, row.hash)).collect();
        let missing = |page: &PageHash| vectors.get(&key_text(&page.id)) != Some(&page.hash);
        Ok(pages.iter().filter(|page| missing(page)).map(|page| CardId::new(key_text(&page.id))).collect())
    }

    /// Stores a page, with the vectors of its chunks if they could be embedded.
    ///
    /// # Errors
    /// Returns an error when the database fails; nothing is then stored.
    pub async fn put_page(&self, page: &Page, vectors: Option<&PackedVectors>) -> Result<()> {
        let vectors: Vec<Object> = vectors
            .into_iter()
            .map(|vectors| {
                object! {
                    id: RecordId::new("page_vector", format!("{}|{}", vectors.model, page.card)),
                    card: page.card.as_str().to_owned(),
                    model: vectors.model.clone(),
                    hash: page.hash.clone(),
                    dim: vectors.dim as i64,
                    data: packed(&vectors.values),
                }
            })
            .collect();
        // Of a page, snapshots have the vectors of its text: they stay right if the same one is stored again.
        if !(vectors.is_empty() && self.is_stored_page(page).await?) {
            self.remove_snapshots()?;
        }
        self.execute(
            "BEGIN;
             UPSERT $page.id CONTENT $page RETURN NONE;
             FOR $row IN $vectors { UPSERT $row.id CONTENT $row RETURN NONE };
             COMMIT;",
            object! { page: page.row()?, vectors: vectors },
        )
        .await
    }

    /// Whether the card's stored page has the address and the text of this one.
    async fn is_stored_page(&self, page: &Page) -> Result<bool> {
        let mut response = self
            .db()
            .await?
            .query("SELECT VALUE url = $url AND hash = $hash FROM ONLY $page")
            .bind(("page", RecordId::new("page", page.card.as_str())))
            .bind(("url", page.url.clone()))
            .bind(("hash", page.hash.clone()))
            .await
            .map_err(|error| self.failed(&error))?;
        let is_same: Option<bool> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(is_same.unwrap_or(false))
    }

    /// Returns the vectors of one card's page made with `model`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn page_vectors_of(&self, model: &str, card: &CardId) -> Result<Option<PageVectors>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT card, hash, dim, data FROM $id")
            .bind(("id", RecordId::new("page_vector", format!("{model}|{card}"))))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<PageVectorRow> = response.take(0).map_err(|error| self.failed(&error))?;
        rows.into_iter().next().map(PageVectors::from_row).transpose()
    }

    /// Returns the vectors of all pages made with `model`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn page_vectors(&self, model: &str) -> Result<Vec<PageVectors>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT card, hash, dim, data FROM page_vector WHERE model = $model")
            .bind(("model", model.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<PageVectorRow> = response.take(0).map_err(|error| self.failed(&error))?;
        rows.into_iter().map(PageVectors::from_row).collect()
    }
}
