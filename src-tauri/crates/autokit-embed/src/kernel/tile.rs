//! One register tile of a matrix product.

use super::gelu::gelu;
use super::simd::Simd;

/// Numbers in a cache line.
pub(super) const LINE: usize = 16;
/// Steps of the depth in one turn of the inner loop. Where two hardware threads share a core, the instructions that
/// advance pointers would take a quarter of the time.
pub(super) const UNROLL: usize = 4;
/// Numbers in the widest register.
const MAX_LANES: usize = 16;

/// What to do with a sum after the bias was added, before it is stored.
#[derive(Clone, Copy)]
pub(crate) enum Finish {
    /// Nothing.
    Store,
    /// GELU.
    Gelu,
    /// Adds the number at the same position of this matrix, which has the layout of the result.
    Add(*const f32),
}

impl Finish {
    /// Returns the same for a position `by` numbers further on.
    ///
    /// # Safety
    /// That position must be inside the matrix to add.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
    pub(crate) unsafe fn offset(self, by: usize) -> Self {
        match self {
            // SAFETY: passed on to the caller.
            Finish::Add(other) => Finish::Add(unsafe { other.add(by) }),
            other => other,
        }
    }
}

/// Memory to prefetch meanwhile, advancing by `stride` at each step.
#[derive(Clone, Copy)]
pub(crate) struct Prefetch {
    pub(crate) at: *const f32,
    pub(crate) stride: usize,
}

impl Prefetch {
    /// Returns the part of the panel at `following`, `width` wide and `depth` deep, that is prefetched while a block of
    /// the current one is computed; `blocks` of them prefetch all of it.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
    pub(crate) fn of_block(
        following: *const f32,
        width: usize,
        depth: usize,
        block: usize,
        blocks: usize,
    ) -> Self {
        let stride = width.div_ceil(blocks.max(1));
        Self { at: following.wrapping_add(block * stride * depth), stride }
    }
}

/// Divides rows into blocks of at most `most`, given by their first row and their height. Heights are nearly equal,
/// because a last block of one row would waste the tile.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
pub(crate) fn row_blocks(rows: usize, most: usize) -> impl ExactSizeIterator<Item = (usize, usize)> {
    let blocks = rows.div_ceil(most);
    let mut row = 0;
    (0..blocks).map(move |block| {
        let (first, height) = (row, (rows - row).div_ceil(blocks - block));
        row += height;
        (first, height)
    })
}

/// Runs an expression with the constant `$rows` for a height of one to nine rows: each height is a tile of its own.
macro_rules! for_height {
    ($height:expr, $rows:ident => $body:expr) => {
        $crate::kernel::tile::for_height!(@ $height, $rows, $body, 1 2 3 4 5 6 7 8 9)
    };
    (@ $height:expr, $rows:ident, $body:expr, $($number:literal)*) => {
        match $height {
            $($number => {
                const $rows: usize = $number;
                $body
            })*
            _ => unreachable!("tiles have one to nine rows"),
        }
    };
}
pub(crate) use for_height;

/// The right factor: `depth` rows of the tile's width, in memory `stride` apart, or two of them where the layout has
/// pairs.
#[derive(Clone, Copy)]
pub(crate) struct RightFactor {
    pub(crate) at: *const f32,
    pub(crate) stride: usize,
    pub(crate) depth: usize,
}

/// How the right factor lies in memory.
pub(crate) trait Layout {
    /// Whether its rows lie one behind the other.
    const IS_PACKED: bool;
    /// Rows of the depth in one row of memory: two where each 32 bits hold two bf16.
    const ROWS_AT_ONCE: usize;
}

/// f32, rows apart.
pub(crate) struct Strided;
/// f32, packed.
pub(crate) struct PackedF32;
/// Pairs of bf16, packed.
pub(crate) struct PackedBf16;

impl Layout for Strided {
    const IS_PACKED: bool = false;
    const ROWS_AT_ONCE: usize = 1;
}

impl Layout for PackedF32 {
    const IS_PACKED: bool = true;
    const ROWS_AT_ONCE: usize = 1;
}

impl Layout for PackedBf16 {
    const IS_PACKED: bool = true;
    const ROWS_AT_ONCE: usize = 2;
}

/// Rows of the left factor, `stride` apart.
#[derive(Clone, Copy)]
pub(crate) struct Input {
    pub(crate) at: *const f32,
    pub(crate) stride: usize,
}

/// Where to store a tile: `columns` of it are stored, at most its width.
#[derive(Clone, Copy)]
pub(crate) struct Out {
    pub(crate) at: *mut f32,
    pub(crate) stride: usize,
    pub(crate) columns: usize,
    pub(crate) finish: Finish,
}

impl Out {
    /// Returns the position `row` rows further down.
    ///
    /// # Safety
    /// That position must be inside the matrix.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
    pub(crate) unsafe fn rows_from(self, row: usize) -> Self {
        // SAFETY: passed on to the caller.
        unsafe {
            Self { at: self.at.add(row * self.stride), finish: self.finish.offset(row * self.stride), ..self }
        }
    }

    /// Finishes a register of sums, to which the bias was added, and stores it in a row from a column on.
    ///
    /// # Safety
    /// The row must be inside the matrix; the processor must have the instruction set `S`.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
    pub(crate) unsafe fn put<S: Simd>(&self, mut y: S::V, row: usize, column: usize) {
        // SAFETY: passed on to the caller; columns from `self.columns` on are not written.
        unsafe {
            if let Finish::Gelu = self.finish {
                y = gelu::<S>(y);
            }
            let place = row * self.stride + column;
            if column + S::LANES <= self.columns {
                if let Finish::Add(other) = self.finish {
                    y = S::add(y, S::load(other.add(place)));
                }
                S::store(self.at.add(place), y);
            } else {
                // The matrix ends inside this register.
                let mut last = [0.0_f32; MAX_LANES];
                S::store(last.as_mut_ptr(), y);
                for (i, y) in last.iter().enumerate().take(self.columns.saturating_sub(column)) {
                    *self.at.add(place + i) = match self.finish {
                        Finish::Add(other) => y + *other.add(place + i),
                        Finish::Store | Finish::Gelu => *y,
                    };
                }
            }
        }
    }
}

/// One register tile of a product.
#[derive(Clone, Copy)]
pub(crate) struct Tile {
    pub(crate) input: Input,
    pub(crate) right: RightFactor,
    /// Added to every row; as wide as the tile.
    pub(crate) bias: Option<*const f32>,
    pub(crate) ahead: Prefetch,
    pub(crate) out: Out,
}

/// Adds one step of the depth to the sums of a tile: a number of each row times a row of the right factor.
///
/// # Safety
/// `x` must be valid for `R` rows `stride` apart; the processor must have the instruction set `S`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
unsafe fn add_step<S: Simd, const R: usize, const VECS: usize>(
    sums: &mut [[S::V; VECS]; R],
    x: *const f32,
    stride: usize,
    columns: [S::V; VECS],
) {
    // SAFETY: passed on to the caller.
    unsafe {
        for (r, sums) in sums.iter_mut().enumerate() {
            let x = S::splat(*x.add(r * stride));
            for (sum, column) in sums.iter_mut().zip(columns) {
                *sum = S::fma(x, column, *sum);
            }
        }
    }
}

/// Adds one row of memory of the right factor to the sums of a tile; of a pair only the first row if `is_half`.
///
/// # Safety
/// `x` must be valid for `R` rows `stride` apart, each of as many numbers as there are rows of the depth, and `w` for
/// `VECS` registers; the processor must have the instruction set `S`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
unsafe fn add_row<S: Simd, L: Layout, const R: usize, const VECS: usize>(
    sums: &mut [[S::V; VECS]; R],
    x: *const f32,
    stride: usize,
    w: *const f32,
    is_half: bool,
) {
    // SAFETY: passed on to the caller.
    unsafe {
        if L::ROWS_AT_ONCE == 1 {
            add_step::<S, R, VECS>(sums, x, stride, columns::<S, VECS>(|v| S::load(w.add(v * S::LANES))));
            return;
        }
        let low = columns::<S, VECS>(|v| S::low_bf16(w.add(v * S::LANES)));
        add_step::<S, R, VECS>(sums, x, stride, low);
        if !is_half {
            let high = columns::<S, VECS>(|v| S::high_bf16(w.add(v * S::LANES)));
            add_step::<S, R, VECS>(sums, x.add(1), stride, high);
        }
    }
}

/// Returns the registers of a row.
///
/// # Safety
/// The processor must have the instruction set `S`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
unsafe fn columns<S: Simd, const VECS: usize>(load: impl Fn(usize) -> S::V) -> [S::V; VECS] {
    // SAFETY: passed on to the caller.
    let mut columns = [unsafe { S::splat(0.0) }; VECS];
    for (v, column) in columns.iter_mut().enumerate() {
        *column = load(v);
    }
    columns
}

/// Computes a tile of `R` rows and a width of `VECS` registers, prefetching `LINES` cache lines in every [`UNROLL`]
/// steps of the depth (fewer lines than steps, or a multiple).
///
/// # Safety
/// `tile.input` must be valid for `R` rows of the depth, `tile.right` for its rows of `VECS`
/// registers, the bias for `VECS` registers, `tile.out` for `R` rows of its columns; the processor
/// must have the instruction set `S`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
pub(crate) unsafe fn compute_tile<
    S: Simd,
    L: Layout,
    const R: usize,
    const VECS: usize,
    const LINES: usize,
>(
    tile: &Tile,
) {
    let Tile { input, right, bias, ahead, out } = *tile;
    // Known to the compiler where the factor is packed, so that addresses need no instructions of their own.
    let stride = if L::IS_PACKED { VECS * S::LANES } else { right.stride };
    debug_assert_eq!(stride, right.stride);
    // SAFETY: passed on to the caller; asking for any address is harmless.
    unsafe {
        let mut sums = [[S::splat(0.0); VECS]; R];
        let turns = right.depth / UNROLL;
        let (mut x, mut w, mut next) = (input.at, right.at, ahead.at);
        for _ in 0..turns {
            // Outside of the loop over the steps, which is unrolled only without conditions in it.
            if LINES < UNROLL {
                for line in 0..LINES {
                    S::prefetch(next.wrapping_add(line * LINE));
                }
            }
            for row in 0..UNROLL / L::ROWS_AT_ONCE {
                let lines = LINES / UNROLL * L::ROWS_AT_ONCE;
                for line in 0..lines {
                    S::prefetch(next.wrapping_add((row * lines + line) * LINE));
                }
                let x = x.add(row * L::ROWS_AT_ONCE);
                add_row::<S, L, R, VECS>(&mut sums, x, input.stride, w.add(row * stride), false);
            }
            x = x.add(UNROLL);
            // After the last turn that may be beyond the matrix, where nothing is read.
            w = w.wrapping_add(UNROLL / L::ROWS_AT_ONCE * stride);
            next = next.wrapping_add(UNROLL / L::ROWS_AT_ONCE * ahead.stride);
        }
        let rest = right.depth % UNROLL;
        for row in 0..rest.div_ceil(L::ROWS_AT_ONCE) {
            let step = row * L::ROWS_AT_ONCE;
            let is_half = rest - step < L::ROWS_AT_ONCE;
            add_row::<S, L, R, VECS>(&mut sums, x.add(step), input.stride, w.add(row * stride), is_half);
        }
        let is_full = VECS * S::LANES <= out.columns;
        match out.finish {
            // Loops without branches are unrolled. A variable index into the sums anywhere would move them out of the
            // registers everywhere, so other cases work on a copy.
            Finish::Store if is_full => {
                for (r, sums) in sums.iter().enumerate() {
                    for (v, sum) in sums.iter().enumerate() {
                        let column = v * S::LANES;
                        let y = add_bias::<S>(*sum, bias, column);
                        S::store(out.at.add(r * out.stride + column), y);
                    }
                }
            }
            Finish::Add(other) if is_full => {
                for (r, sums) in sums.iter().enumerate() {
                    for (v, sum) in sums.iter().enumerate() {
                        let place = r * out.stride + v * S::LANES;
                        let y = add_bias::<S>(*sum, bias, v * S::LANES);
                        S::store(out.at.add(place), S::add(y, S::load(other.add(place))));
                    }
                }
            }
            _ => {
                let mut copy = [[[0.0_f32; MAX_LANES]; VECS]; R];
                for (copy, sums) in copy.iter_mut().zip(&sums) {
                    for (v, (copy, sum)) in copy.iter_mut().zip(sums).enumerate() {
                        S::store(copy.as_mut_ptr(), add_bias::<S>(*sum, bias, v * S::LANES));
                    }
                }
                for (r, copy) in copy.iter().enumerate() {
                    for (v, copy) in copy.iter().enumerate() {
                        out.put::<S>(S::load(copy.as_ptr()), r, v * S::LANES);
                    }
                }
            }
        }
    }
}

/// Adds the bias of a register's columns, if there is one.
///
/// # Safety
/// The bias must be valid for the register at `column`; the processor must have the instruction set `S`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
unsafe fn add_bias<S: Simd>(sum: S::V, bias: Option<*const f32>, column: usize) -> S::V {
    // SAFETY: passed on to the caller.
    unsafe {
        match bias {
            Some(bias) => S::add(sum, S::load(bias.add(column))),
            None => sum,
        }
    }
}
