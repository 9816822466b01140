//! Pooling of token states into one vector per text.

use serde::{Deserialize, Serialize};

/// How the states of a text's tokens are pooled into one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean over all tokens, including special tokens.
    Mean,
    /// The state of the first token.
    Cls,
}

impl Pooling {
    /// Pools `states` (`[tokens, dim]`, row-major) into `out` (`[dim]`).
    ///
    /// Sums in token order, so that the result depends only on this text.
    pub fn pool(self, states: &[f32], out: &mut [f32]) {
        let dim = out.len();
        debug_assert!(!states.is_empty() && states.len().is_multiple_of(dim));
        out.copy_from_slice(&states[..dim]);
        if self == Self::Mean {
            for row in states[dim..].chunks_exact(dim) {
                for (sum, x) in out.iter_mut().zip(row) {
                    *sum += x;
                }
            }
            let scale = 1.0 / (states.len() / dim) as f32;
            for x in out {
                *x *= scale;
            }
        }
    }
}

/// Scales a vector to Euclidean length 1; a zero vector stays zero.
pub fn normalise(vector: &mut [f32]) {
    let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if norm > 0.0 {
        let scale = (1.0 / norm) as f32;
        for x in vector {
            *x *= scale;
        }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::*;

    #[test]
    fn mean_and_cls() {
        let states = [1.0, 2.0, 3.0, 4.0, 5.0, 9.0];
        let mut out = [0.0; 2];
        Pooling::Mean.pool(&states, &mut out);
        assert_eq!(out, [3.0, 5.0]);
        Pooling::Cls.pool(&states, &mut out);
        assert_eq!(out, [1.0, 2.0]);
    }

    #[test]
    fn length_one_or_zero() {
        let mut v = [3.0, 4.0];
        normalise(&mut v);
        assert_eq!(v, [0.6, 0.8]);
        let mut zero = [0.0; 3];
        normalise(&mut zero);
        assert_eq!(zero, [0.0; 3]);
    }
}
