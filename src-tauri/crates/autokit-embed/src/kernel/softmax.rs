//! Softmax of a row, and the exponential it needs.

use super::simd::Simd;

/// Smallest argument whose exponential is still a normal number.
const LOWEST: f32 = -87.0;
const LOG2_E: f32 = std::f32::consts::LOG2_E;
/// ln 2 in two parts (Cody and Waite, 1980): integer multiples of the first are exact.
const LN_2_HIGH: f32 = 355.0 / 512.0;
const LN_2_LOW: f32 = -2.121_944_4e-4;
/// Coefficients of `exp(r)` for |r| <= ln(2) / 2 in powers of r: minimax fit of the relative error, 2e-9
/// before rounding.
const EXP: [f32; 7] = [1.0, 1.0, 4.999_999e-1, 1.666_642e-1, 4.166_822_5e-2, 8.374_816e-3, 1.383_684_2e-3];

/// Computes `exp(x)` for x <= 0; arguments below -87 count as -87.
///
/// # Safety
/// The processor must have the instruction set `S`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
pub(crate) unsafe fn exp_negative<S: Simd>(x: S::V) -> S::V {
    // SAFETY: passed on to the caller.
    unsafe {
        let x = S::max(x, S::splat(LOWEST));
        let whole = S::round(S::mul(x, S::splat(LOG2_E)));
        let rest = S::fma(whole, S::splat(-LN_2_HIGH), x);
        let rest = S::fma(whole, S::splat(-LN_2_LOW), rest);
        let mut p = S::splat(EXP[6]);
        for i in (0..6).rev() {
            p = S::fma(p, rest, S::splat(EXP[i]));
        }
        S::mul(p, S::exp2_whole(whole))
    }
}

/// Computes the softmax of the first `n` numbers of a row in place. The row is `padded` long, a multiple of
/// `LANES`; numbers beyond `n` end up tiny.
///
/// The largest number is subtracted first, so that no exponential overflows.
///
/// # Safety
/// `row` must be valid for `padded` numbers; the processor must have the instruction set `S`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
pub(crate) unsafe fn softmax<S: Simd>(row: *mut f32, n: usize, padded: usize) {
    // SAFETY: all accesses are below `padded`, which is a multiple of `LANES`.
    unsafe {
        for i in n..padded {
            *row.add(i) = f32::NEG_INFINITY;
        }
        let mut most = S::load(row);
        for i in (S::LANES..padded).step_by(S::LANES) {
            most = S::max(most, S::load(row.add(i)));
        }
        let most = S::splat(S::largest(most));
        let mut sum = S::splat(0.0);
        for i in (0..padded).step_by(S::LANES) {
            let e = exp_negative::<S>(S::sub(S::load(row.add(i)), most));
            sum = S::add(sum, e);
            S::store(row.add(i), e);
        }
        let scale = S::splat(1.0 / S::sum(sum));
        for i in (0..padded).step_by(S::LANES) {
            S::store(row.add(i), S::mul(S::load(row.add(i)), scale));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::isa::{Isa, multiversion};
    use super::*;

    unsafe fn one<S: Simd, const ROWS: usize, const VECS: usize>(row: &mut [f32], n: usize) {
        // SAFETY: the caller checked the instruction set; the length is a multiple of 16.
        unsafe { softmax::<S>(row.as_mut_ptr(), n, row.len()) };
    }
    multiversion! {
        /// Softmax of one row.
        fn softmax_row(row: &mut [f32], n: usize) = one
    }

    #[test]
    fn agrees_with_f64_also_for_large_numbers() {
        for isa in Isa::available() {
            for n in [1, 2, 15, 16, 17, 33, 48] {
                for scale in [0.1_f32, 3.0, 80.0, 1e4] {
                    let x: Vec<f32> =
                        (0..n).map(|i| ((i * 7919 % 101) as f32 / 50.0 - 1.0) * scale).collect();
                    let mut row = vec![f32::NAN; 48];
                    row[..n].copy_from_slice(&x);
                    // SAFETY: the instruction set is available, 48 is a multiple of 16.
                    unsafe { softmax_row(isa, &mut row, n) };
                    let most = x.iter().copied().fold(f32::MIN, f32::max);
                    let e: Vec<f64> = x.iter().map(|x| f64::from(x - most).exp()).collect();
                    let sum: f64 = e.iter().sum();
                    for (got, e) in row.iter().zip(&e) {
                        let want = e / sum;
                        let error = (f64::from(*got) - want).abs();
                        assert!(error <= 4e-7 * want + 1e-30, "{isa:?} n {n} scale {scale}: {got} {want}");
                    }
                }
            }
        }
    }
}
