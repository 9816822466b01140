//! Layer normalisation (Ba, Kiros and Hinton, 2016) of rows, in place.

use super::isa::multiversion;
use super::simd::Simd;

multiversion! {
    /// Normalises each row of `x` (`[rows, gain.len()]`) to mean 0 and variance 1, then scales by `gain` and
    /// shifts by `shift`. The mean is subtracted before squaring, which avoids cancellation.
    fn layer_norm(x: &mut [f32], gain: &[f32], shift: &[f32], epsilon: f32) = rows
}

/// # Safety
/// The processor must have the instruction set `S`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
unsafe fn rows<S: Simd, const ROWS: usize, const VECS: usize>(
    x: &mut [f32],
    gain: &[f32],
    shift: &[f32],
    epsilon: f32,
) {
    let dim = gain.len();
    assert!(shift.len() == dim && x.len().is_multiple_of(dim));
    let whole = dim - dim % S::LANES;
    for row in x.chunks_exact_mut(dim) {
        let at = row.as_mut_ptr();
        // SAFETY: all accesses are below `dim`, the length of `row`, `gain` and `shift`; the
        // caller checked the instruction set.
        unsafe {
            let mut sum = S::splat(0.0);
            for i in (0..whole).step_by(S::LANES) {
                sum = S::add(sum, S::load(at.add(i)));
            }
            let mut total = S::sum(sum);
            for i in whole..dim {
                total += *at.add(i);
            }
            let mean = total / dim as f32;
            let means = S::splat(mean);
            let mut squares = S::splat(0.0);
            for i in (0..whole).step_by(S::LANES) {
                let d = S::sub(S::load(at.add(i)), means);
                squares = S::fma(d, d, squares);
            }
            let mut variance = S::sum(squares);
            for i in whole..dim {
                let d = *at.add(i) - mean;
                variance += d * d;
            }
            let scale = 1.0 / (variance / dim as f32 + epsilon).sqrt();
            let scales = S::splat(scale);
            for i in (0..whole).step_by(S::LANES) {
                let d = S::mul(S::sub(S::load(at.add(i)), means), scales);
                let y = S::fma(d, S::load(gain.as_ptr().add(i)), S::load(shift.as_ptr().add(i)));
                S::store(at.add(i), y);
            }
            for i in whole..dim {
                *at.add(i) = (*at.add(i) - mean) * scale * gain[i] + shift[i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::isa::Isa;
    use super::*;

    #[test]
    fn agrees_with_f64() {
        for isa in Isa::available() {
            for dim in [3, 16, 37, 384] {
                let x: Vec<f32> = (0..2 * dim).map(|i| (i * 31 % 17) as f32 * 0.3 + 5.0).collect();
                let gain: Vec<f32> = (0..dim).map(|i| 0.5 + i as f32 / dim as f32).collect();
                let shift: Vec<f32> = (0..dim).map(|i| (i % 5) as f32 - 2.0).collect();
                let mut y = x.clone();
                // SAFETY: the instruction set is available.
                unsafe { layer_norm(isa, &mut y, &gain, &shift, 1e-12) };
                for (row, got) in x.chunks(dim).zip(y.chunks(dim)) {
                    let n = dim as f64;
                    let mean = row.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
                    let var = row.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / n;
                    for i in 0..dim {
                        let want = (f64::from(row[i]) - mean) / (var + 1e-12).sqrt() * f64::from(gain[i])
                            + f64::from(shift[i]);
                        assert!(
                            (f64::from(got[i]) - want).abs() < 2e-5,
                            "{isa:?} {dim} {i}: {} {want}",
                            got[i]
                        );
                    }
                }
            }
        }
    }
}
