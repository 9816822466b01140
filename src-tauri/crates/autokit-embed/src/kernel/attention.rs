//! Scaled dot-product attention of one sequence (Vaswani et al., 2017), one head at a time.
//!
//! Sequences are not padded, so there is no mask. Keys are transposed into scratch memory, so that both
//! products read whole registers; values are read in place.

use std::ops::Range;

use super::buffer::Buffer;
use super::gemm::strided;
use super::isa::{Isa, multiversion};
use super::simd::Simd;
use super::softmax::softmax;
use super::tile::{Finish, Input, Out, RightFactor};

/// Numbers in the widest register.
const MAX_LANES: usize = 16;

/// Scratch memory for the heads of sequences, reused from one to the next.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Keys of a head, transposed: `[head_dim, padded length]`.
    keys: Buffer,
    /// Scores, then weights: `[length, padded length]`.
    scores: Buffer,
    /// Values of a head if its size is not a multiple of the register size: `[length, padded head_dim]`.
    values: Buffer,
}

/// Queries, keys and values of sequences, and where their result goes.
#[derive(Clone, Copy)]
pub(crate) struct Attention<'a> {
    /// `[tokens, 3 * heads * head_dim]`: all queries, all keys, all values of a token, with queries already divided by the
    /// root of `head_dim`.
    pub(crate) qkv: &'a [f32],
    /// `[tokens, heads * head_dim]`
    pub(crate) out: *mut f32,
    /// Tokens of each sequence; their rows follow each other.
    pub(crate) lengths: &'a [usize],
    pub(crate) heads: usize,
    pub(crate) head_dim: usize,
}

// SAFETY: the pointer is to a matrix that outlives this; the contract of `run` keeps threads off each other's columns.
unsafe impl Send for Attention<'_> {}
// SAFETY: as above.
unsafe impl Sync for Attention<'_> {}

impl Attention<'_> {
    /// Computes the columns of some heads.
    ///
    /// # Safety
    /// `isa` must be one of [`Isa::available`]; `out` must be valid for a row of each token, and no other thread may touch
    /// the columns of these heads meanwhile.
    pub(crate) unsafe fn run(&self, isa: Isa, heads: Range<usize>, scratch: &mut Scratch) {
        let Attention { qkv, out, lengths, heads: all, head_dim } = *self;
        let hidden = all * head_dim;
        assert!(heads.end <= all && qkv.len() == 3 * hidden * lengths.iter().sum::<usize>());
        let padded_head = head_dim.next_multiple_of(MAX_LANES);
        let mut first = 0;
        for &length in lengths {
            let padded = length.next_multiple_of(MAX_LANES);
            scratch.keys.resize(head_dim * padded);
            scratch.scores.resize(length * padded);
            if !head_dim.is_multiple_of(isa.lanes()) {
                scratch.values.resize(length * padded_head);
            }
            let qkv = &qkv[first * 3 * hidden..(first + length) * 3 * hidden];
            for head in heads.clone() {
                // SAFETY: the sequence's rows and the head's columns are inside the result, of which the caller says the
                // rest; scratch is large enough.
                unsafe {
                    let out = out.add(first * hidden + head * head_dim);
                    one_head(isa, qkv, out, head, head_dim, length, scratch);
                }
            }
            first += length;
        }
    }
}

multiversion! {
    /// Computes one head of one sequence; `out` is where its first column begins.
    fn one_head(qkv: &[f32], out: *mut f32, head: usize, head_dim: usize, length: usize, scratch: &mut Scratch) = head_of
}

/// # Safety
/// `qkv` must be `length` rows, `out` valid for as many, and `scratch` have the sizes that [`Attention::run`] sets.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
unsafe fn head_of<S: Simd, const ROWS: usize, const VECS: usize>(
    qkv: &[f32],
    out: *mut f32,
    head: usize,
    head_dim: usize,
    length: usize,
    scratch: &mut Scratch,
) {
    let stride = qkv.len() / length;
    let hidden = stride / 3;
    let padded = length.next_multiple_of(S::LANES);
    let queries = &qkv[head * head_dim..];
    let keys = &qkv[hidden + head * head_dim..];
    let values = &qkv[2 * hidden + head * head_dim..];

    // Row by row: keys of successive tokens lie in the same few sets of the cache, so a column read at once would push
    // out its neighbours before they are read.
    let transposed = &mut scratch.keys[..head_dim * padded];
    for (row, key) in keys.chunks(stride).take(length).enumerate() {
        for (x, column) in key[..head_dim].iter().zip(transposed.chunks_exact_mut(padded)) {
            column[row] = *x;
        }
    }
    // The padding is never part of a result but must be a number, because NaN would make `largest` NaN.
    for column in transposed.chunks_exact_mut(padded) {
        column[length..].fill(0.0);
    }
    let scores = scratch.scores.as_mut_ptr();
    // SAFETY: queries are `length` rows of `head_dim`, transposed keys `head_dim` rows of `padded`,
    // scores `length` rows of `padded`; the caller vouches for the sizes.
    unsafe {
        let rows = Input { at: queries.as_ptr(), stride };
        let to = Out { at: scores, stride: padded, columns: padded, finish: Finish::Store };
        let keys = RightFactor { at: scratch.keys.as_ptr(), stride: padded, depth: head_dim };
        strided::<S, ROWS, VECS>(length, rows, keys, to);
        for row in 0..length {
            softmax::<S>(scores.add(row * padded), length, padded);
        }
    }

    let (values, value_stride) = if head_dim.is_multiple_of(S::LANES) {
        (values.as_ptr(), stride)
    } else {
        let padded_head = head_dim.next_multiple_of(S::LANES);
        for (row, values) in
            scratch.values.chunks_exact_mut(padded_head).take(length).zip(values.chunks(stride))
        {
            row[..head_dim].copy_from_slice(&values[..head_dim]);
            row[head_dim..].fill(0.0);
        }
        (scratch.values.as_ptr(), padded_head)
    };
    // SAFETY: weights are `length` rows of `length` (`padded` apart), values `length` rows that
    // are readable in whole registers, the result `length` rows of `head_dim` (`hidden` apart).
    unsafe {
        let rows = Input { at: scores, stride: padded };
        let to = Out { at: out, stride: hidden, columns: head_dim, finish: Finish::Store };
        let values = RightFactor { at: values, stride: value_stride, depth: length };
        strided::<S, ROWS, VECS>(length, rows, values, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_f64() {
        for isa in Isa::available() {
            let mut scratch = Scratch::default();
            for (length, heads, head_dim) in [(1, 1, 4), (3, 2, 20), (17, 3, 32), (50, 2, 64), (9, 2, 7)] {
                let hidden = heads * head_dim;
                let qkv: Vec<f32> =
                    (0..3 * length * hidden).map(|i| ((i * 7919) % 1009) as f32 / 500.0 - 1.0).collect();
                let mut out = vec![f32::NAN; length * hidden];
                let one = Attention { qkv: &qkv, out: out.as_mut_ptr(), lengths: &[length], heads, head_dim };
                // SAFETY: the instruction set is available; the result has a row for each token.
                unsafe { one.run(isa, 0..heads, &mut scratch) };
                let at = |row: usize, part: usize, head: usize, d: usize| {
                    f64::from(qkv[row * 3 * hidden + part * hidden + head * head_dim + d])
                };
                for head in 0..heads {
                    for q in 0..length {
                        let weights: Vec<f64> = (0..length)
                            .map(|k| {
                                (0..head_dim)
                                    .map(|d| at(q, 0, head, d) * at(k, 1, head, d))
                                    .sum::<f64>()
                                    .exp()
                            })
                            .collect();
                        let sum: f64 = weights.iter().sum();
                        for d in 0..head_dim {
                            let want: f64 = (0..length).map(|k| weights[k] / sum * at(k, 2, head, d)).sum();
                            let got = f64::from(out[q * hidden + head * head_dim + d]);
                            assert!(
                                (got - want).abs() < 5e-5,
                                "{isa:?} {length} {heads} {head_dim}: {got} {want}"
                            );
                        }
                    }
                }
            }
        }
    }
}
