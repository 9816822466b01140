//! GELU with the exact error function: `x/2 * (1 + erf(x / sqrt 2))`.
//!
//! (Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016; the tanh form is an approximation
//! that these models were not trained with.)

use super::simd::Simd;

/// From this argument on, `erf(x / sqrt 2)` is 1 in f32.
const SATURATED: f32 = 5.656_854;

/// Numerator and denominator of `erf(x / sqrt 2) / x` in powers of `x^2`.
///
/// Minimax fit over [-`SATURATED`, `SATURATED`] by iteratively re-weighted least squares in f64;
/// 2e-8 from the true function before rounding, 4e-7 when evaluated in f32.
const P: [f32; 6] = [7.978_844e-1, 6.938_246e-2, 9.451_626e-3, 3.538_455_6e-4, 1.272_872_8e-5, 4.363_488e-8];
const Q: [f32; 6] = [1.0, 2.536_236e-1, 2.911_845_4e-2, 1.930_473_4e-3, 7.601_538_5e-5, 1.171_192_1e-6];

/// Computes GELU of each lane; off by at most 4e-7 times the larger of 1 and |x|.
///
/// # Safety
/// The processor must have the instruction set `S`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
pub(crate) unsafe fn gelu<S: Simd>(x: S::V) -> S::V {
    // SAFETY: passed on to the caller.
    unsafe {
        let clamped = S::max(S::min(x, S::splat(SATURATED)), S::splat(-SATURATED));
        let square = S::mul(clamped, clamped);
        let mut above = S::splat(P[5]);
        let mut below = S::splat(Q[5]);
        for i in (0..5).rev() {
            above = S::fma(above, square, S::splat(P[i]));
            below = S::fma(below, square, S::splat(Q[i]));
        }
        let erf = S::mul(S::mul(clamped, above), S::recip(below));
        let half = S::mul(x, S::splat(0.5));
        S::fma(half, erf, half)
    }
}

#[cfg(test)]
mod tests {
    use super::super::isa::{Isa, multiversion};
    use super::*;

    unsafe fn each<S: Simd, const ROWS: usize, const VECS: usize>(x: &mut [f32]) {
        for lanes in x.chunks_exact_mut(S::LANES) {
            // SAFETY: the chunk has `LANES` numbers; the caller checked the instruction set.
            unsafe { S::store(lanes.as_mut_ptr(), gelu::<S>(S::load(lanes.as_ptr()))) };
        }
    }
    multiversion! {
        /// GELU of a slice whose length is a multiple of 16.
        fn gelu_slice(x: &mut [f32]) = each
    }

    /// erf by its Taylor series in f64: exact enough for |z| < 6.
    fn erf(z: f64) -> f64 {
        let (mut term, mut sum, mut n) = (z, z, 0.0);
        while term.abs() > 1e-17 * sum.abs().max(1e-300) {
            n += 1.0;
            term *= -z * z / n;
            sum += term / (2.0 * n + 1.0);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn agrees_with_the_definition() {
        for isa in Isa::available() {
            let x: Vec<f32> = (0..16_000).map(|i| (i as f32 - 8000.0) / 1000.0).collect();
            let mut y = x.clone();
            // SAFETY: the instruction set is available.
            unsafe { gelu_slice(isa, &mut y) };
            for (x, y) in x.iter().zip(&y) {
                let z = f64::from(*x) / std::f64::consts::SQRT_2;
                let e = if z.abs() > 4.5 { z.signum() } else { erf(z) };
                let exact = 0.5 * f64::from(*x) * (1.0 + e);
                let error = (f64::from(*y) - exact).abs();
                assert!(error <= 4e-7 * f64::from(x.abs().max(1.0)), "{isa:?} x {x} y {y} {exact}");
            }
        }
    }
}
