//! The training objective.

use candle_core::{D, Result, Tensor};
use candle_nn::ops::log_softmax;

/// InfoNCE in both directions (van den Oord et al., 2018): each request is to find its tool among those of
/// the batch and the further `documents`, each tool its request among those of the batch and the further `queries`.
///
/// `queries [n + misses, dim]` and `documents [n + hard, dim]` are unit vectors; row `i < n` of both is a pair, and
/// the further `queries` are answered by none of the documents. `mask [n, n + hard]` is 0 where a document counts as
/// a negative (and for the pair itself) and -inf-like where it does not, because it may be right as well. Returns a
/// scalar.
///
/// # Errors
/// When shapes do not fit.
pub fn info_nce(queries: &Tensor, documents: &Tensor, mask: &Tensor, temperature: f64) -> Result<Tensor> {
    let (pairs, all) = (mask.dim(0)?, queries.dim(0)?);
    let logits = queries.matmul(&documents.t()?)?.affine(1.0 / temperature, 0.0)?;
    let answered = (logits.narrow(0, 0, pairs)? + mask)?;
    let to_documents = diagonal_mean(&log_softmax(&answered, D::Minus1)?, pairs)?;
    let mut columns = answered.narrow(1, 0, pairs)?.contiguous()?;
    if all > pairs {
        let misses = logits.narrow(0, pairs, all - pairs)?.narrow(1, 0, pairs)?.contiguous()?;
        columns = Tensor::cat(&[&columns, &misses], 0)?;
    }
    let to_queries = diagonal_mean(&log_softmax(&columns, 0)?.narrow(0, 0, pairs)?, pairs)?;
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

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    fn unit(angles: &[f32]) -> Tensor {
        let values: Vec<f32> = angles.iter().flat_map(|angle| [angle.cos(), angle.sin()]).collect();
        Tensor::from_vec(values, (angles.len(), 2), &Device::Cpu).unwrap()
    }

    fn loss(queries: &[f32], documents: &[f32]) -> f32 {
        let mask = Tensor::zeros((2, documents.len()), candle_core::DType::F32, &Device::Cpu).unwrap();
        info_nce(&unit(queries), &unit(documents), &mask, 0.1).unwrap().to_scalar().unwrap()
    }

    #[test]
    fn requests_that_nothing_answers_cost_more_the_closer_they_are_to_a_document() {
        let alone = loss(&[0.0, 1.5], &[0.0, 1.5]);
        let far = loss(&[0.0, 1.5, 3.0], &[0.0, 1.5]);
        let near = loss(&[0.0, 1.5, 0.1], &[0.0, 1.5]);
        assert!(alone <= far && far + 0.1 < near, "{alone}, {far}, {near}");
    }
}
