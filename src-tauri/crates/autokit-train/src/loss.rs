//! The training objective.

use candle_core::{D, Result, Tensor};
use candle_nn::ops::log_softmax;

/// InfoNCE in both directions (van den Oord et al., 2018): each request is to find its tool among those of
/// the batch and the further `documents`, each tool its request.
///
/// `queries [n, dim]` and `documents [n + hard, dim]` are unit vectors; row `i` of both is a pair. `mask [n, n +
/// hard]` is 0 where a document counts as a negative (and for the pair itself) and -inf-like where it does not,
/// because it may be right as well. Returns a scalar.
///
/// # Errors
/// When shapes do not fit.
pub fn info_nce(queries: &Tensor, documents: &Tensor, mask: &Tensor, temperature: f64) -> Result<Tensor> {
    let pairs = queries.dim(0)?;
    let logits = (queries.matmul(&documents.t()?)?.affine(1.0 / temperature, 0.0)? + mask)?;
    let to_documents = diagonal_mean(&log_softmax(&logits, D::Minus1)?, pairs)?;
    let square = logits.narrow(1, 0, pairs)?.contiguous()?;
    let to_queries = diagonal_mean(&log_softmax(&square, 0)?, pairs)?;
    (to_documents + to_queries)?.affine(-0.5, 0.0)
}

/// Mean of `x[i, i]` over the first `n` rows.
fn diagonal_mean(x: &Tensor, n: usize) -> Result<Tensor> {
    let at = Tensor::arange(0, n as u32, x.device())?.reshape((n, 1))?;
    x.contiguous()?.gather(&at, 1)?.mean_all()
}

/// Mean distance `1 - cosine` of unit vectors to those of the base model.
///
/// # Errors
/// When shapes do not fit.
pub fn distance_to(vectors: &Tensor, base: &Tensor) -> Result<Tensor> {
    let cosines = (vectors * base)?.sum(D::Minus1)?;
    cosines.mean_all()?.affine(-1.0, 1.0)
}

/// The value of a mask where a document does not count: far below every logit, and finite, so that its
/// gradient is 0 and not NaN.
pub const MASKED: f32 = -1e9;
