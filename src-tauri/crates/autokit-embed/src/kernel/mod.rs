//! Arithmetic of the BERT encoder: matrix product, attention, GELU, layer norm. All of it is f32 but for the products
//! with weights, which also come in bf16 and int8 (`low_precision.rs`).
//!
//! Each kernel of f32 is written once, generic over [`simd::Simd`], and compiled for AVX-512, for AVX2 + FMA and for
//! the target's baseline (SSE2, NEON). Which one runs is detected once.
//!
//! The workspace's profiles turn debug assertions off for this crate: the compiler's checks of raw pointers
//! would be inside the inner loops and make them two to three times slower.
//!
//! Every output row is computed from its own inputs in an order that does not depend on the number of rows,
//! so a text's vector has the same bits whatever it is batched with.

pub(crate) mod attention;
pub(crate) mod buffer;
pub(crate) mod gelu;
pub(crate) mod gemm;
mod isa;
#[cfg(target_arch = "x86_64")]
pub(crate) mod low_precision;
pub(crate) mod low_rank;
pub(crate) mod norm;
pub(crate) mod simd;
pub(crate) mod softmax;
pub(crate) mod tile;

pub use isa::Isa;

/// Returns one or two numbers rounded to bf16 as the halves of 32 bits, the first as the lower one.
fn bf16_pair(pair: &[f32]) -> u32 {
    let bits = |at: usize| u32::from(pair.get(at).map_or(0, |x| half::bf16::from_f32(*x).to_bits()));
    bits(0) | bits(1) << 16
}

/// Returns numbers between -1 and 1, the same for the same seed.
#[cfg(test)]
fn random_numbers(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect()
}
