//! Matrix product with weights of fewer bits than f32, by the instructions for it of AVX-512.
//!
//! A *cell* is 32 bits of one row or column: two bf16 or four bytes that follow each other in the depth. One instruction
//! multiplies the cells of a register and adds the products of a cell to one f32 or i32. Panels of cells have the
//! layout of [`super::gemm`]'s panels of f32.
//!
//! * bf16: weights and inputs are rounded to 8 significant bits, sums are f32.
//! * int8: weights are `scale * q`, `q` in -127..=127, with a scale for each column; inputs are `low + step * q`, `q` in
//!   0..=255, with `low` and `step` measured for each row. Sums are exact in i32.

use std::arch::x86_64::{
    __cpuid, __m256bh, __m256i, __m512, __m512bh, __m512i, _CMP_UNORD_Q, _MM_HINT_T1, _mm_prefetch,
    _mm_storeu_si128, _mm256_storeu_si256, _mm512_add_ps, _mm512_cmp_ps_mask, _mm512_cvtepi32_ps,
    _mm512_cvtneps_pbh, _mm512_cvtps_epi32, _mm512_cvtusepi32_epi8, _mm512_dpbf16_ps, _mm512_dpbusd_epi32,
    _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_max_ps, _mm512_min_ps, _mm512_mul_ps,
    _mm512_reduce_max_ps, _mm512_reduce_min_ps, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
    _mm512_setzero_si512, _mm512_sub_ps,
};
use std::mem::transmute;

use half::bf16;

use super::bf16_pair;
use super::buffer::Buffer;
use super::simd::Avx512;
use super::tile::{Finish, Input, Out, Prefetch, for_height, row_blocks};

/// Columns of a panel: three registers.
const WIDTH: usize = VECS * LANES;
const VECS: usize = 3;
/// Cells of a register.
const LANES: usize = 16;
/// Rows of a tile: with three registers of weights and one of inputs they fill the 32 registers.
const ROWS: usize = 9;
/// From this many blocks of rows on, prefetching one cache line per step is enough to have the next panel in time.
const BLOCKS_FOR_ONE_LINE: usize = 3;

/// Number format of weights and inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LowPrecision {
    /// bf16.
    Bf16,
    /// 8-bit integers.
    Int8,
}

impl LowPrecision {
    /// Whether this processor has the instructions.
    pub(crate) fn is_available(self) -> bool {
        let common = is_x86_feature_detected!("avx512f");
        match self {
            LowPrecision::Bf16 => common && is_x86_feature_detected!("avx512bf16"),
            LowPrecision::Int8 => common && is_x86_feature_detected!("avx512vnni"),
        }
    }

    /// Whether the instructions multiply more numbers than those of f32 in the same time. Intel's for bf16 do not: whole
    /// texts took 1.8 times as long as in f32 on a Xeon with AVX-512 FP16, and half as long as in f32 on an EPYC.
    pub(crate) fn is_fast(self) -> bool {
        self.is_available() && (self == LowPrecision::Int8 || !is_intel())
    }

    fn numbers_per_cell(self) -> usize {
        match self {
            LowPrecision::Bf16 => 2,
            LowPrecision::Int8 => 4,
        }
    }
}

/// Whether Intel made this processor.
fn is_intel() -> bool {
    let vendor = __cpuid(0);
    [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == b"GenuineIntel"
}

/// A weight matrix with its bias, in panels of cells.
pub(crate) struct PackedCells {
    precision: LowPrecision,
    /// `[panels, cells, WIDTH]`
    panels: Buffer,
    /// For int8: scale of each column.
    scales: Buffer,
    /// For int8: sum of each column's integers.
    sums: Buffer,
    bias: Buffer,
    depth: usize,
    /// Cells of a column.
    cells: usize,
    columns: usize,
}

impl PackedCells {
    /// Packs rows of weights `[columns, depth]` (as linear layers store them) and `[columns]` biases.
    pub(crate) fn new(precision: LowPrecision, weights: &[f32], bias: &[f32], depth: usize) -> Self {
        let columns = bias.len();
        assert_eq!(weights.len(), columns * depth);
        let padded = columns.next_multiple_of(WIDTH);
        let cells = depth.div_ceil(precision.numbers_per_cell());
        let mut panels = Buffer::zeros(padded * cells);
        let (mut scales, mut sums) = (Buffer::zeros(padded), Buffer::zeros(padded));
        let mut quantized: Vec<i32> = Vec::with_capacity(depth);
        for (column, row) in weights.chunks_exact(depth).enumerate() {
            let (panel, lane) = (column / WIDTH * WIDTH * cells, column % WIDTH);
            let mut put = |cell: usize, bits: u32| panels[panel + cell * WIDTH + lane] = f32::from_bits(bits);
            match precision {
                LowPrecision::Bf16 => {
                    for (cell, pair) in row.chunks(2).enumerate() {
                        put(cell, bf16_pair(pair));
                    }
                }
                LowPrecision::Int8 => {
                    let largest = row.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
                    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
                    // Half added and the rest cut off is rounding that the compiler turns into vector instructions;
                    // `f32::round` is a call for each number.
                    let nearest = |x: &f32| {
                        let x = x / scale;
                        (x + 0.5_f32.copysign(x)) as i32
                    };
                    quantized.clear();
                    quantized.extend(row.iter().map(nearest));
                    for (cell, four) in quantized.chunks(4).enumerate() {
                        let mut bytes = [0; 4];
                        for (byte, q) in bytes.iter_mut().zip(four) {
                            *byte = (*q as i8).cast_unsigned();
                        }
                        put(cell, u32::from_le_bytes(bytes));
                    }
                    scales[column] = scale;
                    sums[column] = quantized.iter().sum::<i32>() as f32;
                }
            }
        }
        let mut padded_bias = Buffer::zeros(padded);
        padded_bias[..columns].copy_from_slice(bias);
        Self { precision, panels, scales, sums, bias: padded_bias, depth, cells, columns }
    }

    /// Returns the number of panels, by which work is divided.
    pub(crate) fn panels(&self) -> usize {
        self.columns.div_ceil(WIDTH)
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

/// Inputs as cells.
#[derive(Default)]
pub(crate) struct InputCells {
    /// `[rows, cells]`
    cells: Buffer,
    /// For int8: the number that 0 stands for, for each row.
    lows: Buffer,
    /// For int8: the difference that 1 stands for, for each row.
    steps: Buffer,
}

impl InputCells {
    /// Converts rows of inputs `[rows, depth]` for a product with `weights`.
    ///
    /// # Panics
    /// When the processor lacks the instructions.
    pub(crate) fn convert(&mut self, weights: &PackedCells, input: &[f32]) {
        assert!(weights.precision.is_available());
        let (depth, cells) = (weights.depth, weights.cells);
        let rows = input.len() / depth;
        self.cells.resize(rows * cells);
        // Cells that the depth does not fill are multiplied by weights of 0, so whatever they hold has to be finite.
        let is_filled = depth.is_multiple_of(weights.precision.numbers_per_cell());
        for (at, row) in input.chunks_exact(depth).enumerate() {
            let to = &mut self.cells[at * cells..][..cells];
            if !is_filled {
                to[cells - 1] = 0.0;
            }
            match weights.precision {
                // SAFETY: the processor has the instructions, and `cells` hold `depth` numbers.
                LowPrecision::Bf16 => unsafe { to_bf16(row, to.as_mut_ptr().cast()) },
                LowPrecision::Int8 => {
                    self.lows.resize(rows);
                    self.steps.resize(rows);
                    // SAFETY: as above.
                    (self.lows[at], self.steps[at]) = unsafe { to_bytes(row, to.as_mut_ptr().cast()) };
                }
            }
        }
    }
}

/// Rounds a row to bf16.
///
/// # Safety
/// `to` must be valid for as many numbers; the processor must have AVX-512 BF16.
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn to_bf16(row: &[f32], to: *mut bf16) {
    let (whole, rest) = row.as_chunks::<LANES>();
    // SAFETY: passed on to the caller.
    unsafe {
        for (at, lanes) in whole.iter().enumerate() {
            let rounded = _mm512_cvtneps_pbh(_mm512_loadu_ps(lanes.as_ptr()));
            _mm256_storeu_si256(to.add(at * LANES).cast(), transmute::<__m256bh, __m256i>(rounded));
        }
        for (at, x) in rest.iter().enumerate() {
            *to.add(whole.len() * LANES + at) = bf16::from_f32(*x);
        }
    }
}

/// Rounds a row to 256 levels between its smallest and its largest number; returns the smallest and the difference of
/// two levels.
///
/// # Safety
/// `to` must be valid for as many bytes; the processor must have AVX-512.
#[target_feature(enable = "avx512f")]
unsafe fn to_bytes(row: &[f32], to: *mut u8) -> (f32, f32) {
    let (whole, rest) = row.as_chunks::<LANES>();
    // SAFETY: passed on to the caller.
    unsafe {
        let (mut least, mut most) = (_mm512_set1_ps(f32::INFINITY), _mm512_set1_ps(f32::NEG_INFINITY));
        let mut has_nan = rest.iter().any(|x| x.is_nan());
        for lanes in whole {
            let lanes = _mm512_loadu_ps(lanes.as_ptr());
            (least, most) = (_mm512_min_ps(least, lanes), _mm512_max_ps(most, lanes));
            has_nan |= _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(lanes, lanes) != 0;
        }
        let low = rest.iter().fold(_mm512_reduce_min_ps(least), |low, x| low.min(*x));
        let high = rest.iter().fold(_mm512_reduce_max_ps(most), |high, x| high.max(*x));
        if has_nan || !(high - low).is_finite() {
            // Whoever reads the result sees that it is none.
            std::slice::from_raw_parts_mut(to, row.len()).fill(0);
            return (f32::NAN, 0.0);
        }
        let step = ((high - low) / 255.0).max(f32::MIN_POSITIVE);
        let scale = 1.0 / step;
        for (at, lanes) in whole.iter().enumerate() {
            let lanes = _mm512_sub_ps(_mm512_loadu_ps(lanes.as_ptr()), _mm512_set1_ps(low));
            let levels = _mm512_cvtps_epi32(_mm512_mul_ps(lanes, _mm512_set1_ps(scale)));
            _mm_storeu_si128(to.add(at * LANES).cast(), _mm512_cvtusepi32_epi8(levels));
        }
        for (at, x) in rest.iter().enumerate() {
            *to.add(whole.len() * LANES + at) = ((x - low) * scale).round_ties_even() as u8;
        }
        (low, step)
    }
}

/// `result[rows, columns] = finish(input[rows, depth] * weights + bias)` for some panels of columns.
///
/// Raw pointers, because threads write different columns of the same rows.
#[derive(Clone, Copy)]
pub(crate) struct CellProduct<'a> {
    pub(crate) input: &'a InputCells,
    pub(crate) rows: usize,
    pub(crate) weights: &'a PackedCells,
    pub(crate) result: *mut f32,
    pub(crate) finish: Finish,
    /// What is read after these weights, if known: it is prefetched.
    pub(crate) next: Option<*const f32>,
}

// SAFETY: the pointers are to matrices that outlive the product; the contract of `multiply` keeps threads off each
// other's columns.
unsafe impl Send for CellProduct<'_> {}
// SAFETY: as above.
unsafe impl Sync for CellProduct<'_> {}

impl CellProduct<'_> {
    /// Computes the columns of panels `from..to`.
    ///
    /// # Safety
    /// `input` must have been converted for these weights and have `rows` rows; `result` (and the matrix to add) must be
    /// valid for `rows * columns` numbers, and no other thread may touch those columns of `result` meanwhile.
    pub(crate) unsafe fn multiply(&self, from: usize, to: usize) {
        assert!(to <= self.weights.panels() && self.input.cells.len() >= self.rows * self.weights.cells);
        if self.weights.precision == LowPrecision::Int8 {
            assert!(self.input.lows.len() >= self.rows && self.input.steps.len() >= self.rows);
        }
        // SAFETY: `InputCells::convert` checked the processor; the rest is passed on to the caller.
        unsafe {
            match self.weights.precision {
                LowPrecision::Bf16 => self.panels::<Bf16Cells>(from, to),
                LowPrecision::Int8 => self.panels::<ByteCells>(from, to),
            }
        }
    }

    /// # Safety
    /// As [`Self::multiply`]; the processor must have the instructions of `C`.
    unsafe fn panels<C: Cells>(&self, from: usize, to: usize) {
        let PackedCells { panels, scales, sums, bias, cells, columns, .. } = self.weights;
        for panel in from..to {
            let column = panel * WIDTH;
            // SAFETY: the panel and its columns are inside the packed buffers; rows and columns are inside the matrices
            // that the caller vouches for.
            unsafe {
                let weights = panels.as_ptr().add(panel * WIDTH * cells);
                let following = if panel + 1 < to {
                    weights.wrapping_add(WIDTH * cells)
                } else {
                    self.next.unwrap_or(weights)
                };
                let out = Out {
                    at: self.result.add(column),
                    stride: *columns,
                    columns: (columns - column).min(WIDTH),
                    finish: self.finish.offset(column),
                };
                let row_blocks = row_blocks(self.rows, ROWS);
                let blocks = row_blocks.len();
                for (block, (row, height)) in row_blocks.enumerate() {
                    let tile = CellTile {
                        input: Input { at: self.input.cells.as_ptr().add(row * cells), stride: *cells },
                        lows: self.input.lows.as_ptr().wrapping_add(row),
                        steps: self.input.steps.as_ptr().wrapping_add(row),
                        weights,
                        scales: scales.as_ptr().add(column),
                        sums: sums.as_ptr().add(column),
                        bias: bias.as_ptr().add(column),
                        ahead: Prefetch::of_block(following, WIDTH, *cells, block, blocks),
                        out: out.rows_from(row),
                    };
                    if blocks < BLOCKS_FOR_ONE_LINE {
                        rows::<C, VECS>(height, &tile);
                    } else {
                        rows::<C, 1>(height, &tile);
                    }
                }
            }
        }
    }
}

/// One register tile of a product.
struct CellTile {
    /// Rows of cells; their distance is the depth.
    input: Input,
    lows: *const f32,
    steps: *const f32,
    weights: *const f32,
    scales: *const f32,
    sums: *const f32,
    bias: *const f32,
    ahead: Prefetch,
    out: Out,
}

/// Computes a tile of `height` rows, one to nine.
///
/// # Safety
/// As [`compute_tile`], for `height` rows.
unsafe fn rows<C: Cells, const LINES: usize>(height: usize, tile: &CellTile) {
    // SAFETY: passed on to the caller.
    for_height!(height, R => unsafe { C::tile::<R, LINES>(tile) });
}

/// How the cells of a format are multiplied.
///
/// # Safety
/// Every function may be called only on a processor that has the instructions.
#[allow(clippy::missing_safety_doc, reason = "said once, for the trait")]
unsafe trait Cells {
    /// A register of sums, one for each cell.
    type Sums: Copy;

    unsafe fn zeros() -> Self::Sums;
    /// Adds the products of the cells of an input, the same in all lanes, and of weights.
    unsafe fn multiply_add(input: __m512i, weights: __m512i, sums: Self::Sums) -> Self::Sums;
    /// Converts sums of the row `row` and the columns from `column` of a tile to the numbers they stand for.
    unsafe fn to_f32(sums: Self::Sums, tile: &CellTile, row: usize, column: usize) -> __m512;
    /// Computes a tile, see [`compute_tile`]. Each shape is a function of its own, because if all shapes are in one, the
    /// compiler runs out of registers and spills them.
    unsafe fn tile<const R: usize, const LINES: usize>(tile: &CellTile);
}

struct Bf16Cells;

#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
// SAFETY: the functions are single instructions.
unsafe impl Cells for Bf16Cells {
    type Sums = __m512;

    #[inline(always)]
    unsafe fn zeros() -> __m512 {
        // SAFETY: the caller checked the processor.
        unsafe { _mm512_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn multiply_add(input: __m512i, weights: __m512i, sums: __m512) -> __m512 {
        // SAFETY: the caller checked the processor; both types are the same 512 bits.
        unsafe {
            let [input, weights] = [input, weights].map(|x| transmute::<__m512i, __m512bh>(x));
            _mm512_dpbf16_ps(sums, input, weights)
        }
    }

    #[inline(always)]
    unsafe fn to_f32(sums: __m512, _: &CellTile, _: usize, _: usize) -> __m512 {
        sums
    }

    #[target_feature(enable = "avx512f,avx512bf16")]
    #[inline(never)]
    unsafe fn tile<const R: usize, const LINES: usize>(tile: &CellTile) {
        // SAFETY: passed on to the caller.
        unsafe { compute_tile::<Self, R, LINES>(tile) }
    }
}

struct ByteCells;

#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
// SAFETY: the functions are a few instructions.
unsafe impl Cells for ByteCells {
    type Sums = __m512i;

    #[inline(always)]
    unsafe fn zeros() -> __m512i {
        // SAFETY: the caller checked the processor.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    unsafe fn multiply_add(input: __m512i, weights: __m512i, sums: __m512i) -> __m512i {
        // SAFETY: the caller checked the processor.
        unsafe { _mm512_dpbusd_epi32(sums, input, weights) }
    }

    #[inline(always)]
    unsafe fn to_f32(sums: __m512i, tile: &CellTile, row: usize, column: usize) -> __m512 {
        // sum of (low + step * q) * scale * w = scale * (step * sum of q * w + low * sum of w)
        // SAFETY: the caller checked the processor, and row and column are inside the tile.
        unsafe {
            let low = _mm512_set1_ps(*tile.lows.add(row));
            let step = _mm512_set1_ps(*tile.steps.add(row));
            let below = _mm512_mul_ps(low, _mm512_loadu_ps(tile.sums.add(column)));
            let sum = _mm512_fmadd_ps(step, _mm512_cvtepi32_ps(sums), below);
            _mm512_mul_ps(sum, _mm512_loadu_ps(tile.scales.add(column)))
        }
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    #[inline(never)]
    unsafe fn tile<const R: usize, const LINES: usize>(tile: &CellTile) {
        // SAFETY: passed on to the caller.
        unsafe { compute_tile::<Self, R, LINES>(tile) }
    }
}

/// Computes a tile of `R` rows, prefetching `LINES` cache lines at each step of the depth.
///
/// # Safety
/// The inputs must be valid for `R` rows of cells, the weights for a panel, the result for `R` rows of its columns; the
/// processor must have the instructions of `C`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
unsafe fn compute_tile<C: Cells, const R: usize, const LINES: usize>(tile: &CellTile) {
    // SAFETY: passed on to the caller; asking for any address is harmless.
    unsafe {
        let mut sums = [[C::zeros(); VECS]; R];
        for step in 0..tile.input.stride {
            let at = tile.weights.add(step * WIDTH);
            let weights: [__m512i; VECS] =
                std::array::from_fn(|v| _mm512_loadu_si512(at.add(v * LANES).cast()));
            for line in 0..LINES {
                let ahead = tile.ahead.at.wrapping_add(step * tile.ahead.stride + line * LANES);
                _mm_prefetch::<_MM_HINT_T1>(ahead.cast());
            }
            for (r, sums) in sums.iter_mut().enumerate() {
                let cell = tile.input.at.add(r * tile.input.stride + step).cast::<i32>();
                let input = _mm512_set1_epi32(*cell);
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = C::multiply_add(input, weights, *sum);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                let column = v * LANES;
                let bias = _mm512_loadu_ps(tile.bias.add(column));
                let y = _mm512_add_ps(C::to_f32(*sum, tile, r, column), bias);
                tile.out.put::<Avx512>(y, r, column);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random_numbers as numbers;
    use super::*;

    fn available() -> impl Iterator<Item = LowPrecision> {
        [LowPrecision::Bf16, LowPrecision::Int8].into_iter().filter(|precision| precision.is_available())
    }

    fn run(packed: &PackedCells, x: &[f32], finish: Finish, splits: &[usize]) -> Vec<f32> {
        let rows = x.len() / packed.depth();
        let mut y = vec![f32::NAN; rows * packed.columns()];
        let mut input = InputCells::default();
        input.convert(packed, x);
        let product =
            CellProduct { input: &input, rows, weights: packed, result: y.as_mut_ptr(), finish, next: None };
        let mut from = 0;
        for to in splits.iter().copied().chain([packed.panels()]) {
            // SAFETY: the matrices have these sizes.
            unsafe { product.multiply(from, to.min(packed.panels())) };
            from = to.min(packed.panels());
        }
        y
    }

    /// The numbers that weights and inputs stand for once they are rounded.
    fn rounded(precision: LowPrecision, weights: &[f32], x: &[f32], depth: usize) -> (Vec<f64>, Vec<f64>) {
        let to_bf16 = |x: &f32| f64::from(bf16::from_f32(*x));
        match precision {
            LowPrecision::Bf16 => (weights.iter().map(to_bf16).collect(), x.iter().map(to_bf16).collect()),
            LowPrecision::Int8 => {
                let weights = weights.chunks(depth).flat_map(|row| {
                    let scale = row.iter().fold(0.0_f32, |most, x| most.max(x.abs())) / 127.0;
                    row.iter().map(move |x| f64::from((x / scale).round() * scale)).collect::<Vec<_>>()
                });
                let inputs = x.chunks(depth).flat_map(|row| {
                    let low = row.iter().copied().fold(f32::INFINITY, f32::min);
                    let high = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    let step = ((high - low) / 255.0).max(f32::MIN_POSITIVE);
                    let level = move |x: &f32| {
                        f64::from(low) + f64::from(((x - low) / step).round()) * f64::from(step)
                    };
                    row.iter().map(level).collect::<Vec<_>>()
                });
                (weights.collect(), inputs.collect())
            }
        }
    }

    #[test]
    fn agrees_with_f64_over_rounded_numbers_for_all_shapes() {
        for precision in available() {
            for (rows, depth, columns) in
                [(1, 1, 1), (2, 5, 3), (9, 32, 48), (10, 33, 49), (23, 100, 130), (7, 64, 12), (40, 18, 97)]
            {
                let (x, weights) = (numbers(rows * depth, 1), numbers(columns * depth, 2));
                let (bias, other) = (numbers(columns, 3), numbers(rows * columns, 4));
                let packed = PackedCells::new(precision, &weights, &bias, depth);
                let (rounded_weights, inputs) = rounded(precision, &weights, &x, depth);
                let stored = run(&packed, &x, Finish::Store, &[1]);
                let added = run(&packed, &x, Finish::Add(other.as_ptr()), &[2]);
                for row in 0..rows {
                    for column in 0..columns {
                        let (left, right) =
                            (&inputs[row * depth..][..depth], &rounded_weights[column * depth..][..depth]);
                        let exact: f64 =
                            left.iter().zip(right).map(|(a, b)| a * b).sum::<f64>() + f64::from(bias[column]);
                        let at = row * columns + column;
                        // A level of the inputs may be the neighbouring one where rounding is close.
                        let allowed =
                            1e-4 + depth as f64 * if precision == LowPrecision::Int8 { 1e-4 } else { 1e-6 };
                        let wrong = (f64::from(stored[at]) - exact).abs();
                        assert!(
                            wrong < allowed,
                            "{precision:?} {rows}x{depth}x{columns}: {} {exact}",
                            stored[at]
                        );
                        let difference = (added[at] - other[at] - stored[at]).abs();
                        assert!(difference < 1e-5, "{precision:?} {rows}x{depth}x{columns}: {difference}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_does_not_depend_on_the_others_or_on_how_panels_are_split() {
        for precision in available() {
            let (depth, columns) = (36, 200);
            let packed =
                PackedCells::new(precision, &numbers(columns * depth, 5), &numbers(columns, 6), depth);
            let x = numbers(31 * depth, 7);
            let all = run(&packed, &x, Finish::Gelu, &[]);
            assert_eq!(all, run(&packed, &x, Finish::Gelu, &[1, 3]));
            for (row, input) in x.chunks(depth).enumerate() {
                assert_eq!(
                    run(&packed, input, Finish::Gelu, &[]),
                    all[row * columns..][..columns],
                    "row {row}"
                );
            }
        }
    }

    #[test]
    fn memory_of_another_product_leaves_no_trace() {
        for precision in available() {
            let mut reused = InputCells::default();
            for (rows, depth) in [(40, 36), (3, 33), (9, 100), (2, 1)] {
                let packed = PackedCells::new(precision, &numbers(50 * depth, 8), &numbers(50, 9), depth);
                let x = numbers(rows * depth, depth as u32);
                reused.convert(&packed, &x);
                let mut y = vec![f32::NAN; rows * 50];
                let product = CellProduct {
                    input: &reused,
                    rows,
                    weights: &packed,
                    result: y.as_mut_ptr(),
                    finish: Finish::Store,
                    next: None,
                };
                // SAFETY: the matrices have these sizes.
                unsafe { product.multiply(0, packed.panels()) };
                assert_eq!(y, run(&packed, &x, Finish::Store, &[]), "{precision:?} {rows}x{depth}");
            }
        }
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        for precision in available() {
            let packed = PackedCells::new(precision, &numbers(3 * 37, 8), &numbers(3, 9), 37);
            for (at, number) in
                (0..37).map(|at| (at, f32::NAN)).chain([(3, f32::INFINITY), (36, f32::NEG_INFINITY)])
            {
                let mut x = numbers(37, 5);
                x[at] = number;
                let y = run(&packed, &x, Finish::Store, &[]);
                assert!(y.iter().all(|y| !y.is_finite()), "{precision:?} {number} at {at}: {y:?}");
            }
        }
    }

    #[test]
    fn rows_without_a_range_keep_their_number() {
        for precision in available() {
            let packed = PackedCells::new(precision, &[1.0; 8], &[0.5], 8);
            for number in [0.0, 3.0, -2.0] {
                let y = run(&packed, &[number; 8], Finish::Store, &[]);
                assert!((y[0] - (8.0 * number + 0.5)).abs() < 1e-3, "{precision:?} {number}: {}", y[0]);
            }
        }
    }
}
