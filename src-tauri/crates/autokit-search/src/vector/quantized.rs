//! Rows of bytes beside the rows of f32: a first look at a quarter of the memory, with a bound on its error.
//!
//! A row `r` is stored as `scale * b`, `b` in -127..=127, and a query `q` as `step * (u - 128)`, `u` in 0..=255. Their
//! product differs from that of the numbers they stand for by at most `|q| |r - scale b| + |q - step (u - 128)| |scale b|`
//! (Cauchy-Schwarz), so whoever looks at every row whose product plus bound reaches the best exact one misses none.

use serde::{Deserialize, Serialize};

use super::kernel::Kernel;
use crate::stored::{Plain, packed};

/// Added to every bound for the rounding of f32, here and in the exact product: of a few operations, and of each of the
/// numbers that are summed up in sixteen parts.
const ROUNDING: f32 = 4e-6;
const ROUNDING_OF_A_NUMBER: f32 = 8e-9;

/// 64 bytes in one cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct ByteLane(pub(crate) [u8; 64]);

impl Plain for ByteLane {
    const WIDTH: usize = 64;

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }

    fn read(bytes: &[u8]) -> ByteLane {
        ByteLane(bytes.try_into().expect("64 bytes"))
    }
}

/// What is needed of a row besides its bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Row {
    scale: f32,
    /// Sum of the bytes times 128, which is taken from the product for the query's offset.
    offset: i32,
    /// Length of what the bytes stand for.
    norm: f32,
    /// Length of the difference to the numbers.
    error: f32,
}

/// Rows as bytes, in the order of the rows of f32.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct QuantizedRows {
    /// Lanes per row.
    stride: usize,
    #[serde(with = "packed")]
    lanes: Vec<ByteLane>,
    rows: Vec<Row>,
}

/// A query as bytes.
pub(crate) struct QuantizedQuery {
    lanes: Vec<ByteLane>,
    step: f32,
    /// Length of the query.
    norm: f32,
    /// Length of the difference to what the bytes stand for.
    error: f32,
    /// Largest error by rounding.
    rounding: f32,
}

/// A product of a query and a row that is off by at most `bound`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Approximate {
    pub(crate) score: f32,
    pub(crate) bound: f32,
}

fn norm(numbers: impl Iterator<Item = f64>) -> f32 {
    // Rounded up, so that a bound stays one.
    (numbers.map(|x| x * x).sum::<f64>().sqrt() * (1.0 + 1e-6)) as f32
}

impl QuantizedRows {
    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.lanes.capacity() * size_of::<ByteLane>() + self.rows.capacity() * size_of::<Row>()
    }

    /// Reserves memory for `rows` more rows of `dimension` numbers.
    pub(crate) fn reserve(&mut self, rows: usize, dimension: usize) {
        self.lanes.reserve(rows * dimension.div_ceil(64));
        self.rows.reserve(rows);
    }

    /// Sets a row, or adds it at the end.
    pub(crate) fn set(&mut self, at: usize, numbers: &[f32]) {
        if self.rows.is_empty() {
            self.stride = numbers.len().div_ceil(64);
        }
        if at == self.rows.len() {
            self.lanes.resize(self.lanes.len() + self.stride, ByteLane([0; 64]));
            self.rows.push(Row { scale: 0.0, offset: 0, norm: 0.0, error: 0.0 });
        }
        let largest = numbers.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let scale = (largest / 127.0).max(f32::MIN_POSITIVE);
        let mut sum = 0;
        let stored = &mut self.lanes[at * self.stride..][..self.stride];
        for (lane, numbers) in stored.iter_mut().zip(numbers.chunks(64)) {
            for (byte, x) in lane.0.iter_mut().zip(numbers) {
                let rounded = (x / scale).round() as i8;
                sum += i32::from(rounded);
                *byte = rounded.cast_unsigned();
            }
        }
        let stands_for = |at: usize| f64::from(scale) * f64::from(stored[at / 64].0[at % 64].cast_signed());
        self.rows[at] = Row {
            scale,
            offset: 128 * sum,
            norm: norm((0..numbers.len()).map(stands_for)),
            error: norm(numbers.iter().enumerate().map(|(at, x)| f64::from(*x) - stands_for(at))),
        };
    }

    /// Removes a row by moving the last one into its place.
    pub(crate) fn swap_remove(&mut self, at: usize) {
        let last = self.rows.len() - 1;
        self.lanes.copy_within(last * self.stride..(last + 1) * self.stride, at * self.stride);
        self.lanes.truncate(last * self.stride);
        self.rows.swap_remove(at);
    }

    /// Returns the product of a query with four rows.
    #[inline]
    pub(crate) fn products(
        &self,
        kernel: Kernel,
        query: &QuantizedQuery,
        at: [usize; 4],
    ) -> [Approximate; 4] {
        let lanes = at.map(|at| &self.lanes[at * self.stride..(at + 1) * self.stride]);
        let sums = kernel.dot_bytes(&query.lanes, lanes);
        std::array::from_fn(|i| {
            let row = &self.rows[at[i]];
            Approximate {
                score: query.step * row.scale * (sums[i] - row.offset) as f32,
                bound: query.norm * row.error + query.error * row.norm + query.rounding,
            }
        })
    }
}

impl QuantizedQuery {
    /// Rounds a query to bytes.
    pub(crate) fn new(numbers: &[f32]) -> QuantizedQuery {
        let largest = numbers.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let step = (largest / 127.0).max(f32::MIN_POSITIVE);
        let level = |x: f32| (x / step).round();
        let mut lanes = vec![ByteLane([128; 64]); numbers.len().div_ceil(64)];
        for (lane, numbers) in lanes.iter_mut().zip(numbers.chunks(64)) {
            for (byte, x) in lane.0.iter_mut().zip(numbers) {
                *byte = (level(*x) + 128.0) as u8;
            }
        }
        QuantizedQuery {
            lanes,
            step,
            norm: norm(numbers.iter().map(|x| f64::from(*x))),
            error: norm(numbers.iter().map(|x| f64::from(*x) - f64::from(step) * f64::from(level(*x)))),
            rounding: ROUNDING + ROUNDING_OF_A_NUMBER * numbers.len() as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: u32, spread: f32) -> Vec<f32> {
        let mut state = seed;
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let x = (state >> 8) as f32 / (1 << 23) as f32 - 1.0;
                // A few large numbers among many small ones are the worst case.
                x * x.abs().powf(spread)
            })
            .collect()
    }

    #[test]
    fn products_are_within_their_bound_on_every_kernel() {
        for kernel in Kernel::available() {
            for (dimension, spread) in [(1, 0.0), (63, 0.0), (64, 5.0), (384, 0.0), (384, 20.0), (400, 3.0)] {
                let rows: Vec<Vec<f32>> =
                    (0..8).map(|seed| numbers(dimension, seed * 7 + dimension as u32, spread)).collect();
                let query = numbers(dimension, 99, spread);
                let mut quantized = QuantizedRows::default();
                for (at, row) in rows.iter().enumerate() {
                    quantized.set(at, row);
                }
                let bytes = QuantizedQuery::new(&query);
                for at in [[0, 1, 2, 3], [4, 5, 6, 7], [7, 0, 7, 1]] {
                    for (row, found) in at.iter().zip(quantized.products(kernel, &bytes, at)) {
                        let exact: f64 =
                            rows[*row].iter().zip(&query).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                        let off = (f64::from(found.score) - exact).abs();
                        assert!(
                            off <= f64::from(found.bound),
                            "{kernel:?} {dimension} {spread}: {off} {found:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn rows_of_zeros_and_moved_rows() {
        let mut rows = QuantizedRows::default();
        for at in 0..4 {
            rows.set(at, &[at as f32; 70]);
        }
        rows.swap_remove(1);
        let query = QuantizedQuery::new(&[1.0; 70]);
        let scores =
            rows.products(Kernel::Portable, &query, [0, 1, 2, 2]).map(|found| found.score.round() as i32);
        assert_eq!(scores, [0, 210, 140, 140]);
    }
}
