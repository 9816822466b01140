//! One register tile of a matrix product.

use super::gelu::gelu;
use super::simd::Simd;

/// Numbers in a cache line.
const LINE: usize = 16;
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

/// Memory to prefetch meanwhile, advancing by `stride` at each step.
#[derive(Clone, Copy)]
pub(crate) struct Ahead {
    pub(crate) at: *const f32,
    pub(crate) stride: usize,
}

/// The right factor: `depth` rows of the tile's width, `stride` apart.
#[derive(Clone, Copy)]
pub(crate) struct Right {
    pub(crate) at: *const f32,
    pub(crate) stride: usize,
    pub(crate) depth: usize,
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
            Self {
                at: self.at.add(row * self.stride),
                finish: match self.finish {
                    Finish::Add(other) => Finish::Add(other.add(row * self.stride)),
                    other => other,
                },
                ..self
            }
        }
    }
}

/// One register tile of a product.
#[derive(Clone, Copy)]
pub(crate) struct Tile {
    pub(crate) input: Input,
    pub(crate) right: Right,
    /// Added to every row; as wide as the tile.
    pub(crate) bias: Option<*const f32>,
    pub(crate) ahead: Ahead,
    pub(crate) out: Out,
}

/// Computes a tile of `R` rows and a width of `VECS` registers, prefetching `LINES` cache lines at each step
/// of the depth.
///
/// # Safety
/// `tile.input` must be valid for `R` rows of the depth, `tile.right` for its rows of `VECS`
/// registers, the bias for `VECS` registers, `tile.out` for `R` rows of its columns; the processor
/// must have the instruction set `S`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
pub(crate) unsafe fn compute_tile<S: Simd, const R: usize, const VECS: usize, const LINES: usize>(
    tile: &Tile,
) {
    let Tile { input, right, bias, ahead, out } = *tile;
    // SAFETY: passed on to the caller; asking for any address is harmless.
    unsafe {
        let mut sums = [[S::splat(0.0); VECS]; R];
        for step in 0..right.depth {
            let at = right.at.add(step * right.stride);
            let mut w = [S::splat(0.0); VECS];
            for (v, w) in w.iter_mut().enumerate() {
                *w = S::load(at.add(v * S::LANES));
            }
            for line in 0..LINES {
                S::prefetch(ahead.at.wrapping_add(step * ahead.stride + line * LINE));
            }
            for (r, sums) in sums.iter_mut().enumerate() {
                let x = S::splat(*input.at.add(r * input.stride + step));
                for (sum, w) in sums.iter_mut().zip(w) {
                    *sum = S::fma(x, w, *sum);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                let column = v * S::LANES;
                let mut y = match bias {
                    Some(bias) => S::add(*sum, S::load(bias.add(column))),
                    None => *sum,
                };
                if let Finish::Gelu = out.finish {
                    y = gelu::<S>(y);
                }
                let place = r * out.stride + column;
                if column + S::LANES <= out.columns {
                    if let Finish::Add(other) = out.finish {
                        y = S::add(y, S::load(other.add(place)));
                    }
                    S::store(out.at.add(place), y);
                } else {
                    // The matrix ends inside this register.
                    let mut last = [0.0_f32; MAX_LANES];
                    S::store(last.as_mut_ptr(), y);
                    for (i, y) in last.iter().enumerate().take(out.columns.saturating_sub(column)) {
                        *out.at.add(place + i) = match out.finish {
                            Finish::Add(other) => y + *other.add(place + i),
                            Finish::Store | Finish::Gelu => *y,
                        };
                    }
                }
            }
        }
    }
}
