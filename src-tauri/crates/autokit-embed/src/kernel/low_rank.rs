//! Products of two narrow matrices, added to a weight.

use super::isa::multiversion;
use super::simd::Simd;

/// Registers of one row that are summed at a time.
const REGISTERS: usize = 4;

multiversion! {
    /// Adds `b a` to `weight` (`[outputs, inputs]`, row-major), for `b` `[outputs, rank]` and `a` `[rank, inputs]`.
    /// Products are rounded before they are added, in the order of the ranks, so that every instruction set gives the
    /// same weights.
    fn add_product(weight: &mut [f32], a: &[f32], b: &[f32], inputs: usize) = product
}

/// # Safety
/// The processor must have the instruction set `S`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "not inlining would lose the instruction set")]
unsafe fn product<S: Simd, const ROWS: usize, const VECS: usize>(
    weight: &mut [f32],
    a: &[f32],
    b: &[f32],
    inputs: usize,
) {
    assert!(inputs > 0 && a.len().is_multiple_of(inputs) && weight.len().is_multiple_of(inputs));
    let rank = a.len() / inputs;
    assert!(b.len() == weight.len() / inputs * rank);
    let whole = inputs - inputs % (REGISTERS * S::LANES);
    for (row, factors) in weight.chunks_exact_mut(inputs).zip(b.chunks_exact(rank)) {
        let at = row.as_mut_ptr();
        for from in (0..whole).step_by(REGISTERS * S::LANES) {
            // SAFETY: all accesses are below `inputs`, the length of `row` and of each of the `rank` rows of `a`; the
            // caller checked the instruction set.
            unsafe {
                let mut sums: [S::V; REGISTERS] =
                    [0, 1, 2, 3].map(|register| S::load(at.add(from + register * S::LANES)));
                for (rank, factor) in factors.iter().enumerate() {
                    let direction = a.as_ptr().add(rank * inputs + from);
                    let factor = S::splat(*factor);
                    for (register, sum) in sums.iter_mut().enumerate() {
                        *sum = S::add(*sum, S::mul(factor, S::load(direction.add(register * S::LANES))));
                    }
                }
                for (register, sum) in sums.into_iter().enumerate() {
                    S::store(at.add(from + register * S::LANES), sum);
                }
            }
        }
        for (column, value) in row.iter_mut().enumerate().skip(whole) {
            for (factor, direction) in factors.iter().zip(a.chunks_exact(inputs)) {
                *value += factor * direction[column];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::isa::Isa;
    use super::*;

    #[test]
    fn every_instruction_set_gives_the_same_numbers() {
        for (outputs, inputs, rank) in [(3, 1, 1), (2, 16, 3), (5, 133, 4), (4, 384, 20)] {
            let number = |seed: usize, at: usize| ((at * 37 + seed) % 101) as f32 * 0.013 - 0.6;
            let weight: Vec<f32> = (0..outputs * inputs).map(|at| number(3, at)).collect();
            let a: Vec<f32> = (0..rank * inputs).map(|at| number(5, at)).collect();
            let b: Vec<f32> = (0..outputs * rank).map(|at| number(7, at)).collect();
            let mut expected = weight.clone();
            for (row, factors) in expected.chunks_mut(inputs).zip(b.chunks(rank)) {
                for (factor, direction) in factors.iter().zip(a.chunks(inputs)) {
                    row.iter_mut().zip(direction).for_each(|(value, step)| *value += factor * step);
                }
            }
            for isa in Isa::available() {
                let mut sum = weight.clone();
                // SAFETY: the instruction set is available.
                unsafe { add_product(isa, &mut sum, &a, &b, inputs) };
                assert_eq!(sum, expected, "{isa:?} {outputs} {inputs} {rank}");
            }
        }
    }
}
