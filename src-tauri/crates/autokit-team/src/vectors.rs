//! Vectors of cards, computed once by whoever writes them.

use surrealdb::types::{Bytes, SurrealValue, Value};

use crate::access::CardKey;
use crate::error::Result;
use crate::schema::ROW_NAME;
use crate::session::{Session, ids_of};

/// The vectors of a card in one of its states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardVectors {
    /// The card.
    pub card: CardKey,
    /// Revision of the card that they were made from.
    pub number: u32,
    /// What they were made with: the embedding model with its weights, and how its texts are made.
    pub recipe: String,
    /// Length of one vector.
    pub dim: u32,
    /// The numbers, row by row, as little-endian `f32`: at most 64 KiB.
    pub data: Vec<u8>,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct VectorRow {
    card: String,
    number: i64,
    recipe: String,
    dim: i64,
    data: Bytes,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct NumberRow {
    card: String,
    number: i64,
}

fn keys(cards: &[CardKey]) -> Vec<Value> {
    cards.iter().map(CardKey::value).collect()
}

/// An expression: the ids that vectors of `$cards` with `$recipe` have in the member's audiences.
fn ids() -> String {
    ids_of("vector", "$cards", &format!("[{ROW_NAME}, $recipe]"))
}

impl Session {
    /// Returns the vectors of these cards that were made with a recipe; cards without any are left out.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn vectors(&self, cards: &[CardKey], recipe: &str) -> Result<Vec<CardVectors>> {
        let query =
            self.reading(format!("LET $ids = {}; SELECT * FROM $ids", ids())).bind(("cards", keys(cards)));
        let query = query.bind(("recipe", recipe.to_owned()));
        let rows: Vec<VectorRow> = self.client.answer(query).await?.take(2)?;
        let vectors = |row: VectorRow| {
            Ok(CardVectors {
                card: CardKey::new(row.card),
                number: row.number as u32,
                recipe: row.recipe,
                dim: row.dim as u32,
                data: row.data.into_inner().to_vec(),
            })
        };
        rows.into_iter().map(vectors).collect()
    }

    /// Returns which of these cards have vectors made with a recipe, with the revision that those were made from.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn with_vectors(&self, cards: &[CardKey], recipe: &str) -> Result<Vec<(CardKey, u32)>> {
        let query = self
            .reading(format!("LET $ids = {}; SELECT card, number FROM $ids", ids()))
            .bind(("cards", keys(cards)));
        let query = query.bind(("recipe", recipe.to_owned()));
        let rows: Vec<NumberRow> = self.client.answer(query).await?.take(2)?;
        Ok(rows.into_iter().map(|row| (CardKey::new(row.card), row.number as u32)).collect())
    }
}
