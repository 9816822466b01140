//! Vectors that somebody else made: in bundles, and in a team's library.

use autokit_error::Result;
use autokit_search::{dot, passages_of};
use autokit_toolcard::Toolcard;

use crate::models::Models;
use crate::token;

/// Cards whose vectors are computed here as well, to verify the others.
const SAMPLE_SIZE: usize = 8;
/// Cosine between a vector of somebody else and the one computed here, below which none of theirs are used. Precisions of
/// processors differ by up to 0.002 (see `Precision`).
const MIN_SAMPLE_COSINE: f32 = 0.99;

impl Models {
    /// Returns whether vectors with so many numbers can be a card's. Nobody else knows what people add to names here, so
    /// those of a card to which something was added are computed here.
    pub fn fit(&self, card: &Toolcard, numbers: usize, dim: usize) -> bool {
        let passages = passages_of(card.object(), &self.vocabulary());
        passages.names.is_none() && dim > 0 && numbers == dim * passages.texts.len()
    }

    /// Returns whether vectors of the current model, `dim` numbers each, are those of their cards: all have the length 1,
    /// and a sample is as computed here, because whoever made them could have made a card match every query.
    ///
    /// # Errors
    /// When the model fails.
    pub async fn verify_vectors(&self, vectors: &[(&Toolcard, &[f32])], dim: usize) -> Result<bool> {
        if !vectors.iter().all(|(_, values)| are_units(values, dim)) {
            return Ok(false);
        }
        let mut sample = Vec::new();
        for _ in 0..SAMPLE_SIZE.min(vectors.len()) {
            // Random, so that nobody can predict which cards are sampled.
            let number = u64::from_str_radix(&token(7), 16).unwrap_or_default();
            sample.push(&vectors[(number % vectors.len() as u64) as usize]);
        }
        let cards: Vec<Toolcard> = sample.iter().map(|(card, _)| (*card).clone()).collect();
        let own = self.embed_cards(&cards).await?;
        Ok(sample.iter().zip(&own).all(|((_, theirs), own)| {
            own.as_ref().is_some_and(|own| {
                let mut rows = own.values.chunks(dim).zip(theirs.chunks(dim));
                own.values.len() == theirs.len() && rows.all(|(a, b)| dot(a, b) >= MIN_SAMPLE_COSINE)
            })
        }))
    }
}

/// Returns whether these are whole vectors of `dim` numbers and of length 1, as stored vectors are; a longer one would outrank
/// all others.
pub fn are_units(values: &[f32], dim: usize) -> bool {
    let is_unit = |vector: &[f32]| (dot(vector, vector) - 1.0).abs() < 1e-2;
    dim > 0 && values.len().is_multiple_of(dim) && values.chunks(dim).all(is_unit)
}
