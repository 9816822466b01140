//! The adapter: a bounded low-rank turn of a query vector.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::vectors::{add_scaled, dot};

/// The most an adapter may turn a query, in degrees.
pub const MAX_ANGLE_DEGREES: f64 = 20.0;
/// The largest rank of an adapter.
pub const MAX_RANK: usize = 16;
/// The largest dimension of an adapter.
pub const MAX_DIM: usize = 4096;

/// Where a turn that would go too far is put: just inside the bound, so that rounding to `f32` cannot cross it.
const CLAMP_DEGREES: f64 = MAX_ANGLE_DEGREES - 1e-3;
/// The largest Frobenius norm of either factor. Fitted ones stay far below; the limit keeps sums finite.
const MAX_NORM: f64 = 1e3;
/// The longest name of an embedding model, in bytes.
const MAX_NAME: usize = 256;
/// How far from 1 the length of a query may be (embeddings are sometimes kept in half precision).
pub(crate) const UNIT_TOLERANCE: f64 = 0.01;

/// A low-rank correction of queries: `q' = normalize(q + (q·A)·B)`, held to [`MAX_ANGLE_DEGREES`] from `q`.
///
/// `A` is `dim × rank` and `B` is `rank × dim`, both row-major. Deserializing checks shapes, sizes and numbers,
/// so a stored adapter that was damaged or made up is an error and never a panic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Adapter {
    model: String,
    dim: usize,
    rank: usize,
    a: Vec<f32>,
    b: Vec<f32>,
}

/// An adapter as it is stored, before any check.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    model: String,
    dim: usize,
    rank: usize,
    a: Vec<f32>,
    b: Vec<f32>,
}

impl TryFrom<Stored> for Adapter {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self, Error> {
        Self::new(stored.model, stored.dim, stored.rank, stored.a, stored.b)
    }
}

impl Adapter {
    /// An adapter from its factors, `a` of `dim × rank` and `b` of `rank × dim` numbers, row-major.
    ///
    /// # Errors
    /// If a shape is empty or larger than [`MAX_DIM`] and [`MAX_RANK`] allow, a length does not fit its shape,
    /// a number is not finite, a factor is too large, or the model has no name or too long a one.
    pub fn new(
        model: impl Into<String>,
        dim: usize,
        rank: usize,
        a: Vec<f32>,
        b: Vec<f32>,
    ) -> Result<Self, Error> {
        let model = model.into();
        check_model(&model)?;
        check_shape(dim, rank)?;
        for (what, factor) in [("factor A", &a), ("factor B", &b)] {
            if factor.len() != dim * rank {
                return Err(Error::Length { what, expected: dim * rank, got: factor.len() });
            }
            let norm = factor.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
            // The norm is only finite if every number is.
            if !norm.is_finite() || norm > MAX_NORM {
                return Err(Error::Range("the numbers of a factor"));
            }
        }
        Ok(Self { model, dim, rank, a, b })
    }

    /// The adapter that leaves every query as it is.
    ///
    /// # Errors
    /// If the dimension or the name of the model is out of range.
    pub fn identity(model: impl Into<String>, dim: usize) -> Result<Self, Error> {
        check_shape(dim, 1)?;
        Self::new(model, dim, 1, vec![0.0; dim], vec![0.0; dim])
    }

    /// The embedding model whose queries it adapts; it means nothing for another one.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The dimension of the queries.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The rank of the correction.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The adapted query, of unit length and at most [`MAX_ANGLE_DEGREES`] away from `query`. Where the
    /// correction is zero, the query comes back bit for bit.
    ///
    /// # Errors
    /// If `query` does not have [`dim`](Self::dim) numbers or is not of unit length (within 1 %).
    pub fn adapt(&self, query: &[f32]) -> Result<Vec<f32>, Error> {
        if query.len() != self.dim {
            return Err(Error::Length { what: "query", expected: self.dim, got: query.len() });
        }
        check_unit(query, "query", 0)?;
        let hidden = project(query, &self.a, self.rank);
        Ok(Turn::new(query, &expand(&hidden, &self.b, self.dim)).output)
    }
}

/// `q·A`, of `rank` numbers.
pub(crate) fn project(query: &[f32], a: &[f32], rank: usize) -> Vec<f32> {
    let mut hidden = vec![0.0; rank];
    for (&q, row) in query.iter().zip(a.chunks_exact(rank)) {
        add_scaled(&mut hidden, q, row);
    }
    hidden
}

/// `h·B`, of `dim` numbers.
pub(crate) fn expand(hidden: &[f32], b: &[f32], dim: usize) -> Vec<f32> {
    let mut update = vec![0.0; dim];
    for (&h, row) in hidden.iter().zip(b.chunks_exact(dim)) {
        add_scaled(&mut update, h, row);
    }
    update
}

/// A query with an update added, back at unit length and inside the bound, and what its derivative needs.
pub(crate) struct Turn {
    /// The adapted query.
    pub(crate) output: Vec<f32>,
    shape: Shape,
}

enum Shape {
    /// Inside the bound: `(q + u) / length`.
    Free { length: f64 },
    /// On the bound: `cos·q + sin·across`, with `across` the unit direction of the update at a right angle to
    /// the query, which the update has by `length`.
    Held { across: Vec<f32>, length: f64 },
    /// The update has no direction at a right angle to the query, so there is nowhere to turn.
    Still,
}

impl Turn {
    /// Adds `update` to `query` (unit length).
    pub(crate) fn new(query: &[f32], update: &[f32]) -> Self {
        if update.iter().all(|&x| x == 0.0) {
            return Self { output: query.to_vec(), shape: Shape::Free { length: 1.0 } };
        }
        let square = wide_dot(query, query);
        let along = wide_dot(update, query) / square;
        let across: Vec<f64> =
            update.iter().zip(query).map(|(&u, &q)| f64::from(u) - along * f64::from(q)).collect();
        let length = across.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (unit, limit) = (square.sqrt(), CLAMP_DEGREES.to_radians());
        if length < 1e-9 {
            return Self { output: query.to_vec(), shape: Shape::Still };
        }
        if length.atan2((1.0 + along) * unit) <= limit {
            let full = length.hypot((1.0 + along) * unit);
            let output =
                query.iter().zip(update).map(|(&q, &u)| ((f64::from(q) + f64::from(u)) / full) as f32);
            return Self { output: output.collect(), shape: Shape::Free { length: full } };
        }
        let (sin, cos) = limit.sin_cos();
        let output =
            query.iter().zip(&across).map(|(&q, x)| (cos * f64::from(q) / unit + sin * x / length) as f32);
        let output = output.collect();
        let across = across.iter().map(|x| (x / length) as f32).collect();
        Self { output, shape: Shape::Held { across, length } }
    }

    /// The gradient for the update, from the one for the output (both of `dim` numbers).
    pub(crate) fn backward(&self, query: &[f32], gradient: &[f32]) -> Vec<f32> {
        match &self.shape {
            Shape::Still => vec![0.0; query.len()],
            Shape::Free { length } => {
                let inside = dot(gradient, &self.output);
                let scale = (1.0 / length) as f32;
                gradient.iter().zip(&self.output).map(|(&g, &o)| (g - inside * o) * scale).collect()
            }
            Shape::Held { across, length } => {
                // `across` and the query are at right angles, so both parts can be taken out one by one.
                let (along, aside) = (dot(gradient, query), dot(gradient, across));
                let scale = (CLAMP_DEGREES.to_radians().sin() / length) as f32;
                let both = query.iter().zip(across);
                gradient.iter().zip(both).map(|(&g, (&q, &x))| (g - along * q - aside * x) * scale).collect()
            }
        }
    }
}

/// A dot product summed in double precision, for what the bound on the angle rests on.
fn wide_dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum()
}

pub(crate) fn check_model(model: &str) -> Result<(), Error> {
    if model.is_empty() || model.len() > MAX_NAME {
        return Err(Error::Range("the name of the embedding model"));
    }
    Ok(())
}

pub(crate) fn check_shape(dim: usize, rank: usize) -> Result<(), Error> {
    if dim == 0 || dim > MAX_DIM {
        return Err(Error::Range("the dimension"));
    }
    if rank == 0 || rank > MAX_RANK {
        return Err(Error::Range("the rank"));
    }
    Ok(())
}

pub(crate) fn check_unit(vector: &[f32], what: &'static str, index: usize) -> Result<(), Error> {
    // False as well for a length that is not a number.
    if (wide_dot(vector, vector).sqrt() - 1.0).abs() <= UNIT_TOLERANCE {
        Ok(())
    } else {
        Err(Error::NotUnit { what, index })
    }
}
