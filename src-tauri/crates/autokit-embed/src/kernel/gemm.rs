//! Matrix product with weights that were packed once.
//!
//! Weights are stored as panels of as many columns as the register tile is wide, each panel contiguous in the
//! order in which the inner loop reads it. A tile of up to `ROWS` x `VECS` registers stays in registers for
//! the whole depth; each step loads `VECS` registers of weights and uses each with every row. Panels are the
//! outer loop: a panel is read from memory once per call and then from cache for every block of rows.
//!
//! For a short text, reading the weights (40 MB for six layers of 384) dominates. So while one panel is
//! multiplied, the next is prefetched, at the pace of the inner loop: for 32 rows this is a third faster than
//! prefetching a few steps ahead within the panel. The blocks of rows share the lines of the next panel, so that each is
//! asked for once: asking twice makes ten rows a seventh slower, not asking makes 128 rows a twentieth slower.
//!
//! Weights may be rounded to bf16, which halves what has to be read; they become f32 again in the registers, and inputs
//! and sums stay f32.

use super::bf16_pair;
use super::buffer::Buffer;
use super::isa::{Isa, multiversion};
use super::simd::Simd;
use super::tile::{
    Finish, Input, LINE, Layout, Out, PackedBf16, PackedF32, Prefetch, RightFactor, Strided, Tile, UNROLL,
    for_height, row_blocks,
};

/// A weight matrix with its bias, packed for one instruction set.
pub(crate) struct Packed {
    panels: Buffer,
    bias: Buffer,
    depth: usize,
    columns: usize,
    width: usize,
    /// Whether each 32 bits are two bf16 that follow each other in the depth.
    is_bf16: bool,
}

impl Packed {
    /// Packs rows of weights `[columns, depth]` (as linear layers store them) and `[columns]` biases.
    pub(crate) fn new(isa: Isa, weights: &[f32], bias: &[f32], depth: usize) -> Self {
        Self::pack(isa, weights, bias, depth, false)
    }

    /// As [`Self::new`], with weights rounded to bf16.
    pub(crate) fn in_bf16(isa: Isa, weights: &[f32], bias: &[f32], depth: usize) -> Self {
        Self::pack(isa, weights, bias, depth, true)
    }

    fn pack(isa: Isa, weights: &[f32], bias: &[f32], depth: usize, is_bf16: bool) -> Self {
        let columns = bias.len();
        assert_eq!(weights.len(), columns * depth);
        let width = isa.panel_width();
        let padded = columns.next_multiple_of(width);
        let rows = if is_bf16 { depth.div_ceil(2) } else { depth };
        let mut panels = Buffer::zeros(padded * rows);
        for (at, panel) in panels.chunks_exact_mut(width * rows).enumerate() {
            let first = at * width;
            let columns = weights[first * depth..columns.min(first + width) * depth].chunks_exact(depth);
            for (lane, column) in columns.enumerate() {
                if is_bf16 {
                    for (row, pair) in column.chunks(2).enumerate() {
                        panel[row * width + lane] = f32::from_bits(bf16_pair(pair));
                    }
                } else {
                    for (row, x) in column.iter().enumerate() {
                        panel[row * width + lane] = *x;
                    }
                }
            }
        }
        let mut padded_bias = Buffer::zeros(padded);
        padded_bias[..columns].copy_from_slice(bias);
        Self { panels, bias: padded_bias, depth, columns, width, is_bf16 }
    }

    /// Returns the number of panels, by which work is divided.
    pub(crate) fn panels(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    /// Returns the number of columns of the result.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of columns of the input.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the address of the first panel.
    pub(crate) fn start(&self) -> *const f32 {
        self.panels.as_ptr()
    }
}

/// `result[rows, columns] = finish(input[rows, depth] * weights + bias)` for some panels of columns.
///
/// Raw pointers, because threads write different columns of the same rows.
#[derive(Clone, Copy)]
pub(crate) struct Product<'a> {
    pub(crate) input: *const f32,
    pub(crate) rows: usize,
    pub(crate) weights: &'a Packed,
    pub(crate) result: *mut f32,
    pub(crate) finish: Finish,
    /// What is read after these weights, if known: it is prefetched.
    pub(crate) next: Option<*const f32>,
}

// SAFETY: the pointers are to matrices that outlive the product; `gemm`'s contract keeps threads
// off each other's columns.
unsafe impl Send for Product<'_> {}
// SAFETY: as above.
unsafe impl Sync for Product<'_> {}

multiversion! {
    /// Computes the columns of panels `from..to`. `input` must be valid for `rows * depth`,
    /// `result` (and the matrix to add) for `rows * columns` numbers, and no other thread may
    /// touch those columns of `result` meanwhile.
    fn gemm(product: &Product<'_>, from: usize, to: usize) = panels
}

/// # Safety
/// As [`gemm`].
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
unsafe fn panels<S: Simd, const ROWS: usize, const VECS: usize>(
    product: &Product<'_>,
    from: usize,
    to: usize,
) {
    // SAFETY: passed on to the caller.
    unsafe {
        if product.weights.is_bf16 {
            panels_in::<S, PackedBf16, ROWS, VECS>(product, from, to);
        } else {
            panels_in::<S, PackedF32, ROWS, VECS>(product, from, to);
        }
    }
}

/// Computes panels of weights that lie in memory as `L`.
///
/// # Safety
/// As [`gemm`]; the layout must be that of the weights.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
unsafe fn panels_in<S: Simd, L: Layout, const ROWS: usize, const VECS: usize>(
    product: &Product<'_>,
    from: usize,
    to: usize,
) {
    let Packed { panels, bias, depth, columns, width, .. } = product.weights;
    let (depth, columns, width) = (*depth, *columns, *width);
    let rows_of_memory = depth.div_ceil(L::ROWS_AT_ONCE);
    assert!(width == VECS * S::LANES && to <= product.weights.panels());
    for panel in from..to {
        let column = panel * width;
        // SAFETY: the panel and its bias are inside the packed buffers (asserted above); rows and
        // columns are inside the matrices that the caller vouches for.
        unsafe {
            let weights = panels.as_ptr().add(panel * width * rows_of_memory);
            let right = RightFactor { at: weights, stride: width, depth };
            let bias = bias.as_ptr().add(column);
            let out = Out {
                at: product.result.add(column),
                stride: columns,
                columns: (columns - column).min(width),
                finish: product.finish.offset(column),
            };
            let following = if panel + 1 < to {
                weights.wrapping_add(width * rows_of_memory)
            } else {
                product.next.unwrap_or(weights)
            };
            let row_blocks = row_blocks(product.rows, ROWS);
            let blocks = row_blocks.len();
            for (block, (row, height)) in row_blocks.enumerate() {
                let ahead = Prefetch::of_block(following, width, rows_of_memory, block, blocks);
                let input = Input { at: product.input.add(row * depth), stride: depth };
                let tile = Tile { input, right, bias: Some(bias), ahead, out: out.rows_from(row) };
                match (UNROLL / L::ROWS_AT_ONCE * width).div_ceil(LINE * blocks) {
                    ..=1 => rows::<S, L, VECS, 1>(height, &tile),
                    2 => rows::<S, L, VECS, 2>(height, &tile),
                    3..=UNROLL => rows::<S, L, VECS, UNROLL>(height, &tile),
                    // Three registers of AVX-512 in each step.
                    _ => rows::<S, L, VECS, { 3 * UNROLL }>(height, &tile),
                }
            }
        }
    }
}

/// Computes a tile of `height` rows, one to nine.
///
/// # Safety
/// As [`super::tile::compute_tile`], for `height` rows.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
unsafe fn rows<S: Simd, L: Layout, const VECS: usize, const LINES: usize>(height: usize, tile: &Tile) {
    // SAFETY: passed on to the caller.
    for_height!(height, R => unsafe { S::tile::<L, R, VECS, LINES>(tile) });
}

/// Computes `out[rows, columns] = input[rows, depth] * right[depth, ..]` for a right factor that is not
/// packed, as in attention. Rows of `right` must be readable up to `out.columns` rounded up to whole
/// registers.
///
/// # Safety
/// As [`super::tile::compute_tile`], for all rows and columns.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
pub(crate) unsafe fn strided<S: Simd, const ROWS: usize, const VECS: usize>(
    rows: usize,
    input: Input,
    right: RightFactor,
    out: Out,
) {
    let mut column = 0;
    while column < out.columns {
        let left = out.columns - column;
        let vectors = left.div_ceil(S::LANES).min(VECS);
        for (row, height) in row_blocks(rows, ROWS) {
            // SAFETY: passed on to the caller; the block is inside the matrices.
            unsafe {
                let input = Input { at: input.at.add(row * input.stride), ..input };
                let right = RightFactor { at: right.at.add(column), ..right };
                let columns = left.min(vectors * S::LANES);
                let out = Out { at: out.at.add(row * out.stride + column), columns, ..out };
                // The operands of attention were just written, so there is nothing to prefetch.
                let ahead = Prefetch { at: right.at, stride: 0 };
                let tile = Tile { input, right, bias: None, ahead, out };
                match vectors {
                    1 => self::rows::<S, Strided, 1, 0>(height, &tile),
                    2 => self::rows::<S, Strided, 2, 0>(height, &tile),
                    _ => self::rows::<S, Strided, VECS, 0>(height, &tile),
                }
            }
        }
        column += vectors * S::LANES;
    }
}

#[cfg(test)]
mod tests {
    use half::bf16;

    use super::super::random_numbers as numbers;
    use super::*;

    fn run(isa: Isa, packed: &Packed, x: &[f32], rows: usize, finish: Finish, splits: &[usize]) -> Vec<f32> {
        let mut y = vec![f32::NAN; rows * packed.columns()];
        let product =
            Product { input: x.as_ptr(), rows, weights: packed, result: y.as_mut_ptr(), finish, next: None };
        let mut from = 0;
        for to in splits.iter().copied().chain([packed.panels()]) {
            // SAFETY: the instruction set is available and the matrices have these sizes.
            unsafe { gemm(isa, &product, from, to.min(packed.panels())) };
            from = to.min(packed.panels());
        }
        y
    }

    #[test]
    fn agrees_with_f64_for_all_shapes() {
        for isa in Isa::available() {
            for (rows, depth, columns) in [
                (1, 1, 1),
                (2, 5, 3),
                (5, 7, 20),
                (9, 32, 48),
                (10, 33, 49),
                (23, 100, 130),
                (7, 64, 12),
                (83, 38, 50),
            ] {
                let x = numbers(rows * depth, 1);
                let w = numbers(columns * depth, 2);
                let bias = numbers(columns, 3);
                let residual = numbers(rows * columns, 4);
                let rounded: Vec<f32> = w.iter().map(|x| bf16::from_f32(*x).to_f32()).collect();
                for (packed, w) in [
                    (Packed::new(isa, &w, &bias, depth), &w),
                    (Packed::in_bf16(isa, &w, &bias, depth), &rounded),
                ] {
                    let plain = run(isa, &packed, &x, rows, Finish::Store, &[]);
                    let added = run(isa, &packed, &x, rows, Finish::Add(residual.as_ptr()), &[1]);
                    let gelu = run(isa, &packed, &x, rows, Finish::Gelu, &[1, 2]);
                    for r in 0..rows {
                        for c in 0..columns {
                            let at = r * columns + c;
                            let want: f64 = (0..depth)
                                .map(|k| f64::from(x[r * depth + k]) * f64::from(w[c * depth + k]))
                                .sum::<f64>()
                                + f64::from(bias[c]);
                            let near = |got: f32, want: f64| (f64::from(got) - want).abs() < 2e-5;
                            assert!(near(plain[at], want), "{isa:?} {rows}x{depth}x{columns} at {r},{c}");
                            assert!(near(added[at], want + f64::from(residual[at])));
                            let tanh_form = 0.5
                                * want
                                * (1.0 + (0.797_884_56 * (want + 0.044_715 * want.powi(3))).tanh());
                            assert!((f64::from(gelu[at]) - tanh_form).abs() < 2e-3);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_has_the_same_bits_whatever_its_neighbours() {
        for isa in Isa::available() {
            let (depth, columns) = (96, 100);
            let x = numbers(40 * depth, 5);
            let (weights, bias) = (numbers(columns * depth, 6), numbers(columns, 7));
            for packed in
                [Packed::new(isa, &weights, &bias, depth), Packed::in_bf16(isa, &weights, &bias, depth)]
            {
                let all = run(isa, &packed, &x, 40, Finish::Gelu, &[]);
                for rows in 1..40 {
                    for first in [0, 40 - rows] {
                        let some = run(isa, &packed, &x[first * depth..], rows, Finish::Gelu, &[]);
                        assert_eq!(some, all[first * columns..(first + rows) * columns]);
                    }
                }
            }
        }
    }
}
