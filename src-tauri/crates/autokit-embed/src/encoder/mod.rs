//! The networks that turn token ids into vectors.
//!
//! [`Encoder`] is deliberately small: a batch of id sequences in, one vector per sequence out.
//! Two implementations read real weights: [`BertEncoder`] is this crate's own and fast,
//! [`CandleEncoder`] runs what candle-transformers offers and is the reference in tests.

mod bert;
mod candle;
mod weights;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod tiny;

use std::path::Path;
use std::sync::Arc;

pub use bert::BertEncoder;
pub use candle::CandleEncoder;

use crate::error::{Error, Result};
use crate::manifest::{Architecture, CONFIG_FILE, ModelSpec};

/// A network that gives one vector per token sequence.
///
/// Implementations must not let a sequence's vector depend on the rest of the batch beyond
/// rounding, and must not spin while idle.
pub trait Encoder: Send + Sync {
    /// Length of a vector.
    fn dim(&self) -> usize;

    /// Number of ids the network knows; ids at or above it are errors.
    fn vocab_size(&self) -> usize;

    /// Longest sequence the network's positions allow.
    fn max_positions(&self) -> usize;

    /// Encodes a ragged batch. Returns `[batch.len(), dim]`, row-major, in the order given.
    ///
    /// # Errors
    /// [`Error::Encode`] for an empty sequence, one that is too long, or an id out of range.
    fn encode(&self, batch: &[&[u32]]) -> Result<Vec<f32>>;

    /// The states of one sequence's tokens before they are pooled, `[ids.len(), dim]`, row-major.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    fn states(&self, ids: &[u32]) -> Result<Vec<f32>>;
}

/// Rejects sequences no encoder can take.
fn check_batch(batch: &[&[u32]], vocab_size: usize, max_positions: usize) -> Result<()> {
    for (i, ids) in batch.iter().enumerate() {
        let reason = if ids.is_empty() {
            format!("sequence {i} is empty")
        } else if ids.len() > max_positions {
            format!("sequence {i} has {} tokens, the model takes {max_positions}", ids.len())
        } else if let Some(id) = ids.iter().find(|id| **id as usize >= vocab_size) {
            format!("sequence {i} has token id {id}, the model knows {vocab_size}")
        } else {
            continue;
        };
        return Err(Error::Encode { reason });
    }
    Ok(())
}

/// Opens the fastest encoder that can run the model in `folder`.
///
/// # Errors
/// [`Error::BadConfig`], [`Error::BadWeights`] or [`Error::Io`].
pub(crate) fn open(
    spec: &ModelSpec,
    folder: &Path,
    pool: &Arc<rayon::ThreadPool>,
) -> Result<Box<dyn Encoder>> {
    if spec.architecture == Architecture::Bert {
        let path = folder.join(CONFIG_FILE);
        let config = bert::BertConfig::from_file(&path)?;
        if config.is_plain() {
            return Ok(Box::new(BertEncoder::open(spec, folder, Arc::clone(pool))?));
        }
        tracing::info!(model = spec.name, "not a plain BERT: taking the candle encoder");
    }
    Ok(Box::new(CandleEncoder::open(spec, folder)?))
}
