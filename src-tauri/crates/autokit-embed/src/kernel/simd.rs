//! The vector operations in which the kernels are written.
//!
//! Everything is `#[inline(always)]`: the operations become single instructions only once they
//! are inside a function compiled for the instruction set.

use super::tile::{Layout, Tile, compute_tile};

/// Operations on f32 vectors of one instruction set.
///
/// # Safety
/// Every function may be called only on a processor that has the instruction set; pointers are to `LANES` numbers or
/// pairs, of any alignment.
#[allow(clippy::missing_safety_doc, reason = "said once, for the trait")]
pub(crate) unsafe trait Simd: Copy {
    /// One register.
    type V: Copy;
    /// Numbers in a register.
    const LANES: usize;

    unsafe fn splat(x: f32) -> Self::V;
    unsafe fn load(from: *const f32) -> Self::V;
    unsafe fn store(to: *mut f32, v: Self::V);
    /// Loads the first of each pair of bf16, the lower half of 32 bits.
    unsafe fn low_bf16(from: *const f32) -> Self::V;
    /// Loads the second of each pair of bf16.
    unsafe fn high_bf16(from: *const f32) -> Self::V;
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn sub(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn mul(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn min(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn max(a: Self::V, b: Self::V) -> Self::V;
    /// Computes `a * b + c`, rounded once if the instruction set can.
    unsafe fn fma(a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// Computes `1 / a` to within 2 units in the last place, for normal `a`.
    unsafe fn recip(a: Self::V) -> Self::V;
    /// Rounds to the nearest integer.
    unsafe fn round(a: Self::V) -> Self::V;
    /// Computes `2^a` for integer `a` in [-126, 127].
    unsafe fn exp2_whole(a: Self::V) -> Self::V;
    /// Returns the sum of the lanes.
    unsafe fn sum(a: Self::V) -> f32;
    /// Returns the largest lane.
    unsafe fn largest(a: Self::V) -> f32;
    /// Prefetches the cache line at `at` into the L2 cache; any address is allowed.
    unsafe fn prefetch(at: *const f32);
    /// Computes a tile of a matrix product, see [`compute_tile`]. Each shape is a function of its own,
    /// because if all shapes are in one, the compiler runs out of registers and spills them.
    unsafe fn tile<L: Layout, const R: usize, const VECS: usize, const LINES: usize>(tile: &Tile);
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
#[allow(
    clippy::undocumented_unsafe_blocks,
    clippy::inline_always,
    clippy::wildcard_imports,
    reason = "every block is one instruction, allowed by the contract of the trait; \
              not inlining would lose the instruction set; the import is of the instructions"
)]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Layout, Simd, Tile, compute_tile};

    /// The upper half of 32 bits.
    const HIGH_HALF: i32 = -0x1_0000;

    /// AVX-512F.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512;

    /// AVX2 and FMA.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2;

    // SAFETY: loads and stores are the unaligned ones of `LANES` numbers.
    unsafe impl Simd for Avx512 {
        type V = __m512;
        const LANES: usize = 16;

        #[inline(always)]
        unsafe fn splat(x: f32) -> __m512 {
            unsafe { _mm512_set1_ps(x) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> __m512 {
            unsafe { _mm512_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn store(to: *mut f32, v: __m512) {
            unsafe { _mm512_storeu_ps(to, v) }
        }
        #[inline(always)]
        unsafe fn low_bf16(from: *const f32) -> __m512 {
            unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_loadu_si512(from.cast()))) }
        }
        #[inline(always)]
        unsafe fn high_bf16(from: *const f32) -> __m512 {
            unsafe {
                let mask = _mm512_set1_epi32(HIGH_HALF);
                _mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(from.cast()), mask))
            }
        }
        #[inline(always)]
        unsafe fn add(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_add_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn sub(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_sub_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn mul(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_mul_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn min(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_min_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn max(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_max_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn fma(a: __m512, b: __m512, c: __m512) -> __m512 {
            unsafe { _mm512_fmadd_ps(a, b, c) }
        }
        #[inline(always)]
        unsafe fn recip(a: __m512) -> __m512 {
            // 14 bits, doubled by one Newton step: four times faster than a division.
            unsafe {
                let r = _mm512_rcp14_ps(a);
                _mm512_mul_ps(r, _mm512_fnmadd_ps(a, r, _mm512_set1_ps(2.0)))
            }
        }
        #[inline(always)]
        unsafe fn round(a: __m512) -> __m512 {
            unsafe { _mm512_roundscale_ps::<0>(a) }
        }
        #[inline(always)]
        unsafe fn exp2_whole(a: __m512) -> __m512 {
            unsafe { _mm512_scalef_ps(_mm512_set1_ps(1.0), a) }
        }
        #[inline(always)]
        unsafe fn sum(a: __m512) -> f32 {
            unsafe { _mm512_reduce_add_ps(a) }
        }
        #[inline(always)]
        unsafe fn largest(a: __m512) -> f32 {
            unsafe { _mm512_reduce_max_ps(a) }
        }
        #[inline(always)]
        unsafe fn prefetch(at: *const f32) {
            unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
        }
        #[target_feature(enable = "avx512f")]
        #[inline(never)]
        unsafe fn tile<L: Layout, const R: usize, const VECS: usize, const LINES: usize>(tile: &Tile) {
            unsafe { compute_tile::<Self, L, R, VECS, LINES>(tile) }
        }
    }

    // SAFETY: loads and stores are the unaligned ones of `LANES` numbers.
    unsafe impl Simd for Avx2 {
        type V = __m256;
        const LANES: usize = 8;

        #[inline(always)]
        unsafe fn splat(x: f32) -> __m256 {
            unsafe { _mm256_set1_ps(x) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> __m256 {
            unsafe { _mm256_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn store(to: *mut f32, v: __m256) {
            unsafe { _mm256_storeu_ps(to, v) }
        }
        #[inline(always)]
        unsafe fn low_bf16(from: *const f32) -> __m256 {
            unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_loadu_si256(from.cast()))) }
        }
        #[inline(always)]
        unsafe fn high_bf16(from: *const f32) -> __m256 {
            unsafe {
                let mask = _mm256_set1_epi32(HIGH_HALF);
                _mm256_castsi256_ps(_mm256_and_si256(_mm256_loadu_si256(from.cast()), mask))
            }
        }
        #[inline(always)]
        unsafe fn add(a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_add_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn sub(a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_sub_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn mul(a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_mul_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn min(a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_min_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn max(a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_max_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn fma(a: __m256, b: __m256, c: __m256) -> __m256 {
            unsafe { _mm256_fmadd_ps(a, b, c) }
        }
        #[inline(always)]
        unsafe fn recip(a: __m256) -> __m256 {
            // 12 bits, doubled by one Newton step.
            unsafe {
                let r = _mm256_rcp_ps(a);
                _mm256_mul_ps(r, _mm256_fnmadd_ps(a, r, _mm256_set1_ps(2.0)))
            }
        }
        #[inline(always)]
        unsafe fn round(a: __m256) -> __m256 {
            unsafe { _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
        }
        #[inline(always)]
        unsafe fn exp2_whole(a: __m256) -> __m256 {
            // The exponent field of an f32, biased by 127.
            unsafe {
                let biased = _mm256_add_epi32(_mm256_cvtps_epi32(a), _mm256_set1_epi32(127));
                _mm256_castsi256_ps(_mm256_slli_epi32::<23>(biased))
            }
        }
        #[inline(always)]
        unsafe fn sum(a: __m256) -> f32 {
            unsafe {
                let q = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
                let d = _mm_add_ps(q, _mm_movehl_ps(q, q));
                _mm_cvtss_f32(_mm_add_ss(d, _mm_shuffle_ps::<1>(d, d)))
            }
        }
        #[inline(always)]
        unsafe fn largest(a: __m256) -> f32 {
            unsafe {
                let q = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
                let d = _mm_max_ps(q, _mm_movehl_ps(q, q));
                _mm_cvtss_f32(_mm_max_ss(d, _mm_shuffle_ps::<1>(d, d)))
            }
        }
        #[inline(always)]
        unsafe fn prefetch(at: *const f32) {
            unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
        }
        #[target_feature(enable = "avx2,fma")]
        #[inline(never)]
        unsafe fn tile<L: Layout, const R: usize, const VECS: usize, const LINES: usize>(tile: &Tile) {
            unsafe { compute_tile::<Self, L, R, VECS, LINES>(tile) }
        }
    }
}

/// The baseline that every processor of the target has, left to the compiler: SSE2, NEON.
#[derive(Clone, Copy)]
pub(crate) struct Baseline;

#[inline(always)]
#[allow(clippy::inline_always, reason = "as above")]
fn each(f: impl Fn(usize) -> f32) -> [f32; 4] {
    [f(0), f(1), f(2), f(3)]
}

// SAFETY: loads and stores are of `LANES` numbers, of any alignment.
#[allow(clippy::inline_always, reason = "as above")]
unsafe impl Simd for Baseline {
    type V = [f32; 4];
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn splat(x: f32) -> [f32; 4] {
        [x; 4]
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> [f32; 4] {
        // SAFETY: the caller gives a pointer to four numbers.
        unsafe { from.cast::<[f32; 4]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, v: [f32; 4]) {
        // SAFETY: the caller gives a pointer to four numbers.
        unsafe { to.cast::<[f32; 4]>().write_unaligned(v) }
    }
    #[inline(always)]
    unsafe fn low_bf16(from: *const f32) -> [f32; 4] {
        // SAFETY: the caller gives a pointer to four numbers.
        let pairs = unsafe { from.cast::<[u32; 4]>().read_unaligned() };
        each(|i| f32::from_bits(pairs[i] << 16))
    }
    #[inline(always)]
    unsafe fn high_bf16(from: *const f32) -> [f32; 4] {
        // SAFETY: the caller gives a pointer to four numbers.
        let pairs = unsafe { from.cast::<[u32; 4]>().read_unaligned() };
        each(|i| f32::from_bits(pairs[i] & 0xffff_0000))
    }
    #[inline(always)]
    unsafe fn add(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|i| a[i] + b[i])
    }
    #[inline(always)]
    unsafe fn sub(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|i| a[i] - b[i])
    }
    #[inline(always)]
    unsafe fn mul(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|i| a[i] * b[i])
    }
    #[inline(always)]
    unsafe fn min(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|i| if a[i] < b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    unsafe fn max(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|i| if a[i] > b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    unsafe fn fma(a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> [f32; 4] {
        // Without the instruction, fusing would be a slow library call.
        if cfg!(any(target_arch = "aarch64", target_feature = "fma")) {
            each(|i| a[i].mul_add(b[i], c[i]))
        } else {
            each(|i| a[i] * b[i] + c[i])
        }
    }
    #[inline(always)]
    unsafe fn recip(a: [f32; 4]) -> [f32; 4] {
        each(|i| 1.0 / a[i])
    }
    #[inline(always)]
    unsafe fn round(a: [f32; 4]) -> [f32; 4] {
        // Adding and subtracting 1.5 * 2^23 leaves no bits for a fraction; |a| is far below it.
        const SHIFT: f32 = 12_582_912.0;
        each(|i| (a[i] + SHIFT) - SHIFT)
    }
    #[inline(always)]
    unsafe fn exp2_whole(a: [f32; 4]) -> [f32; 4] {
        each(|i| f32::from_bits(((a[i] as i32 + 127) as u32) << 23))
    }
    #[inline(always)]
    unsafe fn sum(a: [f32; 4]) -> f32 {
        (a[0] + a[2]) + (a[1] + a[3])
    }
    #[inline(always)]
    unsafe fn largest(a: [f32; 4]) -> f32 {
        a[0].max(a[1]).max(a[2].max(a[3]))
    }
    #[inline(always)]
    unsafe fn prefetch(_: *const f32) {}
    #[inline(never)]
    unsafe fn tile<L: Layout, const R: usize, const VECS: usize, const LINES: usize>(tile: &Tile) {
        // SAFETY: passed on to the caller.
        unsafe { compute_tile::<Self, L, R, VECS, LINES>(tile) }
    }
}
