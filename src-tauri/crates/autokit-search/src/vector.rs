//! An exact in-memory index of unit vectors.
//!
//! Every search reads every allowed row: nothing is approximated, and a filter loses nothing. Measured on two
//! cores of a Xeon with AVX-512, 16,000 x 384, k = 10: SurrealDB 3.3.5 embedded takes 590 ms by brute force
//! and 69-95 ms (p50) by HNSW, with about 2 s at p95 when filtered. This index takes 1.1 ms (0.23 ms with a
//! filter that passes a seventh) and is always exact, which is why vectors are searched here and only stored
//! in the database. The figure is from a machine on which compilers were also running; numpy's product and
//! sort took 8.0 ms in the same run, and at 100,000 rows 17 ms compared with 16 ms for this index.

mod kernel;

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::bitset::BitSet;
use crate::error::RetrieveError;
use kernel::{Kernel, Lane};

/// A row found by [`VectorIndex::top_k`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// The key it was added with.
    pub key: u32,
    /// Cosine with the query.
    pub score: f32,
}

impl Neighbour {
    /// Orders best first: higher score, then lower key.
    fn order(self, other: Neighbour) -> Ordering {
        other.score.total_cmp(&self.score).then(self.key.cmp(&other.key))
    }
}

/// Unit vectors by key. Keys should be small numbers, because memory is used for every key up to the largest.
///
/// Rows are contiguous, each padded to whole cache lines. Removal moves the last row into the gap, so that
/// the memory is always `rows x dimension` numbers.
#[derive(Clone, Debug)]
pub struct VectorIndex {
    kernel: Kernel,
    dimension: usize,
    /// Lanes per row.
    stride: usize,
    lanes: Vec<Lane>,
    keys: Vec<u32>,
    /// Row of each key, `NONE` if it has none.
    row_of: Vec<u32>,
    /// Sum of all rows in units of 2^-32, exact whatever the order of changes.
    sum: Vec<i64>,
}

impl Default for VectorIndex {
    fn default() -> VectorIndex {
        VectorIndex::new()
    }
}

const NONE: u32 = u32::MAX;

/// Total of numbers below which one thread is faster than waking another (1 MiB of f32).
const PARALLEL_FROM: usize = 1 << 18;

/// Rows scored at a time by one thread: 16 rows x 384 x 4 bytes stay in the L1 cache while the vectors of a
/// query with several parts are applied.
const BLOCK: usize = 16;

/// Fixed-point unit of [`VectorIndex::sum`].
const UNIT: f64 = 4_294_967_296.0;

impl VectorIndex {
    /// Creates an empty index. The first vector sets the dimension.
    pub fn new() -> VectorIndex {
        VectorIndex {
            kernel: Kernel::detect(),
            dimension: 0,
            stride: 0,
            lanes: Vec::new(),
            keys: Vec::new(),
            row_of: Vec::new(),
            sum: Vec::new(),
        }
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the index is empty.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the length of the vectors; 0 while there are none.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the memory in bytes.
    pub fn memory(&self) -> usize {
        self.lanes.capacity() * size_of::<Lane>()
            + (self.keys.capacity() + self.row_of.capacity()) * size_of::<u32>()
            + self.sum.capacity() * size_of::<i64>()
    }

    /// Reserves memory for `rows` more vectors of `dimension` numbers.
    pub fn reserve(&mut self, rows: usize, dimension: usize) {
        self.lanes.reserve(rows * dimension.div_ceil(16));
        self.keys.reserve(rows);
        self.row_of.reserve(rows);
    }

    /// Refuses a vector that could not be searched. `what` describes it in the error.
    ///
    /// # Errors
    /// When it has another dimension, is not finite, or is all zeros.
    pub fn check(&self, what: &str, vector: &[f32]) -> Result<(), RetrieveError> {
        check_vector(what, vector, (self.dimension > 0).then_some(self.dimension))
    }

    /// Sets the vector of a key, replacing a previous one. It is normalized to unit length.
    ///
    /// # Errors
    /// As [`VectorIndex::check`].
    pub fn upsert(&mut self, key: u32, vector: &[f32]) -> Result<(), RetrieveError> {
        self.check(&format!("row {key}"), vector)?;
        if self.dimension == 0 {
            self.dimension = vector.len();
            self.stride = vector.len().div_ceil(16);
            self.sum = vec![0; vector.len()];
        }
        if self.row_of.len() <= key as usize {
            self.row_of.resize(key as usize + 1, NONE);
        }
        let row = self.row_of[key as usize];
        let row = if row == NONE {
            let row = self.keys.len();
            self.keys.push(key);
            self.row_of[key as usize] = row as u32;
            self.lanes.resize(self.lanes.len() + self.stride, Lane::ZERO);
            row
        } else {
            self.add_to_sum(row as usize, -1);
            row as usize
        };
        let unit = unit(vector);
        pack(&unit, &mut self.lanes[row * self.stride..(row + 1) * self.stride]);
        self.add_to_sum(row, 1);
        Ok(())
    }

    /// Removes the vector of a key, if there is one.
    pub fn remove(&mut self, key: u32) -> bool {
        let Some(row) = self.row(key) else { return false };
        self.add_to_sum(row, -1);
        let last = self.keys.len() - 1;
        if row != last {
            self.lanes.copy_within(last * self.stride..(last + 1) * self.stride, row * self.stride);
            self.keys[row] = self.keys[last];
            self.row_of[self.keys[row] as usize] = row as u32;
        }
        self.keys.pop();
        self.lanes.truncate(last * self.stride);
        self.row_of[key as usize] = NONE;
        if self.keys.is_empty() {
            self.dimension = 0;
            self.stride = 0;
            self.sum.clear();
        }
        true
    }

    /// Returns the vector of a key, normalized to unit length.
    pub fn get(&self, key: u32) -> Option<Vec<f32>> {
        let row = self.row(key)?;
        Some(self.row_numbers(row).collect())
    }

    /// Returns the mean of all vectors; empty while there are none.
    pub fn mean(&self) -> Vec<f32> {
        let scale = UNIT * self.keys.len().max(1) as f64;
        self.sum.iter().map(|&sum| (sum as f64 / scale) as f32).collect()
    }

    /// Returns the `k` vectors nearest to `query` by cosine, best first, ties by key. With `allowed`, only
    /// those keys are read.
    ///
    /// # Errors
    /// As [`VectorIndex::check`].
    pub fn top_k(
        &self,
        query: &[f32],
        k: usize,
        allowed: Option<&BitSet>,
    ) -> Result<Vec<Neighbour>, RetrieveError> {
        if self.is_empty() || k == 0 {
            return Ok(Vec::new());
        }
        self.check("the query", query)?;
        let query = self.packed(query);
        let search = |rows: std::ops::Range<usize>| {
            let mut best = TopK::new(k);
            self.score_rows(rows, std::slice::from_ref(&query), allowed, |row, scores| {
                best.push(Neighbour { key: self.keys[row], score: scores[0] });
            });
            best
        };
        let best = match self.chunk() {
            None => search(0..self.len()),
            Some(chunk) => {
                self.chunks(chunk).into_par_iter().map(search).reduce(|| TopK::new(k), TopK::merge)
            }
        };
        Ok(best.into_sorted())
    }

    /// Returns every allowed key and its cosines with each of `queries`, key by key. `shift` is subtracted
    /// from the queries after normalization: the results are `row . (query - shift)`.
    pub(crate) fn scan(
        &self,
        queries: &[&[f32]],
        shift: &[f32],
        allowed: Option<&BitSet>,
    ) -> (Vec<u32>, Vec<f32>) {
        let packed: Vec<Vec<Lane>> = queries
            .iter()
            .map(|query| {
                let mut shifted = unit(query);
                for (x, s) in shifted.iter_mut().zip(shift) {
                    *x -= s;
                }
                let mut lanes = vec![Lane::ZERO; self.stride];
                pack(&shifted, &mut lanes);
                lanes
            })
            .collect();
        let part = |rows: std::ops::Range<usize>| {
            let mut keys = Vec::with_capacity(rows.len());
            let mut cosines = Vec::with_capacity(rows.len() * packed.len());
            self.score_rows(rows, &packed, allowed, |row, scores| {
                keys.push(self.keys[row]);
                cosines.extend_from_slice(scores);
            });
            (keys, cosines)
        };
        match self.chunk() {
            None => part(0..self.len()),
            Some(chunk) => {
                let parts: Vec<(Vec<u32>, Vec<f32>)> = self.chunks(chunk).into_par_iter().map(part).collect();
                let mut keys = Vec::with_capacity(self.len());
                let mut cosines = Vec::with_capacity(self.len() * packed.len());
                for (some_keys, some_cosines) in parts {
                    keys.extend(some_keys);
                    cosines.extend(some_cosines);
                }
                (keys, cosines)
            }
        }
    }

    /// Returns the mean cosine of all rows with each query, as [`VectorIndex::scan`] would report them.
    pub(crate) fn average(&self, queries: &[&[f32]], shift: &[f32]) -> Vec<f32> {
        let mean = self.mean();
        queries
            .iter()
            .map(|query| unit(query).iter().zip(shift).zip(&mean).map(|((q, s), m)| (q - s) * m).sum())
            .collect()
    }

    /// Whether the key has a vector.
    pub fn contains(&self, key: u32) -> bool {
        self.row(key).is_some()
    }

    fn row(&self, key: u32) -> Option<usize> {
        self.row_of.get(key as usize).filter(|&&row| row != NONE).map(|&row| row as usize)
    }

    fn row_lanes(&self, row: usize) -> &[Lane] {
        &self.lanes[row * self.stride..(row + 1) * self.stride]
    }

    fn row_numbers(&self, row: usize) -> impl Iterator<Item = f32> + '_ {
        self.row_lanes(row).iter().flat_map(|lane| lane.0).take(self.dimension)
    }

    fn packed(&self, query: &[f32]) -> Vec<Lane> {
        let mut lanes = vec![Lane::ZERO; self.stride];
        pack(&unit(query), &mut lanes);
        lanes
    }

    fn add_to_sum(&mut self, row: usize, sign: i64) {
        let (stride, dimension) = (self.stride, self.dimension);
        let numbers =
            self.lanes[row * stride..(row + 1) * stride].iter().flat_map(|lane| lane.0).take(dimension);
        for (sum, x) in self.sum.iter_mut().zip(numbers) {
            *sum += sign * (f64::from(x) * UNIT) as i64;
        }
    }

    /// Returns the number of rows per thread, `None` if one thread is faster.
    fn chunk(&self) -> Option<usize> {
        let threads = rayon::current_num_threads();
        if threads < 2 || self.lanes.len() * 16 < PARALLEL_FROM {
            return None;
        }
        Some(self.len().div_ceil(threads * 2).next_multiple_of(BLOCK).max(BLOCK))
    }

    fn chunks(&self, chunk: usize) -> Vec<std::ops::Range<usize>> {
        (0..self.len()).step_by(chunk).map(|from| from..(from + chunk).min(self.len())).collect()
    }

    /// Scores rows in order, four at a time; skipped rows are not read.
    fn score_rows(
        &self,
        rows: std::ops::Range<usize>,
        queries: &[Vec<Lane>],
        allowed: Option<&BitSet>,
        mut visit: impl FnMut(usize, &[f32]),
    ) {
        let width = queries.len();
        let mut scores = vec![0.0f32; BLOCK * width];
        let mut block = [0usize; BLOCK];
        let mut filled = 0;
        let mut flush = |block: &[usize]| {
            for (q, query) in queries.iter().enumerate() {
                let mut fours = block.chunks_exact(4);
                let mut at = 0;
                for four in &mut fours {
                    let found = self.kernel.dot(
                        query,
                        [
                            self.row_lanes(four[0]),
                            self.row_lanes(four[1]),
                            self.row_lanes(four[2]),
                            self.row_lanes(four[3]),
                        ],
                    );
                    for score in found {
                        scores[at * width + q] = score;
                        at += 1;
                    }
                }
                for &row in fours.remainder() {
                    scores[at * width + q] = self.kernel.dot(query, [self.row_lanes(row)])[0];
                    at += 1;
                }
            }
            for (at, &row) in block.iter().enumerate() {
                visit(row, &scores[at * width..(at + 1) * width]);
            }
        };
        for row in rows {
            if allowed.is_some_and(|set| !set.contains(self.keys[row])) {
                continue;
            }
            block[filled] = row;
            filled += 1;
            if filled == BLOCK {
                flush(&block);
                filled = 0;
            }
        }
        flush(&block[..filled]);
    }
}

/// Refuses a vector that could not be searched.
pub(crate) fn check_vector(
    what: &str,
    vector: &[f32],
    dimension: Option<usize>,
) -> Result<(), RetrieveError> {
    let what = || what.to_owned();
    if vector.is_empty() || dimension.is_some_and(|expected| expected != vector.len()) {
        return Err(RetrieveError::Dimension {
            what: what(),
            expected: dimension.unwrap_or(1),
            found: vector.len(),
        });
    }
    let mut square = 0.0f64;
    for &x in vector {
        if !x.is_finite() {
            return Err(RetrieveError::NotFinite { what: what() });
        }
        square += f64::from(x) * f64::from(x);
    }
    if square == 0.0 {
        return Err(RetrieveError::ZeroVector { what: what() });
    }
    Ok(())
}

/// Returns the vector at unit length, unchanged if it already has that length up to rounding.
fn unit(vector: &[f32]) -> Vec<f32> {
    let square: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if (square - 1.0).abs() < 1e-6 {
        return vector.to_vec();
    }
    let scale = square.sqrt().recip();
    vector.iter().map(|&x| (f64::from(x) * scale) as f32).collect()
}

fn pack(vector: &[f32], lanes: &mut [Lane]) {
    for (lane, numbers) in lanes.iter_mut().zip(vector.chunks(16)) {
        lane.0[..numbers.len()].copy_from_slice(numbers);
        lane.0[numbers.len()..].fill(0.0);
    }
}

/// The best `k` rows seen, as an unsorted list of up to `2k` that is cut to `k` when full: usually one
/// comparison per row.
struct TopK {
    k: usize,
    found: Vec<Neighbour>,
    /// The score to beat, once there are `k` rows.
    threshold: Option<Neighbour>,
}

impl TopK {
    fn new(k: usize) -> TopK {
        TopK { k, found: Vec::new(), threshold: None }
    }

    #[inline]
    fn push(&mut self, row: Neighbour) {
        if self.threshold.is_some_and(|threshold| row.order(threshold) == Ordering::Greater) {
            return;
        }
        self.found.push(row);
        if self.found.len() >= self.k.saturating_mul(2).max(16) {
            self.truncate();
        }
    }

    fn truncate(&mut self) {
        if self.found.len() > self.k {
            self.found.select_nth_unstable_by(self.k - 1, |a, b| a.order(*b));
            self.found.truncate(self.k);
            self.threshold = self.found.iter().copied().max_by(|a, b| a.order(*b));
        }
    }

    fn merge(mut self, other: TopK) -> TopK {
        for row in other.found {
            self.push(row);
        }
        self
    }

    fn into_sorted(mut self) -> Vec<Neighbour> {
        self.found.sort_by(|a, b| a.order(*b));
        self.found.truncate(self.k);
        self.found
    }
}
