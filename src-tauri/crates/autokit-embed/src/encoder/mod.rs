//! Networks that turn token ids into vectors.
//!
//! [`Encoder`] is deliberately small: a batch of id sequences in, one vector per sequence out, or one per token.
//! [`BertEncoder`] is this crate's own: fast, but only for plain BERT. Others are provided from outside, see
//! [`OpenEncoder`].

mod bert;
mod weights;

use std::path::Path;
use std::sync::Arc;

pub use crate::kernel::Isa;
pub use crate::precision::Precision;
pub use bert::BertEncoder;

use crate::error::{Error, Result};
use crate::manifest::{Architecture, CONFIG_FILE, ModelSpec};

/// A network that computes one vector per token sequence, and perhaps one per token.
///
/// Implementations must not let a sequence's vector depend on the rest of the batch beyond rounding, and must
/// not busy-wait while idle.
pub trait Encoder: Send + Sync {
    /// Returns the length of a vector.
    fn dim(&self) -> usize;

    /// Returns the size of the vocabulary; ids at or above it are errors.
    fn vocab_size(&self) -> usize;

    /// Returns the length of the longest sequence that the network's positions allow.
    fn max_positions(&self) -> usize;

    /// Encodes a ragged batch. Returns `[batch.len(), dim]`, row-major, in the order given.
    ///
    /// # Errors
    /// [`Error::Encode`] for an empty sequence, one that is too long, or an id out of range.
    fn encode(&self, batch: &[&[u32]]) -> Result<Vec<f32>>;

    /// Whether [`Self::encode_tokens`] returns anything.
    fn has_token_states(&self) -> bool {
        false
    }

    /// Computes the states of all tokens in the last layer, each of unit length: one `[tokens, dim]` per sequence,
    /// row-major. `None` if the network has none.
    ///
    /// # Errors
    /// As [`Self::encode`].
    fn encode_tokens(&self, batch: &[&[u32]]) -> Result<Option<Vec<Vec<f32>>>> {
        let _ = batch;
        Ok(None)
    }
}

/// Opens another crate's encoder for the model whose files are in a folder.
pub type OpenEncoder = fn(&ModelSpec, &Path) -> Result<Box<dyn Encoder>>;

/// Rejects sequences that no encoder accepts.
///
/// # Errors
/// [`Error::Encode`] for a sequence that is empty or longer than `max_positions`, or an id that is not below
/// `vocab_size`.
pub fn check_batch(batch: &[&[u32]], vocab_size: usize, max_positions: usize) -> Result<()> {
    for (i, ids) in batch.iter().enumerate() {
        let reason = if ids.is_empty() {
            format!("sequence {i} is empty")
        } else if ids.len() > max_positions {
            format!("sequence {i} has {} tokens, the model allows {max_positions}", ids.len())
        } else if let Some(id) = ids.iter().find(|id| **id as usize >= vocab_size) {
            format!("sequence {i} has token id {id}, the model knows {vocab_size}")
        } else {
            continue;
        };
        return Err(Error::Encode { reason });
    }
    Ok(())
}

/// Opens the own encoder, or `other` for a model that is not a plain BERT. `precision` is for the own one.
///
/// # Errors
/// [`Error::BadConfig`], also if there is no encoder for the model; [`Error::BadWeights`] or [`Error::Io`].
pub fn open(
    spec: &ModelSpec,
    folder: &Path,
    pool: &Arc<rayon::ThreadPool>,
    precision: Precision,
    other: Option<OpenEncoder>,
) -> Result<Box<dyn Encoder>> {
    let path = folder.join(CONFIG_FILE);
    if spec.architecture == Architecture::Bert && bert::BertConfig::from_file(&path)?.is_plain() {
        return Ok(Box::new(BertEncoder::open_for(
            Isa::detect(),
            precision,
            spec,
            folder,
            Arc::clone(pool),
        )?));
    }
    match other {
        Some(open) => {
            tracing::info!(model = spec.name, "not a plain BERT model; using the alternative encoder");
            open(spec, folder)
        }
        None => Err(Error::BadConfig { path, reason: "this architecture is not supported".to_owned() }),
    }
}
