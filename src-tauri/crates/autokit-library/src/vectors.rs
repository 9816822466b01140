//! Vectors of cards as packed little-endian `f32`, one row per card and model.
//!
//! Arrays of numbers would take ten times the space, and seconds to read back.

use autokit_toolcard::CardId;
use surrealdb::types::{Bytes, RecordId, object};

use crate::error::{LibraryError, Result};
use crate::rows::VectorRow;
use crate::store::Library;

/// The vectors of one card, for storing.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedVectors {
    /// Identifies what they were made with: the embedding model including its weights, and the text it was
    /// given.
    pub model: String,
    /// Identifies what people added about the card's names, if that is part of the text.
    pub names: Option<String>,
    /// Length of one vector.
    pub dim: usize,
    /// `rows × dim` numbers, row by row.
    pub values: Vec<f32>,
}

impl PackedVectors {
    /// Returns the first row, which stands for the whole card.
    pub fn first(&self) -> Vec<f32> {
        self.values[..self.dim.min(self.values.len())].to_vec()
    }

    pub(crate) fn record_id(card: &str, model: &str) -> RecordId {
        RecordId::new("vector", format!("{model}|{card}"))
    }

    pub(crate) fn row(&self, card: &CardId, number: u32) -> surrealdb::types::Object {
        object! {
            id: PackedVectors::record_id(card.as_str(), &self.model),
            card: card.as_str().to_owned(),
            model: self.model.clone(),
            names: self.names.clone(),
            number: i64::from(number),
            dim: self.dim as i64,
            data: packed(&self.values),
        }
    }
}

/// The vectors of one card, as read back.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVectors {
    /// The card.
    pub card: CardId,
    /// Revision of the card they were made from; they are stale if the card has a newer one.
    pub number: u32,
    /// As [`PackedVectors::names`].
    pub names: Option<String>,
    /// Length of one vector.
    pub dim: usize,
    /// `rows × dim` numbers.
    pub values: Vec<f32>,
}

impl StoredVectors {
    fn from_row(row: &VectorRow) -> Result<StoredVectors> {
        let dim = row.dim as usize;
        let values = unpacked(&row.card, dim, &row.data)?;
        Ok(StoredVectors {
            card: CardId::new(row.card.clone()),
            number: row.number as u32,
            names: row.names.clone(),
            dim,
            values,
        })
    }
}

/// Packs numbers as little-endian bytes.
pub(crate) fn packed(values: &[f32]) -> Bytes {
    Bytes::from(values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
}

/// Unpacks numbers from bytes that hold whole rows of `dim` numbers.
pub(crate) fn unpacked(card: &str, dim: usize, bytes: &[u8]) -> Result<Vec<f32>> {
    if dim == 0 || !bytes.len().is_multiple_of(4 * dim) {
        return Err(LibraryError::malformed(format!(
            "the vectors of {card} have {} bytes, which is not a multiple of 4 × {dim}",
            bytes.len()
        )));
    }
    Ok(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
}

impl Library {
    /// Returns all vectors made with `model`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn vectors(&self, model: &str) -> Result<Vec<StoredVectors>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM vector WHERE model = $model")
            .bind(("model", model.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<VectorRow> = response.take(0).map_err(|error| self.failed(&error))?;
        rows.iter().map(StoredVectors::from_row).collect()
    }

    /// Returns vectors made with `model` in any other way than `recipe`, which says how its texts are made: a
    /// model's identity, or that followed by `+` and anything.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn vectors_of_other_recipes(&self, model: &str, recipe: &str) -> Result<Vec<StoredVectors>> {
        let mut response = self
            .db()
            .await?
            .query(
                "SELECT * FROM vector
                 WHERE model != $recipe AND (model = $model OR string::starts_with(model, $prefix))",
            )
            .bind(("recipe", recipe.to_owned()))
            .bind(("model", model.to_owned()))
            .bind(("prefix", format!("{model}+")))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<VectorRow> = response.take(0).map_err(|error| self.failed(&error))?;
        rows.iter().map(StoredVectors::from_row).collect()
    }

    /// Returns what some vector was made with whose model's identity does not begin with `prefix`; `None` if there
    /// is no such vector.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn another_vector_model(&self, prefix: &str) -> Result<Option<String>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT VALUE model FROM vector WHERE !string::starts_with(model, $prefix) LIMIT 1")
            .bind(("prefix", prefix.to_owned()))
            .await
            .map_err(|error| self.failed(&error))?;
        let models: Vec<String> = response.take(0).map_err(|error| self.failed(&error))?;
        Ok(models.into_iter().next())
    }

    /// Returns the vectors of these cards made with `model`; cards without any are left out.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn vectors_of(&self, model: &str, cards: &[CardId]) -> Result<Vec<StoredVectors>> {
        let ids: Vec<RecordId> =
            cards.iter().map(|card| PackedVectors::record_id(card.as_str(), model)).collect();
        let rows: Vec<VectorRow> = self.rows_by_id(ids).await?;
        rows.iter().map(StoredVectors::from_row).collect()
    }

    /// Stores vectors of existing cards (for a new model, or for cards added without vectors). If a card has
    /// moved past `number` in the meantime, its row is stale from the start and readers ignore it.
    ///
    /// # Errors
    /// Returns an error when the database fails; nothing is then stored.
    pub async fn put_vectors(&self, rows: &[(CardId, u32, PackedVectors)]) -> Result<()> {
        let rows: Vec<surrealdb::types::Object> =
            rows.iter().map(|(card, number, vectors)| vectors.row(card, *number)).collect();
        self.remove_snapshots()?;
        let each = "BEGIN; FOR $row IN $rows { UPSERT $row.id CONTENT $row RETURN NONE }; COMMIT;";
        self.execute(each, object! { rows: rows }).await
    }

    /// Deletes all vectors of cards not made with model `cards`, and of pages not made with model `pages`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn drop_other_vectors(&self, cards: &str, pages: &str) -> Result<()> {
        self.remove_snapshots()?;
        let others = "BEGIN;
             DELETE vector WHERE model != $cards RETURN NONE;
             DELETE page_vector WHERE model != $pages RETURN NONE;
             COMMIT;";
        self.execute(others, object! { cards: cards.to_owned(), pages: pages.to_owned() }).await
    }
}
